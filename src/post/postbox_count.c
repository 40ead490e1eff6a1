/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting the letters of a postbox: one call of the store, which describes the
 * box.
 */
#include "post/postbox.h"

#include "base/alloc.h"

/* The request of an operation, allocated if the caller has none; NULL when
 * there is no memory. */
static lbx_box_request *
count_request(lbx__op *op)
{
    lbx__call_op *call_op = lbx__call_op_of(op);

    if (!call_op->u.box.job)
        call_op->u.box.job = lbx__zalloc(lbx__postbox_of(op)->allocator,
                                         sizeof(lbx_box_request));
    return call_op->u.box.job;
}

static lbx_status
count_step(lbx__op *op, lbx_status last)
{
    lbx__call_op *call_op = lbx__call_op_of(op);
    lbx_postbox *postbox = lbx__postbox_of(op);
    lbx_box_request *request;

    if (last != LBX_PENDING)
        return lbx__postbox_note_box_status(postbox, last);
    if (lbx__postbox_closed(postbox))
        return LBX_CLOSED;
    request = count_request(op);
    if (!request)
        return LBX_NO_MEMORY;
    *request = (lbx_box_request){
        .box = postbox->box,
        .ret_counts = call_op->u.box.ret,
    };
    lbx__call_op_next(op, postbox->store, LBX_CALL_DESCRIBE, request);
    return LBX_PENDING;
}

static void
count_drop(lbx__op *op)
{
    lbx__call_op *call_op = lbx__call_op_of(op);

    if (!call_op->u.box.given)
        lbx__free(lbx__postbox_of(op)->allocator, call_op->u.box.job,
                  sizeof(lbx_box_request));
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
    lbx_box_request request;

    if (!postbox || !ret)
        return LBX_INVALID;
    lbx__postbox_op(op, &count_steps, postbox, LBX_FOREVER);
    lbx__call_op_of(op)->u.box.ret = ret;
    lbx__call_op_of(op)->u.box.job = &request;
    lbx__call_op_of(op)->u.box.given = true;
    return lbx__call_op_run(op);
}
