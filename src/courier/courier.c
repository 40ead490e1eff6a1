/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Couriers: creation, threads, stopping, statistics. The invariants COUR-1 to
 * COUR-6 are in courier.h.
 *
 * `active` has the count of threads in its low bits and the number of the run
 * above them, so that one load sees both.
 */
#include "courier/courier.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "base/sized.h"
#include "base/threads.h"
#include "courier/courier_options.h"

#include <assert.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum {
    ACTIVE_MASK = (1 << 12) - 1, /* 1024 handlers, and threads that leave */
    ONE_RUN = ACTIVE_MASK + 1,
};

/* The courier whose loop the calling thread is in. */
LBX__LOCAL(const lbx_courier *, mine);

static size_t
courier_bytes(uint32_t handlers)
{
    return offsetof(lbx_courier, workers) +
           handlers * sizeof(lbx__courier_worker);
}

LBX__SIZED(courier_options_sized, lbx_courier_options, watchdog_ns,
           LBX_COURIER_OPTIONS_INIT);

lbx_status
lbx_courier_create(const lbx_courier_options *given, lbx_courier **ret)
{
    const lbx_courier_options *options;
    lbx_courier_options own;
    const char *why;
    lbx_courier *courier;
    lbx_status status;

    if (!given)
        return LBX_INVALID;
    options =
        lbx__sized_view(given, &own, &courier_options_sized, given->fault);
    if (!options)
        return LBX_INVALID;
    if (!ret)
        return lbx__fault_set(
            options->fault, LBX_INVALID,
            "there is no pointer for the courier: ret is NULL");
    why = lbx__courier_options_fault(options);
    if (why)
        return lbx__fault_set(options->fault, LBX_INVALID, "%s", why);
    status = lbx__courier_options_check_postbox(options, options->fault);
    if (status != LBX_OK)
        return status;
    courier = lbx__zalloc(options->allocator, courier_bytes(options->handlers));
    if (!courier)
        return lbx__fault_set(options->fault, LBX_NO_MEMORY, "%s",
                              lbx_status_text(LBX_NO_MEMORY));
    courier->options = *options;
    courier->options.fault = NULL;
    (void)lbx_postbox_ref(options->postbox);
    if (options->dead_letters.postbox)
        (void)lbx_postbox_ref(options->dead_letters.postbox);
    for (uint32_t i = 0; i < options->handlers; i++) {
        courier->workers[i].courier = courier;
        courier->workers[i].job.worker = &courier->workers[i];
    }
    *ret = courier;
    return LBX_OK;
}

void
lbx_courier_destroy(lbx_courier *courier)
{
    lbx_status status;

    if (!courier)
        return;
    status = lbx_courier_stop(courier, LBX_FOREVER);
    assert(status == LBX_OK); // else: destroyed by one of its own handlers
    (void)status;
    lbx_postbox_unref(courier->options.dead_letters.postbox);
    lbx_postbox_unref(courier->options.postbox);
    lbx__free(courier->options.allocator, courier,
              courier_bytes(courier->options.handlers));
}

void
lbx__courier_count(lbx_courier *courier, lbx__courier_tally what, uint64_t more)
{
    // Relaxed: statistics.
    (void)lbx__add(&courier->tallies[what], more, relaxed);
}

void
lbx__courier_log(const lbx_courier *courier, const char *format, ...)
{
    const char *name = courier->options.name;
    char line[512] = "";
    va_list arguments;
    size_t used;

    if (!courier->options.log)
        return;
    if (name)
        (void)snprintf(line, sizeof(line), "%.100s: ", name);
    used = strlen(line);
    va_start(arguments, format);
    (void)vsnprintf(line + used, sizeof(line) - used, format, arguments);
    va_end(arguments);
    courier->options.log(courier->options.log_context, line);
}

bool
lbx__courier_is_stopping(const lbx_courier *courier)
{
    // Acquire: COUR-3, after the word was read.
    return lbx__load(&courier->stopping, acquire) != 0;
}

const lbx_courier *
lbx__courier_enter(const lbx_courier *courier)
{
    const lbx_courier *before = lbx__local(mine);

    lbx__local(mine) = courier;
    return before;
}

/* The threads that have not left, and the run (COUR-6). Acquire: COUR-4. */
static uint32_t
courier_read_active(const lbx_courier *courier)
{
    return lbx__load(&courier->active, acquire);
}

static bool
courier_run_is_over(uint32_t active, uint32_t run)
{
    return (active & ACTIVE_MASK) == 0 || (active ^ run) > ACTIVE_MASK;
}

