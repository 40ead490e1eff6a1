/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a mailbox: create, hold, close, destroy.
 *
 * A mailbox is one block of memory that both handles point to. It is closed by
 * a call or by the last producer; when the last consumer leaves, what is inside
 * is discarded too. The memory is freed with the last hold (MBOX-5).
 *
 * MBOX-7  Closing is one visit: every lane refuses from then on, every waiting
 *          send ends with CLOSED, receivers continue until the lanes are empty.
 *          A message that a lane accepted is in that lane's count. A send that
 *          was refused by one closed lane returns after the visit, so that it
 *          cannot succeed in a lane that is closed a moment later.
 * MBOX-8  A take that had read the gate before reads it again and finds
 *          CLOSED, because of the barrier after the visit (MBOX-1): the thread
 *          that takes the last message ends the receives that still wait.
 * MBOX-9  Discarding takes what is left as a receiver would. A send that had
 *          claimed its slot and fills it later sees `stalled` and discards its
 *          own message (SEGQ-6).
 *
 * Threads    any.
 */
#include "mailbox/mailbox.h"

#include "base/alloc.h"
#include "base/park.h"
#include "mailbox/kinds.h"
#include <assert.h>

/* Whether an ordinary envelope can be pushed without checks: the lane has no
 * limit, and no option reads or changes the envelope first. */
static bool
mailbox_is_straight(const lbx_mailbox *box)
{
    const lbx_mailbox_options *options = &box->options;
    const lbx__lane *lane = &box->user_lane;

    return box->keeps_envelopes && !box->lane[LBX__CONTROL_LANE] &&
           !lane->quota &&
           (lane->type == LBX__LANE_SEGQ || lane->type == LBX__LANE_PRIORITY) &&
           !options->may_wait && !options->priority && !options->timestamps;
}

static lbx__fast
mailbox_fast_path(const lbx_mailbox *box)
{
    const lbx__lane *user = &box->user_lane;

    if (box->options.may_wait || user->quota)
        return LBX__FAST_NONE;
    if (user->type == LBX__LANE_PRIORITY && user->words == LBX__PAIR)
        return LBX__FAST_PRIORITY;
    if (user->words != LBX__WORD)
        return LBX__FAST_NONE;
    if (box->lane[LBX__CONTROL_LANE])
        return box->control_lane.quota ||
                       box->control_lane.type != LBX__LANE_SEGQ
                   ? LBX__FAST_NONE
                   : LBX__FAST_CONTROL;
    if (user->type == LBX__LANE_RING)
        return LBX__FAST_RING;
    return box->many ? LBX__FAST_MANY : LBX__FAST_ONE;
}

static uint32_t
mailbox_capabilities(const lbx_mailbox *box, const lbx__mailbox_kind *kind)
{
    uint32_t capabilities = kind->capabilities;

    if (box->options.capacity_messages == LBX_UNLIMITED)
        return capabilities;
    capabilities |= LBX_CAPABILITY_BOUND;
    if (box->options.overflow == LBX_OVERFLOW_BLOCK)
        capabilities |= LBX_CAPABILITY_BLOCK;
    return capabilities;
}

static lbx_status
mailbox_build(const lbx__mailbox_kind *kind, const lbx_mailbox_options *options,
              lbx_mailbox **ret)
{
    const lbx_allocator *allocator = options->allocator;
    lbx_mailbox *box =
        lbx__alloc(allocator, sizeof(*box), alignof(lbx_mailbox));
    lbx_status status;

    if (!box)
        return LBX_NO_MEMORY;
    memset(box, 0, sizeof(*box));
    box->magic = LBX__MAILBOX_MAGIC;
    box->options = *options;
    box->options.fault = NULL;
    box->many = (kind->capabilities & LBX_CAPABILITY_MULTI_CONSUME) != 0;
    box->lane[LBX__USER_LANE] = &box->user_lane;
    lbx__list_init(&box->receivers);
    lbx__list_init(&box->flushers);
    lbx__list_init(&box->user_lane.senders);
    lbx__list_init(&box->control_lane.senders);
    lbx__init(&box->producers, 1);
    lbx__init(&box->consumers, 1);
    lbx__init(&box->holds, 2);
    lbx__init(&box->dry, LBX__DRY_SPELL); // so that the first take samples
    status = lbx__lanes_init(box, kind);
    if (status != LBX_OK) {
        lbx__lanes_fini(box);
        lbx__free(allocator, box, sizeof(*box));
        return status;
    }
    box->keeps_envelopes = box->user_lane.words == LBX__ENVELOPE;
    box->capabilities = mailbox_capabilities(box, kind);
    box->fast = mailbox_fast_path(box);
    box->straight = mailbox_is_straight(box);
    // Without a barrier, MBOX-1 demands the lock for every take.
    if (options->may_wait || !lbx__barrier_ready())
        lbx__init(&box->gate, LBX__GATE_ALWAYS);
    (void)lbx_producer_ref(options->dead_letters);
    *ret = box;
    return LBX_OK;
}

