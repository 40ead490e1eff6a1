/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closing, and the life of a mailbox.
 *
 * X1  Closing is one turn: every lane refuses from then on, every waiting send
 *     gets CLOSED, receivers go on until the lanes are empty. No send that a
 *     lane accepted is forgotten: its lane's count has it (C6). A send that saw
 *     a part of it answers after the turn, so that nobody who was refused gets
 *     a message in later, by another lane or a place that became free.
 * X2  A take that was past the gate looks back and finds CLOSED, because of
 *     the barrier after the turn (B1): whoever takes the last message tells
 *     the receivers that still wait.
 * X3  Discarding takes what is left as a receiver would. A send that had
 *     claimed its slot and fills it later sees `stalled` and discards its own
 *     message (Q6).
 */
#include "mailbox/box.h"

#include "base/alloc.h"
#include "base/park.h"
#include <assert.h>

void
lbx__box_hold(lbx_mailbox *box)
{
    // Relaxed: whoever adds a hold has one.
    (void)lbx__add(&box->holds, 1, relaxed);
}

void
lbx__box_release(lbx_mailbox *box)
{
    // Release: what we did comes before the free. Acquire: what all others
    // did as well.
    if (lbx__sub(&box->holds, 1, acq_rel) == 1)
        lbx__box_free(box);
}

void
lbx__box_free(lbx_mailbox *box)
{
    const lbx_allocator *allocator = box->options.allocator;
    lbx__lane *system = lbx__peek(&box->system);

    assert(box->magic == LBX__BOX_MAGIC);
    // A loss sink may look at the mailbox, even hold it for a moment.
    lbx__init(&box->holds, 1);
    box->suspensions = 0;
    lbx__box_discard(box);
    if (box->metrics.event)
        lbx__box_event(box, LBX_METRIC_DEREGISTERED, 0);
    lbx_signal_unref(box->signal);
    lbx_producer_unref(box->options.dead_letters);
    if (system) {
        lbx__lane_fini(system);
        lbx__free(allocator, system, sizeof(*system));
    }
    if (box->lane[LBX__CONTROL_LANE])
        lbx__lane_fini(&box->control_lane);
    lbx__lane_fini(&box->user_lane);
    box->magic = 0;
    lbx__free(allocator, box, sizeof(*box));
}

lbx_status
lbx__box_refuse(lbx_mailbox *box, const lbx__lane *lane, int flags)
{
    if (flags == LBX__STORAGE_FULL)
        return lbx__box_reject(box, lane);
    if (flags == LBX_CLOSED) { // X1
        lbx__lock_take(&box->lock);
        lbx__lock_give(&box->lock);
    }
    return (lbx_status)flags;
}

/* B6: waits until a single consumer has left its fast path. The gate is up,
 * and after the barrier it cannot come back in. */
static void
expel_consumer(lbx_mailbox *box)
{
    if (box->many)
        return;
    (void)lbx__barrier_all();
    // Acquire: pairs with the release in the consumer's leave().
    while (lbx__load(&box->inside, acquire) != 0)
        lbx__yield();
}

/* X3: one message that is left; false when there is none. */
static bool
take_rest(lbx_mailbox *box, lbx_envelope *ret)
{
    lbx__turn turn;
    bool some;

    lbx__turn_begin(box, &turn);
    some = lbx__box_take_locked(box, &turn, ret);
    lbx__turn_end(box, &turn);
    return some;
}

void
lbx__box_discard(lbx_mailbox *box)
{
    lbx_envelope envelope;

    lbx__box_hold(box);
    while (take_rest(box, &envelope))
        lbx__box_lose(box, &envelope, LBX_LOST_CLOSED);
    lbx__box_release(box);
}

/* Makes senders that have not filled their slot yet discard it themselves. */
static void
discard_latecomers(lbx_mailbox *box)
{
    lbx__turn turn;

    lbx__turn_begin(box, &turn);
    box->discarding = true;
    lbx__box_stall(box, true);
    lbx__turn_end(box, &turn);
    if (!lbx__barrier_all())
        while (lbx__box_depth(box) > 0) {
            lbx__box_discard(box);
            lbx__yield();
        }
    lbx__box_discard(box);
}

