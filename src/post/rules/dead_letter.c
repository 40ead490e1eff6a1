/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dead letters: a letter that was delivered too often goes to another box when it
 * would be claimed again, in the same step.
 *
 * What counts are the deliveries in this box: a letter that died into it starts
 * anew here, so that chains of boxes work, and a box that is its own dead letters
 * turns its letters round instead of never delivering them. The count that is
 * shown goes on.
 *
 * When there is no box that takes it (deleted, full, or of the other order), the
 * letter is delivered as before: none is lost, and none stands in the way.
 *
 * L1  A letter is in one of the two boxes at every commit.
 * L2  It is moved when a delivery would be the (max_deliveries + 1)th here.
 * L3  Id, body, attributes and the time it was sent stay; in a fifo box its age
 *     counts anew, and its id of a duplicate becomes its own id.
 * L4  It is moved once in a receive: it gets a turn that this receive leaves
 *     alone.
 */
#include "codec/uuid.h"
#include "post/rules/internal.h"

lbx_status
lbx__letter_record_copy(lbx__rules *rules, lbx__letter_record *letter)
{
    if (letter->value.data == rules->copied.bytes)
        return LBX_OK; // it is one
    lbx__buffer_reset(&rules->copied);
    lbx__buffer_add(&rules->copied, letter->value.data, letter->value.size);
    if (rules->copied.status != LBX_OK)
        return rules->copied.status;
    letter->value.data = rules->copied.bytes;
    return lbx__letter_record_decode(rules, letter);
}

lbx_status
lbx__dead_letter_target(lbx__rules *rules, lbx__box_record *head,
                        lbx__letter_record *letter, lbx__box_record **ret)
{
    const lbx_box_options *options = &head->facts->options;
    const lbx__state *state = &letter->state;
    lbx__box_record *to;
    lbx_status status;

    *ret = NULL;
    if (!head->facts->dead ||
        state->deliveries - state->carried < options->max_deliveries)
        return LBX_OK;
    status = lbx__box_record_find(rules, head->facts->space,
                                  head->facts->dead_letters, &to);
    if (status == LBX_NOT_FOUND)
        return LBX_OK;
    if (status == LBX_OK && to != head) {
        status = lbx__letter_record_copy(rules, letter); // sweeping writes: G5
        if (status == LBX_OK)
            status = lbx__sweep_age(rules, to);
    }
    if (status != LBX_OK)
        return status;
    if (to->facts->options.fifo != options->fifo ||
        (to != head &&
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
        .turn = to->next,
        .place_due = rules->now,
        .place_turn = to->next,
        .first_ms = letter->state.first_ms,
        .stored = true,
    };
    if (fifo)
        lbx__group_leave(rules, from, letter);
    lbx__letter_record_remove(rules, from, letter);
    to->next++;
    if (fifo)
        body.gid = lbx__group_join(rules, to, hash, state.turn, rules->now);
    lbx__letter_record_insert(
        rules, to, state.turn, &body,
        (lbx__bytes){rules->encoded.bytes, rules->encoded.size}, &state);
    lbx__tell_ready(rules, to, rules->now);
    return LBX_OK;
}
