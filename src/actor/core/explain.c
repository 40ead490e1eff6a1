/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explanations, line by line: how an actor would get, or got, its dispatcher
 * and its mailbox.
 *
 * Threads: any. No lock is held while a line is printed.
 */
#include "actor/core/actor_mailbox.h"
#include "actor/core/dispatchers.h"
#include "actor/core/system.h"
#include "actor/select/selection.h"
#include <stdio.h>
#include <string.h>

enum {
    LINE_BYTES = 320,
    PATH_BYTES = 1024,
};

/* The dispatcher of the actor that would be the parent, if it lives. */
static const lbx__dispatcher_plan *
find_parent(lbx_system *system, const char *path)
{
    char above[PATH_BYTES];
    lbx_ref parent;
    int length = snprintf(above, sizeof(above), "/user%.*s",
                          (int)(strrchr(path, '/') - path), path);

    if (length < 0 || length >= PATH_BYTES ||
        lbx_system_find(system, above, &parent) != LBX_OK)
        return NULL;
    return lbx__dispatchers_plan_of(
        system->dispatchers,
        lbx__peek(&lbx__cell_of(parent.word)->runnable.dispatcher));
}

/* Whether deployment makes a balancing pool of it. */
static bool
is_balanced(const lbx_system *system, const char *path)
{
    const lbx__deployment_entry *deploy =
        lbx__deployment_find(system->selection->deployment, path);

    return deploy && deploy->router &&
           deploy->routing == LBX_POOL_ROUTING_BALANCING;
}

lbx_status
lbx_system_explain(lbx_system *system, const lbx_props *given, const char *path,
                   void (*print)(void *context, const char *line),
                   void *context)
{
    lbx_props own;
    const lbx_props *props =
        lbx__spawn_view_props(given, &own, given ? given->fault : NULL);
    lbx_fault fault = {.status = LBX_OK};
    lbx__choice_request request = {.props = props,
                                   .behaviour = props ? props->behaviour : NULL,
                                   .path = path,
                                   .fault = &fault,
                                   .print = print,
                                   .context = context};
    lbx__choice choice;
    lbx_status status;

    if (!system || !props || !props->behaviour || !path || *path != '/' ||
        !print)
        return LBX_INVALID;
    if (props->dispatcher && strcmp(props->dispatcher, "..") == 0)
        request.parent = find_parent(system, path);
    if (is_balanced(system, path))
        request.needs = LBX_CAPABILITY_MULTI_CONSUME;
    status = lbx__choice_make(system->selection, &request, &choice);
    if (status != LBX_OK) {
        char line[LINE_BYTES];

        (void)snprintf(line, sizeof(line), "fails: %s", fault.text);
        print(context, line);
    }
    if (props->fault && status != LBX_OK)
        *props->fault = fault;
    return status;
}

/* What it really has, which props may have changed. */
static void
describe_living(lbx__cell *cell, lbx_ref ref, const lbx__mailbox_type *type,
                void (*print)(void *context, const char *line), void *context)
{
    static const lbx__mailbox_type bounded = {.name = LBX_KIND_BOUNDED,
                                              .kind = LBX_KIND_BOUNDED};
    lbx__actor_mailbox *box = lbx__actor_mailbox_ref(cell, ref.word);
    char line[LINE_BYTES];

    if (!type)
        type = &bounded;
    lbx__mailbox_type_describe(
        type, box ? lbx_mailbox_capabilities(box->mailbox) : type->capabilities,
        box ? &box->options : NULL, line, sizeof(line));
    print(context, line);
    if (box && box->sharers) {
        (void)snprintf(line, sizeof(line), "shared by %u on the dispatcher",
                       lbx__sharers_count(box->sharers));
        print(context, line);
    }
    if (box)
        lbx__actor_mailbox_unref(box);
}

lbx_status
lbx_ref_explain(lbx_ref ref, void (*print)(void *context, const char *line),
                void *context)
{
    char line[LINE_BYTES];
    lbx__cell *cell = lbx__cell_of(ref.word);
    const lbx__selection *selection;
    const lbx__dispatcher_plan *plan;
    const lbx__mailbox_plan *mailbox;
    int decided;

    if (!print)
        return LBX_INVALID;
    if (!lbx_ref_is_alive(ref) || cell->role == LBX__ROLE_PROMISE ||
        cell->role == LBX__ROLE_GUARDIAN)
        return LBX_NOT_FOUND;
    selection = cell->system->selection;
    plan = lbx__dispatchers_plan_of(cell->system->dispatchers,
                                    lbx__peek(&cell->runnable.dispatcher));
    mailbox = lbx__mailbox_plans_by_number(selection->mailbox_plans,
                                           lbx__peek(&cell->mailbox));
    decided = lbx__peek(&cell->step);
    if (!lbx_ref_is_alive(ref))
        return LBX_NOT_FOUND; // what was read may be another's
    (void)snprintf(line, sizeof(line), "dispatcher: %s",
                   plan ? plan->id : "none");
    print(context, line);
    for (int step = LBX__STEP_DEPLOYMENT;
         step < decided && decided != LBX__STEP_POOL; step++) {
        (void)snprintf(line, sizeof(line), "%d %s: did not decide", step,
                       lbx__choice_step_name((lbx__choice_step)step));
        print(context, line);
    }
    (void)snprintf(line, sizeof(line), "%d %s: decided: mailbox %s", decided,
                   lbx__choice_step_name((lbx__choice_step)decided),
                   mailbox ? mailbox->id : "bounded-capacity");
    print(context, line);
    describe_living(cell, ref, mailbox ? &mailbox->type : NULL, print, context);
    return LBX_OK;
}
