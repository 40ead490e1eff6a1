/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boxes and letters of the new store, made from rows that are intact.
 *
 * The rules' own functions make everything anew, so that records, indexes and
 * groups are right whatever they were before. A letter keeps its sequence, and
 * so its position.
 *
 * Threads    one at a time.
 */
#include "stores/file/repair/salvage.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    LETTERS_AT_ONCE = 64,
    TEXTS_MAX = 64
};

/* ---- Making boxes ---- */

/* Ends a batch of the new store. */
static lbx_status
rows_end_batch(lbx__salvage *salvage, lbx_status status)
{
    const lbx_status flushed = lbx__storage_flush(
        salvage->storage, lbx__box_record_commit(salvage->rules));

    return status == LBX_OK ? flushed : status;
}

/* The name of a uid, by the table of names: false when it is lost, too. */
static bool
rows_find_name(lbx__salvage *salvage, uint64_t uid,
               char name[LBX_BOX_NAME_BYTES])
{
    lbx__view_row row;
    bool found = false;

    while (lbx__view_next(&salvage->view, LBX__NAMES, &row) == LBX_OK) {
        const uint8_t *end = memchr(row.key.data, 0, row.key.size);
        size_t size;

        if (found || !row.is_good || !end || row.value.size != 8 ||
            lbx__get_le64(row.value.data) != uid)
            continue;
        size = row.key.size - (size_t)(end + 1 - (const uint8_t *)row.key.data);
        if (size >= LBX_BOX_NAME_BYTES)
            continue;
        memcpy(name, end + 1, size);
        name[size] = '\0';
        found = true;
    }
    return found;
}

/* The index of the first letter of a box, or of the first behind it. */
static size_t
rows_first_letter(const lbx__salvage *salvage, uint64_t box)
{
    size_t low = 0, high = salvage->letters.count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (salvage->letters.items[middle].box < box)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether a box is fifo, by its first letter: it has a group, as one in a plain
 * box may have, and the id of a duplicate. */
static bool
rows_are_fifo(lbx__salvage *salvage, uint64_t box)
{
    const size_t at = rows_first_letter(salvage, box);
    lbx__bytes value;
    lbx__body body;
    lbx__key key;

    if (at == salvage->letters.count || salvage->letters.items[at].box != box)
        return false;
    key = lbx__key_2(box, salvage->letters.items[at].sequence);
    return lbx__view_get(&salvage->view, LBX__BODIES, &key, &value) == LBX_OK &&
           lbx__body_decode(value, &salvage->attributes, &body) == LBX_OK &&
           body.gid != 0 && body.parcel.deduplication_id;
}

/* A box as its row has it. */
struct rows_described {
    lbx__box_row row;
    lbx_box_options options;
    char buffer[LBX_BOX_OPTIONS_BUFFER_BYTES];
};

/* OK; NOT_FOUND: it is lost, or not valid; NEWER: it is intact, but of a newer
 * version; NO_MEMORY. */
static lbx_status
rows_read_box(lbx__salvage *salvage, const lbx__salvage_box *box,
              struct rows_described *ret)
{
    const lbx__key key = lbx__key_1(box->uid);
    lbx__bytes value;
    lbx_status status =
        box->uid ? lbx__view_get(&salvage->view, LBX__BOXES, &key, &value)
                 : LBX_NOT_FOUND;

    if (status == LBX_OK)
        status = lbx__box_row_decode(value, &ret->row);
    if (status == LBX_OK)
        status = lbx__box_row_decode_options(ret->row.options, ret->buffer,
                                             &ret->options);
    if (status == LBX_OK)
        status = lbx_box_options_check(&ret->options, NULL);
    return status == LBX_OK || status == LBX_NEWER || status == LBX_NO_MEMORY
               ? status
               : LBX_NOT_FOUND;
}

static size_t
rows_read_texts(lbx__bytes left, lbx_box_text texts[TEXTS_MAX])
{
    size_t count = 0;

    while (count < TEXTS_MAX && lbx__box_row_next_text(&left, &texts[count]))
        count++;
    return count;
}

/* Makes a box: EXISTS when the name is taken, whatever the options. */
static lbx_status
rows_create(lbx__salvage *salvage, lbx_box_request *request,
            lbx__salvage_box *box)
{
    lbx_box_request same = {.space = request->space, .name = request->name};
    lbx_status status = lbx__storage_begin(salvage->storage);

    if (status != LBX_OK)
        return status;
    status = lbx__catalog_describe(salvage->rules, &same);
    if (status == LBX_OK)
        status = LBX_EXISTS;
    else if (status == LBX_NOT_FOUND)
        status = lbx__box_admin_create(salvage->rules, request);
    if (status == LBX_OK) {
        box->made = request->ret_box;
        box->fifo = request->options->fifo;
    }
    return rows_end_batch(salvage, status);
}

/* Makes a box under the name in its row, without its dead-letter box, which may
 * not be there yet: rows_configure() sets that. Not if its row is lost or its
 * name taken. */
static lbx_status
rows_make_box(lbx__salvage *salvage, lbx__salvage_box *box)
{
    struct rows_described found;
    lbx_box_text texts[TEXTS_MAX];
    lbx_box_request request = {.options = &found.options, .texts = texts};
    lbx_status status = rows_read_box(salvage, box, &found);

    if (status == LBX_OK) {
        found.options.dead_letters = NULL;
        request.space = found.row.space;
        request.name = found.row.name;
        request.text_count = rows_read_texts(found.row.texts, texts);
        status = rows_create(salvage, &request, box);
    }
    return status == LBX_NOT_FOUND || status == LBX_EXISTS ? LBX_OK : status;
}

/* Makes a box under a new name, "salvaged-...": those that keep theirs have
 * been made. With default options, if its own are lost. */
static lbx_status
rows_make_renamed(lbx__salvage *salvage, lbx__salvage_box *box)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    struct rows_described found;
    char name[LBX_BOX_NAME_BYTES], known[LBX_BOX_NAME_BYTES];
    lbx_box_request request = {.name = name, .options = &options};
    lbx_status status = rows_read_box(salvage, box, &found);

    if (status != LBX_OK && status != LBX_NOT_FOUND)
        return status;
    options.fifo = rows_are_fifo(salvage, box->box);
    if (status == LBX_OK) {
        options = found.options;
        options.dead_letters = NULL;
        (void)snprintf(known, sizeof(known), "%s", found.row.name);
    } else if (box->uid == 0 || !rows_find_name(salvage, box->uid, known)) {
        (void)snprintf(known, sizeof(known), "%" PRIu64, box->box);
    }
    (void)snprintf(name, sizeof(name), "salvaged-%.100s", known);
    for (unsigned i = 2;
         (status = rows_create(salvage, &request, box)) == LBX_EXISTS; i++)
        (void)snprintf(name, sizeof(name), "salvaged-%.100s-%u", known, i);
    return status;
}

