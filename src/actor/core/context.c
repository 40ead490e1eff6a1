/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts: what a handler can do with its actor and the current message.
 *
 * Threads: the one that runs the handler, which owns the cell.
 */
#include "actor/core/system.h"

lbx_ref
lbx_context_self(const lbx_context *context)
{
    lbx_ref self = {context ? lbx__cell_ref(context->cell) : 0};

    return self;
}

lbx_ref
lbx_context_parent(const lbx_context *context)
{
    lbx_ref parent = {0};

    if (context && context->cell->parent)
        parent.word = lbx__cell_ref(context->cell->parent);
    return parent;
}

lbx_ref
lbx_context_sender(const lbx_context *context)
{
    lbx_ref sender = {context && context->node ? context->node->sender : 0};

    return sender;
}

lbx_system *
lbx_context_system(const lbx_context *context)
{
    return context ? context->cell->system : NULL;
}

const lbx_type *
lbx_context_type(const lbx_context *context)
{
    return context && context->node ? context->node->type : NULL;
}

void *
lbx_context_take(lbx_context *context)
{
    if (!context || !context->node || context->stashed)
        return NULL;
    context->taken = true;
    return context->node->message;
}

/* A reply to a message without a sender is a dead letter. */
static void
context_reply_to_nobody(lbx_context *context, lbx_envelope envelope)
{
    envelope.sender = lbx_ref_as_sender(lbx_context_self(context));
    lbx__dead_letter_publish(context->cell->system, &envelope,
                             LBX_LOSS_NO_ACTOR);
}

void
lbx_context_reply(lbx_context *context, void *message)
{
    const lbx_ref sender = lbx_context_sender(context);

    if (sender.word)
        lbx_tell(sender, message);
    else if (context)
        context_reply_to_nobody(context,
                                lbx_envelope_of(message, LBX_PRIORITY_DEFAULT));
}

void
lbx_context_reply_typed(lbx_context *context, const lbx_type *type,
                        void *message)
{
    const lbx_ref sender = lbx_context_sender(context);

    if (sender.word)
        lbx_tell_typed(sender, type, message);
    else if (context)
        context_reply_to_nobody(context, lbx_envelope_of_type(message, type));
}

void
lbx_context_forward(lbx_context *context, lbx_ref to)
{
    lbx_envelope envelope;

    if (!context || !context->node || context->taken)
        return;
    envelope = lbx__node_envelope(context->node);
    context->taken = true;
    context->node->code = LBX__REPORT_NONE; // passed on
    lbx__ref_tell_as(to, &envelope);
}

lbx_status
lbx_context_spawn(lbx_context *context, const lbx_props *props,
                  const char *name, lbx_ref *ret)
{
    if (!context)
        return LBX_INVALID;
    return lbx__router_spawn(context->cell->system, context->cell, props, name,
                             ret);
}

void
lbx_context_stop(lbx_context *context)
{
    if (context)
        lbx__cell_stop(context->cell, context->cell->life);
}

lbx_status
lbx_context_become(lbx_context *context, lbx_actor_handler *receive)
{
    lbx__facilities *facilities;
    lbx_actor_handler **top;

    if (!context || !receive)
        return LBX_INVALID;
    facilities = lbx__facilities_of(context->cell);
    if (!facilities)
        return LBX_NO_MEMORY;
    top = lbx__array_add(&facilities->receives,
                         context->cell->system->options.allocator);
    if (!top)
        return LBX_NO_MEMORY;
    *top = receive;
    return LBX_OK;
}

void
lbx_context_unbecome(lbx_context *context)
{
    if (context && context->cell->facilities &&
        context->cell->facilities->receives.count > 0)
        context->cell->facilities->receives.count--;
}
