/* SPDX-License-Identifier: Apache-2.0 */
/* Heads, and the rows of a letter; the invariants are in head.h. */
#include "post/rules/internal.h"

#include "post/rules/box_row.h"

#include <string.h>

/* ---- Heads ---- */

lbx_status
lbx__box_record_decode(lbx__bytes value, lbx__box_record *head)
{
    const uint8_t *at = value.data;

    if (value.size != LBX__BOX_RECORD_BYTES)
        return LBX_CORRUPT;
    head->box = lbx__get_le64(at);
    head->next = lbx__get_le64(at + 8);
    head->fresh = lbx__get_le64(at + 16);
    head->letters = lbx__get_le64(at + 24);
    head->leased = lbx__get_le64(at + 32);
    head->delayed = lbx__get_le64(at + 40);
    head->bytes = lbx__get_le64(at + 48);
    head->sum = lbx__get_le64(at + 56);
    head->change = lbx__get_le64(at + 64);
    head->oldest = (int64_t)lbx__get_le64(at + 72);
    head->configured = lbx__get_le32(at + 80);
    head->dirty = false;
    return LBX_OK;
}

void
lbx__box_record_write(lbx__rules *rules, lbx__box_record *head)
{
    const lbx__key key = lbx__key_1(head->uid);
    uint8_t bytes[LBX__BOX_RECORD_BYTES] = {0};
    uint8_t *at = bytes;

    head->change++;
    at = lbx__put_le64(at, head->box);
    at = lbx__put_le64(at, head->next);
    at = lbx__put_le64(at, head->fresh);
    at = lbx__put_le64(at, head->letters);
    at = lbx__put_le64(at, head->leased);
    at = lbx__put_le64(at, head->delayed);
    at = lbx__put_le64(at, head->bytes);
    at = lbx__put_le64(at, head->sum);
    at = lbx__put_le64(at, head->change);
    at = lbx__put_le64(at, (uint64_t)head->oldest);
    lbx__put_le32(at, head->configured);
    lbx__row_put(rules->storage, LBX__BOX_RECORDS, &key,
                 &(lbx__bytes){bytes, sizeof(bytes)}, 1);
    head->dirty = false;
}

/* Where a box's options are decoded to: its slot in the cache, unless a head that
 * is open uses that for another box. */
static lbx__facts *
slot_of(lbx__rules *rules, const lbx__box_record *head)
{
    lbx__facts *slot = &rules->facts[head->uid % LBX__FACTS_CACHED];

    for (size_t i = 0; i < rules->head_count; i++) {
        if (rules->heads[i]->facts == slot && slot->uid != head->uid)
            return &rules->own[rules->head_count];
    }
    return slot;
}

static lbx_status
find_facts(lbx__rules *rules, lbx__box_record *head)
{
    const lbx__key key = lbx__key_1(head->uid);
    lbx__facts *slot = slot_of(rules, head);
    lbx__bytes value;
    lbx_status status;

    if (slot->uid != head->uid || slot->configured != head->configured) {
        slot->uid = 0;
        status = lbx__row_get(rules->storage, LBX__BOXES, &key, &value);
        if (status == LBX_OK)
            status = lbx__box_row_decode_facts(value, slot);
        if (status != LBX_OK)
            return status == LBX_NOT_FOUND ? LBX_CORRUPT : status;
        slot->uid = head->uid;
        if (slot->configured != head->configured)
            return LBX_CORRUPT;
    }
    head->facts = slot;
    return LBX_OK;
}

static uint64_t
bit_of(uint64_t uid)
{
    return (uint64_t)1 << uid % LBX__BOX_RECORDS_KEPT;
}

static lbx__box_record *
kept_of(lbx__rules *rules, uint64_t uid)
{
    return &rules->kept[uid % LBX__BOX_RECORDS_KEPT];
}

/* Makes room for a head: where heads of its uid are kept, or, when one that is
 * open is there, among the spare ones. */
static lbx__box_record *
make_room(lbx__rules *rules, uint64_t uid)
{
    lbx__box_record *kept = kept_of(rules, uid);

    for (size_t i = 0; i < rules->head_count; i++) {
        if (rules->heads[i] == kept)
            return &rules->spare[rules->head_count];
    }
    if (rules->kept_dirty & bit_of(uid))
        lbx__box_record_write(rules, kept);
    rules->kept_dirty &= ~bit_of(uid);
    rules->kept_any &= ~bit_of(uid);
    return kept;
}

/* OK; CLOSED; CORRUPT; IO. */
static lbx_status
read_head(lbx__rules *rules, uint64_t uid, lbx__box_record *ret)
{
    const lbx__key key = lbx__key_1(uid);
    lbx__bytes value;
    lbx_status status =
        lbx__row_get(rules->storage, LBX__BOX_RECORDS, &key, &value);

    if (status != LBX_OK)
        return status == LBX_NOT_FOUND ? LBX_CLOSED : status;
    ret->uid = uid;
    return lbx__box_record_decode(value, ret);
}

