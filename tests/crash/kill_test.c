/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real kills: a child works on a store and reports each
 * answer through a pipe; it is killed at any moment; the store is opened and
 * compared with what was reported. The next child goes on with it.
 *
 * A pipe holds what a dead process has written: what the child reported, the
 * parent reads.
 */
#include "stores/file/fixture.h"
#include "stores/file/rounds.h"
#include "stores/memory/memory.h"
#include "workload.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TOGETHER = 4 /* groups to a flush */
};

/* ---- The child: no checks in here, they do not work ---- */

static _Noreturn void
child_main(const char *path, const lbx_store_options *options, int report,
           bool never_write)
{
    lbx__storage *storage;
    uint64_t last;

    if (lbx__file_open(path, options, NULL, &storage) != LBX_OK ||
        lbx__storage_begin(storage) != LBX_OK)
        _exit(1);
    last = workload_last(storage);
    (void)lbx__storage_commit(storage);
    for (;;) {
        uint64_t ticket = 0;

        for (int i = 0; i < TOGETHER; i++) {
            if (lbx__storage_begin(storage) != LBX_OK)
                _exit(2);
            (void)workload_group(storage, ++last);
            ticket = lbx__storage_commit(storage);
        }
        // The control answers before anything has left the process.
        if (!never_write && lbx__storage_flush(storage, ticket) != LBX_OK)
            _exit(3);
        if (write(report, &last, sizeof(last)) != sizeof(last))
            _exit(4);
    }
}

/* ---- The parent ---- */

struct score {
    long kills;
    uint64_t answered; /* groups */
    long lost, phantom, damaged;
    int64_t slowest_ns; /* recovery */
};

/* Reads reports until there have been `wanted`, kills, and reads the rest. The
 * last group that was answered, or `before`. */
static uint64_t
run_and_kill(const char *path, const lbx_store_options *options,
             uint64_t wanted, uint64_t before, bool never_write)
{
    uint64_t last = before, seen;
    int ends[2], status;
    pid_t child;

    CHECK(pipe2(ends, O_CLOEXEC) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        child_main(path, options, ends[1], never_write);
    CHECK(close(ends[1]) == 0);
    for (uint64_t i = 0; i < wanted; i++) {
        if (read(ends[0], &seen, sizeof(seen)) != sizeof(seen))
            break;
        last = seen;
    }
    CHECK(kill(child, SIGKILL) == 0);
    while (read(ends[0], &seen, sizeof(seen)) == sizeof(seen))
        last = seen;
    CHECK(waitpid(child, &status, 0) == child);
    if (!WIFSIGNALED(status))
        FAIL("the child ended by itself: %d", WEXITSTATUS(status));
    CHECK(close(ends[0]) == 0);
    return last;
}

/* The sum after a group, by storage in memory that follows the store. */
static uint64_t
sum_after(lbx__storage *model, uint64_t group)
{
    uint64_t sum;

    CHECK_OK(lbx__storage_begin(model));
    for (uint64_t i = workload_last(model) + 1; i <= group; i++)
        (void)workload_group(model, i);
    sum = workload_sum(model);
    lbx__storage_commit(model);
    return sum;
}

static uint64_t
judge(const char *path, const lbx_store_options *options, uint64_t answered,
      lbx__storage *model, struct score *score)
{
    const int64_t start = lbx_clock_now(NULL);
    lbx__storage *storage = NULL;
    uint64_t last;
    int64_t took;

    if (lbx__file_open(path, options, NULL, &storage) != LBX_OK) {
        score->damaged++;
        return answered;
    }
    took = lbx_clock_now(NULL) - start;
    score->slowest_ns = took > score->slowest_ns ? took : score->slowest_ns;
    CHECK_OK(lbx__storage_begin(storage));
    last = workload_last(storage);
    score->lost += last < answered;
    score->phantom += last > answered + TOGETHER ||
                      workload_sum(storage) != sum_after(model, last);
    lbx__storage_commit(storage);
    lbx__storage_close(storage);
    return last;
}

static void
kill_often(const lbx_store_options *options, struct rounds rounds,
           bool never_write, struct score *score)
{
    uint64_t state = rounds_seed();
    uint64_t last = 0;
    lbx__storage *model;
    const char *path = test_path();

    CHECK_OK(lbx__memory_open(NULL, NULL, &model));
    for (; rounds_next(&rounds); score->kills++) {
        // Now and then while it still opens; the store may not be there yet.
        const uint64_t wanted =
            rounds_draw(&state, 8) ? rounds_draw(&state, 150) : 0;
        const uint64_t answered =
            run_and_kill(path, options, wanted, last, never_write);

        score->answered += answered - last;
        last = judge(path, options, answered, model, score);
    }
    lbx__storage_close(model);
}

static void
kill_at(lbx_durability level, const char *name, struct rounds rounds)
{
    lbx_store_options options = fixture_options();
    struct score score = {0};

    options.durability = level;
    options.interval_ms = 5;
    kill_often(&options, rounds, false, &score);
    test_figure("crash kill -9, %s: %ld kills, %" PRIu64
                " acknowledged groups, lost=%ld phantom=%ld damaged=%ld, "
                "slowest recovery %.1f ms",
                name, score.kills, score.answered, score.lost, score.phantom,
                score.damaged, (double)score.slowest_ns / 1e6);
    CHECK_INT(0, score.lost);
    CHECK_INT(0, score.phantom);
    CHECK_INT(0, score.damaged);
    CHECK(score.kills >= rounds.min);
    CHECK(score.answered > (uint64_t)score.kills);
}

TEST(no_kill_loses_what_was_answered_at_level_sync)
{
    kill_at(LBX_DURABILITY_POWER_CUT, "sync",
            rounds_of(test_rounds(60, 20000), 10, 12));
}

TEST(no_kill_loses_what_was_answered_at_level_interval)
{
    kill_at(LBX_DURABILITY_INTERVAL, "interval",
            rounds_of(test_rounds(20, 2000), 5, 6));
}

TEST(no_kill_loses_what_was_answered_at_level_process)
{
    kill_at(LBX_DURABILITY_PROCESS, "process",
            rounds_of(test_rounds(20, 2000), 5, 6));
}

/* The control: a child that answers without flushing must be found out. */
TEST(a_child_that_does_not_flush_is_found_out)
{
    lbx_store_options options = fixture_options();
    struct score score = {0};

    // What the child holds back must not fit a checkpoint by itself.
    options.journal_bytes = 16 << 20;
    kill_often(&options, rounds_of(6, 6, 0), true, &score);
    test_figure("crash control, no flush before the answer: %ld kills, "
                "lost=%ld phantom=%ld",
                score.kills, score.lost, score.phantom);
    CHECK(score.lost > 0);
}
