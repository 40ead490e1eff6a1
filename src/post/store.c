/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lbx_store: references, the table called and checked, defaults of optional
 * entries. F1 and F3 are in store.h.
 */
#include "post/store.h"

#include "post/stores.h"

#include <assert.h>
#include <string.h>

void
lbx__desk_init(lbx__desk *desk)
{
    lbx__init(&desk->lock.word, 0);
    lbx__init(&desk->closed, 0);
    lbx__list_init(&desk->waiting);
}

static bool
usable(const lbx_store_ops *ops)
{
    return ops && ops->version == LBX_STORE_OPS_VERSION && ops->scheme &&
           ops->durability && ops->create && ops->configure && ops->remove &&
           ops->describe && ops->list && ops->send && ops->receive &&
           ops->settle && ops->cancel && ops->close &&
           !ops->receipt_text == !ops->receipt_parse;
}

lbx_status
lbx_store_init(lbx_store *store, const lbx_store_ops *ops)
{
    lbx__store_own *own;

    if (!store || !usable(ops))
        return LBX_INVALID;
    own = lbx__store_own_of(store);
    memset(store, 0, sizeof(*store));
    store->ops = ops;
    lbx__init(&own->users, 1);
    lbx__init(&own->awake, 0);
    own->vain = 0;
    own->life = lbx__stores_life();
    lbx__desk_init(&own->desk);
    return LBX_OK;
}

void
lbx__store_set_clock(lbx_store *store, const lbx_clock *clock)
{
    lbx__store_own_of(store)->clock = clock;
}

lbx_store *
lbx_store_ref(lbx_store *store)
{
    // Relaxed: who has a reference has all that was written before it.
    if (store)
        (void)lbx__add(&lbx__store_own_of(store)->users, 1, relaxed);
    return store;
}

/* F3. */
static bool
is_ours(const lbx_store *store)
{
    return lbx__store_own_of(store)->life == lbx__stores_life();
}

void
lbx_store_unref(lbx_store *store)
{
    lbx__store_own *own;
    void *place;

    if (!store)
        return;
    own = lbx__store_own_of(store);
    place = own->place;
    if (place) {
        if (!lbx__stores_drop(store))
            return;
        // Release and acquire: all use of the store comes before its end.
    } else if (lbx__sub(&own->users, 1, acq_rel) != 1) {
        return;
    }
    if (is_ours(store))
        store->ops->close(store);
    lbx__stores_closed(place);
}

const char *
lbx_store_scheme(const lbx_store *store)
{
    return store ? store->ops->scheme : NULL;
}

lbx_durability
lbx_store_durability(const lbx_store *store)
{
    if (!store || !is_ours(store))
        return LBX_SURVIVES_NOTHING;
    return store->ops->durability((lbx_store *)(uintptr_t)store);
}

void
lbx__store_clear(const lbx_call *call)
{
    if (call->verb == LBX_VERB_SEND) {
        const lbx_send_request *send = call->request;

        assert(send->count > 0 && send->count <= LBX_BATCH_MOST);
        for (size_t i = 0; i < send->count; i++)
            send->sent[i] = (lbx_sent){.status = LBX_PENDING};
    } else if (call->verb == LBX_VERB_SETTLE || call->verb == LBX_VERB_UNDO) {
        const lbx_settle_request *settle = call->request;

        assert(settle->count > 0 && settle->count <= LBX_BATCH_MOST);
        for (size_t i = 0; i < settle->count; i++) {
            lbx_settle_entry *entry = &settle->entries[i];

            entry->status = LBX_PENDING;
            for (size_t j = 0; j < entry->attachment_count; j++)
                *entry->attachments[j].sent = (lbx_sent){.status = LBX_PENDING};
        }
    }
}

static lbx_status
start_box(lbx_store *store, lbx_call *call)
{
    const lbx_store_ops *ops = store->ops;

    switch (call->verb) {
    case LBX_VERB_CREATE:
        return ops->create(store, call, call->request);
    case LBX_VERB_CONFIGURE:
        return ops->configure(store, call, call->request);
    case LBX_VERB_DELETE:
        return ops->remove(store, call, call->request);
    case LBX_VERB_DESCRIBE:
        return ops->describe(store, call, call->request);
    case LBX_VERB_LIST:
        return ops->list(store, call, call->request);
    case LBX_VERB_PURGE: // without one, postbox_count.c receives them all
        return ops->purge ? ops->purge(store, call, call->request)
                          : LBX_UNSUPPORTED;
    case LBX_VERB_MOVE:
        return ops->move ? ops->move(store, call, call->request)
                         : LBX_UNSUPPORTED;
    case LBX_VERB_SYNC:
        return ops->sync ? ops->sync(store, call) : LBX_UNSUPPORTED;
    default:
        return LBX_INVALID;
    }
}

