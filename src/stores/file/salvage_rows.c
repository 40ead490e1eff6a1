/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From rows that are intact to boxes and letters of a new store.
 *
 * Everything is made anew by the rules' own functions, so that heads, indexes and
 * groups are right whatever they were before. A letter keeps its sequence, and so
 * its place.
 *
 * Whose letters are they? They stand under a row id, which the head of their box
 * names. If that head is lost: a box is given its uid and its first row id
 * together, one after the other, so the box whose uid is one less has them. A row
 * id that a purge has given belongs to a box whose name cannot be told.
 *
 * S1  A letter is made only of a body whose sum is right, and once.
 * S2  What is known to be purged or deleted stays so.
 */
#include "stores/file/salvage.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LETTERS_AT_ONCE = 64,
    TEXTS_MOST = 64
};

/* ---- Which boxes, which letters ---- */

static void *
grow(void *array, size_t count, size_t *room, size_t each)
{
    const size_t more = *room ? 2 * *room : 64;
    void *bytes;

    if (count < *room)
        return array;
    bytes = lbx__alloc(NULL, more * each, 8);
    if (!bytes)
        return NULL;
    if (count > 0)
        memcpy(bytes, array, count * each);
    lbx__free(NULL, array, *room * each);
    *room = more;
    return bytes;
}

static lbx_status
add_box(lbx__salvage *salvage, const lbx__saved *box)
{
    lbx__saved *boxes =
        grow(salvage->boxes, salvage->count, &salvage->room, sizeof(*boxes));

    if (!boxes)
        return LBX_NO_MEMORY;
    salvage->boxes = boxes;
    boxes[salvage->count++] = *box;
    return LBX_OK;
}

static lbx_status
add_letter(lbx__salvage *salvage, uint64_t box, uint64_t sequence)
{
    struct lbx__place *letters = grow(salvage->letters, salvage->letter_count,
                                      &salvage->letter_room, sizeof(*letters));

    if (!letters)
        return LBX_NO_MEMORY;
    salvage->letters = letters;
    letters[salvage->letter_count++] = (struct lbx__place){box, sequence};
    return LBX_OK;
}

static int
compare_boxes(const void *a, const void *b)
{
    const lbx__saved *one = a, *other = b;

    return (one->box > other->box) - (one->box < other->box);
}

static int
compare_letters(const void *a, const void *b)
{
    const struct lbx__place *one = a, *other = b;

    if (one->box != other->box)
        return one->box < other->box ? -1 : 1;
    return (one->sequence > other->sequence) -
           (one->sequence < other->sequence);
}

static void
sort_boxes(lbx__salvage *salvage)
{
    if (salvage->count > 0)
        qsort(salvage->boxes, salvage->count, sizeof(salvage->boxes[0]),
              compare_boxes);
}

static lbx__saved *
find_box(const lbx__salvage *salvage, uint64_t box)
{
    const lbx__saved wanted = {.box = box};

    return salvage->count > 0 ? bsearch(&wanted, salvage->boxes, salvage->count,
                                        sizeof(wanted), compare_boxes)
                              : NULL;
}

/* Heads, and what was purged or deleted. */
static lbx_status
find_boxes(lbx__salvage *salvage)
{
    lbx__view_row row;
    lbx__head head;
    lbx_status status;

    while ((status = lbx__view_next(&salvage->view, LBX__HEADS, &row)) ==
           LBX_OK) {
        if (!row.is_good || lbx__head_decode(row.value, &head) != LBX_OK)
            continue;
        status = add_box(salvage, &(lbx__saved){
                                      .box = head.box,
                                      .uid = lbx__key_number(row.key, 0),
                                      .next = head.next,
                                  });
        if (status != LBX_OK)
            return status;
    }
    while (status == LBX_NOT_FOUND &&
           (status = lbx__view_next(&salvage->view, LBX__OLD, &row)) ==
               LBX_OK) {
        if (row.is_good)
            status = add_box(salvage, &(lbx__saved){
                                          .box = lbx__key_number(row.key, 0),
                                          .is_gone = true,
                                      });
        status = status == LBX_OK ? LBX_NOT_FOUND : status;
    }
    sort_boxes(salvage);
    return status == LBX_NOT_FOUND ? LBX_OK : status;
}

