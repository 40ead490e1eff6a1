/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that lie in memory of another owner. */
#ifndef LBX_BASE_SLICE_H
#define LBX_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* `bytes` NULL: there is none, which is not the same as an empty one. */
typedef struct lbx__slice {
    const char *bytes;
    size_t size;
} lbx__slice;

static inline lbx__slice
lbx__slice_of(const char *text)
{
    return (lbx__slice){text, text ? strlen(text) : 0};
}

static inline bool
lbx__slice_is(lbx__slice slice, const char *text)
{
    return slice.bytes && strlen(text) == slice.size &&
           memcmp(slice.bytes, text, slice.size) == 0;
}

static inline bool
lbx__slice_equal(lbx__slice a, lbx__slice b)
{
    if (a.size != b.size)
        return false;
    return !a.bytes || !b.bytes || memcmp(a.bytes, b.bytes, a.size) == 0;
}

#endif
