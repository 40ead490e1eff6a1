/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dead letters: a letter that was delivered too often is moved to another box
 * when it would be claimed again, in the same step.
 *
 * Only deliveries in this box count: a letter that was moved into it starts
 * with none here. So chains of boxes work, and a box that is its own
 * dead-letter box rotates its letters instead of never delivering them. The
 * delivery count that callers see goes on.
 *
 * When no box can take the letter (deleted, full, or not of the same order), it
 * is delivered as before: no letter is lost, and none blocks the box.
 *
 * DEADLET-1  A letter is in exactly one of the two boxes at every commit.
 * DEADLET-2  It is moved when a delivery would be the (max_deliveries + 1)th in
 *            this box.
 * DEADLET-3  Id, body, attributes and the time it was sent stay. In a fifo box
 *            its age starts again, and its duplicate id becomes its own id.
 * DEADLET-4  It is moved once in a receive: it draws a ticket that this receive
 *            does not claim.
 *
 * Threads    one at a time, as the storage.
 */
#include "codec/uuid.h"
#include "post/rules/internal.h"

lbx_status
lbx__dead_letter_target(lbx__rules *rules, lbx__box_record *box,
                        lbx__letter_record *letter, lbx__box_record **ret)
{
    const lbx_box_options *options = &box->facts->options;
    lbx__box_record *to;
    lbx_status status;

    *ret = NULL;
    status = lbx__box_record_find(rules, box->facts->space,
                                  box->facts->dead_letters, &to);
    if (status == LBX_NOT_FOUND)
        return LBX_OK;
    if (status == LBX_OK && to != box) {
        status =
            lbx__letter_record_copy(rules, letter); // a sweep writes: STORAGE-5
        if (status == LBX_OK)
            status = lbx__sweep_age(rules, to);
    }
    if (status != LBX_OK)
        return status;
    if (to->facts->options.fifo != options->fifo ||
        (to != box &&
         to->letters >= (uint64_t)to->facts->options.capacity_letters))
        return LBX_OK;
    *ret = to;
    return LBX_OK;
}

lbx_status
lbx__dead_letter_move(lbx__rules *rules, lbx__box_record *from,
                      lbx__letter_record *letter, lbx__box_record *to)
{
    const bool fifo = to->facts->options.fifo;
    uint8_t hash[LBX__HASH_BYTES];
    char id[LBX__UUID_TEXT_BYTES];
    lbx__need need = {.count = 0};
    lbx__body body;
    lbx__state state;
    lbx_status status = lbx__letter_record_copy(rules, letter);

    if (status != LBX_OK)
        return status;
    body = letter->body;
    body.source = from->facts->name;
    if (fifo) {
        lbx__uuid_format(body.id, id);
        body.parcel.deduplication_id = id;
        body.sent_ns = rules->now;
        status = lbx__group_hash(rules, body.parcel.group, hash);
        lbx__group_need_join(&need);
        lbx__group_need_requeue(&need);
    } else if (body.parcel.group) {
        status = lbx__group_hash(rules, body.parcel.group, hash);
        lbx__fair_need_join(&need);
        lbx__letter_record_need_remove(&need, from, letter);
    }
    lbx__buffer_reset(&rules->encoded);
    lbx__body_encode(&body.parcel, body.source, &rules->encoded);
    if (status == LBX_OK)
        status = rules->encoded.status;
    lbx__letter_record_need_insert(&need, &body, rules->encoded.size, true);
    if (status == LBX_OK)
        status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                      LBX__SHRINKS);
    if (status != LBX_OK)
        return status;
    state = (lbx__state){
        .kind = LBX__IS_READY,
        .deliveries = letter->state.deliveries,
        .carried = letter->state.deliveries,
        .due = rules->now,
        .ticket = to->next,
        .claimed_due = rules->now,
        .claimed_ticket = to->next,
        .first_ms = letter->state.first_ms,
        .stored = true,
    };
    if (fifo)
        lbx__group_leave(rules, from, letter);
    lbx__letter_record_remove(rules, from, letter);
    to->next++;
    if (fifo)
        body.gid = lbx__group_join(rules, to, hash, state.ticket, rules->now);
    else
        body.gid = body.parcel.group ? lbx__fair_join(rules, to, hash) : 0;
    lbx__letter_record_insert(
        rules, to, state.ticket, &body,
        (lbx__bytes){rules->encoded.bytes, rules->encoded.size}, &state);
    lbx__box_record_note_change(rules, to->uid, rules->now);
    return LBX_OK;
}
