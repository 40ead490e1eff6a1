/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole JSON text in memory, for <letterbox/json.h>.
 *
 * The text is read twice: once to check it and to count, once to fill in one
 * block of memory. Values are numbered in the order in which they begin, so
 * that the first inside an object or array has the next number.
 *
 * JTREE-1  What a caller can hold does not change after lbx_json_read().
 * JTREE-2  A value that does not exist is {NULL, 0}, and so is every lookup in
 *          it.
 */
#include <letterbox/json.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/fault.h"
#include "codec/json.h"

#include <assert.h>
#include <string.h>

struct json_node {
    const char *name; /* NULL: not a member */
    const char *text; /* strings and numbers */
    size_t size;
    lbx_json_kind kind;
    bool truth;
    bool has_inside; /* the next node is the first inside */
    uint32_t next;   /* behind it at the same level; 0: none */
};

struct lbx_json {
    const lbx_allocator *allocator;
    size_t size_bytes;
    lbx_buffer texts; /* in the same block; does not grow */
    uint32_t count;
    struct json_node nodes[];
};

/* ---- Reading ---- */

static lbx_json_kind
json_tree_kind(lbx__json_kind token)
{
    switch (token) {
    case LBX__JSON_OBJECT:
        return LBX_JSON_OBJECT;
    case LBX__JSON_ARRAY:
        return LBX_JSON_ARRAY;
    case LBX__JSON_STRING:
        return LBX_JSON_TEXT;
    case LBX__JSON_NUMBER:
        return LBX_JSON_NUMBER;
    case LBX__JSON_TRUE:
    case LBX__JSON_FALSE:
        return LBX_JSON_BOOL;
    case LBX__JSON_NULL:
        return LBX_JSON_NULL;
    default:
        return LBX_JSON_ABSENT; // no value begins here
    }
}

/* Checks the text; counts its values and the bytes of its texts. */
static lbx_status
json_tree_count(lbx__json *reader, size_t *ret_values, size_t *ret_bytes,
                lbx_fault *fault)
{
    lbx__json_kind token;

    *ret_values = *ret_bytes = 0;
    do {
        token = lbx__json_next(reader);
        if (json_tree_kind(token) != LBX_JSON_ABSENT)
            ++*ret_values;
        if (token == LBX__JSON_NAME || token == LBX__JSON_STRING ||
            token == LBX__JSON_NUMBER)
            *ret_bytes += reader->size + 1;
    } while (token != LBX__JSON_END && token != LBX__JSON_FAULT);
    return token == LBX__JSON_END ? LBX_OK
                                  : lbx__json_fault(reader, NULL, fault);
}

/* The token as a text of the block. */
static const char *
json_tree_keep(lbx_json *json, const lbx__json *reader)
{
    const char *text = json->texts.bytes + json->texts.size;

    if (reader->kind == LBX__JSON_NUMBER)
        lbx__buffer_add(&json->texts, reader->token, reader->size);
    else
        lbx__json_text(reader, &json->texts);
    lbx__buffer_add_byte(&json->texts, '\0');
    assert(json->texts.status == LBX_OK);
    return text;
}

/* OK; NO_MEMORY: all else was found by counting. */
static lbx_status
json_tree_fill(lbx_json *json, lbx__json *reader)
{
    uint32_t last[LBX__JSON_DEPTH + 1] = {0}; // at each level; 0: none yet
    const char *name = NULL;

    while (lbx__json_next(reader) != LBX__JSON_END &&
           reader->status == LBX_OK) {
        const lbx_json_kind kind = json_tree_kind(reader->kind);
        const bool opens = kind == LBX_JSON_OBJECT || kind == LBX_JSON_ARRAY;
        const uint32_t level = reader->depth - opens;
        struct json_node *node;

        if (reader->kind == LBX__JSON_NAME)
            name = json_tree_keep(json, reader);
        if (kind == LBX_JSON_ABSENT)
            continue;
        node = &json->nodes[json->count];
        *node = (struct json_node){.name = name,
                                   .kind = kind,
                                   .truth = reader->kind == LBX__JSON_TRUE};
        if (kind == LBX_JSON_TEXT || kind == LBX_JSON_NUMBER) {
            node->text = json_tree_keep(json, reader);
            node->size = strlen(node->text); // no U+0000 in it
        }
        if (last[level] > 0)
            json->nodes[last[level]].next = json->count;
        else if (json->count > 0)
            node[-1].has_inside = true;
        last[level] = json->count++;
        if (opens)
            last[level + 1] = 0;
        name = NULL;
    }
    return reader->status;
}

