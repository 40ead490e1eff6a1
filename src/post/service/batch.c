/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch: some calls, from begin to flush.
 *
 *     begin; run each call; serve waiting receives; background work; commit;
 *     flush
 *
 * Calls that have run are kept in a list of the batch until the flush has
 * returned: no other thread can finish them before (SVC-1). A receive that
 * finds nothing joins the waiting receives of its box. One that comes to a box
 * where others wait joins them without a try, so that it cannot take a letter
 * that became due between their try and its own.
 *
 * Only marked boxes are served: those that the rules have changed, those with a
 * letter that is due, and those whose last receive was cancelled. Serving a box
 * tries its receives in their order until one finds nothing, and asks the rules
 * when the next letter is due.
 *
 * BATCH-1  At the end of a batch no box is marked, except those that a cancel
 *          has emptied meanwhile.
 * BATCH-2  A box that was served is not due again before the next nanosecond: a
 *          batch ends whatever the rules return.
 *
 * Threads    one at a time, under the service's lock; see SVC-5.
 */
#include "post/service/internal.h"

struct batch {
    lbx__service *service;
    lbx__calls ran; /* have run, not yet durable */
    int64_t now_ns; /* as last read; 0: not yet */
    bool sync;      /* one of the calls is a sync */
};

/* A call has run, and ends with `status` if that becomes durable. */
static void
batch_end_call(struct batch *batch, lbx_call *call, lbx_status status)
{
    lbx__call_note note = lbx__call_get_note(call);

    note.phase = LBX__CALL_RUNNING;
    note.status = (int8_t)status;
    lbx__call_set_note(call, note);
    lbx__calls_append(&batch->ran, call);
}

/* ---- Receives ---- */

/* Marks the boxes that the rules have changed, and makes due times earlier. */
static void
batch_note_changes(const struct batch *batch)
{
    lbx__service *service = batch->service;
    const lbx__box_change *changes;
    const size_t count = lbx__box_record_take_changes(service->rules, &changes);

    for (size_t i = 0; i < count; i++) {
        const uint64_t uid = changes[i].uid;
        const int64_t due_ns = changes[i].due_ns;

        if (uid == 0)
            lbx__waiters_mark_all(&service->waiters);
        else if (!lbx__waiters_find(&service->waiters, uid))
            continue;
        else if (due_ns <= service->storage->ops->now(service->storage))
            lbx__waiters_mark(&service->waiters, uid);
        else
            lbx__waiters_advance_due(&service->waiters, uid, due_ns);
    }
}

/* The sink of receives and peeks. The context is the call. */
static lbx_status
batch_deliver(void *context, const lbx_delivery *delivery)
{
    return lbx_call_deliver(context, delivery);
}

/* With so many letters a receive waits no longer. */
static uint32_t
batch_enough(const lbx_receive_request *request)
{
    if (request->wait_ns == 0 || request->min_letters < 1)
        return 1;
    return request->min_letters < request->max_letters ? request->min_letters
                                                       : request->max_letters;
}

/* The status of a receive that may have had some letters: OK with those, unless
 * the box was deleted, and they with it. */
static lbx_status
batch_receive_status(lbx__call_note note, lbx_status status)
{
    return note.delivered > 0 && status != LBX_CLOSED ? LBX_OK : status;
}

/* Tries a receive once: PENDING when it has to wait, for the first letter or
 * for more. */
static lbx_status
batch_try_receive(struct batch *batch, lbx_call *call)
{
    lbx__service *service = batch->service;
    lbx_receive_request request = *(const lbx_receive_request *)call->request;
    lbx__call_note note = lbx__call_get_note(call);
    const lbx__sink sink = {batch_deliver, call};
    uint32_t count = 0;
    lbx_status status;

    lbx__service_enter_rules(service);
    status = lbx__receive_apply(service->rules, &request, note.delivered, &sink,
                                &count);
    lbx__service_leave_rules(service);
    batch_note_changes(batch);

    note = lbx__call_get_note(call); // it may have been cancelled meanwhile
    note.delivered = (uint8_t)(note.delivered + count);
    lbx__call_set_note(call, note);
    if (status == LBX_OK && note.delivered >= batch_enough(&request))
        return LBX_OK;
    if (status != LBX_OK && status != LBX_EMPTY)
        return batch_receive_status(note, status);
    if (request.wait_ns == 0)
        return batch_receive_status(note, LBX_EMPTY);
    return note.cancelled ? batch_receive_status(note, LBX_CANCELLED)
                          : LBX_PENDING;
}

