/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sending: drafts are packed as parcels, the valid ones go to the store in one
 * call, and each draft gets a result.
 *
 * PBSEND-1  Every lbx_sent_letter that the caller gave is written, whatever
 *           happens.
 * PBSEND-2  A draft that is refused here does not prevent the others from being
 *           sent.
 */
#include "post/postbox.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "base/sized.h"
#include "post/rules/body.h"

struct send_job {
    lbx_send_request request;
    size_t packed;                    /* drafts that were packed */
    size_t index[LBX_MAX_BATCH];      /* of each parcel: its draft */
    lbx_status status[LBX_MAX_BATCH]; /* of each draft, before the store */
    lbx_parcel parcels[LBX_MAX_BATCH];
    lbx_sent_letter sent[LBX_MAX_BATCH];
    lbx__draft_packed packings[LBX_MAX_BATCH];
};

lbx_status
lbx__postbox_send_pack(lbx_postbox *postbox, const lbx_draft *draft,
                       lbx__draft_packed *packing)
{
    lbx_status status =
        lbx__draft_pack(packing, draft, &postbox->rules, postbox->allocator);

    if (status != LBX_OK)
        return status;
    if (!lbx__postbox_accepts(postbox, draft, postbox->options.body_type))
        return LBX_INVALID;
    return draft->routes
               ? lbx__postbox_create_reply_boxes(postbox, draft->routes)
               : LBX_OK;
}

static void
send_pack_all(lbx_postbox *postbox, const lbx_draft *drafts, size_t count,
              struct send_job *job)
{
    int64_t bytes = 0;

    for (size_t i = 0; i < count; i++) {
        lbx__draft_packed *packing = &job->packings[i];

        job->status[i] =
            lbx__postbox_send_pack(postbox, lbx__sized_at(drafts, i), packing);
        job->packed++;
        if (job->status[i] != LBX_OK)
            continue;
        bytes += lbx__body_parcel_bytes(&packing->parcel);
        job->parcels[job->request.count] = packing->parcel;
        job->index[job->request.count++] = i;
    }
    if (bytes <= postbox->rules.limits.max_batch_bytes)
        return;
    job->request.count = 0;
    for (size_t i = 0; i < count; i++)
        job->status[i] = LBX_TOO_LARGE;
}

/* PBSEND-1: writes the result of each draft; returns the first failure. */
static lbx_status
send_report(const lbx__call_op *call_op, struct send_job *job)
{
    lbx_sent_letter *ret = call_op->u.batch.ret;
    lbx_status first = LBX_OK;

    for (size_t i = 0; i < job->request.count; i++) {
        job->status[job->index[i]] = job->sent[i].status;
        if (ret)
            ret[job->index[i]] = job->sent[i];
    }
    for (size_t i = 0; i < call_op->u.batch.count; i++) {
        if (first == LBX_OK)
            first = job->status[i];
        if (ret && job->status[i] != LBX_OK)
            ret[i] = (lbx_sent_letter){.status = job->status[i]};
    }
    return first;
}

/* PBSEND-1, for a send that did not start. */
static lbx_status
send_report_all(const lbx__call_op *call_op, lbx_status status)
{
    for (size_t i = 0; call_op->u.batch.ret && i < call_op->u.batch.count; i++)
        call_op->u.batch.ret[i] = (lbx_sent_letter){.status = status};
    return status;
}

static lbx_status
send_begin(lbx__op *op)
{
    lbx__call_op *call_op = lbx__call_op_of(op);
    lbx_postbox *postbox = lbx__postbox_of(op);
    struct send_job *job = call_op->u.batch.job;

    if (lbx__postbox_closed(postbox))
        return send_report_all(call_op, LBX_CLOSED);
    // The size of the first draft is the distance to the others.
    if (call_op->u.batch.count > 1 &&
        lbx__draft_check(call_op->u.batch.what, NULL) != LBX_OK)
        return send_report_all(call_op, LBX_INVALID);
    if (!job) {
        job = lbx__alloc(postbox->allocator, sizeof(*job),
                         _Alignof(struct send_job));
        if (!job)
            return send_report_all(call_op, LBX_NO_MEMORY);
        call_op->u.batch.job = job;
    }
    job->request = (lbx_send_request){
        .box = postbox->box, .parcels = job->parcels, .sent = job->sent};
    job->packed = 0;
    send_pack_all(postbox, call_op->u.batch.what, call_op->u.batch.count, job);
    if (job->request.count == 0)
        return send_report(call_op, job);
    lbx__call_op_next(op, postbox->store, LBX_CALL_SEND, &job->request);
    return LBX_PENDING;
}

