/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of <letterbox/store_driver.h>: calls in, cancel, ticks, and calls
 * out. The invariants are in internal.h.
 *
 * A call is queued for the service thread, or run at once in the thread that
 * makes it; see service.h.
 */
#include "post/service/internal.h"

#include "base/park.h"
#include "post/rules/receipt.h"

/* ---- Failures of the whole ---- */

static lbx_status *
service_entry_status(const lbx_call *call, size_t index)
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
lbx__service_fail_call(const lbx_call *call, lbx_status status)
{
    lbx_status *entry;

    for (size_t i = 0; (entry = service_entry_status(call, i)) != NULL; i++)
        *entry = status;
    return status;
}

/* Entries that have failed have failed; all others may or may not be
 * durable. */
lbx_status
lbx__service_doubt_call(const lbx_call *call, lbx_status status)
{
    lbx_status *entry;
    lbx_status first = LBX_OK;

    for (size_t i = 0; (entry = service_entry_status(call, i)) != NULL; i++) {
        if (*entry == LBX_OK)
            *entry = LBX_UNKNOWN;
        if (first == LBX_OK)
            first = *entry;
    }
    if (first != LBX_OK)
        return first;
    return status == LBX_OK ? LBX_UNKNOWN : status;
}

/* ---- Finishing ---- */

/* Takes the status out of a done call, which is no longer the service's, except
 * for its page. */
static lbx_status
service_take_status(lbx_call *call)
{
    lbx__call_set_phase(call, LBX__CALL_FINISHING);
    return (lbx_status)lbx__call_get_note(call).status;
}

/* Finishes a call, without the lock. True: it has to run again instead. */
static bool
service_finish(lbx_call *call, lbx_status status, bool last)
{
    if (lbx__page_is_needed(call)) {
        if (lbx__page_flush(call, status) && !last)
            return true;
        lbx__page_destroy(call);
    }
    lbx_call_finish(call, status);
    return false;
}

void
lbx__service_finish_calls(lbx__service *service, lbx__calls *done)
{
    lbx_call *call;

    while ((call = lbx__calls_pop(done)) != NULL) {
        const lbx_status status = service_take_status(call);
        bool again;

        lbx__lock_give(&service->lock);
        again = service_finish(call, status, false);
        lbx__lock_take(&service->lock);
        if (again) { // one_thread only: service_submit_here() repeats others
            lbx__call_note note = lbx__call_get_note(call);

            if (note.cancelled) {
                note.phase = LBX__CALL_DONE;
                note.status = LBX_CANCELLED;
                lbx__call_set_note(call, note);
                lbx__service_set_list(call, done);
                lbx__calls_append(done, call);
            } else {
                lbx__call_set_phase(call, LBX__CALL_QUEUED);
                lbx__calls_append(&service->queued, call);
            }
        }
    }
}

/* ---- Submitting ---- */

/* Runs a call now, and all that were queued before it. Under the lock. PENDING:
 * it waits, or another thread finishes it. */
static lbx_status
service_run_now(lbx__service *service, lbx_call *call, lbx__calls *done)
{
    lbx__calls calls = lbx__batch_collect(service);

    lbx__call_set_phase(call, LBX__CALL_RUNNING);
    lbx__calls_append(&calls, call);
    lbx__batch_run(service, &calls, done);
    if (lbx__call_get_note(call).phase != LBX__CALL_DONE)
        return LBX_PENDING;
    lbx__calls_remove(done, call);
    return service_take_status(call);
}

/* This thread runs the rules. */
static lbx_status
service_submit_here(lbx__service *service, lbx_call *call)
{
    const bool owns = service->options.one_thread;
    lbx__calls done = {NULL, NULL};
    lbx_status status;

    do {
        lbx__lock_take(&service->lock);
        // The service thread, here called by a waker, is just emptying a list
        // of its own; other threads finish what is done here.
        status = service_run_now(service, call, owns ? &service->done : &done);
        if (!owns) {
            if (service->work_ns != LBX_FOREVER &&
                !service->options.manual_clock)
                (void)lbx__thread_start(
                    service); // without it, later calls do the work
            lbx__thread_notify(service);
            if (done.first)
                lbx__service_finish_calls(service, &done);
        }
        lbx__lock_give(&service->lock);
    } while (status != LBX_PENDING && lbx__page_is_needed(call) &&
             lbx__page_flush(call, status));
    if (status != LBX_PENDING && lbx__page_is_needed(call))
        lbx__page_destroy(call);
    return status;
}

