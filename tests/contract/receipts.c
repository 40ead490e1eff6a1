/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about states and receipts: DRIVER-1, DRIVER-2, DRIVER-3,
 * DRIVER-5. */
#include "contract.h"

#include <string.h>

static void
check_counts(struct trial *trial, lbx_box box, uint64_t ready, uint64_t leased,
             uint64_t delayed)
{
    const lbx_box_counts counts = count(trial, box);

    CHECK_INT(ready, counts.ready);
    CHECK_INT(leased, counts.leased);
    CHECK_INT(delayed, counts.delayed);
}

PROMISE(a_letter_is_in_one_state)
{
    struct taken letter;

    check_counts(trial, box, 0, 0, 0);
    send_later(trial, box, "a", LBX_SECOND);
    check_counts(trial, box, 0, 0, 1);
    advance(trial, LBX_SECOND);
    check_counts(trial, box, 1, 0, 0);
    receive(trial, box, "a");
    check_counts(trial, box, 0, 1, 0);
    advance(trial, LEASE_NS);
    check_counts(trial, box, 1, 0, 0);
    letter = receive(trial, box, "a");
    CHECK_OK(nack(trial, box, &letter, 2 * LBX_SECOND));
    check_counts(trial, box, 0, 0, 1);
    advance(trial, 2 * LBX_SECOND);
    consume(trial, box, "a");
    check_counts(trial, box, 0, 0, 0);
}

static bool
same_receipt(const struct taken *a, const struct taken *b)
{
    return a->receipt_bytes == b->receipt_bytes &&
           memcmp(a->receipt, b->receipt, a->receipt_bytes) == 0;
}

PROMISE(each_delivery_has_its_own_receipt)
{
    struct taken second;
    struct taken third;
    struct taken other;
    struct taken first = mail_and_receive(trial, box, "a");

    CHECK(first.receipt_bytes > 0);
    CHECK_OK(nack(trial, box, &first, 0));
    second = receive(trial, box, "a");
    CHECK_OK(undo(trial, box, &second));
    third = receive(trial, box, "a");
    other = mail_and_receive(trial, box, "b");
    CHECK(!same_receipt(&first, &second));
    CHECK(!same_receipt(&second, &third));
    CHECK(!same_receipt(&first, &third));
    CHECK(!same_receipt(&third, &other));
}

PROMISE(an_old_receipt_changes_nothing)
{
    struct taken current;
    struct taken old = mail_and_receive(trial, box, "a");

    advance(trial, LEASE_NS);
    current = receive(trial, box, "a");
    CHECK_STATUS(LBX_EXPIRED, acknowledge(trial, box, &old));
    CHECK_STATUS(LBX_EXPIRED, nack(trial, box, &old, 0));
    CHECK_STATUS(LBX_EXPIRED, extend(trial, box, &old, 999 * LBX_SECOND));
    CHECK_STATUS(LBX_EXPIRED, undo(trial, box, &old));
    check_counts(trial, box, 0, 1, 0);
    receive_none(trial, box);
    CHECK_OK(acknowledge(trial, box, &current));
}

PROMISE(a_deleted_letter_is_gone)
{
    struct taken letter = mail_and_receive(trial, box, "a");

    CHECK_OK(acknowledge(trial, box, &letter));
    CHECK_STATUS(LBX_GONE, acknowledge(trial, box, &letter));
    CHECK_STATUS(LBX_GONE, nack(trial, box, &letter, 0));
    advance(trial, 2 * LEASE_NS);
    receive_none(trial, box);
}

PROMISE(letters_are_gone_with_their_box)
{
    struct taken letter = mail_and_receive(trial, box, "a");
    lbx_box again;

    CHECK_OK(delete_box(trial, box));
    CHECK_STATUS(LBX_GONE, acknowledge(trial, box, &letter));
    CHECK_STATUS(LBX_GONE, nack(trial, box, &letter, 0));
    CHECK_STATUS(LBX_GONE, extend(trial, box, &letter, LBX_SECOND));
    CHECK_STATUS(LBX_GONE, undo(trial, box, &letter));
    // A new box of that name changes nothing, and knows nothing of it.
    again = make_box(trial, "orders", NULL);
    CHECK_STATUS(LBX_GONE, acknowledge(trial, box, &letter));
    CHECK_STATUS(LBX_INVALID, acknowledge(trial, again, &letter));
    receive_none(trial, again);
}

