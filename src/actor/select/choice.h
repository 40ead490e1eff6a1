/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choices: the six steps of <letterbox/actor/selection.h>, by which an actor
 * gets its dispatcher and its mailbox.
 */
#ifndef LBX_ACTOR_SELECT_CHOICE_H
#define LBX_ACTOR_SELECT_CHOICE_H

#include "actor/select/dispatcher_plan.h"
#include "actor/select/mailbox_plan.h"

typedef struct lbx__selection lbx__selection;

typedef enum lbx__choice_step {
    LBX__STEP_NONE = 0,
    LBX__STEP_DEPLOYMENT,
    LBX__STEP_PROPS,
    LBX__STEP_DISPATCHER_SECTION,
    LBX__STEP_BEHAVIOUR,
    LBX__STEP_DISPATCHER,
    LBX__STEP_DEFAULT,
    LBX__STEP_POOL, /* it shares its parent's mailbox; none of the six */
} lbx__choice_step;

typedef struct lbx__choice {
    const lbx__dispatcher_plan *dispatcher;
    const lbx__mailbox_plan *mailbox;
    lbx__choice_step step;
    int64_t stash_capacity;
    lbx__mailbox_plan own; /* what `mailbox` may point to; else not filled in */
} lbx__choice;

/* The actor for which to choose. */
typedef struct lbx__choice_request {
    const lbx_props *props;
    const char *path; /* "/shop/till"; NULL: it does not matter */
    const lbx__dispatcher_plan *parent; /* the parent's; NULL: unknown */
    const lbx_behaviour *behaviour;     /* whose needs count */
    uint32_t needs;                     /* further ones: LBX_CAN_* */
    const lbx__mailbox_plan *shared;    /* a pool's, which is to be used */
    lbx_fault *fault;                   /* may be NULL */
    void (*print)(void *context, const char *line); /* NULL: no explanation */
    void *context;
} lbx__choice_request;

/* Makes a choice, and prints each step if the request wants that. */
lbx_status lbx__choice_make(lbx__selection *selection,
                            const lbx__choice_request *request,
                            lbx__choice *ret);

const char *lbx__choice_step_name(lbx__choice_step step);

#endif
