/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dispatcher plans: the list of them, and how a section fills one in. DPLAN-1
 * and DPLAN-2 are in dispatcher_plan.h.
 */
#include "actor/select/dispatcher_plan.h"

#include "actor/select/class_name.h"
#include "actor/select/foreign_key.h"
#include "actor/select/section.h"
#include "base/alloc.h"
#include "base/lock.h"
#include <string.h>

enum {
    PLAN_ID_BYTES = 512,
    PLAN_MAX_ALIASES = 20,
};

struct lbx__dispatcher_plans {
    lbx_system_options *options;
    const lbx_settings *settings;
    const lbx_settings *default_section;
    const lbx__mailbox_types *types;
    lbx__lock lock;
    _Atomic(lbx__dispatcher_plan *) first;
    const lbx__dispatcher_plan *default_plan;
};

static const char default_dispatcher_id[] =
    "letterbox.actor.default-dispatcher";

/* ---- One plan ---- */

static lbx__dispatcher_sort
dispatcher_sort_of(const char *name)
{
    static const char *const names[] = {
        [LBX__DISPATCHER_SHARED] = "Dispatcher",
        [LBX__DISPATCHER_PINNED] = "PinnedDispatcher",
        [LBX__DISPATCHER_BALANCING] = "BalancingDispatcher",
        [LBX__DISPATCHER_CALLING_THREAD] = "CallingThreadDispatcher",
    };
    const char *own = lbx__class_name_translate(name);
    unsigned sort = 0;

    while (sort < LBX__DISPATCHER_UNKNOWN &&
           !lbx__class_name_equal(names[sort], own))
        sort++;
    return (lbx__dispatcher_sort)sort;
}

/* Checks the keys of the section and of the mailbox type that it names. */
static lbx_status
dispatcher_plan_check(const lbx__dispatcher_plans *plans,
                      lbx__dispatcher_plan *plan, lbx_fault *fault)
{
    const lbx_settings *section = plan->section;
    const char *type =
        lbx_settings_text(lbx_settings_at(section, "mailbox-type"));
    lbx__mailbox_type found = {0};

    plan->has_mailbox_type = *type != 0;
    // An unknown type is reported when a mailbox is made of it.
    if (*type)
        (void)lbx__mailbox_types_find(plans->types, type, &found);
    return lbx__section_check(section, found.user, fault);
}

static lbx_status
dispatcher_plan_read_sort(const lbx__dispatcher_plans *plans,
                          lbx__dispatcher_plan *plan, const lbx_settings *whole,
                          lbx_fault *fault)
{
    const lbx_settings *type = lbx_settings_at(whole, "type");
    const lbx_settings *requirement =
        lbx_settings_at(whole, "mailbox-requirement");
    const char *required = lbx_settings_text(requirement);

    if (strcmp(required, "*") == 0)
        return lbx__section_fault(fault, LBX_INVALID, requirement,
                                  "a requirement is the name of something, not "
                                  "'*'");
    plan->sort = dispatcher_sort_of(lbx_settings_text(type));
    // Several actors will receive from one mailbox.
    plan->requirement =
        lbx__requirement_of(required, plan->sort == LBX__DISPATCHER_BALANCING
                                          ? LBX_CAPABILITY_MULTI_CONSUME
                                          : 0);
    plan->requirement.by = plan->id;
    switch (plan->sort) {
    case LBX__DISPATCHER_CALLING_THREAD:
        if (plans->options->threads == 0)
            return LBX_OK;
        return lbx__section_fault(fault, LBX_UNSUPPORTED, type,
                                  "the calling thread runs actors only in a "
                                  "system without threads, with "
                                  "lbx_system_run()");
    case LBX__DISPATCHER_UNKNOWN:
        return lbx__section_fault(fault, LBX_NOT_FOUND, type,
                                  "there is no dispatcher type '%s'; allowed: "
                                  "Dispatcher, PinnedDispatcher, "
                                  "BalancingDispatcher, "
                                  "CallingThreadDispatcher",
                                  lbx_settings_text(type));
    default:
        return LBX_OK;
    }
}

