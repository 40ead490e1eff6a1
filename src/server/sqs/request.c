/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request's calls of the store, and its end; request_answer.c has how it is
 * answered. REQ-1 to REQ-4 are in request.h.
 *
 * A call that the store finishes later is finished by another thread; the task
 * of the request brings the result to its loop.
 */
#include "server/sqs/request.h"

#include "base/alloc.h"
#include "base/list.h"
#include "post/store.h"
#include "server/sqs/received_copy.h"

#include <assert.h>

static void
request_finish(lbx_call *call, lbx_status status)
{
    lbx__request *request = lbx__member(call, lbx__request, call);

    request->status = status;
    lbx__loop_post(request->loop, &request->task);
}

static lbx_status
request_deliver(lbx_call *call, const lbx_delivery *delivery)
{
    lbx__request *request = lbx__member(call, lbx__request, call);
    lbx__received *copy = lbx__received_copy(request->sqs->allocator, delivery);

    if (!copy)
        return LBX_NO_MEMORY;
    if (request->last_received)
        request->last_received->next = copy;
    else
        request->received = copy;
    request->last_received = copy;
    request->received_count++;
    return LBX_OK;
}

static const lbx_call_sink request_sink = {request_finish, request_deliver};

void
lbx__request_drop_received(lbx__request *request)
{
    lbx__received_destroy_all(request->sqs->allocator, request->received);
    request->received = NULL;
    request->last_received = NULL;
    request->received_count = 0;
}

/* Deliveries count only if the call is OK (store_driver.h). */
static void
request_called(lbx__request *request, lbx_status status)
{
    lbx__request_step *step = request->step;

    request->is_running = false;
    if (request->is_poll) {
        request->is_poll = false;
        lbx__polls_remove(&request->sqs->polls, request->queue->box);
    }
    status = lbx__store_call_result(&request->call, status);
    if (status != LBX_OK && (request->call.kind == LBX_CALL_RECEIVE ||
                             request->call.kind == LBX_CALL_PEEK))
        lbx__request_drop_received(request);
    step(request, status);
}

static void
request_resume(lbx__task *task)
{
    lbx__request *request = lbx__member(task, lbx__request, task);

    if (request->has_timer)
        lbx__timer_stop(&request->timer);
    lbx__list_remove(&request->waiting);
    request_called(request, request->status);
}

void
lbx__request_call(lbx__request *request, lbx_call_kind kind,
                  void *store_request, lbx__request_step *step)
{
    lbx_status status;

    assert(!request->is_running);
    request->is_running = true;
    request->step = step;
    request->task.run = request_resume;
    lbx_call_init(&request->call, &request_sink, kind, store_request);
    lbx__store_call_clear(&request->call);
    status = lbx__store_call_start(request->sqs->store, &request->call);
    if (status != LBX_PENDING)
        request_called(request, status);
}

void
lbx__request_cancel_receive(lbx__request *request)
{
    if (request->is_running && request->call.kind == LBX_CALL_RECEIVE)
        lbx__store_call_cancel(request->sqs->store, &request->call);
}

static void
request_waited(lbx__timer *timer)
{
    lbx__request_cancel_receive(lbx__member(timer, lbx__request, timer));
}

/* A receive that was cancelled because its wait was over, its client had left
 * or the server stops has found nothing. */
static void
request_received(lbx__request *request, lbx_status status)
{
    request->receive_step(request,
                          status == LBX_CANCELLED ? LBX_EMPTY : status);
}

/* A receive that would be one too many of its queue is refused. */
static bool
request_begin_poll(lbx__request *request)
{
    const lbx_status status =
        lbx__polls_add(&request->sqs->polls, request->queue->box);

    // After a failure the request does not exist (REQ-4).
    if (status == LBX_OK)
        request->is_poll = true;
    else if (status == LBX_FULL)
        lbx__request_fail(request, LBX__SQS_RequestThrottled,
                          "Too many receives wait for messages of queue %s.",
                          request->queue->name);
    else
        lbx__request_fail_status(request, status);
    return status == LBX_OK;
}

