/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Postboxes: references, closing, and finding those that replies go to. B1 and B2
 * are in postbox.h.
 */
#include "post/postbox.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "post/box.h"

#include <string.h>

lbx_postbox *
lbx_postbox_ref(lbx_postbox *postbox)
{
    // Relaxed: who has a reference has all that was written before it.
    if (postbox)
        (void)lbx__add(&postbox->users, 1, relaxed);
    return postbox;
}

void
lbx_postbox_unref(lbx_postbox *postbox)
{
    lbx_store *store;

    // Release and acquire: all use comes before the end.
    if (!postbox || lbx__sub(&postbox->users, 1, acq_rel) != 1)
        return;
    store = postbox->store;
    // Relaxed: nobody else is left.
    lbx_chain_destroy(lbx__load(&postbox->here, relaxed));
    lbx__free(postbox->allocator, postbox, sizeof(*postbox));
    lbx_store_unref(store);
}

const char *
lbx_postbox_name(const lbx_postbox *postbox)
{
    return postbox ? postbox->name : NULL;
}

lbx_store *
lbx_postbox_store(const lbx_postbox *postbox)
{
    return postbox ? postbox->store : NULL;
}

void
lbx_postbox_close(lbx_postbox *postbox)
{
    if (postbox)
        lbx__desk_close(&postbox->desk);
}

bool
lbx_postbox_is_closed(const lbx_postbox *postbox)
{
    return !postbox || lbx__postbox_closed(postbox);
}

bool
lbx_postbox_is_send_only(const lbx_postbox *postbox)
{
    return postbox && postbox->options.send_only;
}

bool
lbx_postbox_is_same_box(const lbx_postbox *one, const lbx_postbox *other)
{
    return one && other && one->store == other->store &&
           one->box.uid == other->box.uid;
}

const lbx_box_options *
lbx_postbox_box_options(const lbx_postbox *postbox)
{
    return postbox ? &postbox->rules : NULL;
}

lbx_status
lbx__postbox_heard(lbx_postbox *postbox, lbx_status status)
{
    if (status == LBX_CLOSED && !lbx__postbox_closed(postbox))
        lbx__desk_close(&postbox->desk); // its box was deleted
    return status;
}

lbx_status
lbx__postbox_heard_box(lbx_postbox *postbox, lbx_status status)
{
    return lbx__postbox_heard(postbox,
                              status == LBX_NOT_FOUND ? LBX_CLOSED : status);
}

void
lbx__postbox_op_keep(lbx__op *op, const lbx__steps *steps, lbx_postbox *postbox,
                     int64_t deadline_ns)
{
    lbx__postbox_op(op, steps, postbox, deadline_ns);
    lbx__called_of(op)->keeps = lbx_postbox_ref(postbox);
}

/* Places that are boxes of the same store. */

static lbx_status
open_here(void *context, const char *place, lbx_postbox **ret, lbx_fault *fault)
{
    const lbx_postbox *postbox = context;
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;

    if (!lbx__box_name_valid(place))
        return LBX_NOT_FOUND;
    options.allocator = postbox->allocator;
    options.fault = fault;
    options.must_exist = true;
    options.send_only = true;
    return lbx_postbox_open_in(postbox->store, place, &options, ret);
}

/* The postbox's own chain, made when it is first needed. */
static lbx_status
chain_here(lbx_postbox *postbox, lbx_chain **ret)
{
    lbx_chain_options options = LBX_CHAIN_OPTIONS_INIT;
    lbx_chain *seen = NULL;
    lbx_chain *chain;
    lbx_status status;

    // Acquire: pairs with the exchange below; the chain is whole.
    *ret = lbx__load(&postbox->here, acquire);
    if (*ret)
        return LBX_OK;
    options.allocator = postbox->allocator;
    options.factory = (lbx_resolver){open_here, postbox};
    status = lbx_chain_create(&options, &chain);
    if (status != LBX_OK)
        return status;
    *ret = chain;
    // Release: hands the chain over; acquire: takes the other's.
    if (!lbx__cas(&postbox->here, &seen, chain, acq_rel)) {
        lbx_chain_destroy(chain);
        *ret = seen;
    }
    return LBX_OK;
}

lbx_status
lbx__postbox_resolve(lbx_postbox *postbox, const char *place, lbx_postbox **ret,
                     lbx_fault *fault)
{
    lbx_chain *chain;
    lbx_status status;

    if (postbox->options.resolver.resolve)
        return lbx_resolve(postbox->options.resolver, place, fault, ret);
    status = chain_here(postbox, &chain);
    return status == LBX_OK
               ? lbx_resolve(lbx_chain_resolver(chain), place, fault, ret)
               : status;
}

static lbx_status
make_place(lbx_postbox *postbox, const char *place)
{
    static const lbx_box_options defaults = LBX_BOX_OPTIONS_INIT;
    lbx_box_request request = {.name = place, .options = &defaults};
    lbx_postbox *there;
    lbx_status status;

    if (!lbx__box_name_valid(place))
        return LBX_OK; // somebody's resolver knows it
    status = lbx__postbox_resolve(postbox, place, &there, NULL);
    if (status == LBX_OK)
        lbx_postbox_unref(there);
    if (status != LBX_NOT_FOUND)
        return status;
    status = lbx__call_now(postbox->store, LBX_VERB_CREATE, &request);
    // A store that makes no boxes, a double, keeps the letter all the same.
    return status == LBX_EXISTS || status == LBX_UNSUPPORTED ? LBX_OK : status;
}

lbx_status
lbx__postbox_make_places(lbx_postbox *postbox, const lbx_routes *routes)
{
    lbx_status status = LBX_OK;

    if (!routes || postbox->options.resolver.resolve ||
        postbox->options.send_only || postbox->options.no_replies)
        return LBX_OK;
    if (lbx_routes_default(routes))
        status = make_place(postbox, lbx_routes_default(routes));
    for (size_t i = 0; status == LBX_OK && lbx_routes_at(routes, i).place; i++)
        status = make_place(postbox, lbx_routes_at(routes, i).place);
    return status;
}

const lbx_type *
lbx__postbox_type_of(const lbx_postbox *postbox, const lbx_draft *draft)
{
    const lbx_type *known[] = {postbox->options.body_type,
                               postbox->options.reply_type};

    if (draft->type || !draft->type_name)
        return draft->type;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i] && strcmp(lbx_type_name(known[i]), draft->type_name) == 0)
            return known[i];
    }
    return lbx_types_find(postbox->options.types, draft->type_name);
}

bool
lbx__postbox_takes(const lbx_postbox *postbox, const lbx_draft *draft,
                   const lbx_type *type)
{
    const lbx_type *given;

    if (!type)
        return true;
    given = lbx__postbox_type_of(postbox, draft);
    return given && lbx_type_is_a(given, type);
}
