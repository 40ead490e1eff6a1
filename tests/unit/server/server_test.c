/* SPDX-License-Identifier: Apache-2.0 */
/* A server in the test's own process: what it refuses to start with, what a
 * reload changes, what it reports. Its actions are tested in tests/sqs. */
#include "http/tls_fixture.h"
#include "support/folder.h"
#include "support/test.h"

#include <arpa/inet.h>
#include <letterbox/server.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct setup {
    lbx_store *store;
    lbx_server_options options;
    lbx_fault fault;
    lbx_server *server;
    atomic_int lines;
};

static void
setup_count_line(void *context, const char *line)
{
    struct setup *setup = context;

    CHECK(line[0] != '\0');
    atomic_fetch_add(&setup->lines, 1);
}

static void
setup_init(struct setup *setup)
{
    lbx_store_options store = LBX_STORE_OPTIONS_INIT;

    *setup = (struct setup){.options = LBX_SERVER_OPTIONS_INIT};
    CHECK_OK(lbx_store_open("memory:", &store, &setup->store));
    setup->options.store = setup->store;
    setup->options.fault = &setup->fault;
    setup->options.listen = "127.0.0.1:0";
    setup->options.threads = 1;
    setup->options.log = setup_count_line;
    setup->options.log_context = setup;
}

static void
setup_start(struct setup *setup)
{
    CHECK_OK(lbx_server_start(&setup->options, &setup->server));
}

static void
setup_fini(struct setup *setup)
{
    lbx_server_stop(setup->server);
    lbx_store_unref(setup->store);
}

/* The start fails with this status, and the fault has the word. */
static void
setup_is_refused(struct setup *setup, lbx_status status, const char *word)
{
    setup->fault.text[0] = '\0';
    CHECK_STATUS(status, lbx_server_start(&setup->options, &setup->server));
    if (!strstr(setup->fault.text, word))
        FAIL("no '%s' in: %s", word, setup->fault.text);
    CHECK(setup->server == NULL);
}

static int
setup_connect(const struct setup *setup)
{
    const char *address = lbx_server_address(setup->server);
    struct sockaddr_in to = {.sin_family = AF_INET};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    to.sin_port = htons((uint16_t)strtol(strrchr(address, ':') + 1, NULL, 10));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(fd >= 0);
    CHECK(connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0);
    return fd;
}

/* Sends a request and reads all that comes until the server closes. */
static void
setup_ask(const struct setup *setup, const char *request, char *ret,
          size_t size)
{
    const int fd = setup_connect(setup);
    size_t all = 0;
    ssize_t got;

    CHECK(send(fd, request, strlen(request), MSG_NOSIGNAL) ==
          (ssize_t)strlen(request));
    while (all < size - 1 && (got = recv(fd, ret + all, size - 1 - all, 0)) > 0)
        all += (size_t)got;
    ret[all] = '\0';
    CHECK(close(fd) == 0);
}

#define LIST_QUEUES                                                            \
    "GET /?Action=ListQueues HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
#define CREATE_QUEUE                                                           \
    "GET /?Action=CreateQueue&QueueName=q HTTP/1.1\r\nHost: asked\r\n"         \
    "Connection: close\r\n\r\n"

/* ---- Starting ---- */

TEST(server_is_not_started_with_what_cannot_be)
{
    struct setup setup;

    setup_init(&setup);
    setup.options.store = NULL;
    setup_is_refused(&setup, LBX_INVALID, "store");
    setup.options.store = setup.store;
    setup.options.listen = "";
    setup_is_refused(&setup, LBX_INVALID, "listen");
    setup.options.listen = "127.0.0.1:0";
    setup.options.tls_certificate = "cert.pem";
    setup_is_refused(&setup, LBX_INVALID, "TLS needs both");
    setup.options.tls_certificate = NULL;
    setup.options.tls_key = "key.pem";
    setup_is_refused(&setup, LBX_INVALID, "TLS needs both");
    setup.options.tls_key = NULL;
    setup.options.max_leased = 0;
    setup_is_refused(&setup, LBX_INVALID, "max_leased is 0; 1 or more");
    setup.options.max_leased = 1;
    setup.options.request_timeout_ns = 0;
    setup_is_refused(&setup, LBX_INVALID, "request_timeout_ns is 0; 1000000");
    setup.options.request_timeout_ns = LBX_SECOND;
    setup.options.write_timeout_ns = LBX_MS - 1;
    setup_is_refused(&setup, LBX_INVALID, "write_timeout_ns is 999999; ");
    setup.options.write_timeout_ns = LBX_MS;
    setup.options.idle_timeout_ns = -1;
    setup_is_refused(&setup, LBX_INVALID, "idle_timeout_ns is -1; ");
    setup.options.idle_timeout_ns = LBX_MS;
    setup.options.account = "12345678901";
    setup_is_refused(&setup, LBX_INVALID, "account");
    setup.options.account = "123456789012";
    setup.options.region = "Europe";
    setup_is_refused(&setup, LBX_INVALID, "region");
    setup.options.region = "eu-west-1";
    setup_start(&setup);
    setup_fini(&setup);
}