PROMISE(receipts_of_other_boxes_are_invalid)
{
    const lbx_box other = make_box(trial, "others", NULL);
    struct taken letter;

    mail(trial, box, "a");
    mail(trial, other, "b");
    letter = receive(trial, box, "a");
    receive(trial, other, "b");
    CHECK_STATUS(LBX_INVALID, acknowledge(trial, other, &letter));
    CHECK_INT(1, count(trial, other).leased);
    CHECK_OK(acknowledge(trial, box, &letter));
}

PROMISE(made_up_receipts_are_invalid)
{
    struct taken wrong;
    struct taken letter = mail_and_receive(trial, box, "a");

    wrong = letter;
    wrong.receipt_bytes = 0;
    CHECK_STATUS(LBX_INVALID, acknowledge(trial, box, &wrong));
    wrong.receipt_bytes = letter.receipt_bytes - 1;
    CHECK_STATUS(LBX_INVALID, acknowledge(trial, box, &wrong));
    wrong.receipt_bytes = LBX_MAX_RECEIPT_BYTES;
    CHECK_STATUS(LBX_INVALID, acknowledge(trial, box, &wrong));
    wrong = letter;
    memset(wrong.receipt, 0xff, wrong.receipt_bytes);
    CHECK_STATUS(LBX_INVALID, acknowledge(trial, box, &wrong));
    CHECK_OK(acknowledge(trial, box, &letter));
}

PROMISE(a_receipt_can_be_text)
{
    const lbx_store_ops *ops = trial->store->ops;
    char text[LBX_RECEIPT_BYTES];
    struct taken letter;
    struct taken back;

    if (!ops->receipt_text)
        return; // receipts are text already
    letter = mail_and_receive(trial, box, "a");
    CHECK_OK(ops->receipt_text(trial->store, letter.receipt,
                               letter.receipt_bytes, text));
    CHECK_STATUS(LBX_INVALID,
                 ops->receipt_parse(trial->store, box, "AAAA", back.receipt,
                                    &back.receipt_bytes));
    for (size_t i = 0; text[i]; i++) {
        const char was = text[i];

        text[i] = was == 'A' ? 'B' : 'A';
        CHECK_STATUS(LBX_INVALID,
                     ops->receipt_parse(trial->store, box, text, back.receipt,
                                        &back.receipt_bytes));
        text[i] = was;
    }
    CHECK_OK(ops->receipt_parse(trial->store, box, text, back.receipt,
                                &back.receipt_bytes));
    CHECK(same_receipt(&letter, &back));
    CHECK_OK(acknowledge(trial, box, &back));
}

PROMISE(strict_receipts_end_with_the_lease)
{
    struct taken letter = mail_and_receive(trial, box, "a");

    advance(trial, LEASE_NS - 1);
    CHECK_OK(extend(trial, box, &letter, LBX_SECOND));
    advance(trial, LBX_SECOND);
    CHECK_STATUS(LBX_EXPIRED, acknowledge(trial, box, &letter));
    CHECK_STATUS(LBX_EXPIRED, extend(trial, box, &letter, 1));
    receive(trial, box, "a");
}

PROMISE(other_receipts_last_until_the_next)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    struct taken letter;

    options.strict = false;
    box = make_box(trial, "other", &options);
    mail_each(trial, box, "ab");
    letter = receive(trial, box, "a");
    advance(trial, 10 * LEASE_NS);
    CHECK_INT(2, count(trial, box).ready);
    CHECK_OK(acknowledge(trial, box, &letter)); // late, but not received again
    letter = receive(trial, box, "b");
    advance(trial, LEASE_NS);
    receive(trial, box, "b");
    CHECK_STATUS(LBX_EXPIRED, acknowledge(trial, box, &letter));
}

