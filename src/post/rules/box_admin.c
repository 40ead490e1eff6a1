/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boxes: create, configure, purge, delete.
 *
 * A box has a uid for its whole life, under which its options and its record
 * are stored, and a row id, under which its letters are. A purge draws a new
 * row id; the rows under the old one are unreachable from then on, and
 * background.c removes them later.
 *
 * BOXADM-1  A purge or a delete is one step, however many letters there are.
 *
 * Threads    one at a time, as the storage.
 */
#include "post/rules/box_row.h"
#include "post/rules/internal.h"

#include <string.h>

static const lbx_box_options box_admin_defaults = LBX_BOX_OPTIONS_INIT;

/* ---- Options ---- */

static bool
box_admin_allows(const lbx_box_options *options, const char *source)
{
    switch (options->dead_letter_allow) {
    case LBX_DEAD_LETTER_ALLOW_ALL:
        return true;
    case LBX_DEAD_LETTER_ALLOW_NONE:
        return false;
    case LBX_DEAD_LETTER_ALLOW_LISTED:
        for (size_t i = 0; i < options->dead_letter_box_count; i++) {
            if (strcmp(options->dead_letter_boxes[i], source) == 0)
                return true;
        }
        return false;
    }
    return false;
}

/* Checks that the dead-letter box exists, is fifo if this one is, and allows
 * it: OK; NOT_FOUND; INVALID; DENIED; CORRUPT; IO. */
static lbx_status
box_admin_check_dead_letters(lbx__rules *rules, const char *space,
                             const char *name, const lbx_box_options *options)
{
    char buffer[LBX_BOX_OPTIONS_BUFFER_BYTES];
    lbx_box_options theirs;
    lbx__box_row row;
    lbx__bytes value;
    lbx__box_record *box;
    lbx__key key;
    lbx_status status;

    if (!options->dead_letters)
        return LBX_OK;
    if (strcmp(options->dead_letters, name) == 0)
        return box_admin_allows(options, name) ? LBX_OK : LBX_DENIED;
    status = lbx__box_record_find(rules, space, options->dead_letters, &box);
    if (status != LBX_OK)
        return status;
    key = lbx__key_1(box->uid);
    status = lbx__row_get(rules->storage, LBX__BOXES, &key, &value);
    if (status == LBX_OK)
        status = lbx__box_row_decode(value, &row);
    if (status == LBX_OK)
        status = lbx__box_row_decode_options(row.options, buffer, &theirs);
    if (status != LBX_OK)
        return status == LBX_NOT_FOUND ? LBX_CORRUPT : status;
    if (theirs.fifo != options->fifo)
        return LBX_INVALID;
    return box_admin_allows(&theirs, name) ? LBX_OK : LBX_DENIED;
}

/* The texts of a box after a change: the old ones that the request does not
 * name, and the new ones that have a value. */
static void
box_admin_merge_texts(lbx__bytes had, const lbx_box_request *request,
                      lbx_buffer *out)
{
    lbx_box_text text;

    while (lbx__box_row_next_text(&had, &text)) {
        bool named = false;

        for (size_t i = 0; i < request->text_count; i++)
            named = named || strcmp(request->texts[i].name, text.name) == 0;
        if (!named)
            lbx__box_row_add_text(out, &text);
    }
    for (size_t i = 0; i < request->text_count; i++) {
        if (request->texts[i].value)
            lbx__box_row_add_text(out, &request->texts[i]);
    }
}

/* Encodes options and texts into `copied`, and the whole row into `encoded`. */
static lbx_status
box_admin_encode(lbx__rules *rules, lbx__box_row *row,
                 const lbx_box_options *options, const lbx_box_request *request)
{
    lbx_buffer *parts = &rules->copied, *whole = &rules->encoded;
    const lbx__bytes had_options = row->options, had_texts = row->texts;

    lbx__buffer_reset(parts);
    lbx__buffer_reset(whole);
    if (options)
        lbx__box_row_encode_options(options, parts);
    else
        lbx__buffer_add(parts, had_options.data, had_options.size);
    row->options.size = parts->size;
    box_admin_merge_texts(had_texts, request, parts);
    if (parts->status != LBX_OK)
        return parts->status;
    row->options.data = parts->bytes;
    row->texts = (lbx__bytes){parts->bytes + row->options.size,
                              parts->size - row->options.size};
    lbx__box_row_encode(row, whole);
    return whole->status;
}

