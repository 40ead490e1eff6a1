/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run: what a worker does with a cell.
 *
 * The calling thread owns the cell (CELL-1). A run handles system messages,
 * then messages, up to the throughput or the deadline of the dispatcher, and
 * system messages again after each of them: messages do not starve a stop, a
 * watch or a decision of the supervisor.
 *
 * A run that has sent FLOOD messages ends too, and the next one waits until the
 * receivers have run: otherwise actors that make work for others and send
 * themselves a message to go on would fill the memory before the others begin.
 *
 * A cell whose actor has ended still runs when something arrives for it: what
 * was sent to an earlier life becomes dead letters (CELL-3).
 */
#include "actor/core/run.h"

#include "actor/core/actor_mailbox.h"
#include "actor/core/dispatchers.h"
#include "actor/core/outbox.h"
#include "actor/core/system.h"
#include "base/park.h"
#include <assert.h>

enum {
    FLOOD = 512
};

LBX__LOCAL(lbx_context *, lbx__run_current);

/* A system message for a life that is over. */
static void
run_discard_system_node(lbx_system *system, lbx__node *node)
{
    if (node->code == LBX__CODE_WATCH)
        lbx__watch_notify_gone(system, node);
    else if (node->code == LBX__CODE_OUTGOING)
        lbx__outbox_bury(node);
    else if (node->code == LBX__CODE_PIPE)
        lbx__pipe_bury(node);
    else {
        if (node->code == LBX__CODE_FAILURE)
            lbx__supervision_discard(node);
        lbx__node_pool_put(system->pool, node);
    }
}

static void
run_handle_system_node(lbx_context *context, lbx__node *node)
{
    lbx__cell *cell = context->cell;

    if (cell->phase == LBX__PHASE_FREE || cell->phase >= LBX__PHASE_ENDED ||
        node->recipient != lbx__cell_ref(cell)) {
        run_discard_system_node(cell->system, node);
        return;
    }
    switch (node->code) {
    case LBX__CODE_WATCH:
        lbx__watch_add(cell, node);
        return; // the node is kept
    case LBX__CODE_UNWATCH:
        lbx__watch_remove(cell, node);
        break;
    case LBX__CODE_FAILURE:
        lbx__supervision_decide(context, node);
        break;
    case LBX__CODE_DIRECTIVE:
        lbx__supervision_obey(context, node);
        break;
    case LBX__CODE_RETRY:
        lbx__supervision_retry(context);
        break;
    case LBX__CODE_CONTINUE:
        lbx__supervision_continue(context);
        break;
    case LBX__CODE_SUSPEND:
        if (cell->suspensions < UINT8_MAX)
            cell->suspensions++;
        break;
    case LBX__CODE_RESUME:
        if (cell->suspensions > 0)
            cell->suspensions--;
        break;
    case LBX__CODE_HOLD:
    case LBX__CODE_RELEASE:
        lbx__supervision_hold(cell, node->code == LBX__CODE_HOLD);
        break;
    case LBX__CODE_OUTGOING:
        lbx__outbox_poll(cell, node);
        return; // the node is not from the pool
    case LBX__CODE_OUTBOX_LATE:
        lbx__outbox_poll_all(cell);
        break;
    case LBX__CODE_PIPE:
        lbx__pipe_poll(cell, node);
        return; // the node is not from the pool
    case LBX__CODE_PIPE_LATE:
        lbx__pipe_poll_late(cell);
        break;
    case LBX__CODE_END_IDLE:
        lbx__dispatchers_end_idle(cell->system->dispatchers);
        break;
    default:
        break;
    }
    lbx__node_pool_put(cell->system->pool, node);
}

static inline bool
run_must_stop(const lbx_context *context)
{
    lbx__cell *cell = context->cell;

    // Relaxed: CELL-2 covers what comes later.
    return cell->phase != LBX__PHASE_FREE &&
           cell->phase < LBX__PHASE_STOPPING &&
           lbx__load(&cell->stop, relaxed) == context->life;
}

/* Whether there is work besides messages. Relaxed: CELL-2 covers what comes
 * later. */
static inline bool
run_has_system(const lbx_context *context)
{
    return lbx__load(&context->cell->system_stack, relaxed) ||
           lbx__load(&context->cell->orphans, relaxed) ||
           run_must_stop(context);
}

