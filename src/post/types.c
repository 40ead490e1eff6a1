/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types by name.
 *
 * V4  The types are in the order of their names, each name once.
 */
#include <letterbox/post/types.h>

#include "base/alloc.h"

#include <string.h>

struct lbx_types {
    const lbx_allocator *allocator;
    const lbx_type **types;
    size_t count;
    size_t room;
};

lbx_status
lbx_types_create(const lbx_allocator *allocator, lbx_types **ret)
{
    lbx_types *types;

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
lbx_types_destroy(lbx_types *types)
{
    if (!types)
        return;
    lbx__free(types->allocator, types->types,
              types->room * sizeof(*types->types));
    lbx__free(types->allocator, types, sizeof(*types));
}

/* Where the first type is whose name is not before this one. */
static size_t
place_of(const lbx_types *types, const char *name)
{
    size_t low = 0, high = types->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (strcmp(lbx_type_name(types->types[middle]), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool
grow(lbx_types *types)
{
    const size_t room = types->room ? types->room * 2 : 16;
    const lbx_type **larger =
        lbx__zalloc(types->allocator, room * sizeof(*larger));

    if (!larger)
        return false;
    if (types->count > 0)
        memcpy(larger, types->types, types->count * sizeof(*larger));
    lbx__free(types->allocator, types->types,
              types->room * sizeof(*types->types));
    types->types = larger;
    types->room = room;
    return true;
}

lbx_status
lbx_types_add(lbx_types *types, const lbx_type *type)
{
    const lbx_type *there;
    size_t place;

    if (!types || !type)
        return LBX_INVALID;
    there = lbx_types_find(types, lbx_type_name(type));
    if (there)
        return there == type ? LBX_OK : LBX_EXISTS;
    if (types->count == types->room && !grow(types))
        return LBX_NO_MEMORY;
    place = place_of(types, lbx_type_name(type));
    memmove(&types->types[place + 1], &types->types[place],
            (types->count - place) * sizeof(*types->types));
    types->types[place] = type;
    types->count++;
    return LBX_OK;
}

const lbx_type *
lbx_types_find(const lbx_types *types, const char *name)
{
    size_t place;

    if (!types || !name)
        return NULL;
    place = place_of(types, name);
    if (place == types->count ||
        strcmp(lbx_type_name(types->types[place]), name) != 0)
        return NULL;
    return types->types[place];
}
