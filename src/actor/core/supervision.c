/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Supervision: what happens to an actor whose handler failed.
 *
 * The actor handles no messages from then on (FAILED) and sends its parent a
 * system message; the parent decides and sends a directive back; the actor
 * obeys. Parent and child never write each other's state.
 *
 * While an actor has failed, its descendants handle no messages either: they
 * may be about to be stopped. Each of them is `held`. This is passed down by
 * system messages and not counted, so that it can be sent twice. An actor that
 * is spawned meanwhile is held from the start.
 *
 * SUPER-1  The children of a cell that has failed or is held are held, or a
 *          HOLD is on its way to them; the children of another cell are not, or
 *          a RELEASE is on its way.
 *
 * An actor whose `start` failed cannot be resumed, only restarted: a resume is
 * a restart then. Without memory to notify its parent an actor ends, which
 * needs none.
 *
 * Threads: the owner of the cell.
 */
#include "actor/core/system.h"

/* Keeps the message that failed, and its status, for a retry or a dead
 * letter. */
static void
supervision_keep_failed(lbx_context *context, lbx_status status)
{
    lbx__cell *cell = context->cell;
    lbx__facilities *facilities;
    lbx__node *copy;

    if (!context->node || context->taken)
        return;
    facilities = lbx__facilities_of(cell);
    copy = facilities ? lbx__node_pool_get(cell->system->pool) : NULL;
    if (!copy)
        return; // it is destroyed like a handled one
    lbx_envelope envelope = lbx__node_envelope(context->node);

    lbx__node_fill(copy, &envelope, context->node->recipient);
    lbx__init(&copy->number, (int64_t)status);
    context->node->code = LBX__REPORT_NONE; // passed on
    facilities->failed = copy;
    context->taken = true;
}

/* A system message from one cell to another; false without memory. */
static bool
supervision_send(lbx__cell *from, lbx__cell *to, uint8_t code, int64_t number,
                 int64_t duration_ns, int32_t limit)
{
    lbx__node *node = lbx__node_pool_get(from->system->pool);

    if (!node)
        return false;
    node->sender = lbx__cell_ref(from);
    node->recipient = lbx__cell_ref(to);
    node->code = code;
    lbx__store(&node->number, number, relaxed); // published by the push
    node->deadline_ns = duration_ns;
    node->priority = limit;
    node->message = NULL;
    lbx__cell_push_system(to, node);
    return true;
}

/* SUPER-1, for the children. Without memory, a child that should go on is
 * stopped instead, and one that should be held is not. */
static void
supervision_hold_children(lbx__cell *cell, bool held)
{
    lbx__lock_take(&cell->lock);
    for (lbx__cell *child = cell->children; child; child = child->next_sibling)
        if (!supervision_send(cell, child,
                              held ? LBX__CODE_HOLD : LBX__CODE_RELEASE, 0, 0,
                              0) &&
            !held)
            lbx__cell_stop(child, child->life);
    lbx__lock_give(&cell->lock);
}

void
lbx__supervision_hold(lbx__cell *cell, bool held)
{
    if (cell->held == held)
        return;
    cell->held = held;
    if (cell->phase < LBX__PHASE_FAILED)
        supervision_hold_children(cell, held);
}

lbx_status
lbx__supervision_fail(lbx_context *context, lbx_status status)
{
    lbx__cell *cell = context->cell;
    const lbx_behaviour *behaviour = cell->behaviour;
    lbx_system *system = cell->system;
    // Relaxed: a number that the owner writes.
    uint32_t failures = lbx__load(&cell->failures, relaxed) + 1;

    lbx__store(&cell->failures, failures, relaxed);
    (void)lbx__add(&system->failures, 1, relaxed); // a number
    if (behaviour->handle_error && context->node &&
        behaviour->handle_error(context, cell->state, status,
                                context->node->message) == LBX_OK)
        return LBX_OK;
    if (cell->phase != LBX__PHASE_ALIVE)
        return status; // it is ending anyway
    supervision_keep_failed(context, status);
    cell->phase = LBX__PHASE_FAILED;
    if (!cell->held)
        supervision_hold_children(cell, true);
    // The parent lives as long as its child (LIFE-1).
    if (!cell->parent ||
        !supervision_send(cell, cell->parent, LBX__CODE_FAILURE, status,
                          (int64_t)failures, 0))
        lbx__cell_stop(cell, cell->life);
    return status;
}

