/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vela's message loop: what its users call. VELA-1 to VELA-5 are in
 * vela_loop.h.
 */
#include "compat/vela_loop.h"

#include "actor/core/system.h"
#include "base/alloc.h"
#include "base/fault.h"
#include "base/sized.h"
#include <assert.h>
#include <letterbox/compat/vela.h>

/* ---- Creation ---- */

LBX__SIZED(vela_loop_sized, lbx_vela_loop_options, context,
           LBX_VELA_LOOP_OPTIONS_INIT);
LBX__SIZED(vela_mailbox_sized, lbx_mailbox_options, pressure_messages,
           LBX_MAILBOX_OPTIONS_INIT);

static lbx_status
vela_loop_check(const lbx_vela_loop_options *options)
{
    bool is_limit =
        options->max_throughput == LBX_DEFAULT || options->max_throughput >= 1;

    if (!lbx__allocator_usable(options->allocator))
        return lbx__fault_set(options->fault, LBX_INVALID,
                              "the allocator lacks a function");
    if (!is_limit)
        return lbx__fault_set(
            options->fault, LBX_INVALID,
            "max_throughput must be 1 or more, LBX_UNLIMITED or "
            "LBX_DEFAULT");
    if (options->idle_sleep_ms < 0)
        return lbx__fault_set(options->fault, LBX_INVALID,
                              "idle_sleep_ms must be 0 or more");
    return LBX_OK;
}

/* Makes the mailbox and attaches the hook. */
static lbx_status
vela_loop_make_mailbox(lbx_vela_loop *loop)
{
    const lbx_vela_loop_options *options = &loop->options;
    lbx_scheduler_hook hook = {lbx__vela_pump_ready, loop};
    lbx_mailbox_options box = lbx_vela_mailbox_options();
    lbx_status status = LBX_OK;

    box.allocator = options->allocator;
    box.clock = options->clock;
    if (options->mailbox_options)
        status = lbx__sized_read(&box, options->mailbox_options,
                                 &vela_mailbox_sized, options->fault);
    if (status != LBX_OK)
        return status;
    if (!box.fault)
        box.fault = options->fault;
    loop->destroy = box.destroy;
    loop->destroy_context = box.destroy_context;
    status = lbx_mailbox_create(options->mailbox ? options->mailbox
                                                 : LBX_KIND_UNBOUNDED,
                                &box, &loop->in, &loop->out);
    if (status == LBX_OK)
        status = lbx_mailbox_set_scheduler_hook(lbx_producer_mailbox(loop->in),
                                                &hook);
    return status;
}

static lbx_status
vela_loop_make_parts(lbx_vela_loop *loop)
{
    lbx_type_options type = LBX_TYPE_OPTIONS_INIT;
    lbx_status status;

    type.name = "letterbox.VelaNotification";
    type.allocator = loop->options.allocator;
    type.destroy = lbx__vela_pump_end_notification;
    status = lbx_type_create(&type, &loop->notification_type);
    if (status == LBX_OK)
        status = lbx_signal_create(loop->options.allocator, loop->options.clock,
                                   &loop->stopped);
    return status == LBX_OK ? vela_loop_make_mailbox(loop) : status;
}

static void
vela_loop_free(lbx_vela_loop *loop)
{
    if (loop->in)
        (void)!lbx_mailbox_set_scheduler_hook(lbx_producer_mailbox(loop->in),
                                              NULL);
    lbx_producer_unref(loop->in);
    lbx_consumer_unref(loop->out);
    if (lbx__peek(&loop->has_held))
        lbx__vela_pump_end_message(loop, &loop->held);
    lbx_signal_unref(loop->stopped);
    lbx_type_destroy(loop->notification_type);
    lbx__free(loop->options.allocator, loop, sizeof(*loop));
}

static lbx_status
vela_loop_make(lbx_system *system, const lbx_vela_loop_options *given,
               lbx_vela_loop **ret)
{
    lbx_vela_loop_options options;
    lbx_vela_loop *loop;
    lbx_status status;

    if (!system || !ret)
        return LBX_INVALID;
    status = lbx__sized_read(&options, given, &vela_loop_sized,
                             given ? given->fault : NULL);
    if (status == LBX_OK)
        status = vela_loop_check(&options);
    if (status != LBX_OK)
        return status;
    loop = lbx__zalloc(options.allocator, sizeof(*loop));
    if (!loop)
        return LBX_NO_MEMORY;
    loop->options = options;
    loop->system = system;
    loop->max_per_cycle = options.max_throughput == LBX_DEFAULT
                              ? UINT64_MAX
                              : (uint64_t)options.max_throughput;
    status = vela_loop_make_parts(loop);
    loop->options.fault = NULL; // it was for the creation
    if (status != LBX_OK) {
        vela_loop_free(loop);
        return status;
    }
    *ret = loop;
    return LBX_OK;
}

