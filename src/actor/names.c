/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names: a hash from (parent, name) to the child that has it.
 *
 * N1  A cell is in here from its birth until its parent lets it go; its name,
 *     parent and life do not change meanwhile.
 */
#include "actor/system.h"

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

lbx_status
lbx__names_add(lbx__names *names, lbx__cell *cell)
{
    lbx_status status = LBX_OK;

    lbx__lock_take(&names->lock);
    if (look_up(names, cell->parent, cell->name, strlen(cell->name))) {
        status = LBX_EXISTS;
    } else if (!make_room(names)) {
        status = LBX_NO_MEMORY;
    } else {
        insert(names->slots, names->room, cell);
        names->used++;
        names->count++;
    }
    lbx__lock_give(&names->lock);
    return status;
}

void
lbx__names_remove(lbx__names *names, lbx__cell *cell)
{
    lbx__cell **slot;

    if (!cell->name)
        return;
    lbx__lock_take(&names->lock);
    slot = look_up(names, cell->parent, cell->name, strlen(cell->name));
    if (slot) {
        *slot = GONE;
        names->count--;
    }
    lbx__lock_give(&names->lock);
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
