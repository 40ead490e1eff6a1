/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spawning: a cell is prepared for a new life, named, placed on a dispatcher
 * and a mailbox, put on its parent's list and scheduled.
 *
 * The ref works as soon as the caller has it; `start` runs later, in the
 * actor's first run (life.c). Whatever fails, the cell is freed and its
 * generation is not used again.
 *
 * Threads: the run of the parent, or any for children of "/user".
 */
#include "actor/core/actor_mailbox.h"
#include "actor/core/dispatchers.h"
#include "actor/core/placement.h"
#include "actor/core/system.h"
#include "actor/select/section.h"
#include "base/alloc.h"
#include "base/fault.h"
#include "base/sized.h"
#include <assert.h>
#include <string.h>

enum {
    NAME_BYTES = 200
};

static bool
spawn_is_name(const char *name)
{
    size_t length = strlen(name);

    return length > 0 && length < NAME_BYTES && name[0] != '$' &&
           !strchr(name, '/');
}

LBX__SIZED(props_sized, lbx_props, fault, LBX_PROPS_INIT);
LBX__SIZED(behaviour_sized, lbx_behaviour, needs_semantics, LBX_BEHAVIOUR_INIT);

const lbx_props *
lbx__spawn_view_props(const lbx_props *props, lbx_props *own, lbx_fault *fault)
{
    return lbx__sized_view(props, own, &props_sized, fault);
}

static bool
spawn_refuse(lbx_fault *fault, const char *why)
{
    (void)lbx__fault_set(fault, LBX_INVALID, "%s", why);
    return false;
}

static bool
spawn_is_strategy(const lbx_strategy *strategy, lbx_fault *fault)
{
    if ((unsigned)strategy->directive <= LBX_DIRECTIVE_DEAD_LETTER)
        return true;
    (void)lbx__section_fault(fault, LBX_INVALID, NULL,
                             "strategy: %d is no directive",
                             (int)strategy->directive);
    return false;
}

bool
lbx__spawn_are_props(const lbx_props *props)
{
    const lbx_behaviour *behaviour = props ? props->behaviour : NULL;
    lbx_fault *fault = props ? props->fault : NULL;

    if (!behaviour)
        return spawn_refuse(fault, "the props have no behaviour");
    if (props->stash_capacity != LBX_DEFAULT && props->stash_capacity < 1)
        return spawn_refuse(fault, "stash_capacity must be 1 or more, "
                                   "LBX_DEFAULT or LBX_UNLIMITED");
    if (!spawn_is_strategy(&props->strategy, fault) ||
        lbx__sized_check(behaviour, &behaviour_sized, fault) != LBX_OK)
        return false;
    return behaviour->receive || behaviour->match_count > 0 ||
           spawn_refuse(fault, "the behaviour has neither a receive nor "
                               "matches: it could handle no message");
}

static bool
spawn_is_default_strategy(const lbx_strategy *strategy)
{
    static const lbx_strategy usual = LBX_STRATEGY_INIT;

    return strategy->directive == usual.directive &&
           strategy->all_for_one == usual.all_for_one &&
           strategy->max_restarts == usual.max_restarts &&
           strategy->within_ns == usual.within_ns &&
           strategy->retry_ns == usual.retry_ns;
}

static lbx_status
spawn_read_supervisor(const lbx_props *props, lbx_supervisor *ret)
{
    if (props->supervisor)
        return lbx__supervision_read(props->supervisor, props->fault, ret);
    ret->strategy = props->strategy;
    return LBX_OK;
}

