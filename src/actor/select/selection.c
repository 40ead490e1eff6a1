/* SPDX-License-Identifier: Apache-2.0 */
/* Selection: the steps. */
#include "actor/select/selection.h"

#include "actor/core/system.h"
#include "actor/select/blame.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    LINE_BYTES = 320
};

/* One selection under way. */
struct selecting {
    lbx__selection *selection;
    const lbx__request *request;
    const lbx_props *props;
    const lbx__deploy *deploy; /* NULL: nothing is said */
    bool placed;               /* somebody chose the dispatcher */
    lbx__requirement needs;    /* of the behaviour */
    lbx__choice *choice;
};

const char *
lbx__step_name(lbx__step step)
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

/* A line for people, if they want to know. */
static void __attribute__((format(printf, 2, 3)))
say(const struct selecting *s, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list arguments;

    if (!s->request->print)
        return;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    s->request->print(s->request->context, line);
}

static void
say_step(const struct selecting *s, lbx__step step, const char *what)
{
    say(s, "%d %s: %s", (int)step, lbx__step_name(step), what);
}

/* ---- The dispatcher ---- */

static lbx_status
choose_dispatcher(struct selecting *s)
{
    const lbx__request *request = s->request;
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
                : lbx__dispatchers_default(s->selection->dispatchers);
        say(s, "dispatcher: %s, %s", s->choice->dispatcher->id,
            id ? "as its parent"
               : "the default: neither deployment nor props "
                 "name one");
        return LBX_OK;
    }
    s->placed = true;
    status = lbx__dispatchers_find(s->selection->dispatchers, id, at,
                                   request->fault, &s->choice->dispatcher);
    if (status == LBX_OK)
        say(s, "dispatcher: %s, by %s", s->choice->dispatcher->id,
            at ? "deployment" : "props");
    return status;
}

/* ---- Verification: every result, the dispatcher's requirement first ---- */

static lbx_status
verify_one(const struct selecting *s, const lbx__requirement *requirement,
           const char *who)
{
    const lbx__choice *choice = s->choice;
    const lbx__mailbox_plan *mailbox = choice->mailbox;
    const lbx_mailbox_type *user = mailbox->type.user;
    const char *lack = lbx__requirement_lack(requirement, mailbox->capabilities,
                                             user ? user->semantics : NULL);

    if (!lack)
        return LBX_OK;
    // With a line of a file, the fault names the mailbox already.
    return lbx__blame(s->request->fault, LBX_UNSUPPORTED, mailbox->section,
                      "%s%s%s, but %s %s requires %s (by step %d, %s)",
                      mailbox->section ? "" : mailbox->id,
                      mailbox->section ? "" : ": ", lack, who, requirement->by,
                      requirement->name ? requirement->name : "that",
                      (int)choice->step, lbx__step_name(choice->step));
}

static lbx_status
verify(struct selecting *s, lbx__step step)
{
    lbx_status status;

    s->choice->step = step;
    status = verify_one(s, &s->choice->dispatcher->requirement, "dispatcher");
    if (status == LBX_OK)
        status = verify_one(s, &s->needs, "behaviour");
    return status;
}

/* ---- The mailbox ---- */

static lbx_status
take_id(struct selecting *s, lbx__step step, const char *id,
        const lbx_settings *at)
{
    lbx__choice *choice = s->choice;
    lbx_status status = lbx__mailbox_plans_find(s->selection->mailboxes, id, at,
                                                s->request->fault, &choice->own,
                                                &choice->mailbox);

    if (status != LBX_OK)
        return status;
    if (step == LBX__BY_PROPS && s->props->mailbox_options) {
        if (choice->mailbox != &choice->own)
            choice->own = *choice->mailbox;
        choice->mailbox = &choice->own;
        lbx__mailbox_plan_set_options(&choice->own, s->props->mailbox_options);
    }
    return verify(s, step);
}

static lbx_status
take_requirement(struct selecting *s, lbx__step step,
                 const lbx__requirement *requirement)
{
    const lbx_settings *row =
        lbx__requirements_find(s->selection, requirement->name);

    if (!row)
        return lbx__blame(s->request->fault, LBX_NOT_FOUND, NULL,
                          "step %d (%s): no mailbox is mapped to %s, which %s "
                          "requires, in letterbox.actor.mailbox.requirements",
                          (int)step, lbx__step_name(step), requirement->name,
                          requirement->by);
    return take_id(s, step, lbx_settings_text(row), row);
}

/* Step 4: and if that fails, step 5's. */
static lbx_status
take_needs(struct selecting *s)
{
    const lbx__requirement *other = &s->choice->dispatcher->requirement;
    lbx_status status = take_requirement(s, LBX__BY_BEHAVIOUR, &s->needs);

    if (status == LBX_OK || status == LBX_NO_MEMORY || !other->name)
        return status;
    say_step(s, LBX__BY_BEHAVIOUR,
             s->request->fault ? s->request->fault->text : "it failed");
    status = take_requirement(s, LBX__BY_DISPATCHER, other);
    if (status == LBX_OK && s->request->fault)
        *s->request->fault = (lbx_fault){.status = LBX_OK}; // nothing failed
    return status;
}

