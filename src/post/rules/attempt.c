/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attempts: a receive of a fifo box that is repeated with the same id, because
 * its response was lost, gets the same letters with the same receipts, and
 * their leases start again. So a lost response does not hold up the groups.
 *
 * The row of an attempt has the sequence, ticket and epoch of each letter. A
 * ticket is drawn with each lease, extension and return: while ticket and epoch
 * are the same and the letter is leased, nothing has changed it.
 *
 * A repeated attempt is no new delivery: the delivery count stays.
 *
 * Threads    one at a time, as the storage.
 */
#include "post/rules/internal.h"

#include <string.h>

enum {
    ATTEMPT_LETTER_BYTES = 20,
    ATTEMPT_BYTES = 8 + 4 + LBX_MAX_BATCH * ATTEMPT_LETTER_BYTES
};

struct attempt {
    uint8_t hash[LBX__HASH_BYTES];
    lbx__letter_record letters[LBX_MAX_BATCH];
    uint32_t count;
};

static void
attempt_write(lbx__rules *rules, const lbx__claim *claim,
              const uint8_t hash[LBX__HASH_BYTES])
{
    const uint64_t row_id = claim->box->row_id;
    const int64_t until = lbx__time_add(rules->now, LBX__REMEMBERED_NS);
    const lbx__key key = lbx__key_hash(row_id, hash);
    const lbx__key due = lbx__key_due_hash(row_id, until, hash);
    uint8_t bytes[ATTEMPT_BYTES] = {0};
    uint8_t *at = lbx__put_le64(bytes, (uint64_t)until);

    at = lbx__put_le32(at, claim->count);
    for (uint32_t i = 0; i < claim->count; i++) {
        at = lbx__put_le64(at, claim->got[i].sequence);
        at = lbx__put_le64(at, claim->got[i].ticket);
        at = lbx__put_le32(at, claim->got[i].epoch);
    }
    lbx__row_put(rules->storage, LBX__SEEN, &key,
                 &(lbx__bytes){bytes, sizeof(bytes)}, 1);
    lbx__row_put_empty(rules->storage, LBX__SEEN_DUE, &due);
}

/* The letters of an attempt that can be repeated: OK; NOT_FOUND. */
static lbx_status
attempt_find(lbx__rules *rules, const lbx__box_record *box,
             struct attempt *attempt)
{
    const lbx__key key = lbx__key_hash(box->row_id, attempt->hash);
    uint8_t row[ATTEMPT_BYTES];
    lbx__bytes value;
    lbx_status status = lbx__row_get(rules->storage, LBX__SEEN, &key, &value);

    if (status != LBX_OK)
        return status;
    if (value.size != ATTEMPT_BYTES)
        return LBX_CORRUPT;
    memcpy(row, value.data, sizeof(row));
    attempt->count = lbx__get_le32(row + 8);
    if (attempt->count > LBX_MAX_BATCH)
        return LBX_CORRUPT;
    if ((int64_t)lbx__get_le64(row) <= rules->now)
        return LBX_NOT_FOUND;
    for (uint32_t i = 0; i < attempt->count; i++) {
        const uint8_t *at = row + 12 + (size_t)i * ATTEMPT_LETTER_BYTES;
        lbx__letter_record *letter = &attempt->letters[i];

        status = lbx__letter_record_get(rules, box, lbx__get_le64(at), letter);
        if (status != LBX_OK)
            return status;
        if (letter->state.kind != LBX__IS_LEASED ||
            letter->state.ticket != lbx__get_le64(at + 8) ||
            letter->state.epoch != lbx__get_le32(at + 16))
            return LBX_NOT_FOUND;
    }
    return attempt->count > 0 ? LBX_OK : LBX_NOT_FOUND;
}

static lbx_status
attempt_repeat(lbx__rules *rules, lbx__claim *claim, lbx__letter_record *letter)
{
    lbx__box_record *box = claim->box;
    lbx__state to = letter->state;
    lbx__need need = {.count = 0};
    lbx_status status;

    lbx__letter_record_need_change(&need, box, letter);
    lbx__group_need_requeue(&need);
    status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                  LBX__SHRINKS);
    if (status == LBX_OK)
        status =
            lbx__receive_deliver(rules, box, letter, &to, claim->sink, true);
    if (status != LBX_OK)
        return status;
    to.due = lbx__time_add(rules->now, claim->request->lease_ns);
    to.ticket = box->next++;
    to.received_ns = rules->now;
    lbx__letter_record_change(rules, box, letter, &to);
    lbx__group_requeue(rules, box, letter, LBX__GROUP_LAST, 0);
    claim->got[claim->count].sequence = letter->sequence;
    claim->got[claim->count].ticket = to.ticket;
    claim->got[claim->count].epoch = to.epoch;
    claim->count++;
    return LBX_OK;
}

lbx_status
lbx__attempt_receive(lbx__rules *rules, lbx__claim *claim)
{
    lbx__need need = {.count = 0};
    struct attempt attempt;
    lbx_status status = lbx__rules_hash(rules, 'a', claim->request->attempt_id,
                                        NULL, attempt.hash);

    if (status != LBX_OK)
        return status;
    lbx__sweep_seen(rules, claim->box, LBX__SEEN_SWEPT);
    lbx__need_row(&need, 24, ATTEMPT_BYTES);
    lbx__need_row(&need, 32, 0);
    status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                  LBX__SHRINKS);
    if (status != LBX_OK)
        return status;
    status = attempt_find(rules, claim->box, &attempt);
    if (status == LBX_OK) {
        for (uint32_t i = 0;
             i < attempt.count && claim->count < claim->max && status == LBX_OK;
             i++)
            status = attempt_repeat(rules, claim, &attempt.letters[i]);
    } else if (status == LBX_NOT_FOUND)
        status = lbx__group_receive(rules, claim);
    if (claim->count > 0)
        attempt_write(rules, claim, attempt.hash);
    return status;
}
