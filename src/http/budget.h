/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A budget: how many bytes requests and answers hold at once, over all loops.
 *
 * BUDGET-1  What is held is counted: heads and bodies from the first byte to
 *           the answer, answers until the kernel has their last byte; and what
 *           the handler counts, which may outlive the HTTP server.
 * BUDGET-2  While the budget is spent nothing more is begun, and a body that
 *           grows is refused. What is above it is at most one read of each
 *           loop, and the answers to what was begun before.
 *
 * Threads    any.
 */
#ifndef LBX_HTTP_BUDGET_H
#define LBX_HTTP_BUDGET_H

#include "base/atomic.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lbx__budget {
    _Atomic(uint64_t) held_bytes;
    uint64_t max_bytes; /* 0: no limit */
} lbx__budget;

/* Relaxed, all three: the count itself is exact, and orders nothing. */
static inline void
lbx__budget_take(lbx__budget *budget, size_t bytes)
{
    (void)lbx__add(&budget->held_bytes, (uint64_t)bytes, relaxed);
}

static inline void
lbx__budget_give(lbx__budget *budget, size_t bytes)
{
    (void)lbx__sub(&budget->held_bytes, (uint64_t)bytes, relaxed);
}

static inline bool
lbx__budget_is_spent(const lbx__budget *budget)
{
    return budget->max_bytes > 0 &&
           lbx__load(&budget->held_bytes, relaxed) > budget->max_bytes;
}

#endif
