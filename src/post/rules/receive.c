/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receive: claims, leases and delivers letters; peek, and when the next letter
 * will be due.
 *
 * In a plain box three queues are merged by (due, ticket): letters that were
 * never leased, which are found by their sequence from `fresh` on; letters that
 * came back, which have rows in ready; and tenants, of whose letters fair.c
 * finds the next.
 *
 * RECV-1  Claim and lease are one step. The letter is delivered between
 *         deciding and writing, so that one that cannot be delivered stays as
 *         it was.
 * RECV-2  A letter is claimed only when due <= now.
 * RECV-3  Damaged letters are skipped. When there is no intact one, the result
 *         is CORRUPT, never EMPTY (RULES-6).
 *
 * Threads    one at a time, as the storage.
 */
#include "codec/uuid.h"
#include "post/rules/internal.h"
#include "post/rules/receipt.h"

#include <string.h>

/* ---- Delivering ---- */

lbx_status
lbx__receive_deliver(lbx__rules *rules, const lbx__box_record *box,
                     lbx__letter_record *letter, const lbx__state *state,
                     const lbx__sink *sink, bool receipt)
{
    const lbx__receipt numbers = {
        .box = box->row_id,
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
        .state = lbx__letter_record_shown(state, rules->now),
    };
    lbx__uuid_format(letter->body.id, delivery.id.text);
    return sink->deliver(sink->context, &delivery);
}

/* ---- Claiming ---- */

static void
receive_note_claim(lbx__claim *claim, const lbx__letter_record *letter)
{
    claim->got[claim->count].sequence = letter->sequence;
    claim->got[claim->count].ticket = letter->state.ticket;
    claim->got[claim->count].epoch = letter->state.epoch;
    claim->count++;
}

lbx_status
lbx__receive_claim(lbx__rules *rules, lbx__claim *claim,
                   lbx__letter_record *letter)
{
    lbx__box_record *box = claim->box, *dead = NULL;
    const lbx_box_options *options = &box->facts->options;
    lbx__state to = letter->state;
    lbx__need need;
    lbx_status status = LBX_OK;

    need.count = 0; // not the whole struct: it is large
    if (lbx__dead_letter_is_due(box, &letter->state))
        status = lbx__dead_letter_target(rules, box, letter, &dead);
    if (status != LBX_OK)
        return status;
    if (dead)
        return lbx__dead_letter_move(rules, box, letter, dead);
    if (box->leased >= (uint64_t)options->limits.max_leased)
        return LBX_FULL;
    lbx__letter_record_need_change(&need, box, letter);
    if (options->fifo)
        lbx__group_need_requeue(&need);
    status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                  LBX__SHRINKS);
    if (status != LBX_OK)
        return status;
    to.kind = LBX__IS_LEASED;
    to.epoch++;
    to.deliveries++;
    to.claimed_due = options->fifo ? claim->claimed_due : to.due;
    to.claimed_ticket = options->fifo ? claim->claimed_ticket : to.ticket;
    to.due = lbx__time_add(rules->now, claim->request->lease_ns);
    to.ticket = box->next;
    to.received_ns = rules->now;
    if (to.deliveries == 1)
        to.first_ms = lbx__rules_wall(rules);
    status = lbx__receive_deliver(rules, box, letter, &to, claim->sink, true);
    if (status != LBX_OK)
        return status;
    box->next++;
    if (letter->sequence == box->fresh)
        box->fresh++;
    lbx__letter_record_change(rules, box, letter, &to);
    receive_note_claim(claim, letter);
    return LBX_OK;
}

/*
 * The first intact letter that has no state (RECV-3). A damaged
 * one holds `fresh`, which is stored; how far this process has searched after
 * it is in `passed`.
 */
static lbx_status
receive_next_fresh(lbx__rules *rules, lbx__box_record *box,
                   lbx__letter_record *ret)
{
    lbx__passed *passed = &rules->passed[box->row_id % LBX__PASSED_KEPT];
    bool held = passed->box == box->row_id && passed->from <= box->fresh &&
                box->fresh <= passed->next;
    const uint64_t first = held ? passed->from : box->fresh;
    uint64_t from = held ? passed->next : first;
    uint32_t skips = 0;
    lbx_status status;

    for (;;) {
        status = lbx__letter_record_seek(rules, box, from, ret);
        if (status != LBX_OK && !(status == LBX_CORRUPT && ret->damaged))
            break;
        if (box->stated != 0 && ret->sequence >= box->stated) {
            status = LBX_NOT_FOUND; // BOXREC-3
            break;
        }
        if (!ret->state.stored &&
            (status == LBX_OK || !lbx__letter_record_skip(status, ret, &skips)))
            break;
        if (!held)
            box->fresh = ret->sequence + ret->state.stored; // BOXREC-3
        held |= !ret->state.stored;
        from = ret->sequence + 1;
    }
    if (status == LBX_NOT_FOUND)
        from = box->next;
    else if (status == LBX_OK)
        from = ret->sequence;
    if (held)
        *passed = (lbx__passed){box->row_id, first, from};
    else if (status == LBX_OK || status == LBX_NOT_FOUND)
        box->fresh = from;
    if (!held && status == LBX_NOT_FOUND)
        box->stated = 0;
    rules->damaged |= held;
    return status;
}

