/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many threads a dispatcher has, by Akka's keys: so many for each
 * processor, but no fewer and no more than; or a number.
 */
#include "actor/core/dispatchers.h"

#include "actor/select/blame.h"
#include <sched.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_THREADS = 1024
};

#define COUNT(name)                                                            \
    {                                                                          \
        .key = (name), .type = LBX_SETTINGS_TYPE_INTEGER, .least = 1,          \
        .most = MOST_THREADS                                                   \
    }
#define FACTOR(name)                                                           \
    {                                                                          \
        .key = (name), .type = LBX_SETTINGS_TYPE_NUMBER                        \
    }
#define IGNORED(name)                                                          \
    {                                                                          \
        .key = (name), .type = LBX_SETTINGS_TYPE_ANY                           \
    }

static const lbx_settings_rule fork_join[] = {
    COUNT("parallelism-min"),     FACTOR("parallelism-factor"),
    COUNT("parallelism-max"),     IGNORED("task-peeking-mode"),
    IGNORED("maximum-pool-size"), IGNORED("minimum-runnable"),
};

static const lbx_settings_rule thread_pool[] = {
    IGNORED("fixed-pool-size"), // a number, or off: read below
    COUNT("core-pool-size-min"),  FACTOR("core-pool-size-factor"),
    COUNT("core-pool-size-max"),  IGNORED("keep-alive-time"),
    IGNORED("max-pool-size-min"), IGNORED("max-pool-size-factor"),
    IGNORED("max-pool-size-max"), IGNORED("task-queue-size"),
    IGNORED("task-queue-type"),   IGNORED("allow-core-timeout"),
};

/* The keys of an executor. */
struct executor {
    const char *section;
    const lbx_settings_rule *rules;
    size_t rule_count;
    const char *fixed; /* NULL: it has none */
    const char *least;
    const char *factor;
    const char *most;
};

static const struct executor executors[] = {
    {"fork-join-executor", fork_join, sizeof(fork_join) / sizeof(fork_join[0]),
     NULL, "parallelism-min", "parallelism-factor", "parallelism-max"},
    {"thread-pool-executor", thread_pool,
     sizeof(thread_pool) / sizeof(thread_pool[0]), "fixed-pool-size",
     "core-pool-size-min", "core-pool-size-factor", "core-pool-size-max"},
};

/* The processors that this process may use. */
static long
count_processors(void)
{
    cpu_set_t allowed;

    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
        return CPU_COUNT(&allowed);
    return sysconf(_SC_NPROCESSORS_ONLN); // more than fit into the set
}

/* Processors times the factor, rounded up, within the limits. */
static int64_t
scale(double factor, int64_t least, int64_t most)
{
    long processors = count_processors();
    double wanted = factor * (double)(processors > 0 ? processors : 1);
    int64_t threads = least;

    while (threads < most && (double)threads < wanted)
        threads++;
    return threads;
}

static lbx_status
count_threads(const struct executor *executor, const lbx_settings *section,
              lbx_fault *fault, int64_t *ret)
{
    const lbx_settings *fixed =
        executor->fixed ? lbx_settings_at(section, executor->fixed) : NULL;
    int64_t least, most;
    double factor;
    lbx_status status;

    if (fixed && strcmp(lbx_settings_text(fixed), "off") != 0) {
        status = lbx_settings_read_integer(fixed, NULL, fault, ret);
        if (status == LBX_OK && (*ret < 1 || *ret > MOST_THREADS))
            return lbx__blame(fault, LBX_INVALID, fixed,
                              "'off' or 1 to 1024 threads are allowed");
        return status;
    }
    status = lbx_settings_read_integer_or(section, executor->least, 1, fault,
                                          &least);
    if (status == LBX_OK)
        status = lbx_settings_read_integer_or(section, executor->most,
                                              MOST_THREADS, fault, &most);
    if (status == LBX_OK)
        status = lbx_settings_read_number_or(section, executor->factor, 1,
                                             fault, &factor);
    if (status != LBX_OK)
        return status;
    if (least > most)
        return lbx__blame(fault, LBX_INVALID, section, "%s is above %s",
                          executor->least, executor->most);
    *ret = scale(factor, least, most);
    return LBX_OK;
}

lbx_status
lbx__executor_read(const lbx_settings *merged, lbx_fault *fault,
                   lbx__dispatcher_options *ret_options)
{
    const char *name = lbx_settings_text(lbx_settings_at(merged, "executor"));
    const struct executor *executor = &executors[0];
    const lbx_settings *section;
    int64_t threads = 1;
    lbx_status status;

    if (strcmp(name, executors[1].section) == 0)
        executor = &executors[1];
    section = lbx_settings_at(merged, executor->section);
    status = lbx_settings_check(section, executor->rules, executor->rule_count,
                                fault);
    if (status == LBX_OK)
        status = count_threads(executor, section, fault, &threads);
    if (status == LBX_OK)
        ret_options->threads = (uint32_t)threads;
    return status;
}
