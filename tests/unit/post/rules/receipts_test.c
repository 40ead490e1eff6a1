/* SPDX-License-Identifier: Apache-2.0 */
/* Receipts: which may settle, and what is settled with what is attached. */
#include "fixture.h"

#include <string.h>

static lbx_box
one_leased(struct rig *rig, const lbx_box_options *options)
{
    lbx_box box = rig_create(rig, "box", options);

    CHECK_OK(rig_send(rig, box, "a"));
    CHECK_INT(1, rig_receive(rig, box, 1, 30 * S));
    return box;
}

RIG_TEST("RSETTLE-1 RSETTLE-2", only_the_latest_receipt_changes_anything)
{
    lbx_box_options options = lbx_box_options_preset(LBX_BOX_PRESET_SQS);
    lbx_box box = one_leased(rig, &options);
    struct rig_got old = rig->got[0], new;

    rig_pass(rig, 30 * S);
    CHECK_INT(1, rig_receive(rig, box, 1, 30 * S));
    new = rig->got[0];
    CHECK_STATUS(LBX_EXPIRED, rig_ack(rig, box, &old));
    CHECK_STATUS(LBX_EXPIRED, rig_nack(rig, box, &old, 0));
    CHECK_STATUS(LBX_EXPIRED, rig_extend(rig, box, &old, 0));
    CHECK_STATUS(LBX_EXPIRED, rig_undo(rig, box, &old));
    CHECK_INT(1, rig_counts(rig, box).leased);
    CHECK_OK(rig_ack(rig, box, &new));
    CHECK_STATUS(LBX_GONE, rig_ack(rig, box, &new));
    CHECK_STATUS(LBX_GONE, rig_ack(rig, box, &old));
}

/* ChangeMessageVisibility of SQS. Not in a strict box, and not a receipt that
 * was never made. */
TEST_CITING("RSETTLE-1", with_the_flag_an_earlier_receipt_is_as_good)
{
    for (int strict = 0; strict < 2; strict++) {
        RIG(rig);
        lbx_box_options options = LBX_BOX_OPTIONS_INIT;
        lbx_settle_request_entry entry = {.action = LBX_SETTLE_NACK,
                                          .flags = LBX_SETTLE_ANY_DELIVERY};
        lbx_settle_request request = {.entries = &entry, .count = 1};
        struct rig_got old;

        options.strict = strict;
        request.box = one_leased(rig, &options);
        old = rig->got[0];
        rig_pass(rig, 30 * S);
        CHECK_INT(1, rig_receive(rig, request.box, 1, 30 * S));
        entry.receipt = old.receipt;
        entry.receipt_bytes = sizeof(old.receipt);
        CHECK_STATUS(strict ? LBX_EXPIRED : LBX_OK,
                     RIG_CALL(rig, lbx__settle_apply(rig->rules, &request)));
        CHECK_INT(!strict, rig_counts(rig, request.box).ready);
    }
}

/* Decided by the receipt, not by the clock; strict boxes read the clock too. */
TEST_CITING("R-30", an_overdue_lease_can_be_settled_unless_strict)
{
    for (int strict = 0; strict < 2; strict++) {
        RIG(rig);
        lbx_box_options options = LBX_BOX_OPTIONS_INIT;
        lbx_box box;

        options.strict = strict;
        box = one_leased(rig, &options);
        rig_pass(rig, 30 * S - 1);
        CHECK_OK(rig_extend(rig, box, &rig->got[0], 10 * S));
        rig_pass(rig, 10 * S); // RSETTLE-3: the current deadline counts
        if (strict) {
            CHECK_STATUS(LBX_EXPIRED, rig_ack(rig, box, &rig->got[0]));
            CHECK_INT(1, rig_counts(rig, box).ready);
        } else {
            CHECK_INT(1, rig_counts(rig, box).ready);
            // SQS: hides it again.
            CHECK_OK(rig_extend(rig, box, &rig->got[0], S));
            CHECK_INT(1, rig_counts(rig, box).leased);
            rig_pass(rig, S);
            CHECK_OK(rig_ack(rig, box, &rig->got[0]));
        }
    }
}

RIG_TEST("R-31 RSETTLE-2", acknowledging_twice_is_gone)
{
    lbx_box box = one_leased(rig, NULL);

    CHECK_OK(rig_ack(rig, box, &rig->got[0]));
    CHECK_STATUS(LBX_GONE, rig_ack(rig, box, &rig->got[0]));
    CHECK_STATUS(LBX_GONE, rig_nack(rig, box, &rig->got[0], 0));
}

