/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups: strict order within, turns among them.
 *
 * A group is a line of letters by sequence. What can be served is the beginning
 * of the line, as far as letters are ready: one that is leased or delayed holds
 * up all behind it, and none before it. So a group is due when its first letter
 * is, and stands in one row of turns by that:
 *
 *   its first letter is leased or delayed   where that letter's time is over
 *   it was nacked, or the one before it     last: now, with a turn drawn for it
 *   was acknowledged
 *   its delivery was undone                 where it had stood
 *   the one before it grew too old          at that moment, with its sequence for
 *                                           a turn
 *
 * A letter in a fifo box has a state, and a row in waits, as in a plain box, but
 * none in ready.
 *
 * Q1  Letters of a group are claimed in the order of their sequences.
 * Q2  While one is leased, none behind it is claimed, but by the same receive.
 * Q4  Sequences of a group only grow: they are those of the box.
 * Q5  A group has rows in groups, gids and turns as long as its line has letters.
 * Q6  A letter that is damaged stops its own group, whose order it would break, and
 *     no other.
 */
#include "post/rules/internal.h"

#include <string.h>

enum {
    GID_BYTES = LBX__HASH_BYTES + 16
};

/* ---- The rows of a group ---- */

typedef struct standing_row {
    uint8_t hash[LBX__HASH_BYTES];
    int64_t due;
    uint64_t turn;
} standing_row;

static void
put_standing(lbx__rules *rules, const lbx__box_record *head, uint64_t gid,
             const standing_row *row)
{
    const lbx__key key = lbx__key_2(head->box, gid);
    const lbx__key turn = lbx__key_3(head->box, (uint64_t)row->due, row->turn);
    uint8_t bytes[GID_BYTES];

    memcpy(bytes, row->hash, LBX__HASH_BYTES);
    lbx__put_le64(bytes + LBX__HASH_BYTES, (uint64_t)row->due);
    lbx__put_le64(bytes + LBX__HASH_BYTES + 8, row->turn);
    lbx__row_put(rules->storage, LBX__GIDS, &key,
                 &(lbx__bytes){bytes, sizeof(bytes)}, 1);
    lbx__row_put_number(rules->storage, LBX__GROUP_DUE, &turn, gid);
}

static lbx_status
get_standing(lbx__rules *rules, const lbx__box_record *head, uint64_t gid,
             standing_row *ret)
{
    const lbx__key key = lbx__key_2(head->box, gid);
    lbx__bytes value;
    lbx_status status = lbx__row_get(rules->storage, LBX__GIDS, &key, &value);
    const uint8_t *at = value.data;

    if (status != LBX_OK || value.size != GID_BYTES)
        return status == LBX_OK ? LBX_CORRUPT : status;
    memcpy(ret->hash, at, LBX__HASH_BYTES);
    ret->due = (int64_t)lbx__get_le64(at + LBX__HASH_BYTES);
    ret->turn = lbx__get_le64(at + LBX__HASH_BYTES + 8);
    return LBX_OK;
}

/* The first of a line at `from` or behind it; NOT_FOUND. */
static lbx_status
next_in_line(lbx__rules *rules, const lbx__box_record *head, uint64_t gid,
             uint64_t from, uint64_t *ret)
{
    const lbx__key key = lbx__key_3(head->box, gid, from);
    lbx__bytes at, value;
    lbx_status status =
        lbx__row_seek(rules->storage, LBX__LINES, &key, 16, &at, &value);

    if (status == LBX_OK)
        *ret = lbx__key_number(at, 2);
    return status;
}

/* The group that stands first at (due, turn) or behind it; NOT_FOUND. */
static lbx_status
next_group(lbx__rules *rules, const lbx__box_record *head, int64_t *due,
           uint64_t *turn, uint64_t *ret_gid)
{
    const lbx__key key = lbx__key_3(head->box, (uint64_t)*due, *turn);
    lbx__bytes at, value;
    lbx_status status =
        lbx__row_seek(rules->storage, LBX__GROUP_DUE, &key, 8, &at, &value);

    if (status != LBX_OK || value.size != 8)
        return status == LBX_OK ? LBX_CORRUPT : status;
    *due = (int64_t)lbx__key_number(at, 1);
    *turn = lbx__key_number(at, 2);
    *ret_gid = lbx__get_le64(value.data);
    return LBX_OK;
}

