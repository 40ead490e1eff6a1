/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receiving: claims and leases, and looking without taking.
 *
 * In a plain box two queues are merged by (due, turn): letters that were never
 * leased, which are found by their sequence from `fresh` on, and those that came
 * back, which have rows in ready.
 *
 * C1  Claim and lease are one step; the letter is handed over between deciding
 *     and writing, so that one that cannot be is as it was.
 * C2  A letter is claimed only when due <= now.
 * C3  A letter whose rows do not check is stepped over. When there is no other, the
 *     answer is CORRUPT: never that there is nothing.
 */
#include "codec/uuid.h"
#include "post/rules/internal.h"
#include "post/rules/receipt.h"

#include <string.h>

/* ---- Handing over ---- */

lbx_status
lbx__receive_deliver(lbx__rules *rules, const lbx__box_record *head,
                     lbx__letter_record *letter, const lbx__state *state,
                     const lbx__sink *sink, bool receipt)
{
    const lbx__receipt numbers = {
        .box = head->box,
        .sequence = letter->sequence,
        .epoch = state->epoch,
        .era = rules->era,
    };
    uint8_t packed[LBX__RECEIPT_PACKED];
    lbx_delivery delivery;
    lbx_status status = lbx__letter_record_decode(rules, letter);

    if (status != LBX_OK)
        return status;
    lbx__receipt_pack(&numbers, packed);
    delivery = (lbx_delivery){
        .parcel = letter->body.parcel,
        .receipt = receipt ? packed : NULL,
        .receipt_bytes = receipt ? sizeof(packed) : 0,
        .sequence = letter->sequence,
        .delivery_count = state->deliveries,
        .sent_ms = letter->body.sent_ms,
        .first_received_ms = state->first_ms,
        .dead_letter_source = letter->body.source,
    };
    lbx__uuid_format(letter->body.id, delivery.id.text);
    return sink->deliver(sink->context, &delivery);
}

/* ---- Claiming ---- */

static void
note_claim(lbx__claim *claim, const lbx__letter_record *letter)
{
    claim->got[claim->count].sequence = letter->sequence;
    claim->got[claim->count].turn = letter->state.turn;
    claim->got[claim->count].epoch = letter->state.epoch;
    claim->count++;
}

lbx_status
lbx__receive_claim(lbx__rules *rules, lbx__claim *claim,
                   lbx__letter_record *letter)
{
    lbx__box_record *head = claim->head, *dead;
    const lbx_box_options *options = &head->facts->options;
    lbx__state to = letter->state;
    lbx__need need;
    lbx_status status = lbx__dead_letter_target(rules, head, letter, &dead);

    need.count = 0; // and no more: it is large
    if (status != LBX_OK)
        return status;
    if (dead)
        return lbx__dead_letter_move(rules, head, letter, dead);
    if (head->leased >= (uint64_t)options->limits.max_leased)
        return LBX_FULL;
    lbx__letter_record_need_change(&need, &letter->state);
    if (options->fifo)
        lbx__group_need_requeue(&need);
    status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                  LBX__SHRINKS);
    if (status != LBX_OK)
        return status;
    to.kind = LBX__IS_LEASED;
    to.epoch++;
    to.deliveries++;
    to.place_due = options->fifo ? claim->place_due : to.due;
    to.place_turn = options->fifo ? claim->place_turn : to.turn;
    to.due = lbx__later(rules->now, claim->request->lease_ns);
    to.turn = head->next;
    to.received_ns = rules->now;
    if (to.deliveries == 1)
        to.first_ms = lbx__rules_wall(rules);
    status = lbx__receive_deliver(rules, head, letter, &to, claim->sink, true);
    if (status != LBX_OK)
        return status;
    head->next++;
    if (letter->sequence == head->fresh)
        head->fresh++;
    lbx__letter_record_change(rules, head, letter, &to);
    note_claim(claim, letter);
    return LBX_OK;
}

/*
 * The first letter that was never leased nor delayed, and is intact (C3). One that
 * is damaged holds `fresh`, as it is in the store; how far this process has come
 * behind it is in `passed`.
 */
