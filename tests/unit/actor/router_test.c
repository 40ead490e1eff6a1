/* SPDX-License-Identifier: Apache-2.0 */
/* Pools: several actors behind one ref. */
#include <letterbox/mailbox.h>
#include <sched.h>
#include <stdio.h>

#include "actor/fixture.h"

enum {
    ROUTEES = 5
};

// Workers of a pool share one part; each has a number of its own.
struct crew {
    struct world world;
    _Atomic int born;
    _Atomic int handled[64];
    _Atomic int total;
    struct gate gate; // held by the routee that gets the blocking letter
    lbx_ref busy;     // who that is
    lbx_ref pool;
};

struct worker {
    int number;
};

enum {
    BLOCKS = 500
};

static struct crew crew;

static lbx_status
worker_start(lbx_context *context, void *state, void *argument)
{
    (void)context;
    (void)argument;
    ((struct worker *)state)->number = crew.born++;
    return LBX_OK;
}

static lbx_status
worker_receive(lbx_context *context, void *state, void *message)
{
    const struct worker *worker = state;

    if (number_of(message) == BLOCKS) {
        crew.busy = lbx_context_self(context);
        crew.gate.reached = true;
        while (!atomic_load(&crew.gate.is_open))
            sched_yield();
    }
    crew.handled[worker->number]++;
    crew.total++;
    return LBX_OK;
}

static const lbx_behaviour worker_behaviour = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "worker",
    .state_bytes = sizeof(struct worker),
    .start = worker_start,
    .receive = worker_receive,
};

static void
crew_begin(lbx_pool_routing routing, int64_t threads)
{
    lbx_props props = LBX_PROPS_INIT;
    lbx_pool pool = LBX_POOL_INIT;

    if (threads > 0)
        world_begin_threads(&crew.world, threads);
    else
        world_begin(&crew.world);
    pool.routing = routing;
    pool.routees = ROUTEES;
    props.behaviour = &worker_behaviour;
    pool.props = &props;
    CHECK_OK(
        lbx_system_spawn_pool(crew.world.system, &pool, "pool", &crew.pool));
}

TEST(round_robin_gives_everybody_the_same)
{
    crew_begin(LBX_POOL_ROUTING_ROUND_ROBIN, 0);
    for (int i = 0; i < 10 * ROUTEES; i++)
        lbx_tell(crew.pool, letter(1));
    (void)world_run(&crew.world);
    for (int i = 0; i < ROUTEES; i++)
        CHECK_INT(10, crew.handled[i]);
    world_end(&crew.world);
}

static lbx_status
worker_replies(lbx_context *context, void *state, void *message)
{
    (void)state;
    CHECK(lbx_ref_equal(lbx_context_sender(context), lbx_ref_nobody()));
    lbx_context_reply(context, message);
    crew.total++;
    return LBX_OK;
}

/* Else the answer to nobody would come back to the pool as another question. */
TEST(what_nobody_sent_has_no_sender_behind_a_pool_either)
{
    static const lbx_behaviour replies = {sizeof(lbx_behaviour), "replies",
                                          .receive = worker_replies};
    static const lbx_pool_routing routings[] = {
        LBX_POOL_ROUTING_BALANCING, LBX_POOL_ROUTING_ROUND_ROBIN,
        LBX_POOL_ROUTING_SMALLEST_MAILBOX};
    lbx_props props = LBX_PROPS_INIT;
    lbx_pool pool = LBX_POOL_INIT;

    world_begin(&crew.world);
    pool.routees = 2;
    props.behaviour = &replies;
    pool.props = &props;
    for (size_t i = 0; i < 3; i++) {
        crew.total = 0;
        pool.routing = routings[i];
        CHECK_OK(
            lbx_system_spawn_pool(crew.world.system, &pool, NULL, &crew.pool));
        lbx_tell(crew.pool, NULL);
        CHECK_OK(lbx_system_run(crew.world.system, 1000, NULL));
        CHECK_INT(1, crew.total);
    }
    world_end(&crew.world);
}

/* Untyped messages that must be destroyed cannot be copied. A pool that failed
 * for each would reach its limit of restarts, and end. */
TEST_CITING("ACTOR-3",
            broadcast_that_cannot_copy_makes_dead_letters_and_goes_on)
{
    enum {
        LETTERS = 12
    };

    crew_begin(LBX_POOL_ROUTING_BROADCAST, 0);
    for (int i = 0; i < LETTERS; i++)
        lbx_tell(crew.pool, letter(i));
    (void)world_run(&crew.world);
    CHECK_INT(0, crew.total);
    CHECK_INT(0, world_stats(&crew.world).failures);
    CHECK_INT(ROUTEES, crew.born);
    CHECK(lbx_ref_is_alive(crew.pool));
    CHECK_INT(LETTERS, atomic_load(&crew.world.dead_count));
    world_check_dead(&crew.world, 0, 0, LBX_LOSS_REFUSED);
    CHECK(lbx_ref_equal(crew.world.dead[0].recipient, crew.pool));
    world_end(&crew.world);
    CHECK_INT(LETTERS, atomic_load(&crew.world.ended));
}

