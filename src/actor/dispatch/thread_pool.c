/* SPDX-License-Identifier: Apache-2.0 */
/* Crews. H1 to H3 are in pool.h. */
#include "actor/dispatch/thread_pool.h"

#include "base/alloc.h"

struct lbx__thread_pool {
    lbx__dispatcher *dispatcher;
    lbx__thread_pool *next;
    uint64_t actors;
    int64_t idle_ns; /* since when, without actors */
    bool ends;       /* H3 */
};

/* A pool that takes one more, or NULL. */
static lbx__dispatcher *
join(lbx__thread_pools *pools, bool alone)
{
    lbx__thread_pool *pool;

    lbx__lock_take(&pools->lock);
    pool = pools->first;
    while (pool && (pool->ends || (alone && pool->actors > 0)))
        pool = pool->next;
    if (pool)
        pool->actors++;
    lbx__lock_give(&pools->lock);
    return pool ? pool->dispatcher : NULL;
}

/* Starts one, with its first actor. */
static lbx_status
start(lbx__thread_pools *pools, const lbx__dispatcher_setup *setup,
      const lbx__dispatcher_options *options, lbx__dispatcher **ret)
{
    const lbx_allocator *allocator = setup->allocator;
    lbx__thread_pool *pool = lbx__zalloc(allocator, sizeof(*pool));
    lbx_status status;

    if (!pool)
        return LBX_NO_MEMORY;
    status = lbx__dispatcher_create(setup, options, &pool->dispatcher);
    if (status != LBX_OK) {
        lbx__free(allocator, pool, sizeof(*pool));
        return status;
    }
    pool->actors = 1;
    *ret = pool->dispatcher;
    lbx__lock_take(&pools->lock);
    pool->next = pools->first;
    pools->first = pool;
    lbx__lock_give(&pools->lock);
    return LBX_OK;
}

lbx_status
lbx__thread_pools_enter(lbx__thread_pools *pools,
                        const lbx__dispatcher_setup *setup,
                        const lbx__dispatcher_options *options, bool alone,
                        lbx__dispatcher **ret)
{
    lbx__dispatcher *found = join(pools, alone);
    lbx_status status = LBX_OK;

    if (!found) {
        (void)lbx__init_once_begin(&pools->starting);
        found = join(pools, alone); // somebody may have been faster
        if (!found)
            status = start(pools, setup, options, &found);
        lbx__init_once_end(&pools->starting, false);
    }
    if (status == LBX_OK)
        *ret = found;
    return status;
}

bool
lbx__thread_pools_leave(lbx__thread_pools *pools,
                        const lbx__dispatcher *dispatcher, int64_t now_ns)
{
    lbx__thread_pool *pool;
    bool last = false;

    lbx__lock_take(&pools->lock);
    pool = pools->first;
    while (pool && pool->dispatcher != dispatcher)
        pool = pool->next;
    if (pool) {
        last = --pool->actors == 0;
        pool->idle_ns = now_ns;
    }
    lbx__lock_give(&pools->lock);
    return last;
}

bool
lbx__thread_pools_has(lbx__thread_pools *pools,
                      const lbx__dispatcher *dispatcher)
{
    lbx__thread_pool *pool;

    lbx__lock_take(&pools->lock);
    pool = pools->first;
    while (pool && pool->dispatcher != dispatcher)
        pool = pool->next;
    lbx__lock_give(&pools->lock);
    return pool != NULL;
}

static void
add_stats(lbx__dispatcher_stats *sum, lbx__dispatcher_stats one)
{
    sum->turns += one.turns;
    sum->handled += one.handled;
    sum->steals += one.steals;
    sum->parks += one.parks;
}

/* With what is true of now, and not of the past. */
static void
add_present(lbx__dispatcher_stats *sum, lbx__dispatcher_stats one)
{
    add_stats(sum, one);
    sum->threads += one.threads;
    sum->queued += one.queued;
}

/* One that has been idle for long enough, and ends now; NULL: none. */
static lbx__thread_pool *
find_idle(lbx__thread_pools *pools, int64_t since_ns)
{
    lbx__thread_pool *pool;

    lbx__lock_take(&pools->lock);
    pool = pools->first;
    while (pool && (pool->ends || pool->actors > 0 || pool->idle_ns > since_ns))
        pool = pool->next;
    if (pool)
        pool->ends = true;
    lbx__lock_give(&pools->lock);
    return pool;
}

/* Its threads have ended. */
static void
forget(lbx__thread_pools *pools, lbx__thread_pool *pool)
{
    lbx__thread_pool **link = &pools->first;

    lbx__lock_take(&pools->lock);
    while (*link != pool)
        link = &(*link)->next;
    *link = pool->next;
    add_stats(&pools->past, lbx__dispatcher_stats_of(pool->dispatcher));
    lbx__lock_give(&pools->lock);
}

void
lbx__thread_pools_end_idle(lbx__thread_pools *pools,
                           const lbx_allocator *allocator, int64_t since_ns)
{
    lbx__thread_pool *pool;

    while ((pool = find_idle(pools, since_ns))) {
        // Its threads sleep, or are about to (H1): this does not wait long.
        lbx__dispatcher_stop(pool->dispatcher);
        forget(pools, pool);
        lbx__dispatcher_destroy(pool->dispatcher);
        lbx__free(allocator, pool, sizeof(*pool));
    }
}

/* The next of the list, from NULL to NULL, while none of them can end: when the
 * system ends, or when it has no threads. */
static lbx__thread_pool *
next_pool(lbx__thread_pools *pools, lbx__thread_pool *pool)
{
    lbx__lock_take(&pools->lock);
    pool = pool ? pool->next : pools->first;
    lbx__lock_give(&pools->lock);
    return pool;
}

void
lbx__thread_pools_stop(lbx__thread_pools *pools)
{
    lbx__thread_pool *pool = NULL;

    while ((pool = next_pool(pools, pool)))
        lbx__dispatcher_stop(pool->dispatcher);
}

uint64_t
lbx__thread_pools_run(lbx__thread_pools *pools, uint64_t most)
{
    lbx__thread_pool *pool = NULL;
    uint64_t turns = 0;

    while (turns < most && (pool = next_pool(pools, pool)))
        turns += lbx__dispatcher_run(pool->dispatcher, most - turns);
    return turns;
}

void
lbx__thread_pools_add_stats(lbx__thread_pools *pools,
                            lbx__dispatcher_stats *sum)
{
    lbx__lock_take(&pools->lock);
    add_stats(sum, pools->past);
    for (lbx__thread_pool *pool = pools->first; pool; pool = pool->next)
        add_present(sum, lbx__dispatcher_stats_of(pool->dispatcher));
    lbx__lock_give(&pools->lock);
}

void
lbx__thread_pools_fini(lbx__thread_pools *pools, const lbx_allocator *allocator)
{
    while (pools->first) {
        lbx__thread_pool *pool = pools->first;

        pools->first = pool->next;
        lbx__dispatcher_destroy(pool->dispatcher);
        lbx__free(allocator, pool, sizeof(*pool));
    }
}
