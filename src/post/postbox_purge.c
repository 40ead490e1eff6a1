/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Purging a postbox.
 *
 * Where the store has no purge, its letters are received and acknowledged, ten
 * at a time, until none is ready: letters that are leased stay.
 */
#include "post/postbox.h"

#include "base/alloc.h"

struct purge_job {
    lbx_box_request request;

    /* For a purge by receiving. */
    uint64_t purged;
    lbx_receive_request receive;
    lbx_settle_request settle;
    lbx_settle_request_entry entries[LBX_MAX_BATCH];
};

/* The job, allocated if the caller has none; NULL: no memory. */
static struct purge_job *
purge_job(lbx__op *op)
{
    lbx__call_op *call_op = lbx__call_op_of(op);
    lbx_postbox *postbox = lbx__postbox_of(op);
    struct purge_job *job = call_op->u.box.job;

    if (!job)
        job = lbx__zalloc(postbox->allocator, sizeof(*job));
    call_op->u.box.job = job;
    if (job) {
        job->request = (lbx_box_request){.box = postbox->box};
        job->purged = 0;
    }
    return job;
}

static void
purge_drop(lbx__op *op)
{
    lbx__call_op *call_op = lbx__call_op_of(op);

    lbx__letter_destroy_all(call_op->first);
    call_op->first = NULL;
    if (!call_op->u.box.given)
        lbx__free(lbx__postbox_of(op)->allocator, call_op->u.box.job,
                  sizeof(struct purge_job));
    call_op->u.box.job = NULL;
}

/* Purge by receiving: the next batch. */
static lbx_status
purge_receive(lbx__op *op, struct purge_job *job)
{
    lbx_postbox *postbox = lbx__postbox_of(op);

    job->receive = (lbx_receive_request){
        .box = postbox->box,
        .max_letters = LBX_MAX_BATCH,
        .min_letters = 1,
        .lease_ns = postbox->rules.lease_ns,
    };
    lbx__call_op_next(op, postbox->store, LBX_CALL_RECEIVE, &job->receive);
    return LBX_PENDING;
}

/* Acknowledges what was received. */
static lbx_status
purge_settle(lbx__op *op, struct purge_job *job)
{
    lbx__call_op *call_op = lbx__call_op_of(op);
    lbx_postbox *postbox = lbx__postbox_of(op);

    job->settle =
        (lbx_settle_request){.box = postbox->box, .entries = job->entries};
    for (const lbx_letter *letter = call_op->first;
         letter && job->settle.count < LBX_MAX_BATCH; letter = letter->next) {
        job->entries[job->settle.count++] = (lbx_settle_request_entry){
            .action = LBX_SETTLE_ACKNOWLEDGE,
            .receipt = letter->delivery.receipt,
            .receipt_bytes = letter->delivery.receipt_bytes,
        };
    }
    lbx__call_op_next(op, postbox->store, LBX_CALL_SETTLE, &job->settle);
    return LBX_PENDING;
}

static lbx_status
purge_by_receiving(lbx__op *op, struct purge_job *job, lbx_status last)
{
    lbx__call_op *call_op = lbx__call_op_of(op);

    if (call_op->call.kind == LBX_CALL_RECEIVE) {
        if (last == LBX_OK && call_op->first)
            return purge_settle(op, job);
        return last == LBX_EMPTY ? LBX_OK : last;
    }
    for (size_t i = 0; i < job->settle.count; i++)
        job->purged += job->entries[i].status == LBX_OK;
    lbx__letter_destroy_all(call_op->first);
    call_op->first = NULL;
    call_op->last = NULL;
    return last == LBX_OK ? purge_receive(op, job) : last;
}

static lbx_status
purge_begin(lbx__op *op)
{
    lbx_postbox *postbox = lbx__postbox_of(op);
    struct purge_job *job;

    if (lbx__postbox_closed(postbox))
        return LBX_CLOSED;
    job = purge_job(op);
    if (!job)
        return LBX_NO_MEMORY;
    if (!lbx__store_call_has_purge(postbox->store))
        return purge_receive(op, job);
    lbx__call_op_next(op, postbox->store, LBX_CALL_PURGE, &job->request);
    return LBX_PENDING;
}

static lbx_status
purge_step(lbx__op *op, lbx_status last)
{
    lbx__call_op *call_op = lbx__call_op_of(op);
    struct purge_job *job = call_op->u.box.job;
    uint64_t *ret = call_op->u.box.ret;

    if (last == LBX_PENDING)
        return purge_begin(op);
    if (!call_op->begun)
        return last;
    if (call_op->call.kind != LBX_CALL_PURGE) {
        last = purge_by_receiving(op, job, last);
        if (last == LBX_PENDING)
            return last;
        job->request.ret_purged = job->purged;
    }
    if (last == LBX_OK && ret)
        *ret = job->request.ret_purged;
    return lbx__postbox_note_box_status(lbx__postbox_of(op), last);
}

static const lbx__call_steps purge_steps =
    LBX__CALL_STEPS(purge_step, purge_drop, LBX_TIMEOUT, true, true);

lbx_status
lbx_postbox_purge_init(lbx_operation *operation, lbx_postbox *postbox,
                       uint64_t *ret_count)
{
    lbx__op *op = lbx__op_of(operation);

    if (!op || !postbox)
        return LBX_INVALID;
    lbx__postbox_op_ref(op, &purge_steps, postbox, LBX_FOREVER);
    lbx__call_op_of(op)->u.box.ret = ret_count;
    return LBX_OK;
}

lbx_status
lbx_postbox_purge(lbx_postbox *postbox, uint64_t *ret_count)
{
    lbx_operation operation;
    lbx__op *op = lbx__op_of(&operation);
    struct purge_job job;

    if (!postbox)
        return LBX_INVALID;
    lbx__postbox_op(op, &purge_steps, postbox, LBX_FOREVER);
    lbx__call_op_of(op)->u.box.ret = ret_count;
    lbx__call_op_of(op)->u.box.job = &job;
    lbx__call_op_of(op)->u.box.given = true;
    return lbx__call_op_run(op);
}
