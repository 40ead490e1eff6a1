/* SPDX-License-Identifier: Apache-2.0 */
/* Crews. H1 to H3 are in crew.h. */
#include "actor/crew.h"

#include "actor/system.h"
#include "base/alloc.h"

struct lbx__crew {
    lbx__dispatcher *dispatcher;
    lbx__crew *next;
    uint64_t actors;
    int64_t idle_ns; /* since when, without actors */
    bool ends;       /* H3 */
};

/* A crew that takes one more, or NULL. */
static lbx__dispatcher *
join(lbx__crews *crews, bool alone)
{
    lbx__crew *crew;

    lbx__lock_take(&crews->lock);
    crew = crews->first;
    while (crew && (crew->ends || (alone && crew->actors > 0)))
        crew = crew->next;
    if (crew)
        crew->actors++;
    lbx__lock_give(&crews->lock);
    return crew ? crew->dispatcher : NULL;
}

/* Starts one, with its first actor. */
static lbx_status
start(lbx__crews *crews, lbx_system *system,
      const lbx__dispatcher_options *options, lbx__dispatcher **ret)
{
    const lbx_allocator *allocator = system->options.allocator;
    lbx__crew *crew = lbx__zalloc(allocator, sizeof(*crew));
    lbx_status status;

    if (!crew)
        return LBX_NO_MEMORY;
    status = lbx__dispatcher_create(system, options, &crew->dispatcher);
    if (status != LBX_OK) {
        lbx__free(allocator, crew, sizeof(*crew));
        return status;
    }
    crew->actors = 1;
    *ret = crew->dispatcher;
    lbx__lock_take(&crews->lock);
    crew->next = crews->first;
    crews->first = crew;
    lbx__lock_give(&crews->lock);
    return LBX_OK;
}

lbx_status
lbx__crews_enter(lbx__crews *crews, lbx_system *system,
                 const lbx__dispatcher_options *options, bool alone,
                 lbx__dispatcher **ret)
{
    lbx__dispatcher *found = join(crews, alone);
    lbx_status status = LBX_OK;

    if (!found) {
        (void)lbx__init_once_begin(&crews->starting);
        found = join(crews, alone); // somebody may have been faster
        if (!found)
            status = start(crews, system, options, &found);
        lbx__init_once_end(&crews->starting, false);
    }
    if (status == LBX_OK)
        *ret = found;
    return status;
}

bool
lbx__crews_leave(lbx__crews *crews, const lbx__dispatcher *dispatcher,
                 int64_t now_ns)
{
    lbx__crew *crew;
    bool last = false;

    lbx__lock_take(&crews->lock);
    crew = crews->first;
    while (crew && crew->dispatcher != dispatcher)
        crew = crew->next;
    if (crew) {
        last = --crew->actors == 0;
        crew->idle_ns = now_ns;
    }
    lbx__lock_give(&crews->lock);
    return last;
}

bool
lbx__crews_has(lbx__crews *crews, const lbx__dispatcher *dispatcher)
{
    lbx__crew *crew;

    lbx__lock_take(&crews->lock);
    crew = crews->first;
    while (crew && crew->dispatcher != dispatcher)
        crew = crew->next;
    lbx__lock_give(&crews->lock);
    return crew != NULL;
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
static lbx__crew *
find_idle(lbx__crews *crews, int64_t since_ns)
{
    lbx__crew *crew;

    lbx__lock_take(&crews->lock);
    crew = crews->first;
    while (crew && (crew->ends || crew->actors > 0 || crew->idle_ns > since_ns))
        crew = crew->next;
    if (crew)
        crew->ends = true;
    lbx__lock_give(&crews->lock);
    return crew;
}

/* Its threads have ended. */
static void
forget(lbx__crews *crews, lbx__crew *crew)
{
    lbx__crew **link = &crews->first;

    lbx__lock_take(&crews->lock);
    while (*link != crew)
        link = &(*link)->next;
    *link = crew->next;
    add_stats(&crews->past, lbx__dispatcher_stats_of(crew->dispatcher));
    lbx__lock_give(&crews->lock);
}

void
lbx__crews_rest(lbx__crews *crews, const lbx_allocator *allocator,
                int64_t since_ns)
{
    lbx__crew *crew;

    while ((crew = find_idle(crews, since_ns))) {
        // Its threads sleep, or are about to (H1): this does not wait long.
        lbx__dispatcher_stop(crew->dispatcher);
        forget(crews, crew);
        lbx__dispatcher_destroy(crew->dispatcher);
        lbx__free(allocator, crew, sizeof(*crew));
    }
}

/* The next of the list, from NULL to NULL, while none of them can end: when the
 * system ends, or when it has no threads. */
static lbx__crew *
next_crew(lbx__crews *crews, lbx__crew *crew)
{
    lbx__lock_take(&crews->lock);
    crew = crew ? crew->next : crews->first;
    lbx__lock_give(&crews->lock);
    return crew;
}

void
lbx__crews_stop(lbx__crews *crews)
{
    lbx__crew *crew = NULL;

    while ((crew = next_crew(crews, crew)))
        lbx__dispatcher_stop(crew->dispatcher);
}

uint64_t
lbx__crews_run(lbx__crews *crews, uint64_t most)
{
    lbx__crew *crew = NULL;
    uint64_t turns = 0;

    while (turns < most && (crew = next_crew(crews, crew)))
        turns += lbx__dispatcher_run(crew->dispatcher, most - turns);
    return turns;
}

void
lbx__crews_count(lbx__crews *crews, lbx__dispatcher_stats *sum)
{
    lbx__lock_take(&crews->lock);
    add_stats(sum, crews->past);
    for (lbx__crew *crew = crews->first; crew; crew = crew->next)
        add_present(sum, lbx__dispatcher_stats_of(crew->dispatcher));
    lbx__lock_give(&crews->lock);
}

void
lbx__crews_fini(lbx__crews *crews, const lbx_allocator *allocator)
{
    while (crews->first) {
        lbx__crew *crew = crews->first;

        crews->first = crew->next;
        lbx__dispatcher_destroy(crew->dispatcher);
        lbx__free(allocator, crew, sizeof(*crew));
    }
}
