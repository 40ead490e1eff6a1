/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The catalog of boxes: finding, describing and listing them.
 *
 * Counts are taken after a sweep, and so are exact: a letter that is due counts
 * as ready.
 *
 * Threads    one at a time, as the storage.
 */
#include "post/rules/box_row.h"
#include "post/rules/internal.h"

#include <string.h>

lbx_status
lbx__catalog_find(lbx__rules *rules, const lbx_box_request *request,
                  lbx__box_record **ret)
{
    lbx_status status;

    if (request->box.uid == 0)
        return lbx__box_record_find(rules, request->space, request->name, ret);
    status = lbx__box_record_open(rules, request->box, ret);
    return status == LBX_CLOSED ? LBX_NOT_FOUND : status;
}

/* ---- Describe ---- */

static lbx_status
catalog_read_row(lbx__rules *rules, const lbx__box_record *box,
                 lbx_box_request *request)
{
    const lbx__key key = lbx__key_1(box->uid);
    lbx_box_text text;
    lbx__box_row row = {.configured = 0};
    lbx__bytes value;
    lbx_status status = lbx__row_get(rules->storage, LBX__BOXES, &key, &value);

    if (status == LBX_OK)
        status = lbx__box_row_decode(value, &row);
    if (status == LBX_OK && request->ret_options)
        status = lbx__box_row_decode_options(row.options, request->buffer,
                                             request->ret_options);
    if (status != LBX_OK)
        return status == LBX_NOT_FOUND ? LBX_CORRUPT : status;
    while (request->each_text && lbx__box_row_next_text(&row.texts, &text))
        request->each_text(request->context, &text);
    return LBX_OK;
}

/* When the first intact letter, by sequence, was sent: OK; NOT_FOUND; CORRUPT;
 * IO. */
static lbx_status
catalog_first_sent(lbx__rules *rules, const lbx__box_record *box, int64_t *ret)
{
    uint32_t skips = 0;
    lbx__letter_record letter;
    lbx_status status = lbx__letter_record_seek(rules, box, 0, &letter);

    while (lbx__letter_record_skip(status, &letter, &skips))
        status =
            lbx__letter_record_seek(rules, box, letter.sequence + 1, &letter);
    if (status == LBX_OK)
        *ret = letter.body.sent_ns;
    else if (skips > 0 && (status == LBX_NOT_FOUND || letter.damaged)) {
        // No more is known than this lower bound.
        *ret = box->oldest < rules->now ? box->oldest : rules->now;
        status = LBX_OK;
    }
    return status;
}

/* Exact counts, which include damaged letters. */
static lbx_status
catalog_count(lbx__rules *rules, lbx__box_record *box, lbx_box_counts *ret)
{
    const lbx__key from = lbx__key_3(box->row_id, 0, 0);
    int64_t oldest = LBX_FOREVER;
    lbx__bytes at = {NULL, 0}, value = {NULL, 0};
    lbx_status status = lbx__sweep_due(rules, box);

    if (status != LBX_OK)
        return status;
    status = catalog_first_sent(rules, box, &oldest);
    if (status == LBX_OK)
        status = lbx__row_seek(rules->storage, LBX__AGE, &from, 8, &at, &value);
    if (status == LBX_OK && (int64_t)lbx__key_number(at, 1) < oldest)
        oldest = (int64_t)lbx__key_number(at, 1);
    if (status != LBX_OK && status != LBX_NOT_FOUND &&
        !lbx__row_damaged(status, value))
        return status;
    *ret = (lbx_box_counts){
        .ready = box->letters - box->leased - box->delayed,
        .leased = box->leased,
        .delayed = box->delayed,
        .bytes = box->bytes,
        .oldest_ns = box->letters > 0 ? rules->now - oldest : -1,
    };
    return LBX_OK;
}

lbx_status
lbx__catalog_fill(lbx__rules *rules, lbx__box_record *box,
                  lbx_box_request *request)
{
    lbx_status status = LBX_OK;

    if (request->ret_options || request->each_text)
        status = catalog_read_row(rules, box, request);
    if (status == LBX_OK && request->ret_counts)
        status = catalog_count(rules, box, request->ret_counts);
    if (status == LBX_OK)
        request->ret_box.uid = box->uid;
    return status;
}

lbx_status
lbx__catalog_describe(lbx__rules *rules, lbx_box_request *request)
{
    lbx__box_record *box;
    lbx_status status;

    lbx__rules_start(rules);
    status = lbx__catalog_find(rules, request, &box);
    if (status == LBX_OK)
        status = lbx__catalog_fill(rules, box, request);
    return lbx__box_record_close_all(rules, status);
}

