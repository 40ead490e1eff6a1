/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading inputs from AWS Query.
 *
 * A field's name is a path: "SendMessageBatchRequestEntry.2.MessageAttribute.1.
 * Value.DataType". Fields come in any order, and lists may have gaps. So each
 * name becomes a number whose digits are the steps of the path, the fields are
 * sorted by it, and the input is built in one pass: items of a list are in the
 * order of their indexes, and the fields of an item are neighbours.
 *
 * QUERY-1  Memory is taken per field, never per index.
 */
#include "server/sqs/input_table.h"

#include "base/utf8.h"
#include "codec/base64.h"
#include "codec/form.h"
#include "server/sqs/fault_text.h"
#include "server/sqs/input_path.h"

#include <stdlib.h>

typedef struct query_field {
    lbx__input_path path;
    lbx__slice name;
    lbx__slice value;
} query_field;

typedef struct input_query {
    lbx__arena *arena;
    lbx__sqs_input *input;
    lbx__sqs_fault *fault;
    lbx__slice action;
    query_field *fields;
    size_t count;
    size_t seen; /* with those that are unknown */
} input_query;

static bool
query_fail_value(input_query *in, const char *why, const query_field *field)
{
    return lbx__fault_text_set(
        in->fault, LBX__SQS_InvalidParameterValueException,
        "Value %.200s for parameter %.200s is invalid. Reason: %s.",
        field->value.bytes, field->name.bytes, why);
}

// ---- The fields ----

/* Decodes into the arena; with a NUL behind it (INPUT-1). */
static bool
query_decode(input_query *in, lbx__slice text, lbx__slice *ret)
{
    char *decoded = lbx__arena_take(in->arena, text.size + 1);
    size_t size;

    if (!decoded)
        return lbx__input_fail_memory(in->fault, in->arena);
    if (!lbx__form_decode(text, decoded, &size))
        return lbx__fault_text_set(in->fault,
                                   LBX__SQS_InvalidParameterValueException,
                                   "The request is not properly encoded.");
    decoded[size] = '\0';
    *ret = (lbx__slice){decoded, size};
    return true;
}

/* The field Action; twice the same is once. */
static bool
query_set_action(input_query *in, const query_field *field)
{
    if (in->action.bytes && !lbx__slice_equal(in->action, field->value))
        return query_fail_value(in, "It is given twice", field);
    in->action = field->value;
    return true;
}

static bool
query_add_field(input_query *in, lbx__slice name, lbx__slice value)
{
    query_field field = {0};

    if (in->seen++ == LBX__SQS_MAX_MEMBERS)
        return lbx__fault_text_set(
            in->fault, LBX__SQS_InvalidParameterValueException,
            "The request has more than %d parameters.", LBX__SQS_MAX_MEMBERS);
    if (!query_decode(in, name, &field.name) ||
        !query_decode(in, value, &field.value))
        return false;
    if (lbx__slice_is(field.name, "Action"))
        return query_set_action(in, &field);
    if (!lbx__input_path_parse(field.name, &field.path))
        return lbx__fault_text_set(
            in->fault, LBX__SQS_InvalidParameterValueException,
            "The parameter %.200s is invalid. Reason: Indexes are from 1 to "
            "%d.",
            field.name.bytes, LBX__INPUT_PATH_MAX_INDEX);
    if (field.path.member)
        in->fields[in->count++] = field;
    return true;
}

/* How many fields a form has at most. */
static size_t
query_count(lbx__slice form)
{
    size_t count = form.size > 0;

    for (size_t i = 0; i < form.size; i++)
        count += form.bytes[i] == '&';
    return count;
}

static int
query_compare(const void *a, const void *b)
{
    const uint64_t left = ((const query_field *)a)->path.key;
    const uint64_t right = ((const query_field *)b)->path.key;

    return left < right ? -1 : left > right;
}

