/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of one letter, read and written together; see letter_record.h.
 *
 * Every change goes through letter_count(), which keeps the index rows and the
 * counts of the box in step with the state (BOXREC-1, LETREC-1).
 */
#include "post/rules/letter_record.h"

#include "post/rules/internal.h"

#include <string.h>

/* ---- Reading ---- */

lbx_status
lbx__letter_record_state(lbx__rules *rules, const lbx__box_record *box,
                         uint64_t sequence, lbx__state *ret)
{
    const lbx__key key = lbx__key_2(box->row_id, sequence);
    lbx__bytes value;
    lbx_status status;

    memset(ret, 0, sizeof(*ret));
    status = lbx__row_get(rules->storage, LBX__STATES, &key, &value);
    if (status == LBX_NOT_FOUND)
        return LBX_OK;
    ret->stored = ret->damaged = lbx__row_damaged(status, value);
    if (status != LBX_OK)
        return status;
    ret->sum = lbx__row_sum(value);
    status = lbx__body_decode_state(value, ret);
    if (status != LBX_OK)
        ret->stored = ret->damaged = true;
    return status;
}

/* The body is damaged; adds the state. */
static lbx_status
letter_complete_damaged(lbx__rules *rules, const lbx__box_record *box,
                        lbx__letter_record *letter)
{
    lbx_status status =
        lbx__letter_record_state(rules, box, letter->sequence, &letter->state);

    letter->damaged = status == LBX_OK || letter->state.damaged;
    return letter->damaged ? LBX_CORRUPT : status;
}

/* The body was read; adds the state. */
static lbx_status
letter_complete(lbx__rules *rules, const lbx__box_record *box,
                lbx__letter_record *letter)
{
    lbx_status status = lbx__body_decode_fixed(letter->value, &letter->body);

    if (status != LBX_OK)
        return letter_complete_damaged(rules, box, letter);
    letter->body.aged &= !box->facts->options.fifo;
    letter->body_sum = lbx__row_sum(letter->value);
    status =
        lbx__letter_record_state(rules, box, letter->sequence, &letter->state);
    letter->damaged = letter->state.damaged;
    if (status == LBX_OK && !letter->state.stored) {
        letter->state.due = letter->state.claimed_due = letter->body.sent_ns;
        letter->state.ticket = letter->state.claimed_ticket = letter->sequence;
    }
    return status;
}

lbx_status
lbx__letter_record_get(lbx__rules *rules, const lbx__box_record *box,
                       uint64_t sequence, lbx__letter_record *ret)
{
    const lbx__key key = lbx__key_2(box->row_id, sequence);
    lbx_status status =
        lbx__row_get(rules->storage, LBX__BODIES, &key, &ret->value);

    ret->sequence = sequence;
    ret->damaged = false;
    if (lbx__row_damaged(status, ret->value))
        return letter_complete_damaged(rules, box, ret);
    return status == LBX_OK ? letter_complete(rules, box, ret) : status;
}

lbx_status
lbx__letter_record_seek(lbx__rules *rules, const lbx__box_record *box,
                        uint64_t from, lbx__letter_record *ret)
{
    const lbx__key key = lbx__key_2(box->row_id, from);
    lbx__bytes at;
    lbx_status status =
        lbx__row_seek(rules->storage, LBX__BODIES, &key, 8, &at, &ret->value);

    ret->damaged = false;
    if (status != LBX_OK && !lbx__row_damaged(status, ret->value))
        return status;
    ret->sequence = lbx__key_number(at, 1);
    if (status == LBX_OK)
        return letter_complete(rules, box, ret);
    // No letter was ever given this key: skipping it would skip all letters
    // after it.
    return ret->sequence < box->next ? letter_complete_damaged(rules, box, ret)
                                     : status;
}

lbx_status
lbx__letter_record_decode(lbx__rules *rules, lbx__letter_record *letter)
{
    return lbx__body_decode_rest(letter->value, &rules->attributes,
                                 &letter->body);
}

lbx_status
lbx__letter_record_copy(lbx__rules *rules, lbx__letter_record *letter)
{
    if (letter->value.data == rules->copied.bytes)
        return LBX_OK; // it is the copy
    lbx__buffer_reset(&rules->copied);
    lbx__buffer_add(&rules->copied, letter->value.data, letter->value.size);
    if (rules->copied.status != LBX_OK)
        return rules->copied.status;
    letter->value.data = rules->copied.bytes;
    return lbx__letter_record_decode(rules, letter);
}

/* ---- Writing ---- */

/* Adds a letter to its index and its count, or removes it (LETREC-1). `gid` is
 * that of its body. */
static void
letter_count(lbx__rules *rules, lbx__box_record *box, uint64_t sequence,
             uint64_t gid, const lbx__state *state, bool in)
{
    const lbx__key key =
        lbx__key_3(box->row_id, (uint64_t)state->due, state->ticket);
    const uint64_t one = in ? 1 : (uint64_t)-1;
    const lbx__table table =
        state->kind == LBX__IS_READY ? LBX__READY : LBX__WAITS;

    if (state->kind == LBX__IS_LEASED)
        box->leased += one;
    if (state->kind == LBX__IS_DELAYED)
        box->delayed += one;
    if (!state->stored || (table == LBX__READY && box->facts->options.fifo))
        return;
    if (table == LBX__READY && gid != 0)
        lbx__fair_line(rules, box, gid, sequence, state, in);
    else if (in)
        lbx__row_put_number(rules->storage, table, &key, sequence);
    else
        lbx__row_drop(rules->storage, table, &key);
}

