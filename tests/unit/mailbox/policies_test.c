/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overflow policies x kinds: what a send to a full mailbox does, what the
 * sender is told, and that the count never goes above the bound (R-01, R-12,
 * R-13, MSG-5).
 */
#include <string.h>

#include "mailbox/fixture.h"

static struct box
full_box(const char *kind, lbx_overflow overflow, struct losses *losses)
{
    struct box box = BOX(kind, limited_options(2, overflow),
                         with.loss_sink = losses_sink(losses));

    box_send_numbers(&box, 1, 2);
    return box;
}

// Sends and returns what became of it.
static lbx_send_result
send_for_result(const struct box *box, int number, lbx_status expected)
{
    lbx_envelope envelope = lbx_envelope_with_default_priority(letter(number));
    lbx_send_result result = LBX_SEND_RESULT_INIT;

    memset(&result, 0xa5, sizeof(result));
    result.size_bytes = sizeof(result);
    CHECK_STATUS(expected,
                 lbx_producer_try_send_envelope(box->in, &envelope, &result));
    return result;
}

// the message stays the sender's; MSG-5: a refused send leaves no trace.
static void
rejects_without_a_trace(const char *kind)
{
    struct losses losses = {.count = 0};
    LOCAL_BOX(box) = full_box(kind, LBX_OVERFLOW_REJECT, &losses);
    lbx_send_result result = send_for_result(&box, 3, LBX_FULL);

    CHECK_INT(LBX_OUTCOME_NOT_SENT, result.outcome);
    CHECK_INT(LBX_OVERFLOW_REJECT, result.overflow);
    CHECK_INT(2, lbx_mailbox_depth(box.mailbox));
    CHECK_INT(2, box_stats(&box).accepted);
    CHECK_INT(1, box_stats(&box).rejected);
    CHECK_RECEIVES(&box, 1, 2);
    CHECK_INT(0, losses.count);
}

LIMITED_KINDS(KIND_CITING, "R-12 MSG-5", rejects_without_a_trace)

// The sender sees LBX_OK, and the sink gets the very message it sent.
static void
drops_the_newest(const char *kind)
{
    struct losses losses = {.count = 0};
    LOCAL_BOX(box) = full_box(kind, LBX_OVERFLOW_DROP_NEWEST, &losses);
    lbx_send_result result = send_for_result(&box, 3, LBX_OK);

    CHECK_INT(LBX_OUTCOME_DROPPED_NEWEST, result.outcome);
    CHECK_INT(1, result.dropped_messages);
    CHECK_INT(LBX_OVERFLOW_DROP_NEWEST, result.overflow);
    CHECK_INT(1, losses.count);
    losses_check(&losses, 0, 3, LBX_LOSS_DROPPED_NEWEST);
    CHECK_INT(1, box_stats(&box).dropped_newest);
    CHECK_RECEIVES(&box, 1, 2);
}

LIMITED_KINDS(KIND_CITING, "R-01 R-13", drops_the_newest)

// C-34: cellex turns the dropped newest into "full" and hands it back.
static void
newest_to_sender_gives_the_message_back(const char *kind)
{
    struct losses losses = {.count = 0};
    lbx_send_result result = LBX_SEND_RESULT_INIT;
    LOCAL_BOX(box) = BOX(kind, limited_options(2, LBX_OVERFLOW_DROP_NEWEST),
                         with.return_dropped_newest = true,
                         with.loss_sink = losses_sink(&losses));

    box_send_numbers(&box, 1, 2);
    result = send_for_result(&box, 3, LBX_FULL);
    CHECK_INT(LBX_OUTCOME_NOT_SENT, result.outcome);
    CHECK_INT(LBX_OVERFLOW_DROP_NEWEST, result.overflow);
    CHECK_STATUS(LBX_FULL, lbx_producer_send(box.in, letter(4)));
    CHECK_INT(2, box_stats(&box).dropped_newest);
    CHECK_INT(0, losses.count); // what the sender still has is not lost
    CHECK_RECEIVES(&box, 1, 2);
}

LIMITED_KINDS(KIND_CITING, "C-34 R-12", newest_to_sender_gives_the_message_back)

