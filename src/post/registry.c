/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registries: postboxes by address, a table that the program fills.
 *
 * REGI-1  Entries are in the order of their addresses' bytes, each address
 *         once. Each entry holds a reference to its postbox.
 *
 * Threads: any. One lock, held for a search; under it only the allocator is
 * called.
 */
#include "base/alloc.h"
#include "base/array.h"
#include "base/lock.h"
#include <letterbox/post/postbox.h>

#include <string.h>

struct registry_entry {
    char *address;
    size_t size;
    lbx_postbox *postbox;
};

struct lbx_postbox_registry {
    const lbx_allocator *allocator;
    lbx__lock lock;
    lbx__array(struct registry_entry) entries;
};

lbx_status
lbx_postbox_registry_create(const lbx_allocator *allocator,
                            lbx_postbox_registry **ret)
{
    lbx_postbox_registry *registry;

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
registry_release(const lbx_postbox_registry *registry,
                 const struct registry_entry *entry)
{
    lbx_postbox_unref(entry->postbox);
    lbx__free(registry->allocator, entry->address, entry->size);
}

void
lbx_postbox_registry_destroy(lbx_postbox_registry *registry)
{
    if (!registry)
        return;
    for (size_t i = 0; i < registry->entries.count; i++)
        registry_release(registry, &registry->entries.items[i]);
    lbx__array_fini(&registry->entries, registry->allocator);
    lbx__free(registry->allocator, registry, sizeof(*registry));
}

/* The index of an address, or where it would be inserted; true when it is
 * there. Under the lock. */
static bool
registry_find(const lbx_postbox_registry *registry, const char *address,
              size_t *ret)
{
    size_t low = 0, high = registry->entries.count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order =
            strcmp(registry->entries.items[middle].address, address);

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

/* OK; EXISTS; NO_MEMORY. Under the lock. */
static lbx_status
registry_insert(lbx_postbox_registry *registry,
                const struct registry_entry *entry)
{
    struct registry_entry *inserted;
    size_t index;

    if (registry_find(registry, entry->address, &index))
        return LBX_EXISTS;
    inserted =
        lbx__array_insert(&registry->entries, registry->allocator, index);
    if (!inserted)
        return LBX_NO_MEMORY;
    *inserted = *entry;
    return LBX_OK;
}

lbx_status
lbx_postbox_registry_add(lbx_postbox_registry *registry, const char *address,
                         lbx_postbox *postbox)
{
    struct registry_entry entry;
    lbx_status status;

    if (!registry || !address || !address[0] || !postbox)
        return LBX_INVALID;
    entry.size = strlen(address) + 1;
    entry.address = lbx__alloc(registry->allocator, entry.size, 1);
    if (!entry.address)
        return LBX_NO_MEMORY;
    memcpy(entry.address, address, entry.size);
    entry.postbox = lbx_postbox_ref(postbox);
    lbx__lock_take(&registry->lock);
    status = registry_insert(registry, &entry);
    lbx__lock_give(&registry->lock);
    if (status != LBX_OK)
        registry_release(registry, &entry);
    return status;
}

bool
lbx_postbox_registry_remove(lbx_postbox_registry *registry, const char *address)
{
    struct registry_entry entry;
    bool known;
    size_t index;

    if (!registry || !address)
        return false;
    lbx__lock_take(&registry->lock);
    known = registry_find(registry, address, &index);
    if (known) {
        entry = registry->entries.items[index];
        lbx__array_remove(&registry->entries, index);
    }
    lbx__lock_give(&registry->lock);
    if (known)
        registry_release(registry, &entry);
    return known;
}

static lbx_status
registry_resolve(void *context, const char *address, lbx_postbox **ret,
                 lbx_fault *fault)
{
    lbx_postbox_registry *registry = context;
    size_t index;
    bool known;

    (void)fault;
    lbx__lock_take(&registry->lock);
    known = registry_find(registry, address, &index);
    if (known)
        *ret = lbx_postbox_ref(registry->entries.items[index].postbox);
    lbx__lock_give(&registry->lock);
    return known ? LBX_OK : LBX_NOT_FOUND;
}

lbx_resolver
lbx_postbox_registry_as_resolver(lbx_postbox_registry *registry)
{
    if (!registry)
        return (lbx_resolver){NULL, NULL};
    return (lbx_resolver){registry_resolve, registry};
}
