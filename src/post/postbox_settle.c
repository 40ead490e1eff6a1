/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settling letters, with replies or other letters sent along.
 *
 * A batch goes through these steps: each entry is checked and its reply packed;
 * replies to other stores are sent, one by one; the rest is settled in one
 * call, with the replies to the same store attached (REPLY-1).
 *
 * PBSETTLE-1  No letter is settled whose reply was not sent.
 * PBSETTLE-2  Every `status` is written, and every lbx_sent_letter of an entry
 *             with a reply.
 */
#include "base/alloc.h"
#include "base/fault.h"
#include "post/letter.h"
#include "post/postbox.h"
#include "post/reply.h"

#include <string.h>

typedef char settle_receipt[LBX_MAX_RECEIPT_BYTES];

struct settle_job {
    lbx_settle_request request;
    lbx_settle_request_entry entries[LBX_MAX_BATCH];
    size_t index[LBX_MAX_BATCH];      /* of each entry: its settle */
    lbx_status status[LBX_MAX_BATCH]; /* of each settle */
    settle_receipt *receipts;         /* parsed from text; NULL: none */
    lbx__reply *replies;              /* as many as settles; NULL: none */
    lbx_postbox *to; /* where replies go; NULL: by the routes of each letter */
    size_t replied;  /* replies that are initialised */
    size_t next;     /* the first reply that was not sent or skipped */
    bool settling;
    lbx_send_request send;
};

/* OK when the entry may be settled; its reply is checked later. */
static lbx_status
settle_check(const lbx_postbox *postbox, const lbx_settle_item *settle)
{
    const lbx_letter *letter = settle->letter;

    if (!letter == !settle->receipt)
        return LBX_INVALID;
    if (letter && (letter->postbox->store != postbox->store ||
                   letter->postbox->box.uid != postbox->box.uid))
        return LBX_INVALID;
    if (lbx__letter_check_time(postbox, settle->action, settle->time_ns) !=
        LBX_OK)
        return LBX_INVALID;
    return letter ? lbx__letter_unsettled(letter) : LBX_OK;
}

/* Fills in the receipt of an entry; one that is text is parsed by the store. */
static lbx_status
settle_read_receipt(lbx_postbox *postbox, struct settle_job *job, size_t index,
                    const lbx_settle_item *settle,
                    lbx_settle_request_entry *entry)
{
    if (settle->letter) {
        entry->receipt = settle->letter->delivery.receipt;
        entry->receipt_bytes = settle->letter->delivery.receipt_bytes;
        return LBX_OK;
    }
    if (!job->receipts) {
        job->receipts = lbx__alloc(postbox->allocator,
                                   LBX_MAX_BATCH * sizeof(settle_receipt), 16);
        if (!job->receipts)
            return LBX_NO_MEMORY;
    }
    entry->receipt = job->receipts[index];
    return lbx__store_call_receipt_parse(postbox->store, postbox->box,
                                         settle->receipt, job->receipts[index],
                                         &entry->receipt_bytes);
}

static bool
settle_has_reply(const lbx__call_op *call_op, size_t index)
{
    return call_op->u.batch.replies && call_op->u.batch.replies[index];
}

/* Finds the postbox of a reply, and packs it. */
static lbx_status
settle_pack_reply(const lbx__call_op *call_op, struct settle_job *job,
                  size_t index)
{
    const lbx_settle_item *settle =
        &((const lbx_settle_item *)call_op->u.batch.what)[index];
    const lbx_draft *draft = call_op->u.batch.replies[index];

    if (!settle->letter || settle->action != LBX_SETTLE_ACKNOWLEDGE)
        return LBX_INVALID;
    if (job->to)
        return lbx__reply_init_to(&job->replies[index], settle->letter, draft,
                                  job->to);
    return lbx__reply_init(&job->replies[index], settle->letter, draft,
                           call_op->u.batch.fault);
}

/* Checks all entries, and packs their replies. */
static void
settle_check_all(lbx__op *op, struct settle_job *job)
{
    const lbx__call_op *call_op = lbx__call_op_of(op);
    const lbx_settle_item *settles = call_op->u.batch.what;

    for (size_t i = 0; i < call_op->u.batch.count; i++) {
        job->status[i] = settle_check(lbx__postbox_of(op), &settles[i]);
        if (!job->replies)
            continue;
        job->replies[i] = (lbx__reply){.sent = {.status = LBX_PENDING}};
        job->replied = i + 1;
        if (job->status[i] == LBX_OK && settle_has_reply(call_op, i))
            job->status[i] = settle_pack_reply(call_op, job, i);
    }
}

static bool
settle_is_elsewhere(const lbx_postbox *postbox, const lbx__reply *reply)
{
    return reply->to && reply->to->store != postbox->store;
}

