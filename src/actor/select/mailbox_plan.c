/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mailbox plans: the list of them, and how a section fills one in. MBPLAN-1 and
 * MBPLAN-2 are in mailbox_plan.h.
 */
#include "actor/select/mailbox_plan.h"

#include "actor/select/section.h"
#include "base/alloc.h"
#include "base/lock.h"
#include "base/sized.h"
#include <string.h>

enum {
    MAILBOX_ID_BYTES = 512,
    MAX_MAILBOX_PLANS = UINT16_MAX,
};

static const char capacity_prefix[] = "bounded-capacity:";

struct lbx__mailbox_plans {
    const lbx_allocator *allocator;
    const lbx_settings *settings;
    const lbx_settings *default_section;
    const lbx__mailbox_types *types;
    lbx__lock lock;
    _Atomic(lbx__mailbox_plan *) first;
    uint16_t count; /* under the lock */
};

lbx_status
lbx__mailbox_plans_create(const lbx_allocator *allocator,
                          const lbx_settings *settings,
                          const lbx__mailbox_types *types,
                          lbx__mailbox_plans **ret)
{
    lbx__mailbox_plans *plans = lbx__zalloc(allocator, sizeof(*plans));

    if (!plans)
        return LBX_NO_MEMORY;
    plans->allocator = allocator;
    plans->settings = settings;
    plans->default_section =
        lbx_settings_at(settings, "letterbox.actor.default-mailbox");
    plans->types = types;
    *ret = plans;
    return LBX_OK;
}

static void
mailbox_plan_free(lbx__mailbox_plans *plans, lbx__mailbox_plan *plan)
{
    const lbx_mailbox_type *user = plan->type.user;

    if (user && user->release && lbx__init_once_is_done(&plan->once))
        user->release(user->context, &plan->options);
    lbx_settings_unref(plan->merged);
    lbx__free(plans->allocator, plan, plan->size_bytes);
}

void
lbx__mailbox_plans_destroy(lbx__mailbox_plans *plans)
{
    lbx__mailbox_plan *plan;

    if (!plans)
        return;
    plan = lbx__peek(&plans->first);
    while (plan) {
        lbx__mailbox_plan *next = plan->next;

        mailbox_plan_free(plans, plan);
        plan = next;
    }
    lbx__free(plans->allocator, plans, sizeof(*plans));
}

/* Sections are compared by their addresses, other ids by their text. */
static bool
mailbox_plan_is_of(const lbx__mailbox_plan *plan, const char *id,
                   const lbx_settings *section)
{
    return plan->section == section && (section || strcmp(plan->id, id) == 0);
}

static lbx__mailbox_plan *
mailbox_plans_look_up(lbx__mailbox_plans *plans, const char *id,
                      const lbx_settings *section)
{
    // Acquire: MBPLAN-2, pairs with the release in mailbox_plans_get().
    lbx__mailbox_plan *plan = lbx__load(&plans->first, acquire);

    while (plan && !mailbox_plan_is_of(plan, id, section))
        plan = plan->next;
    return plan;
}

/* The plan of an id, new if there is none; NULL: no memory. */
static lbx__mailbox_plan *
mailbox_plans_get(lbx__mailbox_plans *plans, const char *id,
                  const lbx_settings *section)
{
    lbx__mailbox_plan *plan = mailbox_plans_look_up(plans, id, section);
    size_t size_bytes = sizeof(*plan) + strlen(id) + 1;

    if (plan)
        return plan;
    lbx__lock_take(&plans->lock);
    plan = mailbox_plans_look_up(plans, id, section);
    if (!plan && plans->count < MAX_MAILBOX_PLANS)
        plan = lbx__zalloc(plans->allocator, size_bytes);
    if (plan && !plan->id) {
        plan->size_bytes = size_bytes;
        plan->id = memcpy(plan + 1, id, strlen(id) + 1);
        plan->section = section;
        plan->number = ++plans->count;
        plan->next = lbx__peek(&plans->first);
        // Release: MBPLAN-2.
        lbx__store(&plans->first, plan, release);
    }
    lbx__lock_give(&plans->lock);
    return plan;
}

