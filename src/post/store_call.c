/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of a store's table, checked before and after, with the defaults of its
 * optional entries. STORE-1 and STORE-2 are in store.h.
 */
#include "post/store.h"

#include <assert.h>
#include <string.h>

void
lbx__store_call_clear(const lbx_call *call)
{
    if (call->kind == LBX_CALL_SEND) {
        const lbx_send_request *send = call->request;

        assert(send->count > 0 && send->count <= LBX_MAX_BATCH);
        for (size_t i = 0; i < send->count; i++)
            send->sent[i] = (lbx_sent_letter){.status = LBX_PENDING};
    } else if (call->kind == LBX_CALL_SETTLE || call->kind == LBX_CALL_UNDO) {
        const lbx_settle_request *settle = call->request;

        assert(settle->count > 0 && settle->count <= LBX_MAX_BATCH);
        for (size_t i = 0; i < settle->count; i++) {
            lbx_settle_request_entry *entry = &settle->entries[i];

            entry->status = LBX_PENDING;
            for (size_t j = 0; j < entry->attachment_count; j++)
                *entry->attachments[j].sent =
                    (lbx_sent_letter){.status = LBX_PENDING};
        }
    }
}

static lbx_status
store_call_start_box(lbx_store *store, lbx_call *call)
{
    const lbx_store_ops *ops = store->ops;

    switch (call->kind) {
    case LBX_CALL_CREATE:
        return ops->create(store, call, call->request);
    case LBX_CALL_CONFIGURE:
        return ops->configure(store, call, call->request);
    case LBX_CALL_DELETE:
        return ops->remove(store, call, call->request);
    case LBX_CALL_DESCRIBE:
        return ops->describe(store, call, call->request);
    case LBX_CALL_LIST:
        return ops->list(store, call, call->request);
    case LBX_CALL_PURGE: // without one, see postbox_purge.c
        return ops->purge ? ops->purge(store, call, call->request)
                          : LBX_UNSUPPORTED;
    case LBX_CALL_MOVE:
        return ops->move ? ops->move(store, call, call->request)
                         : LBX_UNSUPPORTED;
    case LBX_CALL_SYNC:
        return ops->sync ? ops->sync(store, call) : LBX_UNSUPPORTED;
    default:
        return LBX_INVALID;
    }
}

lbx_status
lbx__store_call_start(lbx_store *store, lbx_call *call)
{
    const lbx_store_ops *ops = store->ops;

    if (!lbx__store_is_ours(store))
        return LBX_FORKED;
    switch (call->kind) {
    case LBX_CALL_SEND:
        return ops->send(store, call, call->request);
    case LBX_CALL_RECEIVE:
        return ops->receive(store, call, call->request);
    case LBX_CALL_SETTLE:
        return ops->settle(store, call, call->request);
    case LBX_CALL_UNDO: // its entries are nacks with no delay
        return ops->undo ? ops->undo(store, call, call->request)
                         : ops->settle(store, call, call->request);
    case LBX_CALL_PEEK:
        return ops->peek ? ops->peek(store, call, call->request)
                         : LBX_UNSUPPORTED;
    default:
        return store_call_start_box(store, call);
    }
}

void
lbx__store_call_cancel(lbx_store *store, lbx_call *call)
{
    store->ops->cancel(store, call);
}

/* The status of an entry; one that has none gets that of the call. After an OK
 * it is UNKNOWN: the store has not set it. */
static lbx_status
store_call_entry(lbx_status *entry, lbx_status whole)
{
    if (*entry == LBX_PENDING)
        *entry = whole == LBX_OK ? LBX_UNKNOWN : whole;
    return *entry;
}

lbx_status
lbx__store_call_result(const lbx_call *call, lbx_status status)
{
    lbx_status first = LBX_OK, each;

    if (call->kind == LBX_CALL_SEND) {
        const lbx_send_request *send = call->request;

        for (size_t i = 0; i < send->count; i++) {
            each = store_call_entry(&send->sent[i].status, status);
            if (first == LBX_OK)
                first = each;
        }
        return first;
    }
    if (call->kind == LBX_CALL_SETTLE || call->kind == LBX_CALL_UNDO) {
        const lbx_settle_request *settle = call->request;

        for (size_t i = 0; i < settle->count; i++) {
            lbx_settle_request_entry *entry = &settle->entries[i];

            each = store_call_entry(&entry->status, status);
            for (size_t j = 0; j < entry->attachment_count; j++)
                (void)store_call_entry(&entry->attachments[j].sent->status,
                                       each);
            if (first == LBX_OK)
                first = each;
        }
        return first;
    }
    return status;
}

bool
lbx__store_call_has_purge(const lbx_store *store)
{
    return store->ops->purge != NULL;
}

lbx_status
lbx__store_call_receipt_text(lbx_store *store, const void *receipt,
                             size_t receipt_bytes, char *buffer)
{
    if (!lbx__store_is_ours(store))
        return LBX_FORKED;
    if (store->ops->receipt_text)
        return store->ops->receipt_text(store, receipt, receipt_bytes, buffer);
    assert(receipt_bytes < LBX_RECEIPT_BYTES);
    memcpy(buffer, receipt, receipt_bytes);
    buffer[receipt_bytes] = '\0';
    return LBX_OK;
}

lbx_status
lbx__store_call_receipt_parse(lbx_store *store, lbx_box box, const char *text,
                              void *ret_receipt, size_t *ret_bytes)
{
    const size_t size = strnlen(text, LBX_RECEIPT_BYTES);

    if (!lbx__store_is_ours(store))
        return LBX_FORKED;
    if (size >= LBX_RECEIPT_BYTES)
        return LBX_INVALID;
    if (store->ops->receipt_parse)
        return store->ops->receipt_parse(store, box, text, ret_receipt,
                                         ret_bytes);
    if (size > LBX_MAX_RECEIPT_BYTES)
        return LBX_INVALID;
    memcpy(ret_receipt, text, size);
    *ret_bytes = size;
    return LBX_OK;
}

void
lbx__store_call_tick(lbx_store *store)
{
    if (store->ops->tick && lbx__store_is_ours(store))
        store->ops->tick(store);
}