/* Handles everything but messages. */
static void
run_handle_system(lbx_context *context)
{
    lbx__cell *cell = context->cell;

    for (;;) {
        lbx__cell *orphan = lbx__cell_take_orphans(cell);
        lbx__node *node = lbx__cell_take_system(cell);
        bool stop = run_must_stop(context);

        if (!orphan && !node && !stop)
            return;
        while (node) {
            lbx__node *next = lbx__peek(&node->next);

            run_handle_system_node(context, node);
            node = next;
        }
        while (orphan) {
            lbx__cell *next = orphan->next_orphan;

            lbx__life_release_child(context, orphan);
            orphan = next;
        }
        if (run_must_stop(context))
            lbx__life_begin_stop(context);
    }
}

/* The handler of the first matching row. */
static lbx_actor_handler *
run_find_match(const lbx_behaviour *behaviour, const lbx__node *node)
{
    for (size_t i = 0; i < behaviour->match_count; i++) {
        const lbx_match *match = &behaviour->matches[i];

        if (match->type && !lbx_type_is_a(node->type, *match->type))
            continue;
        if (!match->accepts || match->accepts(node->message))
            return match->receive;
    }
    return behaviour->receive;
}

static lbx_actor_handler *
run_find_receive(const lbx__cell *cell, const lbx__node *node)
{
    const lbx__facilities *facilities = cell->facilities;

    if (facilities && facilities->receives.count > 0)
        return facilities->receives.items[facilities->receives.count - 1];
    return run_find_match(cell->behaviour, node);
}

/* Destroys the current message, unless it was taken. */
static void
run_end_current(lbx_context *context)
{
    lbx__node *node = context->node;

    if (!context->taken && (node->type || context->system->options.destroy))
        lbx__message_destroy(context->system, node->type, node->message);
    context->node = NULL;
}

/* Returns the status of the handler; UNSUPPORTED without one. */
static inline lbx_status
run_deliver(lbx_context *context, lbx__node *node, lbx_actor_handler *receive)
{
    lbx__cell *cell = context->cell;
    lbx_status status;

    if (!receive) {
        lbx__dead_letter_publish_node(cell->system, node, LBX_LOSS_UNHANDLED);
        return LBX_UNSUPPORTED;
    }
    context->node = node;
    context->handled++;
    context->taken = false;
    context->stashed = false;
    // Relaxed: a statistic that the owner writes.
    lbx__store(&cell->handled, lbx__load(&cell->handled, relaxed) + 1, relaxed);
    status = receive(context, cell->state, node->message);
    if (status != LBX_OK)
        status = lbx__supervision_fail(context, status);
    run_end_current(context);
    return status;
}

/* The same, and reports the status to the sender; unless the message was
 * stashed, passed on, or kept for the supervisor's decision. */
static void
run_deliver_reporting(lbx_context *context, lbx__node *node)
{
    const lbx_status status =
        run_deliver(context, node, run_find_receive(context->cell, node));

    if (node->code == LBX__REPORT_DUE)
        lbx__ask_report(context->system, node->sender, status);
}

static bool
run_has_expired(const lbx__cell *cell, const lbx__node *node)
{
    return node->deadline_ns != 0 && node->deadline_ns != LBX_FOREVER &&
           lbx_clock_now(cell->system->options.clock) >= node->deadline_ns;
}

/* Whether the actor still awaits a notice of an end, or a result. */
static bool
run_expects(lbx__cell *cell, lbx__node *node)
{
    if (node->type == lbx_pipe_result_type())
        return lbx__pipe_expects(cell, node);
    return lbx__watch_expects(cell, node);
}

static void
run_handle(lbx_context *context, lbx__node *node)
{
    lbx__cell *cell = context->cell;

    if (node->recipient != lbx__cell_ref(cell))
        lbx__dead_letter_publish_node(cell->system, node,
                                      LBX_LOSS_NO_ACTOR); // CELL-3
    else if (node->message == (const void *)&lbx__message_poison)
        lbx__life_poison(context);
    else if (node->notice && !run_expects(cell, node))
        return; // no longer awaited
    else if (run_has_expired(cell, node))
        lbx__dead_letter_publish_node(cell->system, node, LBX_LOSS_EXPIRED);
    else if (node->code == LBX__REPORT_DUE)
        run_deliver_reporting(context, node);
    else
        (void)run_deliver(context, node, run_find_receive(cell, node));
}

