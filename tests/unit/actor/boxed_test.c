/* SPDX-License-Identifier: Apache-2.0 */
/* Actors on mailboxes of other kinds, and senders that must wait. */
#include <letterbox/compat/akka.h>
#include <letterbox/mailbox.h>
#include <stdio.h>
#include <string.h>

#include "actor/fixture.h"
#include "support/torture.h"

static lbx_mailbox_options
bounded(int64_t capacity, lbx_overflow overflow, int64_t wait_ns)
{
    lbx_mailbox_options options = lbx_akka_mailbox_options();

    options.capacity_messages = capacity;
    options.overflow = overflow;
    options.wait_ns = wait_ns;
    return options;
}

// high 0, other 1, low 2, the pill 3.
static bool
rank(const void *message, void *context, int32_t *ret)
{
    int number = message == lbx_poison_pill() ? 3 : number_of(message) / 10;

    (void)context;
    *ret = number;
    return true;
}

ACTOR_TEST("A-13", a_priority_mailbox_sorts_the_poison_pill_too)
{
    static const int numbers[] = {21, 22, 1, 11, 12, 13, 2};
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;

    options.priority = rank;
    part_spawn_boxed(a, LBX_KIND_UNBOUNDED_PRIORITY, &options);
    lbx_tell(a->self, lbx_poison_pill());
    for (int i = 0; i < 7; i++)
        lbx_tell(a->self, letter(numbers[i]));
    CHECK_DIARY(world, "a+ a:1 a:2 a:11 a:12 a:13 a:21 a:22 a-");
    world_end(world);
    CHECK_INT(0, atomic_load(&world->dead_count));
}

ACTOR_TEST("2.4.3", control_messages_overtake)
{
    lbx_envelope urgent = lbx_envelope_control(letter(3), 10);

    part_spawn_boxed(a, LBX_KIND_UNBOUNDED_CONTROL_AWARE, NULL);
    lbx_tell(a->self, letter(1));
    lbx_tell(a->self, letter(2));
    lbx_tell_envelope(a->self, &urgent);
    CHECK_DIARY(world, "a+ a:3 a:1 a:2");
}

ACTOR_TEST("A-25", what_finds_no_room_is_a_dead_letter_with_its_sender)
{
    lbx_mailbox_options options = bounded(2, LBX_OVERFLOW_DROP_NEWEST, 0);
    lbx_envelope third = lbx_envelope_of(letter(3), 10);

    part_spawn_boxed(a, LBX_KIND_BOUNDED, &options);
    third.sender = lbx_ref_as_sender(a->self);
    lbx_tell(a->self, letter(1));
    lbx_tell(a->self, letter(2));
    lbx_tell_envelope(a->self, &third);
    CHECK_INT(1, atomic_load(&world->dead_count));
    world_check_dead(world, 0, 3, LBX_LOSS_DROPPED_NEWEST);
    CHECK(lbx_ref_equal(world->dead[0].sender, a->self));
    CHECK(lbx_ref_equal(world->dead[0].recipient, a->self));
    CHECK_DIARY(world, "a+ a:1 a:2");
    CHECK_INT(3, world_end_count(world));
}

ACTOR_TEST("A-24", what_is_left_in_the_mailbox_becomes_dead_letters)
{
    part_spawn_boxed(a, LBX_KIND_UNBOUNDED_DEQUE, NULL);
    bid(a, do_stop, NULL);
    lbx_tell(a->self, letter(1));
    lbx_tell(a->self, letter(2));
    CHECK_DIARY(world, "a+ a-");
    CHECK_INT(2, atomic_load(&world->dead_count));
    world_check_dead(world, 0, 1, LBX_LOSS_CLOSED);
    lbx_tell(a->self, letter(3));
    world_check_dead(world, 2, 3, LBX_LOSS_NO_ACTOR);
    CHECK_INT(4, world_end_count(world));
}

