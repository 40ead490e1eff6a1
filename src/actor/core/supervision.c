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
 * SUPER-2  With a back-off, the second half of a restart waits: `stop` has been
 *          called, the cell is FAILED and `restarting`, and `pausing` until the
 *          CONTINUE that comes at `started_ns` or later.
 *
 * An actor whose `start` failed cannot be resumed, only restarted: a resume is
 * a restart then. Without memory to notify its parent an actor ends, which
 * needs none.
 *
 * Threads: the owner of the cell.
 */
#include "actor/core/system.h"

#include "base/fault.h"
#include "base/sized.h"
#include "base/time.h"

LBX__SIZED(supervisor_sized, lbx_supervisor, backoff_factor,
           LBX_SUPERVISOR_INIT);

lbx_status
lbx__supervision_read(const lbx_supervisor *given, lbx_fault *fault,
                      lbx_supervisor *ret)
{
    lbx_supervisor read;
    lbx_status status = lbx__sized_read(&read, given, &supervisor_sized, fault);

    if (status != LBX_OK)
        return status;
    if ((unsigned)read.strategy.directive > LBX_DIRECTIVE_DEAD_LETTER)
        return lbx__fault_set(fault, LBX_INVALID,
                              "supervisor: %d is no directive",
                              (int)read.strategy.directive);
    if (read.min_backoff_ns < 0 || read.max_backoff_ns < read.min_backoff_ns ||
        !(read.backoff_factor >= 1))
        return lbx__fault_set(fault, LBX_INVALID,
                              "supervisor: a back-off has 0 <= min_backoff_ns "
                              "<= max_backoff_ns and a backoff_factor of 1 or "
                              "more");
    *ret = read;
    return LBX_OK;
}

lbx_status
lbx_context_fail(lbx_context *context, lbx_status status, const char *format,
                 ...)
{
    lbx__facilities *facilities =
        context ? lbx__facilities_of(context->cell) : NULL;
    va_list arguments;

    if (!facilities || !format)
        return status; // without words
    lbx__reason_unref(facilities->said);
    va_start(arguments, format);
    facilities->said = lbx__reason_create(context->system->options.allocator,
                                          format, arguments);
    va_end(arguments);
    facilities->said_status = status;
    facilities->said_at = lbx__load(&context->cell->handled, relaxed);
    return status;
}

/* Keeps the status of a failure, and what the actor has said about it. */
static void
supervision_keep_failure(lbx__cell *cell, lbx_status status)
{
    lbx__facilities *facilities = lbx__facilities_of(cell);

    if (!facilities)
        return;
    lbx__reason_unref(facilities->reason);
    facilities->reason = NULL;
    facilities->failure = status;
    // What was said about an earlier message does not count. Relaxed: the owner
    // writes it.
    if (facilities->said_status == status &&
        facilities->said_at == lbx__load(&cell->handled, relaxed)) {
        facilities->reason = facilities->said;
        facilities->said = NULL;
    }
}

void
lbx__supervision_forget(lbx__cell *cell)
{
    if (!cell->facilities)
        return;
    cell->facilities->failure = LBX_OK;
    lbx__reason_unref(cell->facilities->reason);
    cell->facilities->reason = NULL;
}

void
lbx__supervision_note_end(lbx__cell *cell)
{
    lbx__facilities *facilities = cell->facilities;

    if (facilities && cell->phase == LBX__PHASE_FAILED &&
        facilities->failure != LBX_OK &&
        facilities->ended == LBX_TERMINATION_STOPPED)
        facilities->ended = LBX_TERMINATION_FAILED;
}

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
                 int64_t duration_ns, const void *message)
{
    lbx__node *node = lbx__node_pool_get(from->system->pool);

    if (!node)
        return false;
    node->sender = lbx__cell_ref(from);
    node->recipient = lbx__cell_ref(to);
    node->code = code;
    lbx__store(&node->number, number, relaxed); // published by the push
    node->deadline_ns = duration_ns;
    node->message = (void *)(uintptr_t)message;
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
                              NULL) &&
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

