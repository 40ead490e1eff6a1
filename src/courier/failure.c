/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures: what becomes of a letter whose handler did not answer OK.
 *
 * With a policy that says so it is put aside (behaviours 2.2): the record, an error
 * reply that may fail, the dead letter, the acknowledgement. In that order, and the
 * last two in one step where both boxes are in one store: a crash anywhere leaves
 * the letter where it was, and it is never in both. A letter that is somebody
 * else's by then is not put aside by us.
 *
 * A letter that is a dead letter already, as somebody moved it into a box of work,
 * is put aside like any other. It goes as the record that it is, so that none is
 * inside another, and whoever waits for an answer has had one.
 *
 * D1  A letter is acknowledged only with its dead letter, or after it has been sent;
 *     or after its error reply has where that stands in its place.
 * D2  Nothing is put aside into the box it is in: no such courier is made.
 */
#include "courier/courier.h"

#include "base/clock.h"
#include "courier/dead_letter.h"
#include "courier/error_reply.h"
#include "courier/policy.h"

#include <stdio.h>
#include <string.h>

enum {
    TOKEN_BYTES = 64
};

static void
copy_id(lbx_id *id, const char *text)
{
    (void)snprintf(id->text, sizeof(id->text), "%s", text ? text : "");
}

static lbx_dead_letter_record
record_of(const lbx_job *job, const lbx_job_failure *failure,
          const lbx_letter_facts *facts)
{
    const lbx_courier_options *options = &job->worker->courier->options;
    lbx_dead_letter_record record = {
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
    copy_id(&record.message_id, lbx_letter_id(job->letter));
    record.reply_mailbox = lbx__error_reply_address(job->letter);
    return record;
}

/* Sends the dead letter, and acknowledges. What stood beside the letter's body
 * stands beside the record: it is sent back with it. */
static lbx_status
bury(const lbx_job *job, const lbx_dead_letter_record *record,
     lbx_sent *ret_sent)
{
    const lbx_courier_options *options = &job->worker->courier->options;
    lbx_draft draft = lbx_draft_of_message(lbx_dead_letter_type(), record);
    char token[TOKEN_BYTES];
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
    draft.duplicate_id = record->message_id.text;
    status = lbx_letter_send_and_acknowledge(
        job->letter, options->dead_letters.postbox, &draft, ret_sent);
    lbx__dead_letter_cover_fini(&cover);
    return status;
}

static void
put_aside(lbx_job *job, const lbx_job_failure *failure,
          const lbx_letter_facts *facts)
{
    lbx_courier *courier = job->worker->courier;
    const lbx_dead_letter_record record = record_of(job, failure, facts);
    lbx_sent sent = {.status = LBX_PENDING};
    lbx_status status = LBX_OK;

    // Nobody waits for the answer to a letter without routes; and who waits for
    // that of a dead letter has had it.
    if (lbx_letter_routes(job->letter) &&
        !lbx__dead_letter_is_record(job->letter))
        status = lbx__error_reply_send(job->letter, failure->error_text,
                                       &record.request_id);
    if (status != LBX_OK) // as it may
        lbx__courier_log(courier, "%s: no error reply: %s",
                         record.message_id.text, lbx_status_text(status));
    status = bury(job, &record, &sent); // D1
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

/* Without a policy: the error is the answer. */
static void
answer_failure(lbx_job *job, const lbx_job_failure *failure)
{
    const lbx_id request_id = lbx__error_reply_request_id(
        job->letter, job->worker->courier->options.allocator);
    const lbx_status status =
        lbx__error_reply_send(job->letter, failure->error_text, &request_id);

    if (status == LBX_OK || status == LBX_NO_ROUTE || status == LBX_NO_REPLY)
        (void)lbx__job_acknowledge(job); // D1
    else
        (void)lbx__job_return(job);
}

/* The texts of statuses are about calls; these are about a handler. */
static const char *
text_of(lbx_status status)
{
    return status == LBX_REFUSED ? "the handler refused the letter"
                                 : lbx_status_text(status);
}

void
lbx__failure_handle(lbx_job *job, lbx_status status)
{
    const lbx_courier_options *options = &job->worker->courier->options;
    lbx_letter_facts facts = {0};
    lbx_job_failure failure = {
        .letter = job->letter,
        .status = status,
        .error_type =
            job->error_type[0] ? job->error_type : lbx_status_name(status),
        .error_text = job->error_text[0] ? job->error_text : text_of(status),
    };

    if (lbx_letter_facts_read(job->letter, &facts) != LBX_OK)
        facts.delivery_count = 1; // a letter has facts
    failure.delivery_count = facts.delivery_count;
    if (lbx__policy_verdict(&options->dead_letters, &failure) ==
        LBX_VERDICT_DEAD) {
        put_aside(job, &failure, &facts);
        return;
    }
    lbx__courier_log(job->worker->courier, "%s: delivery %u failed: %s: %s",
                     lbx_letter_id(job->letter), (unsigned)facts.delivery_count,
                     failure.error_type, failure.error_text);
    if (!options->dead_letters.postbox && options->answer_failures)
        answer_failure(job, &failure);
    else
        (void)lbx__job_return(job);
}