ACTOR_TEST("", a_full_mailbox_gives_a_try_its_message_back)
{
    lbx_mailbox_options options = bounded(1, LBX_OVERFLOW_BLOCK, -1);
    lbx_envelope envelope = lbx_envelope_of(letter(2), 10);

    part_spawn_boxed(a, LBX_KIND_BOUNDED, &options);
    lbx_tell(a->self, letter(1));
    CHECK_STATUS(LBX_FULL, lbx_try_tell(a->self, &envelope));
    CHECK_DIARY(world, "a+ a:1");
    CHECK_OK(lbx_try_tell(a->self, &envelope));
    CHECK_DIARY(world, "a:2");
    CHECK_INT(2, world_end_count(world));
}

ACTOR_TEST("", an_unknown_kind_is_not_found_and_costs_no_name)
{
    lbx_props props;
    lbx_ref ref;

    props = part_props(a);
    props.mailbox = "no such kind";
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_system_spawn(world->system, &props, "a", &ref));
    part_spawn(a);
    CHECK_DIARY(world, "a+");
}

// System messages are the library's own; one of a user's is refused, and said
// to be, wherever the actor's messages lie.
ACTOR_TEST("", a_system_message_is_refused_and_reported_so)
{
    lbx_envelope system = lbx_envelope_from_system(
        lbx_system_message_of(LBX_SYSTEM_CODE_STOP), NULL);

    part_spawn(a);
    part_spawn_boxed(b, LBX_KIND_BOUNDED, NULL);
    system.message = letter(1);
    lbx_tell_envelope(a->self, &system);
    lbx_tell_envelope(b->self, &system);
    CHECK_INT(2, atomic_load(&world->dead_count));
    world_check_dead(world, 0, 1, LBX_LOSS_REFUSED);
    world_check_dead(world, 1, 1, LBX_LOSS_REFUSED);
    CHECK_DIARY(world, "a+ b+");
}

// ---- The outbox ----

static lbx_status
tell_four(lbx_context *context, struct part *part, void *argument)
{
    const struct part *to = argument;

    (void)context;
    for (int i = 1; i <= 4; i++)
        lbx_tell(to->self, letter(i));
    world_write(part->world, "told");
    return LBX_OK;
}

// a tells four messages to b, which is suspended and has capacity for two: a
// waits, at most for this time (-1: without end).
static void
let_sender_wait(struct part *a, struct part *b, int64_t wait_ns)
{
    const lbx_mailbox_options options = bounded(2, LBX_OVERFLOW_BLOCK, wait_ns);

    part_spawn(a);
    part_spawn_boxed(b, LBX_KIND_BOUNDED, &options);
    CHECK_OK(lbx_ref_suspend(b->self));
    bid(a, tell_four, b);
}

// A sender that must wait handles nothing else until all is accepted, in order.
ACTOR_TEST("A-25", a_sender_rests_until_there_is_room)
{
    lbx_mailbox_options options = bounded(2, LBX_OVERFLOW_BLOCK, -1);

    part_spawn(a);
    CHECK_DIARY(world, "a+");
    part_spawn_boxed(b, LBX_KIND_BOUNDED, &options);
    CHECK_OK(lbx_ref_suspend(b->self));
    bid(a, tell_four, b);
    lbx_tell(a->self, letter(9));
    CHECK_DIARY(world, "b+ told");
    CHECK_OK(lbx_ref_resume(b->self));
    CHECK_DIARY(world, "b:1 b:2 b:3 b:4 a:9");
    world_end(world);
    CHECK_INT(0, atomic_load(&world->dead_count));
}

ACTOR_TEST("A-25", a_wait_for_room_that_is_over_makes_a_dead_letter)
{
    let_sender_wait(a, b, LBX_SECOND);
    lbx_tell(a->self, letter(9));
    CHECK_DIARY(world, "a+ told b+");
    CHECK_DIARY_AFTER(world, LBX_SECOND, "a:9");
    CHECK_INT(2, atomic_load(&world->dead_count));
    world_check_dead(world, 0, 3, LBX_LOSS_DROPPED_NEWEST);
    world_check_dead(world, 1, 4, LBX_LOSS_DROPPED_NEWEST);
    CHECK_OK(lbx_ref_resume(b->self));
    CHECK_DIARY(world, "b:1 b:2");
}