/* ---- Joining, leaving, standing ---- */

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
    lbx__need_row(need, 16, GID_BYTES);
    lbx__need_row(need, 24, 8);
}

void
lbx__group_need_requeue(lbx__need *need)
{
    lbx__need_row(need, 24, 8);
}

uint64_t
lbx__group_join(lbx__rules *rules, lbx__box_record *head,
                const uint8_t hash[LBX__HASH_BYTES], uint64_t sequence,
                int64_t due)
{
    const lbx__key key = lbx__key_hash(head->box, hash);
    standing_row row = {.due = due, .turn = sequence};
    lbx__bytes value;
    lbx__key line;
    uint64_t gid;

    if (lbx__row_get(rules->storage, LBX__GROUPS, &key, &value) == LBX_OK &&
        value.size == 8) {
        gid = lbx__get_le64(value.data);
    } else {
        gid = head->next++;
        memcpy(row.hash, hash, LBX__HASH_BYTES);
        lbx__row_put_number(rules->storage, LBX__GROUPS, &key, gid);
        put_standing(rules, head, gid, &row);
    }
    line = lbx__key_3(head->box, gid, sequence);
    lbx__row_put_empty(rules->storage, LBX__LINES, &line);
    return gid;
}

void
lbx__group_leave(lbx__rules *rules, lbx__box_record *head,
                 const lbx__letter_record *letter)
{
    const lbx__key key =
        lbx__key_3(head->box, letter->body.gid, letter->sequence);

    lbx__row_drop(rules->storage, LBX__LINES, &key);
}

static void
end_group(lbx__rules *rules, const lbx__box_record *head, uint64_t gid,
          const standing_row *row)
{
    const lbx__key group = lbx__key_hash(head->box, row->hash);
    const lbx__key number = lbx__key_2(head->box, gid);

    lbx__row_drop(rules->storage, LBX__GROUPS, &group);
    lbx__row_drop(rules->storage, LBX__GIDS, &number);
}

/*
 * Reads in the middle of writing: rows that were sound when the verb decided. One
 * that is not leaves the group where it stands; the next receive will say so.
 */
void
lbx__group_requeue(lbx__rules *rules, lbx__box_record *head,
                   const lbx__letter_record *letter,
                   lbx__group_position standing, int64_t at)
{
    const uint64_t gid = letter->body.gid;
    const int64_t from = standing == LBX__GROUP_EXPIRED ? at : rules->now;
    lbx__letter_record next;
    standing_row row;
    uint64_t first;
    lbx__key old;
    lbx_status status = get_standing(rules, head, gid, &row);

    if (status != LBX_OK)
        return;
    old = lbx__key_3(head->box, (uint64_t)row.due, row.turn);
    status = next_in_line(rules, head, gid, 0, &first);
    if (status == LBX_NOT_FOUND) {
        lbx__row_drop(rules->storage, LBX__GROUP_DUE, &old);
        end_group(rules, head, gid, &row);
        return;
    }
    if (status != LBX_OK || first < letter->sequence)
        return;
    // The body is read for the moment it was sent, which is past, but maybe not
    // yet at `at`.
    status = standing == LBX__GROUP_EXPIRED
                 ? lbx__letter_record_get(rules, head, first, &next)
                 : lbx__letter_record_state(rules, head, first, &next.state);
    if (status != LBX_OK)
        return;
    if (standing == LBX__GROUP_RESTORED) {
        row.due = letter->state.place_due;
        row.turn = letter->state.place_turn;
    } else if (next.state.due > from) {
        row.due = next.state.due;
        row.turn = next.state.turn;
    } else {
        row.due = from;
        row.turn = standing == LBX__GROUP_EXPIRED ? first : head->next++;
        head->dirty = true;
    }
    lbx__row_drop(rules->storage, LBX__GROUP_DUE, &old);
    put_standing(rules, head, gid, &row);
}

