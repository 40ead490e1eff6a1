/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settle: acknowledge, nack or extend a letter by its receipt; and undo of a
 * delivery. A lease is extended here, in settle_put_back().
 *
 * RSETTLE-1  Only the receipt of a letter's latest delivery changes anything;
 *            with LBX_SETTLE_ANY_DELIVERY, in a box that is not strict, that of
 *            any delivery does.
 * RSETTLE-2  Other receipts are told apart: INVALID when it is of another box,
 *            from
 *           before a purge, or was never made; GONE when the letter, or its
 *           box, was removed; EXPIRED when it is of an earlier delivery, of an
 *           earlier era, or, in strict boxes, of a lease that is over.
 * RSETTLE-3  A lease, with all its extensions, is no longer than max_lease_ns
 *            from
 *           the receive on; more is INVALID, and the lease stays as it was.
 * RSETTLE-4  What is attached is sent only if the receipt is current, and the
 *           letter is settled only if all of it was sent.
 *
 * Threads    one at a time, as the storage.
 */
#include "post/rules/internal.h"
#include "post/rules/receipt.h"

#include <string.h>

/* ---- Receipts ---- */

static lbx_status
settle_judge(const lbx__rules *rules, const lbx__box_record *box,
             const lbx__receipt *receipt, const lbx__state *state,
             uint32_t flags)
{
    if (receipt->era != rules->era)
        return receipt->era < rules->era ? LBX_EXPIRED : LBX_INVALID;
    if (receipt->epoch == 0 || receipt->epoch > state->epoch)
        return LBX_INVALID; // it was never made
    if (receipt->epoch < state->epoch &&
        (box->facts->options.strict || !(flags & LBX_SETTLE_ANY_DELIVERY)))
        return LBX_EXPIRED; // RSETTLE-1
    if (box->facts->options.strict &&
        (state->kind != LBX__IS_LEASED || state->due <= rules->now))
        return LBX_EXPIRED;
    return LBX_OK;
}

static bool
settle_is_receipt(const lbx_settle_request_entry *entry)
{
    return entry->receipt && entry->receipt_bytes == LBX__RECEIPT_PACKED;
}

/* The letter of a receipt: OK; INVALID, GONE, EXPIRED; CORRUPT; IO. */
static lbx_status
settle_find(lbx__rules *rules, const lbx__box_record *box,
            const lbx_settle_request_entry *entry, lbx__letter_record *ret)
{
    lbx__receipt receipt;
    lbx_status status;

    if (!settle_is_receipt(entry))
        return LBX_INVALID;
    receipt = lbx__receipt_unpack(entry->receipt);
    if (receipt.box != box->row_id || receipt.sequence >= box->next)
        return LBX_INVALID; // RSETTLE-2
    status = lbx__letter_record_get(rules, box, receipt.sequence, ret);
    if (status == LBX_NOT_FOUND)
        return LBX_GONE;
    return status == LBX_OK
               ? settle_judge(rules, box, &receipt, &ret->state, entry->flags)
               : status;
}

/* ---- What is attached ---- */

struct attached {
    lbx__sending sendings[LBX_MAX_ATTACHMENTS];
    size_t count;
};

static lbx_status
settle_prepare_attached(lbx__rules *rules,
                        const lbx_settle_request_entry *entry,
                        struct attached *ret, lbx__need *need)
{
    lbx_status status = LBX_OK;

    assert(entry->attachment_count <= LBX_MAX_ATTACHMENTS);
    lbx__buffer_reset(&rules->encoded);
    for (size_t i = 0; i < entry->attachment_count; i++)
        memset(entry->attachments[i].sent, 0, sizeof(lbx_sent_letter));
    for (size_t i = 0; i < entry->attachment_count && status == LBX_OK; i++) {
        const lbx_attachment *attachment = &entry->attachments[i];
        uint64_t pending = 0;
        lbx__box_record *box;

        status = lbx__box_record_open(rules, attachment->box, &box);
        if (status != LBX_OK)
            break;
        for (size_t j = 0; j < i; j++)
            pending += ret->sendings[j].box == box && !ret->sendings[j].seen;
        ret->sendings[i] = (lbx__sending){.box = box, .sent = attachment->sent};
        status = lbx__send_prepare(rules, &ret->sendings[i], attachment->parcel,
                                   pending, need);
        ret->count++;
    }
    return status;
}

