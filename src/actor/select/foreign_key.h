/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of Akka's and Pekko's settings that mean nothing here: they are
 * accepted, so that such files work as they are, and each is reported once to
 * the system's `warn`.
 */
#ifndef LBX_ACTOR_SELECT_FOREIGN_KEY_H
#define LBX_ACTOR_SELECT_FOREIGN_KEY_H

#include <letterbox/actor/selection.h>

/* The sections that have such keys. */
typedef enum lbx__foreign_key_place {
    LBX__FOREIGN_ACTOR,      /* letterbox.actor */
    LBX__FOREIGN_DEPLOYMENT, /* one entry */
    LBX__FOREIGN_DISPATCHER,
    LBX__FOREIGN_FORK_JOIN,
    LBX__FOREIGN_THREAD_POOL,
} lbx__foreign_key_place;

/* lbx_settings_check() of a section, whose foreign keys are allowed too. */
lbx_status lbx__foreign_key_check(lbx__foreign_key_place place,
                                  const lbx_settings *section,
                                  const lbx_settings_rule *rules,
                                  size_t rule_count, lbx_fault *fault);

/* Warns of each foreign key in a section, which may be NULL. */
void lbx__foreign_key_warn(lbx__foreign_key_place place,
                           const lbx_settings *section,
                           const lbx_system_options *options);

/* Warns of one value. */
void lbx__foreign_key_warn_at(const lbx_settings *at,
                              const lbx_system_options *options);

/* Whether a requirement is one that only the other system's own actors have. */
bool lbx__foreign_key_is_requirement(const char *name);

#endif
