/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers that sleep and are woken: no cell is left while all of them sleep
 * (DISP-2), and none while one worker sleeps and the others are busy (DISP-3,
 * DISP-5), those included that a thief is moving. No thread touches a
 * dispatcher whose last actor it has woken (DISP-6).
 *
 * The dispatcher's threads are threads of the scenario. A sender waits until
 * its message was handled: a cell that no worker runs shows as a deadlock.
 */
#include "explorer/scenarios/scenarios.h"
#include "explorer/scenarios/stage.h"

#include "actor/core/system.h"
#include "actor/dispatch/thread_pool.h"
#include "base/park.h"

#include <string.h>

static struct player first;
static struct player second;
static struct player boss;
static struct player others[2];
static _Atomic(uint32_t) first_is_done;
static _Atomic(uint32_t) second_is_done;
static _Atomic(uint32_t) slot_is_free;
static lbx__dispatcher *pool;
static lbx__thread_pools pools;

static void
set(_Atomic(uint32_t) *word)
{
    lbx__store(word, 1u, seq_cst);
    lbx__futex_wake(word, EXPLORER_THREADS);
}

static void
await(_Atomic(uint32_t) *word)
{
    while (lbx__load(word, seq_cst) == 0)
        lbx__futex_wait(word, 0, -1);
}

static void
play_first(lbx_context *context)
{
    (void)context;
    set(&first_is_done);
}

static void
play_second(lbx_context *context)
{
    (void)context;
    set(&second_is_done);
}

// Busy until the other has been run: by another worker.
static void
play_first_after_second(lbx_context *context)
{
    await(&second_is_done);
    play_first(context);
}

// Keeps its worker while others look into its queue.
static void
play_slot(lbx_context *context)
{
    (void)context;
    await(&slot_is_free);
}

// Three for the run queue of its worker, so that a thief takes two; and one for
// the slot.
static void
tell_all(lbx_context *context)
{
    (void)context;
    stage_tell(&first);
    stage_tell(&second);
    stage_tell(&others[0]);
    stage_tell(&others[1]);
}

// Tells another, which lands in its worker's slot, and waits for it.
static void
play_first_with_second(lbx_context *context)
{
    stage_tell(&second);
    play_first_after_second(context);
}

// Busy until the second has been run, which another has told.
static void
wait_for_second(lbx_context *context)
{
    (void)context;
    await(&second_is_done);
}

// The actor leaves its dispatcher, as one that ends does (THPOOL-1).
static void
leave_pool(lbx_context *context)
{
    context->cell->runnable.dispatcher = stage->dispatcher;
    set(&first_is_done);
}

static void
leave_pools(lbx_context *context)
{
    (void)lbx__thread_pools_leave(&pools, pool, 0);
    leave_pool(context);
}

/* ---- Setups ---- */

static void
setup_with(int64_t threads)
{
    memset(&first, 0, sizeof(first));
    memset(&second, 0, sizeof(second));
    memset(&boss, 0, sizeof(boss));
    memset(others, 0, sizeof(others));
    lbx__init(&first_is_done, 0);
    lbx__init(&second_is_done, 0);
    lbx__init(&slot_is_free, 0);
    first.plays = play_first;
    second.plays = play_second;
    stage_create_with_threads(threads);
    stage_spawn(&first);
    stage_spawn(&second);
    stage_run();
}

STEP(setup_one, setup_with(1))
STEP(setup_two, setup_with(2))

static void
setup_busy(void)
{
    setup_with(2);
    first.plays = play_first_after_second;
}

static void
setup_stuck(void)
{
    setup_with(2);
    first.plays = play_first_with_second;
}

// The same, and another worker is busy until then, too.
static void
setup_two_stuck(void)
{
    setup_with(3);
    first.plays = play_first_with_second;
    boss.plays = wait_for_second;
    stage_spawn(&boss);
    stage_run();
}

// The first has a dispatcher of its own.
static void
setup_pool(void)
{
    lbx__dispatcher_options options = {
        .name = "pool", .threads = 1, .throughput = 1};

    setup_with(0);
    first.plays = leave_pool;
    EXPECT_OK(lbx__dispatcher_create(&stage->dispatching, &options, &pool));
    lbx__cell_of(first.ref.word)->runnable.dispatcher = pool;
}

// The same, as one of several, and told.
static void
setup_pools(void)
{
    lbx__dispatcher_options options = {
        .name = "pool", .threads = 1, .throughput = 1};

    setup_with(0);
    memset(&pools, 0, sizeof(pools));
    first.plays = leave_pools;
    EXPECT_OK(lbx__thread_pools_enter(&pools, &stage->dispatching, &options,
                                      false, &pool));
    lbx__cell_of(first.ref.word)->runnable.dispatcher = pool;
    stage_tell(&first);
}

// A thief of the first and the second is busy with the first.
static void
setup_boss(void)
{
    setup_busy();
    boss.plays = tell_all;
    others[1].plays = play_slot;
    stage_spawn(&boss);
    stage_spawn(&others[0]);
    stage_spawn(&others[1]);
    stage_run();
    stage_tell(&boss);
}

