/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fake store: a few hundred lines, written against <letterbox/store_driver.h>
 * alone.
 *
 * Letters are in arrays, leases end by a clock that the test moves, everything
 * is under one lock. `before` is called ahead of each call of the store,
 * without the lock, so that a test can act at exactly that moment, or make the
 * call fail.
 */
#ifndef LBX_TEST_COURIER_FAKE_STORE_H
#define LBX_TEST_COURIER_FAKE_STORE_H

#include <pthread.h>
#include <stdatomic.h>

#include <letterbox/store_driver.h>

#include "support/clock.h"
#include "support/test.h"

enum {
    FAKE_STORE_BOXES = 8,
    FAKE_STORE_LETTERS = 256,
    FAKE_STORE_WAITING = 32,
    LOG_BYTES = 16384,
};

struct fake_store_letter {
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

struct fake_store_box {
    char name[LBX_BOX_NAME_BYTES];
    struct fake_store_letter
        letters[FAKE_STORE_LETTERS]; /* in the order of arrival */
    size_t count;
    uint64_t next;
};

struct fake_store {
    lbx_store base; /* first */
    struct test_clock *time;
    pthread_mutex_t lock;
    struct fake_store_box *boxes[FAKE_STORE_BOXES];
    lbx_call *waiting[FAKE_STORE_WAITING];
    size_t waiting_count;
    _Atomic long calls[LBX_CALL_SYNC + 1];

    /* Set before use; anything but LBX_OK is the call's answer. */
    lbx_status (*before)(void *context, lbx_call_kind verb,
                         const void *request);
    void *context;
};

void fake_store_open(struct fake_store *fake, struct test_clock *time);

/* Moves the clock, and serves waiting receives. */
void fake_store_advance(struct fake_store *fake, int64_t duration_ns);

/* Letters ready, leased, and not due yet. */
void fake_store_count(struct fake_store *fake, const char *box, size_t *ready,
                      size_t *leased, size_t *delayed);
size_t fake_store_waiting(struct fake_store *fake);

#endif
