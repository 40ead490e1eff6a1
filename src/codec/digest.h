/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 and HMAC-SHA-256, by libcrypto.
 *
 * OpenSSL 3 looks an algorithm up by name each time it is asked for, which costs
 * more than hashing a short text: they are fetched once per process, and
 * contexts are kept. libcrypto allocates by itself; our allocators do not see
 * it.
 *
 * G1  A digest or a MAC is used by one thread at a time.
 * G2  Whatever is compared with a secret is compared by lbx__same_secret(), in a
 *     time that does not depend on the bytes.
 */
#ifndef LBX_CODEC_DIGEST_H
#define LBX_CODEC_DIGEST_H

#include <letterbox/base.h>

#define LBX__SHA256_BYTES 32

typedef struct lbx__digest lbx__digest;
typedef struct lbx__mac lbx__mac;

/* A context for SHA-256. UNSUPPORTED when libcrypto has no SHA-256. */
lbx_status lbx__digest_create(const lbx_allocator *allocator,
                              lbx__digest **ret);
void lbx__digest_destroy(lbx__digest *digest);

/* All at once; or in parts: start, add ..., finish. Failures stick until the
 * next start, and `hash` is written on OK only. */
lbx_status lbx__digest_all(lbx__digest *digest, const void *bytes, size_t size,
                           uint8_t hash[LBX__SHA256_BYTES]);
void lbx__digest_start(lbx__digest *digest);
void lbx__digest_add(lbx__digest *digest, const void *bytes, size_t size);
lbx_status lbx__digest_finish(lbx__digest *digest,
                              uint8_t hash[LBX__SHA256_BYTES]);

/* HMAC with a key, which libcrypto keeps and clears. */
lbx_status lbx__mac_create(const lbx_allocator *allocator, const void *key,
                           size_t key_size, lbx__mac **ret);
void lbx__mac_destroy(lbx__mac *mac);
lbx_status lbx__mac_all(lbx__mac *mac, const void *bytes, size_t size,
                        uint8_t hash[LBX__SHA256_BYTES]);

/* G2. */
bool lbx__same_secret(const void *a, const void *b, size_t size);

#endif
