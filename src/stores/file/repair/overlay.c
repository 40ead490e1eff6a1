/* SPDX-License-Identifier: Apache-2.0 */
/* Rows over the trees; see overlay.h. */
#include "stores/file/repair/overlay.h"

#include "base/alloc.h"
#include "stores/file/engine.h"

#include <stdlib.h>
#include <string.h>

static int
overlay_compare_key(const lbx__overlay_row *over, lbx__table table,
                    lbx__bytes key)
{
    if (over->table != (uint8_t)table)
        return over->table < (uint8_t)table ? -1 : 1;
    return lbx__engine_compare(lbx__overlay_row_key(over), key);
}

static int
overlay_compare_rows(const void *a, const void *b)
{
    const lbx__overlay_row *one = *(lbx__overlay_row *const *)a;
    const lbx__overlay_row *other = *(lbx__overlay_row *const *)b;
    const int order = overlay_compare_key(one, (lbx__table)other->table,
                                          lbx__overlay_row_key(other));

    // The latest first.
    return order != 0
               ? order
               : (one->order < other->order) - (one->order > other->order);
}

static size_t
overlay_row_bytes(const lbx__overlay_row *over)
{
    return sizeof(*over) + over->key_size +
           (over->is_far ? 0 : over->value_size);
}

static lbx_status
overlay_add_row(lbx__overlay *overlay, lbx__overlay_row what, lbx__bytes key,
                lbx__bytes value)
{
    lbx__overlay_row *over;

    what.key_size = (uint32_t)key.size;
    what.order = what.is_far ? 0 : ++overlay->order; // OVER-1
    if (!lbx__array_reserve(&overlay->rows, NULL, 1))
        return LBX_NO_MEMORY;
    over = lbx__alloc(NULL, overlay_row_bytes(&what), 8);
    if (!over)
        return LBX_NO_MEMORY;
    *over = what;
    memcpy(over->bytes, key.data, key.size);
    if (value.size > 0)
        memcpy(over->bytes + key.size, value.data, value.size);
    overlay->rows.items[overlay->rows.count++] = over;
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

    return overlay_add_row(overlay, what, key,
                           value ? *value : (lbx__bytes){NULL, 0});
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

    return overlay_add_row(overlay, what, key, (lbx__bytes){NULL, 0});
}

void
lbx__overlay_clear(lbx__overlay *overlay)
{
    for (size_t i = 0; i < overlay->rows.count; i++)
        lbx__free(NULL, overlay->rows.items[i],
                  overlay_row_bytes(overlay->rows.items[i]));
    overlay->rows.count = 0;
}

void
lbx__overlay_fini(lbx__overlay *overlay)
{
    lbx__overlay_clear(overlay);
    lbx__array_fini(&overlay->rows, NULL);
    memset(overlay, 0, sizeof(*overlay));
}

/* Sorts, and keeps the latest of each key. */
static void
overlay_sort(lbx__overlay *overlay)
{
    size_t kept = 0;

    if (overlay->sorted || overlay->rows.count == 0)
        return;
    qsort(overlay->rows.items, overlay->rows.count,
          sizeof(overlay->rows.items[0]), overlay_compare_rows);
    for (size_t i = 0; i < overlay->rows.count; i++) {
        lbx__overlay_row *over = overlay->rows.items[i];

        if (kept > 0 && overlay_compare_key(overlay->rows.items[kept - 1],
                                            (lbx__table)over->table,
                                            lbx__overlay_row_key(over)) == 0)
            lbx__free(NULL, over, overlay_row_bytes(over));
        else
            overlay->rows.items[kept++] = over;
    }
    overlay->rows.count = kept;
    overlay->sorted = true;
}

size_t
lbx__overlay_find(lbx__overlay *overlay, lbx__table table, lbx__bytes key)
{
    size_t low = 0, high;

    overlay_sort(overlay);
    high = overlay->rows.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (overlay_compare_key(overlay->rows.items[middle], table, key) < 0)
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

    if (at == overlay->rows.count ||
        overlay_compare_key(overlay->rows.items[at], table, key) != 0)
        return NULL;
    return overlay->rows.items[at];
}
