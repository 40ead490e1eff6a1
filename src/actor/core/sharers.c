/* SPDX-License-Identifier: Apache-2.0 */
/* Teams. Z1 to Z3 are in sharers.h. */
#include "actor/core/sharers.h"

#include "actor/core/actor_mailbox.h"
#include "actor/core/system.h"
#include "actor/select/blame.h"
#include "base/alloc.h"
#include <string.h>

enum {
    FIRST_ROOM = 4
};

struct lbx__sharers {
    const lbx_behaviour *behaviour;
    lbx__sharers *next;
    lbx__init_once made; /* the mailbox; undone by the last member */

    lbx__lock lock;
    lbx__actor_mailbox *box;
    const char *kind;
    lbx_mailbox_options options;
    lbx__cell **members;
    uint32_t count;
    uint32_t room;
};

void
lbx__sharers_fini(lbx__sharers_list *list, const lbx_allocator *allocator)
{
    while (list->first) {
        lbx__sharers *sharers = list->first;

        list->first = sharers->next;
        lbx__free(allocator, sharers->members,
                  sharers->room * sizeof(sharers->members[0]));
        lbx__free(allocator, sharers, sizeof(*sharers));
    }
}

/* The sharers of a behaviour, new if need be; NULL: no memory. */
static lbx__sharers *
get(lbx__sharers_list *list, const lbx_behaviour *behaviour,
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
add(lbx__sharers *sharers, lbx__cell *cell)
{
    const lbx_allocator *allocator = cell->system->options.allocator;

    if (sharers->count == sharers->room) {
        uint32_t room = sharers->room > 0 ? 2 * sharers->room : FIRST_ROOM;
        lbx__cell **members = lbx__zalloc(allocator, room * sizeof(members[0]));

        if (!members)
            return false;
        if (sharers->count > 0)
            memcpy(members, sharers->members,
                   sharers->count * sizeof(members[0]));
        lbx__free(allocator, sharers->members,
                  sharers->room * sizeof(sharers->members[0]));
        sharers->members = members;
        sharers->room = room;
    }
    sharers->members[sharers->count++] = cell;
    return true;
}

/* The first member makes the mailbox. */
static lbx_status
found(lbx__sharers *sharers, lbx__cell *cell, const lbx__mailbox_plan *mailbox,
      lbx_fault *fault)
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
    added = add(sharers, cell);
    if (added) {
        // Relaxed: we have just written it.
        sharers->box = lbx__load(&cell->box, relaxed);
        sharers->kind = mailbox->type.kind;
        sharers->options = mailbox->options;
    }
    lbx__lock_give(&sharers->lock);
    return added ? LBX_OK : LBX_NO_MEMORY; // who gives the cell back ends it
}

static bool
is_same(const lbx__sharers *sharers, const lbx__mailbox_plan *mailbox)
{
    const lbx_mailbox_options *a = &sharers->options;
    const lbx_mailbox_options *b = &mailbox->options;

    return strcmp(sharers->kind, mailbox->type.kind) == 0 &&
           a->capacity_messages == b->capacity_messages &&
           a->overflow == b->overflow && a->wait_ns == b->wait_ns &&
           a->after_wait == b->after_wait && a->priority == b->priority &&
           a->kinds == b->kinds;
}

/* Joins those that have a mailbox; *ret_gone: they have just left. */
static lbx_status
join(lbx__sharers *sharers, lbx__cell *cell, const lbx__mailbox_plan *mailbox,
     bool *ret_gone)
{
    lbx_status status = LBX_OK;

    lbx__lock_take(&sharers->lock);
    *ret_gone = !sharers->box;
    if (sharers->box && !is_same(sharers, mailbox))
        status = LBX_UNSUPPORTED;
    else if (sharers->box && !add(sharers, cell))
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
    lbx__sharers *sharers =
        get(list, cell->behaviour, cell->system->options.allocator);
    bool again = true;
    lbx_status status = LBX_OK;

    if (!sharers)
        return LBX_NO_MEMORY;
    while (again) {
        if (lbx__init_once_begin(&sharers->made)) {
            status = found(sharers, cell, mailbox, fault);
            lbx__init_once_end(&sharers->made, status == LBX_OK);
            return status;
        }
        status = join(sharers, cell, mailbox, &again);
    }
    if (status == LBX_UNSUPPORTED)
        return lbx__blame(fault, status, mailbox->section,
                          "%s is not what others of behaviour %s share on this "
                          "balancing dispatcher",
                          mailbox->id,
                          cell->behaviour->name ? cell->behaviour->name : "");
    return status;
}

bool
lbx__sharers_leave(lbx__sharers *sharers, const lbx__cell *cell)
{
    bool last = false;

    lbx__lock_take(&sharers->lock);
    for (uint32_t i = 0; i < sharers->count; i++)
        if (sharers->members[i] == cell) {
            sharers->members[i] = sharers->members[--sharers->count];
            last = sharers->count == 0;
            break;
        }
    if (last) {
        sharers->box = NULL;
        lbx__init_once_end(&sharers->made, false); // the next one makes another
    }
    lbx__lock_give(&sharers->lock);
    return last;
}

void
lbx__sharers_wake(lbx__sharers *sharers)
{
    lbx__lock_take(&sharers->lock);
    for (uint32_t i = 0; i < sharers->count; i++)
        lbx__cell_wake_always(sharers->members[i]); // Z2
    lbx__lock_give(&sharers->lock);
}

uint32_t
lbx__sharers_count(lbx__sharers *sharers)
{
    uint32_t count;

    lbx__lock_take(&sharers->lock);
    count = sharers->count;
    lbx__lock_give(&sharers->lock);
    return count;
}
