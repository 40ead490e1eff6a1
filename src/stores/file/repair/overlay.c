/* SPDX-License-Identifier: Apache-2.0 */
/* Rows over the trees; see overlay.h. */
#include "stores/file/repair/overlay.h"

#include "base/alloc.h"
#include "stores/file/engine.h"

#include <stdlib.h>
#include <string.h>

static int
compare_place(const lbx__overlay_row *over, lbx__table table, lbx__bytes key)
{
    if (over->table != (uint8_t)table)
        return over->table < (uint8_t)table ? -1 : 1;
    return lbx__engine_compare(lbx__overlay_row_key(over), key);
}

static int
compare_rows(const void *a, const void *b)
{
    const lbx__overlay_row *one = *(lbx__overlay_row *const *)a;
    const lbx__overlay_row *other = *(lbx__overlay_row *const *)b;
    const int order = compare_place(one, (lbx__table)other->table,
                                    lbx__overlay_row_key(other));

    // The latest first.
    return order != 0
               ? order
               : (one->order < other->order) - (one->order > other->order);
}

static size_t
over_bytes(const lbx__overlay_row *over)
{
    return sizeof(*over) + over->key_size +
           (over->is_far ? 0 : over->value_size);
}

static bool
make_room(lbx__overlay *overlay)
{
    const size_t room = overlay->room ? 2 * overlay->room : 1024;
    lbx__overlay_row **rows;

    if (overlay->count < overlay->room)
        return true;
    rows = lbx__alloc(NULL, room * sizeof(*rows), 8);
    if (!rows)
        return false;
    if (overlay->count > 0)
        memcpy(rows, overlay->rows, overlay->count * sizeof(*rows));
    lbx__free(NULL, overlay->rows, overlay->room * sizeof(*rows));
    overlay->rows = rows;
    overlay->room = room;
    return true;
}

static lbx_status
add(lbx__overlay *overlay, lbx__overlay_row what, lbx__bytes key,
    lbx__bytes value)
{
    lbx__overlay_row *over;

    what.key_size = (uint32_t)key.size;
    what.order = what.is_far ? 0 : ++overlay->order; // OVER-1
    if (!make_room(overlay))
        return LBX_NO_MEMORY;
    over = lbx__alloc(NULL, over_bytes(&what), 8);
    if (!over)
        return LBX_NO_MEMORY;
    *over = what;
    memcpy(over->bytes, key.data, key.size);
    if (value.size > 0)
        memcpy(over->bytes + key.size, value.data, value.size);
    overlay->rows[overlay->count++] = over;
    overlay->sorted = false;
    return LBX_OK;
}

lbx_status
lbx__overlay_add(lbx__overlay *overlay, lbx__table table, lbx__bytes key,
                 const lbx__bytes *value)
{
    const lbx__overlay_row what = {
        .table = (uint8_t)table,
        .deleted = !value,
        .value_size = value ? (uint32_t)value->size : 0,
    };

    return add(overlay, what, key, value ? *value : (lbx__bytes){NULL, 0});
}

lbx_status
lbx__overlay_add_far(lbx__overlay *overlay, lbx__table table, lbx__bytes key,
                     uint64_t offset, size_t size)
{
    const lbx__overlay_row what = {
        .table = (uint8_t)table,
        .is_far = true,
        .offset = offset,
        .value_size = (uint32_t)size,
    };

    return add(overlay, what, key, (lbx__bytes){NULL, 0});
}

void
lbx__overlay_clear(lbx__overlay *overlay)
{
    for (size_t i = 0; i < overlay->count; i++)
        lbx__free(NULL, overlay->rows[i], over_bytes(overlay->rows[i]));
    overlay->count = 0;
}

void
lbx__overlay_fini(lbx__overlay *overlay)
{
    lbx__overlay_clear(overlay);
    lbx__free(NULL, overlay->rows, overlay->room * sizeof(overlay->rows[0]));
    memset(overlay, 0, sizeof(*overlay));
}

/* Sorts, and keeps the latest of each key. */
static void
settle(lbx__overlay *overlay)
{
    size_t kept = 0;

    if (overlay->sorted || overlay->count == 0)
        return;
    qsort(overlay->rows, overlay->count, sizeof(overlay->rows[0]),
          compare_rows);
    for (size_t i = 0; i < overlay->count; i++) {
        lbx__overlay_row *over = overlay->rows[i];

        if (kept > 0 &&
            compare_place(overlay->rows[kept - 1], (lbx__table)over->table,
                          lbx__overlay_row_key(over)) == 0)
            lbx__free(NULL, over, over_bytes(over));
        else
            overlay->rows[kept++] = over;
    }
    overlay->count = kept;
    overlay->sorted = true;
}

size_t
lbx__overlay_find(lbx__overlay *overlay, lbx__table table, lbx__bytes key)
{
    size_t low = 0, high;

    settle(overlay);
    high = overlay->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (compare_place(overlay->rows[middle], table, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const lbx__overlay_row *
lbx__overlay_get(lbx__overlay *overlay, lbx__table table, lbx__bytes key)
{
    const size_t at = lbx__overlay_find(overlay, table, key);

    if (at == overlay->count ||
        compare_place(overlay->rows[at], table, key) != 0)
        return NULL;
    return overlay->rows[at];
}
