/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums that find damage. They are written to disk: what they compute never
 * changes. Neither keeps anybody out who wants to deceive; see digest.h.
 */
#ifndef LBX_CODEC_SUM_H
#define LBX_CODEC_SUM_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32C (Castagnoli). `before` is the sum of what comes before, 0 for nothing,
 * so that parts can be summed one after the other. */
uint32_t lbx__crc32c(uint32_t before, const void *bytes, size_t size);

/* That of one byte. */
uint32_t lbx__crc32c_byte(uint8_t byte);

/* The same without the processor's help; for tests. */
uint32_t lbx__crc32c_plain(uint32_t before, const void *bytes, size_t size);

/* XXH64: 64 bits that change half of theirs with each bit of the input; their
 * sums over many records do not depend on the records' order. */
uint64_t lbx__hash64(uint64_t seed, const void *bytes, size_t size);

#endif