/* Tells the parent, which lives as long as its child (LIFE-1); false without
 * memory. */
static bool
supervision_report(lbx__cell *cell, lbx_status status, uint32_t failures)
{
    lbx__reason *reason = cell->facilities ? cell->facilities->reason : NULL;

    if (cell->parent &&
        supervision_send(cell, cell->parent, LBX__CODE_FAILURE, status,
                         (int64_t)failures, lbx__reason_ref(reason)))
        return true;
    if (cell->parent)
        lbx__reason_unref(reason);
    return false;
}

void
lbx__supervision_discard(lbx__node *failure)
{
    lbx__reason_unref(failure->message);
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
    supervision_keep_failure(cell, status);
    supervision_keep_failed(context, status);
    cell->phase = LBX__PHASE_FAILED;
    if (!cell->held)
        supervision_hold_children(cell, true);
    if (!supervision_report(cell, status, failures))
        lbx__cell_stop(cell, cell->life);
    return status;
}

static const lbx_supervisor *
supervision_supervisor(const lbx__cell *cell)
{
    static const lbx_supervisor usual = LBX_SUPERVISOR_INIT;

    return cell->facilities ? &cell->facilities->supervisor : &usual;
}

/* Sends a directive to a child; without memory the child is stopped. The child
 * reads the supervisor, which does not change while there are children. */
static void
supervision_direct(lbx__cell *cell, lbx__cell *child, lbx_directive directive,
                   int64_t delay_ns)
{
    if (directive != LBX_DIRECTIVE_STOP &&
        supervision_send(cell, child, LBX__CODE_DIRECTIVE, (int64_t)directive,
                         delay_ns, supervision_supervisor(cell)))
        return;
    // Relaxed: the stop orders it. A child that has failed says so itself.
    (void)lbx__or(&child->family, LBX__FAMILY_CONDEMNED, relaxed);
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
    const lbx_supervisor *supervisor = supervision_supervisor(cell);
    lbx_directive directive = supervisor->strategy.directive;

    if (cell->behaviour->supervise && cell->started)
        directive = cell->behaviour->supervise(context, cell->state, failure);
    else if (supervisor->decide)
        directive = supervisor->decide(supervisor->context, failure);
    return (unsigned)directive <= LBX_DIRECTIVE_DEAD_LETTER
               ? directive
               : LBX_DIRECTIVE_STOP;
}

/* Fails like the child, and with its words. */
static void
supervision_escalate(lbx_context *context, lbx_status status,
                     lbx__reason *reason)
{
    lbx__facilities *facilities =
        reason ? lbx__facilities_of(context->cell) : NULL;

    if (facilities) {
        lbx__reason_unref(facilities->said);
        facilities->said = lbx__reason_ref(reason);
        facilities->said_status = status;
        facilities->said_at = lbx__load(&context->cell->handled, relaxed);
    }
    (void)lbx__supervision_fail(context, status);
}

static void
supervision_decide(lbx_context *context, const lbx__node *message)
{
    lbx__cell *cell = context->cell;
    const lbx_strategy *strategy = &supervision_supervisor(cell)->strategy;
    lbx__cell *child = lbx__cell_of(message->sender);
    lbx_child_failure failure = {
        .child = {message->sender},
        .status = (lbx_status)lbx__peek(&message->number),
        .failures = (uint32_t)message->deadline_ns,
        .retry_ns = strategy->retry_ns,
        .text = lbx__reason_text(message->message),
    };
    lbx_directive directive;

    // Acquire: a child that has ended meanwhile needs no decision.
    if (lbx__load(&child->generation, acquire) !=
        lbx__generation_of(message->sender))
        return;
    failure.name = child->behaviour->name;
    directive = supervision_choose(context, &failure);
    if (directive == LBX_DIRECTIVE_ESCALATE && cell->parent) {
        supervision_escalate(context, failure.status, message->message);
        return;
    }
    if (directive == LBX_DIRECTIVE_ESCALATE)
        directive = LBX_DIRECTIVE_STOP; // "/user" has no parent
    if (strategy->all_for_one)
        supervision_direct_all(cell, directive, failure.retry_ns);
    else
        supervision_direct(cell, child, directive, failure.retry_ns);
}

