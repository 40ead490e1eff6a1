/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking: an operation that sends a question and waits for the answer.
 *
 * The first poll creates a promise, a cell without a parent, and sends the
 * question with the promise as its sender. The promise watches the actor that
 * was asked. Its first message is the answer, or the notice that there will be
 * none; then it ends.
 *
 * ASK-1  `refs` counts two: the operation and the promise.
 * ASK-2  `done` and the answer are under the lock; the thread that sets them
 *        wakes the operation. An operation that leaves first takes the answer
 *        out, if there is one, and it becomes a dead letter.
 * ASK-3  An operation that waits for a message to be handled always gets a
 *        report: the duty travels with the message (node.h) and ends with it.
 *        Answers are dead letters then, and the end of the actor has no effect:
 *        the message may be elsewhere.
 */
#include "actor/core/system.h"

#include "base/alloc.h"
#include "base/op.h"

/* What the operation keeps in lbx__op.data. */
struct __attribute__((may_alias)) ask_data {
    lbx_envelope question;
    lbx_envelope *answer;
    uint64_t to;
    void *ask;    /* from the first poll on */
    bool told;    /* the question was sent; the actor owns it */
    bool quiet;   /* there is no question: the operation waits for the end */
    bool handled; /* waits until the message was handled */
};

LBX__OP_DATA(struct ask_data, ask_of);

typedef struct lbx__ask {
    const lbx_allocator *allocator; /* outlives the system, if it must */
    lbx_system *system;
    _Atomic(uint32_t) refs;
    lbx__lock lock;
    bool done;
    bool left; /* the operation has left */
    lbx_status status;
    lbx_envelope answer;
    lbx__link waits;
    uint64_t promise;
    uint64_t asked;
    bool handled; /* ASK-3 */
} lbx__ask;

static void
ask_unref(lbx__ask *ask)
{
    // Release and acquire: all use comes before the free.
    if (lbx__sub(&ask->refs, 1, acq_rel) == 1)
        lbx__free(ask->allocator, ask, sizeof(*ask));
}

/* Settles the ask; an answer that is not wanted becomes a dead letter. */
static void
ask_finish(lbx__ask *ask, lbx_status status, const lbx_envelope *answer)
{
    lbx__wakes wakes;
    bool wanted;

    lbx__wakes_init(&wakes);
    lbx__lock_take(&ask->lock);
    wanted = !ask->left && !ask->done;
    if (wanted) {
        ask->done = true;
        ask->status = status;
        if (answer)
            ask->answer = *answer;
        if (!lbx__list_empty(&ask->waits))
            lbx__wakes_grant(
                &wakes, lbx__member(ask->waits.next, lbx__op, link), status);
    }
    lbx__lock_give(&ask->lock);
    lbx__wakes_run(&wakes);
    if (!wanted && answer)
        lbx__dead_letter_publish(ask->system, answer, LBX_LOSS_NO_ACTOR);
}

/* Sends a system message with the promise as its sender. */
static bool
ask_tell_asked(lbx__ask *ask, uint8_t code)
{
    lbx__node *node = lbx__node_pool_get(ask->system->pool);

    if (!node)
        return false;
    node->sender = ask->promise;
    node->recipient = ask->asked;
    node->code = code;
    node->message = NULL; // the notice need not say why
    lbx__cell_push_system(lbx__cell_of(ask->asked), node);
    return true;
}

/* Ends a promise, in its run. */
static void
ask_end_promise(lbx_context *context)
{
    lbx__cell *cell = context->cell;
    lbx_system *system = cell->system;
    lbx__ask *ask = cell->facilities->ask;
    lbx__node_list watchers = cell->facilities->watchers;
    lbx__node *node;

    cell->phase = LBX__PHASE_ENDED;
    (void)lbx__add(&cell->generation, 1, seq_cst); // LIFE-2
    while ((node = lbx__cell_pop(cell)))
        lbx__dead_letter_publish_node(system, node, LBX_LOSS_NO_ACTOR);
    lbx__facilities_free(cell);
    while ((node = lbx__node_list_take(&watchers)))
        lbx__watch_notify_gone(system, node);
    if (!ask->handled)
        (void)ask_tell_asked(ask, LBX__CODE_UNWATCH);
    ask_unref(ask);
    lbx__cells_put(system->cells, cell);
}

