/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading inputs from AWS JSON 1.0. There is no recursion: an input has
 * entries, these have attributes, and these have texts. A member that is null
 * is absent; a value of a map of texts must not be.
 */
#include "server/sqs/input_token.h"

#include "codec/base64.h"
#include "server/sqs/fault_text.h"

static bool
input_json_texts(lbx__input_json *in, const lbx__input_member *member,
                 lbx__sqs_texts *texts)
{
    bool failed;
    lbx__json_kind kind;

    if (!lbx__input_token_open(in, member->json, LBX__JSON_ARRAY, &failed))
        return !failed;
    for (;;) {
        kind = lbx__json_next(&in->json);
        if (kind == LBX__JSON_ARRAY_END)
            return true;
        if (kind != LBX__JSON_STRING)
            return lbx__input_token_fail_scalar(in, member->json, "a String",
                                                "a list of strings");
        if (texts->count == LBX__SQS_MAX_ITEMS)
            return lbx__input_fail_count(in->fault, member);
        texts->items = lbx__input_grow(in->arena, texts->items, texts->count,
                                       sizeof(texts->items[0]));
        if (!texts->items)
            return lbx__input_fail_memory(in->fault, in->arena);
        if (!lbx__input_token_copy(in, &texts->items[texts->count]))
            return false;
        texts->count++;
    }
}

static bool
input_json_pairs(lbx__input_json *in, const lbx__input_member *member,
                 lbx__sqs_pairs *pairs)
{
    bool failed;

    if (!lbx__input_token_open(in, member->json, LBX__JSON_OBJECT, &failed))
        return !failed;
    *(bool *)((char *)in->input + member->flag) = true;
    while (lbx__input_token_member(in, &failed)) {
        lbx__sqs_pair pair = {0};

        if (!lbx__input_token_copy(in, &pair.name) ||
            !lbx__input_token_text(in, pair.name.bytes, &pair.value))
            return false;
        if (!pair.value.bytes)
            return lbx__fault_text_set(in->fault,
                                       LBX__SQS_InvalidParameterValueException,
                                       "the parameter 'value' may not be null");
        if (pairs->count == LBX__SQS_MAX_ITEMS)
            return lbx__input_fail_count(in->fault, member);
        pairs->items = lbx__input_grow(in->arena, pairs->items, pairs->count,
                                       sizeof(pairs->items[0]));
        if (!pairs->items)
            return lbx__input_fail_memory(in->fault, in->arena);
        pairs->items[pairs->count++] = pair;
    }
    return !failed;
}

// ---- Attributes of messages ----

static bool
input_json_binary(lbx__input_json *in, lbx__slice *ret)
{
    lbx__slice text = {0};
    size_t size;
    char *bytes;

    if (!lbx__input_token_text(in, "BinaryValue", &text))
        return false;
    if (!text.bytes)
        return true;
    bytes = lbx__arena_take(in->arena, lbx__base64_max_bytes(text.size) + 1);
    if (!bytes)
        return lbx__input_fail_memory(in->fault, in->arena);
    if (!lbx__base64_decode(LBX__BASE64, text.bytes, text.size, bytes, &size))
        return lbx__input_token_fail_kind(in, "BinaryValue", "base64");
    bytes[size] = '\0';
    *ret = (lbx__slice){bytes, size};
    return true;
}

/* A list that SQS does not support: only whether it has any items. */
static bool
input_json_list_values(lbx__input_json *in, const char *name, bool *ret)
{
    bool failed;

    if (!lbx__input_token_open(in, name, LBX__JSON_ARRAY, &failed))
        return !failed;
    while (lbx__json_next(&in->json) != LBX__JSON_ARRAY_END) {
        if (!lbx__json_skip(&in->json))
            return lbx__input_token_fail(in);
        *ret = true;
    }
    return true;
}

static bool
input_json_attribute(lbx__input_json *in, lbx__sqs_attribute *attribute)
{
    bool failed, fits = true;

    while (fits && lbx__input_token_member(in, &failed)) {
        if (lbx__json_is(&in->json, "DataType"))
            fits = lbx__input_token_text(in, "DataType", &attribute->data_type);
        else if (lbx__json_is(&in->json, "StringValue"))
            fits = lbx__input_token_text(in, "StringValue",
                                         &attribute->string_value);
        else if (lbx__json_is(&in->json, "BinaryValue"))
            fits = input_json_binary(in, &attribute->binary_value);
        else if (lbx__json_is(&in->json, "StringListValues"))
            fits = input_json_list_values(in, "StringListValues",
                                          &attribute->has_list_values);
        else if (lbx__json_is(&in->json, "BinaryListValues"))
            fits = input_json_list_values(in, "BinaryListValues",
                                          &attribute->has_list_values);
        else if (!lbx__json_skip(&in->json))
            fits = lbx__input_token_fail(in);
    }
    return fits && !failed;
}

