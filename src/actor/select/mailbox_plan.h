/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mailboxes of the settings: what an id stands for, configured once.
 *
 * An id is the path of a section, "bounded-capacity:N", or the name of a type.
 *
 * B1  An entry is configured once, by the first who needs it, with no lock
 *     held; a failure is not kept. Entries stay as long as the system.
 * B2  The list grows at its head, under the lock; reading it needs none.
 */
#ifndef LBX_ACTOR_SELECT_MAILBOX_PLAN_H
#define LBX_ACTOR_SELECT_MAILBOX_PLAN_H

#include "actor/select/mailbox_type.h"
#include "base/init_once.h"

typedef struct lbx__mailbox_plan lbx__mailbox_plan;
typedef struct lbx__mailbox_plans lbx__mailbox_plans;

struct lbx__mailbox_plan {
    const char *id;
    const lbx_settings *section; /* where it stands; NULL: nowhere */
    lbx_settings *merged;        /* the section of A-09; NULL: `whole` is it */
    const lbx_settings *whole;   /* it, or the default's own */
    lbx__mailbox_type type;
    lbx_mailbox_options options;
    uint32_t capabilities;  /* with these options */
    bool in_cell;           /* needs no box */
    int64_t stash_capacity; /* LBX_DEFAULT: it says nothing */
    uint16_t number;        /* from 1; 0: not on the list */
    lbx__init_once once;
    lbx__mailbox_plan *next;
    size_t size_bytes;
};

lbx_status lbx__mailbox_plans_create(const lbx_allocator *allocator,
                                     const lbx_settings *settings,
                                     const lbx__mailbox_types *types,
                                     lbx__mailbox_plans **ret);
void lbx__mailbox_plans_destroy(lbx__mailbox_plans *mailboxes);

/* What an id stands for. `at` is where the id was said, or NULL. `room` is used
 * for what is not worth keeping. */
lbx_status lbx__mailbox_plans_find(lbx__mailbox_plans *mailboxes,
                                   const char *id, const lbx_settings *at,
                                   lbx_fault *fault, lbx__mailbox_plan *room,
                                   const lbx__mailbox_plan **ret);

/* The same for a section of the settings. */
lbx_status lbx__mailbox_plans_of_section(lbx__mailbox_plans *mailboxes,
                                         const lbx_settings *section,
                                         lbx_fault *fault,
                                         const lbx__mailbox_plan **ret);

/* By its number; NULL: none. */
const lbx__mailbox_plan *
lbx__mailbox_plans_by_number(lbx__mailbox_plans *mailboxes, uint16_t number);

/* With other options. */
void lbx__mailbox_plan_set_options(lbx__mailbox_plan *mailbox,
                                   const lbx_mailbox_options *options);

/* Checks a section that describes a mailbox, a dispatcher, or both. */
lbx_status lbx__section_check(const lbx_settings *section,
                              const lbx_mailbox_type *type, lbx_fault *fault);

#endif
