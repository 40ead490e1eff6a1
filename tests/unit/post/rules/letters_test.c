/* SPDX-License-Identifier: Apache-2.0 */
/* Plain boxes: order, leases, delays, retention, capacity, tokens. */
#include "fixture.h"
#include "stores/memory/memory.h"

#include <string.h>

RIG_TEST("", letters_come_in_the_order_they_were_sent)
{
    lbx_box box = rig_create(rig, "box", NULL);

    rig_send_each(rig, box, "abc");
    CHECK_STR("a b", rig_received(rig, box, 2, 30 * S));
    CHECK(rig->got[0].sequence < rig->got[1].sequence);
    CHECK_INT(1, rig->got[0].deliveries);
    // what is there, at once, though more could come.
    CHECK_STR("c", rig_received(rig, box, 10, 30 * S));
    CHECK_INT(0, rig_receive(rig, box, 10, 30 * S));
    CHECK_STATUS(LBX_EMPTY, rig->status);
}

/* ADR 13.3: this is where the speed is. */
RIG_TEST("", a_fresh_letter_has_one_row)
{
    lbx_box box = rig_create(rig, "box", NULL);

    CHECK_OK(rig_send(rig, box, "a"));
    CHECK_INT(1, lbx__memory_rows(rig->storage, LBX__BODIES));
    for (int table = LBX__STATES; table <= LBX__AGE; table++)
        CHECK_INT(0, lbx__memory_rows(rig->storage, (lbx__table)table));
    CHECK_INT(1, rig_receive(rig, box, 1, 30 * S));
    CHECK_OK(rig_ack(rig, box, &rig->got[0]));
    for (int table = LBX__BODIES; table <= LBX__AGE; table++)
        CHECK_INT(0, lbx__memory_rows(rig->storage, (lbx__table)table));
}

RIG_TEST("DRIVER-4", a_lease_ends_at_its_very_moment)
{
    lbx_box box = rig_create(rig, "box", NULL);
    int64_t due;

    CHECK_OK(rig_send(rig, box, "a"));
    CHECK_INT(1, rig_receive(rig, box, 1, 30 * S));
    CHECK_OK(RIG_CALL(rig, lbx__receive_next_due(rig->rules, box, &due)));
    CHECK_INT(test_clock_now(&rig->time) + 30 * S, due);
    rig_pass(rig, 30 * S - 1);
    CHECK_INT(0, rig_receive(rig, box, 1, 30 * S));
    rig_pass(rig, 1);
    CHECK_INT(1, rig_receive(rig, box, 1, 30 * S));
    CHECK_INT(2, rig->got[0].deliveries);
}

RIG_TEST("DRIVER-1", a_peek_shows_the_state_of_each_letter)
{
    const lbx_parcel late = {
        .body = "late", .body_bytes = 4, .delay_ns = 5 * S};
    lbx_box box = rig_create(rig, "box", NULL);

    rig_send_each(rig, box, "ab");
    CHECK_OK(rig_send_parcel(rig, box, &late));
    CHECK_INT(1, rig_receive(rig, box, 1, S));
    CHECK_INT(3, rig_peek(rig, box));
    CHECK_INT(LBX_LETTER_STATE_LEASED, rig->got[0].state);
    CHECK_INT(LBX_LETTER_STATE_READY, rig->got[1].state);
    CHECK_INT(LBX_LETTER_STATE_DELAYED, rig->got[2].state);
    rig_pass(rig, S); // what is due is ready, moved to its row or not
    CHECK_INT(3, rig_peek(rig, box));
    CHECK_INT(LBX_LETTER_STATE_READY, rig->got[0].state);
    CHECK_INT(LBX_LETTER_STATE_DELAYED, rig->got[2].state);
}

RIG_TEST("DRIVER-4", a_delayed_letter_is_not_early)
{
    const lbx_parcel late = {
        .body = "late", .body_bytes = 4, .delay_ns = 5 * S};
    lbx_box box = rig_create(rig, "box", NULL);

    CHECK_OK(rig_send_parcel(rig, box, &late));
    CHECK_INT(test_clock_now(&rig->time) + 5 * S, rig->change.due_ns);
    rig_pass(rig, 5 * S - 1);
    CHECK_OK(rig_send(rig, box, "soon"));
    CHECK_INT(1, rig_counts(rig, box).delayed);
    CHECK_STR("soon", rig_received(rig, box, 10, S));
    rig_pass(rig, 1);
    CHECK_INT(0, rig_counts(rig, box).delayed);
    CHECK_STR("late", rig_received(rig, box, 10, S));
}

/* SQS: delivered, counted, and visible again at once. */
RIG_TEST("", a_lease_of_no_time_delivers_once_per_receive)
{
    lbx_box box = rig_create(rig, "box", NULL);

    rig_send_each(rig, box, "ab");
    CHECK_INT(2, rig_receive(rig, box, 10, 0));
    CHECK_INT(2, rig_counts(rig, box).ready);
    CHECK_STR("a b", rig_received(rig, box, 10, 0));
    CHECK_INT(2, rig->got[0].deliveries);
}