/* An attached reply was sent exactly if its letter was settled, whatever the
 * store wrote while it prepared it. */
static bool
settle_was_sent(const lbx_postbox *postbox, const lbx__reply *reply,
                lbx_status status)
{
    return reply->sent.status == LBX_OK &&
           (status == LBX_OK || settle_is_elsewhere(postbox, reply));
}

/* PBSETTLE-2. */
static lbx_status
settle_report(lbx__op *op, struct settle_job *job)
{
    const lbx__call_op *call_op = lbx__call_op_of(op);
    const lbx_postbox *postbox = lbx__postbox_of(op);
    lbx_settle_item *settles =
        (lbx_settle_item *)(uintptr_t)call_op->u.batch.what;
    lbx_status first = LBX_OK;

    for (size_t i = 0; i < job->request.count; i++)
        job->status[job->index[i]] = job->entries[i].status;
    for (size_t i = 0; i < call_op->u.batch.count; i++) {
        const lbx__reply *reply = job->replies ? &job->replies[i] : NULL;
        lbx_status status = job->status[i];

        if (reply && call_op->u.batch.ret && settle_has_reply(call_op, i))
            call_op->u.batch.ret[i] = settle_was_sent(postbox, reply, status)
                                          ? reply->sent
                                          : (lbx_sent_letter){.status = status};
        // CLOSED is of the box of the attachment: of its own box, the store
        // returns GONE.
        if (reply && reply->to && !settle_is_elsewhere(postbox, reply))
            (void)lbx__postbox_note_status(reply->to, status);
        if (settles[i].letter)
            status = lbx__letter_settled(settles[i].letter, settles[i].action,
                                         status);
        settles[i].status = status;
        if (first == LBX_OK)
            first = status;
    }
    return first;
}

/* Calls for the next reply to another store, or for the settling; or ends. */
static lbx_status
settle_next_call(lbx__op *op, struct settle_job *job)
{
    lbx__call_op *call_op = lbx__call_op_of(op);
    lbx_postbox *postbox = lbx__postbox_of(op);
    const lbx_settle_item *settles = call_op->u.batch.what;

    while (job->next < job->replied) {
        lbx__reply *reply = &job->replies[job->next++];

        if (job->status[job->next - 1] != LBX_OK ||
            !settle_is_elsewhere(postbox, reply))
            continue;
        job->send = lbx__reply_request(reply);
        lbx__call_op_next(op, reply->to->store, LBX_CALL_SEND, &job->send);
        return LBX_PENDING;
    }
    job->settling = true;
    job->request =
        (lbx_settle_request){.box = postbox->box, .entries = job->entries};
    for (size_t i = 0; i < call_op->u.batch.count; i++) {
        lbx_settle_request_entry *entry = &job->entries[job->request.count];

        *entry = (lbx_settle_request_entry){.action = settles[i].action,
                                            .time_ns = settles[i].time_ns};
        if (job->status[i] == LBX_OK)
            job->status[i] =
                settle_read_receipt(postbox, job, i, &settles[i], entry);
        if (job->status[i] != LBX_OK)
            continue; // PBSETTLE-1
        if (job->replies && job->replies[i].to &&
            !settle_is_elsewhere(postbox, &job->replies[i])) {
            entry->attachments = &job->replies[i].attachment;
            entry->attachment_count = 1;
        }
        job->index[job->request.count++] = i;
    }
    if (job->request.count == 0)
        return settle_report(op, job);
    lbx__call_op_next(op, postbox->store, LBX_CALL_SETTLE, &job->request);
    return LBX_PENDING;
}

/* PBSETTLE-2, for a batch that did not start. */
static lbx_status
settle_report_all(const lbx__call_op *call_op, lbx_status status)
{
    lbx_settle_item *settles =
        (lbx_settle_item *)(uintptr_t)call_op->u.batch.what;

    for (size_t i = 0; i < call_op->u.batch.count; i++) {
        settles[i].status = status;
        if (call_op->u.batch.ret && settle_has_reply(call_op, i))
            call_op->u.batch.ret[i] = (lbx_sent_letter){.status = status};
    }
    return status;
}

/* A job on the heap has its replies in the same block. */
static size_t
settle_job_size(const lbx__call_op *call_op)
{
    return sizeof(struct settle_job) +
           (call_op->u.batch.replies ? call_op->u.batch.count : 0) *
               sizeof(lbx__reply);
}

static struct settle_job *
settle_job_create(lbx__op *op)
{
    lbx__call_op *call_op = lbx__call_op_of(op);
    struct settle_job *job =
        lbx__zalloc(lbx__postbox_of(op)->allocator, settle_job_size(call_op));

    if (job && call_op->u.batch.replies)
        job->replies = (lbx__reply *)(void *)(job + 1);
    call_op->u.batch.job = job;
    return job;
}

