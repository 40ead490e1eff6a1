/* SPDX-License-Identifier: Apache-2.0 */
/* Dead letters: why, from whom, to whom; each message ends exactly once
 * (ACTOR-3). */
#include <stdlib.h>

#include "actor/fixture.h"

static _Atomic long made;
static _Atomic long ended;

static void
end_parcel(void *message, void *context)
{
    (void)context;
    atomic_fetch_add(&ended, 1);
    free(message); // a second time is ASan's
}

static void *
copy_parcel(const void *message, void *context)
{
    (void)message;
    (void)context;
    atomic_fetch_add(&made, 1);
    return malloc(16);
}

static lbx_type *
parcel_type(void)
{
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    lbx_type *type;

    options.name = "test.Parcel";
    options.destroy = end_parcel;
    options.clone = copy_parcel;
    CHECK_OK(lbx_type_create(&options, &type));
    return type;
}

ACTOR_TEST("ACTOR-3 A-15", mail_of_an_ended_actor_is_reported_with_all_it_had)
{
    LOCAL_TYPE(type) = parcel_type();
    lbx_envelope envelope = lbx_envelope_of_type(copy_parcel(NULL, NULL), type);

    part_spawn(a);
    part_spawn(b);
    (void)world_run(world);
    envelope.sender = lbx_ref_as_sender(b->self);
    envelope.priority = 3;
    envelope.channel = LBX_CHANNEL_CONTROL;
    lbx_tell_envelope(a->self, &envelope);
    lbx_ref_stop(a->self);
    (void)world_run(world);
    CHECK_INT(1, atomic_load(&world->dead_count));
    CHECK(lbx_ref_equal(b->self, world->dead[0].sender));
    CHECK(lbx_ref_equal(a->self, world->dead[0].recipient));
    CHECK_PTR(type, world->dead[0].envelope.type);
    CHECK_PTR(envelope.message, world->dead[0].envelope.message);
    CHECK_INT(3, world->dead[0].envelope.priority);
    CHECK_INT(LBX_CHANNEL_CONTROL, world->dead[0].envelope.channel);
    CHECK_INT(LBX_LOSS_CLOSED, world->dead[0].envelope.lost);
    CHECK(!world->dead[0].suppressed);
    CHECK_INT(1, atomic_load(&ended));
    CHECK_INT(1, world_stats(world).dead_letters);
    CHECK_INT(0, world_stats(world).suppressed);
    world_end(world);
}

// The message is still whole when listeners hear of it.
static void
read_number(void *context, const lbx_dead_letter_event *letter)
{
    *(int *)context += *(const int *)letter->envelope->message;
}

static void
free_number(void *message, void *context)
{
    (void)context;
    free(message);
}

static int *
new_number(int value)
{
    int *number = malloc(sizeof(*number));

    CHECK(number);
    *number = value;
    return number;
}

TEST(listener_may_read_the_message)
{
    struct world world;
    struct part a;
    int sum = 0;
    lbx_system_options options = world_options(&world);

    options.dead_letters = (lbx_dead_letter_listener){read_number, &sum};
    options.destroy = free_number;
    world_begin_with(&world, &options);
    part_init(&a, &world, "a");
    lbx_tell(part_spawn(&a), new_number(3));
    lbx_tell(a.self, new_number(4));
    lbx_ref_stop(a.self);
    (void)world_run(&world);
    lbx_tell(a.self, new_number(5));
    CHECK_INT(12, sum);
    world_end(&world);
}

ACTOR_TEST_WITH("", without_a_listener_messages_are_still_ended,
                options.dead_letters.on_dead_letter = NULL)
{
    lbx_tell(part_spawn(a), letter(1));
    lbx_ref_stop(a->self);
    (void)world_run(world);
    lbx_tell(a->self, letter(2));
    CHECK_INT(2, atomic_load(&world->ended));
    CHECK_INT(2, world_stats(world).dead_letters);
}

ACTOR_TEST_WITH("", without_destroy_messages_are_left_alone,
                options.destroy = NULL)
{
    lbx_tell(part_spawn(a), letter(1));
    CHECK_DIARY(world, "a+ a:1");
}

// A listener may use the system; it holds no lock.
static void
tell_morgue(void *context, const lbx_dead_letter_event *letter)
{
    struct part *morgue = context;

    if (lbx_ref_is_alive(morgue->self))
        lbx_tell(morgue->self, letter->envelope->message);
}

