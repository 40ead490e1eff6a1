/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suspension: while a mailbox is suspended, receivers get system messages only.
 *
 * Suspensions nest; the last resume, or closing, ends them and grants what has
 * become takeable. Durations are reported if there is a clock to measure them:
 * one that the options give, or the one that timestamps messages.
 *
 * Threads    any.
 */
#include "mailbox/mailbox.h"

static bool
suspension_has_clock(const lbx_mailbox *box)
{
    return box->options.clock || box->options.timestamps;
}

bool
lbx_mailbox_suspend(lbx_mailbox *mailbox)
{
    bool changed = false;
    uint64_t count = 0;

    if (!mailbox)
        return false;
    lbx__lock_take(&mailbox->lock);
    if (!mailbox->closed) {
        changed = mailbox->suspensions++ == 0;
        if (changed) {
            count = ++mailbox->suspended_count;
            if (suspension_has_clock(mailbox))
                mailbox->suspended_at_ns =
                    lbx_clock_now(mailbox->options.clock);
            lbx__gate_set(mailbox, LBX__GATE_SUSPENDED, true);
        }
    }
    lbx__lock_give(&mailbox->lock);
    if (changed)
        lbx__observers_count(mailbox, LBX_METRIC_SUSPENDED, count);
    return changed;
}

void
lbx__suspension_end(lbx_mailbox *box, lbx_metric_event *ret)
{
    lbx_metric_event event = {
        .metric = LBX_METRIC_RESUMED,
        .mailbox = box,
        .count = box->suspended_count,
        .waited_ns = -1,
        .last_ns = -1,
        .total_ns = -1,
    };

    box->suspensions = 0;
    if (suspension_has_clock(box)) {
        event.last_ns =
            lbx_clock_now(box->options.clock) - box->suspended_at_ns;
        box->suspended_total_ns += event.last_ns;
        event.total_ns = box->suspended_total_ns;
    }
    lbx__gate_set(box, LBX__GATE_SUSPENDED, false);
    *ret = event;
}

bool
lbx_mailbox_resume(lbx_mailbox *mailbox)
{
    lbx_metric_event event;
    bool changed = false;
    lbx__visit visit;

    if (!mailbox)
        return false;
    lbx__mailbox_hold(mailbox); // a callback may release the last handle
    lbx__visit_begin(mailbox, &visit);
    if (mailbox->suspensions > 0)
        changed = --mailbox->suspensions == 0;
    if (changed) {
        lbx__suspension_end(mailbox, &event);
        lbx__visit_grant(mailbox, &visit);
    }
    lbx__visit_end(mailbox, &visit);
    if (changed)
        lbx__observers_event(mailbox, &event);
    lbx__mailbox_release(mailbox);
    return changed;
}
