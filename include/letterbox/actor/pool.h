/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools: several actors of one kind behind one ref.
 *
 *     lbx_props props = LBX_PROPS_INIT;
 *     lbx_pool pool = LBX_POOL_INIT;
 *
 *     props.behaviour = &worker;
 *     pool.routing = LBX_POOL_ROUTING_BALANCING;
 *     pool.routees = 5;
 *     pool.props = &props;
 *     lbx_system_spawn_pool(system, &pool, "workers", &workers);
 *     lbx_tell(workers, job);
 *
 * The pool is an actor, and its routees are its children: it supervises them as
 * the pool's strategy says, and a routee that has stopped gets no more
 * messages. A pool without routees stops.
 *
 * Settings can make a pool of any actor, and change one that is made here: the
 * keys `router` and `nr-of-instances` of a deployment (docs/settings.md).
 *
 * A poison pill stops a balancing pool and all its routees when what was sent
 * before it has been handled; also one that is sent to a routee, since the
 * mailbox is the same: use lbx_ref_stop() for one of them. Other pools stop
 * when they handle the pill, their routees after the current message.
 */
#ifndef LETTERBOX_ACTOR_ROUTER_H
#define LETTERBOX_ACTOR_ROUTER_H

#include <letterbox/actor/context.h>

LBX_BEGIN

/* Which routee gets a message. */
typedef enum lbx_pool_routing {
    LBX_POOL_ROUTING_ROUND_ROBIN = 0,
    /* the one with the fewest waiting, idle ones first */
    LBX_POOL_ROUTING_SMALLEST_MAILBOX,
    /* all of them, a copy each (the type's clone). A message that must be
     * destroyed and cannot be copied is a dead letter, LBX_LOSS_REFUSED; one
     * whose copy fails, LBX_LOSS_NO_MEMORY, and routees before that one have
     * theirs */
    LBX_POOL_ROUTING_BROADCAST,
    /* the first that is free: all share one mailbox */
    LBX_POOL_ROUTING_BALANCING,
} lbx_pool_routing;

typedef struct lbx_pool {
    size_t size_bytes; /* LBX_POOL_INIT sets it */
    lbx_pool_routing routing;
    uint32_t routees;
    /* of the routees. LBX_POOL_ROUTING_BALANCING: `mailbox` is the one that
     * they share, and must serve several consumers. Borrowed during the
     * spawn. */
    const lbx_props *props;
    lbx_strategy strategy; /* for the routees */
    /* the same, instead of `strategy`; copied. NULL: `strategy` */
    const lbx_supervisor *supervisor;
} lbx_pool;

#define LBX_POOL_INIT                                                          \
    {                                                                          \
        .size_bytes = sizeof(lbx_pool), .routees = 1,                          \
        .strategy = LBX_STRATEGY_INIT                                          \
    }

/*
 * lbx_system_spawn_pool() makes a pool under "/user".
 *
 * Returns    as lbx_system_spawn(); LBX_INVALID also for no routees;
 *            LBX_UNSUPPORTED for a shared mailbox that serves one consumer
 *            only.
 * Ownership  a ref owns nothing. The pool is copied, with the supervisor and
 *            the mailbox options of its props; what else they point to must
 *            outlive the actor.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_system_spawn_pool(lbx_system *system,
                                                      const lbx_pool *pool,
                                                      const char *name,
                                                      lbx_ref *ret);

/*
 * lbx_context_spawn_pool() is the same for a child of this actor.
 *
 * Returns    as lbx_system_spawn_pool(); LBX_CLOSED while the actor is ending.
 * Ownership  as lbx_system_spawn_pool().
 * Threads    the handler that was given the context.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_context_spawn_pool(lbx_context *context,
                                                       const lbx_pool *pool,
                                                       const char *name,
                                                       lbx_ref *ret);

LBX_END

#endif
