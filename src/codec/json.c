/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strict reader; its invariants are in json.h.
 *
 * There is no recursion: the open objects and arrays are a stack of 32 numbers,
 * and what may come next is one of six states.
 */
#include "codec/json.h"

#include "base/fault.h"
#include "base/utf8.h"
#include "codec/json_names.h"

#include <assert.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum expected {
    A_VALUE = 0,
    A_NAME,         /* behind a comma */
    A_NAME_OR_END,  /* behind { */
    A_VALUE_OR_END, /* behind [ */
    A_COMMA_OR_END, /* behind a member or an element */
    NOTHING         /* behind the one value of the text */
};

void
lbx__json_init(lbx__json *json, const char *text, size_t size,
               const lbx_allocator *allocator)
{
    *json = (lbx__json){
        .text = text,
        .at = text,
        .end = text + size,
        .allocator = allocator,
        .slots = LBX__JSON_SLOTS,
    };
    json->names = json->first;
    if (size > UINT32_MAX / 2) {
        json->status = LBX_TOO_LARGE;
        json->why = "the text is too long";
    }
}

void
lbx__json_fini(lbx__json *json)
{
    lbx__json_names_fini(json);
    json->names = json->first;
    json->slots = LBX__JSON_SLOTS;
}

static lbx__json_kind
json_fail(lbx__json *json, lbx_status status, const char *why)
{
    json->status = status;
    json->why = why;
    json->kind = LBX__JSON_FAULT;
    return LBX__JSON_FAULT;
}

static lbx__json_kind
json_fail_encoding(lbx__json *json, const char *why)
{
    return json_fail(json, LBX_ENCODING, why);
}

static void
json_skip_space(lbx__json *json)
{
    while (json->at < json->end && (*json->at == ' ' || *json->at == '\n' ||
                                    *json->at == '\r' || *json->at == '\t'))
        json->at++;
}

/* Sets what may come after a value. */
static void
json_value_ended(lbx__json *json)
{
    json->expected = json->depth > 0 ? A_COMMA_OR_END : NOTHING;
}

static lbx__json_kind
json_set_token(lbx__json *json, lbx__json_kind kind, const char *start,
               const char *end)
{
    json->kind = kind;
    json->token = start;
    json->size = (size_t)(end - start);
    return kind;
}

static lbx__json_kind
json_open(lbx__json *json, lbx__json_kind kind)
{
    if (json->depth == LBX__JSON_DEPTH)
        return json_fail(json, LBX_TOO_LARGE, "more than 32 levels deep");
    json->open[json->depth++] = kind == LBX__JSON_OBJECT ? ++json->objects : 0;
    json->expected = kind == LBX__JSON_OBJECT ? A_NAME_OR_END : A_VALUE_OR_END;
    json->at++;
    return json_set_token(json, kind, json->at - 1, json->at);
}

static lbx__json_kind
json_close(lbx__json *json)
{
    const bool object = json->open[json->depth - 1] != 0;

    if (*json->at != (object ? '}' : ']'))
        return json_fail_encoding(json,
                                  "this bracket closes nothing that is open");
    json->depth--;
    json->at++;
    json_value_ended(json);
    return json_set_token(json,
                          object ? LBX__JSON_OBJECT_END : LBX__JSON_ARRAY_END,
                          json->at - 1, json->at);
}

