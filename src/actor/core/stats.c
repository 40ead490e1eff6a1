/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of an actor, of a dispatcher, of the system.
 *
 * Messages in an inbox are numbered as they arrive, so that the depth is the
 * number of the last minus that of the one that was taken last. Both nodes may
 * be reused meanwhile: nodes stay memory of the pool, and a reading during
 * which either end of the inbox has moved is discarded.
 *
 * Threads: any.
 */
#include "actor/core/actor_mailbox.h"
#include "actor/core/dispatchers.h"
#include "actor/core/system.h"
#include "base/sized.h"

enum {
    MAX_READINGS = 100
};

uint64_t
lbx__stats_inbox_depth(lbx__cell *cell)
{
    for (int i = 0; i < MAX_READINGS; i++) {
        // Relaxed: see above. Acquire: the number was written before.
        lbx__node *head = lbx__load(&cell->head, acquire);
        lbx__node *tail = lbx__load(&cell->tail, acquire);
        int64_t first = lbx__load(&head->number, relaxed);
        int64_t last = lbx__load(&tail->number, relaxed);

        if (lbx__load(&cell->head, acquire) == head &&
            lbx__load(&cell->tail, acquire) == tail && last >= first)
            return (uint64_t)(last - first);
    }
    return 0; // it changes too fast
}

/* The statistics of the mailbox of a ref's life. */
static void
stats_read_mailbox(lbx__cell *cell, uint64_t ref, lbx_actor_stats *stats)
{
    lbx__actor_mailbox *box = lbx__actor_mailbox_ref(cell, ref);
    lbx_mailbox_stats numbers = LBX_MAILBOX_STATS_INIT;

    if (!box)
        return;
    stats->mailbox = box->kind;
    if (lbx_mailbox_stats_read(box->mailbox, &numbers) == LBX_OK) {
        stats->depth += numbers.depth;
        stats->timed_messages = numbers.timed_messages;
        stats->waited_total_ns = numbers.waited_total_ns;
        stats->max_waited_ns = numbers.max_waited_ns;
        stats->max_depth = numbers.high_water;
    }
    lbx__actor_mailbox_unref(box);
}

lbx_status
lbx_ref_stats_read(lbx_ref ref, lbx_actor_stats *ret)
{
    lbx__cell *cell = lbx__cell_of(ref.word);
    lbx_actor_stats stats = {0};

    if (!ret)
        return LBX_INVALID;
    if (!lbx_ref_is_alive(ref))
        return LBX_NOT_FOUND;
    // Relaxed, all: statistics.
    stats.handled = lbx__load(&cell->handled, relaxed);
    stats.failures = lbx__load(&cell->failures, relaxed);
    stats.depth = lbx__stats_inbox_depth(cell);
    stats_read_mailbox(cell, ref.word, &stats);
    lbx__lock_take(&cell->lock);
    stats.children = cell->child_count;
    lbx__lock_give(&cell->lock);
    if (!lbx_ref_is_alive(ref))
        return LBX_NOT_FOUND; // they may be of the next life
    return LBX__SIZED_WRITE(ret, &stats, lbx_actor_stats, max_waited_ns);
}

lbx_status
lbx_system_stats_read(lbx_system *system, lbx_system_stats *ret)
{
    lbx__dispatcher_stats dispatcher;
    lbx_system_stats stats = {.cell_bytes =
                                  sizeof(lbx__cell) + sizeof(lbx__node)};

    if (!system || !ret)
        return LBX_INVALID;
    dispatcher = lbx__dispatchers_stats_of(system->dispatchers);
    // Relaxed, all: statistics.
    stats.actors = lbx__load(&system->alive, relaxed);
    stats.spawned = lbx__load(&system->spawned, relaxed);
    stats.dead_letters = lbx__load(&system->dead_letters, relaxed);
    stats.suppressed = lbx__load(&system->suppressed, relaxed);
    stats.handled = dispatcher.handled;
    stats.failures = lbx__load(&system->failures, relaxed);
    stats.runs = dispatcher.runs;
    stats.steals = dispatcher.steals;
    stats.parks = dispatcher.parks;
    return LBX__SIZED_WRITE(ret, &stats, lbx_system_stats, cell_bytes);
}

lbx_status
lbx_system_each_dispatcher(lbx_system *system,
                           void (*see)(void *context,
                                       const lbx_dispatcher_stats *stats),
                           void *context)
{
    lbx__dispatcher_entry *entry = NULL;

    if (!system || !see)
        return LBX_INVALID;
    while ((entry = lbx__dispatchers_next(system->dispatchers, entry))) {
        lbx__dispatcher_stats numbers = {0};
        lbx_dispatcher_stats stats = {.name = entry->plan->id};

        lbx__thread_pools_add_stats(&entry->pools, &numbers);
        stats.threads = numbers.threads;
        stats.runs = numbers.runs;
        stats.handled = numbers.handled;
        stats.steals = numbers.steals;
        stats.parks = numbers.parks;
        stats.queued = numbers.queued;
        see(context, &stats);
    }
    return LBX_OK;
}
