/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of receives that wait: they are granted a message that turns out to
 * be gone and wait again, are cancelled or started again (WAIT-10, MSG-10,
 *
 *
 * setup() has the receives wait already, which keeps the scenarios small: the
 * threads do only what may go wrong. A thread that is served sends a message
 * for the other, so that one message is enough for all, and a thread that still
 * sleeps was forgotten.
 */
#include "explorer/scenarios/box_steps.h"
#include "explorer/scenarios/scenarios.h"
#include "explorer/scenarios/wakeup.h"

#include "base/atomic.h"
#include "base/park.h"

#include <string.h>

static struct receiver {
    lbx_operation operation;
    struct wakeup wakeup;
    void *messages[2];
    size_t count;
} receivers[2];

static _Atomic(uint32_t) first_was_called;
static _Atomic(uint32_t) has_taken;

/* ---- Setups ---- */

static void
poll_pending(struct receiver *receiver)
{
    lbx_waker waker = wakeup_waker(&receiver->wakeup);

    EXPECT(lbx_operation_poll(&receiver->operation, &waker) == LBX_PENDING);
}

// Two receives that wait, the first of them first.
static void
setup_two_wait(void)
{
    BOX_CREATE(&box, LBX_KIND_UNBOUNDED, with.envelopes = true);
    memset(receivers, 0, sizeof(receivers));
    for (int i = 0; i < 2; i++) {
        EXPECT_OK(lbx_consumer_receive_init(&receivers[i].operation, box.out,
                                            receivers[i].messages,
                                            LBX_FOREVER));
        poll_pending(&receivers[i]);
    }
}

static void
send_expired(void)
{
    lbx_envelope envelope = lbx_envelope_of(NULL, 0);

    envelope.deadline_ns = 1;
    EXPECT_OK(box_try_send_envelope(&box, envelope));
}

// Both have been promised a message that will turn out to have expired.
static void
setup_two_in_vain(void)
{
    setup_two_wait();
    send_expired();
    send_expired();
}

// The first has found that out, and is back; the second has not yet.
static void
setup_first_is_back(void)
{
    setup_two_in_vain();
    wakeup_await(&receivers[0].wakeup);
    poll_pending(&receivers[0]);
    lbx__init(&first_was_called, 0);
}

// One waits in vain, and has been promised a message.
static void
setup_one_promised(void)
{
    setup_two_wait();
    lbx_operation_fini(&receivers[1].operation);
    send();
}

// The first takes as many as there are.
static void
setup_batch_waits(void)
{
    setup();
    memset(receivers, 0, sizeof(receivers));
    EXPECT_OK(lbx_consumer_receive_batch_init(
        &receivers[0].operation, box.out, receivers[0].messages, 2,
        &receivers[0].count, LBX_FOREVER));
    EXPECT_OK(lbx_consumer_receive_init(&receivers[1].operation, box.out,
                                        receivers[1].messages, LBX_FOREVER));
    poll_pending(&receivers[0]);
    poll_pending(&receivers[1]);
}

static void
setup_batch_promised(void)
{
    setup_batch_waits();
    send();
    send();
}

static void
setup_none_waits(void)
{
    lbx__init(&has_taken, 0);
    setup();
    memset(receivers, 0, sizeof(receivers));
    for (int i = 0; i < 2; i++)
        EXPECT_OK(lbx_consumer_receive_init(&receivers[i].operation, box.out,
                                            receivers[i].messages,
                                            LBX_FOREVER));
}

/* ---- Threads ---- */

static void
note_received(struct receiver *receiver)
{
    EXPECT_OK(lbx_operation_status(&receiver->operation));
    ledger_received((uint64_t)(uintptr_t)receiver->messages[0]);
}

static void
be_served(struct receiver *receiver)
{
    wakeup_await(&receiver->wakeup);
    EXPECT_OK(wakeup_wait(&receiver->wakeup, &receiver->operation));
    note_received(receiver);
    lbx_operation_fini(&receiver->operation);
    wakeup_retire(&receiver->wakeup);
}

STEP(first, be_served(&receivers[0]), send())
STEP(second, be_served(&receivers[1]), send())

static void
first_in_order(void)
{
    wakeup_await(&receivers[0].wakeup);
    lbx__store(&first_was_called, 1, seq_cst);
    EXPECT_OK(wakeup_wait(&receivers[0].wakeup, &receivers[0].operation));
    note_received(&receivers[0]);
    lbx_operation_fini(&receivers[0].operation);
    send();
}

// WAIT-10: nothing is for the second while the first waits.
static void
second_in_order(void)
{
    be_served(&receivers[1]);
    EXPECT(lbx__load(&first_was_called, seq_cst));
    send();
}

STEP(only_first, be_served(&receivers[0]))
STEP(only_second, be_served(&receivers[1]))

static void
cancel_first(void)
{
    EXPECT(lbx_operation_cancel(&receivers[0].operation) == LBX_CANCELLED);
    wakeup_retire(&receivers[0].wakeup);
    lbx_operation_fini(&receivers[0].operation);
}

// What was promised to the second is not for the batch.
static void
first_takes_a_batch(void)
{
    wakeup_await(&receivers[0].wakeup);
    EXPECT_OK(wakeup_wait(&receivers[0].wakeup, &receivers[0].operation));
    EXPECT(receivers[0].count == 1 || receivers[0].count == 2);
    for (size_t i = 0; i < receivers[0].count; i++)
        ledger_received((uint64_t)(uintptr_t)receivers[0].messages[i]);
    lbx_operation_fini(&receivers[0].operation);
}

static void
second_finds_its_own(void)
{
    wakeup_await(&receivers[1].wakeup);
    EXPECT_OK(lbx_operation_poll(&receivers[1].operation, NULL));
    note_received(&receivers[1]);
    lbx_operation_fini(&receivers[1].operation);
}

// Started again, it is behind the one that waits: there is nothing for it.
static void
first_starts_again(void)
{
    wakeup_await(&receivers[0].wakeup);
    EXPECT_OK(wakeup_wait(&receivers[0].wakeup, &receivers[0].operation));
    note_received(&receivers[0]);
    EXPECT_OK(lbx_operation_restart(&receivers[0].operation, LBX_FOREVER));
    poll_pending(&receivers[0]);
    EXPECT(lbx_operation_cancel(&receivers[0].operation) == LBX_CANCELLED);
    wakeup_retire(&receivers[0].wakeup);
    lbx_operation_fini(&receivers[0].operation);
}

// Takes two by one look at the gate, if they are there.
static void
take_2(void)
{
    void *messages[2];
    size_t count;
    lbx_status status =
        lbx_consumer_try_receive_batch(box.out, messages, 2, &count);

    EXPECT((status == LBX_OK) == (count > 0));
    for (size_t i = 0; i < count; i++)
        ledger_received((uint64_t)(uintptr_t)messages[i]);
    lbx__store(&has_taken, 1, seq_cst);
    lbx__futex_wake(&has_taken, 1);
}

/* One thread that owns both receives. */

static _Atomic(uint32_t) wakes;

static void
count_wake(void *context)
{
    (void)context;
    (void)lbx__add(&wakes, 1, seq_cst);
    lbx__futex_wake(&wakes, 1);
}

// How many of the two are served by this poll.
static unsigned
poll_both(void)
{
    static const lbx_waker waker = {count_wake, NULL};
    unsigned served = 0;

    for (int i = 0; i < 2; i++) {
        if (lbx_operation_status(&receivers[i].operation) == LBX_PENDING &&
            lbx_operation_poll(&receivers[i].operation, &waker) !=
                LBX_PENDING) {
            note_received(&receivers[i]);
            served++;
        }
    }
    return served;
}

// Both wait, and are promised messages, which a faster thread may take; they
// look when that is over.
static void
both_wait(void)
{
    unsigned served;

    lbx__store(&wakes, 0, seq_cst);
    served = poll_both();
    send_2();
    if (served == 1)
        send();
    while (lbx__load(&has_taken, seq_cst) == 0)
        lbx__futex_wait(&has_taken, 0, -1);
    while (served < 2) {
        uint32_t seen = lbx__load(&wakes, seq_cst);
        unsigned now = poll_both();

        if (now == 0)
            lbx__futex_wait(&wakes, seen, -1);
        else if (served == 0 && now == 1)
            send();
        served += now;
    }
    lbx_operation_fini(&receivers[0].operation);
    lbx_operation_fini(&receivers[1].operation);
}

/* ---- Ends ---- */

const struct scenario receive_order_scenarios[] = {
    SCENARIO("receive-order/both-come-back", setup_two_in_vain, finish,
             THREADS(first, second, send), BOUND(2, 2)),
    TWIN("receive-order/both-come-back-and-offer-nothing",
         "return-offers-nothing",
         "a receive that comes back behind another does not offer what it "
         "gives up",
         BOUND(2, 2)),
    SCENARIO("receive-order/second-comes-back", setup_first_is_back, finish,
             THREADS(first_in_order, second_in_order, send), BOUND(2, 2)),
    TWIN("receive-order/second-comes-back-and-offers-nothing",
         "return-offers-nothing",
         "a receive that comes back behind another does not offer what it "
         "gives up",
         BOUND(2, 2)),
    TWIN("receive-order/second-comes-back-and-overtakes", "return-overtakes",
         "a receive that comes back takes before those that came first",
         BOUND(2, 2)),
    SCENARIO("receive-order/another-is-faster", setup_none_waits, finish,
             THREADS(both_wait, take_2, send), BOUND(2, 3)),
    TWIN("receive-order/another-is-faster-and-nothing-is-offered",
         "return-offers-nothing",
         "a receive that comes back behind another does not offer what it "
         "gives up",
         BOUND(2, 2)),
    SCENARIO("receive-order/promised-then-suspended", setup_one_promised,
             finish, THREADS(only_first, suspend_and_resume), BOUND(4, 0)),
    TWIN("receive-order/promised-then-suspended-for-ever",
         "resume-wakes-no-waiter", "a resume does not look for waiters",
         BOUND(4, 0)),
    SCENARIO("receive-order/cancelled", setup_two_wait, finish,
             THREADS(cancel_first, only_second, send), BOUND(2, 4)),
    TWIN("receive-order/cancelled-passes-nothing-on",
         "cancel-passes-nothing-on",
         "a cancelled receive does not look at the next (MSG-10)", BOUND(2, 2)),
    TWIN("receive-order/cancelled-keeps-its-reservation",
         "cancel-keeps-its-reservation",
         "a cancelled receive keeps what it was promised (MSG-10)",
         BOUND(2, 2)),
    TWIN("receive-order/cancelled-is-called-nevertheless",
         "cancel-does-not-settle",
         "a cancel does not wait for its wake-up (OPER-3)", BOUND(2, 2)),
    SCENARIO("receive-order/batch-cancelled", setup_batch_waits, finish,
             THREADS(cancel_first, only_second, send_2), BOUND(2, 3)),
    SCENARIO("receive-order/batch-leaves-what-is-promised",
             setup_batch_promised, finish,
             THREADS(first_takes_a_batch, second_finds_its_own)),
    TWIN("receive-order/batch-takes-what-is-promised",
         "take-ignores-reservations",
         "a take under the lock ignores reservations (MBOX-2)"),
    SCENARIO("receive-order/batch-and-a-late-sender", setup_batch_promised,
             finish, THREADS(first_takes_a_batch, only_second, send),
             BOUND(2, 3)),
    SCENARIO("receive-order/started-again", setup_two_wait, finish,
             THREADS(first_starts_again, only_second, send_2), BOUND(2, 3)),
    TWIN("receive-order/started-again-with-its-old-ticket",
         "receive-keeps-its-ticket",
         "a receive that is started again goes before those that wait",
         BOUND(2, 2)),
    {0},
};
