/* SPDX-License-Identifier: Apache-2.0 */
/* A loop at work: its word, its ring, its cycles. L1 to L5 are in loop.h. */
#include "compat/vela_loop.h"

#include "base/park.h"

static LBX__LOCAL(lbx__vela_loop_frame *, frames);

lbx__vela_loop_frame *
lbx__vela_loop_frame_of(const lbx_vela_loop *loop)
{
    lbx__vela_loop_frame *at = lbx__local(frames);

    while (at && at->loop != loop)
        at = at->outer;
    return at;
}

/* ---- The word ---- */

uint32_t
lbx__vela_loop_word(lbx_vela_loop *loop)
{
    // Acquire: who sees a state sees what led to it.
    return lbx__load(&loop->word, acquire);
}

/* Calls the loop stopped: L5. Its last user may free it at once. */
static void
finish(lbx_vela_loop *loop)
{
    lbx_signal *stopped = lbx_signal_ref(loop->stopped);
    lbx__vela_loop_frame here = {loop, NULL, false, lbx__local(frames)};
    uint32_t word;

    lbx__local(frames) = &here; // a stop in there must not wait for us
    if (loop->options.post_stop)
        loop->options.post_stop(loop, loop->options.context);
    lbx__local(frames) = here.outer;
    word = lbx__vela_loop_word(loop);
    // Release: all that the loop did comes before its end. Acquire: L2, senders
    // that came meanwhile.
    while (!lbx__cas(&loop->word, &word, lbx__vela_loop_on_end(word), acq_rel))
        ;
    lbx_signal_notify(stopped);
    lbx_signal_unref(stopped);
}

static void ring(lbx_vela_loop *loop);

uint32_t
lbx__vela_loop_change(lbx_vela_loop *loop, lbx__vela_loop_rule *rule)
{
    uint32_t before = lbx__vela_loop_word(loop);
    uint32_t after;

    do
        after = rule(before);
    // Release and acquire: L2, and handing over L3.
    while (!lbx__cas(&loop->word, &before, after, acq_rel));
    if (~before & after & LBX__VELA_LOOP_TOLD)
        ring(loop);
    else if (lbx__vela_loop_is_over(after) && !lbx__vela_loop_is_over(before))
        finish(loop);
    return before;
}

/* The ring will not be heard. */
static void
ring_lost(lbx_vela_loop *loop)
{
    lbx_ref pump = loop->pump;

    if (!lbx_ref_is_alive(pump)) {
        (void)lbx__vela_loop_change(loop, lbx__vela_loop_on_unheard);
        return;
    }
    // Without memory. A stop needs none; the rest can wait for the next ring.
    if (lbx__vela_loop_is(lbx__vela_loop_change(loop, lbx__vela_loop_on_unsent),
                          LBX_VELA_LOOP_STOPPING))
        lbx_stop(pump);
}

/* Sends the ring, by whoever set TOLD: L1. */
static void
ring(lbx_vela_loop *loop)
{
    lbx_envelope envelope = lbx_envelope_of_type(loop, loop->ring_type);

    if (lbx_try_tell(loop->pump, &envelope) != LBX_OK)
        ring_lost(loop);
}

void
lbx__vela_loop_end_ring(void *loop, void *context)
{
    (void)context;
    ring_lost(loop);
}

void
lbx__vela_loop_ready(void *loop, lbx_mailbox *mailbox)
{
    (void)mailbox;
    (void)lbx__vela_loop_change(loop, lbx__vela_loop_on_send);
}

/* ---- Handling: L3 ---- */

/* Release: who reads the number (acquire) sees what was done until then. */
static void
count(_Atomic(uint64_t) *number)
{
    lbx__store(number, lbx__load(number, relaxed) + 1, release);
}

/* Relaxed, both: one thread writes it, and it is a number for people. */
static void
add_time(lbx_vela_loop *loop, int64_t spent_ns)
{
    lbx__store(&loop->total_ns, lbx__load(&loop->total_ns, relaxed) + spent_ns,
               relaxed);
}

