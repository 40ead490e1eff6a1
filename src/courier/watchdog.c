/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watchdog: tells when a handler has been silent for too long.
 *
 * A thread of its own, which sleeps until the first silence can be too long. It
 * says so once for each silence: when the handler has shown a sign of life, and
 * falls silent again, it says so again.
 */
#include "courier/courier.h"

int64_t
lbx__watchdog_check(lbx_courier *courier)
{
    const lbx_courier_options *options = &courier->options;
    const int64_t now = lbx_clock_now(options->clock);
    int64_t first = now; // the longest silence of which nothing was said

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
    return options->watchdog_ns > LBX_FOREVER - first
               ? LBX_FOREVER
               : first + options->watchdog_ns;
}

static void *
watch(void *argument)
{
    lbx_courier *courier = argument;

    (void)lbx__courier_enter(courier); // who is stuck may be stopped from here
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
    if (pthread_create(&courier->watchdog, NULL, watch, courier) != 0)
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
