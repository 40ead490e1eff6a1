/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the fake postbox: one box in memory, small and plain.
 *
 * A letter has a moment at which it is due and a turn, drawn when that moment was
 * set; it is ready when it is due, and the earliest (due, turn) is delivered
 * first. A lease is nothing but a later moment and a receipt. So nothing has to be
 * swept, and every look is a walk through all letters: a fake holds a test's few.
 *
 * K1  Everything here belongs to the lock, but a letter that is being delivered,
 *     which `uses` keeps.
 * K2  No call is finished and no letter delivered with the lock held.
 * K3  A call that waits is in `waiting`; whoever takes it out finishes it.
 */
#ifndef LBX_POST_FAKE_H
#define LBX_POST_FAKE_H

#include "base/list.h"
#include "base/lock.h"
#include "post/doubles/double_store.h"

typedef struct lbx__fake_letter {
    lbx__link link;
    uint32_t uses; /* 1 while it is in the box, and 1 for each delivery */
    uint64_t sequence;
    lbx_id id;
    lbx__parcel_copy *copy;
    int64_t due_ns;
    uint64_t turn;
    int64_t old_due_ns; /* before the lease: for undo */
    uint64_t old_turn;
    uint64_t receipt; /* 0: not leased */
    uint32_t deliveries;
    int64_t sent_ns;
    int64_t sent_ms;
    int64_t first_received_ms;
} lbx__fake_letter;

typedef struct lbx__fake {
    lbx__double_store base; /* first */
    const lbx_clock *clock;
    lbx__lock lock;
    lbx__link letters; /* in the order of their sequences */
    uint64_t count;
    uint64_t next; /* sequence */
    uint64_t turns;
    uint64_t receipts;
    uint64_t purged;  /* receipts of letters up to here are of a former life */
    lbx_status error; /* what it has been told to answer */
    lbx_call *waiting;
    lbx_call *waiting_last;
} lbx__fake;

extern const lbx_store_ops lbx__fake_ops;

/* How a letter is put in that was not simply sent. */
typedef struct lbx__injection {
    const char *id;
    uint32_t delivery_count;
} lbx__injection;

/* Puts a letter in. OK; FULL; EXISTS; NO_MEMORY. Under the lock. */
lbx_status lbx__fake_put(lbx__fake *fake, const lbx_parcel *parcel,
                         const lbx__injection *injection, lbx_sent *sent);

/* The letter that a receipt leases: OK; EXPIRED, GONE, INVALID. Under the lock. */
lbx_status lbx__fake_find(lbx__fake *fake, const void *receipt, size_t bytes,
                          lbx__fake_letter **ret);

/* Gives those who wait what is there, or the error. Without the lock. */
void lbx__fake_serve(lbx__fake *fake);

/* Takes a letter out; frees it when nobody delivers it. Under the lock. */
void lbx__fake_remove(lbx__fake *fake, lbx__fake_letter *letter);

lbx_status lbx__fake_receive(lbx_store *store, lbx_call *call,
                             lbx_receive_request *request);
void lbx__fake_cancel(lbx_store *store, lbx_call *call);

static inline int64_t
lbx__fake_now(const lbx__fake *fake)
{
    return lbx_clock_now(fake->clock);
}

#endif
