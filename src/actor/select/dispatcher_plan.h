/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dispatcher plans: the descriptions of dispatchers, found by their id in the
 * settings. A plan has no threads; core starts dispatchers by it.
 *
 * DPLAN-1  A plan is filled in once, by the first thread that needs it, with no
 *          lock held; a failure is not kept. Plans live as long as the system.
 * DPLAN-2  The list grows at its head, under the lock; reading it needs none.
 */
#ifndef LBX_ACTOR_SELECT_DISPATCHER_PLAN_H
#define LBX_ACTOR_SELECT_DISPATCHER_PLAN_H

#include "actor/select/requirement.h"
#include "base/init_once.h"

typedef enum lbx__dispatcher_sort {
    LBX__DISPATCHER_SHARED,    /* its threads run all its actors */
    LBX__DISPATCHER_PINNED,    /* a thread for each actor */
    LBX__DISPATCHER_BALANCING, /* shared, and so are its actors' mailboxes */
    LBX__DISPATCHER_CALLING_THREAD,
    LBX__DISPATCHER_UNKNOWN,
} lbx__dispatcher_sort;

typedef struct lbx__dispatcher_plans lbx__dispatcher_plans;

typedef struct lbx__dispatcher_plan {
    const char *id;
    const lbx_settings *section;
    lbx_settings *merged; /* the section with the default's values added; NULL
                             for the default itself */
    lbx__dispatcher_sort sort;
    uint32_t threads;
    int64_t throughput;  /* messages in a run; at least 1 */
    int64_t deadline_ns; /* how long a run may take; 0: no limit */
    int64_t linger_ns;   /* without actors; negative: for ever */
    lbx__requirement requirement;
    bool has_mailbox_type;  /* its own section sets one */
    int64_t stash_capacity; /* LBX_DEFAULT: not set */
    lbx__init_once once;
    struct lbx__dispatcher_plan *next;
    size_t size_bytes;
} lbx__dispatcher_plan;

/* Fills in the default plan too, and puts its threads and throughput into the
 * options where those leave it open. `options` must outlive the plans. */
lbx_status lbx__dispatcher_plans_create(lbx_system_options *options,
                                        const lbx_settings *settings,
                                        const lbx__mailbox_types *types,
                                        lbx_fault *fault,
                                        lbx__dispatcher_plans **ret);
void lbx__dispatcher_plans_destroy(lbx__dispatcher_plans *plans);

const lbx__dispatcher_plan *
lbx__dispatcher_plans_default(const lbx__dispatcher_plans *plans);

/* The plan of an id. `at`: where the settings name the id, or NULL. */
lbx_status lbx__dispatcher_plans_find(lbx__dispatcher_plans *plans,
                                      const char *id, const lbx_settings *at,
                                      lbx_fault *fault,
                                      const lbx__dispatcher_plan **ret);

/* executor.c: how many threads `executor` and its section ask for. */
lbx_status lbx__executor_threads(const lbx_settings *merged, lbx_fault *fault,
                                 uint32_t *ret);

#endif