LBX__SIZED(mailbox_options_sized, lbx_mailbox_options, pressure_messages,
           LBX_MAILBOX_OPTIONS_INIT);

lbx_status
lbx_mailbox_create(const char *kind, const lbx_mailbox_options *options,
                   lbx_producer **ret_producer, lbx_consumer **ret_consumer)
{
    lbx_mailbox_options settled;
    const lbx__mailbox_kind *found;
    lbx_mailbox *box;
    lbx_status status;

    if (!ret_producer || !ret_consumer)
        return lbx__options_fail(
            options, LBX_INVALID,
            "both handles are needed: ret_producer and ret_consumer "
            "must not be NULL");
    status = lbx__sized_read(&settled, options, &mailbox_options_sized,
                             options ? options->fault : NULL);
    if (status != LBX_OK)
        return status;
    if (!kind && lbx__options_is_count(settled.capacity_messages))
        kind = LBX_KIND_BOUNDED;
    found = lbx__kinds_find(settled.kinds, kind);
    if (!found)
        return lbx__options_fail(
            options, LBX_NOT_FOUND,
            "the mailbox kind \"%s\" is unknown; built-in kinds are "
            "unbounded, unbounded-single-consumer, bounded, and "
            "{unbounded,bounded}-{priority,control-aware,deque}",
            kind);
    status = lbx__options_settle(found, &settled);
    if (status != LBX_OK)
        return status;
    status = mailbox_build(found, &settled, &box);
    if (status != LBX_OK)
        return lbx__options_fail(options, status,
                                 "no mailbox of kind \"%s\": %s", found->name,
                                 lbx_status_text(status));
    if (settled.metrics.event) {
        status = lbx_mailbox_set_metrics_sink(box, &settled.metrics);
        assert(status == LBX_OK); // its arguments are right
    }
    *ret_producer = (lbx_producer *)(void *)box;
    *ret_consumer = (lbx_consumer *)(void *)box;
    return status;
}

void
lbx__mailbox_hold(lbx_mailbox *box)
{
    // Relaxed: the caller has a hold already.
    (void)lbx__add(&box->holds, 1, relaxed);
}

static void
mailbox_destroy(lbx_mailbox *box)
{
    const lbx_allocator *allocator = box->options.allocator;

    assert(box->magic == LBX__MAILBOX_MAGIC);
    // A loss sink may read the mailbox, and hold it for a moment.
    lbx__init(&box->holds, 1);
    box->suspensions = 0;
    lbx__mailbox_discard(box);
    if (box->metrics.event)
        lbx__observers_count(box, LBX_METRIC_DEREGISTERED, 0);
    lbx_signal_unref(box->signal);
    lbx_producer_unref(box->options.dead_letters);
    lbx__lanes_fini(box);
    box->magic = 0;
    lbx__free(allocator, box, sizeof(*box));
}

void
lbx__mailbox_release(lbx_mailbox *box)
{
    // Release: this thread's use comes before the free. Acquire: so does the
    // use of all others.
    if (lbx__sub(&box->holds, 1, acq_rel) == 1)
        mailbox_destroy(box);
}

/* MBOX-6: waits until a single consumer has left its fast path. The gate is not
 * 0, and after the barrier the consumer cannot enter again. */
static void
mailbox_expel_consumer(lbx_mailbox *box)
{
    if (box->many)
        return;
    (void)lbx__barrier_all();
    // Acquire: pairs with the release in the consumer's take_leave().
    while (lbx__load(&box->inside, acquire) != 0)
        lbx__yield();
}