static bool
has_head(lbx__salvage *salvage, uint64_t uid)
{
    const lbx__key key = lbx__key_1(uid);
    lbx__bytes value;
    lbx__head head;

    return lbx__view_get(&salvage->view, LBX__HEADS, &key, &value) == LBX_OK &&
           lbx__head_decode(value, &head) == LBX_OK;
}

/* Boxes whose head is lost: they may be empty, and are kept then, too. */
static lbx_status
find_headless(lbx__salvage *salvage)
{
    lbx__view_row row;
    lbx_status status;

    while ((status = lbx__view_next(&salvage->view, LBX__BOXES, &row)) ==
           LBX_OK) {
        const uint64_t uid = lbx__key_number(row.key, 0);

        if (row.is_good && !has_head(salvage, uid))
            status =
                add_box(salvage, &(lbx__saved){.box = uid + 1, .uid = uid});
        if (status != LBX_OK)
            return status;
    }
    sort_boxes(salvage);
    return status == LBX_NOT_FOUND ? LBX_OK : status;
}

static lbx_status
find_letters(lbx__salvage *salvage)
{
    lbx__view_row row;
    lbx__body body;
    lbx_status status;

    while ((status = lbx__view_next(&salvage->view, LBX__BODIES, &row)) ==
           LBX_OK) {
        if (!row.is_good)
            continue;
        status = lbx__body_decode(row.value, &salvage->attributes, &body);
        if (status == LBX_OK)
            status = add_letter(salvage, lbx__key_number(row.key, 0),
                                lbx__key_number(row.key, 1));
        if (status == LBX_NO_MEMORY)
            return status;
    }
    if (salvage->letter_count > 0)
        qsort(salvage->letters, salvage->letter_count,
              sizeof(salvage->letters[0]), compare_letters);
    return status == LBX_NOT_FOUND ? LBX_OK : status;
}

/* Row ids of letters that no box has. If there is a head for the uid before it,
 * which names another, it was purged (S2). */
static lbx_status
find_nameless(lbx__salvage *salvage)
{
    uint64_t last = 0;

    for (size_t i = 0; i < salvage->letter_count; i++) {
        const uint64_t box = salvage->letters[i].box;
        lbx_status status;

        if (box == last || find_box(salvage, box))
            continue;
        last = box;
        status = add_box(salvage, &(lbx__saved){
                                      .box = box,
                                      .is_gone = has_head(salvage, box - 1),
                                  });
        if (status != LBX_OK)
            return status;
        sort_boxes(salvage);
    }
    return LBX_OK;
}

/* ---- Making boxes ---- */

/* Begins a group of the new store; ends it. */
static lbx_status
end_group(lbx__salvage *salvage, lbx_status status)
{
    const lbx_status flushed = lbx__storage_flush(
        salvage->storage, lbx__storage_commit(salvage->storage));

    return status == LBX_OK ? flushed : status;
}

/* The name of a uid, by the names: false when it is lost, too. */
static bool
find_name(lbx__salvage *salvage, uint64_t uid, char name[LBX_BOX_NAME_BYTES])
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

