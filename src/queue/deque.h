/* SPDX-License-Identifier: Apache-2.0 */
/* The deque: a storage that can also be filled from the front. */
#ifndef LBX_QUEUE_DEQUE_H
#define LBX_QUEUE_DEQUE_H

#include <letterbox/mailbox/factory.h>

extern const lbx_kind_ops lbx__deque_ops;

#endif
