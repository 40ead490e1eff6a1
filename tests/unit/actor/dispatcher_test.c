/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatchers: one message at a time (ACTOR-1), turns (ACTOR-10), threads,
 * idling. */
#include <sys/resource.h>
#include <time.h>

#include <letterbox/mailbox.h>

#include "actor/fixture.h"

ACTOR_TEST("A-12 A-22 V-31", turn_handles_five_messages_by_default)
{
    part_spawn(a);
    part_spawn(b);
    for (int i = 1; i <= 7; i++)
        lbx_tell(a->self, letter(i));
    lbx_tell(b->self, letter(1));
    CHECK_DIARY(world, "a+ a:1 a:2 a:3 a:4 a:5 b+ b:1 a:6 a:7");
}

ACTOR_TEST_WITH("A-22 V-30 V-31", throughput_is_respected,
                options.throughput = 1)
{
    part_spawn(a);
    part_spawn(b);
    for (int i = 1; i <= 3; i++) {
        lbx_tell(a->self, letter(i));
        lbx_tell(b->self, letter(i));
    }
    CHECK_DIARY(world, "a+ a:1 b+ b:1 a:2 b:2 a:3 b:3");
    CHECK_INT(6, world_stats(world).runs);
}

ACTOR_TEST_WITH("", large_throughput_takes_all_at_once,
                options.throughput = INT64_MAX)
{
    a->silent = true;
    part_spawn(a);
    for (int i = 0; i < 10000; i++)
        lbx_tell(a->self, letter(1));
    CHECK_INT(1, world_run(world));
    CHECK_INT(10000, atomic_load(&a->received));
}

// System messages come between user messages (ACTOR-6).
static lbx_status
stop_sibling(lbx_context *context, struct part *part, void *message)
{
    (void)context;
    world_write(part->world, "%s:%d", part->name, number_of(message));
    if (number_of(message) == 2)
        lbx_ref_stop(part->self);
    return LBX_OK;
}

ACTOR_TEST("ACTOR-6 A-22", system_messages_come_after_every_message)
{
    a->receive = stop_sibling;
    part_spawn(a);
    for (int i = 1; i <= 4; i++)
        lbx_tell(a->self, letter(i));
    CHECK_DIARY(world, "a+ a:1 a:2 a-");
    CHECK_INT(2, atomic_load(&world->dead_count));
}

// ---- Threads ----

enum {
    SENDERS = 3,
};

struct alone {
    struct world world;
    struct part parts[4];
    _Atomic int inside[4];
    long plain[4]; // not atomic: ACTOR-1 is what makes it right
    long each;
};

static lbx_status
be_alone(lbx_context *context, struct part *part, void *message)
{
    struct alone *alone = part->context;
    long index = part - alone->parts;

    (void)context;
    (void)message;
    CHECK_INT(0, atomic_fetch_add(&alone->inside[index], 1));
    alone->plain[index]++;
    CHECK_INT(1, atomic_fetch_sub(&alone->inside[index], 1));
    return LBX_OK;
}

static void
send_to_all(unsigned index, void *context)
{
    struct alone *alone = context;

    for (long i = 0; i < alone->each; i++)
        lbx_tell(alone->parts[(i + index) % 4].self, letter(1));
}

static void
check_alone(int64_t threads)
{
    static struct alone alone;
    long sum = 0;

    world_begin_threads(&alone.world, threads);
    alone.each = test_rounds(40000, 1000000);
    for (int i = 0; i < 4; i++) {
        static const char *const names[] = {"a", "b", "c", "d"};

        part_init(&alone.parts[i], &alone.world, names[i]);
        alone.parts[i].silent = true;
        alone.parts[i].receive = be_alone;
        alone.parts[i].context = &alone;
        part_spawn(&alone.parts[i]);
    }
    threads_run(SENDERS, send_to_all, &alone);
    EVENTUALLY(world_stats(&alone.world).handled ==
               (uint64_t)(SENDERS * alone.each));
    world_end(&alone.world);
    for (int i = 0; i < 4; i++)
        sum += alone.plain[i];
    CHECK_INT(SENDERS * alone.each, sum);
}

