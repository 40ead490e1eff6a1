/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running dispatchers (DSET-1 to DSET-3 in dispatchers.h).
 *
 * Threads: any may enter; the owner of a cell leaves; "/user" ends idle
 * threads.
 */
#include "actor/core/dispatchers.h"

#include "actor/core/system.h"
#include "actor/select/section.h"
#include "base/alloc.h"

static lbx__dispatcher_entry *
dispatchers_look_up(lbx__dispatchers *dispatchers,
                    const lbx__dispatcher_plan *plan)
{
    // Acquire: DSET-2, pairs with the release in dispatchers_get().
    lbx__dispatcher_entry *entry = lbx__load(&dispatchers->first, acquire);

    while (entry && entry->plan != plan)
        entry = entry->next;
    return entry;
}

/* The entry of a plan, new if there is none; NULL: no memory. */
static lbx__dispatcher_entry *
dispatchers_get(lbx__dispatchers *dispatchers, const lbx__dispatcher_plan *plan)
{
    lbx__dispatcher_entry *entry = dispatchers_look_up(dispatchers, plan);

    if (entry)
        return entry;
    lbx__lock_take(&dispatchers->lock);
    entry = dispatchers_look_up(dispatchers, plan);
    if (!entry) {
        entry =
            lbx__zalloc(dispatchers->system->options.allocator, sizeof(*entry));
        if (entry) {
            entry->plan = plan;
            entry->next = lbx__peek(&dispatchers->first);
            // Release: DSET-2.
            lbx__store(&dispatchers->first, entry, release);
        }
    }
    lbx__lock_give(&dispatchers->lock);
    return entry;
}

lbx_status
lbx__dispatchers_create(lbx_system *system, lbx__dispatchers **ret)
{
    lbx__dispatchers *dispatchers =
        lbx__zalloc(system->options.allocator, sizeof(*dispatchers));

    if (!dispatchers)
        return LBX_NO_MEMORY;
    dispatchers->system = system;
    *ret = dispatchers;
    return LBX_OK;
}

void
lbx__dispatchers_destroy(lbx__dispatchers *dispatchers)
{
    const lbx_allocator *allocator;
    lbx__dispatcher_entry *entry;

    if (!dispatchers)
        return;
    allocator = dispatchers->system->options.allocator;
    entry = lbx__peek(&dispatchers->first);
    while (entry) {
        lbx__dispatcher_entry *next = entry->next;

        lbx__thread_pools_fini(&entry->pools, allocator);
        lbx__sharers_fini(&entry->sharers, allocator);
        lbx__free(allocator, entry, sizeof(*entry));
        entry = next;
    }
    lbx__free(allocator, dispatchers, sizeof(*dispatchers));
}

lbx_status
lbx__dispatchers_enter(lbx__dispatchers *dispatchers,
                       const lbx__dispatcher_plan *plan, lbx_fault *fault,
                       lbx__dispatcher **ret)
{
    lbx_system *system = dispatchers->system;
    lbx__dispatcher_options options = {.name = plan->id,
                                       .threads = plan->threads,
                                       .throughput = plan->throughput,
                                       .deadline_ns = plan->deadline_ns};
    bool exclusive =
        plan->sort == LBX__DISPATCHER_PINNED && system->options.threads > 0;
    lbx__dispatcher_entry *entry = dispatchers_get(dispatchers, plan);
    lbx_status status;

    if (!entry)
        return lbx__section_fault(fault, LBX_NO_MEMORY, NULL, "out of memory");
    if (system->options.threads == 0)
        options.threads = 0; // DSET-3
    else if (exclusive)
        options.threads = 1;
    status = lbx__thread_pools_enter(&entry->pools, &system->dispatching,
                                     &options, exclusive, ret);
    if (status != LBX_OK)
        return lbx__section_fault(fault, status, plan->section,
                                  "%u threads cannot be started",
                                  options.threads);
    return LBX_OK;
}

lbx__sharers_list *
lbx__dispatchers_sharers(lbx__dispatchers *dispatchers,
                         const lbx__dispatcher_plan *plan)
{
    return &dispatchers_look_up(dispatchers, plan)->sharers;
}

