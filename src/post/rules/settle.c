/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settling: acknowledge, nack, extend, by receipt; and undo.
 *
 * R1  Only the receipt of a letter's latest delivery changes anything.
 * R2  One that is not is told apart: of another box, of before a purge, or never
 *     made (INVALID); of a letter that is gone, by itself or with its box (GONE);
 *     of an earlier delivery, an earlier era, and in strict boxes of a lease that
 *     is over (EXPIRED).
 * R5  A lease, with all its extensions, is no longer than max_lease_ns from the
 *     receive on; more is INVALID, and the lease is as it was.
 * T1  Nothing that is attached is sent unless the receipt is current, and nothing
 *     is settled unless all of it was sent.
 */
#include "post/rules/internal.h"
#include "post/rules/receipt.h"

#include <string.h>

/* ---- Receipts ---- */

static lbx_status
judge(const lbx__rules *rules, const lbx__box_record *head,
      const lbx__receipt *receipt, const lbx__state *state)
{
    if (receipt->era != rules->era)
        return receipt->era < rules->era ? LBX_EXPIRED : LBX_INVALID;
    if (receipt->epoch == 0 || receipt->epoch > state->epoch)
        return LBX_INVALID; // nobody made it
    if (receipt->epoch < state->epoch)
        return LBX_EXPIRED;
    if (head->facts->options.strict &&
        (state->kind != LBX__IS_LEASED || state->due <= rules->now))
        return LBX_EXPIRED;
    return LBX_OK;
}

static bool
is_receipt(const lbx_settle_request_entry *entry)
{
    return entry->receipt && entry->receipt_bytes == LBX__RECEIPT_PACKED;
}

/* The letter of a receipt: OK; INVALID, GONE, EXPIRED; CORRUPT; IO. */
static lbx_status
find(lbx__rules *rules, const lbx__box_record *head,
     const lbx_settle_request_entry *entry, lbx__letter_record *ret)
{
    lbx__receipt receipt;
    lbx_status status;

    if (!is_receipt(entry))
        return LBX_INVALID;
    receipt = lbx__receipt_unpack(entry->receipt);
    if (receipt.box != head->box || receipt.sequence >= head->next)
        return LBX_INVALID; // R4
    status = lbx__letter_record_get(rules, head, receipt.sequence, ret);
    if (status == LBX_NOT_FOUND)
        return LBX_GONE;
    return status == LBX_OK ? judge(rules, head, &receipt, &ret->state)
                            : status;
}

/* ---- What is attached ---- */

struct attached {
    lbx__sending postings[LBX_MAX_ATTACHMENTS];
    size_t count;
};

static lbx_status
prepare_attached(lbx__rules *rules, const lbx_settle_request_entry *entry,
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
        lbx__box_record *head;

        status = lbx__box_record_open(rules, attachment->box, &head);
        if (status != LBX_OK)
            break;
        for (size_t j = 0; j < i; j++)
            pending += ret->postings[j].head == head && !ret->postings[j].seen;
        ret->postings[i] =
            (lbx__sending){.head = head, .sent = attachment->sent};
        status = lbx__send_prepare(rules, &ret->postings[i], attachment->parcel,
                                   pending, need);
        ret->count++;
    }
    return status;
}

/* None of it is sent, for this reason. */
static lbx_status
refuse_attached(const lbx_settle_request_entry *entry, lbx_status status)
{
    for (size_t i = 0; i < entry->attachment_count; i++)
        *entry->attachments[i].sent = (lbx_sent_letter){.status = status};
    return status;
}

/* ---- The letter ---- */

static void
take_out(lbx__rules *rules, lbx__box_record *head, lbx__letter_record *letter)
{
    const bool fifo = head->facts->options.fifo;

    if (fifo)
        lbx__group_leave(rules, head, letter);
    lbx__letter_record_remove(rules, head, letter);
    if (fifo)
        lbx__group_requeue(rules, head, letter, LBX__GROUP_LAST, 0);
    // In any box it may make room among the leased.
    lbx__tell_ready(rules, head, rules->now);
}

/* Back, or further on: by a state that differs in kind and due. */
static void
put_back(lbx__rules *rules, lbx__box_record *head, lbx__letter_record *letter,
         lbx__kind kind, int64_t time_ns)
{
    const lbx_box_options *options = &head->facts->options;
    lbx__state to = letter->state;

    to.due = lbx__later(rules->now, time_ns);
    to.turn = head->next++;
    to.kind = kind;
    if (kind != LBX__IS_LEASED && time_ns == 0)
        to.kind = LBX__IS_READY;
    if (to.kind == LBX__IS_READY && options->keep_position && !options->fifo) {
        to.due = to.place_due;
        to.turn = to.place_turn;
    }
    lbx__letter_record_change(rules, head, letter, &to);
    if (options->fifo)
        lbx__group_requeue(rules, head, letter, LBX__GROUP_LAST, 0);
    lbx__tell_ready(rules, head, lbx__later(rules->now, time_ns));
}

