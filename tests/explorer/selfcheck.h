/* SPDX-License-Identifier: Apache-2.0 */
/* Does the search that leaves out repetitions leave out nothing else? */
#ifndef LBX_EXPLORER_SELFCHECK_H
#define LBX_EXPLORER_SELFCHECK_H

#include <stdbool.h>
#include <stdint.h>

struct selfcheck {
    uint64_t programs;
    uint64_t interleavings; /* of the search that leaves out */
    uint64_t brute;         /* of the one that does not */
    uint64_t ends;          /* different ends that both found */
};

/* Makes `programs` random ones and compares; false and a text to stdout when
 * the two searches disagree. */
bool selfcheck(uint64_t seed, unsigned programs, struct selfcheck *ret);

#endif
