/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The TaskHandle of a move: base64 of
 *
 *     {"taskId":"00000000-0000-4000-8000-00000000002a","sourceArn":"arn:..."}
 *
 * The id is the number of the task in the store, written as a UUID.
 */
#ifndef LBX_SERVER_SQS_MOVE_HANDLE_H
#define LBX_SERVER_SQS_MOVE_HANDLE_H

#include "base/arena.h"
#include "base/slice.h"
#include "server/sqs/queue.h"

#define LBX__MOVE_HANDLE_BYTES 512

typedef struct lbx__move_handle {
    uint64_t task;      /* 0: no task of ours has that id */
    const char *source; /* ARN, in the arena */
} lbx__move_handle;

void lbx__move_handle_write(uint64_t task, const char *source,
                            char buffer[LBX__MOVE_HANDLE_BYTES]);

/* False: it is no handle at all. */
bool lbx__move_handle_read(lbx__arena *arena, const lbx_allocator *allocator,
                           lbx__slice text, lbx__move_handle *ret);

#endif
