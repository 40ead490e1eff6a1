/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actors: for every call that may allocate, allocation k fails for k =
 * 1, 2, ... until none is left to fail. Each time the call says LBX_NO_MEMORY
 * or does as its header says, nothing leaks, every message is ended once, and
 * the system works once there is memory again.
 */
#include <stdatomic.h>
#include <string.h>

#include <letterbox/actor.h>

#include "support/clock.h"
#include "support/test.h"
#include "support/torture.h"

// A system without threads and the memory it lives in.
struct stage {
    struct torture *memory;
    lbx_allocator allocator;
    struct test_clock time;
    lbx_clock clock;
    lbx_system *system;
    long told;     // messages given to the system
    long ended;    // by its destroy
    long handled;  // letters
    long dead;     // letters
    long notices;  // of ends
    long timeouts; // receive timeouts
    lbx_status status;
    lbx_ref other;
};

static void *
letter(int number)
{
    return (void *)(intptr_t)number;
}

static void
end_letter(void *message, void *context)
{
    (void)message;
    ((struct stage *)context)->ended++;
}

static void
hear(void *context, const lbx_dead_letter_event *dead)
{
    if (!dead->suppressed)
        ((struct stage *)context)->dead++;
}

// From here on there is enough memory.
static void
relent(struct stage *stage)
{
    stage->memory->allowed = LONG_MAX;
}

// Makes the system, or returns false when that failed as it should.
static bool
stage_make(struct stage *stage, struct torture *memory, int64_t threads)
{
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;
    lbx_system *untouched = letter(1);
    lbx_status status;

    *stage = (struct stage){.memory = memory, .time = TEST_CLOCK_INIT};
    stage->allocator = torture_allocator(memory);
    stage->clock = test_clock_interface(&stage->time);
    stage->system = untouched;
    options.allocator = &stage->allocator;
    options.clock = threads > 0 ? NULL : &stage->clock;
    options.threads = threads;
    options.destroy = end_letter;
    options.destroy_context = stage;
    options.dead_letters = (lbx_dead_letter_listener){hear, stage};
    status = lbx_system_create(&options, &stage->system);
    if (status == LBX_OK)
        return true;
    CHECK_STATUS(LBX_NO_MEMORY, status);
    CHECK_PTR(untouched, stage->system); // written on success only
    CHECK_INT(0, memory->live_blocks);
    return false;
}

// Makes it with memory to spare; what comes then may fail.
static void
stage_begin(struct stage *stage, struct torture *memory)
{
    long allowed = memory->allowed;

    memory->allowed = LONG_MAX;
    CHECK(stage_make(stage, memory, 0));
    memory->allowed =
        allowed == LONG_MAX ? LONG_MAX : memory->allocations + allowed;
}

static void
stage_run(struct stage *stage)
{
    CHECK_OK(lbx_system_run(stage->system, UINT64_MAX, NULL));
}

static void
stage_end(struct stage *stage)
{
    relent(stage);
    CHECK_OK(lbx_system_terminate(stage->system, LBX_FOREVER));
    lbx_system_destroy(stage->system);
    CHECK_INT(stage->told, stage->ended); // once each, whatever failed
}

#define LOCAL_STAGE(name) __attribute__((cleanup(stage_end))) struct stage name

static void
stage_tell(struct stage *stage, lbx_ref to, int number)
{
    stage->told++;
    lbx_tell(to, letter(number));
}

// ---- An actor that does what its letters say ----

enum {
    WRITE = 1, // be handled
    BECOME,
    WATCH,
    UNWATCH,
    STASH,
    UNSTASH,
    TIMEOUT,
    SPAWN,
    FAIL,
};

struct role {
    struct stage *stage;
    unsigned char room[200];
};

static lbx_actor_handler receive;

static lbx_status
do_spawn(lbx_context *context, struct stage *stage)
{
    static const lbx_behaviour child = {
        .size_bytes = sizeof(lbx_behaviour),
        .name = "child",
        .state_bytes = 100,
        .receive = receive,
    };
    lbx_props props = LBX_PROPS_INIT;

    props.behaviour = &child;
    return lbx_context_spawn(context, &props, "child", &stage->other);
}