lbx_status
lbx_vela_loop_create(lbx_system *system, const lbx_vela_loop_options *options,
                     lbx_vela_loop **ret)
{
    lbx_fault *fault = options ? options->fault : NULL;

    lbx__fault_clear(fault);
    return lbx__fault_complete(fault, vela_loop_make(system, options, ret),
                               "the loop", NULL);
}

void
lbx_vela_loop_destroy(lbx_vela_loop *loop)
{
    if (!loop)
        return;
    assert(!lbx__vela_pump_frame_of(loop));
    (void)!lbx_vela_loop_stop(loop, LBX_FOREVER, NULL);
    assert(!(lbx__vela_pump_word(loop) &
             (LBX__VELA_HANDLING | LBX__VELA_STARTING)));
    vela_loop_free(loop);
}

/* ---- Moves ---- */

static lbx_status
vela_loop_refuse_start(lbx_fault *fault, uint32_t word)
{
    if (word & LBX__VELA_STARTING)
        return lbx__fault_set(fault, LBX_INVALID,
                              "another thread is starting it");
    if (lbx__vela_word_is(word, LBX_VELA_LOOP_RUNNING))
        return lbx__fault_set(fault, LBX_INVALID, "already running");
    if (lbx__vela_word_is(word, LBX_VELA_LOOP_PAUSED))
        return lbx__fault_set(fault, LBX_INVALID, "paused: resume it instead");
    return lbx__fault_set(fault, LBX_INVALID,
                          "still stopping: stop waits for it");
}

/* Not lbx_system_spawn(): a deployment must not make a pool of the pump. */
static lbx_status
vela_loop_spawn_pump(lbx_vela_loop *loop, const lbx_props *props)
{
    lbx_system *system = loop->system;

    if (lbx__system_is_stopping(system))
        return LBX_CLOSED;
    return lbx__spawn_actor(system, system->user, props, NULL, &loop->pump);
}

lbx_status
lbx_vela_loop_start(lbx_vela_loop *loop, lbx_fault *fault)
{
    lbx_props props = LBX_PROPS_INIT;
    const lbx_vela_loop_options *options;
    uint32_t before;
    lbx_status status = LBX_OK;

    if (!loop)
        return lbx__fault_set(fault, LBX_INVALID, "the loop is NULL");
    options = &loop->options;
    before = lbx__vela_pump_change(loop, lbx__vela_word_on_begin);
    if (before & LBX__VELA_STARTING ||
        lbx__vela_word_on_begin(before) == before)
        return vela_loop_refuse_start(fault, before);
    if (options->pre_start)
        status = options->pre_start(loop, options->context);
    if (status == LBX_OK) {
        props.behaviour = &lbx__vela_pump_behaviour;
        props.argument = loop;
        status = vela_loop_spawn_pump(loop, &props);
        if (status != LBX_OK && options->post_stop)
            options->post_stop(loop, options->context);
    }
    (void)lbx__vela_pump_change(loop, status == LBX_OK
                                          ? lbx__vela_word_on_start
                                          : lbx__vela_word_on_start_failed);
    return status;
}

lbx_status
lbx_vela_loop_pause(lbx_vela_loop *loop, lbx_fault *fault)
{
    if (!loop)
        return lbx__fault_set(fault, LBX_INVALID, "the loop is NULL");
    if (!lbx__vela_word_is(lbx__vela_pump_change(loop, lbx__vela_word_on_pause),
                           LBX_VELA_LOOP_RUNNING))
        return lbx__fault_set(fault, LBX_INVALID, "not running");
    return LBX_OK;
}

lbx_status
lbx_vela_loop_resume(lbx_vela_loop *loop, lbx_fault *fault)
{
    if (!loop)
        return lbx__fault_set(fault, LBX_INVALID, "the loop is NULL");
    if (!lbx__vela_word_is(
            lbx__vela_pump_change(loop, lbx__vela_word_on_resume),
            LBX_VELA_LOOP_PAUSED))
        return lbx__fault_set(fault, LBX_INVALID, "not paused");
    return LBX_OK;
}

/* Waits until the loop is no longer stopping. */
static lbx_status
vela_loop_await_end(lbx_vela_loop *loop, int64_t deadline_ns)
{
    for (;;) {
        // A system without threads is run here; another refuses.
        (void)!lbx_system_run(loop->system, UINT64_MAX, NULL);
        if (!lbx__vela_word_is(lbx__vela_pump_word(loop),
                               LBX_VELA_LOOP_STOPPING))
            break;
        if (lbx_signal_wait_until(loop->stopped, deadline_ns) != LBX_OK)
            return LBX_TIMEOUT;
    }
    lbx_signal_notify(loop->stopped); // the next thread that waits
    return LBX_OK;
}

lbx_status
lbx_vela_loop_stop(lbx_vela_loop *loop, int64_t deadline_ns, lbx_fault *fault)
{
    uint32_t before;

    if (!loop)
        return lbx__fault_set(fault, LBX_INVALID, "the loop is NULL");
    before = lbx__vela_pump_change(loop, lbx__vela_word_on_stop);
    if (lbx__vela_word_is(before, LBX_VELA_LOOP_IDLE) ||
        lbx__vela_word_is(before, LBX_VELA_LOOP_STOPPED))
        return lbx__fault_set(fault, LBX_INVALID, "not running");
    if (lbx__vela_pump_frame_of(loop))
        return LBX_PENDING;
    return vela_loop_await_end(loop, deadline_ns);
}

