/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The selection of a system: everything from which the dispatcher and the
 * mailbox of an actor are chosen.
 *
 * An actor that asks for nothing, in a system without deployments, gets
 * `usual`, which was chosen when the system was made: spawning it costs a few
 * comparisons.
 */
#ifndef LBX_ACTOR_SELECT_SELECTION_H
#define LBX_ACTOR_SELECT_SELECTION_H

#include "actor/select/choice.h"
#include "actor/select/deployment.h"

struct lbx__selection {
    lbx_system_options *options;  /* the system's */
    lbx_settings *given;          /* the user's, referenced; may be NULL */
    lbx_settings *merged;         /* with the reference; NULL if none given */
    const lbx_settings *settings; /* that, or the reference itself */
    lbx__mailbox_types *types;
    lbx__mailbox_plans *mailbox_plans;
    lbx__deployment *deployment;
    lbx__dispatcher_plans *dispatcher_plans;
    int64_t stash_capacity; /* the default */
    lbx__choice usual;
    bool is_plain; /* no deployments, and `usual` needs nothing made */
    _Atomic(uint32_t) warned; /* about a mailbox whose senders wait */
};

/* Fills in what `options` leave open, which must outlive the selection. A fault
 * goes to their `fault`. */
lbx_status lbx__selection_create(lbx_system_options *options,
                                 lbx__selection **ret);
void lbx__selection_destroy(lbx__selection *selection);

#endif