static lbx_status
obey(lbx_context *context, struct stage *stage, int number)
{
    switch (number) {
    case BECOME:
        return lbx_context_become(context, receive);
    case WATCH:
        return lbx_context_watch(context, stage->other);
    case UNWATCH:
        lbx_context_unwatch(context, stage->other);
        return LBX_OK;
    case STASH:
        return lbx_context_stash(context);
    case UNSTASH:
        lbx_context_unstash_all(context);
        return LBX_OK;
    case TIMEOUT:
        return lbx_context_set_receive_timeout(context, 100);
    case SPAWN:
        return do_spawn(context, stage);
    default:
        return LBX_OK;
    }
}

static lbx_status
receive(lbx_context *context, void *state, void *message)
{
    struct role *role = state;
    struct stage *stage = role->stage;
    int number = (int)(intptr_t)message;

    if (lbx_context_type(context) == lbx_terminated_type()) {
        stage->notices++;
        return LBX_OK;
    }
    if (lbx_context_type(context) == lbx_receive_timeout_type()) {
        stage->timeouts++;
        return LBX_OK;
    }
    stage->handled++;
    stage->status = obey(context, stage, number);
    return number == FAIL ? LBX_REFUSED : LBX_OK;
}

static lbx_status
start(lbx_context *context, void *state, void *argument)
{
    struct role *role = state;

    (void)context;
    role->stage = argument;
    return LBX_OK;
}

static const lbx_behaviour actor = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "actor",
    .state_bytes = sizeof(struct role),
    .start = start,
    .receive = receive,
};

static lbx_props
props_of(struct stage *stage)
{
    lbx_props props = LBX_PROPS_INIT;

    props.behaviour = &actor;
    props.argument = stage;
    return props;
}

// With memory to spare.
static lbx_ref
spawn_well(struct stage *stage, const char *name)
{
    lbx_props props = props_of(stage);
    long allowed = stage->memory->allowed;
    long before = stage->memory->allocations;
    lbx_ref ref;

    relent(stage);
    CHECK_OK(lbx_system_spawn(stage->system, &props, name, &ref));
    stage_run(stage);
    stage->memory->allowed =
        allowed == LONG_MAX ? LONG_MAX
                            : allowed + (stage->memory->allocations - before);
    return ref;
}

// The actor still handles messages.
static void
check_works(struct stage *stage, lbx_ref ref)
{
    long before = stage->handled;

    relent(stage);
    stage_tell(stage, ref, WRITE);
    stage_run(stage);
    CHECK_INT(before + 1, stage->handled);
}

// ---- Creating a system ----

static void
create_body(struct torture *memory, void *context)
{
    struct stage stage;

    if (!stage_make(&stage, memory, *(int64_t *)context))
        return;
    lbx_system_destroy(stage.system);
}

TEST(system_without_threads_survives_every_failing_allocation)
{
    int64_t threads = 0;

    CHECK(torture_every_allocation(create_body, &threads) > 3);
}

TEST(system_with_threads_survives_every_failing_allocation)
{
    int64_t threads = 3;

    CHECK(torture_every_allocation(create_body, &threads) > 3);
}

// ---- Spawning ----

struct spawn_case {
    const char *name;
    bool has_strategy;
};

static void
spawn_body(struct torture *memory, void *context)
{
    const struct spawn_case *how = context;
    lbx_props props;
    lbx_ref ref = {99};
    lbx_ref found;
    lbx_status status;
    LOCAL_STAGE(stage);

    stage_begin(&stage, memory);
    props = props_of(&stage);
    if (how->has_strategy)
        props.strategy.directive = LBX_DIRECTIVE_STOP;
    status = lbx_system_spawn(stage.system, &props, how->name, &ref);
    relent(&stage);
    if (status != LBX_OK) {
        lbx_system_stats stats = LBX_SYSTEM_STATS_INIT;

        CHECK_STATUS(LBX_NO_MEMORY, status);
        CHECK_INT(99, ref.word);
        CHECK_OK(lbx_system_stats_read(stage.system, &stats));
        CHECK_INT(0, stats.actors);
        CHECK_STATUS(LBX_NOT_FOUND,
                     lbx_system_find(stage.system, "/user/name", &found));
        // The name is free, and the cell is good for another.
        CHECK_OK(lbx_system_spawn(stage.system, &props, how->name, &ref));
    }
    stage_run(&stage);
    check_works(&stage, ref);
}

