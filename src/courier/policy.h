/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy about failed letters: when a letter is delivered again, and when
 * it is put aside. Pure functions.
 */
#ifndef LBX_COURIER_POLICY_H
#define LBX_COURIER_POLICY_H

#include <letterbox/courier.h>

/* How long a letter that was delivered `delivery_count` times is held back. */
int64_t lbx__policy_retry_delay(const lbx_courier_options *options,
                                uint32_t delivery_count);

/* How long a worker pauses after a receive failed, when it paused `last_ns`
 * before; 0: the receive before this one succeeded. */
int64_t lbx__policy_pause(int64_t last_ns);

/* Sets failure->verdict by the rules of the policy, then returns the verdict of
 * `decide`, or failure->verdict when there is no such function. */
lbx_verdict lbx__policy_verdict(const lbx_dead_letter_policy *policy,
                                lbx_job_failure *failure);

#endif
