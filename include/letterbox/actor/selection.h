/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selection: which dispatcher runs an actor, and which mailbox it gets.
 *
 * Settings and props decide. The dispatcher comes first: from
 * `letterbox.actor.deployment` for the actor's path, else the props, else the
 * default. Then the mailbox, by the first step that names one:
 *
 *   1  deployment             `mailbox` of the actor's deployment
 *   2  props                  props.mailbox, or props.mailbox_options
 *   3  dispatcher section     its `mailbox-type`, configured from that very
 *                             section; only when deployment or props put the
 *                             actor on that dispatcher
 *   4  behaviour              what it needs, mapped to a mailbox in
 *                             `letterbox.actor.mailbox.requirements`; if that
 *                             fails, what the dispatcher requires
 *   5  dispatcher             its `mailbox-requirement`, by the same map
 *   6  default                `letterbox.actor.default-mailbox`
 *
 * Whichever step decided, the mailbox must be able to do what the dispatcher
 * requires and what the behaviour needs. If not, the actor is not made: there
 * is no silent second choice. props.fault names the step, the mailbox, the
 * requirement and, where there is one, the line of a file. lbx_system_explain()
 * explains it beforehand, lbx_ref_explain() afterwards.
 *
 * What names a mailbox, its id, is the path of a section of the settings,
 * "bounded-capacity:N" (capacity N, what does not fit is a dead letter), or
 * just the name of a type. Types are the kinds of mailbox/factory.h, Akka's
 * and Pekko's class names for them, and your own:
 *
 *     my-mailbox {
 *       mailbox-type = org.example.Urgent
 *       urgency = 3
 *     }
 *
 * Example:
 *
 *     static bool
 *     rank(const void *message, void *context, int32_t *ret)
 *     {
 *         (void)context;
 *         *ret = *(const char *)message == '!' ? 0 : 1;
 *         return true;
 *     }
 *
 *     static lbx_status
 *     configure(void *context, const lbx_settings *section,
 *               lbx_mailbox_options *options, lbx_fault *fault)
 *     {
 *         (void)context;
 *         (void)section;
 *         (void)fault;
 *         options->priority = rank;
 *         return LBX_OK;
 *     }
 *
 *     const lbx_mailbox_type urgent = {
 *         .size_bytes = sizeof(lbx_mailbox_type),
 *         .name = "org.example.Urgent",
 *         .kind = LBX_KIND_UNBOUNDED_PRIORITY,
 *         .configure = configure,
 *     };
 *
 * Requirements are names. Akka's (akka.dispatch.BoundedMessageQueueSemantics
 * and the like, under Pekko's names too) stand for what a mailbox can do;
 * others are those that your types declare.
 *
 * docs/settings.md lists the keys.
 */
#ifndef LETTERBOX_ACTOR_SELECTION_H
#define LETTERBOX_ACTOR_SELECTION_H

#include <letterbox/actor/props.h>
#include <letterbox/actor/system.h>
#include <letterbox/mailbox/factory.h>
#include <letterbox/settings.h>

LBX_BEGIN

/* A type of mailbox: a kind, and how settings shape it. */
struct lbx_mailbox_type {
    size_t size_bytes; /* sizeof(lbx_mailbox_type) */
    const char *name;  /* the value of `mailbox-type` */

    /* How it keeps messages: the name of a kind, built in or of the system's
     * `kinds`; or a storage of its own. One of the two. */
    const char *kind;
    const lbx_kind_ops *storage;
    void *storage_context;

    /* Names of what it is, for requirements; ends with a NULL. NULL: none. */
    const char *const *semantics;

    /* Keys that its sections have besides the usual ones. */
    const lbx_settings_rule *rules;
    size_t rule_count;

    /* Called once for each id that is of this type, when it is first used, in
     * the thread that spawns, with no lock held; must not use the system.
     * `section` has the id as `id`, and what it lacks from the default
     * mailbox's; it lives as long as the system. `options` are filled in from
     * it already. Any status but LBX_OK fails the spawn; `fault` is never
     * NULL. May be NULL. */
    lbx_status (*configure)(void *context, const lbx_settings *section,
                            lbx_mailbox_options *options, lbx_fault *fault);

    /* Releases what configure() put into the options, when the system is
     * destroyed. May be NULL. */
    void (*release)(void *context, const lbx_mailbox_options *options);
    void *context; /* of both */
};

#define LBX_MAILBOX_TYPE_INIT                                                  \
    {                                                                          \
        .size_bytes = sizeof(lbx_mailbox_type)                                 \
    }

/* Types in a shared object, named in `letterbox.actor.mailbox-libraries`. It
 * exports one of these, called lbx_exported_mailbox_types. Settings that name
 * libraries run their code: load such settings only from sources that you
 * trust. */
typedef struct lbx_mailbox_library {
    size_t size_bytes; /* sizeof(lbx_mailbox_library) */
    const lbx_mailbox_type *types;
    size_t type_count;
} lbx_mailbox_library;

#define LBX_MAILBOX_LIBRARY_INIT                                               \
    {                                                                          \
        .size_bytes = sizeof(lbx_mailbox_library)                              \
    }

#define LBX_MAILBOX_LIBRARY_SYMBOL "lbx_exported_mailbox_types"

/*
 * lbx_system_reference_settings() is the text of the settings that stand below
 * all others, with every default. To use one in a substitution, load it as the
 * first source.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API const char *lbx_system_reference_settings(void);

/*
 * lbx_system_explain() prints how an actor with these props would get its
 * dispatcher and its mailbox, if it were made at `path`, "/name" below "/user":
 * each step, and why it did or did not decide, line by line. Nothing is
 * started; a mailbox that is used for the first time is configured.
 *
 * Returns    what the spawn would return about that: LBX_OK; LBX_NOT_FOUND,
 *            LBX_UNSUPPORTED, LBX_INVALID, the last line then has the reason;
 *            LBX_NO_MEMORY.
 * Threads    any; `print` must not use the system.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_system_explain(
    lbx_system *system, const lbx_props *props, const char *path,
    void (*print)(void *context, const char *line), void *context);

/*
 * lbx_ref_explain() prints which dispatcher and mailbox a living actor got, and
 * which step decided.
 *
 * Returns    LBX_OK; LBX_NOT_FOUND when it has stopped; LBX_INVALID.
 * Threads    any; `print` must not use the system.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_ref_explain(
    lbx_ref ref, void (*print)(void *context, const char *line), void *context);

LBX_END

#endif
