/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays that grow.
 *
 * An array is a struct of three fields that lies wherever its owner likes; a
 * zeroed one is empty. The capacity doubles, so appending takes constant time
 * on average, and items move when it does: hold an index, not an address.
 *
 *     lbx__array(struct entry) entries;       // a member, zeroed
 *
 *     struct entry *entry = lbx__array_add(&entries, allocator);
 *     if (!entry)
 *         return LBX_NO_MEMORY;               // the array is as it was
 *     *entry = (struct entry){...};
 *     lbx__array_fini(&entries, allocator);
 *
 * ARRAY-1  count <= capacity; items is NULL exactly when capacity is 0.
 * ARRAY-2  items[0..count) are initialised by the owner; the rest is not.
 */
#ifndef LBX_BASE_ARRAY_H
#define LBX_BASE_ARRAY_H

#include <letterbox/base.h>

#include <string.h>

/* An anonymous struct type: an array of `type`. */
#define lbx__array(type)                                                       \
    struct {                                                                   \
        type *items;                                                           \
        size_t count;                                                          \
        size_t capacity;                                                       \
    }

/* The same struct for any type, as the functions below see it. */
typedef struct __attribute__((may_alias)) lbx__array_any {
    void *__attribute__((may_alias)) items;
    size_t count;
    size_t capacity;
} lbx__array_any;

/* Makes the capacity at least count + `more`. False: no memory, or the size in
 * bytes does not fit; nothing has changed then. */
bool lbx__array_grow(lbx__array_any *array, const lbx_allocator *allocator,
                     size_t item_bytes, size_t more);

/* Frees the items; the array is empty again. */
void lbx__array_free(lbx__array_any *array, const lbx_allocator *allocator,
                     size_t item_bytes);

/* Moves items up from `index` on and returns the address of the gap of one. The
 * capacity is there. */
void *lbx__array_open(lbx__array_any *array, size_t item_bytes, size_t index);

/* Removes the item at `index`; those behind it move down. */
void lbx__array_close(lbx__array_any *array, size_t item_bytes, size_t index);

#define lbx__array_as_any(array)     ((lbx__array_any *)(void *)(array))
#define lbx__array_item_bytes(array) (sizeof((array)->items[0]))

/* Makes the next `more` additions free of failure. */
#define lbx__array_reserve(array, allocator, more)                             \
    ((array)->capacity - (array)->count >= (size_t)(more) ||                   \
     lbx__array_grow(lbx__array_as_any(array), (allocator),                    \
                     lbx__array_item_bytes(array), (more)))

/* The address of a new item at the end, uninitialised; NULL: no memory. */
#define lbx__array_add(array, allocator)                                       \
    (lbx__array_reserve((array), (allocator), 1)                               \
         ? &(array)->items[(array)->count++]                                   \
         : NULL)

/* The address of a new item at `index` <= count, uninitialised; NULL: no
 * memory. */
#define lbx__array_insert(array, allocator, index)                             \
    (lbx__array_reserve((array), (allocator), 1)                               \
         ? lbx__array_open(lbx__array_as_any(array),                           \
                           lbx__array_item_bytes(array), (index))              \
         : NULL)

#define lbx__array_remove(array, index)                                        \
    lbx__array_close(lbx__array_as_any(array), lbx__array_item_bytes(array),   \
                     (index))

#define lbx__array_fini(array, allocator)                                      \
    lbx__array_free(lbx__array_as_any(array), (allocator),                     \
                    lbx__array_item_bytes(array))

#endif
