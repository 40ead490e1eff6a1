/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several processes on one store, which open it, send, wait, acknowledge and
 * close it again as they like, and are killed at any moment; from one to
 * several and back, many times. Nothing is lost and no process is stuck: every
 * one that is alive gets on.
 *
 * They ask for level PROCESS, which a store has in exclusive mode only: so
 * lbx_store_durability() shows the mode.
 */
#include "processes.h"
#include "stores/file/rounds.h"
#include "support/test.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PROCESSES = 4,
    EACH = 3,                 /* threads: a sender, two receivers */
    DOORS = PROCESSES * EACH, /* the first place of processes */
};

/* ---- Children ---- */

static lbx_status
come_and_go(const struct workers *workers)
{
    struct ledger_slot *door =
        &workers->ledger->places[DOORS + workers->place / EACH];
    uint64_t state = workers->seed;

    while (!atomic_load(&workers->ledger->stop)) {
        lbx_status status;

        atomic_store(&door->progress_ns, lbx_clock_now(NULL));
        status = workers_run(workers,
                             (int64_t)(1 + rounds_draw(&state, 400)) * LBX_MS);
        if (status != LBX_OK)
            return status;
    }
    return LBX_OK;
}

/* ---- The parent ---- */

struct house {
    struct workers crews[PROCESSES];
    pid_t children[PROCESSES]; /* 0: none */
    int64_t since_ns[PROCESSES];
    long kills;
    uint64_t state;
};

static void
let_in(struct house *house, int who)
{
    struct workers *workers = &house->crews[who];

    for (unsigned i = 0; i < EACH; i++)
        atomic_store(&workers->ledger->places[workers->place + i].progress_ns,
                     0);
    workers->seed += PROCESSES;
    house->since_ns[who] = lbx_clock_now(NULL);
    house->children[who] = processes_start(workers, come_and_go);
}

static void
kill_one(struct house *house, int who)
{
    if (house->children[who] == 0)
        return;
    processes_kill(&house->crews[who], house->children[who]);
    house->children[who] = 0;
    house->kills++;
}

/* Everybody who is alive has got on lately. */
static void
watch(const struct house *house)
{
    const int64_t now = lbx_clock_now(NULL);

    for (int i = 0; i < PROCESSES; i++) {
        const struct workers *workers = &house->crews[i];
        struct ledger_slot *places = workers->ledger->places;
        int64_t latest = house->since_ns[i];

        if (house->children[i] == 0)
            continue;
        if (places[DOORS + i].progress_ns > latest)
            latest = places[DOORS + i].progress_ns;
        // A thread that has begun and not got on; or none has begun.
        for (unsigned k = 0; k < EACH; k++) {
            const int64_t progress = places[workers->place + k].progress_ns;

            if (progress && now - progress > PROCESS_PATIENCE_MS * LBX_MS)
                FAIL("process %d, thread %u is stuck", i, k);
            if (progress > latest)
                latest = progress;
        }
        if (now - latest > PROCESS_PATIENCE_MS * LBX_MS)
            FAIL("process %d is stuck at the door", i);
    }
}

static void
stand_by(const struct house *house, uint64_t ms)
{
    const int64_t end = lbx_clock_now(NULL) + (int64_t)ms * LBX_MS;

    // From nap to nap: the processes need the processors.
    while (lbx_clock_now(NULL) < end) {
        watch(house);
        test_pause(UINT_MAX);
    }
}

/* So many processes, whichever they are. */
static void
have(struct house *house, uint64_t wanted)
{
    uint64_t there = 0;

    for (int i = 0; i < PROCESSES; i++)
        there += house->children[i] != 0;
    while (there != wanted) {
        const int who = (int)rounds_draw(&house->state, PROCESSES);

        if (there < wanted && !house->children[who]) {
            let_in(house, who);
            there++;
        } else if (there > wanted && house->children[who]) {
            kill_one(house, who);
            there--;
        }
    }
}

/* All who are there leave by themselves. */
static void
send_home(struct house *house)
{
    struct ledger *ledger = house->crews[0].ledger;

    atomic_store(&ledger->stop, 1);
    for (int i = 0; i < PROCESSES; i++) {
        if (house->children[i] && processes_await(house->children[i]) != 0)
            FAIL("a process ended with %s",
                 lbx_status_name((lbx_status)ledger->failure));
        house->children[i] = 0;
    }
    atomic_store(&ledger->stop, 0);
}

/* Whether enough has happened to say something; only what a sender sees between
 * two of its own sends counts as a change. */
static bool
has_seen_enough(const struct ledger *ledger, const struct house *house)
{
    return ledger->changes > 1 && house->kills > 20 && ledger->alone > 0 &&
           ledger->together > 0;
}

/* A slow machine may have `more_ns`, until there is enough. */
static struct score
live_together(struct workers *workers, int64_t time_ns, int64_t more_ns,
              struct house *house)
{
    const int64_t end = lbx_clock_now(NULL) + time_ns;

    memset(house, 0, sizeof(*house));
    house->state = workers->seed;
    workers->senders = 1;
    workers->receivers = EACH - 1;
    workers->live_max = 600;
    workers->wait_ns = 500 * LBX_MS;
    for (int i = 0; i < PROCESSES; i++) {
        house->crews[i] = *workers;
        house->crews[i].place = (unsigned)i * EACH;
        house->crews[i].seed += (uint64_t)i;
    }
    while (lbx_clock_now(NULL) < end ||
           (lbx_clock_now(NULL) < end + more_ns &&
            !has_seen_enough(workers->ledger, house))) {
        have(house, rounds_draw(&house->state, PROCESSES + 1));
        stand_by(house, rounds_draw(&house->state, 300));
        kill_one(house, (int)rounds_draw(&house->state, PROCESSES));
        stand_by(house, rounds_draw(&house->state, 100));
    }
    have(house, PROCESSES);
    stand_by(house, 500);
    send_home(house);
    processes_drain(workers);
    return ledger_judge(workers->ledger);
}

TEST(processes_come_and_go_and_are_killed)
{
    struct ledger *ledger = ledger_create(
        (uint64_t)test_rounds(1, 10) * 1000000, lbx_clock_now(NULL));
    lbx_store_options options = LBX_STORE_OPTIONS_INIT;
    struct workers workers =
        processes_workers(ledger, processes_url(), &options);
    struct house house;
    struct score score;

    options.durability = LBX_DURABILITY_PROCESS;
    options.journal_bytes = 1 << 20;
    score = live_together(&workers, test_rounds(16, 7200) * LBX_SECOND,
                          100 * LBX_SECOND, &house);
    score_report("shared mode", house.kills, &score);
    processes_report_calls("shared mode", ledger);
    test_figure(
        "crash, shared mode: opened %u times, %u changes between one and "
        "several; none stuck",
        (unsigned)ledger->open_count, (unsigned)ledger->changes);
    score_check(&score);
    CHECK(has_seen_enough(ledger, &house));
    ledger_destroy(ledger);
}

/* The control: each has a store of its own, in memory, and loses it. */
TEST(processes_without_a_common_store_lose)
{
    struct ledger *ledger = ledger_create(200000, lbx_clock_now(NULL));
    struct workers workers = processes_workers(ledger, "memory:workers", NULL);
    struct house house;
    const struct score score = live_together(&workers, LBX_SECOND, 0, &house);

    score_report("control, processes without a common store", house.kills,
                 &score);
    CHECK(score.lost > 0);
    ledger_destroy(ledger);
}
