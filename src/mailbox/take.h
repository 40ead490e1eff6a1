/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes without the lock: the gate is 0, pop, look at the gate once more (B1).
 * What take.c and take_plain.c share.
 */
#ifndef LBX_MAILBOX_TAKE_H
#define LBX_MAILBOX_TAKE_H

#include "mailbox/box.h"

#include <assert.h>

/* What the fast path found. */
typedef enum finding {
    FOUND_SOME,
    FOUND_NONE,
    FOUND_GATE, /* use the lock */
} finding;

/* Enters the fast path; false when the gate is up. B6: a single consumer says
 * that it is inside before it looks. */
LBX__INLINE bool
enter(lbx_mailbox *box, bool one)
{
    if (one) {
        assert(lbx__peek(&box->inside) == 0); // two threads, one consumer
        // Relaxed: ordered by the barrier of whoever raised the gate.
        lbx__store(&box->inside, 1u, relaxed);
        lbx__keep_order();
    }
    // Acquire: what the thread that opened the gate did under the lock.
    return lbx__load(&box->gate, acquire) == 0;
}

LBX__INLINE void
leave(lbx_mailbox *box, bool one)
{
    // Release: our pops come before those of a thread that waited for us.
    if (one)
        lbx__store(&box->inside, 0u, release);
}

LBX__INLINE finding
found_none(lbx_mailbox *box)
{
    // Relaxed, both: a hint among consumers.
    lbx__store(&box->dry, lbx__load(&box->dry, relaxed) + 1, relaxed);
    return FOUND_NONE;
}

/* Worth a depth sample: the mailbox filled up after it had run dry. Not every
 * time, or a fast consumer would do nothing else. */
LBX__INLINE bool
was_dry(lbx_mailbox *box)
{
    return lbx__load(&box->dry, relaxed) >= LBX__DRY_SPELL;
}

/* B1: was the gate raised while we took something? */
LBX__INLINE bool
was_gated(lbx_mailbox *box)
{
    // Relaxed: ordered by the barrier of whoever raised the gate.
    return (lbx__load(&box->gate, relaxed) &
            (LBX__GATE_CLOSED | LBX__GATE_FLUSH)) != 0;
}

/* One branch for all three. */
LBX__INLINE bool
is_noteworthy(lbx_mailbox *box, unsigned notes)
{
    return (notes | (unsigned)was_dry(box) | (unsigned)was_gated(box)) != 0;
}

/* What a pop noted, or the gate says after it. */
LBX__COLD finding
look_back(lbx_mailbox *box, unsigned notes)
{
    if ((notes & LBX__NOTE_SAMPLE) || was_dry(box)) {
        // Relaxed: a hint among consumers.
        lbx__store(&box->dry, 0u, relaxed);
        lbx__box_sample(box);
    }
    if (!(notes & LBX__NOTE_SENDERS) && !was_gated(box))
        return FOUND_SOME;
    lbx__box_hold(box); // a callback may give up the last handle
    if (notes & LBX__NOTE_SENDERS)
        lbx__box_room(box);
    if (was_gated(box))
        lbx__box_look_again(box);
    lbx__box_release(box);
    return FOUND_SOME;
}

LBX__INLINE finding
found_some(lbx_mailbox *box, unsigned notes)
{
    lbx__keep_order();
    if (LBX__UNLIKELY(is_noteworthy(box, notes)))
        return look_back(box, notes);
    return FOUND_SOME;
}

#endif
