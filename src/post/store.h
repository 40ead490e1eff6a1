/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store from above: references, and calls of its table that are checked on the
 * way in and on the way out. The contract is <letterbox/store.h>.
 *
 * F1  Only store.c calls `->ops->`.
 * F3  A store that was made before a fork() is not called in the child: every
 *     call answers INVALID, and the last reference leaves it alone.
 */
#ifndef LBX_POST_STORE_H
#define LBX_POST_STORE_H

#include "base/atomic.h"
#include "base/list.h"
#include "base/lock.h"
#include <letterbox/store.h>

/* Calls of one place that are under way, and whether it still takes any. The
 * store has one of these, and each postbox. */
typedef struct lbx__desk {
    lbx__lock lock;
    _Atomic(uint32_t) closed;
    lbx__link waiting; /* lbx__op.link */
} lbx__desk;

void lbx__desk_init(lbx__desk *desk);

/* The library's part of an lbx_store: what is in `reserved`. */
typedef struct __attribute__((may_alias)) lbx__store_own {
    _Atomic(uint32_t) users;
    uint32_t life; /* of the process: F3 */
    lbx__desk desk;
    const lbx_clock *clock;  /* for deadlines; NULL: the system's */
    void *place;             /* stores.c: where it is listed; NULL */
    _Atomic(uint32_t) awake; /* call.c, F8: a thread waits without sleeping */
    uint32_t vain;           /* its: how often in a row that was no use */
} lbx__store_own;

_Static_assert(sizeof(lbx__store_own) <= sizeof(((lbx_store *)0)->reserved),
               "the library's part of a store must fit its room");

static inline lbx__store_own *
lbx__store_own_of(const lbx_store *store)
{
    return (lbx__store_own *)(void *)(uintptr_t)store->reserved;
}

/* Deadlines of operations are by this clock; it must outlive the store. For
 * stores with a clock of their own, right after lbx_store_init(). */
void lbx__store_set_clock(lbx_store *store, const lbx_clock *clock);

/* Before a call: its entries have no status yet. */
void lbx__store_clear(const lbx_call *call);

/* Runs the entry of call->verb, or what stands in for it. PENDING, or final. */
lbx_status lbx__store_start(lbx_store *store, lbx_call *call);

/* Asks a store to finish a pending call. */
void lbx__store_cancel(lbx_store *store, lbx_call *call);

/* What a call came to, by its entries: those without a status of their own get
 * the call's, and the answer is the first failure. */
lbx_status lbx__store_ended(const lbx_call *call, lbx_status status);

bool lbx__store_can_purge(const lbx_store *store);

/* A receipt as text, and back; the text itself where a store has no other. */
lbx_status lbx__store_receipt_text(lbx_store *store, const void *receipt,
                                   size_t receipt_bytes, char *buffer);
lbx_status lbx__store_receipt_parse(lbx_store *store, lbx_box box,
                                    const char *text, void *ret_receipt,
                                    size_t *ret_bytes);

void lbx__store_tick(lbx_store *store);

#endif