/* ---- Threads ---- */

STEP(worker_0, explorer_be_thread(0))
STEP(worker_1, explorer_be_thread(1))
STEP(worker_2, explorer_be_thread(2))
STEP(stop, lbx__dispatcher_stop(stage->dispatcher))

static void
tell(void)
{
    stage_tell(&first);
    await(&first_is_done);
    stop();
}

static void
tell_both(void)
{
    stage_tell(&first);
    stage_tell(&second);
    await(&first_is_done);
    await(&second_is_done);
    stop();
}

static void
tell_first_and_boss(void)
{
    stage_tell(&first);
    stage_tell(&boss);
    await(&first_is_done);
    stop();
}

STEP(tell_first, stage_tell(&first))

// What lbx__thread_pools_end_idle() does.
static void
rest(void)
{
    await(&first_is_done);
    lbx__dispatcher_stop(pool);
    lbx__dispatcher_destroy(pool);
}

static void
rest_all(void)
{
    await(&first_is_done);
    lbx__thread_pools_end_idle(&pools, &explorer_memory, INT64_MAX);
}

// Numbers never become less.
static void
count_twice(void)
{
    lbx__dispatcher_stats before = {0};
    lbx__dispatcher_stats after = {0};

    lbx__thread_pools_add_stats(&pools, &before);
    lbx__thread_pools_add_stats(&pools, &after);
    EXPECT(after.runs >= before.runs);
    EXPECT(after.handled >= before.handled);
}

static void
free_slot(void)
{
    set(&slot_is_free);
    await(&first_is_done);
    await(&second_is_done);
    stop();
}

/* ---- Ends ---- */

const struct scenario workers_scenarios[] = {
    SCENARIO("workers/one", setup_one, stage_finish,
             THREADS(worker_0, tell_both), BOUND(2, 4)),
    TWIN("workers/one-sleeps-without-a-look", "sleeps-without-a-look",
         "a worker goes to sleep without a last look (DISP-2)", BOUND(2, 4)),
    SCENARIO("workers/one-is-not-woken", setup_one, stage_finish,
             THREADS(worker_0, tell), PLANTED("lost-wake", "a wake-up is lost"),
             BOUND(2, 3)),
    SCENARIO("workers/two", setup_two, stage_finish,
             THREADS(worker_0, worker_1, tell), BOUND(1, 3)),
    SCENARIO("workers/one-is-busy", setup_busy, stage_finish,
             THREADS(worker_0, worker_1, tell_both), BOUND(1, 3)),
    TWIN("workers/one-is-busy-and-wakes-no-other", "finders-wake-no-other",
         "a worker that found something does not wake the next (DISP-3)",
         BOUND(1, 2)),
    TWIN("workers/one-is-busy-and-the-other-sleeps-without-a-look",
         "sleeps-without-a-look",
         "a worker goes to sleep without a last look (DISP-2)", BOUND(1, 2)),
    SCENARIO("workers/one-is-stuck", setup_stuck, stage_finish,
             THREADS(worker_0, worker_1, tell), BOUND(1, 2)),
    TWIN("workers/one-is-stuck-and-none-watches", "no-worker-watches",
         "no worker looks at the slot of one that is busy (DISP-5)",
         BOUND(1, 2)),
    TWIN("workers/one-is-stuck-and-calls-no-watcher", "watchers-are-not-called",
         "a slot is used, no worker watches, and none is called (DISP-5)",
         BOUND(1, 2)),
    {
        .name = "workers/two-are-stuck",
        .setup = setup_two_stuck,
        .thread = {worker_0, worker_1, worker_2, tell_first_and_boss},
        .finish = stage_finish,
        .bound = 1,
        .full_bound = 1,
        .full_only = true, // a minute
    },
    TWIN(
        "workers/two-are-stuck-and-the-finder-calls-no-watcher",
        "finders-call-no-watcher",
        "a slot is used while one searches, which finds work and does not look "
        "at slots (DISP-5)",
        BOUND(1, 1)),
    SCENARIO("workers/rests-after-its-last-actor", setup_pool, stage_finish,
             THREADS(worker_0, tell_first, rest), BOUND(2, 3)),
    TWIN("workers/rests-while-it-is-called", "givers-look-later",
         "a sender that has given a cell looks for sleepers then (DISP-6)",
         BOUND(2, 3)),
    SCENARIO("workers/rests-and-is-counted", setup_pools, stage_finish,
             THREADS(worker_0, rest_all, count_twice), BOUND(2, 3)),
    TWIN("workers/rests-uncounted", "resting-pools-do-not-count",
         "a pool that rests is on the list no more, and not yet counted "
         "(THPOOL-3)",
         BOUND(2, 3)),
    SCENARIO("workers/one-steals-two", setup_boss, stage_finish,
             THREADS(worker_0, worker_1, free_slot), BOUND(1, 2)),
    TWIN("workers/one-steals-two-and-wakes-no-other", "thieves-wake-no-other",
         "a thief does not say what it has moved (DISP-2)", BOUND(1, 2)),
    {0},
};
