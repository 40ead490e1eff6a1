/* SPDX-License-Identifier: Apache-2.0 */
/* Random bytes; see random.h. */
#include "codec/random.h"

#include <sys/random.h>

bool
lbx__random(void *bytes, size_t size)
{
    uint8_t *at = bytes;

    while (size > 0) {
        ssize_t got = getrandom(at, size, 0);

        // A signal may end a call for more than 256 bytes, not one for less.
        if (got <= 0)
            got = getrandom(at, size < 256 ? size : 256, 0);
        if (got <= 0)
            return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}
