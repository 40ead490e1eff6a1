/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BalancingSpec, BalancingDispatcherSpec and SmallestMailboxSpec, with their
 * numbers. Workers have numbers in the order in which they start; who is to be
 * held up waits at a gate.
 */
#include "stage.h"

enum {
    MOST_WORKERS = 8,
    POOL_SIZE = 5,
    MESSAGES = 100,
};

static struct {
    struct stage stage;
    lbx_ref pool;
    unsigned size;
    unsigned blocking; /* workers from this number on wait at the gate */
    atomic_uint born;
    atomic_uint waiting; /* workers, for the first time */
    atomic_bool open;
    atomic_uint handled[MOST_WORKERS];
    atomic_uint total;
} crew;

struct worker {
    unsigned number; /* from 1 */
};

static lbx_status
worker_start(lbx_context *context, void *state, void *argument)
{
    struct worker *worker = state;

    (void)context;
    (void)argument;
    worker->number = atomic_fetch_add(&crew.born, 1) + 1;
    return LBX_OK;
}

static lbx_status
worker_receive(lbx_context *context, void *state, void *message)
{
    const struct worker *worker = state;

    (void)context;
    (void)message;
    if (worker->number >= crew.blocking && !atomic_load(&crew.open)) {
        atomic_fetch_add(&crew.waiting, 1);
        EVENTUALLY(atomic_load(&crew.open));
    }
    // The others are not to find the mailbox empty.
    EVENTUALLY(atomic_load(&crew.waiting) == crew.size - crew.blocking + 1);
    atomic_fetch_add(&crew.handled[worker->number], 1);
    atomic_fetch_add(&crew.total, 1);
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
crew_begin(lbx_pool_routing routing, unsigned size, unsigned blocking,
           const char *name)
{
    lbx_props props = LBX_PROPS_INIT;
    lbx_pool pool = LBX_POOL_INIT;

    stage_prepare(&crew.stage, NULL);
    crew.stage.options.threads = size;
    stage_open(&crew.stage);
    crew.size = size;
    crew.blocking = blocking;
    pool.routing = routing;
    pool.routees = size;
    props.behaviour = &worker_behaviour;
    pool.props = &props;
    CHECK_OK(lbx_system_spawn_pool(crew.stage.system, &pool, name, &crew.pool));
    EVENTUALLY(atomic_load(&crew.born) == size);
}

static void
crew_end(void)
{
    CHECK_INT(0, crew.stage.dead);
    stage_end(&crew.stage);
}

static void
delivers_to_the_free_worker(const char *name)
{
    crew_begin(LBX_POOL_ROUTING_BALANCING, POOL_SIZE, 2,
               name); // all but one wait
    for (int i = 0; i < MESSAGES; i++)
        stage_tell(crew.pool, i);
    EVENTUALLY(atomic_load(&crew.total) == MESSAGES - POOL_SIZE + 1);
    CHECK_INT(96, atomic_load(&crew.handled[1]));
    CHECK_INT(POOL_SIZE - 1, atomic_load(&crew.waiting));
    atomic_store(&crew.open, true);
    EVENTUALLY(atomic_load(&crew.total) == MESSAGES);
    for (unsigned i = 2; i <= POOL_SIZE; i++)
        CHECK_INT(1, atomic_load(&crew.handled[i]));
    crew_end();
}

// "deliver messages in a balancing fashion when defined programmatically".
TEST_CITING("BalancingSpec 1 R-37", free_worker_handles_96_of_100)
{
    delivers_to_the_free_worker("balancingPool-1");
}

// "work with anonymous actor names".
TEST_CITING("BalancingSpec 2", balancing_pool_needs_no_name)
{
    delivers_to_the_free_worker(NULL);
}

// "work with encoded actor names".
TEST_CITING("BalancingSpec 3", balancing_pool_may_have_any_name)
{
    static const char name[] = "abc\xc3\xa5"
                               "6#$\xe2\x82\xac xyz%";
    char path[64];

    delivers_to_the_free_worker(name);
    stage_begin(&crew.stage, NULL);
    crew.pool = stage_spawn(&crew.stage, ANY, name);
    CHECK_OK(lbx_ref_path(crew.pool, path, sizeof(path)));
    CHECK_STR("/user/abc\xc3\xa5"
              "6#$\xe2\x82\xac xyz%",
              path);
    stage_end(&crew.stage);
}

// BalancingDispatcherSpec: "have fast actor stealing work from slow actor";
// "both mailboxes are empty at the end".
TEST_CITING("BalancingDispatcherSpec 1",
            fast_worker_takes_over_from_the_slow_one)
{
    lbx_actor_stats stats = LBX_ACTOR_STATS_INIT;

    crew_begin(LBX_POOL_ROUTING_BALANCING, 2, 2, "team");
    for (int i = 0; i < 110; i++)
        stage_tell(crew.pool, i);
    EVENTUALLY(atomic_load(&crew.total) == 109);
    CHECK_OK(lbx_ref_stats_read(crew.pool, &stats));
    CHECK_INT(0, stats.depth);
    CHECK_INT(109, atomic_load(&crew.handled[1]));
    CHECK_INT(0, atomic_load(&crew.handled[2]));
    atomic_store(&crew.open, true);
    EVENTUALLY(atomic_load(&crew.total) == 110);
    CHECK_INT(1, atomic_load(&crew.handled[2]));
    CHECK_OK(lbx_ref_stats_read(crew.pool, &stats));
    CHECK_INT(0, stats.depth);
    crew_end();
}

/* ---- The smallest mailbox ---- */

enum {
    BUSY = 500
};

static struct {
    struct stage stage;
    atomic_uint born;
    atomic_uint busy; /* the number of who waits */
    atomic_bool open;
    atomic_uint answers[4]; /* who handled message 1, 2, 3 */
    atomic_uint answered;
} smallest;

static lbx_status
smallest_start(lbx_context *context, void *state, void *argument)
{
    struct worker *worker = state;

    (void)context;
    (void)argument;
    worker->number = atomic_fetch_add(&smallest.born, 1) + 1;
    return LBX_OK;
}

static lbx_status
smallest_receive(lbx_context *context, void *state, void *message)
{
    const struct worker *worker = state;
    intptr_t number = (intptr_t)message;

    (void)context;
    if (number == BUSY) {
        atomic_store(&smallest.busy, worker->number);
        EVENTUALLY(atomic_load(&smallest.open));
        return LBX_OK;
    }
    atomic_store(&smallest.answers[number], worker->number);
    atomic_fetch_add(&smallest.answered, 1);
    return LBX_OK;
}

// "deliver messages to idle actor": one of three is busy, and the next three
// messages go to the others.
TEST_CITING("SmallestMailboxSpec 1", three_messages_avoid_the_busy_worker)
{
    static const lbx_behaviour behaviour = {
        .size_bytes = sizeof(lbx_behaviour),
        .name = "worker",
        .state_bytes = sizeof(struct worker),
        .start = smallest_start,
        .receive = smallest_receive,
    };
    lbx_props props = LBX_PROPS_INIT;
    lbx_pool pool = LBX_POOL_INIT;
    lbx_ref ref;

    stage_prepare(&smallest.stage, NULL);
    smallest.stage.options.threads = 3;
    stage_open(&smallest.stage);
    pool.routing = LBX_POOL_ROUTING_SMALLEST_MAILBOX;
    pool.routees = 3;
    props.behaviour = &behaviour;
    pool.props = &props;
    CHECK_OK(lbx_system_spawn_pool(smallest.stage.system, &pool, "p", &ref));
    stage_tell(ref, BUSY);
    EVENTUALLY(atomic_load(&smallest.busy) != 0);
    for (int i = 1; i <= 3; i++) {
        stage_tell(ref, i);
        EVENTUALLY(atomic_load(&smallest.answered) == (unsigned)i);
        CHECK(atomic_load(&smallest.answers[i]) != atomic_load(&smallest.busy));
    }
    atomic_store(&smallest.open, true);
    CHECK_INT(0, smallest.stage.dead);
    stage_end(&smallest.stage);
}
