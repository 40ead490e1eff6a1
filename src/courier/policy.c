/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done about a failed letter: how long it waits before the next
 * delivery, and when it is put aside. Pure functions of the options and the
 * failure.
 */
#include "courier/policy.h"

#include "base/time.h"

#include <string.h>

int64_t
lbx__policy_retry_delay(const lbx_courier_options *options,
                        uint32_t delivery_count)
{
    const int64_t delay_ns = lbx__time_scale(delivery_count, options->retry_ns);

    return delay_ns < options->max_retry_ns ? delay_ns : options->max_retry_ns;
}

#define POLICY_MIN_PAUSE_NS (10 * LBX_MS)
#define POLICY_MAX_PAUSE_NS (10 * LBX_SECOND)

int64_t
lbx__policy_pause(int64_t last_ns)
{
    if (last_ns == 0)
        return POLICY_MIN_PAUSE_NS;
    return last_ns < POLICY_MAX_PAUSE_NS / 2 ? 2 * last_ns
                                             : POLICY_MAX_PAUSE_NS;
}

static bool
policy_names_type(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static lbx_verdict
policy_apply_rules(const lbx_dead_letter_policy *policy,
                   const lbx_job_failure *failure)
{
    if (policy_names_type(policy->exclude, policy->exclude_count,
                          failure->error_type))
        return LBX_VERDICT_RETRY;
    if (policy_names_type(policy->include, policy->include_count,
                          failure->error_type))
        return LBX_VERDICT_DEAD_LETTER;
    return failure->delivery_count >= policy->deliveries
               ? LBX_VERDICT_DEAD_LETTER
               : LBX_VERDICT_RETRY;
}

lbx_verdict
lbx__policy_verdict(const lbx_dead_letter_policy *policy,
                    lbx_job_failure *failure)
{
    failure->verdict = LBX_VERDICT_RETRY;
    if (!policy->postbox)
        return LBX_VERDICT_RETRY;
    failure->verdict = policy_apply_rules(policy, failure);
    return policy->decide ? policy->decide(policy->context, failure)
                          : failure->verdict;
}
