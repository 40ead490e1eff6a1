/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boxes: create, configure, delete, purge.
 *
 * A box has a uid for its life, under which its options and its head stand, and
 * a row id, under which its letters do. A purge is a new row id; what stands
 * under the old one belongs to nobody, and is reclaimed later (reclaim.c).
 *
 * X1  Row ids and uids are never used twice.
 * X2  A purge or a delete is one step, whatever is inside.
 */
#include "post/rules/box_row.h"
#include "post/rules/internal.h"

#include <string.h>

static const lbx_box_options default_options = LBX_BOX_OPTIONS_INIT;

/* ---- Options ---- */

static bool
allows(const lbx_box_options *options, const char *source)
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

/* Whether the box that should take dead letters is there, is of the same kind,
 * and allows it: OK; NOT_FOUND; INVALID; DENIED; CORRUPT; IO. */
static lbx_status
check_dead_letters(lbx__rules *rules, const char *space, const char *name,
                   const lbx_box_options *options)
{
    char buffer[LBX_BOX_OPTIONS_BUFFER_BYTES];
    lbx_box_options theirs;
    lbx__box_row row;
    lbx__bytes value;
    lbx__box_record *head;
    lbx__key key;
    lbx_status status;

    if (!options->dead_letters)
        return LBX_OK;
    if (strcmp(options->dead_letters, name) == 0)
        return allows(options, name) ? LBX_OK : LBX_DENIED;
    status = lbx__box_record_find(rules, space, options->dead_letters, &head);
    if (status != LBX_OK)
        return status;
    key = lbx__key_1(head->uid);
    status = lbx__row_get(rules->storage, LBX__BOXES, &key, &value);
    if (status == LBX_OK)
        status = lbx__box_row_decode(value, &row);
    if (status == LBX_OK)
        status = lbx__box_row_decode_options(row.options, buffer, &theirs);
    if (status != LBX_OK)
        return status == LBX_NOT_FOUND ? LBX_CORRUPT : status;
    if (theirs.fifo != options->fifo)
        return LBX_INVALID;
    return allows(&theirs, name) ? LBX_OK : LBX_DENIED;
}

/* The texts of a box after a change: what it had, without those that are named,
 * and those that have a value. */
static void
merge_texts(lbx__bytes had, const lbx_box_request *request, lbx_buffer *out)
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
encode_row(lbx__rules *rules, lbx__box_row *row, const lbx_box_options *options,
           const lbx_box_request *request)
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
    merge_texts(had_texts, request, parts);
    if (parts->status != LBX_OK)
        return parts->status;
    row->options.data = parts->bytes;
    row->texts = (lbx__bytes){parts->bytes + row->options.size,
                              parts->size - row->options.size};
    lbx__box_row_encode(row, whole);
    return whole->status;
}

static void
write_row(lbx__rules *rules, uint64_t uid)
{
    const lbx__key key = lbx__key_1(uid);

    lbx__row_put(rules->storage, LBX__BOXES, &key,
                 &(lbx__bytes){rules->encoded.bytes, rules->encoded.size}, 1);
}

/* ---- Create ---- */

/* There is one already: OK when it has the options that are given. */
static lbx_status
compare(lbx__rules *rules, const lbx__box_record *head,
        const lbx_box_options *options)
{
    const lbx__key key = lbx__key_1(head->uid);
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
create(lbx__rules *rules, lbx_box_request *request)
{
    const lbx_box_options *options =
        request->options ? request->options : &default_options;
    const char *space = request->space ? request->space : "";
    const lbx__key name = lbx__key_name(space, request->name);
    lbx__box_row row = {.space = space, .name = request->name};
    lbx__need need = {.count = 0};
    lbx__box_record head = {.next = 1, .fresh = 1};
    lbx_status status = encode_row(rules, &row, options, request);

    if (status != LBX_OK)
        return status;
    lbx__need_row(&need, name.size, 8);
    lbx__need_row(&need, 8, LBX__BOX_RECORD_BYTES);
    lbx__need_row(&need, 8, rules->encoded.size);
    status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                  LBX__GROWS);
    if (status == LBX_OK)
        status = lbx__rules_number(rules, &head.uid);
    if (status == LBX_OK)
        status = lbx__rules_number(rules, &head.box);
    if (status != LBX_OK)
        return status;
    lbx__row_put_number(rules->storage, LBX__NAMES, &name, head.uid);
    write_row(rules, head.uid);
    lbx__box_record_write(rules, &head);
    request->ret_box.uid = head.uid;
    return LBX_OK;
}

