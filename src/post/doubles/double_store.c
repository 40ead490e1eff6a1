/* SPDX-License-Identifier: Apache-2.0 */
/* What the doubles share: see double_store.h. */
#include "post/doubles/double_store.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "post/postbox.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const lbx_box double_box = {1};

lbx_status
lbx__double_store_open(const lbx_store_ops *ops, size_t size_bytes,
                       const lbx_postbox_options *options,
                       lbx_status (*init)(lbx__double_store *self,
                                          const lbx_postbox_options *),
                       lbx_postbox **ret)
{
    static const lbx_box_options rules = LBX_BOX_OPTIONS_INIT;
    lbx_postbox_options own, mine;
    lbx__double_store *self;
    lbx_status status = lbx__postbox_open_check(&options, &own, ret);

    if (status != LBX_OK)
        return status;
    mine = *options;
    lbx__fault_clear(mine.fault);
    self = lbx__zalloc(mine.allocator, size_bytes);
    if (!self)
        return lbx__fault_complete(mine.fault, LBX_NO_MEMORY, ops->scheme,
                                   NULL);
    self->allocator = mine.allocator;
    self->rules = rules;
    self->size_bytes = size_bytes;
    status = lbx_store_init(&self->base, ops);
    if (status == LBX_OK && init)
        status = init(self, &mine);
    if (status != LBX_OK) {
        lbx__double_store_free(&self->base);
        return lbx__fault_complete(mine.fault, status, ops->scheme, NULL);
    }
    mine.box = NULL;
    mine.store = NULL;
    status = lbx_postbox_open_in(&self->base, ops->scheme, &mine, ret);
    lbx_store_unref(&self->base); // the postbox has a reference
    return status;
}

lbx__double_store *
lbx__double_store_of(const lbx_postbox *postbox, const lbx_store_ops *ops)
{
    lbx_store *store = lbx_postbox_store(postbox);

    return store && store->ops == ops ? (lbx__double_store *)store : NULL;
}

void
lbx__double_store_free(lbx_store *store)
{
    lbx__double_store *self = (lbx__double_store *)store;

    lbx__free(self->allocator, self, self->size_bytes);
}

lbx_durability
lbx__double_store_durability(lbx_store *store)
{
    (void)store;
    return LBX_DURABILITY_NONE;
}

static bool
double_has_box(const lbx_store *store, const lbx_box_request *request)
{
    return request->box.uid
               ? request->box.uid == double_box.uid
               : !request->space && request->name &&
                     strcmp(request->name, lbx_store_scheme(store)) == 0;
}

lbx_status
lbx__double_store_describe(lbx_store *store, lbx_call *call,
                           lbx_box_request *request)
{
    lbx__double_store *self = (lbx__double_store *)store;
    lbx_status status = LBX_OK;

    (void)call;
    if (!double_has_box(store, request))
        return LBX_NOT_FOUND;
    request->ret_box = double_box;
    if (request->ret_options)
        *request->ret_options = self->rules;
    if (request->ret_counts)
        status = self->count(self, request->ret_counts);
    return status;
}

lbx_status
lbx__double_store_create(lbx_store *store, lbx_call *call,
                         lbx_box_request *request)
{
    if (!double_has_box(store, request))
        return LBX_UNSUPPORTED;
    return lbx__double_store_describe(store, call, request);
}

lbx_status
lbx__double_store_unsupported(lbx_store *store, lbx_call *call,
                              lbx_box_request *request)
{
    (void)store;
    (void)call;
    (void)request;
    return LBX_UNSUPPORTED;
}

lbx_status
lbx__double_store_list(lbx_store *store, lbx_call *call,
                       lbx_list_request *request)
{
    const char *name = lbx_store_scheme(store);

    (void)call;
    if (!request->space && request->dead_letters.uid == 0 &&
        (!request->prefix ||
         strncmp(name, request->prefix, strlen(request->prefix)) == 0) &&
        (!request->after || strcmp(request->after, name) < 0))
        (void)request->each(request->context, name);
    return LBX_OK;
}

lbx_status
lbx__double_store_no_receive(lbx_store *store, lbx_call *call,
                             lbx_receive_request *request)
{
    (void)store;
    (void)call;
    return request->wait_ns == 0 ? LBX_EMPTY : LBX_PENDING;
}

lbx_status
lbx__double_store_no_settle(lbx_store *store, lbx_call *call,
                            lbx_settle_request *request)
{
    (void)store;
    (void)call;
    (void)request;
    return LBX_INVALID; // there are no receipts
}

void
lbx__double_store_cancel(lbx_store *store, lbx_call *call)
{
    (void)store;
    lbx_call_finish(call, LBX_CANCELLED); // no other thread does
}

lbx__double_parcel *
lbx__double_store_copy_parcel(const lbx_allocator *allocator,
                              const lbx_parcel *from)
{
    const size_t size =
        sizeof(lbx__double_parcel) + lbx__letter_parcel_bytes(from);
    lbx__double_parcel *copy =
        lbx__alloc(allocator, size, _Alignof(lbx__double_parcel));
    const char *end;

    if (!copy)
        return NULL;
    copy->size = size;
    end = lbx__letter_copy_parcel(copy + 1, from, &copy->parcel);
    assert(end == (const char *)copy + size);
    (void)end;
    return copy;
}

void
lbx__double_store_free_parcel(const lbx_allocator *allocator,
                              lbx__double_parcel *copy)
{
    if (copy)
        lbx__free(allocator, copy, copy->size);
}

lbx_id
lbx__double_store_id(const char *scheme, uint64_t number)
{
    lbx_id id = {{0}};

    (void)snprintf(id.text, sizeof(id.text), "%s-%" PRIu64, scheme, number);
    return id;
}