void
lbx__box_close(lbx_mailbox *box, bool discard, bool to_dead_letters)
{
    lbx_signal *signal;
    lbx_metric_event resumed;
    bool was_suspended = false;
    lbx__turn turn;
    bool first;

    lbx__turn_begin(box, &turn);
    first = !box->closed;
    if (first) {
        box->closed = true;
        lbx__box_set_gate(box, LBX__GATE_CLOSED, true);
        for (int i = 0; i < LBX__LANES; i++)
            if (lbx__box_lane(box, i))
                lbx__lane_close(lbx__box_lane(box, i)); // X1
        was_suspended = box->suspensions > 0;
        if (was_suspended)
            lbx__box_end_suspension(box, &resumed);
        lbx__box_admit(box, &turn);
        lbx__box_grant(box, &turn);
    }
    // Relaxed: losses of this thread come after; others may still go to the
    // sink.
    if (to_dead_letters)
        lbx__store(&box->to_dead_letters, 1u, relaxed);
    signal = first ? lbx_signal_ref(box->signal) : NULL;
    lbx__turn_end(box, &turn);
    if (was_suspended)
        lbx__box_event_of(box, &resumed);
    if (first || discard) {
        (void)lbx__barrier_all(); // X2
        lbx__box_look_again(box);
    }
    lbx_signal_notify(signal);
    lbx_signal_unref(signal);
    if (discard) {
        expel_consumer(box);
        discard_latecomers(box);
    }
}

lbx_status
lbx_mailbox_close(lbx_mailbox *mailbox, lbx_close_mode mode)
{
    if (!mailbox || mode > LBX_CLOSE_DEAD_LETTER)
        return LBX_INVALID;
    if (mode == LBX_CLOSE_DEAD_LETTER && !mailbox->options.dead_letters)
        return LBX_INVALID;
    lbx__box_hold(mailbox);
    lbx__box_close(mailbox, mode != LBX_CLOSE_DRAIN,
                   mode == LBX_CLOSE_DEAD_LETTER);
    lbx__box_release(mailbox);
    return LBX_OK;
}

lbx_status
lbx_mailbox_close_into(lbx_mailbox *mailbox,
                       void (*rest)(void *context,
                                    const lbx_envelope *envelope),
                       void *context)
{
    lbx_envelope envelope;

    if (!mailbox || !rest)
        return LBX_INVALID;
    lbx__box_hold(mailbox);
    lbx__box_close(mailbox, false, false);
    expel_consumer(mailbox);
    // A send under way fills its slot in a moment: wait for it.
    while (lbx__box_depth(mailbox) > 0) {
        if (take_rest(mailbox, &envelope))
            rest(context, &envelope);
        else
            lbx__yield();
    }
    lbx__box_release(mailbox);
    return LBX_OK;
}

bool
lbx_mailbox_is_closed(lbx_mailbox *mailbox)
{
    // Acquire: whoever sees it closed sees what the closer did before.
    return mailbox &&
           (lbx__load(&mailbox->gate, acquire) & LBX__GATE_CLOSED) != 0;
}

/* Handles. */

lbx_producer *
lbx_producer_ref(lbx_producer *producer)
{
    // Relaxed: the caller has a handle.
    if (producer)
        (void)lbx__add(&lbx__box_of_producer(producer)->producers, 1, relaxed);
    return producer;
}

void
lbx_producer_unref(lbx_producer *producer)
{
    lbx_mailbox *box = lbx__box_of_producer(producer);

    if (!box)
        return;
    assert(box->magic == LBX__BOX_MAGIC);
    // Release and acquire: every producer's sends come before the close.
    if (lbx__sub(&box->producers, 1, acq_rel) != 1)
        return;
    lbx__box_close(box, false, false);
    lbx__box_release(box);
}

lbx_mailbox *
lbx_producer_mailbox(lbx_producer *producer)
{
    return lbx__box_of_producer(producer);
}

lbx_consumer *
lbx_consumer_ref(lbx_consumer *consumer)
{
    // Relaxed: the caller has a handle.
    if (consumer)
        (void)lbx__add(&lbx__box_of_consumer(consumer)->consumers, 1, relaxed);
    return consumer;
}

void
lbx_consumer_unref(lbx_consumer *consumer)
{
    lbx_mailbox *box = lbx__box_of_consumer(consumer);

    if (!box)
        return;
    assert(box->magic == LBX__BOX_MAGIC);
    // Release and acquire: as for producers.
    if (lbx__sub(&box->consumers, 1, acq_rel) != 1)
        return;
    lbx__box_close(box, true, false);
    lbx__box_release(box);
}

lbx_mailbox *
lbx_consumer_mailbox(lbx_consumer *consumer)
{
    return lbx__box_of_consumer(consumer);
}
