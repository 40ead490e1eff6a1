/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is due: leases and delays that are over, letters that are too old, and
 * what need not be remembered any more.
 *
 * A verb sweeps the box it works on before it looks at it. Each row is swept once
 * for each time it was put, so that sweeping costs a verb little on average; a
 * verb after a long pause pays for all.
 *
 * Y1  No answer depends on when a sweep ran: what is due takes the place that its
 *     key says, which was drawn when its time was set; a group whose first letter
 *     grew too old stands where it would have stood at that moment. Sweeping
 *     draws no turn.
 */
#include "post/rules/internal.h"

enum {
    SEEN_BUDGET = 4 /* more than a send adds */
};

/* ---- Too old ---- */

static lbx_status
expire(lbx__rules *rules, lbx__box_record *head, lbx__letter_record *letter,
       int64_t at)
{
    lbx__need need = {.count = 0};
    lbx_status status;

    if (head->facts->options.fifo) {
        lbx__group_need_requeue(&need);
        status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                      LBX__SHRINKS);
        if (status != LBX_OK)
            return status;
        lbx__group_leave(rules, head, letter);
    }
    lbx__letter_record_remove(rules, head, letter);
    if (head->facts->options.fifo)
        lbx__group_requeue(rules, head, letter, LBX__GROUP_EXPIRED, at);
    return LBX_OK;
}

/* The letters that are too old, by their sequences. `*ret_oldest` is when the first
 * that stays was sent. */
static lbx_status
expire_in_order(lbx__rules *rules, lbx__box_record *head, int64_t *ret_oldest)
{
    const int64_t retention = head->facts->options.retention_ns;
    uint64_t from = 0; // grows, so that it ends, whatever is damaged
    uint32_t steps = 0;
    lbx__letter_record letter;
    lbx_status status;

    for (*ret_oldest = LBX_FOREVER;; from = letter.sequence + 1) {
        int64_t until;

        status = lbx__letter_record_seek(rules, head, from, &letter);
        if (lbx__letter_record_skip(status, &letter, &steps))
            continue;
        if (status == LBX_CORRUPT && letter.damaged) {
            *ret_oldest = head->oldest; // too many to come to an end
            return LBX_OK;
        }
        if (status != LBX_OK)
            return status;
        until = lbx__later(letter.body.sent_ns, retention);
        if (until > rules->now) {
            *ret_oldest = letter.body.sent_ns;
            return LBX_OK;
        }
        status = expire(rules, head, &letter, until);
        if (status != LBX_OK)
            return status;
    }
}

/* The same by rows in age; `*oldest` becomes less when one says so. */
static lbx_status
expire_aged(lbx__rules *rules, lbx__box_record *head, int64_t *oldest)
{
    const int64_t retention = head->facts->options.retention_ns;
    lbx__key from = lbx__key_3(head->box, 0, 0);
    uint32_t steps = 0;

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
        if (status == LBX_OK && lbx__later(sent, retention) > rules->now) {
            *oldest = sent < *oldest ? sent : *oldest;
            return LBX_OK;
        }
        from = lbx__key_3(head->box, (uint64_t)sent, sequence + 1);
        if (status == LBX_OK)
            status = lbx__letter_record_get(rules, head, sequence, &letter);
        if (status == LBX_NOT_FOUND) {
            status = LBX_CORRUPT; // a row without a letter
            letter.damaged = true;
        }
        if (lbx__letter_record_skip(status, &letter, &steps))
            continue;
        if (status == LBX_CORRUPT && letter.damaged) {
            *oldest = head->oldest;
            return LBX_OK;
        }
        if (status == LBX_OK)
            status = expire(rules, head, &letter, sent);
        if (status != LBX_OK)
            return status;
    }
}

/*
 * Without dead letters, sequences are in the order of age. A letter that is older
 * than its sequence says has a row in age; if such a one is the first by sequence
 * and not too old, those behind it came later still.
 *
 * What is damaged stays, whatever its age, and is left out of `oldest`. Nobody is
 * refused anything for it here: letters go on being sent.
 */
