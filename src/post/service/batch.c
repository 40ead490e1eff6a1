/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A turn: one group of calls, from begin to flush.
 *
 *     begin; run each call; serve who waits; some background work; commit; flush
 *
 * Calls that have run are kept apart until the flush has answered: nobody can
 * tell them before (E1). A receive that finds nothing joins those that wait in
 * its box; one that comes to a box where some still wait joins them unasked, so
 * that it cannot find what became due between their try and its own.
 *
 * Serving. Only boxes that are stirred are looked at: those the rules have named,
 * those whose letter's time has come, those whose last receive was given up. A
 * look tries the receives in their order until one finds nothing, and asks the
 * rules when to look again.
 *
 * T1  A turn that has begun ends with no box stirred, but those that a cancel has
 *     emptied meanwhile.
 * T2  No box is due again at the moment it was looked at, or before: a turn comes
 *     to its end whatever the rules answer.
 */
#include "post/service/internal.h"

struct turn {
    lbx__service *service;
    lbx__calls ran; /* over, but not durable */
    int64_t now_ns; /* when it was last asked for; 0: not yet */
    bool sync;      /* somebody asked for it */
};

/* It is over, with `status` if that is durable. */
static void
end(struct turn *turn, lbx_call *call, lbx_status status)
{
    lbx__note note = lbx__call_note(call);

    note.place = LBX__RUNNING;
    note.status = (int8_t)status;
    lbx__call_set_note(call, note);
    lbx__calls_append(&turn->ran, call);
}

/* ---- Receives ---- */

/* Enough letters for it not to wait any more. */
static uint32_t
enough(const lbx_receive_request *request)
{
    if (request->wait_ns == 0 || request->min_letters < 1)
        return 1;
    return request->min_letters < request->max_letters ? request->min_letters
                                                       : request->max_letters;
}

/* How a receive ends that has had some letters already: they count, unless the
 * box is gone, and they with it. */
static lbx_status
end_status(lbx__note note, lbx_status status)
{
    return note.given > 0 && status != LBX_CLOSED ? LBX_OK : status;
}

/* One try: PENDING when it has to wait, for the first letter or for more. */
static lbx_status
try_receive(struct turn *turn, lbx_call *call)
{
    lbx__service *service = turn->service;
    lbx_receive_request request = *(const lbx_receive_request *)call->request;
    lbx__note note = lbx__call_note(call);
    const lbx__sink sink = {lbx__dispatch_deliver, call};
    uint32_t count = 0;
    lbx_status status;

    if (note.given > 0)
        request.attempt_id = NULL; // it would get the same ones again
    lbx__service_let_go(service);
    status =
        lbx__receive_apply(service->rules, &request, note.given, &sink, &count);
    lbx__service_take_back(service);

    note = lbx__call_note(call); // it may have been given up meanwhile
    note.given = (uint8_t)(note.given + count);
    lbx__call_set_note(call, note);
    if (status == LBX_OK && note.given >= enough(&request))
        return LBX_OK;
    if (status != LBX_OK && status != LBX_EMPTY)
        return end_status(note, status);
    if (request.wait_ns == 0)
        return end_status(note, LBX_EMPTY);
    return note.given_up ? end_status(note, LBX_CANCELLED) : LBX_PENDING;
}

/* Looks at one box. */
static void
serve_box(struct turn *turn, lbx__wanted *wanted)
{
    lbx__service *service = turn->service;
    int64_t due_ns = LBX_FOREVER;
    lbx_status status = LBX_OK;
    lbx_call *call;

    while ((call = lbx__wanted_take(wanted)) != NULL) {
        status = try_receive(turn, call);
        if (status == LBX_PENDING) {
            lbx__wanted_put_back(wanted, call);
            break;
        }
        end(turn, call, status);
    }
    if (!wanted->calls.first) {
        lbx__waiters_drop(&service->waiters, wanted);
        return;
    }
    lbx__service_let_go(service);
    status =
        lbx__receive_next_due(service->rules, (lbx_box){wanted->uid}, &due_ns);
    lbx__service_take_back(service);
    if (status != LBX_OK)
        due_ns = turn->now_ns + LBX_SECOND; // the next try will tell
    if (due_ns <= turn->now_ns)
        due_ns = turn->now_ns + 1; // T2
    lbx__waiters_set_due(&service->waiters, wanted, due_ns);
}

