/* SPDX-License-Identifier: Apache-2.0 */
/* ListMessageMoveTasks; what the store does not report is in texts of the
 * queue, see move_tasks.c. */
#include "server/sqs/change.h"
#include "server/sqs/move_handle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MOVES_MAX = 10
};

struct list_moves {
    lbx_move_request move;
    lbx_move_progress tasks[MOVES_MAX];
    size_t count, max;
};

/* What the text of a task says. */
struct move_note {
    int64_t letters;         /* at the start */
    int64_t rate;            /* 0: none */
    const char *destination; /* NULL: none */
};

static struct move_note
list_moves_note(const lbx__queue *queue, const lbx_move_progress *task)
{
    struct move_note note = {
        .letters = (int64_t)(task->moved + task->left),
    };
    char name[48], *end;
    const char *text;

    (void)snprintf(name, sizeof(name), LBX__TEXT_MOVE "%" PRIu64, task->task);
    text = lbx__queue_text(queue, name);
    if (!text)
        return note;
    note.letters = strtoll(text, &end, 10);
    note.rate = strtoll(end, &end, 10);
    if (end[0] == ' ' && end[1] != '\0')
        note.destination = end + 1;
    return note;
}

static const char *
list_moves_phase(lbx_move_phase phase)
{
    switch (phase) {
    case LBX_MOVE_PHASE_RUNNING:
        return "RUNNING";
    case LBX_MOVE_PHASE_COMPLETED:
        return "COMPLETED";
    case LBX_MOVE_PHASE_CANCELLING:
        return "CANCELLING";
    case LBX_MOVE_PHASE_CANCELLED:
        return "CANCELLED";
    case LBX_MOVE_PHASE_FAILED:
        return "FAILED";
    }
    return "FAILED";
}

static const char *
list_moves_reason(const lbx_move_progress *task, const struct move_note *note)
{
    if (task->reason == LBX_NOT_FOUND && !note->destination)
        return "CouldNotDetermineMessageSource";
    if (task->reason == LBX_NOT_FOUND)
        return "AWS.SimpleQueueService.NonExistentQueue";
    return lbx_status_text(task->reason);
}

static void
list_moves_write(lbx__request *request, const lbx_move_progress *task)
{
    const struct move_note note = list_moves_note(request->queue, task);
    lbx__sqs_reply *reply = &request->reply;
    char handle[LBX__MOVE_HANDLE_BYTES], arn[LBX__ARN_BYTES];

    lbx__queue_arn(&request->world, request->queue->name, arn);
    lbx__reply_item(reply);
    if (task->phase == LBX_MOVE_PHASE_RUNNING) {
        lbx__move_handle_write(task->task, arn, handle);
        lbx__reply_text(reply, "TaskHandle", lbx__slice_of(handle));
    }
    lbx__reply_text(reply, "Status",
                    lbx__slice_of(list_moves_phase(task->phase)));
    lbx__reply_text(reply, "SourceArn", lbx__slice_of(arn));
    if (note.destination)
        lbx__reply_text(reply, "DestinationArn",
                        lbx__slice_of(lbx__queue_arn(&request->world,
                                                     note.destination, arn)));
    if (note.rate > 0)
        lbx__reply_number(reply, "MaxNumberOfMessagesPerSecond", note.rate);
    lbx__reply_number(reply, "ApproximateNumberOfMessagesMoved",
                      (int64_t)task->moved);
    lbx__reply_number(reply, "ApproximateNumberOfMessagesToMove", note.letters);
    if (task->phase == LBX_MOVE_PHASE_FAILED)
        lbx__reply_text(reply, "FailureReason",
                        lbx__slice_of(list_moves_reason(task, &note)));
    lbx__reply_number(reply, "StartedTimestamp", task->started_ms);
    lbx__reply_item_end(reply);
}

static void list_moves_next(lbx__request *request);

static void
list_moves_described(lbx__request *request, lbx_status status)
{
    struct list_moves *list = request->state;

    if (status == LBX_OK) {
        list->count++;
        if (list->count < list->max) {
            list_moves_next(request);
            return;
        }
    } else if (status != LBX_NOT_FOUND) {
        lbx__request_fail_status(request, status);
        return;
    }
    // Without tasks too: in JSON the list is there, and empty.
    lbx__reply_list(&request->reply, "Results",
                    "ListMessageMoveTasksResultEntry");
    for (size_t i = 0; i < list->count; i++)
        list_moves_write(request, &list->tasks[i]);
    lbx__reply_list_end(&request->reply);
    lbx__request_done(request);
}

static void
list_moves_next(lbx__request *request)
{
    struct list_moves *list = request->state;

    list->tasks[list->count] = (lbx_move_progress)LBX_MOVE_PROGRESS_INIT;
    list->move = (lbx_move_request){
        .action = LBX_MOVE_ACTION_DESCRIBE,
        .from = request->queue->box,
        .index = (uint32_t)list->count,
        .ret = &list->tasks[list->count],
    };
    lbx__request_call(request, LBX_CALL_MOVE, &list->move,
                      list_moves_described);
}

static void
list_moves_read(lbx__request *request, lbx_status status)
{
    if (status == LBX_NOT_FOUND) {
        lbx__request_fail(
            request, LBX__SQS_ResourceNotFoundException,
            "The resource that you specified for the SourceArn parameter "
            "doesn't exist.");
        return;
    }
    if (status != LBX_OK) {
        lbx__request_fail_status(request, status);
        return;
    }
    list_moves_next(request);
}

void
lbx__action_list_message_move_tasks(lbx__request *request)
{
    const lbx__sqs_input *input = &request->input;
    struct list_moves *list = lbx__arena_take(&request->arena, sizeof(*list));

    if (!list) {
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    request->state = list;
    if (!input->source_arn.bytes) {
        lbx__change_fail_missing(request, "SourceArn");
        return;
    }
    if (input->max_results.given && (input->max_results.value < 1 ||
                                     input->max_results.value > MOVES_MAX)) {
        lbx__request_fail(request, LBX__SQS_InvalidParameterValueException,
                          "Value %" PRId64
                          " for parameter MaxResults is invalid. Reason: "
                          "Must be between 1 and 10.",
                          input->max_results.value);
        return;
    }
    list->max = input->max_results.given ? (size_t)input->max_results.value : 1;
    lbx__queues_read(request, &request->world,
                     lbx__queue_name_of_arn(&request->world, input->source_arn),
                     NULL, list_moves_read);
}
