/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Miniatures: the two ways to wait that everything else is made of.
 *
 * They prove the explorer as much as the algorithms: small enough to be right
 * by inspection, with the classical mistakes as twins.
 *
 *   park        one flag, one sleeper: set WAITING, look again, sleep
 *   eventcount  a counter that sleepers compare: any number of both sides
 */
#include "explorer/scenarios/scenarios.h"

#include "base/atomic.h"
#include "base/park.h"

#include <string.h>

static struct {
    _Atomic(uint32_t) word; /* park: 0 awake, 1 waiting; else the count */
    _Atomic(uint32_t) waiters;
    _Atomic(uint32_t) messages;
    unsigned taken[EXPLORER_THREADS];
} world;

STEP(setup, memset(&world, 0, sizeof(world)))

static bool
take(void)
{
    uint32_t seen = lbx__load(&world.messages, acquire);

    while (seen > 0) {
        if (lbx__cas(&world.messages, &seen, seen - 1, acquire)) {
            world.taken[explorer_thread()]++;
            return true;
        }
    }
    return false;
}

/* ---- park ---- */

static void
park_send(void)
{
    (void)lbx__add(&world.messages, 1, seq_cst);
    if (lbx__exchange(&world.word, 0, seq_cst) == 1 &&
        !explorer_mutant("no-unpark"))
        lbx__futex_wake(&world.word, 1);
}

STEP(park_send_2, park_send(), park_send())

static void
park_receive(void)
{
    while (!take()) {
        lbx__store(&world.word, 1, seq_cst);
        if (!explorer_mutant("no-second-look") && take()) {
            lbx__store(&world.word, 0, seq_cst);
            return;
        }
        lbx__futex_wait(&world.word, 1, -1);
    }
}

STEP(park_receive_2, park_receive(), park_receive())
STEP(park_receive_4, park_receive_2(), park_receive_2())
STEP(finish, EXPECT(lbx__peek(&world.messages) == 0))
STEP(finish_two_left, EXPECT(lbx__peek(&world.messages) == 2))

/* ---- eventcount ---- */

static void
event_notify(void)
{
    (void)lbx__add(&world.word, 1, seq_cst);
    if (lbx__load(&world.waiters, seq_cst) > 0)
        lbx__futex_wake(&world.word, explorer_mutant("wake-one") ? 1 : 99);
}

static void
event_send(void)
{
    if (explorer_mutant("notify-first"))
        event_notify();
    (void)lbx__add(&world.messages, 1, seq_cst);
    if (!explorer_mutant("notify-first"))
        event_notify();
}

STEP(event_send_2, event_send(), event_send())

// Two at once, one notice: every sleeper must hear of it.
static void
event_send_pair(void)
{
    (void)lbx__add(&world.messages, 2, seq_cst);
    event_notify();
}

static void
event_receive(void)
{
    while (!take()) {
        uint32_t count;

        (void)lbx__add(&world.waiters, 1, seq_cst);
        count = lbx__load(&world.word, seq_cst);
        if (lbx__load(&world.messages, seq_cst) == 0)
            lbx__futex_wait(&world.word, count, -1);
        (void)lbx__sub(&world.waiters, 1, seq_cst);
    }
}

STEP(event_receive_2, event_receive(), event_receive())

/* ---- a sleep with a limit ---- */

static void
timed_receive(void)
{
    int64_t began = explorer_clock.now_ns(NULL);

    if (take())
        return;
    lbx__store(&world.word, 1, seq_cst);
    if (take())
        return;
    lbx__futex_wait(&world.word, 1, LBX_MS);
    if (take())
        return;
    // Time has moved: no other thread takes messages.
    EXPECT(explorer_clock.now_ns(NULL) >= began + LBX_MS);
    world.taken[3]++; // timeouts
}

static void
timed_finish(void)
{
    EXPECT(world.taken[1] + world.taken[3] == 1);
    EXPECT(lbx__peek(&world.messages) == world.taken[3]);
    // A twin's claim, to see that both ends are reached.
    EXPECT(!explorer_mutant("never-late") || world.taken[3] == 0);
    EXPECT(!explorer_mutant("always-late") || world.taken[3] == 1);
}

const struct scenario park_scenarios[] = {
    SCENARIO("park/one-sender", setup, finish,
             THREADS(park_send_2, park_receive_2)),
    TWIN("park/no-second-look", "no-second-look",
         "the receiver sleeps without looking again"),
    TWIN("park/no-unpark", "no-unpark", "the sender does not wake"),
    LOST_WAKE("park/lost-wake"),
    SCENARIO("park/two-senders", setup, finish,
             THREADS(park_send_2, park_send_2, park_receive_4)),
    SCENARIO("park/times-out", setup, timed_finish,
             THREADS(park_send, timed_receive)),
    TWIN("park/never-times-out", "never-late",
         "the claim that a limit never runs out"),
    TWIN("park/always-times-out", "always-late",
         "the claim that a limit always runs out"),
    SCENARIO("eventcount/two-receivers", setup, finish,
             THREADS(event_send_2, event_receive, event_receive)),
    SCENARIO("eventcount/two-and-two", setup, finish,
             THREADS(event_send, event_send, event_receive, event_receive)),
    SCENARIO("eventcount/two-senders", setup, finish_two_left,
             THREADS(event_send_2, event_send_2, event_receive_2)),
    SCENARIO("eventcount/three-messages", setup, finish,
             THREADS(event_send_2, event_receive_2, event_receive, event_send),
             BOUND(4, 5)),
    SCENARIO("eventcount/pair", setup, finish,
             THREADS(event_send_pair, event_receive, event_receive)),
    TWIN("eventcount/wake-one", "wake-one",
         "one notice for two messages wakes one sleeper"),
    SCENARIO("eventcount/notify-first", setup, finish,
             THREADS(event_send_2, event_receive_2),
             PLANTED("notify-first",
                     "the notice is given before the message is there")),
    {0},
};
