/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about states and receipts: DRIVER-1, DRIVER-2, DRIVER-3, DRIVER-5. */
#include "contract.h"

#include <string.h>

static void
check_counts(struct desk *desk, lbx_box box, uint64_t ready, uint64_t leased,
             uint64_t delayed)
{
    const lbx_box_counts counts = count(desk, box);

    CHECK_INT(ready, counts.ready);
    CHECK_INT(leased, counts.leased);
    CHECK_INT(delayed, counts.delayed);
}

void
promise_a_letter_is_in_one_state(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct taken letter;

    check_counts(desk, box, 0, 0, 0);
    send_later(desk, box, "a", LBX_SECOND);
    check_counts(desk, box, 0, 0, 1);
    advance(desk, LBX_SECOND);
    check_counts(desk, box, 1, 0, 0);
    receive(desk, box, "a");
    check_counts(desk, box, 0, 1, 0);
    advance(desk, LEASE_S * LBX_SECOND);
    check_counts(desk, box, 1, 0, 0);
    letter = receive(desk, box, "a");
    CHECK_OK(settle(desk, box, &letter, LBX_SETTLE_NACK, 2 * LBX_SECOND));
    check_counts(desk, box, 0, 0, 1);
    advance(desk, 2 * LBX_SECOND);
    letter = receive(desk, box, "a");
    CHECK_OK(acknowledge(desk, box, &letter));
    check_counts(desk, box, 0, 0, 0);
}

static bool
same_receipt(const struct taken *a, const struct taken *b)
{
    return a->receipt_bytes == b->receipt_bytes &&
           memcmp(a->receipt, b->receipt, a->receipt_bytes) == 0;
}

void
promise_each_delivery_has_its_own_receipt(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct taken first;
    struct taken second;
    struct taken third;
    struct taken other;

    first = mail_and_receive(desk, box, "a");
    CHECK(first.receipt_bytes > 0);
    CHECK_OK(settle(desk, box, &first, LBX_SETTLE_NACK, 0));
    second = receive(desk, box, "a");
    CHECK_OK(undo(desk, box, &second));
    third = receive(desk, box, "a");
    other = mail_and_receive(desk, box, "b");
    CHECK(!same_receipt(&first, &second));
    CHECK(!same_receipt(&second, &third));
    CHECK(!same_receipt(&first, &third));
    CHECK(!same_receipt(&third, &other));
}

void
promise_an_old_receipt_changes_nothing(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct taken old;
    struct taken current;

    old = mail_and_receive(desk, box, "a");
    advance(desk, LEASE_S * LBX_SECOND);
    current = receive(desk, box, "a");
    CHECK_STATUS(LBX_EXPIRED, acknowledge(desk, box, &old));
    CHECK_STATUS(LBX_EXPIRED, settle(desk, box, &old, LBX_SETTLE_NACK, 0));
    CHECK_STATUS(LBX_EXPIRED,
                 settle(desk, box, &old, LBX_SETTLE_EXTEND, 999 * LBX_SECOND));
    CHECK_STATUS(LBX_EXPIRED, undo(desk, box, &old));
    check_counts(desk, box, 0, 1, 0);
    receive_none(desk, box);
    CHECK_OK(acknowledge(desk, box, &current));
}

void
promise_a_deleted_letter_is_gone(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct taken letter;

    letter = mail_and_receive(desk, box, "a");
    CHECK_OK(acknowledge(desk, box, &letter));
    CHECK_STATUS(LBX_GONE, acknowledge(desk, box, &letter));
    CHECK_STATUS(LBX_GONE, settle(desk, box, &letter, LBX_SETTLE_NACK, 0));
    advance(desk, 2 * LEASE_S * LBX_SECOND);
    receive_none(desk, box);
}

void
promise_letters_are_gone_with_their_box(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct taken letter = mail_and_receive(desk, box, "a");
    lbx_box again;

    CHECK_OK(delete_box(desk, box));
    CHECK_STATUS(LBX_GONE, acknowledge(desk, box, &letter));
    CHECK_STATUS(LBX_GONE, settle(desk, box, &letter, LBX_SETTLE_NACK, 0));
    CHECK_STATUS(LBX_GONE,
                 settle(desk, box, &letter, LBX_SETTLE_EXTEND, LBX_SECOND));
    CHECK_STATUS(LBX_GONE, undo(desk, box, &letter));
    // A new box of that name changes nothing, and knows nothing of it.
    again = make_box(desk, "orders", NULL);
    CHECK_STATUS(LBX_GONE, acknowledge(desk, box, &letter));
    CHECK_STATUS(LBX_INVALID, acknowledge(desk, again, &letter));
    receive_none(desk, again);
}