/* Nothing was found, so the counts must agree (BOXREC-1): a damaged page can
 * hide rows without an error. */
static lbx_status
receive_none_ready(const lbx__box_record *box)
{
    return box->letters > box->leased + box->delayed ? LBX_CORRUPT
                                                     : LBX_NOT_FOUND;
}

/* The letter of a row in ready. One that does not match its row is damaged
 * (LETREC-1). */
static lbx_status
receive_get_ready(lbx__rules *rules, const lbx__box_record *box, lbx__bytes at,
                  lbx__bytes value, lbx__letter_record *ret)
{
    lbx_status status = lbx__letter_record_get(
        rules, box, value.size == 8 ? lbx__get_le64(value.data) : 0, ret);

    if (status == LBX_NOT_FOUND ||
        (status == LBX_OK &&
         (!ret->state.stored || ret->state.kind != LBX__IS_READY ||
          (uint64_t)ret->state.due != lbx__key_number(at, 1) ||
          ret->state.ticket != lbx__key_number(at, 2)))) {
        ret->damaged = true;
        status = LBX_CORRUPT;
    }
    return status;
}

/* True when a fresh letter comes before a row of ready. */
static bool
receive_is_before(const lbx__letter_record *fresh, lbx__bytes at)
{
    const uint64_t due = lbx__key_number(at, 1);
    const uint64_t sent = (uint64_t)fresh->body.sent_ns;

    return sent < due ||
           (sent == due && fresh->sequence < lbx__key_number(at, 2));
}

/* The next of the letters without a tenant: OK; NOT_FOUND; CORRUPT; IO. */
static lbx_status
receive_next_single(lbx__rules *rules, lbx__box_record *box,
                    lbx__letter_record *ret)
{
    lbx__key from = lbx__key_3(box->row_id, 0, 0);
    lbx__bytes at, value;
    uint32_t skips = 0;

    for (;;) {
        lbx_status fresh, status = lbx__row_seek(rules->storage, LBX__READY,
                                                 &from, 8, &at, &value);

        if (status == LBX_NOT_FOUND)
            return receive_next_fresh(rules, box, ret);
        ret->damaged = lbx__row_damaged(status, value);
        if (status == LBX_OK) {
            fresh = receive_next_fresh(rules, box, ret);
            if (fresh != LBX_NOT_FOUND &&
                (fresh != LBX_OK || receive_is_before(ret, at)))
                return fresh;
            status = receive_get_ready(rules, box, at, value, ret);
        }
        if (!lbx__letter_record_skip(status, ret, &skips)) // RECV-3
            return status;
        rules->damaged = true;
        from = lbx__key_3(box->row_id, lbx__key_number(at, 1),
                          lbx__key_number(at, 2) + 1);
    }
}

lbx_status
lbx__receive_next(lbx__rules *rules, lbx__box_record *box,
                  lbx__letter_record *ret)
{
    lbx__letter_record letter;
    lbx_status fair, status = receive_next_single(rules, box, ret);

    if (box->tenants > 0 && (status == LBX_OK || status == LBX_NOT_FOUND)) {
        fair =
            lbx__fair_next(rules, box, status == LBX_OK ? ret : NULL, &letter);
        if (fair == LBX_OK)
            *ret = letter;
        if (fair != LBX_NOT_FOUND)
            return fair;
    }
    return status == LBX_NOT_FOUND ? receive_none_ready(box) : status;
}

static lbx_status
receive_plain(lbx__rules *rules, lbx__claim *claim)
{
    lbx__letter_record letter;
    lbx_status status = LBX_OK;

    if (claim->box->leased >=
        (uint64_t)claim->box->facts->options.limits.max_leased)
        return LBX_FULL;
    while (status == LBX_OK && claim->count < claim->max) {
        status = lbx__receive_next(rules, claim->box, &letter);
        if (status == LBX_OK && letter.state.ticket >= claim->tickets_end)
            status = LBX_NOT_FOUND; // DEADLET-4, or leased by us for 0 ns
        if (status == LBX_OK)
            status = lbx__receive_claim(rules, claim, &letter);
        if (status == LBX_OK)
            lbx__fair_taken(rules, claim->box, &letter);
    }
    return status;
}

/* The same check for a fifo box: when no letter is leased or delayed, every
 * group can be served, except those that this claim has moved to the end
 * (DEADLET-4). */
