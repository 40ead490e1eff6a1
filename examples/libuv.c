/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mailbox in a libuv loop.
 *
 * The eventfd of an lbx_event is watched by a uv_poll_t like any descriptor.
 * The loop ends by itself when the mailbox is closed and its handle with it.
 */
#include <letterbox/letterbox.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

/* A mailbox as something a loop can watch. */
struct watched {
    uv_poll_t handle;
    lbx_event event;
    lbx_operation receive;
    lbx_consumer *out;
    void *message;
};

static void
must(lbx_status status)
{
    if (status != LBX_OK) {
        fprintf(stderr, "libuv: %s\n", lbx_status_text(status));
        exit(1);
    }
}

static void
must_uv(int result)
{
    if (result != 0) {
        fprintf(stderr, "libuv: %s\n", uv_strerror(result));
        exit(1);
    }
}

static void
closed(uv_handle_t *handle)
{
    struct watched *watched = handle->data;

    lbx_operation_fini(&watched->receive);
    lbx_event_close(&watched->event);
    printf("the mailbox is closed\n");
}

/* Takes what is there; stops watching when no more can come. */
static void
take(struct watched *watched)
{
    for (;;) {
        lbx_status status =
            lbx_operation_poll(&watched->receive, &watched->event.waker);

        if (status == LBX_PENDING)
            return; // the event will tell
        if (status == LBX_CLOSED) {
            uv_close((uv_handle_t *)&watched->handle, closed);
            return;
        }
        must(status);
        printf("got %s\n", (const char *)watched->message);
        must(lbx_operation_restart(&watched->receive, LBX_FOREVER));
    }
}

static void
readable(uv_poll_t *handle, int status, int events)
{
    struct watched *watched = handle->data;

    (void)events;
    must_uv(status);
    lbx_event_clear(&watched->event);
    take(watched);
}

static void *
send_some(void *context)
{
    lbx_producer *in = context;

    must(lbx_producer_send(in, "one"));
    must(lbx_producer_send(in, "two"));
    must(lbx_producer_send(in, "three"));
    lbx_producer_unref(in);
    return NULL;
}

int
main(void)
{
    struct watched watched;
    lbx_producer *in;
    pthread_t thread;

    must(lbx_mailbox_create(NULL, NULL, &in, &watched.out));
    must(lbx_event_open(&watched.event));
    must(lbx_consumer_receive_init(&watched.receive, watched.out,
                                   &watched.message, LBX_FOREVER));
    must_uv(uv_poll_init(uv_default_loop(), &watched.handle, watched.event.fd));
    watched.handle.data = &watched;
    must_uv(uv_poll_start(&watched.handle, UV_READABLE, readable));
    if (pthread_create(&thread, NULL, send_some, in) != 0)
        return 1;

    take(&watched); // the first poll registers us
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    pthread_join(thread, NULL);
    must_uv(uv_loop_close(uv_default_loop()));
    lbx_consumer_unref(watched.out);
    return 0;
}
