/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mailbox kinds: what the name of a kind stands for. A kind decides the order
 * of the user lane, whether it needs a capacity, and what a mailbox of it can
 * do; lanes.c builds the lanes from it.
 */
#ifndef LBX_MAILBOX_KINDS_H
#define LBX_MAILBOX_KINDS_H

#include <letterbox/mailbox/factory.h>

typedef enum lbx__kind_order {
    LBX__ORDER_FIFO = 0,
    LBX__ORDER_PRIORITY,
    LBX__ORDER_CONTROL,
    LBX__ORDER_STORAGE, /* a table of operations: deques, users' kinds */
} lbx__kind_order;

typedef struct lbx__mailbox_kind {
    const char *name;
    lbx__kind_order order;
    uint32_t capabilities;
    bool limited;   /* needs a capacity */
    bool unlimited; /* must not have one */
    const lbx_kind_ops *ops;
    void *context;
} lbx__mailbox_kind;

/* The kind with this name or alias; NULL when there is none. */
const lbx__mailbox_kind *lbx__kinds_find(const lbx_kind_registry *kinds,
                                         const char *name);

#endif
