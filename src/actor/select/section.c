/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sections of the settings.
 *
 * One section often describes a mailbox and a dispatcher, so that there is one
 * set of rules for both.
 */
#include "actor/select/section.h"

#include "actor/select/foreign_key.h"
#include "base/fault.h"
#include <stdio.h>
#include <string.h>

enum {
    SECTION_RULES = 56 /* with those of the user's type */
};

#define STRING   .type = LBX_SETTINGS_TYPE_STRING
#define SECTION  .type = LBX_SETTINGS_TYPE_SECTION
#define DURATION .type = LBX_SETTINGS_TYPE_DURATION
#define INTEGER  .type = LBX_SETTINGS_TYPE_INTEGER
#define BOOLEAN  .type = LBX_SETTINGS_TYPE_BOOLEAN

static const char *const executor_names[] = {
    "default-executor", "fork-join-executor", "thread-pool-executor", NULL};

static const char *const overflow_names[] = {
    "block", "reject", "drop-newest", "drop-oldest", "grow", NULL};

static const lbx_settings_rule section_rules[] = {
    {.key = "id", STRING},
    {.key = "mailbox-type", STRING},
    {.key = "mailbox-capacity", INTEGER, .min = 0, .max = INT64_MAX},
    {.key = "mailbox-push-timeout-time", DURATION},
    {.key = "mailbox-overflow", STRING, .words = overflow_names},
    {.key = "mailbox-control-capacity", INTEGER},
    {.key = "mailbox-timestamps", BOOLEAN},
    {.key = "mailbox-pressure", INTEGER, .min = 1, .max = INT64_MAX},
    {.key = "stash-capacity", INTEGER},
    {.key = "type", STRING},
    {.key = "executor", STRING, .words = executor_names},
    {.key = "fork-join-executor", SECTION},
    {.key = "thread-pool-executor", SECTION},
    {.key = "shutdown-timeout", DURATION},
    {.key = "throughput", INTEGER, .min = 1, .max = INT64_MAX},
    {.key = "throughput-deadline-time", DURATION},
    {.key = "mailbox-requirement", STRING},
};

lbx_status
lbx__section_check(const lbx_settings *section, const lbx_mailbox_type *type,
                   lbx_fault *fault)
{
    const size_t count = sizeof(section_rules) / sizeof(section_rules[0]);
    lbx_settings_rule rules[SECTION_RULES];
    size_t more = type ? type->rule_count : 0;

    if (more > SECTION_RULES - count)
        return lbx_settings_write_fault(section,
                                        "its type has more keys than can be "
                                        "checked",
                                        fault);
    memcpy(rules, section_rules, sizeof(section_rules));
    if (more > 0)
        memcpy(rules + count, type->rules, more * sizeof(rules[0]));
    return lbx__foreign_key_check(LBX__FOREIGN_DISPATCHER, section, rules,
                                  count + more, fault);
}

lbx_status
lbx__section_fault(lbx_fault *fault, lbx_status status, const lbx_settings *at,
                   const char *format, ...)
{
    char text[sizeof(fault->text)];
    va_list arguments;

    va_start(arguments, format);
    // What was not read from a file has no line to show.
    if (!fault || !at || lbx_settings_line(at) == 0) {
        (void)lbx__fault_set_list(fault, status, (lbx__fault_line){NULL, 0},
                                  format, arguments);
    } else {
        (void)vsnprintf(text, sizeof(text), format, arguments);
        (void)lbx_settings_write_fault(at, text, fault);
        fault->status = status;
    }
    va_end(arguments);
    return status;
}
