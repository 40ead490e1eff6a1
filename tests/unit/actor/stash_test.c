/* SPDX-License-Identifier: Apache-2.0 */
/* The stash: messages put aside, and handled in their old order later. */
#include "actor/fixture.h"

ACTOR_TEST("2.4.4", unstashed_messages_come_first_and_in_order)
{
    part_spawn(a);
    bid(a, do_stash, NULL);
    lbx_tell(a->self, letter(1));
    lbx_tell(a->self, letter(2));
    lbx_tell(a->self, letter(3));
    CHECK_DIARY(world, "a+");
    CHECK_INT(1, atomic_load(&world->ended)); // the order
    bid(a, do_unstash, NULL);
    lbx_tell(a->self, letter(4));
    CHECK_DIARY(world, "a:1 a:2 a:3 a:4");
    CHECK_INT(6, atomic_load(&world->ended));
    CHECK_INT(6, world_end_count(world));
    CHECK_INT(0, atomic_load(&world->dead_count));
}

static lbx_status
stash_twice(lbx_context *context, struct part *part, void *message)
{
    lbx_status second;

    (void)message;
    CHECK_INT(0, lbx_context_stashed(context));
    CHECK_OK(lbx_context_stash(context));
    second = lbx_context_stash(context);
    world_write(part->world, "%s", lbx_status_name(second));
    CHECK_INT(1, lbx_context_stashed(context));
    return LBX_OK;
}

ACTOR_TEST("", same_message_cannot_be_stashed_twice)
{
    a->receive = stash_twice;
    lbx_tell(part_spawn(a), letter(1));
    CHECK_DIARY(world, "a+ LBX_EXISTS");
    CHECK_INT(1, world_end_count(world));
    CHECK_INT(1, atomic_load(&world->dead_count));
}

static lbx_status
stash_or_say(lbx_context *context, struct part *part, void *message)
{
    lbx_status status = lbx_context_stash(context);

    if (status != LBX_OK)
        world_write(part->world, "%s:%d", lbx_status_name(status),
                    number_of(message));
    return LBX_OK;
}

ACTOR_TEST("2.4.4", full_stash_refuses_and_the_message_is_as_before)
{
    a->stash_capacity = 3;
    a->receive = stash_or_say;
    part_spawn(a);
    for (int i = 1; i <= 5; i++)
        lbx_tell(a->self, letter(i));
    CHECK_DIARY(world, "a+ LBX_FULL:4 LBX_FULL:5");
    CHECK_INT(2, atomic_load(&world->ended)); // handled, after all
    lbx_ref_stop(a->self);
    CHECK_DIARY(world, "a-");
    CHECK_INT(3, atomic_load(&world->dead_count)); // the stashed ones
    for (unsigned i = 0; i < 3; i++)
        world_check_dead(world, i, (int)i + 1, LBX_LOSS_CLOSED);
    CHECK_INT(5, atomic_load(&world->ended));
}

ACTOR_TEST("", unlimited_stash_takes_everything)
{
    a->stash_capacity = LBX_UNLIMITED;
    a->receive = stash_or_say;
    a->silent = true;
    part_spawn(a);
    for (int i = 1; i <= 3000; i++)
        lbx_tell(a->self, letter(i));
    CHECK_DIARY(world, "");
    world_end(world);
    CHECK_INT(3000, atomic_load(&world->dead_count));
    CHECK_INT(3000, atomic_load(&world->ended));
}

// What is stashed while unstashed messages are handled waits for the next time.
static lbx_status
stash_even(lbx_context *context, struct part *part, void *message)
{
    world_write(part->world, "%s:%d", part->name, number_of(message));
    if (number_of(message) == 0)
        lbx_context_unstash_all(context);
    else if (number_of(message) % 2 == 0)
        CHECK_OK(lbx_context_stash(context));
    return LBX_OK;
}

ACTOR_TEST("", stashing_while_unstashing_waits_for_the_next_time)
{
    a->receive = stash_even;
    lbx_tell(part_spawn(a), letter(2));
    lbx_tell(a->self, letter(4));
    lbx_tell(a->self, letter(0));
    lbx_tell(a->self, letter(1));
    CHECK_DIARY(world, "a+ a:2 a:4 a:0 a:2 a:4 a:1");
    lbx_tell(a->self, letter(0));
    CHECK_DIARY(world, "a:0 a:2 a:4");
    CHECK_INT(5, world_end_count(world));
    CHECK_INT(2, atomic_load(&world->dead_count));
}

ACTOR_TEST("2.4.4", restart_brings_stashed_messages_back)
{
    part_spawn(a);
    bid(a, do_stash, NULL);
    lbx_tell(a->self, letter(1));
    lbx_tell(a->self, letter(2));
    CHECK_DIARY(world, "a+");
    bid(a, do_fail, &(lbx_status){LBX_BUSY});
    lbx_tell(a->self, letter(3));
    CHECK_DIARY(world, "a- a+ a:1 a:2 a:3");
    CHECK_INT(0, atomic_load(&world->dead_count));
    CHECK_INT(5, atomic_load(&world->ended));
}

static lbx_status
stash_and_fail(lbx_context *context, struct part *part, void *message)
{
    world_write(part->world, "%s:%d", part->name, number_of(message));
    if (atomic_load(&part->received) > 1)
        return LBX_OK;
    CHECK_OK(lbx_context_stash(context));
    return LBX_REFUSED;
}

