/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The actor storm: supervision, stop, restart and watching, all at once.
 *
 * Two drivers tell numbers to workers that they spawn and stop themselves, and
 * to keepers, which forward them to workers of their own. Workers fail, stash,
 * ask to try again; keepers watch their workers, replace them, decide about
 * their failures at random, and fail themselves; a root restarts the keepers.
 *
 * Every number must be ended exactly once, and be handled or reported as a dead
 * letter exactly once unless its handler was told to fail. A worker sees each
 * driver's numbers in their order, from the first told to a ref that was just
 * made, but for those it puts aside. Every watch must bring one notice, to the
 * keeper or, after its end, to dead letters. A keeper ends, and restarts, after
 * its workers.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>

#include <letterbox/actor.h>

#include "stress/storm.h"
#include "support/test.h"
#include "support/threads.h"

enum {
    DRIVERS = 2,
    KEEPERS = 4,
    WORKERS = 8,       // of each keeper
    LIFE = 20,         // messages for a worker before it is replaced
    IN_FLIGHT = 20000, // more are not sent
    CLASSES = 64,      // what a number asks for is number % CLASSES
    BAD = 0,           // fail
    FLAKY = 1,         // fail, perhaps, to be tried again
    ASIDE = 2,         // stash, perhaps
    BACK = 3,          // unstash
    BAD_FOR_KEEPERS = 63,
};

struct tempest {
    lbx_system *system;
    uint64_t seed;
    uint64_t each; // messages per driver
    struct ledger ledger;
    _Atomic(uint8_t) *outcomes; // handled, or dead, how often
    lbx_ref keepers[KEEPERS];
    _Atomic(unsigned) keepers_ready;
    _Atomic(unsigned) next_random;
    _Alignas(STORM_LINE) _Atomic(uint64_t) sent;
    _Alignas(STORM_LINE) _Atomic(uint64_t) ended;
    _Alignas(STORM_LINE) _Atomic(uint64_t) handled;
    _Alignas(STORM_LINE) _Atomic(uint64_t) dead;
    _Atomic(uint64_t) failed;
    _Atomic(uint64_t) restarted;
    _Atomic(uint64_t) spawned;
    _Atomic(uint64_t) stopped;
    _Atomic(uint64_t) watched;
    _Atomic(uint64_t) noticed;
};

static struct tempest tempest;

static bool
is_excused(uint64_t number)
{
    return number % CLASSES == BAD || number % CLASSES == BAD_FOR_KEEPERS;
}

static void
note_outcome(const void *message)
{
    uint64_t number = storm_number(message);

    CHECK(number < tempest.ledger.size);
    atomic_fetch_add_explicit(&tempest.outcomes[number], 1,
                              memory_order_relaxed);
}

static void
hear(void *context, const lbx_dead_letter_event *letter)
{
    (void)context;
    if (letter->envelope->type == lbx_terminated_type()) {
        atomic_fetch_add(&tempest.noticed, 1);
        return;
    }
    if (letter->suppressed)
        return; // a poison pill
    atomic_fetch_add(&tempest.dead, 1);
    note_outcome(letter->envelope->message);
}

static void
end_number(void *message, void *context)
{
    (void)context;
    (void)ledger_end(&tempest.ledger, message);
    atomic_fetch_add(&tempest.ended, 1);
}

/* ---- Workers ---- */

struct worker {
    struct storm_random random;
    uint64_t last[DRIVERS]; // 1 + the last number, by who sent it
    bool is_kept;           // by a keeper, who decides about failures
    bool is_down;           // `stop` was called
};

static lbx_status
worker_start(lbx_context *context, void *state, void *argument)
{
    struct worker *worker = state;

    (void)context;
    CHECK(!worker->is_down && worker->random.state == 0); // fresh
    worker->random = storm_random_of(
        tempest.seed, 100 + atomic_fetch_add(&tempest.next_random, 1));
    worker->is_kept = argument != NULL;
    return LBX_OK;
}

/* ACTOR-2, ACTOR-4: what is tried again, or comes later, is not earlier. */
static void
check_order(struct worker *worker, uint64_t number)
{
    uint64_t *last = &worker->last[number % DRIVERS];

    if (number % CLASSES == ASIDE)
        return;
    CHECK(number + 1 >= *last);
    *last = number + 1;
}

static lbx_status
worker_receive(lbx_context *context, void *state, void *message)
{
    struct worker *worker = state;
    uint64_t number = storm_number(message);
    bool maybe = storm_once_in(&worker->random, 2);

    CHECK(!worker->is_down); // ACTOR-8: nothing after the end
    check_order(worker, number);
    switch (number % CLASSES) {
    case BAD:
        atomic_fetch_add(&tempest.failed, 1);
        return LBX_REFUSED;
    case FLAKY:
        if (worker->is_kept && maybe) {
            atomic_fetch_add(&tempest.failed, 1);
            return LBX_BUSY;
        }
        break;
    case ASIDE:
        if (maybe)
            return lbx_context_stash(context);
        break;
    case BACK:
        lbx_context_unstash_all(context);
        break;
    default:
        break;
    }
    atomic_fetch_add_explicit(&tempest.handled, 1, memory_order_relaxed);
    note_outcome(message);
    return LBX_OK;
}

