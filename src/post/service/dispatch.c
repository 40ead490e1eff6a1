/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dispatch: which rule runs a call, and what a failure of the whole call means
 * for its entries.
 *
 * Threads    the one that uses the rules; see SVC-5.
 */
#include "post/service/internal.h"

lbx_status
lbx__dispatch_deliver(void *context, const lbx_delivery *delivery)
{
    return lbx_call_deliver(context, delivery);
}

lbx_status
lbx__dispatch_run(lbx__service *service, lbx_call *call)
{
    lbx__rules *rules = service->rules;
    const lbx__sink sink = {lbx__dispatch_deliver, call};

    switch (call->kind) {
    case LBX_CALL_CREATE:
        return lbx__page_run_box(service, call, lbx__box_admin_create);
    case LBX_CALL_CONFIGURE:
        return lbx__page_run_box(service, call, lbx__box_admin_configure);
    case LBX_CALL_DELETE:
        return lbx__page_run_box(service, call, lbx__box_admin_delete);
    case LBX_CALL_DESCRIBE:
        return lbx__page_run_box(service, call, lbx__catalog_describe);
    case LBX_CALL_PURGE:
        return lbx__page_run_box(service, call, lbx__box_admin_purge);
    case LBX_CALL_LIST:
        return lbx__page_run_list(service, call);
    case LBX_CALL_SEND:
        return lbx__send_apply(rules, call->request);
    case LBX_CALL_SETTLE:
        return lbx__settle_apply(rules, call->request);
    case LBX_CALL_UNDO:
        return lbx__settle_undo(rules, call->request);
    case LBX_CALL_PEEK:
        return lbx__receive_peek(rules, call->request, &sink);
    case LBX_CALL_MOVE:
        return lbx__move_apply(rules, call->request);
    case LBX_CALL_SYNC: // after the flush
        return LBX_OK;
    case LBX_CALL_RECEIVE: // batch.c: it may wait
        break;
    }
    assert(false);
    return LBX_INVALID;
}

/* ---- Failures of the whole ---- */

static lbx_status *
dispatch_entry_status(const lbx_call *call, size_t index)
{
    const lbx_send_request *send = call->request;
    const lbx_settle_request *settle = call->request;

    switch (call->kind) {
    case LBX_CALL_SEND:
        return index < send->count ? &send->sent[index].status : NULL;
    case LBX_CALL_SETTLE:
    case LBX_CALL_UNDO:
        return index < settle->count ? &settle->entries[index].status : NULL;
    default:
        return NULL;
    }
}

lbx_status
lbx__dispatch_fail(const lbx_call *call, lbx_status status)
{
    lbx_status *entry;

    for (size_t i = 0; (entry = dispatch_entry_status(call, i)) != NULL; i++)
        *entry = status;
    return status;
}

/* Entries that have failed have failed; all others may or may not be
 * durable. */
lbx_status
lbx__dispatch_doubt(const lbx_call *call, lbx_status status)
{
    lbx_status *entry;
    lbx_status first = LBX_OK;

    for (size_t i = 0; (entry = dispatch_entry_status(call, i)) != NULL; i++) {
        if (*entry == LBX_OK)
            *entry = LBX_UNKNOWN;
        if (first == LBX_OK)
            first = *entry;
    }
    if (first != LBX_OK)
        return first;
    return status == LBX_OK ? LBX_UNKNOWN : status;
}