/* The next message: what was unstashed, then that of the inbox, if it is
 * linked, then that of the actor mailbox, which is copied into `copy`.
 * *ret_ours: the caller returns it to the pool. */
static lbx__node *
run_next_message(lbx__cell *cell, bool linked, lbx__node *copy, bool *ret_ours)
{
    lbx__node *node = NULL;

    if (cell->facilities)
        node = lbx__stash_next(cell);
    *ret_ours = node != NULL;
    if (!node && linked)
        node = lbx__cell_pop(cell);
    if (!node && cell->role != LBX__ROLE_BALANCER &&
        lbx__actor_mailbox_pop(cell, copy))
        node = copy;
    return node;
}

static inline bool
run_has_more(lbx__cell *cell)
{
    return (cell->facilities && lbx__stash_has_next(cell->facilities)) ||
           lbx__cell_has_messages(cell) ||
           (lbx__load(&cell->box, relaxed) && // the owner writes it
            cell->role != LBX__ROLE_BALANCER &&
            lbx__actor_mailbox_has_messages(cell));
}

/* Whether the actor handles messages at the moment. */
static bool
run_may_handle(const lbx__cell *cell)
{
    return cell->phase == LBX__PHASE_ALIVE && cell->suspensions == 0 &&
           !cell->held && !lbx__outbox_waits(cell);
}

/* The slow path, for one message of any sort; returns how many. */
static int64_t
run_handle_next(lbx_context *context)
{
    bool linked = lbx__cell_is_linked(context->cell);
    bool ours;
    lbx__node copy;
    lbx__node *node;

    // System messages that its sender sent before are handled before it; later
    // ones could come for ever.
    if (run_has_system(context))
        run_handle_system(context);
    if (!run_may_handle(context->cell))
        return 0;
    node = run_next_message(context->cell, linked, &copy, &ours);
    if (!node)
        return 0;
    run_handle(context, node);
    if (ours)
        lbx__node_pool_put(context->system->pool, node);
    return 1;
}

/* Whether messages are not handled and should not wake the actor. One that has
 * ended is not deaf: it turns them into dead letters. Nor is a promise, even
 * when suspended: an operation waits for it. */
static bool
run_is_deaf(const lbx__cell *cell)
{
    if (cell->role == LBX__ROLE_PROMISE)
        return false;
    return cell->phase == LBX__PHASE_FAILED ||
           cell->phase == LBX__PHASE_STOPPING ||
           (cell->phase == LBX__PHASE_ALIVE && !run_may_handle(cell));
}

/* Whether the actor is alive and has nothing but messages to handle. */
static inline bool
run_is_ordinary(const lbx_context *context)
{
    const lbx__cell *cell = context->cell;

    return !cell->facilities && cell->phase == LBX__PHASE_ALIVE &&
           cell->suspensions == 0 && !cell->held && !run_has_system(context);
}

/* The fast path: plain messages, up to `max_count` and to the first that is not
 * plain, for an actor without facilities. Returns how many. */
static int64_t
run_handle_plain(lbx_context *context, int64_t max_count)
{
    lbx__cell *cell = context->cell;
    const lbx_behaviour *behaviour = cell->behaviour;
    int64_t count = 0;

    while (count < max_count && context->sent < FLOOD) {
        // Relaxed and acquire: as in lbx__cell_pop(). System messages that its
        // sender sent before are visible, too.
        lbx__node *head = lbx__load(&cell->head, relaxed);
        lbx__node *node = lbx__load(&head->next, acquire);

        if (!node || !node->plain || node->recipient != context->self ||
            !run_is_ordinary(context))
            break;
        lbx__store(&cell->head, node, relaxed);
        __builtin_prefetch(lbx__peek(&node->next));
        if (!lbx__node_cache_put(context->cache, head))
            lbx__node_pool_put(context->system->pool, head);
        (void)run_deliver(context, node,
                          behaviour->match_count == 0
                              ? behaviour->receive
                              : run_find_match(behaviour, node));
        count++;
    }
    return count;
}

