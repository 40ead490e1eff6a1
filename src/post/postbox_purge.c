/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Purging a postbox.
 *
 * Where the store has no purge, its letters are received and acknowledged, ten at
 * a time, until none is ready: letters that are leased stay.
 */
#include "post/postbox.h"

#include "base/alloc.h"

struct purge_job {
    lbx_box_request request;

    /* A purge by receiving. */
    uint64_t purged;
    lbx_receive_request receive;
    lbx_settle_request settle;
    lbx_settle_entry entries[LBX_BATCH_MOST];
};

/* The job, made if need be; NULL. */
static struct purge_job *
purge_job(lbx__op *op)
{
    lbx__called *called = lbx__called_of(op);
    lbx_postbox *postbox = lbx__postbox_of(op);
    struct purge_job *job = called->u.box.job;

    if (!job)
        job = lbx__zalloc(postbox->allocator, sizeof(*job));
    called->u.box.job = job;
    if (job) {
        job->request = (lbx_box_request){.box = postbox->box};
        job->purged = 0;
    }
    return job;
}

static void
purge_drop(lbx__op *op)
{
    lbx__called *called = lbx__called_of(op);

    lbx__letter_destroy_all(called->first);
    called->first = NULL;
    if (!called->u.box.given)
        lbx__free(lbx__postbox_of(op)->allocator, called->u.box.job,
                  sizeof(struct purge_job));
    called->u.box.job = NULL;
}

/* Purging by receiving: the next ten. */
static lbx_status
purge_receive(lbx__op *op, struct purge_job *job)
{
    lbx_postbox *postbox = lbx__postbox_of(op);

    job->receive = (lbx_receive_request){
        .box = postbox->box,
        .letters_most = LBX_BATCH_MOST,
        .letters_least = 1,
        .lease_ns = postbox->rules.lease_ns,
    };
    lbx__called_next(op, postbox->store, LBX_VERB_RECEIVE, &job->receive);
    return LBX_PENDING;
}

/* And away with them. */
static lbx_status
purge_settle(lbx__op *op, struct purge_job *job)
{
    lbx__called *called = lbx__called_of(op);
    lbx_postbox *postbox = lbx__postbox_of(op);

    job->settle =
        (lbx_settle_request){.box = postbox->box, .entries = job->entries};
    for (const lbx_letter *letter = called->first;
         letter && job->settle.count < LBX_BATCH_MOST; letter = letter->next) {
        job->entries[job->settle.count++] = (lbx_settle_entry){
            .what = LBX_ACKNOWLEDGE,
            .receipt = letter->delivery.receipt,
            .receipt_bytes = letter->delivery.receipt_bytes,
        };
    }
    lbx__called_next(op, postbox->store, LBX_VERB_SETTLE, &job->settle);
    return LBX_PENDING;
}

static lbx_status
purge_by_receiving(lbx__op *op, struct purge_job *job, lbx_status last)
{
    lbx__called *called = lbx__called_of(op);

    if (called->call.verb == LBX_VERB_RECEIVE) {
        if (last == LBX_OK && called->first)
            return purge_settle(op, job);
        return last == LBX_EMPTY ? LBX_OK : last;
    }
    for (size_t i = 0; i < job->settle.count; i++)
        job->purged += job->entries[i].status == LBX_OK;
    lbx__letter_destroy_all(called->first);
    called->first = NULL;
    called->last = NULL;
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
    if (!lbx__store_can_purge(postbox->store))
        return purge_receive(op, job);
    lbx__called_next(op, postbox->store, LBX_VERB_PURGE, &job->request);
    return LBX_PENDING;
}

static lbx_status
purge_step(lbx__op *op, lbx_status last)
{
    lbx__called *called = lbx__called_of(op);
    struct purge_job *job = called->u.box.job;
    uint64_t *ret = called->u.box.ret;

    if (last == LBX_PENDING)
        return purge_begin(op);
    if (!called->begun)
        return last;
    if (called->call.verb != LBX_VERB_PURGE) {
        last = purge_by_receiving(op, job, last);
        if (last == LBX_PENDING)
            return last;
        job->request.ret_purged = job->purged;
    }
    if (last == LBX_OK && ret)
        *ret = job->request.ret_purged;
    return lbx__postbox_heard_box(lbx__postbox_of(op), last);
}

static const lbx__steps purge_steps =
    LBX__STEPS(purge_step, purge_drop, LBX_TIMEOUT, true, true);

lbx_status
lbx_postbox_purge_init(lbx_operation *operation, lbx_postbox *postbox,
                       uint64_t *ret_count)
{
    lbx__op *op = lbx__op_of(operation);

    if (!op || !postbox)
        return LBX_INVALID;
    lbx__postbox_op_keep(op, &purge_steps, postbox, LBX_FOREVER);
    lbx__called_of(op)->u.box.ret = ret_count;
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
    lbx__called_of(op)->u.box.ret = ret_count;
    lbx__called_of(op)->u.box.job = &job;
    lbx__called_of(op)->u.box.given = true;
    return lbx__called_run(op);
}
