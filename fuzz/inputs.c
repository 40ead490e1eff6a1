/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs of SQS's actions: each text is read as JSON and as a form. What is
 * accepted keeps INPUT-1 and INPUT-2; what is refused has a reason.
 */
#include "base/utf8.h"
#include "server/sqs/input.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_text(lbx__slice text)
{
    if (text.bytes && (text.bytes[text.size] != '\0' ||
                       !lbx__utf8_valid_bytes(text.bytes, text.size)))
        abort();
}

static void
check_number(lbx__sqs_number number)
{
    check_text(number.text);
    if (number.given != (number.text.bytes != NULL))
        abort();
}

static void
check_count(size_t count)
{
    if (count > LBX__SQS_MAX_ITEMS)
        abort();
}

static void
check_texts(lbx__sqs_texts texts)
{
    check_count(texts.count);
    for (size_t i = 0; i < texts.count; i++)
        check_text(texts.items[i]);
}

static void
check_pairs(lbx__sqs_pairs pairs)
{
    check_count(pairs.count);
    for (size_t i = 0; i < pairs.count; i++) {
        if (!pairs.items[i].name.bytes || !pairs.items[i].value.bytes)
            abort();
        check_text(pairs.items[i].name);
        check_text(pairs.items[i].value);
    }
}

static void
check_attributes(lbx__sqs_attributes attributes)
{
    check_count(attributes.count);
    for (size_t i = 0; i < attributes.count; i++) {
        const lbx__sqs_attribute *one = &attributes.items[i];

        if (!one->name.bytes)
            abort();
        check_text(one->name);
        check_text(one->data_type);
        check_text(one->string_value);
    }
}

static void
check_entry(const lbx__sqs_entry *entry)
{
    check_text(entry->id);
    check_text(entry->body);
    check_text(entry->deduplication_id);
    check_text(entry->group_id);
    check_text(entry->receipt);
    check_number(entry->delay);
    check_number(entry->visibility);
    check_attributes(entry->attributes);
    check_attributes(entry->system_attributes);
}

static void
check_input(const lbx__sqs_input *input)
{
    check_text(input->queue_url);
    check_text(input->queue_name);
    check_text(input->next_token);
    check_number(input->wait);
    check_number(input->max_messages);
    check_pairs(input->attributes);
    check_pairs(input->tags);
    check_texts(input->tag_keys);
    check_texts(input->attribute_names);
    check_texts(input->message_names);
    check_entry(&input->entry);
    check_count(input->entry_count);
    for (size_t i = 0; i < input->entry_count; i++)
        check_entry(&input->entries[i]);
}

static void
check_result(bool fits, const lbx__sqs_input *input,
             const lbx__sqs_fault *fault)
{
    if (fits)
        check_input(input);
    else if (fault->error == LBX__SQS_OK || !fault->text[0])
        abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const lbx__slice text = {(const char *)data, size};
    const size_t half = size / 2;
    const lbx__slice query = {(const char *)data + half, size - half};
    lbx__sqs_fault fault = {.error = LBX__SQS_OK};
    lbx__sqs_input input;
    lbx__slice action;
    lbx__arena arena;

    lbx__arena_init(&arena, NULL, 1 << 20);
    check_result(lbx__sqs_input_read_json(&input, &arena, text, &fault), &input,
                 &fault);
    lbx__arena_fini(&arena);
    lbx__arena_init(&arena, NULL, 1 << 20);
    check_result(
        lbx__sqs_input_read_query(&input, &arena, text, query, &action, &fault),
        &input, &fault);
    lbx__arena_fini(&arena);
    return 0;
}