ACTOR_TEST("", a_sender_that_ends_while_it_waits_takes_its_messages_along)
{
    let_sender_wait(a, b, -1);
    CHECK_DIARY(world, "a+ told b+");
    lbx_ref_stop(a->self);
    CHECK_DIARY(world, "a-");
    CHECK_INT(2, atomic_load(&world->dead_count));
    CHECK_OK(lbx_ref_resume(b->self));
    CHECK_DIARY(world, "b:1 b:2");
}

ACTOR_TEST("", a_recipient_that_ends_lets_its_senders_go_on)
{
    let_sender_wait(a, b, -1);
    lbx_tell(a->self, letter(9));
    CHECK_DIARY(world, "a+ told b+");
    lbx_ref_stop(b->self);
    CHECK_DIARY(world, "b- a:9");
    CHECK_INT(4, atomic_load(&world->dead_count));
}

// ---- Suspension, numbers ----

ACTOR_TEST("A-20", suspension_nests_and_spares_a_stop)
{
    part_spawn(a);
    CHECK_OK(lbx_ref_suspend(a->self));
    CHECK_OK(lbx_ref_suspend(a->self));
    lbx_tell(a->self, letter(1));
    CHECK_DIARY(world, "a+");
    CHECK_OK(lbx_ref_resume(a->self));
    CHECK_DIARY(world, "");
    CHECK_OK(lbx_ref_resume(a->self));
    CHECK_OK(lbx_ref_resume(a->self)); // one too many
    CHECK_DIARY(world, "a:1");
    CHECK_OK(lbx_ref_suspend(a->self));
    lbx_ref_stop(a->self);
    CHECK_DIARY(world, "a-");
    CHECK_STATUS(LBX_NOT_FOUND, lbx_ref_suspend(a->self));
    CHECK_STATUS(LBX_NOT_FOUND, lbx_ref_resume(a->self));
}

static lbx_actor_stats
stats_of(const struct part *part)
{
    lbx_actor_stats stats = LBX_ACTOR_STATS_INIT;

    CHECK_OK(lbx_ref_stats_read(part->self, &stats));
    return stats;
}

ACTOR_TEST("", numbers_of_an_actor_add_up)
{
    a->children[0] = b;
    lbx_tell(part_spawn(a), letter(1));
    lbx_tell(a->self, letter(2));
    CHECK_INT(2, stats_of(a).depth);
    CHECK_DIARY(world, "a+ a:1 a:2 b+");
    CHECK_INT(0, stats_of(a).depth);
    CHECK_INT(2, stats_of(a).handled);
    CHECK_INT(1, stats_of(a).children);
    lbx_tell(a->self, letter(FAILS));
    (void)world_run(world);
    CHECK_INT(1, stats_of(a).failures);
    CHECK_STATUS(LBX_INVALID, lbx_ref_stats_read(a->self, NULL));
    lbx_ref_stop(a->self);
    (void)world_run(world);
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_ref_stats_read(a->self, &(lbx_actor_stats){0}));
}

ACTOR_TEST("", depth_counts_a_mailbox_of_its_own)
{
    part_spawn_boxed(a, LBX_KIND_UNBOUNDED, NULL);
    lbx_tell(a->self, letter(1));
    lbx_tell(a->self, letter(2));
    CHECK_INT(2, stats_of(a).depth);
    CHECK_DIARY(world, "a+ a:1 a:2");
    CHECK_INT(0, stats_of(a).depth);
}

// ---- Options without a mailbox ----

struct wish {
    const char *kind; // that fits
    int64_t capacity;
    bool by_rank;
    int64_t control_capacity;
    uint32_t needs;
};

static lbx_mailbox_options
wish_options(const struct wish *wish)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;

    options.capacity_messages = wish->capacity;
    options.overflow = LBX_OVERFLOW_DROP_NEWEST;
    options.priority = wish->by_rank ? rank : NULL;
    options.control_capacity = wish->control_capacity;
    return options;
}

