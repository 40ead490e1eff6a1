/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pipes: operations whose end comes to an actor as a message.
 *
 * lbx_context_pipe() is given an operation; lbx_context_ask() makes one of its
 * own, an ask. The actor handles messages meanwhile.
 *
 * PIPE-1  A pipe is in its actor's heap, ordered by when it must be polled,
 *         until its operation is final, or the actor restarts or ends. Only the
 *         owner of the cell polls, cancels and finishes the operation: in the
 *         call that starts the pipe, when its waker has pushed its node, when
 *         its deadline has passed, and before `stop`.
 * PIPE-2  The waker pushes the pipe's node on the system stack, unless it is
 *         there: `called` is set before the push and cleared before the poll.
 *         (A deadline polls a pipe whose node is under way.) A pipe that is
 *         over while its node is under way is freed by the run that takes the
 *         node.
 * PIPE-3  The result, and a node for it, are allocated before the operation is
 *         polled: a pipe that was started always ends in one result, or in
 *         none if its actor has restarted or ended.
 * PIPE-4  A result belongs to an era, one start of the actor. One that is taken
 *         in a later era is a dead letter.
 * PIPE-5  While a pipe has a deadline, one timer runs, which fires at the first
 *         deadline or before it. An earlier deadline replaces it; when it
 *         fires, the next one is started.
 *
 * Threads: the owner of the cell; wakers, from any thread, push a node only.
 */
#include "actor/core/system.h"

#include "base/alloc.h"
#include "base/list.h"
#include "base/op.h"
#include "base/time.h"
#include "base/type.h"
#include <pthread.h>

/* A result, and what its end needs. */
typedef struct pipe_result {
    lbx_pipe_result result; /* first: it is the message */
    lbx_system *system;
    void (*release)(void *data, lbx_status status);
    uint32_t era;  /* PIPE-4 */
    bool answered; /* the answer's message is the result's */
} pipe_result;

typedef struct lbx__pipe {
    lbx__node node; /* first: PIPE-2 */
    lbx__minheap_node due;
    lbx_operation *operation; /* NULL: the pipe is over */
    lbx__cell *cell;
    pipe_result *result;
    lbx__node *letter;        /* for the result */
    _Atomic(uint32_t) called; /* the node is under way */
    lbx_operation ask;        /* the operation of an ask */
} lbx__pipe;

static void
pipe_result_destroy(void *message, void *context)
{
    pipe_result *result = message;

    (void)context;
    if (result->answered)
        lbx__message_destroy(result->system, result->result.answer.type,
                             result->result.answer.message);
    if (result->release)
        result->release(result->result.data, result->result.status);
    lbx__free(result->system->options.allocator, result, sizeof(*result));
}

static lbx__type_storage pipe_type_storage;
static const lbx_type *pipe_type;
static pthread_once_t pipe_type_once = PTHREAD_ONCE_INIT;

static void
pipe_make_type(void)
{
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;

    options.name = "letterbox.PipeResult";
    options.destroy = pipe_result_destroy;
    pipe_type = lbx__type_init_static(&pipe_type_storage, options);
}

const lbx_type *
lbx_pipe_result_type(void)
{
    (void)pthread_once(&pipe_type_once, pipe_make_type);
    return pipe_type;
}

void *
lbx_pipe_result_take(lbx_pipe_result *result)
{
    pipe_result *own = (pipe_result *)(void *)result;

    if (!own || !own->answered)
        return NULL;
    own->answered = false;
    return result->answer.message;
}

bool
lbx__pipe_is_minor(const lbx_type *type, const void *message)
{
    const pipe_result *result = message;

    return type == lbx_pipe_result_type() && !result->answered;
}

static lbx__pipe *
pipe_of(lbx__node *node)
{
    return (lbx__pipe *)(void *)node;
}

static void
pipe_wake(void *context)
{
    lbx__pipe *pipe = context;

    // Acquire and release: the owner clears it before it polls. A node that is
    // under way is not pushed again: its run polls after this wake-up.
    if (!lbx__exchange(&pipe->called, 1u, acq_rel))
        lbx__cell_push_system(pipe->cell, &pipe->node);
}

static void
pipe_free(lbx_system *system, lbx__pipe *pipe)
{
    if (pipe->letter)
        lbx__node_pool_put(system->pool, pipe->letter);
    if (pipe->result)
        lbx__free(system->options.allocator, pipe->result,
                  sizeof(*pipe->result));
    lbx__free(system->options.allocator, pipe, sizeof(*pipe));
}

/* Ends a pipe whose operation is final: finishes that, and frees the pipe, now
 * or with its node (PIPE-2). */
static void
pipe_close(lbx__cell *cell, lbx__pipe *pipe)
{
    lbx__minheap_remove(&cell->facilities->pipes, &pipe->due);
    if (pipe->operation)
        lbx_operation_fini(pipe->operation);
    pipe->operation = NULL;
    // Relaxed: lbx_operation_fini() has ended all calls of the waker.
    if (!lbx__load(&pipe->called, relaxed))
        pipe_free(cell->system, pipe);
}