/* Puts a child on its parent's list; false when the parent has no more. */
static bool
spawn_join_family(lbx__cell *parent, lbx__cell *child)
{
    bool joined;

    lbx__lock_take(&parent->lock);
    joined = !(lbx__load(&parent->family, relaxed) & LBX__FAMILY_BARREN);
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

/* Prepares an owned cell for a new life. */
static lbx_status
spawn_prepare(lbx__cell *cell, lbx__cell *parent, const lbx_props *props,
              const char *name, bool balances)
{
    lbx_system *system = cell->system;
    lbx_status status;

    // Relaxed: other threads schedule it only after they own it (CELL-1).
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
    // Any thread spawns children of "/user", which never fails.
    cell->held =
        parent->parent && (parent->held || parent->phase == LBX__PHASE_FAILED);
    // Not written: threads that look at the last life may be reading them.
    assert(cell->child_count == 0 && !cell->children);
    lbx__store(&cell->family, (uint8_t)0, relaxed); // no other thread knows it
    // Relaxed: a number.
    cell->serial = lbx__add(&system->serials, 1, relaxed);
    status = lbx__names_enter(system->names, cell, parent, name);
    if (status == LBX_EXISTS)
        return lbx__section_fault(props->fault, LBX_EXISTS, NULL,
                                  "name '%.60s': a living sibling has it",
                                  name);
    if (status != LBX_OK)
        return status;
    if (props->supervisor || !spawn_is_default_strategy(&props->strategy) ||
        props->stash_capacity != LBX_DEFAULT) {
        lbx__facilities *facilities = lbx__facilities_of(cell);

        if (!facilities)
            return LBX_NO_MEMORY;
        status = spawn_read_supervisor(props, &facilities->supervisor);
        if (status != LBX_OK)
            return status;
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

/* Frees a cell that did not come to life. A thread may have found it by its
 * name already, so this generation is not used again. */
static void
spawn_undo(lbx__cell *cell)
{
    (void)lbx__add(&cell->generation, 1, seq_cst);
    lbx__names_leave(cell->system->names, cell);
    lbx__life_free_state(cell);
    lbx__actor_mailbox_detach(cell);
    lbx__facilities_free(cell);
    lbx__dispatchers_leave(cell);
    cell->phase = LBX__PHASE_FREE;
    lbx__cells_put(cell->system->cells, cell);
    lbx__cell_release(cell, false, true);
}

static lbx_status
spawn_cell(lbx_system *system, lbx__cell *parent, const lbx_props *props,
           const char *name, bool balances, lbx_ref *ret)
{
    lbx__cell *cell;
    lbx_status status;

    if (!lbx__spawn_are_props(props))
        return LBX_INVALID;
    if (!ret)
        return lbx__fault_set(props->fault, LBX_INVALID,
                              "there is no pointer for the ref: ret is NULL");
    if (name && !spawn_is_name(name))
        return lbx__section_fault(
            props->fault, LBX_INVALID, NULL,
            "name '%.60s': a name has no '/', does not begin "
            "with '$', is not empty and has less than %d bytes",
            name, NAME_BYTES);
    if (parent->parent && parent->restarting)
        return LBX_CLOSED; // the parent waits until it has no children
    cell = lbx__cells_get(system->cells);
    if (!cell)
        return LBX_NO_MEMORY;
    status = spawn_prepare(cell, parent, props, name, balances);
    if (status == LBX_OK && balances)
        cell->role = LBX__ROLE_BALANCER;
    if (status == LBX_OK && !spawn_join_family(parent, cell))
        status = LBX_CLOSED;
    if (status != LBX_OK) {
        spawn_undo(cell);
        return status;
    }
    cell->phase = LBX__PHASE_NEW;
    (void)lbx__add(&system->alive, 1, relaxed); // numbers
    (void)lbx__add(&system->spawned, 1, relaxed);
    ret->word = lbx__cell_ref(cell);
    lbx__cell_schedule(cell); // passes ownership on: CELL-1
    return LBX_OK;
}

lbx_status
lbx__spawn_actor(lbx_system *system, lbx__cell *parent, const lbx_props *props,
                 const char *name, lbx_ref *ret)
{
    return spawn_cell(system, parent, props, name, false, ret);
}

lbx_status
lbx__spawn_pool(lbx_system *system, lbx__cell *parent, const lbx_props *props,
                const char *name, bool balances, lbx_ref *ret)
{
    return spawn_cell(system, parent, props, name, balances, ret);
}
