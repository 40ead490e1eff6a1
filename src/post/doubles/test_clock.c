/* SPDX-License-Identifier: Apache-2.0 */
/* A clock that stands until a test moves it. */
#include "base/atomic.h"
#include "post/store.h"
#include <letterbox/testing.h>

static _Atomic(int64_t) *
now_of(lbx_test_clock *time)
{
    return (_Atomic(int64_t) *)(void *)&time->now_ns;
}

static int64_t
read_clock(void *context)
{
    // Acquire: who sees the new time sees what the test did before it.
    return lbx__load(now_of(context), acquire);
}

lbx_clock
lbx_test_clock_interface(lbx_test_clock *time)
{
    return (lbx_clock){read_clock, time};
}

void
lbx_test_clock_advance(lbx_test_clock *time, int64_t duration_ns,
                       lbx_store *store)
{
    if (!time || duration_ns < 0)
        return; // time does not go back
    // Release: pairs with read_clock().
    (void)lbx__add(now_of(time), duration_ns, release);
    if (store)
        lbx__store_tick(store);
}
