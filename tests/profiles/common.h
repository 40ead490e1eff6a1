/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the ported test groups share: a mailbox in one line, messages that are
 * numbers, operations polled by hand, and sinks that remember what they were
 * told.
 *
 *     LOCAL_BOX(box) = box_create(LBX_KIND_UNBOUNDED, NULL);
 *
 *     box_fill(&box, 1, 2);
 *     CHECK_TAKES(&box, 1, 2);
 *     CHECK_NOTHING(&box);
 *
 * Only public headers are used: these groups see what a user sees.
 */
#ifndef LBX_TEST_PROFILES_COMMON_H
#define LBX_TEST_PROFILES_COMMON_H

#include <stdatomic.h>
#include <stdint.h>

#include <letterbox/letterbox.h>

#include "support/clock.h"
#include "support/test.h"
#include "support/threads.h"

/* ---- A mailbox under test ---- */

struct box {
    lbx_producer *in;
    lbx_consumer *out;
    lbx_mailbox *mailbox; /* borrowed from the handles */
};

/* Creates a mailbox, or fails the test. */
struct box box_create(const char *kind, const lbx_mailbox_options *options);

/* Creates one from options that are changed in place:
 *
 *     struct box box = BOX(LBX_KIND_BOUNDED, plain_options(),
 *                          with.capacity_messages = 2);
 */
#define BOX(kind, ...) (with = __VA_ARGS__, box_create(kind, &with))

extern _Thread_local lbx_mailbox_options with;

/* LBX_MAILBOX_OPTIONS_INIT */
lbx_mailbox_options plain_options(void);

/* A "bounded" mailbox of LBX_MAILBOX_OPTIONS_INIT with these two settings. */
struct box box_bounded(int64_t capacity_messages, lbx_overflow overflow);

/* Releases both handles; what is left inside is lost. Takes ended boxes. */
void box_destroy(struct box *box);

/* Declares a box that is destroyed with its block. */
#define LOCAL_BOX(name) __attribute__((cleanup(box_destroy))) struct box name

/* A test with a mailbox, `box`, which is destroyed after it. */
#define BOX_TEST(behaviours, name, ...)                                        \
    static void name##_in(struct box *box);                                    \
                                                                               \
    TEST_CITING(behaviours, name)                                              \
    {                                                                          \
        LOCAL_BOX(box) = __VA_ARGS__;                                          \
                                                                               \
        name##_in(&box);                                                       \
    }                                                                          \
                                                                               \
    static void name##_in(struct box *box)

/* Messages are numbers; 0 is NULL, which is a message like any other. */
void *message_of(intptr_t number);
intptr_t number_of(const void *message);

lbx_status box_send(struct box *box, intptr_t number);
lbx_status box_take(struct box *box, intptr_t *ret);

/* Sends first, first + 1, … last; every one must be accepted. */
void box_fill(struct box *box, intptr_t first, intptr_t last);

/* Sends an envelope and remembers, or does not, what became of it. */
lbx_status box_post(struct box *box, lbx_envelope envelope,
                    lbx_send_result *ret_result);

lbx_mailbox_stats box_stats(struct box *box);
uint64_t box_depth(struct box *box);

/* The next messages are these numbers, in this order. */
#define CHECK_TAKES(box, ...)                                                  \
    box_check_takes(__FILE__, __LINE__, box, (const int[]){__VA_ARGS__},       \
                    sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

/* There is nothing to take, and the mailbox is open. */
#define CHECK_NOTHING(box)                                                     \
    CHECK_STATUS(LBX_EMPTY, box_take(box, &(intptr_t){0}))

/* There is nothing to take, and there never will be. */
#define CHECK_ENDED(box) CHECK_STATUS(LBX_CLOSED, box_take(box, &(intptr_t){0}))

void box_check_takes(const char *file, int line, struct box *box,
                     const int *numbers, size_t count);

/* ---- Operations polled by hand ---- */

struct waiter {
    lbx_operation operation;
    lbx_waker waker;
    atomic_int wakes;       /* how often the waker was called */
    void *message;          /* a receive's message */
    lbx_envelope sent;      /* a send's envelope, */
    lbx_send_result result; /* and what became of it */
};

void waiter_send(struct waiter *waiter, struct box *box, intptr_t number,
                 int64_t deadline_ns);
void waiter_post(struct waiter *waiter, struct box *box, lbx_envelope envelope,
                 int64_t deadline_ns);
void waiter_receive(struct waiter *waiter, struct box *box,
                    int64_t deadline_ns);

/* Starts a send, and it has to wait. */
void waiter_send_pending(struct waiter *waiter, struct box *box,
                         intptr_t number);
/* Starts a receive, and it has to wait. */
void waiter_receive_pending(struct waiter *waiter, struct box *box);

lbx_status waiter_poll(struct waiter *waiter);
void waiter_fini(struct waiter *waiter);

/* Declares one that is ended with its block; behind its box. */
#define LOCAL_WAITER(name)                                                     \
    __attribute__((cleanup(waiter_fini))) struct waiter name

/* For operations of other kinds: sets up the waker only. */
void waiter_init(struct waiter *waiter);

/* ---- Sinks that remember ---- */

struct losses {
    uint64_t count;
    lbx_envelope envelopes[32]; /* the first so many */
    uint64_t totals[32];        /* each event's own running total */
    const char *mailbox_name;   /* of the latest */
};

lbx_loss_sink losses_sink(struct losses *losses);

struct events {
    size_t count;
    lbx_metric_event list[128]; /* the first so many */
};

/* Attaches the list to the box's metrics. */
void events_watch(struct events *events, struct box *box);

size_t events_count(const struct events *events, lbx_metric metric);

/* The latest event of that name; fails the test when there is none. */
lbx_metric_event events_last(const struct events *events, lbx_metric metric);

/* ---- A kind whose storage answers what the test wants ---- */

struct fussy {
    lbx_status answer; /* what the next pushes say; LBX_OK stores */
    lbx_kind_registry *kinds;
};

#define FUSSY_KIND "fussy"

/* The kind's table, to register it under other names. */
lbx_kind_ops fussy_ops(void);

/* A mailbox of that kind, "fussy": FIFO, with these two settings. */
struct box fussy_create(struct fussy *fussy, int64_t capacity_messages,
                        lbx_overflow overflow);
void fussy_destroy(struct fussy *fussy, struct box *box);

#endif
