/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A quota: capacity that is counted outside the queue.
 *
 * For lanes that share one capacity, that sort, or that grow. A sender takes
 * from the quota and then pushes; a receiver pops and then gives back.
 *
 * QUOTA-1  used <= capacity, unless the quota grows.
 * QUOTA-2  Senders that wait set SENDERS in the word that every take and give
 *          changes: a give sees it and reports it, and a take fails unless it
 *          is made for a waiting sender (`ahead`).
 *
 * Threads    any; lock-free. init: one.
 */
#ifndef LBX_QUEUE_BUDGET_H
#define LBX_QUEUE_BUDGET_H

#include "queue/ring.h"
#include <stdbool.h>

typedef struct lbx__quota {
    alignas(2 * LBX__LINE) _Atomic(uint64_t) used; /* count << 4 | SENDERS */
    _Atomic(uint64_t) capacity;
    bool grows;
} lbx__quota;

static inline void
lbx__quota_init(lbx__quota *quota, uint64_t capacity, bool grows)
{
    lbx__init(&quota->used, 0);
    lbx__init(&quota->capacity, capacity);
    quota->grows = grows;
}

/* Takes capacity for one message; false when there is none. *ret_used is what
 * is in use then, this message included. */
static inline bool
lbx__quota_take(lbx__quota *quota, bool ahead, uint64_t *ret_used)
{
    // Relaxed: a guess, confirmed by the compare-and-swap.
    uint64_t word = lbx__load(&quota->used, relaxed);

    do {
        uint64_t capacity = lbx__load(&quota->capacity, relaxed);

        if ((word & LBX__FLAG_SENDERS) && !ahead)
            return false; // QUOTA-2
        if (!quota->grows && word >> LBX__TICKET_SHIFT >= capacity)
            return false; // QUOTA-1
        // Acquire: the receivers' copies come before this push.
    } while (!lbx__cas(&quota->used, &word, word + LBX__TICKET_ONE, acquire));
    *ret_used = (word >> LBX__TICKET_SHIFT) + 1;
    return true;
}

/* Doubles the capacity until `used` fits. Returns the new capacity, or 0 when
 * it did not change. */
static inline uint64_t
lbx__quota_grow(lbx__quota *quota, uint64_t used)
{
    // Relaxed: it orders nothing.
    uint64_t capacity = lbx__load(&quota->capacity, relaxed);
    uint64_t grown = 0;

    while (used > capacity)
        if (lbx__cas(&quota->capacity, &capacity, capacity * 2, relaxed))
            grown = capacity = capacity * 2;
    return grown;
}

/* Gives capacity back; true when senders wait for it. */
static inline bool
lbx__quota_give(lbx__quota *quota, uint64_t count)
{
    // Release: pairs with the acquire in take. Acquire: the registrations of
    // senders (QUOTA-2).
    return (lbx__sub(&quota->used, count * LBX__TICKET_ONE, acq_rel) &
            LBX__FLAG_SENDERS) != 0;
}

static inline uint64_t
lbx__quota_used(lbx__quota *quota)
{
    return lbx__load(&quota->used, acquire) >> LBX__TICKET_SHIFT;
}

static inline void
lbx__quota_raise_senders(lbx__quota *quota)
{
    (void)lbx__or(&quota->used, (uint64_t)LBX__FLAG_SENDERS, acq_rel);
}

static inline void
lbx__quota_lower_senders(lbx__quota *quota)
{
    (void)lbx__and(&quota->used, ~(uint64_t)LBX__FLAG_SENDERS, acq_rel);
}

#endif
