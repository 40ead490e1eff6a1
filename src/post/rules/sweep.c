/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sweep: leases and delays that are over, letters older than the retention, and
 * what need no longer be remembered.
 *
 * A rule sweeps its box before it reads it. Each row is swept once for each
 * time it was put, so that a sweep costs little on average; a rule after a long
 * pause pays for all of it.
 *
 * SWEEP-1  No result depends on when a sweep ran. A letter that is due gets the
 *          position of its key, which was drawn when its time was set. A group
 *          whose first letter expired is queued as it would have been at that
 *          moment. A sweep draws no ticket.
 *
 * Threads    one at a time, as the storage.
 */
#include "post/rules/internal.h"

/* ---- Retention ---- */

static lbx_status
sweep_expire(lbx__rules *rules, lbx__box_record *box,
             lbx__letter_record *letter, int64_t at)
{
    lbx__need need = {.count = 0};
    lbx_status status;

    if (box->facts->options.fifo)
        lbx__group_need_requeue(&need);
    lbx__letter_record_need_remove(&need, box, letter);
    if (need.count > 0) {
        status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                      LBX__SHRINKS);
        if (status != LBX_OK)
            return status;
    }
    if (box->facts->options.fifo)
        lbx__group_leave(rules, box, letter);
    lbx__letter_record_remove(rules, box, letter);
    if (box->facts->options.fifo)
        lbx__group_requeue(rules, box, letter, LBX__GROUP_EXPIRED, at);
    return LBX_OK;
}

/* Removes expired letters in the order of their sequences. `*ret_oldest` is
 * when the first that stays was sent. */
static lbx_status
sweep_expire_in_order(lbx__rules *rules, lbx__box_record *box,
                      int64_t *ret_oldest)
{
    const int64_t retention = box->facts->options.retention_ns;
    uint64_t from = 0; // only grows: the loop ends whatever is damaged
    uint32_t skips = 0;
    lbx__letter_record letter;
    lbx_status status;

    for (*ret_oldest = LBX_FOREVER;; from = letter.sequence + 1) {
        int64_t until;

        status = lbx__letter_record_seek(rules, box, from, &letter);
        if (lbx__letter_record_skip(status, &letter, &skips))
            continue;
        if (status == LBX_CORRUPT && letter.damaged) {
            *ret_oldest = box->oldest; // too many damaged letters
            return LBX_OK;
        }
        if (status != LBX_OK)
            return status;
        until = lbx__time_add(letter.body.sent_ns, retention);
        if (until > rules->now) {
            *ret_oldest = letter.body.sent_ns;
            return LBX_OK;
        }
        status = sweep_expire(rules, box, &letter, until);
        if (status != LBX_OK)
            return status;
    }
}

/* The same by rows in age, which may decrease `*oldest`. */
static lbx_status
sweep_expire_aged(lbx__rules *rules, lbx__box_record *box, int64_t *oldest)
{
    const int64_t retention = box->facts->options.retention_ns;
    lbx__key from = lbx__key_3(box->row_id, 0, 0);
    uint32_t skips = 0;

    for (;;) {
        lbx__bytes at, value;
        lbx__letter_record letter;
        uint64_t sequence;
        int64_t sent;
        lbx_status status =
            lbx__row_seek(rules->storage, LBX__AGE, &from, 8, &at, &value);

        letter.damaged = lbx__row_damaged(status, value);
        if (status != LBX_OK && !letter.damaged)
            return status;
        sent = (int64_t)lbx__key_number(at, 1);
        sequence = lbx__key_number(at, 2);
        if (status == LBX_OK && lbx__time_add(sent, retention) > rules->now) {
            *oldest = sent < *oldest ? sent : *oldest;
            return LBX_OK;
        }
        from = lbx__key_3(box->row_id, (uint64_t)sent, sequence + 1);
        if (status == LBX_OK)
            status = lbx__letter_record_get(rules, box, sequence, &letter);
        if (status == LBX_NOT_FOUND) {
            status = LBX_CORRUPT; // a row without a letter
            letter.damaged = true;
        }
        if (lbx__letter_record_skip(status, &letter, &skips))
            continue;
        if (status == LBX_CORRUPT && letter.damaged) {
            *oldest = box->oldest;
            return LBX_OK;
        }
        if (status == LBX_OK)
            status = sweep_expire(rules, box, &letter, sent);
        if (status != LBX_OK)
            return status;
    }
}

/*
 * Without dead letters, sequences are in the order of age. A letter that is
 * older than its sequence says has a row in age. If such a letter is the first
 * by sequence and has not expired, neither have those after it.
 *
 * A damaged letter stays, whatever its age, and does not count for `oldest`. It
 * is no reason to fail here: sends go on.
 */
