/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settling letters, with replies, or other letters, sent along.
 *
 * A batch goes through these steps: each entry is checked and its reply packed;
 * replies to other stores are sent, one by one; what is left is settled in one
 * call, with the replies of the same store attached (P1).
 *
 * T1  Nothing is settled whose reply was not sent.
 * T2  Every `status` and, for entries with a reply, every lbx_sent is written.
 */
#include "base/alloc.h"
#include "base/fault.h"
#include "post/letter.h"
#include "post/postbox.h"
#include "post/reply.h"

#include <string.h>

typedef char receipt_bytes[LBX_RECEIPT_MOST_BYTES];

struct job {
    lbx_settle_request request;
    lbx_settle_entry entries[LBX_BATCH_MOST];
    size_t index[LBX_BATCH_MOST];      /* of each entry: its settle */
    lbx_status status[LBX_BATCH_MOST]; /* of each settle */
    receipt_bytes *receipts;           /* parsed from text; NULL: none */
    lbx__reply *replies;               /* as many as settles; NULL: none */
    lbx_postbox *to; /* of these; NULL: where letters' routes lead */
    size_t replied;  /* of these, looked at */
    size_t next;     /* of these, to be sent or not */
    bool settling;
    lbx_send_request send;
};

lbx_status
lbx__letter_unsettled(const lbx_letter *letter)
{
    return letter->finalized || letter->peeked ? LBX_FINALIZED : LBX_OK;
}

lbx_status
lbx__letter_settled(lbx_letter *letter, lbx_settlement what, lbx_status status)
{
    if (status == LBX_OK && what != LBX_EXTEND)
        letter->finalized = true; // F5
    if (letter->postbox->options.wink &&
        (status == LBX_FINALIZED || status == LBX_GONE))
        return LBX_EXPIRED; // W-35
    return status;
}

lbx_status
lbx__settle_time_check(const lbx_postbox *postbox, lbx_settlement what,
                       int64_t time_ns)
{
    switch (what) {
    case LBX_ACKNOWLEDGE:
        return LBX_OK;
    case LBX_NACK:
    case LBX_EXTEND:
        return time_ns >= 0 && time_ns <= postbox->rules.limits.lease_most_ns
                   ? LBX_OK
                   : LBX_INVALID;
    }
    return LBX_INVALID;
}

/* Whether it may be tried; a reply comes later. */
static lbx_status
check(const lbx_postbox *postbox, const lbx_settle *settle)
{
    const lbx_letter *letter = settle->letter;

    if (!letter == !settle->receipt)
        return LBX_INVALID;
    if (letter && (letter->postbox->store != postbox->store ||
                   letter->postbox->box.uid != postbox->box.uid))
        return LBX_INVALID;
    if (lbx__settle_time_check(postbox, settle->what, settle->time_ns) !=
        LBX_OK)
        return LBX_INVALID;
    return letter ? lbx__letter_unsettled(letter) : LBX_OK;
}

/* The receipts of the batch that are text, as the store has them. */
static lbx_status
read_receipt(lbx_postbox *postbox, struct job *job, size_t index,
             const lbx_settle *settle, lbx_settle_entry *entry)
{
    if (settle->letter) {
        entry->receipt = settle->letter->delivery.receipt;
        entry->receipt_bytes = settle->letter->delivery.receipt_bytes;
        return LBX_OK;
    }
    if (!job->receipts) {
        job->receipts = lbx__alloc(postbox->allocator,
                                   LBX_BATCH_MOST * sizeof(receipt_bytes), 16);
        if (!job->receipts)
            return LBX_NO_MEMORY;
    }
    entry->receipt = job->receipts[index];
    return lbx__store_receipt_parse(postbox->store, postbox->box,
                                    settle->receipt, job->receipts[index],
                                    &entry->receipt_bytes);
}

static bool
has_reply(const lbx__called *called, size_t index)
{
    return called->u.batch.replies &&
           called->u.batch.replies[index].version > 0;
}

