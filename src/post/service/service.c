/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The service's door: the entries of <letterbox/store_driver.h>, giving up, ticks. The
 * invariants are in machine.h.
 */
#include "post/service/internal.h"

#include "base/park.h"
#include "post/rules/receipt.h"

/* ---- Telling ---- */

/* Takes the call's end out of it; it is not ours any more but for the page. */
static lbx_status
take_end(lbx_call *call)
{
    lbx__call_move(call, LBX__ENDED);
    return (lbx_status)lbx__call_note(call).status;
}

/* Ends a call, without the lock. True when it has to be run again instead. */
static bool
tell(lbx_call *call, lbx_status status, bool last)
{
    if (lbx__page_tell(call, status) && !last)
        return true;
    lbx__page_end(call);
    lbx_call_finish(call, status);
    return false;
}

void
lbx__service_tell(lbx__service *service, lbx__calls *done)
{
    lbx_call *call;

    while ((call = lbx__calls_pop(done)) != NULL) {
        const lbx_status status = take_end(call);
        bool again;

        lbx__lock_give(&service->lock);
        again = tell(call, status, false);
        lbx__lock_take(&service->lock);
        if (again) { // one_thread: others are run again where they were asked
            lbx__note note = lbx__call_note(call);

            if (note.given_up) {
                note.place = LBX__DONE;
                note.status = LBX_CANCELLED;
                lbx__call_set_note(call, note);
                lbx__call_set_list(call, done);
                lbx__calls_append(done, call);
            } else {
                lbx__call_move(call, LBX__ASKED);
                lbx__calls_append(&service->asked, call);
            }
        }
    }
}

/* ---- Asking ---- */

/* Runs a call, and all that were asked before it, now. Under the lock. PENDING:
 * it is somebody else's. */
static lbx_status
run_now(lbx__service *service, lbx_call *call, lbx__calls *done)
{
    lbx__calls group = lbx__batch_collect(service);

    lbx__call_move(call, LBX__RUNNING);
    lbx__calls_append(&group, call);
    lbx__batch_run(service, &group, done);
    if (lbx__call_note(call).place != LBX__DONE)
        return LBX_PENDING;
    lbx__calls_remove(done, call);
    return take_end(call);
}

/* The caller's thread runs the rules. */
static lbx_status
ask_here(lbx__service *service, lbx_call *call)
{
    const bool owns = service->options.one_thread;
    lbx__calls done = {NULL, NULL};
    lbx_status status;

    do {
        lbx__lock_take(&service->lock);
        // The owner has a list of its own, which it is telling just now (we are
        // called by somebody's waker); others are told here.
        status = run_now(service, call, owns ? &service->done : &done);
        if (!owns) {
            if (service->work_ns != LBX_FOREVER &&
                !service->options.manual_clock)
                (void)lbx__thread_start(service); // without it, by later calls
            lbx__thread_notify(service);
            if (done.first)
                lbx__service_tell(service, &done);
        }
        lbx__lock_give(&service->lock);
    } while (status != LBX_PENDING && lbx__page_tell(call, status));
    if (status != LBX_PENDING)
        lbx__page_end(call);
    return status;
}

static lbx_status
ask(lbx_store *store, lbx_call *call, lbx_call_kind verb, void *request)
{
    lbx__service *service = lbx__service_of(store);

    call->kind = verb;
    call->request = request;
    call->words[LBX__WORD_OF] = NULL;
    lbx__call_set_note(call, (lbx__note){.place = LBX__ASKED});
    if (!lbx__page_begin(service, call))
        return LBX_NO_MEMORY;
    if (!service->options.one_thread || lbx__thread_is_current(service))
        return ask_here(service, call);
    lbx__lock_take(&service->lock);
    // Relaxed: a number to wait for; the call itself is under the lock.
    (void)lbx__add(&service->asks, 1, relaxed);
    lbx__calls_append(&service->asked, call);
    lbx__thread_notify(service);
    lbx__lock_give(&service->lock);
    return LBX_PENDING;
}

/* Where a call is given up, and what it then ends with; false: it is under way,
 * and ends by itself. Under the lock. */
static bool
give_up(lbx__service *service, lbx_call *call)
{
    lbx__note note = lbx__call_note(call);

    switch ((lbx__place)note.place) {
    case LBX__ASKED:
        lbx__calls_remove(&service->asked, call);
        note.status = (int8_t)lbx__dispatch_fail(call, LBX_CANCELLED);
        break;
    case LBX__WAITING: {
        lbx__wanted *wanted = call->words[LBX__WORD_OF];

        lbx__waiters_leave(&service->waiters, call);
        note.status = note.given > 0 ? LBX_OK : LBX_CANCELLED;
        // Otherwise a turn may be looking at it; the next one takes it out.
        if (!service->options.one_thread && !wanted->calls.first)
            lbx__waiters_drop(&service->waiters, wanted);
        break;
    }
    case LBX__DONE: // E6
        lbx__calls_remove(lbx__call_list(call), call);
        break;
    case LBX__RUNNING:
    case LBX__ENDED:
        note.given_up = true;
        lbx__call_set_note(call, note);
        return false;
    }
    lbx__call_set_note(call, note);
    return true;
}

