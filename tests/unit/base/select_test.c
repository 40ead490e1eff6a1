/* SPDX-License-Identifier: Apache-2.0 */
/* Select over several operations, shown on gates. */
#include "gate.h"
#include "support/clock.h"
#include "support/test.h"
#include "support/threads.h"

enum {
    GATES = 3
};

struct world {
    struct gate gates[GATES];
    lbx_operation passes[GATES];
    lbx_operation *each[GATES];
    lbx_operation select;
    size_t winner;
};

static void
start_until(struct world *world, const lbx_clock *clock, size_t first,
            int64_t deadline_ns)
{
    for (int i = 0; i < GATES; i++) {
        gate_init(&world->gates[i], clock);
        gate_pass_init(&world->passes[i], &world->gates[i], LBX_FOREVER);
        world->each[i] = &world->passes[i];
    }
    world->winner = GATES;
    CHECK_OK(lbx_select_init(&world->select, world->each, GATES, first,
                             deadline_ns, &world->winner));
}

static void
start(struct world *world)
{
    start_until(world, NULL, 0, LBX_FOREVER);
}

static void
finish(struct world *world)
{
    lbx_operation_fini(&world->select);
    for (int i = 0; i < GATES; i++) {
        lbx_operation_fini(&world->passes[i]);
        CHECK_INT(0, gate_waiting(&world->gates[i]));
        CHECK_INT(1, world->gates[i].released);
    }
}

TEST_CITING("WAIT-8", select_takes_from_exactly_one)
{
    struct world world;

    start(&world);
    for (int i = 0; i < GATES; i++)
        gate_open(&world.gates[i], 1);
    CHECK_OK(lbx_operation_poll(&world.select, NULL));
    CHECK_INT(0, world.winner);
    CHECK_INT(0, gate_permits(&world.gates[0]));
    CHECK_INT(1, gate_permits(&world.gates[1]));
    CHECK_INT(1, gate_permits(&world.gates[2]));
    CHECK_OK(lbx_operation_status(&world.passes[0]));
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_status(&world.passes[1]));
    finish(&world);
}

TEST(select_looks_first_where_it_is_told)
{
    for (size_t first = 0; first < GATES; first++) {
        struct world world;

        start_until(&world, NULL, first, LBX_FOREVER);
        for (int i = 0; i < GATES; i++)
            gate_open(&world.gates[i], 1);
        CHECK_OK(lbx_operation_poll(&world.select, NULL));
        CHECK_INT(first, world.winner);
        finish(&world);
    }
}

TEST(select_goes_round)
{
    struct world world;

    start_until(&world, NULL, 2, LBX_FOREVER);
    gate_open(&world.gates[1], 1);
    CHECK_OK(lbx_operation_poll(&world.select, NULL));
    CHECK_INT(1, world.winner);
    finish(&world);
}

/* Two gates open before the select is polled again: one call, one winner, and
 * the other permit stays. */
TEST_CITING("WAIT-8", select_is_called_once_and_eats_no_wake_up)
{
    struct counter counter = {0};
    lbx_waker waker = counter_waker(&counter);
    struct world world;

    start(&world);
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&world.select, &waker));
    gate_open(&world.gates[2], 1);
    gate_open(&world.gates[1], 1);
    CHECK_INT(1, counter_calls(&counter));
    CHECK_OK(lbx_operation_poll(&world.select, &waker));
    CHECK_INT(1, world.winner);
    CHECK_INT(1, gate_permits(&world.gates[2])); // handed back
    finish(&world);
    CHECK_INT(1, counter_calls(&counter));
}

TEST_CITING("WAIT-8", select_loser_passes_its_reservation_on)
{
    struct counter counter = {0};
    lbx_waker waker = counter_waker(&counter);
    struct world world;
    lbx_operation next;

    start(&world);
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&world.select, NULL));
    gate_pass_init(&next, &world.gates[1], LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&next, &waker));
    gate_open(&world.gates[0], 1);
    gate_open(&world.gates[1], 1);
    CHECK_INT(0, counter_calls(&counter));
    CHECK_OK(lbx_operation_poll(&world.select, NULL));
    CHECK_INT(0, world.winner);
    CHECK_INT(1, counter_calls(&counter));
    CHECK_OK(lbx_operation_poll(&next, NULL));
    lbx_operation_fini(&next);
    world.gates[1].released--;
    finish(&world);
}

