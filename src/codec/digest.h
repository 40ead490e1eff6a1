/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 by libcrypto.
 *
 * OpenSSL 3 looks an algorithm up by its name in each call, and the lookup
 * costs more than hashing a short text. So the algorithm is fetched once per
 * process, and contexts are reused. libcrypto allocates its own memory; our
 * allocators do not see it.
 *
 * DIGEST-1  A digest is used by one thread at a time.
 */
#ifndef LBX_CODEC_DIGEST_H
#define LBX_CODEC_DIGEST_H

#include <letterbox/base.h>

#define LBX__SHA256_BYTES 32

typedef struct lbx__digest lbx__digest;

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

#endif