static bool
input_json_attributes(lbx__input_json *in, const lbx__input_member *member,
                      lbx__sqs_attributes *attributes)
{
    bool failed;

    if (!lbx__input_token_open(in, member->json, LBX__JSON_OBJECT, &failed))
        return !failed;
    while (lbx__input_token_member(in, &failed)) {
        lbx__sqs_attribute attribute = {0};
        bool bad;

        if (!lbx__input_token_copy(in, &attribute.name))
            return false;
        if (!lbx__input_token_open(in, attribute.name.bytes, LBX__JSON_OBJECT,
                                   &bad)) {
            if (bad)
                return false;
            continue; // null
        }
        if (!input_json_attribute(in, &attribute))
            return false;
        if (attributes->count == LBX__SQS_MAX_ITEMS)
            return lbx__input_fail_count(in->fault, member);
        attributes->items =
            lbx__input_grow(in->arena, attributes->items, attributes->count,
                            sizeof(attributes->items[0]));
        if (!attributes->items)
            return lbx__input_fail_memory(in->fault, in->arena);
        attributes->items[attributes->count++] = attribute;
    }
    return !failed;
}

// ---- Entries, and the whole ----

/* The row of the name that is the token; NULL: unknown. */
static const lbx__input_member *
input_json_find(const lbx__json *json, bool in_entry)
{
    for (size_t i = 0; i < lbx__input_member_count; i++) {
        const lbx__input_member *member = &lbx__input_members[i];

        if (member->json && (!in_entry || member->in_entry) &&
            lbx__json_is(json, member->json))
            return member;
    }
    return NULL;
}

/* The value of a member that is no list of entries. */
static bool
input_json_value(lbx__input_json *in, const lbx__input_member *member,
                 lbx__sqs_entry *entry)
{
    void *at = lbx__input_at(member, in->input, entry);

    if (lbx__input_is_body(member))
        return lbx__input_token_body(in, member->json, at);
    switch (member->kind) {
    case LBX__INPUT_TEXT:
        return lbx__input_token_text(in, member->json, at);
    case LBX__INPUT_NUMBER:
        return lbx__input_token_number(in, member->json, at);
    case LBX__INPUT_TEXTS:
        return input_json_texts(in, member, at);
    case LBX__INPUT_PAIRS:
        return input_json_pairs(in, member, at);
    case LBX__INPUT_ATTRIBUTES:
        return input_json_attributes(in, member, at);
    default:
        return false; // entries have none
    }
}

static bool
input_json_entry(lbx__input_json *in, lbx__sqs_entry *entry)
{
    bool failed;

    while (lbx__input_token_member(in, &failed)) {
        const lbx__input_member *member = input_json_find(&in->json, true);

        if (!member) {
            if (!lbx__json_skip(&in->json))
                return lbx__input_token_fail(in);
        } else if (!input_json_value(in, member, entry)) {
            return false;
        }
    }
    return !failed;
}

static bool
input_json_entries(lbx__input_json *in, const lbx__input_member *member)
{
    lbx__sqs_input *input = in->input;
    lbx__json_kind kind;
    bool failed;

    if (!lbx__input_token_open(in, member->json, LBX__JSON_ARRAY, &failed))
        return !failed;
    input->has_entries = true;
    for (;;) {
        lbx__sqs_entry entry = {0};

        kind = lbx__json_next(&in->json);
        if (kind == LBX__JSON_ARRAY_END)
            return true;
        if (kind != LBX__JSON_OBJECT)
            return lbx__input_token_fail_kind(in, member->json,
                                              "a list of objects");
        if (input->entry_count == LBX__SQS_MAX_ITEMS)
            return lbx__input_fail_count(in->fault, member);
        input->entries =
            lbx__input_grow(in->arena, input->entries, input->entry_count,
                            sizeof(input->entries[0]));
        if (!input->entries)
            return lbx__input_fail_memory(in->fault, in->arena);
        if (!input_json_entry(in, &entry))
            return false;
        input->entries[input->entry_count++] = entry;
    }
}

static bool
input_json_object(lbx__input_json *in)
{
    bool failed;

    if (lbx__json_next(&in->json) != LBX__JSON_OBJECT)
        return lbx__input_token_fail_kind(in, "The request", "a JSON object");
    while (lbx__input_token_member(in, &failed)) {
        const lbx__input_member *member = input_json_find(&in->json, false);

        if (!member) {
            if (!lbx__json_skip(&in->json))
                return lbx__input_token_fail(in);
        } else if (member->kind == LBX__INPUT_ENTRIES) {
            if (!input_json_entries(in, member))
                return false;
        } else if (!input_json_value(in, member, &in->input->entry)) {
            return false;
        }
    }
    if (failed)
        return false;
    return lbx__json_next(&in->json) == LBX__JSON_END ||
           lbx__input_token_fail(in);
}

bool
lbx__sqs_input_read_json(lbx__sqs_input *input, lbx__arena *arena,
                         lbx__slice body, lbx__sqs_fault *fault)
{
    lbx__input_json in = {.arena = arena, .input = input, .fault = fault};
    bool fits;

    *input = (lbx__sqs_input){0};
    lbx__json_init(&in.json, body.bytes ? body.bytes : "", body.size,
                   arena->allocator);
    fits = input_json_object(&in);
    lbx__json_fini(&in.json);
    return fits;
}
