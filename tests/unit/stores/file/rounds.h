/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random tests: their seed, their draws, their rounds.
 *
 * Rounds are bounded by time: a fast machine does all of them, a
 * slow one those that fit, but never fewer than the test needs to say
 * something.
 *
 *     for (struct rounds rounds = rounds_of(60, 5, 10); rounds_next(&rounds);)
 *
 * With --full only the number counts.
 */
#ifndef LBX_TEST_STORES_FILE_ROUNDS_H
#define LBX_TEST_STORES_FILE_ROUNDS_H

#include "support/test.h"

#include <letterbox/base.h>

#include <inttypes.h>
#include <stdlib.h>

/* LBX_SEED, if that is set, or a new one; printed, so that a failure can be run
 * again. */
static inline uint64_t
rounds_seed(void)
{
    const char *given = getenv("LBX_SEED");
    const uint64_t seed =
        given ? strtoull(given, NULL, 0) : (uint64_t)lbx_clock_now(NULL);

    test_note("LBX_SEED=%" PRIu64, seed);
    return seed;
}

/* The next draw: 0 to below - 1. */
static inline uint64_t
rounds_draw(uint64_t *state, uint64_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407U;
    return (*state >> 33) % below;
}

struct rounds {
    long done, min, max;
    int64_t end_ns;
};

/* `max` rounds (see test_rounds()) in `seconds`, but at least `min`. */
static inline struct rounds
rounds_of(long max, long min, long seconds)
{
    const bool full = test_rounds(0, 1) == 1;

    return (struct rounds){
        .min = min,
        .max = max,
        .end_ns = full ? INT64_MAX
                       : lbx_clock_now(NULL) + (int64_t)seconds * LBX_SECOND,
    };
}

/* Whether there is one more. */
static inline bool
rounds_next(struct rounds *rounds)
{
    if (rounds->done >= rounds->max ||
        (rounds->done >= rounds->min && lbx_clock_now(NULL) >= rounds->end_ns))
        return false;
    rounds->done++;
    return true;
}

#endif
