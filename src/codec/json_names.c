/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and strings: decoded, compared, hashed.
 *
 * The names of a text are in an open hash table of (object, hash), at most half
 * full. Objects are numbered and numbers are not reused, so names are never
 * removed. The hash is a polynomial over the decoded bytes modulo 2^61 - 1, at
 * a point drawn once per process: two names of n bytes collide with a
 * probability of n / 2^61, even if an attacker has chosen them (JSON-4).
 * base/map.h is not used here: it stores pointers, and its hashes have no
 * secret.
 */
#include "codec/json_names.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/utf8.h"
#include "codec/random.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

/* A string's decoded bytes, one after the other. */
struct bytes {
    const char *at, *end;
    char decoded[4]; /* of an escape */
    size_t have, used;
};

static struct bytes
json_names_bytes(const char *token, size_t size)
{
    return (struct bytes){.at = token, .end = token + size};
}

/* -1 at the end. */
static int
json_names_next_byte(struct bytes *bytes)
{
    if (bytes->used < bytes->have)
        return (unsigned char)bytes->decoded[bytes->used++];
    if (bytes->at == bytes->end)
        return -1;
    if (*bytes->at != '\\')
        return (unsigned char)*bytes->at++;
    bytes->at++;
    bytes->have = lbx__utf8_unescape(&bytes->at, bytes->end, bytes->decoded);
    assert(bytes->have > 0); // the reader has checked it
    bytes->used = 1;
    return (unsigned char)bytes->decoded[0];
}

bool
lbx__json_is(const lbx__json *json, const char *text)
{
    const size_t size = strlen(text);
    struct bytes bytes = json_names_bytes(json->token, json->size);

    if (!json->escaped)
        return size == json->size && memcmp(text, json->token, size) == 0;
    for (size_t i = 0; i <= size; i++) {
        // The NUL at the end meets the -1.
        const int wanted = i < size ? (unsigned char)text[i] : -1;

        if (json_names_next_byte(&bytes) != wanted)
            return false;
    }
    return true;
}

void
lbx__json_text(const lbx__json *json, lbx_buffer *out)
{
    struct bytes bytes = json_names_bytes(json->token, json->size);
    int byte;

    if (!json->escaped) {
        lbx__buffer_add(out, json->token, json->size);
        return;
    }
    while ((byte = json_names_next_byte(&bytes)) >= 0)
        lbx__buffer_add_byte(out, (char)byte);
}

__extension__ typedef unsigned __int128 uint128;

static const uint64_t prime = ((uint64_t)1 << 61) - 1;
static uint64_t point; /* secret */
static pthread_once_t drawn = PTHREAD_ONCE_INIT;

static void
json_names_draw(void)
{
    // Without random bytes it is as good as an ordinary hash.
    if (!lbx__random(&point, sizeof(point)))
        point = 0x9e3779b97f4a7c15;
    point = point % (prime - 1000) + 1000;
}

static uint64_t
json_names_hash(const lbx__json *json)
{
    struct bytes bytes = json_names_bytes(json->token, json->size);
    uint64_t hash = 1;
    int byte;

    pthread_once(&drawn, json_names_draw);
    while ((byte = json_names_next_byte(&bytes)) >= 0) {
        const uint128 product = (uint128)hash * point + (unsigned)byte + 1;

        hash = ((uint64_t)product & prime) + (uint64_t)(product >> 61);
        hash = hash >= prime ? hash - prime : hash;
    }
    return hash;
}

static bool
json_names_equal(const lbx__json *json, const lbx__json_name *a,
                 const lbx__json_name *b)
{
    struct bytes left = json_names_bytes(json->text + a->offset, a->size);
    struct bytes right = json_names_bytes(json->text + b->offset, b->size);
    int byte;

    do {
        byte = json_names_next_byte(&left);
        if (byte != json_names_next_byte(&right))
            return false;
    } while (byte >= 0);
    return true;
}

/* The slot of the same name, or the free one for it. */
static lbx__json_name *
json_names_find(const lbx__json *json, lbx__json_name *names, uint32_t slots,
                const lbx__json_name *name)
{
    // Names of different objects go to different slots.
    uint64_t slot = name->hash + name->object * (uint64_t)0x9e3779b97f4a7c15;

    for (slot ^= slot >> 32;; slot++) {
        lbx__json_name *found = &names[slot & (slots - 1)];

        if (found->object == 0 ||
            (found->object == name->object && found->hash == name->hash &&
             json_names_equal(json, found, name)))
            return found;
    }
}

void
lbx__json_names_fini(lbx__json *json)
{
    if (json->names != json->first)
        lbx__free(json->allocator, json->names,
                  json->slots * sizeof(*json->names));
}

static bool
json_names_grow(lbx__json *json)
{
    const uint32_t slots = json->slots * 4;
    lbx__json_name *names =
        lbx__zalloc(json->allocator, slots * sizeof(*names));

    if (!names)
        return false;
    for (uint32_t i = 0; i < json->slots; i++) {
        if (json->names[i].object != 0)
            *json_names_find(json, names, slots, &json->names[i]) =
                json->names[i];
    }
    lbx__json_names_fini(json);
    json->names = names;
    json->slots = slots;
    return true;
}

lbx_status
lbx__json_names_add(lbx__json *json, const char **why)
{
    const lbx__json_name name = {
        .hash = json_names_hash(json),
        .object = json->open[json->depth - 1],
        .offset = (uint32_t)(json->token - json->text),
        .size = (uint32_t)json->size,
    };
    lbx__json_name *slot;

    assert(name.object != 0);
    if (json->used == LBX__JSON_NAMES) {
        *why = "too many names";
        return LBX_TOO_LARGE;
    }
    if (json->used >= json->slots / 2 && !json_names_grow(json)) {
        *why = "out of memory";
        return LBX_NO_MEMORY;
    }
    slot = json_names_find(json, json->names, json->slots, &name);
    if (slot->object != 0) {
        *why = "this name is twice in an object";
        return LBX_ENCODING;
    }
    *slot = name;
    json->used++;
    return LBX_OK;
}
