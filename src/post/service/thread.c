/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The service's thread: the one that owns the storage, or the one that sleeps
 * until something is due while callers do the rest.
 *
 *     for ever: a turn, if there is anything to do; tell who is done; sleep
 *
 * H1  It sleeps only after it has seen, under the lock, that nothing is asked and
 *     nothing is due; `alarm_ns` says until when. Whoever makes something due
 *     sooner rings the bell under the same lock, before it lets go.
 * H2  `asleep` and `alarm_ns` mean nothing while it is awake: it looks again
 *     before it sleeps.
 * H3  It sleeps on one word: its own, or the storage's bell if that has one, which
 *     other processes ring too. What those have rung is the bell less our own
 *     rings, and both are read under the lock; it sleeps only as long as others
 *     have rung no more than it has heard, before the turn that looked.
 * H4  It waits without sleeping before a turn, as long as another call comes each
 *     GATHER_NS, and after one, for LINGER_NS; nothing depends on that but speed.
 */
#include "post/service/internal.h"

#include "base/park.h"

#define BREATH (50 * LBX_US)

bool
lbx__thread_is_current(const lbx__service *service)
{
    lbx__service *mine = (lbx__service *)(uintptr_t)service;

    // Relaxed: only the thread itself compares equal, and it wrote it.
    return lbx__load(&mine->self, relaxed) == lbx__thread_self();
}

void
lbx__thread_notify(lbx__service *service)
{
    const bool due = lbx__batch_due(service) < service->alarm_ns;

    if (!service->asleep ||
        !(due || service->asked.first || service->look || service->stopping ||
          service->ticks != lbx__peek(&service->ticks_done)))
        return;
    service->asleep = false;
    // Relaxed: what it announces is under the lock.
    (void)lbx__add(&service->bell, 1, relaxed);
    if (service->storage->ops->ring)
        service->storage->ops->ring(service->storage);
    else
        lbx__futex_wake(&service->bell, 1);
}

/* H3: notes what others have rung. Under the lock. Work that they have left in
 * the background is everybody's, since they may be killed: not at once, because
 * they do it too, and ring each time. */
static void
hear(lbx__service *service, int64_t now_ns)
{
    lbx__storage *storage = service->storage;
    uint32_t rung;

    if (!storage->ops->bell)
        return;
    rung = storage->ops->bell(storage) - lbx__peek(&service->bell);
    if (rung == service->heard)
        return;
    service->heard = rung;
    if (service->work_ns > now_ns + LBX_SECOND)
        service->work_ns = now_ns + LBX_SECOND;
    if (service->waiters.count > 0 || storage->ops->is_called(storage))
        service->look = true;
}

/* H1. */
static void
sleep_until(lbx__service *service, int64_t due_ns, int64_t now_ns)
{
    lbx__storage *storage = service->storage;
    const uint32_t seen = lbx__peek(&service->bell) + service->heard;
    const int64_t poll_ns = service->options.poll_ns;
    int64_t wait_ns = due_ns == LBX_FOREVER ? -1 : due_ns - now_ns;
    const bool looks = poll_ns > 0 && service->waiters.count > 0 &&
                       !service->options.manual_clock;

    if (service->options.manual_clock)
        wait_ns = -1;
    if (looks && (wait_ns < 0 || wait_ns > poll_ns))
        wait_ns = poll_ns;
    service->asleep = true;
    service->alarm_ns = service->options.manual_clock ? INT64_MIN : due_ns;
    lbx__lock_give(&service->lock);
    if (storage->ops->sleep)
        storage->ops->sleep(storage, seen, wait_ns);
    else
        lbx__futex_wait(&service->bell, seen, wait_ns);
    lbx__lock_take(&service->lock);
    service->asleep = false;
    if (looks)
        service->look = true;
}

/* ---- Staying awake ---- */

/* Calls that were asked since the last group. */
static uint32_t
asks_since(lbx__service *service)
{
    // Relaxed: see ask(). Counts wrap.
    return lbx__load(&service->asks, relaxed) - service->taken;
}

enum {
    GATHER_NS = LBX__SPINS(60000), /* a flush takes twice as long at least */
    LINGER_NS = LBX__SPINS(20000), /* so do falling asleep and waking up */
    IDLE_MOST = 4, /* then it lingers after every 16th turn only */
};

/* Lets others run, without the lock, until `count` calls have been asked since
 * the last group, or none came for `most_ns`. True when they have. It yields: with
 * as many threads as processors, those it waits for may need this one. */
static bool
await_asks(lbx__service *service, uint32_t count, int64_t most_ns)
{
    int64_t until_ns = lbx_clock_now(NULL) + most_ns;
    uint32_t seen = 0;
    uint32_t come;

    if (most_ns == 0) // the explorer
        return false;
    lbx__lock_give(&service->lock);
    while ((come = asks_since(service)) < count) {
        const int64_t now_ns = lbx_clock_now(NULL);

        if (come != seen)
            until_ns = now_ns + most_ns;
        else if (now_ns >= until_ns)
            break;
        seen = come;
        lbx__yield();
    }
    lbx__lock_take(&service->lock);
    return come >= count;
}

