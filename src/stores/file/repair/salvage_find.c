/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which boxes and letters of a damaged store are saved.
 *
 * Letters stand under a row id, which the record of their box names. If that is
 * lost: a box gets its uid and its first row id together, one after the other,
 * so the letters belong to the box whose uid is one less. A row id that a purge
 * has drawn belongs to a box whose name is lost.
 *
 * Threads    one at a time.
 */
#include "stores/file/repair/salvage.h"

#include <stdlib.h>

static lbx_status
find_add_box(lbx__salvage *salvage, const lbx__salvage_box *box)
{
    lbx__salvage_box *added = lbx__array_add(&salvage->boxes, NULL);

    if (!added)
        return LBX_NO_MEMORY;
    *added = *box;
    return LBX_OK;
}

static lbx_status
find_add_letter(lbx__salvage *salvage, uint64_t box, uint64_t sequence)
{
    lbx__salvage_position *added = lbx__array_add(&salvage->letters, NULL);

    if (!added)
        return LBX_NO_MEMORY;
    *added = (lbx__salvage_position){box, sequence};
    return LBX_OK;
}

static int
find_compare_boxes(const void *a, const void *b)
{
    const lbx__salvage_box *one = a, *other = b;

    return (one->box > other->box) - (one->box < other->box);
}

static int
find_compare_letters(const void *a, const void *b)
{
    const lbx__salvage_position *one = a, *other = b;

    if (one->box != other->box)
        return one->box < other->box ? -1 : 1;
    return (one->sequence > other->sequence) -
           (one->sequence < other->sequence);
}

static void
find_sort_boxes(lbx__salvage *salvage)
{
    if (salvage->boxes.count > 0)
        qsort(salvage->boxes.items, salvage->boxes.count,
              sizeof(salvage->boxes.items[0]), find_compare_boxes);
}

/* Where two branches lead to one page, its rows come twice: SALV-1. */
static void
find_sort_letters(lbx__salvage *salvage)
{
    lbx__salvage_position *letters = salvage->letters.items;
    size_t kept = 0;

    if (salvage->letters.count == 0)
        return;
    qsort(letters, salvage->letters.count, sizeof(letters[0]),
          find_compare_letters);
    for (size_t i = 1; i < salvage->letters.count; i++) {
        if (find_compare_letters(&letters[kept], &letters[i]) != 0)
            letters[++kept] = letters[i];
    }
    salvage->letters.count = kept + 1;
}

lbx__salvage_box *
lbx__salvage_find_box(const lbx__salvage *salvage, uint64_t box)
{
    const lbx__salvage_box wanted = {.box = box};

    return salvage->boxes.count > 0
               ? bsearch(&wanted, salvage->boxes.items, salvage->boxes.count,
                         sizeof(wanted), find_compare_boxes)
               : NULL;
}

/* Boxes by their records, and row ids that were purged or deleted. */
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
        status = find_add_box(salvage, &(lbx__salvage_box){
                                           .box = head.row_id,
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
            status =
                find_add_box(salvage, &(lbx__salvage_box){
                                          .box = lbx__key_number(row.key, 0),
                                          .is_gone = true,
                                      });
        status = status == LBX_OK ? LBX_NOT_FOUND : status;
    }
    find_sort_boxes(salvage);
    return status == LBX_NOT_FOUND ? LBX_OK : status;
}

static bool
find_has_record(lbx__salvage *salvage, uint64_t uid)
{
    const lbx__key key = lbx__key_1(uid);
    lbx__bytes value;
    lbx__box_record head;

    return lbx__view_get(&salvage->view, LBX__BOX_RECORDS, &key, &value) ==
               LBX_OK &&
           lbx__box_record_decode(value, &head) == LBX_OK;
}

/* A first row id that is known to be purged has no letters (SALV-2): its box is
 * made without them. */
static void
find_drop_purged(lbx__salvage *salvage)
{
    for (size_t i = 1; i < salvage->boxes.count; i++) {
        lbx__salvage_box *one = &salvage->boxes.items[i - 1],
                         *other = &salvage->boxes.items[i];

        if (one->box == other->box && one->is_gone != other->is_gone)
            *(one->is_gone ? &other->box : &one->box) = 0;
    }
    find_sort_boxes(salvage);
}

/* Boxes whose record is lost; empty ones are kept, too. */
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
        if (!find_has_record(salvage, uid))
            status = find_add_box(
                salvage, &(lbx__salvage_box){.box = uid + 1, .uid = uid});
        if (status != LBX_OK)
            return status;
    }
    find_sort_boxes(salvage);
    find_drop_purged(salvage);
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
            status = find_add_letter(salvage, lbx__key_number(row.key, 0),
                                     lbx__key_number(row.key, 1));
        if (status == LBX_NO_MEMORY)
            return status;
    }
    find_sort_letters(salvage);
    return status == LBX_NOT_FOUND ? LBX_OK : status;
}

/* Row ids of letters that no box has. If there is a record for the uid before
 * it, which names another row id, this one was purged (SALV-2). */
static lbx_status
find_nameless(lbx__salvage *salvage)
{
    for (size_t i = 0; i < salvage->letters.count; i++) {
        const uint64_t box = salvage->letters.items[i].box;
        lbx_status status;

        if (lbx__salvage_find_box(salvage, box))
            continue;
        status = find_add_box(salvage,
                              &(lbx__salvage_box){
                                  .box = box,
                                  .is_gone = find_has_record(salvage, box - 1),
                              });
        if (status != LBX_OK)
            return status;
        find_sort_boxes(salvage);
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