/* Collects the fields of both texts, in the order of their paths. */
static bool
query_collect(input_query *in, const lbx__slice forms[2])
{
    lbx__slice name, value;
    size_t most = query_count(forms[0]) + query_count(forms[1]) + 1;

    if (most > LBX__SQS_MAX_MEMBERS)
        most = LBX__SQS_MAX_MEMBERS; // more are refused
    in->fields = lbx__arena_take(in->arena, most * sizeof(in->fields[0]));
    if (!in->fields)
        return lbx__input_fail_memory(in->fault, in->arena);
    for (int i = 0; i < 2; i++) {
        lbx__form form = lbx__form_of(forms[i]);

        while (lbx__form_next(&form, &name, &value)) {
            if (!query_add_field(in, name, value))
                return false;
        }
    }
    qsort(in->fields, in->count, sizeof(in->fields[0]), query_compare);
    return true;
}

// ---- The values ----

/* A text: of `any` characters, or without a NUL. */
static bool
query_text(input_query *in, const query_field *field, bool any, lbx__slice *ret)
{
    const lbx__slice value = field->value;

    if (!lbx__utf8_valid_bytes(value.bytes, value.size))
        return lbx__fault_text_set(
            in->fault, LBX__SQS_InvalidParameterValueException,
            "The value of parameter %.200s is invalid. Reason: Must be UTF-8.",
            field->name.bytes);
    if (!any && memchr(value.bytes, '\0', value.size))
        return query_fail_value(in, "Must not contain U+0000", field);
    *ret = value;
    return true;
}

static bool
query_body(input_query *in, const query_field *field, lbx__slice *ret)
{
    if (!lbx__utf8_valid_bytes(field->value.bytes, field->value.size))
        return lbx__input_fail_body(in->fault);
    return query_text(in, field, true, ret);
}

static bool
query_number(input_query *in, const query_field *field, lbx__sqs_number *ret)
{
    if (!query_text(in, field, false, &ret->text))
        return false;
    if (!lbx__input_integer(field->value, &ret->value))
        return query_fail_value(in, "Must be an integer", field);
    ret->given = true;
    return true;
}

static bool
query_binary(input_query *in, const query_field *field, lbx__slice *ret)
{
    const size_t most = lbx__base64_max_bytes(field->value.size);
    char *bytes = lbx__arena_take(in->arena, most + 1);
    size_t size;

    if (!bytes)
        return lbx__input_fail_memory(in->fault, in->arena);
    if (!lbx__base64_decode(LBX__BASE64, field->value.bytes, field->value.size,
                            bytes, &size))
        return lbx__fault_text_set(
            in->fault, LBX__SQS_InvalidParameterValueException,
            "The value of parameter %.200s is invalid. Reason: Must be base64.",
            field->name.bytes);
    bytes[size] = '\0';
    *ret = (lbx__slice){bytes, size};
    return true;
}

// ---- Items of lists ----

/* Capacity for one more item. False: there are too many, or no memory. */
static bool
query_grow(input_query *in, const lbx__input_member *member, void **items,
           size_t count, size_t item_bytes)
{
    if (count == LBX__SQS_MAX_ITEMS)
        return lbx__input_fail_count(in->fault, member);
    *items = lbx__input_grow(in->arena, *items, count, item_bytes);
    return *items || lbx__input_fail_memory(in->fault, in->arena);
}

static bool
query_add_text(input_query *in, const query_field *field, lbx__sqs_texts *texts)
{
    void *items = texts->items;

    // What botocore sends for a list that is empty.
    if (field->path.is_unnumbered && field->value.size == 0)
        return true;
    if (!query_grow(in, field->path.member, &items, texts->count,
                    sizeof(texts->items[0])))
        return false;
    texts->items = items;
    return query_text(in, field, false, &texts->items[texts->count++]);
}

static bool
query_add_pair(input_query *in, const query_field *field, bool is_new,
               lbx__sqs_pairs *pairs)
{
    void *items = pairs->items;
    lbx__sqs_pair *last;

    if (is_new) {
        if (!query_grow(in, field->path.member, &items, pairs->count,
                        sizeof(*last)))
            return false;
        pairs->items = items;
        pairs->count++;
    }
    last = &pairs->items[pairs->count - 1];
    *(bool *)((char *)in->input + field->path.member->flag) = true;
    return query_text(in, field, false,
                      field->path.leaf == LBX__INPUT_LEAF_NAME ? &last->name
                                                               : &last->value);
}

