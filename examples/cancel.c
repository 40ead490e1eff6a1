/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cancelling a send that waits.
 *
 * A send to a full mailbox under LBX_OVERFLOW_BLOCK is an operation: a struct
 * of ours that waits without a thread. We may give it up at any time, and the
 * answer tells whose the message is now:
 *
 *   LBX_CANCELLED  it was not sent, and is ours again;
 *   LBX_OK         we came too late: someone had made room and moved it in.
 *
 * Nothing in between, and no callback comes after the cancel.
 */
#include <letterbox/letterbox.h>
#include <stdio.h>
#include <stdlib.h>

static void
must(lbx_status status)
{
    if (status != LBX_OK) {
        fprintf(stderr, "cancel: %s\n", lbx_status_text(status));
        exit(1);
    }
}

static void
woken(void *context)
{
    printf("  the waker of %s is called\n", (const char *)context);
}

/* Starts a send and polls it once, with a waker that prints. */
static void
start_send(lbx_operation *send, lbx_producer *in, char *message)
{
    const lbx_waker waker = {woken, message};

    must(lbx_producer_send_init(send, in, message, LBX_FOREVER));
    printf("send %s: %s\n", message,
           lbx_status_text(lbx_operation_poll(send, &waker)));
}

static void
cancel(lbx_operation *send, const char *message)
{
    printf("cancel %s: %s\n", message,
           lbx_status_text(lbx_operation_cancel(send)));
    lbx_operation_fini(send);
}

static void
receive(lbx_consumer *out)
{
    void *message;

    printf("receive\n");
    must(lbx_consumer_try_receive(out, &message));
    printf("  got %s\n", (const char *)message);
}

int
main(void)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    lbx_operation second, third;
    lbx_producer *in;
    lbx_consumer *out;

    options.capacity_messages = 1;
    options.overflow = LBX_OVERFLOW_BLOCK;
    must(lbx_mailbox_create(LBX_KIND_BOUNDED, &options, &in, &out));
    must(lbx_producer_send(in, "first")); // now it is full

    start_send(&second, in, "second");
    start_send(&third, in, "third");
    cancel(&second, "second"); // in time: "second" is ours again
    receive(out);              // makes room, which goes to "third"
    cancel(&third, "third");   // too late: "third" is in the mailbox
    receive(out);

    printf("left inside: %d\n",
           (int)lbx_mailbox_depth(lbx_consumer_mailbox(out)));
    lbx_producer_unref(in);
    lbx_consumer_unref(out);
    return 0;
}
