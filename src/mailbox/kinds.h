/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of mailboxes: what lies behind a name. */
#ifndef LBX_MAILBOX_KINDS_H
#define LBX_MAILBOX_KINDS_H

#include <letterbox/mailbox/factory.h>

typedef enum lbx__order {
    LBX__FIFO = 0,
    LBX__BY_PRIORITY,
    LBX__CONTROL_FIRST,
    LBX__STORAGE, /* a table of operations: deques and users' own */
} lbx__order;

typedef struct lbx__kind {
    const char *name;
    lbx__order order;
    uint32_t capabilities;
    bool limited;   /* needs a capacity */
    bool unlimited; /* must not have one */
    const lbx_storage_ops *ops;
    void *context;
} lbx__kind;

/* The kind called `name`; NULL when there is none. */
const lbx__kind *lbx__kinds_find(const lbx_kinds *kinds, const char *name);

#endif
