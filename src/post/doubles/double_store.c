/* SPDX-License-Identifier: Apache-2.0 */
/* What the doubles share; see double.h. */
#include "post/doubles/double_store.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "post/postbox.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const lbx_box the_box = {1};

lbx_status
lbx__double_store_open(const lbx_store_ops *ops, size_t size_bytes,
                       const lbx_postbox_options *options,
                       lbx_status (*init)(lbx__double_store *self,
                                          const lbx_postbox_options *),
                       lbx_postbox **ret)
{
    static const lbx_postbox_options defaults = LBX_POSTBOX_OPTIONS_INIT;
    static const lbx_box_options rules = LBX_BOX_OPTIONS_INIT;
    lbx_postbox_options mine = options ? *options : defaults;
    lbx__double_store *self;
    lbx_status status;

    status = lbx__postbox_options_check(&mine, ret);
    if (status != LBX_OK)
        return status;
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
    lbx_store_unref(&self->base); // the postbox has it now
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
    return LBX_SURVIVES_NOTHING;
}

static bool
is_the_box(const lbx_store *store, const lbx_box_request *request)
{
    return request->box.uid
               ? request->box.uid == the_box.uid
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
    if (!is_the_box(store, request))
        return LBX_NOT_FOUND;
    request->ret_box = the_box;
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
    if (!is_the_box(store, request))
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
    return LBX_INVALID; // nobody made that receipt
}

void
lbx__double_store_cancel(lbx_store *store, lbx_call *call)
{
    (void)store;
    lbx_call_finish(call, LBX_CANCELLED); // nobody else ever would
}

/* Copies of parcels. */

#define TEXTS(XX)                                                              \
    XX(type_name)                                                              \
    XX(routes)                                                                 \
    XX(group)                                                                  \
    XX(duplicate_id)                                                           \
    XX(token)                                                                  \
    XX(trace)                                                                  \
    XX(in_reply_to)

static size_t
text_size(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static size_t
size_of(const lbx_parcel *parcel)
{
    size_t size = sizeof(lbx__parcel_copy) + parcel->body_bytes + 1 +
                  parcel->attribute_count * sizeof(lbx_attribute);

    for (size_t i = 0; i < parcel->attribute_count; i++)
        size += text_size(parcel->attributes[i].name) +
                text_size(parcel->attributes[i].label) +
                parcel->attributes[i].size_bytes + 1;
#define ADD(field) size += text_size(parcel->field);
    TEXTS(ADD)
#undef ADD
    return size;
}

static char *
keep(char **to, const void *bytes, size_t size)
{
    char *copy = *to;

    if (!bytes)
        return NULL;
    memcpy(copy, bytes, size);
    copy[size] = '\0';
    *to += size + 1;
    return copy;
}

static const char *
keep_text(char **to, const char *text)
{
    return keep(to, text, text ? strlen(text) : 0);
}

lbx__parcel_copy *
lbx__parcel_copy_create(const lbx_allocator *allocator, const lbx_parcel *from)
{
    const size_t size = size_of(from);
    lbx__parcel_copy *copy = lbx__zalloc(allocator, size);
    lbx_attribute *attributes;
    char *to;

    if (!copy)
        return NULL;
    attributes = (lbx_attribute *)(void *)(copy + 1);
    to = (char *)(attributes + from->attribute_count);
    copy->size = size;
    copy->parcel = *from;
    copy->parcel.attributes = attributes;
    for (size_t i = 0; i < from->attribute_count; i++) {
        attributes[i] = from->attributes[i];
        attributes[i].name = keep_text(&to, attributes[i].name);
        attributes[i].label = keep_text(&to, attributes[i].label);
        attributes[i].value =
            keep(&to, attributes[i].value ? attributes[i].value : "",
                 attributes[i].size_bytes);
    }
#define COPY(field) copy->parcel.field = keep_text(&to, from->field);
    TEXTS(COPY)
#undef COPY
    copy->parcel.body = keep(&to, from->body, from->body_bytes);
    return copy;
}

void
lbx__parcel_copy_destroy(const lbx_allocator *allocator, lbx__parcel_copy *copy)
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
