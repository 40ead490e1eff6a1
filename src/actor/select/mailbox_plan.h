/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mailbox plans: the descriptions of mailboxes, found by id. Core makes an
 * actor's mailbox by such a plan.
 *
 * An id is the path of a section, "bounded-capacity:N", or the name of a type.
 *
 * MBPLAN-1  A plan is filled in once, by the first thread that needs it, with
 *           no lock held; a failure is not kept. Plans live as long as the
 *           system.
 * MBPLAN-2  The list grows at its head, under the lock; reading it needs none.
 */
#ifndef LBX_ACTOR_SELECT_MAILBOX_PLAN_H
#define LBX_ACTOR_SELECT_MAILBOX_PLAN_H

#include "actor/select/mailbox_type.h"
#include "base/init_once.h"

typedef struct lbx__mailbox_plan lbx__mailbox_plan;
typedef struct lbx__mailbox_plans lbx__mailbox_plans;

struct lbx__mailbox_plan {
    const char *id;
    const lbx_settings *section; /* NULL: the id is no section's */
    lbx_settings *merged;        /* the section with the default's values added;
                                    NULL: `whole` needs none */
    const lbx_settings *whole;   /* `merged`, or the default section */
    lbx__mailbox_type type;
    lbx_mailbox_options options;
    uint32_t capabilities;  /* with these options */
    bool in_cell;           /* the cell's own inbox will do */
    int64_t stash_capacity; /* LBX_DEFAULT: not set */
    uint16_t number;        /* from 1; 0: not on the list */
    lbx__init_once once;
    lbx__mailbox_plan *next;
    size_t size_bytes;
};

lbx_status lbx__mailbox_plans_create(const lbx_allocator *allocator,
                                     const lbx_settings *settings,
                                     const lbx__mailbox_types *types,
                                     lbx__mailbox_plans **ret);
void lbx__mailbox_plans_destroy(lbx__mailbox_plans *plans);

/* The plan of an id. `at` is where the settings name the id, or NULL.
 * `unlisted` is memory for a plan that is not worth keeping on the list. */
lbx_status lbx__mailbox_plans_find(lbx__mailbox_plans *plans, const char *id,
                                   const lbx_settings *at, lbx_fault *fault,
                                   lbx__mailbox_plan *unlisted,
                                   const lbx__mailbox_plan **ret);

/* The plan of a section of the settings. */
lbx_status lbx__mailbox_plans_of_section(lbx__mailbox_plans *plans,
                                         const lbx_settings *section,
                                         lbx_fault *fault,
                                         const lbx__mailbox_plan **ret);

/* The plan with a number; NULL: none. */
const lbx__mailbox_plan *lbx__mailbox_plans_by_number(lbx__mailbox_plans *plans,
                                                      uint16_t number);

/* Copies a user's options, of any size; INVALID. */
lbx_status lbx__mailbox_plan_read_options(const lbx_mailbox_options *given,
                                          lbx_fault *fault,
                                          lbx_mailbox_options *ret);

/* The kind that options without one ask for, by their capacity, their order and
 * what is needed (LBX_CAPABILITY_*). */
lbx_status lbx__mailbox_plan_fit(const lbx_mailbox_options *given,
                                 uint32_t needs, lbx_fault *fault,
                                 const char **ret);

/* Replaces the options of a plan that is not on the list; INVALID. */
lbx_status lbx__mailbox_plan_set_options(lbx__mailbox_plan *plan,
                                         const lbx_mailbox_options *options,
                                         lbx_fault *fault);

#endif
