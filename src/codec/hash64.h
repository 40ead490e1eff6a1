/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XXH64: a 64-bit hash for checksums over many records. It is written to disk,
 * so what it computes never changes. It does not protect against an attacker;
 * mac.h does.
 */
#ifndef LBX_CODEC_HASH64_H
#define LBX_CODEC_HASH64_H

#include <stddef.h>
#include <stdint.h>

/* Each bit of the input changes about half of the result's bits, so that the
 * sum of the hashes of many records identifies the set, in any order. */
uint64_t lbx__hash64(uint64_t seed, const void *bytes, size_t size);

#endif
