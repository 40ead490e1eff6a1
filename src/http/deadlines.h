/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deadlines of many connections with one timer.
 *
 * Each kind has one duration, so that the deadlines of a kind, in the order
 * they were started, are in the order they pass: a list for each kind, and no
 * heap. Starting and stopping cost a few instructions; the timer is moved only
 * to an earlier moment.
 *
 * DEADL-1  Each list is in ascending order of at_ns.
 * DEADL-2  While a deadline is started, the timer fires at the latest when it
 *          passes.
 *
 * Threads    the loop's.
 */
#ifndef LBX_HTTP_DEADLINES_H
#define LBX_HTTP_DEADLINES_H

#include "base/list.h"
#include "net/loop.h"

typedef enum lbx__deadline_kind {
    LBX__DEADLINE_IDLE,   /* between two requests */
    LBX__DEADLINE_HEAD,   /* from the first byte of a head to its last */
    LBX__DEADLINE_BODY,   /* from one look at the rate of a body to the next */
    LBX__DEADLINE_LINGER, /* from the last answer to the client's close */
    LBX__DEADLINE_WRITE,  /* from one look at the rate of answers to the next */
    LBX__DEADLINE_KINDS,
    LBX__DEADLINE_NONE = LBX__DEADLINE_KINDS,
} lbx__deadline_kind;

/* A member of what has a deadline; zeroed before its first use. */
typedef struct lbx__deadline {
    lbx__link link;
    int64_t at_ns;
    lbx__deadline_kind kind;
} lbx__deadline;

typedef struct lbx__deadlines {
    lbx__timer timer;
    lbx__loop *loop;
    int64_t armed_ns; /* LBX_FOREVER: the timer is not started */
    lbx__link lists[LBX__DEADLINE_KINDS];
    int64_t durations_ns[LBX__DEADLINE_KINDS]; /* <= 0: never passes */
    void (*passed)(lbx__deadline *deadline, lbx__deadline_kind kind);
} lbx__deadlines;

/* The durations are set by the owner, before the first start. */
void lbx__deadlines_init(lbx__deadlines *deadlines, lbx__loop *loop,
                         void (*passed)(lbx__deadline *deadline,
                                        lbx__deadline_kind kind));

void lbx__deadlines_close(lbx__deadlines *deadlines,
                          void (*closed)(lbx__timer *timer));

/* A deadline that is not started. */
void lbx__deadline_init(lbx__deadline *deadline);

/* Starts it, or starts it anew. */
void lbx__deadlines_start(lbx__deadlines *deadlines, lbx__deadline *deadline,
                          lbx__deadline_kind kind);
void lbx__deadlines_stop(lbx__deadline *deadline);

#endif