// B-15: drop-oldest on [1, 2] with 3 leaves [2, 3] and reports one.
static void
drops_the_oldest(const char *kind)
{
    struct losses losses = {.count = 0};
    LOCAL_BOX(box) = full_box(kind, LBX_OVERFLOW_DROP_OLDEST, &losses);
    lbx_send_result result = send_for_result(&box, 3, LBX_OK);

    CHECK_INT(LBX_OUTCOME_DROPPED_OLDEST, result.outcome);
    CHECK_INT(1, result.dropped_messages);
    CHECK_INT(LBX_OVERFLOW_DROP_OLDEST, result.overflow);
    CHECK_INT(1, losses.count);
    losses_check(&losses, 0, 1, LBX_LOSS_DROPPED_OLDEST);
    CHECK_INT(2, lbx_mailbox_depth(box.mailbox));
    CHECK_RECEIVES(&box, 2, 3);
    CHECK_INT(1, box_stats(&box).dropped_oldest);
    CHECK_INT(3, box_stats(&box).accepted);
    CHECK_INT(3, box_stats(&box).taken); // evicted ones included
}

LIMITED_KINDS(KIND_CITING, "B-15 R-01", drops_the_oldest)

// C-34: grow doubles, and the sender is told the new capacity.
static void
grows_to_twice_its_size(const char *kind)
{
    struct losses losses = {.count = 0};
    LOCAL_BOX(box) = full_box(kind, LBX_OVERFLOW_GROW, &losses);
    lbx_send_result result = send_for_result(&box, 3, LBX_OK);

    CHECK_INT(LBX_OUTCOME_GREW, result.outcome);
    CHECK_INT(4, result.capacity_messages);
    CHECK_INT(4, lbx_mailbox_capacity(box.mailbox));
    CHECK_INT(LBX_OUTCOME_ENQUEUED, send_for_result(&box, 4, LBX_OK).outcome);
    CHECK(!lbx_mailbox_is_full(box.mailbox)); // a send finds room, always
    CHECK_INT(8, send_for_result(&box, 5, LBX_OK).capacity_messages);
    CHECK_RECEIVES(&box, 1, 2, 3, 4, 5);
    CHECK_INT(0, losses.count);
}

LIMITED_KINDS(KIND_CITING, "C-34", grows_to_twice_its_size)

// try never waits, whatever the policy, and is told the policy.
static void
under_block_try_send_is_refused(const char *kind)
{
    struct losses losses = {.count = 0};
    LOCAL_BOX(box) = full_box(kind, LBX_OVERFLOW_BLOCK, &losses);
    lbx_send_result result = send_for_result(&box, 3, LBX_FULL);

    CHECK_INT(LBX_OUTCOME_NOT_SENT, result.outcome);
    CHECK_INT(LBX_OVERFLOW_BLOCK, result.overflow);
    CHECK_INT(0, box_stats(&box).waiting_senders);
    CHECK_RECEIVES(&box, 1, 2);
    CHECK_INT(0, losses.count);
}

LIMITED_KINDS(KIND_CITING, "R-02", under_block_try_send_is_refused)

// C-26: a receive that frees capacity moves the waiting message in.
static void
under_block_a_send_waits_for_room(const char *kind)
{
    struct losses losses = {.count = 0};
    LOCAL_BOX(box) = full_box(kind, LBX_OVERFLOW_BLOCK, &losses);
    LOCAL_SENDER(sender);

    sender_wait(&sender, &box, 3);
    CHECK_INT(1, box_stats(&box).waiting_senders);
    CHECK_INT(2, lbx_mailbox_depth(box.mailbox));
    CHECK_INT(1, box_next(&box));
    CHECK_INT(1, sender.bell.rings);
    CHECK_INT(2, lbx_mailbox_depth(box.mailbox)); // it is in already
    CHECK_OK(sender_poll(&sender));
    CHECK_RECEIVES(&box, 2, 3);
}

LIMITED_KINDS(KIND_CITING, "C-26 B-01", under_block_a_send_waits_for_room)

// C-27: only BLOCK ever waits; the others decide at the first poll, also as
// an operation with all the time in the world.
TEST_CITING("R-02", other_policies_never_wait)
{
    const lbx_overflow policies[] = {
        LBX_OVERFLOW_REJECT, LBX_OVERFLOW_DROP_NEWEST, LBX_OVERFLOW_DROP_OLDEST,
        LBX_OVERFLOW_GROW};

    for (size_t i = 0; i < 4; i++) {
        struct losses losses = {.count = 0};
        struct box box = full_box(LBX_KIND_BOUNDED, policies[i], &losses);
        lbx_status expected =
            policies[i] == LBX_OVERFLOW_REJECT ? LBX_FULL : LBX_OK;
        lbx_operation operation;

        CHECK_OK(
            lbx_producer_send_init(&operation, box.in, letter(3), LBX_FOREVER));
        CHECK_STATUS(expected, lbx_operation_poll(&operation, NULL));
        lbx_operation_fini(&operation);
        CHECK_STATUS(expected, lbx_producer_send(box.in, letter(4)));
        CHECK_STATUS(expected,
                     lbx_producer_send_until(box.in, letter(5), LBX_FOREVER));
        box_end(&box);
    }
}

