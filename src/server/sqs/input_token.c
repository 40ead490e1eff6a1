/* SPDX-License-Identifier: Apache-2.0 */
/* Texts and numbers of JSON inputs; see input_token.h. */
#include "server/sqs/input_token.h"

#include "base/utf8.h"
#include "server/sqs/fault_text.h"

bool
lbx__input_token_fail(lbx__input_json *in)
{
    lbx_fault fault;

    if (lbx__json_fault(&in->json, NULL, &fault) == LBX_NO_MEMORY)
        return lbx__input_fail_memory(in->fault, in->arena);
    return lbx__fault_text_set(in->fault, LBX__SQS_SerializationException, "%s",
                               fault.text);
}

bool
lbx__input_token_fail_kind(lbx__input_json *in, const char *name,
                           const char *wanted)
{
    if (in->json.kind == LBX__JSON_FAULT)
        return lbx__input_token_fail(in);
    return lbx__fault_text_set(in->fault, LBX__SQS_SerializationException,
                               "%s must be %s.", name, wanted);
}

bool
lbx__input_token_fail_scalar(lbx__input_json *in, const char *name,
                             const char *wanted, const char *ours)
{
    const char *kind = NULL;

    if (in->json.kind == LBX__JSON_STRING)
        kind = "STRING_VALUE";
    else if (in->json.kind == LBX__JSON_NUMBER)
        kind = "NUMBER_VALUE";
    else if (in->json.kind == LBX__JSON_TRUE)
        kind = "TRUE_VALUE";
    else if (in->json.kind == LBX__JSON_FALSE)
        kind = "FALSE_VALUE";
    if (!kind)
        return lbx__input_token_fail_kind(in, name, ours);
    return lbx__fault_text_set(in->fault, LBX__SQS_SerializationException,
                               "%s can not be converted to %s", kind, wanted);
}

/* Whether the fault is U+0000, half of a pair, or bytes that are no UTF-8, and
 * not one of syntax. */
static bool
token_is_bad_character(const lbx__json *json)
{
    const size_t left = (size_t)(json->end - json->at);

    if (json->status != LBX_ENCODING || left == 0)
        return false;
    if (*json->at == '\\')
        return left >= 6 && json->at[1] == 'u';
    return (unsigned char)*json->at >= 0x80;
}

bool
lbx__input_token_member(lbx__input_json *in, bool *failed)
{
    const lbx__json_kind kind = lbx__json_next(&in->json);

    *failed = false;
    if (kind == LBX__JSON_OBJECT_END)
        return false;
    if (kind != LBX__JSON_NAME) {
        *failed = !lbx__input_token_fail(in);
    } else if (++in->members > LBX__SQS_MAX_MEMBERS) {
        *failed = !lbx__fault_text_set(
            in->fault, LBX__SQS_InvalidParameterValueException,
            "The request has more than %d members.", LBX__SQS_MAX_MEMBERS);
    }
    return !*failed;
}

bool
lbx__input_token_copy(lbx__input_json *in, lbx__slice *ret)
{
    const lbx__json *json = &in->json;
    const char *at = json->token, *end = at + json->size;
    char *copy = lbx__arena_take(in->arena, json->size + 1);
    size_t size = 0;

    if (!copy)
        return lbx__input_fail_memory(in->fault, in->arena);
    if (!json->escaped) {
        memcpy(copy, at, json->size);
        size = json->size;
        at = end;
    }
    while (at < end) {
        if (*at != '\\') {
            copy[size++] = *at++;
        } else { // the reader has checked it
            at++;
            size += lbx__utf8_unescape(&at, end, copy + size);
        }
    }
    copy[size] = '\0'; // INPUT-1
    *ret = (lbx__slice){copy, size};
    return true;
}

bool
lbx__input_token_text(lbx__input_json *in, const char *name, lbx__slice *ret)
{
    const lbx__json_kind kind = lbx__json_next(&in->json);

    if (kind == LBX__JSON_NULL)
        return true;
    if (kind != LBX__JSON_STRING)
        return lbx__input_token_fail_scalar(in, name, "a String", "a string");
    return lbx__input_token_copy(in, ret);
}

bool
lbx__input_token_body(lbx__input_json *in, const char *name, lbx__slice *ret)
{
    if (lbx__input_token_text(in, name, ret))
        return true;
    if (token_is_bad_character(&in->json))
        return lbx__input_fail_body(in->fault);
    return false;
}

bool
lbx__input_token_number(lbx__input_json *in, const char *name,
                        lbx__sqs_number *ret)
{
    const lbx__json_kind kind = lbx__json_next(&in->json);
    const lbx__slice text = {in->json.token, in->json.size};

    if (kind == LBX__JSON_NULL)
        return true;
    if (kind != LBX__JSON_NUMBER)
        return lbx__input_token_fail_scalar(in, name, "an Integer",
                                            "an integer");
    if (!lbx__input_integer(text, &ret->value))
        return lbx__input_token_fail_kind(in, name, "an integer");
    in->json.escaped = false;
    if (!lbx__input_token_copy(in, &ret->text))
        return false;
    ret->given = true;
    return true;
}

bool
lbx__input_token_open(lbx__input_json *in, const char *name,
                      lbx__json_kind wanted, bool *failed)
{
    const lbx__json_kind kind = lbx__json_next(&in->json);

    *failed = false;
    if (kind == wanted)
        return true;
    if (kind != LBX__JSON_NULL)
        *failed = !lbx__input_token_fail_kind(
            in, name, wanted == LBX__JSON_ARRAY ? "a list" : "an object");
    return false;
}
