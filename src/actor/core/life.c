/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Birth, death and rebirth.
 *
 *   NEW ──start──► ALIVE ◄──directive──  FAILED
 *                    │  ──handler fails──►  │
 *                    └────────stop──────────┴──► STOPPING ──no children──► ENDED
 *
 * Everything here runs in the actor's own turn, except spawning, which runs in
 * the parent's, or in any thread for children of "/user".
 *
 * LIFE-1  A parent ends after its children: it waits in STOPPING (ACTOR-11).
 * LIFE-2  At its end an actor raises its generation before it empties its inbox:
 *     what is pushed later finds a stale generation there (CELL-3, ACTOR-8).
 * LIFE-3  The last thing an ended actor does is to tell its parent, who lets it go:
 *     off the list of children, its name free, its cell free (CELL-4).
 */
#include "actor/core/actor_mailbox.h"
#include "actor/core/dispatchers.h"
#include "actor/core/outbox.h"
#include "actor/core/placement.h"
#include "actor/core/system.h"
#include "actor/select/section.h"
#include "base/alloc.h"
#include "base/park.h"
#include <assert.h>
#include <string.h>

enum {
    NAME_BYTES = 200
};

static bool
life_is_name(const char *name)
{
    size_t length = strlen(name);

    return length > 0 && length < NAME_BYTES && name[0] != '$' &&
           !strchr(name, '/');
}

bool
lbx__life_are_props(const lbx_props *props)
{
    const lbx_behaviour *behaviour;

    if (!props || props->version != LBX_PROPS_VERSION || !props->behaviour)
        return false;
    behaviour = props->behaviour;
    return (props->stash_capacity == LBX_DEFAULT ||
            props->stash_capacity > 0) &&
           behaviour->version == LBX_BEHAVIOUR_VERSION &&
           (behaviour->receive || behaviour->match_count > 0);
}

static bool
life_is_default_strategy(const lbx_strategy *strategy)
{
    static const lbx_strategy usual = LBX_STRATEGY_INIT;

    return strategy->directive == usual.directive &&
           strategy->all_for_one == usual.all_for_one &&
           strategy->max_restarts == usual.max_restarts &&
           strategy->within_ns == usual.within_ns &&
           strategy->retry_ns == usual.retry_ns;
}

/* Puts a child on its parent's list; false when the parent has no more. */
static bool
life_join_family(lbx__cell *parent, lbx__cell *child)
{
    bool joined;

    lbx__lock_take(&parent->lock);
    joined = !parent->barren;
    if (joined) {
        child->prev_sibling = NULL;
        child->next_sibling = parent->children;
        if (parent->children)
            parent->children->prev_sibling = child;
        parent->children = child;
        parent->child_count++;
    }
    lbx__lock_give(&parent->lock);
    return joined;
}

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

/* Prepares an owned cell for a new life. */
static lbx_status
life_prepare(lbx__cell *cell, lbx__cell *parent, const lbx_props *props,
             const char *name, bool balances)
{
    lbx_system *system = cell->system;
    lbx_status status;

    // Relaxed: for people; others schedule it only after they own it (CELL-1).
    lbx__store(&cell->runnable.dispatcher, system->dispatcher, relaxed);
    cell->behaviour = props->behaviour;
    cell->argument = props->argument;
    cell->state = NULL;
    lbx__store(&cell->handled, 0, relaxed); // numbers
    lbx__store(&cell->failures, 0u, relaxed);
    cell->suspensions = 0;
    cell->role = LBX__ROLE_ACTOR;
    cell->started = false;
    cell->restarting = false;
    cell->half_started = false;
    // Children of "/user" come from any thread, and that never fails.
    cell->held =
        parent->parent && (parent->held || parent->phase == LBX__PHASE_FAILED);
    // Not written: who looks at the life before may be reading them.
    assert(cell->child_count == 0 && !cell->children);
    cell->barren = false;
    // Relaxed: a number.
    cell->serial = lbx__add(&system->serials, 1, relaxed);
    status = lbx__names_enter(system->names, cell, parent, name);
    if (status == LBX_EXISTS)
        return lbx__section_fault(props->fault, LBX_EXISTS, NULL,
                                  "name '%.60s': a living sibling has it",
                                  name);
    if (status != LBX_OK)
        return status;
    if (!life_is_default_strategy(&props->strategy) ||
        props->stash_capacity != LBX_DEFAULT) {
        lbx__facilities *facilities = lbx__facilities_of(cell);

        if (!facilities)
            return LBX_NO_MEMORY;
        facilities->strategy = props->strategy;
        if (props->stash_capacity != LBX_DEFAULT)
            facilities->stash_capacity = props->stash_capacity;
    }
    if (cell->behaviour->state_bytes > 0) {
        cell->state = lbx__zalloc(system->options.allocator,
                                  cell->behaviour->state_bytes);
        if (!cell->state)
            return LBX_NO_MEMORY;
    }
    return lbx__placement_apply(cell, props, balances);
}

static void
life_free_state(lbx__cell *cell)
{
    if (cell->state)
        lbx__free(cell->system->options.allocator, cell->state,
                  cell->behaviour->state_bytes);
    cell->state = NULL;
}

/* A cell that did not come to life. Somebody may have found its name already:
 * it does not use this generation again. */
