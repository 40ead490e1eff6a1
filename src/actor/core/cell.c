/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells: adding work, taking it, waking and releasing (CELL-1 to CELL-5 in
 * cell.h).
 *
 * Threads: any may push and wake; only the owner takes and releases.
 */
#include "actor/core/cell.h"

#include "actor/core/actor_mailbox.h"
#include "actor/core/system.h"
#include "base/park.h"

void
lbx__cell_claim(lbx__cell *cell)
{
    uint32_t idle = 0;

    // seq_cst: CELL-2. Winning it acquires what the last owner did.
    if (lbx__cas(&cell->scheduled, &idle, 1u, seq_cst))
        lbx__cell_schedule(cell);
}

void
lbx__cell_wake_always(lbx__cell *cell)
{
    // A read-modify-write on both sides (see lbx__cell_release()): ours comes
    // before the owner's, which then sees the work; or after it, and we see 0.
    if (lbx__exchange(&cell->scheduled, 2u, seq_cst) == 0)
        lbx__cell_schedule(cell);
}

void
lbx__cell_push_system(lbx__cell *cell, lbx__node *node)
{
    lbx__node *top = lbx__load(&cell->system_stack, relaxed);

    do
        // Relaxed: published by the compare-and-swap.
        lbx__store(&node->next, top, relaxed);
    while (!lbx__cas(&cell->system_stack, &top, node, seq_cst)); // CELL-2
    lbx__cell_wake(cell);
}

void
lbx__cell_push_orphan(lbx__cell *parent, lbx__cell *child)
{
    lbx__cell *top = lbx__load(&parent->orphans, relaxed);

    do
        child->next_orphan = top;
    while (!lbx__cas(&parent->orphans, &top, child, seq_cst)); // CELL-2
    lbx__cell_wake(parent);
}

void
lbx__cell_stop(lbx__cell *cell, uint32_t generation)
{
    uint32_t seen = lbx__load(&cell->stop, relaxed);

    // A stop of a later life replaces one of an earlier; a stale one is
    // ignored.
    while (seen < generation)
        if (lbx__cas(&cell->stop, &seen, generation, seq_cst)) { // CELL-2
            lbx__cell_wake(cell);
            return;
        }
}

bool
lbx__cell_is_linked(lbx__cell *cell)
{
    // Relaxed and acquire: as in lbx__cell_pop().
    if (lbx__load(&lbx__load(&cell->head, relaxed)->next, acquire))
        return true;
    // One that is not linked yet (CELL-5): its sender is about to do so.
    if (lbx__cell_has_messages(cell))
        lbx__pause();
    return false;
}

lbx__node *
lbx__cell_pop(lbx__cell *cell)
{
    // Relaxed, here and below: the owner writes it.
    lbx__node *head = lbx__load(&cell->head, relaxed);
    // Acquire: pairs with the release in lbx__cell_push().
    lbx__node *next = lbx__load(&head->next, acquire);

    if (!next) {
        if (lbx__cell_has_messages(cell)) // as above
            lbx__pause();
        return NULL;
    }
    lbx__store(&cell->head, next, relaxed);
    lbx__node_pool_put(cell->system->pool, head);
    return next;
}

lbx__node *
lbx__cell_take_system(lbx__cell *cell)
{
    lbx__node *oldest = NULL;
    lbx__node *node;

    // Relaxed: a hint; CELL-2 covers what comes later.
    if (!lbx__load(&cell->system_stack, relaxed))
        return NULL;
    // Acquire: the senders' writes.
    node = lbx__exchange(&cell->system_stack, NULL, acquire);
    while (node) {
        lbx__node *older = lbx__load(&node->next, relaxed);

        lbx__store(&node->next, oldest, relaxed);
        oldest = node;
        node = older;
    }
    return oldest;
}

lbx__cell *
lbx__cell_take_orphans(lbx__cell *cell)
{
    // Relaxed and acquire: as lbx__cell_take_system().
    if (!lbx__load(&cell->orphans, relaxed))
        return NULL;
    return lbx__exchange(&cell->orphans, NULL, acquire);
}

void
lbx__cell_release(lbx__cell *cell, bool deaf, bool stopping)
{
    lbx__node *head = lbx__load(&cell->head, relaxed);
    uint32_t generation = lbx__load(&cell->generation, relaxed);
    bool balances = cell->role == LBX__ROLE_BALANCER;
    // Referenced, because the life may end as soon as the cell is released.
    // Relaxed: the owner writes it.
    lbx__actor_mailbox *box =
        deaf || balances || !lbx__load(&cell->box, relaxed)
            ? NULL
            : lbx__actor_mailbox_ref(cell, lbx__cell_ref(cell));

    // Release: publishes our writes to the next owner. seq_cst: CELL-2, before
    // the checks below. From here on the cell may be another actor.
    // A balancer's mailbox is seldom empty; what counts is whether a sender has
    // woken it since its last check (see run_wake_routees()).
    if ((lbx__exchange(&cell->scheduled, 0u, seq_cst) == 2 && balances) ||
        (!stopping && lbx__load(&cell->stop, seq_cst) == generation) ||
        lbx__load(&cell->system_stack, seq_cst) != NULL ||
        lbx__load(&cell->orphans, seq_cst) != NULL ||
        (!deaf && lbx__load(&cell->tail, seq_cst) != head) ||
        (box && lbx_mailbox_depth(box->mailbox) > 0))
        lbx__cell_wake(cell);
    if (box)
        lbx__actor_mailbox_unref(box);
}