/* The timer and the list are set before the call, which may finish at once:
 * both are undone by whatever comes first. */
void
lbx__request_receive(lbx__request *request, lbx_receive_request *receive,
                     lbx__request_step *step)
{
    request->receive_step = step;
    request->is_receive = true;
    if (request->is_gone || request->sqs->is_stopping(request->sqs))
        receive->wait_ns = 0;
    if (receive->wait_ns > 0) {
        if (!request_begin_poll(request))
            return;
        lbx__timer_init(&request->timer, request->loop);
        request->has_timer = true;
        lbx__timer_start(&request->timer, receive->wait_ns, request_waited);
        request->sqs->wait(request);
    }
    lbx__request_call(request, LBX_CALL_RECEIVE, receive, request_received);
}

static void
request_free(lbx__request *request)
{
    lbx__sqs *sqs = request->sqs;

    assert(!request->is_running);
    lbx__request_drop_received(request);
    lbx__queue_unref(request->queue);
    lbx__buffer_fini(&request->body);
    lbx__arena_fini(&request->arena);
    lbx__free(sqs->allocator, request, sizeof(*request));
    sqs->freed(sqs);
}

static void
request_timer_closed(lbx__timer *timer)
{
    request_free(lbx__member(timer, lbx__request, timer));
}

void
lbx__request_destroy(lbx__request *request)
{
    lbx__list_remove(&request->waiting);
    if (request->has_timer)
        lbx__timer_close(&request->timer, request_timer_closed);
    else
        request_free(request);
}

static void
request_undone(lbx__request *request, lbx_status status)
{
    (void)status; // what could not be put back comes back when its lease ends
    lbx__request_destroy(request);
}

/* A settle of receives that were not seen; NULL: no memory. */
static lbx_settle_request *
request_make_undo(lbx__request *request, const lbx__received *first)
{
    lbx_settle_request *undo = lbx__arena_take(&request->arena, sizeof(*undo));
    size_t count = 0;

    if (!undo)
        return NULL;
    for (const lbx__received *one = first; one; one = one->next)
        count++;
    undo->box = request->queue->box;
    undo->entries =
        lbx__arena_take(&request->arena, count * sizeof(*undo->entries));
    if (!undo->entries)
        return NULL;
    for (const lbx__received *one = first; one; one = one->next)
        undo->entries[undo->count++] = (lbx_settle_request_entry){
            .action = LBX_SETTLE_NACK,
            .receipt = one->delivery.receipt,
            .receipt_bytes = one->delivery.receipt_bytes,
        };
    return undo;
}

/* REQ-3: puts back what no client has seen. */
static void
request_undo(lbx__request *request)
{
    lbx_settle_request *undo = request_make_undo(request, request->received);

    if (undo)
        lbx__request_call(request, LBX_CALL_UNDO, undo, request_undone);
    else
        lbx__request_destroy(request);
}

static void
request_put_back_done(lbx__request *request, lbx_status status)
{
    lbx__received_destroy_all(request->sqs->allocator, request->put_back);
    request->put_back = NULL;
    request->put_back_step(request, status);
}

void
lbx__request_put_back(lbx__request *request, lbx__received *first,
                      lbx__request_step *step)
{
    lbx_settle_request *undo = request_make_undo(request, first);

    request->put_back = first;
    request->put_back_step = step;
    if (undo)
        lbx__request_call(request, LBX_CALL_UNDO, undo, request_put_back_done);
    else
        request_put_back_done(request, LBX_NO_MEMORY);
}

void
lbx__request_written(lbx__request *request, lbx_status status)
{
    // An error has no letters: the client has not seen those there were.
    if (status == LBX_CLOSED || request->error != LBX__SQS_OK)
        request_undo(request);
    else
        lbx__request_destroy(request);
}
