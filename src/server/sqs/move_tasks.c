/* SPDX-License-Identifier: Apache-2.0 */
/*
 * StartMessageMoveTask and CancelMessageMoveTask.
 *
 * The store runs the tasks. What it does not report of one is in a text of the
 * source queue, "sqs:move:NUMBER": how many letters there were at the start,
 * the rate, and the name of the destination, with spaces between. It is written
 * after the start, and a task without it is shown with what is known.
 */
#include "server/sqs/change.h"
#include "server/sqs/move_handle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TASKS_KEPT = 10,
    RATE_MAX = 500,
    LOOKS_MAX = 16,  /* at a task that has just started, */
    LOOKS_RATED = 2, /* and at one with a rate */
    TEXT_NAME_BYTES = 40
};

static void
move_fail_resource(lbx__request *request, const char *parameter)
{
    lbx__request_fail(request, LBX__SQS_ResourceNotFoundException,
                      "The resource that you specified for the %s parameter "
                      "doesn't exist.",
                      parameter);
}

/* False: the request has failed, because the source was not read. */
static bool
move_has_source(lbx__request *request, lbx_status status)
{
    if (status == LBX_NOT_FOUND)
        move_fail_resource(request, "SourceArn");
    else if (status != LBX_OK)
        lbx__request_fail_status(request, status);
    return status == LBX_OK;
}

/* Reads the queue of an ARN, which becomes that of the request. */
static void
move_read_source(lbx__request *request, lbx__slice arn, lbx_box_counts *counts,
                 lbx__request_step *step)
{
    lbx__queues_read(request, &request->world,
                     lbx__queue_name_of_arn(&request->world, arn), counts,
                     step);
}

/* ---- StartMessageMoveTask ---- */

struct start_move {
    lbx_list_request list;
    lbx_move_request move;
    lbx_move_progress progress;
    uint64_t task;
    uint32_t looks;
    lbx_box_counts counts;
    lbx_status destination; /* whether it was found */
    bool is_target;         /* of some queue's dead letters */
    char name[LBX_BOX_NAME_BYTES];
    char space[LBX_BOX_SPACE_BYTES];
    lbx_box_text texts[TASKS_KEPT + 1];
    size_t text_count;
    char text_name[TEXT_NAME_BYTES];
    char text_value[64 + LBX_BOX_NAME_BYTES];
};

/* The texts of tasks that the store has forgotten are taken away. */
static void
start_drop_old(const lbx__queue *queue, struct start_move *start)
{
    const size_t prefix = sizeof(LBX__TEXT_MOVE) - 1;

    for (size_t i = 0; i < queue->text_count; i++) {
        const char *name = queue->texts[i].name;
        size_t newer = 1; // the one that starts

        if (strncmp(name, LBX__TEXT_MOVE, prefix) != 0)
            continue;
        for (size_t j = 0; j < queue->text_count; j++) {
            const char *other = queue->texts[j].name;

            newer += strncmp(other, LBX__TEXT_MOVE, prefix) == 0 &&
                     strtoull(other + prefix, NULL, 10) >
                         strtoull(name + prefix, NULL, 10);
        }
        if (newer >= TASKS_KEPT && start->text_count < TASKS_KEPT)
            start->texts[start->text_count++].name = name;
    }
}

static void
start_answer(lbx__request *request)
{
    const struct start_move *start = request->state;
    char handle[LBX__MOVE_HANDLE_BYTES], arn[LBX__ARN_BYTES];

    lbx__queue_arn(&request->world, request->queue->name, arn);
    lbx__move_handle_write(start->task, arn, handle);
    lbx__reply_text(&request->reply, "TaskHandle", lbx__slice_of(handle));
    lbx__request_done(request);
}

/* A few messages are moved when the answer is sent, as the tests of programs
 * expect: the store works on a task between two calls. One that takes longer
 * goes on by itself; with a rate, it is the first message that is moved. */
