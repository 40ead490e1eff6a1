/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watchdog: reports handlers that have shown no sign of life for too long.
 *
 * Its thread sleeps until the first silence can be too long. Each silence is
 * reported once; a handler that shows a sign of life and falls silent again is
 * reported again.
 */
#include "courier/courier.h"

#include "base/threads.h"
#include "base/time.h"

int64_t
lbx__watchdog_check(lbx_courier *courier)
{
    const lbx_courier_options *options = &courier->options;
    const int64_t now = lbx_clock_now(options->clock);
    int64_t first = now; // the start of the longest silence not reported

    for (uint32_t i = 0; i < options->handlers; i++) {
        lbx__courier_worker *worker = &courier->workers[i];
        // Relaxed, all three: numbers, and only this thread writes reported_ns.
        const int64_t sign = lbx__load(&worker->alive_ns, relaxed);
        int64_t due = now;

        if (sign == 0)
            continue;
        if (lbx__load(&worker->reported_ns, relaxed) != sign) {
            due = sign;
            if (now - sign >= options->watchdog_ns) {
                lbx__store(&worker->reported_ns, sign, relaxed);
                options->stuck(options->context, now - sign);
                due = now;
            }
        }
        if (due < first)
            first = due;
    }
    return lbx__time_add(first, options->watchdog_ns);
}

static void *
watchdog_thread(void *argument)
{
    lbx_courier *courier = argument;

    (void)lbx__courier_enter(courier); // `stuck` may stop the courier
    // Acquire: pairs with the release in lbx__watchdog_stop().
    while (lbx__load(&courier->watch, acquire) == 0) {
        const int64_t next = lbx__watchdog_check(courier);
        const int64_t now = lbx_clock_now(courier->options.clock);

        if (next > now)
            lbx__futex_wait(&courier->watch, 0, next - now);
    }
    return NULL;
}

lbx_status
lbx__watchdog_start(lbx_courier *courier)
{
    courier->watched = false;
    if (!courier->options.stuck)
        return LBX_OK;
    if (!lbx__threads_start(&courier->watchdog, watchdog_thread, courier))
        return LBX_NO_MEMORY;
    courier->watched = true;
    return LBX_OK;
}

void
lbx__watchdog_stop(lbx_courier *courier)
{
    if (!courier->watched)
        return;
    // Release: nothing to hand over; it pairs with the loop's acquire.
    lbx__store(&courier->watch, 1u, release);
    lbx__futex_wake(&courier->watch, 1);
    (void)pthread_join(courier->watchdog, NULL);
    courier->watched = false;
}
