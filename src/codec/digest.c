/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 by libcrypto; see digest.h. */
#include "codec/digest.h"

#include "base/alloc.h"

#include <openssl/evp.h>
#include <pthread.h>

struct lbx__digest {
    const lbx_allocator *allocator;
    EVP_MD_CTX *context;
    bool failed;
};

/* Fetched once, and never freed: a thread may still be hashing while the
 * process exits. */
static EVP_MD *digest_sha256;
static pthread_once_t digest_fetched = PTHREAD_ONCE_INIT;

static void
digest_fetch(void)
{
    digest_sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
}

lbx_status
lbx__digest_create(const lbx_allocator *allocator, lbx__digest **ret)
{
    lbx__digest *digest;

    pthread_once(&digest_fetched, digest_fetch);
    if (!digest_sha256)
        return LBX_UNSUPPORTED;
    digest = lbx__zalloc(allocator, sizeof(*digest));
    if (!digest)
        return LBX_NO_MEMORY;
    digest->allocator = allocator;
    digest->failed = true; // not started
    digest->context = EVP_MD_CTX_new();
    if (!digest->context) {
        lbx__digest_destroy(digest);
        return LBX_NO_MEMORY;
    }
    *ret = digest;
    return LBX_OK;
}

void
lbx__digest_destroy(lbx__digest *digest)
{
    if (!digest)
        return;
    EVP_MD_CTX_free(digest->context);
    lbx__free(digest->allocator, digest, sizeof(*digest));
}

void
lbx__digest_start(lbx__digest *digest)
{
    digest->failed =
        EVP_DigestInit_ex2(digest->context, digest_sha256, NULL) != 1;
}

void
lbx__digest_add(lbx__digest *digest, const void *bytes, size_t size)
{
    if (!digest->failed)
        digest->failed = EVP_DigestUpdate(digest->context, bytes, size) != 1;
}

lbx_status
lbx__digest_finish(lbx__digest *digest, uint8_t hash[LBX__SHA256_BYTES])
{
    const bool failed =
        digest->failed || EVP_DigestFinal_ex(digest->context, hash, NULL) != 1;

    digest->failed = true; // until it is started again
    return failed ? LBX_NO_MEMORY : LBX_OK;
}

lbx_status
lbx__digest_all(lbx__digest *digest, const void *bytes, size_t size,
                uint8_t hash[LBX__SHA256_BYTES])
{
    lbx__digest_start(digest);
    lbx__digest_add(digest, bytes, size);
    return lbx__digest_finish(digest, hash);
}
