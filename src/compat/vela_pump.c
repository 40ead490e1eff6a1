/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pump of Vela's message loop: the word, notifications, and cycles. VELA-1
 * to VELA-5 are in vela_loop.h.
 */
#include "compat/vela_loop.h"

#include "base/park.h"

static LBX__LOCAL(lbx__vela_pump_frame *, vela_frames);

lbx__vela_pump_frame *
lbx__vela_pump_frame_of(const lbx_vela_loop *loop)
{
    lbx__vela_pump_frame *at = lbx__local(vela_frames);

    while (at && at->loop != loop)
        at = at->outer;
    return at;
}

/* ---- The word ---- */

uint32_t
lbx__vela_pump_word(lbx_vela_loop *loop)
{
    // Acquire: a thread that reads a state sees what led to it.
    return lbx__load(&loop->word, acquire);
}

/* Marks the loop stopped: VELA-5. Its last user may free it at once. */
static void
pump_finish(lbx_vela_loop *loop)
{
    lbx_signal *stopped = lbx_signal_ref(loop->stopped);
    lbx__vela_pump_frame here = {loop, NULL, false, lbx__local(vela_frames)};
    uint32_t word;

    lbx__local(vela_frames) =
        &here; // a stop in there must not wait for this thread
    if (loop->options.post_stop)
        loop->options.post_stop(loop, loop->options.context);
    lbx__local(vela_frames) = here.outer;
    word = lbx__vela_pump_word(loop);
    // Release: all that the loop did comes before its end. Acquire: VELA-2,
    // senders that came meanwhile.
    while (!lbx__cas(&loop->word, &word, lbx__vela_word_on_end(word), acq_rel))
        ;
    lbx_signal_notify(stopped);
    lbx_signal_unref(stopped);
}

static void pump_notify(lbx_vela_loop *loop);

uint32_t
lbx__vela_pump_change(lbx_vela_loop *loop, lbx__vela_word_rule *rule)
{
    uint32_t before = lbx__vela_pump_word(loop);
    uint32_t after;

    do
        after = rule(before);
    // Release and acquire: VELA-2, and the handover of VELA-3.
    while (!lbx__cas(&loop->word, &before, after, acq_rel));
    if (~before & after & LBX__VELA_NOTIFIED)
        pump_notify(loop);
    else if (lbx__vela_word_is_over(after) && !lbx__vela_word_is_over(before))
        pump_finish(loop);
    return before;
}

/* The notification will not be delivered. */
static void
pump_notification_lost(lbx_vela_loop *loop)
{
    lbx_ref pump = loop->pump;

    if (!lbx_ref_is_alive(pump)) {
        (void)lbx__vela_pump_change(loop, lbx__vela_word_on_undelivered);
        return;
    }
    // No memory. A stop needs none; the rest waits for the next notification.
    if (lbx__vela_word_is(lbx__vela_pump_change(loop, lbx__vela_word_on_unsent),
                          LBX_VELA_LOOP_STOPPING))
        lbx_ref_stop(pump);
}

/* Sends the notification, by the thread that set NOTIFIED: VELA-1. */
static void
pump_notify(lbx_vela_loop *loop)
{
    lbx_envelope envelope = lbx_envelope_of_type(loop, loop->notification_type);

    if (lbx_try_tell(loop->pump, &envelope) != LBX_OK)
        pump_notification_lost(loop);
}

void
lbx__vela_pump_end_notification(void *loop, void *context)
{
    (void)context;
    pump_notification_lost(loop);
}

void
lbx__vela_pump_ready(void *loop, lbx_mailbox *mailbox)
{
    (void)mailbox;
    (void)lbx__vela_pump_change(loop, lbx__vela_word_on_send);
}

/* ---- Handling: VELA-3 ---- */

/* Release: a thread that reads the number (acquire) sees what was done until
 * then. */
static void
pump_count(_Atomic(uint64_t) *number)
{
    lbx__store(number, lbx__load(number, relaxed) + 1, release);
}

/* Relaxed, both: one thread writes it, and it is a number for people. */
static void
pump_add_time(lbx_vela_loop *loop, int64_t spent_ns)
{
    lbx__store(&loop->total_ns, lbx__load(&loop->total_ns, relaxed) + spent_ns,
               relaxed);
}

static lbx_status
pump_receive(lbx_vela_loop *loop, void *message)
{
    static const char text[] = "Received: ";
    const lbx_vela_loop_options *options = &loop->options;

    if (options->receive)
        return options->receive(loop, options->context, message);
    if (options->print)
        options->print(options->context, text, message);
    return LBX_OK;
}