/* Sends the result, and ends the pipe. */
static void
pipe_deliver(lbx__cell *cell, lbx__pipe *pipe, lbx_status status)
{
    lbx_envelope envelope =
        lbx_envelope_of_type(pipe->result, lbx_pipe_result_type());
    lbx__node *letter = pipe->letter;

    pipe->result->result.status = status;
    pipe->result->answered = status == LBX_OK && pipe->operation == &pipe->ask;
    envelope.sender = pipe->result->result.answer.sender;
    lbx__node_fill(letter, &envelope, lbx__cell_ref(cell));
    letter->notice = true; // PIPE-4
    letter->plain = false;
    pipe->letter = NULL;
    pipe->result = NULL;
    pipe_close(cell, pipe);
    lbx__cell_push(cell, letter);
}

/* When an operation must be polled, by the system's clock. */
static int64_t
pipe_due_ns(const lbx__cell *cell, lbx_operation *operation)
{
    const int64_t due_ns = lbx_operation_deadline(operation);
    const lbx_clock *clock = lbx__op_of(operation)->clock;

    if (due_ns == LBX_FOREVER)
        return LBX_FOREVER;
    return lbx__time_add(lbx_clock_now(cell->system->options.clock),
                         lbx__time_left(due_ns, lbx_clock_now(clock)));
}

/* PIPE-5; false without memory. */
static bool
pipe_start_timer(lbx__cell *cell)
{
    lbx__facilities *facilities = cell->facilities;
    const lbx__minheap_node *first = lbx__minheap_first(&facilities->pipes);

    const lbx_timer later = facilities->pipes_timer;

    if (!first || first->key >= facilities->pipes_due_ns)
        return true;
    if (lbx__timers_start_system(
            cell->system->timers, lbx__cell_ref(cell), LBX__CODE_PIPE_LATE,
            first->key - lbx_clock_now(cell->system->options.clock),
            &facilities->pipes_timer) != LBX_OK)
        return false;
    lbx__timers_cancel_system(cell->system->timers, later);
    facilities->pipes_due_ns = first->key;
    return true;
}

static void
pipe_poll(lbx__cell *cell, lbx__pipe *pipe)
{
    lbx_waker waker = {pipe_wake, pipe};
    lbx_status status = lbx_operation_poll(pipe->operation, &waker);

    if (status != LBX_PENDING) {
        pipe_deliver(cell, pipe, status);
        return;
    }
    lbx__minheap_rekey(&cell->facilities->pipes, &pipe->due,
                       pipe_due_ns(cell, pipe->operation));
    // Without memory, the deadline is seen when another pipe needs a timer.
    (void)pipe_start_timer(cell);
}

void
lbx__pipe_poll(lbx__cell *cell, lbx__node *node)
{
    lbx__pipe *pipe = pipe_of(node);

    // Before the poll, whose waker may push again; orders as in pipe_wake().
    (void)lbx__exchange(&pipe->called, 0u, acq_rel);
    if (pipe->operation)
        pipe_poll(cell, pipe);
    else
        pipe_free(cell->system, pipe); // PIPE-2
}

void
lbx__pipe_bury(lbx__node *node)
{
    lbx__pipe *pipe = pipe_of(node);

    pipe_free(pipe->cell->system, pipe);
}

void
lbx__pipe_poll_late(lbx__cell *cell)
{
    lbx__facilities *facilities = cell->facilities;
    const int64_t now_ns = lbx_clock_now(cell->system->options.clock);
    size_t left;

    if (!facilities)
        return;
    if (now_ns >= facilities->pipes_due_ns) // not a timer that was replaced
        facilities->pipes_due_ns = LBX_FOREVER;
    // Each at most once: one may be due again at once.
    for (left = facilities->pipes.nodes.count; left > 0; left--) {
        lbx__minheap_node *first = lbx__minheap_first(&facilities->pipes);

        if (!first || first->key > now_ns)
            break;
        pipe_poll(cell, lbx__member(first, lbx__pipe, due));
    }
    (void)pipe_start_timer(cell);
}

void
lbx__pipe_end(lbx__cell *cell)
{
    lbx__facilities *facilities = cell->facilities;
    lbx__minheap_node *first;

    if (!facilities)
        return;
    facilities->era++;
    while ((first = lbx__minheap_first(&facilities->pipes))) {
        lbx__pipe *pipe = lbx__member(first, lbx__pipe, due);
        pipe_result *result = pipe->result;

        result->result.status = lbx_operation_cancel(pipe->operation);
        pipe->result = NULL;
        pipe_close(cell, pipe);
        pipe_result_destroy(result, NULL);
    }
}

bool
lbx__pipe_expects(lbx__cell *cell, lbx__node *node)
{
    const pipe_result *result = node->message;

    node->notice = false; // a stashed one is not checked again
    if (cell->facilities && cell->facilities->era == result->era)
        return true;
    lbx__dead_letter_publish_node(cell->system, node, LBX_LOSS_CLOSED);
    return false;
}