static lbx_status
choose_mailbox(struct selecting *s)
{
    const lbx__dispatcher_entry *dispatcher = s->choice->dispatcher;

    if (s->request->shared) {
        s->choice->mailbox = s->request->shared;
        return verify(s, LBX__BY_POOL);
    }
    if (s->deploy && s->deploy->mailbox)
        return take_id(s, LBX__BY_DEPLOYMENT, s->deploy->mailbox,
                       lbx_settings_at(s->deploy->section, "mailbox"));
    say_step(s, LBX__BY_DEPLOYMENT,
             s->deploy ? "names no mailbox" : "says nothing of this path");
    if (s->props->mailbox)
        return take_id(s, LBX__BY_PROPS, s->props->mailbox, NULL);
    say_step(s, LBX__BY_PROPS, "name no mailbox");
    if (s->placed && dispatcher->has_mailbox_type) {
        lbx_status status = lbx__mailbox_plans_of_section(
            s->selection->mailboxes, dispatcher->section, s->request->fault,
            &s->choice->mailbox);

        return status == LBX_OK ? verify(s, LBX__BY_DISPATCHER_SECTION)
                                : status;
    }
    say_step(s, LBX__BY_DISPATCHER_SECTION,
             s->placed ? "has no mailbox-type"
                       : "does not count, since nobody chose the dispatcher");
    if (s->needs.name)
        return take_needs(s);
    say_step(s, LBX__BY_BEHAVIOUR,
             s->needs.needs ? "has no name to look up" : "there is none");
    if (dispatcher->requirement.name)
        return take_requirement(s, LBX__BY_DISPATCHER,
                                &dispatcher->requirement);
    say_step(s, LBX__BY_DISPATCHER, "there is none");
    return take_id(s, LBX__BY_DEFAULT, "letterbox.actor.default-mailbox", NULL);
}

/* The mailbox's, the dispatcher's, the default. */
static void
choose_stash(struct selecting *s)
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
say_choice(const struct selecting *s)
{
    const lbx__choice *choice = s->choice;
    const lbx__mailbox_plan *mailbox = choice->mailbox;
    char where[LINE_BYTES] = "";
    bool shares =
        choice->dispatcher->sort == LBX__BALANCING && !s->request->shared;

    if (!s->request->print)
        return;
    if (mailbox->section && lbx_settings_line(mailbox->section) > 0)
        (void)snprintf(where, sizeof(where), " (%s:%u)",
                       lbx_settings_file(mailbox->section),
                       lbx_settings_line(mailbox->section));
    say(s, "%d %s: decides: mailbox %s%s", (int)choice->step,
        lbx__step_name(choice->step), mailbox->id, where);
    lbx__mailbox_type_describe(&mailbox->type, mailbox->capabilities,
                               mailbox->in_cell && !shares ? NULL
                                                           : &mailbox->options,
                               where, sizeof(where));
    say(s, "%s", where);
    if (shares)
        say(s, "shared by all of behaviour %s on the dispatcher", s->needs.by);
}

static lbx_status
check_needs(struct selecting *s)
{
    const lbx_behaviour *behaviour = s->request->behaviour;
    const char *name = behaviour->needs_semantics;

    if (name && (!*name || strcmp(name, "*") == 0))
        return lbx__blame(s->request->fault, LBX_INVALID, NULL,
                          "behaviour %s: needs_semantics is the name of "
                          "something, not '%s'",
                          behaviour->name ? behaviour->name : "", name);
    s->needs = lbx__requirement_of(name, behaviour->needs | s->request->needs);
    s->needs.by = behaviour->name ? behaviour->name : "without a name";
    return LBX_OK;
}

lbx_status
lbx__selection_choose(lbx__selection *selection, const lbx__request *request,
                      lbx__choice *ret)
{
    struct selecting s = {.selection = selection,
                          .request = request,
                          .props = request->props,
                          .choice = ret};
    lbx_status status;

    if (request->path)
        s.deploy = lbx__deployment_find(selection->deployment, request->path);
    if (s.deploy)
        say(&s, "deployment: %s (%s:%u)", s.deploy->pattern,
            lbx_settings_file(s.deploy->section),
            lbx_settings_line(s.deploy->section));
    if (s.deploy && s.deploy->router)
        say(&s, "router: %s of %u", s.deploy->router, s.deploy->routees);
    status = check_needs(&s);
    if (status == LBX_OK)
        status = choose_dispatcher(&s);
    if (status == LBX_OK)
        status = choose_mailbox(&s);
    if (status != LBX_OK)
        return status;
    choose_stash(&s);
    say_choice(&s);
    return LBX_OK;
}
