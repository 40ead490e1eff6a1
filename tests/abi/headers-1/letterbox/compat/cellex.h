/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_COMPAT_CELLEX_H
#define LETTERBOX_COMPAT_CELLEX_H
#include <letterbox/mailbox/options.h>
LBX_BEGIN
#define LBX_CELLEX_PRIORITY_LEVELS  8
#define LBX_CELLEX_PRIORITY_DEFAULT 4
LBX_API lbx_status lbx_cellex_mailbox_options_read(lbx_mailbox_options *ret);
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
