/* SPDX-License-Identifier: Apache-2.0 */
/* The loss sink of an actor's mailbox: it gets each message that the mailbox
 * loses, once, and the dead letters do not. */
#include "actor/boxed.h"

#include <letterbox/compat/akka.h>
#include <stdio.h>

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
            boxed_bounded(2, cases[i].overflow, cases[i].wait_ns);
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
    lbx_mailbox_options options =
        boxed_bounded(2, LBX_OVERFLOW_BLOCK, LBX_SECOND);
    struct losses losses = {.world = world};
    char diary[40];

    options.after_wait = after_wait;
    options.loss_sink = (lbx_loss_sink){note_loss, &losses};
    part_spawn(a);
    losses.recipient = part_spawn_boxed(b, LBX_KIND_BOUNDED, &options);
    CHECK_OK(lbx_ref_suspend(b->self));
    bid(a, boxed_tell_four, b);
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
    lbx_mailbox_options options = boxed_bounded(1, LBX_OVERFLOW_DROP_NEWEST, 0);
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
    lbx_mailbox_options options = boxed_bounded(2, LBX_OVERFLOW_BLOCK, -1);
    struct losses losses = {.world = world};
    char diary[40];

    options.loss_sink = (lbx_loss_sink){note_loss, &losses};
    part_spawn(a);
    losses.recipient = part_spawn_boxed(b, LBX_KIND_BOUNDED, &options);
    CHECK_OK(lbx_ref_suspend(b->self));
    bid(a, boxed_tell_four, b);
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
    lbx_mailbox_options options = boxed_bounded(2, LBX_OVERFLOW_REJECT, 0);
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
    lbx_mailbox_options options = boxed_bounded(1, LBX_OVERFLOW_DROP_NEWEST, 0);
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
    lbx_mailbox_options options = boxed_bounded(1, LBX_OVERFLOW_DROP_NEWEST, 0);
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
