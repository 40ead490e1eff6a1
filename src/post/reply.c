/* SPDX-License-Identifier: Apache-2.0 */
/* Replies: see reply.h, REPLY-1 and REPLY-2. */
#include "post/reply.h"

#include "base/alloc.h"
#include "base/fault.h"

#include <assert.h>

/* The address for replies of the draft's type; NULL. */
static const char *
reply_address(const lbx_letter *letter, const lbx_draft *draft)
{
    const lbx_type *type = lbx__postbox_type_of(letter->postbox, draft);

    return type ? lbx_routes_address(letter->routes, type)
                : lbx_routes_address_by_name(letter->routes, draft->type_name);
}

static const char *
reply_type_name(const lbx_draft *draft)
{
    const char *name =
        draft->type ? lbx_type_name(draft->type) : draft->type_name;

    return name ? name : "no type";
}

static lbx_status
reply_find(const lbx_letter *letter, const lbx_draft *draft, lbx_fault *fault,
           lbx_postbox **ret)
{
    const char *address;
    lbx_status status;

    if (!letter->routes)
        return lbx__fault_set(fault, LBX_NO_REPLY, "the letter has no routes");
    address = reply_address(letter, draft);
    if (!address)
        return lbx__fault_set(fault, LBX_NO_ROUTE,
                              "no route for %.100s; the letter's routes are %s",
                              reply_type_name(draft),
                              lbx_routes_json(letter->routes));
    status = lbx__postbox_resolve(letter->postbox, address, ret, NULL);
    if (status == LBX_OK && !*ret)
        status = LBX_NOT_FOUND; // the resolver returned OK and no postbox
    if (status == LBX_NOT_FOUND || status == LBX_INVALID)
        return lbx__fault_set(fault, LBX_NO_REPLY, "there is no %.200s",
                              address);
    if (status != LBX_OK)
        return lbx__fault_set(fault, status, "%.160s: %s", address,
                              lbx_status_text(status));
    return LBX_OK;
}

/* Whether the letter's postbox allows such a reply. */
static bool
reply_allowed(const lbx_letter *letter, const lbx_draft *draft)
{
    const lbx_postbox *postbox = letter->postbox;

    return !postbox->options.no_replies &&
           lbx__postbox_accepts(postbox, draft, postbox->options.reply_type);
}

lbx_status
lbx__reply_init(lbx__reply *reply, const lbx_letter *letter,
                const lbx_draft *given, lbx_fault *fault)
{
    lbx_draft own;
    const lbx_draft *draft = lbx__draft_view(given, &own, fault);
    lbx_postbox *to;
    lbx_status status = lbx__letter_unsettled(letter);

    *reply = (lbx__reply){.sent = {.status = LBX_PENDING}};
    if (status == LBX_OK && !draft)
        status = LBX_INVALID;
    if (status == LBX_OK && !reply_allowed(letter, draft))
        status =
            lbx__fault_set(fault, LBX_INVALID, "no reply of %.200s is expected",
                           reply_type_name(draft));
    if (status == LBX_OK)
        status = reply_find(letter, draft, fault, &reply->to);
    if (status != LBX_OK)
        return status;
    to = reply->to;
    assert(to);
    if (lbx__postbox_closed(to))
        return lbx__fault_set(fault, LBX_CLOSED, "postbox %s is closed",
                              to->name);
    if (!lbx__postbox_accepts(to, draft, to->options.body_type))
        return lbx__fault_set(fault, LBX_INVALID, "postbox %s takes no %.100s",
                              to->name, reply_type_name(draft));
    reply->draft = *draft;
    if (!draft->in_reply_to)
        reply->draft.in_reply_to = letter->delivery.id.text; // REPLY-2
    if (to->rules.fifo && !draft->group)
        reply->draft.group = letter->delivery.parcel.group
                                 ? letter->delivery.parcel.group
                                 : letter->delivery.id.text;
    status = lbx__draft_pack(&reply->packed, &reply->draft, &to->rules,
                             to->allocator);
    reply->attachment =
        (lbx_attachment){to->box, &reply->packed.parcel, &reply->sent};
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
    status = lbx__postbox_send_pack(to, draft, &reply->packed);
    reply->attachment =
        (lbx_attachment){to->box, &reply->packed.parcel, &reply->sent};
    return status;
}

void
lbx__reply_fini(lbx__reply *reply)
{
    lbx__draft_packed_fini(&reply->packed);
    lbx_postbox_unref(reply->to);
    reply->to = NULL;
}

