/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names: a hash from (parent, name) to the child that has it.
 *
 * N1  A named cell is in here from its birth until its parent lets it go. The
 *     lock guards `name`, `parent` and `life` of all cells, also of those
 *     without a name; only the owner of a cell that is not alive changes them,
 *     or its parent when it lets go, so those two may read without it.
 */
#include "actor/core/system.h"

#include "base/alloc.h"
#include <string.h>

enum {
    FIRST_ROOM = 64
};

struct lbx__names {
    const lbx_allocator *allocator;
    lbx__lock lock;
    lbx__cell **slots; /* open addressing; GONE where one was taken out */
    size_t room;       /* a power of two */
    size_t used;       /* GONE included */
    size_t count;
};

#define GONE ((lbx__cell *)(uintptr_t)1)

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
    if (names->slots)
        lbx__free(names->allocator, names->slots,
                  names->room * sizeof(names->slots[0]));
    lbx__free(names->allocator, names, sizeof(*names));
}

/* FNV-1a over the parent's address and the name. */
static size_t
hash(const lbx__cell *parent, const char *name, size_t length)
{
    uint64_t sum = UINT64_C(14695981039346656037) ^ (uint64_t)(uintptr_t)parent;

    for (size_t i = 0; i < length; i++)
        sum = (sum ^ (unsigned char)name[i]) * UINT64_C(1099511628211);
    return (size_t)(sum ^ sum >> 29);
}

static bool
is_it(const lbx__cell *cell, const lbx__cell *parent, const char *name,
      size_t length)
{
    return cell != GONE && cell->parent == parent &&
           strlen(cell->name) == length &&
           memcmp(cell->name, name, length) == 0;
}

/* Its slot, or NULL. */
static lbx__cell **
look_up(const lbx__names *names, const lbx__cell *parent, const char *name,
        size_t length)
{
    size_t at = hash(parent, name, length);

    if (names->room == 0)
        return NULL;
    for (;; at++) {
        lbx__cell **slot = &names->slots[at & (names->room - 1)];

        if (!*slot)
            return NULL;
        if (is_it(*slot, parent, name, length))
            return slot;
    }
}

static void
insert(lbx__cell **slots, size_t room, lbx__cell *cell)
{
    size_t at = hash(cell->parent, cell->name, strlen(cell->name));

    while (slots[at & (room - 1)])
        at++;
    slots[at & (room - 1)] = cell;
}

/* Makes room for one more; also clears away what is GONE. */
static bool
make_room(lbx__names *names)
{
    size_t room = names->room ? names->room : FIRST_ROOM;
    lbx__cell **slots;

    if ((names->used + 1) * 4 <= names->room * 3)
        return true;
    if ((names->count + 1) * 2 > room)
        room *= 2;
    slots = lbx__zalloc(names->allocator, room * sizeof(slots[0]));
    if (!slots)
        return false;
    for (size_t i = 0; i < names->room; i++)
        if (names->slots[i] && names->slots[i] != GONE)
            insert(slots, room, names->slots[i]);
    if (names->slots)
        lbx__free(names->allocator, names->slots,
                  names->room * sizeof(slots[0]));
    names->slots = slots;
    names->room = room;
    names->used = names->count;
    return true;
}

/* Puts a named cell into the table. Under the lock. */
static lbx_status
add(lbx__names *names, lbx__cell *cell)
{
    if (look_up(names, cell->parent, cell->name, strlen(cell->name)))
        return LBX_EXISTS;
    if (!make_room(names))
        return LBX_NO_MEMORY;
    insert(names->slots, names->room, cell);
    names->used++;
    names->count++;
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
    cell->parent = parent; // N1
    cell->name = copy;
    // Relaxed: the owner writes it.
    cell->life = lbx__load(&cell->generation, relaxed);
    if (name)
        status = add(names, cell);
    if (status != LBX_OK)
        cell->name = NULL;
    lbx__lock_give(&names->lock);
    if (status != LBX_OK)
        lbx__free(names->allocator, copy, size_bytes);
    return status;
}

void
lbx__names_leave(lbx__names *names, lbx__cell *cell)
{
    lbx__cell **slot;
    char *name = cell->name;

    if (!name)
        return;
    lbx__lock_take(&names->lock);
    slot = look_up(names, cell->parent, name, strlen(name));
    *slot = GONE;
    names->count--;
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

uint64_t
lbx__names_find(lbx__names *names, const lbx__cell *parent, const char *name,
                size_t length)
{
    lbx__cell **slot;
    uint64_t ref = 0;

    lbx__lock_take(&names->lock);
    slot = look_up(names, parent, name, length);
    if (slot)
        ref = lbx__cell_ref(*slot); // N1: its life does not change either
    lbx__lock_give(&names->lock);
    return ref;
}