static lbx_status
settle_step(lbx__op *op, lbx_status last)
{
    lbx__call_op *call_op = lbx__call_op_of(op);
    struct settle_job *job = call_op->u.batch.job;

    if (last == LBX_PENDING) {
        if (!job)
            job = settle_job_create(op);
        if (!job)
            return settle_report_all(call_op, LBX_NO_MEMORY);
        settle_check_all(op, job);
        return settle_next_call(op, job);
    }
    if (!call_op->begun)
        return settle_report_all(call_op, last);
    if (job->settling)
        return settle_report(op, job);
    job->status[job->next - 1] =
        lbx__postbox_note_status(job->replies[job->next - 1].to, last);
    return settle_next_call(op, job);
}

static void
settle_drop(lbx__op *op)
{
    lbx__call_op *call_op = lbx__call_op_of(op);
    const lbx_allocator *allocator = lbx__postbox_of(op)->allocator;
    struct settle_job *job = call_op->u.batch.job;

    if (!job)
        return;
    for (size_t i = 0; i < job->replied; i++)
        lbx__reply_fini(&job->replies[i]);
    if (job->receipts)
        lbx__free(allocator, job->receipts,
                  LBX_MAX_BATCH * sizeof(settle_receipt));
    if (!call_op->u.batch.given)
        lbx__free(allocator, job, settle_job_size(call_op));
    call_op->u.batch.job = NULL;
}

static const lbx__call_steps settle_steps =
    LBX__CALL_STEPS(settle_step, settle_drop, LBX_TIMEOUT, false, false);

lbx_status
lbx_postbox_settle_init(lbx_operation *operation, lbx_postbox *postbox,
                        lbx_settle_item *settles, size_t count,
                        const lbx_draft *const *replies,
                        lbx_sent_letter *ret_sent)
{
    lbx__op *op = lbx__op_of(operation);
    lbx__call_op *call_op;

    if (!op || !postbox || !settles || count < 1 || count > LBX_MAX_BATCH)
        return LBX_INVALID;
    lbx__postbox_op_ref(op, &settle_steps, postbox, LBX_FOREVER);
    call_op = lbx__call_op_of(op);
    call_op->u.batch.what = settles;
    call_op->u.batch.count = count;
    call_op->u.batch.replies = replies;
    call_op->u.batch.ret = ret_sent;
    return LBX_OK;
}

/* Starts the same in this thread, with a job on the caller's stack. */
static void
settle_begin(lbx__op *op, lbx_postbox *postbox, struct settle_job *job,
             lbx_settle_item *settles, size_t count)
{
    lbx__call_op *call_op = lbx__call_op_of(op);

    lbx__postbox_op(op, &settle_steps, postbox, LBX_FOREVER);
    call_op->u.batch.what = settles;
    call_op->u.batch.count = count;
    call_op->u.batch.job = job;
    call_op->u.batch.given = true;
    job->request.count = 0;
    job->receipts = NULL;
    job->replies = NULL;
    job->to = NULL;
    job->replied = 0;
    job->next = 0;
    job->settling = false;
}

lbx_status
lbx_postbox_settle_batch(lbx_postbox *postbox, lbx_settle_item *settles,
                         size_t count)
{
    lbx_operation operation;
    struct settle_job job;

    if (!postbox || !settles || count < 1 || count > LBX_MAX_BATCH)
        return LBX_INVALID;
    settle_begin(lbx__op_of(&operation), postbox, &job, settles, count);
    return lbx__call_op_run(lbx__op_of(&operation));
}

lbx_status
lbx__postbox_settle_with(lbx_letter *letter, lbx_postbox *to,
                         const lbx_draft *draft, lbx_sent_letter *ret_sent,
                         lbx_fault *fault)
{
    lbx_settle_item settle = {.action = LBX_SETTLE_ACKNOWLEDGE,
                              .letter = letter};
    lbx_operation operation;
    lbx__op *op = lbx__op_of(&operation);
    lbx__call_op *call_op = lbx__call_op_of(op);
    struct settle_job job;
    lbx__reply reply;

    if (!letter || !draft)
        return lbx__fault_set(fault, LBX_INVALID, "%s is NULL",
                              letter ? "the reply" : "the letter");
    if (lbx__draft_check(draft, fault) != LBX_OK)
        return LBX_INVALID;
    lbx__fault_clear(fault);
    settle_begin(op, letter->postbox, &job, &settle, 1);
    job.replies = &reply;
    job.to = to;
    call_op->u.batch.replies = &draft;
    call_op->u.batch.ret = ret_sent;
    call_op->u.batch.fault = fault;
    return lbx__fault_complete(fault, lbx__call_op_run(op), "the reply", NULL);
}
