/* SPDX-License-Identifier: Apache-2.0 */
#include "http/rates.h"

#include "base/alloc.h"
#include "codec/random.h"
#include <string.h>

enum {
    RATES_SETS = 1024, /* a power of two */
    RATES_WAYS = 4,
    RATES_BYTES_PER_WAY = 16
};

struct rate_entry {
    lbx__peer_key key; /* 0: free */
    int64_t until_ns;  /* when all that it has sent is paid for */
};

#define RATES_BYTES                                                            \
    ((size_t)RATES_SETS * RATES_WAYS * sizeof(struct rate_entry))

_Static_assert(sizeof(struct rate_entry) == RATES_BYTES_PER_WAY,
               "64 KiB in all");

lbx_status
lbx__rates_init(lbx__rates *rates, const lbx_allocator *allocator,
                uint32_t per_second)
{
    memset(rates, 0, sizeof(*rates));
    if (per_second == 0)
        return LBX_OK;
    rates->allocator = allocator;
    rates->interval_ns = LBX_SECOND / per_second;
    rates->entries = lbx__zalloc(allocator, RATES_BYTES);
    // Without random bytes the limit still holds, only more weakly.
    (void)lbx__random(&rates->seed, sizeof(rates->seed));
    return rates->entries ? LBX_OK : LBX_NO_MEMORY;
}

void
lbx__rates_fini(lbx__rates *rates)
{
    lbx__free(rates->allocator, rates->entries, RATES_BYTES);
    rates->entries = NULL;
}

/* Under the lock. */
static struct rate_entry *
rates_find(lbx__rates *rates, lbx__peer_key key)
{
    size_t set = lbx__map_hash_word(key ^ rates->seed) & (RATES_SETS - 1);
    struct rate_entry *entries = rates->entries + set * RATES_WAYS;
    struct rate_entry *oldest = entries;

    for (size_t i = 0; i < RATES_WAYS; i++) {
        if (entries[i].key == key)
            return &entries[i];
        if (entries[i].until_ns < oldest->until_ns)
            oldest = &entries[i];
    }
    *oldest = (struct rate_entry){.key = key}; // RATES-1
    return oldest;
}

bool
lbx__rates_take(lbx__rates *rates, lbx__peer_key key, int64_t now_ns)
{
    struct rate_entry *entry;
    int64_t until_ns;
    bool done;

    if (rates->interval_ns == 0 || key == 0)
        return true;
    lbx__lock_take(&rates->lock);
    entry = rates_find(rates, key);
    until_ns = (entry->until_ns > now_ns ? entry->until_ns : now_ns) +
               rates->interval_ns;
    done = until_ns <= now_ns + LBX_SECOND;
    if (done)
        entry->until_ns = until_ns;
    lbx__lock_give(&rates->lock);
    return done;
}