/* Polling again does not cost a select its place in the line. */
TEST_CITING("R-34", select_keeps_its_place)
{
    struct world world;
    lbx_operation next;

    start(&world);
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&world.select, NULL));
    gate_pass_init(&next, &world.gates[1], LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&next, NULL));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&world.select, NULL));
    gate_open(&world.gates[1], 1);
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&next, NULL));
    CHECK_OK(lbx_operation_poll(&world.select, NULL));
    lbx_operation_fini(&next);
    world.gates[1].released--;
    finish(&world);
}

TEST(select_ends_as_its_winner_does)
{
    struct world world;

    start(&world);
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&world.select, NULL));
    gate_refuse(&world.gates[1], LBX_CLOSED);
    CHECK_STATUS(LBX_CLOSED, lbx_operation_poll(&world.select, NULL));
    CHECK_INT(1, world.winner);
    finish(&world);
}

TEST(select_times_out_and_leaves_its_children_pending)
{
    TEST_CLOCK(time, clock);
    int64_t deadline_ns = lbx_deadline_after(&clock, 10);
    struct world world;

    start_until(&world, &clock, 0, deadline_ns);
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&world.select, NULL));
    CHECK_INT(deadline_ns, lbx_operation_deadline(&world.select));
    test_clock_advance(&time, 10);
    CHECK_STATUS(LBX_TIMEOUT, lbx_operation_poll(&world.select, NULL));
    CHECK_INT(GATES, world.winner);
    for (int i = 0; i < GATES; i++)
        CHECK_STATUS(LBX_PENDING, lbx_operation_status(&world.passes[i]));
    lbx_operation_fini(&world.select);
    for (int i = 0; i < GATES; i++)
        CHECK_STATUS(LBX_PENDING, lbx_operation_status(&world.passes[i]));

    // They can be selected over again.
    CHECK_OK(lbx_select_init(&world.select, world.each, GATES, 0, LBX_FOREVER,
                             &world.winner));
    gate_open(&world.gates[2], 1);
    CHECK_OK(lbx_operation_poll(&world.select, NULL));
    CHECK_INT(2, world.winner);
    finish(&world);
}

/* A clock whose reading opens a gate: the worst moment for a timeout. */
struct trap {
    struct test_clock time;
    struct gate *gate;
    int until; /* this reading opens it */
    int readings;
};

static int64_t
read_trap(void *context)
{
    struct trap *trap = context;

    if (trap->readings++ == trap->until && trap->gate)
        gate_open(trap->gate, 1);
    return test_clock_now(&trap->time);
}

/* A child that is served while the select times out either wins or is still
 * pending: what it took is never lost. */
TEST_CITING("WAIT-3 WAIT-8", select_timeout_loses_no_permit)
{
    for (int until = 0; until < 8; until++) {
        struct trap trap = {.time = TEST_CLOCK_INIT, .until = until};
        lbx_clock clock = {read_trap, &trap};
        struct world world;
        int passed = 0;

        start_until(&world, &clock, 0, 5); // long past
        trap.gate = &world.gates[1];
        trap.readings = 0;
        if (lbx_operation_poll(&world.select, NULL) == LBX_OK) {
            CHECK_INT(1, world.winner);
            passed = 1;
        } else {
            CHECK_STATUS(LBX_TIMEOUT, lbx_operation_status(&world.select));
            CHECK_STATUS(LBX_PENDING, lbx_operation_status(&world.passes[1]));
        }
        finish(&world);
        if (trap.readings > until)
            CHECK_INT(1, passed + gate_permits(&world.gates[1]));
    }
}

/* False: the deadline had passed before the thread could sleep. */
static bool
select_sleeps_until(int64_t deadline_ns)
{
    lbx_operation pass, select;
    lbx_operation *each[] = {&pass};
    struct gate gate;
    size_t winner;
    bool sleeps;

    gate_init(&gate, NULL);
    gate_pass_init(&pass, &gate, deadline_ns);
    CHECK_OK(lbx_select_init(&select, each, 1, 0, LBX_FOREVER, &winner));
    sleeps = lbx_operation_poll(&select, NULL) == LBX_PENDING;
    if (sleeps)
        CHECK_INT(deadline_ns, lbx_operation_deadline(&select));
    CHECK_STATUS(LBX_TIMEOUT, lbx_operation_wait(&select));
    CHECK_INT(0, winner);
    lbx_operation_fini(&select);
    lbx_operation_fini(&pass);
    return sleeps;
}