static lbx_mailbox_options
waiting_options(const lbx_clock *clock, int64_t wait_ns, lbx_overflow after)
{
    lbx_mailbox_options options = limited_options(1, LBX_OVERFLOW_BLOCK);

    options.clock = clock;
    options.wait_ns = wait_ns;
    options.after_wait = after;
    return options;
}

// BLOCK with a wait ends in REJECT: TIMEOUT, and the message is the sender's.
TEST_CITING("R-02", wait_ends_in_timeout_and_the_message_is_returned)
{
    TEST_CLOCK(time, clock);
    struct losses losses = {.count = 0};
    LOCAL_BOX(box) =
        BOX(LBX_KIND_BOUNDED,
            waiting_options(&clock, 5 * LBX_MS, LBX_OVERFLOW_REJECT),
            with.loss_sink = losses_sink(&losses));
    LOCAL_SENDER(sender);

    box_send(&box, 1);
    sender_wait(&sender, &box, 2);
    test_clock_advance(&time, 4 * LBX_MS);
    CHECK_STATUS(LBX_PENDING, sender_poll(&sender));
    test_clock_advance(&time, 1 * LBX_MS);
    CHECK_STATUS(LBX_TIMEOUT, sender_poll(&sender));
    CHECK_INT(0, losses.count); // refused is not lost
    CHECK_INT(0, box_stats(&box).waiting_senders);
    CHECK_RECEIVES(&box, 1);
}

// or in DROP_NEWEST: lost, and the sender sees nothing of it.
TEST_CITING("A-25 R-01", wait_may_end_in_a_loss)
{
    TEST_CLOCK(time, clock);
    struct losses losses = {.count = 0};
    LOCAL_BOX(box) =
        BOX(LBX_KIND_BOUNDED,
            waiting_options(&clock, 5 * LBX_MS, LBX_OVERFLOW_DROP_NEWEST),
            with.loss_sink = losses_sink(&losses));
    LOCAL_SENDER(sender);

    box_send(&box, 1);
    sender_wait(&sender, &box, 2);
    test_clock_advance(&time, 5 * LBX_MS);
    CHECK_OK(sender_poll(&sender));
    CHECK_INT(1, losses.count);
    losses_check(&losses, 0, 2, LBX_LOSS_DROPPED_NEWEST);
    CHECK_RECEIVES(&box, 1);
}

// 86, R-02: a negative duration is for ever, in every kind (Akka's bounded
// control-aware queue took it for "do not wait").
static void
with_a_negative_wait_waits_for_ever(const char *kind)
{
    TEST_CLOCK(time, clock);
    LOCAL_BOX(box) =
        BOX(kind, waiting_options(&clock, -1, LBX_OVERFLOW_REJECT));
    LOCAL_SENDER(sender);

    box_send(&box, 1);
    sender_wait(&sender, &box, 2);
    test_clock_advance(&time, INT64_MAX / 2);
    CHECK_STATUS(LBX_PENDING, sender_poll(&sender));
    CHECK_INT(1, box_next(&box));
    CHECK_OK(sender_poll(&sender));
}

LIMITED_KINDS(KIND_CITING, "R-02", with_a_negative_wait_waits_for_ever)

// Akka's zero push timeout: one look, no wait.
BOX_TEST("A-25", wait_of_zero_is_one_try,
         BOX(LBX_KIND_BOUNDED, waiting_options(NULL, 0, LBX_OVERFLOW_REJECT)))
{
    CHECK_OK(lbx_producer_send(box->in, letter(1)));
    CHECK_STATUS(LBX_TIMEOUT, lbx_producer_send(box->in, letter(2)));
    CHECK_RECEIVES(box, 1);
}

