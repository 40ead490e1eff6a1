/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools: an actor that passes its messages on to its children, the routees.
 *
 * A balancing pool passes nothing on: its mailbox is shared with its children,
 * and its runs only wake those that are idle (see run.c). A message that one
 * child does not take, another does; a child that ends leaves the mailbox to
 * the rest.
 *
 * Deployment settings may turn an actor into a pool, and take precedence over
 * what the code says of a pool. Routees are never pools themselves, even where
 * the pattern of a deployment matches them.
 *
 * Threads: spawning as in life.c; the rest in the pool's runs.
 */
#include "actor/core/actor_mailbox.h"
#include "actor/core/placement.h"
#include "actor/core/system.h"
#include "actor/select/mailbox_plan.h"
#include "base/alloc.h"
#include "base/fault.h"
#include "base/sized.h"
#include "base/type.h"
#include <string.h>

typedef struct router {
    lbx_pool_routing routing;
    uint32_t count;
    uint32_t next;
    lbx_ref *routees;
    const lbx_pool *pool; /* what start was given */
} router;

/* A pool, and the props that it points to. */
typedef struct router_pool {
    lbx_pool pool;
    lbx_props props;
    lbx_supervisor supervisor;           /* of the props, if they have one */
    lbx_mailbox_options mailbox_options; /* the same */
} router_pool;

LBX__SIZED(pool_sized, lbx_pool, strategy, LBX_POOL_INIT);

/* Copies a user's pool; INVALID. */
static lbx_status
router_read_pool(const lbx_pool *given, router_pool *ret, lbx_fault *fault)
{
    const lbx_props *props;
    lbx_props own;

    if (!given ||
        lbx__sized_read(&ret->pool, given, &pool_sized, fault) != LBX_OK)
        return LBX_INVALID;
    if (!ret->pool.props)
        return LBX_INVALID; // the defaults have no behaviour
    props = lbx__spawn_view_props(ret->pool.props, &own, fault);
    if (!props)
        return LBX_INVALID;
    ret->props = *props;
    ret->props.fault = fault;
    ret->pool.props = &ret->props;
    return lbx__spawn_are_props(&ret->props) ? LBX_OK : LBX_INVALID;
}

static router_pool *
router_copy_pool(lbx_system *system, const router_pool *from)
{
    router_pool *copy = lbx__alloc(system->options.allocator, sizeof(*copy),
                                   _Alignof(router_pool));

    if (copy) {
        *copy = *from;
        copy->pool.props = &copy->props;
    }
    return copy;
}

/* Routees are made later: what their props point to may be gone then. */
static lbx_status
router_keep_options(router_pool *pool)
{
    lbx_props *props = &pool->props;
    lbx_status status = LBX_OK;

    if (props->supervisor) {
        status = lbx__supervision_read(props->supervisor, props->fault,
                                       &pool->supervisor);
        props->supervisor = &pool->supervisor;
    }
    if (status == LBX_OK && props->mailbox_options) {
        status = lbx__mailbox_plan_read_options(
            props->mailbox_options, props->fault, &pool->mailbox_options);
        pool->mailbox_options.fault = NULL;
        props->mailbox_options = &pool->mailbox_options;
    }
    return status;
}

static lbx_status
router_start(lbx_context *context, void *state, void *argument)
{
    router *mine = state;
    const router_pool *given = argument;
    const lbx_pool *pool = &given->pool;
    lbx_system *system = context->cell->system;
    lbx_status status = LBX_OK;

    mine->routing = pool->routing;
    mine->pool = pool;
    mine->routees = lbx__zalloc(system->options.allocator,
                                pool->routees * sizeof(mine->routees[0]));
    if (!mine->routees)
        return LBX_NO_MEMORY;
    for (uint32_t i = 0; i < pool->routees && status == LBX_OK; i++) {
        status =
            lbx_context_spawn(context, pool->props, NULL, &mine->routees[i]);
        if (status == LBX_OK) {
            mine->count++;
            status = lbx_context_watch(context, mine->routees[i]);
        }
    }
    return status;
}

static void
router_stop(lbx_context *context, void *state)
{
    router *mine = state;
    const lbx_allocator *allocator = context->cell->system->options.allocator;

    if (mine->routees)
        lbx__free(allocator, mine->routees,
                  mine->pool->routees * sizeof(mine->routees[0]));
    mine->routees = NULL;
}

/* A routee has ended. */
static void
router_forget(lbx_context *context, router *mine, lbx_ref ended)
{
    for (uint32_t i = 0; i < mine->count; i++)
        if (lbx_ref_equal(mine->routees[i], ended)) {
            mine->routees[i] = mine->routees[--mine->count];
            break;
        }
    if (mine->count == 0)
        lbx_context_stop(context);
}