/* Handles messages; returns whether there may be more. */
static bool
run_handle_messages(lbx_context *context)
{
    lbx__cell *cell = context->cell;
    const lbx_clock *clock = context->system->options.clock;
    const lbx__dispatcher_options *options =
        lbx__dispatcher_options_of(lbx__peek(&cell->runnable.dispatcher));
    bool timed = options->deadline_ns > 0;
    int64_t end_ns =
        timed ? lbx_deadline_after(clock, options->deadline_ns) : 0;
    int64_t left = options->throughput;

    for (;;) {
        int64_t done = 0;

        // Relaxed: the owner writes it.
        if (!lbx__load(&cell->box, relaxed)) {
            done = run_handle_plain(context, timed ? 1 : left);
            if (run_is_ordinary(context) && !lbx__cell_has_messages(cell))
                return false;
        }
        if (done == 0)
            done = run_handle_next(context);
        left -= done;
        if (run_has_system(context))
            run_handle_system(context);
        if (!run_may_handle(cell))
            return false;
        if (done == 0 || left <= 0 || context->sent >= FLOOD ||
            (timed && lbx_clock_now(clock) >= end_ns))
            return run_has_more(cell);
    }
}

/* For a balancer: wakes its children for what is in their mailbox. Those at
 * work find it when they are done. It wakes all of them, since an idle one may
 * be deaf: failed, ending, or waiting with its outbox. */
static void
run_wake_routees(lbx__cell *cell)
{
    // Acquire: what was sent before is visible. seq_cst: a later sender makes
    // it 2 again, which causes another run (CELL-1).
    (void)lbx__exchange(&cell->scheduled, 1u, seq_cst);
    if (!lbx__actor_mailbox_has_messages(cell))
        return;
    lbx__lock_take(&cell->lock);
    for (lbx__cell *child = cell->children; child; child = child->next_sibling)
        lbx__cell_wake_always(child);
    lbx__lock_give(&cell->lock);
}

/* The same, with the receive timeout around it. */
static bool
run_handle_timed(lbx_context *context)
{
    bool more;

    if (context->cell->role == LBX__ROLE_BALANCER)
        run_wake_routees(context->cell);
    if (context->cell->facilities && run_has_more(context->cell))
        lbx__timeout_begin_run(context->cell);
    more = run_handle_messages(context);
    if (!more && context->cell->facilities &&
        context->cell->phase == LBX__PHASE_ALIVE)
        lbx__timeout_end_run(context->cell);
    return more;
}

/* Turns what came for earlier lives into dead letters. */
static void
run_discard_inbox(lbx__cell *cell)
{
    lbx__node *node;

    while ((node = lbx__cell_pop(cell)))
        lbx__dead_letter_publish_node(cell->system, node, LBX_LOSS_NO_ACTOR);
}

/* Returns whether there is more to do. */
static bool
run_once(lbx_context *context)
{
    lbx__cell *cell = context->cell;

    if (run_has_system(context))
        run_handle_system(context);
    if (cell->phase == LBX__PHASE_NEW) {
        lbx_status status = lbx__life_start(context);

        if (status != LBX_OK)
            (void)lbx__supervision_fail(context, status);
        run_handle_system(context);
    }
    if (cell->phase == LBX__PHASE_ALIVE && cell->role == LBX__ROLE_PROMISE)
        lbx__ask_answer(context);
    else if (run_may_handle(cell))
        return run_handle_timed(context);
    if (cell->phase == LBX__PHASE_FREE || cell->phase == LBX__PHASE_ENDED)
        run_discard_inbox(cell);
    return false;
}

uint64_t
lbx__run_cell(lbx__runnable *runnable)
{
    lbx__cell *cell = lbx__cell_from(runnable);
    lbx_context context = {
        .cell = cell,
        .system = cell->system,
        .self = lbx__cell_ref(cell),
        .life = cell->life,
        .cache = lbx__node_pool_cache(cell->system->pool),
    };
    lbx_context *outer = lbx__context_current();
    bool more;

    assert(lbx__peek(&cell->scheduled) != 0); // CELL-1
    lbx__local(lbx__run_current) = &context;
    more = run_once(&context);
    lbx__local(lbx__run_current) = outer;
    if (more)
        lbx__dispatcher_requeue(lbx__peek(&cell->runnable.dispatcher), runnable,
                                context.sent >= FLOOD);
    else
        lbx__cell_release(cell, run_is_deaf(cell),
                          cell->phase == LBX__PHASE_STOPPING);
    return context.handled;
}
