/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sending: drafts become parcels, those that can be sent go to the store in one
 * call, and each draft is told what became of it.
 *
 * D1  Every lbx_sent that was given is written, whatever happens.
 * D2  A draft that is refused here does not hold up the others.
 */
#include "post/postbox.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "post/rules/row.h"

struct job {
    lbx_send_request request;
    size_t packed;                     /* drafts that were looked at */
    size_t index[LBX_BATCH_MOST];      /* of each parcel: its draft */
    lbx_status status[LBX_BATCH_MOST]; /* of each draft, before the store */
    lbx_parcel parcels[LBX_BATCH_MOST];
    lbx_sent sent[LBX_BATCH_MOST];
    lbx__draft_packed packings[LBX_BATCH_MOST];
};

lbx_status
lbx__postbox_pack(lbx_postbox *postbox, const lbx_draft *draft,
                  lbx__draft_packed *packing)
{
    lbx_status status =
        lbx__draft_pack(packing, draft, &postbox->rules, postbox->allocator);

    if (status != LBX_OK)
        return status;
    if (!lbx__postbox_takes(postbox, draft, postbox->options.body_type))
        return LBX_INVALID;
    return lbx__postbox_make_places(postbox, draft->routes);
}

lbx_status
lbx_postbox_check_draft(lbx_postbox *postbox, const lbx_draft *draft,
                        lbx_fault *ret_fault)
{
    lbx__draft_packed packing;
    lbx_status status;

    if (!postbox || !draft)
        return lbx__fault_set(ret_fault, LBX_INVALID, "no %s was given",
                              postbox ? "draft" : "postbox");
    if (lbx__postbox_closed(postbox))
        return lbx__fault_set(ret_fault, LBX_CLOSED, "postbox %s is closed",
                              postbox->name);
    status =
        lbx__draft_pack(&packing, draft, &postbox->rules, postbox->allocator);
    lbx__draft_packed_fini(&packing);
    if (status == LBX_INVALID || status == LBX_TOO_LARGE)
        return lbx__draft_explain(draft, &postbox->rules, status, ret_fault);
    if (status != LBX_OK)
        return lbx__fault_set(ret_fault, status, "%s", lbx_status_text(status));
    if (!lbx__postbox_takes(postbox, draft, postbox->options.body_type))
        return lbx__fault_set(ret_fault, LBX_INVALID,
                              "postbox %s takes no letters of this type",
                              postbox->name);
    return LBX_OK;
}

static void
pack(lbx_postbox *postbox, const lbx_draft *drafts, size_t count,
     struct job *job)
{
    int64_t bytes = 0;

    for (size_t i = 0; i < count; i++) {
        lbx__draft_packed *packing = &job->packings[i];

        job->status[i] = lbx__postbox_pack(postbox, &drafts[i], packing);
        job->packed++;
        if (job->status[i] != LBX_OK)
            continue;
        bytes += lbx__body_parcel_bytes(&packing->parcel);
        job->parcels[job->request.count] = packing->parcel;
        job->index[job->request.count++] = i;
    }
    if (bytes <= postbox->rules.limits.batch_most_bytes)
        return;
    job->request.count = 0;
    for (size_t i = 0; i < count; i++)
        job->status[i] = LBX_TOO_LARGE;
}

/* D1: tells each draft, and answers the first failure. */
static lbx_status
tell(const lbx__called *called, struct job *job)
{
    lbx_sent *ret = called->u.batch.ret;
    lbx_status first = LBX_OK;

    for (size_t i = 0; i < job->request.count; i++) {
        job->status[job->index[i]] = job->sent[i].status;
        if (ret)
            ret[job->index[i]] = job->sent[i];
    }
    for (size_t i = 0; i < called->u.batch.count; i++) {
        if (first == LBX_OK)
            first = job->status[i];
        if (ret && job->status[i] != LBX_OK)
            ret[i] = (lbx_sent){.status = job->status[i]};
    }
    return first;
}

/* D1, for a send that never began. */
static lbx_status
tell_all(const lbx__called *called, lbx_status status)
{
    for (size_t i = 0; called->u.batch.ret && i < called->u.batch.count; i++)
        called->u.batch.ret[i] = (lbx_sent){.status = status};
    return status;
}

