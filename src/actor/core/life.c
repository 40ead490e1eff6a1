/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of an actor: start, restart, stop and end.
 *
 *   NEW ──start──► ALIVE ◄──directive──  FAILED
 *                    │  ──handler fails──►  │
 *                    └──────stop────────────┴──► STOPPING ──no child──► ENDED
 *
 * Everything here happens in the actor's own run; spawning is in spawn.c.
 *
 * LIFE-1  A parent ends after its children: it waits in STOPPING.
 * LIFE-2  At its end an actor raises its generation before it empties its
 *         inbox: what is pushed later has a stale generation (CELL-3).
 * LIFE-3  An ended actor passes itself to its parent last, which releases it:
 *         takes it off the list of children and frees its name and its cell
 *         (CELL-4).
 */
#include "actor/core/actor_mailbox.h"
#include "actor/core/dispatchers.h"
#include "actor/core/outbox.h"
#include "actor/core/reason.h"
#include "actor/core/system.h"
#include "base/alloc.h"
#include "base/park.h"
#include <string.h>

static void
life_leave_family(lbx__cell *parent, lbx__cell *child)
{
    lbx__lock_take(&parent->lock);
    if (child->prev_sibling)
        child->prev_sibling->next_sibling = child->next_sibling;
    else
        parent->children = child->next_sibling;
    if (child->next_sibling)
        child->next_sibling->prev_sibling = child->prev_sibling;
    parent->child_count--;
    lbx__lock_give(&parent->lock);
}

void
lbx__life_free_state(lbx__cell *cell)
{
    if (cell->state)
        lbx__free(cell->system->options.allocator, cell->state,
                  cell->behaviour->state_bytes);
    cell->state = NULL;
}

lbx_status
lbx__life_start(lbx_context *context)
{
    lbx__cell *cell = context->cell;
    const lbx_behaviour *behaviour = cell->behaviour;
    lbx_status status = LBX_OK;

    cell->phase = LBX__PHASE_ALIVE;
    cell->started = true;
    if (behaviour->start)
        status = behaviour->start(context, cell->state, cell->argument);
    cell->half_started = status != LBX_OK;
    return status;
}

/* Stops all children; returns how many there are. `last`: there will be no
 * more. */
static uint32_t
life_stop_children(lbx__cell *cell, bool last)
{
    uint32_t count;

    // Under the lock no child leaves the list, so its cell stays its own.
    lbx__lock_take(&cell->lock);
    // Relaxed, both: the lock orders the first, the stop the second.
    if (last)
        (void)lbx__or(&cell->family, LBX__FAMILY_BARREN, relaxed);
    for (lbx__cell *child = cell->children; child;
         child = child->next_sibling) {
        (void)lbx__or(&child->family, LBX__FAMILY_CONDEMNED, relaxed);
        lbx__cell_stop(child, child->life);
    }
    count = cell->child_count;
    lbx__lock_give(&cell->lock);
    return count;
}

uint64_t
lbx__life_find_child(lbx__cell *cell, uint32_t serial)
{
    uint64_t ref = 0;

    lbx__lock_take(&cell->lock);
    for (lbx__cell *child = cell->children; child && ref == 0;
         child = child->next_sibling)
        if (child->serial == serial && !child->name)
            ref = lbx__cell_ref(child);
    lbx__lock_give(&cell->lock);
    return ref;
}

size_t
lbx_context_children(lbx_context *context, lbx_ref *ret, size_t capacity)
{
    size_t count = 0;

    if (!context)
        return 0;
    lbx__lock_take(&context->cell->lock);
    for (lbx__cell *child = context->cell->children; child;
         child = child->next_sibling) {
        const lbx_ref ref = {lbx__cell_ref(child)};

        if (!lbx__ref_lives(ref.word))
            continue; // it has stopped, and is about to be released
        if (ret && count < capacity)
            ret[count] = ref;
        count++;
    }
    lbx__lock_give(&context->cell->lock);
    return count;
}

static uint32_t
life_child_count(lbx__cell *cell)
{
    uint32_t count;

    lbx__lock_take(&cell->lock);
    count = cell->child_count;
    lbx__lock_give(&cell->lock);
    return count;
}

void
lbx__life_begin_stop(lbx_context *context)
{
    lbx__cell *cell = context->cell;

    if (cell->phase >= LBX__PHASE_STOPPING)
        return;
    if (cell->role == LBX__ROLE_PROMISE) {
        lbx__ask_end(context);
        return;
    }
    lbx__supervision_note_end(cell);
    cell->phase = LBX__PHASE_STOPPING;
    // Senders can see it. Relaxed: it is no work (CELL-2).
    lbx__store(&cell->stop, cell->life, relaxed);
    if (life_stop_children(cell, true) == 0)
        lbx__life_end(context); // LIFE-1
}

void
lbx__life_poison(lbx_context *context)
{
    // Relaxed: the owner writes it.
    const lbx__actor_mailbox *box = lbx__load(&context->cell->box, relaxed);

    // Among sharers it is for the one that took it: SHARE-3.
    if (!box || box->sharers || box->owner == lbx__cell_ref(context->cell)) {
        lbx__life_begin_stop(context);
        return;
    }
    // What was sent before the pill has been taken before it; what was sent
    // after it becomes dead letters. The pool lives as long as its child
    // (LIFE-1).
    (void)lbx_mailbox_close(box->mailbox, LBX_CLOSE_IMMEDIATE);
    lbx__cell_stop(lbx__cell_of(box->owner), lbx__generation_of(box->owner));
}

