/* SPDX-License-Identifier: Apache-2.0 */
/* Actors on mailboxes of other kinds, and senders that must wait. Which kind
 * options choose is in box_options_test.c, what a mailbox loses in
 * loss_sink_test.c. */
#include "actor/boxed.h"

ACTOR_TEST("A-13", a_priority_mailbox_sorts_the_poison_pill_too)
{
    static const int numbers[] = {21, 22, 1, 11, 12, 13, 2};
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;

    options.priority = boxed_rank;
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
    lbx_mailbox_options options = boxed_bounded(2, LBX_OVERFLOW_DROP_NEWEST, 0);
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
    lbx_mailbox_options options = boxed_bounded(1, LBX_OVERFLOW_BLOCK, -1);
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

// a tells four messages to b, which is suspended and has capacity for two: a
// waits, at most for this time (-1: without end).
static void
let_sender_wait(struct part *a, struct part *b, int64_t wait_ns)
{
    const lbx_mailbox_options options =
        boxed_bounded(2, LBX_OVERFLOW_BLOCK, wait_ns);

    part_spawn(a);
    part_spawn_boxed(b, LBX_KIND_BOUNDED, &options);
    CHECK_OK(lbx_ref_suspend(b->self));
    bid(a, boxed_tell_four, b);
}

// A sender that must wait handles nothing else until all is accepted, in order.
ACTOR_TEST("A-25", a_sender_rests_until_there_is_room)
{
    lbx_mailbox_options options = boxed_bounded(2, LBX_OVERFLOW_BLOCK, -1);

    part_spawn(a);
    CHECK_DIARY(world, "a+");
    part_spawn_boxed(b, LBX_KIND_BOUNDED, &options);
    CHECK_OK(lbx_ref_suspend(b->self));
    bid(a, boxed_tell_four, b);
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

ACTOR_TEST("", numbers_of_an_actor_add_up)
{
    a->children[0] = b;
    lbx_tell(part_spawn(a), letter(1));
    lbx_tell(a->self, letter(2));
    CHECK_INT(2, boxed_stats(a).depth);
    CHECK_DIARY(world, "a+ a:1 a:2 b+");
    CHECK_INT(0, boxed_stats(a).depth);
    CHECK_INT(2, boxed_stats(a).handled);
    CHECK_INT(1, boxed_stats(a).children);
    lbx_tell(a->self, letter(FAILS));
    (void)world_run(world);
    CHECK_INT(1, boxed_stats(a).failures);
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
    CHECK_INT(2, boxed_stats(a).depth);
    CHECK_DIARY(world, "a+ a:1 a:2");
    CHECK_INT(0, boxed_stats(a).depth);
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
    lbx_mailbox_options options = boxed_bounded(2, LBX_OVERFLOW_BLOCK, -1);

    part_spawn_boxed(a, LBX_KIND_BOUNDED, &options);
    bid(a, tell_oneself, NULL);
    CHECK_DIARY(world, "a+ told a:1 a:2");
    CHECK_INT(2, atomic_load(&world->dead_count));
    world_check_dead(world, 0, 3, LBX_LOSS_DROPPED_NEWEST);
    CHECK(lbx_ref_equal(world->dead[0].recipient, a->self));
}