TEST_CITING("ACTOR-1 V-21", one_message_at_a_time_with_one_thread)
{
    check_alone(1);
}

TEST_CITING("ACTOR-1 V-21", one_message_at_a_time_with_four_threads)
{
    check_alone(4);
}

// A flooded actor tells itself two things for each that it handles, up to a
// limit; beside it a quiet one wants a word now and then.
struct noise {
    _Atomic bool is_over;
};

static lbx_status
make_noise(lbx_context *context, struct part *part, void *message)
{
    struct noise *noise = part->context;

    (void)message;
    if (!atomic_load(&noise->is_over))
        lbx_tell(lbx_context_self(context), letter(1));
    return LBX_OK;
}

static void
check_fairness(int64_t threads)
{
    struct part noisy[8];
    struct part quiet;
    struct noise noise = {false};
    uint64_t most = 0;
    LOCAL_WORLD(world);

    world_begin_threads(&world, threads);
    for (int i = 0; i < 8; i++) {
        static const char *const names[] = {"0", "1", "2", "3",
                                            "4", "5", "6", "7"};

        part_init(&noisy[i], &world, names[i]);
        noisy[i].silent = true;
        noisy[i].receive = make_noise;
        noisy[i].context = &noise;
        part_spawn(&noisy[i]);
        for (int j = 0; j < 20; j++)
            lbx_tell(noisy[i].self, letter(1));
    }
    part_init(&quiet, &world, "quiet");
    quiet.silent = true;
    part_spawn(&quiet);
    for (unsigned i = 1; i <= 100; i++) {
        uint64_t before = world_stats(&world).runs;
        uint64_t waited;

        lbx_tell(quiet.self, letter(1));
        EVENTUALLY(atomic_load(&quiet.received) == i);
        waited = world_stats(&world).runs - before;
        if (waited > most)
            most = waited;
    }
    atomic_store(&noise.is_over, true);
    test_note("the quiet one waited %llu turns at most",
              (unsigned long long)most);
}

TEST_CITING("ACTOR-10", quiet_actor_runs_beside_flooding_ones_on_one_thread)
{
    check_fairness(1);
}

TEST_CITING("ACTOR-10", quiet_actor_runs_beside_flooding_ones_on_four_threads)
{
    check_fairness(4);
}

// Two that only speak to each other keep a worker's slot busy.
static lbx_status
return_ball(lbx_context *context, struct part *part, void *message)
{
    struct noise *noise = part->context;

    if (!atomic_load(&noise->is_over))
        lbx_context_reply(context, message);
    return LBX_OK;
}

static void
check_ping_pong(int64_t threads)
{
    struct world world;
    struct part a;
    struct part b;
    struct part quiet;
    struct noise noise = {false};
    lbx_envelope ball = lbx_envelope_of(letter(1), 10);

    world_begin_threads(&world, threads);
    part_init(&a, &world, "a");
    part_init(&b, &world, "b");
    part_init(&quiet, &world, "quiet");
    a.silent = b.silent = quiet.silent = true;
    a.receive = b.receive = return_ball;
    a.context = b.context = &noise;
    part_spawn(&a);
    part_spawn(&b);
    part_spawn(&quiet);
    ball.sender = lbx_ref_as_sender(b.self);
    lbx_tell_envelope(a.self, &ball);
    for (unsigned i = 1; i <= 200; i++) {
        lbx_tell(quiet.self, letter(1));
        EVENTUALLY(atomic_load(&quiet.received) == i);
    }
    EVENTUALLY(atomic_load(&a.received) > 100);
    atomic_store(&noise.is_over, true);
    world_end(&world);
    CHECK(atomic_load(&a.received) >= atomic_load(&b.received));
}

TEST_CITING("ACTOR-10", ping_pong_does_not_starve_a_third_on_one_thread)
{
    check_ping_pong(1);
}

TEST_CITING("ACTOR-10", ping_pong_does_not_starve_a_third_on_four_threads)
{
    check_ping_pong(4);
}