// The shorter of the two ends the wait.
TEST(own_deadline_and_the_mailboxs_wait_both_count)
{
    TEST_CLOCK(time, clock);
    LOCAL_BOX(box) =
        BOX(LBX_KIND_BOUNDED,
            waiting_options(&clock, 5 * LBX_MS, LBX_OVERFLOW_REJECT));
    LOCAL_SENDER(hasty);
    LOCAL_SENDER(patient);

    box_send(&box, 1);
    sender_wait_until(&hasty, &box, 2, test_clock_now(&time) + 2 * LBX_MS);
    sender_wait_until(&patient, &box, 3, test_clock_now(&time) + LBX_SECOND);
    CHECK_INT(test_clock_now(&time) + 2 * LBX_MS,
              lbx_operation_deadline(&hasty.operation));
    CHECK_INT(test_clock_now(&time) + 5 * LBX_MS,
              lbx_operation_deadline(&patient.operation));
    test_clock_advance(&time, 2 * LBX_MS);
    CHECK_STATUS(LBX_TIMEOUT, sender_poll(&hasty));
    CHECK_STATUS(LBX_PENDING, sender_poll(&patient));
    test_clock_advance(&time, 3 * LBX_MS);
    CHECK_STATUS(LBX_TIMEOUT, sender_poll(&patient));
}

// options.h: a deadline of the call's own always gives the message back, also
// where the mailbox's own wait would end in a loss.
TEST_CITING("R-12", own_deadline_gives_the_message_back)
{
    TEST_CLOCK(time, clock);
    struct losses losses = {.count = 0};
    LOCAL_BOX(box) =
        BOX(LBX_KIND_BOUNDED,
            waiting_options(&clock, LBX_SECOND, LBX_OVERFLOW_DROP_NEWEST),
            with.loss_sink = losses_sink(&losses));
    LOCAL_SENDER(sender);

    box_send(&box, 1);
    sender_wait_until(&sender, &box, 2, test_clock_now(&time) + LBX_MS);
    test_clock_advance(&time, LBX_MS);
    CHECK_STATUS(LBX_TIMEOUT, sender_poll(&sender));
    CHECK_INT(0, losses.count);
}

// The wait begins with the first poll: an operation that lay about unused has
// not waited yet.
TEST(wait_is_measured_from_the_first_poll)
{
    TEST_CLOCK(time, clock);
    LOCAL_BOX(box) =
        BOX(LBX_KIND_BOUNDED,
            waiting_options(&clock, 5 * LBX_MS, LBX_OVERFLOW_REJECT));
    LOCAL_SENDER(sender) = {.bell = {0}};

    box_send(&box, 1);
    CHECK_OK(lbx_producer_send_init(&sender.operation, box.in, letter(2),
                                    LBX_FOREVER));
    test_clock_advance(&time, LBX_SECOND);
    CHECK_STATUS(LBX_PENDING, sender_poll(&sender));
}

// the sink is told every loss, also a thousand in a row, and each once.
static void
loses_each_overflowing_message_once(const char *kind)
{
    struct losses losses = {.count = 0};
    LOCAL_BOX(box) = full_box(kind, LBX_OVERFLOW_DROP_OLDEST, &losses);

    box_send_numbers(&box, 3, 1000);
    CHECK_INT(998, losses.count);
    for (unsigned i = 0; i < LOSSES_KEPT; i++)
        losses_check(&losses, i, (int)i + 1, LBX_LOSS_DROPPED_OLDEST);
    CHECK_RECEIVES(&box, 999, 1000);
}

LIMITED_KINDS(KIND_CITING, "R-01 R-20", loses_each_overflowing_message_once)

// A priority kind evicts the least urgent, and of those the oldest.
TEST_CITING("R-01", priority_kind_evicts_the_least_urgent_and_oldest)
{
    struct losses losses = {.count = 0};
    LOCAL_BOX(box) = BOX(LBX_KIND_BOUNDED_PRIORITY,
                         limited_options(4, LBX_OVERFLOW_DROP_OLDEST),
                         with.loss_sink = losses_sink(&losses));

    box_send_envelope(&box, lbx_envelope_of(letter(1), 9));
    box_send_envelope(&box, lbx_envelope_of(letter(2), 5));
    box_send_envelope(&box, lbx_envelope_of(letter(3), 9));
    box_send_envelope(&box, lbx_envelope_of(letter(4), 1));
    box_send_envelope(&box, lbx_envelope_of(letter(5), 2));
    losses_check(&losses, 0, 1, LBX_LOSS_DROPPED_OLDEST);
    box_send_envelope(&box, lbx_envelope_of(letter(6), 3));
    losses_check(&losses, 1, 3, LBX_LOSS_DROPPED_OLDEST);
    CHECK_RECEIVES(&box, 4, 5, 6, 2);
}

