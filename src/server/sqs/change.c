/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of queues; see change.h. */
#include "server/sqs/change.h"

#include "base/clock.h"
#include "server/sqs/fault_text.h"

#include <inttypes.h>
#include <stdio.h>

void
lbx__change_fail_missing(lbx__request *request, const char *parameter)
{
    lbx__request_fail(request, LBX__SQS_MissingRequiredParameterException,
                      "The request must contain the parameter %s.", parameter);
}

void
lbx__change_fail_status(lbx__request *request, const lbx__queue_draft *draft,
                        lbx_status status)
{
    const char *why = NULL;

    if (draft->redrive.bytes && draft->options.dead_letters) {
        if (status == LBX_NOT_FOUND)
            why = "Dead letter target does not exist.";
        else if (status == LBX_INVALID)
            why = "Dead-letter queue must be same type of queue as the source.";
        else if (status == LBX_DENIED)
            why = "The RedriveAllowPolicy of the dead-letter queue does not "
                  "permit this queue.";
    }
    if (!why) {
        lbx__request_fail_status(request, status);
        return;
    }
    lbx__request_fail(request, LBX__SQS_InvalidParameterValueException,
                      "Value %.*s for parameter RedrivePolicy is invalid. "
                      "Reason: %s",
                      LBX__QUOTED(draft->redrive), why);
}

void
lbx__change_refresh(lbx__request *request, lbx_box_counts *counts,
                    lbx__request_step *step)
{
    // By name: what was looked up before may be over, and another be there.
    lbx__queues_read(request, &request->world,
                     lbx__slice_of(request->queue->name), counts, step);
}

static void
change_locked(lbx__request *request, lbx_status status)
{
    (void)status; // OK
    lbx__change_refresh(request, NULL, request->change_step);
}

void
lbx__change_begin(lbx__request *request, lbx__request_step *step)
{
    request->change_step = step;
    lbx__change_lock_take(request, change_locked);
}

void
lbx__change_configure(lbx__request *request, const lbx_box_options *options,
                      const lbx_box_text *texts, size_t count,
                      lbx__request_step *step)
{
    lbx_box_request *change = lbx__arena_take(&request->arena, sizeof(*change));

    if (!change) {
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    change->box = request->queue->box;
    change->options = options;
    change->texts = texts;
    change->text_count = count;
    lbx__request_call(request, LBX_CALL_CONFIGURE, change, step);
}

void
lbx__change_done(lbx__request *request, lbx_status status)
{
    // Also after a failure: it may have happened.
    lbx__queues_forget(request->sqs->queues, &request->world,
                       request->queue->name);
    if (status != LBX_OK) {
        lbx__request_fail_status(request, status);
        return;
    }
    lbx__request_done(request);
}

const char *
lbx__change_time(lbx__request *request)
{
    char text[24];
    const int size =
        snprintf(text, sizeof(text), "%" PRId64, lbx__clock_wall_ms() / 1000);

    return lbx__arena_copy(&request->arena, text, (size_t)size);
}

const char *
lbx__change_text(lbx__request *request, const char *prefix, lbx__slice text)
{
    const size_t size = strlen(prefix);
    char *copy = lbx__arena_take(&request->arena, size + text.size + 1);

    if (!copy)
        return NULL;
    memcpy(copy, prefix, size + 1);
    if (text.size > 0)
        memcpy(copy + size, text.bytes, text.size);
    return copy;
}
