/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coming from Akka or Pekko: the options that their mailboxes have.
 *
 *     lbx_mailbox_options options = lbx_akka_mailbox_options();
 *
 *     options.capacity_messages = 1000;
 *     lbx_mailbox_create(LBX_KIND_BOUNDED, &options, &in, &out);
 *
 * Actors that get their mailbox from the settings have these already: the class
 * names and keys of Akka's and Pekko's configuration are understood as they are
 * (docs/settings.md). docs/coming-from-akka.md has the table of names.
 *
 * Threads    any.
 *
 * Caveats
 * - A send to a full mailbox waits for ten seconds, and then the message is
 *   lost: Akka's default. Set `overflow` to LBX_OVERFLOW_REJECT to get the
 *   message back at once.
 */
#ifndef LETTERBOX_COMPAT_AKKA_H
#define LETTERBOX_COMPAT_AKKA_H

#include <letterbox/mailbox/options.h>

LBX_BEGIN

/*
 * lbx_akka_mailbox_options_read() writes into `ret`, whose
 * `size_bytes` is set, LBX_MAILBOX_OPTIONS_INIT with whole envelopes,
 * an unlimited system lane, and LBX_OVERFLOW_BLOCK for 10 s, after which the
 * message is dropped (LBX_OVERFLOW_DROP_NEWEST).
 *
 * Returns    LBX_OK; LBX_INVALID for a size that is none.
 * Ownership  a copy.
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_status lbx_akka_mailbox_options_read(lbx_mailbox_options *ret);

/* lbx_akka_mailbox_options() returns them, made in the program itself. */
LBX_INLINE lbx_mailbox_options
lbx_akka_mailbox_options(void)
{
    lbx_mailbox_options options;

    options.size_bytes = sizeof(options);
    (void)lbx_akka_mailbox_options_read(&options);
    return options;
}

LBX_END

#endif
