/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Send: stores parcels as letters.
 *
 * A parcel is prepared, its rows are reserved, and it is written. A settle
 * prepares what is attached to it in the same way, before it writes anything.
 *
 * A token, or the id of a duplicate in a fifo box, is remembered by a hash of
 * its kind, its scope and its text. An id is searched under both scopes, so
 * that a change of the scope does not forget what was sent before; it is
 * remembered under the scope in force.
 *
 * RSEND-1  A parcel whose token or duplicate id is remembered is not stored
 *          again: its result is that of the first send.
 *
 * Threads    one at a time, as the storage.
 */
#include "codec/random.h"
#include "codec/uuid.h"
#include "post/rules/internal.h"

#include <string.h>

/* ---- What is remembered ---- */

/* OK, and `sent` is the result of the first send; NOT_FOUND. */
static lbx_status
send_find_seen(lbx__rules *rules, const lbx__box_record *box,
               const uint8_t hash[LBX__HASH_BYTES], lbx_sent_letter *sent)
{
    const lbx__key key = lbx__key_hash(box->row_id, hash);
    lbx__bytes value;
    const uint8_t *at;
    lbx_status status = lbx__row_get(rules->storage, LBX__SEEN, &key, &value);

    if (status != LBX_OK)
        return status;
    if (value.size != LBX__SEEN_BYTES)
        return LBX_CORRUPT;
    at = value.data;
    if ((int64_t)lbx__get_le64(at) <= rules->now)
        return LBX_NOT_FOUND;
    lbx__uuid_format(at + 8, sent->id.text);
    sent->sequence = lbx__get_le64(at + 24);
    sent->duplicate = true;
    sent->status = LBX_OK;
    return LBX_OK;
}

static void
send_remember(lbx__rules *rules, const lbx__box_record *box,
              const uint8_t hash[LBX__HASH_BYTES], const uint8_t id[16],
              uint64_t sequence)
{
    const int64_t until = lbx__time_add(rules->now, LBX__REMEMBERED_NS);
    const lbx__key key = lbx__key_hash(box->row_id, hash);
    const lbx__key due = lbx__key_due_hash(box->row_id, until, hash);
    uint8_t bytes[LBX__SEEN_BYTES];

    memcpy(lbx__put_le64(bytes, (uint64_t)until), id, 16);
    lbx__put_le64(bytes + 24, sequence);
    lbx__row_put(rules->storage, LBX__SEEN, &key,
                 &(lbx__bytes){bytes, sizeof(bytes)}, 1);
    lbx__row_put_empty(rules->storage, LBX__SEEN_DUE, &due);
}

/* Fills in the hashes of a parcel: OK when one of them is remembered, and
 * `sent` is filled in; NOT_FOUND when none is. */
static lbx_status
send_check_seen(lbx__rules *rules, lbx__sending *sending, const char *token)
{
    const lbx__box_record *box = sending->box;
    const lbx_parcel *parcel = &sending->body.parcel;
    const bool by_group =
        box->facts->options.deduplication == LBX_DEDUPLICATION_GROUP;
    uint8_t hashes[2][LBX__HASH_BYTES];
    lbx_status status;

    if (token) {
        uint8_t *hash = sending->hashes[sending->hash_count++];

        status = lbx__rules_hash(rules, 't', token, NULL, hash);
        if (status == LBX_OK)
            status = send_find_seen(rules, box, hash, sending->sent);
        if (status != LBX_NOT_FOUND)
            return status;
    }
    if (!box->facts->options.fifo)
        return LBX_NOT_FOUND;
    assert(parcel->group && parcel->deduplication_id);
    status =
        lbx__rules_hash(rules, 'd', parcel->deduplication_id, NULL, hashes[0]);
    if (status == LBX_OK)
        status = lbx__rules_hash(rules, 'd', parcel->deduplication_id,
                                 parcel->group, hashes[1]);
    for (int i = 0; i < 2 && status == LBX_OK; i++) {
        status = send_find_seen(rules, box, hashes[i], sending->sent);
        if (status != LBX_NOT_FOUND)
            return status;
        status = LBX_OK;
    }
    memcpy(sending->hashes[sending->hash_count++], hashes[by_group],
           LBX__HASH_BYTES);
    return status == LBX_OK ? LBX_NOT_FOUND : status;
}