const lbx__mailbox_plan *
lbx__mailbox_plans_by_number(lbx__mailbox_plans *plans, uint16_t number)
{
    // Acquire: MBPLAN-2.
    lbx__mailbox_plan *plan = lbx__load(&plans->first, acquire);

    while (plan && plan->number != number)
        plan = plan->next;
    return plan;
}

/* Capabilities depend on the options too. */
static void
mailbox_plan_set_capabilities(lbx__mailbox_plan *plan)
{
    const lbx_mailbox_options *options = &plan->options;
    uint32_t capabilities = plan->type.capabilities;

    capabilities &= ~(uint32_t)LBX_CAPABILITY_BLOCK;
    if (lbx_mailbox_options_limit(options->capacity_messages, -1) > 0)
        capabilities |= LBX_CAPABILITY_BOUND;
    if ((capabilities & LBX_CAPABILITY_BOUND) &&
        options->overflow == LBX_OVERFLOW_BLOCK)
        capabilities |= LBX_CAPABILITY_BLOCK;
    plan->capabilities = capabilities;
}

LBX__SIZED(mailbox_plan_options_sized, lbx_mailbox_options, pressure_messages,
           LBX_MAILBOX_OPTIONS_INIT);

lbx_status
lbx__mailbox_plan_read_options(const lbx_mailbox_options *given,
                               lbx_fault *fault, lbx_mailbox_options *ret)
{
    return lbx__sized_read(ret, given, &mailbox_plan_options_sized, fault);
}

lbx_status
lbx__mailbox_plan_fit(const lbx_mailbox_options *given, uint32_t needs,
                      lbx_fault *fault, const char **ret)
{
    static const char *const kinds[][2] = {
        {LBX_KIND_UNBOUNDED, LBX_KIND_BOUNDED},
        {LBX_KIND_UNBOUNDED_PRIORITY, LBX_KIND_BOUNDED_PRIORITY},
        {LBX_KIND_UNBOUNDED_CONTROL_AWARE, LBX_KIND_BOUNDED_CONTROL_AWARE},
        {LBX_KIND_UNBOUNDED_DEQUE, LBX_KIND_BOUNDED_DEQUE},
    };
    lbx_mailbox_options own;
    const lbx_status status =
        lbx__sized_read(&own, given, &mailbox_plan_options_sized, fault);
    unsigned order = 0;
    bool bounded;

    if (status != LBX_OK)
        return status;
    bounded = (own.capacity_messages != LBX_DEFAULT &&
               own.capacity_messages != LBX_UNLIMITED) ||
              (needs & LBX_CAPABILITY_BOUND);
    if (own.priority || own.compare || (needs & LBX_CAPABILITY_PRIORITIZE))
        order = 1;
    else if (own.control_by_priority || own.control_capacity != LBX_DEFAULT ||
             (needs & LBX_CAPABILITY_CONTROL))
        order = 2;
    else if (needs & LBX_CAPABILITY_SEND_FRONT)
        order = 3;
    *ret = kinds[order][bounded];
    return LBX_OK;
}

lbx_status
lbx__mailbox_plan_set_options(lbx__mailbox_plan *plan,
                              const lbx_mailbox_options *options,
                              lbx_fault *fault)
{
    const lbx_status status = lbx__sized_read(
        &plan->options, options, &mailbox_plan_options_sized, fault);

    if (status != LBX_OK)
        return status;
    if (!plan->options.kinds)
        plan->options.kinds = plan->type.kinds;
    plan->in_cell = false;
    mailbox_plan_set_capabilities(plan);
    return LBX_OK;
}

/* Actors need whole envelopes, and system messages that always fit. */
static lbx_mailbox_options
mailbox_options_default(void)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;

    options.envelopes = true;
    options.system_reservation = LBX_UNLIMITED;
    return options;
}

