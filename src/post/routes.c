/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where replies go.
 *
 * Routes are one block of memory: the struct, the table, the texts, their JSON.
 * There are few of them, at most 64, and they are looked through.
 *
 * V1  Nothing changes after creation but the count of users.
 * V2  No two routes have the same type name; all texts are UTF-8.
 * V3  What the JSON says is what the routes are: reading it gives the same.
 */
#include <letterbox/post/routes.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/buffer.h"
#include "base/utf8.h"
#include "codec/json_writer.h"

#include <assert.h>
#include <string.h>

struct lbx_routes {
    const lbx_allocator *allocator;
    _Atomic(uint32_t) users;
    size_t block_size;
    const char *default_place; /* NULL: none */
    const char *json;
    size_t count;
    lbx_route table[]; /* then the texts */
};

static bool
is_text(const char *text)
{
    return text && text[0] && lbx__utf8_valid(text);
}

/* V2. */
static bool
table_valid(const lbx_route *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_text(table[i].type_name) || !is_text(table[i].place))
            return false;
        for (size_t j = 0; j < i; j++) {
            if (strcmp(table[i].type_name, table[j].type_name) == 0)
                return false;
        }
    }
    return true;
}

static void
write_json(const lbx_route *table, size_t count, const char *default_place,
           lbx_buffer *buffer)
{
    lbx__json_writer out;

    lbx__json_writer_init(&out, buffer);
    lbx__json_writer_object(&out);
    lbx__json_writer_name(&out, "default");
    lbx__json_writer_text(&out, default_place);
    lbx__json_writer_name(&out, "routes");
    lbx__json_writer_object(&out);
    for (size_t i = 0; i < count; i++) {
        lbx__json_writer_name(&out, table[i].type_name);
        lbx__json_writer_text(&out, table[i].place);
    }
    lbx__json_writer_object_end(&out);
    lbx__json_writer_object_end(&out);
}

/* Copies a text to *to, moves that on, and answers where the copy is. */
static const char *
keep(char **to, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = *to;

    memcpy(copy, text, size);
    *to += size;
    return copy;
}

static size_t
size_of(const lbx_route *table, size_t count, const char *default_place,
        const lbx_buffer *json)
{
    size_t size = sizeof(lbx_routes) + count * sizeof(*table) + json->size + 1;

    for (size_t i = 0; i < count; i++)
        size += strlen(table[i].type_name) + strlen(table[i].place) + 2;
    return size + (default_place ? strlen(default_place) + 1 : 0);
}

static lbx_routes *
build(const lbx_route *table, size_t count, const char *default_place,
      const lbx_buffer *json)
{
    const size_t size = size_of(table, count, default_place, json);
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
        routes->table[i].type_name = keep(&to, table[i].type_name);
        routes->table[i].place = keep(&to, table[i].place);
    }
    if (default_place)
        routes->default_place = keep(&to, default_place);
    routes->json = keep(&to, lbx__buffer_text(json));
    assert(to == (char *)routes + size);
    return routes;
}

lbx_status
lbx_routes_create(const lbx_route *table, size_t count,
                  const char *default_place, const lbx_allocator *allocator,
                  lbx_routes **ret)
{
    lbx_routes *routes = NULL;
    lbx_buffer json;
    lbx_status status;

    if (!ret || (count > 0 && !table) || !lbx__allocator_usable(allocator) ||
        (default_place && !is_text(default_place)))
        return LBX_INVALID;
    if (count > LBX_ROUTES_MOST)
        return LBX_TOO_LARGE;
    if (!table_valid(table, count))
        return LBX_INVALID;

    lbx__buffer_init(&json, allocator, LBX_ROUTES_MOST_BYTES);
    write_json(table, count, default_place, &json);
    status = json.status;
    if (status == LBX_OK) {
        routes = build(table, count, default_place, &json);
        status = routes ? LBX_OK : LBX_NO_MEMORY;
    }
    lbx__buffer_fini(&json);
    if (status == LBX_OK)
        *ret = routes;
    return status;
}

lbx_status
lbx_routes_single(const char *place, const lbx_allocator *allocator,
                  lbx_routes **ret)
{
    return place ? lbx_routes_create(NULL, 0, place, allocator, ret)
                 : LBX_INVALID;
}

lbx_routes *
lbx_routes_ref(lbx_routes *routes)
{
    // Relaxed: who has a reference has all that was written before it.
    if (routes)
        (void)lbx__add(&routes->users, 1, relaxed);
    return routes;
}

void
lbx_routes_unref(lbx_routes *routes)
{
    // Release and acquire: the last one frees after all others have read.
    if (routes && lbx__sub(&routes->users, 1, acq_rel) == 1)
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
    return routes ? routes->default_place : NULL;
}

lbx_route
lbx_routes_at(const lbx_routes *routes, size_t index)
{
    if (!routes || index >= routes->count)
        return (lbx_route){NULL, NULL};
    return routes->table[index];
}

/* The route of exactly this name; NULL. */
static const char *
exact(const lbx_routes *routes, const char *type_name)
{
    for (size_t i = 0; i < routes->count; i++) {
        if (strcmp(routes->table[i].type_name, type_name) == 0)
            return routes->table[i].place;
    }
    return NULL;
}

const char *
lbx_routes_place_of_name(const lbx_routes *routes, const char *type_name)
{
    const char *place = NULL;

    if (!routes)
        return NULL;
    if (type_name)
        place = exact(routes, type_name);
    return place ? place : routes->default_place;
}

const char *
lbx_routes_place(const lbx_routes *routes, const lbx_type *type)
{
    const lbx_type *ancestor;

    if (!routes)
        return NULL;
    for (size_t i = 0; type && (ancestor = lbx_type_ancestor(type, i)); i++) {
        const char *place = exact(routes, lbx_type_name(ancestor));

        if (place)
            return place;
    }
    return routes->default_place;
}
