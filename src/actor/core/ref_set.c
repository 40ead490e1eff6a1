/* SPDX-License-Identifier: Apache-2.0 */
/* A set of refs. */
#include "actor/core/ref_set.h"

#include "base/alloc.h"

enum {
    FIRST_ROOM = 8
};

#define GONE UINT64_C(1) /* no cell has this address */

static size_t
hash(uint64_t ref)
{
    return (size_t)((ref * UINT64_C(0x9e3779b97f4a7c15)) >> 20);
}

/* Its slot, or NULL. */
static uint64_t *
look_up(const lbx__ref_set *refs, uint64_t ref)
{
    size_t at = hash(ref);

    if (refs->room == 0)
        return NULL;
    for (;; at++) {
        uint64_t *slot = &refs->slots[at & (refs->room - 1)];

        if (*slot == ref)
            return slot;
        if (*slot == 0)
            return NULL;
    }
}

static void
insert(uint64_t *slots, size_t room, uint64_t ref)
{
    size_t at = hash(ref);

    while (slots[at & (room - 1)] != 0)
        at++;
    slots[at & (room - 1)] = ref;
}

static bool
make_room(lbx__ref_set *refs, const lbx_allocator *allocator)
{
    size_t room = refs->room ? refs->room : FIRST_ROOM;
    uint64_t *slots;

    if ((refs->used + 1) * 4 <= refs->room * 3)
        return true;
    while ((refs->count + 1) * 2 > room)
        room *= 2;
    slots = lbx__zalloc(allocator, room * sizeof(slots[0]));
    if (!slots)
        return false;
    for (size_t i = 0; i < refs->room; i++)
        if (refs->slots[i] > GONE)
            insert(slots, room, refs->slots[i]);
    lbx__ref_set_fini(refs, allocator);
    refs->slots = slots;
    refs->room = room;
    refs->used = refs->count;
    return true;
}

bool
lbx__ref_set_add(lbx__ref_set *refs, const lbx_allocator *allocator,
                 uint64_t ref)
{
    if (!make_room(refs, allocator))
        return false;
    insert(refs->slots, refs->room, ref);
    refs->used++;
    refs->count++;
    return true;
}

bool
lbx__ref_set_has(const lbx__ref_set *refs, uint64_t ref)
{
    return look_up(refs, ref) != NULL;
}

bool
lbx__ref_set_remove(lbx__ref_set *refs, uint64_t ref)
{
    uint64_t *slot = look_up(refs, ref);

    if (!slot)
        return false;
    *slot = GONE;
    refs->count--;
    return true;
}

void
lbx__ref_set_fini(lbx__ref_set *refs, const lbx_allocator *allocator)
{
    lbx__free(allocator, refs->slots, refs->room * sizeof(refs->slots[0]));
    refs->slots = NULL;
}