static lbx_status
receive(lbx_vela_loop *loop, void *message)
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
lbx__vela_loop_end_message(const lbx_vela_loop *loop,
                           const lbx_envelope *envelope)
{
    if (envelope->type)
        lbx_type_end_message(envelope->type, envelope->message);
    else if (loop->destroy)
        loop->destroy(envelope->message, loop->destroy_context);
}

static void
handle_error(lbx_vela_loop *loop, lbx_status error, void *message)
{
    const lbx_vela_loop_options *options = &loop->options;

    if (options->handle_error &&
        options->handle_error(loop, options->context, error, message) != LBX_OK)
        count(&loop->errors);
}

lbx_status
lbx__vela_loop_handle(lbx_vela_loop *loop, const lbx_envelope *envelope,
                      bool direct)
{
    lbx__vela_loop_frame here = {loop, envelope->message, false,
                                 lbx__local(frames)};
    int64_t begin_ns = lbx_clock_now(loop->options.clock);
    lbx_status status;

    lbx__local(frames) = &here;
    status = receive(loop, envelope->message);
    if (status != LBX_OK)
        count(&loop->errors);
    if (status != LBX_OK && !direct)
        handle_error(loop, status, envelope->message);
    lbx__local(frames) = here.outer;
    add_time(loop, lbx_clock_now(loop->options.clock) - begin_ns);
    if (!here.taken && (status == LBX_OK || !direct))
        lbx__vela_loop_end_message(loop, envelope);
    count(&loop->handled);
    if (status == LBX_OK)
        count(&loop->processed);
    return status;
}

bool
lbx__vela_loop_take(lbx_vela_loop *loop, lbx_envelope *ret)
{
    // Relaxed: ours, see L3; others only count it.
    if (lbx__load(&loop->has_held, relaxed)) {
        *ret = loop->held;
        lbx__store(&loop->has_held, false, relaxed);
        return true;
    }
    return lbx_consumer_try_receive_envelope(loop->out, ret) == LBX_OK;
}

static bool
is_running(lbx_vela_loop *loop)
{
    return lbx__vela_loop_is(lbx__vela_loop_word(loop), LBX_VELA_LOOP_RUNNING);
}

/* Handles up to `most` messages; true when there may be more. */
static bool
cycle(lbx_vela_loop *loop)
{
    for (uint64_t taken = 0; taken < loop->most; taken++) {
        lbx_envelope envelope;

        if (!is_running(loop))
            return true;
        if (!lbx__vela_loop_take(loop, &envelope))
            return false;
        if (!is_running(loop)) { // L4
            loop->held = envelope;
            lbx__store(&loop->has_held, true, relaxed); // as in taking it
            return true;
        }
        if (taken == 0)
            count(&loop->cycles);
        (void)lbx__vela_loop_handle(loop, &envelope, false);
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
pump_turn(lbx_context *context, void *state, void *message)
{
    lbx_vela_loop *loop = message;
    uint32_t before;

    (void)state;
    (void)lbx_context_take(context); // it was heard
    before = lbx__vela_loop_change(loop, lbx__vela_loop_on_turn);
    if (before & LBX__VELA_LOOP_HANDLING)
        return LBX_OK; // L3
    if (lbx__vela_loop_is(before, LBX_VELA_LOOP_STOPPING)) {
        lbx_context_stop(context);
    } else if (lbx__vela_loop_is(before, LBX_VELA_LOOP_RUNNING)) {
        bool more = cycle(loop);

        (void)lbx__vela_loop_change(loop, more ? lbx__vela_loop_on_release
                                               : lbx__vela_loop_on_empty);
    }
    return LBX_OK;
}

static void
pump_stop(lbx_context *context, void *state)
{
    lbx_vela_loop **loop = state;

    (void)context;
    (void)lbx__vela_loop_change(*loop, lbx__vela_loop_on_gone);
}

const lbx_behaviour lbx__vela_loop_pump = {
    .version = LBX_BEHAVIOUR_VERSION,
    .name = "loop",
    .state_bytes = sizeof(lbx_vela_loop *),
    .start = pump_start,
    .receive = pump_turn,
    .stop = pump_stop,
};
