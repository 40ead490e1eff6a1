/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which boxes and letters of a damaged store are saved.
 *
 * Whose letters are they? They stand under a row id, which the head of their box
 * names. If that head is lost: a box is given its uid and its first row id
 * together, one after the other, so the box whose uid is one less has them. A row
 * id that a purge has given belongs to a box whose name cannot be reported.
 *
 * SALV-1  A letter is made only of a body whose sum is right, and once.
 * SALV-2  What is known to be purged or deleted stays so.
 */
#include "stores/file/repair/salvage.h"

#include "base/alloc.h"

#include <stdlib.h>

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
add_box(lbx__salvage *salvage, const lbx__salvage_saved *box)
{
    lbx__salvage_saved *boxes =
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
    struct lbx__salvage_position *letters =
        grow(salvage->letters, salvage->letter_count, &salvage->letter_room,
             sizeof(*letters));

    if (!letters)
        return LBX_NO_MEMORY;
    salvage->letters = letters;
    letters[salvage->letter_count++] =
        (struct lbx__salvage_position){box, sequence};
    return LBX_OK;
}

static int
compare_boxes(const void *a, const void *b)
{
    const lbx__salvage_saved *one = a, *other = b;

    return (one->box > other->box) - (one->box < other->box);
}

static int
compare_letters(const void *a, const void *b)
{
    const struct lbx__salvage_position *one = a, *other = b;

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

/* Where two branches lead to one page, its rows come twice: SALV-1. */
static void
sort_letters(lbx__salvage *salvage)
{
    struct lbx__salvage_position *letters = salvage->letters;
    size_t kept = 0;

    if (salvage->letter_count == 0)
        return;
    qsort(letters, salvage->letter_count, sizeof(letters[0]), compare_letters);
    for (size_t i = 1; i < salvage->letter_count; i++) {
        if (compare_letters(&letters[kept], &letters[i]) != 0)
            letters[++kept] = letters[i];
    }
    salvage->letter_count = kept + 1;
}

lbx__salvage_saved *
lbx__salvage_find_box(const lbx__salvage *salvage, uint64_t box)
{
    const lbx__salvage_saved wanted = {.box = box};

    return salvage->count > 0 ? bsearch(&wanted, salvage->boxes, salvage->count,
                                        sizeof(wanted), compare_boxes)
                              : NULL;
}

/* Heads, and what was purged or deleted. */
static lbx_status
find_boxes(lbx__salvage *salvage)
{
    lbx__view_row row;
    lbx__box_record head;
    lbx_status status;

    while ((status = lbx__view_next(&salvage->view, LBX__BOX_RECORDS, &row)) ==
           LBX_OK) {
        if (!row.is_good || lbx__box_record_decode(row.value, &head) != LBX_OK)
            continue;
        status = add_box(salvage, &(lbx__salvage_saved){
                                      .box = head.box,
                                      .uid = lbx__key_number(row.key, 0),
                                      .next = head.next,
                                  });
        if (status != LBX_OK)
            return status;
    }
    while (status == LBX_NOT_FOUND &&
           (status = lbx__view_next(&salvage->view, LBX__GARBAGE, &row)) ==
               LBX_OK) {
        if (row.is_good)
            status = add_box(salvage, &(lbx__salvage_saved){
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
    lbx__box_record head;

    return lbx__view_get(&salvage->view, LBX__BOX_RECORDS, &key, &value) ==
               LBX_OK &&
           lbx__box_record_decode(value, &head) == LBX_OK;
}

/* A first row id that is known to be given up has no letters (SALV-2), whoever had it:
 * its box is made without. */
static void
part_from_gone(lbx__salvage *salvage)
{
    for (size_t i = 1; i < salvage->count; i++) {
        lbx__salvage_saved *one = &salvage->boxes[i - 1],
                           *other = &salvage->boxes[i];

        if (one->box == other->box && one->is_gone != other->is_gone)
            *(one->is_gone ? &other->box : &one->box) = 0;
    }
    sort_boxes(salvage);
}

/* Boxes whose head is lost: they may be empty, and are kept then, too. */
static lbx_status
find_headless(lbx__salvage *salvage)
{
    lbx__view_row row;
    lbx_status status;

    while ((status = lbx__view_next(&salvage->view, LBX__BOXES, &row)) ==
           LBX_OK) {
        uint64_t uid;

        if (!row.is_good)
            continue;
        uid = lbx__key_number(row.key, 0);
        if (!has_head(salvage, uid))
            status = add_box(salvage,
                             &(lbx__salvage_saved){.box = uid + 1, .uid = uid});
        if (status != LBX_OK)
            return status;
    }
    sort_boxes(salvage);
    part_from_gone(salvage);
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
    sort_letters(salvage);
    return status == LBX_NOT_FOUND ? LBX_OK : status;
}

/* Row ids of letters that no box has. If there is a head for the uid before it,
 * which names another, it was purged (SALV-2). */
static lbx_status
find_nameless(lbx__salvage *salvage)
{
    for (size_t i = 0; i < salvage->letter_count; i++) {
        const uint64_t box = salvage->letters[i].box;
        lbx_status status;

        if (lbx__salvage_find_box(salvage, box))
            continue;
        status = add_box(salvage, &(lbx__salvage_saved){
                                      .box = box,
                                      .is_gone = has_head(salvage, box - 1),
                                  });
        if (status != LBX_OK)
            return status;
        sort_boxes(salvage);
    }
    return LBX_OK;
}

lbx_status
lbx__salvage_find(lbx__salvage *salvage)
{
    lbx_status status = find_boxes(salvage);

    if (status == LBX_OK)
        status = find_headless(salvage);
    if (status == LBX_OK)
        status = find_letters(salvage);
    if (status == LBX_OK)
        status = find_nameless(salvage);
    return status;
}