/* ---- Claiming ---- */

lbx_status
lbx__group_next_due(lbx__rules *rules, const lbx__box_record *head,
                    int64_t *ret_due)
{
    int64_t due = 0;
    uint64_t turn = 0, gid;
    lbx_status status = next_group(rules, head, &due, &turn, &gid);

    if (status == LBX_OK)
        *ret_due = due;
    return status;
}

lbx_status
lbx__group_next(lbx__rules *rules, lbx__box_record *head,
                lbx__letter_record *ret)
{
    int64_t due = 0;
    uint64_t turn = 0, gid, first;
    uint32_t steps = 0;

    for (;; turn++) {
        lbx_status status = next_group(rules, head, &due, &turn, &gid);

        if (status == LBX_OK && due > rules->now)
            status = LBX_NOT_FOUND;
        if (status == LBX_NOT_FOUND && steps > 0)
            status = LBX_CORRUPT; // Q6
        if (status != LBX_OK)
            return status;
        status = next_in_line(rules, head, gid, 0, &first);
        if (status == LBX_OK)
            status = lbx__letter_record_get(rules, head, first, ret);
        if (status == LBX_NOT_FOUND)
            return LBX_CORRUPT; // Q5
        if (!lbx__letter_record_skip(status, ret, &steps))
            return status;
        rules->damaged = true;
    }
}

/* Whether a letter is damaged, and has not been leased or delayed: nobody knows
 * when it will be had. */
static bool
stops(lbx_status status, const lbx__letter_record *letter)
{
    return status == LBX_CORRUPT && letter->damaged &&
           (letter->state.damaged || letter->state.kind == LBX__IS_READY);
}

/* As many of a group as are ready, in their order. NOT_FOUND: none is, any more. */
static lbx_status
serve(lbx__rules *rules, lbx__claim *claim, uint64_t gid)
{
    lbx__letter_record letter, first;
    bool taken = false;
    uint64_t sequence = 0;
    lbx_status status = LBX_OK;

    while (claim->count < claim->most) {
        status = next_in_line(rules, claim->head, gid, sequence, &sequence);
        if (status == LBX_NOT_FOUND && sequence == 0)
            status = LBX_CORRUPT; // Q5
        if (status != LBX_OK)
            break;
        if (sequence >= claim->turns_end) {
            status = LBX_NOT_FOUND; // L4
            break;
        }
        status = lbx__letter_record_get(rules, claim->head, sequence, &letter);
        if (status == LBX_NOT_FOUND)
            status = LBX_CORRUPT; // Q5
        else if (stops(status, &letter) &&
                 lbx__letter_record_skip(status, &letter, &claim->stopped)) {
            rules->damaged = true; // Q6
            status = LBX_NOT_FOUND;
        } else if ((status == LBX_OK || letter.damaged) &&
                   letter.state.kind != LBX__IS_READY)
            status = LBX_NOT_FOUND; // Q2
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
        lbx__group_requeue(rules, claim->head, &first, LBX__GROUP_LAST, 0);
    return status;
}

lbx_status
lbx__group_receive(lbx__rules *rules, lbx__claim *claim)
{
    lbx_status status = LBX_OK;
    int64_t due = 0;
    uint64_t turn = 0, gid;

    while (claim->count < claim->most) {
        status = next_group(rules, claim->head, &due, &turn, &gid);
        if (status == LBX_NOT_FOUND && due == 0 && claim->head->letters > 0)
            status = LBX_CORRUPT; // Q5
        if (status != LBX_OK)
            break;
        if (due > rules->now || turn >= claim->turns_end)
            return LBX_NOT_FOUND;
        claim->place_due = due;
        claim->place_turn = turn;
        status = serve(rules, claim, gid);
        if (status == LBX_FULL)
            return LBX_NOT_FOUND; // as SQS: simply no more
        if (status != LBX_OK && status != LBX_NOT_FOUND)
            break;
        turn++;
    }
    return status;
}
