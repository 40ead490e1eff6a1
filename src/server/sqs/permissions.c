/* SPDX-License-Identifier: Apache-2.0 */
/* AddPermission and RemovePermission: statements of the queue's Policy. */
#include "codec/json_writer.h"
#include "server/sqs/change.h"
#include "server/sqs/fault_text.h"
#include "server/sqs/policy.h"

#include <stdio.h>

enum {
    ACTIONS_MAX = 7,
    LABEL_MAX = 80,
    POLICY_BYTES_MAX = 65536
};

struct permission {
    lbx__policy policy;
    lbx_box_text texts[2];
};

/* ---- Checks ---- */

static bool
permission_check_label(lbx__slice label, lbx__sqs_fault *fault)
{
    bool good = label.size > 0 && label.size <= LABEL_MAX;

    for (size_t i = 0; good && i < label.size; i++) {
        const char byte = label.bytes[i];

        good = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
               (byte >= 'A' && byte <= 'Z') || byte == '-' || byte == '_';
    }
    return good || lbx__fault_text_set(
                       fault, LBX__SQS_InvalidParameterValueException,
                       "Value %.*s for parameter Label is invalid. Reason: Can "
                       "only include alphanumeric characters, hyphens, or "
                       "underscores. 1 to 80 in length",
                       LBX__QUOTED(label));
}