/* Sets all options, now that all boxes are there. A dead-letter box that is
 * lost, or of the other kind now, is left out. */
static lbx_status
rows_configure(lbx__salvage *salvage, const lbx__salvage_box *box)
{
    struct rows_described found;
    lbx_box_request request = {.box = box->made, .options = &found.options};
    lbx_file_store_damage part = {.what = "dead letters"};
    lbx_status status = rows_read_box(salvage, box, &found);

    if (status != LBX_OK || !found.options.dead_letters)
        return status == LBX_NOT_FOUND ? LBX_OK : status;
    status = lbx__storage_begin(salvage->storage);
    if (status != LBX_OK)
        return status;
    status = lbx__box_admin_configure(salvage->rules, &request);
    if (status == LBX_NOT_FOUND || status == LBX_INVALID ||
        status == LBX_DENIED) {
        part.box = found.row.name;
        lbx__audit_report_damage(salvage->log, &part);
        status = LBX_OK;
    }
    return rows_end_batch(salvage, status);
}

/* ---- Making letters ---- */

/* The state in the new store: leases are over. */
static bool
rows_convert_state(const lbx__salvage *salvage, const lbx__box_record *head,
                   lbx__bytes value, lbx__state *ret)
{
    const lbx_box_options *options = &head->facts->options;

    if (lbx__body_decode_state(value, ret) != LBX_OK)
        return false;
    if (ret->kind != LBX__IS_LEASED)
        return true;
    ret->kind = LBX__IS_READY;
    if (options->keep_position && !options->fifo) {
        ret->due = ret->claimed_due;
        ret->ticket = ret->claimed_ticket;
    } else if (ret->due > salvage->rules->now) {
        ret->due = salvage->rules->now;
    }
    return true;
}

static lbx_status
rows_insert(lbx__salvage *salvage, lbx__box_record *head, uint64_t sequence,
            lbx__body *body, const lbx__state *state)
{
    lbx__rules *rules = salvage->rules;
    const bool fifo = head->facts->options.fifo;
    const int64_t due = state ? state->due : body->sent_ns;
    uint8_t hash[LBX__HASH_BYTES];
    lbx__need need = {.count = 0};
    lbx_status status = LBX_OK;

    lbx__buffer_reset(&salvage->encoded);
    lbx__body_encode(&body->parcel, body->source, &salvage->encoded);
    if (salvage->encoded.status != LBX_OK)
        return salvage->encoded.status;
    lbx__letter_record_need_insert(&need, body, salvage->encoded.size, true);
    if (fifo) {
        lbx__group_need_join(&need);
        status = lbx__group_hash(rules, body->parcel.group, hash);
    }
    if (status == LBX_OK)
        status = lbx__storage_reserve(salvage->storage, need.sizes, need.count,
                                      LBX__GROWS);
    if (status != LBX_OK)
        return status;
    body->gid = fifo ? lbx__group_join(rules, head, hash, sequence, due) : 0;
    lbx__letter_record_insert(
        rules, head, sequence, body,
        (lbx__bytes){salvage->encoded.bytes, salvage->encoded.size}, state);
    return LBX_OK;
}

