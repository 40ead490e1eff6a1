/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store as the front calls it: references, and calls of its table, checked
 * before and after. The contract is <letterbox/store_driver.h>.
 *
 * STORE-1  Only store.c and store_call.c call `->ops->`.
 * STORE-2  A store that was opened before a fork() is not called in the child:
 *          every call returns FORKED, and the last reference does not close
 *          it.
 *
 * Threads: any. The store's own calls are finished under the lock of its call
 * list; no store is called with that lock held.
 */
#ifndef LBX_POST_STORE_H
#define LBX_POST_STORE_H

#include "base/atomic.h"
#include "base/list.h"
#include "base/lock.h"
#include <letterbox/store_driver.h>

/* The operations that wait for calls of one store or one postbox, and whether
 * it is closed. The fields belong to the lock, except reads of `closed`. */
typedef struct lbx__call_queue {
    lbx__lock lock;
    _Atomic(uint32_t) closed;
    lbx__link waiting; /* lbx__op.link */
} lbx__call_queue;

/* The library's part of an lbx_store: what is in `reserved`. */
typedef struct __attribute__((may_alias)) lbx__store_private {
    uint32_t life; /* lbx__store_life, when it was opened: STORE-2 */
    uint32_t vain; /* spins in a row that did not help */
    _Atomic(uint32_t) users;
    _Atomic(uint32_t) awake; /* call.c, CALL-4: a thread spins */
    lbx__call_queue calls;
    const lbx_clock *clock; /* for deadlines; NULL: the system's */
    void *listed;           /* its entry in stores.c; NULL: none */
} lbx__store_private;

/* Spare words of the public struct, for later versions of the library. */
_Static_assert(sizeof(lbx__store_private) + 8 * sizeof(uint64_t) <=
                   sizeof(((lbx_store *)0)->reserved),
               "an lbx_store has fewer than eight spare words");

static inline lbx__store_private *
lbx__store_private_of(const lbx_store *store)
{
    return (lbx__store_private *)(void *)(uintptr_t)store->reserved;
}

/* Sets the clock of deadlines, which must outlive the store. For stores with a
 * clock of their own, right after lbx_store_init(). */
void lbx__store_set_clock(lbx_store *store, const lbx_clock *clock);

/* Which life of the process this is; a child after fork() has another.
 * lbx__store_life_now() starts to count. */
extern _Atomic(uint32_t) lbx__store_life;
uint32_t lbx__store_life_now(void);

/* False in a child after fork(): STORE-2. */
static inline bool
lbx__store_is_ours(const lbx_store *store)
{
    // Relaxed: it changes in a child before anything else runs there.
    return lbx__store_private_of(store)->life ==
           lbx__load(&lbx__store_life, relaxed);
}

/* Before a call: sets the status of each entry to PENDING. */
void lbx__store_call_clear(const lbx_call *call);

/* Calls the entry of call->kind, or its default. PENDING, or final. */
lbx_status lbx__store_call_start(lbx_store *store, lbx_call *call);

/* Asks a store to finish a pending call. */
void lbx__store_call_cancel(lbx_store *store, lbx_call *call);

/* The result of a call: entries without a status get `status`; returns the
 * first failure among them. */
lbx_status lbx__store_call_result(const lbx_call *call, lbx_status status);

bool lbx__store_call_has_purge(const lbx_store *store);

/* A receipt as text, and back. Receipts of a store without these entries are
 * text already. */
lbx_status lbx__store_call_receipt_text(lbx_store *store, const void *receipt,
                                        size_t receipt_bytes, char *buffer);
lbx_status lbx__store_call_receipt_parse(lbx_store *store, lbx_box box,
                                         const char *text, void *ret_receipt,
                                         size_t *ret_bytes);

void lbx__store_call_tick(lbx_store *store);

#endif
