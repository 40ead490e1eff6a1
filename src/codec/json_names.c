/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and strings as they are meant: decoded, compared, hashed.
 *
 * Names are kept in an open table of (object, hash), at most half full. Objects
 * are numbered and numbers are not used again, so that nothing is ever taken out.
 * The hash is a polynomial over the decoded bytes modulo 2^61 - 1 at a point that
 * is drawn once per process: two given names of n bytes meet with a chance of
 * n / 2^61, whoever chose them (J4).
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
bytes_of(const char *token, size_t size)
{
    return (struct bytes){.at = token, .end = token + size};
}

/* -1 at the end. */
static int
next_byte(struct bytes *bytes)
{
    if (bytes->used < bytes->have)
        return (unsigned char)bytes->decoded[bytes->used++];
    if (bytes->at == bytes->end)
        return -1;
    if (*bytes->at != '\\')
        return (unsigned char)*bytes->at++;
    bytes->at++;
    bytes->have = lbx__utf8_unescape(&bytes->at, bytes->end, bytes->decoded);
    assert(bytes->have > 0); // the reader has seen to that
    bytes->used = 1;
    return (unsigned char)bytes->decoded[0];
}

bool
lbx__json_is(const lbx__json *json, const char *text)
{
    const size_t size = strlen(text);
    struct bytes bytes = bytes_of(json->token, json->size);

    if (!json->escaped)
        return size == json->size && memcmp(text, json->token, size) == 0;
    for (size_t i = 0; i <= size; i++) {
        // The NUL at the end meets the -1.
        const int wanted = i < size ? (unsigned char)text[i] : -1;

        if (next_byte(&bytes) != wanted)
            return false;
    }
    return true;
}

void
lbx__json_text(const lbx__json *json, lbx_buffer *out)
{
    struct bytes bytes = bytes_of(json->token, json->size);
    int byte;

    if (!json->escaped) {
        lbx__buffer_add(out, json->token, json->size);
        return;
    }
    while ((byte = next_byte(&bytes)) >= 0)
        lbx__buffer_add_byte(out, (char)byte);
}

__extension__ typedef unsigned __int128 uint128;

static const uint64_t prime = ((uint64_t)1 << 61) - 1;
static uint64_t point; /* secret */
static pthread_once_t drawn = PTHREAD_ONCE_INIT;

static void
draw(void)
{
    // Without randomness it is as good as an ordinary hash.
    if (!lbx__random(&point, sizeof(point)))
        point = 0x9e3779b97f4a7c15;
    point = point % (prime - 1000) + 1000;
}

static uint64_t
hash_of(const lbx__json *json)
{
    struct bytes bytes = bytes_of(json->token, json->size);
    uint64_t hash = 1;
    int byte;

    pthread_once(&drawn, draw);
    while ((byte = next_byte(&bytes)) >= 0) {
        const uint128 product = (uint128)hash * point + (unsigned)byte + 1;

        hash = ((uint64_t)product & prime) + (uint64_t)(product >> 61);
        hash = hash >= prime ? hash - prime : hash;
    }
    return hash;
}

static bool
same_name(const lbx__json *json, const lbx__json_name *a,
          const lbx__json_name *b)
{
    struct bytes left = bytes_of(json->text + a->offset, a->size);
    struct bytes right = bytes_of(json->text + b->offset, b->size);
    int byte;

    do {
        byte = next_byte(&left);
        if (byte != next_byte(&right))
            return false;
    } while (byte >= 0);
    return true;
}

/* The slot of the same name, or the free one where it belongs. */
static lbx__json_name *
find(const lbx__json *json, lbx__json_name *names, uint32_t slots,
     const lbx__json_name *name)
{
    // An object's number moves its names elsewhere than another's.
    uint64_t slot = name->hash + name->object * (uint64_t)0x9e3779b97f4a7c15;

    for (slot ^= slot >> 32;; slot++) {
        lbx__json_name *found = &names[slot & (slots - 1)];

        if (found->object == 0 ||
            (found->object == name->object && found->hash == name->hash &&
             same_name(json, found, name)))
            return found;
    }
}

static void
free_names(lbx__json *json)
{
    if (json->names != json->first)
        lbx__free(json->allocator, json->names,
                  json->slots * sizeof(*json->names));
}

static bool
grow(lbx__json *json)
{
    const uint32_t slots = json->slots * 4;
    lbx__json_name *names =
        lbx__zalloc(json->allocator, slots * sizeof(*names));

    if (!names)
        return false;
    for (uint32_t i = 0; i < json->slots; i++) {
        if (json->names[i].object != 0)
            *find(json, names, slots, &json->names[i]) = json->names[i];
    }
    free_names(json);
    json->names = names;
    json->slots = slots;
    return true;
}

lbx_status
lbx__json_names_add(lbx__json *json, const char **why)
{
    const lbx__json_name name = {
        .hash = hash_of(json),
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
    if (json->used >= json->slots / 2 && !grow(json)) {
        *why = "out of memory";
        return LBX_NO_MEMORY;
    }
    slot = find(json, json->names, json->slots, &name);
    if (slot->object != 0) {
        *why = "this name is twice in an object";
        return LBX_ENCODING;
    }
    *slot = name;
    json->used++;
    return LBX_OK;
}

void
lbx__json_fini(lbx__json *json)
{
    free_names(json);
    json->names = json->first;
    json->slots = LBX__JSON_SLOTS;
}
