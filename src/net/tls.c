/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "base/lock.h"
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>

struct lbx__tls {
    const lbx_allocator *allocator;
    char *certificate_file;
    char *key_file;
    lbx__lock lock;
    SSL_CTX *context; /* under the lock */
};

/* Of what a client offers we take http/1.1, or end the handshake. */
static int
tls_on_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_size,
            const unsigned char *offered, unsigned int offered_size,
            void *context)
{
    static const unsigned char ours[] = "\x08http/1.1";
    unsigned char *selected = NULL;

    (void)ssl;
    (void)context;
    if (SSL_select_next_proto(&selected, out_size, ours, sizeof(ours) - 1,
                              offered, offered_size) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = selected;
    return SSL_TLSEXT_ERR_OK;
}

static lbx_status
tls_fault(lbx_fault *fault, const char *what, const char *file)
{
    char reason[128] = "", shown[LBX__FAULT_PATH_BYTES];
    const char *text = ERR_reason_error_string(ERR_peek_last_error());
    // The first error is the system's, if there is one.
    const unsigned long first = ERR_peek_error();
    const lbx_status status =
        ERR_SYSTEM_ERROR(first) && ERR_GET_REASON(first) == ENOENT
            ? LBX_NOT_FOUND
            : LBX_INVALID;

    if (!text) {
        ERR_error_string_n(ERR_peek_last_error(), reason, sizeof(reason));
        text = reason;
    }
    lbx__fault_set(fault, status, "cannot read the %s of %s: %s", what,
                   lbx__fault_path(file, shown), text);
    ERR_clear_error();
    return status;
}

/* A key with a passphrase is refused: there is no person to ask. */
static int
tls_no_passphrase(char *buffer, int size, int is_writing, void *context)
{
    (void)buffer;
    (void)size;
    (void)is_writing;
    (void)context;
    return -1;
}

static void
tls_configure(SSL_CTX *context)
{
    (void)SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    (void)SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION |
                                           SSL_OP_NO_COMPRESSION |
                                           SSL_OP_CIPHER_SERVER_PREFERENCE |
                                           SSL_OP_IGNORE_UNEXPECTED_EOF);
    // Idle connections give their record buffers back.
    (void)SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS |
                                        SSL_MODE_ENABLE_PARTIAL_WRITE |
                                        SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    (void)SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_alpn_select_cb(context, tls_on_alpn, NULL);
    SSL_CTX_set_default_passwd_cb(context, tls_no_passphrase);
}

static lbx_status
tls_load(const lbx__tls *tls, SSL_CTX **ret, lbx_fault *fault)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    lbx_status status;

    ERR_clear_error();
    if (!context)
        return lbx__fault_set(fault, LBX_NO_MEMORY, "no memory for TLS");
    tls_configure(context);
    if (SSL_CTX_use_certificate_chain_file(context, tls->certificate_file) != 1)
        status = tls_fault(fault, "certificate", tls->certificate_file);
    else if (SSL_CTX_use_PrivateKey_file(context, tls->key_file,
                                         SSL_FILETYPE_PEM) != 1 ||
             SSL_CTX_check_private_key(context) != 1)
        status = tls_fault(fault, "key", tls->key_file);
    else
        status = LBX_OK;
    if (status == LBX_OK)
        *ret = context;
    else
        SSL_CTX_free(context);
    return status;
}

static char *
tls_copy(const lbx_allocator *allocator, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = lbx__alloc(allocator, size, 1);

    if (copy)
        memcpy(copy, text, size);
    return copy;
}

static void
tls_free_text(const lbx_allocator *allocator, char *text)
{
    if (text)
        lbx__free(allocator, text, strlen(text) + 1);
}

lbx_status
lbx__tls_create(const lbx_allocator *allocator, const char *certificate_file,
                const char *key_file, lbx__tls **ret, lbx_fault *fault)
{
    lbx__tls *tls = lbx__zalloc(allocator, sizeof(*tls));
    lbx_status status = LBX_NO_MEMORY;

    if (!tls)
        goto fail;
    tls->allocator = allocator;
    tls->certificate_file = tls_copy(allocator, certificate_file);
    tls->key_file = tls_copy(allocator, key_file);
    if (!tls->certificate_file || !tls->key_file)
        goto fail;
    status = tls_load(tls, &tls->context, fault);
    if (status != LBX_OK)
        goto fail;
    *ret = tls;
    return LBX_OK;

fail:
    lbx__tls_destroy(tls);
    if (status == LBX_NO_MEMORY)
        lbx__fault_set(fault, status, "no memory for TLS");
    return status;
}

lbx_status
lbx__tls_reload(lbx__tls *tls, lbx_fault *fault)
{
    SSL_CTX *context = NULL, *old;
    lbx_status status = tls_load(tls, &context, fault);

    if (status != LBX_OK)
        return status;
    lbx__lock_take(&tls->lock);
    old = tls->context;
    tls->context = context;
    lbx__lock_give(&tls->lock);
    SSL_CTX_free(old); // sessions have references of their own
    return LBX_OK;
}

void
lbx__tls_destroy(lbx__tls *tls)
{
    if (!tls)
        return;
    SSL_CTX_free(tls->context);
    tls_free_text(tls->allocator, tls->certificate_file);
    tls_free_text(tls->allocator, tls->key_file);
    lbx__free(tls->allocator, tls, sizeof(*tls));
}

struct ssl_ctx_st *
lbx__tls_context(lbx__tls *tls)
{
    SSL_CTX *context;

    lbx__lock_take(&tls->lock);
    context = tls->context;
    (void)SSL_CTX_up_ref(context);
    lbx__lock_give(&tls->lock);
    return context;
}

const lbx_allocator *
lbx__tls_allocator(const lbx__tls *tls)
{
    return tls->allocator;
}
