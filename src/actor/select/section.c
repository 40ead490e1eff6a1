/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys of a section that describes a mailbox, a dispatcher, or both: in
 * Akka's files one section often is both, so that there is one set of rules.
 */
#include "actor/select/mailbox_plan.h"

#include <string.h>

enum {
    MOST_RULES = 64
};

#define STRING   .type = LBX_SETTINGS_TYPE_STRING
#define SECTION  .type = LBX_SETTINGS_TYPE_SECTION
#define DURATION .type = LBX_SETTINGS_TYPE_DURATION
#define INTEGER  .type = LBX_SETTINGS_TYPE_INTEGER
#define BOOLEAN  .type = LBX_SETTINGS_TYPE_BOOLEAN

static const char *const executors[] = {
    "default-executor", "fork-join-executor", "thread-pool-executor", NULL};

static const lbx_settings_rule usual[] = {
    {.key = "id", STRING},
    {.key = "mailbox-type", STRING},
    {.key = "mailbox-capacity", INTEGER, .least = 0, .most = INT64_MAX},
    {.key = "mailbox-push-timeout-time", DURATION},
    {.key = "mailbox-timestamps", BOOLEAN},
    {.key = "stash-capacity", INTEGER},
    {.key = "type", STRING},
    {.key = "executor", STRING, .words = executors},
    {.key = "default-executor", SECTION},
    {.key = "fork-join-executor", SECTION},
    {.key = "thread-pool-executor", SECTION},
    {.key = "shutdown-timeout", DURATION},
    {.key = "throughput", INTEGER, .least = 1, .most = INT64_MAX},
    {.key = "throughput-deadline-time", DURATION},
    {.key = "attempt-teamwork", BOOLEAN},
    {.key = "mailbox-requirement", STRING},
};

lbx_status
lbx__section_check(const lbx_settings *section, const lbx_mailbox_type *type,
                   lbx_fault *fault)
{
    const size_t count = sizeof(usual) / sizeof(usual[0]);
    lbx_settings_rule rules[MOST_RULES];
    size_t more = type ? type->rule_count : 0;

    if (more > MOST_RULES - count)
        return lbx_settings_complain(section, fault,
                                     "its type has more keys than can be "
                                     "checked");
    memcpy(rules, usual, sizeof(usual));
    if (more > 0)
        memcpy(rules + count, type->rules, more * sizeof(rules[0]));
    return lbx_settings_check(section, rules, count + more, fault);
}
