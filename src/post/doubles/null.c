/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The null postbox: accepts every letter and keeps none. Sends are numbered;
 * receives wait for ever.
 */
#include "base/atomic.h"
#include "post/doubles/double_store.h"

struct null_store {
    lbx__double_store base;
    _Atomic(uint64_t) sent;
};

static lbx_status
null_send(lbx_store *store, lbx_call *call, lbx_send_request *request)
{
    struct null_store *null = (struct null_store *)store;

    (void)call;
    for (size_t i = 0; i < request->count; i++) {
        // Relaxed: only the numbers must differ.
        const uint64_t number = lbx__add(&null->sent, 1, relaxed) + 1;

        request->sent[i] = (lbx_sent_letter){
            .status = LBX_OK,
            .id = lbx__double_store_id("null", number),
            .sequence = number,
        };
    }
    return LBX_OK;
}

static lbx_status
null_purge(lbx_store *store, lbx_call *call, lbx_box_request *request)
{
    (void)store;
    (void)call;
    request->ret_purged = 0;
    return LBX_OK;
}

static const lbx_store_ops null_ops = {
    .size_bytes = sizeof(lbx_store_ops),
    .scheme = "null",
    .durability = lbx__double_store_durability,
    .create = lbx__double_store_create,
    .configure = lbx__double_store_unsupported,
    .remove = lbx__double_store_unsupported,
    .describe = lbx__double_store_describe,
    .list = lbx__double_store_list,
    .send = null_send,
    .receive = lbx__double_store_no_receive,
    .settle = lbx__double_store_no_settle,
    .purge = null_purge,
    .cancel = lbx__double_store_cancel,
    .close = lbx__double_store_free,
};

static lbx_status
null_count(lbx__double_store *self, lbx_box_counts *ret)
{
    (void)self;
    *ret = (lbx_box_counts){.oldest_ns = -1};
    return LBX_OK;
}

static lbx_status
null_init(lbx__double_store *self, const lbx_postbox_options *options)
{
    (void)options;
    self->count = null_count;
    return LBX_OK;
}

lbx_status
lbx_null_postbox_create(const lbx_postbox_options *options, lbx_postbox **ret)
{
    return lbx__double_store_open(&null_ops, sizeof(struct null_store), options,
                                  null_init, ret);
}
