/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records inside the library; <letterbox/record.h> is the manual.
 *
 * RECORD-1  A record that was encoded decodes to the same record, which encodes
 *           to the same JSON.
 * RECORD-2  A decoded or cloned record is one block: its struct, the structs
 *           that optional fields point to, and all texts and bytes.
 * RECORD-3  Members are read and written by memcpy(), at most as many bytes as
 *           their kind has, and inside the struct: lbx__record_check() has seen
 *           to it.
 */
#ifndef LBX_CODEC_RECORD_H
#define LBX_CODEC_RECORD_H

#include "base/buffer.h"
#include "base/type.h"
#include <letterbox/record.h>

/* Bytes as they are in a record: the pointer and its size. */
typedef struct lbx__record_bytes {
    const void *bytes;
    size_t size;
} lbx__record_bytes;

/* Which field is being read or written, and inside which others. */
typedef struct lbx__record_path {
    const char *names[LBX_RECORD_MAX_DEPTH];
    size_t depth;
    const char *why; /* what is wrong with the field; NULL: nothing yet */
} lbx__record_path;

/* The memory of a record and of the structs that it points to, and where the
 * next struct goes (RECORD-2). */
typedef struct lbx__record_block {
    unsigned char *message;
    unsigned char *next;
    char *texts;
} lbx__record_block;

enum {
    LBX__RECORD_NAME_BYTES = 64 /* of a BODY in base64 */
};

/* Checks a table and those inside it: OK or INVALID, with a fault. */
lbx_status lbx__record_check(const lbx_record *record, lbx_fault *fault);

/* Writes "field 'address.street': why". Returns the status. */
lbx_status lbx__record_fault(const lbx_record *record,
                             const lbx__record_path *path, lbx_status status,
                             lbx_fault *fault);

/* A row of a table; a member of a struct. */
const lbx_field *lbx__record_field(const lbx_record *record, size_t index);
static inline void *
lbx__record_member(void *message, const lbx_field *field)
{
    return (char *)message + field->offset_bytes;
}

/* Bytes and size of a TEXT, JSON, BYTES or BODY; NULL when absent. */
lbx__record_bytes lbx__record_get_bytes(const void *message,
                                        const lbx_field *field);
void lbx__record_set_bytes(void *message, const lbx_field *field,
                           lbx__record_bytes bytes);

/* The name in JSON of a BODY that is not text. */
void lbx__record_base64_name(const lbx_field *field,
                             char name[LBX__RECORD_NAME_BYTES]);

/* Memory for a record with its structs zeroed, and `text_bytes` behind them.
 * False: NO_MEMORY. */
bool lbx__record_block_create(lbx__record_block *block,
                              const lbx_record *record, size_t text_bytes,
                              const lbx_allocator *allocator);

/* The next struct of the block. */
void *lbx__record_block_take(lbx__record_block *block,
                             const lbx_record *record);

/* As the public functions, for a table that was checked; clone returns NULL
 * when there is no memory. */
lbx_status lbx__record_encode(const lbx_record *record, const void *message,
                              lbx_buffer *out, lbx_fault *fault);
lbx_status lbx__record_decode(const lbx_record *record, const char *json,
                              size_t size_bytes, const lbx_allocator *allocator,
                              void **ret, lbx_fault *fault);
void *lbx__record_clone(const lbx_record *record, const void *message,
                        const lbx_allocator *allocator);

/* Options of a type whose messages are such records. */
lbx_type_options lbx__record_type_options(const lbx_record *record);

#endif
