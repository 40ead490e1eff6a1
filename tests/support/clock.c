/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A clock that stands still until the test moves it.
 */
#include "support/clock.h"

static int64_t
read_clock(void *context)
{
    struct test_clock *clock = context;

    atomic_fetch_add(&clock->readings, 1);
    return atomic_load(&clock->now_ns);
}

lbx_clock
test_clock_interface(struct test_clock *clock)
{
    return (lbx_clock){.now_ns = read_clock, .context = clock};
}

int64_t
test_clock_now(struct test_clock *clock)
{
    return atomic_load(&clock->now_ns);
}

void
test_clock_advance(struct test_clock *clock, int64_t duration_ns)
{
    atomic_fetch_add(&clock->now_ns, duration_ns);
}

void
test_clock_set(struct test_clock *clock, int64_t now_ns)
{
    atomic_store(&clock->now_ns, now_ns);
}
