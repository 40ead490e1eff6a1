/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The service of stores: asking, running, telling, giving up, sleeping (SVC-1
 * to SVC-6, THREAD-1 to THREAD-3). Every errand ends once and is not touched
 * afterwards; no wake-up is lost; no letter is.
 */
#include "explorer/points.h"

#include "explorer/scenarios/office.h"
#include "explorer/scenarios/scenarios.h"

static void
setup_thread(void)
{
    office_open(true, 2);
}

static void
setup_alone(void)
{
    office_open(true, 1);
}

static void
setup_here(void)
{
    office_open(false, 2);
}

static void
setup_shared(void)
{
    office_open_shared(2);
}

static void
sender(void)
{
    EXPECT_OK(office_await(office_send()));
    office_leave();
}

static void
receiver(void)
{
    EXPECT_OK(office_await(office_receive()));
    office_leave();
}

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

static void
ticker(void)
{
    office_tick();
    office_leave();
}

static void
outsider(void)
{
    office_send_from_outside();
    office_leave();
}

#define TWIN(name_, bug_, mutant_, setup_, ...)                                \
    {                                                                          \
        .name = "service/" name_, .bug = (bug_), .mutant = (mutant_),          \
        .setup = (setup_), .thread = {__VA_ARGS__}, .finish = office_check,    \
        .bound = 2, .full_bound = 2                                            \
    }

#define HOLDS(name_, setup_, bound_, full_, ...)                               \
    {                                                                          \
        .name = "service/" name_, .setup = (setup_), .thread = {__VA_ARGS__},  \
        .finish = office_check, .bound = (bound_), .full_bound = (full_)       \
    }

const struct scenario service_scenarios[] = {
    HOLDS("a-send-is-given-up", setup_alone, 5, 6, office_work,
          undecided_sender),
    HOLDS("a-wait-is-given-up", setup_alone, 5, 6, office_work,
          undecided_receiver),
    HOLDS("a-tick-comes-back", setup_alone, 5, 6, office_work, ticker),
    HOLDS("a-send-ends-a-wait", setup_thread, 3, 4, office_work, receiver,
          sender),
    HOLDS("a-wait-is-given-up-when-it-ends", setup_thread, 3, 4, office_work,
          undecided_receiver, sender),
    HOLDS("one-of-two-is-given-up", setup_thread, 3, 4, office_work,
          undecided_sender, sender),
    HOLDS("another-process-rings", setup_shared, 3, 4, office_work, receiver,
          outsider),
    HOLDS("here-a-send-ends-a-wait", setup_here, 0, 0, receiver, sender),
    HOLDS("here-a-wait-is-given-up", setup_here, 0, 0, undecided_receiver,
          sender),
    TWIN("groups-stay-asked",
         "a call that a turn has taken is given up as if nobody had",
         "groups-stay-asked", setup_alone, office_work, undecided_sender),
    TWIN("asking-rings-nobody", "the thread sleeps through a call",
         "asking-rings-nobody", setup_thread, office_work, receiver, sender),
    TWIN("the-sleeper-says-nothing",
         "nobody knows that the thread sleeps (THREAD-1)",
         "the-sleeper-says-nothing", setup_thread, office_work, receiver,
         sender),
    TWIN("the-bell-is-read-late",
         "the bell is read when the lock is free again (THREAD-1)",
         "the-bell-is-read-late", setup_thread, office_work, receiver, sender),
    TWIN("the-bell-is-not-heard", "another process rings in vain (THREAD-3)",
         "the-bell-is-not-heard", setup_shared, office_work, receiver,
         outsider),
    TWIN("ends-are-not-marked", "a call that is being told is told again",
         "ends-are-not-marked", setup_thread, office_work, undecided_receiver,
         sender),
    TWIN("done-stays-in-its-list",
         "a call that was given up when it was done is told again (SVC-6)",
         "done-stays-in-its-list", setup_thread, office_work,
         undecided_receiver, sender),
    TWIN("given-up-waits-again",
         "a receive that is given up while it is tried waits on",
         "given-up-waits-again", setup_alone, office_work, undecided_receiver),
    TWIN("ticks-are-slept-through", "a tick does not wake the thread",
         "ticks-are-slept-through", setup_alone, office_work, ticker),
    TWIN("the-end-rings-nobody", "a store is closed while its thread sleeps",
         "the-end-rings-nobody", setup_alone, office_work, undecided_sender),
    {0},
};