/* Nothing that others can reach is served without keys by mistake. */
TEST(server_without_keys_is_for_this_machine)
{
    static const char *const open[] = {"0.0.0.0:0", "[::]:0"};
    const lbx_server_key key = {"AKIDEXAMPLE", "wJalrXUtnFEMI", NULL, NULL};
    struct setup setup;

    setup_init(&setup);
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++) {
        setup.options.listen = open[i];
        setup_is_refused(&setup, LBX_DENIED, "no keys");
    }
    setup.options.listen = "0.0.0.0:0";
    setup.options.insecure = true;
    setup_start(&setup);
    lbx_server_stop(setup.server);
    setup.options.insecure = false;
    setup.options.keys = &key;
    setup.options.key_count = 1;
    setup_start(&setup);
    setup_fini(&setup);
}

TEST(server_has_the_url_that_it_was_given)
{
    char url[] = "https://queues.example/sqs", text[4096];
    struct setup setup;

    setup_init(&setup);
    setup.options.url = url;
    setup_start(&setup);
    url[8] = '!'; // it was copied
    setup_ask(&setup, CREATE_QUEUE, text, sizeof(text));
    CHECK(strstr(text, "https://queues.example/sqs/000000000000/q<") != NULL);
    setup_fini(&setup);
}

TEST(server_refuses_connections_over_its_limit)
{
    struct setup setup;
    char text[4096];
    int fd;

    setup_init(&setup);
    setup.options.max_connections = 1;
    setup_start(&setup);
    fd = setup_connect(&setup);
    CHECK(send(fd, LIST_QUEUES, 10, MSG_NOSIGNAL) == 10);
    setup_ask(&setup, LIST_QUEUES, text, sizeof(text));
    CHECK(strncmp(text, "HTTP/1.1 503 ", 13) == 0);
    CHECK(close(fd) == 0);
    setup_fini(&setup);
}

TEST(server_logs_requests_if_it_is_asked_to)
{
    struct setup setup;
    char text[4096];

    for (int asked = 0; asked < 2; asked++) {
        setup_init(&setup);
        setup.options.log_requests = asked;
        setup_start(&setup);
        setup_ask(&setup, LIST_QUEUES, text, sizeof(text));
        CHECK(strncmp(text, "HTTP/1.1 200 ", 13) == 0);
        setup_fini(&setup);
        CHECK_INT(asked, atomic_load(&setup.lines));
    }
}

/* BUDGET-1: what is made of a request counts beside its bytes. Each "&a" is
 * a field of dozens of bytes, and has no effect. */
TEST(requests_that_grow_when_they_are_read_are_refused)
{
    enum {
        FIELDS = 3000,
        SIZE = 4096 + 2 * FIELDS
    };
    static char request[SIZE];
    struct setup setup;
    char text[4096];
    size_t used;

    used = (size_t)snprintf(request, sizeof(request),
                            "POST / HTTP/1.1\r\nHost: x\r\nConnection: "
                            "close\r\nContent-Length: %d\r\n\r\n"
                            "Action=ListQueues",
                            17 + 2 * FIELDS);
    for (int i = 0; i < FIELDS; i++, used += 2)
        memcpy(request + used, "&a", 3);
    for (int enough = 0; enough < 2; enough++) {
        setup_init(&setup);
        setup.options.max_held_bytes = enough ? 16 << 20 : 100000;
        setup_start(&setup);
        setup_ask(&setup, request, text, sizeof(text));
        if (!enough)
            CHECK(strstr(text, "Too many bytes are being sent") != NULL);
        CHECK(strncmp(text, enough ? "HTTP/1.1 200 " : "HTTP/1.1 503 ", 13) ==
              0);
        setup_ask(&setup, LIST_QUEUES, text, sizeof(text)); // it is given back
        CHECK(strncmp(text, "HTTP/1.1 200 ", 13) == 0);
        setup_fini(&setup);
    }
}

/* ---- Reloading ---- */

TEST(reload_takes_keys_and_never_none)
{
    const lbx_server_key key = {"AKIDEXAMPLE", "wJalrXUtnFEMI", NULL, NULL};
    const lbx_server_key bad = {"AKIDEXAMPLE", "short", NULL, NULL};
    struct setup setup;
    char text[4096];

    setup_init(&setup);
    setup_start(&setup);
    setup_ask(&setup, LIST_QUEUES, text, sizeof(text));
    CHECK(strncmp(text, "HTTP/1.1 200 ", 13) == 0);
    CHECK_OK(lbx_server_reload(setup.server, NULL, 0, &setup.fault));
    CHECK_STATUS(LBX_INVALID,
                 lbx_server_reload(setup.server, &bad, 1, &setup.fault));
    setup_ask(&setup, LIST_QUEUES, text, sizeof(text));
    CHECK(strncmp(text, "HTTP/1.1 200 ", 13) == 0);
    CHECK_OK(lbx_server_reload(setup.server, &key, 1, &setup.fault));
    setup_ask(&setup, LIST_QUEUES, text, sizeof(text));
    CHECK(strncmp(text, "HTTP/1.1 403 ", 13) == 0);
    CHECK_STATUS(LBX_INVALID,
                 lbx_server_reload(setup.server, NULL, 0, &setup.fault));
    CHECK(strstr(setup.fault.text, "open to anybody") != NULL);
    setup_ask(&setup, LIST_QUEUES, text, sizeof(text));
    CHECK(strncmp(text, "HTTP/1.1 403 ", 13) == 0);
    CHECK_STATUS(LBX_INVALID, lbx_server_reload(NULL, &key, 1, NULL));
    setup_fini(&setup);
}

