/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A waker under test: what an operation's owner sleeps on. It may ring once for
 * each poll that answered PENDING (OPER-4), and never after its owner has put
 * it away.
 */
#ifndef LBX_EXPLORER_BELL_H
#define LBX_EXPLORER_BELL_H

#include <letterbox/operation.h>

struct bell {
    _Atomic(uint32_t) rung;
    _Atomic(uint32_t) away;
    lbx_operation *to_end; /* in the waker itself */
};

lbx_waker bell_waker(struct bell *bell);

/* Sleeps until it rings, and makes it ready for the next time. */
void bell_await(struct bell *bell);

/* Nobody may ring it from now on. */
void bell_put_away(struct bell *bell);

/* Polls with `bell` until the operation has ended. */
lbx_status bell_wait(struct bell *bell, lbx_operation *operation);

#endif