TEST(what_comes_back_goes_last_or_keeps_its_position)
{
    for (int keep = 0; keep < 2; keep++) {
        RIG(rig);
        lbx_box_options options = LBX_BOX_OPTIONS_INIT;
        lbx_box box;

        options.keep_position = keep;
        box = rig_create(rig, "box", &options);
        rig_send_each(rig, box, "ab");
        CHECK_INT(1, rig_receive(rig, box, 1, 5 * S));
        CHECK_OK(rig_nack(rig, box, &rig->got[0], 0));
        CHECK_INT(1, rig_receive(rig, box, 1, 5 * S));
        CHECK_STR(keep ? "a" : "b", rig->got[0].body);
        rig_pass(rig, 5 * S); // the lease is over: the same
        CHECK_STR("a b", rig_received(rig, box, 2, 5 * S));
    }
}

static void
check_undo(bool strict)
{
    RIG(rig);
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    struct rig_got first;
    lbx_box box;

    options.strict = strict;
    box = rig_create(rig, "box", &options);
    rig_send_each(rig, box, "ab");
    CHECK_INT(1, rig_receive(rig, box, 1, 30 * S));
    first = rig->got[0];
    rig->changes = 0;
    CHECK_OK(rig_undo(rig, box, &first));
    CHECK_INT(1, rig->changes); // for who waits
    CHECK_STATUS(LBX_EXPIRED, rig_undo(rig, box, &first));
    CHECK_STATUS(LBX_EXPIRED, rig_ack(rig, box, &first));
    CHECK_INT(2, rig_peek(rig, box)); // as if it had not been received
    CHECK_INT(0, rig->got[0].deliveries);
    CHECK_INT(0, rig->got[0].first_received_ms);
    CHECK_STR("a b", rig_received(rig, box, 2, 30 * S));
    CHECK_INT(1, rig->got[0].deliveries);
    CHECK(memcmp(first.receipt, rig->got[0].receipt, first.receipt_bytes) != 0);
}

TEST_CITING("DRIVER-5", undo_leaves_no_trace_but_the_receipt)
{
    check_undo(true);
    check_undo(false);
}

RIG_TEST("DRIVER-5", a_letter_that_cannot_be_delivered_is_as_it_was)
{
    lbx_box box = rig_create(rig, "box", NULL);

    rig_send_each(rig, box, "ab");
    rig->refuse = 1;
    CHECK_INT(0, rig_receive(rig, box, 2, 30 * S));
    CHECK_STATUS(LBX_NO_MEMORY, rig->status);
    CHECK_INT(2, rig_counts(rig, box).ready);
    rig->refuse = 2;
    CHECK_INT(1, rig_receive(rig, box, 2, 30 * S));
    rig->refuse = 0;
    CHECK_STR("b", rig_received(rig, box, 2, 30 * S));
    CHECK_INT(1, rig->got[0].deliveries);
}

/* SQS: measured from the send; leased letters too; a change counts for
 * letters that are there. */
RIG_TEST("", letters_end_with_their_retention)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    struct rig_got leased;
    lbx_box box;

    options.retention_ns = 60 * S;
    box = rig_create(rig, "box", &options);
    CHECK_OK(rig_send(rig, box, "a"));
    CHECK_INT(1, rig_receive(rig, box, 1, 600 * S));
    leased = rig->got[0];
    rig_pass(rig, 30 * S);
    CHECK_OK(rig_send(rig, box, "b"));
    rig_pass(rig, 30 * S - 1);
    CHECK_INT(2, rig_peek(rig, box));
    CHECK_INT(60 * S - 1, rig_counts(rig, box).oldest_ns);
    rig_pass(rig, 1);
    CHECK_INT(1, rig_peek(rig, box));
    CHECK_INT(30 * S, rig_counts(rig, box).oldest_ns);
    CHECK_STATUS(LBX_GONE, rig_extend(rig, box, &leased, S));
    options.retention_ns = 30 * S;
    rig->changes = 0;
    CHECK_OK(rig_configure(rig, box, &options));
    CHECK_INT(1, rig->changes); // for who waits
    CHECK_INT(0, rig_counts(rig, box).ready);
    CHECK_INT(-1, rig_counts(rig, box).oldest_ns);
    CHECK_OK(rig_send(rig, box, "c"));
    rig_pass(rig, 30 * S);
    options.retention_ns = 600 * S; // too late for what was over
    CHECK_OK(rig_configure(rig, box, &options));
    CHECK_INT(0, rig_counts(rig, box).ready);
    rig->changes = 0;
    CHECK_OK(rig_delete(rig, box));
    CHECK_INT(1, rig->changes);
}

