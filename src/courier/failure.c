/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures: what is done with a letter whose handler did not return LBX_OK.
 *
 * By its policy a courier gives the letter back, or puts it aside. Putting
 * aside has four steps, in this order: the record is made; an error reply is
 * sent, which may fail; the dead letter is sent; the letter is acknowledged.
 * The last two are one step when both boxes are in one store. So a crash at any
 * point leaves the letter where it was, and the letter is never in both boxes.
 * A letter whose lease was lost by then is not put aside.
 *
 * A letter that is a dead letter already, moved into this box by a program, is
 * put aside as the record it is: records do not contain records. It gets no
 * error reply, since one was sent when it died.
 *
 * FAIL-1  A letter is acknowledged with its dead letter or after that was sent;
 *         without a policy, after its error reply was sent.
 * FAIL-2  No letter is put aside into the box it is in: such a courier is not
 *         created.
 */
#include "courier/courier.h"

#include "base/clock.h"
#include "base/fault.h"
#include "courier/dead_letter.h"
#include "courier/error_reply.h"
#include "courier/policy.h"

#include <stdio.h>
#include <string.h>

static void
failure_copy_id(lbx_id *id, const char *text)
{
    (void)snprintf(id->text, sizeof(id->text), "%s", text ? text : "");
}

static lbx_dead_letter_record
failure_make_record(const lbx_job *job, const lbx_job_failure *failure,
                    const lbx_letter_info *facts)
{
    const lbx_courier_options *options = &job->worker->courier->options;
    lbx_dead_letter_record record = {
        .size_bytes = sizeof(record),
        .body_type = lbx_letter_type_name(job->letter),
        .source_mailbox = lbx_postbox_name(options->postbox),
        .delivery_count = facts->delivery_count,
        .last_error = failure->error_text,
        .last_error_type = failure->error_type,
        .dead_lettered_ms = lbx__clock_wall_ms(),
        .first_received_ms = facts->first_received_ms,
        .request_id =
            lbx__error_reply_request_id(job->letter, options->allocator),
        .trace_id = facts->trace,
    };

    record.body = lbx_letter_body(job->letter, &record.body_bytes);
    failure_copy_id(&record.message_id, lbx_letter_id(job->letter));
    record.reply_mailbox = lbx__error_reply_address(job->letter);
    return record;
}

/* Sends the dead letter and acknowledges the letter. The dead letter carries
 * what the letter carried beside its body, so that it can be sent back with
 * it. */
static lbx_status
failure_send_dead_letter(const lbx_job *job,
                         const lbx_dead_letter_record *record,
                         lbx_sent_letter *ret_sent)
{
    const lbx_courier_options *options = &job->worker->courier->options;
    lbx_draft draft =
        lbx_draft_of_message(lbx_dead_letter_record_type(), record);
    char token[LBX__DEAD_LETTER_TOKEN_BYTES];
    lbx__dead_letter_cover cover;
    lbx_status status;

    if (lbx__dead_letter_is_record(job->letter)) {
        draft = lbx_draft_of_bytes(record->body, record->body_bytes);
        draft.type_name = record->body_type;
    }
    status = lbx__dead_letter_cover_init(&cover, job->letter,
                                         options->allocator, &draft);
    if (status != LBX_OK)
        return status;
    // Once in another store too, though the acknowledgement fails.
    (void)snprintf(token, sizeof(token), "dead:%s", record->message_id.text);
    draft.token = token;
    // For a fifo box; others read neither.
    if (!draft.group)
        draft.group = record->message_id.text;
    draft.deduplication_id = record->message_id.text;
    status = lbx_letter_send_and_acknowledge(
        job->letter, options->dead_letters.postbox, &draft, ret_sent);
    lbx__dead_letter_cover_fini(&cover);
    return status;
}

/* Replies with the error; `fault` has the reason when it fails. */
static lbx_status
failure_reply(lbx_job *job, const lbx_job_failure *failure,
              const lbx_id *request_id, lbx_fault *fault)
{
    const lbx_courier_options *options = &job->worker->courier->options;
    lbx_status status;

    lbx__fault_clear(fault);
    if (!options->reply_error)
        return lbx__error_reply_send(job->letter, failure->error_text,
                                     request_id, fault);
    status = options->reply_error(job, failure, options->context);
    if (status == LBX_NO_ROUTE)
        lbx__job_explain_routes(job, status, fault);
    return lbx__fault_complete(fault, status, "reply_error", NULL);
}

