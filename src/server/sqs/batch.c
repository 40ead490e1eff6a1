/* SPDX-License-Identifier: Apache-2.0 */
/* What batches have in common; see batch.h. */
#include "server/sqs/batch.h"

#include <stdio.h>

enum {
    MAX_ENTRY_ID = 80
};

/* ---- Entries ---- */

static bool
batch_id_is_valid(lbx__slice id)
{
    if (id.size < 1 || id.size > MAX_ENTRY_ID)
        return false;
    for (size_t i = 0; i < id.size; i++) {
        const char c = id.bytes[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
              (c >= '0' && c <= '9') || c == '_' || c == '-'))
            return false;
    }
    return true;
}

static bool
batch_check_id(lbx__request *request, size_t index)
{
    const lbx__slice id = request->input.entries[index].id;

    if (!id.bytes) {
        lbx__request_fail(
            request, LBX__SQS_MissingRequiredParameterException,
            "The request must contain the parameter %sRequestEntry.%zu.Id.",
            request->action->name, index + 1);
        return false;
    }
    if (!batch_id_is_valid(id)) {
        lbx__request_fail(request, LBX__SQS_InvalidBatchEntryId,
                          "A batch entry id can only contain alphanumeric "
                          "characters, hyphens and underscores. It can be at "
                          "most 80 letters long.");
        return false;
    }
    return true;
}

/* Entries are few: each is compared with those before it. */
static bool
batch_check_distinct(lbx__request *request)
{
    const lbx__sqs_entry *entries = request->input.entries;

    for (size_t i = 0; i < request->input.entry_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (!lbx__slice_equal(entries[i].id, entries[j].id))
                continue;
            lbx__request_fail(request, LBX__SQS_BatchEntryIdsNotDistinct,
                              "Id %.*s repeated.", (int)entries[i].id.size,
                              entries[i].id.bytes);
            return false;
        }
    }
    return true;
}

bool
lbx__batch_check(lbx__request *request)
{
    const size_t count = request->input.entry_count;

    if (!request->input.has_entries && request->format == LBX__SQS_JSON) {
        lbx__request_fail(request, LBX__SQS_MissingRequiredParameterException,
                          "The request must contain the parameter Entries.");
        return false;
    }
    if (count == 0) {
        lbx__request_fail(
            request, LBX__SQS_EmptyBatchRequest,
            "There should be at least one %sRequestEntry in the request.",
            request->action->name);
        return false;
    }
    if (count > LBX_MAX_BATCH) {
        lbx__request_fail(request, LBX__SQS_TooManyEntriesInBatchRequest,
                          "Maximum number of entries per request are %d. You "
                          "have sent %zu.",
                          LBX_MAX_BATCH, count);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!batch_check_id(request, i))
            return false;
    }
    return batch_check_distinct(request);
}

/* ---- Results ---- */

void
lbx__batch_refuse(lbx__request *request, lbx__batch_result *result,
                  const lbx__sqs_fault *fault)
{
    const char *text =
        lbx__arena_copy(&request->arena, fault->text, strlen(fault->text));

    result->error = fault->error;
    result->text = text ? text : "";
}

void
lbx__batch_set_status(lbx__batch_result *result, lbx_status status)
{
    if (status != LBX_OK)
        result->error = lbx__request_error_of(status, &result->text);
}

static void
batch_write_successful(lbx__request *request, const lbx__batch_result *results,
                       void (*members)(lbx__request *request, size_t index))
{
    lbx__sqs_reply *reply = &request->reply;
    char element[64];

    snprintf(element, sizeof(element), "%sResultEntry", request->action->name);
    lbx__reply_list(reply, "Successful", element);
    for (size_t i = 0; i < request->input.entry_count; i++) {
        if (results[i].error != LBX__SQS_OK)
            continue;
        lbx__reply_item(reply);
        lbx__reply_text(reply, "Id", request->input.entries[i].id);
        if (members)
            members(request, i);
        lbx__reply_item_end(reply);
    }
    lbx__reply_list_end(reply);
}

static void
batch_write_failed(lbx__request *request, const lbx__batch_result *results)
{
    lbx__sqs_reply *reply = &request->reply;

    lbx__reply_list(reply, "Failed", "BatchResultErrorEntry");
    for (size_t i = 0; i < request->input.entry_count; i++) {
        const lbx__sqs_error_row *row;

        if (results[i].error == LBX__SQS_OK)
            continue;
        row = lbx__sqs_error_row_of(results[i].error);
        lbx__reply_item(reply);
        lbx__reply_text(reply, "Id", request->input.entries[i].id);
        lbx__reply_boolean(reply, "SenderFault", row->is_sender);
        lbx__reply_text(reply, "Code", lbx__slice_of(row->code));
        lbx__reply_text(reply, "Message", lbx__slice_of(results[i].text));
        lbx__reply_item_end(reply);
    }
    lbx__reply_list_end(reply);
}

void
lbx__batch_finish(lbx__request *request, const lbx__batch_result *results,
                  void (*members)(lbx__request *request, size_t index))
{
    size_t failed = 0;

    for (size_t i = 0; i < request->input.entry_count; i++)
        failed += results[i].error != LBX__SQS_OK;
    if (failed < request->input.entry_count) // REPLY-X1
        batch_write_successful(request, results, members);
    if (failed > 0)
        batch_write_failed(request, results);
    lbx__request_done(request);
}
