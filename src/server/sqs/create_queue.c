/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CreateQueue, DeleteQueue and GetQueueUrl.
 *
 * A second CreateQueue succeeds when the attributes that it gives are those
 * that the queue has; what it does not give, it does not ask about. So the
 * queue is looked up first, and the store's own comparison is used only for
 * creations at the same time: what was created meanwhile is looked up again.
 */
#include "server/sqs/change.h"
#include "server/sqs/fault_text.h"
#include "server/sqs/tags.h"

#include <strings.h>

enum {
    NAME_MAX_BYTES = 80,
    CREATE_TRIES = 4 /* against creations and deletions at the same time */
};

struct create_queue {
    lbx__queue_draft draft;
    const char *name;
    lbx_box_text *texts;
    size_t text_count;
    uint32_t tries;
    lbx_box_request call;
    char space[LBX_BOX_SPACE_BYTES];
};

/* ---- Names ---- */

static bool
create_is_fifo_name(lbx__slice name)
{
    return name.size > 5 && memcmp(name.bytes + name.size - 5, ".fifo", 5) == 0;
}

/* `name` without its suffix. */
static bool
create_is_plain_name(lbx__slice name)
{
    for (size_t i = 0; i < name.size; i++) {
        const char byte = name.bytes[i];

        if (!((byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
              (byte >= 'A' && byte <= 'Z') || byte == '-' || byte == '_'))
            return false;
    }
    return name.size > 0;
}

static bool
create_is_fifo(const lbx__sqs_pairs *attributes)
{
    for (size_t i = 0; i < attributes->count; i++) {
        const lbx__sqs_pair *one = &attributes->items[i];

        if (lbx__slice_is(one->name, "FifoQueue"))
            return one->value.size == 4 &&
                   strncasecmp(one->value.bytes, "true", 4) == 0;
    }
    return false;
}

static bool
create_check_name(lbx__slice name, bool fifo, lbx__sqs_fault *fault)
{
    lbx__slice plain = name;

    if (fifo && create_is_fifo_name(name))
        plain.size -= 5;
    if (name.size <= NAME_MAX_BYTES && create_is_plain_name(plain) &&
        fifo == (plain.size != name.size))
        return true;
    return lbx__fault_text_set(
        fault, LBX__SQS_InvalidParameterValueException,
        fifo ? "The name of a FIFO queue can only include alphanumeric "
               "characters, hyphens, or underscores, must end with .fifo "
               "suffix and be 1 to 80 in length."
             : "Can only include alphanumeric characters, hyphens, or "
               "underscores. 1 to 80 in length");
}

/* ---- CreateQueue ---- */

static void create_looked_up(lbx__request *request, lbx_status status);

static void
create_answer_url(lbx__request *request, const char *name)
{
    lbx_buffer url;

    lbx__buffer_init(&url, request->sqs->allocator, 4096);
    lbx__queue_url(request, name, &url);
    if (url.status != LBX_OK) {
        lbx__buffer_fini(&url);
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    lbx__reply_text(&request->reply, "QueueUrl",
                    (lbx__slice){url.bytes, url.size});
    lbx__buffer_fini(&url);
    lbx__request_done(request);
}

/* Texts of a new queue: those of the draft, its times, and its tags. */
static bool
create_make_texts(lbx__request *request, struct create_queue *create)
{
    const lbx__sqs_pairs *tags = &request->input.tags;
    const lbx__queue_draft *draft = &create->draft;
    const char *now = lbx__change_time(request);
    size_t count = 0;

    create->texts =
        lbx__arena_take(&request->arena, (draft->text_count + tags->count + 2) *
                                             sizeof(*create->texts));
    if (!create->texts || !now)
        return false;
    for (size_t i = 0; i < draft->text_count; i++) {
        if (draft->texts[i].value)
            create->texts[count++] = draft->texts[i];
    }
    create->texts[count++] = (lbx_box_text){LBX__TEXT_CREATED, now};
    create->texts[count++] = (lbx_box_text){LBX__TEXT_MODIFIED, now};
    if (!lbx__tags_make(request, create->texts + count))
        return false;
    create->text_count = count + tags->count;
    return true;
}

static void
create_look_up(lbx__request *request)
{
    struct create_queue *create = request->state;

    create->tries++;
    lbx__queues_read(request, &request->world, lbx__slice_of(create->name),
                     NULL, create_looked_up);
}

static void
create_created(lbx__request *request, lbx_status status)
{
    struct create_queue *create = request->state;

    if (status == LBX_EXISTS && create->tries < CREATE_TRIES) {
        create_look_up(request);
        return;
    }
    lbx__queues_forget(request->sqs->queues, &request->world, create->name);
    if (status != LBX_OK) {
        lbx__change_fail_status(request, &create->draft, status);
        return;
    }
    create_answer_url(request, create->name);
}

static void
create_insert(lbx__request *request)
{
    struct create_queue *create = request->state;
    lbx__sqs *sqs = request->sqs;

    if (!sqs->allows_quick_create &&
        lbx__queues_deleted_recently(sqs->queues, &request->world,
                                     create->name)) {
        lbx__request_fail(
            request, LBX__SQS_QueueDeletedRecently,
            "You must wait 60 seconds after deleting a queue before you can "
            "create another with the same name.");
        return;
    }
    if (!create->texts && !create_make_texts(request, create)) {
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    create->call = (lbx_box_request){
        .space = lbx__queues_space(sqs->queues, &request->world, create->space),
        .name = create->name,
        .options = &create->draft.options,
        .texts = create->texts,
        .text_count = create->text_count,
    };
    lbx__request_call(request, LBX_CALL_CREATE, &create->call, create_created);
}

/* The queue exists: its attributes must be those that are given. Tags of the
 * request are ignored. */
static void
create_compare(lbx__request *request)
{
    const struct create_queue *create = request->state;
    const lbx__sqs_pairs *given = &request->input.attributes;
    const lbx__attribute_view has = lbx__attributes_view(request->queue, NULL);
    const lbx__attribute_view wanted =
        lbx__attributes_draft_view(&create->draft);

    for (size_t i = 0; i < given->count; i++) {
        const lbx__attribute *row = lbx__attributes_find(given->items[i].name);

        if (!lbx__attributes_equal(row, &has, &wanted)) {
            lbx__request_fail(
                request, LBX__SQS_QueueNameExists,
                "A queue already exists with the same name and a different "
                "value for attribute %s",
                row->name);
            return;
        }
    }
    create_answer_url(request, create->name);
}

static void
create_looked_up(lbx__request *request, lbx_status status)
{
    if (status == LBX_OK)
        create_compare(request);
    else if (status == LBX_NOT_FOUND)
        create_insert(request);
    else
        lbx__request_fail_status(request, status);
}

static bool
create_make_draft(lbx__request *request, struct create_queue *create)
{
    const lbx__sqs_pairs *given = &request->input.attributes;
    const bool fifo = create_is_fifo(given);
    lbx__queue_draft *draft = &create->draft;

    *draft = (lbx__queue_draft){
        .arena = &request->arena,
        .allocator = request->sqs->allocator,
        .world = &request->world,
        .name = create->name,
        .options = lbx_box_options_preset(fifo ? LBX_BOX_PRESET_SQS_FIFO
                                               : LBX_BOX_PRESET_SQS),
    };
    draft->options.limits.max_leased = request->sqs->max_leased;
    return create_check_name(request->input.queue_name, fifo, &draft->fault) &&
           lbx__attributes_set_all(draft, given) &&
           lbx__tags_check(&request->input.tags, create->name, &draft->fault);
}

void
lbx__action_create_queue(lbx__request *request)
{
    struct create_queue *create =
        lbx__arena_take(&request->arena, sizeof(*create));

    if (!create) {
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    if (!request->input.queue_name.bytes) {
        lbx__change_fail_missing(request, "QueueName");
        return;
    }
    request->state = create;
    create->name = lbx__change_text(request, "", request->input.queue_name);
    if (!create->name) {
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    if (!create_make_draft(request, create)) {
        lbx__request_fail_fault(request, &create->draft.fault);
        return;
    }
    create_look_up(request);
}

/* ---- DeleteQueue ---- */

static void
delete_deleted(lbx__request *request, lbx_status status)
{
    lbx__queues *queues = request->sqs->queues;
    const char *name = request->queue->name;

    if (status == LBX_OK)
        lbx__queues_note_deleted(queues, &request->world, name);
    lbx__change_done(request, status);
}

void
lbx__action_delete_queue(lbx__request *request)
{
    lbx_box_request *call = lbx__arena_take(&request->arena, sizeof(*call));

    if (!call) {
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    call->box = request->queue->box;
    lbx__request_call(request, LBX_CALL_DELETE, call, delete_deleted);
}

/* ---- GetQueueUrl ---- */

static void
get_url_found(lbx__request *request, lbx_status status)
{
    if (status != LBX_OK) {
        lbx__request_fail_status(request, status);
        return;
    }
    create_answer_url(request, request->queue->name);
}

/* The account whose queue is asked for becomes that of the request. False: the
 * caller may not know of its queues. */
static bool
get_url_set_owner(lbx__request *request)
{
    const lbx__slice owner = request->input.owner;
    char *account = request->world.account;

    if (!owner.bytes || lbx__slice_is(owner, account))
        return true;
    if (!request->sqs->is_open(request->sqs) ||
        owner.size != LBX__ACCOUNT_BYTES - 1 ||
        strspn(owner.bytes, "0123456789") != owner.size)
        return false;
    memcpy(account, owner.bytes, owner.size);
    return true;
}

void
lbx__action_get_queue_url(lbx__request *request)
{
    const lbx__sqs_input *input = &request->input;

    if (!input->queue_name.bytes) {
        lbx__change_fail_missing(request, "QueueName");
        return;
    }
    if (!get_url_set_owner(request)) {
        lbx__request_fail_status(request, LBX_NOT_FOUND);
        return;
    }
    lbx__queues_find(request, &request->world, input->queue_name,
                     get_url_found);
}
