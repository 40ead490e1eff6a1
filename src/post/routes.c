/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes: the addresses replies go to, by type.
 *
 * Routes are one block of memory: the struct, the table, the texts, their JSON.
 * There are at most 64, and a lookup compares one by one.
 *
 * ROUTES-1  After creation only the reference count changes.
 * ROUTES-2  No two routes have the same type name; all texts are UTF-8.
 * ROUTES-3  Reading the JSON of routes makes equal routes.
 *
 * Threads: any.
 */
#include <letterbox/post/routes.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/buffer.h"
#include "base/fault.h"
#include "base/refs.h"
#include "base/utf8.h"
#include "codec/json.h"
#include "codec/json_writer.h"

#include <assert.h>
#include <string.h>

struct lbx_routes {
    const lbx_allocator *allocator;
    size_t block_size;
    _Atomic(uint32_t) users;     /* not in front, where free() writes */
    const char *default_address; /* NULL: none */
    const char *json;
    size_t count;
    lbx_routes_entry table[]; /* then the texts */
};

static bool
routes_is_text(const char *text)
{
    return text && text[0] && lbx__utf8_valid(text);
}

/* ROUTES-2. */
static bool
routes_table_valid(const lbx_routes_entry *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!routes_is_text(table[i].type_name) ||
            !routes_is_text(table[i].address))
            return false;
        for (size_t j = 0; j < i; j++) {
            if (strcmp(table[i].type_name, table[j].type_name) == 0)
                return false;
        }
    }
    return true;
}

static void
routes_write_json(const lbx_routes_entry *table, size_t count,
                  const char *default_address, lbx_buffer *buffer)
{
    lbx__json_writer out;

    lbx__json_writer_init(&out, buffer);
    lbx__json_writer_object(&out);
    lbx__json_writer_name(&out, "default");
    lbx__json_writer_text(&out, default_address);
    lbx__json_writer_name(&out, "routes");
    lbx__json_writer_object(&out);
    for (size_t i = 0; i < count; i++) {
        lbx__json_writer_name(&out, table[i].type_name);
        lbx__json_writer_text(&out, table[i].address);
    }
    lbx__json_writer_object_end(&out);
    lbx__json_writer_object_end(&out);
}

/* Copies a text to *to, and advances it; returns the copy. */
static const char *
routes_keep(char **to, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = *to;

    memcpy(copy, text, size);
    *to += size;
    return copy;
}

static size_t
routes_size(const lbx_routes_entry *table, size_t count,
            const char *default_address, const lbx_buffer *json)
{
    size_t size = sizeof(lbx_routes) + count * sizeof(*table) + json->size + 1;

    for (size_t i = 0; i < count; i++)
        size += strlen(table[i].type_name) + strlen(table[i].address) + 2;
    return size + (default_address ? strlen(default_address) + 1 : 0);
}

static lbx_routes *
routes_build(const lbx_routes_entry *table, size_t count,
             const char *default_address, const lbx_buffer *json)
{
    const size_t size = routes_size(table, count, default_address, json);
    lbx_routes *routes = lbx__zalloc(json->allocator, size);
    char *to;

    if (!routes)
        return NULL;
    to = (char *)&routes->table[count];
    routes->allocator = json->allocator;
    routes->block_size = size;
    routes->count = count;
    lbx__init(&routes->users, 1);
    for (size_t i = 0; i < count; i++) {
        routes->table[i].type_name = routes_keep(&to, table[i].type_name);
        routes->table[i].address = routes_keep(&to, table[i].address);
    }
    if (default_address)
        routes->default_address = routes_keep(&to, default_address);
    routes->json = routes_keep(&to, lbx__buffer_text(json));
    assert(to == (char *)routes + size);
    return routes;
}