RIG_TEST("RSETTLE-2", receipts_that_are_not_of_this_box_are_invalid)
{
    lbx_box box = one_leased(rig, NULL), other, again;
    struct rig_got got = rig->got[0], forged = got;
    lbx__receipt receipt = lbx__receipt_unpack(got.receipt);

    other = rig_create(rig, "other", NULL);
    CHECK_STATUS(LBX_INVALID, rig_ack(rig, other, &got));
    forged.receipt_bytes--;
    CHECK_STATUS(LBX_INVALID, rig_ack(rig, box, &forged));
    forged.receipt_bytes++;
    receipt.epoch++;
    lbx__receipt_pack(&receipt, forged.receipt);
    CHECK_STATUS(LBX_INVALID, rig_ack(rig, box, &forged));
    receipt.epoch--;
    receipt.era++;
    lbx__receipt_pack(&receipt, forged.receipt);
    CHECK_STATUS(LBX_INVALID, rig_ack(rig, box, &forged));
    receipt.era--;
    receipt.sequence += 2; // the box's next: the lease has drawn one
    lbx__receipt_pack(&receipt, forged.receipt);
    CHECK_STATUS(LBX_INVALID, rig_ack(rig, box, &forged));
    receipt.sequence += 1000;
    lbx__receipt_pack(&receipt, forged.receipt);
    CHECK_STATUS(LBX_INVALID, rig_ack(rig, box, &forged));
    CHECK_INT(1, rig_purge(rig, box));
    CHECK_STATUS(LBX_INVALID, rig_ack(rig, box, &got));
    CHECK_OK(rig_delete(rig, box));
    CHECK_STATUS(LBX_GONE, rig_ack(rig, box, &got));
    forged.receipt_bytes--;
    CHECK_STATUS(LBX_INVALID, rig_ack(rig, box, &forged));
    again = rig_create(rig, "box", NULL);
    CHECK_STATUS(LBX_INVALID, rig_ack(rig, again, &got));
}

RIG_TEST("RSETTLE-2", receipts_of_an_earlier_era_are_expired)
{
    lbx_box box = one_leased(rig, NULL);

    CHECK_OK(lbx__rules_new_era(rig->rules));
    rig_reopen(rig);
    CHECK_STATUS(LBX_EXPIRED, rig_ack(rig, box, &rig->got[0]));
    rig_pass(rig, 30 * S);
    CHECK_INT(1, rig_receive(rig, box, 1, 30 * S));
    CHECK_OK(rig_ack(rig, box, &rig->got[0]));
}

RIG_TEST("RSETTLE-3", extensions_end_with_the_limit_from_the_receive_on)
{
    lbx_box_options options = lbx_box_options_preset(LBX_BOX_PRESET_SQS);
    const int64_t max = options.limits.max_lease_ns;
    lbx_box box = one_leased(rig, &options);

    rig_pass(rig, 10 * S);
    CHECK_STATUS(LBX_INVALID,
                 rig_extend(rig, box, &rig->got[0], max - 10 * S + 1));
    CHECK_OK(rig_extend(rig, box, &rig->got[0], max - 10 * S));
    CHECK_STATUS(LBX_INVALID, rig_nack(rig, box, &rig->got[0], max + 1));
    CHECK_STATUS(LBX_INVALID, rig_nack(rig, box, &rig->got[0], -1));
    CHECK_INT(1, rig_counts(rig, box).leased);
    CHECK_OK(rig_nack(rig, box, &rig->got[0], max));
}

/* So that a waiting receive gets it. */
RIG_TEST("RSETTLE-3", extending_by_nothing_gives_the_letter_back)
{
    lbx_box box = one_leased(rig, NULL);

    rig->changes = 0;
    CHECK_OK(rig_extend(rig, box, &rig->got[0], 0));
    CHECK_INT(1, rig->changes);
    CHECK_INT(box.uid, rig->change.uid);
    CHECK_INT(test_clock_now(&rig->time), rig->change.due_ns);
    CHECK_INT(1, rig_receive(rig, box, 1, S));
}

RIG_TEST("", a_nacked_letter_waits_for_its_delay)
{
    lbx_box box = one_leased(rig, NULL);

    CHECK_OK(rig_nack(rig, box, &rig->got[0], 7 * S));
    CHECK_INT(1, rig_counts(rig, box).delayed);
    rig_pass(rig, 7 * S - 1);
    CHECK_INT(0, rig_receive(rig, box, 1, S));
    rig_pass(rig, 1);
    CHECK_INT(1, rig_receive(rig, box, 1, S));
    CHECK_INT(2, rig->got[0].deliveries);
}

