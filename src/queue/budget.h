/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A budget: room that is counted apart from where the messages lie.
 *
 * For lanes that share one capacity, that sort, or that grow. A sender takes
 * room first and then pushes; a receiver pops and then gives the room back.
 *
 * U1  used <= capacity, unless the budget grows by itself.
 * U2  Senders that wait raise SENDERS in the word that every taker and giver
 *     changes: no room is given back unseen, and nobody without a turn takes
 *     any.
 */
#ifndef LBX_QUEUE_BUDGET_H
#define LBX_QUEUE_BUDGET_H

#include "queue/ring.h"
#include <stdbool.h>

typedef struct lbx__budget {
    alignas(2 * LBX__LINE) _Atomic(uint64_t) used; /* count << 4 | SENDERS */
    _Atomic(uint64_t) capacity;
    bool grows;
} lbx__budget;

static inline void
lbx__budget_init(lbx__budget *budget, uint64_t capacity, bool grows)
{
    lbx__init(&budget->used, 0);
    lbx__init(&budget->capacity, capacity);
    budget->grows = grows;
}

/* Takes room for one message; false when there is none. *ret_used is what is
 * used then, this one included. */
static inline bool
lbx__budget_take(lbx__budget *budget, bool ahead, uint64_t *ret_used)
{
    // Relaxed: a guess, confirmed by the compare-and-swap.
    uint64_t word = lbx__load(&budget->used, relaxed);

    do {
        uint64_t capacity = lbx__load(&budget->capacity, relaxed);

        if ((word & LBX__SENDERS) && !ahead)
            return false; // U2
        if (!budget->grows && word >> LBX__TICKET_SHIFT >= capacity)
            return false; // U1
        // Acquire: the receivers' copies come before our push.
    } while (!lbx__cas(&budget->used, &word, word + LBX__TICKET_ONE, acquire));
    *ret_used = (word >> LBX__TICKET_SHIFT) + 1;
    return true;
}

/* Doubles the capacity until `used` fits; the new capacity, or 0 when it did
 * already. */
static inline uint64_t
lbx__budget_grow(lbx__budget *budget, uint64_t used)
{
    // Relaxed: a number that stands for itself.
    uint64_t capacity = lbx__load(&budget->capacity, relaxed);
    uint64_t grown = 0;

    while (used > capacity)
        if (lbx__cas(&budget->capacity, &capacity, capacity * 2, relaxed))
            grown = capacity = capacity * 2;
    return grown;
}

/* Gives room back; true when senders wait for it. */
static inline bool
lbx__budget_give(lbx__budget *budget, uint64_t count)
{
    // Release: pairs with the acquire in take. Acquire: the senders behind
    // the flag (U2).
    return (lbx__sub(&budget->used, count * LBX__TICKET_ONE, acq_rel) &
            LBX__SENDERS) != 0;
}

static inline uint64_t
lbx__budget_used(lbx__budget *budget)
{
    return lbx__load(&budget->used, acquire) >> LBX__TICKET_SHIFT;
}

static inline void
lbx__budget_raise_senders(lbx__budget *budget)
{
    (void)lbx__or(&budget->used, (uint64_t)LBX__SENDERS, acq_rel);
}

static inline void
lbx__budget_lower_senders(lbx__budget *budget)
{
    (void)lbx__and(&budget->used, ~(uint64_t)LBX__SENDERS, acq_rel);
}

#endif
