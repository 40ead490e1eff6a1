/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kill -9 of a process that has a store open: four senders
 * and four receivers are killed together, at any moment; the next process goes
 * on with the same store, and the last drains it. No acknowledged letter is
 * lost, none comes back, no lease is shortened, no old receipt works.
 */
#include "processes.h"
#include "stores/file/rounds.h"
#include "support/test.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static lbx_status
work_for_ever(const struct workers *workers)
{
    return workers_run(workers, 0);
}

/* Until it has opened the store, then so long; and while it opens, too. */
static void
run_and_kill(struct workers *workers, uint64_t ms, bool while_opening)
{
    struct ledger *ledger = workers->ledger;
    const uint32_t opens = ledger->open_count;
    const pid_t child = processes_start(workers, work_for_ever);
    int64_t end;
    int status;

    EVENTUALLY(while_opening || atomic_load(&ledger->open_count) > opens ||
               waitpid(child, &status, WNOHANG) != 0);
    if (!while_opening && atomic_load(&ledger->open_count) == opens)
        FAIL("the child ended by itself: %s",
             lbx_status_name((lbx_status)ledger->failure));
    end = lbx_clock_now(NULL) + (int64_t)ms * LBX_MS;
    EVENTUALLY(lbx_clock_now(NULL) >= end);
    processes_kill(workers, child);
}

/* Kills and drains: the score. */
static struct score
kill_often(struct workers *workers, struct rounds *rounds)
{
    uint64_t state = workers->seed;

    while (rounds_next(rounds)) {
        workers->seed++;
        if (rounds_draw(&state, 10) == 0)
            run_and_kill(workers, rounds_draw(&state, 5), true);
        else
            run_and_kill(workers, 10 + rounds_draw(&state, 290), false);
    }
    processes_drain(workers);
    return ledger_judge(workers->ledger);
}

static void
kill_at(lbx_durability level, const char *name, struct rounds rounds,
        uint64_t letters)
{
    struct ledger *ledger = ledger_create(letters, lbx_clock_now(NULL));
    lbx_store_options options = LBX_STORE_OPTIONS_INIT;
    struct workers workers =
        processes_workers(ledger, processes_url(), &options);
    struct score score;

    options.durability = level;
    options.interval_ms = 5;
    // Small, so that checkpoints are among what is interrupted.
    options.journal_bytes = 1 << 20;
    score = kill_often(&workers, &rounds);
    score_report(name, rounds.done, &score);
    processes_report_calls(name, ledger);
    test_figure("crash, %s: recovery p50 %.1f ms, p99 %.1f ms over %u opens",
                name, processes_open_ms(ledger, 0.5),
                processes_open_ms(ledger, 0.99), (unsigned)ledger->open_count);
    score_check(&score);
    ledger_destroy(ledger);
}

TEST(kills_lose_no_letter)
{
    kill_at(LBX_DURABILITY_POWER_CUT, "level sync",
            rounds_of(test_rounds(120, 20000), 15, 16),
            (uint64_t)test_rounds(2, 20) * 1000000);
}

TEST(kills_lose_no_letter_at_level_process)
{
    kill_at(LBX_DURABILITY_PROCESS, "level process",
            rounds_of(test_rounds(25, 2000), 5, 6),
            (uint64_t)test_rounds(2, 20) * 1000000);
}

TEST(kills_lose_no_letter_at_level_interval)
{
    kill_at(LBX_DURABILITY_INTERVAL, "level interval",
            rounds_of(test_rounds(15, 2000), 5, 6),
            (uint64_t)test_rounds(2, 20) * 1000000);
}

/* Controls: a store that forgets, and workers that report before the store has
 * returned. */
TEST(kills_of_a_store_in_memory_lose)
{
    struct ledger *ledger = ledger_create(200000, lbx_clock_now(NULL));
    struct workers workers = processes_workers(ledger, "memory:workers", NULL);
    struct rounds rounds = rounds_of(2, 2, 0);
    const struct score score = kill_often(&workers, &rounds);

    score_report("control, a store in memory", 2, &score);
    CHECK(score.lost > 0);
    ledger_destroy(ledger);
}

/* One trial of workers that report too early. */
static struct score
kill_early_reporters(void)
{
    struct ledger *ledger = ledger_create(200000, lbx_clock_now(NULL));
    lbx_store_options options = LBX_STORE_OPTIONS_INIT;
    struct workers workers =
        processes_workers(ledger, processes_url(), &options);
    struct rounds rounds = rounds_of(12, 12, 0);
    struct score score;

    workers.tells_sent_early = true;
    workers.tells_deleted_early = true;
    score = kill_often(&workers, &rounds);
    score_report("control, answered too early", rounds.done, &score);
    ledger_destroy(ledger);
    return score;
}

/* The faster the disk, the fewer calls a kill interrupts: until both are
 * found. */
TEST(answers_before_the_store_has_answered_are_found_out)
{
    uint64_t lost = 0, resurrected = 0;

    for (struct rounds rounds = rounds_of(100, 1, 90);
         (lost == 0 || resurrected == 0) && rounds_next(&rounds);) {
        const struct score score = kill_early_reporters();

        lost += score.lost;
        resurrected += score.resurrected;
    }
    CHECK(lost > 0);
    CHECK(resurrected > 0);
}
