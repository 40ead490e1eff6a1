/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coming from cellex: the options and the numbers of its mailboxes.
 *
 *     lbx_mailbox_options options = lbx_cellex_mailbox_options();
 *
 *     lbx_mailbox_create(LBX_KIND_UNBOUNDED_PRIORITY, &options, &in, &out);
 *     urgent = lbx_envelope_of(message, LBX_CELLEX_PRIORITY_LEVELS - 1);
 *
 * docs/coming-from-cellex.md has the table of names.
 *
 * Threads    any.
 *
 * Caveats
 * - The single-consumer kind cannot drop its oldest message: set another
 *   `overflow` there.
 */
#ifndef LETTERBOX_COMPAT_CELLEX_H
#define LETTERBOX_COMPAT_CELLEX_H

#include <letterbox/mailbox/options.h>

LBX_BEGIN

/* Eight levels, 0 to 7, the default in the middle; greater is more urgent. */
#define LBX_CELLEX_PRIORITY_LEVELS  8
#define LBX_CELLEX_PRIORITY_DEFAULT 4

/*
 * lbx_cellex_mailbox_options_read() writes into `ret`, whose `size_bytes` is
 * set, LBX_MAILBOX_OPTIONS_INIT with whole envelopes, greater priorities first,
 * LBX_CELLEX_PRIORITY_DEFAULT for messages that state none, four system slots,
 * LBX_OVERFLOW_DROP_OLDEST, and `return_dropped_newest`.
 *
 * Returns    LBX_OK; LBX_INVALID for a size that is none.
 * Ownership  a copy.
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_status lbx_cellex_mailbox_options_read(lbx_mailbox_options *ret);

/* lbx_cellex_mailbox_options() returns them, made in the program itself. */
LBX_INLINE lbx_mailbox_options
lbx_cellex_mailbox_options(void)
{
    lbx_mailbox_options options;

    options.size_bytes = sizeof(options);
    (void)lbx_cellex_mailbox_options_read(&options);
    return options;
}

LBX_END

#endif
