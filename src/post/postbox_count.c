/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting the letters of a postbox: one call of the store, which describes the
 * box.
 */
#include "post/postbox.h"

#include "base/alloc.h"
#include "base/sized.h"

/* A request, and what it is for. */
struct count_job {
    lbx_box_request request;
    lbx_box_counts counts;
};

/* The job of an operation, allocated if the caller has none; NULL when there is
 * no memory. */
static struct count_job *
count_job_of(lbx__op *op)
{
    lbx__call_op *call_op = lbx__call_op_of(op);

    if (!call_op->u.box.job)
        call_op->u.box.job = lbx__zalloc(lbx__postbox_of(op)->allocator,
                                         sizeof(struct count_job));
    return call_op->u.box.job;
}

static lbx_status
count_step(lbx__op *op, lbx_status last)
{
    lbx__call_op *call_op = lbx__call_op_of(op);
    lbx_postbox *postbox = lbx__postbox_of(op);
    struct count_job *job = call_op->u.box.job;

    if (last != LBX_PENDING) {
        last = lbx__postbox_note_box_status(postbox, last);
        return last == LBX_OK
                   ? LBX__SIZED_WRITE(call_op->u.box.ret, &job->counts,
                                      lbx_box_counts, oldest_ns)
                   : last;
    }
    if (lbx__postbox_closed(postbox))
        return LBX_CLOSED;
    job = count_job_of(op);
    if (!job)
        return LBX_NO_MEMORY;
    job->counts = (lbx_box_counts)LBX_BOX_COUNTS_INIT;
    job->request = (lbx_box_request){
        .box = postbox->box,
        .ret_counts = &job->counts,
    };
    lbx__call_op_next(op, postbox->store, LBX_CALL_DESCRIBE, &job->request);
    return LBX_PENDING;
}

static void
count_drop(lbx__op *op)
{
    lbx__call_op *call_op = lbx__call_op_of(op);

    if (!call_op->u.box.given)
        lbx__free(lbx__postbox_of(op)->allocator, call_op->u.box.job,
                  sizeof(struct count_job));
    call_op->u.box.job = NULL;
}

static const lbx__call_steps count_steps =
    LBX__CALL_STEPS(count_step, count_drop, LBX_TIMEOUT, true, true);

lbx_status
lbx_postbox_count_init(lbx_operation *operation, lbx_postbox *postbox,
                       lbx_box_counts *ret)
{
    lbx__op *op = lbx__op_of(operation);

    if (!op || !postbox || !ret)
        return LBX_INVALID;
    lbx__postbox_op_ref(op, &count_steps, postbox, LBX_FOREVER);
    lbx__call_op_of(op)->u.box.ret = ret;
    return LBX_OK;
}

lbx_status
lbx_postbox_count(lbx_postbox *postbox, lbx_box_counts *ret)
{
    lbx_operation operation;
    lbx__op *op = lbx__op_of(&operation);
    struct count_job job;

    if (!postbox || !ret)
        return LBX_INVALID;
    lbx__postbox_op(op, &count_steps, postbox, LBX_FOREVER);
    lbx__call_op_of(op)->u.box.ret = ret;
    lbx__call_op_of(op)->u.box.job = &job;
    lbx__call_op_of(op)->u.box.given = true;
    return lbx__call_op_run(op);
}