/* Finds the place of a reply, and packs it. */
static lbx_status
prepare(const lbx__called *called, struct job *job, size_t index)
{
    const lbx_settle *settle =
        &((const lbx_settle *)called->u.batch.what)[index];
    const lbx_draft *draft = &called->u.batch.replies[index];

    if (!settle->letter || settle->what != LBX_ACKNOWLEDGE)
        return LBX_INVALID;
    if (job->to)
        return lbx__reply_init_to(&job->replies[index], settle->letter, draft,
                                  job->to);
    return lbx__reply_init(&job->replies[index], settle->letter, draft,
                           called->u.batch.fault);
}

/* Checks all, and packs the replies. */
static void
look_at_all(lbx__op *op, struct job *job)
{
    const lbx__called *called = lbx__called_of(op);
    const lbx_settle *settles = called->u.batch.what;

    for (size_t i = 0; i < called->u.batch.count; i++) {
        job->status[i] = check(lbx__postbox_of(op), &settles[i]);
        if (!job->replies)
            continue;
        job->replies[i] = (lbx__reply){.sent = {.status = LBX_PENDING}};
        job->replied = i + 1;
        if (job->status[i] == LBX_OK && has_reply(called, i))
            job->status[i] = prepare(called, job, i);
    }
}

static bool
is_elsewhere(const lbx_postbox *postbox, const lbx__reply *reply)
{
    return reply->to && reply->to->store != postbox->store;
}

/* One that is attached was sent if its letter was settled, and not otherwise: the
 * store may have found that out after it was prepared. */
static bool
was_sent(const lbx_postbox *postbox, const lbx__reply *reply, lbx_status status)
{
    return reply->sent.status == LBX_OK &&
           (status == LBX_OK || is_elsewhere(postbox, reply));
}

/* T2. */
static lbx_status
tell(lbx__op *op, struct job *job)
{
    const lbx__called *called = lbx__called_of(op);
    const lbx_postbox *postbox = lbx__postbox_of(op);
    lbx_settle *settles = (lbx_settle *)(uintptr_t)called->u.batch.what;
    lbx_status first = LBX_OK;

    for (size_t i = 0; i < job->request.count; i++)
        job->status[job->index[i]] = job->entries[i].status;
    for (size_t i = 0; i < called->u.batch.count; i++) {
        const lbx__reply *reply = job->replies ? &job->replies[i] : NULL;
        lbx_status status = job->status[i];

        if (reply && called->u.batch.ret && has_reply(called, i))
            called->u.batch.ret[i] = was_sent(postbox, reply, status)
                                         ? reply->sent
                                         : (lbx_sent){.status = status};
        // Of its own box a settle would say GONE: what is attached is CLOSED.
        if (reply && reply->to && !is_elsewhere(postbox, reply))
            (void)lbx__postbox_heard(reply->to, status);
        if (settles[i].letter)
            status =
                lbx__letter_settled(settles[i].letter, settles[i].what, status);
        settles[i].status = status;
        if (first == LBX_OK)
            first = status;
    }
    return first;
}

/* The next reply that goes elsewhere, or the settling itself, or the end. */
static lbx_status
next_call(lbx__op *op, struct job *job)
{
    lbx__called *called = lbx__called_of(op);
    lbx_postbox *postbox = lbx__postbox_of(op);
    const lbx_settle *settles = called->u.batch.what;

    while (job->next < job->replied) {
        lbx__reply *reply = &job->replies[job->next++];

        if (job->status[job->next - 1] != LBX_OK ||
            !is_elsewhere(postbox, reply))
            continue;
        job->send = lbx__reply_request(reply);
        lbx__called_next(op, reply->to->store, LBX_VERB_SEND, &job->send);
        return LBX_PENDING;
    }
    job->settling = true;
    job->request =
        (lbx_settle_request){.box = postbox->box, .entries = job->entries};
    for (size_t i = 0; i < called->u.batch.count; i++) {
        lbx_settle_entry *entry = &job->entries[job->request.count];

        *entry = (lbx_settle_entry){.what = settles[i].what,
                                    .time_ns = settles[i].time_ns};
        if (job->status[i] == LBX_OK)
            job->status[i] = read_receipt(postbox, job, i, &settles[i], entry);
        if (job->status[i] != LBX_OK)
            continue; // T1
        if (job->replies && job->replies[i].to &&
            !is_elsewhere(postbox, &job->replies[i])) {
            entry->attachments = &job->replies[i].attachment;
            entry->attachment_count = 1;
        }
        job->index[job->request.count++] = i;
    }
    if (job->request.count == 0)
        return tell(op, job);
    lbx__called_next(op, postbox->store, LBX_VERB_SETTLE, &job->request);
    return LBX_PENDING;
}

