/* SPDX-License-Identifier: Apache-2.0 */
/* HMAC-SHA-256 by libcrypto; see mac.h. */
#include "codec/mac.h"

#include "base/alloc.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <pthread.h>

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

bool
lbx__mac_equal(const void *a, const void *b, size_t size)
{
    return CRYPTO_memcmp(a, b, size) == 0;
}
