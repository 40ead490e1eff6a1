/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store of the test's own, and a courier on it.
 *
 * A shelf is a store of a few hundred lines, written against <letterbox/store.h>
 * alone: letters in arrays, leases by a clock that the test moves, everything
 * under one lock. `before` is called in front of each call of the store, without
 * the lock, so that a test can do something at exactly that moment, or have the
 * call fail.
 *
 *     struct desk desk;
 *
 *     desk_open(&desk);
 *     desk.options.handle = work;
 *     desk_send(&desk, "a book");
 *     desk_run(&desk, 1);                     // one receive
 *     CHECK_COUNTS(&desk, "requests", 0, 0, 0);
 *     desk_close(&desk);
 */
#ifndef LBX_TEST_COURIER_SHELF_H
#define LBX_TEST_COURIER_SHELF_H

#include <pthread.h>
#include <stdatomic.h>

#include <letterbox/courier.h>
#include <letterbox/store.h>

#include "support/clock.h"
#include "support/test.h"

enum {
    SHELF_BOXES = 8,
    SHELF_LETTERS = 256,
    SHELF_WAITING = 32,
    LOG_BYTES = 16384,
};

struct shelf_letter {
    uint64_t sequence; /* 0: none */
    lbx_id id;
    char *body;
    size_t body_bytes;
    char *type_name;
    char *routes;
    char *group;
    char *trace;
    char *in_reply_to;
    char *token;
    bool leased;
    int64_t due_ns; /* when it is ready, or its lease over */
    uint32_t epoch;
    uint32_t count;
    int64_t first_received_ms;
};

struct shelf_box {
    char name[LBX_BOX_NAME_BYTES];
    struct shelf_letter letters[SHELF_LETTERS]; /* in the order of arrival */
    size_t count;
    uint64_t next;
};

struct shelf {
    lbx_store base; /* first */
    struct test_clock *time;
    pthread_mutex_t lock;
    struct shelf_box *boxes[SHELF_BOXES];
    lbx_call *waiting[SHELF_WAITING];
    size_t waiting_count;
    _Atomic long calls[LBX_VERB_SYNC + 1];

    /* Set before use; anything but LBX_OK is the call's answer. */
    lbx_status (*before)(void *context, lbx_verb verb, const void *request);
    void *context;
};

void shelf_open(struct shelf *shelf, struct test_clock *time);

/* Moves the clock, and serves who waits. */
void shelf_advance(struct shelf *shelf, int64_t duration_ns);

/* Letters ready, leased, and not due yet. */
void shelf_count(struct shelf *shelf, const char *box, size_t *ready,
                 size_t *leased, size_t *delayed);
size_t shelf_waiting(struct shelf *shelf);

/* ---- A courier on a shelf ---- */

struct desk {
    struct test_clock time;
    lbx_clock clock;
    struct shelf shelf;
    lbx_types *types;
    lbx_postbox *requests;
    lbx_postbox *answers; /* the replies' default place */
    lbx_postbox *dead;
    lbx_routes *routes;
    lbx_courier_options options; /* on `requests`; to be changed */
    lbx_courier *courier;        /* made when first needed */
    lbx_courier_stats stats;     /* by desk_stats() */
    pthread_mutex_t log_lock;
    char log[LOG_BYTES]; /* all lines */
};

void desk_open(struct desk *desk);
void desk_close(struct desk *desk);

/* A text, or a draft, to `requests`; with routes to `answers`. */
void desk_send(struct desk *desk, const char *text);
void desk_send_draft(struct desk *desk, lbx_draft draft);

lbx_courier *desk_courier(struct desk *desk);

/* That many receives in this thread. */
void desk_run(struct desk *desk, int64_t receives);

const lbx_courier_stats *desk_stats(struct desk *desk);
bool desk_has_logged(struct desk *desk, const char *text);

/* The next letter of a postbox, which is acknowledged; its body as a text. The
 * letter is the caller's. Fails when there is none. */
lbx_letter *desk_take(lbx_postbox *postbox);

#define CHECK_COUNTS(desk, box, ready, leased, delayed)                        \
    desk_check_counts(__FILE__, __LINE__, desk, box, ready, leased, delayed)

void desk_check_counts(const char *file, int line, struct desk *desk,
                       const char *box, size_t ready, size_t leased,
                       size_t delayed);

#endif