static bool
permission_is_for_owner(const char *name)
{
    static const char *const names[] = {
        "AddPermission",
        "CancelMessageMoveTask",
        "CreateQueue",
        "DeleteQueue",
        "ListMessageMoveTasks",
        "ListQueueTags",
        "ListQueues",
        "RemovePermission",
        "SetQueueAttributes",
        "StartMessageMoveTask",
        "TagQueue",
        "UntagQueue",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

static bool
permission_check_actions(const lbx__sqs_texts *actions, lbx__sqs_fault *fault)
{
    if (actions->count > ACTIONS_MAX)
        return lbx__fault_text_set(
            fault, LBX__SQS_OverLimit,
            "%zu Actions were found, maximum allowed is 7.", actions->count);
    for (size_t i = 0; i < actions->count; i++) {
        const lbx__slice name = actions->items[i];
        const lbx__action *action = lbx__action_find(name);

        if (lbx__slice_is(name, "*") ||
            (action && !permission_is_for_owner(action->name)))
            continue;
        return lbx__fault_text_set(
            fault, LBX__SQS_InvalidParameterValueException,
            "Value SQS:%.*s for parameter ActionName is invalid. Reason: %s",
            LBX__QUOTED(name),
            action ? "Only the queue owner is allowed to invoke this action."
                   : "Please refer to the appropriate WSDL for a list of valid "
                     "actions.");
    }
    return true;
}

static bool
permission_check_accounts(const lbx__sqs_texts *accounts, lbx__sqs_fault *fault)
{
    lbx__slice bad = {"", 0};
    bool good = accounts->count > 0;

    for (size_t i = 0; good && i < accounts->count; i++) {
        bad = accounts->items[i];
        good = bad.size == LBX__ACCOUNT_BYTES - 1 &&
               strspn(bad.bytes, "0123456789") == bad.size;
    }
    return good ||
           lbx__fault_text_set(fault, LBX__SQS_InvalidParameterValueException,
                               "Value [%.*s] for parameter PrincipalId is "
                               "invalid. Reason: Unable to verify.",
                               LBX__QUOTED(bad));
}

/* ---- Writing ---- */

/* "a" for one text, ["a","b"] for several; each with a prefix and a suffix. */
static void
permission_write_texts(lbx__json_writer *json, const lbx__sqs_texts *texts,
                       const char *prefix, const char *suffix)
{
    char text[128];

    if (texts->count != 1)
        lbx__json_writer_array(json);
    for (size_t i = 0; i < texts->count; i++) {
        (void)snprintf(text, sizeof(text), "%s%.*s%s", prefix,
                       (int)texts->items[i].size, texts->items[i].bytes,
                       suffix);
        lbx__json_writer_text(json, text);
    }
    if (texts->count != 1)
        lbx__json_writer_array_end(json);
}

static void
permission_write_statement(const lbx__request *request, const char *arn,
                           lbx_buffer *out)
{
    const lbx__sqs_input *input = &request->input;
    lbx__json_writer json;

    lbx__json_writer_init(&json, out);
    lbx__json_writer_object(&json);
    lbx__json_writer_name(&json, "Sid");
    lbx__json_writer_bytes(&json, input->label.bytes, input->label.size);
    lbx__json_writer_name(&json, "Effect");
    lbx__json_writer_text(&json, "Allow");
    lbx__json_writer_name(&json, "Principal");
    lbx__json_writer_object(&json);
    lbx__json_writer_name(&json, "AWS");
    permission_write_texts(&json, &input->account_ids,
                           "arn:aws:iam::", ":root");
    lbx__json_writer_object_end(&json);
    lbx__json_writer_name(&json, "Action");
    permission_write_texts(&json, &input->action_names, "SQS:", "");
    lbx__json_writer_name(&json, "Resource");
    lbx__json_writer_text(&json, arn);
    lbx__json_writer_object_end(&json);
}

/* ---- The actions ---- */

/* Reads the queue's policy, or a new one without statements. False: the request
 * was answered. */
static bool
permission_read_policy(lbx__request *request, struct permission *permission,
                       const char *arn)
{
    const char *text = lbx__queue_text(request->queue, LBX__TEXT_POLICY);
    char fresh[LBX__ARN_BYTES + 96];

    (void)snprintf(fresh, sizeof(fresh),
                   "{\"Version\":\"2008-10-17\",\"Id\":\"%s/"
                   "SQSDefaultPolicy\"}",
                   arn);
    if (!text)
        text = lbx__arena_copy(&request->arena, fresh, strlen(fresh));
    if (text && lbx__policy_read(&permission->policy, &request->arena,
                                 request->sqs->allocator, lbx__slice_of(text),
                                 request->input.label.bytes))
        return true;
    lbx__request_fail(request, LBX__SQS_InvalidParameterValueException,
                      "The Policy of the queue cannot be edited: it has no "
                      "list of statements.");
    return false;
}

/* Sets the policy, with one more statement unless NULL bytes. */
static void
permission_change(lbx__request *request, struct permission *permission,
                  lbx__slice more)
{
    const lbx__policy *policy = &permission->policy;
    const bool stays = more.bytes || policy->count > 1;
    const char *text = NULL, *now = lbx__change_time(request);
    lbx_buffer out;

    lbx__buffer_init(&out, request->sqs->allocator, POLICY_BYTES_MAX);
    if (stays) {
        lbx__policy_write(policy, more, &out);
        if (out.status == LBX_OK)
            text = lbx__arena_copy(&request->arena, out.bytes, out.size);
    }
    lbx__buffer_fini(&out);
    if (out.status == LBX_TOO_LARGE) {
        lbx__request_fail(request, LBX__SQS_OverLimit,
                          "The Policy of the queue has too many "
                          "statements.");
        return;
    }
    if ((stays && !text) || !now) {
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    permission->texts[0] = (lbx_box_text){LBX__TEXT_POLICY, text};
    permission->texts[1] = (lbx_box_text){LBX__TEXT_MODIFIED, now};
    lbx__change_configure(request, NULL, permission->texts, 2,
                          lbx__change_done);
}

static void
permission_refuse_label(lbx__request *request, const char *why)
{
    lbx__request_fail(request, LBX__SQS_InvalidParameterValueException,
                      "Value %.*s for parameter Label is invalid. Reason: %s",
                      (int)request->input.label.size,
                      request->input.label.bytes, why);
}

static void
add_permission_read(lbx__request *request, lbx_status status)
{
    struct permission *permission = request->state;
    char arn[LBX__ARN_BYTES];
    lbx_buffer statement;

    if (status != LBX_OK) {
        lbx__request_fail_status(request, status);
        return;
    }
    lbx__queue_arn(&request->world, request->queue->name, arn);
    if (!permission_read_policy(request, permission, arn))
        return;
    if (permission->policy.has_label) {
        permission_refuse_label(request, "Already exists.");
        return;
    }
    lbx__buffer_init(&statement, request->sqs->allocator, POLICY_BYTES_MAX);
    permission_write_statement(request, arn, &statement);
    if (statement.status == LBX_OK)
        permission_change(request, permission,
                          (lbx__slice){statement.bytes, statement.size});
    else
        lbx__request_fail_status(request, statement.status);
    lbx__buffer_fini(&statement);
}

/* Whether the label is there and good, and memory; else the request was
 * answered. */
static bool
permission_start(lbx__request *request)
{
    lbx__sqs_fault fault;

    request->state =
        lbx__arena_take(&request->arena, sizeof(struct permission));
    if (!request->state)
        lbx__request_fail_status(request, LBX_NO_MEMORY);
    else if (!request->input.label.bytes)
        lbx__change_fail_missing(request, "Label");
    else if (!permission_check_label(request->input.label, &fault))
        lbx__request_fail_fault(request, &fault);
    else
        return true;
    return false;
}

void
lbx__action_add_permission(lbx__request *request)
{
    const lbx__sqs_input *input = &request->input;
    lbx__sqs_fault fault;

    if (!permission_start(request))
        return;
    if (input->action_names.count == 0) {
        lbx__change_fail_missing(request, "Actions");
        return;
    }
    if (!permission_check_actions(&input->action_names, &fault) ||
        !permission_check_accounts(&input->account_ids, &fault)) {
        lbx__request_fail_fault(request, &fault);
        return;
    }
    lbx__change_begin(request, add_permission_read);
}

static void
remove_permission_read(lbx__request *request, lbx_status status)
{
    const lbx__slice none = {NULL, 0};
    char arn[LBX__ARN_BYTES];

    if (status != LBX_OK) {
        lbx__request_fail_status(request, status);
        return;
    }
    lbx__queue_arn(&request->world, request->queue->name, arn);
    if (!permission_read_policy(request, request->state, arn))
        return;
    if (!((struct permission *)request->state)->policy.has_label) {
        permission_refuse_label(request, "can't find label.");
        return;
    }
    permission_change(request, request->state, none);
}

void
lbx__action_remove_permission(lbx__request *request)
{
    if (permission_start(request))
        lbx__change_begin(request, remove_permission_read);
}