static const lbx_strategy *
supervision_strategy(const lbx__cell *cell)
{
    static const lbx_strategy usual = LBX_STRATEGY_INIT;

    return cell->facilities ? &cell->facilities->strategy : &usual;
}

/* Sends a directive to a child; without memory the child is stopped. */
static void
supervision_direct(lbx__cell *cell, lbx__cell *child, lbx_directive directive,
                   int64_t delay_ns)
{
    const lbx_strategy *strategy = supervision_strategy(cell);
    int64_t duration_ns =
        directive == LBX_DIRECTIVE_RETRY ? delay_ns : strategy->within_ns;

    if (directive == LBX_DIRECTIVE_STOP ||
        !supervision_send(cell, child, LBX__CODE_DIRECTIVE, (int64_t)directive,
                          duration_ns, strategy->max_restarts))
        lbx__cell_stop(child, child->life);
}

/* The same for all children. */
static void
supervision_direct_all(lbx__cell *cell, lbx_directive directive,
                       int64_t delay_ns)
{
    lbx__lock_take(&cell->lock);
    for (lbx__cell *child = cell->children; child; child = child->next_sibling)
        supervision_direct(cell, child, directive, delay_ns);
    lbx__lock_give(&cell->lock);
}

static lbx_directive
supervision_choose(lbx_context *context, lbx_child_failure *failure)
{
    lbx__cell *cell = context->cell;
    lbx_directive directive = supervision_strategy(cell)->directive;

    if (cell->behaviour->supervise && cell->started)
        directive = cell->behaviour->supervise(context, cell->state, failure);
    return (unsigned)directive <= LBX_DIRECTIVE_DEAD_LETTER
               ? directive
               : LBX_DIRECTIVE_STOP;
}

void
lbx__supervision_decide(lbx_context *context, const lbx__node *message)
{
    lbx__cell *cell = context->cell;
    const lbx_strategy *strategy = supervision_strategy(cell);
    lbx__cell *child = lbx__cell_of(message->sender);
    lbx_child_failure failure = {
        .child = {message->sender},
        .status = (lbx_status)lbx__peek(&message->number),
        .failures = (uint32_t)message->deadline_ns,
        .retry_ns = strategy->retry_ns,
    };
    lbx_directive directive;

    // Acquire: a child that has ended meanwhile needs no decision.
    if (lbx__load(&child->generation, acquire) !=
        lbx__generation_of(message->sender))
        return;
    failure.name = child->behaviour->name;
    directive = supervision_choose(context, &failure);
    if (directive == LBX_DIRECTIVE_ESCALATE && cell->parent) {
        (void)lbx__supervision_fail(context, failure.status);
        return;
    }
    if (directive == LBX_DIRECTIVE_ESCALATE)
        directive = LBX_DIRECTIVE_STOP; // "/user" has no parent
    if (strategy->all_for_one)
        supervision_direct_all(cell, directive, failure.retry_ns);
    else
        supervision_direct(cell, child, directive, failure.retry_ns);
}

/* Destroys the failed message, or makes a dead letter of it. */
static void
supervision_drop_failed(lbx__cell *cell, bool dead)
{
    lbx__node *node = cell->facilities ? cell->facilities->failed : NULL;

    if (!node)
        return;
    cell->facilities->failed = NULL;
    if (dead) {
        lbx__dead_letter_publish_node(cell->system, node, LBX_LOSS_FAILED);
    } else {
        lbx__message_destroy(cell->system, node->type, node->message);
        if (node->code == LBX__REPORT_DUE)
            lbx__ask_report(cell->system, node->sender,
                            (lbx_status)lbx__peek(&node->number));
    }
    lbx__node_pool_put(cell->system->pool, node);
}

