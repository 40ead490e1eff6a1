/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fraktor: the tests whose names carry the assertion, as far as they need no
 * dispatcher. A dead letter is an envelope in the mailbox named by the option
 * `dead_letters`, with the reason in `lost`.
 */
#include "profiles/cellex/cellex.h"
#include <letterbox/compat/cellex.h>

/* ---- Suspension and close ---- */

BOX_TEST("R-16", enqueue_accepts_when_suspended_and_delivers_after_resume,
         cellex_bounded(4, LBX_OVERFLOW_REJECT))
{
    CHECK(lbx_mailbox_suspend(box->mailbox));
    box_fill(box, 1, 3);
    CHECK_NOTHING(box);
    CHECK(lbx_mailbox_resume(box->mailbox));
    CHECK_TAKES(box, 1, 2, 3);
}

/* Capacity counts while suspended, as always. */
BOX_TEST("R-16 R-01", suspended_mailbox_still_keeps_its_policy,
         cellex_bounded(1, LBX_OVERFLOW_DROP_OLDEST))
{
    CHECK(lbx_mailbox_suspend(box->mailbox));
    box_fill(box, 1, 3);
    CHECK_INT(1, box_depth(box));
    CHECK(lbx_mailbox_resume(box->mailbox));
    CHECK_TAKES(box, 3);
}

BOX_TEST("R-14 R-16", closed_beats_suspended, cellex_unbounded())
{
    CHECK_OK(box_send(box, 1));
    CHECK(lbx_mailbox_suspend(box->mailbox));
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    CHECK_STATUS(LBX_CLOSED, box_send(box, 2));
    CHECK(!lbx_mailbox_suspend(box->mailbox));
    CHECK_TAKES(box, 1);
    CHECK_ENDED(box);
}

/* ---- Dead letters ---- */

struct boxes {
    struct box dead;
    struct box box;
};

static struct boxes
boxes_create(const char *kind, int64_t capacity_messages, lbx_overflow overflow)
{
    lbx_mailbox_options options = lbx_cellex_mailbox_options();
    struct boxes boxes = {.dead = cellex_unbounded()};

    options.capacity_messages = capacity_messages;
    options.overflow = overflow;
    options.return_dropped_newest = false; // fraktor: a loss is the sender's OK
    options.dead_letters = boxes.dead.in;
    options.owner = message_of(77);
    boxes.box = box_create(kind, &options);
    return boxes;
}

static void
boxes_destroy(struct boxes *boxes)
{
    box_destroy(&boxes->box);
    box_destroy(&boxes->dead);
}

#define LOCAL_BOXES(name)                                                      \
    __attribute__((cleanup(boxes_destroy))) struct boxes name

static void
check_dead(struct boxes *boxes, int number, lbx_loss_reason reason)
{
    lbx_envelope letter;

    CHECK_OK(lbx_consumer_try_receive_envelope(boxes->dead.out, &letter));
    CHECK_INT(number, number_of(letter.message));
    CHECK_INT(reason, letter.lost);
    CHECK_INT(77, number_of(letter.recipient));
}

TEST_CITING("R-20 C-34", drop_newest_records_dead_letters)
{
    LOCAL_BOXES(boxes) =
        boxes_create(LBX_KIND_BOUNDED, 1, LBX_OVERFLOW_DROP_NEWEST);

    box_fill(&boxes.box, 1, 3);
    check_dead(&boxes, 2, LBX_LOSS_DROPPED_NEWEST);
    check_dead(&boxes, 3, LBX_LOSS_DROPPED_NEWEST);
    CHECK_NOTHING(&boxes.dead);
}

TEST_CITING("R-20 C-34", drop_oldest_records_dead_letters)
{
    LOCAL_BOXES(boxes) =
        boxes_create(LBX_KIND_BOUNDED, 1, LBX_OVERFLOW_DROP_OLDEST);

    box_fill(&boxes.box, 1, 3);
    check_dead(&boxes, 1, LBX_LOSS_DROPPED_OLDEST);
    check_dead(&boxes, 2, LBX_LOSS_DROPPED_OLDEST);
    CHECK_NOTHING(&boxes.dead);
}

TEST_CITING("R-20 C-34", grow_records_no_dead_letters)
{
    LOCAL_BOXES(boxes) = boxes_create(LBX_KIND_BOUNDED, 1, LBX_OVERFLOW_GROW);

    box_fill(&boxes.box, 1, 9);
    CHECK_NOTHING(&boxes.dead);
    CHECK_INT(0, box_stats(&boxes.box).lost);
}

