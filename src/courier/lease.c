/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leases, extended by the heartbeats of a handler.
 *
 * There is no timer: a handler that hangs must lose its letter. A heartbeat
 * extends the leases of the job's letter and of the letters that its worker has
 * received and not begun, in one call of the store.
 *
 * LEASE-1  A job whose lease was lost stays lost: later heartbeats report it
 *          without asking the store.
 * LEASE-2  A letter is begun only while its lease lasts, by the courier's
 *          clock.
 */
#include "courier/courier.h"

void
lbx__lease_mark_alive(lbx__courier_worker *worker)
{
    // Relaxed: a time only. 0 is "not running".
    const int64_t now = lbx_clock_now(worker->courier->options.clock);

    lbx__store(&worker->alive_ns, now == 0 ? 1 : now, relaxed);
}

bool
lbx__lease_holds(const lbx__courier_worker *worker, size_t index)
{
    return !worker->lost[index] &&
           lbx_clock_now(worker->courier->options.clock) < worker->leased_ns;
}

static bool
lease_is_due(const lbx_job *job, int64_t now)
{
    const lbx_courier_options *options = &job->worker->courier->options;

    if (options->extend_every_ns == 0)
        return false;
    return !job->extended || now - job->extended_ns >= options->extend_every_ns;
}

bool
lbx__lease_is_lost(lbx_status status)
{
    return status == LBX_EXPIRED || status == LBX_GONE;
}

/* Notes the outcome of one extension; `index` in the worker's letters. */
static void
lease_note_extension(lbx_job *job, size_t index, lbx_status status)
{
    lbx__courier_worker *worker = job->worker;
    const bool current = index + 1 == worker->next;

    if (status == LBX_OK)
        lbx__courier_count(worker->courier, LBX__TALLY_EXTENDED, 1);
    else if (lbx__lease_is_lost(status) && current)
        job->lost = status; // LEASE-1
    else if (lbx__lease_is_lost(status))
        worker->lost[index] = true;
    else if (status != LBX_FINALIZED) // the handler has settled it
        lbx__courier_log(worker->courier, "%s: the lease was not extended: %s",
                         lbx_letter_id(worker->letters[index]),
                         lbx_status_text(status));
}

/* Extends the job's letter, which is the one before `next`, and those after. */
static void
lease_extend(lbx_job *job, int64_t now)
{
    lbx__courier_worker *worker = job->worker;
    const lbx_courier_options *options = &worker->courier->options;
    lbx_settle_item settles[LBX_MAX_BATCH];
    size_t indexes[LBX_MAX_BATCH];
    size_t count = 0;
    lbx_status status;

    for (size_t i = worker->next - 1; i < worker->count; i++) {
        if (worker->lost[i] || lbx_letter_is_finalized(worker->letters[i]))
            continue;
        indexes[count] = i;
        settles[count++] = (lbx_settle_item){.action = LBX_SETTLE_EXTEND,
                                             .time_ns = options->extend_to_ns,
                                             .letter = worker->letters[i]};
    }
    job->extended = true;
    job->extended_ns = now;
    if (count == 0)
        return;
    status = lbx_postbox_settle_batch(options->postbox, settles, count);
    for (size_t i = 0; i < count; i++) {
        if (status == LBX_OK || settles[i].status == LBX_OK)
            worker->leased_ns =
                lbx_deadline_after(options->clock, options->extend_to_ns);
        lease_note_extension(job, indexes[i], settles[i].status);
    }
}

lbx_status
lbx__lease_heartbeat(lbx_job *job)
{
    const int64_t now = lbx_clock_now(job->worker->courier->options.clock);

    lbx__lease_mark_alive(job->worker);
    if (job->lost == LBX_OK && lease_is_due(job, now))
        lease_extend(job, now);
    return job->lost;
}
