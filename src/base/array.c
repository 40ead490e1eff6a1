/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow; ARRAY-1 and ARRAY-2 are in array.h. */
#include "base/array.h"

#include "base/alloc.h"
#include <assert.h>

enum {
    FIRST_CAPACITY = 8
};

bool
lbx__array_grow(lbx__array_any *array, const lbx_allocator *allocator,
                size_t item_bytes, size_t more)
{
    size_t capacity = array->capacity ? array->capacity : FIRST_CAPACITY;
    void *items;

    if (more > SIZE_MAX / 2 - array->count)
        return false;
    while (capacity < array->count + more)
        capacity *= 2;
    if (capacity > SIZE_MAX / item_bytes)
        return false;
    items = lbx__alloc(allocator, capacity * item_bytes, _Alignof(max_align_t));
    if (!items)
        return false;
    if (array->count > 0)
        memcpy(items, array->items, array->count * item_bytes);
    lbx__free(allocator, array->items, array->capacity * item_bytes);
    array->items = items;
    array->capacity = capacity;
    return true;
}

void
lbx__array_free(lbx__array_any *array, const lbx_allocator *allocator,
                size_t item_bytes)
{
    lbx__free(allocator, array->items, array->capacity * item_bytes);
    *array = (lbx__array_any){.items = NULL};
}

void *
lbx__array_open(lbx__array_any *array, size_t item_bytes, size_t index)
{
    char *at = (char *)array->items + index * item_bytes;

    assert(index <= array->count && array->count < array->capacity);
    memmove(at + item_bytes, at, (array->count - index) * item_bytes);
    array->count++;
    return at;
}

void
lbx__array_close(lbx__array_any *array, size_t item_bytes, size_t index)
{
    char *at = (char *)array->items + index * item_bytes;

    assert(index < array->count);
    array->count--;
    memmove(at, at + item_bytes, (array->count - index) * item_bytes);
}
