/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles: the seeds' systems as option presets, nothing more. */
#include <letterbox/mailbox/messages.h>
#include <letterbox/mailbox/options.h>

lbx_mailbox_options
lbx_mailbox_options_profile(lbx_profile profile)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;

    switch (profile) {
    case LBX_PROFILE_VELA:
        options.system_reservation = LBX_DISABLED;
        break;
    case LBX_PROFILE_CELLEX:
        options.envelopes = true;
        options.higher_first = true;
        options.default_priority = LBX_PRIORITY_CELLEX;
        options.newest_to_sender = true;
        options.system_reservation = LBX_DEFAULT_SYSTEM_RESERVATION;
        options.overflow = LBX_DROP_OLDEST;
        break;
    case LBX_PROFILE_AKKA:
        options.envelopes = true;
        options.system_reservation = LBX_UNLIMITED;
        options.overflow = LBX_BLOCK;
        options.wait_ns = 10 * LBX_SECOND;
        options.after_wait = LBX_DROP_NEWEST;
        break;
    case LBX_PROFILE_PRODUCTION:
        options.capacity_messages = LBX_DEFAULT_CAPACITY;
        break;
    }
    return options;
}

int64_t
lbx_mailbox_options_limit(int64_t limit, int64_t if_default)
{
    if (limit == LBX_DEFAULT)
        limit = if_default;
    if (limit == LBX_DISABLED)
        return 0;
    return limit >= 1 && limit != LBX_UNLIMITED ? limit : -1;
}