static void
letter_put_state(lbx__rules *rules, lbx__box_record *box, uint64_t sequence,
                 lbx__state *state)
{
    const lbx__key key = lbx__key_2(box->row_id, sequence);
    uint8_t bytes[LBX__STATE_BYTES];

    lbx__body_encode_state(state, bytes);
    state->sum = lbx__row_put(rules->storage, LBX__STATES, &key,
                              &(lbx__bytes){bytes, sizeof(bytes)}, 1);
    state->stored = true;
    box->sum += lbx__row_hash(LBX__STATES, &key, state->sum);
}

void
lbx__letter_record_need_change(lbx__need *need, const lbx__box_record *box,
                               const lbx__letter_record *letter)
{
    if (!letter->state.stored)
        lbx__need_row(need, 16, LBX__STATE_BYTES);
    lbx__need_row(need, 24, 8);
    lbx__letter_record_need_remove(need, box, letter);
}

void
lbx__letter_record_need_remove(lbx__need *need, const lbx__box_record *box,
                               const lbx__letter_record *letter)
{
    if (lbx__letter_record_has_tenant(box, letter))
        lbx__fair_need(need);
}

/* What a change of `leased` from one state to the other is. */
static int
letter_leased(const lbx__state *state)
{
    return state->kind == LBX__IS_LEASED;
}

void
lbx__letter_record_change(lbx__rules *rules, lbx__box_record *box,
                          lbx__letter_record *letter, const lbx__state *to)
{
    const lbx__key key = lbx__key_2(box->row_id, letter->sequence);
    lbx__state state = *to;

    letter_count(rules, box, letter->sequence, letter->body.gid, &letter->state,
                 false);
    if (letter->state.stored)
        box->sum -= lbx__row_hash(LBX__STATES, &key, letter->state.sum);
    letter_put_state(rules, box, letter->sequence, &state);
    letter_count(rules, box, letter->sequence, letter->body.gid, &state, true);
    if (lbx__letter_record_has_tenant(box, letter))
        lbx__fair_count(rules, box, letter->body.gid, 0,
                        letter_leased(&state) - letter_leased(&letter->state));
    letter->state = state;
    box->dirty = true;
}

void
lbx__letter_record_remove(lbx__rules *rules, lbx__box_record *box,
                          lbx__letter_record *letter)
{
    const lbx__key key = lbx__key_2(box->row_id, letter->sequence);
    const lbx__key age = lbx__key_3(box->row_id, (uint64_t)letter->body.sent_ns,
                                    letter->sequence);

    letter_count(rules, box, letter->sequence, letter->body.gid, &letter->state,
                 false);
    if (lbx__letter_record_has_tenant(box, letter))
        lbx__fair_count(rules, box, letter->body.gid, -1,
                        -letter_leased(&letter->state));
    if (letter->state.stored) {
        box->sum -= lbx__row_hash(LBX__STATES, &key, letter->state.sum);
        lbx__row_drop(rules->storage, LBX__STATES, &key);
    }
    if (letter->body.aged)
        lbx__row_drop(rules->storage, LBX__AGE, &age);
    box->sum -= lbx__row_hash(LBX__BODIES, &key, letter->body_sum);
    lbx__row_drop(rules->storage, LBX__BODIES, &key);
    box->letters--;
    box->bytes -= letter->body.counted_bytes;
    box->dirty = true;
}

void
lbx__letter_record_need_insert(lbx__need *need, const lbx__body *body,
                               size_t encoded, bool state)
{
    lbx__need_row(need, 16,
                  LBX__BODY_FIXED + encoded + body->parcel.body_bytes);
    if (state) {
        lbx__need_row(need, 16, LBX__STATE_BYTES);
        lbx__need_row(need, 24, 8);
    }
    if (body->source)
        lbx__need_row(need, 24, 0);
}

void
lbx__letter_record_insert(lbx__rules *rules, lbx__box_record *box,
                          uint64_t sequence, const lbx__body *body,
                          lbx__bytes encoded, const lbx__state *state)
{
    const lbx__key key = lbx__key_2(box->row_id, sequence);
    const lbx__key age =
        lbx__key_3(box->row_id, (uint64_t)body->sent_ns, sequence);
    uint8_t fixed[LBX__BODY_FIXED];
    const lbx__bytes parts[] = {
        {fixed, sizeof(fixed)},
        encoded,
        {body->parcel.body, body->parcel.body_bytes},
    };
    uint32_t sum;

    lbx__body_fixed(body, fixed);
    sum = lbx__row_put(rules->storage, LBX__BODIES, &key, parts, 3);
    box->sum += lbx__row_hash(LBX__BODIES, &key, sum);
    box->bytes += body->counted_bytes;
    if (box->letters == 0 || body->sent_ns < box->oldest)
        box->oldest = body->sent_ns; // BOXREC-3
    box->letters++;
    if (body->source && !box->facts->options.fifo)
        lbx__row_put_empty(rules->storage, LBX__AGE, &age);
    if (state) {
        lbx__state copy = *state;

        letter_put_state(rules, box, sequence, &copy);
        letter_count(rules, box, sequence, body->gid, &copy, true);
        if (body->gid != 0 && !box->facts->options.fifo)
            lbx__fair_count(rules, box, body->gid, 1, letter_leased(&copy));
    }
    box->dirty = true;
}