static void *
copy_twice(const void *message, void *context)
{
    return ++*(int *)context > 2 ? NULL : (void *)(uintptr_t)message;
}

TEST(broadcast_without_memory_for_a_copy_makes_a_dead_letter)
{
    int copies = 0;
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    LOCAL_TYPE(type);

    options.name = "test.Scarce";
    options.clone = copy_twice;
    options.context = &copies;
    CHECK_OK(lbx_type_create(&options, &type));
    crew_begin(LBX_POOL_ROUTING_BROADCAST, 0);
    lbx_tell_typed(crew.pool, type, letter(1));
    (void)world_run(&crew.world);
    CHECK_INT(2, crew.total);
    CHECK_INT(0, world_stats(&crew.world).failures);
    CHECK_INT(1, atomic_load(&crew.world.dead_count));
    world_check_dead(&crew.world, 0, 1, LBX_LOSS_NO_MEMORY);
    world_end(&crew.world);
}

static void *
copy_letter(const void *message, void *context)
{
    (*(_Atomic int *)context)++;
    return (void *)(uintptr_t)message;
}

TEST(broadcast_uses_the_types_clone)
{
    static _Atomic int copies;
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    LOCAL_TYPE(type);

    options.name = "test.News";
    options.clone = copy_letter;
    options.context = &copies;
    CHECK_OK(lbx_type_create(&options, &type));
    crew_begin(LBX_POOL_ROUTING_BROADCAST, 0);
    lbx_tell_typed(crew.pool, type, letter(1));
    (void)world_run(&crew.world);
    CHECK_INT(ROUTEES, crew.total);
    CHECK_INT(ROUTEES - 1, copies);
    world_end(&crew.world);
}

TEST_CITING("2.4.9 5.4", smallest_mailbox_avoids_the_busy_worker)
{
    int busy = 0;

    crew_begin(LBX_POOL_ROUTING_SMALLEST_MAILBOX, 3);
    lbx_tell(crew.pool, letter(BLOCKS));
    while (!atomic_load(&crew.gate.reached))
        sched_yield();
    for (int i = 0; i < 3; i++) {
        lbx_tell(crew.pool, letter(1));
        while (atomic_load(&crew.total) < i + 1)
            sched_yield();
    }
    atomic_store(&crew.gate.is_open, true);
    while (atomic_load(&crew.total) < 4)
        sched_yield();
    for (int i = 0; i < ROUTEES; i++)
        busy += crew.handled[i] > 2;
    CHECK_INT(0, busy);
    world_end(&crew.world);
}

// One worker is held up; the others take what comes, and nothing is stuck.
TEST_CITING("A-01 R-37 2.4.8 5.4", a_balancing_pool_works_around_a_busy_worker)
{
    crew_begin(LBX_POOL_ROUTING_BALANCING, 2);
    lbx_tell(crew.pool, letter(BLOCKS));
    while (!atomic_load(&crew.gate.reached))
        sched_yield();
    for (int i = 0; i < 100; i++)
        lbx_tell(crew.pool, letter(1));
    while (atomic_load(&crew.total) < 100)
        sched_yield();
    atomic_store(&crew.gate.is_open, true);
    while (atomic_load(&crew.total) < 101)
        sched_yield();
    world_end(&crew.world);
    CHECK_INT(0, atomic_load(&crew.world.dead_count));
}

// What is told to a routee lies in the mailbox of all: if that one is busy,
// another takes it.
TEST_CITING("R-37", a_busy_routee_told_directly_leaves_it_to_the_others)
{
    crew_begin(LBX_POOL_ROUTING_BALANCING, 2);
    lbx_tell(crew.pool, letter(BLOCKS));
    while (!atomic_load(&crew.gate.reached))
        sched_yield();
    lbx_tell(crew.busy, letter(1));
    while (atomic_load(&crew.total) < 1)
        sched_yield();
    atomic_store(&crew.gate.is_open, true);
    while (atomic_load(&crew.total) < 2)
        sched_yield();
    world_end(&crew.world);
}