RIG_TEST("", a_full_box_refuses_and_counts_all_that_is_inside)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    lbx_box box;

    options.capacity_letters = 2;
    box = rig_create(rig, "box", &options);
    CHECK_OK(rig_send(rig, box, "a"));
    CHECK_INT(1, rig_receive(rig, box, 1, 30 * S));
    CHECK_OK(rig_send(rig, box, "b"));
    CHECK_STATUS(LBX_FULL, rig_send(rig, box, "c"));
    CHECK_INT(2, rig_peek(rig, box));
    CHECK_INT(1, rig_receive(rig, box, 1, 30 * S));
    CHECK_OK(rig_ack(rig, box, &rig->got[0]));
    CHECK_OK(rig_send(rig, box, "c"));
}

/* SQS: OverLimit. */
RIG_TEST("", no_more_are_leased_than_may_be)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    lbx_box box;

    options.limits.max_leased = 2;
    box = rig_create(rig, "box", &options);
    for (int i = 0; i < 3; i++)
        CHECK_OK(rig_send(rig, box, "x"));
    CHECK_INT(2, rig_receive(rig, box, 10, 30 * S));
    CHECK_INT(0, rig_receive(rig, box, 1, 30 * S));
    CHECK_STATUS(LBX_FULL, rig->status);
    rig_pass(rig, 30 * S);
    CHECK_INT(2, rig_receive(rig, box, 10, 30 * S));
}

RIG_TEST("", a_token_sends_once_in_five_minutes)
{
    const lbx_parcel parcel = {.body = "a", .body_bytes = 1, .token = "once"};
    lbx_sent_letter first;
    lbx_box box = rig_create(rig, "box", NULL);

    CHECK_OK(rig_send_parcel(rig, box, &parcel));
    first = rig->sent;
    CHECK(!first.duplicate);
    CHECK_INT(1, rig_receive(rig, box, 1, 30 * S));
    CHECK_OK(rig_ack(rig, box, &rig->got[0]));
    rig_pass(rig, 300 * S - 1);
    CHECK_OK(rig_send_parcel(rig, box, &parcel));
    CHECK(rig->sent.duplicate);
    CHECK_STR(first.id.text, rig->sent.id.text);
    CHECK_INT(first.sequence, rig->sent.sequence);
    CHECK_INT(0, rig_counts(rig, box).ready);
    rig_pass(rig, 1);
    CHECK_OK(rig_send_parcel(rig, box, &parcel));
    CHECK(!rig->sent.duplicate);
}

/* Tokens that are too old to matter are removed as sends go on. */
RIG_TEST("", tokens_do_not_pile_up)
{
    lbx_box box = rig_create(rig, "box", NULL);

    for (int i = 0; i < 1000; i++) {
        const char token[3] = {(char)('a' + i % 26), (char)('a' + i / 26), 0};
        const lbx_parcel parcel = {.body = "", .token = token};

        CHECK_OK(rig_send_parcel(rig, box, &parcel));
        rig_pass(rig, 10 * S);
    }
    CHECK(lbx__memory_rows(rig->storage, LBX__SEEN) <= 31);
    CHECK_INT(lbx__memory_rows(rig->storage, LBX__SEEN),
              lbx__memory_rows(rig->storage, LBX__SEEN_DUE));
}

/* Also in a box that gets no more tokens, and by what is attached. */
RIG_TEST("", tokens_go_with_sends_that_have_none)
{
    const lbx_parcel parcel = {.body = "", .token = "t"};
    lbx_box box = rig_create(rig, "box", NULL);
    lbx_box other = rig_create(rig, "other", NULL);

    CHECK_OK(rig_send_parcel(rig, box, &parcel));
    rig_pass(rig, 400 * S);
    for (int i = 0; i < 200; i++) // the boxes by turns
        CHECK_OK(rig_send(rig, i % 2 ? box : other, "x"));
    CHECK_INT(0, lbx__memory_rows(rig->storage, LBX__SEEN));
    CHECK_INT(0, lbx__memory_rows(rig->storage, LBX__SEEN_DUE));
}

RIG_TEST("", everything_of_a_parcel_comes_back)
{
    const lbx_attribute attributes[] = {
        {"n", LBX_ATTRIBUTE_NUMBER, "float", "1.5", 3},
        {"e", LBX_ATTRIBUTE_STRING, NULL, "", 0},
    };
    const lbx_parcel parcel = {
        .body = "a\0b",
        .body_bytes = 3,
        .type_name = "shop.Order",
        .attributes = attributes,
        .attribute_count = 2,
        .group = "g",
    };
    lbx_box box = rig_create(rig, "box", NULL);

    CHECK_OK(rig_send_parcel(rig, box, &parcel));
    // Types count as SQS writes them: "Number.float", "String".
    CHECK_INT(3 + 1 + 12 + 3 + 1 + 6, rig_counts(rig, box).bytes);
    CHECK_INT(1, rig_receive(rig, box, 1, S));
    CHECK(memcmp("a\0b", rig->got[0].body, 3) == 0);
    CHECK_INT(2, rig->got[0].attributes);
    CHECK_STR("g", rig->got[0].group);
    CHECK_STR(rig->sent.id.text, rig->got[0].id);
    CHECK(rig->got[0].sent_ms > 315576000000);
    CHECK_INT(rig->got[0].sent_ms, rig->got[0].first_received_ms);
}
