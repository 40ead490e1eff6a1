/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatchers of the settings. C1 to C3 are in dispatchers.h. */
#include "actor/core/dispatchers.h"

#include "actor/core/system.h"
#include "actor/select/blame.h"
#include "actor/select/selection.h"
#include "base/alloc.h"
#include <string.h>

enum {
    PATH_BYTES = 512,
    MOST_ALIASES = 20,
};

static const char default_id[] = "letterbox.actor.default-dispatcher";

static lbx__dispatcher_entry *
look_up(lbx__dispatchers *dispatchers, const lbx_settings *section)
{
    // Acquire: C2, pairs with the release in get().
    lbx__dispatcher_entry *entry = lbx__load(&dispatchers->first, acquire);

    while (entry && entry->section != section)
        entry = entry->next;
    return entry;
}

/* The entry of a section, new if need be; NULL: no memory. */
static lbx__dispatcher_entry *
get(lbx__dispatchers *dispatchers, const lbx_settings *section)
{
    lbx__dispatcher_entry *entry = look_up(dispatchers, section);
    char id[PATH_BYTES];
    size_t size_bytes;

    if (entry)
        return entry;
    (void)lbx_settings_path(section, id, sizeof(id));
    size_bytes = sizeof(*entry) + strlen(id) + 1;
    lbx__lock_take(&dispatchers->lock);
    entry = look_up(dispatchers, section);
    if (!entry) {
        entry = lbx__zalloc(dispatchers->system->options.allocator, size_bytes);
        if (entry) {
            entry->size_bytes = size_bytes;
            entry->id = memcpy(entry + 1, id, strlen(id) + 1);
            entry->section = section;
            entry->next = lbx__peek(&dispatchers->first);
            // Release: C2.
            lbx__store(&dispatchers->first, entry, release);
        }
    }
    lbx__lock_give(&dispatchers->lock);
    return entry;
}

static lbx_status
describe_once(lbx__dispatchers *dispatchers, lbx__dispatcher_entry *entry,
              lbx_fault *fault)
{
    lbx_status status;

    if (!entry)
        return lbx__blame(fault, LBX_NO_MEMORY, NULL, "out of memory");
    if (!lbx__init_once_begin(&entry->described))
        return LBX_OK;
    status = lbx__dispatcher_describe(dispatchers, entry, fault);
    lbx__init_once_end(&entry->described, status == LBX_OK);
    return status;
}

/* What the system's options say wins; what they leave open is filled in. */
static void
agree(lbx_system *system, lbx__dispatcher_options *options)
{
    if (system->options.threads == LBX_DEFAULT)
        system->options.threads = options->threads;
    if (system->options.throughput == LBX_DEFAULT)
        system->options.throughput = options->throughput;
    options->threads = (uint32_t)system->options.threads;
    options->throughput = system->options.throughput;
}

lbx_status
lbx__dispatchers_create(lbx_system *system, const lbx_settings *settings,
                        const lbx__mailbox_types *types, lbx_fault *fault,
                        lbx__dispatchers **ret)
{
    lbx__dispatchers *dispatchers =
        lbx__zalloc(system->options.allocator, sizeof(*dispatchers));
    lbx_status status;

    if (!dispatchers)
        return LBX_NO_MEMORY;
    dispatchers->system = system;
    dispatchers->settings = settings;
    dispatchers->types = types;
    status = lbx_settings_read_section(settings, default_id, fault,
                                       &dispatchers->usual);
    if (status == LBX_OK)
        status = lbx__dispatchers_find(dispatchers, default_id, NULL, fault,
                                       &dispatchers->default_entry);
    if (status != LBX_OK) {
        lbx__dispatchers_destroy(dispatchers);
        return status;
    }
    agree(system, &dispatchers->default_entry->options);
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
        lbx_settings_unref(entry->merged);
        lbx__free(allocator, entry, entry->size_bytes);
        entry = next;
    }
    lbx__free(allocator, dispatchers, sizeof(*dispatchers));
}

lbx__dispatcher_entry *
lbx__dispatchers_default(lbx__dispatchers *dispatchers)
{
    return dispatchers->default_entry;
}

/* A text in place of a section is the id of another one. */
static const lbx_settings *
follow(const lbx__dispatchers *dispatchers, const char *id)
{
    const lbx_settings *at = lbx_settings_at(dispatchers->settings, id);

    for (int i = 0; i < MOST_ALIASES &&
                    lbx_settings_kind_of(at) == LBX_SETTINGS_KIND_STRING;
         i++)
        at = lbx_settings_at(dispatchers->settings, lbx_settings_text(at));
    return at;
}

