/* SPDX-License-Identifier: Apache-2.0 */
/* Replies. P1 and P2 are in reply.h. */
#include "post/reply.h"

#include "base/alloc.h"
#include "base/fault.h"

#include <assert.h>

/* Where a body of this type is led to; NULL. */
static const char *
place_of(const lbx_letter *letter, const lbx_draft *draft)
{
    const lbx_type *type = lbx__postbox_type_of(letter->postbox, draft);

    return type ? lbx_routes_place(letter->routes, type)
                : lbx_routes_place_of_name(letter->routes, draft->type_name);
}

static const char *
type_name_of(const lbx_draft *draft)
{
    const char *name =
        draft->type ? lbx_type_name(draft->type) : draft->type_name;

    return name ? name : "no type";
}

static lbx_status
find(const lbx_letter *letter, const lbx_draft *draft, lbx_fault *fault,
     lbx_postbox **ret)
{
    const char *place;
    lbx_status status;

    if (!letter->routes)
        return lbx__fault_set(fault, LBX_NO_REPLY, "the letter has no routes");
    place = place_of(letter, draft);
    if (!place)
        return lbx__fault_set(fault, LBX_NO_ROUTE, "no route for %.200s",
                              type_name_of(draft));
    status = lbx__postbox_resolve(letter->postbox, place, ret, NULL);
    if (status == LBX_OK && !*ret)
        status = LBX_NOT_FOUND; // a resolver that says OK and has nothing
    if (status == LBX_NOT_FOUND || status == LBX_INVALID)
        return lbx__fault_set(fault, LBX_NO_REPLY, "there is no %.200s", place);
    if (status != LBX_OK)
        return lbx__fault_set(fault, status, "%.160s: %s", place,
                              lbx_status_text(status));
    return LBX_OK;
}

/* Whether the letter's postbox lets such a reply out. */
static bool
allowed(const lbx_letter *letter, const lbx_draft *draft)
{
    const lbx_postbox *postbox = letter->postbox;

    return draft->version == LBX_DRAFT_VERSION &&
           !postbox->options.no_replies &&
           lbx__postbox_takes(postbox, draft, postbox->options.reply_type);
}

lbx_status
lbx__reply_init(lbx__reply *reply, const lbx_letter *letter,
                const lbx_draft *draft, lbx_fault *fault)
{
    lbx_postbox *to;
    lbx_status status = lbx__letter_unsettled(letter);

    *reply = (lbx__reply){.sent = {.status = LBX_PENDING}};
    if (status == LBX_OK && !allowed(letter, draft))
        status =
            lbx__fault_set(fault, LBX_INVALID, "no reply of %.200s is expected",
                           type_name_of(draft));
    if (status == LBX_OK)
        status = find(letter, draft, fault, &reply->to);
    if (status != LBX_OK)
        return status;
    to = reply->to;
    assert(to);
    if (lbx__postbox_closed(to))
        return lbx__fault_set(fault, LBX_CLOSED, "postbox %s is closed",
                              to->name);
    if (!lbx__postbox_takes(to, draft, to->options.body_type))
        return lbx__fault_set(fault, LBX_INVALID, "postbox %s takes no %.100s",
                              to->name, type_name_of(draft));
    reply->draft = *draft;
    if (!draft->in_reply_to)
        reply->draft.in_reply_to = letter->delivery.id.text; // P2
    if (to->rules.fifo && !draft->group)
        reply->draft.group = letter->delivery.parcel.group
                                 ? letter->delivery.parcel.group
                                 : letter->delivery.id.text;
    status = lbx__draft_pack(&reply->packing, &reply->draft, &to->rules,
                             to->allocator);
    reply->attachment =
        (lbx_attachment){to->box, &reply->packing.parcel, &reply->sent};
    return lbx__draft_explain(&reply->draft, &to->rules, status, fault);
}

lbx_status
lbx__reply_init_to(lbx__reply *reply, const lbx_letter *letter,
                   const lbx_draft *draft, lbx_postbox *to)
{
    lbx_status status = lbx__letter_unsettled(letter);

    *reply = (lbx__reply){.sent = {.status = LBX_PENDING}};
    if (status == LBX_OK && lbx__postbox_closed(to))
        status = LBX_CLOSED;
    if (status != LBX_OK)
        return status;
    reply->to = lbx_postbox_ref(to);
    status = lbx__postbox_pack(to, draft, &reply->packing);
    reply->attachment =
        (lbx_attachment){to->box, &reply->packing.parcel, &reply->sent};
    return status;
}