/* ---- Starting ---- */

/* Takes threads off the count: their last access to the courier (COUR-4). */
static void
courier_leave(lbx_courier *courier, uint32_t how_many)
{
    // Release and acquire: a thread that reads 0 sees all that was done.
    (void)lbx__sub(&courier->active, how_many, acq_rel);
    lbx__futex_wake(&courier->active, INT32_MAX);
    lbx__courier_signal_wake();
}

static lbx_status
courier_loop(lbx__courier_worker *worker, int64_t max_receives)
{
    const lbx_courier *before = lbx__courier_enter(worker->courier);
    const lbx_status status = lbx__courier_worker_run(worker, max_receives);

    (void)lbx__courier_enter(before);
    return status;
}

static void *
courier_thread(void *argument)
{
    lbx__courier_worker *worker = argument;

    (void)courier_loop(worker, -1);
    courier_leave(worker->courier, 1);
    return NULL;
}

/* IDLE becomes RUNNING, with a count of `active`; false when not idle. */
static bool
courier_begin(lbx_courier *courier, uint32_t active, bool borrowed)
{
    bool idle;

    lbx__lock_take(&courier->lock);
    // Relaxed: under the lock.
    idle = lbx__load(&courier->state, relaxed) == LBX__COURIER_IDLE;
    if (idle) {
        courier->started = 0;
        courier->borrowed = borrowed;
        // Relaxed, both: the threads that read them are started after this, and
        // a stop takes the lock.
        lbx__store(&courier->stopping, 0u, relaxed);
        lbx__store(&courier->watch, 0u, relaxed);
        // Added: a borrowed thread may not have left yet (COUR-4).
        (void)lbx__add(&courier->active, ONE_RUN + active, relaxed);
        // Release: COUR-5, for threads that read it without the lock.
        lbx__store(&courier->state, (uint32_t)LBX__COURIER_RUNNING, release);
    }
    lbx__lock_give(&courier->lock);
    return idle;
}

static void
courier_become_idle(lbx_courier *courier)
{
    lbx__lock_take(&courier->lock);
    // Release: COUR-5.
    lbx__store(&courier->state, (uint32_t)LBX__COURIER_IDLE, release);
    lbx__lock_give(&courier->lock);
    lbx__futex_wake(&courier->state, INT32_MAX);
}

/* When all threads have left: joins them, or waits for the thread that does. */
static void
courier_join_threads(lbx_courier *courier)
{
    bool ours;

    lbx__lock_take(&courier->lock);
    // Relaxed: under the lock.
    ours = lbx__load(&courier->state, relaxed) == LBX__COURIER_RUNNING &&
           !courier->borrowed &&
           (courier_read_active(courier) & ACTIVE_MASK) == 0;
    if (ours)
        lbx__store(&courier->state, (uint32_t)LBX__COURIER_ENDING, relaxed);
    lbx__lock_give(&courier->lock);
    if (ours) {
        lbx__watchdog_stop(courier);
        for (uint32_t i = 0; i < courier->started; i++)
            (void)pthread_join(courier->workers[i].thread, NULL);
        courier_become_idle(courier);
        return;
    }
    // Acquire: pairs with courier_become_idle().
    while (lbx__load(&courier->state, acquire) == LBX__COURIER_ENDING)
        lbx__futex_wait(&courier->state, LBX__COURIER_ENDING, -1);
}

/* Returns the run that was asked to stop: COUR-6. */
static uint32_t
courier_request_stop(lbx_courier *courier)
{
    uint32_t run;

    lbx__lock_take(&courier->lock);
    // Relaxed: under the lock.
    if (lbx__load(&courier->state, relaxed) == LBX__COURIER_RUNNING) {
        // Release: COUR-3, before the words.
        lbx__store(&courier->stopping, 1u, release);
        for (uint32_t i = 0; i < courier->options.handlers; i++)
            lbx__courier_worker_wake(&courier->workers[i]);
    }
    run = courier_read_active(courier);
    lbx__lock_give(&courier->lock);
    return run;
}

/* Waits until all of a run have left; false at the deadline. */
static bool
courier_await(lbx_courier *courier, uint32_t run, int64_t deadline_ns)
{
    const lbx_clock *clock = courier->options.clock;

    for (;;) {
        const uint32_t seen = courier_read_active(courier);
        const int64_t now = lbx_clock_now(clock);

        if (courier_run_is_over(seen, run))
            return true;
        if (deadline_ns != LBX_FOREVER && now >= deadline_ns)
            return false;
        lbx__futex_wait(&courier->active, seen,
                        deadline_ns == LBX_FOREVER ? -1 : deadline_ns - now);
    }
}