/* T2, for one that never began. */
static lbx_status
tell_all(const lbx__called *called, lbx_status status)
{
    lbx_settle *settles = (lbx_settle *)(uintptr_t)called->u.batch.what;

    for (size_t i = 0; i < called->u.batch.count; i++) {
        settles[i].status = status;
        if (called->u.batch.ret && has_reply(called, i))
            called->u.batch.ret[i] = (lbx_sent){.status = status};
    }
    return status;
}

/* The job of an operation has its replies in the same block. */
static size_t
job_size(const lbx__called *called)
{
    return sizeof(struct job) +
           (called->u.batch.replies ? called->u.batch.count : 0) *
               sizeof(lbx__reply);
}

static struct job *
make_job(lbx__op *op)
{
    lbx__called *called = lbx__called_of(op);
    struct job *job =
        lbx__zalloc(lbx__postbox_of(op)->allocator, job_size(called));

    if (job && called->u.batch.replies)
        job->replies = (lbx__reply *)(void *)(job + 1);
    called->u.batch.job = job;
    return job;
}

static lbx_status
settle_step(lbx__op *op, lbx_status last)
{
    lbx__called *called = lbx__called_of(op);
    struct job *job = called->u.batch.job;

    if (last == LBX_PENDING) {
        if (!job)
            job = make_job(op);
        if (!job)
            return tell_all(called, LBX_NO_MEMORY);
        look_at_all(op, job);
        return next_call(op, job);
    }
    if (!called->begun)
        return tell_all(called, last);
    if (job->settling)
        return tell(op, job);
    job->status[job->next - 1] =
        lbx__postbox_heard(job->replies[job->next - 1].to, last);
    return next_call(op, job);
}

static void
settle_drop(lbx__op *op)
{
    lbx__called *called = lbx__called_of(op);
    const lbx_allocator *allocator = lbx__postbox_of(op)->allocator;
    struct job *job = called->u.batch.job;

    if (!job)
        return;
    for (size_t i = 0; i < job->replied; i++)
        lbx__reply_fini(&job->replies[i]);
    if (job->receipts)
        lbx__free(allocator, job->receipts,
                  LBX_BATCH_MOST * sizeof(receipt_bytes));
    if (!called->u.batch.given)
        lbx__free(allocator, job, job_size(called));
    called->u.batch.job = NULL;
}

static const lbx__steps settle_steps =
    LBX__STEPS(settle_step, settle_drop, LBX_TIMEOUT, false, false);

lbx_status
lbx_postbox_settle_init(lbx_operation *operation, lbx_postbox *postbox,
                        lbx_settle *settles, size_t count,
                        const lbx_draft *replies, lbx_sent *ret_sent)
{
    lbx__op *op = lbx__op_of(operation);
    lbx__called *called;

    if (!op || !postbox || !settles || count < 1 || count > LBX_BATCH_MOST)
        return LBX_INVALID;
    lbx__postbox_op_keep(op, &settle_steps, postbox, LBX_FOREVER);
    called = lbx__called_of(op);
    called->u.batch.what = settles;
    called->u.batch.count = count;
    called->u.batch.replies = replies;
    called->u.batch.ret = ret_sent;
    return LBX_OK;
}

