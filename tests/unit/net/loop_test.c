/* SPDX-License-Identifier: Apache-2.0 */
#include "net/loop.h"

#include "support/loops.h"
#include "support/test.h"
#include "support/threads.h"
#include "support/torture.h"
#include <stdatomic.h>

enum {
    POSTERS = 4,
    POSTS = 2000
};

struct numbered {
    lbx__task task;
    struct world *world;
    int poster;
    int number;
};

struct world {
    lbx__loop *loop;
    struct numbered tasks[POSTERS][POSTS];
    int next[POSTERS]; /* of the loop's thread */
    atomic_int done;
    atomic_int fired;
    lbx__timer timer;
    lbx__task task;
    int64_t started_ns;
};

static void
run_numbered(lbx__task *task)
{
    struct numbered *numbered = (struct numbered *)(void *)task;
    struct world *world = numbered->world;

    CHECK(lbx__loop_is_this_thread(world->loop));
    CHECK_INT(world->next[numbered->poster]++, numbered->number);
    atomic_fetch_add(&world->done, 1);
}

static void
post_all(unsigned index, void *context)
{
    struct world *world = context;
    int i;

    for (i = 0; i < POSTS; i++) {
        struct numbered *numbered = &world->tasks[index][i];

        *numbered = (struct numbered){
            .world = world, .poster = (int)index, .number = i};
        numbered->task.run = run_numbered;
        lbx__loop_post(world->loop, &numbered->task);
    }
}

/* LOOP-1 */
TEST(tasks_run_once_in_the_order_of_each_poster)
{
    static struct world world;
    lbx_fault fault;

    CHECK_OK(lbx__loop_create(NULL, "test", &world.loop, &fault));
    CHECK(!lbx__loop_is_this_thread(world.loop));
    threads_run(POSTERS, post_all, &world);
    lbx__loop_destroy(world.loop); // runs what was posted before
    CHECK_INT(POSTERS * POSTS, atomic_load(&world.done));
}

static void
timer_fired(lbx__timer *timer)
{
    struct world *world =
        (struct world *)(void *)((char *)timer - offsetof(struct world, timer));

    CHECK(lbx_clock_now(NULL) - world->started_ns >= 3 * LBX_MS);
    atomic_fetch_add(&world->fired, 1);
    lbx__timer_close(&world->timer, NULL);
}

/* A task that posts itself until it has run often enough. */
static void
run_chained(lbx__task *task)
{
    struct world *world =
        (struct world *)(void *)((char *)task - offsetof(struct world, task));

    if (atomic_fetch_add(&world->done, 1) + 1 < POSTS)
        lbx__loop_post(world->loop, task);
}

/* LOOP-1 */
TEST(tasks_that_tasks_post_run_before_the_end)
{
    static struct world world;
    lbx_fault fault;

    CHECK_OK(lbx__loop_create(NULL, "test", &world.loop, &fault));
    world.task.run = run_chained;
    lbx__loop_post(world.loop, &world.task);
    lbx__loop_destroy(world.loop);
    CHECK_INT(POSTS, atomic_load(&world.done));
}

static void
timer_must_not_fire(lbx__timer *timer)
{
    (void)timer;
    FAIL("a timer that was stopped has fired");
}

static void
start_timer(lbx__task *task)
{
    struct world *world =
        (struct world *)(void *)((char *)task - offsetof(struct world, task));

    lbx__timer_init(&world->timer, world->loop);
    lbx__timer_start(&world->timer, 1, timer_must_not_fire);
    lbx__timer_stop(&world->timer);
    lbx__timer_start(&world->timer, 1, timer_must_not_fire);
    world->started_ns = lbx_clock_now(NULL);
    // A task that takes long: the delay counts from its own moment.
    while (lbx_clock_now(NULL) < world->started_ns + 20 * LBX_MS)
        test_pause(0);
    world->started_ns = lbx_clock_now(NULL);
    lbx__timer_start(&world->timer, 3 * LBX_MS, timer_fired);
}

TEST(timer_fires_once_and_not_early)
{
    static struct world world;
    lbx_fault fault;

    CHECK_OK(lbx__loop_create(NULL, "test", &world.loop, &fault));
    world.task.run = start_timer;
    lbx__loop_post(world.loop, &world.task);
    EVENTUALLY(atomic_load(&world.fired) == 1);
    lbx__loop_destroy(world.loop);
    CHECK_INT(1, atomic_load(&world.fired));
}

static void
start_short_timer(lbx__task *task)
{
    struct world *world =
        (struct world *)(void *)((char *)task - offsetof(struct world, task));

    lbx__timer_init(&world->timer, world->loop);
    world->started_ns = lbx_clock_now(NULL);
    lbx__timer_start(&world->timer, 3 * LBX_MS, timer_fired);
}

/* Keeps the loop busy, so that it looks at the time again and again. */
static void
run_until_fired(lbx__task *task)
{
    struct numbered *numbered = (struct numbered *)(void *)task;

    if (atomic_load(&numbered->world->fired) == 0)
        lbx__loop_post(numbered->world->loop, task);
}

TEST(timer_of_a_busy_loop_is_not_early)
{
    static struct world world;
    struct numbered *busy = &world.tasks[0][0];
    lbx_fault fault;

    for (int i = 0; i < 20; i++) {
        CHECK_OK(lbx__loop_create(NULL, "test", &world.loop, &fault));
        atomic_store(&world.fired, 0);
        *busy = (struct numbered){.world = &world};
        busy->task.run = run_until_fired;
        world.task.run = start_short_timer;
        lbx__loop_post(world.loop, &world.task);
        lbx__loop_post(world.loop, &busy->task);
        EVENTUALLY(atomic_load(&world.fired) == 1);
        lbx__loop_destroy(world.loop);
    }
}

static void
loop_once(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    lbx__loop *loop;
    lbx_fault fault;
    lbx_status status = lbx__loop_create(&allocator, "test", &loop, &fault);

    (void)context;
    if (status != LBX_OK) {
        CHECK_STATUS(LBX_NO_MEMORY, status);
        return;
    }
    lbx__loop_destroy(loop);
}

TEST(loop_survives_every_failing_allocation)
{
    CHECK(torture_every_allocation(loop_once, NULL) > 0);
}