/* Whether times are within the box's limits (R5). */
static lbx_status
check_time(const lbx__rules *rules, const lbx__box_record *head,
           const lbx_settle_request_entry *entry, const lbx__state *state)
{
    const int64_t most = head->facts->options.limits.max_lease_ns;

    switch (entry->action) {
    case LBX_SETTLE_ACKNOWLEDGE:
        return LBX_OK;
    case LBX_SETTLE_NACK:
        return entry->time_ns >= 0 && entry->time_ns <= most ? LBX_OK
                                                             : LBX_INVALID;
    case LBX_SETTLE_EXTEND:
        if (entry->time_ns < 0 ||
            (most != LBX_UNLIMITED && lbx__later(rules->now, entry->time_ns) >
                                          lbx__later(state->received_ns, most)))
            return LBX_INVALID;
        return LBX_OK;
    }
    return LBX_INVALID;
}

static lbx_status
settle_one(lbx__rules *rules, lbx__box_record *head,
           const lbx_settle_request_entry *entry)
{
    struct attached attached;
    lbx__need need;
    lbx__letter_record letter;
    lbx_status status = lbx__sweep_age(rules, head);

    attached.count = 0; // and no more: both are large
    need.count = 0;
    if (status == LBX_OK)
        status = find(rules, head, entry, &letter);
    if (status == LBX_OK)
        status = check_time(rules, head, entry, &letter.state);
    if (status == LBX_OK)
        status = prepare_attached(rules, entry, &attached, &need);
    if (status != LBX_OK)
        return refuse_attached(entry, status);
    if (entry->action != LBX_SETTLE_ACKNOWLEDGE)
        lbx__letter_record_need_change(&need, &letter.state);
    if (head->facts->options.fifo)
        lbx__group_need_requeue(&need);
    status =
        lbx__storage_reserve(rules->storage, need.sizes, need.count,
                             attached.count > 0 ? LBX__GROWS : LBX__SHRINKS);
    if (status != LBX_OK)
        return refuse_attached(entry, status);
    if (entry->action == LBX_SETTLE_ACKNOWLEDGE)
        take_out(rules, head, &letter);
    else
        put_back(rules, head, &letter,
                 entry->action == LBX_SETTLE_NACK ? LBX__IS_DELAYED
                                                  : LBX__IS_LEASED,
                 entry->time_ns);
    for (size_t i = 0; i < attached.count; i++)
        lbx__send_write(rules, &attached.postings[i]);
    return LBX_OK;
}

/* The letter is ready again where it was, and its count is what it was; the
 * receipt stays used: the epoch goes on. */
static lbx_status
undo_one(lbx__rules *rules, lbx__box_record *head,
         const lbx_settle_request_entry *entry)
{
    lbx__need need = {.count = 0};
    lbx__letter_record letter;
    lbx__state to;
    lbx_status status = lbx__sweep_age(rules, head);

    if (status == LBX_OK)
        status = find(rules, head, entry, &letter);
    if (status != LBX_OK)
        return status;
    lbx__letter_record_need_change(&need, &letter.state);
    if (head->facts->options.fifo)
        lbx__group_need_requeue(&need);
    status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                  LBX__SHRINKS);
    if (status != LBX_OK)
        return status;
    to = letter.state;
    to.kind = LBX__IS_READY;
    to.epoch++;
    to.deliveries--;
    to.due = to.place_due;
    to.turn = to.place_turn;
    if (to.deliveries == 0)
        to.first_ms = 0;
    lbx__letter_record_change(rules, head, &letter, &to);
    if (head->facts->options.fifo)
        lbx__group_requeue(rules, head, &letter, LBX__GROUP_RESTORED, 0);
    lbx__tell_ready(rules, head, rules->now);
    return LBX_OK;
}

/* ---- The verbs ---- */

typedef lbx_status one(lbx__rules *rules, lbx__box_record *head,
                       const lbx_settle_request_entry *entry);

static lbx_status
each_entry(lbx__rules *rules, lbx_settle_request *request, one *run)
{
    lbx_status first = LBX_OK, opened;
    lbx__box_record *head;

    assert(request->count >= 1 && request->count <= LBX_MAX_BATCH);
    lbx__rules_start(rules);
    opened = lbx__box_record_open(rules, request->box, &head);
    for (size_t i = 0; i < request->count; i++) {
        lbx_settle_request_entry *entry = &request->entries[i];

        if (opened == LBX_CLOSED) // S2: its letters went with it
            entry->status = is_receipt(entry) ? LBX_GONE : LBX_INVALID;
        else
            entry->status = opened == LBX_OK ? run(rules, head, entry) : opened;
        if (first == LBX_OK)
            first = entry->status;
    }
    return lbx__box_record_close_all(rules, first);
}

lbx_status
lbx__settle_apply(lbx__rules *rules, lbx_settle_request *request)
{
    return each_entry(rules, request, settle_one);
}

lbx_status
lbx__settle_undo(lbx__rules *rules, lbx_settle_request *request)
{
    return each_entry(rules, request, undo_one);
}
