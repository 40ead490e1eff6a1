/* SPDX-License-Identifier: Apache-2.0 */
/* What is done about a failure: when it comes back, or that it does not. */
#ifndef LBX_COURIER_POLICY_H
#define LBX_COURIER_POLICY_H

#include <letterbox/courier.h>

/* After how long a letter that was delivered so often may be tried again. */
int64_t lbx__policy_retry_delay(const lbx_courier_options *options,
                                uint32_t delivery_count);

/* What the rules of a policy say of a failure, and then what `decide` says; sets
 * failure->verdict to the former. */
lbx_verdict lbx__policy_verdict(const lbx_dead_letter_policy *policy,
                                lbx_job_failure *failure);

#endif
