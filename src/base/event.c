/* SPDX-License-Identifier: Apache-2.0 */
/* An eventfd as a waker. */
#include <letterbox/operation.h>

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void
event_wake(void *context)
{
    const lbx_event *event = context;
    uint64_t one = 1;

    // A full counter is readable already; nothing else can go wrong with a
    // descriptor that is ours.
    while (write(event->fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

lbx_status
lbx_event_open(lbx_event *ret)
{
    int fd;

    if (!ret)
        return LBX_INVALID;
    fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0)
        return errno == ENOSYS ? LBX_UNSUPPORTED : LBX_NO_MEMORY;
    ret->fd = fd;
    ret->waker.wake = event_wake;
    ret->waker.context = ret;
    return LBX_OK;
}

void
lbx_event_clear(lbx_event *event)
{
    uint64_t count;

    if (!event || event->fd < 0)
        return;
    while (read(event->fd, &count, sizeof(count)) < 0 && errno == EINTR)
        ;
}

void
lbx_event_close(lbx_event *event)
{
    if (!event || event->fd < 0)
        return;
    (void)close(event->fd);
    event->fd = -1;
}