static lbx_status
next_fresh(lbx__rules *rules, lbx__box_record *head, lbx__letter_record *ret)
{
    lbx__passed *passed = &rules->passed[head->box % LBX__PASSED_KEPT];
    bool held = passed->box == head->box && passed->from <= head->fresh &&
                head->fresh <= passed->next;
    const uint64_t first = held ? passed->from : head->fresh;
    uint64_t from = held ? passed->next : first;
    uint32_t steps = 0;
    lbx_status status;

    for (;;) {
        status = lbx__letter_record_seek(rules, head, from, ret);
        if (status != LBX_OK && !(status == LBX_CORRUPT && ret->damaged))
            break;
        if (!ret->state.stored &&
            (status == LBX_OK || !lbx__letter_record_skip(status, ret, &steps)))
            break;
        if (!held)
            head->fresh = ret->sequence + ret->state.stored; // H3
        held |= !ret->state.stored;
        from = ret->sequence + 1;
    }
    if (status == LBX_NOT_FOUND)
        from = head->next;
    else if (status == LBX_OK)
        from = ret->sequence;
    if (held)
        *passed = (lbx__passed){head->box, first, from};
    else if (status == LBX_OK || status == LBX_NOT_FOUND)
        head->fresh = from;
    rules->damaged |= held;
    return status;
}

/* Nothing was found: so there must be nothing (H1). A damaged page can hide rows
 * without a word. */
static lbx_status
none_ready(const lbx__box_record *head)
{
    return head->letters > head->leased + head->delayed ? LBX_CORRUPT
                                                        : LBX_NOT_FOUND;
}

/* The letter that a row of ready stands for. One that does not fit its row is
 * damaged (H4). */
static lbx_status
get_ready(lbx__rules *rules, const lbx__box_record *head, lbx__bytes at,
          lbx__bytes value, lbx__letter_record *ret)
{
    lbx_status status = lbx__letter_record_get(
        rules, head, value.size == 8 ? lbx__get_le64(value.data) : 0, ret);

    if (status == LBX_NOT_FOUND ||
        (status == LBX_OK &&
         (!ret->state.stored || ret->state.kind != LBX__IS_READY ||
          (uint64_t)ret->state.due != lbx__key_number(at, 1) ||
          ret->state.turn != lbx__key_number(at, 2)))) {
        ret->damaged = true;
        status = LBX_CORRUPT;
    }
    return status;
}

/* Whether a fresh letter is before a row of ready. */
static bool
is_before(const lbx__letter_record *fresh, lbx__bytes at)
{
    const uint64_t due = lbx__key_number(at, 1);
    const uint64_t sent = (uint64_t)fresh->body.sent_ns;

    return sent < due ||
           (sent == due && fresh->sequence < lbx__key_number(at, 2));
}

lbx_status
lbx__receive_next(lbx__rules *rules, lbx__box_record *head,
                  lbx__letter_record *ret)
{
    lbx__key from = lbx__key_3(head->box, 0, 0);
    lbx__bytes at, value;
    uint32_t steps = 0;

    for (;;) {
        lbx_status fresh, status = lbx__row_seek(rules->storage, LBX__READY,
                                                 &from, 8, &at, &value);

        if (status == LBX_NOT_FOUND) {
            fresh = next_fresh(rules, head, ret);
            return fresh == LBX_NOT_FOUND ? none_ready(head) : fresh;
        }
        ret->damaged = lbx__row_damaged(status, value);
        if (status == LBX_OK) {
            fresh = next_fresh(rules, head, ret);
            if (fresh != LBX_NOT_FOUND &&
                (fresh != LBX_OK || is_before(ret, at)))
                return fresh;
            status = get_ready(rules, head, at, value, ret);
        }
        if (!lbx__letter_record_skip(status, ret, &steps)) // C3
            return status;
        rules->damaged = true;
        from = lbx__key_3(head->box, lbx__key_number(at, 1),
                          lbx__key_number(at, 2) + 1);
    }
}

static lbx_status
claim_plain(lbx__rules *rules, lbx__claim *claim)
{
    lbx__letter_record letter;
    lbx_status status = LBX_OK;

    if (claim->head->leased >=
        (uint64_t)claim->head->facts->options.limits.max_leased)
        return LBX_FULL;
    while (status == LBX_OK && claim->count < claim->most) {
        status = lbx__receive_next(rules, claim->head, &letter);
        if (status == LBX_OK && letter.state.turn >= claim->turns_end)
            status = LBX_NOT_FOUND; // L4, or leased by us for no time at all
        if (status == LBX_OK)
            status = lbx__receive_claim(rules, claim, &letter);
    }
    return status;
}

/* The same of a fifo box: when no letter is leased or delayed, every group can be
 * served, but for those that this claim has put to the end (L4). */
static bool
hides_groups(const lbx__claim *claim)
{
    const lbx__box_record *head = claim->head;

    return head->facts->options.fifo && claim->count == 0 &&
           head->letters > 0 && head->leased + head->delayed == 0 &&
           head->next == claim->turns_end;
}