static void
worker_stop(lbx_context *context, void *state)
{
    struct worker *worker = state;

    (void)context;
    CHECK(!worker->is_down);
    worker->is_down = true;
}

static const lbx_behaviour worker_behaviour = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "worker",
    .state_bytes = sizeof(struct worker),
    .start = worker_start,
    .receive = worker_receive,
    .stop = worker_stop,
};

/* Ends a worker in one of two ways. */
static void
end_worker(struct storm_random *random, lbx_ref worker)
{
    if (storm_once_in(random, 2))
        lbx_ref_stop(worker);
    else
        lbx_tell(worker, lbx_poison_pill());
    atomic_fetch_add(&tempest.stopped, 1);
}

/* ---- Keepers ---- */

struct keeper {
    struct storm_random random;
    lbx_ref workers[WORKERS];
};

static void
hire(lbx_context *context, struct keeper *keeper, unsigned index)
{
    lbx_props props = LBX_PROPS_INIT;

    props.behaviour = &worker_behaviour;
    props.argument = &tempest;
    CHECK_OK(lbx_context_spawn(context, &props, NULL, &keeper->workers[index]));
    CHECK_OK(lbx_context_watch(context, keeper->workers[index]));
    atomic_fetch_add(&tempest.spawned, 1);
    atomic_fetch_add(&tempest.watched, 1);
}

static lbx_status
keeper_start(lbx_context *context, void *state, void *argument)
{
    struct keeper *keeper = state;

    (void)argument;
    keeper->random = storm_random_of(
        tempest.seed, 100 + atomic_fetch_add(&tempest.next_random, 1));
    for (unsigned i = 0; i < WORKERS; i++)
        hire(context, keeper, i);
    return LBX_OK;
}

static lbx_status
keeper_receive(lbx_context *context, void *state, void *message)
{
    struct keeper *keeper = state;
    unsigned index = storm_random_below(&keeper->random, WORKERS);

    if (lbx_context_type(context) == lbx_terminated_type()) {
        CHECK(!lbx_ref_is_alive(lbx_terminated_ref(message)));
        atomic_fetch_add(&tempest.noticed, 1);
        return LBX_OK;
    }
    if (storm_number(message) % CLASSES == BAD_FOR_KEEPERS &&
        storm_once_in(&keeper->random, 64)) {
        atomic_fetch_add(&tempest.failed, 1);
        return LBX_REFUSED;
    }
    lbx_context_forward(context, keeper->workers[index]);
    if (storm_once_in(&keeper->random, LIFE)) {
        end_worker(&keeper->random, keeper->workers[index]);
        hire(context, keeper, index);
    }
    return LBX_OK;
}

static lbx_directive
keeper_supervise(lbx_context *context, void *state, lbx_child_failure *failure)
{
    static const lbx_directive choices[] = {
        LBX_DIRECTIVE_RESUME, LBX_DIRECTIVE_RESTART, LBX_DIRECTIVE_STOP,
        LBX_DIRECTIVE_DEAD_LETTER};
    struct keeper *keeper = state;

    (void)context;
    if (failure->status == LBX_BUSY) {
        failure->retry_ns = storm_random_below(&keeper->random, 2) * 20000;
        return LBX_DIRECTIVE_RETRY;
    }
    if (storm_once_in(&keeper->random, 256))
        return LBX_DIRECTIVE_ESCALATE;
    return choices[storm_random_below(&keeper->random, 4)];
}

static void
keeper_stop(lbx_context *context, void *state)
{
    const struct keeper *keeper = state;

    (void)context;
    for (unsigned i = 0; i < WORKERS; i++)
        CHECK(!lbx_ref_is_alive(keeper->workers[i])); // ACTOR-11
}

static const lbx_behaviour keeper_behaviour = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "keeper",
    .state_bytes = sizeof(struct keeper),
    .start = keeper_start,
    .receive = keeper_receive,
    .stop = keeper_stop,
    .supervise = keeper_supervise,
};

/* ---- The root, which restarts keepers as often as it takes ---- */

static lbx_status
root_start(lbx_context *context, void *state, void *argument)
{
    lbx_props props = LBX_PROPS_INIT;

    (void)state;
    (void)argument;
    props.behaviour = &keeper_behaviour;
    for (unsigned i = 0; i < KEEPERS; i++)
        CHECK_OK(lbx_context_spawn(context, &props, NULL, &tempest.keepers[i]));
    atomic_store(&tempest.keepers_ready, 1);
    return LBX_OK;
}

static lbx_status
root_receive(lbx_context *context, void *state, void *message)
{
    (void)context;
    (void)state;
    (void)message;
    return LBX_OK;
}

