/* SPDX-License-Identifier: Apache-2.0 */
/* HMAC-SHA-256 by libcrypto; see mac.h. */
#include "codec/mac.h"

#include "base/alloc.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <pthread.h>
#include <string.h>

struct lbx__mac {
    const lbx_allocator *allocator;
    EVP_MAC_CTX *context; /* has the key; starting it again needs none */
};

/* Fetched once, and never freed: a thread may still be hashing while the
 * process exits. */
static EVP_MAC *mac_hmac;
static pthread_once_t mac_fetched = PTHREAD_ONCE_INIT;

static void
mac_fetch(void)
{
    mac_hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
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

    pthread_once(&mac_fetched, mac_fetch);
    if (!mac_hmac)
        return LBX_UNSUPPORTED;
    mac = lbx__zalloc(allocator, sizeof(*mac));
    if (!mac)
        return LBX_NO_MEMORY;
    mac->allocator = allocator;
    mac->context = EVP_MAC_CTX_new(mac_hmac);
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

enum {
    BLOCK_BYTES = 64 /* of SHA-256 */
};

/* The hash of the key, each byte of it changed, and of a text. */
static lbx_status
mac_half(lbx__digest *digest, const uint8_t key[BLOCK_BYTES], uint8_t change,
         const void *bytes, size_t size, uint8_t hash[LBX__SHA256_BYTES])
{
    uint8_t block[BLOCK_BYTES];
    lbx_status status;

    for (size_t i = 0; i < sizeof(block); i++)
        block[i] = key[i] ^ change;
    lbx__digest_start(digest);
    lbx__digest_add(digest, block, sizeof(block));
    lbx__digest_add(digest, bytes, size);
    status = lbx__digest_finish(digest, hash);
    OPENSSL_cleanse(block, sizeof(block));
    return status;
}

lbx_status
lbx__mac_once(lbx__digest *digest, const void *key, size_t key_size,
              const void *bytes, size_t size, uint8_t hash[LBX__SHA256_BYTES])
{
    uint8_t block[BLOCK_BYTES] = {0}, inner[LBX__SHA256_BYTES];
    lbx_status status = LBX_OK;

    // RFC 2104, section 2.
    if (key_size > sizeof(block))
        status = lbx__digest_all(digest, key, key_size, block);
    else if (key_size > 0)
        memcpy(block, key, key_size);
    if (status == LBX_OK)
        status = mac_half(digest, block, 0x36, bytes, size, inner);
    if (status == LBX_OK)
        status = mac_half(digest, block, 0x5c, inner, sizeof(inner), hash);
    OPENSSL_cleanse(block, sizeof(block));
    OPENSSL_cleanse(inner, sizeof(inner));
    return status;
}

bool
lbx__mac_equal(const void *a, const void *b, size_t size)
{
    return CRYPTO_memcmp(a, b, size) == 0;
}
