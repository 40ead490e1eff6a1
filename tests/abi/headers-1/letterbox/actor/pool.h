/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_ACTOR_ROUTER_H
#define LETTERBOX_ACTOR_ROUTER_H
#include <letterbox/actor/context.h>
LBX_BEGIN
typedef enum lbx_pool_routing {
    LBX_POOL_ROUTING_ROUND_ROBIN = 0,
    LBX_POOL_ROUTING_SMALLEST_MAILBOX,
    LBX_POOL_ROUTING_BROADCAST,
    LBX_POOL_ROUTING_BALANCING,
} lbx_pool_routing;
typedef struct lbx_pool {
    size_t size_bytes;
    lbx_pool_routing routing;
    uint32_t routees;
    const lbx_props *props;
    lbx_strategy strategy;
} lbx_pool;
#define LBX_POOL_INIT                                                          \
    {                                                                          \
        .size_bytes = sizeof(lbx_pool), .routees = 1,                          \
        .strategy = LBX_STRATEGY_INIT                                          \
    }
LBX_API LBX_MUST_USE lbx_status lbx_system_spawn_pool(lbx_system *system,
                                                      const lbx_pool *pool,
                                                      const char *name,
                                                      lbx_ref *ret);
LBX_API LBX_MUST_USE lbx_status lbx_context_spawn_pool(lbx_context *context,
                                                       const lbx_pool *pool,
                                                       const char *name,
                                                       lbx_ref *ret);
LBX_END
#endif
