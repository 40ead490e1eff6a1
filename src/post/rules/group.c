/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of fifo boxes: strict order within a group, a queue of groups.
 *
 * A group is a line of letters by sequence. The letters at its beginning that
 * are ready can be served; one that is leased or delayed holds up all after it,
 * and none before it. So a group is due when its first letter is, and the queue
 * has one row for it, in group_due:
 *
 *   its first letter is leased or delayed   when that lease or delay ends
 *   it was nacked, or the letter before it  last: now, with a new ticket
 *   was acknowledged
 *   its delivery was undone                 where the group was
 *   the letter before it expired            at that moment, with its sequence
 *                                           as the ticket
 *
 * A letter in a fifo box has a state, and a row in waits, as in a plain box,
 * but no row in ready.
 *
 * GROUP-1  Letters of a group are claimed in the order of their sequences.
 * GROUP-2  While one is leased, none after it is claimed, except by the same
 *          receive.
 * GROUP-3  Sequences of a group only grow: they are those of the box.
 * GROUP-4  A group has rows in groups, gids and group_due exactly while its
 *          line has letters.
 * GROUP-5  A damaged letter stops its own group, whose order it would break,
 *          and no other.
 *
 * Threads    one at a time, as the storage.
 */
#include "post/rules/internal.h"

#include <string.h>

enum {
    GROUP_ROW_BYTES = LBX__HASH_BYTES + 16
};

/* ---- The rows of a group ---- */

typedef struct group_row {
    uint8_t hash[LBX__HASH_BYTES];
    int64_t due;
    uint64_t ticket;
} group_row;

static void
group_put(lbx__rules *rules, const lbx__box_record *box, uint64_t gid,
          const group_row *row)
{
    const lbx__key key = lbx__key_2(box->row_id, gid);
    const lbx__key queued =
        lbx__key_3(box->row_id, (uint64_t)row->due, row->ticket);
    uint8_t bytes[GROUP_ROW_BYTES];

    memcpy(bytes, row->hash, LBX__HASH_BYTES);
    lbx__put_le64(bytes + LBX__HASH_BYTES, (uint64_t)row->due);
    lbx__put_le64(bytes + LBX__HASH_BYTES + 8, row->ticket);
    lbx__row_put(rules->storage, LBX__GIDS, &key,
                 &(lbx__bytes){bytes, sizeof(bytes)}, 1);
    lbx__row_put_number(rules->storage, LBX__GROUP_DUE, &queued, gid);
}

static lbx_status
group_get(lbx__rules *rules, const lbx__box_record *box, uint64_t gid,
          group_row *ret)
{
    const lbx__key key = lbx__key_2(box->row_id, gid);
    lbx__bytes value;
    lbx_status status = lbx__row_get(rules->storage, LBX__GIDS, &key, &value);
    const uint8_t *at = value.data;

    if (status != LBX_OK || value.size != GROUP_ROW_BYTES)
        return status == LBX_OK ? LBX_CORRUPT : status;
    memcpy(ret->hash, at, LBX__HASH_BYTES);
    ret->due = (int64_t)lbx__get_le64(at + LBX__HASH_BYTES);
    ret->ticket = lbx__get_le64(at + LBX__HASH_BYTES + 8);
    return LBX_OK;
}

/* The first sequence of a line at `from` or after it; NOT_FOUND. */
static lbx_status
group_next_in_line(lbx__rules *rules, const lbx__box_record *box, uint64_t gid,
                   uint64_t from, uint64_t *ret)
{
    const lbx__key key = lbx__key_3(box->row_id, gid, from);
    lbx__bytes at, value;
    lbx_status status =
        lbx__row_seek(rules->storage, LBX__LINES, &key, 16, &at, &value);

    if (status == LBX_OK)
        *ret = lbx__key_number(at, 2);
    return status;
}

/* The first queued group at (due, ticket) or after it; NOT_FOUND. */
static lbx_status
group_next_due(lbx__rules *rules, const lbx__box_record *box, int64_t *due,
               uint64_t *ticket, uint64_t *ret_gid)
{
    const lbx__key key = lbx__key_3(box->row_id, (uint64_t)*due, *ticket);
    lbx__bytes at, value;
    lbx_status status =
        lbx__row_seek(rules->storage, LBX__GROUP_DUE, &key, 8, &at, &value);

    if (status != LBX_OK || value.size != 8)
        return status == LBX_OK ? LBX_CORRUPT : status;
    *due = (int64_t)lbx__key_number(at, 1);
    *ticket = lbx__key_number(at, 2);
    *ret_gid = lbx__get_le64(value.data);
    return LBX_OK;
}