TEST(spawn_survives_every_failing_allocation)
{
    struct spawn_case how = {NULL, false};

    CHECK(torture_every_allocation(spawn_body, &how) > 0);
}

TEST(spawn_with_a_name_survives_every_failing_allocation)
{
    struct spawn_case how = {"name", false};

    CHECK(torture_every_allocation(spawn_body, &how) > 1);
}

TEST(spawn_with_a_strategy_survives_every_failing_allocation)
{
    struct spawn_case how = {"name", true};

    CHECK(torture_every_allocation(spawn_body, &how) > 2);
}

static void
spawn_many_body(struct torture *memory, void *context)
{
    lbx_props props;
    long spawned = 0;
    lbx_system_stats stats = LBX_SYSTEM_STATS_INIT;
    LOCAL_STAGE(stage);

    (void)context;
    stage_begin(&stage, memory);
    props = props_of(&stage);
    for (int i = 0; i < 100; i++) { // chunks of cells and of names run out
        char name[4] = {'n', (char)('a' + i / 10), (char)('a' + i % 10), 0};
        lbx_ref ref;
        lbx_status status = lbx_system_spawn(stage.system, &props, name, &ref);

        CHECK(status == LBX_OK || status == LBX_NO_MEMORY);
        spawned += status == LBX_OK;
    }
    relent(&stage);
    CHECK_OK(lbx_system_stats_read(stage.system, &stats));
    CHECK_INT(spawned, stats.actors);
    stage_run(&stage);
}

TEST(spawning_many_survives_every_failing_allocation)
{
    CHECK(torture_every_allocation(spawn_many_body, NULL) > 100);
}

// ---- What handlers do ----

// One letter whose deed may fail for want of memory; then all is well again.
static void
deed_body(struct torture *memory, void *context)
{
    int deed = *(int *)context;
    lbx_ref ref;
    lbx_ref other;
    LOCAL_STAGE(stage);

    stage_begin(&stage, memory);
    ref = spawn_well(&stage, "ref");
    other = spawn_well(&stage, "other");
    stage.other = other;
    for (int i = 0; i < 6; i++) { // the fifth become needs more room
        stage.status = LBX_EMPTY;
        stage_tell(&stage, ref, deed);
        stage_run(&stage);
        CHECK(stage.status == LBX_OK || stage.status == LBX_NO_MEMORY ||
              (stage.status == LBX_EXISTS && deed == SPAWN) ||
              stage.status == LBX_EMPTY); // a dead letter, then
        CHECK(stage.status != LBX_EMPTY || stage.dead > 0);
    }
    check_works(&stage, ref);
    stage_tell(&stage, ref, UNSTASH);
}

static void
check_deed(int deed)
{
    CHECK(torture_every_allocation(deed_body, &deed) > 0);
}

TEST(become_survives_every_failing_allocation)
{
    check_deed(BECOME);
}

TEST(watch_survives_every_failing_allocation)
{
    check_deed(WATCH);
}

TEST(stash_survives_every_failing_allocation)
{
    check_deed(STASH);
}

TEST(receive_timeout_survives_every_failing_allocation)
{
    check_deed(TIMEOUT);
}

TEST(spawning_a_child_survives_every_failing_allocation)
{
    check_deed(SPAWN);
}

static void
fail_body(struct torture *memory, void *context)
{
    lbx_ref ref;
    LOCAL_STAGE(stage);

    (void)context;
    stage_begin(&stage, memory);
    ref = spawn_well(&stage, "ref");
    stage_tell(&stage, ref, FAIL);
    stage_tell(&stage, ref, WRITE);
    stage_run(&stage);
    relent(&stage);
    // It was restarted, or it has ended: that needs no memory.
    if (lbx_ref_is_alive(ref))
        check_works(&stage, ref);
}

TEST(failing_survives_every_failing_allocation)
{
    CHECK(torture_every_allocation(fail_body, NULL) > 0);
}