TEST_CITING("A-05", a_shared_mailbox_must_serve_several_consumers)
{
    lbx_props props = LBX_PROPS_INIT;
    lbx_pool pool = LBX_POOL_INIT;
    lbx_ref ref;

    world_begin(&crew.world);
    pool.routing = LBX_POOL_ROUTING_BALANCING;
    pool.routees = 2;
    props.behaviour = &worker_behaviour;
    pool.props = &props;
    props.mailbox = LBX_KIND_UNBOUNDED_SINGLE_CONSUMER;
    CHECK_STATUS(LBX_UNSUPPORTED,
                 lbx_system_spawn_pool(crew.world.system, &pool, "p", &ref));
    pool.routees = 0;
    props.mailbox = NULL;
    CHECK_STATUS(LBX_INVALID,
                 lbx_system_spawn_pool(crew.world.system, &pool, "p", &ref));
    pool.routees = 1;
    CHECK_OK(lbx_system_spawn_pool(crew.world.system, &pool, "p", &ref));
    world_end(&crew.world);
}

static void
note_loss(void *context, const lbx_loss *loss)
{
    int *lost = context;

    CHECK(loss->mailbox);
    CHECK_INT(LBX_LOSS_DROPPED_NEWEST, loss->envelope->lost);
    CHECK_INT(++*lost, loss->lost_messages);
}

// One mailbox, one sink, whoever would have taken the message.
TEST(the_loss_sink_of_a_shared_mailbox_gets_what_that_loses)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    lbx_props props = LBX_PROPS_INIT;
    lbx_pool pool = LBX_POOL_INIT;
    int lost = 0;

    world_begin(&crew.world);
    options.capacity_messages = 3;
    options.overflow = LBX_OVERFLOW_DROP_NEWEST;
    options.loss_sink = (lbx_loss_sink){note_loss, &lost};
    pool.routing = LBX_POOL_ROUTING_BALANCING;
    pool.routees = ROUTEES;
    props.behaviour = &worker_behaviour;
    props.mailbox_options = &options;
    pool.props = &props;
    CHECK_OK(
        lbx_system_spawn_pool(crew.world.system, &pool, "pool", &crew.pool));
    (void)world_run(&crew.world);
    for (int round = 1; round <= 2; round++) {
        for (int i = 0; i < 5; i++)
            lbx_tell(crew.pool, letter(1));
        (void)world_run(&crew.world);
        CHECK_INT(3 * round, crew.total);
        CHECK_INT(2 * round, lost);
    }
    CHECK_INT(0, atomic_load(&crew.world.dead_count));
    world_end(&crew.world);
}

// Routees are made after the spawn has returned, and again by restarts.
TEST(mailbox_options_of_a_pool_are_borrowed_during_the_spawn)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    lbx_props props = LBX_PROPS_INIT;
    lbx_pool pool = LBX_POOL_INIT;
    lbx_ref ref;

    world_begin(&crew.world);
    options.capacity_messages = 3;
    pool.routing = LBX_POOL_ROUTING_ROUND_ROBIN;
    pool.routees = ROUTEES;
    props.behaviour = &worker_behaviour;
    props.mailbox_options = &options;
    pool.props = &props;
    CHECK_OK(lbx_system_spawn_pool(crew.world.system, &pool, "p", &ref));
    options.size_bytes = 1; // what spawns refuse
    (void)world_run(&crew.world);
    CHECK_INT(ROUTEES, crew.born);
    world_end(&crew.world);
}

// The props of a pool are a pointer; forgetting it is an error, not a crash.
TEST(a_pool_without_props_or_behaviour_is_refused)
{
    static const lbx_pool_routing routings[] = {LBX_POOL_ROUTING_BALANCING,
                                                LBX_POOL_ROUTING_ROUND_ROBIN};
    const lbx_props no_behaviour = LBX_PROPS_INIT;
    lbx_ref ref;

    world_begin(&crew.world);
    for (int i = 0; i < 2; i++) {
        lbx_pool pool = LBX_POOL_INIT;

        pool.routing = routings[i];
        pool.routees = 2;
        CHECK_STATUS(LBX_INVALID, lbx_system_spawn_pool(crew.world.system,
                                                        &pool, "p", &ref));
        pool.props = &no_behaviour;
        CHECK_STATUS(LBX_INVALID, lbx_system_spawn_pool(crew.world.system,
                                                        &pool, "p", &ref));
    }
    world_end(&crew.world);
}

// a worker that ends leaves the shared mailbox to the others.
TEST_CITING("A-24 R-37", a_worker_that_ends_leaves_the_messages_to_the_rest)
{
    char path[64];
    lbx_ref worker;
    unsigned found = 0;

    crew_begin(LBX_POOL_ROUTING_BALANCING, 0);
    (void)world_run(&crew.world);
    for (unsigned i = 0; i < 100 && found < ROUTEES - 1; i++) {
        (void)snprintf(path, sizeof(path), "/user/pool/$%x", i);
        if (lbx_system_find(crew.world.system, path, &worker) == LBX_OK) {
            lbx_ref_stop(worker);
            found++;
        }
    }
    CHECK_INT(ROUTEES - 1, found);
    for (int i = 0; i < 20; i++)
        lbx_tell(crew.pool, letter(1));
    (void)world_run(&crew.world);
    CHECK_INT(20, crew.total);
    CHECK_INT(0, atomic_load(&crew.world.dead_count));
    world_end(&crew.world);
}

