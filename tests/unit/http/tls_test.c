/* SPDX-License-Identifier: Apache-2.0 */
#include "http/tls_fixture.h"

#include "net/tls.h"
#include "support/folder.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define GET_LAST "GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

/* A server with a certificate for "one". */
struct secure {
    struct rig rig;
    lbx__tls *tls;
    const char *certificate;
    const char *key;
};

static void
secure_open(struct secure *secure)
{
    lbx_fault fault = {.text = ""};
    lbx_status status;

    secure->certificate = test_path();
    secure->key = test_path();
    tls_write_files("one", secure->certificate, secure->key);
    status = lbx__tls_create(NULL, secure->certificate, secure->key,
                             &secure->tls, &fault);
    if (status != LBX_OK)
        FAIL("%s", fault.text);
    secure->rig.options.tls = secure->tls;
    rig_open(&secure->rig);
}

static void
secure_close(struct secure *secure)
{
    rig_close(&secure->rig);
    lbx__tls_destroy(secure->tls);
}

/* Sends a last request and checks that its answer ends with `body`. */
static void
check_last(struct tls_client *client, const char *body)
{
    char bytes[4096];
    size_t size;

    tls_client_send(client, GET_LAST);
    size = tls_client_read(client, bytes, sizeof(bytes) - 1);
    bytes[size] = '\0';
    CHECK(strncmp(bytes, "HTTP/1.1 200 OK\r\n", 17) == 0);
    CHECK(size > strlen(body));
    CHECK_STR(body, bytes + size - strlen(body));
    CHECK(SSL_get_error(client->ssl, 0) == SSL_ERROR_ZERO_RETURN);
}

TEST(requests_go_through_tls)
{
    static const int versions[] = {0, TLS1_2_VERSION, TLS1_3_VERSION};
    struct secure secure;
    struct tls_client client;
    size_t i;

    rig_init(&secure.rig);
    secure_open(&secure);
    for (i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        CHECK(tls_client_open(&client, &secure.rig, versions[i], NULL));
        check_last(&client, "GET /echo ");
        tls_client_close(&client);
    }
    secure_close(&secure);
    CHECK_INT(3, atomic_load(&secure.rig.written));
}

TEST(old_tls_is_refused)
{
    struct secure secure;
    struct tls_client client;

    rig_init(&secure.rig);
    secure_open(&secure);
    CHECK(!tls_client_open(&client, &secure.rig, TLS1_1_VERSION, NULL));
    tls_client_close(&client);
    secure_close(&secure);
}

TEST(of_protocols_http_1_1_is_taken)
{
    struct secure secure;
    struct tls_client client;
    const unsigned char *name;
    unsigned size;

    rig_init(&secure.rig);
    secure_open(&secure);
    CHECK(tls_client_open(&client, &secure.rig, 0, "\x02h2\x08http/1.1"));
    SSL_get0_alpn_selected(client.ssl, &name, &size);
    CHECK(size == 8 && memcmp(name, "http/1.1", 8) == 0);
    check_last(&client, "GET /echo ");
    tls_client_close(&client);
    CHECK(!tls_client_open(&client, &secure.rig, 0, "\x02h2"));
    tls_client_close(&client);
    secure_close(&secure);
}