/* ---- Joining, leaving, queuing ---- */

lbx_status
lbx__group_hash(lbx__rules *rules, const char *name,
                uint8_t hash[LBX__HASH_BYTES])
{
    return lbx__rules_hash(rules, 'g', name, NULL, hash);
}

void
lbx__group_need_join(lbx__need *need)
{
    lbx__need_row(need, 24, 0);
    lbx__need_row(need, 24, 8);
    lbx__need_row(need, 16, GROUP_ROW_BYTES);
    lbx__need_row(need, 24, 8);
}

void
lbx__group_need_requeue(lbx__need *need)
{
    lbx__need_row(need, 24, 8);
}

bool
lbx__group_find(lbx__rules *rules, const lbx__box_record *box,
                const uint8_t hash[LBX__HASH_BYTES], uint64_t *ret_gid)
{
    const lbx__key key = lbx__key_hash(box->row_id, hash);
    lbx__bytes value;

    if (lbx__row_get(rules->storage, LBX__GROUPS, &key, &value) != LBX_OK ||
        value.size != 8)
        return false;
    *ret_gid = lbx__get_le64(value.data);
    return true;
}

uint64_t
lbx__group_join(lbx__rules *rules, lbx__box_record *box,
                const uint8_t hash[LBX__HASH_BYTES], uint64_t sequence,
                int64_t due)
{
    const lbx__key key = lbx__key_hash(box->row_id, hash);
    group_row row = {.due = due, .ticket = sequence};
    lbx__key line;
    uint64_t gid;

    if (!lbx__group_find(rules, box, hash, &gid)) {
        gid = box->next++;
        memcpy(row.hash, hash, LBX__HASH_BYTES);
        lbx__row_put_number(rules->storage, LBX__GROUPS, &key, gid);
        group_put(rules, box, gid, &row);
    }
    line = lbx__key_3(box->row_id, gid, sequence);
    lbx__row_put_empty(rules->storage, LBX__LINES, &line);
    return gid;
}

void
lbx__group_leave(lbx__rules *rules, lbx__box_record *box,
                 const lbx__letter_record *letter)
{
    const lbx__key key =
        lbx__key_3(box->row_id, letter->body.gid, letter->sequence);

    lbx__row_drop(rules->storage, LBX__LINES, &key);
}

static void
group_remove(lbx__rules *rules, const lbx__box_record *box, uint64_t gid,
             const group_row *row)
{
    const lbx__key group = lbx__key_hash(box->row_id, row->hash);
    const lbx__key number = lbx__key_2(box->row_id, gid);

    lbx__row_drop(rules->storage, LBX__GROUPS, &group);
    lbx__row_drop(rules->storage, LBX__GIDS, &number);
}

/*
 * Reads between writes: these rows were intact when the rule decided. If one is
 * damaged, the group stays where it is, and the next receive returns CORRUPT.
 */
void
lbx__group_requeue(lbx__rules *rules, lbx__box_record *box,
                   const lbx__letter_record *letter,
                   lbx__group_position position, int64_t at)
{
    const uint64_t gid = letter->body.gid;
    const int64_t from = position == LBX__GROUP_EXPIRED ? at : rules->now;
    lbx__letter_record next;
    group_row row;
    uint64_t first;
    lbx__key old;
    lbx_status status = group_get(rules, box, gid, &row);

    if (status != LBX_OK)
        return;
    old = lbx__key_3(box->row_id, (uint64_t)row.due, row.ticket);
    status = group_next_in_line(rules, box, gid, 0, &first);
    if (status == LBX_NOT_FOUND) {
        lbx__row_drop(rules->storage, LBX__GROUP_DUE, &old);
        group_remove(rules, box, gid, &row);
        return;
    }
    if (status != LBX_OK || first < letter->sequence)
        return;
    // The body says when the letter was sent, which may be after `at`.
    status = position == LBX__GROUP_EXPIRED
                 ? lbx__letter_record_get(rules, box, first, &next)
                 : lbx__letter_record_state(rules, box, first, &next.state);
    if (status != LBX_OK)
        return;
    if (position == LBX__GROUP_RESTORED) {
        row.due = letter->state.claimed_due;
        row.ticket = letter->state.claimed_ticket;
    } else if (next.state.due > from) {
        row.due = next.state.due;
        row.ticket = next.state.ticket;
    } else {
        row.due = from;
        row.ticket = position == LBX__GROUP_EXPIRED ? first : box->next++;
        box->dirty = true;
    }
    lbx__row_drop(rules->storage, LBX__GROUP_DUE, &old);
    group_put(rules, box, gid, &row);
}

