/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stash: messages put aside, to be handled before the inbox when the actor
 * says so. What is stashed while they are being handled waits for the next
 * time.
 */
#include "actor/system.h"

lbx_status
lbx_context_stash(lbx_context *context)
{
    lbx__extra *extra;
    lbx__node *copy;
    lbx_envelope envelope;

    if (!context || !context->node)
        return LBX_INVALID;
    if (context->stashed)
        return LBX_EXISTS;
    if (context->taken)
        return LBX_INVALID;
    extra = lbx__extra_of(context->cell);
    if (!extra)
        return LBX_NO_MEMORY;
    if (extra->stash_capacity > 0 && extra->stash_capacity != LBX_UNLIMITED &&
        extra->stash.count >= (uint64_t)extra->stash_capacity)
        return LBX_FULL;
    copy = lbx__pool_get(context->cell->system->pool);
    if (!copy)
        return LBX_NO_MEMORY;
    envelope = lbx__node_envelope(context->node);
    lbx__node_fill(copy, &envelope, context->node->recipient);
    lbx__nodes_append(&extra->stash, copy);
    context->stashed = true;
    context->taken = true;
    return LBX_OK;
}

void
lbx_context_unstash_all(lbx_context *context)
{
    lbx__extra *extra = context ? context->cell->extra : NULL;
    lbx__nodes stashed;
    lbx__node *node;

    if (!extra)
        return;
    // Before what is ahead already: an earlier unstash was of later messages.
    stashed = extra->stash;
    extra->stash = (lbx__nodes){0};
    while ((node = lbx__nodes_take(&extra->ahead)))
        lbx__nodes_append(&stashed, node);
    extra->ahead = stashed;
}

uint64_t
lbx_context_stashed(const lbx_context *context)
{
    return context && context->cell->extra ? context->cell->extra->stash.count
                                           : 0;
}
