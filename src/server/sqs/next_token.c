/* SPDX-License-Identifier: Apache-2.0 */
#include "server/sqs/next_token.h"

#include "codec/base64.h"
#include "codec/endian.h"
#include "codec/hash64.h"

enum {
    TOKEN_HASH = LBX__NEXT_TOKEN_BYTES - LBX_BOX_NAME_BYTES
};

static uint64_t
token_hash(const lbx__next_token_list *list, const char *name, size_t size)
{
    const lbx__world *world = list->world;
    uint64_t hash = lbx__hash64(0x6c657474, list->action, strlen(list->action));

    hash = lbx__hash64(hash, world->account, strlen(world->account));
    hash = lbx__hash64(hash, world->region, strlen(world->region));
    return lbx__hash64(hash, name, size);
}

void
lbx__next_token_write(const lbx__next_token_list *list, const char *name,
                      char text[LBX__NEXT_TOKEN_TEXT])
{
    uint8_t bytes[LBX__NEXT_TOKEN_BYTES];
    const size_t size = strlen(name);

    lbx__put_le64(bytes, token_hash(list, name, size));
    memcpy(bytes + TOKEN_HASH, name, size + 1);
    lbx__base64_encode(LBX__BASE64, bytes, TOKEN_HASH + size, text);
}

bool
lbx__next_token_read(const lbx__next_token_list *list, lbx__slice text,
                     char name[LBX_BOX_NAME_BYTES])
{
    uint8_t bytes[LBX__NEXT_TOKEN_TEXT];
    size_t size;

    if (text.size >= LBX__NEXT_TOKEN_TEXT ||
        !lbx__base64_decode(LBX__BASE64, text.bytes, text.size, bytes, &size) ||
        size <= TOKEN_HASH || size >= LBX__NEXT_TOKEN_BYTES)
        return false;
    size -= TOKEN_HASH;
    memcpy(name, bytes + TOKEN_HASH, size);
    name[size] = '\0';
    return lbx__get_le64(bytes) == token_hash(list, name, size);
}

bool
lbx__next_token_read_sequence(lbx__slice text, uint64_t *ret)
{
    *ret = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.bytes[i] < '0' || text.bytes[i] > '9' ||
            __builtin_mul_overflow(*ret, 10U, ret) ||
            __builtin_add_overflow(*ret, (uint64_t)(text.bytes[i] - '0'), ret))
            return false;
    }
    return true;
}