void
lbx__supervision_decide(lbx_context *context, const lbx__node *message)
{
    supervision_decide(context, message);
    lbx__reason_unref(message->message);
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

/* How long the next start waits. */
static int64_t
supervision_backoff_ns(lbx__facilities *facilities,
                       const lbx_supervisor *supervisor, int64_t now_ns)
{
    double backoff_ns = (double)supervisor->min_backoff_ns;
    const double max_ns = (double)supervisor->max_backoff_ns;

    if (now_ns - facilities->started_ns > supervisor->max_backoff_ns)
        facilities->backoffs = 0;
    for (uint32_t i = 0; i < facilities->backoffs && backoff_ns < max_ns; i++)
        backoff_ns *= supervisor->backoff_factor;
    facilities->backoffs++;
    return backoff_ns < max_ns ? (int64_t)backoff_ns
                               : supervisor->max_backoff_ns;
}

/* SUPER-2, before a restart; without memory it does not wait. */
static void
supervision_back_off(lbx__cell *cell, const lbx_supervisor *supervisor)
{
    lbx__facilities *facilities =
        supervisor->min_backoff_ns > 0 ? lbx__facilities_of(cell) : NULL;

    if (facilities)
        facilities->pause_ns = supervision_backoff_ns(
            facilities, supervisor, lbx_clock_now(cell->system->options.clock));
}

bool
lbx__supervision_pauses(lbx__cell *cell)
{
    lbx__facilities *facilities = cell->facilities;
    const lbx_clock *clock = cell->system->options.clock;
    int64_t pause_ns = facilities ? facilities->pause_ns : 0;

    if (!facilities || facilities->pausing)
        return facilities != NULL;
    facilities->started_ns = lbx__time_add(lbx_clock_now(clock), pause_ns);
    facilities->pause_ns = 0;
    facilities->pausing =
        pause_ns > 0 &&
        lbx__timers_start_system(cell->system->timers, lbx__cell_ref(cell),
                                 LBX__CODE_CONTINUE, pause_ns, NULL) == LBX_OK;
    return facilities->pausing;
}

void
lbx__supervision_continue(lbx_context *context)
{
    lbx__cell *cell = context->cell;
    lbx__facilities *facilities = cell->facilities;

    if (!facilities || !facilities->pausing || !cell->restarting ||
        cell->phase != LBX__PHASE_FAILED ||
        lbx_clock_now(cell->system->options.clock) < facilities->started_ns)
        return; // another restart has come since
    facilities->pausing = false;
    lbx__life_start_again(context);
}

static void
supervision_restart(lbx_context *context, const lbx__node *message)
{
    lbx__cell *cell = context->cell;
    const lbx_supervisor *supervisor = message->message;

    if (cell->facilities)
        cell->facilities->retrying = false;
    if (!supervision_may_restart(cell, supervisor->strategy.max_restarts,
                                 supervisor->strategy.within_ns)) {
        if (cell->facilities && cell->facilities->failure != LBX_OK)
            cell->facilities->ended = LBX_TERMINATION_RESTART_LIMIT;
        lbx__life_begin_stop(context); // the failed message is a dead letter
        return;
    }
    supervision_drop_failed(cell, false);
    cell->phase = LBX__PHASE_FAILED; // all-for-one: also one that has not
    supervision_back_off(cell, supervisor);
    lbx__life_restart(context);
}

static void
supervision_resume(lbx_context *context, bool dead)
{
    lbx__cell *cell = context->cell;

    supervision_drop_failed(cell, dead);
    lbx__supervision_forget(cell);
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
                                 LBX__CODE_RETRY, delay_ns, NULL) != LBX_OK)
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
