/* SPDX-License-Identifier: Apache-2.0 */
/* A waker under test. */
#include "explorer/scenarios/bell.h"

#include "base/atomic.h"
#include "base/park.h"
#include "explorer.h"

static void
ring(void *context)
{
    struct bell *bell = context;

    EXPECT(lbx__load(&bell->away, seq_cst) == 0); // OPER-3: settled
    if (bell->to_end)
        lbx_operation_fini(bell->to_end); // WAIT-6: may end itself
    EXPECT(lbx__exchange(&bell->rung, 1, seq_cst) == 0); // OPER-4: once
    lbx__futex_wake(&bell->rung, 1);
}

lbx_waker
bell_waker(struct bell *bell)
{
    return (lbx_waker){ring, bell};
}

void
bell_await(struct bell *bell)
{
    while (lbx__load(&bell->rung, seq_cst) == 0)
        lbx__futex_wait(&bell->rung, 0, -1);
    lbx__store(&bell->rung, 0, seq_cst);
}

void
bell_put_away(struct bell *bell)
{
    lbx__store(&bell->away, 1, seq_cst);
}

lbx_status
bell_wait(struct bell *bell, lbx_operation *operation)
{
    lbx_waker waker = bell_waker(bell);

    while (lbx_operation_poll(operation, &waker) == LBX_PENDING)
        bell_await(bell);
    return lbx_operation_status(operation);
}