lbx_status
lbx__box_record_open(lbx__rules *rules, lbx_box box, lbx__box_record **ret)
{
    lbx__box_record *head = kept_of(rules, box.uid);
    lbx_status status = LBX_OK;

    for (size_t i = 0; i < rules->head_count; i++) {
        if (rules->heads[i]->uid == box.uid) {
            *ret = rules->heads[i];
            return LBX_OK;
        }
    }
    if (box.uid == 0)
        return LBX_CLOSED;
    assert(rules->head_count < LBX__BOX_RECORDS_MAX);
    if (!(rules->kept_any & bit_of(box.uid)) || head->uid != box.uid) {
        head = make_room(rules, box.uid);
        status = read_head(rules, box.uid, head);
    }
    if (status == LBX_OK)
        status = find_facts(rules, head);
    if (status != LBX_OK)
        return status;
    if (head == kept_of(rules, box.uid))
        rules->kept_any |= bit_of(box.uid);
    rules->heads[rules->head_count++] = head;
    *ret = head;
    return LBX_OK;
}

lbx_status
lbx__box_record_find(lbx__rules *rules, const char *space, const char *name,
                     lbx__box_record **ret)
{
    const lbx__key key = lbx__key_name(space, name);
    lbx__bytes value;
    lbx_status status = lbx__row_get(rules->storage, LBX__NAMES, &key, &value);

    if (status != LBX_OK)
        return status;
    if (value.size != 8)
        return LBX_CORRUPT;
    status =
        lbx__box_record_open(rules, (lbx_box){lbx__get_le64(value.data)}, ret);
    return status == LBX_CLOSED ? LBX_CORRUPT : status; // D7
}

lbx_status
lbx__box_record_close_all(lbx__rules *rules, lbx_status status)
{
    for (size_t i = 0; i < rules->head_count; i++) {
        lbx__box_record *head = rules->heads[i];

        if (!head->dirty)
            continue;
        if (head == kept_of(rules, head->uid))
            rules->kept_dirty |= bit_of(head->uid);
        else
            lbx__box_record_write(rules, head);
        head->dirty = false;
    }
    rules->head_count = 0;
    return status;
}

void
lbx__box_record_forget(lbx__rules *rules, const lbx__box_record *head)
{
    assert(rules->head_count == 1 && head == rules->heads[0]);
    rules->kept_any &= ~bit_of(head->uid); // the first is always kept
    rules->kept_dirty &= ~bit_of(head->uid);
    rules->head_count = 0;
}

void
lbx__box_record_write_all(lbx__rules *rules)
{
    assert(rules->head_count == 0);
    for (; rules->kept_dirty; rules->kept_dirty &= rules->kept_dirty - 1)
        lbx__box_record_write(rules,
                              &rules->kept[__builtin_ctzll(rules->kept_dirty)]);
}

uint64_t
lbx__rules_commit(lbx__rules *rules)
{
    if (!rules->storage->ops->is_private) {
        lbx__box_record_write_all(rules);
        rules->kept_any = 0; // G4
    }
    return lbx__storage_commit(rules->storage);
}

/* ---- Reading letters ---- */