// The pill is for the pool, whichever routee takes it from the mailbox.
TEST_CITING("A-13 R-37", a_poison_pill_ends_a_balancing_pool_in_order)
{
    crew_begin(LBX_POOL_ROUTING_BALANCING, 0);
    for (int i = 0; i < 20; i++)
        lbx_tell(crew.pool, letter(1));
    lbx_tell(crew.pool, lbx_poison_pill());
    for (int i = 0; i < 3; i++)
        lbx_tell(crew.pool, letter(2));
    (void)world_run(&crew.world);
    CHECK_INT(20, crew.total);
    CHECK_INT(ROUTEES, crew.born);
    CHECK(!lbx_ref_is_alive(crew.pool));
    CHECK_INT(0, world_stats(&crew.world).actors);
    CHECK_INT(3, atomic_load(&crew.world.dead_count));
    for (unsigned i = 0; i < 3; i++)
        world_check_dead(&crew.world, i, 2, LBX_LOSS_CLOSED);
    world_end(&crew.world);
}

// A worker at work finishes what it has taken.
TEST_CITING("A-13 R-37", a_poison_pill_waits_for_busy_workers)
{
    crew_begin(LBX_POOL_ROUTING_BALANCING, 3);
    lbx_tell(crew.pool, letter(BLOCKS));
    while (!atomic_load(&crew.gate.reached))
        sched_yield();
    for (int i = 0; i < 500; i++)
        lbx_tell(crew.pool, letter(1));
    lbx_tell(crew.pool, lbx_poison_pill());
    while (atomic_load(&crew.total) < 500)
        sched_yield();
    CHECK(lbx_ref_is_alive(crew.pool));
    atomic_store(&crew.gate.is_open, true);
    CHECK_OK(lbx_ref_ended_until(crew.world.system, crew.pool, LBX_FOREVER));
    CHECK_INT(501, crew.total);
    world_end(&crew.world);
    CHECK_INT(0, atomic_load(&crew.world.dead_count));
}

TEST(a_pool_without_routees_ends)
{
    char path[64];
    lbx_ref worker;

    crew_begin(LBX_POOL_ROUTING_ROUND_ROBIN, 0);
    (void)world_run(&crew.world);
    for (unsigned i = 0; i < 100; i++) {
        (void)snprintf(path, sizeof(path), "/user/pool/$%x", i);
        if (lbx_system_find(crew.world.system, path, &worker) == LBX_OK)
            lbx_ref_stop(worker);
    }
    (void)world_run(&crew.world);
    CHECK(!lbx_ref_is_alive(crew.pool));
    world_end(&crew.world);
}

/* ---- Idle before busy ---- */

enum {
    PAIR = 2
};

static lbx_ref pair[PAIR];
static int pair_count;
static int pair_handled[PAIR];

static lbx_status
pair_start(lbx_context *context, void *state, void *argument)
{
    (void)argument;
    *(int *)state = pair_count;
    pair[pair_count++] = lbx_context_self(context);
    return LBX_OK;
}

static lbx_status
pair_receive(lbx_context *context, void *state, void *message)
{
    (void)context;
    (void)message;
    pair_handled[*(int *)state]++;
    return LBX_OK;
}

/* Neither has messages that wait; one has something to do. */
ACTOR_TEST("2.4.9", smallest_mailbox_prefers_an_idle_routee_to_a_busy_one)
{
    static const lbx_behaviour twin = {
        sizeof(lbx_behaviour), "twin", .state_bytes = sizeof(int),
        .start = pair_start, .receive = pair_receive};
    lbx_props props = LBX_PROPS_INIT;
    lbx_pool pool = LBX_POOL_INIT;
    lbx_ref ref;

    props.behaviour = &twin;
    pool.props = &props;
    pool.routees = PAIR;
    pool.routing = LBX_POOL_ROUTING_SMALLEST_MAILBOX;
    CHECK_OK(lbx_system_spawn_pool(world->system, &pool, NULL, &ref));
    (void)world_run(world);
    for (int i = 0; i < 4; i++) {
        lbx_tell(ref, letter(1));
        // Runs behind the pool: until then it is busy, with an empty mailbox.
        CHECK_OK(lbx_ref_resume(pair[0]));
        (void)world_run(world);
    }
    CHECK_INT(0, pair_handled[0]);
    CHECK_INT(4, pair_handled[1]);
}
