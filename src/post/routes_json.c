/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes from their JSON, as the WINK mailbox writes it:
 *
 *     {"default": "place" or null, "routes": {"type.Name": "place", ...}}
 *
 * Either member may be missing; others are ignored. The texts are decoded one
 * behind the other into one buffer, and are found by where they begin in it: it
 * moves while it grows.
 */
#include <letterbox/post/routes.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/fault.h"
#include "codec/json.h"

#include <assert.h>

struct reading {
    lbx__json json;
    lbx_buffer texts;
    const char *why; /* when it is JSON, but no routes */
    bool has_default;
    size_t default_at;
    size_t count;
    struct {
        size_t type_name;
        size_t place;
    } at[LBX_ROUTES_MOST];
};

/* Decodes the token; answers where it begins. */
static size_t
keep(struct reading *reading)
{
    const size_t at = reading->texts.size;

    lbx__json_text(&reading->json, &reading->texts);
    lbx__buffer_add_byte(&reading->texts, '\0');
    return at;
}

static bool
missing(struct reading *reading, const char *why)
{
    reading->why = why;
    return false;
}

static bool
read_default(struct reading *reading)
{
    switch (lbx__json_next(&reading->json)) {
    case LBX__JSON_STRING:
        reading->has_default = true;
        reading->default_at = keep(reading);
        return true;
    case LBX__JSON_NULL:
        return true;
    default:
        return missing(reading, "the default should be a string or null");
    }
}

static bool
read_table(struct reading *reading)
{
    if (lbx__json_next(&reading->json) != LBX__JSON_OBJECT)
        return missing(reading, "the routes should be an object");
    while (lbx__json_next(&reading->json) == LBX__JSON_NAME) {
        if (reading->count == LBX_ROUTES_MOST) {
            reading->texts.status = LBX_TOO_LARGE;
            return missing(reading, "more than 64 routes");
        }
        reading->at[reading->count].type_name = keep(reading);
        if (lbx__json_next(&reading->json) != LBX__JSON_STRING)
            return missing(reading, "a place should be a string");
        reading->at[reading->count++].place = keep(reading);
    }
    return reading->json.kind == LBX__JSON_OBJECT_END;
}

static bool
read_all(struct reading *reading)
{
    lbx__json *json = &reading->json;

    if (lbx__json_next(json) != LBX__JSON_OBJECT)
        return missing(reading, "routes should be an object");
    while (lbx__json_next(json) == LBX__JSON_NAME) {
        const bool done = lbx__json_is(json, "default")  ? read_default(reading)
                          : lbx__json_is(json, "routes") ? read_table(reading)
                                                         : lbx__json_skip(json);

        if (!done)
            return false;
    }
    return json->kind == LBX__JSON_OBJECT_END &&
           lbx__json_next(json) == LBX__JSON_END;
}

/* Routes of what was read. */
static lbx_status
make(struct reading *reading, lbx_routes **ret)
{
    const char *texts = reading->texts.bytes;
    lbx_route table[LBX_ROUTES_MOST];

    for (size_t i = 0; i < reading->count; i++)
        table[i] = (lbx_route){texts + reading->at[i].type_name,
                               texts + reading->at[i].place};
    return lbx_routes_create(table, reading->count,
                             reading->has_default ? texts + reading->default_at
                                                  : NULL,
                             reading->texts.allocator, ret);
}

lbx_status
lbx_routes_from_json(const char *json, size_t size_bytes,
                     const lbx_allocator *allocator, lbx_fault *ret_fault,
                     lbx_routes **ret)
{
    struct reading reading = {.why = NULL};
    lbx_status status;
    bool done;

    lbx__fault_clear(ret_fault);
    if (!json || !ret || !lbx__allocator_usable(allocator))
        return lbx__fault_set(
            ret_fault, LBX_INVALID,
            "the JSON or ret is NULL, or the allocator lacks a "
            "function");
    if (size_bytes > LBX_ROUTES_MOST_BYTES)
        return lbx__fault_set(ret_fault, LBX_TOO_LARGE,
                              "%zu bytes, and at most %d are allowed",
                              size_bytes, LBX_ROUTES_MOST_BYTES);
    lbx__json_init(&reading.json, json, size_bytes, allocator);
    // A string loses its quotes and gets a NUL: never more than there was.
    lbx__buffer_init(&reading.texts, allocator, LBX_ROUTES_MOST_BYTES);
    done = read_all(&reading);
    if (reading.texts.status != LBX_OK)
        status = reading.texts.status;
    else if (!done)
        status = lbx__json_fault(&reading.json, reading.why, ret_fault);
    else
        status = make(&reading, ret);
    if (done && status == LBX_INVALID) // JSON with an empty name or place
        status = lbx__json_fault(&reading.json, "an empty text", ret_fault);
    lbx__buffer_fini(&reading.texts);
    lbx__json_fini(&reading.json);
    return lbx__fault_complete(ret_fault, status, "the routes", NULL);
}
