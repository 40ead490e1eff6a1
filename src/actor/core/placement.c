/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placement: a cell that is being spawned gets the dispatcher and the mailbox
 * that were chosen for it. Most actors ask for nothing and get the usual ones,
 * for which nothing has to be made.
 *
 * By the owner of the parent, during the spawn.
 */
#include "actor/core/placement.h"

#include "actor/core/actor_mailbox.h"
#include "actor/core/dispatchers.h"
#include "actor/core/system.h"
#include "actor/select/section.h"
#include <stdio.h>
#include <string.h>

enum {
    PATH_BYTES = 1024,
    LINE_BYTES = 512,
};

const lbx__deployment_entry *
lbx__placement_deployed(const lbx__selection *selection,
                        const lbx__cell *parent, const char *name)
{
    lbx_ref above = {lbx__cell_ref(parent)};
    char path[PATH_BYTES];
    size_t length;

    if (lbx_ref_path(above, path, sizeof(path)) != LBX_OK)
        return NULL;
    length = strlen(path);
    // One without a name will have some "$..", which only stars match.
    if (snprintf(path + length, sizeof(path) - length, "/%s",
                 name ? name : "$") >= (int)(sizeof(path) - length))
        return NULL; // the spawn will say that it is too long
    return lbx__deployment_find(selection->deployment, path + strlen("/user"));
}

/* The cell's path below "/user". */
static lbx_status
write_path(const lbx__cell *cell, lbx_fault *fault, char *path,
           size_t size_bytes)
{
    const size_t above = strlen("/user");
    lbx_ref self = {lbx__cell_ref(cell)};
    lbx_status status = lbx_ref_path(self, path, size_bytes);

    if (status != LBX_OK)
        return lbx__section_fault(fault, LBX_INVALID, NULL,
                                  "the path is too long for deployment");
    memmove(path, path + above, strlen(path) - above + 1);
    return LBX_OK;
}

static lbx_status
take_stash(lbx__cell *cell, const lbx_props *props, int64_t capacity)
{
    lbx__facilities *facilities;

    if (props->stash_capacity != LBX_DEFAULT || capacity == LBX_UNLIMITED)
        return LBX_OK;
    facilities = lbx__facilities_of(cell);
    if (!facilities)
        return LBX_NO_MEMORY;
    facilities->stash_capacity = capacity;
    return LBX_OK;
}

/* What is asked for a pool, and by its children. */
static void
ask_pool(const lbx__cell *cell, bool balances, lbx__choice_request *request)
{
    const lbx_pool *pool = balances ? lbx__router_pool(cell) : NULL;

    if (!pool)
        return;
    request->behaviour =
        pool->props->behaviour; // its children will use the mailbox
    request->needs = LBX_CAPABILITY_MULTI_CONSUME;
}

/* The mailbox that a cell shares with its parent. */
static const lbx__mailbox_plan *
find_shared(const lbx__selection *selection, const lbx__cell *parent,
            lbx__mailbox_plan *room)
{
    const lbx__mailbox_plan *made = lbx__mailbox_plans_by_number(
        selection->mailbox_plans, lbx__peek(&parent->mailbox));
    // Relaxed: the parent's, whose turn this is.
    const lbx__actor_mailbox *box = lbx__load(&parent->box, relaxed);

    if (made)
        *room = *made;
    else
        *room = (lbx__mailbox_plan){
            .id = "of the pool",
            .type = {.name = LBX_KIND_BOUNDED, .kind = LBX_KIND_BOUNDED}};
    room->capabilities = lbx_mailbox_capabilities(box->mailbox);
    room->stash_capacity = made ? made->stash_capacity : LBX_DEFAULT;
    return room;
}

/* A pool that asks how much waits for its children needs one that counts. */
static bool
must_count(const lbx__cell *parent)
{
    const lbx_pool *pool = lbx__router_pool(parent);

    return pool && pool->routing == LBX_POOL_ROUTING_SMALLEST_MAILBOX;
}

static lbx_status
choose(lbx__selection *selection, lbx__cell *cell, lbx__choice_request request,
       lbx__choice *ret)
{
    const lbx_props *props = request.props;
    char path[PATH_BYTES];
    lbx__dispatcher *dispatcher;
    lbx_status status = LBX_OK;

    if (!lbx__deployment_is_empty(selection->deployment)) {
        status = write_path(cell, request.fault, path, sizeof(path));
        request.path = path;
    }
    if (props->dispatcher && strcmp(props->dispatcher, "..") == 0)
        request.parent = lbx__dispatchers_plan_of(
            cell->system->dispatchers,
            lbx__peek(&cell->parent->runnable.dispatcher));
    if (status == LBX_OK)
        status = lbx__choice_make(selection, &request, ret);
    if (status == LBX_OK)
        status =
            lbx__dispatchers_enter(cell->system->dispatchers, ret->dispatcher,
                                   request.fault, &dispatcher);
    if (status != LBX_OK)
        return status;
    // Relaxed: as in spawn_prepare().
    lbx__store(&cell->runnable.dispatcher, dispatcher, relaxed);
    return take_stash(cell, props, ret->stash_capacity);
}