lbx_status
lbx__letter_record_state(lbx__rules *rules, const lbx__box_record *head,
                         uint64_t sequence, lbx__state *ret)
{
    const lbx__key key = lbx__key_2(head->box, sequence);
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

/* The body is there, and does not check; adds the state. */
static lbx_status
complete_damaged(lbx__rules *rules, const lbx__box_record *head,
                 lbx__letter_record *letter)
{
    lbx_status status =
        lbx__letter_record_state(rules, head, letter->sequence, &letter->state);

    letter->damaged = status == LBX_OK || letter->state.damaged;
    return letter->damaged ? LBX_CORRUPT : status;
}

/* The body is there; adds the state. */
static lbx_status
complete(lbx__rules *rules, const lbx__box_record *head,
         lbx__letter_record *letter)
{
    lbx_status status = lbx__body_decode_fixed(letter->value, &letter->body);

    if (status != LBX_OK)
        return complete_damaged(rules, head, letter);
    letter->body_sum = lbx__row_sum(letter->value);
    status =
        lbx__letter_record_state(rules, head, letter->sequence, &letter->state);
    letter->damaged = letter->state.damaged;
    if (status == LBX_OK && !letter->state.stored) {
        letter->state.due = letter->state.place_due = letter->body.sent_ns;
        letter->state.turn = letter->state.place_turn = letter->sequence;
    }
    return status;
}

lbx_status
lbx__letter_record_get(lbx__rules *rules, const lbx__box_record *head,
                       uint64_t sequence, lbx__letter_record *ret)
{
    const lbx__key key = lbx__key_2(head->box, sequence);
    lbx_status status =
        lbx__row_get(rules->storage, LBX__BODIES, &key, &ret->value);

    ret->sequence = sequence;
    ret->damaged = false;
    if (lbx__row_damaged(status, ret->value))
        return complete_damaged(rules, head, ret);
    return status == LBX_OK ? complete(rules, head, ret) : status;
}

lbx_status
lbx__letter_record_seek(lbx__rules *rules, const lbx__box_record *head,
                        uint64_t from, lbx__letter_record *ret)
{
    const lbx__key key = lbx__key_2(head->box, from);
    lbx__bytes at;
    lbx_status status =
        lbx__row_seek(rules->storage, LBX__BODIES, &key, 8, &at, &ret->value);

    ret->damaged = false;
    if (status != LBX_OK && !lbx__row_damaged(status, ret->value))
        return status;
    ret->sequence = lbx__key_number(at, 1);
    if (status == LBX_OK)
        return complete(rules, head, ret);
    // A key that was never given is no letter's: who stepped over it would leave
    // out all behind it.
    return ret->sequence < head->next ? complete_damaged(rules, head, ret)
                                      : status;
}

/* ---- Writing letters ---- */

/* Takes a letter out of its index and its count, or puts it in (H4). */
static void
count(lbx__rules *rules, lbx__box_record *head, uint64_t sequence,
      const lbx__state *state, bool in)
{
    const lbx__key key =
        lbx__key_3(head->box, (uint64_t)state->due, state->turn);
    const uint64_t one = in ? 1 : (uint64_t)-1;
    const lbx__table table =
        state->kind == LBX__IS_READY ? LBX__READY : LBX__WAITS;

    if (state->kind == LBX__IS_LEASED)
        head->leased += one;
    if (state->kind == LBX__IS_DELAYED)
        head->delayed += one;
    if (!state->stored || (table == LBX__READY && head->facts->options.fifo))
        return;
    if (in)
        lbx__row_put_number(rules->storage, table, &key, sequence);
    else
        lbx__row_drop(rules->storage, table, &key);
}

static void
put_state(lbx__rules *rules, lbx__box_record *head, uint64_t sequence,
          lbx__state *state)
{
    const lbx__key key = lbx__key_2(head->box, sequence);
    uint8_t bytes[LBX__STATE_BYTES];

    lbx__body_encode_state(state, bytes);
    state->sum = lbx__row_put(rules->storage, LBX__STATES, &key,
                              &(lbx__bytes){bytes, sizeof(bytes)}, 1);
    state->stored = true;
    head->sum += lbx__row_hash(LBX__STATES, &key, state->sum);
}

void
lbx__letter_record_need_change(lbx__need *need, const lbx__state *state)
{
    if (!state->stored)
        lbx__need_row(need, 16, LBX__STATE_BYTES);
    lbx__need_row(need, 24, 8);
}

void
lbx__letter_record_change(lbx__rules *rules, lbx__box_record *head,
                          lbx__letter_record *letter, const lbx__state *to)
{
    const lbx__key key = lbx__key_2(head->box, letter->sequence);
    lbx__state state = *to;

    count(rules, head, letter->sequence, &letter->state, false);
    if (letter->state.stored)
        head->sum -= lbx__row_hash(LBX__STATES, &key, letter->state.sum);
    put_state(rules, head, letter->sequence, &state);
    count(rules, head, letter->sequence, &state, true);
    letter->state = state;
    head->dirty = true;
}

void
lbx__letter_record_remove(lbx__rules *rules, lbx__box_record *head,
                          lbx__letter_record *letter)
{
    const lbx__key key = lbx__key_2(head->box, letter->sequence);
    const lbx__key age =
        lbx__key_3(head->box, (uint64_t)letter->body.sent_ns, letter->sequence);

    count(rules, head, letter->sequence, &letter->state, false);
    if (letter->state.stored) {
        head->sum -= lbx__row_hash(LBX__STATES, &key, letter->state.sum);
        lbx__row_drop(rules->storage, LBX__STATES, &key);
    }
    if (letter->body.aged)
        lbx__row_drop(rules->storage, LBX__AGE, &age);
    head->sum -= lbx__row_hash(LBX__BODIES, &key, letter->body_sum);
    lbx__row_drop(rules->storage, LBX__BODIES, &key);
    head->letters--;
    head->bytes -= letter->body.counted_bytes;
    head->dirty = true;
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
lbx__letter_record_insert(lbx__rules *rules, lbx__box_record *head,
                          uint64_t sequence, const lbx__body *body,
                          lbx__bytes encoded, const lbx__state *state)
{
    const lbx__key key = lbx__key_2(head->box, sequence);
    const lbx__key age =
        lbx__key_3(head->box, (uint64_t)body->sent_ns, sequence);
    uint8_t fixed[LBX__BODY_FIXED];
    const lbx__bytes parts[] = {
        {fixed, sizeof(fixed)},
        encoded,
        {body->parcel.body, body->parcel.body_bytes},
    };
    uint32_t sum;

    lbx__body_fixed(body, fixed);
    sum = lbx__row_put(rules->storage, LBX__BODIES, &key, parts, 3);
    head->sum += lbx__row_hash(LBX__BODIES, &key, sum);
    head->bytes += body->counted_bytes;
    if (head->letters == 0 || body->sent_ns < head->oldest)
        head->oldest = body->sent_ns; // H3
    head->letters++;
    if (body->source && body->gid == 0)
        lbx__row_put_empty(rules->storage, LBX__AGE, &age);
    if (state) {
        lbx__state copy = *state;

        put_state(rules, head, sequence, &copy);
        count(rules, head, sequence, &copy, true);
    }
    head->dirty = true;
}