lbx_status
lbx_courier_start(lbx_courier *courier)
{
    lbx_status status;
    uint32_t handlers, run, started = 0;

    if (!courier)
        return LBX_INVALID;
    courier_join_threads(
        courier); // the postbox was closed: its threads have left
    if (lbx_postbox_is_closed(courier->options.postbox))
        return LBX_CLOSED;
    handlers = courier->options.handlers;
    if (!courier_begin(courier, handlers + 1, false))
        return LBX_BUSY;
    status = lbx__watchdog_start(courier);
    while (status == LBX_OK && started < handlers) {
        lbx__courier_worker *worker = &courier->workers[started];

        lbx__lease_mark_alive(worker);
        if (!lbx__threads_start(&worker->thread, courier_thread, worker))
            status = LBX_NO_MEMORY;
        else
            started++;
    }
    courier->started = started; // seen with `active`
    run = status == LBX_OK ? 0 : courier_request_stop(courier);
    courier_leave(courier, 1 + handlers - started);
    if (status != LBX_OK) {
        (void)courier_await(courier, run, LBX_FOREVER);
        courier_join_threads(courier);
    }
    return status;
}

lbx_status
lbx_courier_run(lbx_courier *courier, int64_t max_receives)
{
    lbx_status status;

    if (!courier)
        return LBX_INVALID;
    courier_join_threads(courier);
    if (!courier_begin(courier, 1, true))
        return LBX_BUSY;
    lbx__lease_mark_alive(&courier->workers[0]);
    status = lbx__watchdog_start(courier);
    if (status == LBX_OK)
        status = courier_loop(&courier->workers[0], max_receives);
    lbx__watchdog_stop(courier);
    courier_become_idle(courier);
    courier_leave(courier, 1); // COUR-4
    return status;
}

/* ---- Stopping, and statistics ---- */

lbx_status
lbx_courier_stop(lbx_courier *courier, int64_t deadline_ns)
{
    uint32_t run;

    if (!courier)
        return LBX_INVALID;
    run = courier_request_stop(courier);
    if (lbx__local(mine) == courier)
        return LBX_PENDING;
    if (!courier_await(courier, run, deadline_ns))
        return LBX_TIMEOUT;
    courier_join_threads(courier);
    return LBX_OK;
}

bool
lbx_courier_is_running(const lbx_courier *courier)
{
    // Acquire, both: what a run did is seen when it is over.
    return courier &&
           lbx__load(&courier->state, acquire) == LBX__COURIER_RUNNING &&
           (courier_read_active(courier) & ACTIVE_MASK) > 0;
}

static int64_t
courier_longest_silence(const lbx_courier *courier)
{
    const int64_t now = lbx_clock_now(courier->options.clock);
    int64_t longest = 0;

    if (!lbx_courier_is_running(courier))
        return 0;
    for (uint32_t i = 0; i < courier->options.handlers; i++) {
        // Relaxed: statistics.
        const int64_t sign = lbx__load(&courier->workers[i].alive_ns, relaxed);

        if (sign != 0 && now - sign > longest)
            longest = now - sign;
    }
    return longest;
}

lbx_status
lbx_courier_stats_read(const lbx_courier *courier, lbx_courier_stats *ret)
{
    uint64_t tallies[LBX__TALLY_COUNT];
    lbx_courier_stats stats;

    if (!courier || !ret)
        return LBX_INVALID;
    for (int i = 0; i < LBX__TALLY_COUNT; i++) // relaxed: statistics
        tallies[i] = lbx__load(&courier->tallies[i], relaxed);
    stats = (lbx_courier_stats){
        .received = tallies[LBX__TALLY_RECEIVED],
        .acknowledged = tallies[LBX__TALLY_ACKNOWLEDGED],
        .returned = tallies[LBX__TALLY_RETURNED],
        .dead_letters = tallies[LBX__TALLY_DEAD],
        .lost_leases = tallies[LBX__TALLY_LOST_LEASES],
        .extended = tallies[LBX__TALLY_EXTENDED],
        .released_unstarted = tallies[LBX__TALLY_GIVEN_BACK],
        .unsettled = tallies[LBX__TALLY_UNSETTLED],
        .silent_ns = courier_longest_silence(courier),
    };
    return LBX__SIZED_WRITE(ret, &stats, lbx_courier_stats, silent_ns);
}