void
promise_receipts_of_other_boxes_are_invalid(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    const lbx_box other = make_box(desk, "others", NULL);
    struct taken letter;

    mail(desk, box, "a");
    mail(desk, other, "b");
    letter = receive(desk, box, "a");
    receive(desk, other, "b");
    CHECK_STATUS(LBX_INVALID, acknowledge(desk, other, &letter));
    CHECK_INT(1, count(desk, other).leased);
    CHECK_OK(acknowledge(desk, box, &letter));
}

void
promise_receipts_nobody_made_are_invalid(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct taken letter;
    struct taken wrong;

    letter = mail_and_receive(desk, box, "a");
    wrong = letter;
    wrong.receipt_bytes = 0;
    CHECK_STATUS(LBX_INVALID, acknowledge(desk, box, &wrong));
    wrong.receipt_bytes = letter.receipt_bytes - 1;
    CHECK_STATUS(LBX_INVALID, acknowledge(desk, box, &wrong));
    wrong.receipt_bytes = LBX_MAX_RECEIPT_BYTES;
    CHECK_STATUS(LBX_INVALID, acknowledge(desk, box, &wrong));
    wrong = letter;
    memset(wrong.receipt, 0xff, wrong.receipt_bytes);
    CHECK_STATUS(LBX_INVALID, acknowledge(desk, box, &wrong));
    CHECK_OK(acknowledge(desk, box, &letter));
}

void
promise_a_receipt_can_be_text(struct desk *desk)
{
    const lbx_store_ops *ops = desk->store->ops;
    const lbx_box box = make_box(desk, "orders", NULL);
    char text[LBX_RECEIPT_BYTES];
    struct taken letter;
    struct taken back;

    if (!ops->receipt_text)
        return; // receipts are text already
    letter = mail_and_receive(desk, box, "a");
    CHECK_OK(ops->receipt_text(desk->store, letter.receipt,
                               letter.receipt_bytes, text));
    CHECK_STATUS(LBX_INVALID,
                 ops->receipt_parse(desk->store, box, "AAAA", back.receipt,
                                    &back.receipt_bytes));
    for (size_t i = 0; text[i]; i++) {
        const char was = text[i];

        text[i] = was == 'A' ? 'B' : 'A';
        CHECK_STATUS(LBX_INVALID,
                     ops->receipt_parse(desk->store, box, text, back.receipt,
                                        &back.receipt_bytes));
        text[i] = was;
    }
    CHECK_OK(ops->receipt_parse(desk->store, box, text, back.receipt,
                                &back.receipt_bytes));
    CHECK(same_receipt(&letter, &back));
    CHECK_OK(acknowledge(desk, box, &back));
}

void
promise_strict_receipts_end_with_the_lease(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct taken letter;

    letter = mail_and_receive(desk, box, "a");
    advance(desk, LEASE_S * LBX_SECOND - 1);
    CHECK_OK(settle(desk, box, &letter, LBX_SETTLE_EXTEND, LBX_SECOND));
    advance(desk, LBX_SECOND);
    CHECK_STATUS(LBX_EXPIRED, acknowledge(desk, box, &letter));
    CHECK_STATUS(LBX_EXPIRED, settle(desk, box, &letter, LBX_SETTLE_EXTEND, 1));
    receive(desk, box, "a");
}

void
promise_other_receipts_last_until_the_next(struct desk *desk)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    struct taken letter;
    lbx_box box;

    options.strict = false;
    box = make_box(desk, "orders", &options);
    mail(desk, box, "a");
    mail(desk, box, "b");
    letter = receive(desk, box, "a");
    advance(desk, 10 * LEASE_S * LBX_SECOND);
    CHECK_INT(2, count(desk, box).ready);
    CHECK_OK(acknowledge(desk, box, &letter)); // late, but nobody else has it
    letter = receive(desk, box, "b");
    advance(desk, LEASE_S * LBX_SECOND);
    receive(desk, box, "b");
    CHECK_STATUS(LBX_EXPIRED, acknowledge(desk, box, &letter));
}

