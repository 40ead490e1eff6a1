/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Presets: the options that mailboxes of Akka, cellex and Vela have.
 *
 * A preset is a value of lbx_mailbox_options and nothing more: every field can
 * be changed afterwards, and no code asks which preset the options came from.
 *
 * Threads    any: they only make values.
 */
#include "base/sized.h"
#include <letterbox/compat/akka.h>
#include <letterbox/compat/cellex.h>
#include <letterbox/compat/vela.h>

lbx_status
lbx_akka_mailbox_options_read(lbx_mailbox_options *ret)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;

    options.envelopes = true;
    options.system_reservation = LBX_UNLIMITED;
    options.overflow = LBX_OVERFLOW_BLOCK;
    options.wait_ns = 10 * LBX_SECOND;
    options.after_wait = LBX_OVERFLOW_DROP_NEWEST;
    return ret ? LBX__SIZED_WRITE(ret, &options, lbx_mailbox_options,
                                  pressure_messages)
               : LBX_INVALID;
}

lbx_status
lbx_cellex_mailbox_options_read(lbx_mailbox_options *ret)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;

    options.envelopes = true;
    options.higher_first = true;
    options.default_priority = LBX_CELLEX_PRIORITY_DEFAULT;
    options.return_dropped_newest = true;
    options.system_reservation = LBX_MAILBOX_DEFAULT_SYSTEM_RESERVATION;
    options.overflow = LBX_OVERFLOW_DROP_OLDEST;
    return ret ? LBX__SIZED_WRITE(ret, &options, lbx_mailbox_options,
                                  pressure_messages)
               : LBX_INVALID;
}

lbx_status
lbx_vela_mailbox_options_read(lbx_mailbox_options *ret)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;

    options.system_reservation = LBX_LIMIT_DISABLED;
    return ret ? LBX__SIZED_WRITE(ret, &options, lbx_mailbox_options,
                                  pressure_messages)
               : LBX_INVALID;
}