static lbx_ref flooded;
static int floods;
static int
    heard_at[3]; /* letters that the flooded one has, when a flood comes */
static int letters_heard;

static lbx_status
flood(lbx_context *context, void *state, void *message)
{
    (void)context;
    (void)state;
    (void)message;
    heard_at[floods++] = letters_heard;
    for (int i = 0; i < 600; i++)
        lbx_tell(flooded, NULL);
    return LBX_OK;
}

static lbx_status
hear_letter(lbx_context *context, void *state, void *message)
{
    (void)context;
    (void)state;
    (void)message;
    letters_heard++;
    return LBX_OK;
}

/* Else three floods would wait in memory before the first letter is handled. */
ACTOR_TEST_WITH("ACTOR-10", who_floods_another_waits_until_that_has_run,
                options.throughput = 1000)
{
    static const lbx_behaviour floods_it = {sizeof(lbx_behaviour), "floods",
                                            .receive = flood};
    static const lbx_behaviour hears = {sizeof(lbx_behaviour), "hears",
                                        .receive = hear_letter};
    lbx_ref flooder;

    flooded = behaviour_spawn(world, &hears, NULL);
    flooder = behaviour_spawn(world, &floods_it, NULL);
    for (int i = 0; i < 3; i++)
        lbx_tell(flooder, NULL);
    (void)world_run(world);
    CHECK_INT(0, heard_at[0]);
    CHECK_INT(600, heard_at[1]);
    CHECK_INT(1200, heard_at[2]);
    CHECK_INT(1800, letters_heard);
}

static int64_t
cpu_ns(void)
{
    struct rusage usage;

    CHECK_INT(0, getrusage(RUSAGE_SELF, &usage));
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * LBX_SECOND +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * LBX_US;
}

static lbx_signal *heard;
static lbx_ref told;

static lbx_status
answer(lbx_context *context, void *state, void *message)
{
    (void)context;
    (void)state;
    (void)message;
    lbx_signal_notify(heard);
    return LBX_OK;
}

/* A handler should not wait. This one does, and for one whom only it told. */
static lbx_status
tell_and_wait(lbx_context *context, void *state, void *message)
{
    (void)context;
    (void)state;
    lbx_tell(told, message);
    return lbx_signal_wait_until(heard, LBX_FOREVER);
}

/* What a handler tells waits in its worker's slot, and another takes it out
 * when that handler takes long: DISP-5. */
ACTOR_TEST_THREADS("", a_handler_may_wait_for_one_that_only_it_has_told, 2)
{
    static const lbx_behaviour waits = {sizeof(lbx_behaviour), "waits",
                                        .receive = tell_and_wait};
    static const lbx_behaviour answers = {sizeof(lbx_behaviour), "answers",
                                          .receive = answer};
    lbx_ref first;

    CHECK_OK(lbx_signal_create(NULL, NULL, &heard));
    told = behaviour_spawn(world, &answers, NULL);
    first = behaviour_spawn(world, &waits, NULL);
    for (int i = 0; i < 20; i++)
        lbx_tell(first, NULL);
    lbx_tell(first, lbx_poison_pill());
    CHECK_OK(lbx_ref_ended_until(world->system, first, LBX_FOREVER));
    world_end(world);
    lbx_signal_unref(heard);
}

// Idle is idle: waiting here is a wait on an ask that times out.
ACTOR_TEST_THREADS("", idle_threads_use_no_processor, 4)
{
    lbx_envelope question = lbx_envelope_of(letter(1), 10);
    lbx_envelope answer;
    lbx_operation ask;
    int64_t used;
    int64_t wall;

    a->silent = true;
    part_spawn(a);
    EVENTUALLY(world_stats(world).parks >= 4);
    CHECK_OK(lbx_ask_init(&ask, world->system, a->self, &question, &answer,
                          lbx_deadline_after(NULL, 300 * LBX_MS)));
    wall = lbx_clock_now(NULL);
    used = cpu_ns();
    CHECK_STATUS(LBX_TIMEOUT, lbx_operation_wait(&ask));
    used = cpu_ns() - used;
    wall = lbx_clock_now(NULL) - wall;
    lbx_operation_fini(&ask);
    test_note("idle: %lld us of %lld us", (long long)(used / LBX_US),
              (long long)(wall / LBX_US));
    CHECK(used * 10 < wall);
}

