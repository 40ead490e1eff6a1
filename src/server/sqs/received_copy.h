/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A letter that a receive or a peek was given: a copy of the delivery, with all
 * that it points to, in one block of memory.
 *
 * RECVD-1  Texts of the copy end with a NUL; what the delivery does not have is
 *          NULL in the copy.
 */
#ifndef LBX_SERVER_SQS_RECEIVED_COPY_H
#define LBX_SERVER_SQS_RECEIVED_COPY_H

#include <letterbox/store_driver.h>

typedef struct lbx__received {
    struct lbx__received *next;
    size_t size_bytes; /* of the block */
    bool is_hidden;    /* of a peek: not shown */
    lbx_delivery delivery;
} lbx__received;

/* NULL: no memory. */
lbx__received *lbx__received_copy(const lbx_allocator *allocator,
                                  const lbx_delivery *delivery);

/* Leaves of each large one the receipt, which is what an undo needs. Returns
 * the last one; NULL: there is none. */
lbx__received *lbx__received_keep_receipts(const lbx_allocator *allocator,
                                           lbx__received **first);

/* Destroys it and those behind it. Takes NULL. */
void lbx__received_destroy_all(const lbx_allocator *allocator,
                               lbx__received *first);

#endif