PROMISE(a_batch_is_settled_letter_by_letter)
{
    struct getting mine;
    lbx_settle_request_entry entries[4];
    lbx_settle_request request = {box, entries, 4};

    mail_each(trial, box, "abc");
    CHECK_OK(receive_some(trial, box, 3, LEASE_NS, &mine));
    CHECK_INT(3, mine.count);
    for (int i = 0; i < 4; i++)
        entries[i] = (lbx_settle_request_entry){
            .action = i == 2 ? LBX_SETTLE_NACK : LBX_SETTLE_ACKNOWLEDGE,
            .receipt = mine.letters[i == 0 ? 0 : i - 1].receipt,
            .receipt_bytes = mine.letters[0].receipt_bytes,
            .status = LBX_PENDING,
        };
    CHECK_STATUS(LBX_GONE, run(trial, LBX_CALL_SETTLE, &request));
    CHECK_OK(entries[0].status);
    CHECK_STATUS(LBX_GONE, entries[1].status); // the same once more
    CHECK_OK(entries[2].status);
    CHECK_OK(entries[3].status);
    receive(trial, box, "b");
    receive_none(trial, box);
}

PROMISE(what_is_attached_is_sent_in_the_same_step)
{
    const lbx_box replies = make_box(trial, "replies", NULL);
    lbx_sent_letter sent;
    struct taken letter = mail_and_receive(trial, box, "question");

    CHECK_OK(settle_and_send(trial, box, &letter, replies, "answer", &sent));
    CHECK_OK(sent.status);
    check_counts(trial, box, 0, 0, 0);
    letter = receive(trial, replies, "answer");
    CHECK_STR(sent.id.text, letter.id);
}

PROMISE(nothing_is_sent_with_an_old_receipt)
{
    const lbx_box replies = make_box(trial, "replies", NULL);
    struct taken letter;
    lbx_sent_letter sent;
    struct taken old = mail_and_receive(trial, box, "question");

    advance(trial, LEASE_NS);
    letter = receive(trial, box, "question");
    CHECK_STATUS(LBX_EXPIRED,
                 settle_and_send(trial, box, &old, replies, "late", &sent));
    receive_none(trial, replies);
    CHECK_OK(acknowledge(trial, box, &letter));
    CHECK_STATUS(LBX_GONE,
                 settle_and_send(trial, box, &letter, replies, "late", &sent));
    receive_none(trial, replies);
}

PROMISE(nothing_is_settled_unless_it_was_sent)
{
    lbx_box_options small = LBX_BOX_OPTIONS_INIT;
    lbx_box full;
    const lbx_box closed = make_box(trial, "closed", NULL);
    struct taken letter;
    lbx_sent_letter sent;

    small.capacity_letters = 1;
    full = make_box(trial, "full", &small);
    mail(trial, full, "there");
    CHECK_OK(delete_box(trial, closed));
    letter = mail_and_receive(trial, box, "question");
    CHECK_STATUS(LBX_FULL,
                 settle_and_send(trial, box, &letter, full, "no", &sent));
    CHECK_STATUS(LBX_CLOSED,
                 settle_and_send(trial, box, &letter, closed, "no", &sent));
    check_counts(trial, box, 0, 1, 0);
    CHECK_OK(acknowledge(trial, box, &letter));
}

PROMISE(undo_takes_a_delivery_back)
{
    struct taken first;
    struct taken again;

    mail_each(trial, box, "ab");
    first = receive(trial, box, "a");
    CHECK_OK(undo(trial, box, &first));
    check_counts(trial, box, 2, 0, 0);
    CHECK_STATUS(LBX_EXPIRED, acknowledge(trial, box, &first));
    if (!trial->store->ops->undo)
        return; // then it is a nack: another position and count
    again = receive(trial, box, "a");
    CHECK_INT(1, again.delivery_count);
    CHECK_OK(acknowledge(trial, box, &again));
}

PROMISE(the_delivery_count_grows_by_one)
{
    mail(trial, box, "a");
    for (uint32_t i = 1; i <= 6; i++) {
        struct taken letter = receive(trial, box, "a");

        CHECK_INT(i, letter.delivery_count);
        if (i % 2)
            advance(trial, LEASE_NS);
        else
            CHECK_OK(nack(trial, box, &letter, 0));
    }
}
