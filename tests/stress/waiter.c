/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See waiter.h.
 */
#include "stress/waiter.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <string.h>

#include "support/test.h"

const struct box_case waiter_kinds[WAITER_KINDS] = {
    BOX_UNLIMITED("unbounded", UNBOUNDED, BOX_PLAIN),
    BOX_SINGLE_CONSUMER,
    BOX_REJECTING("bounded", BOUNDED, 1),
    BOX_BLOCKING("bounded", BOUNDED, 1, BOX_PLAIN),
    BOX_UNLIMITED("priority", UNBOUNDED_PRIORITY, BOX_PRIORITIES),
    BOX_BLOCKING("bounded priority", BOUNDED_PRIORITY, 1, BOX_PRIORITIES),
    BOX_UNLIMITED("control-aware", UNBOUNDED_CONTROL_AWARE, BOX_LANES),
    BOX_BLOCKING("bounded control-aware", BOUNDED_CONTROL_AWARE, 1, BOX_LANES),
    BOX_UNLIMITED("deque", UNBOUNDED_DEQUE, BOX_PLAIN),
};

void
waiter_raise_flag(void *context)
{
    struct waiter *waiter = context;

    atomic_fetch_add(&waiter->flags, 1);
}

void
waiter_init(struct waiter *waiter, enum waiter_front front)
{
    memset(waiter, 0, sizeof(*waiter));
    waiter->front = front;
    if (front == FRONT_EVENT)
        CHECK_OK(lbx_event_open(&waiter->event));
}

// A waker is called at most once for each poll that returned PENDING: a thread
// that passes an operation on after PENDING relies on it.
static void
check_wakes(const struct waiter *waiter)
{
    uint64_t wakes = atomic_load(&waiter->flags);

    if (wakes > waiter->pending)
        FAIL("wakers were called %" PRIu64 " times for %" PRIu64
             " polls that returned LBX_PENDING",
             wakes, waiter->pending);
}

void
waiter_fini(struct waiter *waiter)
{
    if (waiter->front == FRONT_PARK) {
        uint64_t parks = storm_thread_parks();

        storm_add(STORM_PARKS, parks < waiter->calls ? parks : waiter->calls);
        return;
    }
    if (waiter->front == FRONT_EVENT)
        lbx_event_close(&waiter->event);
    else
        check_wakes(waiter);
    storm_add(STORM_WAKES, waiter->woken);
}

static void
wait_for_waker(struct waiter *waiter, uint64_t flags)
{
    if (waiter->front == FRONT_EVENT) {
        struct pollfd ready = {.fd = waiter->event.fd, .events = POLLIN};

        while (poll(&ready, 1, -1) < 0)
            CHECK(errno == EINTR);
        lbx_event_clear(&waiter->event);
        return;
    }
    for (unsigned spins = 0; atomic_load(&waiter->flags) == flags; spins++) {
        if (spins % 128 == 127)
            sched_yield();
        else
            storm_spin(1);
    }
}

lbx_status
waiter_poll(struct waiter *waiter, struct box_wait *wait)
{
    const struct box_ops *ops = wait->box->ops;
    lbx_waker flag = {waiter_raise_flag, waiter};
    const lbx_waker *waker =
        waiter->front == FRONT_EVENT ? &waiter->event.waker : &flag;
    lbx_status status;

    for (;;) {
        uint64_t flags = atomic_load(&waiter->flags);

        status = ops->poll(wait, waker);
        if (status != LBX_PENDING)
            break;
        waiter->pending++;
        wait_for_waker(waiter, flags);
        waiter->woken++;
    }
    ops->end(wait);
    return status;
}

lbx_status
waiter_send(struct waiter *waiter, struct box *box, uint64_t number)
{
    struct box_wait wait;

    waiter->calls++;
    if (waiter->front == FRONT_PARK)
        return box->ops->send_until(box, storm_message(number), LBX_FOREVER);
    memset(&wait, 0, sizeof(wait));
    box->ops->send_start(box, &wait, storm_message(number), LBX_FOREVER);
    return waiter_poll(waiter, &wait);
}

lbx_status
waiter_receive(struct waiter *waiter, struct box *box, uint64_t *ret)
{
    struct box_wait wait;
    void *message = NULL;
    lbx_status status;

    waiter->calls++;
    if (waiter->front == FRONT_PARK) {
        status = box->ops->receive_until(box, &message, LBX_FOREVER);
    } else {
        memset(&wait, 0, sizeof(wait));
        box->ops->receive_start(box, &wait, LBX_FOREVER);
        status = waiter_poll(waiter, &wait);
        message = wait.message;
    }
    *ret = storm_number(message);
    return status;
}
