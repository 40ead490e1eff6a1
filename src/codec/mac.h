/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HMAC-SHA-256 by libcrypto: proves that a text was written by a holder of the
 * key. The algorithm is fetched once per process, as in digest.h.
 *
 * MAC-1  A MAC is used by one thread at a time.
 * MAC-2  Bytes are compared with a secret by lbx__mac_equal() only: its time
 *        does not depend on the bytes.
 */
#ifndef LBX_CODEC_MAC_H
#define LBX_CODEC_MAC_H

#include "codec/digest.h"

typedef struct lbx__mac lbx__mac;

/* HMAC with a key, which libcrypto keeps and clears. */
lbx_status lbx__mac_create(const lbx_allocator *allocator, const void *key,
                           size_t key_size, lbx__mac **ret);
void lbx__mac_destroy(lbx__mac *mac);
lbx_status lbx__mac_all(lbx__mac *mac, const void *bytes, size_t size,
                        uint8_t hash[LBX__SHA256_BYTES]);

/* HMAC with a key that is used once, by a digest: a MAC of libcrypto takes ten
 * times as long to be made. The key is cleared behind it. */
lbx_status lbx__mac_once(lbx__digest *digest, const void *key, size_t key_size,
                         const void *bytes, size_t size,
                         uint8_t hash[LBX__SHA256_BYTES]);

/* Compares `size` bytes in constant time (MAC-2). */
bool lbx__mac_equal(const void *a, const void *b, size_t size);

#endif