/* ---- A parcel ---- */

/* Random bytes are read for many ids at once: a system call for each would cost
 * more than a send. */
static bool
send_draw_id(lbx__rules *rules, uint8_t id[16])
{
    uint8_t *from;

    if (rules->random_left == 0) {
        if (!lbx__random(rules->random, sizeof(rules->random)))
            return false;
        rules->random_left = sizeof(rules->random);
    }
    rules->random_left -= 16;
    from = rules->random + rules->random_left;
    memcpy(id, from, 16);
    lbx__uuid_mark_random(id);
    return true;
}

static lbx_status
send_encode(lbx__rules *rules, lbx__sending *sending)
{
    const lbx_parcel *parcel = &sending->body.parcel;

    sending->encoded_at = rules->encoded.size;
    lbx__body_encode(parcel, NULL, &rules->encoded);
    sending->encoded_bytes = rules->encoded.size - sending->encoded_at;
    if (rules->encoded.status != LBX_OK)
        return rules->encoded.status;
    if (parcel->body_bytes > LBX__ROW_VALUE_MAX - LBX__SUM_BYTES -
                                 LBX__BODY_FIXED - sending->encoded_bytes)
        return LBX_TOO_LARGE;
    return LBX_OK;
}

/* True when a letter may need a state although it is not delayed: it has a
 * tenant, or it comes after one that has (BOXREC-3). Others that are written
 * before it may be such. */
static bool
send_needs_state(const lbx__sending *sending, uint64_t pending)
{
    return !sending->box->facts->options.fifo &&
           (sending->body.parcel.group || sending->box->stated != 0 ||
            pending > 0);
}

/* Decides about a parcel that is not remembered, and adds what it needs. */
static lbx_status
send_decide(lbx__rules *rules, uint64_t pending, lbx__sending *sending,
            lbx__need *need)
{
    const lbx_box_options *options = &sending->box->facts->options;
    lbx__body *body = &sending->body;
    lbx_status status;

    if (options->capacity_letters != LBX_UNLIMITED &&
        sending->box->letters + pending >= (uint64_t)options->capacity_letters)
        return LBX_FULL;
    status = send_encode(rules, sending);
    if (status == LBX_OK && body->parcel.group)
        status =
            lbx__group_hash(rules, body->parcel.group, sending->group_hash);
    if (status != LBX_OK)
        return status;
    if (!send_draw_id(rules, body->id))
        return LBX_IO;
    body->sent_ns = rules->now;
    body->sent_ms = lbx__rules_wall(rules);
    body->counted_bytes = (uint32_t)lbx__body_parcel_bytes(&body->parcel);
    lbx__letter_record_need_insert(need, body, sending->encoded_bytes,
                                   sending->delay_ns > 0 ||
                                       send_needs_state(sending, pending));
    for (size_t i = 0; i < sending->hash_count; i++) {
        lbx__need_row(need, 24, LBX__SEEN_BYTES);
        lbx__need_row(need, 32, 0);
    }
    if (options->fifo)
        lbx__group_need_join(need);
    else if (body->parcel.group)
        lbx__fair_need_join(need);
    return LBX_OK;
}

lbx_status
lbx__send_prepare(lbx__rules *rules, lbx__sending *sending,
                  const lbx_parcel *parcel, uint64_t pending, lbx__need *need)
{
    lbx_status status = lbx__sweep_age(rules, sending->box);

    sending->delay_ns = parcel->delay_ns;
    sending->body.parcel = *parcel;
    if (status == LBX_OK)
        status = send_check_seen(rules, sending, parcel->token);
    if (status != LBX_NOT_FOUND) {
        sending->seen = status == LBX_OK;
        return status;
    }
    return send_decide(rules, pending, sending, need);
}

lbx_status
lbx__send_prepare_moved(lbx__rules *rules, lbx__sending *sending,
                        const lbx_parcel *parcel, lbx__need *need)
{
    lbx_status status = lbx__sweep_age(rules, sending->box);

    sending->body.parcel = *parcel;
    lbx__buffer_reset(&rules->encoded);
    return status == LBX_OK ? send_decide(rules, 0, sending, need) : status;
}