static uint64_t
router_load(lbx_ref routee)
{
    lbx__cell *cell = lbx__cell_of(routee.word);
    lbx__actor_mailbox *box = lbx__actor_mailbox_ref(cell, routee.word);
    uint64_t load;

    if (!box)
        return UINT64_MAX; // it is ending
    // Twice the depth, and one for a run under way. Relaxed: an estimate.
    load = 2 * lbx_mailbox_depth(box->mailbox) +
           (lbx__load(&cell->scheduled, relaxed) != 0);
    lbx__actor_mailbox_unref(box);
    return load;
}

static lbx_ref
router_least_loaded(router *mine)
{
    uint32_t first = mine->next++ % mine->count;
    lbx_ref best = mine->routees[first];
    uint64_t least = router_load(best);

    for (uint32_t i = 1; i < mine->count && least > 0; i++) {
        lbx_ref other = mine->routees[(first + i) % mine->count];
        uint64_t load = router_load(other);

        if (load < least) {
            least = load;
            best = other;
        }
    }
    return best;
}

/* Makes a dead letter of the current message. */
static void
router_drop(lbx_context *context, lbx_loss_reason reason)
{
    context->taken = true;
    lbx__dead_letter_publish_node(context->system, context->node, reason);
}

/* Sends a copy to each routee, and the message itself to the last. One that
 * cannot be copied is no failure of the pool, whose restart would stop the
 * routees. */
static void
router_broadcast(lbx_context *context, router *mine)
{
    lbx_envelope envelope = lbx__node_envelope(context->node);
    const lbx_type *type = envelope.type;
    void *message = envelope.message;
    bool ends = lbx__type_destroys(type) ||
                (!type && context->cell->system->options.destroy);

    if (ends && !lbx__type_clones(type) && mine->count > 1) {
        router_drop(context, LBX_LOSS_REFUSED);
        return;
    }
    for (uint32_t i = 0; i + 1 < mine->count; i++) {
        envelope.message = message;
        if (lbx__type_clones(type) &&
            lbx_type_clone(type, message, &envelope.message) != LBX_OK) {
            router_drop(context, LBX_LOSS_NO_MEMORY);
            return;
        }
        envelope.reserved[0] =
            LBX__REPORT_NONE; // only the last one has the duty
        lbx__ref_tell_as(mine->routees[i], &envelope);
    }
    lbx_context_forward(context, mine->routees[mine->count - 1]);
}

static lbx_status
router_receive(lbx_context *context, void *state, void *message)
{
    router *mine = state;

    if (lbx_context_type(context) == lbx_terminated_type()) {
        router_forget(context, mine, lbx_terminated_ref(message));
        return LBX_OK;
    }
    if (mine->count == 0)
        return LBX_OK; // it is about to end
    if (mine->routing == LBX_POOL_ROUTING_BROADCAST)
        router_broadcast(context, mine);
    else if (mine->routing == LBX_POOL_ROUTING_SMALLEST_MAILBOX)
        lbx_context_forward(context, router_least_loaded(mine));
    else
        lbx_context_forward(context, mine->routees[mine->next++ % mine->count]);
    return LBX_OK;
}

static const lbx_behaviour router_behaviour = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "pool",
    .state_bytes = sizeof(router),
    .start = router_start,
    .receive = router_receive,
    .stop = router_stop,
};

/* The deployment that makes a pool of a child; NULL: none does. */
static const lbx__deployment_entry *
router_find_deployed(lbx_system *system, const lbx__cell *parent,
                     const char *name)
{
    const lbx__deployment_entry *deploy;

    if (!lbx__deployment_has_routers(system->selection->deployment) ||
        lbx__router_pool(parent))
        return NULL;
    deploy = lbx__placement_deployed(system->selection, parent, name);
    return deploy && deploy->router ? deploy : NULL;
}

/* What deployment says of the pool is meant for its routees. */
static void
router_apply_deployment(const lbx__deployment_entry *deploy, router_pool *to)
{
    to->pool.routing = deploy->routing;
    to->pool.routees = deploy->routees;
    if (deploy->dispatcher)
        to->props.dispatcher = deploy->dispatcher;
    if (deploy->mailbox) {
        to->props.mailbox = deploy->mailbox;
        to->props.mailbox_options = NULL;
    }
}

