/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Losses: each message that was accepted or swallowed and will not be
 * delivered is exactly one event, with its reason and its context (R-20,
 * MSG-1), and then belongs to the sink, the dead letters or a destroy function.
 */
#include "mailbox/fixture.h"

static int someone; // addresses of these stand for a sender and an owner
static int owner;

static lbx_envelope
from_someone(int number)
{
    lbx_envelope envelope = lbx_envelope_of(letter(number), 3);

    envelope.sender = &someone;
    return envelope;
}

static lbx_mailbox_options
owned_options(lbx_overflow overflow)
{
    lbx_mailbox_options options = limited_options(1, overflow);

    options.name = "counter/1";
    options.owner = &owner;
    options.envelopes = true;
    return options;
}

TEST_CITING("R-20", loss_says_why_from_whom_to_whom_and_where)
{
    struct losses losses = {.count = 0};
    LOCAL_BOX(box) =
        BOX(LBX_KIND_BOUNDED, owned_options(LBX_OVERFLOW_DROP_NEWEST),
            with.loss_sink = losses_sink(&losses));

    box_send(&box, 1);
    box_send_envelope(&box, from_someone(2));

    CHECK_INT(1, losses.count);
    losses_check(&losses, 0, 2, LBX_LOSS_DROPPED_NEWEST);
    CHECK_PTR(&someone, losses.envelopes[0].sender);
    CHECK_PTR(&owner, losses.envelopes[0].recipient);
    CHECK_INT(3, losses.envelopes[0].priority);
    CHECK_PTR(box.mailbox, losses.mailboxes[0]);
    CHECK_STR("counter/1", losses.name);
}

// The sink can tell "the third" from "three at once".
TEST_CITING("R-20", losses_are_counted_one_by_one)
{
    struct losses losses = {.count = 0};
    struct box box =
        BOX(LBX_KIND_BOUNDED, owned_options(LBX_OVERFLOW_DROP_OLDEST),
            with.loss_sink = losses_sink(&losses));

    box_send_numbers(&box, 1, 5);
    CHECK_INT(4, losses.count);
    for (unsigned i = 0; i < 4; i++) {
        losses_check(&losses, i, (int)i + 1, LBX_LOSS_DROPPED_OLDEST);
        CHECK_INT(i + 1, losses.totals[i]);
    }
    CHECK_INT(4, box_stats(&box).lost);
    box_end(&box);
    CHECK_INT(5, losses.count); // the last one goes with the consumer
    losses_check(&losses, 4, 5, LBX_LOSS_CLOSED);
}

// The recipient is filled in by the mailbox, also for messages that are
// delivered, whatever the sender wrote there.
BOX_TEST("R-20", recipient_is_the_owner_whatever_the_sender_says,
         BOX(LBX_KIND_BOUNDED, owned_options(LBX_OVERFLOW_REJECT)))
{
    lbx_envelope envelope = from_someone(1);

    envelope.recipient = &someone;
    box_send_envelope(box, envelope);
    CHECK_OK(lbx_consumer_try_receive_envelope(box->out, &envelope));
    CHECK_PTR(&someone, envelope.sender);
    CHECK_PTR(&owner, envelope.recipient);
    CHECK_INT(LBX_LOSS_NONE, envelope.lost);
}

// Without a sink, lost envelopes are sent to the dead letters as they are.
TEST_CITING("R-20 A-25", dead_letters_get_the_envelope_with_its_reason)
{
    LOCAL_BOX(dead) = BOX(LBX_KIND_UNBOUNDED, envelope_options());
    lbx_envelope envelope;
    struct box box =
        BOX(LBX_KIND_BOUNDED, owned_options(LBX_OVERFLOW_DROP_NEWEST),
            with.dead_letters = dead.in);

    box_send(&box, 1);
    box_send_envelope(&box, from_someone(2));

    CHECK_OK(lbx_consumer_try_receive_envelope(dead.out, &envelope));
    CHECK_INT(2, number_of(envelope.message));
    CHECK_INT(LBX_LOSS_DROPPED_NEWEST, envelope.lost);
    CHECK_PTR(&someone, envelope.sender);
    CHECK_PTR(&owner, envelope.recipient);
    box_end(&box);
    CHECK_RECEIVES(&dead, 1);
}

TEST(sink_comes_before_dead_letters)
{
    struct losses losses = {.count = 0};
    LOCAL_BOX(dead) = BOX(LBX_KIND_UNBOUNDED, envelope_options());
    LOCAL_BOX(box) =
        BOX(LBX_KIND_BOUNDED, owned_options(LBX_OVERFLOW_DROP_NEWEST),
            with.loss_sink = losses_sink(&losses), with.dead_letters = dead.in);

    box_send_numbers(&box, 1, 2);
    CHECK_INT(1, losses.count);
    CHECK(lbx_mailbox_is_empty(dead.mailbox));
}

// The mailbox holds a reference: the owner of the dead letters may give up
// its own handle first.
TEST(dead_letters_stay_open_while_a_mailbox_may_send_there)
{
    LOCAL_BOX(dead) = BOX(LBX_KIND_UNBOUNDED, envelope_options());
    struct box box =
        BOX(LBX_KIND_BOUNDED, owned_options(LBX_OVERFLOW_DROP_NEWEST),
            with.dead_letters = dead.in);

    lbx_producer_unref(dead.in);
    dead.in = NULL;
    box_send_numbers(&box, 1, 2);
    CHECK_INT(2, box_next(&dead));
    box_end(&box);
    CHECK_INT(1, box_next(&dead));
    CHECK_ENDED(&dead); // and with the mailbox goes the last reference
}

