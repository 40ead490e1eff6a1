/* SPDX-License-Identifier: Apache-2.0 */
#include "http/tls_fixture.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>

static X509 *
make_certificate(const char *name, EVP_PKEY *key)
{
    X509 *certificate = X509_new();
    X509_NAME *subject;

    CHECK(certificate != NULL);
    CHECK(ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) == 1);
    CHECK(X509_gmtime_adj(X509_getm_notBefore(certificate), -3600) != NULL);
    CHECK(X509_gmtime_adj(X509_getm_notAfter(certificate), 3600) != NULL);
    CHECK(X509_set_pubkey(certificate, key) == 1);
    subject = X509_get_subject_name(certificate);
    CHECK(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                                     (const unsigned char *)name, -1, -1,
                                     0) == 1);
    CHECK(X509_set_issuer_name(certificate, subject) == 1);
    CHECK(X509_sign(certificate, key, EVP_sha256()) > 0);
    return certificate;
}

void
tls_write_files(const char *name, const char *certificate_file,
                const char *key_file)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate;
    FILE *file;

    CHECK(key != NULL);
    certificate = make_certificate(name, key);
    file = fopen(certificate_file, "w");
    CHECK(file != NULL && PEM_write_X509(file, certificate) == 1);
    CHECK(fclose(file) == 0);
    file = fopen(key_file, "w");
    CHECK(file != NULL &&
          PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1);
    CHECK(fclose(file) == 0);
    X509_free(certificate);
    EVP_PKEY_free(key);
}

bool
tls_client_open(struct tls_client *client, const struct rig *rig, int version,
                const char *protocols)
{
    client_open(&client->plain, rig);
    client->context = SSL_CTX_new(TLS_client_method());
    CHECK(client->context != NULL);
    if (version) {
        SSL_CTX_set_security_level(client->context, 0);
        CHECK(SSL_CTX_set_min_proto_version(client->context, version) == 1);
        CHECK(SSL_CTX_set_max_proto_version(client->context, version) == 1);
    }
    client->ssl = SSL_new(client->context);
    CHECK(client->ssl != NULL);
    if (protocols)
        CHECK(SSL_set_alpn_protos(client->ssl, (const unsigned char *)protocols,
                                  (unsigned)strlen(protocols)) == 0);
    CHECK(SSL_set_fd(client->ssl, client->plain.fd) == 1);
    return SSL_connect(client->ssl) == 1;
}

void
tls_client_close(struct tls_client *client)
{
    (void)SSL_shutdown(client->ssl);
    SSL_free(client->ssl);
    SSL_CTX_free(client->context);
    client_close(&client->plain);
}

void
tls_client_send(struct tls_client *client, const char *text)
{
    size_t size = strlen(text), sent;

    CHECK(SSL_write_ex(client->ssl, text, size, &sent) == 1 && sent == size);
}

size_t
tls_client_read(struct tls_client *client, char *ret, size_t size)
{
    size_t all = 0, got;

    while (all < size &&
           SSL_read_ex(client->ssl, ret + all, size - all, &got) == 1)
        all += got;
    return all;
}

void
tls_client_name(struct tls_client *client, char *ret, size_t size)
{
    X509 *certificate = SSL_get1_peer_certificate(client->ssl);

    CHECK(certificate != NULL);
    CHECK(X509_NAME_get_text_by_NID(X509_get_subject_name(certificate),
                                    NID_commonName, ret, (int)size) > 0);
    X509_free(certificate);
}
