/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a queue's attributes, and how each is shown. */
#include "server/sqs/attributes.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

static const lbx__slice attribute_none = {NULL, 0};

const char *
lbx__attributes_find_text(const lbx__texts *texts, const char *name)
{
    for (; texts; texts = texts->below) {
        for (size_t i = 0; i < texts->count; i++) {
            if (strcmp(texts->items[i].name, name) == 0)
                return texts->items[i].value;
        }
    }
    return NULL;
}

lbx__attribute_view
lbx__attributes_view(const lbx__queue *queue, const lbx_box_counts *counts)
{
    return (lbx__attribute_view){
        .world = &queue->world,
        .name = queue->name,
        .options = &queue->options,
        .counts = counts,
        .texts = {.items = queue->texts, .count = queue->text_count},
    };
}

lbx__attribute_view
lbx__attributes_draft_view(const lbx__queue_draft *draft)
{
    return (lbx__attribute_view){
        .world = draft->world,
        .name = draft->name,
        .options = &draft->options,
        .texts = {.items = draft->texts,
                  .count = draft->text_count,
                  .below = draft->below},
    };
}

void
lbx__attributes_draft_text(lbx__queue_draft *draft, const char *name,
                           const char *value)
{
    for (size_t i = 0; i < draft->text_count; i++) {
        if (strcmp(draft->texts[i].name, name) == 0) {
            draft->texts[i].value = value;
            return;
        }
    }
    assert(draft->text_count < LBX__DRAFT_TEXTS);
    draft->texts[draft->text_count++] = (lbx_box_text){name, value};
}

/* ---- Getters ---- */

static lbx__slice
attribute_print(int64_t number, char *buffer)
{
    (void)snprintf(buffer, LBX__REDRIVE_BYTES, "%" PRId64, number);
    return lbx__slice_of(buffer);
}

static lbx__slice
get_number(const lbx__attribute *row, const lbx__attribute_view *view,
           char buffer[LBX__REDRIVE_BYTES])
{
    int64_t number;

    memcpy(&number, (const char *)view->options + row->offset, sizeof(number));
    number /= row->unit;
    if (number < row->least)
        number = row->least;
    if (number > row->most)
        number = row->most;
    return attribute_print(number, buffer);
}

/* At `offset` of the counts. */
static lbx__slice
get_count(const lbx__attribute *row, const lbx__attribute_view *view,
          char buffer[LBX__REDRIVE_BYTES])
{
    uint64_t count = 0;

    if (view->counts)
        memcpy(&count, (const char *)view->counts + row->offset, sizeof(count));
    return attribute_print((int64_t)count, buffer);
}

static lbx__slice
get_text(const lbx__attribute *row, const lbx__attribute_view *view,
         char buffer[LBX__REDRIVE_BYTES])
{
    (void)buffer;
    return lbx__slice_of(lbx__attributes_find_text(&view->texts, row->text));
}

/* A box that a program made has no time of its creation. */
static lbx__slice
get_time(const lbx__attribute *row, const lbx__attribute_view *view,
         char buffer[LBX__REDRIVE_BYTES])
{
    const lbx__slice text = get_text(row, view, buffer);

    return text.bytes ? text : lbx__slice_of("0");
}

static lbx__slice
get_arn(const lbx__attribute *row, const lbx__attribute_view *view,
        char buffer[LBX__REDRIVE_BYTES])
{
    (void)row;
    return lbx__slice_of(lbx__queue_arn(view->world, view->name, buffer));
}

/* Shown only with a key, and only if it is not the default, as AWS does. */
static lbx__slice
get_key_seconds(const lbx__attribute *row, const lbx__attribute_view *view,
                char buffer[LBX__REDRIVE_BYTES])
{
    const lbx__slice text = get_text(row, view, buffer);

    if (!lbx__attributes_find_text(&view->texts, LBX__TEXT_KEY) ||
        lbx__slice_is(text, "300"))
        return attribute_none;
    return text;
}

static lbx__slice
get_sse(const lbx__attribute *row, const lbx__attribute_view *view,
        char buffer[LBX__REDRIVE_BYTES])
{
    const lbx__slice text = get_text(row, view, buffer);

    return text.bytes ? text : lbx__slice_of("true");
}

static lbx__slice
get_fifo(const lbx__attribute *row, const lbx__attribute_view *view,
         char buffer[LBX__REDRIVE_BYTES])
{
    (void)row, (void)view, (void)buffer;
    return lbx__slice_of("true"); // others do not have it
}

static lbx__slice
get_content(const lbx__attribute *row, const lbx__attribute_view *view,
            char buffer[LBX__REDRIVE_BYTES])
{
    (void)row, (void)buffer;
    return lbx__slice_of(view->options->deduplicate_by_content ? "true"
                                                               : "false");
}

static lbx__slice
get_scope(const lbx__attribute *row, const lbx__attribute_view *view,
          char buffer[LBX__REDRIVE_BYTES])
{
    (void)row, (void)buffer;
    return lbx__slice_of(view->options->deduplication == LBX_DEDUPLICATION_GROUP
                             ? "messageGroup"
                             : "queue");
}

static lbx__slice
get_throughput(const lbx__attribute *row, const lbx__attribute_view *view,
               char buffer[LBX__REDRIVE_BYTES])
{
    const lbx__slice text = get_text(row, view, buffer);

    return text.bytes ? text : lbx__slice_of("perQueue");
}

/* The text as it was set, as long as the box's options mean the same, which
 * programs may have changed (ATTR-3). `made`: what the server writes for these
 * options. */
