/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types by name.
 *
 * TYPES-1  The types are in the order of their names, each name once.
 *
 * Threads: one at a time while types are added; any afterwards.
 */
#include <letterbox/post/type_registry.h>

#include "base/alloc.h"
#include "base/array.h"

#include <string.h>

struct lbx_type_registry {
    const lbx_allocator *allocator;
    lbx__array(const lbx_type *) types;
};

lbx_status
lbx_type_registry_create(const lbx_allocator *allocator,
                         lbx_type_registry **ret)
{
    lbx_type_registry *types;

    if (!ret || !lbx__allocator_usable(allocator))
        return LBX_INVALID;
    types = lbx__zalloc(allocator, sizeof(*types));
    if (!types)
        return LBX_NO_MEMORY;
    types->allocator = allocator;
    *ret = types;
    return LBX_OK;
}

void
lbx_type_registry_destroy(lbx_type_registry *types)
{
    if (!types)
        return;
    lbx__array_fini(&types->types, types->allocator);
    lbx__free(types->allocator, types, sizeof(*types));
}

/* The index of the first type whose name is not before `name`. */
static size_t
types_index(const lbx_type_registry *types, const char *name)
{
    size_t low = 0, high = types->types.count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (strcmp(lbx_type_name(types->types.items[middle]), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

lbx_status
lbx_type_registry_add(lbx_type_registry *types, const lbx_type *type)
{
    const lbx_type *known;
    const lbx_type **added;
    size_t index;

    if (!types || !type)
        return LBX_INVALID;
    known = lbx_type_registry_find(types, lbx_type_name(type));
    if (known)
        return known == type ? LBX_OK : LBX_EXISTS;
    index = types_index(types, lbx_type_name(type));
    added = lbx__array_insert(&types->types, types->allocator, index);
    if (!added)
        return LBX_NO_MEMORY;
    *added = type;
    return LBX_OK;
}

const lbx_type *
lbx_type_registry_find(const lbx_type_registry *types, const char *name)
{
    size_t index;

    if (!types || !name)
        return NULL;
    index = types_index(types, name);
    if (index == types->types.count ||
        strcmp(lbx_type_name(types->types.items[index]), name) != 0)
        return NULL;
    return types->types.items[index];
}
