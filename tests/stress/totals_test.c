/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the storms of this program were long enough. Listed last, so that it
 * runs last; checks nothing when only some of them ran, or when the machine was
 * so slow or busy that the time of a test ended before its count.
 */
#include <inttypes.h>

#include "stress/slices.h"
#include "stress/storm.h"
#include "support/test.h"

TEST(storms_are_long_enough)
{
    enum {
        RUNS = 80 // all of them
    };
    uint64_t pairs = storm_sum(STORM_PARKS) + storm_sum(STORM_WAKES);

    test_note("totals: operations=%" PRIu64 " park_pairs=%" PRIu64
              " (threads=%" PRIu64 " operations=%" PRIu64 ") cancels=%" PRIu64
              " runs=%" PRIu64,
              storm_sum(STORM_OPERATIONS), pairs, storm_sum(STORM_PARKS),
              storm_sum(STORM_WAKES), storm_sum(STORM_CANCELS),
              storm_sum(STORM_RUNS));
    if (storm_sum(STORM_RUNS) < RUNS || slices_were_cut())
        return;
    CHECK(storm_sum(STORM_OPERATIONS) >=
          storm_count(20000000, 4000000, 18000000, 1));
    CHECK(pairs >= storm_count(2000000, 200000, 100000, 1));
    CHECK(storm_sum(STORM_CANCELS) >= storm_count(1000000, 100000, 50000, 1));
}