void
lbx__ask_answer(lbx_context *context)
{
    lbx__cell *cell = context->cell;
    lbx__ask *ask = cell->facilities->ask;
    lbx__node *node = lbx__cell_pop(cell);
    lbx_envelope answer;

    if (!node)
        return;
    if (node->recipient != lbx__cell_ref(cell)) {
        lbx__dead_letter_publish_node(cell->system, node, LBX_LOSS_NO_ACTOR);
        return;
    }
    if (ask->handled && node->code != LBX__REPORT_STATUS) {
        lbx__dead_letter_publish_node(cell->system, node, LBX_LOSS_NO_ACTOR);
        return;
    }
    answer = lbx__node_envelope(node);
    if (ask->handled)
        ask_finish(ask, (lbx_status)node->priority, NULL);
    else if (answer.type == lbx_terminated_type()) {
        ask_finish(ask, LBX_NOT_FOUND, NULL);
        // The promise's own notice has no message; one passed on has.
        lbx__message_destroy(cell->system, answer.type, answer.message);
    } else {
        ask_finish(ask, LBX_OK, &answer);
    }
    ask_end_promise(context);
}

void
lbx__ask_end(lbx_context *context)
{
    lbx__ask *ask = context->cell->facilities->ask;

    ask_finish(ask, ask->handled ? LBX_UNKNOWN : LBX_CLOSED, NULL);
    ask_end_promise(context);
}

void
lbx__ask_report(lbx_system *system, uint64_t sender, lbx_status status)
{
    lbx__cell *promise = lbx__cell_of(sender);
    lbx__node *node;

    if (!lbx__ref_lives(sender))
        return; // the operation has left
    node = lbx__node_pool_get(system->pool);
    if (!node) { // a stop needs no memory: UNKNOWN
        lbx__cell_stop(promise, lbx__generation_of(sender));
        return;
    }
    *node = (lbx__node){
        .recipient = sender, .priority = status, .code = LBX__REPORT_STATUS};
    lbx__cell_push(promise, node);
}

/* The question to no actor is a dead letter. */
static lbx_status
ask_nobody(lbx__op *op)
{
    ask_of(op)->told = true;
    lbx__dead_letter_publish(op->subject, &ask_of(op)->question,
                             LBX_LOSS_NO_ACTOR);
    return LBX_NOT_FOUND;
}

/* Creates the promise and sends the question. */
static lbx_status
ask_start(lbx__op *op)
{
    lbx_system *system = op->subject;
    lbx__ask *ask = lbx__zalloc(system->options.allocator, sizeof(*ask));
    lbx__cell *cell = ask ? lbx__cells_get(system->cells) : NULL;
    lbx_ref to = {ask_of(op)->to};

    if (!cell || !lbx__facilities_of(cell))
        goto fail;
    ask->allocator = system->options.allocator;
    ask->system = system;
    lbx__init(&ask->refs, 2); // ASK-1
    lbx__list_init(&ask->waits);
    ask->asked = to.word;
    ask->handled = ask_of(op)->handled;
    lbx__store(&cell->runnable.dispatcher, system->dispatcher, relaxed);
    cell->behaviour = NULL;
    cell->role = LBX__ROLE_PROMISE;
    (void)lbx__names_enter(system->names, cell, NULL, NULL); // cannot fail
    cell->phase = LBX__PHASE_ALIVE;
    cell->started = false;
    cell->facilities->ask = ask;
    ask->promise = lbx__cell_ref(cell);
    ask_of(op)->ask = ask;
    lbx__cell_release(cell, false, false);
    if (!ask->handled && !ask_tell_asked(ask, LBX__CODE_WATCH)) {
        lbx__cell_stop(lbx__cell_of(ask->promise),
                       lbx__generation_of(ask->promise));
        return LBX_NO_MEMORY;
    }
    ask_of(op)->question.sender = (void *)(uintptr_t)ask->promise;
    ask_of(op)->question.reserved[0] =
        ask->handled ? LBX__REPORT_DUE : LBX__REPORT_NONE;
    if (!ask_of(op)->told)
        lbx__ref_tell_as(to, &ask_of(op)->question);
    ask_of(op)->told = true;
    return LBX_OK;

fail:
    if (cell) {
        lbx__cells_put(system->cells, cell);
        lbx__cell_release(cell, false, true);
    }
    if (ask)
        lbx__free(system->options.allocator, ask, sizeof(*ask));
    return LBX_NO_MEMORY;
}

/* Leaves the ask: the promise ends, its answer becomes a dead letter. */
static void
ask_abandon(lbx__op *op)
{
    lbx__ask *ask = ask_of(op)->ask;
    bool had;

    lbx__lock_take(&ask->lock);
    if (op->state == LBX__QUEUED)
        lbx__list_remove(&op->link);
    had = ask->done && ask->status == LBX_OK && !ask->handled;
    ask->left = true;
    lbx__lock_give(&ask->lock);
    lbx__op_settle(op);
    op->state = LBX__IDLE;
    if (had) // ASK-2
        lbx__dead_letter_publish(ask->system, &ask->answer, LBX_LOSS_NO_ACTOR);
    lbx__cell_stop(lbx__cell_of(ask->promise),
                   lbx__generation_of(ask->promise));
}

