/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dispatchers of the settings: made by id, when they are first used.
 *
 * C1  Entry 0 is the default dispatcher, started with the system. An entry is
 *     described once, by the first who needs it, with no lock held, and stays
 *     as long as the system. Its threads come and go with its actors: pool.h.
 * C2  The list grows at its head, under the lock; reading it needs none.
 * C3  A system without threads has none in any dispatcher; all are run by
 *     lbx_system_run().
 */
#ifndef LBX_ACTOR_DISPATCHERS_H
#define LBX_ACTOR_DISPATCHERS_H

#include "actor/core/sharers.h"
#include "actor/dispatch/dispatcher.h"
#include "actor/dispatch/thread_pool.h"
#include "actor/select/mailbox_type.h"
#include "actor/select/requirement.h"
#include "base/init_once.h"
#include <letterbox/settings.h>

typedef enum lbx__dispatcher_sort {
    LBX__SHARED,    /* threads for all */
    LBX__PINNED,    /* a thread for each */
    LBX__BALANCING, /* threads for all, who share mailboxes: team.h */
    LBX__CALLING_THREAD,
    LBX__NO_SORT,
} lbx__dispatcher_sort;

typedef struct lbx__dispatcher_entry {
    const char *id;
    const lbx_settings *section;
    lbx_settings *merged; /* with what it lacks from the default's, unless it
                             is the default */
    lbx__dispatcher_sort sort;
    lbx__dispatcher_options options;
    lbx__requirement requirement;
    bool has_mailbox_type;  /* its own section says which mailbox */
    int64_t stash_capacity; /* LBX_DEFAULT: it says nothing */
    int64_t linger_ns;      /* without actors; negative: for ever */
    lbx__init_once described;
    lbx__thread_pools pools;
    lbx__sharers_list sharers; /* of a balancing one */
    struct lbx__dispatcher_entry *next;
    size_t size_bytes;
} lbx__dispatcher_entry;

typedef struct lbx__dispatchers {
    lbx_system *system;
    const lbx_settings *settings;
    const lbx_settings *usual; /* the section of the default */
    const lbx__mailbox_types *types;
    lbx__lock lock;
    _Atomic(lbx__dispatcher_entry *) first;
    lbx__dispatcher_entry *default_entry;
} lbx__dispatchers;

/* Describes the default one, and puts its threads and throughput into the
 * options of the system where those leave it open. */
lbx_status lbx__dispatchers_create(lbx_system *system,
                                   const lbx_settings *settings,
                                   const lbx__mailbox_types *types,
                                   lbx_fault *fault, lbx__dispatchers **ret);
void lbx__dispatchers_destroy(lbx__dispatchers *dispatchers);

lbx__dispatcher_entry *lbx__dispatchers_default(lbx__dispatchers *dispatchers);

/* What an id stands for. `at`: where it was said, or NULL. */
lbx_status lbx__dispatchers_find(lbx__dispatchers *dispatchers, const char *id,
                                 const lbx_settings *at, lbx_fault *fault,
                                 lbx__dispatcher_entry **ret);

/* Gives an actor, or the system itself, threads to run on. */
lbx_status lbx__dispatchers_enter(lbx__dispatchers *dispatchers,
                                  lbx__dispatcher_entry *entry,
                                  lbx_fault *fault, lbx__dispatcher **ret);

/* The actor of this cell has ended: THPOOL-1. By its owner. */
void lbx__dispatchers_leave(lbx__cell *cell);

/* Ends threads that have had no actors for long enough. By "/user". */
void lbx__dispatchers_end_idle(lbx__dispatchers *dispatchers);

/* The entry of a dispatcher that runs. */
lbx__dispatcher_entry *lbx__dispatchers_of(lbx__dispatchers *dispatchers,
                                           const lbx__dispatcher *dispatcher);

/* All of them: as for one. */
void lbx__dispatchers_stop(lbx__dispatchers *dispatchers);
uint64_t lbx__dispatchers_run(lbx__dispatchers *dispatchers, uint64_t most);
lbx__dispatcher_stats lbx__dispatchers_stats_of(lbx__dispatchers *dispatchers);

/* describe.c: fills an entry in from its section. */
lbx_status lbx__dispatcher_describe(const lbx__dispatchers *dispatchers,
                                    lbx__dispatcher_entry *entry,
                                    lbx_fault *fault);
/* Goes through all entries that have been read: from NULL to NULL. */
lbx__dispatcher_entry *
lbx__dispatchers_next(lbx__dispatchers *dispatchers,
                      const lbx__dispatcher_entry *entry);

/* executor.c: reads `executor` and its section; `ret_options` gets threads. */
lbx_status lbx__executor_read(const lbx_settings *merged, lbx_fault *fault,
                              lbx__dispatcher_options *ret_options);

#endif