// ---- Many ----

struct many {
    struct world world;
    lbx_ref *refs;
    _Atomic long received;
    long count;
};

static lbx_status
count_one(lbx_context *context, void *state, void *message)
{
    (void)context;
    (void)state;
    atomic_fetch_add((_Atomic long *)message, 1);
    return LBX_OK;
}

static const lbx_behaviour tally = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "tally",
    .receive = count_one,
};

static void
tell_everyone(unsigned index, void *context)
{
    struct many *many = context;

    for (long i = 0; i < many->count; i++)
        lbx_tell(many->refs[(i + index * 777) % many->count], &many->received);
}

TEST_CITING("V-36", ten_thousand_actors_run)
{
    enum {
        MANY = 10000,
    };
    static struct many many;
    static lbx_ref refs[MANY];
    lbx_props props = LBX_PROPS_INIT;

    world_begin_threads(&many.world, 2);
    many.refs = refs;
    many.count = MANY;
    props.behaviour = &tally;
    for (int wave = 1; wave <= 2; wave++) {
        for (int i = 0; i < MANY; i++)
            CHECK_OK(
                lbx_system_spawn(many.world.system, &props, NULL, &refs[i]));
        CHECK_INT(MANY, world_stats(&many.world).actors);
        threads_run(2, tell_everyone, &many);
        EVENTUALLY(atomic_load(&many.received) == 2L * wave * MANY);
        for (int i = 0; i < MANY; i++)
            lbx_ref_stop(refs[i]);
        EVENTUALLY(world_stats(&many.world).actors == 0);
    }
    world_end(&many.world);
    CHECK_INT(0, atomic_load(&many.world.dead_count));
}

// Vela: five actors with ten messages each; five threads with twenty for one.
ACTOR_TEST_THREADS("V-36 5.1", slow_actor_does_not_stall_others, 2)
{
    struct part slow;
    struct part fast;
    struct gate gate = {false, false};

    part_init(&slow, world, "slow");
    part_init(&fast, world, "fast");
    slow.silent = fast.silent = true;
    part_spawn(&slow);
    bid(&slow, do_block, &gate);
    EVENTUALLY(atomic_load(&gate.reached));
    part_spawn(&fast);
    for (int i = 0; i < 1000; i++)
        lbx_tell(fast.self, letter(1));
    EVENTUALLY(atomic_load(&fast.received) == 1000);
    atomic_store(&gate.is_open, true);
    world_end(world); // the actors use what lies on this stack
}

// Work made by one busy worker is taken by the others.
struct fan {
    struct world *world;
    struct part workers[4];
    struct gate gates[4];
};

static lbx_status
start_all(lbx_context *context, struct part *part, void *argument)
{
    struct fan *fan = argument;

    (void)context;
    (void)part;
    for (int i = 0; i < 4; i++)
        bid(&fan->workers[i], do_block, &fan->gates[i]);
    return LBX_OK;
}

TEST(work_spreads_over_the_threads)
{
    static struct fan fan;
    struct part boss;
    LOCAL_WORLD(world);

    world_begin_threads(&world, 4);
    fan.world = &world;
    part_init(&boss, &world, "boss");
    part_spawn(&boss);
    for (int i = 0; i < 4; i++) {
        static const char *const names[] = {"a", "b", "c", "d"};

        part_init(&fan.workers[i], &world, names[i]);
        fan.workers[i].silent = true;
        part_spawn(&fan.workers[i]);
    }
    bid(&boss, start_all, &fan);
    for (int i = 0; i < 4; i++) // all four at the same time
        EVENTUALLY(atomic_load(&fan.gates[i].reached));
    for (int i = 0; i < 4; i++)
        atomic_store(&fan.gates[i].is_open, true);
}
