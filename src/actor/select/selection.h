/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selection inside: the six steps of <letterbox/actor/selection.h>.
 *
 * Actors without wishes, in a system without deployments, get `usual`, which
 * was chosen when the system was made: spawning them costs a few comparisons
 * (lbx__placement_apply()).
 */
#ifndef LBX_ACTOR_SELECT_SELECTION_H
#define LBX_ACTOR_SELECT_SELECTION_H

#include "actor/core/dispatchers.h"
#include "actor/select/deployment.h"
#include "actor/select/mailbox_plan.h"

typedef enum lbx__step {
    LBX__BY_NOTHING = 0,
    LBX__BY_DEPLOYMENT,
    LBX__BY_PROPS,
    LBX__BY_DISPATCHER_SECTION,
    LBX__BY_BEHAVIOUR,
    LBX__BY_DISPATCHER,
    LBX__BY_DEFAULT,
    LBX__BY_POOL, /* it shares its parent's; no step */
} lbx__step;

typedef struct lbx__choice {
    lbx__dispatcher_entry *dispatcher;
    const lbx__mailbox_plan *mailbox;
    lbx__step step;
    int64_t stash_capacity;
    lbx__mailbox_plan own; /* what `mailbox` may point to; else not filled in */
} lbx__choice;

typedef struct lbx__selection {
    lbx_system *system;
    lbx_settings *given;          /* the user's, referenced; may be NULL */
    lbx_settings *merged;         /* with the reference; NULL if none given */
    const lbx_settings *settings; /* that, or the reference itself */
    lbx__mailbox_types *types;
    lbx__mailbox_plans *mailboxes;
    lbx__deployment *deployment;
    lbx__dispatchers *dispatchers;
    int64_t stash_capacity; /* the default */
    lbx__choice usual;
    bool is_plain; /* no deployments, and `usual` needs nothing made */
    _Atomic(uint32_t) warned; /* */
} lbx__selection;

/* Who is to be made. */
typedef struct lbx__request {
    const lbx_props *props;
    const char *path; /* "/shop/till"; NULL: it does not matter */
    lbx__dispatcher_entry *parent;
    const lbx_behaviour *behaviour;  /* whose needs count */
    uint32_t needs;                  /* what is needed besides: LBX_CAN_* */
    const lbx__mailbox_plan *shared; /* a pool's, which is to be used */
    lbx_fault *fault;                /* may be NULL */
    void (*print)(void *context, const char *line); /* NULL: no words */
    void *context;
} lbx__request;

lbx_status lbx__selection_create(lbx_system *system, lbx__selection **ret);
void lbx__selection_destroy(lbx__selection *selection);

/* Chooses; does not start the dispatcher. */
lbx_status lbx__selection_choose(lbx__selection *selection,
                                 const lbx__request *request, lbx__choice *ret);

/* Gives a cell that is being born its dispatcher and its mailbox; `balances`:
 * one that its children will share. */
lbx_status lbx__placement_apply(lbx__cell *cell, const lbx_props *props,
                                bool balances);

/* reference.c: what lbx_system_reference() says. One for the process, for ever:
 * a tree that is made of it must be given an allocator. */
const lbx_settings *lbx__reference_settings(void);

/* What is said of a child that is to be made; NULL: nothing. `name` may be NULL.
 * By the owner of the parent, or for "/user". */
const lbx__deploy *lbx__placement_deployed(const lbx__selection *selection,
                                           const lbx__cell *parent,
                                           const char *name);

/* What a step is called. */
const char *lbx__step_name(lbx__step step);

/* explain.c: a line about a mailbox; `options` may be NULL in the cell. */
void lbx__mailbox_type_describe(const lbx__mailbox_type *type,
                                uint32_t capabilities,
                                const lbx_mailbox_options *options, char *line,
                                size_t size_bytes);

/* requirements.c: which mailbox a requirement is mapped to. */
lbx_status lbx__requirements_check(const lbx__selection *selection,
                                   lbx_fault *fault);
const lbx_settings *lbx__requirements_find(const lbx__selection *selection,
                                           const char *name);

#endif
