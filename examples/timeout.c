/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting, but not for ever.
 *
 * Deadlines are points in time, lbx_deadline_after() makes one from a
 * duration. A send that times out was not sent: its message is still ours. A
 * receive that times out has taken nothing.
 */
#include <letterbox/letterbox.h>
#include <stdio.h>
#include <stdlib.h>

static void
must(lbx_status status)
{
    if (status != LBX_OK) {
        fprintf(stderr, "timeout: %s\n", lbx_status_text(status));
        exit(1);
    }
}

int
main(void)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    char *const mine = "second";
    lbx_status status;
    lbx_producer *in;
    lbx_consumer *out;
    void *message;
    int64_t started;

    options.capacity_messages = 1;
    options.overflow = LBX_OVERFLOW_BLOCK;
    must(lbx_mailbox_create(LBX_KIND_BOUNDED, &options, &in, &out));
    must(lbx_producer_send(in, "first")); // now it is full

    // A send that waits 20 milliseconds for room, in this thread.
    started = lbx_clock_now(NULL);
    status = lbx_producer_send_until(in, mine,
                                     lbx_deadline_after(NULL, 20 * LBX_MS));
    printf("send: %s\n", lbx_status_text(status));
    if (lbx_clock_now(NULL) - started >= 20 * LBX_MS)
        printf("it waited as long as it was told to\n");

    // A deadline in the past is one try and no wait.
    status = lbx_producer_send_until(in, mine, 0);
    printf("send with no time left: %s\n", lbx_status_text(status));

    // The message is still ours. There is room soon, so we send it again.
    must(lbx_consumer_receive(out, &message));
    must(lbx_producer_send(in, mine));
    must(lbx_consumer_receive(out, &message));
    printf("received after all: %s\n", (const char *)message);

    // The other direction: nothing comes, and we stop waiting.
    status = lbx_consumer_receive_until(out, &message,
                                        lbx_deadline_after(NULL, 20 * LBX_MS));
    printf("receive: %s\n", lbx_status_text(status));

    lbx_producer_unref(in);
    lbx_consumer_unref(out);
    return 0;
}
