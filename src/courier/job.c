/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs: one letter and its handler, from the call to the settlement.
 *
 * JOB-1  A letter that its handler has settled is left as it is.
 * JOB-2  A reply is sent before the letter is acknowledged, or with it.
 * JOB-3  A reply that could not be sent is no failure of the work: the letter
 *        is given back, and the dead-letter policy is not asked.
 */
#include "courier/courier.h"

#include "base/fault.h"
#include "base/utf8.h"
#include "courier/policy.h"

#include <assert.h>
#include <string.h>

bool
lbx__job_settled(lbx_job *job, lbx__courier_tally tally, lbx_status status)
{
    lbx_courier *courier = job->worker->courier;

    if (status == LBX_OK) {
        lbx__courier_count(courier, tally, 1);
        return true;
    }
    lbx__courier_count(courier,
                       lbx__lease_is_lost(status) ? LBX__TALLY_LOST_LEASES
                                                  : LBX__TALLY_UNSETTLED,
                       1);
    lbx__courier_log(courier, "%s: not settled, it comes again: %s",
                     lbx_letter_id(job->letter), lbx_status_text(status));
    return false;
}

bool
lbx__job_acknowledge(lbx_job *job)
{
    return lbx__job_settled(job, LBX__TALLY_ACKNOWLEDGED,
                            lbx_letter_acknowledge(job->letter));
}

bool
lbx__job_return(lbx_job *job)
{
    const int64_t delay_ns = lbx__policy_retry_delay(
        &job->worker->courier->options, lbx_letter_delivery_count(job->letter));

    return lbx__job_settled(job, LBX__TALLY_RETURNED,
                            lbx_letter_nack(job->letter, delay_ns));
}

void
lbx__job_explain_routes(const lbx_job *job, lbx_status status, lbx_fault *fault)
{
    const lbx_routes *routes = lbx_letter_routes(job->letter);

    if (!routes)
        (void)lbx__fault_set(fault, status, "the letter has no routes");
    else
        (void)lbx__fault_set(fault, status, "%s; the letter's routes are %s",
                             lbx_status_text(status), lbx_routes_json(routes));
}

static void
job_settle(lbx_job *job, lbx_status status)
{
    const lbx_courier *courier = job->worker->courier;

    if (lbx_letter_is_finalized(job->letter))
        return; // JOB-1
    if (job->lost != LBX_OK) {
        (void)lbx__job_settled(job, LBX__TALLY_ACKNOWLEDGED, job->lost);
    } else if (status == LBX_OK) {
        (void)lbx__job_acknowledge(job);
    } else if (status == LBX_NO_ROUTE || status == LBX_NO_REPLY) {
        if (job->answer.status != status) // of a reply by other means
            lbx__job_explain_routes(job, status, &job->answer);
        lbx__courier_log(courier, "%s: acknowledged without an answer: %s",
                         lbx_letter_id(job->letter), job->answer.text);
        (void)lbx__job_acknowledge(job);
    } else if (job->unsent != LBX_OK && status == job->unsent) {
        lbx__courier_log(courier, "%s: the answer was not sent: %s",
                         lbx_letter_id(job->letter), job->answer.text);
        (void)lbx__job_return(job); // JOB-3
    } else {
        lbx__failure_handle(job, status);
    }
}

static lbx_status
job_await(lbx_job *job)
{
    // Acquire: pairs with the release in lbx_job_finish().
    while (lbx__load(&job->done, acquire) == 0)
        lbx__futex_wait(&job->done, 0, -1);
    return job->done_status;
}

void
lbx__job_run(lbx__courier_worker *worker, lbx_letter *letter)
{
    const lbx_courier_options *options = &worker->courier->options;
    lbx_job *job = &worker->job;
    lbx_status status;

    job->letter = letter;
    job->error_type[0] = '\0';
    job->error_text[0] = '\0';
    job->lost = LBX_OK;
    job->unsent = LBX_OK;
    job->answer.status = LBX_OK;
    job->extended = false;
    // Relaxed: no other thread has this job yet.
    lbx__store(&job->done, 0u, relaxed);
    status = options->handle(job, options->context);
    if (status == LBX_PENDING)
        status = job_await(job);
    job_settle(job, status);
    job->letter = NULL;
    lbx_letter_destroy(letter);
}

lbx_letter *
lbx_job_letter(lbx_job *job)
{
    return job ? job->letter : NULL;
}

lbx_status
lbx_job_heartbeat(lbx_job *job)
{
    return job ? lbx__lease_heartbeat(job) : LBX_INVALID;
}

bool
lbx_job_is_stopping(const lbx_job *job)
{
    return job && lbx__courier_is_stopping(job->worker->courier);
}

/* Whether a reply failed because of the handler, not because of its address. */
static bool
job_is_handler_error(lbx_status status)
{
    switch (status) {
    case LBX_INVALID:
    case LBX_ENCODING:
    case LBX_UNSUPPORTED:
    case LBX_TOO_LARGE:
    case LBX_FINALIZED:
    case LBX_NO_ROUTE:
    case LBX_NO_REPLY:
        return true;
    default:
        return false;
    }
}

lbx_status
lbx_job_reply_and_acknowledge(lbx_job *job, const lbx_draft *answer)
{
    lbx_status status;

    if (!job || !answer)
        return LBX_INVALID;
    status = lbx_letter_reply_and_acknowledge(job->letter, answer, NULL,
                                              &job->answer);
    if (status == LBX_OK)
        lbx__courier_count(job->worker->courier, LBX__TALLY_ACKNOWLEDGED, 1);
    else if (lbx__lease_is_lost(status))
        job->lost = status;
    else if (!job_is_handler_error(status))
        job->unsent = status;
    return status;
}

/* Copies as many whole characters as fit. A byte that is not UTF-8 becomes a
 * question mark, since the text may become part of a dead letter. */
static void
job_copy_text(char *to, size_t to_bytes, const char *from)
{
    size_t left = from ? strlen(from) : 0;
    size_t used = 0;

    while (left > 0) {
        uint32_t code;
        const size_t valid = lbx__utf8_decode(from, left, &code);
        const size_t size = valid > 0 ? valid : 1;

        if (used + size >= to_bytes)
            break;
        if (valid > 0)
            memcpy(to + used, from, size);
        else
            to[used] = '?';
        used += size;
        from += size;
        left -= size;
    }
    to[used] = '\0';
}

lbx_status
lbx_job_fail(lbx_job *job, lbx_status status, const char *error_type,
             const char *error_text)
{
    if (!job)
        return status;
    job_copy_text(job->error_type, sizeof(job->error_type), error_type);
    job_copy_text(job->error_text, sizeof(job->error_text), error_text);
    return status;
}

void
lbx_job_finish(lbx_job *job, lbx_status status)
{
    if (!job)
        return;
    assert(status != LBX_PENDING);
    job->done_status = status;
    // Release: a thread that reads 1 sees the status. From here on the worker
    // may reuse the job; the futex only compares its address.
    lbx__store(&job->done, 1u, release);
    lbx__futex_wake(&job->done, 1);
}
