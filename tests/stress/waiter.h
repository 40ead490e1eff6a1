/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A waiter: one thread's way of waiting on a box, without a deadline. Threads
 * that park, operations with an eventfd, and operations whose waker sets a
 * flag.
 *
 * What is counted: for threads, how often the kernel really put them to sleep
 * (at most once per call that could wait); for operations, polls that returned
 * PENDING and were then woken.
 */
#ifndef LBX_TEST_STRESS_WAITER_H
#define LBX_TEST_STRESS_WAITER_H

#include "stress/box.h"
#include "stress/storm.h"

enum waiter_front {
    FRONT_PARK,  // _until
    FRONT_EVENT, // operation and eventfd
    FRONT_FLAG,  // operation and a flag
};

/* One thread's way of waiting. */
struct waiter {
    enum waiter_front front;
    lbx_event event;
    _Alignas(STORM_LINE) _Atomic(uint64_t) flags; // wakes so far
    uint64_t pending;                             // polls that answered PENDING
    uint64_t woken;                               // of these, woken
    uint64_t calls;                               // that could wait
};

void waiter_init(struct waiter *waiter, enum waiter_front front);
/* Adds the waiter's counts to the totals. */
void waiter_fini(struct waiter *waiter);
/* The waker of FRONT_FLAG. */
void waiter_raise_flag(void *waiter);
lbx_status waiter_send(struct waiter *waiter, struct box *box, uint64_t number);
lbx_status waiter_receive(struct waiter *waiter, struct box *box,
                          uint64_t *ret);
/* Polls until the operation has ended, and ends it. */
lbx_status waiter_poll(struct waiter *waiter, struct box_wait *wait);

/* The kinds whose wake-ups are stormed. */
enum {
    WAITER_KINDS = 9
};

extern const struct box_case waiter_kinds[WAITER_KINDS];

#endif