ACTOR_TEST("", mailbox_options_without_a_mailbox_choose_the_kind_that_fits)
{
    static const struct wish wishes[] = {
        {LBX_KIND_UNBOUNDED, LBX_DEFAULT, false, LBX_DEFAULT, 0},
        {LBX_KIND_BOUNDED, 5, false, LBX_DEFAULT, 0},
        {LBX_KIND_UNBOUNDED_PRIORITY, LBX_UNLIMITED, true, LBX_DEFAULT, 0},
        {LBX_KIND_BOUNDED_PRIORITY, 5, true, LBX_DEFAULT, 0},
        {LBX_KIND_BOUNDED_CONTROL_AWARE, 5, false, 3, 0},
        {LBX_KIND_UNBOUNDED_DEQUE, LBX_DEFAULT, false, LBX_DEFAULT,
         LBX_CAPABILITY_SEND_FRONT},
        {LBX_KIND_BOUNDED_DEQUE, 5, false, LBX_DEFAULT,
         LBX_CAPABILITY_SEND_FRONT},
        {LBX_KIND_UNBOUNDED_CONTROL_AWARE, LBX_DEFAULT, false, LBX_DEFAULT,
         LBX_CAPABILITY_CONTROL},
        {LBX_KIND_UNBOUNDED_PRIORITY, LBX_DEFAULT, false, LBX_DEFAULT,
         LBX_CAPABILITY_PRIORITIZE},
    };
    lbx_behaviour needy = *part_props(a).behaviour;

    for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++) {
        lbx_mailbox_options options = wish_options(&wishes[i]);
        lbx_props props = part_props(a);
        lbx_actor_stats stats = LBX_ACTOR_STATS_INIT;
        lbx_ref ref;

        needy.needs = wishes[i].needs;
        props.behaviour = &needy;
        props.mailbox_options = &options;
        CHECK_OK(lbx_system_spawn(world->system, &props, NULL, &ref));
        CHECK_OK(lbx_ref_stats_read(ref, &stats));
        CHECK_STR(wishes[i].kind, stats.mailbox);
    }
    world_end(world);
}

ACTOR_TEST("", capacity_in_mailbox_options_alone_is_kept)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;

    options.capacity_messages = 5;
    part_spawn_boxed(a, NULL, &options);
    for (int i = 0; i < 100; i++)
        lbx_tell(a->self, letter(i));
    CHECK_INT(5, stats_of(a).depth);
    CHECK_INT(95, atomic_load(&world->dead_count));
}

static void
end_nothing(void *message, void *context)
{
    (void)message;
    (void)context;
}

ACTOR_TEST("", mailbox_options_that_an_actor_cannot_have_are_refused)
{
    static const char *const words[] = {"owner", "clock", "destroy",
                                        "dead_letters"};
    lbx_mailbox_options lost = LBX_MAILBOX_OPTIONS_INIT;
    lbx_producer *in;
    lbx_consumer *out;

    lost.envelopes = true; // else no mailbox could have it as dead_letters
    CHECK_OK(lbx_mailbox_create(LBX_KIND_UNBOUNDED, &lost, &in, &out));
    for (size_t i = 0; i < 4; i++) {
        lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
        lbx_clock other = world->clock;
        lbx_fault fault;
        lbx_props props = part_props(a);
        lbx_ref ref;

        if (i == 0)
            options.owner = world;
        else if (i == 1)
            options.clock = &other;
        else if (i == 2)
            options.destroy = end_nothing;
        else
            options.dead_letters = in;
        props.mailbox_options = &options;
        props.fault = &fault;
        for (int named = 0; named < 2; named++) {
            props.mailbox = named ? LBX_KIND_UNBOUNDED : NULL;
            CHECK_STATUS(LBX_INVALID,
                         lbx_system_spawn(world->system, &props, "a", &ref));
            CHECK_STATUS(LBX_INVALID, fault.status);
            CHECK(strstr(fault.text, words[i]));
        }
    }
    part_spawn(a); // the name is free
    lbx_producer_unref(in);
    lbx_consumer_unref(out);
}

