/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A take without the lock: the gate is 0, pop, read the gate again (MBOX-1).
 * The steps that take.c (envelopes) and consumer.c (plain messages) share, as
 * inline functions: they are on the fast path of every receive.
 */
#ifndef LBX_MAILBOX_TAKE_H
#define LBX_MAILBOX_TAKE_H

#include "mailbox/mailbox.h"

#include <assert.h>

/* The result of a take without the lock. */
typedef enum lbx__take_result {
    LBX__TAKE_SOME,
    LBX__TAKE_NONE,
    LBX__TAKE_GATED, /* the gate is not 0: use the lock */
} lbx__take_result;

/* Enters the fast path; false when the gate is not 0. MBOX-6: a single consumer
 * sets `inside` before it reads the gate. */
LBX__INLINE bool
lbx__take_enter(lbx_mailbox *box, bool one)
{
    if (one) {
        assert(lbx__peek(&box->inside) == 0); // two threads, one consumer
        // Relaxed: ordered by the barrier of the thread that set the gate.
        lbx__store(&box->inside, 1u, relaxed);
        lbx__keep_order();
    }
    // Acquire: what the thread that cleared the gate did under the lock.
    return lbx__load(&box->gate, acquire) == 0;
}

LBX__INLINE void
lbx__take_leave(lbx_mailbox *box, bool one)
{
    // Release: these pops come before those of a thread that waited for it.
    if (one)
        lbx__store(&box->inside, 0u, release);
}

LBX__INLINE lbx__take_result
lbx__take_none(lbx_mailbox *box)
{
    // Relaxed, both: a hint among consumers.
    lbx__store(&box->dry, lbx__load(&box->dry, relaxed) + 1, relaxed);
    return LBX__TAKE_NONE;
}

/* Whether many takes in a row found nothing: the next message is worth a depth
 * sample. Not after each empty take, or a fast consumer would sample always. */
LBX__INLINE bool
lbx__take_was_dry(lbx_mailbox *box)
{
    return lbx__load(&box->dry, relaxed) >= LBX__DRY_SPELL;
}

/* MBOX-1: whether the gate was set during the take. */
LBX__INLINE bool
lbx__take_was_gated(lbx_mailbox *box)
{
    // Relaxed: ordered by the barrier of the thread that set the gate.
    return (lbx__load(&box->gate, relaxed) &
            (LBX__GATE_CLOSED | LBX__GATE_FLUSH)) != 0;
}

/* Whether there is anything left to do after a pop; one branch for three
 * conditions. */
LBX__INLINE bool
lbx__take_is_notable(lbx_mailbox *box, unsigned notes)
{
    return (notes | (unsigned)lbx__take_was_dry(box) |
            (unsigned)lbx__take_was_gated(box)) != 0;
}

/* Acts on the notes of a pop and on the gate after it. */
LBX__COLD lbx__take_result
lbx__take_follow_up(lbx_mailbox *box, unsigned notes)
{
    if ((notes & LBX__NOTE_SAMPLE) || lbx__take_was_dry(box)) {
        // Relaxed: a hint among consumers.
        lbx__store(&box->dry, 0u, relaxed);
        lbx__lanes_sample(box);
    }
    if (!(notes & LBX__NOTE_SENDERS) && !lbx__take_was_gated(box))
        return LBX__TAKE_SOME;
    lbx__mailbox_hold(box); // a callback may release the last handle
    if (notes & LBX__NOTE_SENDERS)
        lbx__visit_serve_senders(box);
    if (lbx__take_was_gated(box))
        lbx__visit_serve_flushes(box);
    lbx__mailbox_release(box);
    return LBX__TAKE_SOME;
}

LBX__INLINE lbx__take_result
lbx__take_some(lbx_mailbox *box, unsigned notes)
{
    lbx__keep_order();
    if (LBX__UNLIKELY(lbx__take_is_notable(box, notes)))
        return lbx__take_follow_up(box, notes);
    return LBX__TAKE_SOME;
}

#endif