/* The first letter of a box, or where it would be. */
static size_t
first_letter(const lbx__salvage *salvage, uint64_t box)
{
    size_t low = 0, high = salvage->letter_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (salvage->letters[middle].box < box)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether the letters of a box have groups. */
static bool
has_groups(lbx__salvage *salvage, uint64_t box)
{
    const size_t at = first_letter(salvage, box);
    lbx__bytes value;
    lbx__body body;
    lbx__key key;

    if (at == salvage->letter_count || salvage->letters[at].box != box)
        return false;
    key = lbx__key_2(box, salvage->letters[at].sequence);
    return lbx__view_get(&salvage->view, LBX__BODIES, &key, &value) == LBX_OK &&
           lbx__body_decode_fixed(value, &body) == LBX_OK && body.gid != 0;
}

/* Its row is lost: made with the options of every box, under a name that says
 * so. */
static lbx_status
make_default(lbx__salvage *salvage, lbx__saved *box)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    char name[LBX_BOX_NAME_BYTES], known[LBX_BOX_NAME_BYTES];
    lbx_box_request request = {.name = name, .options = &options};
    lbx_status status;

    if (box->uid != 0 && find_name(salvage, box->uid, known))
        (void)snprintf(name, sizeof(name), "salvaged-%.110s", known);
    else
        (void)snprintf(name, sizeof(name), "salvaged-%" PRIu64, box->box);
    options.fifo = box->fifo = has_groups(salvage, box->box);
    status = lbx__storage_begin(salvage->storage);
    if (status != LBX_OK)
        return status;
    status = lbx__rules_create(salvage->rules, &request);
    box->made = request.ret_box;
    return end_group(salvage, status);
}

static size_t
read_texts(lbx__bytes left, lbx_box_text texts[TEXTS_MOST])
{
    size_t count = 0;

    while (count < TEXTS_MOST && lbx__texts_next(&left, &texts[count]))
        count++;
    return count;
}

/* Without the name of its dead letters, which may not be there yet: that is given
 * to it by configure(). */
static lbx_status
make_box(lbx__salvage *salvage, lbx__saved *box)
{
    const lbx__key key = lbx__key_1(box->uid);
    char buffer[LBX_BOX_TEXT_BYTES];
    lbx_box_text texts[TEXTS_MOST];
    lbx_box_options options;
    lbx_box_request request = {.options = &options, .texts = texts};
    lbx__box_row row;
    lbx__bytes value;
    lbx_status status =
        box->uid ? lbx__view_get(&salvage->view, LBX__BOXES, &key, &value)
                 : LBX_NOT_FOUND;

    if (status == LBX_OK)
        status = lbx__box_row_decode(value, &row);
    if (status == LBX_OK)
        status = lbx__options_decode(row.options, buffer, &options);
    if (status == LBX_NO_MEMORY)
        return status;
    if (status != LBX_OK || lbx_box_options_check(&options, NULL) != LBX_OK)
        return make_default(salvage, box);
    options.dead_letters = NULL;
    request.space = row.space;
    request.name = row.name;
    request.text_count = read_texts(row.texts, texts);
    box->fifo = options.fifo;
    status = lbx__storage_begin(salvage->storage);
    if (status != LBX_OK)
        return status;
    status = lbx__rules_create(salvage->rules, &request);
    box->made = request.ret_box;
    return end_group(salvage, status);
}

/* All options, now that all boxes are there. One whose dead letters are lost, or
 * are of the other order now, is left without. */
static lbx_status
configure(lbx__salvage *salvage, const lbx__saved *box)
{
    const lbx__key key = lbx__key_1(box->uid);
    char buffer[LBX_BOX_TEXT_BYTES];
    lbx_box_options options;
    lbx_box_request request = {.box = box->made, .options = &options};
    lbx_damage part = {.what = "dead letters"};
    lbx__box_row row;
    lbx__bytes value;
    lbx_status status;

    if (box->uid == 0 ||
        lbx__view_get(&salvage->view, LBX__BOXES, &key, &value) != LBX_OK ||
        lbx__box_row_decode(value, &row) != LBX_OK ||
        lbx__options_decode(row.options, buffer, &options) != LBX_OK ||
        !options.dead_letters)
        return LBX_OK;
    status = lbx__storage_begin(salvage->storage);
    if (status != LBX_OK)
        return status;
    status = lbx__rules_configure(salvage->rules, &request);
    if (status == LBX_NOT_FOUND || status == LBX_INVALID ||
        status == LBX_DENIED) {
        part.box = row.name;
        lbx__tell(salvage->teller, &part);
        status = LBX_OK;
    }
    return end_group(salvage, status);
}

/* ---- Making letters ---- */