void
promise_a_batch_is_settled_letter_by_letter(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct getting mine;
    lbx_settle_request_entry entries[4];
    lbx_settle_request request = {box, entries, 4};

    mail(desk, box, "a");
    mail(desk, box, "b");
    mail(desk, box, "c");
    CHECK_OK(receive_some(desk, box, 3, LEASE_S * LBX_SECOND, &mine));
    CHECK_INT(3, mine.count);
    for (int i = 0; i < 4; i++)
        entries[i] = (lbx_settle_request_entry){
            .action = i == 2 ? LBX_SETTLE_NACK : LBX_SETTLE_ACKNOWLEDGE,
            .receipt = mine.letters[i == 1   ? 0
                                    : i == 0 ? 0
                                             : i - 1]
                           .receipt,
            .receipt_bytes = mine.letters[0].receipt_bytes,
            .status = LBX_PENDING,
        };
    CHECK_STATUS(LBX_GONE, run(desk, LBX_CALL_SETTLE, &request));
    CHECK_OK(entries[0].status);
    CHECK_STATUS(LBX_GONE, entries[1].status); // the same once more
    CHECK_OK(entries[2].status);
    CHECK_OK(entries[3].status);
    receive(desk, box, "b");
    receive_none(desk, box);
}

void
promise_what_is_attached_is_sent_in_the_same_step(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    const lbx_box replies = make_box(desk, "replies", NULL);
    struct taken letter;
    lbx_sent_letter sent;

    letter = mail_and_receive(desk, box, "question");
    CHECK_OK(settle_and_send(desk, box, &letter, replies, "answer", &sent));
    CHECK_OK(sent.status);
    check_counts(desk, box, 0, 0, 0);
    letter = receive(desk, replies, "answer");
    CHECK_STR(sent.id.text, letter.id);
}

void
promise_nothing_is_sent_with_an_old_receipt(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    const lbx_box replies = make_box(desk, "replies", NULL);
    struct taken old;
    struct taken letter;
    lbx_sent_letter sent;

    old = mail_and_receive(desk, box, "question");
    advance(desk, LEASE_S * LBX_SECOND);
    letter = receive(desk, box, "question");
    CHECK_STATUS(LBX_EXPIRED,
                 settle_and_send(desk, box, &old, replies, "late", &sent));
    receive_none(desk, replies);
    CHECK_OK(acknowledge(desk, box, &letter));
    CHECK_STATUS(LBX_GONE,
                 settle_and_send(desk, box, &letter, replies, "late", &sent));
    receive_none(desk, replies);
}

void
promise_nothing_is_settled_unless_it_was_sent(struct desk *desk)
{
    lbx_box_options small = LBX_BOX_OPTIONS_INIT;
    const lbx_box box = make_box(desk, "orders", NULL);
    lbx_box full;
    const lbx_box closed = make_box(desk, "closed", NULL);
    struct taken letter;
    lbx_sent_letter sent;

    small.capacity_letters = 1;
    full = make_box(desk, "full", &small);
    mail(desk, full, "there");
    CHECK_OK(delete_box(desk, closed));
    letter = mail_and_receive(desk, box, "question");
    CHECK_STATUS(LBX_FULL,
                 settle_and_send(desk, box, &letter, full, "no", &sent));
    CHECK_STATUS(LBX_CLOSED,
                 settle_and_send(desk, box, &letter, closed, "no", &sent));
    check_counts(desk, box, 0, 1, 0);
    CHECK_OK(acknowledge(desk, box, &letter));
}

void
promise_undo_takes_a_delivery_back(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct taken first;
    struct taken again;

    mail(desk, box, "a");
    mail(desk, box, "b");
    first = receive(desk, box, "a");
    CHECK_OK(undo(desk, box, &first));
    check_counts(desk, box, 2, 0, 0);
    CHECK_STATUS(LBX_EXPIRED, acknowledge(desk, box, &first));
    if (!desk->store->ops->undo)
        return; // then it is a nack: another place, another count
    again = receive(desk, box, "a");
    CHECK_INT(1, again.delivery_count);
    CHECK_OK(acknowledge(desk, box, &again));
}

void
promise_the_delivery_count_grows_by_one(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);

    mail(desk, box, "a");
    for (uint32_t i = 1; i <= 6; i++) {
        struct taken letter = receive(desk, box, "a");

        CHECK_INT(i, letter.delivery_count);
        if (i % 2)
            advance(desk, LEASE_S * LBX_SECOND);
        else
            CHECK_OK(settle(desk, box, &letter, LBX_SETTLE_NACK, 0));
    }
}