static bool
receive_hides_groups(const lbx__claim *claim)
{
    const lbx__box_record *box = claim->box;

    return box->facts->options.fifo && claim->count == 0 && box->letters > 0 &&
           box->leased + box->delayed == 0 && box->next == claim->tickets_end;
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
    status = lbx__box_record_open(rules, request->box, &claim.box);
    if (status == LBX_OK)
        status = lbx__sweep_due(rules, claim.box);
    if (status != LBX_OK)
        return lbx__box_record_close_all(rules, status);
    claim.max = request->max_letters - before;
    claim.tickets_end = claim.box->next;
    if (!claim.box->facts->options.fifo)
        status = receive_plain(rules, &claim);
    else if (request->attempt_id && before == 0)
        status = lbx__attempt_receive(rules, &claim);
    else
        status = lbx__group_receive(rules, &claim);
    if (status == LBX_NOT_FOUND &&
        (rules->damaged || receive_hides_groups(&claim)))
        status = LBX_CORRUPT; // RECV-3
    *ret_count = claim.count;
    if (claim.count > 0)
        status = LBX_OK;
    else if (status == LBX_OK || status == LBX_NOT_FOUND)
        status = LBX_EMPTY;
    return lbx__box_record_close_all(rules, status);
}

/* ---- Without claiming ---- */

/* When the next lease or delay ends; NOT_FOUND. */
static lbx_status
receive_next_wait(lbx__rules *rules, const lbx__box_record *box, int64_t *ret)
{
    const lbx__key from = lbx__key_3(box->row_id, 0, 0);
    lbx__bytes at, value;
    lbx_status status =
        lbx__row_seek(rules->storage, LBX__WAITS, &from, 8, &at, &value);

    if (status == LBX_OK)
        *ret = (int64_t)lbx__key_number(at, 1);
    return status;
}

/* When a leased or delayed letter may reach its retention, which makes way for
 * the next one. Not in the past: damaged letters that cannot be expired would
 * have a waiting receive tried without end. */
static int64_t
receive_next_end(const lbx__rules *rules, const lbx__box_record *box)
{
    const int64_t retention_ns = box->facts->options.retention_ns;
    const int64_t end_ns = retention_ns == LBX_UNLIMITED
                               ? LBX_FOREVER
                               : lbx__time_add(box->oldest, retention_ns);

    return box->leased + box->delayed > 0 && end_ns > rules->now ? end_ns
                                                                 : LBX_FOREVER;
}

lbx_status
lbx__receive_next_due(lbx__rules *rules, lbx_box id, int64_t *ret_due_ns)
{
    lbx__box_record *box;
    const lbx_box_options *options;
    lbx__letter_record letter;
    int64_t due = LBX_FOREVER;
    lbx_status status;

    lbx__rules_start(rules);
    status = lbx__box_record_open(rules, id, &box);
    if (status == LBX_OK)
        status = lbx__sweep_due(rules, box);
    if (status != LBX_OK)
        return lbx__box_record_close_all(rules, status);
    options = &box->facts->options;
    if (box->leased >= (uint64_t)options->limits.max_leased) {
        status = receive_next_wait(rules, box, &due);
    } else if (options->fifo) {
        status = lbx__group_next_due(rules, box, &due);
    } else {
        status = lbx__receive_next(rules, box, &letter);
        if (status == LBX_OK)
            due = rules->now;
        else if (status == LBX_NOT_FOUND)
            status = receive_next_wait(rules, box, &due);
    }
    if (status == LBX_OK || status == LBX_NOT_FOUND) {
        const int64_t end_ns = receive_next_end(rules, box);

        *ret_due_ns = end_ns < due ? end_ns : due;
        status = LBX_OK;
    }
    return lbx__box_record_close_all(rules, status);
}

lbx_status
lbx__receive_peek(lbx__rules *rules, const lbx_peek_request *request,
                  const lbx__sink *sink)
{
    const uint64_t most =
        request->max_bytes > 0 ? request->max_bytes : UINT64_MAX;
    uint64_t from = request->from, bytes = 0;
    uint32_t shown = 0, skips = 0;
    lbx__letter_record letter;
    lbx__box_record *box;
    lbx_status status;

    lbx__rules_start(rules);
    status = lbx__box_record_open(rules, request->box, &box);
    if (status == LBX_OK)
        status = lbx__sweep_age(rules, box);
    while (shown < request->max_letters && bytes < most && status == LBX_OK) {
        bool damaged;

        status = lbx__letter_record_seek(rules, box, from, &letter);
        damaged = lbx__letter_record_skip(status, &letter, &skips);
        if (status == LBX_OK)
            status = lbx__receive_deliver(rules, box, &letter, &letter.state,
                                          sink, false);
        if (status == LBX_OK) {
            shown++;
            bytes += letter.body.counted_bytes;
        }
        if (damaged)
            status = LBX_OK;
        if (status == LBX_OK)
            from = letter.sequence + 1;
    }
    if (status == LBX_NOT_FOUND)
        status = skips > 0 && shown == 0 ? LBX_CORRUPT : LBX_OK; // RECV-3
    else if (status == LBX_CORRUPT && skips > 0 && shown > 0)
        status = LBX_OK; // the next peek continues there
    return lbx__box_record_close_all(rules, status);
}
