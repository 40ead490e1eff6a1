/* SPDX-License-Identifier: Apache-2.0 */
/* What fuzz targets share: the entry, and ways to fail. */
#ifndef LBX_FUZZ_TARGET_H
#define LBX_FUZZ_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process, which both drivers report with the input. */
static inline void
must_be(bool good)
{
    if (!good)
        abort();
}

/* A copy as long as it is: a read behind its end is found out. */
static inline void *
copy_exactly(const void *bytes, size_t size)
{
    void *copy = calloc(size ? size : 1, 1);

    must_be(copy != NULL);
    if (size > 0)
        memcpy(copy, bytes, size);
    return copy;
}

/* The same with a NUL behind it. */
static inline char *
copy_text(const void *bytes, size_t size)
{
    char *text = malloc(size + 1);

    must_be(text != NULL);
    if (size > 0)
        memcpy(text, bytes, size);
    text[size] = '\0';
    return text;
}

#endif
