/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that are stopped (SIGSTOP: a debugger, a suspended container) in
 * the middle of every kind of call, while another works on the same store, and
 * that go on later. Nothing is lost, and how long the other one stood still is
 * printed.
 *
 * A process stops itself, at a system call that it makes while one of its
 * workers is inside the kind of call that the parent has asked for: so it is
 * always in the middle. How long others wait for it is a figure and nothing
 * that is checked here.
 */
#include "calls.h"
#include "processes.h"
#include "stores/file/rounds.h"
#include "support/test.h"

#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    EACH = 4,     /* threads of a process: two senders, two receivers */
    STOP_MS = 200 /* how long it is stopped */
};

static const char *const kinds[LEDGER_CALLS] = {
    [CALL_OPEN] = "open",
    [CALL_CLOSE] = "close",
    [CALL_SEND] = "send",
    [CALL_RECEIVE] = "receive",
    [CALL_ACKNOWLEDGE] = "acknowledge",
    [CALL_NACK] = "nack",
    [CALL_EXTEND] = "extend",
    [CALL_REPLY] = "reply and acknowledge",
    [CALL_FORWARD] = "send and acknowledge",
    [CALL_PURGE] = "purge",
    [CALL_CREATE_BOX] = "create a box",
    [CALL_DELETE_BOX] = "delete a box",
    [CALL_MOVE] = "move",
    [CALL_COUNT] = "count",
    [CALL_PEEK] = "peek",
    [CALL_SYNC] = "sync",
};

/* What the parent asks for: shared with the process that stops, whose workers
 * do that kind of call then. */
struct wish {
    _Atomic(uint32_t) call; /* CALL_NONE: nothing */
    _Atomic(int) after;     /* so many system calls */
};

static struct wish *wish;
static const struct workers *mine; /* in the process that stops */

/* ---- The process that stops ---- */

static void
stop_if_wished(void)
{
    const uint32_t call = atomic_load(&wish->call);

    if (call == CALL_NONE)
        return;
    for (unsigned i = 0; i < EACH; i++) {
        if (atomic_load(&mine->ledger->places[mine->place + i].call) != call)
            continue;
        if (atomic_fetch_sub(&wish->after, 1) == 1) {
            atomic_store(&wish->call, CALL_NONE);
            (void)kill(getpid(), SIGSTOP);
        }
        return;
    }
}

/* Opens and closes, too. */
static lbx_status
come_and_go(const struct workers *workers)
{
    mine = workers;
    calls_hook = stop_if_wished;
    while (!atomic_load(&workers->ledger->stop)) {
        const lbx_status status = workers_run(workers, 100 * LBX_MS);

        if (status != LBX_OK)
            return status;
    }
    return LBX_OK;
}

static lbx_status
stay(const struct workers *workers)
{
    return workers_run(workers, 0);
}

/* ---- The parent ---- */

/* When one of them last got on. */
static int64_t
latest_progress(const struct workers *workers)
{
    int64_t latest = 0;

    for (unsigned i = 0; i < EACH; i++) {
        const int64_t progress =
            workers->ledger->places[workers->place + i].progress_ns;

        latest = progress > latest ? progress : latest;
    }
    return latest;
}

/* Stops it in the middle of a call, and goes on: how long the others stood
 * still meanwhile. */
static int64_t
stop_in(enum ledger_call call, int after, pid_t child,
        const struct workers *others)
{
    int64_t longest = 0, end;
    int status;

    atomic_store(&wish->after, after);
    atomic_store(&wish->call, call);
    CHECK(waitpid(child, &status, WUNTRACED) == child);
    if (!WIFSTOPPED(status))
        FAIL("the process ended by itself: %s",
             lbx_status_name((lbx_status)others->ledger->failure));
    end = lbx_clock_now(NULL) + STOP_MS * LBX_MS;
    while (lbx_clock_now(NULL) < end) {
        const int64_t still = lbx_clock_now(NULL) - latest_progress(others);

        longest = still > longest ? still : longest;
        test_pause(UINT_MAX);
    }
    CHECK(kill(child, SIGCONT) == 0);
    return longest;
}

/* Each kind several times, as long as there is time, but once for certain. */
static void
stop_in_every_call(pid_t child, const struct workers *others, uint64_t *state)
{
    struct rounds rounds = rounds_of(test_rounds(4, 1000), 1, 8);
    int64_t longest = 0;
    int worst = CALL_OPEN, stops = 0;

    while (rounds_next(&rounds)) {
        for (int call = CALL_OPEN; call < LEDGER_CALLS; call++) {
            const int64_t still =
                stop_in((enum ledger_call)call, 1 + (int)rounds_draw(state, 6),
                        child, others);

            stops++;
            if (still > longest) {
                longest = still;
                worst = call;
            }
        }
    }
    test_figure(
        "crash, stopped: %d stops of %d ms in %d kinds of call; longest "
        "stand-still of the others %.0f ms (%s)",
        stops, STOP_MS, LEDGER_CALLS - CALL_OPEN, (double)longest / LBX_MS,
        kinds[worst]);
}

TEST(a_process_that_is_stopped_in_any_call_loses_nothing)
{
    struct ledger *ledger = ledger_create(
        (uint64_t)test_rounds(1, 10) * 1000000, lbx_clock_now(NULL));
    lbx_store_options options = LBX_STORE_OPTIONS_INIT;
    struct workers workers =
        processes_workers(ledger, processes_url(), &options);
    struct workers others;
    struct score score;
    pid_t children[2];
    uint64_t state = workers.seed;

    wish = mmap(NULL, sizeof(*wish), PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(wish != MAP_FAILED);
    options.journal_bytes = 1 << 20;
    workers.senders = workers.receivers = EACH / 2;
    workers.live_max = 600;
    others = workers;
    workers.wished = &wish->call;
    others.place = EACH;
    others.seed++;
    children[0] = processes_start(&others, stay);
    EVENTUALLY(latest_progress(&others) > 0);
    children[1] = processes_start(&workers, come_and_go);
    stop_in_every_call(children[1], &others, &state);
    atomic_store(&ledger->stop, 1);
    for (int i = 0; i < 2; i++) {
        if (processes_await(children[i]) != 0)
            FAIL("a process ended with %s",
                 lbx_status_name((lbx_status)ledger->failure));
    }
    atomic_store(&ledger->stop, 0);
    processes_drain(&workers);
    score = ledger_judge(ledger);
    score_report("stopped", 0, &score);
    score.late = 0; // that is what being stopped means
    score_check_faultless(&score);
    CHECK_INT(0, munmap(wish, sizeof(*wish)));
    ledger_destroy(ledger);
}