static lbx_status
ask_poll(lbx__op *op, const lbx_waker *waker)
{
    lbx_status status = LBX_PENDING;
    lbx__ask *ask;

    if (!ask_of(op)->ask) {
        status = ask_of(op)->to ? ask_start(op) : ask_nobody(op);
        if (status != LBX_OK)
            return status;
        status = LBX_PENDING;
    }
    ask = ask_of(op)->ask;
    lbx__lock_take(&ask->lock);
    if (ask->done)
        status = ask->status;
    else if (lbx__op_late(op))
        status = LBX_TIMEOUT;
    else if (op->state == LBX__IDLE)
        lbx__op_queue(op, &ask->waits, waker);
    else
        lbx__op_set_waker(op, waker);
    lbx__lock_give(&ask->lock);
    if (status == LBX_TIMEOUT)
        ask_abandon(op);
    if (status == LBX_PENDING || status == LBX_TIMEOUT)
        return status;
    lbx__op_settle(op);
    op->state = LBX__IDLE;
    if (ask_of(op)->quiet)
        return status == LBX_NOT_FOUND ? LBX_OK : status;
    if (status == LBX_OK && ask_of(op)->answer)
        *ask_of(op)->answer = ask->answer;
    return status;
}

static lbx_status
ask_cancel(lbx__op *op, lbx_status why)
{
    if (ask_of(op)->ask)
        ask_abandon(op);
    return why;
}

static void
ask_release(lbx__op *op)
{
    lbx_system *system = op->subject;

    if (!ask_of(op)->told)
        lbx__message_destroy(system, ask_of(op)->question.type,
                             ask_of(op)->question.message);
    if (ask_of(op)->ask)
        ask_unref(ask_of(op)->ask);
}

static const lbx__op_ops ask_ops = {
    .poll = ask_poll,
    .leave = ask_cancel,
    .release = ask_release,
};

lbx_status
lbx_ask_init(lbx_operation *operation, lbx_system *system, lbx_ref to,
             const lbx_envelope *question, lbx_envelope *ret_answer,
             int64_t deadline_ns)
{
    lbx__op *op = operation ? lbx__op_of(operation) : NULL;

    if (!op || !system || !question || !ret_answer ||
        lbx_envelope_is_system(question) ||
        (to.word && lbx__cell_of(to.word)->system != system))
        return LBX_INVALID;
    lbx__op_init(op, &ask_ops, system, system->options.clock, deadline_ns);
    ask_of(op)->question = *question;
    ask_of(op)->answer = ret_answer;
    ask_of(op)->to = to.word;
    return LBX_OK;
}

lbx_status
lbx_tell_handled_init(lbx_operation *operation, lbx_system *system, lbx_ref to,
                      const lbx_envelope *message, int64_t deadline_ns)
{
    lbx_envelope nothing; // there is no answer
    lbx_status status =
        lbx_ask_init(operation, system, to, message, &nothing, deadline_ns);

    if (status != LBX_OK)
        return status;
    ask_of(lbx__op_of(operation))->answer = NULL;
    ask_of(lbx__op_of(operation))->handled = true;
    return LBX_OK;
}

lbx_status
lbx_ref_ended_init(lbx_operation *operation, lbx_system *system, lbx_ref ref,
                   int64_t deadline_ns)
{
    lbx__op *op = operation ? lbx__op_of(operation) : NULL;

    if (!op || !system || !ref.word || lbx__cell_of(ref.word)->system != system)
        return LBX_INVALID;
    lbx__op_init(op, &ask_ops, system, system->options.clock, deadline_ns);
    ask_of(op)->to = ref.word;
    ask_of(op)->told = true; // there is nothing to tell
    ask_of(op)->quiet = true;
    return LBX_OK;
}

/* Waits for an operation that was started, and destroys it. */
static lbx_status
ask_wait(lbx_status started, lbx_operation *operation)
{
    lbx_status status;

    if (started != LBX_OK)
        return started;
    status = lbx_operation_wait(operation);
    lbx_operation_fini(operation);
    return status;
}

lbx_status
lbx_ask_until(lbx_system *system, lbx_ref to, const lbx_envelope *question,
              lbx_envelope *ret_answer, int64_t deadline_ns)
{
    lbx_operation operation;

    return ask_wait(
        lbx_ask_init(&operation, system, to, question, ret_answer, deadline_ns),
        &operation);
}

lbx_status
lbx_ref_ended_until(lbx_system *system, lbx_ref ref, int64_t deadline_ns)
{
    lbx_operation operation;

    return ask_wait(lbx_ref_ended_init(&operation, system, ref, deadline_ns),
                    &operation);
}