lbx_status
lbx_routes_create(const lbx_routes_entry *table, size_t count,
                  const char *default_address, const lbx_allocator *allocator,
                  lbx_routes **ret)
{
    lbx_routes *routes = NULL;
    lbx_buffer json;
    lbx_status status;

    if (!ret || (count > 0 && !table) || !lbx__allocator_usable(allocator) ||
        (default_address && !routes_is_text(default_address)))
        return LBX_INVALID;
    if (count > LBX_MAX_ROUTES)
        return LBX_TOO_LARGE;
    if (!routes_table_valid(table, count))
        return LBX_INVALID;

    lbx__buffer_init(&json, allocator, LBX_MAX_ROUTES_BYTES);
    routes_write_json(table, count, default_address, &json);
    status = json.status;
    if (status == LBX_OK) {
        routes = routes_build(table, count, default_address, &json);
        status = routes ? LBX_OK : LBX_NO_MEMORY;
    }
    lbx__buffer_fini(&json);
    if (status == LBX_OK)
        *ret = routes;
    return status;
}

lbx_status
lbx_routes_single(const char *address, const lbx_allocator *allocator,
                  lbx_routes **ret)
{
    return address ? lbx_routes_create(NULL, 0, address, allocator, ret)
                   : LBX_INVALID;
}

lbx_routes *
lbx_routes_ref(lbx_routes *routes)
{
    if (routes)
        lbx__refs_add(&routes->users);
    return routes;
}

void
lbx_routes_unref(lbx_routes *routes)
{
    if (routes && lbx__refs_drop(&routes->users))
        lbx__free(routes->allocator, routes, routes->block_size);
}

const char *
lbx_routes_json(const lbx_routes *routes)
{
    return routes ? routes->json : NULL;
}

const char *
lbx_routes_default(const lbx_routes *routes)
{
    return routes ? routes->default_address : NULL;
}

lbx_routes_entry
lbx_routes_at(const lbx_routes *routes, size_t index)
{
    if (!routes || index >= routes->count)
        return (lbx_routes_entry){NULL, NULL};
    return routes->table[index];
}

/* The address of exactly this name; NULL. */
static const char *
routes_exact(const lbx_routes *routes, const char *type_name)
{
    for (size_t i = 0; i < routes->count; i++) {
        if (strcmp(routes->table[i].type_name, type_name) == 0)
            return routes->table[i].address;
    }
    return NULL;
}

const char *
lbx_routes_address_by_name(const lbx_routes *routes, const char *type_name)
{
    const char *address = NULL;

    if (!routes)
        return NULL;
    if (type_name)
        address = routes_exact(routes, type_name);
    return address ? address : routes->default_address;
}

const char *
lbx_routes_address(const lbx_routes *routes, const lbx_type *type)
{
    const lbx_type *ancestor;

    if (!routes)
        return NULL;
    for (size_t i = 0; type && (ancestor = lbx_type_ancestor(type, i)); i++) {
        const char *address = routes_exact(routes, lbx_type_name(ancestor));

        if (address)
            return address;
    }
    return routes->default_address;
}

/* ---- From JSON ----
 *
 *     {"default": "address" or null, "routes": {"type.Name": "address", ...}}
 *
 * Either member may be missing; others are ignored. The texts are decoded one
 * after the other into one buffer, and are found by their offsets: the buffer
 * moves while it grows. */

struct routes_reading {
    lbx__json json;
    lbx_buffer texts;
    const char *why; /* the reason, when it is JSON but not routes */
    bool has_default;
    size_t default_at;
    size_t count;
    struct {
        size_t type_name;
        size_t address;
    } at[LBX_MAX_ROUTES];
};

/* Decodes the token into the buffer; returns its offset. */
static size_t
routes_json_keep(struct routes_reading *reading)
{
    const size_t at = reading->texts.size;

    lbx__json_text(&reading->json, &reading->texts);
    lbx__buffer_add_byte(&reading->texts, '\0');
    return at;
}

static bool
routes_json_fail(struct routes_reading *reading, const char *why)
{
    reading->why = why;
    return false;
}