static bool
query_add_attribute(input_query *in, const query_field *field, bool is_new,
                    lbx__sqs_attributes *attributes)
{
    void *items = attributes->items;
    lbx__sqs_attribute *last;

    if (is_new) {
        if (!query_grow(in, field->path.member, &items, attributes->count,
                        sizeof(*last)))
            return false;
        attributes->items = items;
        attributes->count++;
    }
    last = &attributes->items[attributes->count - 1];
    switch (field->path.leaf) {
    case LBX__INPUT_LEAF_NAME:
        return query_text(in, field, false, &last->name);
    case LBX__INPUT_LEAF_TYPE:
        return query_text(in, field, false, &last->data_type);
    case LBX__INPUT_LEAF_STRING:
        return query_text(in, field, true, &last->string_value);
    case LBX__INPUT_LEAF_BINARY:
        return query_binary(in, field, &last->binary_value);
    default:
        last->has_list_values = true;
        return true;
    }
}

static bool
query_add_entry(input_query *in, const query_field *field, bool is_new)
{
    lbx__sqs_input *input = in->input;
    void *items = input->entries;

    if (!is_new)
        return true;
    if (!query_grow(in, field->path.list, &items, input->entry_count,
                    sizeof(input->entries[0])))
        return false;
    input->entries = items;
    input->entry_count++;
    return true;
}

// ---- The whole ----

/* Puts a value where it belongs. */
static bool
query_put(input_query *in, const query_field *field, bool is_new_item,
          lbx__sqs_entry *entry)
{
    const lbx__input_member *member = field->path.member;
    void *at = lbx__input_at(member, in->input, entry);

    if (lbx__input_is_body(member))
        return query_body(in, field, at);
    switch (member->kind) {
    case LBX__INPUT_NUMBER:
        return query_number(in, field, at);
    case LBX__INPUT_TEXTS:
        return query_add_text(in, field, at);
    case LBX__INPUT_PAIRS:
        return query_add_pair(in, field, is_new_item, at);
    case LBX__INPUT_ATTRIBUTES:
        return query_add_attribute(in, field, is_new_item, at);
    default:
        return query_text(in, field, false, at);
    }
}

/* Adds a field, of which `before` is the one before it; NULL: it is the
 * first. */
static bool
query_build(input_query *in, const query_field *field,
            const query_field *before)
{
    const lbx__input_path *path = &field->path;
    const lbx__input_path *old = before ? &before->path : NULL;
    lbx__sqs_entry *entry = &in->input->entry;
    bool is_new;

    if (old && old->key == path->key && path->leaf != LBX__INPUT_LEAF_LIST) {
        if (lbx__slice_equal(before->value, field->value))
            return true;
        return query_fail_value(in, "It is given twice", field);
    }
    if (path->list) {
        is_new =
            !old || lbx__input_path_entry(path) != lbx__input_path_entry(old);
        if (!query_add_entry(in, field, is_new))
            return false;
        entry = &in->input->entries[in->input->entry_count - 1];
    }
    is_new = !old || lbx__input_path_item(path) != lbx__input_path_item(old);
    return query_put(in, field, is_new, entry);
}

bool
lbx__sqs_input_read_query(lbx__sqs_input *input, lbx__arena *arena,
                          lbx__slice form, lbx__slice query, lbx__slice *action,
                          lbx__sqs_fault *fault)
{
    input_query in = {.arena = arena, .input = input, .fault = fault};

    *input = (lbx__sqs_input){0};
    *action = (lbx__slice){0};
    if (!query_collect(&in, (const lbx__slice[]){form, query}))
        return false;
    *action = in.action;
    for (size_t i = 0; i < in.count; i++) {
        if (!query_build(&in, &in.fields[i], i ? &in.fields[i - 1] : NULL))
            return false;
    }
    return lbx__input_check(input, fault);
}