// Dropping must never remove a control or system message.
TEST_CITING("R-28", drop_oldest_never_evicts_control_or_system_messages)
{
    struct losses losses = {.count = 0};
    LOCAL_BOX(box) =
        BOX(LBX_KIND_BOUNDED_CONTROL_AWARE,
            limited_options(3, LBX_OVERFLOW_DROP_OLDEST), with.envelopes = true,
            with.loss_sink = losses_sink(&losses));

    box_send_system(&box, 1);
    box_send_control(&box, 2);
    box_send(&box, 3);
    box_send(&box, 4);
    box_send(&box, 5);
    CHECK_INT(1, losses.count);
    losses_check(&losses, 0, 3, LBX_LOSS_DROPPED_OLDEST);
    CHECK_RECEIVES(&box, 1, 2, 4, 5);
}

// With nothing to evict, a send is refused rather than making room by force.
TEST(drop_oldest_with_only_control_messages_inside_refuses)
{
    struct losses losses = {.count = 0};
    LOCAL_BOX(box) =
        BOX(LBX_KIND_BOUNDED_CONTROL_AWARE,
            limited_options(2, LBX_OVERFLOW_DROP_OLDEST), with.envelopes = true,
            with.loss_sink = losses_sink(&losses));

    box_send_control(&box, 1);
    box_send_control(&box, 2);
    CHECK_STATUS(LBX_FULL, lbx_producer_try_send(box.in, letter(3)));
    CHECK_INT(0, losses.count);
    CHECK_RECEIVES(&box, 1, 2);
}

// Insertion at the front, for a stash, never evicts.
static void
sending_to_the_front_never_evicts_nor_waits(const char *kind)
{
    const lbx_overflow policies[] = {
        LBX_OVERFLOW_REJECT, LBX_OVERFLOW_DROP_NEWEST, LBX_OVERFLOW_DROP_OLDEST,
        LBX_OVERFLOW_BLOCK};

    for (size_t i = 0; i < 4; i++) {
        struct losses losses = {.count = 0};
        struct box box = full_box(kind, policies[i], &losses);

        CHECK_STATUS(LBX_FULL, lbx_producer_try_send_front(box.in, letter(3)));
        CHECK_RECEIVES(&box, 1, 2);
        CHECK_INT(0, losses.count);
        box_end(&box);
    }
}

TEST(bounded_deque_sending_to_the_front_never_evicts_nor_waits)
{
    sending_to_the_front_never_evicts_nor_waits(LBX_KIND_BOUNDED_DEQUE);
}

// Every kind that is no deque says so, full or not, and keeps nothing.
static void
without_a_front_says_so(const char *kind)
{
    LOCAL_BOX(box) = box_make(kind, NULL);

    CHECK_STATUS(LBX_UNSUPPORTED,
                 lbx_producer_try_send_front(box.in, letter(1)));
    CHECK_INT(0, lbx_mailbox_depth(box.mailbox));
}

KIND_CITING(unbounded, LBX_KIND_UNBOUNDED, "R-25", without_a_front_says_so)
KIND_CITING(single_consumer, LBX_KIND_UNBOUNDED_SINGLE_CONSUMER, "R-25",
            without_a_front_says_so)
KIND_CITING(bounded, LBX_KIND_BOUNDED, "R-25", without_a_front_says_so)
KIND_CITING(bounded_priority, LBX_KIND_BOUNDED_PRIORITY, "R-25",
            without_a_front_says_so)
KIND_CITING(bounded_control_aware, LBX_KIND_BOUNDED_CONTROL_AWARE, "R-25",
            without_a_front_says_so)

// priorities are compared, never subtracted: the extremes are in order.
BOX_TEST("R-03 R-05", extreme_priorities_keep_their_order,
         box_make(LBX_KIND_UNBOUNDED_PRIORITY, NULL))
{
    box_send_envelope(box, lbx_envelope_of(letter(3), INT32_MAX));
    box_send_envelope(box, lbx_envelope_of(letter(2), 0));
    box_send_envelope(box, lbx_envelope_of(letter(1), INT32_MIN));
    CHECK_RECEIVES(box, 1, 2, 3);
}

// turned round at the edge; the envelope keeps its number, INT32_MIN
// (which has no positive twin) included.
BOX_TEST("R-03", higher_first_turns_the_order_and_keeps_the_number,
         BOX(LBX_KIND_UNBOUNDED_PRIORITY, plain_options(),
             with.higher_first = true))
{
    lbx_envelope envelope;

    box_send_envelope(box, lbx_envelope_of(letter(1), INT32_MIN));
    box_send_envelope(box, lbx_envelope_of(letter(2), INT32_MAX));
    box_send_envelope(box, lbx_envelope_of(letter(3), -1));
    CHECK_INT(2, box_next(box));
    CHECK_INT(3, box_next(box));
    CHECK_OK(lbx_consumer_try_receive_envelope(box->out, &envelope));
    CHECK_INT(INT32_MIN, envelope.priority);
}

