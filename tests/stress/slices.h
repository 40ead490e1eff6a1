/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slices: how long a storm goes on. A count is made in slices until it is
 * reached or the time of its test is used up, whichever comes first. So a slow
 * or busy machine makes fewer rounds and fails nothing.
 *
 *     struct slices slices = slices_begin(rounds, CASES);
 *
 *     for (uint64_t some; (some = slices_next(&slices)) > 0;)
 *         run(some);
 *
 * The first slice is always made. Tests that demand a minimum over all storms
 * ask slices_were_cut() first.
 *
 * Threads    one for each struct; slices_were_cut(): any process of the
 *            program.
 */
#ifndef LBX_TEST_STRESS_SLICES_H
#define LBX_TEST_STRESS_SLICES_H

#include <stdbool.h>
#include <stdint.h>

struct slices {
    uint64_t left;
    uint64_t size;
    uint64_t made;
    int64_t end_ns;
};

/* `count` rounds, one of `cases` that share the time of a test. */
struct slices slices_begin(uint64_t count, unsigned cases);

/* The rounds to make next; 0: done. */
uint64_t slices_next(struct slices *slices);

/* True when the time of a test ended before its count. */
bool slices_were_cut(void);

#endif