lbx__dispatcher_entry *
lbx__dispatchers_next(lbx__dispatchers *dispatchers,
                      const lbx__dispatcher_entry *entry)
{
    // Acquire: DSET-2.
    return entry ? entry->next : lbx__load(&dispatchers->first, acquire);
}

/* The entry of a running dispatcher; NULL: none. */
static lbx__dispatcher_entry *
dispatchers_entry_of(lbx__dispatchers *dispatchers,
                     const lbx__dispatcher *dispatcher)
{
    lbx__dispatcher_entry *entry = lbx__dispatchers_next(dispatchers, NULL);

    while (entry && !lbx__thread_pools_has(&entry->pools, dispatcher))
        entry = lbx__dispatchers_next(dispatchers, entry);
    return entry;
}

const lbx__dispatcher_plan *
lbx__dispatchers_plan_of(lbx__dispatchers *dispatchers,
                         const lbx__dispatcher *dispatcher)
{
    const lbx__dispatcher_entry *entry =
        dispatchers_entry_of(dispatchers, dispatcher);

    return entry ? entry->plan : NULL;
}

void
lbx__dispatchers_leave(lbx__cell *cell)
{
    lbx_system *system = cell->system;
    lbx__dispatchers *dispatchers = system->dispatchers;
    const lbx__dispatcher *left = lbx__peek(&cell->runnable.dispatcher);
    lbx__dispatcher_entry *entry;

    // The default's pool is the system's, and without threads none ever ends.
    if (left == system->dispatcher || system->options.threads == 0)
        return;
    lbx__store(&cell->runnable.dispatcher, system->dispatcher,
               relaxed); // THPOOL-1
    entry = dispatchers_entry_of(dispatchers, left);
    if (entry &&
        lbx__thread_pools_leave(&entry->pools, left,
                                lbx_clock_now(system->options.clock)) &&
        entry->plan->linger_ns >= 0)
        // Without memory for a timer they wait for the next one's.
        (void)lbx__timers_start_system(system->timers, system->user_ref,
                                       LBX__CODE_END_IDLE,
                                       entry->plan->linger_ns, NULL);
}

void
lbx__dispatchers_end_idle(lbx__dispatchers *dispatchers)
{
    const lbx_system *system = dispatchers->system;
    int64_t now_ns = lbx_clock_now(system->options.clock);

    for (lbx__dispatcher_entry *entry =
             lbx__dispatchers_next(dispatchers, NULL);
         entry; entry = lbx__dispatchers_next(dispatchers, entry))
        if (entry->plan->linger_ns >= 0)
            lbx__thread_pools_end_idle(&entry->pools, system->options.allocator,
                                       now_ns - entry->plan->linger_ns);
}

uint64_t
lbx__dispatchers_run(lbx__dispatchers *dispatchers, uint64_t max_runs)
{
    uint64_t runs = 0;
    uint64_t before;

    // Until none has anything: each may give the others something to do.
    do {
        before = runs;
        for (lbx__dispatcher_entry *entry =
                 lbx__dispatchers_next(dispatchers, NULL);
             entry && runs < max_runs;
             entry = lbx__dispatchers_next(dispatchers, entry))
            runs += lbx__thread_pools_run(&entry->pools, max_runs - runs);
    } while (runs > before && runs < max_runs);
    return runs;
}

void
lbx__dispatchers_stop(lbx__dispatchers *dispatchers)
{
    if (!dispatchers)
        return;
    for (lbx__dispatcher_entry *entry =
             lbx__dispatchers_next(dispatchers, NULL);
         entry; entry = lbx__dispatchers_next(dispatchers, entry))
        lbx__thread_pools_stop(&entry->pools);
    // What the last ones gave to those that had stopped before them.
    (void)lbx__dispatchers_run(dispatchers, UINT64_MAX);
}

lbx__dispatcher_stats
lbx__dispatchers_stats_of(lbx__dispatchers *dispatchers)
{
    lbx__dispatcher_stats sum = {0};

    for (lbx__dispatcher_entry *entry =
             lbx__dispatchers_next(dispatchers, NULL);
         entry; entry = lbx__dispatchers_next(dispatchers, entry))
        lbx__thread_pools_add_stats(&entry->pools, &sum);
    return sum;
}