static void
box_admin_write(lbx__rules *rules, uint64_t uid)
{
    const lbx__key key = lbx__key_1(uid);

    lbx__row_put(rules->storage, LBX__BOXES, &key,
                 &(lbx__bytes){rules->encoded.bytes, rules->encoded.size}, 1);
}

/* ---- Create ---- */

/* The box exists already: OK when it has the given options. */
static lbx_status
box_admin_compare(lbx__rules *rules, const lbx__box_record *box,
                  const lbx_box_options *options)
{
    const lbx__key key = lbx__key_1(box->uid);
    lbx__box_row row;
    lbx__bytes value;
    lbx_status status = lbx__row_get(rules->storage, LBX__BOXES, &key, &value);

    if (status == LBX_OK)
        status = lbx__box_row_decode(value, &row);
    if (status != LBX_OK)
        return status == LBX_NOT_FOUND ? LBX_CORRUPT : status;
    if (!options)
        return LBX_OK;
    lbx__buffer_reset(&rules->encoded);
    lbx__box_row_encode_options(options, &rules->encoded);
    if (rules->encoded.status != LBX_OK)
        return rules->encoded.status;
    if (rules->encoded.size != row.options.size ||
        memcmp(rules->encoded.bytes, row.options.data, row.options.size) != 0)
        return LBX_EXISTS;
    return LBX_OK;
}

static lbx_status
box_admin_insert(lbx__rules *rules, lbx_box_request *request)
{
    const lbx_box_options *options =
        request->options ? request->options : &box_admin_defaults;
    const char *space = request->space ? request->space : "";
    const lbx__key name = lbx__key_name(space, request->name);
    lbx__box_row row = {.space = space, .name = request->name};
    lbx__need need = {.count = 0};
    lbx__box_record box = {.next = 1, .fresh = 1};
    lbx_status status = box_admin_encode(rules, &row, options, request);

    if (status != LBX_OK)
        return status;
    lbx__need_row(&need, name.size, 8);
    lbx__need_row(&need, 8, LBX__BOX_RECORD_BYTES);
    lbx__need_row(&need, 8, rules->encoded.size);
    status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                  LBX__GROWS);
    if (status == LBX_OK)
        status = lbx__rules_number(rules, &box.uid);
    if (status == LBX_OK)
        status = lbx__rules_number(rules, &box.row_id);
    if (status != LBX_OK)
        return status;
    lbx__row_put_number(rules->storage, LBX__NAMES, &name, box.uid);
    box_admin_write(rules, box.uid);
    lbx__box_record_write(rules, &box);
    request->ret_box.uid = box.uid;
    return LBX_OK;
}

lbx_status
lbx__box_admin_create(lbx__rules *rules, lbx_box_request *request)
{
    lbx__box_record *box;
    lbx_status status;

    lbx__rules_start(rules);
    status = lbx__box_record_find(rules, request->space, request->name, &box);
    if (status == LBX_NOT_FOUND) {
        status =
            request->options
                ? box_admin_check_dead_letters(rules, request->space,
                                               request->name, request->options)
                : LBX_OK;
        if (status == LBX_OK)
            status = box_admin_insert(rules, request);
        if (status == LBX_OK)
            status = lbx__box_record_open(rules, request->ret_box, &box);
    } else if (status == LBX_OK)
        status = box_admin_compare(rules, box, request->options);
    if (status == LBX_OK)
        status = lbx__catalog_fill(rules, box, request);
    return lbx__box_record_close_all(rules, status);
}

/* ---- Change ---- */

/* A dead-letter box that stays the same is not checked again: it may be deleted
 * meanwhile, or not allow more boxes, and other options change nevertheless. */
static lbx_status
box_admin_check_change(lbx__rules *rules, const lbx__box_record *box,
                       const lbx_box_options *options)
{
    const lbx__facts *facts = box->facts;

    if (options->fifo != facts->options.fifo)
        return LBX_INVALID;
    if (facts->dead && options->dead_letters &&
        strcmp(facts->dead_letters, options->dead_letters) == 0)
        return LBX_OK;
    return box_admin_check_dead_letters(rules, facts->space, facts->name,
                                        options);
}