/* What a loss sink got; it owns the messages, which are numbers here. */
struct losses {
    struct world *world;
    lbx_ref recipient;
    uint64_t total;
};

static void
note_loss(void *context, const lbx_loss *loss)
{
    struct losses *losses = context;
    lbx_ref to = lbx_ref_of_sender(loss->envelope->recipient);

    CHECK(loss->mailbox);
    CHECK(lbx_ref_equal(losses->recipient, to));
    CHECK_INT(++losses->total, loss->lost_messages);
    world_write(losses->world, "lost:%d/%d", number_of(loss->envelope->message),
                (int)loss->envelope->lost);
}

// Dropped, refused, and left when the actor ends.
ACTOR_TEST("", loss_sink_of_an_actor_gets_its_lost_messages)
{
    static const struct {
        lbx_overflow overflow;
        int64_t wait_ns;
        lbx_loss_reason reason;
        int lost;
    } cases[] = {
        {LBX_OVERFLOW_DROP_OLDEST, 0, LBX_LOSS_DROPPED_OLDEST, 1},
        {LBX_OVERFLOW_DROP_NEWEST, 0, LBX_LOSS_DROPPED_NEWEST, 3},
        {LBX_OVERFLOW_REJECT, 0, LBX_LOSS_DROPPED_NEWEST, 3},
        {LBX_OVERFLOW_BLOCK, 0, LBX_LOSS_DROPPED_NEWEST, 3},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        lbx_mailbox_options options =
            bounded(2, cases[i].overflow, cases[i].wait_ns);
        struct losses losses = {.world = world};
        char diary[80];

        options.loss_sink = (lbx_loss_sink){note_loss, &losses};
        part_init(a, world, "a");
        a->silent = true;
        part_spawn_boxed(a, LBX_KIND_BOUNDED, &options);
        losses.recipient = a->self;
        CHECK_OK(lbx_ref_suspend(a->self));
        for (int n = 1; n <= 3; n++)
            lbx_tell(a->self, letter(n));
        lbx_ref_stop(a->self);
        (void)snprintf(diary, sizeof(diary), "lost:%d/%d lost:%d/%d lost:%d/%d",
                       cases[i].lost, (int)cases[i].reason,
                       cases[i].lost == 1 ? 2 : 1, (int)LBX_LOSS_CLOSED,
                       cases[i].lost == 1 ? 3 : 2, (int)LBX_LOSS_CLOSED);
        CHECK_DIARY(world, diary);
        CHECK_INT(3, losses.total);
    }
    CHECK_INT(0, atomic_load(&world->dead_count));
    CHECK_INT(0, atomic_load(&world->ended)); // the sink owned them
}

// What waited in a sender's outbox in vain is lost by the mailbox that it
// waited for, whether that drops it or gives it back.
static void
lose_after_waiting(struct world *world, struct part *a, struct part *b,
                   lbx_overflow after_wait)
{
    lbx_mailbox_options options = bounded(2, LBX_OVERFLOW_BLOCK, LBX_SECOND);
    struct losses losses = {.world = world};
    char diary[40];

    options.after_wait = after_wait;
    options.loss_sink = (lbx_loss_sink){note_loss, &losses};
    part_spawn(a);
    losses.recipient = part_spawn_boxed(b, LBX_KIND_BOUNDED, &options);
    CHECK_OK(lbx_ref_suspend(b->self));
    bid(a, tell_four, b);
    CHECK_DIARY(world, "a+ told b+");
    (void)snprintf(diary, sizeof(diary), "lost:3/%d lost:4/%d",
                   (int)LBX_LOSS_DROPPED_NEWEST, (int)LBX_LOSS_DROPPED_NEWEST);
    CHECK_DIARY_AFTER(world, LBX_SECOND, diary);
    CHECK_INT(2, losses.total);
    CHECK_INT(0, atomic_load(&world->dead_count));
    CHECK_OK(lbx_ref_resume(b->self));
    CHECK_DIARY(world, "b:1 b:2");
}