static void
life_undo_spawn(lbx__cell *cell)
{
    (void)lbx__add(&cell->generation, 1, seq_cst);
    lbx__names_leave(cell->system->names, cell);
    life_free_state(cell);
    lbx__actor_mailbox_detach(cell);
    lbx__facilities_free(cell);
    lbx__dispatchers_leave(cell);
    cell->phase = LBX__PHASE_FREE;
    lbx__cells_put(cell->system->cells, cell);
    lbx__cell_release(cell, false, true);
}

static lbx_status
life_spawn(lbx_system *system, lbx__cell *parent, const lbx_props *props,
           const char *name, bool balances, lbx_ref *ret)
{
    lbx__cell *cell;
    lbx_status status;

    if (!ret || !lbx__life_are_props(props))
        return LBX_INVALID;
    if (name && !life_is_name(name))
        return lbx__section_fault(
            props->fault, LBX_INVALID, NULL,
            "name '%.60s': a name has no '/', does not begin "
            "with '$', is not empty and has less than %d bytes",
            name, NAME_BYTES);
    if (parent->parent && parent->restarting)
        return LBX_CLOSED; // it waits until it has no children
    cell = lbx__cells_get(system->cells);
    if (!cell)
        return LBX_NO_MEMORY;
    status = life_prepare(cell, parent, props, name, balances);
    if (status == LBX_OK && balances)
        cell->role = LBX__ROLE_BALANCER;
    if (status == LBX_OK && !life_join_family(parent, cell))
        status = LBX_CLOSED;
    if (status != LBX_OK) {
        life_undo_spawn(cell);
        return status;
    }
    cell->phase = LBX__PHASE_NEW;
    (void)lbx__add(&system->alive, 1, relaxed); // numbers
    (void)lbx__add(&system->spawned, 1, relaxed);
    ret->word = lbx__cell_ref(cell);
    lbx__cell_schedule(cell); // CELL-1: now it owns it
    return LBX_OK;
}

lbx_status
lbx__life_spawn(lbx_system *system, lbx__cell *parent, const lbx_props *props,
                const char *name, lbx_ref *ret)
{
    return life_spawn(system, parent, props, name, false, ret);
}

lbx_status
lbx__life_spawn_pool(lbx_system *system, lbx__cell *parent,
                     const lbx_props *props, const char *name, bool balances,
                     lbx_ref *ret)
{
    return life_spawn(system, parent, props, name, balances, ret);
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

/* Tells all children to end; how many there are. `last`: there will be no
 * more. */
static uint32_t
life_stop_children(lbx__cell *cell, bool last)
{
    uint32_t count;

    // Under the lock no child leaves the list, so its cell stays its own.
    lbx__lock_take(&cell->lock);
    cell->barren |= last;
    for (lbx__cell *child = cell->children; child; child = child->next_sibling)
        lbx__cell_stop(child, child->life);
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
    cell->phase = LBX__PHASE_STOPPING;
    // Told or poisoned: senders can see it. Relaxed: it is no work (CELL-2).
    lbx__store(&cell->stop, cell->life, relaxed);
    if (life_stop_children(cell, true) == 0)
        lbx__life_end(context); // LIFE-1
}

void
lbx__life_poison(lbx_context *context)
{
    // Relaxed: the owner writes it.
    const lbx__actor_mailbox *box = lbx__load(&context->cell->box, relaxed);

    // In a team it is for whoever has found it: SHARE-3.
    if (!box || box->sharers || box->owner == lbx__cell_ref(context->cell)) {
        lbx__life_begin_stop(context);
        return;
    }
    // What was sent before the pill has been taken before it; what was sent
    // after it is nobody's. The pool lives as long as we do (LIFE-1).
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

/* What the actor had put aside. */
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

void
lbx__life_end(lbx_context *context)
{
    lbx__cell *cell = context->cell;
    lbx_system *system = cell->system;
    lbx__node_list watchers = {0};
    lbx__node *node;

    life_call_stop(context);
    lbx__router_end(cell);
    cell->phase = LBX__PHASE_ENDED;
    // Release and seq_cst: LIFE-2.
    (void)lbx__add(&cell->generation, 1, seq_cst);
    life_clear_facilities(cell);
    lbx__actor_mailbox_detach(cell);
    life_clear_inbox(cell);
    life_free_state(cell);
    if (cell->facilities)
        watchers = cell->facilities->watchers;
    lbx__facilities_free(cell);
    lbx__dispatchers_leave(cell);
    while ((node = lbx__node_list_take(&watchers)))
        lbx__watch_notify(system, node);
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

/* Stops the children first; then stop, fresh state, start. */
void
lbx__life_restart(lbx_context *context)
{
    lbx__cell *cell = context->cell;
    lbx_status status;

    if (!cell->restarting) {
        cell->restarting = true;
        if (life_stop_children(cell, false) > 0)
            return; // the last of them calls again
    }
    life_call_stop(context);
    cell->restarting = false;
    if (cell->state)
        memset(cell->state, 0, cell->behaviour->state_bytes);
    if (cell->facilities)
        cell->facilities->receives.count = 0;
    (void)lbx__stash_unstash(cell, UINT64_MAX);
    status = lbx__life_start(context);
    if (status != LBX_OK)
        (void)lbx__supervision_fail(context, status);
}
