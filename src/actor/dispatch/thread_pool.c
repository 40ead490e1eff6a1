/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thread pools: dispatchers that are started for users and ended without them
 * (THPOOL-1 to THPOOL-3 in thread_pool.h).
 *
 * Threads: any. The lock guards the list and the fields of its pools.
 */
#include "actor/dispatch/thread_pool.h"

#include "base/alloc.h"

struct lbx__thread_pool {
    lbx__dispatcher *dispatcher;
    lbx__thread_pool *next;
    uint64_t users;
    int64_t idle_ns; /* since when it has no users */
    bool ends;       /* THPOOL-3 */
};

/* Enters a pool that takes one more user; NULL when there is none. */
static lbx__dispatcher *
thread_pool_join(lbx__thread_pools *pools, bool exclusive)
{
    lbx__thread_pool *pool;

    lbx__lock_take(&pools->lock);
    pool = pools->first;
    while (pool && (pool->ends || (exclusive && pool->users > 0)))
        pool = pool->next;
    if (pool)
        pool->users++;
    lbx__lock_give(&pools->lock);
    return pool ? pool->dispatcher : NULL;
}

/* Starts a pool, with its first user. */
static lbx_status
thread_pool_start(lbx__thread_pools *pools, const lbx__dispatcher_setup *setup,
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
    pool->users = 1;
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
                        const lbx__dispatcher_options *options, bool exclusive,
                        lbx__dispatcher **ret)
{
    lbx__dispatcher *found = thread_pool_join(pools, exclusive);
    lbx_status status = LBX_OK;

    if (!found) {
        (void)lbx__init_once_begin(&pools->starting);
        found = thread_pool_join(pools, exclusive); // one may have been started
        if (!found)
            status = thread_pool_start(pools, setup, options, &found);
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
        last = --pool->users == 0;
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
thread_pool_add_past(lbx__dispatcher_stats *sum, lbx__dispatcher_stats one)
{
    sum->runs += one.runs;
    sum->handled += one.handled;
    sum->steals += one.steals;
    sum->parks += one.parks;
}

/* The same, and what only pools that exist have. */
static void
thread_pool_add_present(lbx__dispatcher_stats *sum, lbx__dispatcher_stats one)
{
    thread_pool_add_past(sum, one);
    sum->threads += one.threads;
    sum->queued += one.queued;
}

/* A pool that has been idle for long enough, marked as ending; or NULL. */
static lbx__thread_pool *
thread_pool_find_idle(lbx__thread_pools *pools, int64_t since_ns)
{
    lbx__thread_pool *pool;

    lbx__lock_take(&pools->lock);
    pool = pools->first;
    while (pool && (pool->ends || pool->users > 0 || pool->idle_ns > since_ns))
        pool = pool->next;
    if (pool)
        pool->ends = true;
    lbx__lock_give(&pools->lock);
    return pool;
}

/* Takes a pool whose threads have ended off the list. */
static void
thread_pool_remove(lbx__thread_pools *pools, lbx__thread_pool *pool)
{
    lbx__thread_pool **link = &pools->first;

    lbx__lock_take(&pools->lock);
    while (*link != pool)
        link = &(*link)->next;
    *link = pool->next;
    thread_pool_add_past(&pools->past,
                         lbx__dispatcher_stats_of(pool->dispatcher));
    lbx__lock_give(&pools->lock);
}

void
lbx__thread_pools_end_idle(lbx__thread_pools *pools,
                           const lbx_allocator *allocator, int64_t since_ns)
{
    lbx__thread_pool *pool;

    while ((pool = thread_pool_find_idle(pools, since_ns))) {
        // Its threads sleep, or are about to (THPOOL-1): a short wait.
        lbx__dispatcher_stop(pool->dispatcher);
        thread_pool_remove(pools, pool);
        lbx__dispatcher_destroy(pool->dispatcher);
        lbx__free(allocator, pool, sizeof(*pool));
    }
}

/* The next of the list, from NULL to NULL. Only while none can end: when the
 * system ends, or when it has no threads. */
static lbx__thread_pool *
thread_pool_next(lbx__thread_pools *pools, lbx__thread_pool *pool)
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

    while ((pool = thread_pool_next(pools, pool)))
        lbx__dispatcher_stop(pool->dispatcher);
}

uint64_t
lbx__thread_pools_run(lbx__thread_pools *pools, uint64_t max_runs)
{
    lbx__thread_pool *pool = NULL;
    uint64_t runs = 0;

    while (runs < max_runs && (pool = thread_pool_next(pools, pool)))
        runs += lbx__dispatcher_run(pool->dispatcher, max_runs - runs);
    return runs;
}

void
lbx__thread_pools_add_stats(lbx__thread_pools *pools,
                            lbx__dispatcher_stats *sum)
{
    lbx__lock_take(&pools->lock);
    thread_pool_add_past(sum, pools->past);
    for (lbx__thread_pool *pool = pools->first; pool; pool = pool->next)
        thread_pool_add_present(sum,
                                lbx__dispatcher_stats_of(pool->dispatcher));
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