static void
cancel(lbx_store *store, lbx_call *call)
{
    lbx__service *service = lbx__service_of(store);
    bool mine;
    lbx_status status = LBX_OK;

    lbx__lock_take(&service->lock);
    mine = give_up(service, call);
    if (mine)
        status = take_end(call);
    lbx__lock_give(&service->lock);
    if (mine)
        (void)tell(call, status, true);
}

static void
tick(lbx_store *store)
{
    lbx__service *service = lbx__service_of(store);
    lbx__calls group = {NULL, NULL};
    lbx__calls done = {NULL, NULL};
    const bool owns = service->options.one_thread;
    uint32_t mine;
    uint32_t seen;

    lbx__lock_take(&service->lock);
    if (!owns || lbx__thread_is_current(service)) {
        lbx__batch_run(service, &group, owns ? &service->done : &done);
        lbx__thread_notify(service);
        lbx__service_tell(service, owns ? &service->done : &done);
        lbx__lock_give(&service->lock);
        return;
    }
    mine = ++service->ticks;
    lbx__thread_notify(service);
    lbx__lock_give(&service->lock);
    // Acquire: what was done is there. Counts wrap.
    while ((int32_t)((seen = lbx__load(&service->ticks_done, acquire)) - mine) <
           0)
        lbx__futex_wait(&service->ticks_done, seen, -1);
}

/* ---- Entries ---- */

#define ENTRY(name, verb, type)                                                \
    static lbx_status name(lbx_store *store, lbx_call *call, type request)     \
    {                                                                          \
        return ask(store, call, verb, request);                                \
    }

ENTRY(create, LBX_CALL_CREATE, lbx_box_request *)
ENTRY(configure, LBX_CALL_CONFIGURE, lbx_box_request *)
ENTRY(remove_box, LBX_CALL_DELETE, lbx_box_request *)
ENTRY(describe, LBX_CALL_DESCRIBE, lbx_box_request *)
ENTRY(purge, LBX_CALL_PURGE, lbx_box_request *)
ENTRY(list, LBX_CALL_LIST, lbx_list_request *)
ENTRY(send, LBX_CALL_SEND, lbx_send_request *)
ENTRY(receive, LBX_CALL_RECEIVE, lbx_receive_request *)
ENTRY(settle, LBX_CALL_SETTLE, lbx_settle_request *)
ENTRY(undo, LBX_CALL_UNDO, lbx_settle_request *)
ENTRY(peek, LBX_CALL_PEEK, lbx_peek_request *)
ENTRY(move, LBX_CALL_MOVE, lbx_move_request *)

static lbx_status
sync_all(lbx_store *store, lbx_call *call)
{
    return ask(store, call, LBX_CALL_SYNC, NULL);
}

static lbx_durability
durability(lbx_store *store)
{
    // Relaxed: an answer on its own.
    return (lbx_durability)lbx__load(&lbx__service_of(store)->durability,
                                     relaxed);
}

static lbx_status
receipt_text(lbx_store *store, const void *receipt, size_t receipt_bytes,
             char *buffer)
{
    lbx__service *service = lbx__service_of(store);
    lbx__receipt mine;
    lbx_status status;

    if (receipt_bytes != LBX__RECEIPT_PACKED)
        return LBX_INVALID;
    mine = lbx__receipt_unpack(receipt);
    lbx__lock_take(&service->text);
    status = lbx__receipt_text(service->mac, &mine, buffer);
    lbx__lock_give(&service->text);
    return status;
}

static lbx_status
receipt_parse(lbx_store *store, lbx_box box, const char *text,
              void *ret_receipt, size_t *ret_bytes)
{
    lbx__service *service = lbx__service_of(store);
    lbx__receipt mine;
    lbx_status status;

    (void)box; // whether it is of this box is for the rules to say
    lbx__lock_take(&service->text);
    status = lbx__receipt_parse(service->mac, text, &mine);
    lbx__lock_give(&service->text);
    if (status != LBX_OK)
        return status;
    lbx__receipt_pack(&mine, ret_receipt);
    *ret_bytes = LBX__RECEIPT_PACKED;
    return LBX_OK;
}

static void
close_store(lbx_store *store)
{
    lbx__service *service = lbx__service_of(store);

    if (lbx__thread_stop(service)) {
        if (!service->options.one_thread)
            lbx__service_end(service);
        lbx__service_free(service);
    }
}

const lbx_store_ops lbx__service_ops = {
    .version = LBX_STORE_OPS_VERSION,
    .durability = durability,
    .create = create,
    .configure = configure,
    .remove = remove_box,
    .describe = describe,
    .list = list,
    .send = send,
    .receive = receive,
    .settle = settle,
    .undo = undo,
    .peek = peek,
    .purge = purge,
    .move = move,
    .sync = sync_all,
    .cancel = cancel,
    .receipt_text = receipt_text,
    .receipt_parse = receipt_parse,
    .tick = tick,
    .close = close_store,
};