/* ---- List ---- */

/* Reads whether `dead` is the dead-letter box of another box. */
static lbx_status
catalog_feeds(lbx__rules *rules, uint64_t uid, const lbx__box_record *dead,
              bool *ret)
{
    lbx__box_record *box;
    lbx_status status = lbx__box_record_open(rules, (lbx_box){uid}, &box);

    if (status != LBX_OK)
        return status == LBX_CLOSED ? LBX_CORRUPT : status;
    *ret = box->facts->dead &&
           strcmp(box->facts->dead_letters, dead->facts->name) == 0 &&
           strcmp(box->facts->space, dead->facts->space) == 0;
    if (box != dead)
        rules->open_count = 1; // `dead` alone stays open
    return LBX_OK;
}

static lbx_status
catalog_each(lbx__rules *rules, const lbx_list_request *request,
             const lbx__box_record *dead)
{
    const char *prefix = request->prefix ? request->prefix : "";
    const lbx__key limit = lbx__key_name(request->space, prefix);
    char name[LBX_BOX_NAME_BYTES];
    lbx__key from = limit;

    if (request->after && strcmp(request->after, prefix) > 0)
        from = lbx__key_name(request->space, request->after);
    for (;;) {
        const size_t skip = limit.size - strlen(prefix);
        bool wanted = true;
        lbx__bytes at, value;
        lbx_status status = lbx__row_seek(rules->storage, LBX__NAMES, &from,
                                          limit.size, &at, &value);

        // `from` may be after the last name that begins with the prefix.
        if (status == LBX_NOT_FOUND ||
            (status == LBX_OK && memcmp(at.data, limit.bytes, limit.size) != 0))
            return LBX_OK;
        if (status != LBX_OK)
            return status;
        if (value.size != 8 || at.size - skip >= sizeof(name))
            return LBX_CORRUPT;
        memcpy(name, (const char *)at.data + skip, at.size - skip);
        name[at.size - skip] = '\0';
        if (strlen(name) != at.size - skip)
            return LBX_CORRUPT; // the loop would never get past it
        if (dead)
            status =
                catalog_feeds(rules, lbx__get_le64(value.data), dead, &wanted);
        if (status != LBX_OK)
            return status;
        if (wanted && !(request->after && strcmp(name, request->after) == 0) &&
            !request->each(request->context, name))
            return LBX_OK;
        // With one more NUL: the smallest key after this one.
        from = lbx__key_name(request->space, name);
        from.bytes[from.size++] = 0;
    }
}

/* The smallest key that is of a space after `space`: names follow a NUL. */
static lbx__key
catalog_after_space(const char *space)
{
    lbx__key key = lbx__key_name(space, "");

    key.bytes[key.size - 1] = 1;
    return key;
}

/* One seek a space, however many boxes it has. */
static lbx_status
catalog_each_space(lbx__rules *rules, const lbx_list_request *request)
{
    const char *prefix = request->prefix ? request->prefix : "";
    lbx__key from = catalog_after_space(NULL);

    if (prefix[0])
        from = lbx__key_name(prefix, "");
    if (request->after && strcmp(request->after, prefix) >= 0)
        from = catalog_after_space(request->after);
    for (;;) {
        char space[LBX_BOX_SPACE_BYTES];
        lbx__bytes at, value;
        lbx_status status =
            lbx__row_seek(rules->storage, LBX__NAMES, &from, 0, &at, &value);
        size_t size;

        if (status != LBX_OK)
            return status == LBX_NOT_FOUND ? LBX_OK : status;
        size = strnlen(at.data, at.size);
        if (size == 0 || size == at.size || size >= sizeof(space))
            return LBX_CORRUPT;
        memcpy(space, at.data, size + 1);
        if (strncmp(space, prefix, strlen(prefix)) != 0 ||
            !request->each(request->context, space))
            return LBX_OK;
        from = catalog_after_space(space);
    }
}

lbx_status
lbx__catalog_list(lbx__rules *rules, const lbx_list_request *request)
{
    lbx__box_record *dead = NULL;
    lbx_status status = LBX_OK;

    lbx__rules_start(rules);
    if (request->dead_letters.uid == LBX_LIST_SPACES)
        return lbx__box_record_close_all(rules,
                                         catalog_each_space(rules, request));
    if (request->dead_letters.uid != 0)
        status = lbx__box_record_open(rules, request->dead_letters, &dead);
    if (status == LBX_CLOSED)
        status = LBX_NOT_FOUND;
    if (status == LBX_OK)
        status = catalog_each(rules, request, dead);
    return lbx__box_record_close_all(rules, status);
}