/* A batch returns its first failure, and a waiting receive is told the first
 * time at which something is due. */
TEST(a_batch_returns_its_first_failure_and_its_first_due_time)
{
    RIG(rig);
    lbx_parcel parcels[2] = {{.body = "", .body_bytes = SIZE_MAX / 2},
                             {.body = "b", .body_bytes = 1}};
    lbx_sent_letter sent[2];
    lbx_settle_request_entry entries[3];
    lbx_settle_request settles = {.entries = entries, .count = 3};
    lbx_send_request sends = {.parcels = parcels, .count = 2, .sent = sent};
    lbx_box box = one_leased(rig, NULL);

    sends.box = settles.box = box;
    CHECK_STATUS(LBX_TOO_LARGE,
                 RIG_CALL(rig, lbx__send_apply(rig->rules, &sends)));
    CHECK_OK(sent[1].status);
    CHECK_OK(rig_nack(rig, box, &rig->got[0], 0));
    CHECK_INT(2, rig_receive(rig, box, 2, 30 * S));
    for (int i = 0; i < 3; i++)
        entries[i] = (lbx_settle_request_entry){
            .action = LBX_SETTLE_NACK,
            .time_ns = i == 1 ? 9 * S : 0,
            .receipt = i > 0 ? rig->got[i - 1].receipt : NULL,
            .receipt_bytes = LBX__RECEIPT_PACKED,
        };
    CHECK_STATUS(LBX_INVALID,
                 RIG_CALL(rig, lbx__settle_apply(rig->rules, &settles)));
    CHECK_OK(entries[1].status);
    CHECK_OK(entries[2].status);
    CHECK_INT(test_clock_now(&rig->time), rig->change.due_ns);
}

/* ---- What is attached ---- */

static lbx_status
settle_with_parcels(struct rig *rig, lbx_box box, const struct rig_got *got,
                    const lbx_box *to, const lbx_parcel *parcels,
                    lbx_sent_letter *sent)
{
    lbx_attachment attachments[2];
    lbx_settle_request_entry entry = {.action = LBX_SETTLE_ACKNOWLEDGE,
                                      .receipt = got->receipt,
                                      .receipt_bytes = got->receipt_bytes,
                                      .attachments = attachments,
                                      .attachment_count = 2};
    lbx_settle_request request = {.box = box, .entries = &entry, .count = 1};

    for (size_t i = 0; i < 2; i++)
        attachments[i] = (lbx_attachment){to[i], &parcels[i], &sent[i]};
    return RIG_CALL(rig, lbx__settle_apply(rig->rules, &request));
}

static lbx_status
settle_with(struct rig *rig, lbx_box box, const struct rig_got *got,
            const lbx_box *to, lbx_sent_letter *sent, size_t count)
{
    static const lbx_parcel reply = {.body = "reply", .body_bytes = 5};
    lbx_attachment attachments[LBX_MAX_ATTACHMENTS];
    lbx_settle_request_entry entry = {.action = LBX_SETTLE_ACKNOWLEDGE,
                                      .receipt = got->receipt,
                                      .receipt_bytes = got->receipt_bytes,
                                      .attachments = attachments,
                                      .attachment_count = count};
    lbx_settle_request request = {.box = box, .entries = &entry, .count = 1};

    for (size_t i = 0; i < count; i++)
        attachments[i] = (lbx_attachment){to[i], &reply, &sent[i]};
    return RIG_CALL(rig, lbx__settle_apply(rig->rules, &request));
}

static lbx_status
no_space(lbx__storage *storage, const lbx__row_size *sizes, size_t count,
         lbx__growth growth)
{
    (void)storage;
    (void)sizes;
    (void)count;
    return growth == LBX__GROWS ? LBX_NO_SPACE : LBX_OK;
}

RIG_TEST("DRIVER-3 RSETTLE-4", a_reply_that_finds_the_disk_full_was_not_sent)
{
    lbx_box box = one_leased(rig, NULL), to[2];
    struct rig_got got = rig->got[0];
    lbx_sent_letter sent[2];

    to[0] = rig_create(rig, "replies", NULL);
    to[1] = rig_create(rig, "others", NULL);
    rig->ops.reserve = no_space;
    CHECK_STATUS(LBX_NO_SPACE, settle_with(rig, box, &got, to, sent, 2));
    CHECK_STATUS(LBX_NO_SPACE, sent[0].status);
    CHECK_STATUS(LBX_NO_SPACE, sent[1].status);
    CHECK_INT(1, rig_counts(rig, box).leased);
}