// It is in one place only: the stash.
ACTOR_TEST("", stashed_message_is_not_the_failed_one)
{
    a->receive = stash_and_fail;
    lbx_tell(part_spawn(a), letter(1));
    CHECK_DIARY(world, "a+ a:1 a- a+ a:1");
    CHECK_INT(1, atomic_load(&world->ended));
}

static lbx_status
stash_then_take(lbx_context *context, struct part *part, void *message)
{
    if (atomic_load(&part->received) > 1) {
        world_write(part->world, "%s:%d", part->name, number_of(message));
        return LBX_OK;
    }
    CHECK_OK(lbx_context_stash(context));
    lbx_context_forward(context, part->self); // it is not ours any more
    lbx_context_unstash_all(context);
    return LBX_OK;
}

ACTOR_TEST("", stashed_message_cannot_be_forwarded_as_well)
{
    a->receive = stash_then_take;
    lbx_tell(part_spawn(a), letter(1));
    CHECK_DIARY(world, "a+ a:1");
    CHECK_INT(1, atomic_load(&world->ended));
}

static lbx_status
stash_then_keep(lbx_context *context, struct part *part, void *message)
{
    (void)message;
    CHECK_OK(lbx_context_stash(context));
    part->context = lbx_context_take(context);
    return LBX_OK;
}

// A message has one owner: the stash has it now.
ACTOR_TEST("", stashed_message_cannot_be_taken_as_well)
{
    a->receive = stash_then_keep;
    lbx_tell(part_spawn(a), letter(1));
    (void)world_run(world);
    CHECK_PTR(NULL, a->context);
}

static lbx_status
take_then_stash(lbx_context *context, struct part *part, void *message)
{
    (void)message;
    (void)lbx_context_take(context);
    world_write(part->world, "%s", lbx_status_name(lbx_context_stash(context)));
    return LBX_OK;
}

ACTOR_TEST("", taken_message_cannot_be_stashed)
{
    a->receive = take_then_stash;
    lbx_tell(part_spawn(a), letter(1));
    CHECK_DIARY(world, "a+ LBX_INVALID");
    CHECK_INT(0, world_end_count(world));
}

static lbx_status
stash_in_start(lbx_context *context, struct part *part)
{
    (void)part;
    CHECK_STATUS(LBX_INVALID, lbx_context_stash(context));
    CHECK_INT(0, lbx_context_stashed(context));
    lbx_context_unstash_all(context);
    CHECK_PTR(NULL, lbx_context_take(context));
    lbx_context_forward(context, lbx_context_self(context));
    return LBX_OK;
}

ACTOR_TEST("", without_a_message_there_is_nothing_to_stash)
{
    a->start = stash_in_start;
    part_spawn(a);
    CHECK_DIARY(world, "a+");
    CHECK_STATUS(LBX_INVALID, lbx_context_stash(NULL));
    CHECK_INT(0, lbx_context_stashed(NULL));
    lbx_context_unstash_all(NULL);
}

// The sender survives the stash.
static lbx_status
reply_later(lbx_context *context, struct part *part, void *message)
{
    if (atomic_load(&part->received) == 1)
        return lbx_context_stash(context);
    if (number_of(message) == 0)
        lbx_context_unstash_all(context);
    else
        lbx_context_reply(context, letter(number_of(message) + 1));
    return LBX_OK;
}

ACTOR_TEST("", stashed_message_keeps_its_sender)
{
    lbx_envelope envelope = lbx_envelope_of(letter(5), 10);

    a->receive = reply_later;
    part_spawn(a);
    part_spawn(b);
    envelope.sender = lbx_ref_as_sender(b->self);
    lbx_tell_envelope(a->self, &envelope);
    lbx_tell(a->self, letter(0));
    CHECK_DIARY(world, "a+ b+ b:6");
}

// Termination notices can wait as well.
static lbx_status
watch_and_stash(lbx_context *context, void *state, void *message)
{
    struct part *part = *(struct part **)state;

    if (lbx_context_type(context) == lbx_terminated_type()) {
        world_write(part->world, "ended");
        return part->stash_capacity-- > 0 ? lbx_context_stash(context) : LBX_OK;
    }
    if (number_of(message) == 0)
        lbx_context_unstash_all(context);
    else
        CHECK_OK(lbx_context_watch(context, part->self));
    return LBX_OK;
}

static lbx_status
know_part(lbx_context *context, void *state, void *argument)
{
    (void)context;
    *(struct part **)state = argument;
    return LBX_OK;
}

TEST(termination_notice_can_be_stashed)
{
    static const lbx_behaviour behaviour = {
        .size_bytes = sizeof(lbx_behaviour),
        .name = "stasher",
        .state_bytes = sizeof(struct part *),
        .start = know_part,
        .receive = watch_and_stash,
    };
    struct part b;
    lbx_props props = LBX_PROPS_INIT;
    lbx_ref a;
    LOCAL_WORLD(world);

    world_begin(&world);
    part_init(&b, &world, "b");
    part_spawn(&b);
    b.stash_capacity = 1; // how often to stash the notice
    props.behaviour = &behaviour;
    props.argument = &b;
    CHECK_OK(lbx_system_spawn(world.system, &props, "a", &a));
    lbx_tell(a, letter(1));
    (void)world_run(&world);
    lbx_ref_stop(b.self);
    CHECK_DIARY(&world, "b+ b- ended");
    lbx_tell(a, letter(0));
    CHECK_DIARY(&world, "ended");
}