ACTOR_TEST("", loss_sink_gets_what_is_dropped_after_a_wait_for_room)
{
    lose_after_waiting(world, a, b, LBX_OVERFLOW_DROP_NEWEST);
}

ACTOR_TEST("", loss_sink_gets_what_is_rejected_after_a_wait_for_room)
{
    lose_after_waiting(world, a, b, LBX_OVERFLOW_REJECT);
}

// Mailboxes are used again; the sink of the last one is not.
ACTOR_TEST("", loss_sink_is_not_that_of_an_actor_before)
{
    lbx_mailbox_options options = bounded(1, LBX_OVERFLOW_DROP_NEWEST, 0);
    struct losses losses = {.world = world};

    options.loss_sink = (lbx_loss_sink){note_loss, &losses};
    losses.recipient = part_spawn_boxed(a, LBX_KIND_BOUNDED, &options);
    CHECK_DIARY(world, "a+");
    lbx_ref_stop(a->self);
    CHECK_DIARY(world, "a-");
    options.loss_sink = (lbx_loss_sink){NULL, NULL};
    part_spawn_boxed(b, LBX_KIND_BOUNDED, &options);
    CHECK_DIARY(world, "b+");
    lbx_tell(b->self, letter(1));
    lbx_tell(b->self, letter(2));
    CHECK_DIARY(world, "b:1");
    CHECK_INT(0, losses.total);
    CHECK_INT(1, atomic_load(&world->dead_count));
}

// The recipient has ended: that is no loss of its mailbox.
ACTOR_TEST("", loss_sink_gets_nothing_that_waited_for_an_actor_that_ended)
{
    lbx_mailbox_options options = bounded(2, LBX_OVERFLOW_BLOCK, -1);
    struct losses losses = {.world = world};
    char diary[40];

    options.loss_sink = (lbx_loss_sink){note_loss, &losses};
    part_spawn(a);
    losses.recipient = part_spawn_boxed(b, LBX_KIND_BOUNDED, &options);
    CHECK_OK(lbx_ref_suspend(b->self));
    bid(a, tell_four, b);
    CHECK_DIARY(world, "a+ told b+");
    lbx_ref_stop(b->self);
    (void)snprintf(diary, sizeof(diary), "b- lost:1/%d lost:2/%d",
                   (int)LBX_LOSS_CLOSED, (int)LBX_LOSS_CLOSED);
    CHECK_DIARY(world, diary);
    CHECK_INT(2, losses.total);
    CHECK_INT(2, atomic_load(&world->dead_count));
    world_check_dead(world, 0, 3, LBX_LOSS_NO_ACTOR);
    world_check_dead(world, 1, 4, LBX_LOSS_NO_ACTOR);
}

ACTOR_TEST("", loss_sink_gets_what_has_expired)
{
    lbx_mailbox_options options = bounded(2, LBX_OVERFLOW_REJECT, 0);
    struct losses losses = {.world = world};
    lbx_envelope envelope = lbx_envelope_of(letter(1), LBX_PRIORITY_DEFAULT);
    char diary[40];

    options.loss_sink = (lbx_loss_sink){note_loss, &losses};
    losses.recipient = part_spawn_boxed(a, LBX_KIND_BOUNDED, &options);
    CHECK_OK(lbx_ref_suspend(a->self));
    CHECK_DIARY(world, "a+");
    envelope.deadline_ns = world->time.now_ns + LBX_SECOND;
    CHECK_OK(lbx_try_tell(a->self, &envelope));
    lbx_tell(a->self, letter(2));
    world_advance(world, LBX_SECOND);
    CHECK_OK(lbx_ref_resume(a->self));
    (void)snprintf(diary, sizeof(diary), "lost:1/%d a:2",
                   (int)LBX_LOSS_EXPIRED);
    CHECK_DIARY(world, diary);
    CHECK_INT(1, losses.total);
    CHECK_INT(0, atomic_load(&world->dead_count));
}

static bool
accept_odd(const void *message, void *context, int32_t *ret)
{
    (void)context;
    *ret = 0;
    return number_of(message) % 2 == 1;
}