/* ---- Claiming ---- */

lbx_status
lbx__group_next_due(lbx__rules *rules, const lbx__box_record *box,
                    int64_t *ret_due)
{
    int64_t due = 0;
    uint64_t ticket = 0, gid;
    lbx_status status = group_next_due(rules, box, &due, &ticket, &gid);

    if (status == LBX_OK)
        *ret_due = due;
    return status;
}

lbx_status
lbx__group_next(lbx__rules *rules, lbx__box_record *box,
                lbx__letter_record *ret)
{
    int64_t due = 0;
    uint64_t ticket = 0, gid, first;
    uint32_t skips = 0;

    for (;; ticket++) {
        lbx_status status = group_next_due(rules, box, &due, &ticket, &gid);

        if (status == LBX_OK && due > rules->now)
            status = LBX_NOT_FOUND;
        if (status == LBX_NOT_FOUND && skips > 0)
            status = LBX_CORRUPT; // GROUP-5
        if (status != LBX_OK)
            return status;
        status = group_next_in_line(rules, box, gid, 0, &first);
        if (status == LBX_OK)
            status = lbx__letter_record_get(rules, box, first, ret);
        if (status == LBX_NOT_FOUND)
            return LBX_CORRUPT; // GROUP-4
        if (!lbx__letter_record_skip(status, ret, &skips))
            return status;
        rules->damaged = true;
    }
}

/* True when a letter is damaged and is not leased or delayed: it would be next,
 * and cannot be delivered. */
static bool
group_is_stopped(lbx_status status, const lbx__letter_record *letter)
{
    return status == LBX_CORRUPT && letter->damaged &&
           (letter->state.damaged || letter->state.kind == LBX__IS_READY);
}

/* Claims the ready letters of a group in their order. NOT_FOUND: none is
 * left. */
static lbx_status
group_serve(lbx__rules *rules, lbx__claim *claim, uint64_t gid)
{
    lbx__letter_record letter, first;
    bool taken = false;
    uint64_t sequence = 0;
    lbx_status status = LBX_OK;

    while (claim->count < claim->max) {
        status =
            group_next_in_line(rules, claim->box, gid, sequence, &sequence);
        if (status == LBX_NOT_FOUND && sequence == 0)
            status = LBX_CORRUPT; // GROUP-4
        if (status != LBX_OK)
            break;
        if (sequence >= claim->tickets_end) {
            status = LBX_NOT_FOUND; // DEADLET-4
            break;
        }
        status = lbx__letter_record_get(rules, claim->box, sequence, &letter);
        if (status == LBX_NOT_FOUND)
            status = LBX_CORRUPT; // GROUP-4
        else if (group_is_stopped(status, &letter) &&
                 lbx__letter_record_skip(status, &letter, &claim->stopped)) {
            rules->damaged = true; // GROUP-5
            status = LBX_NOT_FOUND;
        } else if ((status == LBX_OK || letter.damaged) &&
                   letter.state.kind != LBX__IS_READY)
            status = LBX_NOT_FOUND; // GROUP-2
        if (status != LBX_OK)
            break;
        status = lbx__receive_claim(rules, claim, &letter);
        if (status != LBX_OK)
            break;
        if (!taken)
            first = letter;
        taken = true;
        sequence++;
    }
    if (taken)
        lbx__group_requeue(rules, claim->box, &first, LBX__GROUP_LAST, 0);
    return status;
}

lbx_status
lbx__group_receive(lbx__rules *rules, lbx__claim *claim)
{
    lbx_status status = LBX_OK;
    int64_t due = 0;
    uint64_t ticket = 0, gid;

    while (claim->count < claim->max) {
        status = group_next_due(rules, claim->box, &due, &ticket, &gid);
        if (status == LBX_NOT_FOUND && due == 0 && claim->box->letters > 0)
            status = LBX_CORRUPT; // GROUP-4
        if (status != LBX_OK)
            break;
        if (due > rules->now || ticket >= claim->tickets_end)
            return LBX_NOT_FOUND;
        claim->claimed_due = due;
        claim->claimed_ticket = ticket;
        status = group_serve(rules, claim, gid);
        if (status == LBX_FULL)
            return LBX_NOT_FOUND; // as SQS does: no more letters, no error
        if (status != LBX_OK && status != LBX_NOT_FOUND)
            break;
        ticket++;
    }
    return status;
}