/* Sets what a full mailbox does, by the push timeout. */
static void
mailbox_options_set_wait(lbx_mailbox_options *options, int64_t wait_ns)
{
    options->overflow =
        wait_ns == 0 ? LBX_OVERFLOW_DROP_NEWEST : LBX_OVERFLOW_BLOCK;
    options->wait_ns = wait_ns;
    options->after_wait = LBX_OVERFLOW_DROP_NEWEST;
}

/* What a full mailbox does, if the settings say so; else by the wait. */
static void
mailbox_plan_read_overflow(lbx_mailbox_options *options,
                           const lbx_settings *whole)
{
    static const struct {
        const char *name;
        lbx_overflow overflow;
    } table[] = {
        {"reject", LBX_OVERFLOW_REJECT},
        {"drop-newest", LBX_OVERFLOW_DROP_NEWEST},
        {"drop-oldest", LBX_OVERFLOW_DROP_OLDEST},
        {"grow", LBX_OVERFLOW_GROW},
    };
    const char *name =
        lbx_settings_text(lbx_settings_at(whole, "mailbox-overflow"));

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (strcmp(name, table[i].name) == 0)
            options->overflow = table[i].overflow;
}

/* The control lane: 0 and less is no limit, absent shares the capacity. */
static lbx_status
mailbox_plan_read_control(lbx__mailbox_plan *plan, const lbx_settings *whole,
                          lbx_fault *fault)
{
    int64_t control = LBX_DEFAULT;
    lbx_status status = LBX_OK;

    if (lbx_settings_has(whole, "mailbox-control-capacity"))
        status = lbx_settings_read_integer(whole, "mailbox-control-capacity",
                                           &control, fault);
    if (status == LBX_OK && control != LBX_DEFAULT &&
        (plan->type.capabilities & LBX_CAPABILITY_CONTROL))
        plan->options.control_capacity = control > 0 ? control : LBX_UNLIMITED;
    return status;
}

/* How many messages that wait are worth a warning. */
static lbx_status
mailbox_plan_read_pressure(lbx_mailbox_options *options,
                           const lbx_settings *whole, lbx_fault *fault)
{
    if (!lbx_settings_has(whole, "mailbox-pressure"))
        return LBX_OK;
    return lbx_settings_read_integer(whole, "mailbox-pressure",
                                     &options->pressure_messages, fault);
}

/* Fills in the options from a checked section. `own` is the section before the
 * default's values were added: a user's storage gets a capacity only there. */
static lbx_status
mailbox_plan_read_options(lbx__mailbox_plan *plan, const lbx_settings *whole,
                          const lbx_settings *own, lbx_fault *fault)
{
    lbx_mailbox_options *options = &plan->options;
    int64_t capacity, wait_ns;
    lbx_status status =
        lbx_settings_read_integer(whole, "mailbox-capacity", &capacity, fault);

    if (status == LBX_OK)
        status = lbx_settings_read_duration(whole, "mailbox-push-timeout-time",
                                            &wait_ns, fault);
    if (status == LBX_OK)
        status = lbx_settings_read_boolean(whole, "mailbox-timestamps",
                                           &options->timestamps, fault);
    if (status == LBX_OK)
        status = mailbox_plan_read_control(plan, whole, fault);
    if (status == LBX_OK)
        status = mailbox_plan_read_pressure(options, whole, fault);
    if (status != LBX_OK)
        return status;
    plan->in_cell = plan->type.in_cell && !options->timestamps &&
                    options->pressure_messages == LBX_DEFAULT;
    mailbox_options_set_wait(options, plan->type.never_waits ? 0 : wait_ns);
    if (plan->type.capacity == LBX_KIND_CAPACITY_NONE ||
        (plan->type.capacity == LBX_KIND_CAPACITY_OPTIONAL &&
         !lbx_settings_has(own, "mailbox-capacity")))
        return LBX_OK;
    if (capacity < 1)
        return lbx__section_fault(fault, LBX_INVALID,
                                  lbx_settings_at(whole, "mailbox-capacity"),
                                  "0 is too small; at least 1 is allowed");
    options->capacity_messages = capacity;
    mailbox_plan_read_overflow(options, whole);
    return LBX_OK;
}

