/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names: a hash table from (parent, name) to the child that has the name.
 *
 * NAMES-1  A named cell is in the table from its birth until its parent
 *          releases it. The lock guards `name`, `parent` and `life` of all
 *          cells, also of those without a name. Only the owner of a cell that
 *          is not alive changes them, or its parent when it releases the cell;
 *          these two may read them without the lock.
 *
 * The paths of the named actors that ended last are remembered, so that a dead
 * letter can still say for which actor it was.
 */
#include "actor/core/system.h"

#include "base/alloc.h"
#include <stdio.h>
#include <string.h>

enum {
    NAMES_ENDED = 64,
    NAMES_PATH_BYTES = 120,
};

/* An actor that has ended. */
typedef struct names_ended {
    uint64_t ref;
    char path[NAMES_PATH_BYTES];
} names_ended;

struct lbx__names {
    const lbx_allocator *allocator;
    lbx__lock lock;
    lbx__map cells;
    names_ended *ended; /* a ring; NULL until there is one */
    uint32_t ended_next;
};

/* What the map finds a cell by. */
struct names_key {
    const lbx__cell *parent;
    const char *name;
    size_t length;
};

lbx_status
lbx__names_create(const lbx_allocator *allocator, lbx__names **ret)
{
    lbx__names *names = lbx__zalloc(allocator, sizeof(*names));

    if (!names)
        return LBX_NO_MEMORY;
    names->allocator = allocator;
    *ret = names;
    return LBX_OK;
}

void
lbx__names_destroy(lbx__names *names)
{
    if (!names)
        return;
    lbx__map_fini(&names->cells, names->allocator);
    if (names->ended)
        lbx__free(names->allocator, names->ended,
                  NAMES_ENDED * sizeof(names->ended[0]));
    lbx__free(names->allocator, names, sizeof(*names));
}

static uint64_t
names_hash(const struct names_key *key)
{
    return lbx__map_hash_bytes((uint64_t)(uintptr_t)key->parent, key->name,
                               key->length);
}

static bool
names_matches(const void *item, const void *key)
{
    const lbx__cell *cell = item;
    const struct names_key *wanted = key;

    return cell->parent == wanted->parent &&
           strlen(cell->name) == wanted->length &&
           memcmp(cell->name, wanted->name, wanted->length) == 0;
}

static lbx__cell *
names_look_up(const lbx__names *names, struct names_key key)
{
    return lbx__map_find(&names->cells, names_hash(&key), names_matches, &key);
}

/* Puts a named cell into the map. Under the lock. */
static lbx_status
names_add(lbx__names *names, lbx__cell *cell)
{
    struct names_key key = {cell->parent, cell->name, strlen(cell->name)};

    if (names_look_up(names, key))
        return LBX_EXISTS;
    if (!lbx__map_reserve(&names->cells, names->allocator))
        return LBX_NO_MEMORY;
    lbx__map_add(&names->cells, names_hash(&key), cell);
    return LBX_OK;
}

lbx_status
lbx__names_enter(lbx__names *names, lbx__cell *cell, lbx__cell *parent,
                 const char *name)
{
    size_t size_bytes = name ? strlen(name) + 1 : 0;
    char *copy = name ? lbx__alloc(names->allocator, size_bytes, 1) : NULL;
    lbx_status status = LBX_OK;

    if (name && !copy)
        return LBX_NO_MEMORY;
    if (name)
        memcpy(copy, name, size_bytes);
    lbx__lock_take(&names->lock);
    cell->parent = parent; // NAMES-1
    cell->name = copy;
    // Relaxed: the owner writes it.
    cell->life = lbx__load(&cell->generation, relaxed);
    if (name)
        status = names_add(names, cell);
    if (status != LBX_OK)
        cell->name = NULL;
    lbx__lock_give(&names->lock);
    if (status != LBX_OK)
        lbx__free(names->allocator, copy, size_bytes);
    return status;
}

/* Remembers the path of a named cell; not without memory. Under the lock. */
static void
names_remember(lbx__names *names, const lbx__cell *cell)
{
    names_ended *ended;

    if (!names->ended)
        names->ended = lbx__zalloc(names->allocator,
                                   NAMES_ENDED * sizeof(names->ended[0]));
    if (!names->ended)
        return;
    ended = &names->ended[names->ended_next++ % NAMES_ENDED];
    ended->ref = lbx__cell_ref(cell);
    (void)lbx__print_path(cell, ended->path, sizeof(ended->path));
}

void
lbx__names_leave(lbx__names *names, lbx__cell *cell)
{
    char *name = cell->name;
    struct names_key key;

    if (!name)
        return;
    lbx__lock_take(&names->lock);
    names_remember(names, cell);
    key = (struct names_key){cell->parent, name, strlen(name)};
    (void)lbx__map_remove(&names->cells, names_hash(&key), names_matches, &key);
    cell->name = NULL;
    lbx__lock_give(&names->lock);
    lbx__free(names->allocator, name, strlen(name) + 1);
}

lbx_status
lbx__names_path(lbx__names *names, uint64_t ref,
                lbx_status (*write)(const lbx__cell *cell, void *context),
                void *context)
{
    const lbx__cell *cell = lbx__cell_of(ref);
    lbx_status status = LBX_NOT_FOUND;

    lbx__lock_take(&names->lock);
    if (cell->life == lbx__generation_of(ref) &&
        lbx_ref_is_alive((lbx_ref){ref}))
        status = write(cell, context);
    lbx__lock_give(&names->lock);
    return status;
}

bool
lbx__names_last_path(lbx__names *names, uint64_t ref, char *ret_path,
                     size_t size_bytes)
{
    const lbx__cell *cell = lbx__cell_of(ref);
    bool found;

    lbx__lock_take(&names->lock);
    // Its parent may not have released it yet (NAMES-1).
    found = cell->life == lbx__generation_of(ref) && cell->name;
    if (found)
        (void)lbx__print_path(cell, ret_path, size_bytes);
    for (uint32_t i = 0; !found && names->ended && i < NAMES_ENDED; i++) {
        found = names->ended[i].ref == ref;
        if (found)
            (void)snprintf(ret_path, size_bytes, "%s", names->ended[i].path);
    }
    lbx__lock_give(&names->lock);
    return found;
}

uint64_t
lbx__names_find(lbx__names *names, const lbx__cell *parent, const char *name,
                size_t length)
{
    struct names_key key = {parent, name, length};
    const lbx__cell *cell;
    uint64_t ref = 0;

    lbx__lock_take(&names->lock);
    cell = names_look_up(names, key);
    if (cell)
        ref = lbx__cell_ref(cell); // NAMES-1: its life does not change either
    lbx__lock_give(&names->lock);
    return ref;
}