/* Those whose calls have ended come back with others, one after the other. Where
 * a group costs a flush they are awaited, all of the last group beside those who
 * asked meanwhile: with 64 under way there would be one flush for the first of
 * them and one for the rest. */
static void
gather(lbx__service *service)
{
    if (service->options.one_thread && !service->options.manual_clock &&
        lbx__peek(&service->durability) >= LBX_DURABILITY_POWER_CUT)
        (void)await_asks(service, service->awaited, GATHER_NS);
}

/* After a turn the next call is often not far: to sleep and be woken costs both
 * sides more than the call. Everything is looked at again afterwards (H2). */
static void
linger(lbx__service *service)
{
    if (!service->options.one_thread || service->options.manual_clock)
        return;
    if (service->idle >= IDLE_MOST && service->idle++ % 16 != 0)
        return;
    if (await_asks(service, 1, LINGER_NS))
        service->idle = 0;
    else
        service->idle++;
}

/* The next group. */
static lbx__calls
take_group(lbx__service *service)
{
    if (service->asked.first)
        gather(service);
    service->group = asks_since(service);
    service->taken += service->group;
    return lbx__batch_collect(service);
}

/* Tells those who wait for their tick. */
static void
end_ticks(lbx__service *service, uint32_t ticks)
{
    if (lbx__peek(&service->ticks_done) == ticks)
        return;
    // Release: who waited sees what was done.
    lbx__store(&service->ticks_done, ticks, release);
    lbx__futex_wake(&service->ticks_done, INT32_MAX);
}

/* Between two parts of background work: callers run under the lock, which is not
 * fair, and would not get it before all of it is done. */
static void
breathe(lbx__service *service)
{
    const uint32_t seen = lbx__peek(&service->bell);

    lbx__lock_give(&service->lock);
    lbx__futex_wait(&service->bell, seen, BREATH);
    lbx__lock_take(&service->lock);
}

static void
live(lbx__service *service)
{
    bool lingers = false;

    lbx__lock_take(&service->lock);
    for (;;) {
        const uint32_t ticks = service->ticks;
        const int64_t now_ns = lbx__service_now(service);
        int64_t due_ns;
        bool over;

        hear(service, now_ns);
        due_ns = lbx__batch_due(service);
        // Background work that is left is for who opens the store next.
        over = service->stopping && !service->asked.first;
        if (!over &&
            (service->asked.first || service->look || due_ns <= now_ns)) {
            lbx__calls group = take_group(service);

            lingers = group.first != NULL;
            if (service->look)
                lbx__waiters_stir_all(&service->waiters);
            service->look = false;
            lbx__batch_run(service, &group, &service->done);
            service->awaited = service->group + asks_since(service);
            lbx__service_tell(service, &service->done);
            end_ticks(service, ticks);
            if (!service->options.one_thread &&
                service->work_ns <= lbx__service_now(service))
                breathe(service);
        } else if (service->ticks != lbx__peek(&service->ticks_done)) {
            // Those that came since we read the clock want another look.
            end_ticks(service, ticks);
        } else if (over) {
            break;
        } else if (lingers) {
            lingers = false;
            linger(service);
        } else {
            sleep_until(service, due_ns, now_ns);
        }
    }
    lbx__lock_give(&service->lock);
}

static void
report(lbx__service *service, lbx_status status)
{
    service->open_status = status;
    // Release: who opens sees the status, and all that was made.
    lbx__store(&service->opened, 1u, release);
    lbx__futex_wake(&service->opened, 1);
}

static void *
run(void *argument)
{
    lbx__service *service = argument;
    const bool owns = service->options.one_thread;
    void (*const closed)(void *) = service->options.closed;
    void *closing;
    bool orphan;

    // Relaxed: see lbx__thread_is_current().
    lbx__store(&service->self, lbx__thread_self(), relaxed);
    if (owns) {
        const lbx_status status = lbx__service_begin(service);

        report(service, status);
        if (status != LBX_OK)
            return NULL; // who opens joins
    }
    live(service);
    orphan = service->orphan;
    closing = service->closing;
    if (owns || orphan)
        lbx__service_end(service);
    if (orphan)
        lbx__service_free(service);
    if (closing)
        closed(closing);
    return NULL;
}

bool
lbx__thread_start(lbx__service *service)
{
    if (!service->has_thread)
        service->has_thread =
            pthread_create(&service->thread, NULL, run, service) == 0;
    return service->has_thread;
}

bool
lbx__thread_stop(lbx__service *service)
{
    lbx__lock_take(&service->lock);
    service->stopping = true;
    service->orphan = service->has_thread && lbx__thread_is_current(service);
    if (service->orphan)
        (void)pthread_detach(service->thread);
    else
        lbx__thread_notify(service);
    lbx__lock_give(&service->lock);
    if (service->orphan) {
        if (service->options.closing)
            service->closing = service->options.closing(&service->base);
        return false;
    }
    if (service->has_thread)
        (void)pthread_join(service->thread, NULL);
    return true;
}
