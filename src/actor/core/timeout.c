/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receive timeout: a message when no other has come for a while.
 *
 * A timer runs from the last message of each run on; a run that handles another
 * message cancels it. A timeout that fired just before another message arrived
 * is sent all the same, once.
 *
 * IDLE-1  At the end of a run that handled messages a timer waits, or its
 *         message is in the mailbox and causes another run. A timer that is
 *         set in a run may fire, and its message be handled, in that same run:
 *         its id is then stale, and the end of the run starts the next.
 *
 * Threads: the owner of the cell.
 */
#include "actor/core/system.h"

static void
timeout_cancel(lbx__cell *cell)
{
    lbx__facilities *facilities = cell->facilities;

    if (facilities->idle_timer.id != 0)
        (void)lbx_timer_cancel(cell->system, facilities->idle_timer);
    facilities->idle_timer.id = 0;
}

static lbx_status
timeout_start(lbx__cell *cell)
{
    lbx__facilities *facilities = cell->facilities;
    lbx_envelope envelope =
        lbx_envelope_of_type(NULL, lbx_receive_timeout_type());

    return lbx__timers_start_message(cell->system, lbx__cell_ref(cell),
                                     &envelope, facilities->idle_ns,
                                     &facilities->idle_timer);
}

lbx_status
lbx_context_set_receive_timeout(lbx_context *context, int64_t timeout_ns)
{
    lbx__facilities *facilities;

    if (!context || timeout_ns == 0)
        return LBX_INVALID; // 0 would be due again at once, without end
    facilities = lbx__facilities_of(context->cell);
    if (!facilities)
        return LBX_NO_MEMORY;
    timeout_cancel(context->cell);
    facilities->idle_ns = timeout_ns;
    return timeout_ns < 0 ? LBX_OK : timeout_start(context->cell);
}

void
lbx__timeout_begin_run(lbx__cell *cell)
{
    if (cell->facilities && cell->facilities->idle_ns >= 0)
        timeout_cancel(cell);
}

void
lbx__timeout_end_run(lbx__cell *cell)
{
    const lbx__facilities *facilities = cell->facilities;

    // Without memory there is no timeout until the next message.
    if (facilities && facilities->idle_ns >= 0 &&
        !lbx__timers_has(cell->system->timers,
                         facilities->idle_timer)) // IDLE-1
        (void)timeout_start(cell);
}