/* Many records each way, in pieces and pipelined. */
TEST(large_bodies_go_through_tls)
{
    enum {
        BIG = 3000000
    };
    struct secure secure;
    struct tls_client client;
    char *bytes = malloc(BIG + 4096), *body;
    size_t size;
    int i;

    CHECK(bytes != NULL);
    rig_init(&secure.rig);
    secure_open(&secure);
    CHECK(tls_client_open(&client, &secure.rig, 0, NULL));
    for (i = 0; i < 40; i++)
        tls_client_send(&client, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
    tls_client_send(&client, "POST /echo HTTP/1.1\r\nHost: x\r\n"
                             "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    for (i = 0; i < 10; i++)
        tls_client_send(&client, "1\r\nx\r\n");
    tls_client_send(&client, "0\r\n\r\n");
    tls_client_send(&client, "GET /big?3000000 HTTP/1.0\r\n\r\n");
    size = tls_client_read(&client, bytes, BIG + 4095);
    CHECK(size == BIG + 4095); // not its end: 41 answers came before
    bytes[size] = '\0';
    body = strstr(bytes, "POST /echo abcxxxxxxxxxxHTTP/1.1 200 OK\r\n");
    CHECK(body != NULL);
    CHECK(bytes[size - 1] == 'x');
    while ((size = tls_client_read(&client, bytes, BIG)) > 0)
        CHECK(bytes[0] == 'x' && bytes[size - 1] == 'x');
    tls_client_close(&client);
    secure_close(&secure);
    free(bytes);
    CHECK_INT(42, atomic_load(&secure.rig.written));
}

/* TLSCTX-1 */
TEST(reload_is_for_new_connections)
{
    struct secure secure;
    struct tls_client before, after;
    lbx_fault fault;
    char name[16];
    FILE *file;

    rig_init(&secure.rig);
    secure_open(&secure);
    CHECK(tls_client_open(&before, &secure.rig, 0, NULL));
    tls_client_name(&before, name, sizeof(name));
    CHECK_STR("one", name);
    tls_write_files("two", secure.certificate, secure.key);
    CHECK_OK(lbx__tls_reload(secure.tls, &fault));
    CHECK(tls_client_open(&after, &secure.rig, 0, NULL));
    tls_client_name(&after, name, sizeof(name));
    CHECK_STR("two", name);
    check_last(&before, "GET /echo ");
    check_last(&after, "GET /echo ");
    tls_client_close(&before);
    tls_client_close(&after);
    // A bad file changes nothing.
    file = fopen(secure.certificate, "w");
    CHECK(file != NULL && fputs("nonsense", file) >= 0 && fclose(file) == 0);
    CHECK_STATUS(LBX_INVALID, lbx__tls_reload(secure.tls, &fault));
    CHECK(strstr(fault.text, "certificate") != NULL);
    CHECK(tls_client_open(&after, &secure.rig, 0, NULL));
    tls_client_name(&after, name, sizeof(name));
    CHECK_STR("two", name);
    tls_client_close(&after);
    secure_close(&secure);
}

TEST(bad_certificates_and_keys_are_refused)
{
    const char *certificate = test_path(), *key = test_path();
    const char *other = test_path(), *unused = test_path();
    lbx__tls *tls;
    lbx_fault fault;

    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx__tls_create(NULL, certificate, key, &tls, &fault));
    CHECK(strstr(fault.text, "certificate") != NULL);
    tls_write_files("one", certificate, key);
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx__tls_create(NULL, certificate, other, &tls, &fault));
    CHECK(strstr(fault.text, "key") != NULL);
    tls_write_files("one", unused, other);
    CHECK_STATUS(LBX_INVALID,
                 lbx__tls_create(NULL, certificate, unused, &tls, &fault));
    CHECK(strstr(fault.text, "key") != NULL);
    CHECK_STATUS(LBX_INVALID,
                 lbx__tls_create(NULL, certificate, other, &tls, &fault));
    CHECK(strstr(fault.text, "key") != NULL);
}

/* HTTP on a port for TLS: no crash, and the connection ends. */
TEST(plain_bytes_end_a_tls_connection)
{
    struct secure secure;
    struct client client;
    char byte;

    rig_init(&secure.rig);
    secure_open(&secure);
    client_open(&client, &secure.rig);
    client_send(&client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    while (recv(client.fd, &byte, 1, 0) > 0)
        continue;
    client_close(&client);
    secure_close(&secure);
    CHECK_INT(0, atomic_load(&secure.rig.handled));
}

/* A handshake has the time of a head. */
TEST(silent_tls_client_is_cut_off)
{
    struct secure secure;
    struct client client;

    rig_init(&secure.rig);
    secure.rig.options.limits.head_ns = 30 * LBX_MS;
    secure_open(&secure);
    client_open(&client, &secure.rig);
    client_expect_close(&client);
    client_close(&client);
    secure_close(&secure);
}

TEST(parked_tls_client_that_leaves_is_gone)
{
    struct secure secure;
    struct tls_client client;
    int i;

    rig_init(&secure.rig);
    secure.rig.answers_gone = true;
    secure_open(&secure);
    for (i = 0; i < 2; i++) {
        CHECK(tls_client_open(&client, &secure.rig, 0, NULL));
        tls_client_send(&client, "GET /park HTTP/1.1\r\nHost: x\r\n\r\n");
        EVENTUALLY(atomic_load(&secure.rig.handled) == i + 1);
        if (i == 0) {
            tls_client_close(&client);
        } else { // without a goodbye of TLS
            SSL_free(client.ssl);
            SSL_CTX_free(client.context);
            client_close(&client.plain);
        }
        EVENTUALLY(atomic_load(&secure.rig.gone) == i + 1);
    }
    secure_close(&secure);
    CHECK_INT(2, atomic_load(&secure.rig.written_closed));
}

/* STREAM-3: a cut in the middle of an answer is not known to have arrived. */
TEST(tls_client_that_does_not_read_is_cut_off)
{
    struct secure secure;
    struct tls_client client;

    rig_init(&secure.rig);
    secure.rig.options.limits.write_ns = 50 * LBX_MS;
    secure_open(&secure);
    CHECK(tls_client_open(&client, &secure.rig, 0, NULL));
    tls_client_send(&client, "GET /big?50000000 HTTP/1.1\r\nHost: x\r\n\r\n"
                             "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    EVENTUALLY(atomic_load(&secure.rig.written_unknown) == 1);
    EVENTUALLY(atomic_load(&secure.rig.written_closed) == 1);
    tls_client_close(&client);
    secure_close(&secure);
}