/* Serves one box. */
static void
batch_serve_box(struct batch *batch, lbx__waited_box *waited)
{
    lbx__service *service = batch->service;
    int64_t due_ns = LBX_FOREVER;
    lbx_status status = LBX_OK;
    lbx_call *call;

    while ((call = lbx__waiters_pop(waited)) != NULL) {
        status = batch_try_receive(batch, call);
        if (status == LBX_PENDING) {
            lbx__waiters_prepend(waited, call);
            break;
        }
        batch_end_call(batch, call, status);
    }
    if (!waited->calls.first) {
        lbx__waiters_remove_box(&service->waiters, waited);
        return;
    }
    lbx__service_enter_rules(service);
    status =
        lbx__receive_next_due(service->rules, (lbx_box){waited->uid}, &due_ns);
    lbx__service_leave_rules(service);
    if (status != LBX_OK)
        due_ns = batch->now_ns + LBX_SECOND; // the next try returns the failure
    if (due_ns <= batch->now_ns)
        due_ns = batch->now_ns + 1; // BATCH-2
    lbx__waiters_set_due(&service->waiters, waited, due_ns);
}

/* SVC-4. */
static void
batch_serve(struct batch *batch)
{
    lbx__waiters *waiters = &batch->service->waiters;
    lbx__waited_box *waited;

    if (lbx__waiters_count(waiters) == 0)
        return;
    batch->now_ns = lbx__service_now(batch->service);
    lbx__waiters_mark_due(waiters, batch->now_ns);
    while ((waited = lbx__waiters_take_marked(waiters)) != NULL)
        batch_serve_box(batch, waited);
}

/* Adds a receive to the waiting ones of its box. */
static void
batch_wait(struct batch *batch, lbx_call *call)
{
    lbx__service *service = batch->service;
    const lbx_receive_request *request = call->request;
    lbx__waited_box *waited = NULL;

    if (service->options.manual_clock || lbx__thread_start(service))
        waited = lbx__waiters_add_box(&service->waiters, request->box.uid);
    if (waited)
        lbx__waiters_append(waited, call);
    else
        batch_end_call(
            batch, call,
            batch_receive_status(lbx__call_get_note(call), LBX_NO_MEMORY));
}

static void
batch_run_receive(struct batch *batch, lbx_call *call)
{
    const lbx_receive_request *request = call->request;
    const lbx__waited_box *waited;
    lbx_status status;

    // Another process may have sent something.
    if (batch->service->options.poll_ns > 0 &&
        lbx__waiters_count(&batch->service->waiters) > 0)
        lbx__waiters_mark(&batch->service->waiters, request->box.uid);
    batch_serve(batch); // the receives that came before it
    waited = lbx__waiters_find(&batch->service->waiters, request->box.uid);
    if (waited && waited->calls.first && request->wait_ns != 0 &&
        !request->attempt_id)
        // It may have been cancelled after it was collected.
        status =
            lbx__call_get_note(call).cancelled ? LBX_CANCELLED : LBX_PENDING;
    else
        status = batch_try_receive(batch, call);
    if (status == LBX_PENDING)
        batch_wait(batch, call);
    else
        batch_end_call(batch, call, status);
}

/* ---- The batch ---- */

/* Runs the rule of a call that never waits: its status. */
static lbx_status
batch_run_rule(lbx__service *service, lbx_call *call)
{
    lbx__rules *rules = service->rules;
    const lbx__sink sink = {batch_deliver, call};

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
    case LBX_CALL_RECEIVE: // batch_run_receive(): it may wait
        break;
    }
    assert(false);
    return LBX_INVALID;
}

static void
batch_run_call(struct batch *batch, lbx_call *call)
{
    lbx__service *service = batch->service;
    lbx_status status;

    assert(lbx__call_get_note(call).phase == LBX__CALL_RUNNING);
    if (call->kind == LBX_CALL_RECEIVE) {
        batch_run_receive(batch, call);
        return;
    }
    lbx__service_enter_rules(service);
    status = batch_run_rule(service, call);
    lbx__service_leave_rules(service);
    batch_note_changes(batch);
    if (call->kind == LBX_CALL_PURGE || call->kind == LBX_CALL_DELETE ||
        call->kind == LBX_CALL_MOVE)
        service->work_ns = 0; // there may be rows to remove
    batch->sync |= call->kind == LBX_CALL_SYNC;
    batch_end_call(batch, call, status);
}

/* Most batches have none, and need not read the clock. */
static bool
batch_work_is_due(struct batch *batch)
{
    if (batch->service->work_ns == LBX_FOREVER)
        return false;
    batch->now_ns = lbx__service_now(batch->service);
    return batch->service->work_ns <= batch->now_ns;
}

static void
batch_work(struct batch *batch)
{
    lbx__service *service = batch->service;

    while (service->work_ns <= batch->now_ns) {
        int64_t due_ns = LBX_FOREVER;
        lbx_status status;

        lbx__service_enter_rules(service);
        status =
            lbx__background_work(service->rules, LBX__WORK_BUDGET, &due_ns);
        lbx__service_leave_rules(service);
        batch_note_changes(batch);
        service->work_ns =
            status == LBX_OK ? due_ns : batch->now_ns + LBX_SECOND;
        if (!service->options.manual_clock)
            break;
    }
}

/* Ends every waiting receive: the storage is poisoned. Those that have had some
 * letters end with `partial`. */