/* ---- Messages ---- */

lbx_status
lbx_vela_loop_send(lbx_vela_loop *loop, void *message)
{
    return loop ? lbx_producer_try_send(loop->in, message) : LBX_INVALID;
}

lbx_status
lbx_vela_loop_process_next(lbx_vela_loop *loop, lbx_fault *fault)
{
    lbx_envelope envelope;
    uint32_t before;
    bool found;

    if (!loop)
        return lbx__fault_set(fault, LBX_INVALID, "the loop is NULL");
    before = lbx__vela_pump_change(loop, lbx__vela_word_on_process);
    if (lbx__vela_word_is(before, LBX_VELA_LOOP_RUNNING) ||
        lbx__vela_word_is(before, LBX_VELA_LOOP_STOPPING))
        return lbx__fault_set(fault, LBX_INVALID,
                              "running: it takes its messages itself");
    if (before & LBX__VELA_HANDLING)
        return lbx__fault_set(fault, LBX_BUSY, "a message is being handled");
    found = lbx__vela_pump_take(loop, &envelope);
    if (found)
        (void)lbx__vela_pump_handle(loop, &envelope, false);
    (void)lbx__vela_pump_change(loop, lbx__vela_word_on_release);
    return found ? LBX_OK : LBX_EMPTY;
}

lbx_status
lbx_vela_loop_deliver(lbx_vela_loop *loop, void *message, lbx_fault *fault)
{
    lbx_envelope envelope = lbx_envelope_with_default_priority(message);
    uint32_t before;
    lbx_status status;

    if (!loop)
        return lbx__fault_set(fault, LBX_INVALID, "the loop is NULL");
    before = lbx__vela_pump_change(loop, lbx__vela_word_on_deliver);
    if (!lbx__vela_word_is(before, LBX_VELA_LOOP_RUNNING))
        return lbx__fault_set(fault, LBX_INVALID, "not running");
    if (before & LBX__VELA_HANDLING)
        return lbx__fault_set(fault, LBX_BUSY, "a message is being handled");
    status = lbx__vela_pump_handle(loop, &envelope, true);
    (void)lbx__vela_pump_change(loop, lbx__vela_word_on_release);
    return status;
}

void *
lbx_vela_loop_take(lbx_vela_loop *loop)
{
    lbx__vela_pump_frame *here = loop ? lbx__vela_pump_frame_of(loop) : NULL;

    if (!here)
        return NULL;
    here->taken = true;
    return here->message;
}

/* ---- State and statistics ---- */

lbx_producer *
lbx_vela_loop_producer(lbx_vela_loop *loop)
{
    return loop ? loop->in : NULL;
}

lbx_vela_loop_state
lbx_vela_loop_state_of(lbx_vela_loop *loop)
{
    return loop ? lbx__vela_word_state(lbx__vela_pump_word(loop))
                : LBX_VELA_LOOP_IDLE;
}

const char *
lbx_vela_loop_state_name(lbx_vela_loop_state state)
{
    static const char *const names[] = {
        [LBX_VELA_LOOP_IDLE] = "idle",
        [LBX_VELA_LOOP_RUNNING] = "running",
        [LBX_VELA_LOOP_PAUSED] = "paused",
        [LBX_VELA_LOOP_STOPPING] = "stopping",
        [LBX_VELA_LOOP_STOPPED] = "stopped",
    };

    return (size_t)state < sizeof(names) / sizeof(names[0]) ? names[state]
                                                            : "?";
}

lbx_status
lbx_vela_loop_stats_read(lbx_vela_loop *loop, lbx_vela_loop_stats *ret)
{
    lbx_vela_loop_stats stats = {0};
    uint64_t handled;

    if (!loop || !ret)
        return LBX_INVALID;
    // Acquire, the counts: pairs with pump_count().
    stats.processed = lbx__load(&loop->processed, acquire);
    stats.errors = lbx__load(&loop->errors, acquire);
    stats.cycles = lbx__load(&loop->cycles, acquire);
    handled = lbx__load(&loop->handled, acquire);
    // Relaxed: numbers for people.
    stats.total_ns = lbx__load(&loop->total_ns, relaxed);
    stats.waiting = lbx_mailbox_depth(lbx_producer_mailbox(loop->in)) +
                    lbx__load(&loop->has_held, relaxed);
    if (handled > 0)
        stats.average_ns = stats.total_ns / (int64_t)handled;
    stats.state = lbx__vela_word_state(lbx__vela_pump_word(loop));
    stats.state_name = lbx_vela_loop_state_name(stats.state);
    return LBX__SIZED_WRITE(ret, &stats, lbx_vela_loop_stats, state_name);
}