lbx_status
lbx__sweep_age(lbx__rules *rules, lbx__box_record *head)
{
    const int64_t retention = head->facts->options.retention_ns;
    int64_t oldest;
    lbx_status status;

    if (head->letters == 0 || retention == LBX_UNLIMITED ||
        lbx__later(head->oldest, retention) > rules->now) // H3
        return LBX_OK;
    status = expire_in_order(rules, head, &oldest);
    if (status == LBX_OK || status == LBX_NOT_FOUND)
        status = expire_aged(rules, head, &oldest);
    if (status != LBX_OK && status != LBX_NOT_FOUND)
        return status;
    if (oldest != head->oldest) {
        head->oldest = oldest;
        head->dirty = true;
    }
    return LBX_OK;
}

/* ---- Due ---- */

static lbx_status
become_ready(lbx__rules *rules, lbx__box_record *head,
             lbx__letter_record *letter)
{
    const lbx_box_options *options = &head->facts->options;
    lbx__state to = letter->state;
    lbx__need need = {.count = 0};
    lbx_status status;

    to.kind = LBX__IS_READY;
    if (options->keep_position && !options->fifo) {
        to.due = to.place_due;
        to.turn = to.place_turn;
    }
    lbx__letter_record_need_change(&need, &letter->state);
    status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                  LBX__SHRINKS);
    if (status == LBX_OK)
        lbx__letter_record_change(rules, head, letter, &to);
    return status;
}

/* The state of the letter that a row of waits stands for. One that does not fit its
 * row is damaged (H4). */
static lbx_status
get_waiting(lbx__rules *rules, const lbx__box_record *head, lbx__bytes at,
            lbx__bytes value, lbx__letter_record *ret)
{
    lbx_status status;

    ret->sequence = value.size == 8 ? lbx__get_le64(value.data) : 0;
    status = lbx__letter_record_state(rules, head, ret->sequence, &ret->state);
    ret->damaged = ret->state.damaged;
    if (status == LBX_OK &&
        (ret->state.kind == LBX__IS_READY ||
         (uint64_t)ret->state.due != lbx__key_number(at, 1) ||
         ret->state.turn != lbx__key_number(at, 2))) {
        ret->damaged = true;
        status = LBX_CORRUPT;
    }
    return status;
}

lbx_status
lbx__sweep(lbx__rules *rules, lbx__box_record *head)
{
    lbx__key from = lbx__key_3(head->box, 0, 0);
    lbx_status status = lbx__sweep_age(rules, head);
    uint32_t steps = 0;
    lbx__bytes at, value;
    lbx__letter_record letter;

    while (status == LBX_OK && head->leased + head->delayed > steps) {
        status =
            lbx__row_seek(rules->storage, LBX__WAITS, &from, 8, &at, &value);
        if (status == LBX_NOT_FOUND)
            return LBX_CORRUPT; // H1: there are some
        letter.damaged = lbx__row_damaged(status, value);
        if (status == LBX_OK) {
            if ((int64_t)lbx__key_number(at, 1) > rules->now)
                break;
            status = get_waiting(rules, head, at, value, &letter);
        }
        if (lbx__letter_record_skip(status, &letter, &steps)) {
            from = lbx__key_3(head->box, lbx__key_number(at, 1),
                              lbx__key_number(at, 2) + 1);
            rules->damaged = true;
            status = LBX_OK;
        } else if (status == LBX_OK)
            status = become_ready(rules, head, &letter);
    }
    return status;
}

/* ---- Forgotten ---- */

void
lbx__sweep_seen(lbx__rules *rules, const lbx__box_record *head)
{
    const lbx__key from = lbx__key_due_hash(head->box, 0, (uint8_t[16]){0});

    for (int i = 0; i < SEEN_BUDGET; i++) {
        lbx__bytes at, value;
        lbx__key key, seen;

        if (lbx__row_seek(rules->storage, LBX__SEEN_DUE, &from, 8, &at,
                          &value) != LBX_OK ||
            (int64_t)lbx__key_number(at, 1) > rules->now)
            return;
        memcpy(key.bytes, at.data, at.size);
        key.size = (uint32_t)at.size;
        seen = lbx__key_hash(head->box, key.bytes + 16);
        // One that was used again has a later row here.
        if (lbx__row_get(rules->storage, LBX__SEEN, &seen, &value) == LBX_OK &&
            value.size >= 8 &&
            lbx__get_le64(value.data) == lbx__get_be64(key.bytes + 8))
            lbx__row_drop(rules->storage, LBX__SEEN, &seen);
        lbx__row_drop(rules->storage, LBX__SEEN_DUE, &key);
    }
}
