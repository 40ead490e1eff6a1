/* SPDX-License-Identifier: Apache-2.0 */
#include "net/listener.h"

#include "base/list.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum {
    LISTENER_BATCH = 64 /* connections before other events have their turn */
};

#define LISTENER_PAUSE_NS (100 * LBX_MS)

static int
listener_open_spare(void)
{
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void
lbx__listener_init(lbx__listener *listener, int fd,
                   const lbx__listener_events *events)
{
    *listener = (lbx__listener){.events = events, .fd = fd, .spare = -1};
    if (fd >= 0)
        listener->spare = listener_open_spare();
}

void
lbx__listener_fini(lbx__listener *listener)
{
    if (listener->fd >= 0)
        (void)close(listener->fd);
    if (listener->spare >= 0)
        (void)close(listener->spare);
    listener->fd = -1;
    listener->spare = -1;
}

static void listener_on_poll(uv_poll_t *poll, int status, int events);

static void
listener_on_pause_over(lbx__timer *timer)
{
    lbx__listener *listener = lbx__member(timer, lbx__listener, pause);

    (void)uv_poll_start(&listener->poll, UV_READABLE, listener_on_poll);
}

static void
listener_pause(lbx__listener *listener)
{
    (void)uv_poll_stop(&listener->poll);
    lbx__timer_start(&listener->pause, LISTENER_PAUSE_NS,
                     listener_on_pause_over);
}

/* Closes one connection that waits (LSTN-1). False: it cannot. */
static bool
listener_turn_away(lbx__listener *listener)
{
    int fd;

    if (listener->spare < 0) // another thread was quicker, last time
        listener->spare = listener_open_spare();
    if (listener->spare < 0)
        return false;
    (void)close(listener->spare);
    fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0)
        (void)close(fd);
    listener->spare = listener_open_spare();
    if (fd < 0)
        return false;
    listener->events->accepted(listener, -1, NULL, 0);
    return true;
}

/* Accepts one. False: there are no more for now. */
static bool
listener_accept(lbx__listener *listener)
{
    struct sockaddr_storage peer;
    socklen_t length = sizeof(peer);
    int fd = accept4(listener->fd, (struct sockaddr *)&peer, &length,
                     SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd >= 0) {
        listener->events->accepted(listener, fd, &peer, length);
        return !listener->is_closing;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK)
        return false;
    if (errno == EMFILE || errno == ENFILE) {
        if (listener_turn_away(listener))
            return !listener->is_closing;
        listener_pause(listener);
        return false;
    }
    if (errno == ENOBUFS || errno == ENOMEM) {
        listener_pause(listener);
        return false;
    }
    return true; // that connection has failed already: the next one
}

static void
listener_on_poll(uv_poll_t *poll, int status, int events)
{
    lbx__listener *listener = lbx__member(poll, lbx__listener, poll);
    int i;

    (void)events;
    if (status < 0) {
        listener_pause(listener);
        return;
    }
    for (i = 0; i < LISTENER_BATCH && listener_accept(listener); i++)
        continue;
}

bool
lbx__listener_start(lbx__listener *listener, lbx__loop *loop)
{
    if (listener->fd < 0 || listener->is_closing)
        return false;
    if (uv_poll_init(lbx__loop_uv(loop), &listener->poll, listener->fd) != 0)
        return false;
    lbx__timer_init(&listener->pause, loop);
    listener->handles = 2;
    return uv_poll_start(&listener->poll, UV_READABLE, listener_on_poll) == 0;
}

static void
listener_on_handle_closed(lbx__listener *listener)
{
    if (--listener->handles == 0)
        listener->events->closed(listener);
}

static void
listener_on_poll_closed(uv_handle_t *handle)
{
    listener_on_handle_closed(lbx__member(handle, lbx__listener, poll));
}

static void
listener_on_pause_closed(lbx__timer *timer)
{
    listener_on_handle_closed(lbx__member(timer, lbx__listener, pause));
}

void
lbx__listener_close(lbx__listener *listener)
{
    if (listener->is_closing)
        return;
    listener->is_closing = true;
    if (listener->handles > 0) {
        lbx__timer_close(&listener->pause, listener_on_pause_closed);
        uv_close((uv_handle_t *)&listener->poll, listener_on_poll_closed);
    }
    lbx__listener_fini(listener);
    if (listener->handles == 0)
        listener->events->closed(listener);
}