static lbx_status
dispatcher_plan_read_numbers(lbx__dispatcher_plan *plan,
                             const lbx_settings *whole, lbx_fault *fault)
{
    lbx_status status = lbx__executor_threads(whole, fault, &plan->threads);

    plan->stash_capacity = LBX_DEFAULT;
    if (status == LBX_OK)
        status = lbx_settings_read_integer(whole, "throughput",
                                           &plan->throughput, fault);
    if (status == LBX_OK)
        status = lbx_settings_read_duration(whole, "throughput-deadline-time",
                                            &plan->deadline_ns, fault);
    if (status == LBX_OK)
        status = lbx_settings_read_duration(whole, "shutdown-timeout",
                                            &plan->linger_ns, fault);
    if (status == LBX_OK)
        status = lbx_settings_read_integer_or(
            whole, "stash-capacity", LBX_DEFAULT, &plan->stash_capacity, fault);
    return status;
}

static lbx_status
dispatcher_plan_fill_in(const lbx__dispatcher_plans *plans,
                        lbx__dispatcher_plan *plan, lbx_fault *fault)
{
    const lbx_settings *whole = plan->section;
    lbx_status status = dispatcher_plan_check(plans, plan, fault);

    if (status == LBX_OK && whole != plans->default_section) {
        status = lbx_settings_merge(whole, plans->default_section,
                                    plans->options->allocator, &plan->merged);
        whole = plan->merged;
    }
    if (status == LBX_OK)
        status = dispatcher_plan_read_numbers(plan, whole, fault);
    if (status == LBX_OK)
        status = dispatcher_plan_read_sort(plans, plan, whole, fault);
    if (status != LBX_OK) {
        lbx_settings_unref(plan->merged);
        plan->merged = NULL;
    }
    return status;
}

/* Of the keys in its own section that have no effect. */
static void
dispatcher_plan_warn(const lbx__dispatcher_plans *plans,
                     const lbx__dispatcher_plan *plan)
{
    const lbx_settings *section = plan->section;

    lbx__foreign_key_warn(LBX__FOREIGN_DISPATCHER, section, plans->options);
    lbx__foreign_key_warn(LBX__FOREIGN_FORK_JOIN,
                          lbx_settings_at(section, "fork-join-executor"),
                          plans->options);
    lbx__foreign_key_warn(LBX__FOREIGN_THREAD_POOL,
                          lbx_settings_at(section, "thread-pool-executor"),
                          plans->options);
}

static lbx_status
dispatcher_plan_fill_in_once(const lbx__dispatcher_plans *plans,
                             lbx__dispatcher_plan *plan, lbx_fault *fault)
{
    lbx_status status;

    if (!plan)
        return lbx__section_fault(fault, LBX_NO_MEMORY, NULL, "out of memory");
    if (!lbx__init_once_begin(&plan->once))
        return LBX_OK;
    status = dispatcher_plan_fill_in(plans, plan, fault);
    if (status == LBX_OK)
        dispatcher_plan_warn(plans, plan);
    lbx__init_once_end(&plan->once, status == LBX_OK);
    return status;
}

/* ---- The list ---- */

static lbx__dispatcher_plan *
dispatcher_plans_look_up(lbx__dispatcher_plans *plans,
                         const lbx_settings *section)
{
    // Acquire: DPLAN-2, pairs with the release in dispatcher_plans_get().
    lbx__dispatcher_plan *plan = lbx__load(&plans->first, acquire);

    while (plan && plan->section != section)
        plan = plan->next;
    return plan;
}

/* The plan of a section, new if there is none; NULL: no memory. */
static lbx__dispatcher_plan *
dispatcher_plans_get(lbx__dispatcher_plans *plans, const lbx_settings *section)
{
    lbx__dispatcher_plan *plan = dispatcher_plans_look_up(plans, section);
    char id[PLAN_ID_BYTES];
    size_t size_bytes;

    if (plan)
        return plan;
    (void)lbx_settings_path(section, id, sizeof(id));
    size_bytes = sizeof(*plan) + strlen(id) + 1;
    lbx__lock_take(&plans->lock);
    plan = dispatcher_plans_look_up(plans, section);
    if (!plan) {
        plan = lbx__zalloc(plans->options->allocator, size_bytes);
        if (plan) {
            plan->size_bytes = size_bytes;
            plan->id = memcpy(plan + 1, id, strlen(id) + 1);
            plan->section = section;
            plan->next = lbx__peek(&plans->first);
            // Release: DPLAN-2.
            lbx__store(&plans->first, plan, release);
        }
    }
    lbx__lock_give(&plans->lock);
    return plan;
}

