/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_COMPAT_AKKA_H
#define LETTERBOX_COMPAT_AKKA_H
#include <letterbox/mailbox/options.h>
LBX_BEGIN
LBX_API lbx_status lbx_akka_mailbox_options_read(lbx_mailbox_options *ret);
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