static void
start_look(lbx__request *request, lbx_status status)
{
    struct start_move *start = request->state;
    const uint32_t most =
        start->move.letters_per_second > 0 ? LOOKS_RATED : LOOKS_MAX;

    if (status != LBX_OK || start->progress.task != start->task ||
        start->progress.phase != LBX_MOVE_PHASE_RUNNING ||
        start->looks == most) {
        start_answer(request);
        return;
    }
    start->looks++;
    start->move.action = LBX_MOVE_ACTION_DESCRIBE;
    lbx__request_call(request, LBX_CALL_MOVE, &start->move, start_look);
}

static void
start_noted(lbx__request *request, lbx_status status)
{
    (void)status; // it runs, whether or not it was noted
    lbx__queues_forget(request->sqs->queues, &request->world,
                       request->queue->name);
    start_look(request, LBX_OK);
}

static void
start_started(lbx__request *request, lbx_status status)
{
    struct start_move *start = request->state;
    lbx_box_text *text;

    if (status == LBX_BUSY) {
        lbx__request_fail(
            request, LBX__SQS_InvalidParameterValueException,
            "There is already a task running. Only one active task is allowed "
            "for a source queue arn at a given time.");
        return;
    }
    if (status == LBX_INVALID) {
        lbx__request_fail(
            request, LBX__SQS_InvalidParameterValueException,
            "The source queue and destination queue must be of the same queue "
            "type, and not the same queue.");
        return;
    }
    if (status == LBX_NOT_FOUND) { // deleted meanwhile
        move_fail_resource(request, start->move.to.uid != 0 ? "DestinationArn"
                                                            : "SourceArn");
        return;
    }
    if (status != LBX_OK) {
        lbx__request_fail_status(request, status);
        return;
    }
    start->task = start->progress.task;
    start_drop_old(request->queue, start);
    (void)snprintf(start->text_name, sizeof(start->text_name),
                   LBX__TEXT_MOVE "%" PRIu64, start->progress.task);
    (void)snprintf(start->text_value, sizeof(start->text_value),
                   "%" PRIu64 " %" PRId64 " %s", start->counts.ready,
                   start->move.letters_per_second, start->name);
    text = &start->texts[start->text_count++];
    *text = (lbx_box_text){start->text_name, start->text_value};
    lbx__change_configure(request, NULL, start->texts, start->text_count,
                          start_noted);
}

static bool
start_note_target(void *context, const char *name)
{
    struct start_move *start = context;

    (void)name;
    start->is_target = true;
    return false;
}

static void
start_listed(lbx__request *request, lbx_status status)
{
    struct start_move *start = request->state;

    if (status != LBX_OK) {
        lbx__request_fail_status(request, status);
        return;
    }
    if (!start->is_target) {
        lbx__request_fail(
            request, LBX__SQS_InvalidParameterValueException,
            "Source queue must be configured as a Dead Letter Queue.");
        return;
    }
    if (start->destination == LBX_NOT_FOUND) {
        move_fail_resource(request, "DestinationArn");
        return;
    }
    if (start->destination != LBX_OK) {
        lbx__request_fail_status(request, start->destination);
        return;
    }
    start->progress = (lbx_move_progress)LBX_MOVE_PROGRESS_INIT;
    start->move.action = LBX_MOVE_ACTION_START_UNCHECKED;
    start->move.from = request->queue->box;
    start->move.ret = &start->progress;
    lbx__request_call(request, LBX_CALL_MOVE, &start->move, start_started);
}

static void
start_read(lbx__request *request, lbx_status status)
{
    struct start_move *start = request->state;

    if (!move_has_source(request, status))
        return;
    start->list = (lbx_list_request){
        .space = lbx__queues_space(request->sqs->queues, &request->world,
                                   start->space),
        .dead_letters = request->queue->box,
        .each = start_note_target,
        .context = start,
    };
    lbx__request_call(request, LBX_CALL_LIST, &start->list, start_listed);
}

static void
start_read_source(lbx__request *request)
{
    struct start_move *start = request->state;

    start->counts = (lbx_box_counts)LBX_BOX_COUNTS_INIT;
    move_read_source(request, request->input.source_arn, &start->counts,
                     start_read);
}

