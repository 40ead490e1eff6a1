/* SPDX-License-Identifier: Apache-2.0 */
/* The TaskHandle of a move; see move_handle.h. */
#include "server/sqs/move_handle.h"

#include "base/buffer.h"
#include "codec/base64.h"
#include "codec/json.h"

#include <inttypes.h>
#include <stdio.h>

static const char move_id_prefix[] = "00000000-0000-4000-8000-";

enum {
    ID_DIGITS = 12,
    MEMBER_MAX = 1024
};

void
lbx__move_handle_write(uint64_t task, const char *source,
                       char buffer[LBX__MOVE_HANDLE_BYTES])
{
    char json[LBX__ARN_BYTES + 96];
    const int size =
        snprintf(json, sizeof(json),
                 "{\"taskId\":\"%s%012" PRIx64 "\",\"sourceArn\":\"%s\"}",
                 move_id_prefix, task & 0xffffffffffff, source);

    lbx__base64_encode(LBX__BASE64, json, (size_t)size, buffer);
}

static uint64_t
move_handle_task(const char *id)
{
    const size_t prefix = sizeof(move_id_prefix) - 1;
    uint64_t task = 0;

    if (strlen(id) != prefix + ID_DIGITS ||
        strncmp(id, move_id_prefix, prefix) != 0)
        return 0;
    for (const char *at = id + prefix; *at; at++) {
        if (*at >= '0' && *at <= '9')
            task = task << 4 | (uint64_t)(*at - '0');
        else if (*at >= 'a' && *at <= 'f')
            task = task << 4 | (uint64_t)(*at - 'a' + 10);
        else
            return 0;
    }
    return task;
}

/* The next token as a text in the arena; NULL: it is no string. */
static const char *
move_handle_member(lbx__json *json, lbx__arena *arena)
{
    const char *copy = NULL;
    lbx_buffer text;

    if (lbx__json_next(json) != LBX__JSON_STRING)
        return NULL;
    lbx__buffer_init(&text, json->allocator, MEMBER_MAX);
    lbx__json_text(json, &text);
    if (text.status == LBX_OK)
        copy = lbx__arena_copy(arena, lbx__buffer_text(&text), text.size);
    lbx__buffer_fini(&text);
    return copy;
}

static bool
move_handle_parse(lbx__json *json, lbx__arena *arena, const char **ret_id,
                  const char **ret_source)
{
    if (lbx__json_next(json) != LBX__JSON_OBJECT)
        return false;
    while (lbx__json_next(json) == LBX__JSON_NAME) {
        if (lbx__json_is(json, "taskId"))
            *ret_id = move_handle_member(json, arena);
        else if (lbx__json_is(json, "sourceArn"))
            *ret_source = move_handle_member(json, arena);
        else if (!lbx__json_skip(json))
            return false;
    }
    return json->kind == LBX__JSON_OBJECT_END &&
           lbx__json_next(json) == LBX__JSON_END && *ret_id && *ret_source;
}

bool
lbx__move_handle_read(lbx__arena *arena, const lbx_allocator *allocator,
                      lbx__slice text, lbx__move_handle *ret)
{
    const char *id = NULL, *source = NULL;
    char bytes[4096];
    lbx__json json;
    size_t size;
    bool good;

    if (!text.bytes || lbx__base64_max_bytes(text.size) > sizeof(bytes) ||
        !lbx__base64_decode(LBX__BASE64, text.bytes, text.size, bytes, &size))
        return false;
    lbx__json_init(&json, bytes, size, allocator);
    good = move_handle_parse(&json, arena, &id, &source);
    lbx__json_fini(&json);
    if (good)
        *ret = (lbx__move_handle){move_handle_task(id), source};
    return good;
}