static lbx_json *
json_tree_create(size_t values, size_t bytes, const lbx_allocator *allocator)
{
    const size_t nodes = sizeof(lbx_json) + values * sizeof(struct json_node);
    lbx_json *json = lbx__zalloc(allocator, nodes + bytes + 1);

    if (!json)
        return NULL;
    json->allocator = allocator;
    json->size_bytes = nodes + bytes + 1;
    json->texts = (lbx_buffer){
        .bytes = (char *)json + nodes, .capacity = bytes + 1, .max = bytes};
    return json;
}

lbx_status
lbx_json_read(const void *text, size_t size_bytes,
              const lbx_allocator *allocator, lbx_json **ret, lbx_fault *fault)
{
    lbx__json reader;
    lbx_json *json = NULL;
    size_t values, bytes;
    lbx_status status;

    if (!text || !ret || !lbx__allocator_usable(allocator))
        return lbx__fault_set(fault, LBX_INVALID,
                              "there is no text, no pointer for the result, or "
                              "half an allocator");
    lbx__json_init(&reader, text, size_bytes, allocator);
    status = json_tree_count(&reader, &values, &bytes, fault);
    lbx__json_fini(&reader);
    if (status != LBX_OK)
        return status;
    json = json_tree_create(values, bytes, allocator);
    if (!json)
        return lbx__fault_set(fault, LBX_NO_MEMORY, "%s",
                              lbx_status_text(LBX_NO_MEMORY));
    lbx__json_init(&reader, text, size_bytes, allocator);
    status = json_tree_fill(json, &reader);
    lbx__json_fini(&reader);
    if (status == LBX_OK)
        *ret = json;
    else
        lbx_json_destroy(json);
    return status == LBX_OK
               ? LBX_OK
               : lbx__fault_set(fault, status, "%s", lbx_status_text(status));
}

void
lbx_json_destroy(lbx_json *json)
{
    if (json)
        lbx__free(json->allocator, json, json->size_bytes);
}

/* ---- Values ---- */

/* NULL: absent (JTREE-2). */
static const struct json_node *
json_tree_node(lbx_json_value value)
{
    return value.json && value.index < value.json->count
               ? &value.json->nodes[value.index]
               : NULL;
}

lbx_json_value
lbx_json_root(const lbx_json *json)
{
    return (lbx_json_value){json, 0};
}

lbx_json_kind
lbx_json_kind_of(lbx_json_value value)
{
    const struct json_node *node = json_tree_node(value);

    return node ? node->kind : LBX_JSON_ABSENT;
}

lbx_json_value
lbx_json_first(lbx_json_value value)
{
    const struct json_node *node = json_tree_node(value);

    return node && node->has_inside
               ? (lbx_json_value){value.json, value.index + 1}
               : (lbx_json_value){NULL, 0};
}

lbx_json_value
lbx_json_next(lbx_json_value value)
{
    const struct json_node *node = json_tree_node(value);

    return node && node->next > 0 ? (lbx_json_value){value.json, node->next}
                                  : (lbx_json_value){NULL, 0};
}

lbx_json_value
lbx_json_get(lbx_json_value value, const char *name)
{
    lbx_json_value member = {NULL, 0};

    if (name && lbx_json_kind_of(value) == LBX_JSON_OBJECT)
        member = lbx_json_first(value);
    while (member.json && strcmp(lbx_json_name(member), name) != 0)
        member = lbx_json_next(member);
    return member;
}

const char *
lbx_json_name(lbx_json_value value)
{
    const struct json_node *node = json_tree_node(value);

    return node ? node->name : NULL;
}

const char *
lbx_json_text(lbx_json_value value, size_t *ret_bytes)
{
    const struct json_node *node = json_tree_node(value);

    if (node && node->text && ret_bytes)
        *ret_bytes = node->size;
    return node ? node->text : NULL;
}

/* A number as the reader has it. */
static lbx__json
json_tree_number(lbx_json_value value)
{
    lbx__json number = {.kind = LBX__JSON_FAULT};

    if (lbx_json_kind_of(value) == LBX_JSON_NUMBER) {
        number.kind = LBX__JSON_NUMBER;
        number.token = lbx_json_text(value, &number.size);
    }
    return number;
}

bool
lbx_json_int64(lbx_json_value value, int64_t *ret)
{
    const lbx__json number = json_tree_number(value);

    return ret && lbx__json_integer(&number, ret);
}

bool
lbx_json_double(lbx_json_value value, double *ret)
{
    const lbx__json number = json_tree_number(value);

    return ret && lbx__json_double(&number, ret);
}

bool
lbx_json_bool(lbx_json_value value, bool *ret)
{
    const struct json_node *node = json_tree_node(value);

    if (!ret || !node || node->kind != LBX_JSON_BOOL)
        return false;
    *ret = node->truth;
    return true;
}
