/* SPDX-License-Identifier: Apache-2.0 */
/* ListQueues and ListDeadLetterSourceQueues. */
#include "server/sqs/change.h"
#include "server/sqs/fault_text.h"
#include "server/sqs/next_token.h"

enum {
    LIST_MAX = 1000
};

struct list_queues {
    lbx_list_request call;
    lbx__request *request;
    const char **names;
    size_t count;
    size_t max; /* of a page; one more is read, to know of it */
    const char *json_name;
    bool shows_none; /* the list is there, be it empty */
    bool failed;     /* no memory for a name */
    char space[LBX_BOX_SPACE_BYTES];
    char prefix[LBX_BOX_NAME_BYTES];
    char after[LBX_BOX_NAME_BYTES];
};

static lbx__next_token_list
list_token_list(const lbx__request *request)
{
    return (lbx__next_token_list){request->action->name, &request->world};
}

/* A thread of the store's; see read_keep_text() in queue.c. */
static bool
list_keep_name(void *context, const char *name)
{
    struct list_queues *list = context;
    const char *copy =
        lbx__arena_copy(&list->request->arena, name, strlen(name));

    if (!copy) {
        list->failed = true;
        return false;
    }
    list->names[list->count++] = copy;
    return list->count <= list->max;
}

static void
list_answer(lbx__request *request, const struct list_queues *list)
{
    const bool more = list->count > list->max;
    const size_t count = more ? list->max : list->count;
    const bool shown = count > 0 || list->shows_none;
    const lbx__next_token_list tokens = list_token_list(request);
    char token[LBX__NEXT_TOKEN_TEXT];
    lbx_buffer url;

    lbx__buffer_init(&url, request->sqs->allocator, 4096);
    if (shown)
        lbx__reply_list(&request->reply, list->json_name, "QueueUrl");
    for (size_t i = 0; i < count && url.status == LBX_OK; i++) {
        lbx__buffer_reset(&url);
        lbx__queue_url(request, list->names[i], &url);
        lbx__reply_list_text(&request->reply,
                             (lbx__slice){url.bytes, url.size});
    }
    if (shown)
        lbx__reply_list_end(&request->reply);
    if (more && request->input.max_results.given) {
        lbx__next_token_write(&tokens, list->names[count - 1], token);
        lbx__reply_text(&request->reply, "NextToken", lbx__slice_of(token));
    }
    lbx__buffer_fini(&url);
    if (url.status != LBX_OK) {
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    lbx__request_done(request);
}

static void
list_listed(lbx__request *request, lbx_status status)
{
    const struct list_queues *list = request->state;

    if (status == LBX_OK && list->failed)
        status = LBX_NO_MEMORY;
    if (status != LBX_OK) {
        lbx__request_fail_status(request, status);
        return;
    }
    list_answer(request, list);
}

/* Reads what both actions have in common. False: the request was answered. */
static bool
list_read_input(lbx__request *request, struct list_queues *list)
{
    const lbx__sqs_input *input = &request->input;
    const lbx__sqs_number *max = &input->max_results;
    const lbx__next_token_list tokens = list_token_list(request);

    if (max->given && (max->value < 1 || max->value > LIST_MAX)) {
        lbx__request_fail(request, LBX__SQS_InvalidParameterValueException,
                          "Value for parameter MaxResults is invalid. Reason: "
                          "MaxResults must be an integer between 1 and 1000.");
        return false;
    }
    list->max = max->given ? (size_t)max->value : LIST_MAX;
    if (input->next_token.size > 0) {
        if (!lbx__next_token_read(&tokens, input->next_token, list->after)) {
            lbx__request_fail(request, LBX__SQS_InvalidParameterValueException,
                              "Invalid or expired next token.");
            return false;
        }
        list->call.after = list->after;
    }
    list->names = lbx__arena_take(&request->arena,
                                  (list->max + 1) * sizeof(*list->names));
    if (!list->names) {
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return false;
    }
    return true;
}

static void
list_start(lbx__request *request, struct list_queues *list)
{
    list->request = request;
    list->call.space =
        lbx__queues_space(request->sqs->queues, &request->world, list->space);
    list->call.each = list_keep_name;
    list->call.context = list;
    request->state = list;
    lbx__request_call(request, LBX_CALL_LIST, &list->call, list_listed);
}

void
lbx__action_list_queues(lbx__request *request)
{
    const lbx__slice prefix = request->input.queue_prefix;
    struct list_queues *list = lbx__arena_take(&request->arena, sizeof(*list));

    if (!list) {
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    list->json_name = "QueueUrls";
    if (!list_read_input(request, list))
        return;
    if (prefix.size >= sizeof(list->prefix) ||
        (prefix.size > 0 && memchr(prefix.bytes, '\0', prefix.size))) {
        lbx__request_done(request); // no queue has such a name
        return;
    }
    if (prefix.size > 0) {
        memcpy(list->prefix, prefix.bytes, prefix.size);
        list->call.prefix = list->prefix;
    }
    list_start(request, list);
}

void
lbx__action_list_dead_letter_source_queues(lbx__request *request)
{
    struct list_queues *list = lbx__arena_take(&request->arena, sizeof(*list));

    if (!list) {
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    list->json_name = "queueUrls";
    list->shows_none = true;
    if (!list_read_input(request, list))
        return;
    list->call.dead_letters = request->queue->box;
    list_start(request, list);
}
