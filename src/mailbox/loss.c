/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Losses: messages that no consumer will receive.
 *
 * Every lost message is counted and reported once, with its reason. The loss
 * sink takes it over; without a sink it goes to the mailbox for dead letters;
 * without that, or when that refuses it, it is destroyed.
 *
 * Threads    any, with no lock held: sinks and destructors are user code.
 */
#include "mailbox/mailbox.h"

static void
loss_destroy_message(const lbx_mailbox *box, const lbx_envelope *envelope)
{
    if (envelope->type)
        lbx_type_destroy_message(envelope->type, envelope->message);
    else if (box->options.destroy)
        box->options.destroy(envelope->message, box->options.destroy_context);
}

static void
loss_count(lbx_mailbox *box, lbx_loss_reason reason)
{
    // Relaxed: statistics.
    if (reason == LBX_LOSS_DROPPED_NEWEST)
        (void)lbx__add(&box->dropped_newest, 1, relaxed);
    else if (reason == LBX_LOSS_DROPPED_OLDEST)
        (void)lbx__add(&box->dropped_oldest, 1, relaxed);
    else if (reason == LBX_LOSS_EXPIRED)
        (void)lbx__add(&box->expired, 1, relaxed);
}

/* The metric of a loss; false: it has none. */
static bool
loss_metric(lbx_loss_reason reason, lbx_metric *ret)
{
    switch (reason) {
    case LBX_LOSS_DROPPED_NEWEST:
        *ret = LBX_METRIC_DROPPED_NEWEST;
        return true;
    case LBX_LOSS_DROPPED_OLDEST:
        *ret = LBX_METRIC_DROPPED_OLDEST;
        return true;
    case LBX_LOSS_EXPIRED:
        *ret = LBX_METRIC_EXPIRED;
        return true;
    default:
        return false;
    }
}

void
lbx__loss_report(lbx_mailbox *box, const lbx_envelope *envelope,
                 lbx_loss_reason reason)
{
    lbx_envelope lost = *envelope;
    lbx_producer *dead_letters = box->options.dead_letters;
    lbx_metric metric;
    lbx_loss loss = {
        .mailbox = box,
        .mailbox_name = box->options.name,
        .envelope = &lost,
        .lost_messages = lbx__add(&box->lost, 1, relaxed) + 1,
    };

    lost.lost = (uint8_t)reason;
    lost.recipient = box->options.owner;
    loss_count(box, reason);
    if (loss_metric(reason, &metric))
        lbx__observers_count(box, metric, 1);
    // Relaxed: see lbx__mailbox_shut().
    if (box->options.loss_sink.lost &&
        !lbx__load(&box->to_dead_letters, relaxed)) {
        box->options.loss_sink.lost(box->options.loss_sink.context, &loss);
        return;
    }
    lost.deadline_ns = LBX_FOREVER; // a dead letter does not expire again
    if (!dead_letters ||
        !lbx__send_dead_letter(lbx__mailbox_of_producer(dead_letters), &lost))
        loss_destroy_message(box, &lost);
}
