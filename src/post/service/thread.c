/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The service thread: the one that uses the storage, or the one that sleeps
 * until something is due while callers do the rest.
 *
 *     for ever: a batch, if there is anything to do; finish calls; sleep
 *
 * THREAD-1  It sleeps only after it has seen, under the lock, that nothing is
 *           queued and nothing is due; `wake_ns` is until when. A thread that
 *           makes something due sooner notifies it under the same lock.
 * THREAD-2  `asleep` and `wake_ns` mean nothing while it is awake: it checks
 *           everything again before it sleeps.
 * THREAD-3  It sleeps on one word: its own, or the storage's notifications if
 *           that has them, which other processes increase too. Theirs are the
 *           storage's less our own, both read under the lock. It sleeps only
 *           while there are no more of theirs than it had seen before its last
 *           batch.
 * THREAD-4  It stays awake before a batch, as long as another call comes within
 *           each GATHER_NS, and after one, for LINGER_NS. Only speed depends on
 *           that.
 */
#include "post/service/internal.h"

#include "base/park.h"
#include "base/threads.h"

#define PAUSE_NS (50 * LBX_US)

bool
lbx__thread_is_current(const lbx__service *service)
{
    lbx__service *mine = (lbx__service *)(uintptr_t)service;

    // Relaxed: only the service thread itself compares equal, and it wrote it.
    return lbx__load(&mine->thread_id, relaxed) == lbx__thread_self();
}

void
lbx__thread_notify(lbx__service *service)
{
    const bool due = lbx__batch_due(service) < service->wake_ns;

    if (!service->asleep ||
        !(due || service->queued.first || service->recheck ||
          service->stopping ||
          service->ticks != lbx__peek(&service->ticks_done)))
        return;
    service->asleep = false;
    // Relaxed: what it announces is under the lock.
    (void)lbx__add(&service->notifications, 1, relaxed);
    if (service->storage->ops->notify)
        service->storage->ops->notify(service->storage);
    else
        lbx__futex_wake(&service->notifications, 1);
}

/* THREAD-3: reads the notifications of other processes. Under the lock. Every
 * process does background work that another has left, which may have been
 * killed; not at once, because that one does it too, and notifies each time. */
static void
thread_read_notifications(lbx__service *service, int64_t now_ns)
{
    lbx__storage *storage = service->storage;
    uint32_t seen;

    if (!storage->ops->notifications)
        return;
    seen = storage->ops->notifications(storage) -
           lbx__peek(&service->notifications);
    if (seen == service->foreign_notifications)
        return;
    service->foreign_notifications = seen;
    if (service->work_ns > now_ns + LBX_SECOND)
        service->work_ns = now_ns + LBX_SECOND;
    if (lbx__waiters_count(&service->waiters) > 0 ||
        storage->ops->has_join_request(storage))
        service->recheck = true;
}

/* THREAD-1. */
static void
thread_sleep(lbx__service *service, int64_t due_ns, int64_t now_ns)
{
    lbx__storage *storage = service->storage;
    const uint32_t seen =
        lbx__peek(&service->notifications) + service->foreign_notifications;
    const int64_t poll_ns = service->options.poll_ns;
    int64_t wait_ns = due_ns == LBX_FOREVER ? -1 : due_ns - now_ns;
    const bool polls = poll_ns > 0 &&
                       lbx__waiters_count(&service->waiters) > 0 &&
                       !service->options.manual_clock;

    if (service->options.manual_clock)
        wait_ns = -1;
    if (polls && (wait_ns < 0 || wait_ns > poll_ns))
        wait_ns = poll_ns;
    service->asleep = true;
    service->wake_ns = service->options.manual_clock ? INT64_MIN : due_ns;
    lbx__lock_give(&service->lock);
    if (storage->ops->sleep)
        storage->ops->sleep(storage, seen, wait_ns);
    else
        lbx__futex_wait(&service->notifications, seen, wait_ns);
    lbx__lock_take(&service->lock);
    service->asleep = false;
    if (polls)
        service->recheck = true;
}

/* ---- Staying awake ---- */

/* Calls that were queued since the last batch. */
static uint32_t
thread_new_calls(lbx__service *service)
{
    // Relaxed: see service_submit(). Counts wrap.
    return lbx__load(&service->calls_queued, relaxed) -
           service->calls_collected;
}

enum {
    GATHER_NS = LBX__SPINS(60000), /* a flush takes twice as long at least */
    LINGER_NS = LBX__SPINS(20000), /* so do falling asleep and waking up */
    IDLE_MAX = 4, /* then it lingers after every 16th batch only */
};

/* Lets other threads run, without the lock, until `count` calls were queued
 * since the last batch, or none was for `max_ns`. True when they were. It
 * yields: with as many threads as processors, the callers may need this one. */
static bool
thread_await_calls(lbx__service *service, uint32_t count, int64_t max_ns)
{
    int64_t until_ns = lbx_clock_now(NULL) + max_ns;
    uint32_t seen = 0;
    uint32_t arrived;

    if (max_ns == 0) // the explorer
        return false;
    lbx__lock_give(&service->lock);
    while ((arrived = thread_new_calls(service)) < count) {
        const int64_t now_ns = lbx_clock_now(NULL);

        if (arrived != seen)
            until_ns = now_ns + max_ns;
        else if (now_ns >= until_ns)
            break;
        seen = arrived;
        lbx__yield();
    }
    lbx__lock_take(&service->lock);
    return arrived >= count;
}

