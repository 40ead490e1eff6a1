/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A clock that stands still until the test moves it.
 *
 *     TEST_CLOCK(time, clock);
 *
 *     test_clock_advance(&time, 5 * LBX_MS);
 *
 * Threads: any; a reader in another thread sees the new time at once.
 */
#ifndef LBX_TEST_SUPPORT_CLOCK_H
#define LBX_TEST_SUPPORT_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>

#include <letterbox/base.h>

struct test_clock {
    _Atomic int64_t now_ns;
    _Atomic int64_t readings; /* how often it was asked */
};

/* Not 0, so that code which takes 0 for "no time" is found out. */
#define TEST_CLOCK_INIT                                                        \
    {                                                                          \
        .now_ns = 1000 * LBX_SECOND                                            \
    }

/* Declares a clock, `time`, and what to hand to the library, `clock`. */
#define TEST_CLOCK(time, clock)                                                \
    struct test_clock time = TEST_CLOCK_INIT;                                  \
    const lbx_clock clock = test_clock_interface(&time)

/* The clock to hand to the library; copy it freely. */
lbx_clock test_clock_interface(struct test_clock *clock);

int64_t test_clock_now(struct test_clock *clock);
void test_clock_advance(struct test_clock *clock, int64_t duration_ns);
void test_clock_set(struct test_clock *clock, int64_t now_ns);

#endif
