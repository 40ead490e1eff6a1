/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast each address sends requests. An address may send as many as a
 * second allows at once, and then as fast as the limit.
 *
 * RATES-1  Memory is fixed, however many addresses there are. An address that
 *          has no entry replaces the oldest of its set, and may begin anew: too
 *          many addresses make the limit weaker, and never stricter.
 *
 * Threads    any.
 */
#ifndef LBX_HTTP_RATES_H
#define LBX_HTTP_RATES_H

#include "base/lock.h"
#include "http/peers.h"

typedef struct lbx__rates {
    const lbx_allocator *allocator;
    uint64_t seed;       /* random: peers choose their addresses */
    int64_t interval_ns; /* between two requests; 0: no limit */
    lbx__lock lock;
    struct rate_entry *entries; /* under the lock */
} lbx__rates;

/* `per_second` 0: no limit, and no memory. */
LBX_MUST_USE lbx_status lbx__rates_init(lbx__rates *rates,
                                        const lbx_allocator *allocator,
                                        uint32_t per_second);
void lbx__rates_fini(lbx__rates *rates);

/* Counts a request at `now_ns`. False: it is one too many, and does not
 * count. */
bool lbx__rates_take(lbx__rates *rates, lbx__peer_key key, int64_t now_ns);

#endif