void
lbx__reply_fini(lbx__reply *reply)
{
    lbx__draft_packed_fini(&reply->packing);
    lbx_postbox_unref(reply->to);
    reply->to = NULL;
}

lbx_send_request
lbx__reply_request(lbx__reply *reply)
{
    return (lbx_send_request){
        .box = reply->to->box,
        .parcels = &reply->packing.parcel,
        .count = 1,
        .sent = &reply->sent,
    };
}

/* A reply by itself. */
struct job {
    lbx__reply reply;
    lbx_send_request request;
};

static lbx_status
tell(const lbx__called *called, const struct job *job, lbx_status status)
{
    if (called->u.batch.ret) {
        *called->u.batch.ret = (lbx_sent){.status = status};
        if (status == LBX_OK && job)
            *called->u.batch.ret = job->reply.sent;
    }
    return lbx__fault_complete(called->u.batch.fault, status, "the reply",
                               NULL);
}

static lbx_status
begin(lbx__op *op)
{
    lbx__called *called = lbx__called_of(op);
    const lbx_letter *letter = called->u.batch.what;
    struct job *job = called->u.batch.job;
    lbx_status status;

    if (!job) {
        job = lbx__zalloc(letter->postbox->allocator, sizeof(*job));
        called->u.batch.job = job;
        if (!job)
            return tell(called, NULL, LBX_NO_MEMORY);
    }
    status = lbx__reply_init(&job->reply, letter, called->u.batch.replies,
                             called->u.batch.fault);
    if (status != LBX_OK)
        return tell(called, job, status);
    job->request = lbx__reply_request(&job->reply);
    lbx__called_next(op, job->reply.to->store, LBX_VERB_SEND, &job->request);
    return LBX_PENDING;
}

static lbx_status
reply_step(lbx__op *op, lbx_status last)
{
    lbx__called *called = lbx__called_of(op);
    struct job *job = called->u.batch.job;

    if (last == LBX_PENDING)
        return begin(op);
    if (!called->begun)
        return tell(called, NULL, last);
    return tell(called, job, lbx__postbox_heard(job->reply.to, last));
}

static void
reply_drop(lbx__op *op)
{
    lbx__called *called = lbx__called_of(op);
    struct job *job = called->u.batch.job;

    if (!job)
        return;
    if (called->begun)
        lbx__reply_fini(&job->reply);
    if (!called->u.batch.given)
        lbx__free(lbx__postbox_of(op)->allocator, job, sizeof(*job));
}

static const lbx__steps reply_steps =
    LBX__STEPS(reply_step, reply_drop, LBX_TIMEOUT, false, false);

lbx_status
lbx_letter_reply_init(lbx_operation *operation, lbx_letter *letter,
                      const lbx_draft *reply, lbx_sent *ret_sent,
                      lbx_fault *ret_fault)
{
    lbx__op *op = lbx__op_of(operation);
    lbx__called *called;

    if (!op || !letter || !reply)
        return lbx__fault_set(ret_fault, LBX_INVALID, "%s is NULL",
                              !op       ? "the operation"
                              : !letter ? "the letter"
                                        : "the reply");
    lbx__fault_clear(ret_fault);
    lbx__postbox_op_keep(op, &reply_steps, letter->postbox, LBX_FOREVER);
    called = lbx__called_of(op);
    called->u.batch.what = letter;
    called->u.batch.replies = reply;
    called->u.batch.ret = ret_sent;
    called->u.batch.fault = ret_fault;
    return LBX_OK;
}

lbx_status
lbx_letter_reply(lbx_letter *letter, const lbx_draft *reply, lbx_sent *ret_sent,
                 lbx_fault *ret_fault)
{
    lbx_operation operation;
    lbx__op *op = lbx__op_of(&operation);
    lbx__called *called = lbx__called_of(op);
    struct job job;

    if (!letter || !reply)
        return lbx__fault_set(ret_fault, LBX_INVALID, "%s is NULL",
                              letter ? "the reply" : "the letter");
    lbx__fault_clear(ret_fault);
    lbx__postbox_op(op, &reply_steps, letter->postbox, LBX_FOREVER);
    called->u.batch.fault = ret_fault;
    called->u.batch.what = letter;
    called->u.batch.replies = reply;
    called->u.batch.ret = ret_sent;
    called->u.batch.job = &job;
    called->u.batch.given = true;
    return lbx__called_run(op);
}
