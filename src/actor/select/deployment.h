/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deployment: what `letterbox.actor.deployment` sets for actors, by their paths
 * below "/user". "*" stands for one name, "**" at the end for one or more. The
 * most specific pattern wins: read from the left, a name before "*" before
 * "**".
 *
 * It does not change after its creation: finding an entry needs no lock.
 */
#ifndef LBX_ACTOR_SELECT_DEPLOYMENT_H
#define LBX_ACTOR_SELECT_DEPLOYMENT_H

#include <letterbox/actor/pool.h>
#include <letterbox/settings.h>

typedef struct lbx__deployment lbx__deployment;

typedef struct lbx__deployment_entry {
    const char *pattern;
    const lbx_settings *section;
    const char *mailbox;    /* NULL: not set */
    const char *dispatcher; /* the same */
    const char *router;     /* the same; else what follows is set */
    lbx_pool_routing routing;
    uint32_t routees;
} lbx__deployment_entry;

/* Foreign keys are reported to the `warn` of the options. */
lbx_status lbx__deployment_create(const lbx_system_options *options,
                                  const lbx_settings *settings,
                                  lbx_fault *fault, lbx__deployment **ret);
void lbx__deployment_destroy(lbx__deployment *deployment);

bool lbx__deployment_is_empty(const lbx__deployment *deployment);

/* Whether it makes pools of any actors. */
bool lbx__deployment_has_routers(const lbx__deployment *deployment);

/* The entry for a path such as "/shop/till"; NULL: none. */
const lbx__deployment_entry *
lbx__deployment_find(const lbx__deployment *deployment, const char *path);

#endif
