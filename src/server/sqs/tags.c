/* SPDX-License-Identifier: Apache-2.0 */
/* TagQueue, UntagQueue and ListQueueTags. */
#include "server/sqs/tags.h"

#include "base/utf8.h"
#include "server/sqs/change.h"
#include "server/sqs/fault_text.h"

#include <strings.h>

enum {
    TAGS_MAX = 50,
    TAG_KEY_MAX = 128, /* characters */
    TAG_VALUE_MAX = 256,
    TAG_BYTES = sizeof(LBX__TEXT_TAG) - 1
};

/* How many characters; SIZE_MAX for a text that no tag can have. */
static size_t
tags_characters(lbx__slice text)
{
    size_t count = 0, at = 0;
    uint32_t code;

    while (at < text.size) {
        const size_t size =
            lbx__utf8_decode(text.bytes + at, text.size - at, &code);

        if (size == 0 || code == 0)
            return SIZE_MAX;
        at += size;
        count++;
    }
    return count;
}

static bool
tags_refuse_key(lbx__sqs_fault *fault)
{
    return lbx__fault_text_set(
        fault, LBX__SQS_InvalidParameterValueException,
        "Tag keys must be between 1 and 128 characters in length.");
}

static bool
tags_check_key(lbx__slice key, lbx__sqs_fault *fault)
{
    const size_t size = tags_characters(key);

    if (size < 1 || size > TAG_KEY_MAX)
        return tags_refuse_key(fault);
    if (key.size >= 4 && strncasecmp(key.bytes, "aws:", 4) == 0)
        return lbx__fault_text_set(
            fault, LBX__SQS_InvalidParameterValueException,
            "Tag keys that begin with aws: are reserved.");
    return true;
}

static bool
tags_refuse_count(const char *queue, lbx__sqs_fault *fault)
{
    return lbx__fault_text_set(fault, LBX__SQS_InvalidParameterValueException,
                               "Too many tags added for queue %s.", queue);
}

bool
lbx__tags_check(const lbx__sqs_pairs *tags, const char *queue,
                lbx__sqs_fault *fault)
{
    for (size_t i = 0; i < tags->count; i++) {
        if (!tags_check_key(tags->items[i].name, fault))
            return false;
        if (tags_characters(tags->items[i].value) > TAG_VALUE_MAX)
            return lbx__fault_text_set(
                fault, LBX__SQS_InvalidParameterValueException,
                "Tag values must be between 0 and 256 characters in length.");
    }
    return tags->count <= TAGS_MAX || tags_refuse_count(queue, fault);
}

bool
lbx__tags_make(lbx__request *request, lbx_box_text *ret)
{
    const lbx__sqs_pairs *tags = &request->input.tags;

    for (size_t i = 0; i < tags->count; i++) {
        ret[i].name =
            lbx__change_text(request, LBX__TEXT_TAG, tags->items[i].name);
        ret[i].value = lbx__change_text(request, "", tags->items[i].value);
        if (!ret[i].name || !ret[i].value)
            return false;
    }
    return true;
}

static bool
tags_is_tag(const lbx_box_text *text)
{
    return strncmp(text->name, LBX__TEXT_TAG, TAG_BYTES) == 0;
}

/* ---- TagQueue ---- */

/* Whether an earlier tag of the request has the same key, or the queue has
 * it. */
static bool
tags_is_known(const lbx__request *request, const lbx_box_text *tags, size_t i)
{
    for (size_t j = 0; j < i; j++) {
        if (strcmp(tags[j].name, tags[i].name) == 0)
            return true;
    }
    return lbx__queue_text(request->queue, tags[i].name) != NULL;
}

static void
tag_read(lbx__request *request, lbx_status status)
{
    const size_t given = request->input.tags.count;
    lbx_box_text *texts =
        lbx__arena_take(&request->arena, given * sizeof(*texts));
    lbx__sqs_fault fault;
    size_t count = 0;

    if (status == LBX_OK && (!texts || !lbx__tags_make(request, texts)))
        status = LBX_NO_MEMORY;
    if (status != LBX_OK) {
        lbx__request_fail_status(request, status);
        return;
    }
    for (size_t i = 0; i < request->queue->text_count; i++)
        count += tags_is_tag(&request->queue->texts[i]);
    for (size_t i = 0; i < given; i++)
        count += !tags_is_known(request, texts, i);
    if (count > TAGS_MAX) {
        tags_refuse_count(request->queue->name, &fault);
        lbx__request_fail_fault(request, &fault);
        return;
    }
    lbx__change_configure(request, NULL, texts, given, lbx__change_done);
}

void
lbx__action_tag_queue(lbx__request *request)
{
    lbx__sqs_fault fault;

    if (request->format == LBX__SQS_JSON) // where CreateQueue has "tags"
        request->input.tags = request->input.queue_tags;
    if (request->input.tags.count == 0) {
        lbx__change_fail_missing(request, "Tags");
        return;
    }
    if (!lbx__tags_check(&request->input.tags, request->queue->name, &fault)) {
        lbx__request_fail_fault(request, &fault);
        return;
    }
    lbx__change_begin(request, tag_read);
}

/* ---- UntagQueue ---- */

void
lbx__action_untag_queue(lbx__request *request)
{
    const lbx__sqs_texts *keys = &request->input.tag_keys;
    lbx_box_text *texts =
        lbx__arena_take(&request->arena, (keys->count + 1) * sizeof(*texts));
    lbx__sqs_fault fault;

    if (keys->count == 0) { // AWS speaks of the keys that are not there
        tags_refuse_key(&fault);
        lbx__request_fail_fault(request, &fault);
        return;
    }
    for (size_t i = 0; texts && i < keys->count; i++) {
        if (!tags_check_key(keys->items[i], &fault)) {
            lbx__request_fail_fault(request, &fault);
            return;
        }
        texts[i].name =
            lbx__change_text(request, LBX__TEXT_TAG, keys->items[i]);
        if (!texts[i].name)
            texts = NULL;
    }
    if (!texts) {
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    lbx__change_configure(request, NULL, texts, keys->count, lbx__change_done);
}

/* ---- ListQueueTags ---- */

static void
list_tags_read(lbx__request *request, lbx_status status)
{
    const lbx__queue *queue = request->queue;
    bool some = false;

    if (status != LBX_OK) {
        lbx__request_fail_status(request, status);
        return;
    }
    for (size_t i = 0; i < queue->text_count; i++) {
        if (!tags_is_tag(&queue->texts[i]))
            continue;
        if (!some)
            lbx__reply_map(&request->reply, "Tags", "Tag", "Key", "Value");
        some = true;
        lbx__reply_map_text(&request->reply,
                            lbx__slice_of(queue->texts[i].name + TAG_BYTES),
                            lbx__slice_of(queue->texts[i].value));
    }
    if (some)
        lbx__reply_map_end(&request->reply);
    lbx__request_done(request);
}

void
lbx__action_list_queue_tags(lbx__request *request)
{
    lbx__change_refresh(request, NULL, list_tags_read);
}