static void
failure_put_aside(lbx_job *job, const lbx_job_failure *failure,
                  const lbx_letter_info *facts)
{
    lbx_courier *courier = job->worker->courier;
    const lbx_dead_letter_record record =
        failure_make_record(job, failure, facts);
    lbx_sent_letter sent = {.status = LBX_PENDING};
    lbx_status status = LBX_OK;
    lbx_fault fault;

    // No program waits for a reply to a letter without routes, and a dead
    // letter has had its error reply.
    if (lbx_letter_routes(job->letter) &&
        !lbx__dead_letter_is_record(job->letter))
        status = failure_reply(job, failure, &record.request_id, &fault);
    if (status != LBX_OK) // which is allowed
        lbx__courier_log(courier, "%s: no error reply: %s",
                         record.message_id.text, fault.text);
    if (lbx_letter_is_finalized(job->letter))
        return; // by reply_error: JOB-1
    status = failure_send_dead_letter(job, &record, &sent); // FAIL-1
    if (sent.status == LBX_OK) {
        lbx__courier_count(courier, LBX__TALLY_DEAD, 1);
        lbx__courier_log(courier, "%s: put aside after %u deliveries: %s: %s",
                         record.message_id.text,
                         (unsigned)facts->delivery_count, failure->error_type,
                         failure->error_text);
    } else if (status != LBX_EXPIRED && status != LBX_GONE) {
        lbx__courier_log(courier, "%s: not put aside, it is tried again: %s",
                         record.message_id.text, lbx_status_text(status));
        (void)lbx__job_return(job);
        return;
    }
    (void)lbx__job_settled(job, LBX__TALLY_ACKNOWLEDGED, status);
}

/* Without a policy: the error is the reply, and settles the letter. */
static void
failure_answer(lbx_job *job, const lbx_job_failure *failure)
{
    const lbx_id request_id = lbx__error_reply_request_id(
        job->letter, job->worker->courier->options.allocator);
    lbx_fault fault;
    const lbx_status status = failure_reply(job, failure, &request_id, &fault);

    if (lbx_letter_is_finalized(job->letter))
        return; // by reply_error: JOB-1
    if (status != LBX_OK)
        lbx__courier_log(job->worker->courier, "%s: no error reply: %s",
                         lbx_letter_id(job->letter), fault.text);
    if (status == LBX_OK || status == LBX_NO_ROUTE || status == LBX_NO_REPLY)
        (void)lbx__job_acknowledge(job); // FAIL-1
    else
        (void)lbx__job_return(job);
}

/* The texts of statuses describe calls; this describes a handler. */
static const char *
failure_text(lbx_status status)
{
    return status == LBX_REFUSED ? "the handler refused the letter"
                                 : lbx_status_text(status);
}

void
lbx__failure_handle(lbx_job *job, lbx_status status)
{
    const lbx_courier_options *options = &job->worker->courier->options;
    lbx_letter_info facts = LBX_LETTER_INFO_INIT;
    lbx_job_failure failure = {
        .letter = job->letter,
        .status = status,
        .error_type =
            job->error_type[0] ? job->error_type : lbx_status_name(status),
        .error_text =
            job->error_text[0] ? job->error_text : failure_text(status),
    };

    if (lbx_letter_info_read(job->letter, &facts) != LBX_OK)
        facts.delivery_count = 1; // a letter has facts
    failure.delivery_count = facts.delivery_count;
    if (lbx__policy_verdict(&options->dead_letters, &failure) ==
        LBX_VERDICT_DEAD_LETTER) {
        failure_put_aside(job, &failure, &facts);
        return;
    }
    lbx__courier_log(job->worker->courier, "%s: delivery %u failed: %s: %s",
                     lbx_letter_id(job->letter), (unsigned)facts.delivery_count,
                     failure.error_type, failure.error_text);
    if (!options->dead_letters.postbox && options->reply_on_failure)
        failure_answer(job, &failure);
    else
        (void)lbx__job_return(job);
}
