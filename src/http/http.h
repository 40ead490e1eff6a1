/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTP/1.1 server on one loop or several.
 *
 * Each loop accepts connections by itself, on a socket of its own with
 * SO_REUSEPORT where the address is TCP, and on a shared one otherwise (Unix
 * sockets, sockets that systemd passes).
 *
 * Each limit is a field of the options.
 */
#ifndef LBX_HTTP_HTTP_H
#define LBX_HTTP_HTTP_H

#include "http/budget.h"
#include "http/exchange.h"

typedef struct lbx__http lbx__http;
typedef struct lbx__tls lbx__tls; /* net/tls.h */

typedef struct lbx__http_limits {
    uint32_t max_connections;          /* of all loops; 10,000 */
    uint32_t max_connections_per_peer; /* 1,000; 0: no limit. Not of loopback
                                          and Unix sockets */
    uint32_t max_pipelined;            /* requests of one connection; 16 */
    uint32_t max_field_count;          /* 100 */
    size_t max_head_bytes;             /* 32 KiB */
    size_t max_target_bytes;           /* 8 KiB */
    size_t max_body_bytes;             /* 1.5 MiB */
    size_t max_held_bytes;             /* of all requests and answers; 256 MiB;
                                          0: no limit */
    uint32_t max_requests_per_second;  /* of one address; 0: no limit. Not of
                                          Unix sockets */
    int64_t head_ns;                   /* for a whole head; 10 s */
    int64_t min_body_bytes_per_second; /* after 10 s; 1 KiB */
    int64_t write_ns;                  /* for a client that does not read its
                                          answers; 30 s */
    int64_t min_answer_bytes_per_second; /* after that; 1 KiB; 0: any progress
                                            will do */
    int64_t idle_ns;                     /* between requests; 60 s */
} lbx__http_limits;

extern const lbx__http_limits lbx__http_default_limits;

typedef struct lbx__http_options {
    const lbx_allocator *allocator;
    lbx__loop *const *loops;
    size_t loop_count;
    const char *address; /* "127.0.0.1:9324", "[::1]:0", "unix:/run/x.sock",
                            "fd:3" */
    lbx__tls *tls;       /* NULL: plain */
    lbx__http_limits limits;
    lbx__budget *budget; /* of a handler that holds bytes too, with its own
                            limit; NULL: one of max_held_bytes */
    lbx__http_handler handler;
    void (*log)(void *context, const char *line); /* NULL: not called */
    void *log_context;
} lbx__http_options;

/* Listens; `fault` says why not, as: port in use. */
lbx_status lbx__http_create(const lbx__http_options *options, lbx__http **ret,
                            lbx_fault *fault);

/* Where it listens, with the port that was chosen for port 0. */
const char *lbx__http_address(const lbx__http *http);

/* Stops accepting; connections that are idle are closed, others after the
 * answer they owe. Any thread. */
void lbx__http_stop(lbx__http *http);

/* After a stop. Waits until each exchange was answered and each connection is
 * closed. At `deadline_ns` the connections that are left are cut off, and the
 * handler is told (EXCH-2); it must answer all the same, which is waited for,
 * since an exchange lives until then. Then frees it. Not from a loop's
 * thread. */
void lbx__http_destroy(lbx__http *http, int64_t deadline_ns);

/* Counts for metrics; any thread. */
typedef struct lbx__http_counts {
    uint64_t connections; /* now */
    uint64_t accepted;    /* ever */
    uint64_t refused;     /* by a limit */
    uint64_t requests;    /* that reached the handler */
    uint64_t rejected;    /* by framing, limits and timeouts */
    uint64_t bytes_in, bytes_out;
    uint64_t held_bytes; /* now; BUDGET-1 */
} lbx__http_counts;

void lbx__http_count(const lbx__http *http, lbx__http_counts *ret);

#endif