static lbx_status
service_submit(lbx_store *store, lbx_call *call, lbx_call_kind verb,
               void *request)
{
    lbx__service *service = lbx__service_of(store);

    call->kind = verb;
    call->request = request;
    call->words[LBX__CALL_OWNER] = NULL;
    lbx__call_set_note(call, (lbx__call_note){.phase = LBX__CALL_QUEUED});
    if (lbx__page_is_needed(call) && !lbx__page_create(service, call))
        return LBX_NO_MEMORY;
    if (!service->options.one_thread || lbx__thread_is_current(service))
        return service_submit_here(service, call);
    lbx__lock_take(&service->lock);
    // Relaxed: a count that the thread polls; the call is under the lock.
    (void)lbx__add(&service->calls_queued, 1, relaxed);
    lbx__calls_append(&service->queued, call);
    lbx__thread_notify(service);
    lbx__lock_give(&service->lock);
    return LBX_PENDING;
}

/* Takes a call out of where it is, with its status; false: it is running, and
 * ends by itself. Under the lock. */
static bool
service_withdraw(lbx__service *service, lbx_call *call)
{
    lbx__call_note note = lbx__call_get_note(call);

    switch ((lbx__call_phase)note.phase) {
    case LBX__CALL_QUEUED:
        lbx__calls_remove(&service->queued, call);
        note.status = (int8_t)lbx__service_fail_call(call, LBX_CANCELLED);
        break;
    case LBX__CALL_WAITING: {
        lbx__waited_box *wanted = call->words[LBX__CALL_OWNER];

        lbx__waiters_remove(&service->waiters, call);
        note.status = note.delivered > 0 ? LBX_OK : LBX_CANCELLED;
        // With one_thread a batch may use the box; the next one removes it.
        if (!service->options.one_thread && !wanted->calls.first)
            lbx__waiters_remove_box(&service->waiters, wanted);
        break;
    }
    case LBX__CALL_DONE: // SVC-6
        lbx__calls_remove(lbx__service_list(call), call);
        break;
    case LBX__CALL_RUNNING:
    case LBX__CALL_FINISHING:
        note.cancelled = true;
        lbx__call_set_note(call, note);
        return false;
    }
    lbx__call_set_note(call, note);
    return true;
}

static void
service_cancel(lbx_store *store, lbx_call *call)
{
    lbx__service *service = lbx__service_of(store);
    bool mine;
    lbx_status status = LBX_OK;

    lbx__lock_take(&service->lock);
    mine = service_withdraw(service, call);
    if (mine)
        status = service_take_status(call);
    lbx__lock_give(&service->lock);
    if (mine)
        (void)service_finish(call, status, true);
}

static void
service_tick(lbx_store *store)
{
    lbx__service *service = lbx__service_of(store);
    lbx__calls none = {NULL, NULL};
    lbx__calls done = {NULL, NULL};
    const bool owns = service->options.one_thread;
    uint32_t mine;
    uint32_t seen;

    lbx__lock_take(&service->lock);
    if (!owns || lbx__thread_is_current(service)) {
        lbx__batch_run(service, &none, owns ? &service->done : &done);
        lbx__thread_notify(service);
        lbx__service_finish_calls(service, owns ? &service->done : &done);
        lbx__lock_give(&service->lock);
        return;
    }
    mine = ++service->ticks;
    lbx__thread_notify(service);
    lbx__lock_give(&service->lock);
    // Acquire: what the tick did is visible. Counts wrap.
    while ((int32_t)((seen = lbx__load(&service->ticks_done, acquire)) - mine) <
           0)
        lbx__futex_wait(&service->ticks_done, seen, -1);
}

