/* SPDX-License-Identifier: Apache-2.0 */
/* A waker under test. */
#include "explorer/scenarios/wakeup.h"

#include "base/atomic.h"
#include "base/park.h"
#include "explorer.h"

static void
wakeup_call(void *context)
{
    struct wakeup *wakeup = context;

    EXPECT(lbx__load(&wakeup->retired, seq_cst) == 0); // OPER-3: settled
    if (wakeup->to_end)
        lbx_operation_fini(wakeup->to_end); // WAIT-6: may end itself
    EXPECT(lbx__exchange(&wakeup->called, 1, seq_cst) == 0); // OPER-4: once
    lbx__futex_wake(&wakeup->called, 1);
}

lbx_waker
wakeup_waker(struct wakeup *wakeup)
{
    return (lbx_waker){wakeup_call, wakeup};
}

void
wakeup_await(struct wakeup *wakeup)
{
    while (lbx__load(&wakeup->called, seq_cst) == 0)
        lbx__futex_wait(&wakeup->called, 0, -1);
    lbx__store(&wakeup->called, 0, seq_cst);
}

void
wakeup_retire(struct wakeup *wakeup)
{
    lbx__store(&wakeup->retired, 1, seq_cst);
}

lbx_status
wakeup_wait(struct wakeup *wakeup, lbx_operation *operation)
{
    lbx_waker waker = wakeup_waker(wakeup);

    while (lbx_operation_poll(operation, &waker) == LBX_PENDING)
        wakeup_await(wakeup);
    return lbx_operation_status(operation);
}