static lbx_status
box_admin_change(lbx__rules *rules, lbx__box_record *box,
                 const lbx_box_request *request)
{
    const lbx__key key = lbx__key_1(box->uid);
    lbx__need need = {.count = 0};
    lbx__box_row row;
    lbx__bytes value;
    lbx_status status;

    if (request->options) {
        status = box_admin_check_change(rules, box, request->options);
        if (status != LBX_OK)
            return status;
    }
    // Up to now the old options apply.
    status = lbx__sweep_due(rules, box);
    if (status == LBX_OK)
        status = lbx__row_get(rules->storage, LBX__BOXES, &key, &value);
    if (status == LBX_OK)
        status = lbx__box_row_decode(value, &row);
    if (status != LBX_OK)
        return status == LBX_NOT_FOUND ? LBX_CORRUPT : status;
    row.configured = box->configured + 1;
    status = box_admin_encode(rules, &row, request->options, request);
    if (status != LBX_OK)
        return status;
    lbx__need_row(&need, 8, rules->encoded.size);
    status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                  LBX__GROWS);
    if (status != LBX_OK)
        return status;
    box_admin_write(rules, box->uid);
    box->configured++;
    box->dirty = true;
    lbx__box_record_note_change(rules, box->uid, rules->now);
    return LBX_OK;
}

lbx_status
lbx__box_admin_configure(lbx__rules *rules, lbx_box_request *request)
{
    lbx__box_record *box;
    lbx_status status;

    lbx__rules_start(rules);
    status = lbx__catalog_find(rules, request, &box);
    if (status == LBX_OK)
        status = box_admin_change(rules, box, request);
    if (status == LBX_OK)
        request->ret_box.uid = box->uid;
    return lbx__box_record_close_all(rules, status);
}

/* ---- Purge and delete ---- */

/* Marks all rows under the row id as garbage, and draws a new row id. */
static lbx_status
box_admin_abandon(lbx__rules *rules, lbx__box_record *box, uint64_t *ret_new)
{
    const lbx__key key = lbx__key_1(box->row_id);
    lbx__need need = {.count = 0};
    lbx_status status;

    lbx__need_row(&need, 8, 0);
    status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                  LBX__SHRINKS);
    if (status == LBX_OK)
        status = lbx__rules_number(rules, ret_new);
    if (status == LBX_OK)
        lbx__row_put_empty(rules->storage, LBX__GARBAGE, &key);
    return status;
}

lbx_status
lbx__box_admin_purge(lbx__rules *rules, lbx_box_request *request)
{
    lbx__box_record *box;
    uint64_t row_id;
    lbx_status status;

    lbx__rules_start(rules);
    status = lbx__catalog_find(rules, request, &box);
    if (status == LBX_OK)
        status = lbx__sweep_age(rules, box);
    if (status == LBX_OK)
        status = box_admin_abandon(rules, box, &row_id);
    if (status == LBX_OK) {
        request->ret_purged = box->letters;
        box->row_id = row_id;
        box->letters = box->leased = box->delayed = 0;
        box->bytes = box->sum = 0;
        box->fresh = box->next;
        box->stated = 0;
        box->tenants = 0;
        box->dirty = true;
    }
    return lbx__box_record_close_all(rules, status);
}

lbx_status
lbx__box_admin_delete(lbx__rules *rules, lbx_box_request *request)
{
    lbx__box_record *box;
    lbx__key name, key;
    uint64_t unused;
    lbx_status status;

    lbx__rules_start(rules);
    status = lbx__catalog_find(rules, request, &box);
    if (status == LBX_OK)
        status = box_admin_abandon(rules, box, &unused);
    if (status != LBX_OK)
        return lbx__box_record_close_all(rules, status);
    name = lbx__key_name(box->facts->space, box->facts->name);
    key = lbx__key_1(box->uid);
    lbx__row_drop(rules->storage, LBX__NAMES, &name);
    lbx__row_drop(rules->storage, LBX__BOXES, &key);
    lbx__row_drop(rules->storage, LBX__BOX_RECORDS, &key);
    lbx__move_forget(rules, box->uid);
    lbx__box_record_note_change(rules, box->uid, rules->now);
    lbx__box_record_forget(rules, box);
    return LBX_OK;
}
