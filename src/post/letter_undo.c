/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Undoing deliveries that the consumer has not seen: a call without an
 * operation.
 *
 * The call is a block of memory that is freed when the call has finished,
 * together with the letters, which hold references to the postbox and so to the
 * store. Its result is ignored: letters that were not undone come back when
 * their leases run out.
 */
#include "post/letter.h"

#include "base/alloc.h"
#include "post/postbox.h"

struct undo_call {
    lbx_call call;
    const lbx_allocator *allocator;
    lbx_settle_request request;
    lbx_settle_request_entry entries[LBX_MAX_BATCH];
    lbx_letter *letters;
};

static void
undo_finish(lbx_call *call, lbx_status status)
{
    struct undo_call *undo = lbx__member(call, struct undo_call, call);
    lbx_letter *letters = undo->letters;
    lbx_postbox *postbox = lbx__postbox_hold(letters->postbox);

    (void)status;
    lbx__letter_destroy_all(letters);
    lbx__free(undo->allocator, undo, sizeof(*undo));
    lbx__postbox_release(postbox);
}

static const lbx_call_sink undo_caller = {undo_finish, NULL};

/* Starts undo the first letters, at most a batch; returns the rest. */
static lbx_letter *
undo_batch(lbx_letter *first)
{
    const lbx_postbox *postbox = first->postbox;
    const lbx_allocator *allocator = postbox->allocator;
    struct undo_call *undo = lbx__zalloc(allocator, sizeof(*undo));
    lbx_letter *last = first, *rest;
    lbx_status status;

    for (size_t i = 1; i < LBX_MAX_BATCH && last->next; i++)
        last = last->next;
    rest = last->next;
    last->next = NULL;
    if (!undo || first->peeked) {
        lbx__letter_destroy_all(first);
        lbx__free(allocator, undo, sizeof(*undo));
        return rest;
    }
    undo->allocator = allocator;
    undo->letters = first;
    undo->request.box = postbox->box;
    undo->request.entries = undo->entries;
    for (; first; first = first->next) {
        undo->entries[undo->request.count++] = (lbx_settle_request_entry){
            .action = LBX_SETTLE_NACK,
            .receipt = first->delivery.receipt,
            .receipt_bytes = first->delivery.receipt_bytes,
        };
    }
    lbx_call_init(&undo->call, &undo_caller, LBX_CALL_UNDO, &undo->request);
    status = lbx__store_call_start(postbox->store, &undo->call);
    if (status != LBX_PENDING)
        undo_finish(&undo->call, status);
    return rest;
}

void
lbx__letter_undo(lbx_letter *first)
{
    while (first)
        first = undo_batch(first);
}