static lbx_directive
root_supervise(lbx_context *context, void *state, lbx_child_failure *failure)
{
    (void)context;
    (void)state;
    (void)failure;
    atomic_fetch_add(&tempest.restarted, 1);
    return LBX_DIRECTIVE_RESTART;
}

static const lbx_behaviour root_behaviour = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "root",
    .start = root_start,
    .receive = root_receive,
    .supervise = root_supervise,
};

/* ---- Drivers ---- */

static lbx_ref
spawn_worker(void)
{
    lbx_props props = LBX_PROPS_INIT;
    lbx_ref ref;

    props.behaviour = &worker_behaviour;
    CHECK_OK(lbx_system_spawn(tempest.system, &props, NULL, &ref));
    atomic_fetch_add(&tempest.spawned, 1);
    return ref;
}

static void
drive(unsigned index, void *context)
{
    struct storm_random random = storm_random_of(tempest.seed, index);
    lbx_ref mine = spawn_worker();

    (void)context;
    for (uint64_t i = 0; i < tempest.each; i++) {
        uint64_t number = i * DRIVERS + index;
        bool is_kept = storm_once_in(&random, 2);

        while (atomic_load(&tempest.sent) - atomic_load(&tempest.ended) >
               IN_FLIGHT)
            sched_yield();
        tempest.ledger.fates[number] = STORM_IN;
        atomic_fetch_add(&tempest.sent, 1);
        lbx_tell(is_kept ? tempest.keepers[storm_random_below(&random, KEEPERS)]
                         : mine,
                 storm_message(number));
        if (!is_kept && storm_once_in(&random, LIFE)) {
            lbx_ref old = mine;

            mine = spawn_worker();
            end_worker(&random, old);
        }
    }
    end_worker(&random, mine);
}

static uint64_t
count_wrong_outcomes(void)
{
    uint64_t wrong = 0;

    for (uint64_t i = 0; i < tempest.ledger.size; i++) {
        if (is_excused(i) || atomic_load(&tempest.outcomes[i]) == 1)
            continue;
        if (wrong++ == 0)
            test_note("number %" PRIu64 ", class %" PRIu64 ", has %u outcomes",
                      i, i % CLASSES, atomic_load(&tempest.outcomes[i]));
    }
    return wrong;
}

TEST_CITING("ACTOR-1 ACTOR-2 ACTOR-3 ACTOR-4 ACTOR-5 ACTOR-7 ACTOR-8 ACTOR-11",
            actors_in_a_storm_lose_nothing)
{
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;
    lbx_props props = LBX_PROPS_INIT;
    struct ledger_report report;
    lbx_system_stats stats = LBX_SYSTEM_STATS_INIT;
    uint64_t wrong;
    lbx_ref root;

    tempest.seed = storm_begin();
    tempest.each = storm_count(5000000, 400000, 200000, 50) / DRIVERS;
    ledger_init(&tempest.ledger, tempest.each * DRIVERS);
    tempest.outcomes = calloc(tempest.ledger.size, 1);
    CHECK(tempest.outcomes);
    options.threads = 2;
    options.destroy = end_number;
    options.dead_letters.on_dead_letter = hear;
    CHECK_OK(lbx_system_create(&options, &tempest.system));
    props.behaviour = &root_behaviour;
    props.strategy.max_restarts = -1;
    CHECK_OK(lbx_system_spawn(tempest.system, &props, "root", &root));
    EVENTUALLY(atomic_load(&tempest.keepers_ready) == 1);
    threads_run(DRIVERS, drive, NULL);
    CHECK_OK(lbx_system_terminate(tempest.system, LBX_FOREVER));
    CHECK_OK(lbx_system_stats_read(tempest.system, &stats));
    lbx_system_destroy(tempest.system);

    report = ledger_check(&tempest.ledger);
    wrong = count_wrong_outcomes();
    test_note("actor: messages=%" PRIu64 " handled=%" PRIu64 " dead=%" PRIu64
              " failed=%" PRIu64 " actors=%" PRIu64 " restarts=%" PRIu64
              " watches=%" PRIu64 " lost=%" PRIu64 " phantom=%" PRIu64
              " duplicate=%" PRIu64 " wrong=%" PRIu64,
              report.in, atomic_load(&tempest.handled),
              atomic_load(&tempest.dead), atomic_load(&tempest.failed),
              stats.spawned, atomic_load(&tempest.restarted),
              atomic_load(&tempest.watched), report.lost, report.phantom,
              report.duplicate, wrong);
    CHECK_INT(0, report.bad);
    CHECK_INT(0, wrong);
    CHECK_INT(atomic_load(&tempest.watched), atomic_load(&tempest.noticed));
    if (storm_is_unscaled() && !test_is_sanitized()) {
        CHECK(report.in >= 5000000);
        CHECK(atomic_load(&tempest.stopped) >= 200000);
    }
    ledger_fini(&tempest.ledger);
    free(tempest.outcomes);
}
