/* SPDX-License-Identifier: Apache-2.0 */
#include "server/sqs/polls.h"

#include "base/alloc.h"
#include <assert.h>

struct poll_entry {
    uint64_t uid;
    uint32_t count;
};

void
lbx__polls_init(lbx__polls *polls, const lbx_allocator *allocator, uint32_t max)
{
    *polls = (lbx__polls){.allocator = allocator, .max = max};
}

void
lbx__polls_fini(lbx__polls *polls)
{
    assert(polls->map.count == 0);
    lbx__map_fini(&polls->map, polls->allocator);
}

static bool
polls_equal(const void *item, const void *key)
{
    const struct poll_entry *entry = item;
    const uint64_t *uid = key;

    return entry->uid == *uid;
}

/* Under the lock. */
static lbx_status
polls_add_first(lbx__polls *polls, uint64_t uid)
{
    struct poll_entry *entry;

    if (!lbx__map_reserve(&polls->map, polls->allocator))
        return LBX_NO_MEMORY;
    entry = lbx__zalloc(polls->allocator, sizeof(*entry));
    if (!entry)
        return LBX_NO_MEMORY;
    *entry = (struct poll_entry){.uid = uid, .count = 1};
    lbx__map_add(&polls->map, lbx__map_hash_word(uid), entry);
    return LBX_OK;
}

lbx_status
lbx__polls_add(lbx__polls *polls, lbx_box box)
{
    struct poll_entry *entry;
    lbx_status status = LBX_OK;

    if (polls->max == 0)
        return LBX_OK;
    lbx__lock_take(&polls->lock);
    entry = lbx__map_find(&polls->map, lbx__map_hash_word(box.uid), polls_equal,
                          &box.uid);
    if (!entry)
        status = polls_add_first(polls, box.uid);
    else if (entry->count < polls->max)
        entry->count++;
    else
        status = LBX_FULL;
    lbx__lock_give(&polls->lock);
    return status;
}

void
lbx__polls_remove(lbx__polls *polls, lbx_box box)
{
    const uint64_t hash = lbx__map_hash_word(box.uid);
    struct poll_entry *entry;

    if (polls->max == 0)
        return;
    lbx__lock_take(&polls->lock);
    entry = lbx__map_find(&polls->map, hash, polls_equal, &box.uid);
    assert(entry && entry->count > 0);
    if (--entry->count == 0) {
        (void)lbx__map_remove(&polls->map, hash, polls_equal, &box.uid);
        lbx__free(polls->allocator, entry, sizeof(*entry));
    }
    lbx__lock_give(&polls->lock);
}
