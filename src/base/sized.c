/* SPDX-License-Identifier: Apache-2.0 */
/* Structs that may grow; SIZED-1 and SIZED-2 are in sized.h. */
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
lbx__sized_read(void *ret, size_t size_bytes, const void *from,
                size_t min_bytes, const char *init, lbx_fault *fault)
{
    enum {
        LARGEST = 1 << 16 // no struct of ours will ever be
    };
    const size_t given = sized_bytes(from);
    const unsigned char *bytes = from;

    if (given < min_bytes || given > LARGEST) // SIZED-2
        return lbx__fault_set(fault, LBX_INVALID,
                              "the struct has a size_bytes of %zu: start it "
                              "with %s",
                              given, init);
    for (size_t i = size_bytes; i < given; i++)
        if (bytes[i] != 0)
            return lbx__fault_set(fault, LBX_INVALID,
                                  "the struct of %s sets a member that this "
                                  "version of the library (%s) does not know",
                                  init, lbx_version());
    memcpy(ret, from, given < size_bytes ? given : size_bytes); // SIZED-1
    memcpy(ret, &size_bytes, sizeof(size_bytes));
    return LBX_OK;
}

lbx_status
lbx__sized_write(void *to, const void *from, size_t size_bytes,
                 size_t min_bytes)
{
    const size_t given = sized_bytes(to);
    const size_t copied = given < size_bytes ? given : size_bytes;

    if (given < min_bytes) // SIZED-2
        return LBX_INVALID;
    memcpy(to, from, copied); // SIZED-1
    memcpy(to, &given, sizeof(given));
    if (given > copied)
        memset((unsigned char *)to + copied, 0, given - copied);
    return LBX_OK;
}