/* Starts the same in this thread, with a job of the caller's, which need not be
 * cleared. */
static void
begin_here(lbx__op *op, lbx_postbox *postbox, struct job *job,
           lbx_settle *settles, size_t count)
{
    lbx__called *called = lbx__called_of(op);

    lbx__postbox_op(op, &settle_steps, postbox, LBX_FOREVER);
    called->u.batch.what = settles;
    called->u.batch.count = count;
    called->u.batch.job = job;
    called->u.batch.given = true;
    job->request.count = 0;
    job->receipts = NULL;
    job->replies = NULL;
    job->to = NULL;
    job->replied = 0;
    job->next = 0;
    job->settling = false;
}

lbx_status
lbx_postbox_settle_batch(lbx_postbox *postbox, lbx_settle *settles,
                         size_t count)
{
    lbx_operation operation;
    struct job job;

    if (!postbox || !settles || count < 1 || count > LBX_BATCH_MOST)
        return LBX_INVALID;
    begin_here(lbx__op_of(&operation), postbox, &job, settles, count);
    return lbx__called_run(lbx__op_of(&operation));
}

static lbx_status
settle_one(lbx_letter *letter, lbx_settlement what, int64_t time_ns)
{
    lbx_settle settle = {.what = what, .time_ns = time_ns, .letter = letter};

    return letter ? lbx_postbox_settle_batch(letter->postbox, &settle, 1)
                  : LBX_INVALID;
}

lbx_status
lbx_letter_acknowledge(lbx_letter *letter)
{
    return settle_one(letter, LBX_ACKNOWLEDGE, 0);
}

lbx_status
lbx_letter_nack(lbx_letter *letter, int64_t delay_ns)
{
    return settle_one(letter, LBX_NACK, delay_ns);
}

lbx_status
lbx_letter_extend(lbx_letter *letter, int64_t lease_ns)
{
    return settle_one(letter, LBX_EXTEND, lease_ns);
}

/* Sends a draft where the letter's routes lead, or to a postbox, and acknowledges
 * the letter. */
static lbx_status
acknowledge_with(lbx_letter *letter, lbx_postbox *to, const lbx_draft *draft,
                 lbx_sent *ret_sent, lbx_fault *ret_fault)
{
    lbx_settle settle = {.what = LBX_ACKNOWLEDGE, .letter = letter};
    lbx_operation operation;
    lbx__op *op = lbx__op_of(&operation);
    lbx__called *called = lbx__called_of(op);
    struct job job;
    lbx__reply reply;

    if (!letter || !draft)
        return lbx__fault_set(ret_fault, LBX_INVALID, "%s is NULL",
                              letter ? "the reply" : "the letter");
    if (draft->version != LBX_DRAFT_VERSION)
        return lbx__fault_version(ret_fault, "LBX_DRAFT_INIT", draft->version,
                                  LBX_DRAFT_VERSION);
    lbx__fault_clear(ret_fault);
    begin_here(op, letter->postbox, &job, &settle, 1);
    job.replies = &reply;
    job.to = to;
    called->u.batch.replies = draft;
    called->u.batch.ret = ret_sent;
    called->u.batch.fault = ret_fault;
    return lbx__fault_complete(ret_fault, lbx__called_run(op), "the reply",
                               NULL);
}

lbx_status
lbx_letter_reply_and_acknowledge(lbx_letter *letter, const lbx_draft *reply,
                                 lbx_sent *ret_sent, lbx_fault *ret_fault)
{
    return acknowledge_with(letter, NULL, reply, ret_sent, ret_fault);
}

lbx_status
lbx_letter_send_and_acknowledge(lbx_letter *letter, lbx_postbox *to,
                                const lbx_draft *draft, lbx_sent *ret_sent)
{
    return to ? acknowledge_with(letter, to, draft, ret_sent, NULL)
              : LBX_INVALID;
}
