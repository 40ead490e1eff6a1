/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The service of stores: asking, running, telling, giving up, sleeping (SVC-1
 * to SVC-6, THREAD-1 to THREAD-3). Every errand ends once and is not touched
 * afterwards; no wake-up is lost; no letter is.
 */
#include "explorer/points.h"

#include "explorer/scenarios/office.h"
#include "explorer/scenarios/scenarios.h"

STEP(setup_thread, office_open(true, 2))
STEP(setup_alone, office_open(true, 1))
STEP(setup_here, office_open(false, 2))
STEP(setup_shared, office_open_shared(2))
STEP(sender, EXPECT_OK(office_await(office_send())), office_leave())
STEP(receiver, EXPECT_OK(office_await(office_receive())), office_leave())

/* Gives up what it has only just asked for. */
static void
undecided_sender(void)
{
    struct errand *errand = office_send();

    office_cancel(errand);
    (void)office_await(errand);
    office_leave();
}

static void
undecided_receiver(void)
{
    struct errand *errand = office_receive();

    office_cancel(errand);
    (void)office_await(errand);
    office_leave();
}

STEP(ticker, office_tick(), office_leave())
STEP(outsider, office_send_from_outside(), office_leave())

const struct scenario service_scenarios[] = {
    SCENARIO("service/a-send-is-given-up", setup_alone, office_check,
             THREADS(office_work, undecided_sender), BOUND(5, 6)),
    TWIN("service/groups-stay-asked", "groups-stay-asked",
         "a call that a turn has taken is given up as if nobody had",
         BOUND(2, 2)),
    TWIN("service/the-end-rings-nobody", "the-end-rings-nobody",
         "a store is closed while its thread sleeps", BOUND(2, 2)),
    SCENARIO("service/a-wait-is-given-up", setup_alone, office_check,
             THREADS(office_work, undecided_receiver), BOUND(5, 6)),
    TWIN("service/given-up-waits-again", "given-up-waits-again",
         "a receive that is given up while it is tried waits on", BOUND(2, 2)),
    SCENARIO("service/a-tick-comes-back", setup_alone, office_check,
             THREADS(office_work, ticker), BOUND(5, 6)),
    TWIN("service/ticks-are-slept-through", "ticks-are-slept-through",
         "a tick does not wake the thread", BOUND(2, 2)),
    SCENARIO("service/a-send-ends-a-wait", setup_thread, office_check,
             THREADS(office_work, receiver, sender), BOUND(3, 4)),
    TWIN("service/asking-rings-nobody", "asking-rings-nobody",
         "the thread sleeps through a call", BOUND(2, 2)),
    TWIN("service/the-sleeper-says-nothing", "the-sleeper-says-nothing",
         "nobody knows that the thread sleeps (THREAD-1)", BOUND(2, 2)),
    TWIN("service/the-bell-is-read-late", "the-bell-is-read-late",
         "the bell is read when the lock is free again (THREAD-1)",
         BOUND(2, 2)),
    SCENARIO("service/a-wait-is-given-up-when-it-ends", setup_thread,
             office_check, THREADS(office_work, undecided_receiver, sender),
             BOUND(3, 4)),
    TWIN("service/ends-are-not-marked", "ends-are-not-marked",
         "a call that is being told is told again", BOUND(2, 2)),
    TWIN("service/done-stays-in-its-list", "done-stays-in-its-list",
         "a call that was given up when it was done is told again (SVC-6)",
         BOUND(2, 2)),
    SCENARIO("service/one-of-two-is-given-up", setup_thread, office_check,
             THREADS(office_work, undecided_sender, sender), BOUND(3, 4)),
    SCENARIO("service/another-process-rings", setup_shared, office_check,
             THREADS(office_work, receiver, outsider), BOUND(3, 4)),
    TWIN("service/the-bell-is-not-heard", "the-bell-is-not-heard",
         "another process rings in vain (THREAD-3)", BOUND(2, 2)),
    SCENARIO("service/here-a-send-ends-a-wait", setup_here, office_check,
             THREADS(receiver, sender)),
    SCENARIO("service/here-a-wait-is-given-up", setup_here, office_check,
             THREADS(undecided_receiver, sender)),
    {0},
};
