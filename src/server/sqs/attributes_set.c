/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a queue's attributes are set: each by itself, then the whole.
 *
 * Values are kept as texts with a NUL; the input has none inside (INPUT-1 says
 * valid UTF-8, which U+0000 is: so it is refused here).
 */
#include "server/sqs/attributes.h"

#include "codec/json.h"
#include "server/sqs/fault_text.h"

#include <strings.h>

enum {
    POLICY_MAX = 65536, /* bytes; AWS: 20 statements, and a size not told */
    KEY_MAX = 2048
};

static const char one_encryption[] =
    "You can use one type of server-side encryption (SSE) at one time. You can "
    "either enable KMS SSE or SQS SSE.";

static const char *
draft_find(const lbx__queue_draft *draft, const char *name)
{
    const lbx__attribute_view view = lbx__attributes_draft_view(draft);

    return lbx__attributes_find_text(&view.texts, name);
}

static bool
draft_refuse_value(lbx__queue_draft *draft, const lbx__attribute *row)
{
    return lbx__fault_text_set(&draft->fault, LBX__SQS_InvalidAttributeValue,
                               "Invalid value for the parameter %s.",
                               row->name);
}

static bool
draft_no_memory(lbx__queue_draft *draft)
{
    return lbx__fault_text_set(&draft->fault, LBX__SQS_ServiceUnavailable,
                               "There is no memory for the request.");
}

/* A number without a sign, of at most 18 digits. */
static bool
attribute_read_number(lbx__slice value, int64_t *ret)
{
    int64_t number = 0;

    if (value.size < 1 || value.size > 18)
        return false;
    for (size_t i = 0; i < value.size; i++) {
        if (value.bytes[i] < '0' || value.bytes[i] > '9')
            return false;
        number = number * 10 + (value.bytes[i] - '0');
    }
    *ret = number;
    return true;
}

static bool
attribute_read_boolean(lbx__slice value, bool *ret)
{
    *ret = value.size == 4 && strncasecmp(value.bytes, "true", 4) == 0;
    return *ret || (value.size == 5 && !strncasecmp(value.bytes, "false", 5));
}

/* Keeps a value as the row's text; an empty one takes the text away. */
static bool
attribute_keep(const lbx__attribute *row, lbx__queue_draft *draft,
               lbx__slice value)
{
    const char *copy = NULL;

    if (value.size > 0) {
        copy = lbx__arena_copy(draft->arena, value.bytes, value.size);
        if (!copy)
            return draft_no_memory(draft);
    }
    lbx__attributes_draft_text(draft, row->text, copy);
    return true;
}

/* ---- Setters ---- */

bool
lbx__attributes_set_number(const lbx__attribute *row, lbx__queue_draft *draft,
                           lbx__slice value)
{
    int64_t number;

    if (!attribute_read_number(value, &number) || number < row->least ||
        number > row->most)
        return draft_refuse_value(draft, row);
    number *= row->unit;
    memcpy((char *)&draft->options + row->offset, &number, sizeof(number));
    return true;
}

/* Whether a text is a JSON object. */
static bool
attribute_is_object(const lbx__queue_draft *draft, lbx__slice value)
{
    lbx__json json;
    bool good;

    lbx__json_init(&json, value.bytes, value.size, draft->allocator);
    good = lbx__json_next(&json) == LBX__JSON_OBJECT && lbx__json_skip(&json) &&
           lbx__json_next(&json) == LBX__JSON_END;
    lbx__json_fini(&json);
    return good;
}

bool
lbx__attributes_set_policy(const lbx__attribute *row, lbx__queue_draft *draft,
                           lbx__slice value)
{
    if (value.size > POLICY_MAX ||
        (value.size > 0 && !attribute_is_object(draft, value)))
        return draft_refuse_value(draft, row);
    return attribute_keep(row, draft, value);
}

/* ATTR-3. */
static bool
attribute_keep_policy(const lbx__attribute *row, lbx__queue_draft *draft,
                      const char *made, lbx__slice value)
{
    const size_t size = strlen(made);
    char *text = NULL;

    if (value.size > 0) {
        text = lbx__arena_take(draft->arena, size + value.size + 2);
        if (!text)
            return draft_no_memory(draft);
        memcpy(text, made, size + 1);
        text[size] = '\n';
        memcpy(text + size + 1, value.bytes, value.size);
    }
    lbx__attributes_draft_text(draft, row->text, text);
    return true;
}

static lbx__redrive_reader
draft_reader(lbx__queue_draft *draft)
{
    return (lbx__redrive_reader){
        .arena = draft->arena,
        .allocator = draft->allocator,
        .world = draft->world,
        .fault = &draft->fault,
    };
}

bool
lbx__attributes_set_redrive(const lbx__attribute *row, lbx__queue_draft *draft,
                            lbx__slice value)
{
    const lbx__redrive_reader reader = draft_reader(draft);
    char made[LBX__REDRIVE_BYTES];
    bool as_given;

    if (value.size > POLICY_MAX)
        return draft_refuse_value(draft, row);
    if (!lbx__redrive_read(&reader, value, &draft->options, &as_given))
        return false;
    draft->redrive = value;
    lbx__redrive_write(draft->world, &draft->options, made);
    return attribute_keep_policy(row, draft, made,
                                 as_given ? value : lbx__slice_of(made));
}

bool
lbx__attributes_set_allow(const lbx__attribute *row, lbx__queue_draft *draft,
                          lbx__slice value)
{
    const lbx__redrive_reader reader = draft_reader(draft);
    char made[LBX__REDRIVE_BYTES];

    if (value.size > POLICY_MAX)
        return draft_refuse_value(draft, row);
    if (!lbx__redrive_read_allow(&reader, value, &draft->options))
        return false;
    lbx__redrive_write_allow(draft->world, &draft->options, made);
    return attribute_keep_policy(row, draft, made, value);
}