/* The name in the certificate that a new connection is shown. */
static void
setup_certificate(const struct setup *setup, char *ret, size_t size)
{
    struct tls_client client = {.plain = {.fd = setup_connect(setup)}};

    client.context = SSL_CTX_new(TLS_client_method());
    client.ssl = SSL_new(client.context);
    CHECK(client.context && client.ssl);
    CHECK(SSL_set_fd(client.ssl, client.plain.fd) == 1);
    CHECK(SSL_connect(client.ssl) == 1);
    tls_client_name(&client, ret, size);
    tls_client_close(&client);
}

TEST(reload_reads_the_files_of_tls_again)
{
    const char *certificate = test_path(), *key = test_path();
    struct setup setup;
    char name[16];

    setup_init(&setup);
    setup.options.tls_certificate = certificate;
    setup.options.tls_key = key;
    setup_is_refused(&setup, LBX_NOT_FOUND, "certificate");
    tls_write_files("one", certificate, key);
    setup_start(&setup);
    setup_certificate(&setup, name, sizeof(name));
    CHECK_STR("one", name);
    tls_write_files("two", certificate, key);
    CHECK_OK(lbx_server_reload(setup.server, NULL, 0, &setup.fault));
    setup_certificate(&setup, name, sizeof(name));
    CHECK_STR("two", name);
    CHECK(unlink(key) == 0);
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_server_reload(setup.server, NULL, 0, &setup.fault));
    setup_certificate(&setup, name, sizeof(name));
    CHECK_STR("two", name);
    setup_fini(&setup);
}

/* ---- Queues that are declared ---- */

#define SET_DELAY                                                              \
    "GET /000000000000/q?Action=SetQueueAttributes&Attribute.Name="            \
    "DelaySeconds&Attribute.Value=7 HTTP/1.1\r\nHost: x\r\n"                   \
    "Connection: close\r\n\r\n"

struct changer {
    const struct setup *setup;
    atomic_bool is_over;
};

static void *
changer_run(void *context)
{
    struct changer *changer = context;
    char text[4096];

    while (!atomic_load(&changer->is_over)) {
        setup_ask(changer->setup, SET_DELAY, text, sizeof(text));
        CHECK(strncmp(text, "HTTP/1.1 200 ", 13) == 0);
    }
    return NULL;
}

static int64_t
setup_lease_ns(const struct setup *setup)
{
    char buffer[LBX_BOX_OPTIONS_BUFFER_BYTES];
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;

    CHECK_OK(lbx_store_describe_box(setup->store, "q", buffer, &options, NULL));
    return options.lease_ns;
}

/* CHLOCK-1: a client that has read the queue before it was declared would put
 * the old lease back with its own change. */
TEST(declared_queue_is_not_changed_back_by_clients)
{
    enum {
        CHANGERS = 3
    };
    lbx_box_options box = lbx_box_options_preset(LBX_BOX_PRESET_SQS);
    const long rounds = test_rounds(400, 4000);
    pthread_t threads[CHANGERS];
    struct changer changer;
    struct setup setup;

    setup_init(&setup);
    setup.options.threads = 2;
    setup_start(&setup);
    CHECK_STATUS(LBX_INVALID, lbx_server_declare_queue(NULL, "q", &box, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_server_declare_queue(setup.server, "q", NULL,
                                                       &setup.fault));
    CHECK(strstr(setup.fault.text, "options") != NULL);
    CHECK_OK(lbx_server_declare_queue(setup.server, "q", &box, NULL));
    changer.setup = &setup;
    atomic_init(&changer.is_over, false);
    for (int i = 0; i < CHANGERS; i++)
        CHECK(pthread_create(&threads[i], NULL, changer_run, &changer) == 0);
    for (long i = 1; i <= rounds; i++) {
        box.lease_ns = i * LBX_SECOND;
        CHECK_OK(
            lbx_server_declare_queue(setup.server, "q", &box, &setup.fault));
        for (int looks = 0; looks < 5; looks++) {
            CHECK_INT(i * LBX_SECOND, setup_lease_ns(&setup));
            test_pause(200);
        }
    }
    atomic_store(&changer.is_over, true);
    for (int i = 0; i < CHANGERS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    setup_fini(&setup);
}