/* Makes the section whole: the named section, its id, and the default's values
 * for absent keys. The default itself needs that only for a user's type, which
 * may read the id. */
static lbx_status
mailbox_plan_merge(lbx__mailbox_plans *plans, lbx__mailbox_plan *plan)
{
    const lbx_settings *section = plan->section;
    lbx_settings *filled;
    lbx_status status;

    plan->whole = plans->default_section;
    if ((!section || section == plans->default_section) && !plan->type.user)
        return LBX_OK;
    status =
        lbx_settings_merge(section ? section : plans->default_section,
                           plans->default_section, plans->allocator, &filled);
    if (status != LBX_OK)
        return status;
    status = lbx_settings_with_string(filled, "id", plan->id, &plan->merged);
    lbx_settings_unref(filled);
    plan->whole = plan->merged;
    return status;
}

static lbx_status
mailbox_plan_find_type(lbx__mailbox_plans *plans, lbx__mailbox_plan *plan,
                       lbx_fault *fault)
{
    const char *name = plan->id;
    const lbx_settings *at = NULL;

    if (plan->section) {
        at = lbx_settings_at(plan->section, "mailbox-type");
        if (!at)
            at = lbx_settings_at(plans->default_section, "mailbox-type");
        name = lbx_settings_text(at);
        if (!*name)
            return lbx__section_fault(fault, LBX_INVALID, at,
                                      "the mailbox-type of %s is empty",
                                      plan->id);
    }
    if (!lbx__mailbox_types_find(plans->types, name, &plan->type))
        return lbx__section_fault(
            fault, LBX_NOT_FOUND, at,
            "there is no mailbox type '%s', which %s is of", name, plan->id);
    return LBX_OK;
}

/* Lets the user's type change the options. */
static lbx_status
mailbox_plan_configure_user(lbx__mailbox_plan *plan, lbx_fault *fault)
{
    const lbx_mailbox_type *user = plan->type.user;
    lbx_fault own = {.status = LBX_OK};
    lbx_status status;

    if (!user || !user->configure)
        return LBX_OK;
    status = user->configure(user->context, plan->whole, &plan->options, &own);
    if (status == LBX_OK)
        return LBX_OK;
    if (own.text[0])
        return lbx__section_fault(fault, status, NULL, "mailbox %s: %s",
                                  plan->id, own.text);
    return lbx__section_fault(fault, status, plan->section,
                              "mailbox type %s does not take this: %s",
                              user->name, lbx_status_text(status));
}

static lbx_status
mailbox_plan_fill_in(lbx__mailbox_plans *plans, lbx__mailbox_plan *plan,
                     lbx_fault *fault)
{
    lbx_status status = mailbox_plan_find_type(plans, plan, fault);

    if (status == LBX_OK)
        status = mailbox_plan_merge(plans, plan);
    if (status == LBX_OK && plan->section)
        status = lbx__section_check(plan->section, plan->type.user, fault);
    if (status != LBX_OK)
        return status;
    plan->options = mailbox_options_default();
    plan->options.name = plan->id;
    plan->options.kinds = plan->type.kinds;
    plan->stash_capacity = LBX_DEFAULT;
    if (plan->section && plan->section != plans->default_section)
        status = lbx_settings_read_integer_or(plan->section, "stash-capacity",
                                              LBX_DEFAULT,
                                              &plan->stash_capacity, fault);
    if (status == LBX_OK)
        status =
            mailbox_plan_read_options(plan, plan->whole, plan->section, fault);
    if (status == LBX_OK)
        status = mailbox_plan_configure_user(plan, fault);
    if (status == LBX_OK)
        mailbox_plan_set_capabilities(plan);
    return status;
}