/* Calls the `stop` hook where it is due. */
static void
life_call_stop(lbx_context *context)
{
    lbx__cell *cell = context->cell;
    lbx__node *node = context->node;

    if (!cell->started)
        return;
    cell->started = false;
    if (!cell->behaviour->stop)
        return;
    context->node = NULL;
    cell->behaviour->stop(context, cell->state);
    context->node = node;
}

/* Ends what the facilities hold: messages, timers, the outbox. */
static void
life_clear_facilities(lbx__cell *cell)
{
    lbx__facilities *facilities = cell->facilities;
    lbx_system *system = cell->system;
    lbx__node *node;

    if (!facilities)
        return;
    if (facilities->failed) {
        lbx__dead_letter_publish_node(system, facilities->failed,
                                      LBX_LOSS_FAILED);
        lbx__node_pool_put(system->pool, facilities->failed);
        facilities->failed = NULL;
    }
    if (facilities->idle_timer.id)
        (void)lbx_timer_cancel(system, facilities->idle_timer);
    lbx__timers_cancel_own(system->timers, &facilities->timers);
    lbx__outbox_end(cell);
    if (facilities->again)
        lbx__node_list_append(&facilities->ahead, facilities->again);
    facilities->again = NULL;
    while ((node = lbx__node_list_take(&facilities->ahead)) ||
           (node = lbx__node_list_take(&facilities->stash))) {
        lbx__dead_letter_publish_node(system, node, LBX_LOSS_CLOSED);
        lbx__node_pool_put(system->pool, node);
    }
}

static void
life_clear_inbox(lbx__cell *cell)
{
    lbx__node *node;

    while ((node = lbx__cell_pop(cell)))
        lbx__dead_letter_publish_node(cell->system, node, LBX_LOSS_CLOSED);
}

/* What watchers are told. The caller gets a reference to the reason. */
static lbx__notice
life_end_notice(const lbx__cell *cell)
{
    const lbx__facilities *facilities = cell->facilities;
    lbx__notice notice = {0};

    // Relaxed: the stop orders it.
    if (lbx__load(&cell->family, relaxed) & LBX__FAMILY_CONDEMNED)
        notice.why.reason = LBX_TERMINATION_BY_PARENT;
    if (facilities && facilities->ended != LBX_TERMINATION_STOPPED) {
        notice.why.reason = facilities->ended;
        notice.why.status = facilities->failure;
        notice.reason = lbx__reason_ref(facilities->reason);
    }
    return notice;
}

void
lbx__life_end(lbx_context *context)
{
    lbx__cell *cell = context->cell;
    lbx_system *system = cell->system;
    lbx__node_list watchers = {0};
    lbx__notice why;
    lbx__node *node;

    lbx__pipe_end(cell);
    life_call_stop(context);
    lbx__router_end(cell);
    cell->phase = LBX__PHASE_ENDED;
    // Release and seq_cst: LIFE-2.
    (void)lbx__add(&cell->generation, 1, seq_cst);
    life_clear_facilities(cell);
    lbx__actor_mailbox_detach(cell);
    life_clear_inbox(cell);
    lbx__life_free_state(cell);
    why = life_end_notice(cell);
    if (cell->facilities)
        watchers = cell->facilities->watchers;
    lbx__facilities_free(cell);
    lbx__dispatchers_leave(cell);
    while ((node = lbx__node_list_take(&watchers)))
        lbx__watch_notify(system, node, &why);
    lbx__reason_unref(why.reason);
    if (cell->parent)
        (void)lbx__sub(&system->alive, 1, relaxed); // a number
    if (cell->parent) {
        lbx__cell_push_orphan(cell->parent, cell); // LIFE-3
    } else {
        lbx__store(&system->terminated, 1u, seq_cst);
        lbx__futex_wake(&system->terminated, INT32_MAX);
    }
}

void
lbx__life_release_child(lbx_context *context, lbx__cell *child)
{
    lbx__cell *cell = context->cell;

    life_leave_family(cell, child);
    lbx__names_leave(cell->system->names, child);
    lbx__cells_put(cell->system->cells, child);
    if (life_child_count(cell) > 0)
        return;
    if (cell->phase == LBX__PHASE_STOPPING)
        lbx__life_end(context); // LIFE-1
    else if (cell->phase == LBX__PHASE_FAILED && cell->restarting)
        lbx__life_restart(context);
}

void
lbx__life_start_again(lbx_context *context)
{
    lbx__cell *cell = context->cell;
    lbx_status status;

    cell->restarting = false;
    lbx__supervision_forget(cell);
    if (cell->state)
        memset(cell->state, 0, cell->behaviour->state_bytes);
    if (cell->facilities)
        cell->facilities->receives.count = 0;
    (void)lbx__stash_unstash(cell, UINT64_MAX);
    status = lbx__life_start(context);
    if (status != LBX_OK)
        (void)lbx__supervision_fail(context, status);
}

/* Stops the children first; then stop, fresh state, start. */
void
lbx__life_restart(lbx_context *context)
{
    lbx__cell *cell = context->cell;

    if (!cell->restarting) {
        cell->restarting = true;
        if (life_stop_children(cell, false) > 0)
            return; // the end of the last one calls this again
    }
    lbx__pipe_end(cell);
    life_call_stop(context);
    if (cell->facilities)
        lbx__timers_cancel_own(cell->system->timers, &cell->facilities->timers);
    if (!lbx__supervision_pauses(cell))
        lbx__life_start_again(context);
}
