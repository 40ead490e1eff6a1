/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choices: first the dispatcher, then the mailbox by the first step that names
 * one, then a check that the mailbox meets the requirements of both.
 */
#include "actor/select/choice.h"

#include "actor/select/section.h"
#include "actor/select/selection.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    CHOICE_LINE_BYTES = 320
};

/* A choice that is being made. */
struct choosing {
    lbx__selection *selection;
    const lbx__choice_request *request;
    const lbx_props *props;
    const lbx__deployment_entry *deploy; /* NULL: none */
    bool placed;            /* deployment or props name the dispatcher */
    lbx__requirement needs; /* of the behaviour */
    lbx__choice *choice;
};

const char *
lbx__choice_step_name(lbx__choice_step step)
{
    static const char *const names[] = {
        "none",
        "deployment",
        "props",
        "dispatcher section",
        "behaviour's requirement",
        "dispatcher's requirement",
        "default mailbox",
        "pool",
    };

    return names[step];
}

/* Prints a line of the explanation, if one is wanted. */
static void __attribute__((format(printf, 2, 3)))
choosing_print(const struct choosing *s, const char *format, ...)
{
    char line[CHOICE_LINE_BYTES];
    va_list arguments;

    if (!s->request->print)
        return;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    s->request->print(s->request->context, line);
}

static void
choosing_print_step(const struct choosing *s, lbx__choice_step step,
                    const char *what)
{
    choosing_print(s, "%d %s: %s", (int)step, lbx__choice_step_name(step),
                   what);
}

/* ---- The dispatcher ---- */

static lbx_status
choosing_dispatcher(struct choosing *s)
{
    const lbx__choice_request *request = s->request;
    const char *id = s->props->dispatcher;
    const lbx_settings *at = NULL;
    lbx_status status;

    if (s->deploy && s->deploy->dispatcher) {
        id = s->deploy->dispatcher;
        at = lbx_settings_at(s->deploy->section, "dispatcher");
    }
    if (!id || strcmp(id, "..") == 0) {
        s->choice->dispatcher =
            id && request->parent
                ? request->parent
                : lbx__dispatcher_plans_default(s->selection->dispatcher_plans);
        choosing_print(s, "dispatcher: %s, %s", s->choice->dispatcher->id,
                       id ? "as its parent"
                          : "the default: neither deployment nor props "
                            "name one");
        return LBX_OK;
    }
    s->placed = true;
    status = lbx__dispatcher_plans_find(s->selection->dispatcher_plans, id, at,
                                        request->fault, &s->choice->dispatcher);
    if (status == LBX_OK)
        choosing_print(s, "dispatcher: %s, by %s", s->choice->dispatcher->id,
                       at ? "deployment" : "props");
    return status;
}

/* ---- Verification: every result, the dispatcher's requirement first ---- */

static lbx_status
choosing_verify_one(const struct choosing *s,
                    const lbx__requirement *requirement, const char *what)
{
    const lbx__choice *choice = s->choice;
    const lbx__mailbox_plan *mailbox = choice->mailbox;
    const lbx_mailbox_type *user = mailbox->type.user;
    const char *lack = lbx__requirement_lack(requirement, mailbox->capabilities,
                                             user ? user->semantics : NULL);

    if (!lack)
        return LBX_OK;
    // With a line of a file, the fault names the mailbox already.
    return lbx__section_fault(
        s->request->fault, LBX_UNSUPPORTED, mailbox->section,
        "%s%s%s, but %s %s requires %s (by step %d, %s)",
        mailbox->section ? "" : mailbox->id, mailbox->section ? "" : ": ", lack,
        what, requirement->by, requirement->name ? requirement->name : "that",
        (int)choice->step, lbx__choice_step_name(choice->step));
}

/* What the options of a mailbox set and an actor's mailbox cannot have; NULL:
 * nothing. */
static const char *
choosing_foreign_option(const struct choosing *s)
{
    const lbx_mailbox_options *options = &s->choice->mailbox->options;

    if (options->owner)
        return "owner: the actor is the owner of its mailbox";
    if (options->clock && options->clock != s->selection->options->clock)
        return "clock: an actor's mailbox has the clock of its system";
    if (options->dead_letters)
        return "dead_letters: what an actor's mailbox loses is a dead letter "
               "of its system; listen to those, or have a loss_sink";
    if (options->destroy)
        return "destroy: messages of actors are destroyed by their type, or by "
               "the system's destroy";
    return NULL;
}