static lbx_status
router_spawn_pool(lbx_system *system, lbx__cell *parent,
                  const router_pool *from, const char *name, lbx_ref *ret)
{
    const lbx_pool *pool = &from->pool;
    lbx_props props = LBX_PROPS_INIT;
    router_pool *copy;
    lbx_status status;

    if (pool->routees == 0)
        return lbx__fault_set(from->props.fault, LBX_INVALID,
                              "the pool has no routees: 1 or more are needed");
    if ((unsigned)pool->routing > LBX_POOL_ROUTING_BALANCING)
        return lbx__fault_set(from->props.fault, LBX_INVALID,
                              "routing is %d: it is one of LBX_POOL_ROUTING_*",
                              (int)pool->routing);
    copy = router_copy_pool(system, from);
    if (!copy)
        return LBX_NO_MEMORY;
    props.behaviour = &router_behaviour;
    props.argument = copy;
    props.strategy = pool->strategy;
    props.supervisor = pool->supervisor;
    if (pool->routing == LBX_POOL_ROUTING_BALANCING) {
        props.mailbox = from->props.mailbox;
        props.mailbox_options = from->props.mailbox_options;
        copy->props.mailbox = NULL; // they get their parent's
        copy->props.mailbox_options = NULL;
    }
    props.fault = from->props.fault;
    status = router_keep_options(copy);
    copy->props.fault = NULL; // it may be gone when they are made
    if (status == LBX_OK)
        status =
            lbx__spawn_pool(system, parent, &props, name,
                            pool->routing == LBX_POOL_ROUTING_BALANCING, ret);
    if (status != LBX_OK)
        lbx__free(system->options.allocator, copy, sizeof(*copy));
    return status;
}

/* Explains a failure to the user. Props may be shared by threads that spawn, so
 * that their fault is written after a failure only, and none of the library's
 * is left unwritten. */
static lbx_status
router_explain(lbx_status status, const char *what, const char *name,
               lbx_fault *fault, lbx_fault *to)
{
    if (status != LBX_OK && to) {
        (void)lbx__fault_complete(fault, status, what, name);
        *to = *fault;
    }
    return status;
}

static lbx_status
router_spawn_deployed(lbx_system *system, lbx__cell *parent,
                      const lbx_pool *pool, const char *name, lbx_ref *ret)
{
    const lbx__deployment_entry *deploy =
        router_find_deployed(system, parent, name);
    lbx_fault *to = pool && pool->props ? pool->props->fault : NULL;
    lbx_fault fault = {.status = LBX_OK};
    router_pool copy;
    lbx_status status = router_read_pool(pool, &copy, &fault);

    if (status == LBX_OK) {
        if (deploy)
            router_apply_deployment(deploy, &copy);
        status = router_spawn_pool(system, parent, &copy, name, ret);
    }
    return router_explain(status, "the pool", name, &fault, to);
}

/* A pool where the settings say so. */
static lbx_status
router_spawn_as_deployed(lbx_system *system, lbx__cell *parent,
                         const lbx__deployment_entry *deploy,
                         const lbx_props *props, const char *name, lbx_ref *ret)
{
    router_pool copy = {.pool = LBX_POOL_INIT, .props = *props};

    copy.pool.props = &copy.props;
    router_apply_deployment(deploy, &copy);
    return router_spawn_pool(system, parent, &copy, name, ret);
}

static lbx_status
router_spawn_one(lbx_system *system, lbx__cell *parent, const lbx_props *props,
                 const char *name, lbx_ref *ret)
{
    const lbx__deployment_entry *deploy =
        router_find_deployed(system, parent, name);

    return deploy && props && lbx__spawn_are_props(props)
               ? router_spawn_as_deployed(system, parent, deploy, props, name,
                                          ret)
               : lbx__spawn_actor(system, parent, props, name, ret);
}

lbx_status
lbx__router_spawn(lbx_system *system, lbx__cell *parent, const lbx_props *given,
                  const char *name, lbx_ref *ret)
{
    lbx_fault *to = given ? given->fault : NULL;
    const lbx_props *props;
    lbx_fault fault;
    lbx_props viewed;
    lbx_props own;
    lbx_status status;

    props = lbx__spawn_view_props(given, &viewed, to);
    if (!props || !to)
        return router_spawn_one(system, parent, props, name, ret);
    lbx__fault_clear(&fault);
    fault.status = LBX_OK;
    own = *props;
    own.fault = &fault;
    status = router_spawn_one(system, parent, &own, name, ret);
    return router_explain(status, "the actor", name, &fault, to);
}

void
lbx__router_end(lbx__cell *cell)
{
    if (cell->behaviour == &router_behaviour)
        lbx__free(cell->system->options.allocator, cell->argument,
                  sizeof(router_pool));
}

const lbx_pool *
lbx__router_pool(const lbx__cell *cell)
{
    const router_pool *pool = cell->argument;

    return cell->behaviour == &router_behaviour ? &pool->pool : NULL;
}

lbx_status
lbx_system_spawn_pool(lbx_system *system, const lbx_pool *pool,
                      const char *name, lbx_ref *ret)
{
    if (!system)
        return LBX_INVALID;
    if (lbx__system_is_stopping(system))
        return lbx__fault_set(pool && pool->props ? pool->props->fault : NULL,
                              LBX_CLOSED, "the system is being terminated");
    return router_spawn_deployed(system, system->user, pool, name, ret);
}

lbx_status
lbx_context_spawn_pool(lbx_context *context, const lbx_pool *pool,
                       const char *name, lbx_ref *ret)
{
    if (!context)
        return LBX_INVALID;
    return router_spawn_deployed(context->cell->system, context->cell, pool,
                                 name, ret);
}
