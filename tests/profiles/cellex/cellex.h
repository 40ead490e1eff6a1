/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The suites of cellex, cellactor and fraktor (see docs/origins.md), in
 * C: everything that needs no actor, scheduler or dispatcher.
 *
 * Their names: a queue error that carries its message is a status other than
 * LBX_OK, after which the message is still the sender's; "disconnected" and
 * "closed" are LBX_CLOSED; "empty" is LBX_EMPTY; "would-block" and
 * "backpressure" are LBX_WOULD_BLOCK; "alloc-error" and "resource exhausted"
 * are LBX_NO_MEMORY; "offer-error" and "internal" are LBX_REFUSED. The policy
 * of queue-full{policy} is the `overflow` of the send's result. An offer or
 * poll future is an operation. Priorities are higher-first in this profile.
 */
#ifndef LBX_TEST_PROFILES_CELLEX_H
#define LBX_TEST_PROFILES_CELLEX_H

#include "profiles/common.h"
#include <letterbox/compat/cellex.h>

/* An unlimited mailbox with the cellex profile. */
static inline struct box
cellex_unbounded(void)
{
    lbx_mailbox_options options = lbx_cellex_mailbox_options();

    return box_create(LBX_KIND_UNBOUNDED, &options);
}

/* A limited mailbox with the cellex profile and a policy. */
static inline struct box
cellex_bounded(int64_t capacity_messages, lbx_overflow overflow)
{
    lbx_mailbox_options options = lbx_cellex_mailbox_options();

    options.capacity_messages = capacity_messages;
    options.overflow = overflow;
    return box_create(LBX_KIND_BOUNDED, &options);
}

static inline lbx_envelope
regular(intptr_t number)
{
    return lbx_envelope_of(message_of(number), LBX_CELLEX_PRIORITY_DEFAULT);
}

static inline lbx_envelope
control(intptr_t number, int32_t priority)
{
    return lbx_envelope_control(message_of(number), priority);
}

static inline lbx_envelope
system_of(lbx_system_code code, intptr_t number)
{
    return lbx_envelope_from_system(lbx_system_message_of(code),
                                    message_of(number));
}

#endif