/* ---- Entries ---- */

#define SERVICE_ENTRY(name, verb, type)                                        \
    static lbx_status name(lbx_store *store, lbx_call *call, type request)     \
    {                                                                          \
        return service_submit(store, call, verb, request);                     \
    }

SERVICE_ENTRY(service_create, LBX_CALL_CREATE, lbx_box_request *)
SERVICE_ENTRY(service_configure, LBX_CALL_CONFIGURE, lbx_box_request *)
SERVICE_ENTRY(service_delete_box, LBX_CALL_DELETE, lbx_box_request *)
SERVICE_ENTRY(service_describe, LBX_CALL_DESCRIBE, lbx_box_request *)
SERVICE_ENTRY(service_purge, LBX_CALL_PURGE, lbx_box_request *)
SERVICE_ENTRY(service_list, LBX_CALL_LIST, lbx_list_request *)
SERVICE_ENTRY(service_send, LBX_CALL_SEND, lbx_send_request *)
SERVICE_ENTRY(service_receive, LBX_CALL_RECEIVE, lbx_receive_request *)
SERVICE_ENTRY(service_settle, LBX_CALL_SETTLE, lbx_settle_request *)
SERVICE_ENTRY(service_undo, LBX_CALL_UNDO, lbx_settle_request *)
SERVICE_ENTRY(service_peek, LBX_CALL_PEEK, lbx_peek_request *)
SERVICE_ENTRY(service_move, LBX_CALL_MOVE, lbx_move_request *)

static lbx_status
service_sync(lbx_store *store, lbx_call *call)
{
    return service_submit(store, call, LBX_CALL_SYNC, NULL);
}

static lbx_durability
service_durability(lbx_store *store)
{
    // Relaxed: a value on its own.
    return (lbx_durability)lbx__load(&lbx__service_of(store)->durability,
                                     relaxed);
}

static lbx_status
service_receipt_text(lbx_store *store, const void *receipt,
                     size_t receipt_bytes, char *buffer)
{
    lbx__service *service = lbx__service_of(store);
    lbx__receipt mine;
    lbx_status status;

    if (receipt_bytes != LBX__RECEIPT_PACKED)
        return LBX_INVALID;
    mine = lbx__receipt_unpack(receipt);
    lbx__lock_take(&service->text_lock);
    status = lbx__receipt_text(service->mac, &mine, buffer);
    lbx__lock_give(&service->text_lock);
    return status;
}

static lbx_status
service_receipt_parse(lbx_store *store, lbx_box box, const char *text,
                      void *ret_receipt, size_t *ret_bytes)
{
    lbx__service *service = lbx__service_of(store);
    lbx__receipt mine;
    lbx_status status;

    (void)box; // the rules check whether it is of this box
    lbx__lock_take(&service->text_lock);
    status = lbx__receipt_parse(service->mac, text, &mine);
    lbx__lock_give(&service->text_lock);
    if (status != LBX_OK)
        return status;
    lbx__receipt_pack(&mine, ret_receipt);
    *ret_bytes = LBX__RECEIPT_PACKED;
    return LBX_OK;
}

static void
service_close(lbx_store *store)
{
    lbx__service *service = lbx__service_of(store);

    if (lbx__thread_stop(service)) {
        if (!service->options.one_thread)
            lbx__lifecycle_close(service);
        lbx__lifecycle_free(service);
    }
}

const lbx_store_ops lbx__service_ops = {
    .size_bytes = sizeof(lbx_store_ops),
    .durability = service_durability,
    .create = service_create,
    .configure = service_configure,
    .remove = service_delete_box,
    .describe = service_describe,
    .list = service_list,
    .send = service_send,
    .receive = service_receive,
    .settle = service_settle,
    .undo = service_undo,
    .peek = service_peek,
    .purge = service_purge,
    .move = service_move,
    .sync = service_sync,
    .cancel = service_cancel,
    .receipt_text = service_receipt_text,
    .receipt_parse = service_receipt_parse,
    .tick = service_tick,
    .close = service_close,
};