RIG_TEST("DRIVER-3", a_reply_and_its_acknowledgement_are_one_step)
{
    lbx_box_options small = LBX_BOX_OPTIONS_INIT;
    lbx_box box = one_leased(rig, NULL), to[2];
    lbx_sent_letter sent[2];
    struct rig_got got = rig->got[0];

    small.capacity_letters = 1;
    to[0] = rig_create(rig, "replies", NULL);
    to[1] = rig_create(rig, "small", &small);
    CHECK_OK(rig_send(rig, to[1], "in the way"));
    // The second does not fit: nothing is sent, nothing settled.
    CHECK_STATUS(LBX_FULL, settle_with(rig, box, &got, to, sent, 2));
    CHECK_STATUS(LBX_FULL, sent[1].status);
    CHECK_INT(0, rig_counts(rig, to[0]).ready);
    CHECK_INT(1, rig_counts(rig, box).leased);
    CHECK_OK(settle_with(rig, box, &got, to, sent, 1));
    CHECK_INT(1, rig_counts(rig, to[0]).ready);
    CHECK_INT(0, rig_counts(rig, box).leased);
    // DRIVER-2: the receipt is used; no second reply.
    CHECK_STATUS(LBX_GONE, settle_with(rig, box, &got, to, sent, 1));
    CHECK_INT(1, rig_counts(rig, to[0]).ready);
}

RIG_TEST("DRIVER-3", a_reply_to_a_box_that_is_gone_settles_nothing)
{
    lbx_box box = one_leased(rig, NULL), to;
    struct rig_got got = rig->got[0];
    lbx_sent_letter sent;

    to = rig_create(rig, "replies", NULL);
    CHECK_OK(rig_delete(rig, to));
    CHECK_STATUS(LBX_CLOSED, settle_with(rig, box, &got, &to, &sent, 1));
    CHECK_INT(1, rig_counts(rig, box).leased);
}

RIG_TEST("", two_replies_need_capacity_for_two)
{
    lbx_box_options small = LBX_BOX_OPTIONS_INIT;
    lbx_box box = one_leased(rig, NULL), to[2];
    struct rig_got got = rig->got[0];
    lbx_sent_letter sent[2];

    small.capacity_letters = 1;
    to[0] = to[1] = rig_create(rig, "small", &small);
    CHECK_STATUS(LBX_FULL, settle_with(rig, box, &got, to, sent, 2));
    CHECK_INT(0, rig_counts(rig, to[0]).ready);
    CHECK_OK(settle_with(rig, box, &got, to, sent, 1));
}

/* RSEND-1 within one settle. */
RIG_TEST("", the_same_token_in_both_attachments_sends_once)
{
    static const lbx_parcel replies[2] = {
        {.body = "one", .body_bytes = 3, .token = "t"},
        {.body = "two", .body_bytes = 3, .token = "t"}};
    lbx_box box = one_leased(rig, NULL), to[2];
    struct rig_got got = rig->got[0];
    lbx_sent_letter sent[2];

    to[0] = to[1] = rig_create(rig, "replies", NULL);
    CHECK_OK(settle_with_parcels(rig, box, &got, to, replies, sent));
    CHECK_OK(sent[0].status);
    CHECK_OK(sent[1].status);
    CHECK(!sent[0].duplicate && sent[1].duplicate);
    CHECK_STR(sent[0].id.text, sent[1].id.text);
    CHECK_STR("one", rig_received(rig, to[0], 10, S));
}

/* A duplicate takes no capacity from the one after it, and is not sent. */
RIG_TEST("", an_attachment_that_is_a_duplicate_leaves_capacity_to_the_next)
{
    static const lbx_parcel replies[2] = {
        {.body = "one", .body_bytes = 3, .token = "t"},
        {.body = "two", .body_bytes = 3}};
    lbx_box_options small = LBX_BOX_OPTIONS_INIT;
    lbx_box box = one_leased(rig, NULL), to[2];
    struct rig_got got = rig->got[0];
    lbx_sent_letter sent[2];

    small.capacity_letters = 2;
    to[0] = to[1] = rig_create(rig, "small", &small);
    CHECK_OK(rig_send_parcel(rig, to[0], &replies[0]));
    CHECK_OK(settle_with_parcels(rig, box, &got, to, replies, sent));
    CHECK(sent[0].duplicate && !sent[1].duplicate);
    CHECK_STR(rig->sent.id.text, sent[0].id.text);
    CHECK_STR("one two", rig_received(rig, to[0], 10, S));
}
