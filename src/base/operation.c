/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions on operations: they check arguments and call the
 * kind. */
#include "base/op.h"

lbx_status
lbx_operation_poll(lbx_operation *operation, const lbx_waker *waker)
{
    lbx__op *op = lbx__op_of(operation);

    if (!op || !op->ops)
        return LBX_INVALID;
    if (op->status == LBX_PENDING)
        op->status = op->ops->poll(op, waker);
    return op->status; // OPER-1
}

lbx_status
lbx_operation_cancel(lbx_operation *operation)
{
    lbx__op *op = lbx__op_of(operation);

    if (!op || !op->ops)
        return LBX_INVALID;
    if (op->status == LBX_PENDING)
        op->status = op->ops->leave(op, LBX_CANCELLED);
    return op->status;
}

void
lbx_operation_fini(lbx_operation *operation)
{
    lbx__op *op = lbx__op_of(operation);

    if (!op || !op->ops)
        return;
    (void)lbx_operation_cancel(operation);
    op->ops->release(op);
    op->ops = NULL;
}

lbx_status
lbx_operation_restart(lbx_operation *operation, int64_t deadline_ns)
{
    lbx__op *op = lbx__op_of(operation);

    if (!op || !op->ops)
        return LBX_INVALID;
    if (op->status == LBX_PENDING)
        return LBX_BUSY;
    if (!op->ops->again)
        return LBX_UNSUPPORTED;
    op->status = LBX_PENDING;
    lbx__op_set_deadline(op, deadline_ns);
    return LBX_OK;
}

lbx_status
lbx_operation_status(const lbx_operation *operation)
{
    const lbx__op *op = (const lbx__op *)(const void *)operation;

    if (!op || !op->ops)
        return LBX_INVALID;
    return op->status;
}

int64_t
lbx_operation_deadline(const lbx_operation *operation)
{
    const lbx__op *op = (const lbx__op *)(const void *)operation;

    if (!op || !op->ops || op->status != LBX_PENDING)
        return LBX_FOREVER;
    return op->poll_by_ns;
}

lbx_status
lbx_operation_wait(lbx_operation *operation)
{
    lbx__op *op = lbx__op_of(operation);

    if (!op || !op->ops)
        return LBX_INVALID;
    if (op->status != LBX_PENDING)
        return op->status;
    return lbx__op_wait(op);
}
