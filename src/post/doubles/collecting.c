/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collecting postbox: keeps what was sent, in order, and delivers nothing.
 *
 * COLL-1  Each letter is a block of its own, which stays where it is until a
 *         purge or the close: a draft that a test has read stays valid while
 *         others are sent.
 *
 * Threads: any. One lock, held for the array.
 */
#include "base/alloc.h"
#include "base/array.h"
#include "base/lock.h"
#include "post/doubles/double_store.h"

#include <string.h>

struct collected {
    lbx_draft draft;
    lbx_routes *routes;
    lbx__double_parcel *copy;
};

struct collecting {
    lbx__double_store base;
    lbx__lock lock;
    uint64_t next; /* numbers the letters, also over a purge */
    lbx__array(struct collected *) letters;
    uint64_t bytes;
};

static void
collected_destroy(const lbx_allocator *allocator, struct collected *letter)
{
    if (!letter)
        return;
    lbx_routes_unref(letter->routes);
    lbx__double_store_free_parcel(allocator, letter->copy);
    lbx__free(allocator, letter, sizeof(*letter));
}

static struct collected *
collected_create(const lbx_allocator *allocator, const lbx_parcel *parcel)
{
    static const lbx_draft empty = LBX_DRAFT_INIT;
    struct collected *letter = lbx__zalloc(allocator, sizeof(*letter));
    const lbx_parcel *kept;

    if (!letter)
        return NULL;
    letter->copy = lbx__double_store_copy_parcel(allocator, parcel);
    if (!letter->copy ||
        (parcel->routes &&
         lbx_routes_from_json(parcel->routes, strlen(parcel->routes), allocator,
                              &letter->routes, NULL) != LBX_OK)) {
        collected_destroy(allocator, letter);
        return NULL;
    }
    kept = &letter->copy->parcel;
    letter->draft = empty;
    letter->draft.body = kept->body;
    letter->draft.body_bytes = kept->body_bytes;
    letter->draft.type_name = kept->type_name;
    letter->draft.routes = letter->routes;
    letter->draft.delay_ns = kept->delay_ns;
    letter->draft.attributes = kept->attributes;
    letter->draft.attribute_count = kept->attribute_count;
    letter->draft.group = kept->group;
    letter->draft.deduplication_id = kept->deduplication_id;
    letter->draft.token = kept->token;
    letter->draft.trace = kept->trace;
    letter->draft.in_reply_to = kept->in_reply_to;
    return letter;
}

static lbx_status
collecting_send_one(struct collecting *self, const lbx_parcel *parcel,
                    lbx_sent_letter *sent)
{
    struct collected *letter = collected_create(self->base.allocator, parcel);
    struct collected **item;

    if (!letter)
        return LBX_NO_MEMORY;
    lbx__lock_take(&self->lock);
    item = lbx__array_add(&self->letters, self->base.allocator);
    if (item) {
        *item = letter;
        self->bytes += parcel->body_bytes;
        sent->sequence = ++self->next;
    }
    lbx__lock_give(&self->lock);
    if (!item) {
        collected_destroy(self->base.allocator, letter);
        return LBX_NO_MEMORY;
    }
    sent->id = lbx__double_store_id("collecting", sent->sequence);
    return LBX_OK;
}

static lbx_status
collecting_send(lbx_store *store, lbx_call *call, lbx_send_request *request)
{
    lbx_status first = LBX_OK;

    (void)call;
    for (size_t i = 0; i < request->count; i++) {
        lbx_sent_letter *sent = &request->sent[i];

        sent->status = collecting_send_one((struct collecting *)store,
                                           &request->parcels[i], sent);
        if (first == LBX_OK)
            first = sent->status;
    }
    return first;
}

static lbx_status
collecting_purge(lbx_store *store, lbx_call *call, lbx_box_request *request)
{
    struct collecting *self = (struct collecting *)store;
    const lbx_allocator *allocator = self->base.allocator;
    lbx__array(struct collected *) letters;

    (void)call;
    lbx__lock_take(&self->lock);
    memcpy(&letters, &self->letters, sizeof(letters));
    memset(&self->letters, 0, sizeof(self->letters));
    self->bytes = 0;
    lbx__lock_give(&self->lock);
    for (size_t i = 0; i < letters.count; i++)
        collected_destroy(allocator, letters.items[i]);
    request->ret_purged = letters.count;
    lbx__array_fini(&letters, allocator);
    return LBX_OK;
}

static void
collecting_close(lbx_store *store)
{
    lbx_box_request request = {.ret_purged = 0};

    (void)collecting_purge(store, NULL, &request);
    lbx__double_store_free(store);
}

static lbx_status
collecting_counts(lbx__double_store *base, lbx_box_counts *ret)
{
    struct collecting *self = (struct collecting *)base;

    lbx__lock_take(&self->lock);
    *ret = (lbx_box_counts){
        .ready = self->letters.count, .bytes = self->bytes, .oldest_ns = -1};
    lbx__lock_give(&self->lock);
    return LBX_OK;
}

static const lbx_store_ops collecting_ops = {
    .size_bytes = sizeof(lbx_store_ops),
    .scheme = "collecting",
    .durability = lbx__double_store_durability,
    .create = lbx__double_store_create,
    .configure = lbx__double_store_unsupported,
    .remove = lbx__double_store_unsupported,
    .describe = lbx__double_store_describe,
    .list = lbx__double_store_list,
    .send = collecting_send,
    .receive = lbx__double_store_no_receive,
    .settle = lbx__double_store_no_settle,
    .purge = collecting_purge,
    .cancel = lbx__double_store_cancel,
    .close = collecting_close,
};

static lbx_status
collecting_init(lbx__double_store *self, const lbx_postbox_options *options)
{
    (void)options;
    self->count = collecting_counts;
    return LBX_OK;
}

lbx_status
lbx_collecting_postbox_create(const lbx_postbox_options *options,
                              lbx_postbox **ret)
{
    return lbx__double_store_open(&collecting_ops, sizeof(struct collecting),
                                  options, collecting_init, ret);
}

size_t
lbx_collecting_postbox_count(lbx_postbox *postbox)
{
    struct collecting *self =
        (struct collecting *)lbx__double_store_of(postbox, &collecting_ops);
    size_t count;

    if (!self)
        return 0;
    lbx__lock_take(&self->lock);
    count = self->letters.count;
    lbx__lock_give(&self->lock);
    return count;
}

const lbx_draft *
lbx_collecting_postbox_at(lbx_postbox *postbox, size_t index)
{
    struct collecting *self =
        (struct collecting *)lbx__double_store_of(postbox, &collecting_ops);
    const lbx_draft *draft = NULL;

    if (!self)
        return NULL;
    lbx__lock_take(&self->lock);
    if (index < self->letters.count)
        draft = &self->letters.items[index]->draft; // COLL-1
    lbx__lock_give(&self->lock);
    return draft;
}
