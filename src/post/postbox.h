/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a postbox: a program's handle of one life of a box.
 *
 * B1  `box` and `rules` are what the store said when the postbox was opened; they
 *     do not change.
 * B2  Each letter and each operation that was started by an _init counts as a user.
 */
#ifndef LBX_POST_POSTBOX_H
#define LBX_POST_POSTBOX_H

#include "post/call.h"
#include "post/draft.h"
#include "post/letter.h"

struct lbx_postbox {
    const lbx_allocator *allocator;
    _Atomic(uint32_t) users;
    lbx_store *store;
    lbx_box box;
    lbx__desk desk;
    lbx_postbox_options options; /* without what is borrowed for opening */
    lbx_box_options rules;
    char texts[LBX_BOX_TEXT_BYTES]; /* of the rules */
    char name[LBX_BOX_NAME_BYTES];
    _Atomic(lbx_chain *) here; /* no resolver: boxes of this store, by name */
};

static inline lbx_postbox *
lbx__postbox_of(lbx__op *op)
{
    return lbx__member(op->subject, lbx_postbox, desk);
}

/* Whether a postbox can be opened with these at all: OK; INVALID, and the fault
 * says why. */
lbx_status lbx__postbox_options_check(const lbx_postbox_options *options,
                                      lbx_postbox **ret);

/* Starts an operation on a postbox, which the caller keeps alive. */
static inline void
lbx__postbox_op(lbx__op *op, const lbx__steps *steps, lbx_postbox *postbox,
                int64_t deadline_ns)
{
    lbx__called_init(op, steps, &postbox->desk,
                     lbx__store_own_of(postbox->store)->clock, deadline_ns);
}

/* The same for an _init: the operation is a user of its own, B2; and what drops
 * that again. */
void lbx__postbox_op_keep(lbx__op *op, const lbx__steps *steps,
                          lbx_postbox *postbox, int64_t deadline_ns);

/* CLOSED is the box's end too: what the store says of a life that is over. */
lbx_status lbx__postbox_heard(lbx_postbox *postbox, lbx_status status);

/* The same for requests that name the box: NOT_FOUND is the end of this box. */
lbx_status lbx__postbox_heard_box(lbx_postbox *postbox, lbx_status status);

/* The postbox of a place in a route, as the letters from here resolve it. */
lbx_status lbx__postbox_resolve(lbx_postbox *postbox, const char *place,
                                lbx_postbox **ret, lbx_fault *fault);

/* W-41: makes the boxes that routes name, where places are boxes of the store. */
lbx_status lbx__postbox_make_places(lbx_postbox *postbox,
                                    const lbx_routes *routes);

/* What a body must be: `type` or derived from it. */
bool lbx__postbox_takes(const lbx_postbox *postbox, const lbx_draft *draft,
                        const lbx_type *type);

/* Packs a draft as a send to here does; the packing is to be ended whatever the
 * answer. */
lbx_status lbx__postbox_pack(lbx_postbox *postbox, const lbx_draft *draft,
                             lbx__draft_packed *packing);

/* The type of a draft, as far as it is known here; NULL. */
const lbx_type *lbx__postbox_type_of(const lbx_postbox *postbox,
                                     const lbx_draft *draft);

static inline bool
lbx__postbox_closed(const lbx_postbox *postbox)
{
    // Acquire: pairs with the release in lbx__desk_close().
    return lbx__load(&postbox->desk.closed, acquire) != 0;
}

#endif