static lbx_status
rows_make_letter(lbx__salvage *salvage, lbx__box_record *head, uint64_t box,
                 uint64_t sequence)
{
    const lbx__key key = lbx__key_2(box, sequence);
    lbx__bytes value;
    lbx__state state;
    lbx__body body;
    bool has_state;
    lbx_status status =
        lbx__view_get(&salvage->view, LBX__BODIES, &key, &value);

    if (status == LBX_OK)
        status = lbx__body_decode(value, &salvage->attributes, &body);
    if (status != LBX_OK)
        return status == LBX_NO_MEMORY ? status : LBX_OK; // lost meanwhile
    if (head->facts->options.fifo && !body.parcel.group)
        return LBX_OK; // no letter of such a box
    status = lbx__view_get(&salvage->view, LBX__STATES, &key, &value);
    if (status == LBX_NO_MEMORY)
        return status;
    has_state =
        status == LBX_OK && rows_convert_state(salvage, head, value, &state);
    salvage->log->report.letters++;
    status =
        rows_insert(salvage, head, sequence, &body, has_state ? &state : NULL);
    return status == LBX_OK ? lbx__audit_progress_step(&salvage->log->progress)
                            : status;
}

/* Sequences are never used twice, also where the last letters are gone. */
static lbx_status
rows_keep_next(lbx__salvage *salvage, const lbx__salvage_box *box)
{
    lbx__box_record *head;
    lbx_status status = lbx__storage_begin(salvage->storage);

    if (status != LBX_OK)
        return status;
    lbx__rules_start(salvage->rules);
    status = lbx__box_record_open(salvage->rules, box->made, &head);
    if (status == LBX_OK && head->next < box->next) {
        head->next = box->next;
        head->dirty = true;
    }
    return rows_end_batch(salvage,
                          lbx__box_record_close_all(salvage->rules, status));
}

/* The letters from `from` on, some of one box, as one batch. */
static lbx_status
rows_make_letters(lbx__salvage *salvage, size_t from, size_t *ret_upto)
{
    const uint64_t box = salvage->letters.items[from].box;
    const lbx__salvage_box *saved = lbx__salvage_find_box(salvage, box);
    lbx__box_record *head;
    lbx_status status;
    size_t i = from;

    while (saved->is_gone && i < salvage->letters.count &&
           salvage->letters.items[i].box == box)
        i++;
    *ret_upto = i;
    if (saved->is_gone)
        return LBX_OK;
    status = lbx__storage_begin(salvage->storage);
    if (status != LBX_OK)
        return status;
    lbx__rules_start(salvage->rules);
    status = lbx__box_record_open(salvage->rules, saved->made, &head);
    for (; status == LBX_OK && i < salvage->letters.count &&
           i < from + LETTERS_AT_ONCE && salvage->letters.items[i].box == box;
         i++) {
        const uint64_t sequence = salvage->letters.items[i].sequence;

        if (head->next <= sequence)
            head->next = sequence + 1;
        status = rows_make_letter(salvage, head, box, sequence);
    }
    *ret_upto = i;
    return rows_end_batch(salvage,
                          lbx__box_record_close_all(salvage->rules, status));
}

lbx_status
lbx__salvage_rows(lbx__salvage *salvage)
{
    lbx_status status = lbx__salvage_find(salvage);
    size_t at = 0;

    salvage->log->report.boxes = 0;
    for (size_t i = 0; i < salvage->boxes.count && status == LBX_OK; i++) {
        if (salvage->boxes.items[i].is_gone)
            continue;
        salvage->log->report.boxes++;
        status = rows_make_box(salvage, &salvage->boxes.items[i]);
    }
    for (size_t i = 0; i < salvage->boxes.count && status == LBX_OK; i++) {
        if (!salvage->boxes.items[i].is_gone &&
            salvage->boxes.items[i].made.uid == 0)
            status = rows_make_renamed(salvage, &salvage->boxes.items[i]);
    }
    salvage->log->report.letters = 0;
    salvage->log->progress.total += salvage->letters.count;
    while (status == LBX_OK && at < salvage->letters.count)
        status = rows_make_letters(salvage, at, &at);
    for (size_t i = 0; i < salvage->boxes.count && status == LBX_OK; i++) {
        const lbx__salvage_box *box = &salvage->boxes.items[i];

        if (box->is_gone)
            continue;
        status = rows_keep_next(salvage, box);
        if (status == LBX_OK)
            status = rows_configure(salvage, box);
    }
    return status;
}
