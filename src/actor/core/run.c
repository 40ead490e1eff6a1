/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A turn.
 *
 * The calling thread owns the cell (K1). Each turn handles what the system has
 * to say, then messages, up to the dispatcher's throughput or deadline, and
 * what the system has to say again after each of them: nothing starves
 * a stop, a watch or a decision of the supervisor (A6).
 *
 * A turn that has sent FLOOD messages ends too, and the next one waits until
 * those who got them have run: else actors that make work for others and tell
 * themselves to go on would fill the memory before these begin.
 *
 * A cell whose actor has ended still gets turns when something arrives for it:
 * what was sent to an earlier life becomes dead letters (K3).
 */
#include "actor/core/run.h"

#include "actor/core/actor_mailbox.h"
#include "actor/core/outbox.h"
#include "actor/core/system.h"
#include "actor/select/selection.h"
#include "base/park.h"
#include <assert.h>

enum {
    FLOOD = 512
};

LBX__LOCAL(lbx_context *, lbx__run_current);

/* A system message for a life that is over. */
static void
bury_system(lbx_system *system, lbx__node *node)
{
    if (node->code == LBX__CODE_WATCH)
        lbx__watch_notify(system, node);
    else if (node->code == LBX__CODE_OUTGOING)
        lbx__outbox_bury(node);
    else
        lbx__node_pool_put(system->pool, node);
}

static void
handle_system_node(lbx_context *context, lbx__node *node)
{
    lbx__cell *cell = context->cell;

    if (cell->phase == LBX__PHASE_FREE || cell->phase >= LBX__PHASE_ENDED ||
        node->recipient != lbx__cell_ref(cell)) {
        bury_system(cell->system, node);
        return;
    }
    switch (node->code) {
    case LBX__CODE_WATCH:
        lbx__watch_add(cell, node);
        return; // it is kept
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
        return; // it is no pool's
    case LBX__CODE_OUTBOX_LATE:
        lbx__outbox_poll_all(cell);
        break;
    case LBX__CODE_END_IDLE:
        lbx__dispatchers_end_idle(cell->system->selection->dispatchers);
        break;
    default:
        break;
    }
    lbx__node_pool_put(cell->system->pool, node);
}

static inline bool
is_told_to_stop(const lbx_context *context)
{
    lbx__cell *cell = context->cell;

    // Relaxed: K2 covers what comes later.
    return cell->phase != LBX__PHASE_FREE &&
           cell->phase < LBX__PHASE_STOPPING &&
           lbx__load(&cell->stop, relaxed) == context->life;
}

/* Is there anything but messages? Relaxed: K2 covers what comes later. */
static inline bool
has_system(const lbx_context *context)
{
    return lbx__load(&context->cell->system_stack, relaxed) ||
           lbx__load(&context->cell->orphans, relaxed) ||
           is_told_to_stop(context);
}

/* Everything but messages. */
static void
handle_system(lbx_context *context)
{
    lbx__cell *cell = context->cell;

    for (;;) {
        lbx__cell *orphan = lbx__cell_take_orphans(cell);
        lbx__node *node = lbx__cell_take_system(cell);
        bool stop = is_told_to_stop(context);

        if (!orphan && !node && !stop)
            return;
        while (node) {
            lbx__node *next = lbx__peek(&node->next);

            handle_system_node(context, node);
            node = next;
        }
        while (orphan) {
            lbx__cell *next = orphan->next_orphan;

            lbx__life_release_child(context, orphan);
            orphan = next;
        }
        if (is_told_to_stop(context))
            lbx__life_begin_stop(context);
    }
}

/* The row of a match table that fits. */
static lbx_receive *
find_match(const lbx_behaviour *behaviour, const lbx__node *node)
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

static lbx_receive *
find_receive(const lbx__cell *cell, const lbx__node *node)
{
    const lbx__facilities *facilities = cell->facilities;

    if (facilities && facilities->receive_count > 0)
        return facilities->receives[facilities->receive_count - 1];
    return find_match(cell->behaviour, node);
}

/* Ends the current message, unless someone has it now. */
static void
end_current(lbx_context *context)
{
    lbx__node *node = context->node;

    if (!context->taken && (node->type || context->system->options.destroy))
        lbx__message_destroy(context->system, node->type, node->message);
    context->node = NULL;
}