/* Nothing that is attached is sent, for this reason. */
static lbx_status
settle_refuse_attached(const lbx_settle_request_entry *entry, lbx_status status)
{
    for (size_t i = 0; i < entry->attachment_count; i++)
        *entry->attachments[i].sent = (lbx_sent_letter){.status = status};
    return status;
}

/* ---- The letter ---- */

static void
settle_remove(lbx__rules *rules, lbx__box_record *box,
              lbx__letter_record *letter)
{
    const bool fifo = box->facts->options.fifo;

    if (fifo)
        lbx__group_leave(rules, box, letter);
    lbx__letter_record_remove(rules, box, letter);
    if (fifo)
        lbx__group_requeue(rules, box, letter, LBX__GROUP_LAST, 0);
    // One letter less is leased: a receive that was FULL may succeed.
    lbx__box_record_note_change(rules, box->uid, rules->now);
}

/* Makes a letter ready, delayed, or leased for longer. */
static void
settle_put_back(lbx__rules *rules, lbx__box_record *box,
                lbx__letter_record *letter, lbx__letter_kind kind,
                int64_t time_ns)
{
    const lbx_box_options *options = &box->facts->options;
    lbx__state to = letter->state;

    to.due = lbx__time_add(rules->now, time_ns);
    to.ticket = box->next++;
    to.kind = kind;
    if (kind != LBX__IS_LEASED && time_ns == 0)
        to.kind = LBX__IS_READY;
    if (to.kind == LBX__IS_READY && options->keep_position && !options->fifo) {
        to.due = to.claimed_due;
        to.ticket = to.claimed_ticket;
    }
    lbx__letter_record_change(rules, box, letter, &to);
    if (options->fifo)
        lbx__group_requeue(rules, box, letter, LBX__GROUP_LAST, 0);
    lbx__box_record_note_change(rules, box->uid,
                                lbx__time_add(rules->now, time_ns));
}

/* Checks the time against the box's limits (RSETTLE-3). */
static lbx_status
settle_check_time(const lbx__rules *rules, const lbx__box_record *box,
                  const lbx_settle_request_entry *entry,
                  const lbx__state *state)
{
    const int64_t max = box->facts->options.limits.max_lease_ns;

    switch (entry->action) {
    case LBX_SETTLE_ACKNOWLEDGE:
        return LBX_OK;
    case LBX_SETTLE_NACK:
        return entry->time_ns >= 0 && entry->time_ns <= max ? LBX_OK
                                                            : LBX_INVALID;
    case LBX_SETTLE_EXTEND:
        if (entry->time_ns < 0 || (max != LBX_UNLIMITED &&
                                   lbx__time_add(rules->now, entry->time_ns) >
                                       lbx__time_add(state->received_ns, max)))
            return LBX_INVALID;
        return LBX_OK;
    }
    return LBX_INVALID;
}