/* ASCII that needs no decoding: nearly every character. */
static bool
json_is_plain(char byte)
{
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

/* By words, and byte by byte where one of them has another byte. */
static const char *
json_skip_plain(const char *at, const char *end)
{
    for (;;) {
        const char *stop;

        at += lbx__utf8_skip_plain(at, (size_t)(end - at));
        stop = end - at < 8 ? end : at + 8;
        while (at < stop && json_is_plain(*at))
            at++;
        if (at < stop || at == end)
            return at;
    }
}

/* Skips one character of a string; NULL, or what is wrong with it. */
static const char *
json_scan_character(lbx__json *json, const char **at)
{
    const unsigned char byte = (unsigned char)**at;
    char decoded[4];
    uint32_t code;
    size_t length;

    if (byte < 0x20)
        return "a control character in a string";
    if (byte == '\\') {
        ++*at;
        json->escaped = true;
        if (lbx__utf8_unescape(at, json->end, decoded) == 0)
            return "not an escape that is allowed";
        return NULL;
    }
    length = lbx__utf8_decode(*at, (size_t)(json->end - *at), &code);
    *at += length;
    return length > 0 ? NULL : "not UTF-8";
}

/* The string at the quote; NULL, or what is wrong with it. */
static const char *
json_scan_string(lbx__json *json)
{
    const char *at = json->at + 1;

    json->token = at;
    json->escaped = false;
    for (;;) {
        const char *why;

        at = json_skip_plain(at, json->end);
        json->at = at; // for the position of a fault
        if (at == json->end)
            return "a string without an end";
        if (*at == '"')
            break;
        why = json_scan_character(json, &at);
        if (why)
            return why;
    }
    json->size = (size_t)(at - json->token);
    json->at = at + 1;
    return NULL;
}

static lbx__json_kind
json_read_string(lbx__json *json)
{
    const char *why = json_scan_string(json);

    if (why)
        return json_fail_encoding(json, why);
    json->kind = LBX__JSON_STRING;
    json_value_ended(json);
    return LBX__JSON_STRING;
}

static lbx__json_kind
json_read_name(lbx__json *json)
{
    const char *why;
    lbx_status status;

    if (json->at == json->end || *json->at != '"')
        return json_fail_encoding(json, "a name in quotes should stand here");
    why = json_scan_string(json);
    if (why)
        return json_fail_encoding(json, why);
    status = lbx__json_names_add(json, &why);
    if (status != LBX_OK)
        return json_fail(json, status, why);
    json_skip_space(json);
    if (json->at == json->end || *json->at != ':')
        return json_fail_encoding(json, "a colon should stand here");
    json->at++;
    json->expected = A_VALUE;
    json->kind = LBX__JSON_NAME;
    return LBX__JSON_NAME;
}

/* Skips digits; false when there are none. */
static bool
json_skip_digits(const char **at, const char *end)
{
    const char *start = *at;

    while (*at < end && **at >= '0' && **at <= '9')
        ++*at;
    return *at > start;
}

static lbx__json_kind
json_read_number(lbx__json *json)
{
    const char *at = json->at, *start = at, *end = json->end;

    at += *at == '-';
    if (at < end && *at == '0')
        at++;
    else if (!json_skip_digits(&at, end))
        return json_fail_encoding(json, "not a value");
    if (at < end && *at == '.') {
        at++;
        if (!json_skip_digits(&at, end))
            return json_fail_encoding(json, "a digit should follow the point");
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-'))
            at++;
        if (!json_skip_digits(&at, end))
            return json_fail_encoding(json, "an exponent without a digit");
    }
    json->at = at;
    json_value_ended(json);
    return json_set_token(json, LBX__JSON_NUMBER, start, at);
}

static lbx__json_kind
json_read_word(lbx__json *json, const char *word, lbx__json_kind kind)
{
    const size_t size = strlen(word);

    if ((size_t)(json->end - json->at) < size ||
        memcmp(json->at, word, size) != 0)
        return json_fail_encoding(json, "not a value");
    json->at += size;
    json_value_ended(json);
    return json_set_token(json, kind, json->at - size, json->at);
}

static lbx__json_kind
json_read_value(lbx__json *json)
{
    switch (*json->at) {
    case '{':
        return json_open(json, LBX__JSON_OBJECT);
    case '[':
        return json_open(json, LBX__JSON_ARRAY);
    case '"':
        return json_read_string(json);
    case 't':
        return json_read_word(json, "true", LBX__JSON_TRUE);
    case 'f':
        return json_read_word(json, "false", LBX__JSON_FALSE);
    case 'n':
        return json_read_word(json, "null", LBX__JSON_NULL);
    default:
        return json_read_number(json);
    }
}

static bool
json_at_bracket(const lbx__json *json)
{
    return *json->at == '}' || *json->at == ']';
}

/* Behind a member or an element. */
static lbx__json_kind
json_read_more(lbx__json *json)
{
    if (json_at_bracket(json))
        return json_close(json);
    if (*json->at != ',')
        return json_fail_encoding(json,
                                  "a comma or a bracket should stand here");
    json->at++;
    json->expected = json->open[json->depth - 1] != 0 ? A_NAME : A_VALUE;
    json_skip_space(json);
    if (json->at == json->end)
        return json_fail_encoding(json, "the text is cut off");
    return json->expected == A_NAME ? json_read_name(json)
                                    : json_read_value(json);
}

lbx__json_kind
lbx__json_next(lbx__json *json)
{
    if (json->status != LBX_OK) {
        json->kind = LBX__JSON_FAULT;
        return LBX__JSON_FAULT; // JSON-2
    }
    json_skip_space(json);
    if (json->at == json->end) {
        if (json->expected != NOTHING)
            return json_fail_encoding(json, "the text is cut off");
        return json_set_token(json, LBX__JSON_END, json->at,
                              json->at); // JSON-3
    }
    switch (json->expected) {
    case A_VALUE:
        return json_read_value(json);
    case A_NAME:
        return json_read_name(json);
    case A_NAME_OR_END:
        return json_at_bracket(json) ? json_close(json) : json_read_name(json);
    case A_VALUE_OR_END:
        return json_at_bracket(json) ? json_close(json) : json_read_value(json);
    case A_COMMA_OR_END:
        return json_read_more(json);
    default:
        return json_fail_encoding(json, "something follows the end");
    }
}

bool
lbx__json_skip(lbx__json *json)
{
    lbx__json_kind kind = json->kind;
    uint32_t outside;

    if (kind == LBX__JSON_NAME)
        kind = lbx__json_next(json);
    if (kind == LBX__JSON_OBJECT || kind == LBX__JSON_ARRAY) {
        outside = json->depth - 1;
        while (json->depth > outside && kind != LBX__JSON_FAULT)
            kind = lbx__json_next(json);
    }
    return kind != LBX__JSON_FAULT;
}

bool
lbx__json_integer(const lbx__json *json, int64_t *ret)
{
    const bool negative = json->size > 0 && json->token[0] == '-';
    uint64_t number = 0;
    const uint64_t limit = (uint64_t)INT64_MAX + negative;

    if (json->kind != LBX__JSON_NUMBER)
        return false;
    for (size_t i = negative; i < json->size; i++) {
        const unsigned digit = (unsigned)json->token[i] - '0';

        if (digit > 9 || number > (limit - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    *ret = negative ? (int64_t)(0 - number) : (int64_t)number;
    return true;
}

bool
lbx__json_double(const lbx__json *json, double *ret)
{
    char text[1024]; // for its NUL
    locale_t plain;
    double number;

    if (json->kind != LBX__JSON_NUMBER || json->size >= sizeof(text))
        return false;
    memcpy(text, json->token, json->size);
    text[json->size] = '\0';
    // Others have another decimal point. This one always exists.
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain)
        return false;
    number = strtod_l(text, NULL, plain);
    freelocale(plain);
    if (!isfinite(number))
        return false;
    *ret = number;
    return true;
}

lbx_status
lbx__json_fault(const lbx__json *json, const char *why, lbx_fault *fault)
{
    lbx_status status = json->status;
    long long offset = json->at - json->text;

    if (status == LBX_OK) { // valid JSON, but not what the caller expected
        status = LBX_ENCODING;
        offset = json->token ? json->token - json->text : 0;
    } else {
        why = json->why;
    }
    return lbx__fault_set(fault, status, "JSON, byte %lld: %s", offset,
                          why ? why : "not what was expected");
}