static lbx_status
mailbox_plan_fill_in_once(lbx__mailbox_plans *plans, lbx__mailbox_plan *plan,
                          lbx_fault *fault)
{
    lbx_status status;

    if (!lbx__init_once_begin(&plan->once))
        return LBX_OK;
    status = mailbox_plan_fill_in(plans, plan, fault);
    if (status != LBX_OK) {
        lbx_settings_unref(plan->merged);
        plan->merged = NULL;
    }
    lbx__init_once_end(&plan->once, status == LBX_OK);
    return status;
}

static lbx_status
mailbox_plans_get_filled_in(lbx__mailbox_plans *plans, const char *id,
                            const lbx_settings *section, lbx_fault *fault,
                            const lbx__mailbox_plan **ret)
{
    lbx__mailbox_plan *plan = mailbox_plans_get(plans, id, section);
    lbx_status status;

    if (!plan)
        return lbx__section_fault(fault, LBX_NO_MEMORY, section,
                                  "out of memory");
    status = mailbox_plan_fill_in_once(plans, plan, fault);
    if (status == LBX_OK)
        *ret = plan;
    return status;
}

lbx_status
lbx__mailbox_plans_of_section(lbx__mailbox_plans *plans,
                              const lbx_settings *section, lbx_fault *fault,
                              const lbx__mailbox_plan **ret)
{
    char id[MAILBOX_ID_BYTES];

    (void)lbx_settings_path(section, id, sizeof(id));
    return mailbox_plans_get_filled_in(plans, id, section, fault, ret);
}

/* The plan of an id "bounded-capacity:N"; not on the list. */
static lbx_status
mailbox_plan_of_capacity(lbx__mailbox_plans *plans, const char *id,
                         const lbx_settings *at, lbx_fault *fault,
                         lbx__mailbox_plan *unlisted)
{
    const char *digit = id + sizeof(capacity_prefix) - 1;
    int64_t capacity = *digit ? 0 : -1;

    for (; *digit; digit++) {
        if (*digit < '0' || *digit > '9' || capacity > INT32_MAX)
            capacity = -1;
        if (capacity < 0)
            break;
        capacity = capacity * 10 + (*digit - '0');
    }
    if (capacity < 1)
        return lbx__section_fault(
            fault, LBX_INVALID, at,
            "mailbox %s: the capacity must be a whole number, at "
            "least 1",
            id);
    *unlisted = (lbx__mailbox_plan){.id = id, .stash_capacity = LBX_DEFAULT};
    (void)lbx__mailbox_types_find(plans->types, LBX_KIND_BOUNDED,
                                  &unlisted->type);
    unlisted->options = mailbox_options_default();
    unlisted->options.capacity_messages = capacity;
    mailbox_options_set_wait(&unlisted->options, 0);
    mailbox_plan_set_capabilities(unlisted);
    return LBX_OK;
}

lbx_status
lbx__mailbox_plans_find(lbx__mailbox_plans *plans, const char *id,
                        const lbx_settings *at, lbx_fault *fault,
                        lbx__mailbox_plan *unlisted,
                        const lbx__mailbox_plan **ret)
{
    const lbx_settings *section = NULL;
    lbx__mailbox_type type;

    if (strncmp(id, capacity_prefix, sizeof(capacity_prefix) - 1) == 0) {
        lbx_status status =
            mailbox_plan_of_capacity(plans, id, at, fault, unlisted);

        if (status == LBX_OK)
            *ret = unlisted;
        return status;
    }
    if (*id)
        section = lbx_settings_at(plans->settings, id);
    if (lbx_settings_kind_of(section) == LBX_SETTINGS_KIND_SECTION)
        return lbx__mailbox_plans_of_section(plans, section, fault, ret);
    if (!lbx__mailbox_types_find(plans->types, id, &type))
        return lbx__section_fault(
            fault, LBX_NOT_FOUND, at,
            "mailbox '%s' is not configured: the settings have "
            "no such section, and no type has that name",
            id);
    return mailbox_plans_get_filled_in(plans, id, NULL, fault, ret);
}
