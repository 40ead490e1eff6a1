/* SPDX-License-Identifier: Apache-2.0 */
/* Makes queues; only the directory does. */
#ifndef LBX_SERVER_SQS_QUEUE_COPY_H
#define LBX_SERVER_SQS_QUEUE_COPY_H

#include "server/sqs/queue.h"

/* A copy of `model` with all that it points to, in one block of memory, with
 * one reference. NULL: no memory. */
lbx__queue *lbx__queue_copy(const lbx_allocator *allocator,
                            const lbx__queue *model);

#endif