/* A pipe that is in the heap and not polled yet (PIPE-3). */
static lbx_status
pipe_create(lbx_context *context, uint64_t correlation, lbx__pipe **ret)
{
    lbx__cell *cell = context->cell;
    lbx_system *system = cell->system;
    lbx__facilities *facilities;
    lbx__pipe *pipe;

    if (cell->restarting || cell->phase >= LBX__PHASE_STOPPING)
        return LBX_CLOSED;
    facilities = lbx__facilities_of(cell);
    if (!facilities || !lbx__minheap_reserve(&facilities->pipes))
        return LBX_NO_MEMORY;
    pipe = lbx__zalloc(system->options.allocator, sizeof(*pipe));
    if (!pipe)
        return LBX_NO_MEMORY;
    pipe->letter = lbx__node_pool_get(system->pool);
    pipe->result =
        lbx__zalloc(system->options.allocator, sizeof(*pipe->result));
    if (!pipe->letter || !pipe->result) {
        pipe_free(system, pipe);
        return LBX_NO_MEMORY;
    }
    pipe->node.code = LBX__CODE_PIPE;
    pipe->node.recipient = lbx__cell_ref(cell);
    pipe->cell = cell;
    pipe->result->result.size_bytes = sizeof(pipe->result->result);
    pipe->result->result.correlation = correlation;
    pipe->result->system = system;
    pipe->result->era = facilities->era;
    lbx__minheap_node_init(&pipe->due);
    lbx__minheap_add(&facilities->pipes, &pipe->due, LBX_FOREVER);
    *ret = pipe;
    return LBX_OK;
}

/* Starts the timer of a new pipe; without memory the pipe is gone. */
static lbx_status
pipe_set_due(lbx__pipe *pipe, int64_t due_ns)
{
    lbx__cell *cell = pipe->cell;

    lbx__minheap_rekey(&cell->facilities->pipes, &pipe->due, due_ns);
    if (pipe_start_timer(cell))
        return LBX_OK;
    pipe_close(cell, pipe);
    return LBX_NO_MEMORY;
}

lbx_status
lbx_context_pipe(lbx_context *context, lbx_operation *operation,
                 uint64_t correlation, void *data,
                 void (*release)(void *data, lbx_status status))
{
    lbx__pipe *pipe;
    lbx_status status;

    if (!context || !operation ||
        lbx_operation_status(operation) == LBX_INVALID)
        return LBX_INVALID;
    status = pipe_create(context, correlation, &pipe);
    if (status == LBX_OK)
        status = pipe_set_due(pipe, pipe_due_ns(context->cell, operation));
    if (status != LBX_OK)
        return status;
    pipe->result->result.data = data;
    pipe->result->release = release;
    pipe->operation = operation;
    pipe_poll(context->cell, pipe);
    return LBX_OK;
}

/* A question that was not sent is a dead letter. */
static lbx_status
pipe_refuse(lbx_context *context, lbx_ref to, const lbx_envelope *question,
            lbx_status status)
{
    lbx_envelope dead = *question;

    dead.sender = lbx_ref_as_sender(lbx_context_self(context));
    dead.recipient = lbx_ref_as_sender(to);
    dead.reserved[0] = LBX__REPORT_NONE;
    lbx__dead_letter_publish(context->cell->system, &dead,
                             status == LBX_NO_MEMORY ? LBX_LOSS_NO_MEMORY
                                                     : LBX_LOSS_NO_ACTOR);
    return status;
}

/* Starts the ask of a new pipe. */
static void
pipe_ask(lbx__pipe *pipe, lbx_ref to, const lbx_envelope *question,
         int64_t deadline_ns)
{
    lbx_pipe_result *result = &pipe->result->result;

    result->asked = to;
    if (lbx_ask_init(&pipe->ask, pipe->cell->system, to, question,
                     &result->answer, deadline_ns) != LBX_OK)
        return; // cannot be: the arguments were checked
    pipe->operation = &pipe->ask;
    pipe_poll(pipe->cell, pipe);
}

lbx_status
lbx_context_ask(lbx_context *context, lbx_ref to, const lbx_envelope *question,
                int64_t timeout_ns, uint64_t correlation)
{
    lbx__pipe *pipe;
    lbx_status status;
    int64_t deadline_ns;

    if (!context || !question || lbx_envelope_is_system(question) ||
        (to.word && lbx__cell_of(to.word)->system != context->cell->system))
        return LBX_INVALID;
    deadline_ns =
        lbx_deadline_after(context->system->options.clock, timeout_ns);
    status = pipe_create(context, correlation, &pipe);
    if (status == LBX_OK)
        status = pipe_set_due(pipe, deadline_ns);
    if (status != LBX_OK)
        return pipe_refuse(context, to, question, status);
    if (to.word) {
        pipe_ask(pipe, to, question, deadline_ns);
        return LBX_OK;
    }
    (void)pipe_refuse(context, to, question, LBX_NOT_FOUND);
    pipe_deliver(context->cell, pipe, LBX_NOT_FOUND);
    return LBX_OK;
}
