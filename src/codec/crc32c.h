/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC-32C (Castagnoli): finds damage. It is written to disk, so what it
 * computes never changes. It does not protect against an attacker; mac.h does.
 */
#ifndef LBX_CODEC_CRC32C_H
#define LBX_CODEC_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The sum of `size` bytes that follow bytes with the sum `before`; 0 for the
 * first. */
uint32_t lbx__crc32c(uint32_t before, const void *bytes, size_t size);

/* The sum of one byte. */
uint32_t lbx__crc32c_byte(uint8_t byte);

/* lbx__crc32c() by the table, on every processor; for tests. */
uint32_t lbx__crc32c_plain(uint32_t before, const void *bytes, size_t size);

#endif