/* A child's own deadline ends the select, also when its thread sleeps. */
TEST(select_minds_the_deadlines_of_its_children)
{
    int64_t wait_ns = 5 * LBX_MS;

    while (!select_sleeps_until(lbx_deadline_after(NULL, wait_ns)))
        wait_ns *= 2; // on a slow machine
}

TEST(select_cancelled_takes_nothing)
{
    struct world world;

    start(&world);
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&world.select, NULL));
    gate_open(&world.gates[1], 1);
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&world.select));
    CHECK_INT(1, gate_permits(&world.gates[1]));
    CHECK_INT(GATES, world.winner);
    finish(&world);
}

static void
open_last(void *context)
{
    struct world *world = context;

    EVENTUALLY(gate_waiting(&world->gates[GATES - 1]) == 1);
    gate_open(&world->gates[GATES - 1], 1);
}

TEST(select_parks_a_thread)
{
    struct thread thread;
    struct world world;

    start(&world);
    thread_start(&thread, open_last, &world);
    CHECK_OK(lbx_operation_wait(&world.select));
    CHECK_INT(GATES - 1, world.winner);
    thread_join(&thread);
    finish(&world);
}

/* Openers of two gates against selects over both. */
struct race {
    struct gate gates[2];
    int rounds;
};

static void
open_or_select(unsigned index, void *context)
{
    struct race *race = context;

    for (int i = 0; i < race->rounds; i++) {
        lbx_operation passes[2], select;
        lbx_operation *each[] = {&passes[0], &passes[1]};
        size_t winner;

        if (index < 2) {
            gate_open(&race->gates[index], 1);
            continue;
        }
        gate_pass_init(&passes[0], &race->gates[0], LBX_FOREVER);
        gate_pass_init(&passes[1], &race->gates[1], LBX_FOREVER);
        CHECK_OK(lbx_select_init(&select, each, 2, (unsigned)i % 2, LBX_FOREVER,
                                 &winner));
        CHECK_OK(lbx_operation_wait(&select));
        lbx_operation_fini(&select);
        lbx_operation_fini(&passes[0]);
        lbx_operation_fini(&passes[1]);
    }
}

/* As many selects as openings: all of them end, and nothing is left. */
TEST_CITING("WAIT-8 MSG-9 MSG-10", select_race_loses_nothing)
{
    struct race race = {.rounds = test_is_sanitized() ? 2000 : 20000};

    gate_init(&race.gates[0], NULL);
    gate_init(&race.gates[1], NULL);
    threads_run(4, open_or_select, &race);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(0, gate_permits(&race.gates[i]));
        CHECK_INT(0, gate_waiting(&race.gates[i]));
    }
}

TEST(select_of_nothing_is_refused)
{
    lbx_operation pass, zeroed = {{0}}, select;
    lbx_operation *each[] = {&pass, NULL};
    struct gate gate;
    size_t winner;

    gate_init(&gate, NULL);
    gate_pass_init(&pass, &gate, LBX_FOREVER);
    CHECK_STATUS(LBX_INVALID, lbx_select_init(&select, each, 0, 0, 0, &winner));
    CHECK_STATUS(LBX_INVALID, lbx_select_init(&select, each, 2, 0, 0, &winner));
    CHECK_STATUS(LBX_INVALID, lbx_select_init(&select, each, 1, 1, 0, &winner));
    CHECK_STATUS(LBX_INVALID, lbx_select_init(&select, NULL, 1, 0, 0, &winner));
    CHECK_STATUS(LBX_INVALID, lbx_select_init(NULL, each, 1, 0, 0, &winner));
    CHECK_STATUS(LBX_INVALID, lbx_select_init(&select, each, 1, 0, 0, NULL));
    each[0] = &zeroed;
    CHECK_STATUS(LBX_INVALID, lbx_select_init(&select, each, 1, 0, 0, &winner));
    lbx_operation_fini(&pass);
}

/* Deadlines of different clocks cannot be compared. */
TEST(select_over_two_clocks_is_refused)
{
    TEST_CLOCK(time, clock);
    lbx_operation passes[2], select;
    lbx_operation *each[] = {&passes[0], &passes[1]};
    struct gate gates[2];
    size_t winner;

    for (int i = 0; i < 2; i++) {
        gate_init(&gates[i], i ? &clock : NULL);
        gate_pass_init(&passes[i], &gates[i], LBX_FOREVER);
    }
    CHECK_STATUS(LBX_INVALID, lbx_select_init(&select, each, 2, 0, 0, &winner));
    for (int i = 0; i < 2; i++)
        lbx_operation_fini(&passes[i]);
}
