/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks and deadlines. */
#include "base/clock.h"
#include "support/clock.h"
#include "support/test.h"

#include <limits.h>

TEST_CITING("WAIT-9", clock_of_the_system_does_not_go_back)
{
    int64_t before = lbx_clock_now(NULL);

    CHECK(before > 0);
    for (int i = 0; i < 1000; i++) {
        int64_t now = lbx_clock_now(NULL);

        CHECK(now >= before);
        before = now;
    }
}

TEST(clock_may_be_injected)
{
    TEST_CLOCK(time, clock);

    CHECK_INT(1000 * LBX_SECOND, lbx_clock_now(&clock));
    test_clock_advance(&time, 5 * LBX_MS);
    CHECK_INT(1000 * LBX_SECOND + 5 * LBX_MS, lbx_clock_now(&clock));
}

TEST_CITING("R-02", deadline_of_a_negative_duration_never_comes)
{
    CHECK_INT(LBX_FOREVER, lbx_deadline_after(NULL, -1));
    CHECK_INT(LBX_FOREVER, lbx_deadline_after(NULL, INT64_MIN));
}

TEST(deadline_is_now_plus_duration)
{
    TEST_CLOCK(time, clock);

    CHECK_INT(1000 * LBX_SECOND, lbx_deadline_after(&clock, 0));
    CHECK_INT(1000 * LBX_SECOND + 3, lbx_deadline_after(&clock, 3 * LBX_NS));
    CHECK_INT(1060 * LBX_SECOND, lbx_deadline_after(&clock, 60 * LBX_SECOND));
}

/* A sum that does not fit is for ever, not the past. */
TEST(deadline_saturates)
{
    TEST_CLOCK(time, clock);

    CHECK_INT(LBX_FOREVER, lbx_deadline_after(&clock, INT64_MAX));
    CHECK_INT(LBX_FOREVER,
              lbx_deadline_after(&clock, INT64_MAX - 1000 * LBX_SECOND));
    CHECK_INT(INT64_MAX - 1,
              lbx_deadline_after(&clock, INT64_MAX - 1000 * LBX_SECOND - 1));
    CHECK_INT(LBX_FOREVER, lbx_deadline_after(NULL, INT64_MAX));

    // A clock may start below zero; then everything fits.
    test_clock_set(&time, -5);
    CHECK_INT(INT64_MAX - 5, lbx_deadline_after(&clock, INT64_MAX));
    CHECK_INT(-2, lbx_deadline_after(&clock, 3));
}

/* Rounded up, so that a loop does not wake before its deadline and spin. */
TEST(deadline_as_milliseconds_for_poll)
{
    TEST_CLOCK(time, clock);
    int64_t now = test_clock_now(&time);

    CHECK_INT(-1, lbx_deadline_poll_ms(&clock, LBX_FOREVER));
    CHECK_INT(-1, lbx_deadline_poll_ms(NULL, LBX_FOREVER));
    CHECK_INT(0, lbx_deadline_poll_ms(&clock, now));
    CHECK_INT(0, lbx_deadline_poll_ms(&clock, now - 1));
    CHECK_INT(0, lbx_deadline_poll_ms(&clock, INT64_MIN));
    CHECK_INT(1, lbx_deadline_poll_ms(&clock, now + 1));
    CHECK_INT(1, lbx_deadline_poll_ms(&clock, now + LBX_MS));
    CHECK_INT(2, lbx_deadline_poll_ms(&clock, now + LBX_MS + 1));
    CHECK_INT(INT_MAX, lbx_deadline_poll_ms(&clock, LBX_FOREVER - 1));
    test_clock_set(&time, INT64_MIN);
    CHECK_INT(INT_MAX, lbx_deadline_poll_ms(&clock, LBX_FOREVER - 1));
}

TEST(clock_of_the_wall_counts_milliseconds)
{
    int64_t before = lbx__clock_wall() / LBX_MS;
    int64_t now = lbx__clock_wall_ms();

    CHECK(now >= before && now <= lbx__clock_wall() / LBX_MS);
}
