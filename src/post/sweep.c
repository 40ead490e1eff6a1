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
#include "post/head.h"

enum {
    SEEN_BUDGET = 4 /* more than a send adds */
};

/* ---- Too old ---- */

static lbx_status
expire(lbx__rules *rules, lbx__head *head, lbx__found *letter, int64_t at)
{
    lbx__need need = {.count = 0};
    lbx_status status;

    if (head->facts->options.fifo) {
        lbx__need_place(&need);
        status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                      LBX__SHRINKS);
        if (status != LBX_OK)
            return status;
        lbx__group_leave(rules, head, letter);
    }
    lbx__letter_remove(rules, head, letter);
    if (head->facts->options.fifo)
        lbx__group_place(rules, head, letter, LBX__STANDS_AGED, at);
    return LBX_OK;
}

/* The oldest by its row in age, or NOT_FOUND. */
static lbx_status
oldest_aged(lbx__rules *rules, const lbx__head *head, uint64_t *ret_sequence,
            int64_t *ret_sent)
{
    const lbx__key from = lbx__key_3(head->box, 0, 0);
    lbx__bytes at, value;
    lbx_status status =
        lbx__row_seek(rules->storage, LBX__AGE, &from, 8, &at, &value);

    if (status == LBX_OK) {
        *ret_sent = (int64_t)lbx__key_number(at, 1);
        *ret_sequence = lbx__key_number(at, 2);
    }
    return status;
}

/*
 * Without dead letters, sequences are in the order of age. A letter that is older
 * than its sequence says has a row in age; if such a one is the first by sequence
 * and not too old, those behind it came later still.
 */
lbx_status
lbx__sweep_age(lbx__rules *rules, lbx__head *head)
{
    const int64_t retention = head->facts->options.retention_ns;
    int64_t oldest = LBX_FOREVER, sent;
    uint64_t from = 0, sequence;
    lbx__found letter;
    lbx_status status;

    if (head->letters == 0 || retention == LBX_UNLIMITED ||
        lbx__later(head->oldest, retention) > rules->now) // H3
        return LBX_OK;
    while ((status = lbx__letter_seek(rules, head, from, &letter)) == LBX_OK) {
        oldest = letter.body.sent_ns;
        if (lbx__later(oldest, retention) > rules->now)
            break;
        status = expire(rules, head, &letter, lbx__later(oldest, retention));
        if (status != LBX_OK)
            return status;
        oldest = LBX_FOREVER;
        from = letter.sequence + 1; // comes to an end, whatever is damaged
    }
    if (status != LBX_OK && status != LBX_NOT_FOUND)
        return status;
    while ((status = oldest_aged(rules, head, &sequence, &sent)) == LBX_OK) {
        if (lbx__later(sent, retention) > rules->now)
            break;
        status = lbx__letter_get(rules, head, sequence, &letter);
        if (status == LBX_OK)
            status = expire(rules, head, &letter, sent);
        if (status != LBX_OK)
            return status == LBX_NOT_FOUND ? LBX_CORRUPT : status;
    }
    if (status == LBX_OK && sent < oldest)
        oldest = sent;
    if (oldest != head->oldest) {
        head->oldest = oldest;
        head->dirty = true;
    }
    return status == LBX_NOT_FOUND ? LBX_OK : status;
}

/* ---- Due ---- */

static lbx_status
become_ready(lbx__rules *rules, lbx__head *head, lbx__found *letter)
{
    const lbx_box_options *options = &head->facts->options;
    lbx__state to = letter->state;
    lbx__need need = {.count = 0};
    lbx_status status;

    to.kind = LBX__IS_READY;
    if (options->keep_place && !options->fifo) {
        to.due = to.place_due;
        to.turn = to.place_turn;
    }
    lbx__need_change(&need, &letter->state);
    status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                  LBX__SHRINKS);
    if (status == LBX_OK)
        lbx__letter_change(rules, head, letter, &to);
    return status;
}

lbx_status
lbx__sweep(lbx__rules *rules, lbx__head *head)
{
    const lbx__key from = lbx__key_3(head->box, 0, 0);
    lbx_status status = lbx__sweep_age(rules, head);
    lbx__bytes at, value;
    lbx__found letter;

    while (status == LBX_OK && head->leased + head->delayed > 0) {
        status =
            lbx__row_seek(rules->storage, LBX__WAITS, &from, 8, &at, &value);
        if (status == LBX_NOT_FOUND)
            return LBX_CORRUPT; // H1: there are some
        if (status != LBX_OK || (int64_t)lbx__key_number(at, 1) > rules->now)
            break;
        if (value.size != 8)
            return LBX_CORRUPT;
        letter.sequence = lbx__get_le64(value.data);
        status = lbx__state_get(rules, head, letter.sequence, &letter.state);
        if (status == LBX_OK &&
            (letter.state.kind == LBX__IS_READY ||
             (uint64_t)letter.state.due != lbx__key_number(at, 1) ||
             letter.state.turn != lbx__key_number(at, 2)))
            status = LBX_CORRUPT; // H4
        if (status == LBX_OK)
            status = become_ready(rules, head, &letter);
    }
    return status;
}

/* ---- Forgotten ---- */

void
lbx__sweep_seen(lbx__rules *rules, const lbx__head *head)
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
