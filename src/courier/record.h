/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records: structs that travel as JSON objects, by a table of their members.
 *
 * Y1  What was encoded decodes to the same, and to the same JSON again.
 * Y2  A decoded record and all its texts end with lbx__record_destroy().
 */
#ifndef LBX_COURIER_RECORD_H
#define LBX_COURIER_RECORD_H

#include "base/type.h"
#include <letterbox/base.h>

typedef enum lbx__record_field_kind {
    LBX__RECORD_TEXT,  /* const char *; NULL: not there */
    LBX__RECORD_JSON,  /* the same, any JSON value */
    LBX__RECORD_ID,    /* lbx_id; empty: not there */
    LBX__RECORD_TIME,  /* int64_t, ms since 1970; 0: not there */
    LBX__RECORD_COUNT, /* uint32_t; always there */
    LBX__RECORD_BODY,  /* const void *, and a size_t behind it: a text, or under
                         the name NAME_base64 what is none */
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
} lbx__record_kind;

/* A row of a table of fields; how many rows there are. */
#define LBX__RECORD_FIELD(record, name, kind, required, member)                \
    {                                                                          \
        name, LBX__RECORD_##kind, required, offsetof(record, member)           \
    }
#define LBX__RECORD_FIELD_COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* A body's bytes and how many, as they lie in a record. */
typedef struct lbx__record_body {
    const void *bytes;
    size_t size;
} lbx__record_body;

#define LBX__RECORD_NAME_BYTES 64

/* The name that a body has when it is no text. */
void lbx__record_base64_name(const lbx__record_field *field,
                             char name[LBX__RECORD_NAME_BYTES]);

/* Appends the record as JSON. OK; ENCODING for a required field that is not
 * there, a text that is not UTF-8, JSON that is none; TOO_LARGE, NO_MEMORY. */
lbx_status lbx__record_encode(const lbx__record_kind *kind, const void *record,
                              const lbx_allocator *allocator, lbx_buffer *out);

/* OK; ENCODING; NO_MEMORY. */
lbx_status lbx__record_decode(const lbx__record_kind *kind, const char *json,
                              size_t size, const lbx_allocator *allocator,
                              void **ret);

/* Takes NULL. */
void lbx__record_destroy(void *record);

/* The type of such records, made in static memory: once for each `room`. */
const lbx_type *lbx__record_make_type(lbx__type_storage *room,
                                      const lbx__record_kind *kind);

#endif
