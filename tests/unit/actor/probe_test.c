/* SPDX-License-Identifier: Apache-2.0 */
/* Probes: what a test can expect of an actor. */
#include "actor/fixture.h"
#include "support/torture.h"

/* An actor that answers a number with its double, and 0 with nothing. */
static lbx_status
answer_double_quietly(lbx_context *context, struct part *part, void *message)
{
    (void)part;
    if (message)
        lbx_context_reply(context, letter(2 * number_of(message)));
    return LBX_OK;
}

/* A probe and the actor that it tests. */
struct trial {
    struct world world;
    struct part a;
    lbx_probe *probe;
    lbx_envelope got;
};

static void
trial_begin(struct trial *trial, int64_t threads)
{
    if (threads > 0)
        world_begin_threads(&trial->world, threads);
    else
        world_begin(&trial->world);
    part_init(&trial->a, &trial->world, "a");
    trial->a.silent = true;
    trial->a.receive = answer_double_quietly;
    part_spawn(&trial->a);
    CHECK_OK(lbx_probe_create(trial->world.system, "probe", &trial->probe));
}

static void
trial_end(struct trial *trial)
{
    lbx_probe_destroy(trial->probe);
    world_end(&trial->world);
}

#define TRIAL_TEST(name, threads)                                              \
    FIXTURE_TEST(trial, "", name, trial_begin(trial, threads), trial_end(trial))

static void
check_conversation(struct trial *trial)
{
    lbx_ref self = lbx_probe_ref(trial->probe);

    CHECK(lbx_ref_is_alive(self));
    lbx_probe_tell(trial->probe, trial->a.self, NULL, letter(4));
    CHECK_OK(lbx_probe_expect(trial->probe, NULL, -1, &trial->got));
    CHECK_INT(8, number_of(trial->got.message));
    CHECK(lbx_ref_equal(trial->a.self, lbx_ref_of_sender(trial->got.sender)));
    lbx_probe_reply(trial->probe, NULL, letter(5));
    CHECK_OK(lbx_probe_receive(trial->probe, -1, &trial->got));
    CHECK_INT(10, number_of(trial->got.message));
}

TRIAL_TEST(probe_talks_to_an_actor, 0)
{
    check_conversation(trial);
    CHECK_OK(lbx_probe_expect_none(trial->probe, 0));
    lbx_probe_tell(trial->probe, trial->a.self, NULL, letter(0));
    CHECK_STATUS(LBX_TIMEOUT, lbx_probe_receive(trial->probe, -1, NULL));
    lbx_probe_reply(trial->probe, NULL, letter(1)); // there is nothing to reply
    trial_end(trial);
    trial->probe = NULL;
    CHECK_INT(5, atomic_load(&trial->world.ended));
}

TRIAL_TEST(probe_waits_for_an_actor_with_threads, 2)
{
    const lbx_termination *why;

    check_conversation(trial);
    CHECK_STATUS(LBX_TIMEOUT, lbx_probe_receive(trial->probe, 1, NULL));
    CHECK_OK(lbx_probe_expect_none(trial->probe, 1));
    lbx_probe_watch(trial->probe, trial->a.self);
    lbx_ref_stop(trial->a.self);
    CHECK_OK(lbx_probe_expect_end(trial->probe, trial->a.self, -1, &why));
}

TRIAL_TEST(probe_says_what_came_instead, 0)
{
    const lbx_termination *why;

    lbx_tell_typed(lbx_probe_ref(trial->probe), lbx_receive_timeout_type(),
                   NULL);
    CHECK_STATUS(LBX_REFUSED,
                 lbx_probe_expect(trial->probe, NULL, -1, &trial->got));
    CHECK_PTR(lbx_receive_timeout_type(), trial->got.type);
    lbx_tell(lbx_probe_ref(trial->probe), letter(3));
    CHECK_STATUS(LBX_REFUSED, lbx_probe_expect_none(trial->probe, 0));
    CHECK_STATUS(LBX_REFUSED, lbx_probe_expect_none(trial->probe, 0));
    CHECK_STATUS(LBX_REFUSED,
                 lbx_probe_expect(trial->probe, lbx_receive_timeout_type(), -1,
                                  &trial->got)); // it was kept
    CHECK_INT(3, number_of(trial->got.message));
    lbx_tell(lbx_probe_ref(trial->probe), letter(4));
    CHECK_STATUS(LBX_REFUSED,
                 lbx_probe_expect_end(trial->probe, trial->a.self, -1, &why));
    lbx_probe_watch(trial->probe, trial->a.self);
    lbx_ref_stop(trial->a.self);
    CHECK_STATUS(LBX_REFUSED, lbx_probe_expect_end(trial->probe,
                                                   lbx_ref_nobody(), -1, NULL));
}

static bool
is_number(void *argument, const lbx_envelope *envelope)
{
    return number_of(envelope->message) == *(const int *)argument;
}

TRIAL_TEST(probe_finds_a_message_among_others, 0)
{
    int wanted = 6;

    for (int i = 1; i <= 4; i++)
        lbx_probe_tell(trial->probe, trial->a.self, NULL, letter(i));
    CHECK_OK(lbx_probe_find(trial->probe, is_number, &wanted, -1, &trial->got));
    CHECK_INT(6, number_of(trial->got.message));
    CHECK_OK(lbx_probe_receive(trial->probe, -1, &trial->got));
    CHECK_INT(8, number_of(trial->got.message));
    CHECK_STATUS(LBX_TIMEOUT, lbx_probe_find(trial->probe, is_number, &wanted,
                                             -1, &trial->got));
}