lbx_status
lbx__store_start(lbx_store *store, lbx_call *call)
{
    const lbx_store_ops *ops = store->ops;

    if (!is_ours(store))
        return LBX_INVALID;
    switch (call->verb) {
    case LBX_VERB_SEND:
        return ops->send(store, call, call->request);
    case LBX_VERB_RECEIVE:
        return ops->receive(store, call, call->request);
    case LBX_VERB_SETTLE:
        return ops->settle(store, call, call->request);
    case LBX_VERB_UNDO: // whose entries are nacks with no delay
        return ops->undo ? ops->undo(store, call, call->request)
                         : ops->settle(store, call, call->request);
    case LBX_VERB_PEEK:
        return ops->peek ? ops->peek(store, call, call->request)
                         : LBX_UNSUPPORTED;
    default:
        return start_box(store, call);
    }
}

void
lbx__store_cancel(lbx_store *store, lbx_call *call)
{
    store->ops->cancel(store, call);
}

/* The status of an entry; one that has none gets that of the whole. A store that
 * says OK and leaves an entry out has not said what became of it. */
static lbx_status
entry_status(lbx_status *entry, lbx_status whole)
{
    if (*entry == LBX_PENDING)
        *entry = whole == LBX_OK ? LBX_UNKNOWN : whole;
    return *entry;
}

lbx_status
lbx__store_ended(const lbx_call *call, lbx_status status)
{
    lbx_status first = LBX_OK, each;

    if (call->verb == LBX_VERB_SEND) {
        const lbx_send_request *send = call->request;

        for (size_t i = 0; i < send->count; i++) {
            each = entry_status(&send->sent[i].status, status);
            if (first == LBX_OK)
                first = each;
        }
        return first;
    }
    if (call->verb == LBX_VERB_SETTLE || call->verb == LBX_VERB_UNDO) {
        const lbx_settle_request *settle = call->request;

        for (size_t i = 0; i < settle->count; i++) {
            lbx_settle_entry *entry = &settle->entries[i];

            each = entry_status(&entry->status, status);
            for (size_t j = 0; j < entry->attachment_count; j++)
                (void)entry_status(&entry->attachments[j].sent->status, each);
            if (first == LBX_OK)
                first = each;
        }
        return first;
    }
    return status;
}

bool
lbx__store_can_purge(const lbx_store *store)
{
    return store->ops->purge != NULL;
}

lbx_status
lbx__store_receipt_text(lbx_store *store, const void *receipt,
                        size_t receipt_bytes, char *buffer)
{
    if (!is_ours(store))
        return LBX_INVALID;
    if (store->ops->receipt_text)
        return store->ops->receipt_text(store, receipt, receipt_bytes, buffer);
    assert(receipt_bytes < LBX_RECEIPT_BYTES);
    memcpy(buffer, receipt, receipt_bytes);
    buffer[receipt_bytes] = '\0';
    return LBX_OK;
}

lbx_status
lbx__store_receipt_parse(lbx_store *store, lbx_box box, const char *text,
                         void *ret_receipt, size_t *ret_bytes)
{
    const size_t size = strnlen(text, LBX_RECEIPT_BYTES);

    if (!is_ours(store) || size >= LBX_RECEIPT_BYTES)
        return LBX_INVALID;
    if (store->ops->receipt_parse)
        return store->ops->receipt_parse(store, box, text, ret_receipt,
                                         ret_bytes);
    if (size > LBX_RECEIPT_MOST_BYTES)
        return LBX_INVALID;
    memcpy(ret_receipt, text, size);
    *ret_bytes = size;
    return LBX_OK;
}

void
lbx__store_tick(lbx_store *store)
{
    if (store->ops->tick && is_ours(store))
        store->ops->tick(store);
}