/* Records the choice for lbx_ref_explain(). Relaxed: that checks whether it is
 * still the same life. */
static void
note_choice(lbx__cell *cell, lbx__choice_step step,
            const lbx__mailbox_plan *mailbox)
{
    lbx__store(&cell->step, (uint8_t)step, relaxed);
    lbx__store(&cell->mailbox, mailbox->number, relaxed);
}

/* Warns of a mailbox that lets senders wait, once in a system. */
static void
warn_of_waiting(lbx__selection *selection, const lbx__mailbox_plan *mailbox)
{
    const lbx_system_options *options = selection->options;
    const lbx_settings *section = mailbox->section;
    bool is_read = section && lbx_settings_line(section) > 0;
    char line[LINE_BYTES];

    // Relaxed: any thread may be the first.
    if (!options->warn || !(mailbox->capabilities & LBX_CAPABILITY_BLOCK) ||
        lbx__exchange(&selection->warned, 1u, relaxed) != 0)
        return;
    (void)snprintf(line, sizeof(line),
                   "%s:%u: mailbox %s: senders wait when it is full; with "
                   "mailbox-push-timeout-time = 0 what does not fit is a dead "
                   "letter at once (said of the first such mailbox only)",
                   is_read ? lbx_settings_file(section) : "reference",
                   is_read ? lbx_settings_line(section) : 0, mailbox->id);
    options->warn(options->warn_context, line);
}

static lbx_status
select_for(lbx__cell *cell, const lbx_props *props, bool balances)
{
    lbx__selection *selection = cell->system->selection;
    lbx_fault unseen = {.status = LBX_OK};
    lbx__choice_request request = {.props = props,
                                   .behaviour = props->behaviour,
                                   .fault =
                                       props->fault ? props->fault : &unseen};
    lbx__choice choice;
    lbx__mailbox_plan shared;
    lbx_mailbox_options options;
    lbx_status status;

    ask_pool(cell, balances, &request);
    if (cell->parent->role == LBX__ROLE_BALANCER)
        request.shared = find_shared(selection, cell->parent, &shared);
    status = choose(selection, cell, request, &choice);
    if (status != LBX_OK)
        return status;
    note_choice(cell, choice.step, choice.mailbox);
    warn_of_waiting(selection, choice.mailbox);
    if (request.shared) {
        // Relaxed: the parent's, whose turn this is.
        lbx__actor_mailbox_share(lbx__load(&cell->parent->box, relaxed), cell);
        return LBX_OK;
    }
    // A pool that happens to be there is no member of anything.
    if (choice.dispatcher->sort == LBX__DISPATCHER_BALANCING &&
        !lbx__router_pool(cell))
        return lbx__sharers_join(
            lbx__dispatchers_sharers(cell->system->dispatchers,
                                     choice.dispatcher),
            cell, choice.mailbox, request.fault);
    if (choice.mailbox->in_cell && !balances && !must_count(cell->parent))
        return LBX_OK;
    options = choice.mailbox->options;
    options.fault = request.fault;
    return lbx__actor_mailbox_create(cell, choice.mailbox->type.kind, &options,
                                     NULL);
}

/* Nothing to decide, and nothing to make: most actors. */
static bool
takes_usual(const lbx__selection *selection, const lbx__cell *cell,
            const lbx_props *props)
{
    const lbx_behaviour *behaviour = props->behaviour;

    return selection->is_plain && !props->mailbox && !props->mailbox_options &&
           !props->dispatcher && behaviour->needs == 0 &&
           !behaviour->needs_semantics && !lbx__router_pool(cell) &&
           !lbx__router_pool(cell->parent);
}

lbx_status
lbx__placement_apply(lbx__cell *cell, const lbx_props *props, bool balances)
{
    lbx__selection *selection = cell->system->selection;

    if (!takes_usual(selection, cell, props))
        return select_for(cell, props, balances);
    note_choice(cell, selection->usual.step, selection->usual.mailbox);
    return LBX_OK;
}