/* E4. */
static void
serve(struct turn *turn)
{
    lbx__waiters *waiters = &turn->service->waiters;
    lbx__wanted *wanted;

    if (waiters->count == 0)
        return;
    turn->now_ns = lbx__service_now(turn->service);
    lbx__waiters_stir_due(waiters, turn->now_ns);
    while ((wanted = lbx__waiters_next(waiters)) != NULL)
        serve_box(turn, wanted);
}

/* Joins those who wait in its box. */
static void
wait_in(struct turn *turn, lbx_call *call)
{
    lbx__service *service = turn->service;
    const lbx_receive_request *request = call->request;
    lbx__wanted *wanted = NULL;

    if (service->options.manual_clock || lbx__thread_start(service))
        wanted = lbx__waiters_want(&service->waiters, request->box.uid);
    if (wanted)
        lbx__wanted_append(wanted, call);
    else
        end(turn, call, end_status(lbx__call_note(call), LBX_NO_MEMORY));
}

static void
run_receive(struct turn *turn, lbx_call *call)
{
    const lbx_receive_request *request = call->request;
    const lbx__wanted *wanted;
    lbx_status status;

    if (turn->service->options.poll_ns > 0) // others may have sent something
        lbx__waiters_stir(&turn->service->waiters, request->box.uid);
    serve(turn); // whoever came before
    wanted = lbx__waiters_find(&turn->service->waiters, request->box.uid);
    if (wanted && wanted->calls.first && request->wait_ns != 0 &&
        !request->attempt_id)
        // Given up while the group waited for its turn: nobody will again.
        status = lbx__call_note(call).given_up ? LBX_CANCELLED : LBX_PENDING;
    else
        status = try_receive(turn, call);
    if (status == LBX_PENDING)
        wait_in(turn, call);
    else
        end(turn, call, status);
}

/* ---- The group ---- */

static void
run(struct turn *turn, lbx_call *call)
{
    lbx__service *service = turn->service;
    lbx_status status;

    assert(lbx__call_note(call).place == LBX__RUNNING);
    if (call->kind == LBX_CALL_RECEIVE) {
        run_receive(turn, call);
        return;
    }
    lbx__service_let_go(service);
    status = lbx__dispatch_run(service, call);
    lbx__service_take_back(service);
    if (call->kind == LBX_CALL_PURGE || call->kind == LBX_CALL_DELETE ||
        call->kind == LBX_CALL_MOVE)
        service->work_ns = 0; // there may be some
    turn->sync |= call->kind == LBX_CALL_SYNC;
    end(turn, call, status);
}

/* Most turns have none, and no need to know what time it is. */
static bool
work_is_due(struct turn *turn)
{
    if (turn->service->work_ns == LBX_FOREVER)
        return false;
    turn->now_ns = lbx__service_now(turn->service);
    return turn->service->work_ns <= turn->now_ns;
}

static void
work(struct turn *turn)
{
    lbx__service *service = turn->service;

    while (service->work_ns <= turn->now_ns) {
        int64_t due_ns = LBX_FOREVER;
        lbx_status status;

        lbx__service_let_go(service);
        status =
            lbx__background_work(service->rules, LBX__WORK_BUDGET, &due_ns);
        lbx__service_take_back(service);
        service->work_ns =
            status == LBX_OK ? due_ns : turn->now_ns + LBX_SECOND;
        if (!service->options.manual_clock)
            break;
    }
}

/* Ends every receive that waits: the storage will not answer again. `given` is
 * for those that have had some letters. */
static void
fail_waiting(struct turn *turn, lbx_status status, lbx_status given)
{
    lbx__waiters *waiters = &turn->service->waiters;
    lbx__wanted *wanted;
    lbx_call *call;

    lbx__waiters_stir_all(waiters);
    while ((wanted = lbx__waiters_next(waiters)) != NULL) {
        while ((call = lbx__wanted_take(wanted)) != NULL)
            end(turn, call, lbx__call_note(call).given ? given : status);
        lbx__waiters_drop(waiters, wanted);
    }
}

