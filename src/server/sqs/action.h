/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The actions: one row for each, from which the table lbx__actions is made and
 * each function is declared.
 *
 *   name       as in X-Amz-Target and Action
 *   function   lbx__action_NAME() starts it
 *   queue      it has a QueueUrl, which is looked up before
 *   empty      it has no output
 */
#ifndef LBX_SERVER_SQS_ACTION_H
#define LBX_SERVER_SQS_ACTION_H

#include "base/slice.h"
#include <stdbool.h>

/* clang-format off */
#define LBX__ACTIONS(XX)                                                       \
    XX(AddPermission, add_permission, true, true)                              \
    XX(CancelMessageMoveTask, cancel_message_move_task, false, false)          \
    XX(ChangeMessageVisibility, change_message_visibility, true, true)         \
    XX(ChangeMessageVisibilityBatch, change_message_visibility_batch, true,    \
       false)                                                                  \
    XX(CreateQueue, create_queue, false, false)                                \
    XX(DeleteMessage, delete_message, true, true)                              \
    XX(DeleteMessageBatch, delete_message_batch, true, false)                  \
    XX(DeleteQueue, delete_queue, true, true)                                  \
    XX(GetQueueAttributes, get_queue_attributes, true, false)                  \
    XX(GetQueueUrl, get_queue_url, false, false)                               \
    XX(ListDeadLetterSourceQueues, list_dead_letter_source_queues, true,       \
       false)                                                                  \
    XX(ListMessageMoveTasks, list_message_move_tasks, false, false)            \
    XX(ListQueueTags, list_queue_tags, true, false)                            \
    XX(ListQueues, list_queues, false, false)                                  \
    XX(PurgeQueue, purge_queue, true, true)                                    \
    XX(ReceiveMessage, receive_message, true, false)                           \
    XX(RemovePermission, remove_permission, true, true)                        \
    XX(SendMessage, send_message, true, false)                                 \
    XX(SendMessageBatch, send_message_batch, true, false)                      \
    XX(SetQueueAttributes, set_queue_attributes, true, true)                   \
    XX(StartMessageMoveTask, start_message_move_task, false, false)            \
    XX(TagQueue, tag_queue, true, true)                                        \
    XX(UntagQueue, untag_queue, true, true)
/* clang-format on */

typedef struct lbx__request lbx__request;

typedef struct lbx__action {
    const char *name;
    void (*start)(lbx__request *request);
    bool has_queue;
    bool is_empty;
} lbx__action;

extern const lbx__action lbx__actions[];
extern const size_t lbx__action_count;

/* NULL: there is none of that name. */
const lbx__action *lbx__action_find(lbx__slice name);

#define XX(name, function, queue, empty)                                       \
    void lbx__action_##function(lbx__request *request);
LBX__ACTIONS(XX)
#undef XX

#endif
