/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting and purging.
 *
 * A store without a purge has its letters received and acknowledged, ten at a
 * time, until there are none: those that others have leased stay.
 */
#include "post/postbox.h"

#include "base/alloc.h"

struct job {
    lbx_box_request request;

    /* A purge by receiving. */
    uint64_t purged;
    lbx_receive_request receive;
    lbx_settle_request settle;
    lbx_settle_entry entries[LBX_BATCH_MOST];
};

/* The job, made if need be; NULL. */
static struct job *
begin(lbx__op *op)
{
    lbx__called *called = lbx__called_of(op);
    lbx_postbox *postbox = lbx__postbox_of(op);
    struct job *job = called->u.box.job;

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
drop(lbx__op *op)
{
    lbx__called *called = lbx__called_of(op);

    lbx__letters_destroy(called->first);
    called->first = NULL;
    if (!called->u.box.given)
        lbx__free(lbx__postbox_of(op)->allocator, called->u.box.job,
                  sizeof(struct job));
    called->u.box.job = NULL;
}

/* NOT_FOUND of this life of a box is its end. */
static lbx_status
heard(lbx__op *op, lbx_status status)
{
    return lbx__postbox_heard(lbx__postbox_of(op),
                              status == LBX_NOT_FOUND ? LBX_CLOSED : status);
}

static lbx_status
count_step(lbx__op *op, lbx_status last)
{
    lbx__called *called = lbx__called_of(op);
    lbx_postbox *postbox = lbx__postbox_of(op);
    struct job *job;

    if (last != LBX_PENDING)
        return heard(op, last);
    if (lbx__postbox_closed(postbox))
        return LBX_CLOSED;
    job = begin(op);
    if (!job)
        return LBX_NO_MEMORY;
    job->request.ret_counts = called->u.box.ret;
    lbx__called_next(op, postbox->store, LBX_VERB_DESCRIBE, &job->request);
    return LBX_PENDING;
}

static const lbx__steps count_steps =
    LBX__STEPS(count_step, drop, LBX_TIMEOUT, true, true);

/* Purging by receiving: the next ten. */
static lbx_status
receive_some(lbx__op *op, struct job *job)
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
settle_some(lbx__op *op, struct job *job)
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
purge_by_receiving(lbx__op *op, struct job *job, lbx_status last)
{
    lbx__called *called = lbx__called_of(op);

    if (called->call.verb == LBX_VERB_RECEIVE) {
        if (last == LBX_OK && called->first)
            return settle_some(op, job);
        return last == LBX_EMPTY ? LBX_OK : last;
    }
    for (size_t i = 0; i < job->settle.count; i++)
        job->purged += job->entries[i].status == LBX_OK;
    lbx__letters_destroy(called->first);
    called->first = NULL;
    called->last = NULL;
    return last == LBX_OK ? receive_some(op, job) : last;
}

static lbx_status
purge_begin(lbx__op *op)
{
    lbx_postbox *postbox = lbx__postbox_of(op);
    struct job *job;

    if (lbx__postbox_closed(postbox))
        return LBX_CLOSED;
    job = begin(op);
    if (!job)
        return LBX_NO_MEMORY;
    if (!lbx__store_can_purge(postbox->store))
        return receive_some(op, job);
    lbx__called_next(op, postbox->store, LBX_VERB_PURGE, &job->request);
    return LBX_PENDING;
}

static lbx_status
purge_step(lbx__op *op, lbx_status last)
{
    lbx__called *called = lbx__called_of(op);
    struct job *job = called->u.box.job;
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
    return heard(op, last);
}

static const lbx__steps purge_steps =
    LBX__STEPS(purge_step, drop, LBX_TIMEOUT, true, true);

static lbx_status
start(lbx_operation *operation, const lbx__steps *steps, lbx_postbox *postbox,
      void *ret)
{
    lbx__op *op = lbx__op_of(operation);

    if (!op || !postbox)
        return LBX_INVALID;
    lbx__postbox_op_keep(op, steps, postbox, LBX_FOREVER);
    lbx__called_of(op)->u.box.ret = ret;
    return LBX_OK;
}

static lbx_status
run(const lbx__steps *steps, lbx_postbox *postbox, void *ret)
{
    lbx_operation operation;
    lbx__op *op = lbx__op_of(&operation);
    struct job job;

    if (!postbox)
        return LBX_INVALID;
    lbx__postbox_op(op, steps, postbox, LBX_FOREVER);
    lbx__called_of(op)->u.box.ret = ret;
    lbx__called_of(op)->u.box.job = &job;
    lbx__called_of(op)->u.box.given = true;
    return lbx__called_run(op);
}

lbx_status
lbx_postbox_count_init(lbx_operation *operation, lbx_postbox *postbox,
                       lbx_box_counts *ret)
{
    return ret ? start(operation, &count_steps, postbox, ret) : LBX_INVALID;
}

lbx_status
lbx_postbox_count(lbx_postbox *postbox, lbx_box_counts *ret)
{
    return ret ? run(&count_steps, postbox, ret) : LBX_INVALID;
}

lbx_status
lbx_postbox_purge_init(lbx_operation *operation, lbx_postbox *postbox,
                       uint64_t *ret_count)
{
    return start(operation, &purge_steps, postbox, ret_count);
}

lbx_status
lbx_postbox_purge(lbx_postbox *postbox, uint64_t *ret_count)
{
    return run(&purge_steps, postbox, ret_count);
}
