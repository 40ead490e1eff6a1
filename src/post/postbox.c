/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Postboxes: references, closing, the addresses and types of replies. PBOX-1
 * and PBOX-2 are in postbox.h.
 */
#include "post/postbox.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "post/box.h"
#include "post/rules/body.h"

#include <string.h>

lbx_postbox *
lbx_postbox_ref(lbx_postbox *postbox)
{
    if (postbox)
        lbx__refs_add(&postbox->users);
    return postbox;
}

void
lbx_postbox_unref(lbx_postbox *postbox)
{
    if (!postbox || !lbx__refs_drop(&postbox->users))
        return;
    // In a forked child its lock may be held, and its waiting operations are
    // those of threads that are not there (STORE-2).
    if (lbx__store_is_ours(postbox->store))
        lbx__call_queue_close(&postbox->calls);
    lbx__postbox_release(postbox);
}

void
lbx__postbox_release(lbx_postbox *postbox)
{
    lbx_store *store;

    if (!lbx__refs_drop(&postbox->holds))
        return;
    store = postbox->store;
    // Relaxed: no other thread has a reference.
    lbx_resolver_chain_destroy(lbx__load(&postbox->own_chain, relaxed));
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
        lbx__call_queue_close(&postbox->calls);
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
lbx__postbox_note_box_status(lbx_postbox *postbox, lbx_status status)
{
    return lbx__postbox_note_status(
        postbox, status == LBX_NOT_FOUND ? LBX_CLOSED : status);
}

void
lbx__postbox_op_ref(lbx__op *op, const lbx__call_steps *steps,
                    lbx_postbox *postbox, int64_t deadline_ns)
{
    lbx__postbox_op(op, steps, postbox, deadline_ns);
    lbx__call_op_of(op)->keeps = lbx__postbox_hold(postbox);
}

/* ---- Addresses that are boxes of the same store ---- */

static lbx_status
postbox_open_here(void *context, const char *address, lbx_postbox **ret,
                  lbx_fault *fault)
{
    const lbx_postbox *postbox = context;
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;

    if (!lbx__box_name_valid(address))
        return LBX_NOT_FOUND;
    options.allocator = postbox->allocator;
    options.fault = fault;
    options.must_exist = true;
    options.send_only = true;
    return lbx_postbox_open_in(postbox->store, address, &options, ret);
}

/* The postbox's own chain, created when it is first needed. */
static lbx_status
postbox_own_chain(lbx_postbox *postbox, lbx_resolver_chain **ret)
{
    lbx_resolver_chain_options options = LBX_RESOLVER_CHAIN_OPTIONS_INIT;
    lbx_resolver_chain *seen = NULL;
    lbx_resolver_chain *chain;
    lbx_status status;

    // Acquire: pairs with the compare-and-swap below.
    *ret = lbx__load(&postbox->own_chain, acquire);
    if (*ret)
        return LBX_OK;
    options.allocator = postbox->allocator;
    options.factory = (lbx_resolver){postbox_open_here, postbox};
    status = lbx_resolver_chain_create(&options, &chain);
    if (status != LBX_OK)
        return status;
    *ret = chain;
    // Release: publishes the chain; acquire: sees that of another thread.
    if (!lbx__cas(&postbox->own_chain, &seen, chain, acq_rel)) {
        lbx_resolver_chain_destroy(chain);
        *ret = seen;
    }
    return LBX_OK;
}

lbx_status
lbx__postbox_resolve(lbx_postbox *postbox, const char *address,
                     lbx_postbox **ret, lbx_fault *fault)
{
    lbx_resolver_chain *chain;
    lbx_status status;

    if (postbox->options.resolver.resolve)
        return lbx_resolver_resolve(postbox->options.resolver, address, ret,
                                    fault);
    status = postbox_own_chain(postbox, &chain);
    return status == LBX_OK
               ? lbx_resolver_resolve(lbx_resolver_chain_as_resolver(chain),
                                      address, ret, fault)
               : status;
}

static lbx_status
postbox_create_reply_box(lbx_postbox *postbox, const char *address)
{
    static const lbx_box_options defaults = LBX_BOX_OPTIONS_INIT;
    lbx_box_request request = {.name = address, .options = &defaults};
    lbx_postbox *there;
    lbx_status status;

    if (!lbx__box_name_valid(address))
        return LBX_OK; // an address for the resolver of the consumer
    status = lbx__postbox_resolve(postbox, address, &there, NULL);
    if (status == LBX_OK)
        lbx_postbox_unref(there);
    if (status != LBX_NOT_FOUND)
        return status;
    status = lbx__call_run(postbox->store, LBX_CALL_CREATE, &request);
    // A store of one box, such as a double, accepts the letter all the same.
    return status == LBX_EXISTS || status == LBX_UNSUPPORTED ? LBX_OK : status;
}

lbx_status
lbx__postbox_create_reply_boxes(lbx_postbox *postbox, const lbx_routes *routes)
{
    lbx_status status = LBX_OK;

    if (postbox->options.resolver.resolve || postbox->options.send_only ||
        postbox->options.no_replies)
        return LBX_OK;
    if (lbx_routes_default(routes))
        status = postbox_create_reply_box(postbox, lbx_routes_default(routes));
    for (size_t i = 0; status == LBX_OK && lbx_routes_at(routes, i).address;
         i++)
        status =
            postbox_create_reply_box(postbox, lbx_routes_at(routes, i).address);
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
    return lbx_type_registry_find(postbox->options.types, draft->type_name);
}

bool
lbx__postbox_draft_is_a(const lbx_postbox *postbox, const lbx_draft *draft,
                        const lbx_type *type)
{
    const lbx_type *given = lbx__postbox_type_of(postbox, draft);

    return given && lbx_type_is_a(given, type);
}

lbx_status
lbx_postbox_check_draft(lbx_postbox *postbox, const lbx_draft *draft,
                        lbx_fault *fault)
{
    lbx__draft_packed packing;
    lbx_status status;

    if (!postbox || !draft)
        return lbx__fault_set(fault, LBX_INVALID, "no %s was given",
                              postbox ? "draft" : "postbox");
    if (lbx__postbox_closed(postbox))
        return lbx__fault_set(fault, LBX_CLOSED, "postbox %s is closed",
                              postbox->name);
    status =
        lbx__draft_pack(&packing, draft, &postbox->rules, postbox->allocator);
    // A send alone is a batch too.
    if (status == LBX_OK && lbx__body_parcel_bytes(&packing.parcel) >
                                postbox->rules.limits.max_batch_bytes)
        status = LBX_TOO_LARGE;
    lbx__draft_packed_fini(&packing);
    if (status == LBX_INVALID || status == LBX_TOO_LARGE)
        return lbx__draft_explain(draft, &postbox->rules, status, fault);
    if (status != LBX_OK)
        return lbx__fault_set(fault, status, "%s", lbx_status_text(status));
    if (!lbx__postbox_accepts(postbox, draft, postbox->options.body_type))
        return lbx__fault_set(fault, LBX_INVALID,
                              "postbox %s takes no letters of this type",
                              postbox->name);
    return LBX_OK;
}