lbx_status
lbx__box_admin_create(lbx__rules *rules, lbx_box_request *request)
{
    lbx__box_record *head;
    lbx_status status;

    lbx__rules_start(rules);
    status = lbx__box_record_find(rules, request->space, request->name, &head);
    if (status == LBX_NOT_FOUND) {
        status = request->options
                     ? check_dead_letters(rules, request->space, request->name,
                                          request->options)
                     : LBX_OK;
        if (status == LBX_OK)
            status = create(rules, request);
        if (status == LBX_OK)
            status = lbx__box_record_open(rules, request->ret_box, &head);
    } else if (status == LBX_OK)
        status = compare(rules, head, request->options);
    if (status == LBX_OK)
        status = lbx__catalog_fill(rules, head, request);
    return lbx__box_record_close_all(rules, status);
}

/* ---- Change ---- */

static lbx_status
configure(lbx__rules *rules, lbx__box_record *head,
          const lbx_box_request *request)
{
    const lbx__key key = lbx__key_1(head->uid);
    lbx__need need = {.count = 0};
    lbx__box_row row;
    lbx__bytes value;
    lbx_status status;

    if (request->options) {
        if (request->options->fifo != head->facts->options.fifo)
            return LBX_INVALID;
        status = check_dead_letters(rules, head->facts->space,
                                    head->facts->name, request->options);
        if (status != LBX_OK)
            return status;
    }
    // By the old options, up to now: what they have decided stays.
    status = lbx__sweep(rules, head);
    if (status == LBX_OK)
        status = lbx__row_get(rules->storage, LBX__BOXES, &key, &value);
    if (status == LBX_OK)
        status = lbx__box_row_decode(value, &row);
    if (status != LBX_OK)
        return status == LBX_NOT_FOUND ? LBX_CORRUPT : status;
    row.configured = head->configured + 1;
    status = encode_row(rules, &row, request->options, request);
    if (status != LBX_OK)
        return status;
    lbx__need_row(&need, 8, rules->encoded.size);
    status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                  LBX__GROWS);
    if (status != LBX_OK)
        return status;
    write_row(rules, head->uid);
    head->configured++;
    head->dirty = true;
    lbx__tell_ready(rules, head, rules->now);
    return LBX_OK;
}

lbx_status
lbx__box_admin_configure(lbx__rules *rules, lbx_box_request *request)
{
    lbx__box_record *head;
    lbx_status status;

    lbx__rules_start(rules);
    status = lbx__catalog_find(rules, request, &head);
    if (status == LBX_OK)
        status = configure(rules, head, request);
    if (status == LBX_OK)
        request->ret_box.uid = head->uid;
    return lbx__box_record_close_all(rules, status);
}

/* ---- Purge and delete ---- */

/* What stands under the row id belongs to nobody from now on. */
static lbx_status
abandon(lbx__rules *rules, lbx__box_record *head, uint64_t *ret_new)
{
    const lbx__key key = lbx__key_1(head->box);
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
    lbx__box_record *head;
    uint64_t box;
    lbx_status status;

    lbx__rules_start(rules);
    status = lbx__catalog_find(rules, request, &head);
    if (status == LBX_OK)
        status = lbx__sweep_age(rules, head);
    if (status == LBX_OK)
        status = abandon(rules, head, &box);
    if (status == LBX_OK) {
        request->ret_purged = head->letters;
        head->box = box;
        head->letters = head->leased = head->delayed = 0;
        head->bytes = head->sum = 0;
        head->fresh = head->next;
        head->dirty = true;
    }
    return lbx__box_record_close_all(rules, status);
}

lbx_status
lbx__box_admin_delete(lbx__rules *rules, lbx_box_request *request)
{
    const lbx__rules_events *events = &rules->options.events;
    lbx__box_record *head;
    lbx__key name, key;
    uint64_t unused;
    lbx_status status;

    lbx__rules_start(rules);
    status = lbx__catalog_find(rules, request, &head);
    if (status == LBX_OK)
        status = abandon(rules, head, &unused);
    if (status != LBX_OK)
        return lbx__box_record_close_all(rules, status);
    name = lbx__key_name(head->facts->space, head->facts->name);
    key = lbx__key_1(head->uid);
    lbx__row_drop(rules->storage, LBX__NAMES, &name);
    lbx__row_drop(rules->storage, LBX__BOXES, &key);
    lbx__row_drop(rules->storage, LBX__BOX_RECORDS, &key);
    lbx__move_forget(rules, head->uid);
    if (events->ended)
        events->ended(events->context, (lbx_box){head->uid});
    lbx__box_record_forget(rules, head);
    return LBX_OK;
}