/* The state in the new store: who had a lease has it no more. */
static bool
convert_state(const lbx__salvage *salvage, const lbx__head *head,
              lbx__bytes value, lbx__state *ret)
{
    const lbx_box_options *options = &head->facts->options;

    if (lbx__state_decode(value, ret) != LBX_OK)
        return false;
    if (ret->kind != LBX__IS_LEASED)
        return true;
    ret->kind = LBX__IS_READY;
    if (options->keep_place && !options->fifo) {
        ret->due = ret->place_due;
        ret->turn = ret->place_turn;
    } else if (ret->due > salvage->rules->now) {
        ret->due = salvage->rules->now;
    }
    return true;
}

static lbx_status
insert(lbx__salvage *salvage, lbx__head *head, uint64_t sequence,
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
    lbx__need_insert(&need, body, salvage->encoded.size, true);
    if (fifo) {
        lbx__need_group(&need);
        status = lbx__group_hash(rules, body->parcel.group, hash);
    }
    if (status == LBX_OK)
        status = lbx__storage_reserve(salvage->storage, need.sizes, need.count,
                                      LBX__GROWS);
    if (status != LBX_OK)
        return status;
    body->gid = fifo ? lbx__group_join(rules, head, hash, sequence, due) : 0;
    lbx__letter_insert(
        rules, head, sequence, body,
        (lbx__bytes){salvage->encoded.bytes, salvage->encoded.size}, state);
    return LBX_OK;
}

static lbx_status
make_letter(lbx__salvage *salvage, lbx__head *head, uint64_t box,
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
    has_state = status == LBX_OK && convert_state(salvage, head, value, &state);
    salvage->teller->report.letters++;
    return insert(salvage, head, sequence, &body, has_state ? &state : NULL);
}

/* The letters from `from` on, some of one box, as one group. */
static lbx_status
make_letters(lbx__salvage *salvage, size_t from, size_t *ret_upto)
{
    const uint64_t box = salvage->letters[from].box;
    const lbx__saved *saved = find_box(salvage, box);
    lbx__head *head;
    lbx_status status;
    size_t i = from;

    while (saved->is_gone && i < salvage->letter_count &&
           salvage->letters[i].box == box)
        i++;
    *ret_upto = i;
    if (saved->is_gone)
        return LBX_OK;
    status = lbx__storage_begin(salvage->storage);
    if (status != LBX_OK)
        return status;
    lbx__rules_start(salvage->rules);
    status = lbx__head_open(salvage->rules, saved->made, &head);
    for (; status == LBX_OK && i < salvage->letter_count &&
           i < from + LETTERS_AT_ONCE && salvage->letters[i].box == box;
         i++) {
        const uint64_t sequence = salvage->letters[i].sequence;

        // H2: numbers that were given stay so.
        if (head->next < saved->next)
            head->next = saved->next;
        if (head->next <= sequence)
            head->next = sequence + 1;
        status = make_letter(salvage, head, box, sequence);
    }
    *ret_upto = i;
    return end_group(salvage, lbx__heads_close(salvage->rules, status));
}

lbx_status
lbx__salvage_rows(lbx__salvage *salvage)
{
    lbx_status status = find_boxes(salvage);
    size_t at = 0;

    if (status == LBX_OK)
        status = find_headless(salvage);
    if (status == LBX_OK)
        status = find_letters(salvage);
    if (status == LBX_OK)
        status = find_nameless(salvage);
    salvage->teller->report.boxes = 0;
    for (size_t i = 0; i < salvage->count && status == LBX_OK; i++) {
        if (salvage->boxes[i].is_gone)
            continue;
        salvage->teller->report.boxes++;
        status = make_box(salvage, &salvage->boxes[i]);
    }
    salvage->teller->report.letters = 0;
    while (status == LBX_OK && at < salvage->letter_count)
        status = make_letters(salvage, at, &at);
    for (size_t i = 0; i < salvage->count && status == LBX_OK; i++) {
        if (!salvage->boxes[i].is_gone)
            status = configure(salvage, &salvage->boxes[i]);
    }
    return status;
}
