/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of boxes: reading, keeping and writing them; see box_record.h.
 *
 * Records are kept in a table by uid, with one bit each for "used" and "dirty".
 * A record whose slot is taken by another open record uses a spare slot of this
 * rule, and is written when it is closed. Decoded options are cached the same
 * way.
 *
 * Changes are kept in a small array, one entry for each box. When it is full,
 * the entry 0 stands for every box, which is always true and only costs a
 * search.
 */
#include "post/rules/internal.h"

#include "post/rules/box_row.h"

#include <string.h>

lbx_status
lbx__box_record_decode(lbx__bytes value, lbx__box_record *box)
{
    const uint8_t *at = value.data;

    if (value.size != LBX__BOX_RECORD_BYTES)
        return LBX_CORRUPT;
    box->row_id = lbx__get_le64(at);
    box->next = lbx__get_le64(at + 8);
    box->fresh = lbx__get_le64(at + 16);
    box->letters = lbx__get_le64(at + 24);
    box->leased = lbx__get_le64(at + 32);
    box->delayed = lbx__get_le64(at + 40);
    box->bytes = lbx__get_le64(at + 48);
    box->sum = lbx__get_le64(at + 56);
    box->change = lbx__get_le64(at + 64);
    box->oldest = (int64_t)lbx__get_le64(at + 72);
    box->configured = lbx__get_le32(at + 80);
    box->stated = lbx__get_le64(at + 84);
    box->tenants = lbx__get_le32(at + 92);
    box->dirty = false;
    return LBX_OK;
}

void
lbx__box_record_write(lbx__rules *rules, lbx__box_record *box)
{
    const lbx__key key = lbx__key_1(box->uid);
    uint8_t bytes[LBX__BOX_RECORD_BYTES] = {0};
    uint8_t *at = bytes;

    box->change++;
    at = lbx__put_le64(at, box->row_id);
    at = lbx__put_le64(at, box->next);
    at = lbx__put_le64(at, box->fresh);
    at = lbx__put_le64(at, box->letters);
    at = lbx__put_le64(at, box->leased);
    at = lbx__put_le64(at, box->delayed);
    at = lbx__put_le64(at, box->bytes);
    at = lbx__put_le64(at, box->sum);
    at = lbx__put_le64(at, box->change);
    at = lbx__put_le64(at, (uint64_t)box->oldest);
    at = lbx__put_le32(at, box->configured);
    at = lbx__put_le64(at, box->stated);
    lbx__put_le32(at, box->tenants);
    lbx__row_put(rules->storage, LBX__BOX_RECORDS, &key,
                 &(lbx__bytes){bytes, sizeof(bytes)}, 1);
    box->dirty = false;
}

/* Where the options of a box are decoded to: its slot in the cache, unless an
 * open record uses that slot for another box. */
static lbx__facts *
box_facts_slot(lbx__rules *rules, const lbx__box_record *box)
{
    lbx__facts *slot = &rules->facts[box->uid % LBX__FACTS_CACHED];

    for (size_t i = 0; i < rules->open_count; i++) {
        if (rules->open[i]->facts == slot && slot->uid != box->uid)
            return &rules->facts_spare[rules->open_count];
    }
    return slot;
}

static lbx_status
box_facts_find(lbx__rules *rules, lbx__box_record *box)
{
    const lbx__key key = lbx__key_1(box->uid);
    lbx__facts *slot = box_facts_slot(rules, box);
    lbx__bytes value;
    lbx_status status;

    if (slot->uid != box->uid || slot->configured != box->configured) {
        slot->uid = 0;
        status = lbx__row_get(rules->storage, LBX__BOXES, &key, &value);
        if (status == LBX_OK)
            status = lbx__box_row_decode_facts(value, slot);
        if (status != LBX_OK)
            return status == LBX_NOT_FOUND ? LBX_CORRUPT : status;
        slot->uid = box->uid;
        if (slot->configured != box->configured)
            return LBX_CORRUPT;
    }
    box->facts = slot;
    return LBX_OK;
}

static uint64_t
box_record_bit(uint64_t uid)
{
    return (uint64_t)1 << uid % LBX__BOX_RECORDS_KEPT;
}

static lbx__box_record *
box_record_slot(lbx__rules *rules, uint64_t uid)
{
    return &rules->kept[uid % LBX__BOX_RECORDS_KEPT];
}