ACTOR_TEST("", loss_sink_gets_what_the_mailbox_refuses)
{
    lbx_mailbox_options options = lbx_akka_mailbox_options();
    struct losses losses = {.world = world};
    char diary[40];

    options.priority = accept_odd;
    options.loss_sink = (lbx_loss_sink){note_loss, &losses};
    losses.recipient =
        part_spawn_boxed(a, LBX_KIND_UNBOUNDED_PRIORITY, &options);
    CHECK_DIARY(world, "a+");
    lbx_tell(a->self, letter(2));
    lbx_tell(a->self, letter(3));
    (void)snprintf(diary, sizeof(diary), "lost:2/%d a:3",
                   (int)LBX_LOSS_REFUSED);
    CHECK_DIARY(world, diary);
    CHECK_INT(0, atomic_load(&world->dead_count));
}

// Nobody but the library can destroy a poison pill.
ACTOR_TEST("", loss_sink_gets_no_messages_of_the_library)
{
    lbx_mailbox_options options = bounded(1, LBX_OVERFLOW_DROP_NEWEST, 0);
    struct losses losses = {.world = world};

    options.loss_sink = (lbx_loss_sink){note_loss, &losses};
    part_spawn_boxed(a, LBX_KIND_BOUNDED, &options);
    lbx_tell(a->self, letter(1));
    lbx_tell(a->self, lbx_poison_pill());
    CHECK_DIARY(world, "a+ a:1");
    CHECK_INT(0, losses.total);
    CHECK_INT(1, atomic_load(&world->suppressed_count));
}

// Whoever waits for the outcome of a lost message is told.
ACTOR_TEST("", loss_to_a_sink_is_reported_to_a_waiting_sender)
{
    lbx_mailbox_options options = bounded(1, LBX_OVERFLOW_DROP_NEWEST, 0);
    struct losses losses = {.world = world};
    lbx_envelope message = lbx_envelope_of(letter(2), LBX_PRIORITY_DEFAULT);
    lbx_operation operation;

    options.loss_sink = (lbx_loss_sink){note_loss, &losses};
    a->silent = true;
    losses.recipient = part_spawn_boxed(a, LBX_KIND_BOUNDED, &options);
    lbx_tell(a->self, letter(1));
    CHECK_OK(lbx_tell_handled_init(&operation, world->system, a->self, &message,
                                   LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&operation, NULL));
    (void)world_run(world);
    CHECK_STATUS(LBX_FULL, lbx_operation_poll(&operation, NULL));
    lbx_operation_fini(&operation);
    CHECK_INT(1, losses.total);
}

TEST(mailbox_options_may_have_an_allocator_of_their_own)
{
    TORTURE(memory, allocator);
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    struct cast cast;

    cast_begin(&cast, 0);
    options.allocator = &allocator;
    options.clock = &cast.world.clock; // the system's is no other
    part_spawn_boxed(&cast.a, NULL, &options);
    CHECK(memory.live_blocks > 0);
    world_end(&cast.world);
    CHECK_INT(0, memory.live_blocks);
}

// ---- To oneself ----

static lbx_status
tell_oneself(lbx_context *context, struct part *part, void *argument)
{
    (void)argument;
    for (int i = 1; i <= 4; i++)
        lbx_tell(lbx_context_self(context), letter(i));
    world_write(part->world, "told");
    return LBX_OK;
}

/* Waiting for its own mailbox an actor would wait for itself, here for ever. */
ACTOR_TEST("A-25", an_actor_does_not_wait_for_its_own_full_mailbox)
{
    lbx_mailbox_options options = bounded(2, LBX_OVERFLOW_BLOCK, -1);

    part_spawn_boxed(a, LBX_KIND_BOUNDED, &options);
    bid(a, tell_oneself, NULL);
    CHECK_DIARY(world, "a+ told a:1 a:2");
    CHECK_INT(2, atomic_load(&world->dead_count));
    world_check_dead(world, 0, 3, LBX_LOSS_DROPPED_NEWEST);
    CHECK(lbx_ref_equal(world->dead[0].recipient, a->self));
}