static lbx_status
choosing_verify_options(const struct choosing *s)
{
    const char *foreign = choosing_foreign_option(s);

    if (!foreign)
        return LBX_OK;
    return lbx__section_fault(s->request->fault, LBX_INVALID, NULL,
                              "mailbox %s: options: %s", s->choice->mailbox->id,
                              foreign);
}

static lbx_status
choosing_verify(struct choosing *s, lbx__choice_step step)
{
    lbx_status status;

    s->choice->step = step;
    status = choosing_verify_options(s);
    if (status == LBX_OK)
        status = choosing_verify_one(s, &s->choice->dispatcher->requirement,
                                     "dispatcher");
    if (status == LBX_OK)
        status = choosing_verify_one(s, &s->needs, "behaviour");
    return status;
}

/* ---- The mailbox ---- */

static lbx_status
choosing_take_id(struct choosing *s, lbx__choice_step step, const char *id,
                 const lbx_settings *at)
{
    lbx__choice *choice = s->choice;
    lbx_status status = lbx__mailbox_plans_find(s->selection->mailbox_plans, id,
                                                at, s->request->fault,
                                                &choice->own, &choice->mailbox);

    if (status != LBX_OK)
        return status;
    if (step == LBX__STEP_PROPS && s->props->mailbox_options) {
        if (choice->mailbox != &choice->own)
            choice->own = *choice->mailbox;
        choice->mailbox = &choice->own;
        status = lbx__mailbox_plan_set_options(
            &choice->own, s->props->mailbox_options, s->request->fault);
        if (status != LBX_OK)
            return status;
    }
    return choosing_verify(s, step);
}

/* Step 2: the mailbox that the props name, or one that fits their options. */
static lbx_status
choosing_take_props(struct choosing *s)
{
    const char *id = s->props->mailbox;
    lbx_status status = LBX_OK;

    if (!id)
        status = lbx__mailbox_plan_fit(
            s->props->mailbox_options,
            s->needs.needs | s->choice->dispatcher->requirement.needs,
            s->request->fault, &id);
    return status == LBX_OK ? choosing_take_id(s, LBX__STEP_PROPS, id, NULL)
                            : status;
}

static lbx_status
choosing_take_requirement(struct choosing *s, lbx__choice_step step,
                          const lbx__requirement *requirement)
{
    const lbx_settings *row = lbx__requirement_find_mailbox(
        s->selection->given, s->selection->settings, requirement->name);

    if (!row)
        return lbx__section_fault(
            s->request->fault, LBX_NOT_FOUND, NULL,
            "step %d (%s): no mailbox is mapped to %s, which %s "
            "requires, in letterbox.actor.mailbox.requirements",
            (int)step, lbx__choice_step_name(step), requirement->name,
            requirement->by);
    return choosing_take_id(s, step, lbx_settings_text(row), row);
}

/* Step 4; if that fails, step 5. */
static lbx_status
choosing_take_needs(struct choosing *s)
{
    const lbx__requirement *other = &s->choice->dispatcher->requirement;
    lbx_status status =
        choosing_take_requirement(s, LBX__STEP_BEHAVIOUR, &s->needs);

    if (status == LBX_OK || status == LBX_NO_MEMORY || !other->name)
        return status;
    choosing_print_step(s, LBX__STEP_BEHAVIOUR,
                        s->request->fault ? s->request->fault->text
                                          : "it failed");
    status = choosing_take_requirement(s, LBX__STEP_DISPATCHER, other);
    if (status == LBX_OK && s->request->fault)
        *s->request->fault = (lbx_fault){.status = LBX_OK}; // step 4's
    return status;
}