/* A slot for a record: the one of its uid, or a spare one when an open record
 * has that. */
static lbx__box_record *
box_record_free_slot(lbx__rules *rules, uint64_t uid)
{
    lbx__box_record *kept = box_record_slot(rules, uid);

    for (size_t i = 0; i < rules->open_count; i++) {
        if (rules->open[i] == kept)
            return &rules->spare[rules->open_count];
    }
    if (rules->kept_dirty & box_record_bit(uid))
        lbx__box_record_write(rules, kept);
    rules->kept_dirty &= ~box_record_bit(uid);
    rules->kept_any &= ~box_record_bit(uid);
    return kept;
}

/* OK; CLOSED; CORRUPT; IO. */
static lbx_status
box_record_read(lbx__rules *rules, uint64_t uid, lbx__box_record *ret)
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
lbx__box_record_open(lbx__rules *rules, lbx_box id, lbx__box_record **ret)
{
    lbx__box_record *box = box_record_slot(rules, id.uid);
    lbx_status status = LBX_OK;

    for (size_t i = 0; i < rules->open_count; i++) {
        if (rules->open[i]->uid == id.uid) {
            *ret = rules->open[i];
            return LBX_OK;
        }
    }
    if (id.uid == 0)
        return LBX_CLOSED;
    assert(rules->open_count < LBX__BOX_RECORDS_MAX);
    if (!(rules->kept_any & box_record_bit(id.uid)) || box->uid != id.uid) {
        box = box_record_free_slot(rules, id.uid);
        status = box_record_read(rules, id.uid, box);
    }
    if (status == LBX_OK)
        status = box_facts_find(rules, box);
    if (status != LBX_OK)
        return status;
    if (box == box_record_slot(rules, id.uid))
        rules->kept_any |= box_record_bit(id.uid);
    rules->open[rules->open_count++] = box;
    *ret = box;
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
    return status == LBX_CLOSED ? LBX_CORRUPT : status; // RULES-6
}

lbx_status
lbx__box_record_close_all(lbx__rules *rules, lbx_status status)
{
    for (size_t i = 0; i < rules->open_count; i++) {
        lbx__box_record *box = rules->open[i];

        if (!box->dirty)
            continue;
        if (box == box_record_slot(rules, box->uid))
            rules->kept_dirty |= box_record_bit(box->uid);
        else
            lbx__box_record_write(rules, box);
        box->dirty = false;
    }
    rules->open_count = 0;
    return status;
}

void
lbx__box_record_forget(lbx__rules *rules, const lbx__box_record *box)
{
    assert(rules->open_count == 1 && box == rules->open[0]);
    rules->kept_any &= ~box_record_bit(box->uid); // the first is always kept
    rules->kept_dirty &= ~box_record_bit(box->uid);
    rules->open_count = 0;
}

void
lbx__box_record_write_all(lbx__rules *rules)
{
    assert(rules->open_count == 0);
    for (; rules->kept_dirty; rules->kept_dirty &= rules->kept_dirty - 1)
        lbx__box_record_write(rules,
                              &rules->kept[__builtin_ctzll(rules->kept_dirty)]);
}

uint64_t
lbx__box_record_commit(lbx__rules *rules)
{
    if (!rules->storage->ops->is_private) {
        lbx__box_record_write_all(rules);
        rules->kept_any = 0; // STORAGE-4
    }
    return lbx__storage_commit(rules->storage);
}

/* ---- Changes ---- */

void
lbx__box_record_note_change(lbx__rules *rules, uint64_t uid, int64_t due)
{
    size_t i = rules->change_count;

    while (i > 0 && rules->changes[i - 1].uid != uid)
        i--;
    if (i > 0) {
        if (due < rules->changes[i - 1].due_ns)
            rules->changes[i - 1].due_ns = due;
    } else if (rules->change_count < LBX__CHANGES_MAX) {
        rules->changes[rules->change_count++] = (lbx__box_change){uid, due};
    } else {
        rules->changes[0] = (lbx__box_change){0, 0};
    }
}

size_t
lbx__box_record_take_changes(lbx__rules *rules, const lbx__box_change **ret)
{
    const size_t count = rules->change_count;

    *ret = rules->changes;
    rules->change_count = 0;
    return count;
}
