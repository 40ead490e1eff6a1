/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the fake postbox: one box in memory.
 *
 * A letter has a time at which it is due and a ticket, drawn when that time was
 * set. It is ready when it is due, and the lowest (due, ticket) is delivered
 * first. A lease is a later time and a receipt. So no sweep is needed; every
 * search compares all letters: a test sends a few.
 *
 * FAKE-1  Everything here belongs to the lock, except a letter that is being
 *         delivered, which `uses` keeps.
 * FAKE-2  No call is finished and no letter is delivered with the lock held.
 * FAKE-3  A call that waits is in `waiting`; the thread that removes it
 *         finishes it.
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
    lbx__double_parcel *copy;
    int64_t due_ns;
    uint64_t ticket;
    int64_t old_due_ns; /* before the lease: for undo */
    uint64_t old_ticket;
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
    uint64_t tickets;
    uint64_t receipts;
    uint64_t purged;  /* receipts of sequences up to this one are invalid */
    lbx_status error; /* set by the test; LBX_OK: none */
    lbx_call *waiting;
    lbx_call *waiting_last;
} lbx__fake;

extern const lbx_store_ops lbx__fake_ops;

/* What lbx_fake_postbox_inject() sets that a send does not. */
typedef struct lbx__injection {
    const char *id;
    uint32_t delivery_count;
} lbx__injection;

/* Adds a letter. OK; FULL; EXISTS; NO_MEMORY. Under the lock. */
lbx_status lbx__fake_put(lbx__fake *fake, const lbx_parcel *parcel,
                         const lbx__injection *injection,
                         lbx_sent_letter *sent);

/* The letter that a receipt leases: OK; EXPIRED, GONE, INVALID. Under the
 * lock. */
lbx_status lbx__fake_find(lbx__fake *fake, const void *receipt, size_t bytes,
                          lbx__fake_letter **ret);

/* Finishes waiting receives with ready letters, or the error. Without the
 * lock. */
void lbx__fake_receive_serve(lbx__fake *fake);

/* Removes a letter; frees it unless it is being delivered. Under the lock. */
void lbx__fake_remove(lbx__fake *fake, lbx__fake_letter *letter);

lbx_status lbx__fake_receive(lbx_store *store, lbx_call *call,
                             lbx_receive_request *request);
void lbx__fake_receive_cancel(lbx_store *store, lbx_call *call);

static inline int64_t
lbx__fake_now(const lbx__fake *fake)
{
    return lbx_clock_now(fake->clock);
}

#endif