/* MBOX-9: takes one message that is left; false when there is none. */
static bool
mailbox_take_rest(lbx_mailbox *box, lbx_envelope *ret)
{
    lbx__visit visit;
    bool some;

    lbx__visit_begin(box, &visit);
    some = lbx__take_locked(box, &visit, ret);
    lbx__visit_end(box, &visit);
    return some;
}

void
lbx__mailbox_discard(lbx_mailbox *box)
{
    lbx_envelope envelope;

    lbx__mailbox_hold(box);
    while (mailbox_take_rest(box, &envelope))
        lbx__loss_report(box, &envelope, LBX_LOSS_CLOSED);
    lbx__mailbox_release(box);
}

/* MBOX-9: makes senders that have not filled their slot yet discard the
 * message themselves. */
static void
mailbox_discard_late(lbx_mailbox *box)
{
    lbx__visit visit;

    lbx__visit_begin(box, &visit);
    box->discarding = true;
    lbx__lanes_stall(box, true);
    lbx__visit_end(box, &visit);
    if (!lbx__barrier_all())
        while (lbx__lanes_depth(box) > 0) {
            lbx__mailbox_discard(box);
            lbx__yield();
        }
    lbx__mailbox_discard(box);
}

void
lbx__mailbox_shut(lbx_mailbox *box, bool discard, bool to_dead_letters)
{
    lbx_signal *signal;
    lbx_metric_event resumed;
    bool was_suspended = false;
    lbx__visit visit;
    bool first;

    lbx__visit_begin(box, &visit);
    first = !box->closed;
    if (first) {
        box->closed = true;
        lbx__gate_set(box, LBX__GATE_CLOSED, true);
        for (int i = 0; i < LBX__LANES; i++)
            if (lbx__lanes_get(box, i))
                lbx__lane_close(lbx__lanes_get(box, i)); // MBOX-7
        was_suspended = box->suspensions > 0;
        if (was_suspended)
            lbx__suspension_end(box, &resumed);
        lbx__visit_admit(box, &visit);
        lbx__visit_grant(box, &visit);
    }
    // Relaxed: it orders this thread's losses only; those of other threads
    // may still go to the sink.
    if (to_dead_letters)
        lbx__store(&box->to_dead_letters, 1u, relaxed);
    signal = first ? lbx_signal_ref(box->signal) : NULL;
    lbx__visit_end(box, &visit);
    if (was_suspended)
        lbx__observers_event(box, &resumed);
    if (first || discard) {
        (void)lbx__barrier_all(); // MBOX-8
        lbx__visit_serve_flushes(box);
    }
    lbx_signal_notify(signal);
    lbx_signal_unref(signal);
    if (discard) {
        mailbox_expel_consumer(box);
        mailbox_discard_late(box);
    }
}

lbx_status
lbx_mailbox_close(lbx_mailbox *mailbox, lbx_close_mode mode)
{
    if (!mailbox || mode > LBX_CLOSE_DEAD_LETTER)
        return LBX_INVALID;
    if (mode == LBX_CLOSE_DEAD_LETTER && !mailbox->options.dead_letters)
        return LBX_INVALID;
    lbx__mailbox_hold(mailbox);
    lbx__mailbox_shut(mailbox, mode != LBX_CLOSE_DRAIN,
                      mode == LBX_CLOSE_DEAD_LETTER);
    lbx__mailbox_release(mailbox);
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
    lbx__mailbox_hold(mailbox);
    lbx__mailbox_shut(mailbox, false, false);
    mailbox_expel_consumer(mailbox);
    // A send that has claimed its slot fills it soon: wait for it.
    while (lbx__lanes_depth(mailbox) > 0) {
        if (mailbox_take_rest(mailbox, &envelope))
            rest(context, &envelope);
        else
            lbx__yield();
    }
    lbx__mailbox_release(mailbox);
    return LBX_OK;
}

bool
lbx_mailbox_is_closed(lbx_mailbox *mailbox)
{
    // Acquire: a thread that sees it closed sees what the closer did before.
    return mailbox &&
           (lbx__load(&mailbox->gate, acquire) & LBX__GATE_CLOSED) != 0;
}
