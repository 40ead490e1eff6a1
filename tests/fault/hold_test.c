/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A parent of many fails and is resumed while allocations fail: its children
 * are told to wait and to go on. An actor that cannot be told is stopped; none
 * waits for ever. Nor does one that waits for a timer of its supervisor.
 */
#include <letterbox/actor.h>

#include "support/clock.h"
#include "support/test.h"
#include "support/torture.h"

enum {
    CHILDREN = 3000, // more than the nodes that are made at once
    WORK = 1,
    FAIL_NOW,
};

static struct {
    lbx_ref parent;
    lbx_ref children[CHILDREN];
    int handled;
} family;

static lbx_status
child_receive(lbx_context *context, void *state, void *message)
{
    (void)context;
    (void)state;
    (void)message;
    family.handled++;
    return LBX_OK;
}

static const lbx_behaviour child = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "child",
    .receive = child_receive,
};

static lbx_status
parent_start(lbx_context *context, void *state, void *argument)
{
    lbx_props props = LBX_PROPS_INIT;

    (void)state;
    (void)argument;
    props.behaviour = &child;
    for (int i = 0; i < CHILDREN; i++)
        CHECK_OK(lbx_context_spawn(context, &props, NULL, &family.children[i]));
    return LBX_OK;
}

static lbx_status
parent_receive(lbx_context *context, void *state, void *message)
{
    (void)context;
    (void)state;
    return (intptr_t)message == FAIL_NOW ? LBX_REFUSED : LBX_OK;
}

static const lbx_behaviour parent = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "parent",
    .start = parent_start,
    .receive = parent_receive,
};

static lbx_status
grandparent_start(lbx_context *context, void *state, void *argument)
{
    lbx_props props = LBX_PROPS_INIT;

    (void)state;
    (void)argument;
    props.behaviour = &parent;
    return lbx_context_spawn(context, &props, "parent", &family.parent);
}

static const lbx_behaviour grandparent = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "grandparent",
    .start = grandparent_start,
    .receive = parent_receive,
};

static void
run(lbx_system *system, uint64_t most)
{
    CHECK_OK(lbx_system_run(system, most, NULL));
}

/* A system with the family in it, and an actor that handles nothing. */
static lbx_system *
make(const lbx_allocator *allocator, lbx_ref *ret_hog)
{
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;
    lbx_props props = LBX_PROPS_INIT;
    lbx_system *system;
    lbx_ref ref;

    options.allocator = allocator;
    options.threads = 0;
    CHECK_OK(lbx_system_create(&options, &system));
    props.behaviour = &child;
    CHECK_OK(lbx_system_spawn(system, &props, NULL, ret_hog));
    CHECK_OK(lbx_ref_suspend(*ret_hog));
    props.behaviour = &grandparent;
    props.strategy.directive = LBX_DIRECTIVE_RESUME;
    CHECK_OK(lbx_system_spawn(system, &props, NULL, &ref));
    run(system, UINT64_MAX);
    return system;
}

/* From here on every message needs memory that is not there. */
static void
use_all_nodes(struct torture *memory, lbx_ref hog)
{
    lbx_envelope envelope = lbx_envelope_of(NULL, LBX_PRIORITY_DEFAULT);
    bool once = memory->once;
    long failures = memory->failures;
    lbx_status status = LBX_OK;

    memory->once = false;
    memory->allowed = memory->allocations;
    while (status == LBX_OK)
        status = lbx_try_tell(hog, &envelope);
    CHECK_STATUS(LBX_NO_MEMORY, status);
    memory->once = once;
    memory->failures = failures; // this one was not the test's
}

static void
hold_body(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    long allowed = memory->allowed;
    int alive = 0;
    lbx_system *system;
    lbx_ref hog;

    (void)context;
    memory->allowed = LONG_MAX;
    system = make(&allocator, &hog);
    lbx_tell(family.parent, (void *)FAIL_NOW);
    run(system, 1 + CHILDREN); // they have been told to wait
    use_all_nodes(memory, hog);
    memory->allowed =
        allowed == LONG_MAX ? LONG_MAX : memory->allocations + allowed;
    run(system, UINT64_MAX);
    memory->allowed = LONG_MAX;
    family.handled = 0;
    for (int i = 0; i < CHILDREN; i++)
        if (lbx_ref_is_alive(family.children[i])) {
            lbx_tell(family.children[i], (void *)WORK);
            alive++;
        }
    run(system, UINT64_MAX);
    CHECK_INT(alive, family.handled);
    lbx_system_destroy(system);
}

TEST(those_who_wait_survive_every_failing_allocation)
{
    CHECK(torture_every_allocation(hold_body, NULL) > 1);
    CHECK_INT(CHILDREN, family.handled); // with memory, all of them
}

// ---- Those who wait for their time ----

/* Fails at its first message. */
static lbx_status
patient_receive(lbx_context *context, void *state, void *message)
{
    (void)context;
    (void)state;
    (void)message;
    return ++family.handled == 1 ? LBX_REFUSED : LBX_OK;
}

static const lbx_behaviour patient = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "patient",
    .receive = patient_receive,
};

/* There is no memory when the time of an actor that failed has come. */
static void
check_goes_on(const lbx_supervisor *supervisor, int expected)
{
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;
    lbx_props props = LBX_PROPS_INIT;
    struct torture memory = TORTURE_INIT;
    lbx_allocator allocator = torture_allocator(&memory);
    struct test_clock time = TEST_CLOCK_INIT;
    lbx_clock clock = test_clock_interface(&time);
    lbx_system *system;
    lbx_ref hog;
    lbx_ref ref;

    options.allocator = &allocator;
    options.clock = &clock;
    options.threads = 0;
    options.supervisor = supervisor;
    CHECK_OK(lbx_system_create(&options, &system));
    props.behaviour = &child;
    CHECK_OK(lbx_system_spawn(system, &props, NULL, &hog));
    CHECK_OK(lbx_ref_suspend(hog));
    props.behaviour = &patient;
    CHECK_OK(lbx_system_spawn(system, &props, NULL, &ref));
    family.handled = 0;
    lbx_tell(ref, (void *)WORK);
    lbx_tell(ref, (void *)WORK);
    run(system, UINT64_MAX);
    CHECK_INT(1, family.handled);
    use_all_nodes(&memory, hog);
    test_clock_advance(&time, 100);
    run(system, UINT64_MAX);
    CHECK_INT(expected, family.handled);
    memory.allowed = LONG_MAX;
    lbx_system_destroy(system);
    CHECK_INT(0, memory.live_blocks);
}

TEST(back_off_ends_without_memory)
{
    lbx_supervisor supervisor = LBX_SUPERVISOR_INIT;

    supervisor.min_backoff_ns = 100;
    check_goes_on(&supervisor, 2);
}

TEST(retry_comes_without_memory)
{
    lbx_supervisor supervisor = LBX_SUPERVISOR_INIT;

    supervisor.strategy.directive = LBX_DIRECTIVE_RETRY;
    supervisor.strategy.retry_ns = 100;
    check_goes_on(&supervisor, 3); // the failed one again, too
}
