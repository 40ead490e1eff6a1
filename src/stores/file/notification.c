/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notification: a count in each slot of `wake`, which grows when something has
 * happened that the process of the slot may have to react to: a commit in
 * shared mode (MEMB-3), a join request, a process that has left, poison, or a
 * call of this process. A process waits for the count of its slot and for
 * nothing else.
 */
#include "stores/file/wake.h"

#include "base/park.h"

static void
notification_raise_slot(struct lbx__wake_slot *slot)
{
    // seq_cst on both sides: either the waiter sees the count before it sleeps,
    // or this thread sees that it waits. Pairs with lbx__notification_wait().
    (void)lbx__add(&slot->notified, 1u, seq_cst);
    if (lbx__load(&slot->waiting, seq_cst))
        lbx__futex_wake_shared(&slot->notified, INT32_MAX);
}

void
lbx__notification_raise_others(lbx__membership *membership)
{
    for (uint32_t i = 0; i < LBX__WAKE_SLOTS; i++) {
        if (i != membership->slot)
            notification_raise_slot(&membership->wake->slots[i]);
    }
}

uint32_t
lbx__notification_count(lbx__membership *membership)
{
    return lbx__load(&membership->wake->slots[membership->slot].notified,
                     seq_cst);
}

void
lbx__notification_wait(lbx__membership *membership, uint32_t seen,
                       int64_t wait_ns)
{
    struct lbx__wake_slot *slot = &membership->wake->slots[membership->slot];

    // seq_cst: see notification_raise_slot().
    lbx__store(&slot->waiting, 1u, seq_cst);
    if (lbx__load(&slot->notified, seq_cst) == seen)
        lbx__futex_wait_shared(&slot->notified, seen, wait_ns);
    lbx__store(&slot->waiting, 0u, seq_cst);
}

void
lbx__notification_raise(lbx__membership *membership)
{
    notification_raise_slot(&membership->wake->slots[membership->slot]);
}