// A watch that was accepted brings its notice, however little memory there is.
static void
notice_body(struct torture *memory, void *context)
{
    lbx_ref ref;
    LOCAL_STAGE(stage);

    (void)context;
    stage_begin(&stage, memory);
    ref = spawn_well(&stage, "ref");
    stage.other = spawn_well(&stage, "other");
    stage.status = LBX_EMPTY;
    stage_tell(&stage, ref, WATCH);
    stage_run(&stage);
    lbx_ref_stop(stage.other);
    stage_run(&stage);
    CHECK_INT(stage.status == LBX_OK ? 1 : 0, stage.notices);
    check_works(&stage, ref);
}

TEST_CITING("ACTOR-7", notices_need_no_memory)
{
    (void)torture_every_allocation(notice_body, NULL);
}

// ---- Telling ----

static void
tell_body(struct torture *memory, void *context)
{
    enum {
        LETTERS = 3000, // more than one chunk of nodes
    };
    lbx_ref ref;
    long accepted = 0;
    LOCAL_STAGE(stage);

    (void)context;
    stage_begin(&stage, memory);
    ref = spawn_well(&stage, "ref");
    for (int i = 0; i < LETTERS; i++) {
        lbx_envelope envelope = lbx_envelope_of(letter(WRITE), 10);
        lbx_status status;

        stage_tell(&stage, ref, WRITE);
        status = lbx_try_tell(ref, &envelope);
        CHECK(status == LBX_OK || status == LBX_NO_MEMORY);
        stage.told += status == LBX_OK; // otherwise it is still ours
        accepted += status == LBX_OK;
    }
    relent(&stage);
    stage_run(&stage);
    CHECK_INT(LETTERS + accepted, stage.handled + stage.dead);
    check_works(&stage, ref);
}

TEST_CITING("ACTOR-3", telling_survives_every_failing_allocation)
{
    CHECK(torture_every_allocation(tell_body, NULL) > 0);
}

// ---- Asking ----

static void
ask_body(struct torture *memory, void *context)
{
    struct stage stage;
    lbx_envelope question = lbx_envelope_of(letter(WRITE), 10);
    lbx_envelope answer = question;
    lbx_operation ask;
    lbx_status status;
    lbx_ref ref;

    (void)context;
    stage_begin(&stage, memory);
    ref = spawn_well(&stage, "ref");
    CHECK_OK(
        lbx_ask_init(&ask, stage.system, ref, &question, &answer, LBX_FOREVER));
    stage.told++; // the operation's, and the system's after the first poll
    status = lbx_operation_poll(&ask, NULL);
    CHECK(status == LBX_PENDING || status == LBX_NO_MEMORY);
    stage_run(&stage);
    lbx_operation_fini(&ask);
    relent(&stage);
    stage_run(&stage);
    check_works(&stage, ref);
    stage_end(&stage); // also: the question was ended
}

TEST(ask_survives_every_failing_allocation)
{
    CHECK(torture_every_allocation(ask_body, NULL) > 1);
}

// ---- Timers ----

static void
timer_body(struct torture *memory, void *context)
{
    enum {
        TIMERS = 40, // more than there is room for at first
    };
    lbx_timer timers[TIMERS];
    bool started[TIMERS];
    lbx_ref ref;
    LOCAL_STAGE(stage);

    (void)context;
    stage_begin(&stage, memory);
    ref = spawn_well(&stage, "ref");
    for (int i = 0; i < TIMERS; i++) {
        lbx_envelope envelope = lbx_envelope_of(letter(WRITE), 10);
        lbx_status status = lbx_timer_start(stage.system, ref, &envelope,
                                            10 + i % 7, 0, &timers[i]);

        CHECK(status == LBX_OK || status == LBX_NO_MEMORY);
        started[i] = status == LBX_OK;
        stage.told += started[i];
    }
    for (int i = 0; i < TIMERS; i += 3)
        CHECK(!started[i] || lbx_timer_cancel(stage.system, timers[i]));
    test_clock_advance(&stage.time, 12);
    stage_run(&stage);
    check_works(&stage, ref);
}

TEST(timers_survive_every_failing_allocation)
{
    CHECK(torture_every_allocation(timer_body, NULL) > 3);
}
