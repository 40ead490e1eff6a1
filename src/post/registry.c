/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Postboxes by place: a table that a program fills.
 *
 * V8  Places are in the order of their bytes, each once; each entry is one user of
 *     its postbox.
 *
 * One lock, held for a search; nothing is called under it but the allocator.
 */
#include "base/alloc.h"
#include "base/fault.h"
#include "base/lock.h"
#include <letterbox/post/postbox.h>

#include <string.h>

struct entry {
    char *place;
    size_t size;
    lbx_postbox *postbox;
};

struct lbx_registry {
    const lbx_allocator *allocator;
    lbx__lock lock;
    struct entry *entries;
    size_t count;
    size_t room;
};

lbx_status
lbx_registry_create(const lbx_allocator *allocator, lbx_registry **ret)
{
    lbx_registry *registry;

    if (!ret || !lbx__allocator_usable(allocator))
        return LBX_INVALID;
    registry = lbx__zalloc(allocator, sizeof(*registry));
    if (!registry)
        return LBX_NO_MEMORY;
    registry->allocator = allocator;
    *ret = registry;
    return LBX_OK;
}

static void
end_entry(const lbx_registry *registry, const struct entry *entry)
{
    lbx_postbox_unref(entry->postbox);
    lbx__free(registry->allocator, entry->place, entry->size);
}

void
lbx_registry_destroy(lbx_registry *registry)
{
    if (!registry)
        return;
    for (size_t i = 0; i < registry->count; i++)
        end_entry(registry, &registry->entries[i]);
    lbx__free(registry->allocator, registry->entries,
              registry->room * sizeof(struct entry));
    lbx__free(registry->allocator, registry, sizeof(*registry));
}

/* Where a place is or would be; true when it is there. Under the lock. */
static bool
find(const lbx_registry *registry, const char *place, size_t *ret)
{
    size_t low = 0, high = registry->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(registry->entries[middle].place, place);

        if (order == 0) {
            *ret = middle;
            return true;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *ret = low;
    return false;
}

static bool
grow(lbx_registry *registry)
{
    const size_t room = registry->room ? registry->room * 2 : 16;
    struct entry *larger;

    if (registry->count < registry->room)
        return true;
    larger = lbx__zalloc(registry->allocator, room * sizeof(*larger));
    if (!larger)
        return false;
    if (registry->count > 0)
        memcpy(larger, registry->entries, registry->count * sizeof(*larger));
    lbx__free(registry->allocator, registry->entries,
              registry->room * sizeof(*larger));
    registry->entries = larger;
    registry->room = room;
    return true;
}

/* Puts an entry in; EXISTS, NO_MEMORY. Under the lock. */
static lbx_status
enter(lbx_registry *registry, const struct entry *entry)
{
    size_t at;

    if (find(registry, entry->place, &at))
        return LBX_EXISTS;
    if (!grow(registry))
        return LBX_NO_MEMORY;
    memmove(&registry->entries[at + 1], &registry->entries[at],
            (registry->count - at) * sizeof(*entry));
    registry->entries[at] = *entry;
    registry->count++;
    return LBX_OK;
}

lbx_status
lbx_registry_add(lbx_registry *registry, const char *place,
                 lbx_postbox *postbox)
{
    struct entry entry;
    lbx_status status;

    if (!registry || !place || !place[0] || !postbox)
        return LBX_INVALID;
    entry.size = strlen(place) + 1;
    entry.place = lbx__alloc(registry->allocator, entry.size, 1);
    if (!entry.place)
        return LBX_NO_MEMORY;
    memcpy(entry.place, place, entry.size);
    entry.postbox = lbx_postbox_ref(postbox);
    lbx__lock_take(&registry->lock);
    status = enter(registry, &entry);
    lbx__lock_give(&registry->lock);
    if (status != LBX_OK)
        end_entry(registry, &entry);
    return status;
}

bool
lbx_registry_remove(lbx_registry *registry, const char *place)
{
    struct entry entry;
    bool known;
    size_t at;

    if (!registry || !place)
        return false;
    lbx__lock_take(&registry->lock);
    known = find(registry, place, &at);
    if (known) {
        entry = registry->entries[at];
        registry->count--;
        memmove(&registry->entries[at], &registry->entries[at + 1],
                (registry->count - at) * sizeof(entry));
    }
    lbx__lock_give(&registry->lock);
    if (known)
        end_entry(registry, &entry);
    return known;
}

static lbx_status
resolve(void *context, const char *place, lbx_postbox **ret, lbx_fault *fault)
{
    lbx_registry *registry = context;
    size_t at;
    bool known;

    (void)fault;
    lbx__lock_take(&registry->lock);
    known = find(registry, place, &at);
    if (known)
        *ret = lbx_postbox_ref(registry->entries[at].postbox);
    lbx__lock_give(&registry->lock);
    return known ? LBX_OK : LBX_NOT_FOUND;
}

lbx_resolver
lbx_registry_resolver(lbx_registry *registry)
{
    if (!registry)
        return (lbx_resolver){NULL, NULL};
    return (lbx_resolver){resolve, registry};
}
