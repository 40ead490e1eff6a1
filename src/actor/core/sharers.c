/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sharers of a mailbox on a balancing dispatcher (SHARE-1 to SHARE-3 in
 * sharers.h).
 *
 * Locks: one for the list, one for each entry; mailboxes are created and closed
 * without them.
 */
#include "actor/core/sharers.h"

#include "actor/core/actor_mailbox.h"
#include "actor/core/system.h"
#include "actor/select/section.h"
#include "base/alloc.h"
#include "base/array.h"
#include <string.h>

struct lbx__sharers {
    const lbx_behaviour *behaviour;
    lbx__sharers *next;
    lbx__init_once made; /* the mailbox; undone by the last member */

    lbx__lock lock;
    lbx__actor_mailbox *box;
    const char *kind;
    lbx_mailbox_options options;
    lbx__array(lbx__cell *) members;
};

void
lbx__sharers_fini(lbx__sharers_list *list, const lbx_allocator *allocator)
{
    while (list->first) {
        lbx__sharers *sharers = list->first;

        list->first = sharers->next;
        lbx__array_fini(&sharers->members, allocator);
        lbx__free(allocator, sharers, sizeof(*sharers));
    }
}

/* The sharers of a behaviour, new if need be; NULL: no memory. */
static lbx__sharers *
sharers_of_behaviour(lbx__sharers_list *list, const lbx_behaviour *behaviour,
                     const lbx_allocator *allocator)
{
    lbx__sharers *sharers;

    lbx__lock_take(&list->lock);
    sharers = list->first;
    while (sharers && sharers->behaviour != behaviour)
        sharers = sharers->next;
    if (!sharers) {
        sharers = lbx__zalloc(allocator, sizeof(*sharers));
        if (sharers) {
            sharers->behaviour = behaviour;
            sharers->next = list->first;
            list->first = sharers;
        }
    }
    lbx__lock_give(&list->lock);
    return sharers;
}

/* Adds a member; false: no memory. Under the lock. */
static bool
sharers_add(lbx__sharers *sharers, lbx__cell *cell)
{
    lbx__cell **member =
        lbx__array_add(&sharers->members, cell->system->options.allocator);

    if (member)
        *member = cell;
    return member != NULL;
}

/* Creates the mailbox, for the first member. */
static lbx_status
sharers_create_mailbox(lbx__sharers *sharers, lbx__cell *cell,
                       const lbx__mailbox_plan *mailbox, lbx_fault *fault)
{
    lbx_mailbox_options options = mailbox->options;
    lbx_status status;
    bool added;

    options.fault = fault;
    status =
        lbx__actor_mailbox_create(cell, mailbox->type.kind, &options, sharers);
    if (status != LBX_OK)
        return status;
    lbx__lock_take(&sharers->lock);
    added = sharers_add(sharers, cell);
    if (added) {
        // Relaxed: we have just written it.
        sharers->box = lbx__load(&cell->box, relaxed);
        sharers->kind = mailbox->type.kind;
        sharers->options = mailbox->options;
    }
    lbx__lock_give(&sharers->lock);
    return added ? LBX_OK : LBX_NO_MEMORY; // the failed spawn detaches it
}

static bool
sharers_mailbox_matches(const lbx__sharers *sharers,
                        const lbx__mailbox_plan *mailbox)
{
    const lbx_mailbox_options *a = &sharers->options;
    const lbx_mailbox_options *b = &mailbox->options;

    return strcmp(sharers->kind, mailbox->type.kind) == 0 &&
           a->capacity_messages == b->capacity_messages &&
           a->overflow == b->overflow && a->wait_ns == b->wait_ns &&
           a->after_wait == b->after_wait && a->priority == b->priority &&
           a->kinds == b->kinds && a->compare == b->compare &&
           a->loss_sink.lost == b->loss_sink.lost &&
           a->loss_sink.context == b->loss_sink.context;
}

/* Joins sharers that have a mailbox; *ret_gone: the last has just left. */
static lbx_status
sharers_join(lbx__sharers *sharers, lbx__cell *cell,
             const lbx__mailbox_plan *mailbox, bool *ret_gone)
{
    lbx_status status = LBX_OK;

    lbx__lock_take(&sharers->lock);
    *ret_gone = !sharers->box;
    if (sharers->box && !sharers_mailbox_matches(sharers, mailbox))
        status = LBX_UNSUPPORTED;
    else if (sharers->box && !sharers_add(sharers, cell))
        status = LBX_NO_MEMORY;
    else if (sharers->box)
        lbx__actor_mailbox_share(sharers->box, cell);
    lbx__lock_give(&sharers->lock);
    return status;
}

lbx_status
lbx__sharers_join(lbx__sharers_list *list, lbx__cell *cell,
                  const lbx__mailbox_plan *mailbox, lbx_fault *fault)
{
    lbx__sharers *sharers = sharers_of_behaviour(
        list, cell->behaviour, cell->system->options.allocator);
    bool again = true;
    lbx_status status = LBX_OK;

    if (!sharers)
        return LBX_NO_MEMORY;
    while (again) {
        if (lbx__init_once_begin(&sharers->made)) {
            status = sharers_create_mailbox(sharers, cell, mailbox, fault);
            lbx__init_once_end(&sharers->made, status == LBX_OK);
            return status;
        }
        status = sharers_join(sharers, cell, mailbox, &again);
    }
    if (status == LBX_UNSUPPORTED)
        return lbx__section_fault(
            fault, status, mailbox->section,
            "%s is not what others of behaviour %s share on this "
            "balancing dispatcher",
            mailbox->id, cell->behaviour->name ? cell->behaviour->name : "");
    return status;
}

bool
lbx__sharers_leave(lbx__sharers *sharers, const lbx__cell *cell)
{
    bool last = false;

    lbx__lock_take(&sharers->lock);
    for (size_t i = 0; i < sharers->members.count; i++)
        if (sharers->members.items[i] == cell) {
            sharers->members.items[i] =
                sharers->members.items[--sharers->members.count];
            last = sharers->members.count == 0;
            break;
        }
    if (last) {
        sharers->box = NULL;
        lbx__init_once_end(&sharers->made,
                           false); // the next member creates another
    }
    lbx__lock_give(&sharers->lock);
    return last;
}

void
lbx__sharers_wake(lbx__sharers *sharers)
{
    lbx__lock_take(&sharers->lock);
    for (size_t i = 0; i < sharers->members.count; i++)
        lbx__cell_wake_always(sharers->members.items[i]); // SHARE-2
    lbx__lock_give(&sharers->lock);
}

uint32_t
lbx__sharers_count(lbx__sharers *sharers)
{
    uint32_t count;

    lbx__lock_take(&sharers->lock);
    count = (uint32_t)sharers->members.count;
    lbx__lock_give(&sharers->lock);
    return count;
}
