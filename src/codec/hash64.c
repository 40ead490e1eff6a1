/* SPDX-License-Identifier: Apache-2.0 */
/* XXH64; see hash64.h. */
#include "codec/hash64.h"

#include "codec/endian.h"

static const uint64_t prime1 = 0x9e3779b185ebca87, prime2 = 0xc2b2ae3d27d4eb4f,
                      prime3 = 0x165667b19e3779f9, prime4 = 0x85ebca77c2b2ae63,
                      prime5 = 0x27d4eb2f165667c5;

static uint64_t
hash64_rotate(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static uint64_t
hash64_mix(uint64_t lane, uint64_t word)
{
    return hash64_rotate(lane + word * prime2, 31) * prime1;
}

/* The four lanes over all whole blocks of 32 bytes. */
static uint64_t
hash64_blocks(uint64_t seed, const uint8_t *at, const uint8_t *end)
{
    uint64_t lane[4] = {seed + prime1 + prime2, seed + prime2, seed,
                        seed - prime1};
    uint64_t hash;

    for (; end - at >= 32; at += 32) {
        for (int i = 0; i < 4; i++)
            lane[i] = hash64_mix(lane[i], lbx__get_le64(at + (size_t)8 * i));
    }
    hash = hash64_rotate(lane[0], 1) + hash64_rotate(lane[1], 7) +
           hash64_rotate(lane[2], 12) + hash64_rotate(lane[3], 18);
    for (int i = 0; i < 4; i++)
        hash = (hash ^ hash64_mix(0, lane[i])) * prime1 + prime4;
    return hash;
}

uint64_t
lbx__hash64(uint64_t seed, const void *bytes, size_t size)
{
    const uint8_t *at = bytes, *end = at + size;
    uint64_t hash = seed + prime5;

    if (size >= 32) {
        hash = hash64_blocks(seed, at, end);
        at += size / 32 * 32;
    }
    hash += size;
    for (; end - at >= 8; at += 8)
        hash = hash64_rotate(hash ^ hash64_mix(0, lbx__get_le64(at)), 27) *
                   prime1 +
               prime4;
    if (end - at >= 4) {
        hash = hash64_rotate(hash ^ lbx__get_le32(at) * prime1, 23) * prime2 +
               prime3;
        at += 4;
    }
    for (; at < end; at++)
        hash = hash64_rotate(hash ^ *at * prime5, 11) * prime1;
    hash = (hash ^ hash >> 33) * prime2;
    hash = (hash ^ hash >> 29) * prime3;
    return hash ^ hash >> 32;
}