lbx_send_request
lbx__reply_request(lbx__reply *reply)
{
    return (lbx_send_request){
        .box = reply->to->box,
        .parcels = &reply->packed.parcel,
        .count = 1,
        .sent = &reply->sent,
    };
}

/* ---- Sending a reply without settling ---- */

struct reply_job {
    lbx__reply reply;
    lbx_send_request request;
};

static lbx_status
reply_report(const lbx__call_op *call_op, const struct reply_job *job,
             lbx_status status)
{
    if (call_op->u.batch.ret) {
        *call_op->u.batch.ret = (lbx_sent_letter){.status = status};
        if (status == LBX_OK && job)
            *call_op->u.batch.ret = job->reply.sent;
    }
    return lbx__fault_complete(call_op->u.batch.fault, status, "the reply",
                               NULL);
}

static lbx_status
reply_begin(lbx__op *op)
{
    lbx__call_op *call_op = lbx__call_op_of(op);
    const lbx_letter *letter = call_op->u.batch.what;
    struct reply_job *job = call_op->u.batch.job;
    lbx_status status;

    if (!job) {
        job = lbx__zalloc(letter->postbox->allocator, sizeof(*job));
        call_op->u.batch.job = job;
        if (!job)
            return reply_report(call_op, NULL, LBX_NO_MEMORY);
    }
    status = lbx__reply_init(&job->reply, letter, call_op->u.batch.reply,
                             call_op->u.batch.fault);
    if (status != LBX_OK)
        return reply_report(call_op, job, status);
    job->request = lbx__reply_request(&job->reply);
    lbx__call_op_next(op, job->reply.to->store, LBX_CALL_SEND, &job->request);
    return LBX_PENDING;
}

static lbx_status
reply_step(lbx__op *op, lbx_status last)
{
    lbx__call_op *call_op = lbx__call_op_of(op);
    struct reply_job *job = call_op->u.batch.job;

    if (last == LBX_PENDING)
        return reply_begin(op);
    if (!call_op->begun)
        return reply_report(call_op, NULL, last);
    return reply_report(call_op, job,
                        lbx__postbox_note_status(job->reply.to, last));
}

static void
reply_drop(lbx__op *op)
{
    lbx__call_op *call_op = lbx__call_op_of(op);
    struct reply_job *job = call_op->u.batch.job;

    if (!job)
        return;
    if (call_op->begun)
        lbx__reply_fini(&job->reply);
    if (!call_op->u.batch.given)
        lbx__free(lbx__postbox_of(op)->allocator, job, sizeof(*job));
}

static const lbx__call_steps reply_steps =
    LBX__CALL_STEPS(reply_step, reply_drop, LBX_TIMEOUT, false, false);

lbx_status
lbx_letter_reply_init(lbx_operation *operation, lbx_letter *letter,
                      const lbx_draft *reply, lbx_sent_letter *ret_sent,
                      lbx_fault *fault)
{
    lbx__op *op = lbx__op_of(operation);
    lbx__call_op *call_op;

    if (!op || !letter || !reply)
        return lbx__fault_set(fault, LBX_INVALID, "%s is NULL",
                              !op       ? "the operation"
                              : !letter ? "the letter"
                                        : "the reply");
    lbx__fault_clear(fault);
    lbx__postbox_op_ref(op, &reply_steps, letter->postbox, LBX_FOREVER);
    call_op = lbx__call_op_of(op);
    call_op->u.batch.what = letter;
    call_op->u.batch.reply = reply;
    call_op->u.batch.ret = ret_sent;
    call_op->u.batch.fault = fault;
    return LBX_OK;
}

lbx_status
lbx_letter_reply(lbx_letter *letter, const lbx_draft *reply,
                 lbx_sent_letter *ret_sent, lbx_fault *fault)
{
    lbx_operation operation;
    lbx__op *op = lbx__op_of(&operation);
    lbx__call_op *call_op = lbx__call_op_of(op);
    struct reply_job job;

    if (!letter || !reply)
        return lbx__fault_set(fault, LBX_INVALID, "%s is NULL",
                              letter ? "the reply" : "the letter");
    lbx__fault_clear(fault);
    lbx__postbox_op(op, &reply_steps, letter->postbox, LBX_FOREVER);
    call_op->u.batch.fault = fault;
    call_op->u.batch.what = letter;
    call_op->u.batch.reply = reply;
    call_op->u.batch.ret = ret_sent;
    call_op->u.batch.job = &job;
    call_op->u.batch.given = true;
    return lbx__call_op_run(op);
}