static lbx_status
begin(lbx__op *op)
{
    lbx__called *called = lbx__called_of(op);
    lbx_postbox *postbox = lbx__postbox_of(op);
    struct job *job = called->u.batch.job;

    if (lbx__postbox_closed(postbox))
        return tell_all(called, LBX_CLOSED);
    if (!job) {
        job =
            lbx__alloc(postbox->allocator, sizeof(*job), _Alignof(struct job));
        if (!job)
            return tell_all(called, LBX_NO_MEMORY);
        called->u.batch.job = job;
    }
    job->request = (lbx_send_request){
        .box = postbox->box, .parcels = job->parcels, .sent = job->sent};
    job->packed = 0;
    pack(postbox, called->u.batch.what, called->u.batch.count, job);
    if (job->request.count == 0)
        return tell(called, job);
    lbx__called_next(op, postbox->store, LBX_VERB_SEND, &job->request);
    return LBX_PENDING;
}

static lbx_status
send_step(lbx__op *op, lbx_status last)
{
    lbx__called *called = lbx__called_of(op);

    if (last == LBX_PENDING)
        return begin(op);
    if (!called->begun)
        return tell_all(called, last);
    return lbx__postbox_heard(lbx__postbox_of(op),
                              tell(called, called->u.batch.job));
}

static void
send_drop(lbx__op *op)
{
    lbx__called *called = lbx__called_of(op);
    struct job *job = called->u.batch.job;

    if (!job)
        return;
    for (size_t i = 0; i < job->packed; i++)
        lbx__draft_packed_fini(&job->packings[i]);
    job->packed = 0;
    if (!called->u.batch.given)
        lbx__free(lbx__postbox_of(op)->allocator, job, sizeof(*job));
    called->u.batch.job = NULL;
}

static const lbx__steps send_steps =
    LBX__STEPS(send_step, send_drop, LBX_TIMEOUT, true, false);

static bool
usable(const lbx_postbox *postbox, const lbx_draft *drafts, size_t count)
{
    return postbox && drafts && count >= 1 && count <= LBX_BATCH_MOST;
}

lbx_status
lbx_postbox_send_init(lbx_operation *operation, lbx_postbox *postbox,
                      const lbx_draft *drafts, size_t count, lbx_sent *ret,
                      int64_t deadline_ns)
{
    lbx__op *op = lbx__op_of(operation);
    lbx__called *called;

    if (!op || !usable(postbox, drafts, count))
        return LBX_INVALID;
    lbx__postbox_op_keep(op, &send_steps, postbox, deadline_ns);
    called = lbx__called_of(op);
    called->u.batch.what = drafts;
    called->u.batch.count = count;
    called->u.batch.ret = ret;
    return LBX_OK;
}

lbx_status
lbx_postbox_send_batch(lbx_postbox *postbox, const lbx_draft *drafts,
                       size_t count, lbx_sent *ret)
{
    lbx_operation operation;
    lbx__op *op = lbx__op_of(&operation);
    lbx__called *called = lbx__called_of(op);
    struct job job;

    if (!usable(postbox, drafts, count))
        return LBX_INVALID;
    lbx__postbox_op(op, &send_steps, postbox, LBX_FOREVER);
    called->u.batch.what = drafts;
    called->u.batch.count = count;
    called->u.batch.ret = ret;
    called->u.batch.job = &job;
    called->u.batch.given = true;
    job.packed = 0;
    return lbx__called_run(op);
}

lbx_status
lbx_postbox_send_draft(lbx_postbox *postbox, const lbx_draft *draft,
                       lbx_sent *ret)
{
    return lbx_postbox_send_batch(postbox, draft, 1, ret);
}

lbx_status
lbx_postbox_send(lbx_postbox *postbox, const void *bytes, size_t size_bytes,
                 lbx_id *ret_id)
{
    const lbx_draft draft = lbx_draft_of_bytes(bytes, size_bytes);
    lbx_sent sent;
    lbx_status status = lbx_postbox_send_batch(postbox, &draft, 1, &sent);

    if (status == LBX_OK && ret_id)
        *ret_id = sent.id;
    return status;
}