static lbx__slice
get_policy_text(const lbx__attribute *row, const lbx__attribute_view *view,
                const char *made)
{
    const char *text = lbx__attributes_find_text(&view->texts, row->text);
    const size_t size = strlen(made);

    if (text && strncmp(text, made, size) == 0 && text[size] == '\n')
        return lbx__slice_of(text + size + 1);
    return size > 0 ? lbx__slice_of(made) : attribute_none;
}

static lbx__slice
get_redrive(const lbx__attribute *row, const lbx__attribute_view *view,
            char buffer[LBX__REDRIVE_BYTES])
{
    lbx__redrive_write(view->world, view->options, buffer);
    return get_policy_text(row, view, buffer);
}

static lbx__slice
get_allow(const lbx__attribute *row, const lbx__attribute_view *view,
          char buffer[LBX__REDRIVE_BYTES])
{
    lbx__redrive_write_allow(view->world, view->options, buffer);
    return get_policy_text(row, view, buffer);
}

/* ---- The table ---- */

enum {
    FIFO = LBX__ATTRIBUTE_FIFO,
    FIFO_SPEAKS = LBX__ATTRIBUTE_FIFO | LBX__ATTRIBUTE_SPEAKS
};

#define NUMBER(attribute, low, high, per, member)                              \
    {                                                                          \
        .name = (attribute), .get = get_number,                                \
        .set = lbx__attributes_set_number, .least = (low), .most = (high),     \
        .unit = (per), .offset = offsetof(lbx_box_options, member)             \
    }

#define COUNT(attribute, member)                                               \
    {                                                                          \
        .name = (attribute), .use = LBX__ATTRIBUTE_COUNTS, .get = get_count,   \
        .offset = offsetof(lbx_box_counts, member)                             \
    }

#define TEXT(attribute, flags, getter, setter, of)                             \
    {                                                                          \
        .name = (attribute), .use = (flags), .get = (getter), .set = (setter), \
        .text = (of)                                                           \
    }

const lbx__attribute lbx__attributes[] = {
    TEXT("QueueArn", 0, get_arn, NULL, NULL),
    COUNT("ApproximateNumberOfMessages", ready),
    COUNT("ApproximateNumberOfMessagesNotVisible", leased),
    COUNT("ApproximateNumberOfMessagesDelayed", delayed),
    TEXT("CreatedTimestamp", 0, get_time, NULL, LBX__TEXT_CREATED),
    TEXT("LastModifiedTimestamp", 0, get_time, NULL, LBX__TEXT_MODIFIED),
    NUMBER("VisibilityTimeout", 0, 43200, LBX_SECOND, lease_ns),
    NUMBER("MaximumMessageSize", 1024, 1048576, 1, limits.max_letter_bytes),
    NUMBER("MessageRetentionPeriod", 60, 1209600, LBX_SECOND, retention_ns),
    NUMBER("DelaySeconds", 0, 900, LBX_SECOND, delay_ns),
    NUMBER("ReceiveMessageWaitTimeSeconds", 0, 20, LBX_SECOND, wait_ns),
    TEXT("Policy", 0, get_text, lbx__attributes_set_policy, LBX__TEXT_POLICY),
    TEXT("RedrivePolicy", 0, get_redrive, lbx__attributes_set_redrive,
         LBX__TEXT_REDRIVE),
    TEXT("RedriveAllowPolicy", 0, get_allow, lbx__attributes_set_allow,
         LBX__TEXT_REDRIVE_ALLOW),
    TEXT("KmsMasterKeyId", 0, get_text, lbx__attributes_set_key, LBX__TEXT_KEY),
    TEXT("KmsDataKeyReusePeriodSeconds", 0, get_key_seconds,
         lbx__attributes_set_key_seconds, LBX__TEXT_KEY_SECONDS),
    TEXT("SqsManagedSseEnabled", 0, get_sse, lbx__attributes_set_sse,
         LBX__TEXT_SSE),
    TEXT("FifoQueue", FIFO, get_fifo, lbx__attributes_set_fifo, NULL),
    TEXT("ContentBasedDeduplication", FIFO, get_content,
         lbx__attributes_set_content, NULL),
    TEXT("DeduplicationScope", FIFO_SPEAKS, get_scope,
         lbx__attributes_set_scope, NULL),
    TEXT("FifoThroughputLimit", FIFO_SPEAKS, get_throughput,
         lbx__attributes_set_throughput, LBX__TEXT_THROUGHPUT),
};

const size_t lbx__attribute_count =
    sizeof(lbx__attributes) / sizeof(lbx__attributes[0]);

const lbx__attribute *
lbx__attributes_find(lbx__slice name)
{
    for (size_t i = 0; i < lbx__attribute_count; i++) {
        if (lbx__slice_is(name, lbx__attributes[i].name))
            return &lbx__attributes[i];
    }
    return NULL;
}

lbx__slice
lbx__attributes_get(const lbx__attribute *row, const lbx__attribute_view *view,
                    char buffer[LBX__REDRIVE_BYTES])
{
    if ((row->use & LBX__ATTRIBUTE_FIFO) && !view->options->fifo)
        return attribute_none;
    return row->get(row, view, buffer);
}

bool
lbx__attributes_equal(const lbx__attribute *row, const lbx__attribute_view *a,
                      const lbx__attribute_view *b)
{
    char buffer_a[LBX__REDRIVE_BYTES], buffer_b[LBX__REDRIVE_BYTES];
    lbx__slice value_a, value_b;

    if (row->get == get_redrive)
        return lbx__redrive_equal(a->options, b->options);
    if (row->get == get_allow)
        return lbx__redrive_equal_allow(a->options, b->options);
    value_a = lbx__attributes_get(row, a, buffer_a);
    value_b = lbx__attributes_get(row, b, buffer_b);
    return !value_a.bytes == !value_b.bytes &&
           lbx__slice_equal(value_a, value_b);
}
