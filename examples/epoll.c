/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mailbox in an epoll loop.
 *
 * The loop's thread never waits in the mailbox: it polls a receive operation
 * whose waker is an eventfd, and sleeps in epoll_wait() with everything else
 * it watches, here a pipe. One eventfd serves any number of operations.
 */
#include <letterbox/letterbox.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

struct sender {
    lbx_producer *in;
    int pipe;
};

static void
must(lbx_status status)
{
    if (status != LBX_OK) {
        fprintf(stderr, "epoll: %s\n", lbx_status_text(status));
        exit(1);
    }
}

static void
check(bool ok, const char *what)
{
    if (!ok) {
        perror(what);
        exit(1);
    }
}

/* Another thread: writes to the pipe and to the mailbox, then hangs up. */
static void *
send_some(void *context)
{
    struct sender *sender = context;

    for (int i = 0; i < 3; i++) {
        check(write(sender->pipe, "x", 1) == 1, "write");
        must(lbx_producer_send(sender->in, "tick"));
        must(lbx_producer_send(sender->in, "tock"));
    }
    close(sender->pipe);
    lbx_producer_unref(sender->in);
    return NULL;
}

static void
watch(int epoll, int fd)
{
    struct epoll_event interest = {.events = EPOLLIN, .data.fd = fd};

    check(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &interest) == 0, "epoll_ctl");
}

/* Takes what is there. False when the mailbox is closed and empty. */
static bool
read_mailbox(lbx_operation *receive, void **message, lbx_event *event)
{
    for (;;) {
        lbx_status status = lbx_operation_poll(receive, &event->waker);

        if (status == LBX_PENDING)
            return true; // the event will tell
        if (status == LBX_CLOSED)
            return false;
        must(status);
        printf("mailbox: %s\n", (const char *)*message);
        must(lbx_operation_restart(receive, LBX_FOREVER));
    }
}

static int
run_loop(lbx_consumer *out, int pipe)
{
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    bool mailbox_open, pipe_open = true;
    lbx_operation receive;
    lbx_event event;
    void *message;
    int bytes = 0;

    check(epoll >= 0, "epoll_create1");
    must(lbx_event_open(&event));
    watch(epoll, event.fd);
    watch(epoll, pipe);

    // The first poll registers us; from then on the eventfd speaks.
    must(lbx_consumer_receive_init(&receive, out, &message, LBX_FOREVER));
    mailbox_open = read_mailbox(&receive, &message, &event);
    while (mailbox_open || pipe_open) {
        struct epoll_event ready;
        char byte;

        check(epoll_wait(epoll, &ready, 1, -1) == 1, "epoll_wait");
        if (ready.data.fd == event.fd) {
            lbx_event_clear(&event);
            mailbox_open = read_mailbox(&receive, &message, &event);
        } else if (read(pipe, &byte, 1) == 1) {
            bytes++;
        } else {
            check(epoll_ctl(epoll, EPOLL_CTL_DEL, pipe, NULL) == 0, "pipe");
            pipe_open = false;
        }
    }
    lbx_operation_fini(&receive);
    lbx_event_close(&event);
    close(epoll);
    return bytes;
}

int
main(void)
{
    struct sender sender;
    lbx_consumer *out;
    pthread_t thread;
    int ends[2], bytes;

    check(pipe(ends) == 0, "pipe");
    must(lbx_mailbox_create(NULL, NULL, &sender.in, &out));
    sender.pipe = ends[1];
    check(pthread_create(&thread, NULL, send_some, &sender) == 0, "thread");

    bytes = run_loop(out, ends[0]);
    pthread_join(thread, NULL);
    printf("pipe: %d bytes\n", bytes);
    close(ends[0]);
    lbx_consumer_unref(out);
    return 0;
}
