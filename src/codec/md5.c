/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MD5 by libcrypto; see md5.h.
 *
 * In a process that is confined to FIPS algorithms the default provider has no
 * MD5; then none can be created.
 */
#include "codec/md5.h"

#include "base/alloc.h"
#include "codec/hex.h"

#include <openssl/evp.h>
#include <pthread.h>

struct lbx__md5 {
    const lbx_allocator *allocator;
    EVP_MD_CTX *context;
    bool failed;
};

/* Fetched once, and never freed: a thread may still be hashing while the
 * process exits. */
static EVP_MD *md5_algorithm;
static pthread_once_t md5_fetched = PTHREAD_ONCE_INIT;

static void
md5_fetch(void)
{
    md5_algorithm = EVP_MD_fetch(NULL, "MD5", NULL);
}

lbx_status
lbx__md5_create(const lbx_allocator *allocator, lbx__md5 **ret)
{
    lbx__md5 *md5;

    pthread_once(&md5_fetched, md5_fetch);
    if (!md5_algorithm)
        return LBX_UNSUPPORTED;
    md5 = lbx__zalloc(allocator, sizeof(*md5));
    if (!md5)
        return LBX_NO_MEMORY;
    md5->allocator = allocator;
    md5->failed = true; // not started
    md5->context = EVP_MD_CTX_new();
    if (!md5->context) {
        lbx__md5_destroy(md5);
        return LBX_NO_MEMORY;
    }
    *ret = md5;
    return LBX_OK;
}

void
lbx__md5_destroy(lbx__md5 *md5)
{
    if (!md5)
        return;
    EVP_MD_CTX_free(md5->context);
    lbx__free(md5->allocator, md5, sizeof(*md5));
}

void
lbx__md5_start(lbx__md5 *md5)
{
    md5->failed = EVP_DigestInit_ex2(md5->context, md5_algorithm, NULL) != 1;
}

void
lbx__md5_add(lbx__md5 *md5, const void *bytes, size_t size)
{
    if (!md5->failed)
        md5->failed = EVP_DigestUpdate(md5->context, bytes, size) != 1;
}

lbx_status
lbx__md5_finish(lbx__md5 *md5, char text[LBX__MD5_TEXT_BYTES])
{
    uint8_t hash[LBX__MD5_BYTES];
    const bool failed =
        md5->failed || EVP_DigestFinal_ex(md5->context, hash, NULL) != 1;

    md5->failed = true; // until it is started again
    if (failed)
        return LBX_NO_MEMORY;
    lbx__hex_encode(hash, sizeof(hash), text);
    return LBX_OK;
}

// ---- One for each thread ----

static pthread_key_t md5_key;
static pthread_once_t md5_key_made = PTHREAD_ONCE_INIT;
static bool md5_key_works;
static _Thread_local lbx__md5 *md5_of_thread;

/* The end of a thread. */
static void
md5_end_thread(void *md5)
{
    md5_of_thread = NULL;
    lbx__md5_destroy(md5);
}

static void
md5_make_key(void)
{
    md5_key_works = pthread_key_create(&md5_key, md5_end_thread) == 0;
}

lbx__md5 *
lbx__md5_of_thread(void)
{
    lbx__md5 *md5 = NULL;

    if (md5_of_thread)
        return md5_of_thread;
    pthread_once(&md5_key_made, md5_make_key);
    if (!md5_key_works || lbx__md5_create(NULL, &md5) != LBX_OK)
        return NULL;
    if (pthread_setspecific(md5_key, md5) != 0) {
        lbx__md5_destroy(md5);
        return NULL;
    }
    md5_of_thread = md5;
    return md5;
}
