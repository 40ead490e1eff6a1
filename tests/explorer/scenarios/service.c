/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The service of stores: starting, running, finishing and cancelling calls,
 * and sleeping (SVC-1 to SVC-6, THREAD-1 to THREAD-3). Every call ends once and
 * is not touched afterwards; no wake-up is lost, and no letter.
 */
#include "explorer/points.h"

#include "explorer/scenarios/scenarios.h"
#include "explorer/scenarios/testbed.h"

STEP(setup_thread, testbed_open(true, 2))
STEP(setup_alone, testbed_open(true, 1))
STEP(setup_here, testbed_open(false, 2))
STEP(setup_shared, testbed_open_shared(2))
STEP(sender, EXPECT_OK(testbed_await(testbed_send())), testbed_leave())
STEP(receiver, EXPECT_OK(testbed_await(testbed_receive())), testbed_leave())

/* Cancels a call that it has only just started. */
static void
undecided_sender(void)
{
    struct testbed_call *call = testbed_send();

    testbed_cancel(call);
    (void)testbed_await(call);
    testbed_leave();
}

static void
undecided_receiver(void)
{
    struct testbed_call *call = testbed_receive();

    testbed_cancel(call);
    (void)testbed_await(call);
    testbed_leave();
}

STEP(ticker, testbed_tick(), testbed_leave())
STEP(outsider, testbed_send_from_outside(), testbed_leave())

const struct scenario service_scenarios[] = {
    SCENARIO("service/a-send-is-given-up", setup_alone, testbed_check,
             THREADS(testbed_work, undecided_sender), BOUND(5, 6)),
    TWIN("service/batches-stay-waiting", "batches-stay-waiting",
         "a call that a batch has taken is cancelled as if it waited",
         BOUND(2, 2)),
    TWIN("service/the-end-wakes-no-thread", "the-end-wakes-no-thread",
         "a store is closed while its thread sleeps", BOUND(2, 2)),
    SCENARIO("service/a-wait-is-given-up", setup_alone, testbed_check,
             THREADS(testbed_work, undecided_receiver), BOUND(5, 6)),
    TWIN("service/given-up-waits-again", "given-up-waits-again",
         "a receive that is cancelled while it is tried waits on", BOUND(2, 2)),
    SCENARIO("service/a-tick-comes-back", setup_alone, testbed_check,
             THREADS(testbed_work, ticker), BOUND(5, 6)),
    TWIN("service/ticks-are-slept-through", "ticks-are-slept-through",
         "a tick does not wake the thread", BOUND(2, 2)),
    SCENARIO("service/a-send-ends-a-wait", setup_thread, testbed_check,
             THREADS(testbed_work, receiver, sender), BOUND(3, 4)),
    TWIN("service/calls-wake-no-thread", "calls-wake-no-thread",
         "the thread sleeps through a call", BOUND(2, 2)),
    TWIN("service/the-sleeper-says-nothing", "the-sleeper-says-nothing",
         "the thread does not mark that it sleeps (THREAD-1)", BOUND(2, 2)),
    TWIN("service/notifications-are-read-late", "notifications-are-read-late",
         "notifications are counted after the lock was released (THREAD-1)",
         BOUND(2, 2)),
    SCENARIO("service/a-wait-is-given-up-when-it-ends", setup_thread,
             testbed_check, THREADS(testbed_work, undecided_receiver, sender),
             BOUND(3, 4)),
    TWIN("service/ends-are-not-marked", "ends-are-not-marked",
         "a call that is being finished is finished again", BOUND(2, 2)),
    TWIN("service/done-stays-in-its-list", "done-stays-in-its-list",
         "a call that was cancelled when it was done is finished again (SVC-6)",
         BOUND(2, 2)),
    SCENARIO("service/one-of-two-is-given-up", setup_thread, testbed_check,
             THREADS(testbed_work, undecided_sender, sender), BOUND(3, 4)),
    SCENARIO("service/another-process-rings", setup_shared, testbed_check,
             THREADS(testbed_work, receiver, outsider), BOUND(3, 4)),
    TWIN("service/notifications-are-not-seen", "notifications-are-not-seen",
         "the notification of another process is not seen (THREAD-3)",
         BOUND(2, 2)),
    SCENARIO("service/here-a-send-ends-a-wait", setup_here, testbed_check,
             THREADS(receiver, sender)),
    SCENARIO("service/here-a-wait-is-given-up", setup_here, testbed_check,
             THREADS(undecided_receiver, sender)),
    {0},
};