/* Callers whose calls have ended make new calls, one after the other. Where a
 * batch costs a flush, the thread waits for as many as were in the last batch
 * and came meanwhile: else, of 64 callers, the first would get a flush of its
 * own. */
static void
thread_gather(lbx__service *service)
{
    if (service->options.one_thread && !service->options.manual_clock &&
        lbx__peek(&service->durability) >= LBX_DURABILITY_POWER_CUT)
        (void)thread_await_calls(service, service->expected_calls, GATHER_NS);
}

/* After a batch the next call often comes soon: sleeping and waking cost both
 * sides more than the call. Everything is checked again afterwards
 * (THREAD-2). */
static void
thread_linger(lbx__service *service)
{
    if (!service->options.one_thread || service->options.manual_clock)
        return;
    if (service->idle_rounds >= IDLE_MAX && service->idle_rounds++ % 16 != 0)
        return;
    if (thread_await_calls(service, 1, LINGER_NS))
        service->idle_rounds = 0;
    else
        service->idle_rounds++;
}

/* The calls of the next batch. */
static lbx__calls
thread_collect(lbx__service *service)
{
    if (service->queued.first)
        thread_gather(service);
    service->batch_calls = thread_new_calls(service);
    service->calls_collected += service->batch_calls;
    return lbx__batch_collect(service);
}

/* Wakes the threads that wait for their ticks. */
static void
thread_end_ticks(lbx__service *service, uint32_t ticks)
{
    if (lbx__peek(&service->ticks_done) == ticks)
        return;
    // Release: a thread that waited sees what was done.
    lbx__store(&service->ticks_done, ticks, release);
    lbx__futex_wake(&service->ticks_done, INT32_MAX);
}

/* A pause between two parts of background work: callers run under the lock,
 * which is not fair, and would get it only after all of the work. */
static void
thread_pause(lbx__service *service)
{
    const uint32_t seen = lbx__peek(&service->notifications);

    lbx__lock_give(&service->lock);
    lbx__futex_wait(&service->notifications, seen, PAUSE_NS);
    lbx__lock_take(&service->lock);
}

static void
thread_loop(lbx__service *service)
{
    bool lingers = false;

    lbx__lock_take(&service->lock);
    for (;;) {
        const uint32_t ticks = service->ticks;
        const int64_t now_ns = lbx__service_now(service);
        int64_t due_ns;
        bool over;

        thread_read_notifications(service, now_ns);
        due_ns = lbx__batch_due(service);
        // Background work that is left is done after the next open.
        over = service->stopping && !service->queued.first;
        if (!over &&
            (service->queued.first || service->recheck || due_ns <= now_ns)) {
            lbx__calls calls = thread_collect(service);

            lingers = calls.first != NULL;
            if (service->recheck)
                lbx__waiters_mark_all(&service->waiters);
            service->recheck = false;
            lbx__batch_run(service, &calls, &service->done);
            service->expected_calls =
                service->batch_calls + thread_new_calls(service);
            lbx__service_finish_calls(service, &service->done);
            thread_end_ticks(service, ticks);
            if (!service->options.one_thread &&
                service->work_ns <= lbx__service_now(service))
                thread_pause(service);
        } else if (service->ticks != lbx__peek(&service->ticks_done)) {
            // Ticks that came after the clock was read need another round.
            thread_end_ticks(service, ticks);
        } else if (over) {
            break;
        } else if (lingers) {
            lingers = false;
            thread_linger(service);
        } else {
            thread_sleep(service, due_ns, now_ns);
        }
    }
    lbx__lock_give(&service->lock);
}

static void
thread_report_open(lbx__service *service, lbx_status status)
{
    service->open_status = status;
    // Release: the opening thread sees the status, and all that was made.
    lbx__store(&service->opened, 1u, release);
    lbx__futex_wake(&service->opened, 1);
}

static void *
thread_main(void *argument)
{
    lbx__service *service = argument;
    const bool owns = service->options.one_thread;
    void (*const closed)(void *) = service->options.closed;
    void *closing;
    bool self_closed;

    // Relaxed: see lbx__thread_is_current().
    lbx__store(&service->thread_id, lbx__thread_self(), relaxed);
    if (owns) {
        const lbx_status status = lbx__lifecycle_open(service);

        thread_report_open(service, status);
        if (status != LBX_OK)
            return NULL; // the opening thread joins
    }
    thread_loop(service);
    self_closed = service->self_closed;
    closing = service->closing;
    if (owns || self_closed)
        lbx__lifecycle_close(service);
    if (self_closed)
        lbx__lifecycle_free(service);
    if (closing)
        closed(closing);
    return NULL;
}

bool
lbx__thread_start(lbx__service *service)
{
    if (!service->has_thread)
        service->has_thread =
            lbx__threads_start(&service->thread, thread_main, service);
    return service->has_thread;
}

bool
lbx__thread_stop(lbx__service *service)
{
    lbx__lock_take(&service->lock);
    service->stopping = true;
    service->self_closed =
        service->has_thread && lbx__thread_is_current(service);
    if (service->self_closed)
        (void)pthread_detach(service->thread);
    else
        lbx__thread_notify(service);
    lbx__lock_give(&service->lock);
    if (service->self_closed) {
        if (service->options.closing)
            service->closing = service->options.closing(&service->base);
        return false;
    }
    if (service->has_thread)
        (void)pthread_join(service->thread, NULL);
    return true;
}
