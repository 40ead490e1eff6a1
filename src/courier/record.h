/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records: structs that travel as JSON objects, by a table of their members.
 *
 * RECORD-1  A record that was encoded decodes to the same record, which encodes
 *           to the same JSON.
 * RECORD-2  A decoded record and all its texts are one object, destroyed by
 *           lbx__record_destroy().
 */
#ifndef LBX_COURIER_RECORD_H
#define LBX_COURIER_RECORD_H

#include "base/buffer.h"
#include "base/sized.h"
#include "base/type.h"
#include <letterbox/base.h>

#include <stdalign.h>

typedef enum lbx__record_field_kind {
    LBX__RECORD_TEXT,  /* const char *; NULL: absent */
    LBX__RECORD_JSON,  /* the same, any JSON value */
    LBX__RECORD_ID,    /* lbx_id; empty: absent */
    LBX__RECORD_TIME,  /* int64_t, ms since 1970; 0: absent */
    LBX__RECORD_COUNT, /* uint32_t; always present */
    LBX__RECORD_BODY,  /* const void *, then a size_t: a text, or base64
                          in a member called NAME_base64 */
} lbx__record_field_kind;

typedef struct lbx__record_field {
    const char *name;
    lbx__record_field_kind kind;
    bool required;
    size_t offset;
} lbx__record_field;

enum {
    LBX__RECORD_MAX_FIELDS = 16
};

typedef struct lbx__record_kind {
    const char *name; /* of the type */
    size_t size_bytes;
    const lbx__record_field *fields;
    size_t field_count;
    const lbx__sized *sized; /* NULL: the struct never grows */
} lbx__record_kind;

/* A row of a table of fields; how many rows there are. */
#define LBX__RECORD_FIELD(record, name, kind, required, member)                \
    {                                                                          \
        name, LBX__RECORD_##kind, required, offsetof(record, member)           \
    }
#define LBX__RECORD_FIELD_COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* A body as it lies in a record. */
typedef struct lbx__record_body {
    const void *bytes;
    size_t size;
} lbx__record_body;

#define LBX__RECORD_NAME_BYTES 64

/* The member's name for a body that is not text. */
void lbx__record_base64_name(const lbx__record_field *field,
                             char name[LBX__RECORD_NAME_BYTES]);

/* A decoded record and its texts (RECORD-2). */
struct lbx__record_block {
    const lbx_allocator *allocator;
    size_t size_bytes;
    lbx_buffer texts;
    alignas(max_align_t) unsigned char record[];
};

/* Appends the record as JSON. OK; ENCODING when a required field is absent, a
 * text is not UTF-8 or a JSON value is invalid; TOO_LARGE, NO_MEMORY. */
lbx_status lbx__record_encode(const lbx__record_kind *kind, const void *record,
                              const lbx_allocator *allocator, lbx_buffer *out);

/* OK; ENCODING; NO_MEMORY. */
lbx_status lbx__record_decode(const lbx__record_kind *kind, const char *json,
                              size_t size, const lbx_allocator *allocator,
                              void **ret);

/* Takes NULL. */
void lbx__record_destroy(void *record);

/* The type of such records, made in static memory: once for each `storage`. */
const lbx_type *lbx__record_make_type(lbx__type_storage *storage,
                                      const lbx__record_kind *kind);

#endif