static void
start_found_destination(lbx__request *request, lbx_status status)
{
    struct start_move *start = request->state;

    start->destination = status;
    if (status == LBX_OK) {
        start->move.to = request->queue->box;
        (void)snprintf(start->name, sizeof(start->name), "%s",
                       request->queue->name);
    }
    start_read_source(request);
}

void
lbx__action_start_message_move_task(lbx__request *request)
{
    const lbx__sqs_input *input = &request->input;
    struct start_move *start = lbx__arena_take(&request->arena, sizeof(*start));

    if (!start) {
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    request->state = start;
    if (!input->source_arn.bytes) {
        lbx__change_fail_missing(request, "SourceArn");
        return;
    }
    if (input->rate.given &&
        (input->rate.value < 1 || input->rate.value > RATE_MAX)) {
        lbx__request_fail(request, LBX__SQS_InvalidParameterValueException,
                          "Value %" PRId64
                          " for parameter MaxNumberOfMessagesPerSecond is "
                          "invalid. Reason: Must be between 1 and 500.",
                          input->rate.value);
        return;
    }
    if (input->rate.given)
        start->move.letters_per_second = input->rate.value;
    if (input->destination_arn.size == 0) {
        start_read_source(request);
        return;
    }
    lbx__queues_read(
        request, &request->world,
        lbx__queue_name_of_arn(&request->world, input->destination_arn), NULL,
        start_found_destination);
}

/* ---- CancelMessageMoveTask ---- */

struct cancel_move {
    lbx__move_handle handle;
    lbx_move_request move;
    lbx_move_progress progress;
};

static void
cancel_fail_task(lbx__request *request)
{
    lbx__request_fail(request, LBX__SQS_ResourceNotFoundException,
                      "Task does not exist.");
}

static void
cancel_cancelled(lbx__request *request, lbx_status status)
{
    const struct cancel_move *cancel = request->state;

    if (status == LBX_NOT_FOUND) {
        cancel_fail_task(request); // it has ended meanwhile
        return;
    }
    if (status != LBX_OK) {
        lbx__request_fail_status(request, status);
        return;
    }
    lbx__reply_number(&request->reply, "ApproximateNumberOfMessagesMoved",
                      (int64_t)cancel->progress.moved);
    lbx__request_done(request);
}

static void
cancel_described(lbx__request *request, lbx_status status)
{
    struct cancel_move *cancel = request->state;

    if (status == LBX_NOT_FOUND ||
        (status == LBX_OK &&
         (cancel->progress.task != cancel->handle.task ||
          cancel->progress.phase != LBX_MOVE_PHASE_RUNNING))) {
        cancel_fail_task(request);
        return;
    }
    if (status != LBX_OK) {
        lbx__request_fail_status(request, status);
        return;
    }
    cancel->move.action = LBX_MOVE_ACTION_CANCEL;
    lbx__request_call(request, LBX_CALL_MOVE, &cancel->move, cancel_cancelled);
}

static void
cancel_read(lbx__request *request, lbx_status status)
{
    struct cancel_move *cancel = request->state;

    if (!move_has_source(request, status))
        return;
    cancel->progress = (lbx_move_progress)LBX_MOVE_PROGRESS_INIT;
    cancel->move = (lbx_move_request){
        .action = LBX_MOVE_ACTION_DESCRIBE, // the latest: no other can run
        .from = request->queue->box,
        .ret = &cancel->progress,
    };
    lbx__request_call(request, LBX_CALL_MOVE, &cancel->move, cancel_described);
}

void
lbx__action_cancel_message_move_task(lbx__request *request)
{
    const lbx__slice handle = request->input.task_handle;
    struct cancel_move *cancel =
        lbx__arena_take(&request->arena, sizeof(*cancel));

    if (!cancel) {
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    request->state = cancel;
    if (!handle.bytes) {
        lbx__change_fail_missing(request, "TaskHandle");
        return;
    }
    if (!lbx__move_handle_read(&request->arena, request->sqs->allocator, handle,
                               &cancel->handle)) {
        lbx__request_fail(request, LBX__SQS_InvalidParameterValueException,
                          "Value for parameter TaskHandle is invalid.");
        return;
    }
    move_read_source(request, lbx__slice_of(cancel->handle.source), NULL,
                     cancel_read);
}
