/* SPDX-License-Identifier: Apache-2.0 */
/* Teams. Z1 to Z3 are in team.h. */
#include "actor/team.h"

#include "actor/boxed.h"
#include "actor/select/blame.h"
#include "actor/system.h"
#include "base/alloc.h"
#include <string.h>

enum {
    FIRST_ROOM = 4
};

struct lbx__team {
    const lbx_behaviour *behaviour;
    lbx__team *next;
    lbx__init_once made; /* the mailbox; undone by the last member */

    lbx__lock lock;
    lbx__boxed *boxed;
    const char *kind;
    lbx_mailbox_options options;
    lbx__cell **members;
    uint32_t count;
    uint32_t room;
};

void
lbx__teams_fini(lbx__teams *teams, const lbx_allocator *allocator)
{
    while (teams->first) {
        lbx__team *team = teams->first;

        teams->first = team->next;
        lbx__free(allocator, team->members,
                  team->room * sizeof(team->members[0]));
        lbx__free(allocator, team, sizeof(*team));
    }
}

/* The team of a behaviour, new if need be; NULL: no memory. */
static lbx__team *
get(lbx__teams *teams, const lbx_behaviour *behaviour,
    const lbx_allocator *allocator)
{
    lbx__team *team;

    lbx__lock_take(&teams->lock);
    team = teams->first;
    while (team && team->behaviour != behaviour)
        team = team->next;
    if (!team) {
        team = lbx__zalloc(allocator, sizeof(*team));
        if (team) {
            team->behaviour = behaviour;
            team->next = teams->first;
            teams->first = team;
        }
    }
    lbx__lock_give(&teams->lock);
    return team;
}

/* Adds a member; false: no memory. Under the lock. */
static bool
add(lbx__team *team, lbx__cell *cell)
{
    const lbx_allocator *allocator = cell->system->options.allocator;

    if (team->count == team->room) {
        uint32_t room = team->room > 0 ? 2 * team->room : FIRST_ROOM;
        lbx__cell **members = lbx__zalloc(allocator, room * sizeof(members[0]));

        if (!members)
            return false;
        if (team->count > 0)
            memcpy(members, team->members, team->count * sizeof(members[0]));
        lbx__free(allocator, team->members,
                  team->room * sizeof(team->members[0]));
        team->members = members;
        team->room = room;
    }
    team->members[team->count++] = cell;
    return true;
}

/* The first member makes the mailbox. */
static lbx_status
found(lbx__team *team, lbx__cell *cell, const lbx__mailbox_plan *mailbox,
      lbx_fault *fault)
{
    lbx_mailbox_options options = mailbox->options;
    lbx_status status;
    bool added;

    options.fault = fault;
    status = lbx__boxed_make(cell, mailbox->type.kind, &options, team);
    if (status != LBX_OK)
        return status;
    lbx__lock_take(&team->lock);
    added = add(team, cell);
    if (added) {
        // Relaxed: we have just written it.
        team->boxed = lbx__load(&cell->boxed, relaxed);
        team->kind = mailbox->type.kind;
        team->options = mailbox->options;
    }
    lbx__lock_give(&team->lock);
    return added ? LBX_OK : LBX_NO_MEMORY; // who gives the cell back ends it
}

static bool
is_same(const lbx__team *team, const lbx__mailbox_plan *mailbox)
{
    const lbx_mailbox_options *a = &team->options;
    const lbx_mailbox_options *b = &mailbox->options;

    return strcmp(team->kind, mailbox->type.kind) == 0 &&
           a->capacity_messages == b->capacity_messages &&
           a->overflow == b->overflow && a->wait_ns == b->wait_ns &&
           a->after_wait == b->after_wait && a->priority == b->priority &&
           a->kinds == b->kinds;
}

/* Joins those that have a mailbox; *ret_gone: they have just left. */
static lbx_status
join(lbx__team *team, lbx__cell *cell, const lbx__mailbox_plan *mailbox,
     bool *ret_gone)
{
    lbx_status status = LBX_OK;

    lbx__lock_take(&team->lock);
    *ret_gone = !team->boxed;
    if (team->boxed && !is_same(team, mailbox))
        status = LBX_UNSUPPORTED;
    else if (team->boxed && !add(team, cell))
        status = LBX_NO_MEMORY;
    else if (team->boxed)
        lbx__boxed_share(team->boxed, cell);
    lbx__lock_give(&team->lock);
    return status;
}

lbx_status
lbx__teams_join(lbx__teams *teams, lbx__cell *cell,
                const lbx__mailbox_plan *mailbox, lbx_fault *fault)
{
    lbx__team *team =
        get(teams, cell->behaviour, cell->system->options.allocator);
    bool again = true;
    lbx_status status = LBX_OK;

    if (!team)
        return LBX_NO_MEMORY;
    while (again) {
        if (lbx__init_once_begin(&team->made)) {
            status = found(team, cell, mailbox, fault);
            lbx__init_once_end(&team->made, status == LBX_OK);
            return status;
        }
        status = join(team, cell, mailbox, &again);
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
lbx__team_leave(lbx__team *team, const lbx__cell *cell)
{
    bool last = false;

    lbx__lock_take(&team->lock);
    for (uint32_t i = 0; i < team->count; i++)
        if (team->members[i] == cell) {
            team->members[i] = team->members[--team->count];
            last = team->count == 0;
            break;
        }
    if (last) {
        team->boxed = NULL;
        lbx__init_once_end(&team->made, false); // the next one makes another
    }
    lbx__lock_give(&team->lock);
    return last;
}

void
lbx__team_wake(lbx__team *team)
{
    lbx__lock_take(&team->lock);
    for (uint32_t i = 0; i < team->count; i++)
        lbx__cell_wake_always(team->members[i]); // Z2
    lbx__lock_give(&team->lock);
}

uint32_t
lbx__team_size(lbx__team *team)
{
    uint32_t count;

    lbx__lock_take(&team->lock);
    count = team->count;
    lbx__lock_give(&team->lock);
    return count;
}
