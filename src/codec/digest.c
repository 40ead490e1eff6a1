/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 and HMAC; see digest.h. */
#include "codec/digest.h"

#include "base/alloc.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <pthread.h>

struct lbx__digest {
    const lbx_allocator *allocator;
    EVP_MD_CTX *context;
    bool failed;
};

struct lbx__mac {
    const lbx_allocator *allocator;
    EVP_MAC_CTX *context; /* has the key; starting it again needs none */
};

/* Fetched once, and kept until the process ends: libcrypto's own clean-up at
 * exit comes after whoever may still be hashing. */
static EVP_MD *sha256;
static EVP_MAC *hmac;
static pthread_once_t fetched = PTHREAD_ONCE_INIT;

static void
fetch(void)
{
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
}

lbx_status
lbx__digest_create(const lbx_allocator *allocator, lbx__digest **ret)
{
    lbx__digest *digest;

    pthread_once(&fetched, fetch);
    if (!sha256)
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
    digest->failed = EVP_DigestInit_ex2(digest->context, sha256, NULL) != 1;
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

lbx_status
lbx__mac_create(const lbx_allocator *allocator, const void *key,
                size_t key_size, lbx__mac **ret)
{
    char name[] = "SHA256";
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0),
        OSSL_PARAM_construct_end(),
    };
    lbx__mac *mac;

    pthread_once(&fetched, fetch);
    if (!hmac)
        return LBX_UNSUPPORTED;
    mac = lbx__zalloc(allocator, sizeof(*mac));
    if (!mac)
        return LBX_NO_MEMORY;
    mac->allocator = allocator;
    mac->context = EVP_MAC_CTX_new(hmac);
    if (!mac->context ||
        EVP_MAC_init(mac->context, key, key_size, params) != 1) {
        lbx__mac_destroy(mac);
        return LBX_NO_MEMORY;
    }
    *ret = mac;
    return LBX_OK;
}

void
lbx__mac_destroy(lbx__mac *mac)
{
    if (!mac)
        return;
    EVP_MAC_CTX_free(mac->context);
    lbx__free(mac->allocator, mac, sizeof(*mac));
}

lbx_status
lbx__mac_all(lbx__mac *mac, const void *bytes, size_t size,
             uint8_t hash[LBX__SHA256_BYTES])
{
    size_t made;

    // Without a key: the one it has.
    if (EVP_MAC_init(mac->context, NULL, 0, NULL) != 1 ||
        EVP_MAC_update(mac->context, bytes, size) != 1 ||
        EVP_MAC_final(mac->context, hash, &made, LBX__SHA256_BYTES) != 1)
        return LBX_NO_MEMORY;
    return LBX_OK;
}

bool
lbx__same_secret(const void *a, const void *b, size_t size)
{
    return CRYPTO_memcmp(a, b, size) == 0;
}