static lbx_status
choosing_mailbox(struct choosing *s)
{
    const lbx__dispatcher_plan *dispatcher = s->choice->dispatcher;

    if (s->request->shared) {
        s->choice->mailbox = s->request->shared;
        return choosing_verify(s, LBX__STEP_POOL);
    }
    if (s->deploy && s->deploy->mailbox)
        return choosing_take_id(s, LBX__STEP_DEPLOYMENT, s->deploy->mailbox,
                                lbx_settings_at(s->deploy->section, "mailbox"));
    choosing_print_step(s, LBX__STEP_DEPLOYMENT,
                        s->deploy ? "names no mailbox"
                                  : "says nothing of this path");
    if (s->props->mailbox || s->props->mailbox_options)
        return choosing_take_props(s);
    choosing_print_step(s, LBX__STEP_PROPS, "name no mailbox");
    if (s->placed && dispatcher->has_mailbox_type) {
        lbx_status status = lbx__mailbox_plans_of_section(
            s->selection->mailbox_plans, dispatcher->section, s->request->fault,
            &s->choice->mailbox);

        return status == LBX_OK
                   ? choosing_verify(s, LBX__STEP_DISPATCHER_SECTION)
                   : status;
    }
    choosing_print_step(
        s, LBX__STEP_DISPATCHER_SECTION,
        s->placed ? "has no mailbox-type"
                  : "does not count, since nothing chose the dispatcher");
    if (s->needs.name)
        return choosing_take_needs(s);
    choosing_print_step(s, LBX__STEP_BEHAVIOUR,
                        s->needs.needs ? "has no name to look up"
                                       : "there is none");
    if (dispatcher->requirement.name)
        return choosing_take_requirement(s, LBX__STEP_DISPATCHER,
                                         &dispatcher->requirement);
    choosing_print_step(s, LBX__STEP_DISPATCHER, "there is none");
    return choosing_take_id(s, LBX__STEP_DEFAULT,
                            "letterbox.actor.default-mailbox", NULL);
}

/* The stash capacity: the mailbox's, the dispatcher's, or the default. */
static void
choosing_stash(struct choosing *s)
{
    lbx__choice *choice = s->choice;
    int64_t capacity = choice->mailbox->stash_capacity;

    if (capacity == LBX_DEFAULT)
        capacity = choice->dispatcher->stash_capacity;
    if (capacity == LBX_DEFAULT)
        capacity = s->selection->stash_capacity;
    choice->stash_capacity = capacity > 0 ? capacity : LBX_UNLIMITED;
}

static void
choosing_print_result(const struct choosing *s)
{
    const lbx__choice *choice = s->choice;
    const lbx__mailbox_plan *mailbox = choice->mailbox;
    char where[CHOICE_LINE_BYTES] = "";
    bool shares = choice->dispatcher->sort == LBX__DISPATCHER_BALANCING &&
                  !s->request->shared;

    if (!s->request->print)
        return;
    if (mailbox->section && lbx_settings_line(mailbox->section) > 0)
        (void)snprintf(where, sizeof(where), " (%s:%u)",
                       lbx_settings_file(mailbox->section),
                       lbx_settings_line(mailbox->section));
    choosing_print(s, "%d %s: decides: mailbox %s%s", (int)choice->step,
                   lbx__choice_step_name(choice->step), mailbox->id, where);
    lbx__mailbox_type_describe(&mailbox->type, mailbox->capabilities,
                               mailbox->in_cell && !shares ? NULL
                                                           : &mailbox->options,
                               where, sizeof(where));
    choosing_print(s, "%s", where);
    if (shares)
        choosing_print(s, "shared by all of behaviour %s on the dispatcher",
                       s->needs.by);
}

static lbx_status
choosing_read_needs(struct choosing *s)
{
    const lbx_behaviour *behaviour = s->request->behaviour;
    const char *name = behaviour->needs_semantics;

    if (name && (!*name || strcmp(name, "*") == 0))
        return lbx__section_fault(
            s->request->fault, LBX_INVALID, NULL,
            "behaviour %s: needs_semantics is the name of "
            "something, not '%s'",
            behaviour->name ? behaviour->name : "", name);
    s->needs = lbx__requirement_of(name, behaviour->needs | s->request->needs);
    s->needs.by = behaviour->name ? behaviour->name : "without a name";
    return LBX_OK;
}

lbx_status
lbx__choice_make(lbx__selection *selection, const lbx__choice_request *request,
                 lbx__choice *ret)
{
    struct choosing s = {.selection = selection,
                         .request = request,
                         .props = request->props,
                         .choice = ret};
    lbx_status status;

    if (request->path)
        s.deploy = lbx__deployment_find(selection->deployment, request->path);
    if (s.deploy)
        choosing_print(&s, "deployment: %s (%s:%u)", s.deploy->pattern,
                       lbx_settings_file(s.deploy->section),
                       lbx_settings_line(s.deploy->section));
    if (s.deploy && s.deploy->router)
        choosing_print(&s, "router: %s of %u", s.deploy->router,
                       s.deploy->routees);
    status = choosing_read_needs(&s);
    if (status == LBX_OK)
        status = choosing_dispatcher(&s);
    if (status == LBX_OK)
        status = choosing_mailbox(&s);
    if (status != LBX_OK)
        return status;
    choosing_stash(&s);
    choosing_print_result(&s);
    return LBX_OK;
}
