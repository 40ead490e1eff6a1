/* SPDX-License-Identifier: Apache-2.0 */
/* Pipes of operations whose wakers call when the test says so. */
#include "actor/fixture.h"
#include "base/op.h"
#include "support/torture.h"

/* An operation that ends when the test says so. */
struct bell {
    lbx_operation operation;
    uint64_t correlation;
    int64_t deadline_ns;
    bool over;
    bool rings_late; /* the poll at its deadline calls the waker */
    int polls;
    lbx_waker waker;
};

static void
bell_ring(struct bell *bell)
{
    bell->waker.wake(bell->waker.context);
}

static lbx_status
bell_poll(lbx__op *op, const lbx_waker *waker)
{
    struct bell *bell = op->subject;

    bell->waker = *waker;
    bell->polls++;
    if (bell->rings_late && lbx__op_late(op)) {
        lbx__op_set_deadline(op, LBX_FOREVER);
        bell_ring(bell);
    }
    return bell->over ? LBX_OK : LBX_PENDING;
}

static lbx_status
bell_leave(lbx__op *op, lbx_status why)
{
    (void)op;
    return why;
}

static void
bell_release(lbx__op *op)
{
    (void)op;
}

static const lbx__op_ops bell_ops = {
    .poll = bell_poll,
    .leave = bell_leave,
    .release = bell_release,
};

static lbx_status
do_pipe(lbx_context *context, struct part *part, void *argument)
{
    struct bell *bell = argument;

    lbx__op_init(lbx__op_of(&bell->operation), &bell_ops, bell,
                 &part->world->clock, bell->deadline_ns);
    return lbx_context_pipe(context, &bell->operation, bell->correlation, NULL,
                            NULL);
}

static lbx_status
write_correlation(lbx_context *context, struct part *part, void *message)
{
    const lbx_pipe_result *result = message;

    CHECK_PTR(lbx_pipe_result_type(), lbx_context_type(context));
    world_write(part->world, "%s#%d", part->name, (int)result->correlation);
    return LBX_OK;
}

// The actor is told of the deadline and of both wake-ups before it runs; the
// poll for the deadline is woken again.
ACTOR_TEST("PIPE-2", pipe_that_wakes_while_it_is_called_is_called_once)
{
    struct bell first = {.correlation = 1, .rings_late = true};
    struct bell second = {.correlation = 2, .deadline_ns = LBX_FOREVER};

    first.deadline_ns = test_clock_now(&world->time) + 10;
    a->receive = write_correlation;
    part_spawn(a);
    bid(a, do_pipe, &first);
    bid(a, do_pipe, &second);
    CHECK_DIARY(world, "a+");
    test_clock_advance(&world->time, 10);
    CHECK_INT(0, world_run_most(world, 0)); // the timer fires
    bell_ring(&first);
    second.over = true;
    bell_ring(&second);
    CHECK_DIARY(world, "a#2");
    CHECK_INT(3, first.polls);
    first.over = true;
    bell_ring(&first);
    CHECK_DIARY(world, "a#1");
}

// Each deadline is before the last one's, and each pipe ends before its own.
TEST_CITING("PIPE-5", timers_of_pipes_do_not_pile_up)
{
    enum {
        WARM = 10,
        ROUNDS = 100,
    };
    struct torture memory = TORTURE_INIT;
    lbx_allocator allocator = torture_allocator(&memory);
    struct world world;
    lbx_system_options options = world_options(&world);
    struct part a;
    long blocks = 0;

    options.allocator = &allocator;
    world_begin_with(&world, &options);
    part_init(&a, &world, "a");
    a.receive = write_correlation;
    part_spawn(&a);
    CHECK_DIARY(&world, "a+");
    for (int i = 0; i < ROUNDS; i++) {
        struct bell bell = {.correlation = 1};

        bell.deadline_ns = test_clock_now(&world.time) + LBX_SECOND - i;
        bid(&a, do_pipe, &bell);
        (void)world_run(&world);
        bell.over = true;
        bell_ring(&bell);
        CHECK_DIARY(&world, "a#1");
        if (i == WARM)
            blocks = memory.live_blocks;
    }
    CHECK_INT(blocks, memory.live_blocks);
    world_end(&world);
}