static bool
routes_read_default(struct routes_reading *reading)
{
    switch (lbx__json_next(&reading->json)) {
    case LBX__JSON_STRING:
        reading->has_default = true;
        reading->default_at = routes_json_keep(reading);
        return true;
    case LBX__JSON_NULL:
        return true;
    default:
        return routes_json_fail(reading,
                                "the default should be a string or null");
    }
}

static bool
routes_read_table(struct routes_reading *reading)
{
    if (lbx__json_next(&reading->json) != LBX__JSON_OBJECT)
        return routes_json_fail(reading, "the routes should be an object");
    while (lbx__json_next(&reading->json) == LBX__JSON_NAME) {
        if (reading->count == LBX_MAX_ROUTES) {
            reading->texts.status = LBX_TOO_LARGE;
            return routes_json_fail(reading, "more than 64 routes");
        }
        reading->at[reading->count].type_name = routes_json_keep(reading);
        if (lbx__json_next(&reading->json) != LBX__JSON_STRING)
            return routes_json_fail(reading, "an address should be a string");
        reading->at[reading->count++].address = routes_json_keep(reading);
    }
    return reading->json.kind == LBX__JSON_OBJECT_END;
}

static bool
routes_read(struct routes_reading *reading)
{
    lbx__json *json = &reading->json;

    if (lbx__json_next(json) != LBX__JSON_OBJECT)
        return routes_json_fail(reading, "routes should be an object");
    while (lbx__json_next(json) == LBX__JSON_NAME) {
        const bool done =
            lbx__json_is(json, "default")  ? routes_read_default(reading)
            : lbx__json_is(json, "routes") ? routes_read_table(reading)
                                           : lbx__json_skip(json);

        if (!done)
            return false;
    }
    return json->kind == LBX__JSON_OBJECT_END &&
           lbx__json_next(json) == LBX__JSON_END;
}

/* Creates the routes that were read. */
static lbx_status
routes_make(struct routes_reading *reading, lbx_routes **ret)
{
    const char *texts = reading->texts.bytes;
    lbx_routes_entry table[LBX_MAX_ROUTES];

    for (size_t i = 0; i < reading->count; i++)
        table[i] = (lbx_routes_entry){texts + reading->at[i].type_name,
                                      texts + reading->at[i].address};
    return lbx_routes_create(table, reading->count,
                             reading->has_default ? texts + reading->default_at
                                                  : NULL,
                             reading->texts.allocator, ret);
}

lbx_status
lbx_routes_from_json(const char *json, size_t size_bytes,
                     const lbx_allocator *allocator, lbx_routes **ret,
                     lbx_fault *fault)
{
    struct routes_reading reading = {.why = NULL};
    lbx_status status;
    bool done;

    lbx__fault_clear(fault);
    if (!json || !ret || !lbx__allocator_usable(allocator))
        return lbx__fault_set(
            fault, LBX_INVALID,
            "the JSON or ret is NULL, or the allocator lacks a "
            "function");
    if (size_bytes > LBX_MAX_ROUTES_BYTES)
        return lbx__fault_set(fault, LBX_TOO_LARGE,
                              "%zu bytes, and at most %d are allowed",
                              size_bytes, LBX_MAX_ROUTES_BYTES);
    lbx__json_init(&reading.json, json, size_bytes, allocator);
    // A string loses its quotes and gets a NUL: the texts fit the same size.
    lbx__buffer_init(&reading.texts, allocator, LBX_MAX_ROUTES_BYTES);
    done = routes_read(&reading);
    if (reading.texts.status != LBX_OK)
        status = reading.texts.status;
    else if (!done)
        status = lbx__json_fault(&reading.json, reading.why, fault);
    else
        status = routes_make(&reading, ret);
    if (done && status == LBX_INVALID) // JSON with an empty name or address
        status = lbx__json_fault(&reading.json, "an empty text", fault);
    lbx__buffer_fini(&reading.texts);
    lbx__json_fini(&reading.json);
    return lbx__fault_complete(fault, status, "the routes", NULL);
}
