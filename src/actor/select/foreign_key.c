/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Foreign keys: a list for each section that has some. What is not listed is a
 * mistake, and stays one.
 */
#include "actor/select/foreign_key.h"

#include "actor/select/class_name.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

enum {
    FOREIGN_MAX_RULES = 64, /* of a section, own and foreign */
    FOREIGN_LINE_BYTES = 512,
    FOREIGN_PATH_BYTES = 256,
};

static const char *const actor_keys[] = {
    "allow-java-serialization",
    "creation-timeout",
    "debug",
    "guardian-supervisor-strategy",
    "no-serialization-verification-needed-class-prefix",
    "provider",
    "reaper-interval",
    "router",
    "serialization-bindings",
    "serialization-identifiers",
    "serialize-creators",
    "serialize-messages",
    "serializers",
    "unstarted-push-timeout",
    "warn-about-java-serializer-usage",
    "warn-on-no-serialization-verification",
    NULL};

static const char *const deployment_keys[] = {"cluster",
                                              "metrics-selector",
                                              "optimal-size-exploring-resizer",
                                              "pool-dispatcher",
                                              "remote",
                                              "resizer",
                                              "routees",
                                              "tail-chopping-router",
                                              "target",
                                              "virtual-nodes-factor",
                                              "within",
                                              NULL};

static const char *const dispatcher_keys[] = {
    "affinity-pool-executor",  "attempt-teamwork", "default-executor",
    "virtual-thread-executor", "thread-priority",  NULL};

static const char *const fork_join_keys[] = {
    "task-peeking-mode", "maximum-pool-size", "minimum-runnable", "virtualize",
    NULL};

static const char *const thread_pool_keys[] = {
    "allow-core-timeout", "keep-alive-time",   "max-pool-size-factor",
    "max-pool-size-max",  "max-pool-size-min", "task-queue-size",
    "task-queue-type",    "virtualize",        NULL};

static const char *const *const foreign_keys[] = {
    [LBX__FOREIGN_ACTOR] = actor_keys,
    [LBX__FOREIGN_DEPLOYMENT] = deployment_keys,
    [LBX__FOREIGN_DISPATCHER] = dispatcher_keys,
    [LBX__FOREIGN_FORK_JOIN] = fork_join_keys,
    [LBX__FOREIGN_THREAD_POOL] = thread_pool_keys,
};

lbx_status
lbx__foreign_key_check(lbx__foreign_key_place place,
                       const lbx_settings *section,
                       const lbx_settings_rule *rules, size_t rule_count,
                       lbx_fault *fault)
{
    lbx_settings_rule all[FOREIGN_MAX_RULES];
    size_t count = rule_count;

    assert(rule_count <= FOREIGN_MAX_RULES);
    memcpy(all, rules, rule_count * sizeof(all[0]));
    // Only those that are there: a fault lists the keys that are allowed.
    for (const char *const *key = foreign_keys[place];
         *key && count < FOREIGN_MAX_RULES; key++)
        if (lbx_settings_has(section, *key))
            all[count++] =
                (lbx_settings_rule){.key = *key, .type = LBX_SETTINGS_TYPE_ANY};
    return lbx_settings_check(section, all, count, fault);
}

void
lbx__foreign_key_warn_at(const lbx_settings *at,
                         const lbx_system_options *options)
{
    char path[FOREIGN_PATH_BYTES];
    char line[FOREIGN_LINE_BYTES];

    if (!options->warn)
        return;
    (void)lbx_settings_path(at, path, sizeof(path));
    (void)snprintf(line, sizeof(line), "%s:%u: %s: accepted, without effect",
                   lbx_settings_file(at), lbx_settings_line(at), path);
    options->warn(options->warn_context, line);
}

void
lbx__foreign_key_warn(lbx__foreign_key_place place, const lbx_settings *section,
                      const lbx_system_options *options)
{
    for (const char *const *key = foreign_keys[place]; section && *key; key++)
        if (lbx_settings_has(section, *key))
            lbx__foreign_key_warn_at(lbx_settings_at(section, *key), options);
}

bool
lbx__foreign_key_is_requirement(const char *name)
{
    return lbx__class_name_equal(name,
                                 "akka.event.LoggerMessageQueueSemantics");
}
