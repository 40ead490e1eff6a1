/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Polls: how many receives wait at each queue.
 *
 * POLLS-1  A box has at most `max` receives that wait; it has an entry only
 *          while there are any.
 *
 * Threads    any.
 */
#ifndef LBX_SERVER_SQS_POLLS_H
#define LBX_SERVER_SQS_POLLS_H

#include "base/lock.h"
#include "base/map.h"
#include <letterbox/store_driver.h>

typedef struct lbx__polls {
    const lbx_allocator *allocator;
    uint32_t max; /* of one box; 0: no limit, and nothing is counted */
    lbx__lock lock;
    lbx__map map; /* under the lock */
} lbx__polls;

void lbx__polls_init(lbx__polls *polls, const lbx_allocator *allocator,
                     uint32_t max);
void lbx__polls_fini(lbx__polls *polls);

/* One more. FULL: it would be one too many; NO_MEMORY. */
LBX_MUST_USE lbx_status lbx__polls_add(lbx__polls *polls, lbx_box box);

/* One that was added is over. */
void lbx__polls_remove(lbx__polls *polls, lbx_box box);

#endif
