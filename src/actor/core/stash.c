/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stash: messages put aside, which are handled before those of the mailbox
 * once they are unstashed. What is stashed while unstashed messages are being
 * handled waits for the next unstash.
 *
 * Where the mailbox sorts, unstashed messages are sorted too: an unstashed
 * message comes before those of the same urgency in the mailbox, and after more
 * urgent ones, whenever they arrive.
 *
 * STASH-1  `stash` has the order in which messages were put aside. `ahead` has
 *          the order in which the mailbox would give them; among equals the
 *          message that was unstashed last comes first, since an earlier
 *          unstash was of later messages.
 * STASH-2  A message is in one of: the mailbox, a handler, the stash, `ahead`,
 *          `again`.
 *
 * Threads: the owner of the cell.
 */
#include "actor/core/actor_mailbox.h"
#include "actor/core/system.h"

lbx_status
lbx_context_stash(lbx_context *context)
{
    lbx__facilities *facilities;
    lbx__node *copy;
    lbx_envelope envelope;

    if (!context || !context->node)
        return LBX_INVALID;
    if (context->stashed)
        return LBX_EXISTS;
    if (context->taken)
        return LBX_INVALID;
    facilities = lbx__facilities_of(context->cell);
    if (!facilities)
        return LBX_NO_MEMORY;
    if (facilities->stash.count >= (uint64_t)facilities->stash_capacity)
        return LBX_FULL;
    copy = lbx__node_pool_get(context->cell->system->pool);
    if (!copy)
        return LBX_NO_MEMORY;
    envelope = lbx__node_envelope(context->node);
    lbx__node_fill(copy, &envelope, context->node->recipient);
    context->node->code = LBX__REPORT_NONE; // passed on
    lbx__node_list_append(&facilities->stash, copy);
    context->stashed = true;
    context->taken = true;
    return LBX_OK;
}

/* The mailbox of an actor, if it sorts its messages; NULL if not. By the
 * owner. */
static lbx_mailbox *
stash_sorting_mailbox(const lbx__cell *cell)
{
    // Relaxed: the owner writes it.
    const lbx__actor_mailbox *box = lbx__load(&cell->box, relaxed);

    if (!box || !(lbx_mailbox_capabilities(box->mailbox) &
                  (LBX_CAPABILITY_PRIORITIZE | LBX_CAPABILITY_CONTROL)))
        return NULL;
    return box->mailbox;
}

static lbx__node_list
stash_concatenate(lbx__node_list a, lbx__node_list b)
{
    if (!a.first || !b.first)
        return a.first ? a : b;
    lbx__init(&a.last->next, b.first); // no other thread sees these links
    a.last = b.last;
    a.count += b.count;
    return a;
}

/* Two sorted lists as one; among equals, a's come first. */
static lbx__node_list
stash_merge(const lbx_mailbox *box, lbx__node_list a, lbx__node_list b)
{
    lbx__node_list merged = {0};

    while (a.first && b.first) {
        lbx_envelope first = lbx__node_envelope(a.first);
        lbx_envelope second = lbx__node_envelope(b.first);
        bool later = lbx_mailbox_compare(box, &second, &first) < 0;

        lbx__node_list_append(&merged, lbx__node_list_take(later ? &b : &a));
    }
    return stash_concatenate(merged, stash_concatenate(a, b));
}

/* Stable. */
static lbx__node_list
stash_sort(const lbx_mailbox *box, lbx__node_list list)
{
    lbx__node_list front = {0};

    if (list.count < 2)
        return list;
    while (front.count < list.count)
        lbx__node_list_append(&front, lbx__node_list_take(&list));
    return stash_merge(box, stash_sort(box, front), stash_sort(box, list));
}

uint64_t
lbx__stash_unstash(lbx__cell *cell, uint64_t max_count)
{
    const lbx_mailbox *box = stash_sorting_mailbox(cell);
    lbx__facilities *facilities = cell->facilities;
    lbx__node_list moved = {0};
    uint64_t count;

    if (!facilities || !facilities->stash.first)
        return 0;
    if (max_count >= facilities->stash.count) {
        moved = facilities->stash;
        facilities->stash = (lbx__node_list){0};
    }
    while (moved.count < max_count && facilities->stash.first)
        lbx__node_list_append(&moved, lbx__node_list_take(&facilities->stash));
    count = moved.count;
    if (box)
        facilities->ahead =
            stash_merge(box, stash_sort(box, moved), facilities->ahead);
    else
        facilities->ahead = stash_concatenate(moved, facilities->ahead);
    return count;
}

uint64_t
lbx_context_unstash(lbx_context *context, uint64_t max_count)
{
    return context ? lbx__stash_unstash(context->cell, max_count) : 0;
}

void
lbx_context_unstash_all(lbx_context *context)
{
    (void)lbx_context_unstash(context, UINT64_MAX);
}

uint64_t
lbx_context_stashed(const lbx_context *context)
{
    return context && context->cell->facilities
               ? context->cell->facilities->stash.count
               : 0;
}

int64_t
lbx_context_stash_capacity(const lbx_context *context)
{
    return context && context->cell->facilities
               ? context->cell->facilities->stash_capacity
               : LBX_UNLIMITED;
}

lbx_status
lbx_context_stash_find(const lbx_context *context,
                       bool (*accepts)(void *argument,
                                       const lbx_envelope *envelope),
                       void *argument, lbx_envelope *ret)
{
    const lbx__node *node;

    if (!context || !ret)
        return LBX_INVALID;
    node = context->cell->facilities ? context->cell->facilities->stash.first
                                     : NULL;
    for (; node; node = lbx__peek(&node->next)) {
        lbx_envelope envelope = lbx__node_envelope(node);

        if (accepts && !accepts(argument, &envelope))
            continue;
        *ret = envelope;
        return LBX_OK;
    }
    return LBX_NOT_FOUND;
}

void
lbx_context_stash_clear(lbx_context *context)
{
    lbx__facilities *facilities = context ? context->cell->facilities : NULL;
    lbx__node_list cleared;
    lbx__node *node;

    if (!facilities)
        return;
    // Taken out first: destroying a message calls the user's code.
    cleared = stash_concatenate(facilities->ahead, facilities->stash);
    facilities->ahead = (lbx__node_list){0};
    facilities->stash = (lbx__node_list){0};
    while ((node = lbx__node_list_take(&cleared))) {
        lbx__message_destroy(context->cell->system, node->type, node->message);
        if (node->code == LBX__REPORT_DUE)
            lbx__ask_report(context->cell->system, node->sender, LBX_CANCELLED);
        lbx__node_pool_put(context->cell->system->pool, node);
    }
}

lbx__node *
lbx__stash_next(lbx__cell *cell)
{
    lbx__facilities *facilities = cell->facilities;
    lbx__node *node = facilities->again;
    lbx_mailbox *box;
    lbx_envelope envelope;

    if (node) {
        facilities->again = NULL;
        return node;
    }
    if (!facilities->ahead.first)
        return NULL;
    box = stash_sorting_mailbox(cell);
    envelope = lbx__node_envelope(facilities->ahead.first);
    if (box && lbx_mailbox_has_before(box, &envelope))
        return NULL;
    return lbx__node_list_take(&facilities->ahead);
}

bool
lbx__stash_has_next(const lbx__facilities *facilities)
{
    return facilities->again || facilities->ahead.first;
}
