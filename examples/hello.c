/* SPDX-License-Identifier: Apache-2.0 */
/* The ten lines of the README: one mailbox, one message. */
#include <letterbox/letterbox.h>
#include <stdio.h>

int
main(void)
{
    lbx_producer *in;
    lbx_consumer *out;
    void *message;

    if (lbx_mailbox_create("unbounded", NULL, &in, &out) != LBX_OK)
        return 1;
    if (lbx_producer_send(in, "hello") != LBX_OK)
        return 1;
    if (lbx_consumer_receive(out, &message) == LBX_OK)
        puts(message);
    lbx_producer_unref(in);
    lbx_consumer_unref(out);
    return 0;
}
