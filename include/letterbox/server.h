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
 * - To create a queue less than 60 seconds after its deletion, and to purge one
 *   less than 60 seconds after the last purge, is refused, as in SQS, unless
 *   `quick_create` and `quick_purge` allow it.
 * - An answer is sent after the store has reached its durability.
 */
#ifndef LETTERBOX_SERVER_H
#define LETTERBOX_SERVER_H

#include <letterbox/base.h>
#include <letterbox/store.h>

LBX_BEGIN

typedef struct lbx_server lbx_server;

/* An access key: a request that is signed with its secret acts for the
 * account. */
typedef struct lbx_server_key {
    const char *access_key; /* 3 to 128 letters, digits, _ - and . */
    const char *secret;     /* 8 to 256 characters */
    const char *account;    /* 12 digits; NULL: the home account */
    const char *token;      /* a session token that must be sent too, of 1 to
                               4,095 characters; NULL: none */
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
    uint32_t threads;   /* event loops, at most 64; 0: one per processor */

    const char *account; /* home; 12 digits */
    const char *region;  /* home; 1 to 18 lower-case letters, digits, hyphens */
    /* what queue URLs begin with, "https://queues.example"; NULL: the Host of
     * each request */
    const char *url;
    bool trust_forwarded; /* X-Forwarded-Proto and X-Forwarded-Host count: only
                             behind a proxy that sets them */

    const lbx_server_key *keys; /* none: signatures are not checked */
    size_t key_count;
    bool insecure; /* no keys, though others than this machine can connect */

    bool open_metrics; /* GET /metrics needs no key: Prometheus has none */

    const char *tls_certificate; /* files in PEM; NULL: no TLS */
    const char *tls_key;

    /* Limits; 0: none, where it says so. What is over one is refused, and what
     * was begun goes on. */
    uint32_t max_connections; /* 10,000, also for 0 */
    /* Of one address; not of this machine; 1,000; 0: no limit. */
    uint32_t max_connections_per_address;
    /* Of one address: RequestThrottled; 0, the default: no limit. */
    uint32_t max_requests_per_second;
    /* Of all requests and answers under way: ServiceUnavailable; 256 MiB; 0: no
     * limit. */
    size_t max_held_bytes;
    /* Receives that wait at one queue: RequestThrottled; 5,000; 0: no limit. */
    uint32_t max_polls;
    /* Lines of the log in a second; more are dropped, and one line says how
     * many; 1,000; 0: no limit. */
    uint32_t max_log_lines;
    /* Messages in flight of one queue: OverLimit; a queue keeps what it was
     * created with; 1 or more; 120,000. */
    int64_t max_leased;
    /* Times, each a millisecond or more. For a head, and for a body that comes
     * slower than 1 KiB a second; 10 s. */
    int64_t request_timeout_ns;
    /* For a client that does not read its answers, or slower than 1 KiB a
     * second; 30 s. */
    int64_t write_timeout_ns;
    int64_t idle_timeout_ns; /* between two requests; 60 s */

    bool quick_purge;  /* no 60 seconds between two purges of a queue */
    bool quick_create; /* no 60 seconds between deleting and creating one */

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
        .max_connections = 10000, .max_connections_per_address = 1000,         \
        .max_held_bytes = (size_t)256 << 20, .max_polls = 5000,                \
        .max_log_lines = 1000, .max_leased = 120000,                           \
        .request_timeout_ns = 10 * LBX_SECOND,                                 \
        .write_timeout_ns = 30 * LBX_SECOND,                                   \
        .idle_timeout_ns = 60 * LBX_SECOND                                     \
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
 * lbx_server_declare_queue() creates a queue of the home account and region, or
 * gives one that exists these options. Changes that clients make of the queue
 * at that moment come before it or after it: none is made to what was there
 * before. lbx_store_configure_box() does not wait for them.
 *
 * Returns    as lbx_store_create_box() and lbx_store_configure_box();
 *            LBX_INVALID for NULL. `fault`, which may be NULL, explains it.
 * Ownership  the options are copied; the fault is the caller's.
 * Blocks     until it is durable.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_server_declare_queue(lbx_server *server, const char *name,
                         const lbx_box_options *options, lbx_fault *fault);

/*
 * lbx_server_log_requests() switches the log line of each request on or off, as
 * `log_requests` of the options does. Takes NULL.
 *
 * Since      0.1
 */
LBX_API void lbx_server_log_requests(lbx_server *server, bool on);

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
