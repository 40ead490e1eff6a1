/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A waker under test: what an operation's owner sleeps on. It may be called
 * once for each poll that returned PENDING (OPER-4), and never after its owner
 * has retired it.
 */
#ifndef LBX_EXPLORER_WAKEUP_H
#define LBX_EXPLORER_WAKEUP_H

#include <letterbox/operation.h>

struct wakeup {
    _Atomic(uint32_t) called;
    _Atomic(uint32_t) retired;
    lbx_operation *to_end; /* in the waker itself */
};

lbx_waker wakeup_waker(struct wakeup *wakeup);

/* Sleeps until it is called, and makes it ready for the next call. */
void wakeup_await(struct wakeup *wakeup);

/* It must not be called from now on. */
void wakeup_retire(struct wakeup *wakeup);

/* Polls with `wakeup` until the operation has ended. */
lbx_status wakeup_wait(struct wakeup *wakeup, lbx_operation *operation);

#endif