/* A refusal is not a loss: the message is still its sender's. */
TEST_CITING("R-20 R-12", reject_records_no_dead_letters)
{
    LOCAL_BOXES(boxes) = boxes_create(LBX_KIND_BOUNDED, 1, LBX_OVERFLOW_REJECT);

    CHECK_OK(box_send(&boxes.box, 1));
    CHECK_STATUS(LBX_FULL, box_send(&boxes.box, 2));
    CHECK_NOTHING(&boxes.dead);
}

/* A dead letter says from whom and to whom, and what it was. */
TEST_CITING("R-20", dead_letters_keep_their_envelope)
{
    LOCAL_BOXES(boxes) =
        boxes_create(LBX_KIND_BOUNDED, 1, LBX_OVERFLOW_DROP_OLDEST);
    lbx_envelope first = lbx_envelope_of(message_of(1), 6);
    lbx_envelope letter;

    first.sender = message_of(55);
    CHECK_OK(box_post(&boxes.box, first, NULL));
    CHECK_OK(box_send(&boxes.box, 2));
    CHECK_OK(lbx_consumer_try_receive_envelope(boxes.dead.out, &letter));
    CHECK_INT(1, number_of(letter.message));
    CHECK_INT(55, number_of(letter.sender));
    CHECK_INT(77, number_of(letter.recipient));
    CHECK_INT(6, letter.priority);
}

TEST_CITING("R-14 R-20", cleanup_drains_user_and_system_to_dead_letters)
{
    LOCAL_BOXES(boxes) =
        boxes_create(LBX_KIND_UNBOUNDED, LBX_DEFAULT, LBX_OVERFLOW_REJECT);

    box_fill(&boxes.box, 1, 2);
    CHECK_OK(box_post(&boxes.box, system_of(LBX_SYSTEM_CODE_STOP, 3), NULL));
    CHECK_OK(lbx_mailbox_close(boxes.box.mailbox, LBX_CLOSE_DEAD_LETTER));
    CHECK_INT(0, box_depth(&boxes.box));
    CHECK_ENDED(&boxes.box);
    // In the order in which they would have been received.
    check_dead(&boxes, 3, LBX_LOSS_CLOSED);
    check_dead(&boxes, 1, LBX_LOSS_CLOSED);
    check_dead(&boxes, 2, LBX_LOSS_CLOSED);
    CHECK_NOTHING(&boxes.dead);
}

/* A dead system message is a dead letter like any other: the reservation of
 * the dead letters' own mailbox is not for it. */
TEST_CITING("R-14 R-20", cleanup_loses_no_system_messages_to_a_reservation)
{
    LOCAL_BOX(dead) = cellex_unbounded();
    LOCAL_BOX(box) = BOX(LBX_KIND_UNBOUNDED, lbx_cellex_mailbox_options(),
                         with.system_reservation = LBX_UNLIMITED,
                         with.dead_letters = dead.in);

    for (int i = 1; i <= 6; i++)
        CHECK_OK(box_post(&box, system_of(LBX_SYSTEM_CODE_WATCH, i), NULL));
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_DEAD_LETTER));
    CHECK_TAKES(&dead, 1, 2, 3, 4, 5, 6);
}

/* leave-shared: one of several consumers going leaves the messages be. */
TEST_CITING("R-37", leaving_consumer_keeps_the_shared_queue)
{
    LOCAL_BOXES(boxes) =
        boxes_create(LBX_KIND_UNBOUNDED, LBX_DEFAULT, LBX_OVERFLOW_REJECT);
    lbx_consumer *other = lbx_consumer_ref(boxes.box.out);

    box_fill(&boxes.box, 1, 2);
    lbx_consumer_unref(other);
    CHECK_NOTHING(&boxes.dead);
    CHECK_TAKES(&boxes.box, 1, 2);
}

/* ---- Front insertion ---- */

static struct box
deque_create(int64_t capacity_messages, lbx_overflow overflow)
{
    lbx_mailbox_options options = lbx_cellex_mailbox_options();

    options.capacity_messages = capacity_messages;
    options.overflow = overflow;
    return box_create(LBX_KIND_BOUNDED_DEQUE, &options);
}