lbx_status
lbx__dispatchers_find(lbx__dispatchers *dispatchers, const char *id,
                      const lbx_settings *at, lbx_fault *fault,
                      lbx__dispatcher_entry **ret)
{
    const lbx_settings *section = *id ? follow(dispatchers, id) : NULL;
    lbx__dispatcher_entry *entry;
    lbx_status status;

    if (lbx_settings_kind_of(section) != LBX_SETTINGS_KIND_SECTION)
        return lbx__blame(fault, LBX_NOT_FOUND, at,
                          "dispatcher '%s' is not configured: the settings "
                          "have no such section",
                          id);
    entry = get(dispatchers, section);
    status = describe_once(dispatchers, entry, fault);
    if (status == LBX_OK)
        *ret = entry;
    return status;
}

lbx_status
lbx__dispatchers_enter(lbx__dispatchers *dispatchers,
                       lbx__dispatcher_entry *entry, lbx_fault *fault,
                       lbx__dispatcher **ret)
{
    lbx_system *system = dispatchers->system;
    lbx__dispatcher_options options = entry->options;
    bool alone = entry->sort == LBX__PINNED && system->options.threads > 0;
    lbx_status status;

    if (system->options.threads == 0)
        options.threads = 0; // C3
    else if (alone)
        options.threads = 1;
    status = lbx__thread_pools_enter(&entry->pools, &system->dispatching,
                                     &options, alone, ret);
    if (status != LBX_OK)
        return lbx__blame(fault, status, entry->section,
                          "%u threads cannot be started", options.threads);
    return LBX_OK;
}

lbx__dispatcher_entry *
lbx__dispatchers_next(lbx__dispatchers *dispatchers,
                      const lbx__dispatcher_entry *entry)
{
    // Acquire: C2.
    lbx__dispatcher_entry *next =
        entry ? entry->next : lbx__load(&dispatchers->first, acquire);

    while (next && !lbx__init_once_is_done(&next->described))
        next = next->next; // another thread is at it, and nobody uses it yet
    return next;
}

lbx__dispatcher_entry *
lbx__dispatchers_of(lbx__dispatchers *dispatchers,
                    const lbx__dispatcher *dispatcher)
{
    lbx__dispatcher_entry *entry = lbx__dispatchers_next(dispatchers, NULL);

    while (entry && !lbx__thread_pools_has(&entry->pools, dispatcher))
        entry = lbx__dispatchers_next(dispatchers, entry);
    return entry;
}

void
lbx__dispatchers_leave(lbx__cell *cell)
{
    lbx_system *system = cell->system;
    lbx__dispatchers *dispatchers = system->selection->dispatchers;
    const lbx__dispatcher *left = lbx__peek(&cell->runnable.dispatcher);
    lbx__dispatcher_entry *entry;

    // The default's pool is the system's, and without threads none ever ends.
    if (left == system->dispatcher || system->options.threads == 0)
        return;
    lbx__store(&cell->runnable.dispatcher, system->dispatcher,
               relaxed); // THPOOL-1
    entry = lbx__dispatchers_of(dispatchers, left);
    if (entry &&
        lbx__thread_pools_leave(&entry->pools, left,
                                lbx_clock_now(system->options.clock)) &&
        entry->linger_ns >= 0)
        // Without memory for a timer they wait for the next one's.
        (void)lbx__timers_start_system(system->timers, system->user_ref,
                                       LBX__CODE_END_IDLE, entry->linger_ns);
}

void
lbx__dispatchers_end_idle(lbx__dispatchers *dispatchers)
{
    const lbx_system *system = dispatchers->system;
    int64_t now_ns = lbx_clock_now(system->options.clock);

    for (lbx__dispatcher_entry *entry =
             lbx__dispatchers_next(dispatchers, NULL);
         entry; entry = lbx__dispatchers_next(dispatchers, entry))
        if (entry->linger_ns >= 0)
            lbx__thread_pools_end_idle(&entry->pools, system->options.allocator,
                                       now_ns - entry->linger_ns);
}

uint64_t
lbx__dispatchers_run(lbx__dispatchers *dispatchers, uint64_t most)
{
    uint64_t turns = 0;
    uint64_t before;

    // Until none has anything: each may give the others something to do.
    do {
        before = turns;
        for (lbx__dispatcher_entry *entry =
                 lbx__dispatchers_next(dispatchers, NULL);
             entry && turns < most;
             entry = lbx__dispatchers_next(dispatchers, entry))
            turns += lbx__thread_pools_run(&entry->pools, most - turns);
    } while (turns > before && turns < most);
    return turns;
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
