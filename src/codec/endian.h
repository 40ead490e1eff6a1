/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as bytes: big-endian in keys, so that memcmp() orders them;
 * little-endian in records. They need no alignment.
 */
#ifndef LBX_CODEC_ENDIAN_H
#define LBX_CODEC_ENDIAN_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LBX__BE16(x) __builtin_bswap16(x)
#define LBX__BE32(x) __builtin_bswap32(x)
#define LBX__BE64(x) __builtin_bswap64(x)
#define LBX__LE16(x) (x)
#define LBX__LE32(x) (x)
#define LBX__LE64(x) (x)
#else
#define LBX__BE16(x) (x)
#define LBX__BE32(x) (x)
#define LBX__BE64(x) (x)
#define LBX__LE16(x) __builtin_bswap16(x)
#define LBX__LE32(x) __builtin_bswap32(x)
#define LBX__LE64(x) __builtin_bswap64(x)
#endif

/* lbx__put_be64(to, number) writes a number and returns the address after it;
 * lbx__get_be64(from) reads one. The same for be and le, 16, 32 and 64 bits. */
#define LBX__ENDIAN(order, ORDER, bits)                                        \
    static inline uint8_t *lbx__put_##order##bits(void *to,                    \
                                                  uint##bits##_t number)       \
    {                                                                          \
        const uint##bits##_t swapped = LBX__##ORDER##bits(number);             \
                                                                               \
        memcpy(to, &swapped, sizeof(swapped));                                 \
        return (uint8_t *)to + sizeof(swapped);                                \
    }                                                                          \
    static inline uint##bits##_t lbx__get_##order##bits(const void *from)      \
    {                                                                          \
        uint##bits##_t swapped;                                                \
                                                                               \
        memcpy(&swapped, from, sizeof(swapped));                               \
        return LBX__##ORDER##bits(swapped);                                    \
    }

LBX__ENDIAN(be, BE, 16)
LBX__ENDIAN(be, BE, 32)
LBX__ENDIAN(be, BE, 64)
LBX__ENDIAN(le, LE, 16)
LBX__ENDIAN(le, LE, 32)
LBX__ENDIAN(le, LE, 64)
#undef LBX__ENDIAN

#endif