static lbx_status
send_step(lbx__op *op, lbx_status last)
{
    lbx__call_op *call_op = lbx__call_op_of(op);

    if (last == LBX_PENDING)
        return send_begin(op);
    if (!call_op->begun)
        return send_report_all(call_op, last);
    return lbx__postbox_note_status(lbx__postbox_of(op),
                                    send_report(call_op, call_op->u.batch.job));
}

static void
send_drop(lbx__op *op)
{
    lbx__call_op *call_op = lbx__call_op_of(op);
    struct send_job *job = call_op->u.batch.job;

    if (!job)
        return;
    for (size_t i = 0; i < job->packed; i++)
        lbx__draft_packed_fini(&job->packings[i]);
    job->packed = 0;
    if (!call_op->u.batch.given)
        lbx__free(lbx__postbox_of(op)->allocator, job, sizeof(*job));
    call_op->u.batch.job = NULL;
}

static const lbx__call_steps send_steps =
    LBX__CALL_STEPS(send_step, send_drop, LBX_TIMEOUT, true, false);

static bool
send_usable(const lbx_postbox *postbox, const lbx_draft *drafts, size_t count)
{
    return postbox && drafts && count >= 1 && count <= LBX_MAX_BATCH;
}

lbx_status
lbx_postbox_send_init(lbx_operation *operation, lbx_postbox *postbox,
                      const lbx_draft *drafts, size_t count,
                      lbx_sent_letter *ret, int64_t deadline_ns)
{
    lbx__op *op = lbx__op_of(operation);
    lbx__call_op *call_op;

    if (!op || !send_usable(postbox, drafts, count))
        return LBX_INVALID;
    lbx__postbox_op_ref(op, &send_steps, postbox, deadline_ns);
    call_op = lbx__call_op_of(op);
    call_op->u.batch.what = drafts;
    call_op->u.batch.count = count;
    call_op->u.batch.ret = ret;
    return LBX_OK;
}

lbx_status
lbx_postbox_send_batch(lbx_postbox *postbox, const lbx_draft *drafts,
                       size_t count, lbx_sent_letter *ret)
{
    lbx_operation operation;
    lbx__op *op = lbx__op_of(&operation);
    lbx__call_op *call_op = lbx__call_op_of(op);
    struct send_job job;

    if (!send_usable(postbox, drafts, count))
        return LBX_INVALID;
    lbx__postbox_op(op, &send_steps, postbox, LBX_FOREVER);
    call_op->u.batch.what = drafts;
    call_op->u.batch.count = count;
    call_op->u.batch.ret = ret;
    call_op->u.batch.job = &job;
    call_op->u.batch.given = true;
    job.packed = 0;
    return lbx__call_op_run(op);
}

lbx_status
lbx_postbox_send_draft(lbx_postbox *postbox, const lbx_draft *draft,
                       lbx_sent_letter *ret)
{
    return lbx_postbox_send_batch(postbox, draft, 1, ret);
}

lbx_status
lbx_postbox_send(lbx_postbox *postbox, const void *bytes, size_t size_bytes,
                 lbx_id *ret_id)
{
    const lbx_draft draft = lbx_draft_of_bytes(bytes, size_bytes);
    lbx_sent_letter sent;
    lbx_status status = lbx_postbox_send_batch(postbox, &draft, 1, &sent);

    if (status == LBX_OK && ret_id)
        *ret_id = sent.id;
    return status;
}
