/* SPDX-License-Identifier: Apache-2.0 */
/* Structs that may grow; SIZED-1 to SIZED-3 are in sized.h. */
#include "base/sized.h"

#include "base/fault.h"
#include <string.h>

/* The size that a struct says it has; its first member. */
static size_t
sized_bytes(const void *sized)
{
    size_t size_bytes;

    memcpy(&size_bytes, sized, sizeof(size_bytes));
    return size_bytes;
}

lbx_status
lbx__sized_check(const void *from, const lbx__sized *sized, lbx_fault *fault)
{
    const size_t given = sized_bytes(from);
    const unsigned char *bytes = from;

    if (given == sized->size_bytes)
        return LBX_OK;
    if (given < sized->min_bytes ||
        given > LBX__SIZED_GROWTH * sized->size_bytes) // SIZED-2
        return lbx__fault_set(fault, LBX_INVALID,
                              "the struct has a size_bytes of %zu: start it "
                              "with %s",
                              given, sized->init);
    for (size_t i = sized->size_bytes; i < given; i++)
        if (bytes[i] != 0)
            return lbx__fault_set(fault, LBX_INVALID,
                                  "the struct of %s sets a member that this "
                                  "version of the library (%s) does not know",
                                  sized->init, lbx_version());
    return LBX_OK;
}

lbx_status
lbx__sized_read(void *ret, const void *from, const lbx__sized *sized,
                lbx_fault *fault)
{
    const size_t given = from ? sized_bytes(from) : 0;
    lbx_status status;

    if (!from) {
        memcpy(ret, sized->defaults, sized->size_bytes);
        return LBX_OK;
    }
    status = lbx__sized_check(from, sized, fault);
    if (status != LBX_OK)
        return status;
    if (given < sized->size_bytes) { // SIZED-1
        memcpy(ret, sized->defaults, sized->size_bytes);
        memcpy(ret, from, given);
    } else {
        memcpy(ret, from, sized->size_bytes);
    }
    memcpy(ret, &sized->size_bytes, sizeof(sized->size_bytes));
    return LBX_OK;
}

const void *
lbx__sized_view(const void *from, void *own, const lbx__sized *sized,
                lbx_fault *fault)
{
    if (!from)
        return sized->defaults;
    if (sized_bytes(from) == sized->size_bytes)
        return from;
    return lbx__sized_read(own, from, sized, fault) == LBX_OK ? own : NULL;
}

lbx_status
lbx__sized_write(void *to, const void *from, size_t size_bytes,
                 size_t min_bytes)
{
    const size_t given = sized_bytes(to);
    const size_t copied = given < size_bytes ? given : size_bytes;

    if (given < min_bytes || given > LBX__SIZED_GROWTH * size_bytes) // SIZED-2
        return LBX_INVALID;
    memcpy(to, from, copied); // SIZED-1
    memcpy(to, &given, sizeof(given));
    if (given > copied)
        memset((unsigned char *)to + copied, 0, given - copied);
    return LBX_OK;
}