// MSG-1: what the dead letters refuse is still ended, once.
TEST_CITING("MSG-1", message_refused_by_the_dead_letters_is_destroyed)
{
    LOCAL_BOX(dead) = BOX(LBX_KIND_UNBOUNDED, envelope_options());
    _Atomic int ended = 0;
    struct box box =
        BOX(LBX_KIND_BOUNDED, owned_options(LBX_OVERFLOW_DROP_NEWEST),
            with.dead_letters = dead.in, with.destroy = destroy_counting,
            with.destroy_context = &ended);

    CHECK_OK(lbx_mailbox_close(dead.mailbox, LBX_CLOSE_DRAIN));
    box_send_numbers(&box, 1, 3);
    CHECK_INT(2, ended);
    box_end(&box);
    CHECK_INT(3, ended);
}

// A type knows better than the mailbox how its messages end.
TEST(type_ends_its_own_lost_messages)
{
    lbx_mailbox_options options = owned_options(LBX_OVERFLOW_DROP_NEWEST);
    lbx_type_options type_options = LBX_TYPE_OPTIONS_INIT;
    _Atomic int by_mailbox = 0;
    _Atomic int by_type = 0;
    struct box box;
    LOCAL_TYPE(type);

    type_options.name = "shop.Order";
    type_options.destroy = destroy_counting;
    type_options.context = &by_type;
    CHECK_OK(lbx_type_create(&type_options, &type));
    options.destroy = destroy_counting;
    options.destroy_context = &by_mailbox;
    box = box_make(LBX_KIND_BOUNDED, &options);

    box_send_envelope(&box, lbx_envelope_of_type(letter(1), type));
    box_send_envelope(&box, lbx_envelope_of_type(letter(2), type));
    box_send(&box, 3);
    CHECK_INT(1, by_type);
    CHECK_INT(1, by_mailbox);
    box_end(&box);
    CHECK_INT(2, by_type);
    CHECK_INT(1, by_mailbox);
}

// The sink owns what it is given: no other code may destroy it.
TEST(sink_owns_the_message_and_nobody_destroys_it)
{
    struct losses losses = {.count = 0};
    _Atomic int ended = 0;
    struct box box =
        BOX(LBX_KIND_BOUNDED, owned_options(LBX_OVERFLOW_DROP_OLDEST),
            with.loss_sink = losses_sink(&losses),
            with.destroy = destroy_counting, with.destroy_context = &ended);

    box_send_numbers(&box, 1, 4);
    box_end(&box);
    CHECK_INT(4, losses.count);
    CHECK_INT(0, ended);
}

// A message that was received is the receiver's: never lost, never ended.
TEST_CITING("MSG-1", received_messages_are_never_lost)
{
    struct losses losses = {.count = 0};
    struct box box = BOX(LBX_KIND_BOUNDED, owned_options(LBX_OVERFLOW_REJECT),
                         with.loss_sink = losses_sink(&losses));

    box_send(&box, 1);
    CHECK_RECEIVES(&box, 1);
    CHECK_STATUS(LBX_OK, lbx_producer_try_send(box.in, letter(2)));
    CHECK_STATUS(LBX_FULL, lbx_producer_try_send(box.in, letter(3)));
    CHECK_RECEIVES(&box, 2);
    box_end(&box);
    CHECK_INT(0, losses.count);
}

// C-40's dropped-by-overflow must be told from recipient-gone
// (akka-core#27265): the reasons differ.
TEST_CITING("R-20", overflow_and_close_have_reasons_of_their_own)
{
    struct losses losses = {.count = 0};
    struct box box =
        BOX(LBX_KIND_BOUNDED, owned_options(LBX_OVERFLOW_DROP_NEWEST),
            with.loss_sink = losses_sink(&losses));

    box_send_numbers(&box, 1, 2);
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_IMMEDIATE));
    CHECK_INT(2, losses.count);
    losses_check(&losses, 0, 2, LBX_LOSS_DROPPED_NEWEST);
    losses_check(&losses, 1, 1, LBX_LOSS_CLOSED);
    box_end(&box);
    CHECK_INT(2, losses.count);
}

// A mailbox may be its own neighbour's dead letters, and both full: the chain
// ends, nothing is lost twice.
TEST_CITING("MSG-1", dead_letters_that_overflow_lose_each_message_once)
{
    struct losses losses = {.count = 0};
    LOCAL_BOX(dead) =
        BOX(LBX_KIND_BOUNDED, limited_options(1, LBX_OVERFLOW_DROP_OLDEST),
            with.envelopes = true, with.loss_sink = losses_sink(&losses));
    LOCAL_BOX(box) =
        BOX(LBX_KIND_BOUNDED, owned_options(LBX_OVERFLOW_DROP_NEWEST),
            with.dead_letters = dead.in);

    box_send_numbers(&box, 1, 4); // 2, 3, 4 are lost; 2, 3 are lost again
    CHECK_INT(2, losses.count);
    losses_check(&losses, 0, 2, LBX_LOSS_DROPPED_OLDEST);
    losses_check(&losses, 1, 3, LBX_LOSS_DROPPED_OLDEST);
    CHECK_RECEIVES(&dead, 4);
    CHECK_RECEIVES(&box, 1);
}
