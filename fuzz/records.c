/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The courier's records: each input is read as a request, a result and a dead
 * letter. What is accepted is written, read and written again, to the same
 * (RECORD-1).
 */
#include "base/buffer.h"
#include "compat/wink.h"
#include "courier/dead_letter.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads a record and writes it; false: it is none. */
static bool
read_and_write(const lbx__record_kind *kind, const char *json, size_t size,
               lbx_buffer *out)
{
    void *record;
    const lbx_status status =
        lbx__record_decode(kind, json, size, NULL, &record);

    if (status != LBX_OK) {
        if (status != LBX_ENCODING)
            abort();
        return false;
    }
    if (lbx__record_encode(kind, record, NULL, out) != LBX_OK)
        abort();
    lbx__record_destroy(record);
    return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const lbx__record_kind *const kinds[] = {&lbx__wink_request_kind,
                                                    &lbx__wink_result_kind,
                                                    &lbx__dead_letter_kind};
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