TEST(listener_may_tell)
{
    struct world world;
    struct part a;
    struct part morgue;
    lbx_system_options options = world_options(&world);

    options.dead_letters = (lbx_dead_letter_listener){tell_morgue, &morgue};
    world_begin_with(&world, &options);
    part_init(&a, &world, "a");
    part_init(&morgue, &world, "m");
    part_spawn(&morgue);
    lbx_tell(part_spawn(&a), letter(1));
    lbx_ref_stop(a.self);
    CHECK_DIARY(&world, "m+ m:1");
    lbx_tell(a.self, letter(2));
    CHECK_DIARY(&world, "m:2");
    world_end(&world);
}

// ---- Storm ----

enum {
    MOST_SENDERS = 3,
};

struct storm {
    struct world world;
    lbx_type *type;
    _Atomic uint64_t target;
    _Atomic bool is_over;
    _Atomic long handled;
};

static lbx_status
count_parcel(lbx_context *context, void *state, void *message)
{
    struct storm *storm = *(struct storm **)state;

    (void)context;
    (void)message;
    // One in eight fails; the message is ended by then or later, but once.
    return atomic_fetch_add(&storm->handled, 1) % 8 == 0 ? LBX_REFUSED : LBX_OK;
}

static lbx_status
know_storm(lbx_context *context, void *state, void *argument)
{
    (void)context;
    *(struct storm **)state = argument;
    return LBX_OK;
}

static const lbx_behaviour fragile = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "fragile",
    .state_bytes = sizeof(struct storm *),
    .start = know_storm,
    .receive = count_parcel,
};

static void
send_parcels(unsigned index, void *context)
{
    struct storm *storm = context;

    (void)index;
    for (long i = 0; i < test_rounds(40000, 1000000); i++) {
        lbx_ref ref = {atomic_load(&storm->target)};

        lbx_tell_typed(ref, storm->type, copy_parcel(NULL, NULL));
    }
}

static void
swap_targets(void *context)
{
    struct storm *storm = context;

    while (!atomic_load(&storm->is_over)) {
        lbx_ref old = {atomic_load(&storm->target)};
        lbx_ref ref = behaviour_spawn(&storm->world, &fragile, storm);

        atomic_store(&storm->target, ref.word);
        lbx_ref_stop(old);
        sched_yield();
    }
}

TEST_CITING("ACTOR-3 ACTOR-8", every_message_ends_once_while_actors_come_and_go)
{
    static struct storm storm;
    struct thread thread;
    lbx_ref first;

    world_begin_threads(&storm.world, 2);
    storm.type = parcel_type();
    first = behaviour_spawn(&storm.world, &fragile, &storm);
    atomic_store(&storm.target, first.word);
    thread_start(&thread, swap_targets, &storm);
    threads_run(MOST_SENDERS, send_parcels, &storm);
    atomic_store(&storm.is_over, true);
    thread_join(&thread);
    world_end(&storm.world);
    CHECK_INT(MOST_SENDERS * test_rounds(40000, 1000000), atomic_load(&made));
    CHECK_INT(atomic_load(&made), atomic_load(&ended));
    // A failed message may be dead as well, when its actor was stopped.
    CHECK(atomic_load(&storm.handled) +
              (long)atomic_load(&storm.world.dead_count) >=
          atomic_load(&made));
    lbx_type_destroy(storm.type);
}

// Handled or dead, never both, when no handler fails.
static lbx_status
count_good_parcel(lbx_context *context, void *state, void *message)
{
    struct storm *storm = *(struct storm **)state;

    (void)context;
    (void)message;
    atomic_fetch_add(&storm->handled, 1);
    return LBX_OK;
}

static const lbx_behaviour robust = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "robust",
    .state_bytes = sizeof(struct storm *),
    .start = know_storm,
    .receive = count_good_parcel,
};

TEST_CITING("ACTOR-3", message_is_handled_or_dead_and_never_both)
{
    static struct storm storm;
    long sent = 0;

    world_begin_threads(&storm.world, 2);
    storm.type = parcel_type();
    for (long i = 0; i < test_rounds(4000, 100000); i++) {
        lbx_ref ref = behaviour_spawn(&storm.world, &robust, &storm);

        for (int j = 0; j < 12; j++) {
            lbx_tell_typed(ref, storm.type, copy_parcel(NULL, NULL));
            if (j == i % 12)
                lbx_ref_stop(ref);
            sent++;
        }
    }
    world_end(&storm.world);
    CHECK_INT(sent, atomic_load(&ended));
    CHECK_INT(sent, atomic_load(&storm.handled) +
                        (long)atomic_load(&storm.world.dead_count));
    lbx_type_destroy(storm.type);
}
