/* SPDX-License-Identifier: Apache-2.0 */
/* Timers of a loop: libuv's, with nanoseconds and without references. */
#include "net/loop.h"

#include <assert.h>

void
lbx__timer_init(lbx__timer *timer, lbx__loop *loop)
{
    (void)uv_timer_init(lbx__loop_uv(loop), &timer->uv);
}

static void
timer_on_fire(uv_timer_t *uv)
{
    lbx__timer *timer = (lbx__timer *)(void *)uv;

    timer->fire(timer);
}

/* Milliseconds, never fewer than asked for: the loop's own time was cut to a
 * millisecond, hence one more. */
static uint64_t
timer_delay_ms(int64_t delay_ns)
{
    if (delay_ns <= 0)
        return 0;
    return (uint64_t)(delay_ns / LBX_MS) + (delay_ns % LBX_MS != 0) + 1;
}

void
lbx__timer_start(lbx__timer *timer, int64_t delay_ns,
                 void (*fire)(lbx__timer *timer))
{
    assert(!uv_is_closing((uv_handle_t *)&timer->uv));
    timer->fire = fire;
    // The round may have begun long ago: a delay counts from now.
    uv_update_time(timer->uv.loop);
    (void)uv_timer_start(&timer->uv, timer_on_fire, timer_delay_ms(delay_ns),
                         0);
}

void
lbx__timer_stop(lbx__timer *timer)
{
    (void)uv_timer_stop(&timer->uv);
}

static void
timer_on_closed(uv_handle_t *handle)
{
    lbx__timer *timer = (lbx__timer *)(void *)handle;

    // `fire` is not needed any more, and has the type of what is called now.
    timer->fire(timer);
}

void
lbx__timer_close(lbx__timer *timer, void (*closed)(lbx__timer *timer))
{
    (void)uv_timer_stop(&timer->uv);
    timer->fire = closed;
    uv_close((uv_handle_t *)&timer->uv, closed ? timer_on_closed : NULL);
}
