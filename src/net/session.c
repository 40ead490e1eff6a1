/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenSSL over two memory BIOs: `in` has what the peer sent, `out` what it
 * shall get. OpenSSL's own memory is not the allocator's.
 */
#include "net/session.h"

#include "base/alloc.h"
#include <openssl/err.h>
#include <openssl/ssl.h>

struct lbx__session {
    const lbx_allocator *allocator;
    SSL *ssl;
    BIO *in;
    BIO *out;
    size_t sent; /* of what is in `out` */
};

lbx_status
lbx__session_create(lbx__tls *tls, lbx__session **ret)
{
    const lbx_allocator *allocator = lbx__tls_allocator(tls);
    lbx__session *session = lbx__zalloc(allocator, sizeof(*session));
    SSL_CTX *context;

    if (!session)
        return LBX_NO_MEMORY;
    session->allocator = allocator;
    context = lbx__tls_context(tls);
    session->ssl = SSL_new(context);
    SSL_CTX_free(context);
    session->in = BIO_new(BIO_s_mem());
    session->out = BIO_new(BIO_s_mem());
    if (!session->ssl || !session->in || !session->out) {
        BIO_free(session->in);
        BIO_free(session->out);
        session->in = NULL;
        lbx__session_destroy(session);
        ERR_clear_error();
        return LBX_NO_MEMORY;
    }
    // No bytes means that none came yet, not the end.
    BIO_set_mem_eof_return(session->in, -1);
    SSL_set_bio(session->ssl, session->in, session->out);
    SSL_set_accept_state(session->ssl);
    *ret = session;
    return LBX_OK;
}

void
lbx__session_destroy(lbx__session *session)
{
    if (!session)
        return;
    SSL_free(session->ssl); // and the BIOs
    lbx__free(session->allocator, session, sizeof(*session));
}

bool
lbx__session_feed(lbx__session *session, const char *bytes, size_t size)
{
    size_t taken;

    return BIO_write_ex(session->in, bytes, size, &taken) == 1 && taken == size;
}

static lbx_status
session_status(lbx__session *session, int result)
{
    int error = SSL_get_error(session->ssl, result);

    ERR_clear_error();
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
        return LBX_EMPTY;
    return error == SSL_ERROR_ZERO_RETURN ? LBX_CLOSED : LBX_IO;
}

lbx_status
lbx__session_read(lbx__session *session, char *ret, size_t size,
                  size_t *ret_size)
{
    int result;

    ERR_clear_error();
    result = SSL_read_ex(session->ssl, ret, size, ret_size);
    return result == 1 ? LBX_OK : session_status(session, result);
}

lbx_status
lbx__session_write(lbx__session *session, const char *bytes, size_t size,
                   size_t *ret_taken)
{
    int result;

    if (!SSL_is_init_finished(session->ssl))
        return LBX_EMPTY;
    ERR_clear_error();
    result = SSL_write_ex(session->ssl, bytes, size, ret_taken);
    return result == 1 ? LBX_OK : session_status(session, result);
}

void
lbx__session_shutdown(lbx__session *session)
{
    ERR_clear_error();
    if (SSL_is_init_finished(session->ssl))
        (void)SSL_shutdown(session->ssl);
    ERR_clear_error();
}

size_t
lbx__session_output(lbx__session *session, const char **ret)
{
    char *bytes = NULL;
    long size = BIO_get_mem_data(session->out, &bytes);

    if (size <= 0 || (size_t)size <= session->sent)
        return 0;
    *ret = bytes + session->sent;
    return (size_t)size - session->sent;
}

void
lbx__session_sent(lbx__session *session, size_t size)
{
    char *bytes = NULL;

    session->sent += size;
    if ((size_t)BIO_get_mem_data(session->out, &bytes) == session->sent) {
        (void)BIO_reset(session->out);
        session->sent = 0;
    }
}