/* The storage would not begin. */
static void
fail(struct turn *turn, lbx__calls *group, lbx_status status)
{
    lbx__service *service = turn->service;
    lbx_call *call;

    while ((call = lbx__calls_pop(group)) != NULL)
        end(turn, call, lbx__dispatch_fail(call, status));
    if (status == LBX_IO || status == LBX_CORRUPT) {
        fail_waiting(turn, status, LBX_OK);
        service->work_ns = LBX_FOREVER;
        return;
    }
    // Later: as if everything due were due in a second.
    lbx__waiters_stir_due(&service->waiters, turn->now_ns);
    for (lbx__link *link = service->waiters.stirred.next;
         link != &service->waiters.stirred; link = link->next)
        lbx__waiters_set_due(&service->waiters,
                             lbx__member(link, lbx__wanted, stirred),
                             turn->now_ns + LBX_SECOND);
    if (service->work_ns <= turn->now_ns)
        service->work_ns = turn->now_ns + LBX_SECOND;
}

/* What has run did not become durable for certain. */
static void
doubt(struct turn *turn)
{
    for (lbx_call *call = turn->ran.first; call; call = lbx__call_next(call)) {
        lbx__note note = lbx__call_note(call);

        note.status =
            (int8_t)lbx__dispatch_doubt(call, (lbx_status)note.status);
        lbx__call_set_note(call, note);
    }
    fail_waiting(turn, LBX_IO, LBX_UNKNOWN);
    turn->service->work_ns = LBX_FOREVER;
}

/* Commit, flush, and sync for those who asked. */
static lbx_status
make_durable(struct turn *turn)
{
    lbx__service *service = turn->service;
    lbx__storage *storage = service->storage;
    lbx_status synced = LBX_OK;
    lbx_status status;

    lbx__service_let_go(service);
    status = lbx__storage_flush(storage, lbx__rules_commit(service->rules));
    if (status == LBX_OK && turn->sync)
        synced = storage->ops->sync(storage);
    // Relaxed: an answer on its own.
    lbx__store(&service->durability,
               (uint32_t)storage->ops->durability(storage), relaxed);
    lbx__service_take_back(service);

    for (lbx_call *call = turn->ran.first; turn->sync && call;
         call = lbx__call_next(call))
        if (call->kind == LBX_CALL_SYNC) {
            lbx__note note = lbx__call_note(call);

            note.status = (int8_t)(status == LBX_OK ? synced : status);
            lbx__call_set_note(call, note);
        }
    return status;
}

lbx__calls
lbx__batch_collect(lbx__service *service)
{
    lbx__calls group = {NULL, NULL};
    lbx_call *call;
    int count = 0;

    while (count++ < LBX__BATCH_CALLS_MAX &&
           (call = lbx__calls_pop(&service->asked)) != NULL) {
        lbx__call_move(call, LBX__RUNNING);
        lbx__calls_append(&group, call);
    }
    return group;
}

void
lbx__batch_run(lbx__service *service, lbx__calls *group, lbx__calls *done)
{
    struct turn turn = {.service = service};
    lbx_status status;
    lbx_call *call;

    lbx__service_let_go(service);
    status = lbx__storage_begin(service->storage);
    lbx__service_take_back(service);
    if (status == LBX_OK) {
        while ((call = lbx__calls_pop(group)) != NULL)
            run(&turn, call);
        serve(&turn);
        if (work_is_due(&turn)) {
            work(&turn);
            serve(&turn);
        }
        if (make_durable(&turn) != LBX_OK)
            doubt(&turn);
    } else {
        turn.now_ns = lbx__service_now(service);
        fail(&turn, group, status);
    }
    while ((call = lbx__calls_pop(&turn.ran)) != NULL) {
        lbx__call_move(call, LBX__DONE);
        lbx__call_set_list(call, done);
        lbx__calls_append(done, call);
    }
}

int64_t
lbx__batch_due(const lbx__service *service)
{
    const int64_t due_ns = lbx__waiters_due(&service->waiters);

    return due_ns < service->work_ns ? due_ns : service->work_ns;
}
