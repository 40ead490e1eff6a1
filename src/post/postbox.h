/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a postbox: a program's handle of one incarnation of a box.
 *
 * PBOX-1  `box` and `rules` are what the store returned when the postbox was
 *         opened; they do not change.
 * PBOX-2  Each letter holds its postbox, and so does each operation that was
 *         started by an _init function; neither is a handle. When the last
 *         handle is released the postbox is closed: a receive that waits ends.
 *         When the last hold is, it is destroyed.
 *
 * Threads: any. Fields are constant after opening, except the counts, the call
 * queue (its lock) and `own_chain` (set once, by compare-and-swap).
 */
#ifndef LBX_POST_POSTBOX_H
#define LBX_POST_POSTBOX_H

#include "base/refs.h"
#include "post/call.h"
#include "post/draft.h"
#include "post/letter.h"

struct lbx_postbox {
    const lbx_allocator *allocator;
    lbx_store *store;
    _Atomic(uint32_t) users; /* handles: the last closes it */
    _Atomic(uint32_t) holds; /* the handles together have one: PBOX-2 */
    lbx_box box;
    lbx__call_queue calls;
    lbx_postbox_options
        options; /* without the pointers used for opening only */
    lbx_box_options rules;
    char texts[LBX_BOX_OPTIONS_BUFFER_BYTES]; /* that the rules point to */
    char name[LBX_BOX_NAME_BYTES];
    _Atomic(lbx_resolver_chain *)
        own_chain; /* resolves names of boxes of this store */
};

/* One hold more, and one less (PBOX-2). */
static inline lbx_postbox *
lbx__postbox_hold(lbx_postbox *postbox)
{
    lbx__refs_add(&postbox->holds);
    return postbox;
}

void lbx__postbox_release(lbx_postbox *postbox);

static inline lbx_postbox *
lbx__postbox_of(lbx__op *op)
{
    return lbx__member(op->subject, lbx_postbox, calls);
}

/* OK when the options and `ret` are valid; INVALID, with a fault. *options
 * become this library's: the same, the defaults for NULL, or `own`. */
lbx_status lbx__postbox_open_check(const lbx_postbox_options **options,
                                   lbx_postbox_options *own, lbx_postbox **ret);

/* Starts an operation on a postbox that the caller holds a reference to. */
static inline void
lbx__postbox_op(lbx__op *op, const lbx__call_steps *steps, lbx_postbox *postbox,
                int64_t deadline_ns)
{
    lbx__call_op_init(op, steps, &postbox->calls,
                      lbx__store_private_of(postbox->store)->clock,
                      deadline_ns);
}

/* The same for an _init function: the operation holds a reference, PBOX-2. */
void lbx__postbox_op_ref(lbx__op *op, const lbx__call_steps *steps,
                         lbx_postbox *postbox, int64_t deadline_ns);

/* Returns `status`. CLOSED from the store means that the box was deleted:
 * closes the postbox. */
static inline lbx_status
lbx__postbox_note_status(lbx_postbox *postbox, lbx_status status)
{
    if (status == LBX_CLOSED)
        lbx_postbox_close(postbox);
    return status;
}

/* The same for requests by box: NOT_FOUND means that the box was deleted, and
 * becomes CLOSED. */
lbx_status lbx__postbox_note_box_status(lbx_postbox *postbox,
                                        lbx_status status);

/* The postbox at an address in a route, as letters of this postbox resolve
 * it. */
lbx_status lbx__postbox_resolve(lbx_postbox *postbox, const char *address,
                                lbx_postbox **ret, lbx_fault *fault);

/* Creates the boxes that the routes of a draft name, where addresses are boxes
 * of the store. */
lbx_status lbx__postbox_create_reply_boxes(lbx_postbox *postbox,
                                           const lbx_routes *routes);

/* Whether the type of a draft is `type` or derived from it; NULL: any is. */
bool lbx__postbox_draft_is_a(const lbx_postbox *postbox, const lbx_draft *draft,
                             const lbx_type *type);

static inline bool
lbx__postbox_accepts(const lbx_postbox *postbox, const lbx_draft *draft,
                     const lbx_type *type)
{
    return !type || lbx__postbox_draft_is_a(postbox, draft, type);
}

/* Checks and packs a draft as a send to this postbox does. `packing` must be
 * finished whatever the result. */
lbx_status lbx__postbox_send_pack(lbx_postbox *postbox, const lbx_draft *draft,
                                  lbx__draft_packed *packing);

/* postbox_settle.c: sends a draft to `to`, or by the letter's routes when that
 * is NULL, and acknowledges the letter, in one step where one store has
 * both. */
lbx_status lbx__postbox_settle_with(lbx_letter *letter, lbx_postbox *to,
                                    const lbx_draft *draft,
                                    lbx_sent_letter *ret_sent,
                                    lbx_fault *fault);

/* The type of a draft, if the postbox knows it; NULL. */
const lbx_type *lbx__postbox_type_of(const lbx_postbox *postbox,
                                     const lbx_draft *draft);

static inline bool
lbx__postbox_closed(const lbx_postbox *postbox)
{
    // Acquire: pairs with the release in lbx__call_queue_close().
    return lbx__load(&postbox->calls.closed, acquire) != 0;
}

#endif
