/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sending.
 *
 * A parcel is prepared, room is reserved, and it is written; a settle prepares
 * what is attached to it in the same way, before it writes anything.
 *
 * A token, or the id of a duplicate in a fifo box, is remembered by a hash of
 * its kind, its scope and its text. An id is looked for under both scopes, so
 * that changing the scope does not forgive what was sent before; it is kept
 * under the one that is in force.
 */
#include "codec/uuid.h"
#include "post/rules/internal.h"

#include <string.h>

/* ---- What was seen ---- */

/* OK, and `sent` is as it was the first time; NOT_FOUND. */
static lbx_status
find_seen(lbx__rules *rules, const lbx__box_record *head,
          const uint8_t hash[LBX__HASH_BYTES], lbx_sent_letter *sent)
{
    const lbx__key key = lbx__key_hash(head->box, hash);
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
remember(lbx__rules *rules, const lbx__box_record *head,
         const uint8_t hash[LBX__HASH_BYTES], const uint8_t id[16],
         uint64_t sequence)
{
    const int64_t until = lbx__later(rules->now, LBX__REMEMBERED_NS);
    const lbx__key key = lbx__key_hash(head->box, hash);
    const lbx__key due = lbx__key_due_hash(head->box, until, hash);
    uint8_t bytes[LBX__SEEN_BYTES];

    memcpy(lbx__put_le64(bytes, (uint64_t)until), id, 16);
    lbx__put_le64(bytes + 24, sequence);
    lbx__row_put(rules->storage, LBX__SEEN, &key,
                 &(lbx__bytes){bytes, sizeof(bytes)}, 1);
    lbx__row_put_empty(rules->storage, LBX__SEEN_DUE, &due);
}

/* The hashes of a parcel, and whether one of them was seen: OK if so. */
static lbx_status
look_for_seen(lbx__rules *rules, lbx__sending *posting, const char *token)
{
    const lbx__box_record *head = posting->head;
    const lbx_parcel *parcel = &posting->body.parcel;
    const bool by_group =
        head->facts->options.deduplication == LBX_DEDUPLICATION_GROUP;
    uint8_t hashes[2][LBX__HASH_BYTES];
    lbx_status status;

    if (token) {
        uint8_t *hash = posting->hashes[posting->hash_count++];

        status = lbx__rules_hash(rules, 't', token, NULL, hash);
        if (status == LBX_OK)
            status = find_seen(rules, head, hash, posting->sent);
        if (status != LBX_NOT_FOUND)
            return status;
    }
    if (!head->facts->options.fifo)
        return LBX_NOT_FOUND;
    assert(parcel->group && parcel->deduplication_id);
    status =
        lbx__rules_hash(rules, 'd', parcel->deduplication_id, NULL, hashes[0]);
    if (status == LBX_OK)
        status = lbx__rules_hash(rules, 'd', parcel->deduplication_id,
                                 parcel->group, hashes[1]);
    for (int i = 0; i < 2 && status == LBX_OK; i++) {
        status = find_seen(rules, head, hashes[i], posting->sent);
        if (status != LBX_NOT_FOUND)
            return status;
        status = LBX_OK;
    }
    memcpy(posting->hashes[posting->hash_count++], hashes[by_group],
           LBX__HASH_BYTES);
    return status == LBX_OK ? LBX_NOT_FOUND : status;
}

/* ---- A parcel ---- */

static lbx_status
encode(lbx__rules *rules, lbx__sending *posting)
{
    const lbx_parcel *parcel = &posting->body.parcel;

    posting->encoded_at = rules->encoded.size;
    lbx__body_encode(parcel, NULL, &rules->encoded);
    posting->encoded_bytes = rules->encoded.size - posting->encoded_at;
    if (rules->encoded.status != LBX_OK)
        return rules->encoded.status;
    if (parcel->body_bytes > LBX__ROW_VALUE_MAX - LBX__SUM_BYTES -
                                 LBX__BODY_FIXED - posting->encoded_bytes)
        return LBX_TOO_LARGE;
    return LBX_OK;
}

/* It was not seen before; may it go in, and what does that take? */
static lbx_status
prepare(lbx__rules *rules, uint64_t pending, lbx__sending *posting,
        lbx__need *need)
{
    const lbx_box_options *options = &posting->head->facts->options;
    lbx__body *body = &posting->body;
    lbx_status status;

    if (options->capacity_letters != LBX_UNLIMITED &&
        posting->head->letters + pending >= (uint64_t)options->capacity_letters)
        return LBX_FULL;
    status = encode(rules, posting);
    if (status == LBX_OK && options->fifo)
        status =
            lbx__group_hash(rules, body->parcel.group, posting->group_hash);
    if (status != LBX_OK)
        return status;
    if (!lbx__rules_id(rules, body->id))
        return LBX_IO;
    body->sent_ns = rules->now;
    body->sent_ms = lbx__rules_wall(rules);
    body->counted_bytes = (uint32_t)lbx__body_parcel_bytes(&body->parcel);
    lbx__letter_record_need_insert(need, body, posting->encoded_bytes,
                                   posting->delay_ns > 0);
    for (size_t i = 0; i < posting->hash_count; i++) {
        lbx__need_row(need, 24, LBX__SEEN_BYTES);
        lbx__need_row(need, 32, 0);
    }
    if (options->fifo)
        lbx__group_need_join(need);
    return LBX_OK;
}

lbx_status
lbx__send_prepare(lbx__rules *rules, lbx__sending *posting,
                  const lbx_parcel *parcel, uint64_t pending, lbx__need *need)
{
    lbx_status status = lbx__sweep_age(rules, posting->head);

    posting->delay_ns = parcel->delay_ns;
    posting->body.parcel = *parcel;
    if (status == LBX_OK)
        status = look_for_seen(rules, posting, parcel->token);
    if (status != LBX_NOT_FOUND) {
        posting->seen = status == LBX_OK;
        return status;
    }
    return prepare(rules, pending, posting, need);
}

lbx_status
lbx__send_prepare_moved(lbx__rules *rules, lbx__sending *posting,
                        const lbx_parcel *parcel, lbx__need *need)
{
    lbx_status status = lbx__sweep_age(rules, posting->head);

    posting->body.parcel = *parcel;
    lbx__buffer_reset(&rules->encoded);
    return status == LBX_OK ? prepare(rules, 0, posting, need) : status;
}

void
lbx__send_write(lbx__rules *rules, lbx__sending *posting)
{
    lbx_sent_letter *sent = posting->sent;
    lbx__box_record *head = posting->head;
    const int64_t due = lbx__later(rules->now, posting->delay_ns);
    const uint64_t sequence = head->next;
    const lbx__bytes encoded = {rules->encoded.bytes + posting->encoded_at,
                                posting->encoded_bytes};
    const lbx__state delayed = {
        .kind = LBX__IS_DELAYED,
        .due = due,
        .turn = sequence,
        .place_due = due,
        .place_turn = sequence,
    };

    if (posting->seen)
        return;
    // What is attached to one letter may be the same thing twice.
    for (size_t i = 0; i < posting->hash_count; i++) {
        if (find_seen(rules, head, posting->hashes[i], posting->sent) == LBX_OK)
            return;
    }
    head->next++;
    if (head->facts->options.fifo)
        posting->body.gid =
            lbx__group_join(rules, head, posting->group_hash, sequence, due);
    lbx__letter_record_insert(rules, head, sequence, &posting->body, encoded,
                              posting->delay_ns > 0 ? &delayed : NULL);
    for (size_t i = 0; i < posting->hash_count; i++)
        remember(rules, head, posting->hashes[i], posting->body.id, sequence);
    lbx__uuid_format(posting->body.id, sent->id.text);
    sent->sequence = sequence;
    sent->duplicate = false;
    sent->status = LBX_OK;
    lbx__tell_ready(rules, head, due);
}

/* ---- The verb ---- */

static lbx_status
send_one(lbx__rules *rules, lbx__box_record *head, const lbx_parcel *parcel,
         lbx_sent_letter *sent)
{
    lbx__need need;
    lbx__sending posting = {.head = head, .sent = sent};
    lbx_status status;

    need.count = 0; // and no more: it is large
    lbx__buffer_reset(&rules->encoded);
    status = lbx__send_prepare(rules, &posting, parcel, 0, &need);
    if (status == LBX_OK && !posting.seen)
        status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                      LBX__GROWS);
    if (status == LBX_OK)
        lbx__send_write(rules, &posting);
    return status;
}

lbx_status
lbx__send_apply(lbx__rules *rules, lbx_send_request *request)
{
    lbx_status first = LBX_OK, opened;
    lbx__box_record *head;

    assert(request->count >= 1 && request->count <= LBX_MAX_BATCH);
    lbx__rules_start(rules);
    opened = lbx__box_record_open(rules, request->box, &head);
    for (size_t i = 0; i < request->count; i++) {
        lbx_sent_letter *sent = &request->sent[i];

        memset(sent, 0, sizeof(*sent));
        sent->status = opened;
        if (opened == LBX_OK)
            sent->status = send_one(rules, head, &request->parcels[i], sent);
        if (first == LBX_OK)
            first = sent->status;
    }
    if (opened == LBX_OK)
        lbx__sweep_seen(rules, head);
    return lbx__box_record_close_all(rules, first);
}
