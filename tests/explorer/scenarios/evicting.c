/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message that a send evicts (DROP_OLDEST) is taken by no receiver: the
 * eviction itself must look for waiters that its end concerns.
 */
#include "explorer/scenarios/box_steps.h"
#include "explorer/scenarios/scenarios.h"
#include "explorer/scenarios/wakeup.h"

#include <string.h>

static lbx_operation operations[2];
static struct wakeup wakeups[2];
static void *messages[2];

/* ---- Setups ---- */

static void
setup_empty(void)
{
    BOX_CREATE(&box, LBX_KIND_BOUNDED, with.capacity_messages = 1,
               with.overflow = LBX_OVERFLOW_DROP_OLDEST);
    memset(operations, 0, sizeof(operations));
    memset(wakeups, 0, sizeof(wakeups));
}

STEP(setup_one, setup_empty(), send())

static void
poll_pending(int i)
{
    lbx_waker waker = wakeup_waker(&wakeups[i]);

    EXPECT(lbx_operation_poll(&operations[i], &waker) == LBX_PENDING);
}

// The only message is promised to the first receive; the second waits.
static void
setup_two_wait(void)
{
    setup_empty();
    for (int i = 0; i < 2; i++) {
        EXPECT_OK(lbx_consumer_receive_init(&operations[i], box.out,
                                            &messages[i], LBX_FOREVER));
        poll_pending(i);
    }
    send();
}

static void
setup_flush_waits(void)
{
    setup_one();
    EXPECT_OK(lbx_mailbox_flush_init(
        &operations[0], lbx_producer_mailbox(box.in), LBX_FOREVER));
    poll_pending(0);
}

/* ---- Threads ---- */

// True when the send evicted the last message and then found it closed.
static bool
send_evicting(void)
{
    lbx_status status = box_try_send(&box);

    EXPECT(status == LBX_OK || status == LBX_CLOSED);
    return status == LBX_CLOSED && ledger_lost_total() > 0;
}

// The first receive takes what it was promised, but only where there is
// something: it is not there to tell the second that there is nothing.
static void
send_and_take(void)
{
    if (send_evicting())
        return;
    EXPECT_OK(lbx_operation_poll(&operations[0], NULL));
    ledger_received((uint64_t)(uintptr_t)messages[0]);
}

static void
send_or_take(void)
{
    if (!send_evicting())
        (void)box_try_receive(&box);
}

static void
close_draining(void)
{
    EXPECT_OK(lbx_mailbox_close(lbx_producer_mailbox(box.in), LBX_CLOSE_DRAIN));
}

static void
close_and_look(void)
{
    close_draining();
    if (lbx_mailbox_is_empty(lbx_producer_mailbox(box.in)))
        EXPECT(lbx_operation_poll(&operations[1], NULL) == LBX_CLOSED);
}

static void
second_hears_of_the_close(void)
{
    wakeup_await(&wakeups[1]);
    EXPECT(wakeup_wait(&wakeups[1], &operations[1]) == LBX_CLOSED);
}

static void
flush_hears_of_it(void)
{
    wakeup_await(&wakeups[0]);
    EXPECT_OK(lbx_operation_poll(&operations[0], NULL));
}

/* ---- Ends ---- */

static void
finish_operations(void)
{
    lbx_operation_fini(&operations[0]);
    lbx_operation_fini(&operations[1]);
    finish();
}

const struct scenario evicting_scenarios[] = {
    SCENARIO("evict/last-of-a-closed-mailbox", setup_two_wait,
             finish_operations,
             THREADS(send_and_take, close_draining, second_hears_of_the_close),
             BOUND(3, 4)),
    TWIN("evict/forgets-that-it-is-closed", "evict-forgets-closed",
         "an eviction that empties a closed mailbox wakes no receiver",
         BOUND(2, 2)),
    SCENARIO("evict/empty-and-closed-is-closed", setup_two_wait,
             finish_operations, THREADS(send_and_take, close_and_look),
             BOUND(3, 5)),
    TWIN("evict/empty-and-closed-waits", "queued-is-not-closed",
         "a queued receive does not see by itself that it is closed",
         BOUND(3, 5)),
    SCENARIO("evict/flush-waits", setup_flush_waits, finish_operations,
             THREADS(send, flush_hears_of_it)),
    TWIN("evict/flush-is-forgotten", "evict-forgets-flush",
         "an eviction does not look for a flush"),
    SCENARIO("evict/stop", setup_one, finish_operations,
             THREADS(send_or_take, stop)),
    TWIN("evict/stop-is-forgotten", "evict-forgets-both",
         "an eviction does not look for a flush, nor for a close"),
    {0},
};
