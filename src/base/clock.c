/* SPDX-License-Identifier: Apache-2.0 */
/* The only place that reads a clock. */
#include "base/clock.h"

#include <letterbox/base.h>

#include <limits.h>
#include <time.h>

static int64_t
clock_read(clockid_t which)
{
    struct timespec now;

    clock_gettime(which, &now);
    return (int64_t)now.tv_sec * LBX_SECOND + now.tv_nsec;
}

int64_t
lbx_clock_now(const lbx_clock *clock)
{
    return clock ? clock->now_ns(clock->context) : clock_read(CLOCK_MONOTONIC);
}

int64_t
lbx__clock_boot(void)
{
    return clock_read(CLOCK_BOOTTIME);
}

int64_t
lbx__clock_wall(void)
{
    return clock_read(CLOCK_REALTIME);
}

int64_t
lbx__clock_wall_ms(void)
{
    return lbx__clock_wall() / LBX_MS;
}

int64_t
lbx_deadline_after(const lbx_clock *clock, int64_t duration_ns)
{
    int64_t now;

    if (duration_ns < 0)
        return LBX_FOREVER;
    now = lbx_clock_now(clock);
    if (now > 0 && duration_ns > LBX_FOREVER - now)
        return LBX_FOREVER;
    return now + duration_ns;
}

int
lbx_deadline_poll_ms(const lbx_clock *clock, int64_t deadline_ns)
{
    int64_t now;
    int64_t left_ms;

    if (deadline_ns == LBX_FOREVER)
        return -1;
    now = lbx_clock_now(clock);
    if (deadline_ns <= now)
        return 0;
    if (now < 0 && deadline_ns > LBX_FOREVER + now)
        return INT_MAX;
    left_ms = (deadline_ns - now - 1) / LBX_MS + 1;
    return left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}