bool
lbx__attributes_set_key(const lbx__attribute *row, lbx__queue_draft *draft,
                        lbx__slice value)
{
    if (value.size > KEY_MAX)
        return draft_refuse_value(draft, row);
    draft->has_key = value.size > 0;
    return attribute_keep(row, draft, value);
}

bool
lbx__attributes_set_key_seconds(const lbx__attribute *row,
                                lbx__queue_draft *draft, lbx__slice value)
{
    int64_t seconds;

    if (!attribute_read_number(value, &seconds) || seconds < 60 ||
        seconds > 86400)
        return draft_refuse_value(draft, row);
    return attribute_keep(row, draft, value);
}

bool
lbx__attributes_set_sse(const lbx__attribute *row, lbx__queue_draft *draft,
                        lbx__slice value)
{
    bool on;

    if (!attribute_read_boolean(value, &on))
        return draft_refuse_value(draft, row);
    draft->has_sse = on;
    lbx__attributes_draft_text(draft, row->text, on ? "true" : "false");
    return true;
}

/* The caller of a creation has looked at it already. */
bool
lbx__attributes_set_fifo(const lbx__attribute *row, lbx__queue_draft *draft,
                         lbx__slice value)
{
    bool on;

    if (!attribute_read_boolean(value, &on))
        return draft_refuse_value(draft, row);
    return on || lbx__fault_text_set(
                     &draft->fault, LBX__SQS_InvalidAttributeValue,
                     "Invalid value for the parameter FifoQueue. Reason: "
                     "Modifying queue type is not supported.");
}

bool
lbx__attributes_set_content(const lbx__attribute *row, lbx__queue_draft *draft,
                            lbx__slice value)
{
    bool on;

    if (!attribute_read_boolean(value, &on))
        return draft_refuse_value(draft, row);
    draft->options.deduplicate_by_content = on;
    return true;
}

bool
lbx__attributes_set_scope(const lbx__attribute *row, lbx__queue_draft *draft,
                          lbx__slice value)
{
    if (lbx__slice_is(value, "messageGroup"))
        draft->options.deduplication = LBX_DEDUPLICATION_GROUP;
    else if (lbx__slice_is(value, "queue"))
        draft->options.deduplication = LBX_DEDUPLICATION_BOX;
    else
        return draft_refuse_value(draft, row);
    return true;
}

bool
lbx__attributes_set_throughput(const lbx__attribute *row,
                               lbx__queue_draft *draft, lbx__slice value)
{
    if (!lbx__slice_is(value, "perQueue") &&
        !lbx__slice_is(value, "perMessageGroupId"))
        return draft_refuse_value(draft, row);
    return attribute_keep(row, draft, value);
}

/* ---- The whole ---- */

static bool
draft_apply_one(lbx__queue_draft *draft, const lbx__sqs_pair *given)
{
    const lbx__attribute *row = lbx__attributes_find(given->name);
    const bool fits =
        row && row->set &&
        (draft->options.fifo || !(row->use & LBX__ATTRIBUTE_FIFO));

    if (!fits && row && (row->use & LBX__ATTRIBUTE_SPEAKS))
        return lbx__fault_text_set(
            &draft->fault, LBX__SQS_InvalidAttributeName,
            "You can specify the %s only when FifoQueue is set to true.",
            row->name);
    if (!fits)
        return lbx__fault_text_set(&draft->fault, LBX__SQS_InvalidAttributeName,
                                   "Unknown Attribute %.*s.",
                                   LBX__QUOTED(given->name) ? given->name.bytes
                                                            : "");
    if (!given->value.bytes ||
        memchr(given->value.bytes, '\0', given->value.size))
        return draft_refuse_value(draft, row);
    return row->set(row, draft, given->value);
}

/* One kind of encryption at a time; a key turns the other kind off. */
static bool
draft_check_encryption(lbx__queue_draft *draft)
{
    const char *key = draft_find(draft, LBX__TEXT_KEY);

    if (key && draft->has_sse)
        return lbx__fault_text_set(&draft->fault, LBX__SQS_InvalidAttributeName,
                                   "%s", one_encryption);
    if (draft->has_key)
        lbx__attributes_draft_text(draft, LBX__TEXT_SSE, "false");
    return true;
}

static bool
draft_check(lbx__queue_draft *draft)
{
    const char *limit = draft_find(draft, LBX__TEXT_THROUGHPUT);
    lbx_fault fault;

    if (!draft_check_encryption(draft))
        return false;
    if (limit && strcmp(limit, "perMessageGroupId") == 0 &&
        draft->options.deduplication != LBX_DEDUPLICATION_GROUP)
        return lbx__fault_text_set(
            &draft->fault, LBX__SQS_InvalidAttributeValue,
            "Invalid value for the parameter FifoThroughputLimit. Reason: The "
            "perMessageGroupId value is allowed only when the value for "
            "DeduplicationScope is messageGroup.");
    // A box that a program made may have limits of its own.
    if (lbx_box_options_check(&draft->options, &fault) != LBX_OK)
        return lbx__fault_text_set(
            &draft->fault, LBX__SQS_InvalidAttributeValue,
            "The box behind this queue refuses it: %s.", fault.text);
    return true;
}

bool
lbx__attributes_set_all(lbx__queue_draft *draft, const lbx__sqs_pairs *given)
{
    for (size_t i = 0; i < given->count; i++) {
        if (!draft_apply_one(draft, &given->items[i]))
            return false;
    }
    return draft_check(draft);
}
