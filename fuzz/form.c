/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forms. The fields lie in the text, in order and apart; what is decoded and
 * encoded again is decoded to the same.
 */
#include "codec/form.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Encodes every byte, decodes that, and compares. */
static void
decode_again(const char *bytes, size_t size)
{
    char *encoded = malloc(3 * size + 1), *again = malloc(3 * size + 1);
    size_t again_size;

    if (!encoded || !again)
        abort();
    for (size_t i = 0; i < size; i++)
        (void)sprintf(encoded + 3 * i, "%%%02X", (unsigned char)bytes[i]);
    if (!lbx__form_decode((lbx__slice){encoded, 3 * size}, again,
                          &again_size) ||
        again_size != size || memcmp(again, bytes, size) != 0)
        abort();
    free(again);
    free(encoded);
}

static void
decode_once(lbx__slice text)
{
    // Exactly as large as it must be: writing past the end is found out.
    char *out = malloc(text.size ? text.size : 1);
    size_t size;

    if (!out)
        abort();
    if (lbx__form_decode(text, out, &size)) {
        if (size > text.size)
            abort();
        decode_again(out, size);
    }
    free(out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size;
    lbx__form form = lbx__form_of((lbx__slice){at, size});
    lbx__slice name, value;

    while (lbx__form_next(&form, &name, &value)) {
        if (name.bytes < at || value.bytes < name.bytes + name.size ||
            value.bytes + value.size > end)
            abort();
        at = value.bytes + value.size;
        decode_once(name);
        decode_once(value);
    }
    return 0;
}
