/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server: a store as SQS, for any AWS SDK. `letterbox serve` is a thin
 * program around this.
 *
 *     lbx_server_options options = LBX_SERVER_OPTIONS_INIT;
 *
 *     lbx_store_open("file:/var/lib/letterbox", NULL, &store);
 *     options.store = store;
 *     options.listen = "127.0.0.1:9324";
 *     options.fault = &fault;
 *     if (lbx_server_start(&options, &server) != LBX_OK)
 *         ... // fault.text: the port is in use, ...
 *     ...
 *     lbx_server_stop(server);
 *     lbx_store_unref(store);
 *
 * It speaks AWS JSON 1.0 and Query, on one address: http://HOST:PORT is the
 * endpoint that an SDK is given. Queues are boxes of the store; those of the
 * home account and region are the boxes that programs see, so that
 * lbx_postbox_open_in() and an SDK use the same queue. Every other account and
 * region is a world of its own.
 *
 * Besides: GET /health, GET /metrics (Prometheus), and GET
 * /_aws/sqs/messages?QueueUrl=URL, which shows messages without receiving them.
 *
 * Keys. Without keys no signature is checked, and then the server listens on
 * loopback only, unless `insecure` says otherwise. With keys every request must
 * be signed (SigV4) by one of them, and a key sees the queues of its account.
 *
 * To link it: pkg-config --libs letterbox-server. It is a static library, and
 * brings libletterbox as one.
 *
 * Threads    any, for everything here, unless an entry states otherwise.
 *
 * Caveats
 * - A queue that was deleted less than 60 seconds ago, and a purge less than 60
 *   seconds after another, are refused, as SQS does (`quick_create`,
 *   `quick_purge`).
 * - An answer is sent after the store has reached its durability.
 */
#ifndef LETTERBOX_SERVER_H
#define LETTERBOX_SERVER_H

#include <letterbox/base.h>
#include <letterbox/store.h>

LBX_BEGIN

typedef struct lbx_server lbx_server;

/* An access key: whoever signs with its secret acts for the account. */
typedef struct lbx_server_key {
    const char *access_key; /* 3 to 128 letters, digits, _ - and . */
    const char *secret;
    const char *account; /* 12 digits; NULL: the home account */
    const char *token;   /* a session token that must be sent too; NULL: none */
} lbx_server_key;

typedef struct lbx_server_options {
    size_t size_bytes;              /* LBX_SERVER_OPTIONS_INIT sets it */
    const lbx_allocator *allocator; /* borrowed, as all pointers here; texts
                                       are copied */
    lbx_fault *fault;               /* filled in when starting fails */

    lbx_store *store;   /* what is served; a reference is taken */
    const char *listen; /* "127.0.0.1:9324", "[::]:80", "unix:/run/sqs.sock",
                           "fd:3" for a socket that is passed; port 0: one is
                           chosen, lbx_server_address() has it */
    uint32_t threads;   /* event loops; 0: one per processor */

    const char *account; /* home; 12 digits */
    const char *region;  /* home */
    /* what queue URLs begin with, "https://queues.example"; NULL: the Host of
     * each request */
    const char *url;
    bool trust_forwarded; /* X-Forwarded-Proto and X-Forwarded-Host count: only
                             behind a proxy that sets them */

    const lbx_server_key *keys; /* none: signatures are not checked */
    size_t key_count;
    bool insecure; /* no keys, though others than this machine can connect */

    const char *tls_certificate; /* files in PEM; NULL: no TLS */
    const char *tls_key;

    uint32_t max_connections; /* 10,000 */
    int64_t max_leased;       /* of queues that are made: messages in flight;
                           120,000 */
    bool quick_purge;         /* no 60 seconds between two purges of a queue, */
    bool quick_create;        /* nor between deleting and creating one */

    /* Called with lines for people, and for each request if `log_requests`;
     * they have no bodies and no secrets. NULL: not called. In any thread. */
    void (*log)(void *context, const char *line);
    void *log_context;
    bool log_requests;
} lbx_server_options;

#define LBX_SERVER_OPTIONS_INIT                                                \
    {                                                                          \
        .size_bytes = sizeof(lbx_server_options), .listen = "127.0.0.1:9324",  \
        .account = "000000000000", .region = "us-east-1",                      \
        .max_connections = 10000, .max_leased = 120000                         \
    }

/*
 * lbx_server_start() listens and serves, in threads of its own.
 *
 * Returns    LBX_OK; LBX_INVALID; LBX_EXISTS when the address is in use;
 *            LBX_DENIED when it may not be used, or is not loopback and there
 *            are neither keys nor `insecure`; LBX_NOT_FOUND for a file of TLS;
 *            LBX_NO_MEMORY; LBX_IO. options->fault explains it.
 * Ownership  the server is the caller's: lbx_server_stop().
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_server_start(const lbx_server_options *options, lbx_server **ret);

/*
 * lbx_server_address() is where it listens, "127.0.0.1:9324", with the port
 * that was chosen.
 *
 * Ownership  borrowed: the server's.
 * Since      0.1
 */
LBX_API const char *lbx_server_address(const lbx_server *server);

/*
 * lbx_server_reload() takes new keys, and reads the files of TLS again. What
 * cannot be used is not taken: then everything is as before, and `fault`, which
 * may be NULL, explains it.
 *
 * Returns    LBX_OK; LBX_INVALID, also for no keys where there were some;
 *            LBX_NOT_FOUND; LBX_NO_MEMORY.
 * Ownership  the keys are copied.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_server_reload(lbx_server *server,
                                                  const lbx_server_key *keys,
                                                  size_t key_count,
                                                  lbx_fault *fault);

/*
 * lbx_server_stop() stops accepting, answers the polls that wait with no
 * messages, waits for what is being answered, five seconds at the most, and
 * frees the server. Takes NULL. The store stays as it is.
 *
 * Threads    any, once; not from the log function.
 * Blocks     until every connection is closed.
 * Since      0.1
 */
LBX_API void lbx_server_stop(lbx_server *server);

LBX_END

#endif