static lbx_status
send_front(struct box *box, intptr_t number)
{
    return lbx_producer_try_send_front(box->in, message_of(number));
}

/* Put back in reverse, they come out in their first order. */
BOX_TEST("R-17", prepend_preserves_order, deque_create(8, LBX_OVERFLOW_REJECT))
{
    box_fill(box, 4, 5);
    for (int number = 3; number >= 1; number--)
        CHECK_OK(send_front(box, number));
    CHECK_TAKES(box, 1, 2, 3, 4, 5);
}

BOX_TEST("R-17", prepend_to_an_empty_mailbox,
         deque_create(2, LBX_OVERFLOW_REJECT))
{
    CHECK_OK(send_front(box, 1));
    CHECK_OK(box_send(box, 2));
    CHECK_TAKES(box, 1, 2);
    CHECK_NOTHING(box);
}

/* Under no policy does it evict, wait or grow: full is full. */
TEST_CITING("R-17", bounded_deque_front_insert_rejects_when_full)
{
    static const lbx_overflow policies[] = {
        LBX_OVERFLOW_REJECT, LBX_OVERFLOW_DROP_OLDEST, LBX_OVERFLOW_DROP_NEWEST,
        LBX_OVERFLOW_BLOCK};

    for (size_t i = 0; i < 4; i++) {
        struct box box = deque_create(2, policies[i]);

        box_fill(&box, 1, 2);
        CHECK_STATUS(LBX_FULL, send_front(&box, 0));
        CHECK_TAKES(&box, 1, 2);
        CHECK_INT(0, box_stats(&box).lost);
        box_destroy(&box);
    }
}

BOX_TEST("R-17 R-12", prepend_errors_keep_existing_messages,
         deque_create(2, LBX_OVERFLOW_REJECT))
{
    CHECK_OK(box_send(box, 1));
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    CHECK_STATUS(LBX_CLOSED, send_front(box, 0));
    CHECK_TAKES(box, 1);
    CHECK_ENDED(box);
}

static void
push_at_both_ends(unsigned index, void *context)
{
    struct box *box = context;

    for (int i = 0; i < 200; i++) {
        if (index == 0)
            CHECK_OK(send_front(box, 1000 + i));
        else
            CHECK_OK(box_send(box, i));
    }
}

/* Front insertion against concurrent sends: nothing lost, nothing twice; what
 * went to the front comes out latest first, the rest in order. */
BOX_TEST("R-17", prepend_is_atomic_against_concurrent_enqueue,
         box_create(LBX_KIND_UNBOUNDED_DEQUE, NULL))
{
    intptr_t number;
    int front = 1199, back = 0;

    threads_run(2, push_at_both_ends, box);
    while (box_take(box, &number) == LBX_OK) {
        if (number >= 1000)
            CHECK_INT(front--, number);
        else
            CHECK_INT(back++, number);
    }
    CHECK_INT(999, front);
    CHECK_INT(200, back);
}

/* ---- Control-aware ---- */

TEST_CITING("C-34 R-07", bounded_control_aware_grow)
{
    LOCAL_BOXES(boxes) =
        boxes_create(LBX_KIND_BOUNDED_CONTROL_AWARE, 2, LBX_OVERFLOW_GROW);
    struct box *box = &boxes.box;

    box_fill(box, 1, 2);
    CHECK_OK(box_post(box, control(3, 1), NULL));
    CHECK_INT(4, lbx_mailbox_capacity(box->mailbox));
    CHECK_OK(box_send(box, 4));
    CHECK_TAKES(box, 3, 1, 2, 4);
    CHECK_NOTHING(&boxes.dead);
}

/* A control message evicts a user message, never another control message. */
TEST_CITING("C-34 R-07", bounded_control_aware_drop_oldest_spares_control)
{
    LOCAL_BOXES(boxes) = boxes_create(LBX_KIND_BOUNDED_CONTROL_AWARE, 2,
                                      LBX_OVERFLOW_DROP_OLDEST);
    struct box *box = &boxes.box;

    CHECK_OK(box_post(box, control(1, 1), NULL));
    CHECK_OK(box_send(box, 2));
    CHECK_OK(box_post(box, control(3, 1), NULL));
    check_dead(&boxes, 2, LBX_LOSS_DROPPED_OLDEST);
    CHECK_TAKES(box, 1, 3);
    CHECK_NOTHING(box);
}