/* The number of the tenant of a letter in a plain box; 0: it has none. */
static uint64_t
send_join_tenant(lbx__rules *rules, lbx__sending *sending, uint64_t sequence)
{
    lbx__box_record *box = sending->box;

    if (!sending->body.parcel.group)
        return 0;
    if (box->stated == 0)
        box->stated = sequence; // BOXREC-3
    return lbx__fair_join(rules, box, sending->group_hash);
}

void
lbx__send_write(lbx__rules *rules, lbx__sending *sending)
{
    lbx_sent_letter *sent = sending->sent;
    lbx__box_record *box = sending->box;
    const int64_t due = lbx__time_add(rules->now, sending->delay_ns);
    const uint64_t sequence = box->next;
    const lbx__bytes encoded = {rules->encoded.bytes + sending->encoded_at,
                                sending->encoded_bytes};
    const lbx__state state = {
        .kind = sending->delay_ns > 0 ? LBX__IS_DELAYED : LBX__IS_READY,
        .due = due,
        .ticket = sequence,
        .claimed_due = due,
        .claimed_ticket = sequence,
    };

    if (sending->seen)
        return;
    // One settle may attach the same parcel twice.
    for (size_t i = 0; i < sending->hash_count; i++) {
        if (send_find_seen(rules, box, sending->hashes[i], sending->sent) ==
            LBX_OK)
            return;
    }
    box->next++;
    if (box->facts->options.fifo)
        sending->body.gid =
            lbx__group_join(rules, box, sending->group_hash, sequence, due);
    else
        sending->body.gid = send_join_tenant(rules, sending, sequence);
    lbx__letter_record_insert(
        rules, box, sequence, &sending->body, encoded,
        sending->delay_ns > 0 || send_needs_state(sending, 0) ? &state : NULL);
    for (size_t i = 0; i < sending->hash_count; i++)
        send_remember(rules, box, sending->hashes[i], sending->body.id,
                      sequence);
    if (sending->hash_count > 0)
        lbx__sweep_seen(rules, box, LBX__SEEN_SWEPT);
    lbx__uuid_format(sending->body.id, sent->id.text);
    sent->sequence = sequence;
    sent->duplicate = false;
    sent->status = LBX_OK;
    lbx__box_record_note_change(rules, box->uid, due);
}

/* ---- The rule ---- */

enum {
    /* Each letter that is remembered sweeps what is not any more. Others do it
     * now and then, for a box that no longer gets such letters. A prime number:
     * boxes that get letters by turns are all swept. */
    SEND_SWEEP_PERIOD = 61
};

static lbx_status
send_one(lbx__rules *rules, lbx__box_record *box, const lbx_parcel *parcel,
         lbx_sent_letter *sent)
{
    lbx__need need;
    lbx__sending sending = {.box = box, .sent = sent};
    lbx_status status;

    need.count = 0; // not the whole struct: it is large
    lbx__buffer_reset(&rules->encoded);
    status = lbx__send_prepare(rules, &sending, parcel, 0, &need);
    if (status == LBX_OK && !sending.seen)
        status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                      LBX__GROWS);
    if (status == LBX_OK)
        lbx__send_write(rules, &sending);
    return status;
}

lbx_status
lbx__send_apply(lbx__rules *rules, lbx_send_request *request)
{
    lbx_status first = LBX_OK, opened;
    lbx__box_record *box;

    assert(request->count >= 1 && request->count <= LBX_MAX_BATCH);
    lbx__rules_start(rules);
    opened = lbx__box_record_open(rules, request->box, &box);
    for (size_t i = 0; i < request->count; i++) {
        lbx_sent_letter *sent = &request->sent[i];

        memset(sent, 0, sizeof(*sent));
        sent->status = opened;
        if (opened == LBX_OK)
            sent->status = send_one(rules, box, &request->parcels[i], sent);
        if (first == LBX_OK)
            first = sent->status;
    }
    if (opened == LBX_OK && ++rules->sends == SEND_SWEEP_PERIOD) {
        lbx__sweep_seen(rules, box, LBX__SEEN_SWEPT * SEND_SWEEP_PERIOD);
        rules->sends = 0;
    }
    return lbx__box_record_close_all(rules, first);
}