lbx_status
lbx__sweep_expired(lbx__rules *rules, lbx__box_record *box)
{
    int64_t oldest;
    lbx_status status;

    status = sweep_expire_in_order(rules, box, &oldest);
    if (status == LBX_OK || status == LBX_NOT_FOUND)
        status = sweep_expire_aged(rules, box, &oldest);
    if (status != LBX_OK && status != LBX_NOT_FOUND)
        return status;
    if (oldest != box->oldest) {
        box->oldest = oldest;
        box->dirty = true;
    }
    return LBX_OK;
}

/* ---- Due ---- */

static lbx_status
sweep_make_ready(lbx__rules *rules, lbx__box_record *box,
                 lbx__letter_record *letter)
{
    const lbx_box_options *options = &box->facts->options;
    lbx__state to = letter->state;
    lbx__need need = {.count = 0};
    lbx_status status;

    to.kind = LBX__IS_READY;
    if (options->keep_position && !options->fifo) {
        to.due = to.claimed_due;
        to.ticket = to.claimed_ticket;
    }
    lbx__letter_record_need_change(&need, box, letter);
    status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                  LBX__SHRINKS);
    if (status == LBX_OK)
        lbx__letter_record_change(rules, box, letter, &to);
    return status;
}

/* The letter of a row in waits: its state, and its body only if it may be one
 * of a tenant. One that does not match its row is damaged (LETREC-1). */
static lbx_status
sweep_get_waiting(lbx__rules *rules, const lbx__box_record *box, lbx__bytes at,
                  lbx__bytes value, lbx__letter_record *ret)
{
    const uint64_t sequence = value.size == 8 ? lbx__get_le64(value.data) : 0;
    lbx_status status;

    if (box->tenants > 0) {
        status = lbx__letter_record_get(rules, box, sequence, ret);
    } else {
        ret->sequence = sequence;
        ret->body.gid = 0;
        status = lbx__letter_record_state(rules, box, sequence, &ret->state);
        ret->damaged = ret->state.damaged;
    }
    if (status == LBX_NOT_FOUND) {
        ret->damaged = true;
        status = LBX_CORRUPT;
    }
    if (status == LBX_OK &&
        (ret->state.kind == LBX__IS_READY ||
         (uint64_t)ret->state.due != lbx__key_number(at, 1) ||
         ret->state.ticket != lbx__key_number(at, 2))) {
        ret->damaged = true;
        status = LBX_CORRUPT;
    }
    return status;
}

lbx_status
lbx__sweep_waiting(lbx__rules *rules, lbx__box_record *box)
{
    lbx__key from = lbx__key_3(box->row_id, 0, 0);
    lbx_status status = LBX_OK;
    uint32_t skips = 0;
    lbx__bytes at, value;
    lbx__letter_record letter;

    while (status == LBX_OK && box->leased + box->delayed > skips) {
        status =
            lbx__row_seek(rules->storage, LBX__WAITS, &from, 8, &at, &value);
        if (status == LBX_NOT_FOUND)
            return LBX_CORRUPT; // BOXREC-1: there are some
        letter.damaged = lbx__row_damaged(status, value);
        if (status == LBX_OK) {
            if ((int64_t)lbx__key_number(at, 1) > rules->now)
                break;
            status = sweep_get_waiting(rules, box, at, value, &letter);
        }
        if (lbx__letter_record_skip(status, &letter, &skips)) {
            from = lbx__key_3(box->row_id, lbx__key_number(at, 1),
                              lbx__key_number(at, 2) + 1);
            rules->damaged = true;
            status = LBX_OK;
        } else if (status == LBX_OK)
            status = sweep_make_ready(rules, box, &letter);
    }
    return status;
}

/* ---- What is remembered ---- */

void
lbx__sweep_seen(lbx__rules *rules, const lbx__box_record *box, int budget)
{
    const lbx__key from = lbx__key_due_hash(box->row_id, 0, (uint8_t[16]){0});

    for (int i = 0; i < budget; i++) {
        lbx__bytes at, value;
        lbx__key key, seen;

        if (lbx__row_seek(rules->storage, LBX__SEEN_DUE, &from, 8, &at,
                          &value) != LBX_OK ||
            (int64_t)lbx__key_number(at, 1) > rules->now)
            return;
        memcpy(key.bytes, at.data, at.size);
        key.size = (uint32_t)at.size;
        seen = lbx__key_hash(box->row_id, key.bytes + 16);
        // An entry that was renewed has a later row here.
        if (lbx__row_get(rules->storage, LBX__SEEN, &seen, &value) == LBX_OK &&
            value.size >= 8 &&
            lbx__get_le64(value.data) == lbx__get_be64(key.bytes + 8))
            lbx__row_drop(rules->storage, LBX__SEEN, &seen);
        lbx__row_drop(rules->storage, LBX__SEEN_DUE, &key);
    }
}
