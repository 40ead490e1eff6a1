/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doubles around the service: rules of a few lines, a storage that keeps
 * nothing, and calls that count how often they end. With them a test can hold a
 * rule or a flush where it likes, and fail what it likes; the real ones are
 * tried together in tests/contract.
 *
 * The doubles define what the service links to (lbx__rules_...,
 * lbx_call_finish, lbx_call_deliver, lbx_store_init), so that the library's are
 * not taken.
 */
#ifndef LBX_TEST_SERVICE_DOUBLE_H
#define LBX_TEST_SERVICE_DOUBLE_H

#include <stdatomic.h>

#include "post/service/service.h"
#include "support/clock.h"
#include "support/test.h"
#include "support/threads.h"

/* A place where a thread can be held. */
struct gate {
    _Atomic int closed;
    _Atomic int there; /* a thread waits at it */
};

void gate_pass(struct gate *gate);

/* What the doubles do, and have done. One of each. */
struct world {
    struct test_clock time;
    lbx_clock clock;
    bool real; /* the system's clock */

    /* Storage. */
    lbx_status open;
    _Atomic int begin;        /* what begin answers */
    _Atomic int flush;        /* what flush answers */
    _Atomic int sync;         /* what sync answers */
    _Atomic int durability;   /* 0: LBX_DURABILITY_PROCESS */
    struct gate at_flush;     /* held before it answers */
    struct gate at_receive;   /* held inside the rule */
    _Atomic uintptr_t thread; /* that opened it; with one_thread the only one */
    _Atomic int begun;
    _Atomic int flushed;
    _Atomic int synced;
    _Atomic int closed;
    bool shared;              /* other processes may write, too */
    _Atomic uint32_t notices; /* of processes */
    _Atomic bool sleeps;      /* shared: the service thread does */
    _Atomic int64_t wait_ns;  /* shared: for how long, by its last sleep */

    /* Rules. */
    _Atomic int work_left;
    _Atomic int work;       /* what lbx__background_work() answers */
    _Atomic int next_due;   /* what lbx__receive_next_due() answers */
    _Atomic int64_t due_ns; /* 0, or what it says is due next, always */
    bool moves;             /* letters that box 1 receives also appear in box 2,
                             and one with each part of background work */
};

extern struct world world;

/* A store; by the caller's thread, or by its own. */
lbx_store *open_double(bool one_thread);
lbx_store *open_with(const lbx__service_options *options);
lbx__service_options double_options(bool one_thread);
void close_double(lbx_store *store);

/* A store that is closed at the end of its scope. */
#define STORE(name) __attribute__((cleanup(end_double))) lbx_store *name
void end_double(lbx_store **store);

enum {
    BOXES = 4 /* uids 1 to 4 are there from the start */
};

struct ask {
    lbx_call call; /* first */
    lbx_store *store;
    union {
        lbx_send_request send;
        lbx_receive_request receive;
        lbx_settle_request settle;
        lbx_box_request box;
        lbx_list_request list;
    } request;
    lbx_parcel parcel;
    lbx_sent_letter sent;
    lbx_settle_request_entry entry;
    uint64_t sequences[LBX_MAX_BATCH]; /* what was delivered */
    size_t count;
    lbx_status status;
    _Atomic int over;
    void (*then)(struct ask *ask); /* called by its end */
    void *context;
};

/* Start a call; its end is in the ask, at once or later. */
void ask_send(struct ask *ask, lbx_store *store, uint64_t box,
              int64_t delay_ns);
void ask_receive(struct ask *ask, lbx_store *store, uint64_t box,
                 int64_t wait_ns);
void ask_receive_some(struct ask *ask, lbx_store *store, uint64_t box,
                      uint32_t most, uint32_t least);
/* With an attempt id: rules deliver again what is leased. */
void ask_attempt(struct ask *ask, lbx_store *store, uint64_t box);
void ask_delete(struct ask *ask, lbx_store *store, uint64_t box);
void ask_purge(struct ask *ask, lbx_store *store, uint64_t box);
void ask_list(struct ask *ask, lbx_store *store,
              bool (*each)(void *context, const char *name), void *context);
void ask_sync(struct ask *ask, lbx_store *store);

bool is_over(struct ask *ask);

/* Waits for the end, which comes once. */
lbx_status end_of(struct ask *ask);
lbx_status cancel(struct ask *ask);
lbx_status send_now(lbx_store *store, uint64_t box);

/* Moves the clock, and tells the store. */
void pass(lbx_store *store, int64_t duration_ns);

#endif
