/* SPDX-License-Identifier: Apache-2.0 */
/* A clock that moves only when a test advances it. */
#include "base/atomic.h"
#include "post/store.h"
#include <letterbox/testing.h>

static _Atomic(int64_t) *
test_clock_now(lbx_test_clock *time)
{
    return (_Atomic(int64_t) *)(void *)&time->now_ns;
}

static int64_t
test_clock_read(void *context)
{
    // Acquire: pairs with the release in lbx_test_clock_advance().
    return lbx__load(test_clock_now(context), acquire);
}

lbx_clock
lbx_test_clock_as_clock(lbx_test_clock *time)
{
    return (lbx_clock){test_clock_read, time};
}

void
lbx_test_clock_advance(lbx_test_clock *time, int64_t duration_ns,
                       lbx_store *store)
{
    if (!time || duration_ns < 0)
        return; // time does not run backwards
    // Release: pairs with test_clock_read(). A thread that reads the new time
    // sees what the test did before.
    (void)lbx__add(test_clock_now(time), duration_ns, release);
    if (store)
        lbx__store_call_tick(store);
}
