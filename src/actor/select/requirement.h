/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requirements: what a dispatcher or a behaviour requires of a mailbox.
 *
 * A requirement is a mask of capabilities, and perhaps a name. A built-in name
 * stands for a mask. Any other name is met by the mailbox types that declare
 * it. The settings map names to mailboxes.
 */
#ifndef LBX_ACTOR_SELECT_REQUIREMENT_H
#define LBX_ACTOR_SELECT_REQUIREMENT_H

#include "actor/select/mailbox_type.h"

typedef struct lbx__requirement {
    const char *name;  /* NULL: none */
    const char *by;    /* the dispatcher or behaviour, for messages */
    uint32_t needs;    /* LBX_CAN_* */
    uint32_t must_not; /* LBX_CAN_*: "unbounded" is LBX_CAPABILITY_BOUND */
    bool declared;     /* the name is not built in: types declare it */
} lbx__requirement;

/* The requirement that a name stands for, with `needs` added. A mask without a
 * name gets the name of just that mask, if there is one. */
lbx__requirement lbx__requirement_of(const char *name, uint32_t needs);

/* Describes what a mailbox with these capabilities and declared names lacks;
 * NULL: nothing, it meets the requirement. */
const char *lbx__requirement_lack(const lbx__requirement *requirement,
                                  uint32_t capabilities,
                                  const char *const *semantics);

/* Checks the map from requirements to mailboxes; foreign ones are reported to
 * the `warn` of the options. */
lbx_status lbx__requirement_check_map(const lbx_settings *settings,
                                      const lbx__mailbox_types *types,
                                      const lbx_system_options *options,
                                      lbx_fault *fault);

/* The value that the map has for a name, the id of a mailbox; NULL: none.
 * `given` is the user's settings, or NULL; `settings` has the reference too. */
const lbx_settings *lbx__requirement_find_mailbox(const lbx_settings *given,
                                                  const lbx_settings *settings,
                                                  const char *name);

#endif