void
lbx__vela_pump_end_message(const lbx_vela_loop *loop,
                           const lbx_envelope *envelope)
{
    if (envelope->type)
        lbx_type_destroy_message(envelope->type, envelope->message);
    else if (loop->destroy)
        loop->destroy(envelope->message, loop->destroy_context);
}

static void
pump_handle_error(lbx_vela_loop *loop, lbx_status error, void *message)
{
    const lbx_vela_loop_options *options = &loop->options;

    if (options->handle_error &&
        options->handle_error(loop, options->context, error, message) != LBX_OK)
        pump_count(&loop->errors);
}

lbx_status
lbx__vela_pump_handle(lbx_vela_loop *loop, const lbx_envelope *envelope,
                      bool direct)
{
    lbx__vela_pump_frame here = {loop, envelope->message, false,
                                 lbx__local(vela_frames)};
    int64_t begin_ns = lbx_clock_now(loop->options.clock);
    lbx_status status;

    lbx__local(vela_frames) = &here;
    status = pump_receive(loop, envelope->message);
    if (status != LBX_OK)
        pump_count(&loop->errors);
    if (status != LBX_OK && !direct)
        pump_handle_error(loop, status, envelope->message);
    lbx__local(vela_frames) = here.outer;
    pump_add_time(loop, lbx_clock_now(loop->options.clock) - begin_ns);
    if (!here.taken && (status == LBX_OK || !direct))
        lbx__vela_pump_end_message(loop, envelope);
    pump_count(&loop->handled);
    if (status == LBX_OK)
        pump_count(&loop->processed);
    return status;
}

bool
lbx__vela_pump_take(lbx_vela_loop *loop, lbx_envelope *ret)
{
    // Relaxed: this thread's, see VELA-3; others only count it.
    if (lbx__load(&loop->has_held, relaxed)) {
        *ret = loop->held;
        lbx__store(&loop->has_held, false, relaxed);
        return true;
    }
    return lbx_consumer_try_receive_envelope(loop->out, ret) == LBX_OK;
}

static bool
pump_is_running(lbx_vela_loop *loop)
{
    return lbx__vela_word_is(lbx__vela_pump_word(loop), LBX_VELA_LOOP_RUNNING);
}

/* Handles messages up to the limit of a cycle; true: there may be more. */
static bool
pump_cycle(lbx_vela_loop *loop)
{
    for (uint64_t taken = 0; taken < loop->max_per_cycle; taken++) {
        lbx_envelope envelope;

        if (!pump_is_running(loop))
            return true;
        if (!lbx__vela_pump_take(loop, &envelope))
            return false;
        if (!pump_is_running(loop)) { // VELA-4
            loop->held = envelope;
            lbx__store(&loop->has_held, true, relaxed); // as in taking it
            return true;
        }
        if (taken == 0)
            pump_count(&loop->cycles);
        (void)lbx__vela_pump_handle(loop, &envelope, false);
    }
    return true;
}

/* ---- The pump ---- */

static lbx_status
pump_start(lbx_context *context, void *state, void *argument)
{
    lbx_vela_loop **loop = state;

    (void)context;
    *loop = argument;
    return LBX_OK;
}

static lbx_status
pump_run(lbx_context *context, void *state, void *message)
{
    lbx_vela_loop *loop = message;
    uint32_t before;

    (void)state;
    (void)lbx_context_take(context); // it was delivered
    before = lbx__vela_pump_change(loop, lbx__vela_word_on_run);
    if (before & LBX__VELA_HANDLING)
        return LBX_OK; // VELA-3
    if (lbx__vela_word_is(before, LBX_VELA_LOOP_STOPPING)) {
        lbx_context_stop(context);
    } else if (lbx__vela_word_is(before, LBX_VELA_LOOP_RUNNING)) {
        bool more = pump_cycle(loop);

        (void)lbx__vela_pump_change(loop, more ? lbx__vela_word_on_release
                                               : lbx__vela_word_on_empty);
    }
    return LBX_OK;
}

static void
pump_stop(lbx_context *context, void *state)
{
    lbx_vela_loop **loop = state;

    (void)context;
    (void)lbx__vela_pump_change(*loop, lbx__vela_word_on_pump_end);
}

const lbx_behaviour lbx__vela_pump_behaviour = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "loop",
    .state_bytes = sizeof(lbx_vela_loop *),
    .start = pump_start,
    .receive = pump_run,
    .stop = pump_stop,
};