/* Answers what the handler did, or else UNSUPPORTED. */
static inline lbx_status
deliver(lbx_context *context, lbx__node *node, lbx_receive *receive)
{
    lbx__cell *cell = context->cell;
    lbx_status status;

    if (!receive) {
        lbx__dead_letter_publish_node(cell->system, node, LBX_LOST_UNHANDLED);
        return LBX_UNSUPPORTED;
    }
    context->node = node;
    context->handled++;
    context->taken = false;
    context->stashed = false;
    // Relaxed: a number that the owner writes.
    lbx__store(&cell->handled, lbx__load(&cell->handled, relaxed) + 1, relaxed);
    status = receive(context, cell->state, node->message);
    if (status != LBX_OK)
        status = lbx__supervision_fail(context, status);
    end_current(context);
    return status;
}

/* The same, and says so to who waits for it; unless it was stashed, passed on, or
 * kept for its supervisor to decide. */
static void
deliver_reporting(lbx_context *context, lbx__node *node)
{
    const lbx_status status =
        deliver(context, node, find_receive(context->cell, node));

    if (node->code == LBX__REPORT_DUE)
        lbx__ask_report(context->system, node->sender, status);
}

static bool
has_expired(const lbx__cell *cell, const lbx__node *node)
{
    return node->deadline_ns != 0 && node->deadline_ns != LBX_FOREVER &&
           lbx_clock_now(cell->system->options.clock) >= node->deadline_ns;
}

static void
handle(lbx_context *context, lbx__node *node)
{
    lbx__cell *cell = context->cell;

    if (node->recipient != lbx__cell_ref(cell))
        lbx__dead_letter_publish_node(cell->system, node,
                                      LBX_LOST_NO_ACTOR); // K3
    else if (node->message == (const void *)&lbx__message_poison)
        lbx__life_poison(context);
    else if (node->notice && !lbx__watch_expects(cell, node))
        return; // nobody waits for it any more
    else if (has_expired(cell, node))
        lbx__dead_letter_publish_node(cell->system, node, LBX_LOST_EXPIRED);
    else if (node->code == LBX__REPORT_DUE)
        deliver_reporting(context, node);
    else
        (void)deliver(context, node, find_receive(cell, node));
}

/* The next message: what was put ahead, then the cell's own, if it is linked,
 * then the box's, which is copied into `room`. *ret_ours: it is to be given
 * back. */
static lbx__node *
next_message(lbx__cell *cell, bool linked, lbx__node *room, bool *ret_ours)
{
    lbx__node *node = NULL;

    if (cell->facilities)
        node = lbx__stash_next(cell);
    *ret_ours = node != NULL;
    if (!node && linked)
        node = lbx__cell_pop(cell);
    if (!node && cell->role != LBX__ROLE_BALANCER &&
        lbx__actor_mailbox_pop(cell, room))
        node = room;
    return node;
}

static inline bool
has_more(lbx__cell *cell)
{
    return (cell->facilities && lbx__stash_has_next(cell->facilities)) ||
           lbx__cell_has_messages(cell) ||
           (lbx__load(&cell->box, relaxed) && // the owner writes it
            cell->role != LBX__ROLE_BALANCER &&
            lbx__actor_mailbox_has_messages(cell));
}

/* Messages are handled at all. */
static bool
hears(const lbx__cell *cell)
{
    return cell->phase == LBX__PHASE_ALIVE && cell->suspensions == 0 &&
           !cell->held && !lbx__outbox_waits(cell);
}

/* The long way, for one message of any sort; returns how many. */
static int64_t
handle_next(lbx_context *context)
{
    bool linked = lbx__cell_is_linked(context->cell);
    bool ours;
    lbx__node room;
    lbx__node *node;

    // What its sender had told the system before is heard before it; what
    // comes later may come for ever.
    if (has_system(context))
        handle_system(context);
    if (!hears(context->cell))
        return 0;
    node = next_message(context->cell, linked, &room, &ours);
    if (!node)
        return 0;
    handle(context, node);
    if (ours)
        lbx__node_pool_put(context->system->pool, node);
    return 1;
}

/* Messages are not handled, and should not wake it. What has ended is not deaf:
 * it buries them. Nor is a promise, whoever suspends it: somebody waits. */
static bool
is_deaf(const lbx__cell *cell)
{
    if (cell->role == LBX__ROLE_PROMISE)
        return false;
    return cell->phase == LBX__PHASE_FAILED ||
           cell->phase == LBX__PHASE_STOPPING ||
           (cell->phase == LBX__PHASE_ALIVE && !hears(cell));
}

