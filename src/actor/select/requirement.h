/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requirements: what a dispatcher or a behaviour asks of a mailbox.
 *
 * A requirement is a mask of capabilities, and perhaps a name. Akka's names are
 * masks under another name. Any other name is met by the types that declare it.
 */
#ifndef LBX_ACTOR_SELECT_REQUIREMENT_H
#define LBX_ACTOR_SELECT_REQUIREMENT_H

#include <letterbox/mailbox/factory.h>

typedef struct lbx__requirement {
    const char *name;  /* NULL: none */
    const char *by;    /* who asks, for people */
    uint32_t needs;    /* LBX_CAN_* */
    uint32_t must_not; /* LBX_CAN_*: "unbounded" is LBX_CAN_BOUND */
    bool declared;     /* the name is not ours: types declare it */
} lbx__requirement;

/* A class name without the part that differs between Akka and Pekko. */
const char *lbx__class_name(const char *name);
bool lbx__class_name_equal(const char *a, const char *b);

/* What a name stands for, and what `needs` adds to it. A mask without a name
 * gets the name of just that mask, if there is one. */
lbx__requirement lbx__requirement_of(const char *name, uint32_t needs);
bool lbx__requirement_is_built_in(const char *name);

/* False: there is none. */
bool lbx__requirement_exists(const lbx__requirement *requirement);

/* What of it a mailbox with these capabilities and declared names does not
 * meet, for people; NULL when it meets all. */
const char *lbx__requirement_lack(const lbx__requirement *requirement,
                                  uint32_t capabilities,
                                  const char *const *semantics);

#endif