struct counted_priority {
    int calls;
    lbx_mailbox *mailbox;
};

// The number itself is the priority; 13 has none.
static bool
priority_of_number(const void *message, void *context, int32_t *ret)
{
    struct counted_priority *counted = context;

    counted->calls++;
    lbx_mailbox_depth(counted->mailbox); // no lock is held
    *ret = number_of(message);
    return number_of(message) != 13;
}

TEST_CITING("R-05", priority_is_asked_once_per_message)
{
    struct counted_priority counted = {0, NULL};
    LOCAL_BOX(box) = BOX(LBX_KIND_UNBOUNDED_PRIORITY, plain_options(),
                         with.priority = priority_of_number,
                         with.priority_context = &counted);

    counted.mailbox = box.mailbox;
    for (int number = 8; number > 0; number--)
        box_send(&box, number);
    CHECK_RECEIVES(&box, 1, 2, 3, 4, 5, 6, 7, 8);
    CHECK_INT(8, counted.calls);
}

TEST_CITING("R-05", failing_priority_function_refuses_the_message)
{
    struct counted_priority counted = {0, NULL};
    LOCAL_BOX(box) = BOX(LBX_KIND_UNBOUNDED_PRIORITY, plain_options(),
                         with.priority = priority_of_number,
                         with.priority_context = &counted);

    counted.mailbox = box.mailbox;
    box_send(&box, 14);
    CHECK_STATUS(LBX_REFUSED, lbx_producer_try_send(box.in, letter(13)));
    CHECK_STATUS(LBX_REFUSED, lbx_producer_send(box.in, letter(13)));
    CHECK_INT(1, lbx_mailbox_depth(box.mailbox));
    box_send(&box, 12);
    CHECK_RECEIVES(&box, 12, 14);
}

// Even numbers before odd ones.
static int
compare_parity(const lbx_envelope *a, const lbx_envelope *b, void *context)
{
    *(int *)context += 1;
    return number_of(a->message) % 2 - number_of(b->message) % 2;
}

TEST_CITING("R-04", compare_orders_and_equals_stay_in_order_of_arrival)
{
    int calls = 0;
    LOCAL_BOX(box) =
        BOX(LBX_KIND_UNBOUNDED_PRIORITY, plain_options(),
            with.compare = compare_parity, with.compare_context = &calls);

    box_send_numbers(&box, 1, 9);
    CHECK_RECEIVES(&box, 2, 4, 6, 8, 1, 3, 5, 7, 9);
    CHECK(calls > 0);
}

// messages sent without an envelope have the mailbox's default.
BOX_TEST("R-06", default_priority_can_be_chosen,
         BOX(LBX_KIND_UNBOUNDED_PRIORITY, plain_options(),
             with.default_priority = 3))
{
    lbx_envelope envelope;

    box_send_envelope(box, lbx_envelope_of(letter(3), 4));
    box_send(box, 2);
    CHECK_OK(lbx_producer_send(box->in, letter(22)));
    box_send_envelope(box, lbx_envelope_of(letter(1), 2));
    CHECK_INT(1, box_next(box));
    CHECK_OK(lbx_consumer_try_receive_envelope(box->out, &envelope));
    CHECK_INT(2, number_of(envelope.message));
    CHECK_INT(3, envelope.priority);
    CHECK_RECEIVES(box, 22, 3);
}

// A type says how urgent its messages are when they do not.
TEST_CITING("R-06", types_default_priority_orders_its_messages)
{
    lbx_type_options type_options = LBX_TYPE_OPTIONS_INIT;
    struct box box = BOX(LBX_KIND_UNBOUNDED_PRIORITY, envelope_options());
    LOCAL_TYPE(urgent);

    type_options.name = "shop.Fire";
    type_options.default_priority = -5;
    CHECK_OK(lbx_type_create(&type_options, &urgent));
    box_send(&box, 1); // 10, Vela's default
    box_send_envelope(&box, lbx_envelope_of_type(letter(2), urgent));
    box_send_envelope(&box, lbx_envelope_of(letter(3), 9));
    CHECK_RECEIVES(&box, 2, 3, 1);
    box_end(&box);
}