/* In the middle of its life, and nothing but messages to look at. */
static inline bool
is_ordinary(const lbx_context *context)
{
    const lbx__cell *cell = context->cell;

    return !cell->facilities && cell->phase == LBX__PHASE_ALIVE &&
           cell->suspensions == 0 && !cell->held && !has_system(context);
}

/* The short way: messages that need no second look, up to `most` and to the
 * first that is not such, for an actor without extras. Returns how many. */
static int64_t
handle_plain(lbx_context *context, int64_t most)
{
    lbx__cell *cell = context->cell;
    const lbx_behaviour *behaviour = cell->behaviour;
    int64_t count = 0;

    while (count < most && context->sent < FLOOD) {
        // Relaxed and acquire: as in lbx__cell_pop(). What its sender had told
        // the system before is seen, too.
        lbx__node *head = lbx__load(&cell->head, relaxed);
        lbx__node *node = lbx__load(&head->next, acquire);

        if (!node || !node->plain || node->recipient != context->self ||
            !is_ordinary(context))
            break;
        lbx__store(&cell->head, node, relaxed);
        __builtin_prefetch(lbx__peek(&node->next));
        if (!lbx__node_cache_put(context->cache, head))
            lbx__node_pool_put(context->system->pool, head);
        (void)deliver(context, node,
                      behaviour->match_count == 0
                          ? behaviour->receive
                          : find_match(behaviour, node));
        count++;
    }
    return count;
}

/* Handles messages; true when there may be more. */
static bool
handle_messages(lbx_context *context)
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
            done = handle_plain(context, timed ? 1 : left);
            if (is_ordinary(context) && !lbx__cell_has_messages(cell))
                return false;
        }
        if (done == 0)
            done = handle_next(context);
        left -= done;
        if (has_system(context))
            handle_system(context);
        if (!hears(cell))
            return false;
        if (done == 0 || left <= 0 || context->sent >= FLOOD ||
            (timed && lbx_clock_now(clock) >= end_ns))
            return has_more(cell);
    }
}

/* A balancer's part: wakes its children for what waits in their mailbox. Those
 * at work find it when they are done. All of them, since one that is idle may
 * be deaf: failed, ending, or waiting for room elsewhere. */
static void
wake_routees(lbx__cell *cell)
{
    // Acquire: what was sent before is seen. seq_cst: who sends from here on
    // makes it 2 again, and gets another turn (K1).
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
handle_timed(lbx_context *context)
{
    bool more;

    if (context->cell->role == LBX__ROLE_BALANCER)
        wake_routees(context->cell);
    if (context->cell->facilities && has_more(context->cell))
        lbx__timeout_begin_run(context->cell);
    more = handle_messages(context);
    if (!more && context->cell->facilities &&
        context->cell->phase == LBX__PHASE_ALIVE)
        lbx__timeout_end_run(context->cell);
    return more;
}

/* What came for earlier lives. */
static void
bury(lbx__cell *cell)
{
    lbx__node *node;

    while ((node = lbx__cell_pop(cell)))
        lbx__dead_letter_publish_node(cell->system, node, LBX_LOST_NO_ACTOR);
}

/* True when there is more to do. */
static bool
take_turn(lbx_context *context)
{
    lbx__cell *cell = context->cell;

    if (has_system(context))
        handle_system(context);
    if (cell->phase == LBX__PHASE_NEW) {
        lbx_status status = lbx__life_start(context);

        if (status != LBX_OK)
            (void)lbx__supervision_fail(context, status);
        handle_system(context);
    }
    if (cell->phase == LBX__PHASE_ALIVE && cell->role == LBX__ROLE_PROMISE)
        lbx__ask_answer(context);
    else if (hears(cell))
        return handle_timed(context);
    if (cell->phase == LBX__PHASE_FREE || cell->phase == LBX__PHASE_ENDED)
        bury(cell);
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

    assert(lbx__peek(&cell->scheduled) != 0); // K1
    lbx__local(lbx__run_current) = &context;
    more = take_turn(&context);
    lbx__local(lbx__run_current) = outer;
    if (more)
        lbx__dispatcher_requeue(lbx__peek(&cell->runnable.dispatcher), runnable,
                                context.sent >= FLOOD);
    else
        lbx__cell_release(cell, is_deaf(cell),
                          cell->phase == LBX__PHASE_STOPPING);
    return context.handled;
}