static void
batch_fail_waiting(struct batch *batch, lbx_status status, lbx_status partial)
{
    lbx__waiters *waiters = &batch->service->waiters;
    lbx__waited_box *waited;
    lbx_call *call;

    lbx__waiters_mark_all(waiters);
    while ((waited = lbx__waiters_take_marked(waiters)) != NULL) {
        while ((call = lbx__waiters_pop(waited)) != NULL)
            batch_end_call(batch, call,
                           lbx__call_get_note(call).delivered ? partial
                                                              : status);
        lbx__waiters_remove_box(waiters, waited);
    }
}

/* The storage did not begin. */
static void
batch_fail(struct batch *batch, lbx__calls *calls, lbx_status status)
{
    lbx__service *service = batch->service;
    lbx_call *call;

    while ((call = lbx__calls_pop(calls)) != NULL)
        batch_end_call(batch, call, lbx__service_fail_call(call, status));
    if (status == LBX_IO || status == LBX_CORRUPT) {
        batch_fail_waiting(batch, status, LBX_OK);
        service->work_ns = LBX_FOREVER;
        return;
    }
    // Try again later: what is due is due in a second.
    lbx__waiters_mark_due(&service->waiters, batch->now_ns);
    for (lbx__link *link = service->waiters.marked.next;
         link != &service->waiters.marked; link = link->next)
        lbx__waiters_set_due(&service->waiters,
                             lbx__member(link, lbx__waited_box, marked),
                             batch->now_ns + LBX_SECOND);
    if (service->work_ns <= batch->now_ns)
        service->work_ns = batch->now_ns + LBX_SECOND;
}

/* The flush has failed: what has run may or may not be durable. */
static void
batch_doubt(struct batch *batch)
{
    for (lbx_call *call = batch->ran.first; call; call = lbx__call_next(call)) {
        lbx__call_note note = lbx__call_get_note(call);

        note.status =
            (int8_t)lbx__service_doubt_call(call, (lbx_status)note.status);
        lbx__call_set_note(call, note);
    }
    batch_fail_waiting(batch, LBX_IO, LBX_UNKNOWN);
    batch->service->work_ns = LBX_FOREVER;
}

/* Commits, flushes, and syncs if a call is a sync. */
static lbx_status
batch_make_durable(struct batch *batch)
{
    lbx__service *service = batch->service;
    lbx__storage *storage = service->storage;
    lbx_status synced = LBX_OK;
    lbx_status status;

    lbx__service_enter_rules(service);
    status =
        lbx__storage_flush(storage, lbx__box_record_commit(service->rules));
    if (status == LBX_OK && batch->sync)
        synced = storage->ops->sync(storage);
    // Relaxed: a value on its own.
    lbx__store(&service->durability,
               (uint32_t)storage->ops->durability(storage), relaxed);
    lbx__service_leave_rules(service);

    for (lbx_call *call = batch->ran.first; batch->sync && call;
         call = lbx__call_next(call))
        if (call->kind == LBX_CALL_SYNC) {
            lbx__call_note note = lbx__call_get_note(call);

            note.status = (int8_t)(status == LBX_OK ? synced : status);
            lbx__call_set_note(call, note);
        }
    return status;
}

lbx__calls
lbx__batch_collect(lbx__service *service)
{
    lbx__calls collected = {NULL, NULL};
    lbx_call *call;
    int count = 0;

    while (count++ < LBX__BATCH_CALLS_MAX &&
           (call = lbx__calls_pop(&service->queued)) != NULL) {
        lbx__call_set_phase(call, LBX__CALL_RUNNING);
        lbx__calls_append(&collected, call);
    }
    return collected;
}

void
lbx__batch_run(lbx__service *service, lbx__calls *calls, lbx__calls *done)
{
    struct batch batch = {.service = service};
    lbx_status status;
    lbx_call *call;

    lbx__service_enter_rules(service);
    status = lbx__storage_begin(service->storage);
    lbx__service_leave_rules(service);
    if (status == LBX_OK) {
        while ((call = lbx__calls_pop(calls)) != NULL)
            batch_run_call(&batch, call);
        batch_serve(&batch);
        if (batch_work_is_due(&batch)) {
            batch_work(&batch);
            batch_serve(&batch);
        }
        if (batch_make_durable(&batch) != LBX_OK)
            batch_doubt(&batch);
    } else {
        batch.now_ns = lbx__service_now(service);
        batch_fail(&batch, calls, status);
    }
    while ((call = lbx__calls_pop(&batch.ran)) != NULL) {
        lbx__call_set_phase(call, LBX__CALL_DONE);
        lbx__service_set_list(call, done);
        lbx__calls_append(done, call);
    }
}

int64_t
lbx__batch_due(const lbx__service *service)
{
    const int64_t due_ns = lbx__waiters_due(&service->waiters);

    return due_ns < service->work_ns ? due_ns : service->work_ns;
}
