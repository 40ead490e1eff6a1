/* SPDX-License-Identifier: Apache-2.0 */
/* Suspending and resuming: R-16. */
#include "mailbox/box.h"

/* Durations are reported where there is a clock to measure them by: one that
 * was given, or the one that dates messages. */
static bool
has_clock(const lbx_mailbox *box)
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
            if (has_clock(mailbox))
                mailbox->suspended_at_ns =
                    lbx_clock_now(mailbox->options.clock);
            lbx__box_set_gate(mailbox, LBX__GATE_SUSPENDED, true);
        }
    }
    lbx__lock_give(&mailbox->lock);
    if (changed)
        lbx__box_event(mailbox, LBX_METRIC_SUSPENDED, count);
    return changed;
}

void
lbx__box_end_suspension(lbx_mailbox *box, lbx_metric_event *ret)
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
    if (has_clock(box)) {
        event.last_ns =
            lbx_clock_now(box->options.clock) - box->suspended_at_ns;
        box->suspended_total_ns += event.last_ns;
        event.total_ns = box->suspended_total_ns;
    }
    lbx__box_set_gate(box, LBX__GATE_SUSPENDED, false);
    *ret = event;
}

bool
lbx_mailbox_resume(lbx_mailbox *mailbox)
{
    lbx_metric_event event;
    bool changed = false;
    lbx__turn turn;

    if (!mailbox)
        return false;
    lbx__box_hold(mailbox); // a callback may give up the last handle
    lbx__turn_begin(mailbox, &turn);
    if (mailbox->suspensions > 0)
        changed = --mailbox->suspensions == 0;
    if (changed) {
        lbx__box_end_suspension(mailbox, &event);
        lbx__box_grant(mailbox, &turn);
    }
    lbx__turn_end(mailbox, &turn);
    if (changed)
        lbx__box_event_of(mailbox, &event);
    lbx__box_release(mailbox);
    return changed;
}