lbx_status
lbx__receive_apply(lbx__rules *rules, const lbx_receive_request *request,
                   uint32_t before, const lbx__sink *sink, uint32_t *ret_count)
{
    lbx__claim claim = {.request = request, .sink = sink};
    lbx_status status;

    assert(request->max_letters >= 1 && request->max_letters <= LBX_MAX_BATCH &&
           before < request->max_letters && request->lease_ns >= 0);
    *ret_count = 0;
    lbx__rules_start(rules);
    status = lbx__box_record_open(rules, request->box, &claim.head);
    if (status == LBX_OK)
        status = lbx__sweep(rules, claim.head);
    if (status != LBX_OK)
        return lbx__box_record_close_all(rules, status);
    claim.most = request->max_letters - before;
    claim.turns_end = claim.head->next;
    if (!claim.head->facts->options.fifo)
        status = claim_plain(rules, &claim);
    else if (request->attempt_id && before == 0)
        status = lbx__attempt_receive(rules, &claim);
    else
        status = lbx__group_receive(rules, &claim);
    if (status == LBX_NOT_FOUND && (rules->damaged || hides_groups(&claim)))
        status = LBX_CORRUPT; // C3
    *ret_count = claim.count;
    if (claim.count > 0)
        status = LBX_OK;
    else if (status == LBX_OK || status == LBX_NOT_FOUND)
        status = LBX_EMPTY;
    return lbx__box_record_close_all(rules, status);
}

/* ---- Looking ---- */

/* When the next lease or delay is over; NOT_FOUND. */
static lbx_status
next_wait(lbx__rules *rules, const lbx__box_record *head, int64_t *ret)
{
    const lbx__key from = lbx__key_3(head->box, 0, 0);
    lbx__bytes at, value;
    lbx_status status =
        lbx__row_seek(rules->storage, LBX__WAITS, &from, 8, &at, &value);

    if (status == LBX_OK)
        *ret = (int64_t)lbx__key_number(at, 1);
    return status;
}

lbx_status
lbx__receive_next_due(lbx__rules *rules, lbx_box box, int64_t *ret_due_ns)
{
    lbx__box_record *head;
    lbx__letter_record letter;
    int64_t due = LBX_FOREVER;
    lbx_status status;

    lbx__rules_start(rules);
    status = lbx__box_record_open(rules, box, &head);
    if (status == LBX_OK)
        status = lbx__sweep(rules, head);
    if (status != LBX_OK)
        return lbx__box_record_close_all(rules, status);
    if (head->leased >= (uint64_t)head->facts->options.limits.max_leased)
        status = next_wait(rules, head, &due);
    else if (head->facts->options.fifo)
        status = lbx__group_next_due(rules, head, &due);
    else {
        status = lbx__receive_next(rules, head, &letter);
        if (status == LBX_OK)
            due = rules->now;
        else if (status == LBX_NOT_FOUND)
            status = next_wait(rules, head, &due);
    }
    if (status == LBX_OK || status == LBX_NOT_FOUND) {
        *ret_due_ns = due;
        status = LBX_OK;
    }
    return lbx__box_record_close_all(rules, status);
}

lbx_status
lbx__receive_peek(lbx__rules *rules, const lbx_peek_request *request,
                  const lbx__sink *sink)
{
    uint64_t from = request->from;
    uint32_t shown = 0, steps = 0;
    lbx__letter_record letter;
    lbx__box_record *head;
    lbx_status status;

    lbx__rules_start(rules);
    status = lbx__box_record_open(rules, request->box, &head);
    if (status == LBX_OK)
        status = lbx__sweep_age(rules, head);
    while (shown < request->max_letters && status == LBX_OK) {
        bool damaged;

        status = lbx__letter_record_seek(rules, head, from, &letter);
        damaged = lbx__letter_record_skip(status, &letter, &steps);
        if (status == LBX_OK)
            status = lbx__receive_deliver(rules, head, &letter, &letter.state,
                                          sink, false);
        shown += status == LBX_OK;
        if (damaged)
            status = LBX_OK;
        if (status == LBX_OK)
            from = letter.sequence + 1;
    }
    if (status == LBX_NOT_FOUND)
        status = steps > 0 && shown == 0 ? LBX_CORRUPT : LBX_OK; // C3
    else if (status == LBX_CORRUPT && steps > 0 && shown > 0)
        status = LBX_OK; // more than may be stepped over: from there, next time
    return lbx__box_record_close_all(rules, status);
}