static lbx_status
settle_one_entry(lbx__rules *rules, lbx__box_record *box,
                 const lbx_settle_request_entry *entry)
{
    struct attached attached;
    lbx__need need;
    lbx__letter_record letter;
    lbx_status status = lbx__sweep_age(rules, box);

    attached.count = 0; // not the whole structs: both are large
    need.count = 0;
    if (status == LBX_OK)
        status = settle_find(rules, box, entry, &letter);
    if (status == LBX_OK)
        status = settle_check_time(rules, box, entry, &letter.state);
    if (status == LBX_OK)
        status = settle_prepare_attached(rules, entry, &attached, &need);
    if (status != LBX_OK)
        return settle_refuse_attached(entry, status);
    if (entry->action == LBX_SETTLE_ACKNOWLEDGE)
        lbx__letter_record_need_remove(&need, box, &letter);
    else
        lbx__letter_record_need_change(&need, box, &letter);
    if (box->facts->options.fifo)
        lbx__group_need_requeue(&need);
    status =
        lbx__storage_reserve(rules->storage, need.sizes, need.count,
                             attached.count > 0 ? LBX__GROWS : LBX__SHRINKS);
    if (status != LBX_OK)
        return settle_refuse_attached(entry, status);
    if (entry->action == LBX_SETTLE_ACKNOWLEDGE)
        settle_remove(rules, box, &letter);
    else
        settle_put_back(rules, box, &letter,
                        entry->action == LBX_SETTLE_NACK ? LBX__IS_DELAYED
                                                         : LBX__IS_LEASED,
                        entry->time_ns);
    for (size_t i = 0; i < attached.count; i++)
        lbx__send_write(rules, &attached.sendings[i]);
    return LBX_OK;
}

/* Makes the letter ready again where it was, with the delivery count it had.
 * The epoch still grows, so that the receipt stays invalid. */
static lbx_status
settle_undo_entry(lbx__rules *rules, lbx__box_record *box,
                  const lbx_settle_request_entry *entry)
{
    lbx__need need = {.count = 0};
    lbx__letter_record letter;
    lbx__state to;
    lbx_status status = lbx__sweep_age(rules, box);

    if (status == LBX_OK)
        status = settle_find(rules, box, entry, &letter);
    if (status != LBX_OK)
        return status;
    lbx__letter_record_need_change(&need, box, &letter);
    if (box->facts->options.fifo)
        lbx__group_need_requeue(&need);
    status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                  LBX__SHRINKS);
    if (status != LBX_OK)
        return status;
    to = letter.state;
    to.kind = LBX__IS_READY;
    to.epoch++;
    to.deliveries--;
    to.due = to.claimed_due;
    to.ticket = to.claimed_ticket;
    if (to.deliveries == 0)
        to.first_ms = 0;
    lbx__letter_record_change(rules, box, &letter, &to);
    if (box->facts->options.fifo)
        lbx__group_requeue(rules, box, &letter, LBX__GROUP_RESTORED, 0);
    lbx__box_record_note_change(rules, box->uid, rules->now);
    return LBX_OK;
}

/* ---- The rules ---- */

typedef lbx_status settle_entry_fn(lbx__rules *rules, lbx__box_record *box,
                                   const lbx_settle_request_entry *entry);

static lbx_status
settle_each(lbx__rules *rules, lbx_settle_request *request,
            settle_entry_fn *run)
{
    lbx_status first = LBX_OK, opened;
    lbx__box_record *box;

    assert(request->count >= 1 && request->count <= LBX_MAX_BATCH);
    lbx__rules_start(rules);
    opened = lbx__box_record_open(rules, request->box, &box);
    for (size_t i = 0; i < request->count; i++) {
        lbx_settle_request_entry *entry = &request->entries[i];

        if (opened == LBX_CLOSED) // RSETTLE-2: its letters were removed with it
            entry->status = settle_is_receipt(entry) ? LBX_GONE : LBX_INVALID;
        else
            entry->status = opened == LBX_OK ? run(rules, box, entry) : opened;
        if (first == LBX_OK)
            first = entry->status;
    }
    return lbx__box_record_close_all(rules, first);
}

lbx_status
lbx__settle_apply(lbx__rules *rules, lbx_settle_request *request)
{
    return settle_each(rules, request, settle_one_entry);
}

lbx_status
lbx__settle_undo(lbx__rules *rules, lbx_settle_request *request)
{
    return settle_each(rules, request, settle_undo_entry);
}