/* The section of an id. A text instead of a section is another id. */
static const lbx_settings *
dispatcher_plans_section(const lbx__dispatcher_plans *plans, const char *id)
{
    const lbx_settings *at = lbx_settings_at(plans->settings, id);

    for (int i = 0; i < PLAN_MAX_ALIASES &&
                    lbx_settings_kind_of(at) == LBX_SETTINGS_KIND_STRING;
         i++)
        at = lbx_settings_at(plans->settings, lbx_settings_text(at));
    return at;
}

lbx_status
lbx__dispatcher_plans_find(lbx__dispatcher_plans *plans, const char *id,
                           const lbx_settings *at, lbx_fault *fault,
                           const lbx__dispatcher_plan **ret)
{
    const lbx_settings *section =
        *id ? dispatcher_plans_section(plans, id) : NULL;
    lbx__dispatcher_plan *plan;
    lbx_status status;

    if (lbx_settings_kind_of(section) != LBX_SETTINGS_KIND_SECTION)
        return lbx__section_fault(fault, LBX_NOT_FOUND, at,
                                  "dispatcher '%s' is not configured: the "
                                  "settings have no such section",
                                  id);
    plan = dispatcher_plans_get(plans, section);
    status = dispatcher_plan_fill_in_once(plans, plan, fault);
    if (status == LBX_OK)
        *ret = plan;
    return status;
}

const lbx__dispatcher_plan *
lbx__dispatcher_plans_default(const lbx__dispatcher_plans *plans)
{
    return plans->default_plan;
}

/* What the system's options set wins; what they leave open is filled in. */
static void
dispatcher_plan_agree(lbx__dispatcher_plan *plan, lbx_system_options *options)
{
    if (options->threads == LBX_DEFAULT)
        options->threads = plan->threads;
    if (options->throughput == LBX_DEFAULT)
        options->throughput = plan->throughput;
    plan->threads = (uint32_t)options->threads;
    plan->throughput = options->throughput;
}

lbx_status
lbx__dispatcher_plans_create(lbx_system_options *options,
                             const lbx_settings *settings,
                             const lbx__mailbox_types *types, lbx_fault *fault,
                             lbx__dispatcher_plans **ret)
{
    lbx__dispatcher_plans *plans =
        lbx__zalloc(options->allocator, sizeof(*plans));
    lbx_status status;

    if (!plans)
        return LBX_NO_MEMORY;
    plans->options = options;
    plans->settings = settings;
    plans->types = types;
    status = lbx_settings_read_section(settings, default_dispatcher_id,
                                       &plans->default_section, fault);
    if (status == LBX_OK)
        status = lbx__dispatcher_plans_find(plans, default_dispatcher_id, NULL,
                                            fault, &plans->default_plan);
    if (status != LBX_OK) {
        lbx__dispatcher_plans_destroy(plans);
        return status;
    }
    // The only plan on the list is the default one.
    dispatcher_plan_agree(lbx__peek(&plans->first), options);
    *ret = plans;
    return LBX_OK;
}

void
lbx__dispatcher_plans_destroy(lbx__dispatcher_plans *plans)
{
    const lbx_allocator *allocator;
    lbx__dispatcher_plan *plan;

    if (!plans)
        return;
    allocator = plans->options->allocator;
    plan = lbx__peek(&plans->first);
    while (plan) {
        lbx__dispatcher_plan *next = plan->next;

        lbx_settings_unref(plan->merged);
        lbx__free(allocator, plan, plan->size_bytes);
        plan = next;
    }
    lbx__free(allocator, plans, sizeof(*plans));
}
