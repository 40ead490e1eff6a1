/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Letters that were delivered and that nobody has seen go back: a call that no
 * operation waits for. It is a block of memory that its own end frees, with the
 * letters, which keep the postbox and so the store.
 */
#include "post/call.h"

#include "base/alloc.h"
#include "post/letter.h"
#include "post/postbox.h"

struct undoing {
    lbx_call call;
    const lbx_allocator *allocator;
    lbx_settle_request request;
    lbx_settle_entry entries[LBX_BATCH_MOST];
    lbx_letter *letters;
};

/* Whatever it came to: what is not undone comes back by its lease. */
static void
finish(lbx_call *call, lbx_status status)
{
    struct undoing *undoing = lbx__member(call, struct undoing, call);
    lbx_letter *letters = undoing->letters;
    lbx_postbox *postbox = lbx_postbox_ref(letters->postbox);

    (void)status;
    lbx__letter_destroy_all(letters);
    lbx__free(undoing->allocator, undoing, sizeof(*undoing));
    lbx_postbox_unref(postbox);
}

static const lbx_caller caller = {finish, NULL};

/* Starts undoing the first ten at most; answers the rest. */
static lbx_letter *
undo_some(lbx_letter *first)
{
    const lbx_postbox *postbox = first->postbox;
    const lbx_allocator *allocator = postbox->allocator;
    struct undoing *undoing = lbx__zalloc(allocator, sizeof(*undoing));
    lbx_letter *last = first, *rest;
    lbx_status status;

    for (size_t i = 1; i < LBX_BATCH_MOST && last->next; i++)
        last = last->next;
    rest = last->next;
    last->next = NULL;
    if (!undoing || first->peeked) {
        lbx__letter_destroy_all(first);
        lbx__free(allocator, undoing, sizeof(*undoing));
        return rest;
    }
    undoing->allocator = allocator;
    undoing->letters = first;
    undoing->request.box = postbox->box;
    undoing->request.entries = undoing->entries;
    for (; first; first = first->next) {
        undoing->entries[undoing->request.count++] = (lbx_settle_entry){
            .what = LBX_NACK,
            .receipt = first->delivery.receipt,
            .receipt_bytes = first->delivery.receipt_bytes,
        };
    }
    lbx_call_init(&undoing->call, &caller, LBX_VERB_UNDO, &undoing->request);
    status = lbx__store_start(postbox->store, &undoing->call);
    if (status != LBX_PENDING)
        finish(&undoing->call, status);
    return rest;
}

void
lbx__letter_undo(lbx_letter *first)
{
    while (first)
        first = undo_some(first);
}