/* Counts a restart; false when there have been too many. */
static bool
supervision_may_restart(lbx__cell *cell, int32_t max_restarts,
                        int64_t within_ns)
{
    int64_t now = lbx_clock_now(cell->system->options.clock);
    lbx__facilities *facilities;

    if (max_restarts < 0)
        return true;
    facilities = lbx__facilities_of(cell);
    if (!facilities)
        return false;
    if (facilities->restarts == 0 ||
        (within_ns >= 0 && now - facilities->window_ns > within_ns)) {
        facilities->window_ns = now;
        facilities->restarts = 0;
    }
    return ++facilities->restarts <= max_restarts;
}

static void
supervision_restart(lbx_context *context, const lbx__node *message)
{
    lbx__cell *cell = context->cell;

    if (cell->facilities)
        cell->facilities->retrying = false;
    if (!supervision_may_restart(cell, message->priority,
                                 message->deadline_ns)) {
        lbx__life_begin_stop(context); // the failed message is a dead letter
        return;
    }
    supervision_drop_failed(cell, false);
    cell->phase = LBX__PHASE_FAILED; // all-for-one: also one that has not
    lbx__life_restart(context);
}

static void
supervision_resume(lbx_context *context, bool dead)
{
    lbx__cell *cell = context->cell;

    supervision_drop_failed(cell, dead);
    cell->phase = LBX__PHASE_ALIVE;
    if (!cell->held)
        supervision_hold_children(cell, false);
    // Children whose failure was escalated wait for a directive.
    supervision_direct_all(cell, LBX_DIRECTIVE_RESUME, 0);
}

void
lbx__supervision_retry(lbx_context *context)
{
    lbx__cell *cell = context->cell;
    lbx__facilities *facilities = cell->facilities;
    lbx__node *node = facilities ? facilities->failed : NULL;

    if (cell->phase != LBX__PHASE_FAILED || cell->restarting || !facilities ||
        !facilities->retrying)
        return; // another directive came first
    facilities->retrying = false;
    if (node) {
        facilities->failed = NULL;
        facilities->again = node;
    }
    if (cell->half_started)
        lbx__life_restart(context);
    else
        supervision_resume(context, false);
}

/* Handles the failed message again; at once without memory for a timer. */
static void
supervision_retry_later(lbx_context *context, int64_t delay_ns)
{
    lbx__cell *cell = context->cell;
    lbx__facilities *facilities = lbx__facilities_of(cell);

    if (!facilities) {
        // The message was not kept either; a `start` is retried at once.
        if (cell->half_started)
            lbx__life_restart(context);
        else
            supervision_resume(context, false);
        return;
    }
    facilities->retrying = true;
    if (delay_ns <= 0 ||
        lbx__timers_start_system(cell->system->timers, lbx__cell_ref(cell),
                                 LBX__CODE_RETRY, delay_ns) != LBX_OK)
        lbx__supervision_retry(context);
}

void
lbx__supervision_obey(lbx_context *context, const lbx__node *message)
{
    lbx__cell *cell = context->cell;
    lbx_directive directive = (lbx_directive)lbx__peek(&message->number);

    if (cell->restarting)
        return; // a restart is under way
    if (directive == LBX_DIRECTIVE_RESTART &&
        cell->phase <= LBX__PHASE_FAILED) {
        supervision_restart(context, message);
        return;
    }
    if (cell->phase != LBX__PHASE_FAILED ||
        (cell->facilities && cell->facilities->retrying))
        return;
    if (directive == LBX_DIRECTIVE_RETRY)
        supervision_retry_later(context, message->deadline_ns);
    else if (cell->half_started)
        supervision_restart(context, message);
    else
        supervision_resume(context, directive == LBX_DIRECTIVE_DEAD_LETTER);
}
