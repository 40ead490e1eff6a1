/* SPDX-License-Identifier: Apache-2.0 */
/* The eventfd as a waker. */
#include "gate.h"
#include "support/test.h"
#include "support/threads.h"

#include <fcntl.h>
#include <poll.h>

static bool
is_readable(const lbx_event *event, int timeout_ms)
{
    struct pollfd watch = {.fd = event->fd, .events = POLLIN};

    return poll(&watch, 1, timeout_ms) == 1;
}

TEST(event_is_readable_after_a_wake_up)
{
    lbx_event event;

    CHECK_OK(lbx_event_open(&event));
    CHECK(!is_readable(&event, 0));
    event.waker.wake(event.waker.context);
    event.waker.wake(event.waker.context);
    CHECK(is_readable(&event, 0));
    lbx_event_clear(&event);
    CHECK(!is_readable(&event, 0));
    lbx_event_clear(&event); // again: nothing, and it does not wait
    lbx_event_close(&event);
}

TEST(event_is_not_inherited_and_does_not_block)
{
    lbx_event event;

    CHECK_OK(lbx_event_open(&event));
    CHECK(fcntl(event.fd, F_GETFD) & FD_CLOEXEC);
    CHECK(fcntl(event.fd, F_GETFL) & O_NONBLOCK);
    lbx_event_close(&event);
}

TEST(event_functions_take_nothing)
{
    lbx_event event;

    CHECK_STATUS(LBX_INVALID, lbx_event_open(NULL));
    lbx_event_clear(NULL);
    lbx_event_close(NULL);
    CHECK_OK(lbx_event_open(&event));
    lbx_event_close(&event);
    lbx_event_close(&event);
    lbx_event_clear(&event);
}

static void
open_gate(void *context)
{
    gate_open(context, 1);
}

/* One event serves several operations in a loop of poll(2). */
TEST(event_wakes_a_loop)
{
    lbx_operation passes[2];
    struct gate gates[2];
    struct thread threads[2];
    lbx_event event;
    int done = 0;

    CHECK_OK(lbx_event_open(&event));
    for (int i = 0; i < 2; i++) {
        gate_init(&gates[i], NULL);
        gate_pass_init(&passes[i], &gates[i], LBX_FOREVER);
        CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&passes[i], &event.waker));
        thread_start(&threads[i], open_gate, &gates[i]);
    }
    while (done < 2) {
        CHECK(is_readable(&event, -1));
        lbx_event_clear(&event);
        done = 0;
        for (int i = 0; i < 2; i++)
            done += lbx_operation_poll(&passes[i], &event.waker) == LBX_OK;
    }
    for (int i = 0; i < 2; i++) {
        thread_join(&threads[i]);
        lbx_operation_fini(&passes[i]);
    }
    lbx_event_close(&event);
}
