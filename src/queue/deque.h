/* SPDX-License-Identifier: Apache-2.0 */
/* The deque: a storage of the locked queue that can be filled from the
 * front. */
#ifndef LBX_QUEUE_DEQUE_H
#define LBX_QUEUE_DEQUE_H

#include "queue/locked_queue.h"

lbx_status lbx__deque_create(const lbx_allocator *allocator, void **ret);

/* The entries of lbx__locked_ops; the oldest is the next, so evict is pop. */
void lbx__deque_destroy(void *storage);
lbx_status lbx__deque_push(void *storage, const lbx_envelope *envelope);
bool lbx__deque_pop(void *storage, lbx_envelope *ret);
lbx_status lbx__deque_push_front(void *storage, const lbx_envelope *envelope);

#endif
