/* SPDX-License-Identifier: Apache-2.0 */
/* What a section of the settings says of a dispatcher. */
#include "actor/core/dispatchers.h"
#include "actor/core/system.h"
#include "actor/select/blame.h"
#include "actor/select/mailbox_plan.h"
#include <string.h>

/* Akka's class names, and their short forms. */
static const struct {
    const char *name;
    lbx__dispatcher_sort sort;
} sorts[] = {
    {"Dispatcher", LBX__SHARED},
    {"dispatch.DispatcherConfigurator", LBX__SHARED},
    {"PinnedDispatcher", LBX__PINNED},
    {"dispatch.PinnedDispatcherConfigurator", LBX__PINNED},
    {"BalancingDispatcher", LBX__BALANCING},
    {"dispatch.BalancingDispatcherConfigurator", LBX__BALANCING},
    {"CallingThreadDispatcher", LBX__CALLING_THREAD},
    {"testkit.CallingThreadDispatcherConfigurator", LBX__CALLING_THREAD},
};

static lbx__dispatcher_sort
sort_of(const char *name)
{
    for (size_t i = 0; i < sizeof(sorts) / sizeof(sorts[0]); i++)
        if (lbx__class_name_equal(sorts[i].name, name))
            return sorts[i].sort;
    return LBX__NO_SORT;
}

/* The keys of the section, and of the mailbox type that it names. */
static lbx_status
check(const lbx__dispatchers *dispatchers, lbx__dispatcher_entry *entry,
      lbx_fault *fault)
{
    const lbx_settings *section = entry->section;
    const char *type =
        lbx_settings_text(lbx_settings_at(section, "mailbox-type"));
    lbx__mailbox_type found = {0};

    entry->has_mailbox_type = *type != 0;
    // An unknown one is found out when a mailbox is made of it.
    if (*type)
        (void)lbx__mailbox_types_find(dispatchers->types, type, &found);
    return lbx__section_check(section, found.user, fault);
}

static lbx_status
read_sort(const lbx__dispatchers *dispatchers, lbx__dispatcher_entry *entry,
          const lbx_settings *whole, lbx_fault *fault)
{
    const lbx_system *system = dispatchers->system;
    const lbx_settings *type = lbx_settings_at(whole, "type");
    const lbx_settings *requirement =
        lbx_settings_at(whole, "mailbox-requirement");
    const char *required = lbx_settings_text(requirement);

    if (strcmp(required, "*") == 0)
        return lbx__blame(fault, LBX_INVALID, requirement,
                          "a requirement is the name of something, not '*'");
    entry->sort = sort_of(lbx_settings_text(type));
    // Several actors will take from one mailbox.
    entry->requirement = lbx__requirement_of(
        required, entry->sort == LBX__BALANCING ? LBX_CAN_MULTI_CONSUME : 0);
    entry->requirement.by = entry->id;
    switch (entry->sort) {
    case LBX__CALLING_THREAD:
        if (system->options.threads == 0)
            return LBX_OK;
        return lbx__blame(fault, LBX_UNSUPPORTED, type,
                          "the calling thread runs actors only in a system "
                          "without threads, with lbx_system_run()");
    case LBX__NO_SORT:
        return lbx__blame(fault, LBX_NOT_FOUND, type,
                          "there is no dispatcher type '%s'; allowed: "
                          "Dispatcher, PinnedDispatcher, BalancingDispatcher, "
                          "CallingThreadDispatcher",
                          lbx_settings_text(type));
    default:
        return LBX_OK;
    }
}

static lbx_status
read_numbers(lbx__dispatcher_entry *entry, const lbx_settings *whole,
             lbx_fault *fault)
{
    lbx__dispatcher_options *options = &entry->options;
    lbx_status status = lbx__executor_read(whole, fault, options);

    options->name = entry->id;
    entry->stash_capacity = LBX_DEFAULT;
    if (status == LBX_OK)
        status = lbx_settings_read_integer(whole, "throughput", fault,
                                           &options->throughput);
    if (status == LBX_OK)
        status = lbx_settings_read_duration(whole, "throughput-deadline-time",
                                            fault, &options->deadline_ns);
    if (status == LBX_OK)
        status = lbx_settings_read_duration(whole, "shutdown-timeout", fault,
                                            &entry->linger_ns);

    if (status == LBX_OK)
        status =
            lbx_settings_read_integer_or(whole, "stash-capacity", LBX_DEFAULT,
                                         fault, &entry->stash_capacity);
    return status;
}

lbx_status
lbx__dispatcher_describe(const lbx__dispatchers *dispatchers,
                         lbx__dispatcher_entry *entry, lbx_fault *fault)
{
    const lbx_settings *whole = entry->section;
    lbx_status status = check(dispatchers, entry, fault);

    if (status == LBX_OK && whole != dispatchers->usual) {
        status = lbx_settings_merge(whole, dispatchers->usual,
                                    dispatchers->system->options.allocator,
                                    &entry->merged);
        whole = entry->merged;
    }
    if (status == LBX_OK)
        status = read_numbers(entry, whole, fault);
    if (status == LBX_OK)
        status = read_sort(dispatchers, entry, whole, fault);
    if (status != LBX_OK) {
        lbx_settings_unref(entry->merged);
        entry->merged = NULL;
    }
    return status;
}
