/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records: each input is read as a request, a result, a dead letter, and a
 * record with fields of every kind. What is accepted is written, cloned, read
 * and written again, to the same (RECORD-1).
 */
#include "base/buffer.h"
#include "compat/wink.h"
#include "courier/dead_letter.h"
#include <letterbox/record.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct point {
    double x;
    const char *label;
};

struct all {
    const char *text;
    char chars[8];
    bool flag;
    int32_t small;
    uint32_t count;
    int64_t large;
    int64_t time_ms;
    const char *json;
    const void *bytes;
    size_t size;
    struct point from;
    struct point *to;
};

LBX_RECORD(point_record, struct point, "fuzz.Point",
           LBX_FIELD(struct point, x, DOUBLE),
           LBX_OPTIONAL(struct point, label, TEXT));

LBX_RECORD(all_record, struct all, "fuzz.All",
           LBX_OPTIONAL(struct all, text, TEXT),
           LBX_OPTIONAL(struct all, chars, CHARS),
           LBX_OPTIONAL(struct all, flag, BOOL),
           LBX_OPTIONAL(struct all, small, INT32),
           LBX_OPTIONAL(struct all, count, UINT32),
           LBX_OPTIONAL(struct all, large, INT64),
           LBX_OPTIONAL(struct all, time_ms, TIME),
           LBX_OPTIONAL(struct all, json, JSON),
           LBX_OPTIONAL_BYTES(struct all, bytes, size),
           LBX_FIELD_RECORD(struct all, from, point_record),
           LBX_OPTIONAL_RECORD(struct all, to, point_record));

static void
must_be_ok(lbx_status status)
{
    if (status != LBX_OK)
        abort();
}

/* Reads a record, clones it and writes the clone; false: it is none. */
static bool
read_and_write(const lbx_record *table, const char *json, size_t size,
               lbx_buffer *out)
{
    lbx_fault fault = {.text = ""};
    void *record, *clone;
    const lbx_status status =
        lbx_record_decode(table, json, size, NULL, &record, &fault);

    if (status != LBX_OK) {
        if (status != LBX_ENCODING || fault.status != status || !fault.text[0])
            abort();
        return false;
    }
    must_be_ok(lbx_record_clone(table, record, NULL, &clone));
    lbx_record_destroy(record);
    must_be_ok(lbx_record_encode(table, clone, out, NULL));
    lbx_record_destroy(clone);
    return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const lbx_record *const kinds[] = {
        &lbx__wink_request_table, &lbx__wink_result_table,
        &lbx__dead_letter_table, &all_record};
    const char *text = size > 0 ? (const char *)data : "";

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        lbx_buffer once, twice;

        lbx__buffer_init(&once, NULL, 1 << 20);
        lbx__buffer_init(&twice, NULL, 1 << 20);
        if (read_and_write(kinds[i], text, size, &once) &&
            (!read_and_write(kinds[i], once.bytes, once.size, &twice) ||
             once.size != twice.size ||
             memcmp(once.bytes, twice.bytes, once.size) != 0))
            abort();
        lbx__buffer_fini(&once);
        lbx__buffer_fini(&twice);
    }
    return 0;
}