// What is late comes when the clock has been moved, and not before.
TRIAL_TEST(probe_waits_for_the_clock_of_the_test, 0)
{
    lbx_envelope later = lbx_envelope_of(letter(7), 10);
    lbx_timer timer;

    CHECK_OK(lbx_timer_start(trial->world.system, lbx_probe_ref(trial->probe),
                             &later, LBX_SECOND, 0, &timer));
    CHECK_OK(lbx_probe_expect_none(trial->probe, 2 * LBX_SECOND));
    test_clock_advance(&trial->world.time, LBX_SECOND);
    CHECK_OK(lbx_probe_expect(trial->probe, NULL, 0, &trial->got));
    CHECK_INT(7, number_of(trial->got.message));
}

// Nothing is left of a probe: not what it was not asked for, nor what it keeps.
TRIAL_TEST(probe_destroys_what_it_has_got, 0)
{
    lbx_probe *second;

    CHECK_STATUS(LBX_EXISTS,
                 lbx_probe_create(trial->world.system, "probe", &second));
    lbx_tell(lbx_probe_ref(trial->probe), letter(1));
    lbx_tell(lbx_probe_ref(trial->probe), letter(2));
    CHECK_OK(lbx_probe_receive(trial->probe, 0, NULL));
    lbx_tell(lbx_probe_ref(trial->probe), letter(3)); // still in its inbox
    lbx_probe_destroy(trial->probe);
    trial->probe = NULL;
    lbx_probe_destroy(NULL);
    CHECK_INT(3, atomic_load(&trial->world.ended));
}

// ---- A probe that is being ended already ----

/* Memory that opens a gate when the test's thread asks for some. */
struct watched_memory {
    struct torture memory;
    lbx_allocator inner;
    pthread_t waiter;
    struct gate gate;
    _Atomic bool armed;
    _Atomic int destroyed;
};

static void *
watched_allocate(void *context, size_t size_bytes, size_t align_bytes)
{
    struct watched_memory *watched = context;

    if (atomic_load(&watched->armed) &&
        pthread_equal(watched->waiter, pthread_self()))
        atomic_store(&watched->gate.is_open, true);
    return watched->inner.allocate(watched->inner.context, size_bytes,
                                   align_bytes);
}

static void
watched_release(void *context, void *memory, size_t size_bytes)
{
    struct watched_memory *watched = context;

    watched->inner.release(watched->inner.context, memory, size_bytes);
}

/* Takes until the test's thread waits for it. */
static void
destroy_slowly(void *message, void *context)
{
    struct watched_memory *watched = context;

    (void)message;
    atomic_store(&watched->gate.reached, true);
    EVENTUALLY(atomic_load(&watched->gate.is_open));
    atomic_fetch_add(&watched->destroyed, 1);
}

// A thread destroys what is in its inbox, with types that the test destroys
// when lbx_probe_destroy() has returned.
TEST(probe_waits_until_its_inbox_is_cleared)
{
    struct watched_memory watched = {.memory = TORTURE_INIT};
    lbx_allocator allocator = {watched_allocate, watched_release, &watched};
    lbx_type_options type_options = LBX_TYPE_OPTIONS_INIT;
    struct world world;
    lbx_system_options options = world_options(&world);
    lbx_probe *probe;
    lbx_type *type;

    watched.inner = torture_allocator(&watched.memory);
    watched.waiter = pthread_self();
    options.allocator = &allocator;
    options.clock = NULL;
    options.threads = 1;
    world_begin_with(&world, &options);
    type_options.name = "test.Slow";
    type_options.destroy = destroy_slowly;
    type_options.context = &watched;
    CHECK_OK(lbx_type_create(&type_options, &type));
    CHECK_OK(lbx_probe_create(world.system, "probe", &probe));
    CHECK_OK(lbx_ref_suspend(lbx_probe_ref(probe)));
    lbx_tell_typed(lbx_probe_ref(probe), type, letter(1));
    lbx_ref_stop(lbx_probe_ref(probe));
    EVENTUALLY(atomic_load(&watched.gate.reached));
    atomic_store(&watched.armed, true); // to wait it needs memory
    lbx_probe_destroy(probe);
    CHECK_INT(1, atomic_load(&watched.destroyed));
    world_end(&world);
    lbx_type_destroy(type);
}

TEST(probe_refuses_nonsense)
{
    lbx_probe *probe;

    CHECK_STATUS(LBX_INVALID, lbx_probe_create(NULL, NULL, &probe));
    CHECK_STATUS(LBX_INVALID, lbx_probe_receive(NULL, 0, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_probe_expect(NULL, NULL, 0, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_probe_expect_none(NULL, 0));
    CHECK_STATUS(LBX_INVALID, lbx_probe_find(NULL, is_number, NULL, 0, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_probe_expect_end(NULL, lbx_ref_nobody(), 0, NULL));
    CHECK(lbx_ref_equal(lbx_ref_nobody(), lbx_probe_ref(NULL)));
    lbx_probe_watch(NULL, lbx_ref_nobody());
}
