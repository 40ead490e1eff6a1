/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executors: how many threads a dispatcher gets. Either a fixed number, or a
 * number for each processor between a lower and an upper limit.
 */
#include "actor/select/dispatcher_plan.h"

#include "actor/select/foreign_key.h"
#include "actor/select/section.h"
#include <sched.h>
#include <string.h>
#include <unistd.h>

enum {
    EXECUTOR_MAX_THREADS = 1024
};

#define COUNT(name)                                                            \
    {                                                                          \
        .key = (name), .type = LBX_SETTINGS_TYPE_INTEGER, .min = 1,            \
        .max = EXECUTOR_MAX_THREADS                                            \
    }
#define FACTOR(name)                                                           \
    {                                                                          \
        .key = (name), .type = LBX_SETTINGS_TYPE_NUMBER                        \
    }

static const lbx_settings_rule fork_join_rules[] = {
    COUNT("parallelism-min"),
    FACTOR("parallelism-factor"),
    COUNT("parallelism-max"),
};

static const lbx_settings_rule thread_pool_rules[] = {
    {.key = "fixed-pool-size"}, // a number, or off: read below
    COUNT("core-pool-size-min"),
    FACTOR("core-pool-size-factor"),
    COUNT("core-pool-size-max"),
};

/* The keys of an executor. */
struct executor {
    const char *section;
    lbx__foreign_key_place foreign;
    const lbx_settings_rule *rules;
    size_t rule_count;
    const char *fixed; /* NULL: it has none */
    const char *min;
    const char *factor;
    const char *max;
};

static const struct executor executor_table[] = {
    {"fork-join-executor", LBX__FOREIGN_FORK_JOIN, fork_join_rules,
     sizeof(fork_join_rules) / sizeof(fork_join_rules[0]), NULL,
     "parallelism-min", "parallelism-factor", "parallelism-max"},
    {"thread-pool-executor", LBX__FOREIGN_THREAD_POOL, thread_pool_rules,
     sizeof(thread_pool_rules) / sizeof(thread_pool_rules[0]),
     "fixed-pool-size", "core-pool-size-min", "core-pool-size-factor",
     "core-pool-size-max"},
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
executor_scale(double factor, int64_t min, int64_t max)
{
    long processors = count_processors();
    double wanted = factor * (double)(processors > 0 ? processors : 1);
    int64_t threads = min;

    while (threads < max && (double)threads < wanted)
        threads++;
    return threads;
}

static lbx_status
executor_count_threads(const struct executor *executor,
                       const lbx_settings *section, lbx_fault *fault,
                       int64_t *ret)
{
    const lbx_settings *fixed =
        executor->fixed ? lbx_settings_at(section, executor->fixed) : NULL;
    int64_t min, max;
    double factor;
    lbx_status status;

    if (fixed && strcmp(lbx_settings_text(fixed), "off") != 0) {
        status = lbx_settings_read_integer(fixed, NULL, ret, fault);
        if (status == LBX_OK && (*ret < 1 || *ret > EXECUTOR_MAX_THREADS))
            return lbx__section_fault(fault, LBX_INVALID, fixed,
                                      "'off' or 1 to 1024 threads are allowed");
        return status;
    }
    status =
        lbx_settings_read_integer_or(section, executor->min, 1, &min, fault);
    if (status == LBX_OK)
        status = lbx_settings_read_integer_or(
            section, executor->max, EXECUTOR_MAX_THREADS, &max, fault);
    if (status == LBX_OK)
        status = lbx_settings_read_number_or(section, executor->factor, 1,
                                             &factor, fault);
    if (status != LBX_OK)
        return status;
    if (min > max)
        return lbx__section_fault(fault, LBX_INVALID, section, "%s is above %s",
                                  executor->min, executor->max);
    *ret = executor_scale(factor, min, max);
    return LBX_OK;
}

lbx_status
lbx__executor_threads(const lbx_settings *merged, lbx_fault *fault,
                      uint32_t *ret)
{
    const char *name = lbx_settings_text(lbx_settings_at(merged, "executor"));
    const struct executor *executor = &executor_table[0];
    const lbx_settings *section;
    int64_t threads = 1;
    lbx_status status;

    if (strcmp(name, executor_table[1].section) == 0)
        executor = &executor_table[1];
    section = lbx_settings_at(merged, executor->section);
    status = lbx__foreign_key_check(executor->foreign, section, executor->rules,
                                    executor->rule_count, fault);
    if (status == LBX_OK)
        status = executor_count_threads(executor, section, fault, &threads);
    if (status == LBX_OK)
        *ret = (uint32_t)threads;
    return status;
}
