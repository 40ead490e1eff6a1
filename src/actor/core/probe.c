/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes: actors whose messages a test expects.
 *
 * The probe's actor takes each message and puts it into a mailbox; the test
 * receives from there. A system without threads is run by the test's call.
 *
 * PROBE-1  A message is in the actor's inbox, in the mailbox, or `current`. The
 *          thread of the test owns `current` and destroys it at its next call.
 *
 * Threads: the actor's handler sends, the test's thread receives.
 */
#include "actor/core/system.h"

#include "base/alloc.h"
#include <letterbox/actor/probe.h>
#include <letterbox/mailbox.h>

struct lbx_probe {
    lbx_system *system;
    lbx_ref ref;
    lbx_type *watch_type; /* of the order to watch an actor */
    lbx_producer *in;
    lbx_consumer *out;
    lbx_envelope current;
    bool has_current;
    bool kept; /* the next call returns `current` */
    bool threaded;
};

static lbx_status
probe_start(lbx_context *context, void *state, void *argument)
{
    (void)context;
    *(lbx_probe **)state = argument;
    return LBX_OK;
}

static lbx_status
probe_handle(lbx_context *context, void *state, void *message)
{
    lbx_probe *probe = *(lbx_probe **)state;
    lbx_envelope envelope = lbx__node_envelope(context->node);
    lbx_status status;

    if (envelope.type == probe->watch_type)
        return lbx_context_watch(context, lbx_ref_of_sender(message));
    envelope.reserved[0] = LBX__REPORT_NONE; // this run reports
    envelope.deadline_ns = 0;
    status = lbx_producer_try_send_envelope(probe->in, &envelope, NULL);
    if (status == LBX_OK)
        (void)lbx_context_take(context);
    return status;
}

static const lbx_behaviour probe_behaviour = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "probe",
    .state_bytes = sizeof(lbx_probe *),
    .start = probe_start,
    .receive = probe_handle,
};

static lbx_status
probe_make(lbx_probe *probe)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    lbx_type_options type = LBX_TYPE_OPTIONS_INIT;
    lbx_status status;

    options.envelopes = true;
    type.name = "letterbox.ProbeWatch";
    status = lbx_type_create(&type, &probe->watch_type);
    if (status == LBX_OK)
        status = lbx_mailbox_create(LBX_KIND_UNBOUNDED, &options, &probe->in,
                                    &probe->out);
    return status;
}

/* Frees a probe that has no actor, or half of one. */
static void
probe_free(lbx_probe *probe)
{
    lbx_producer_unref(probe->in);
    lbx_consumer_unref(probe->out);
    lbx_type_destroy(probe->watch_type);
    lbx__free(probe->system->options.allocator, probe, sizeof(*probe));
}

lbx_status
lbx_probe_create(lbx_system *system, const char *name, lbx_probe **ret)
{
    lbx_props props = LBX_PROPS_INIT;
    lbx_probe *probe;
    lbx_status status;

    if (!system || !ret)
        return LBX_INVALID;
    probe = lbx__zalloc(system->options.allocator, sizeof(*probe));
    if (!probe)
        return LBX_NO_MEMORY;
    probe->system = system;
    probe->threaded = system->options.threads != 0;
    props.behaviour = &probe_behaviour;
    props.argument = probe;
    status = probe_make(probe);
    if (status == LBX_OK)
        status = lbx_system_spawn(system, &props, name, &probe->ref);
    if (status != LBX_OK) {
        probe_free(probe);
        return status;
    }
    *ret = probe;
    return LBX_OK;
}

/* Destroys what the last call returned. */
static void
probe_drop_current(lbx_probe *probe)
{
    if (probe->has_current)
        lbx__message_destroy(probe->system, probe->current.type,
                             probe->current.message);
    probe->has_current = false;
    probe->kept = false;
}

/* Runs a system without threads. */
static void
probe_run(lbx_probe *probe)
{
    lbx_status status = LBX_OK;

    if (!probe->threaded)
        status = lbx_system_run(probe->system, UINT64_MAX, NULL);
    (void)status; // from a handler nothing runs
}

/* The next message becomes `current`. */
static lbx_status
probe_next(lbx_probe *probe, int64_t deadline_ns)
{
    lbx_status status;

    if (probe->kept) {
        probe->kept = false;
        return LBX_OK;
    }
    probe_drop_current(probe);
    probe_run(probe);
    if (probe->threaded)
        status = lbx_consumer_receive_envelope_until(
            probe->out, &probe->current, deadline_ns);
    else
        status = lbx_consumer_try_receive_envelope(probe->out, &probe->current);
    probe->has_current = status == LBX_OK;
    return status == LBX_EMPTY ? LBX_TIMEOUT : status;
}

static void
probe_return(const lbx_probe *probe, lbx_envelope *ret)
{
    if (ret)
        *ret = probe->current;
}

void
lbx_probe_destroy(lbx_probe *probe)
{
    if (!probe)
        return;
    lbx_ref_stop(probe->ref);
    probe_run(probe);
    // Also when it is not alive: a thread may be clearing its inbox, by types
    // that the caller destroys next. Other statuses are those without memory.
    while (probe->threaded && lbx_ref_ended_until(probe->system, probe->ref,
                                                  LBX_FOREVER) != LBX_OK) {
    }
    do
        probe_drop_current(probe);
    while (probe_next(probe, 0) == LBX_OK);
    probe_free(probe);
}

lbx_ref
lbx_probe_ref(const lbx_probe *probe)
{
    return probe ? probe->ref : lbx_ref_nobody();
}

void
lbx_probe_tell(lbx_probe *probe, lbx_ref to, const lbx_type *type,
               void *message)
{
    lbx_envelope envelope = lbx_envelope_of_type(message, type);

    envelope.sender = lbx_ref_as_sender(lbx_probe_ref(probe));
    lbx_tell_envelope(to, &envelope);
}

void
lbx_probe_reply(lbx_probe *probe, const lbx_type *type, void *message)
{
    lbx_ref to = probe && probe->has_current
                     ? lbx_ref_of_sender(probe->current.sender)
                     : lbx_ref_nobody();

    lbx_probe_tell(probe, to, type, message);
}

lbx_status
lbx_probe_receive(lbx_probe *probe, int64_t timeout_ns, lbx_envelope *ret)
{
    lbx_status status;

    if (!probe)
        return LBX_INVALID;
    status = probe_next(probe, lbx_deadline_after(NULL, timeout_ns));
    if (status == LBX_OK)
        probe_return(probe, ret);
    return status;
}

lbx_status
lbx_probe_expect(lbx_probe *probe, const lbx_type *type, int64_t timeout_ns,
                 lbx_envelope *ret)
{
    lbx_status status = lbx_probe_receive(probe, timeout_ns, ret);

    if (status != LBX_OK)
        return status;
    if (type ? lbx_type_is_a(probe->current.type, type) : !probe->current.type)
        return LBX_OK;
    return LBX_REFUSED;
}

lbx_status
lbx_probe_find(lbx_probe *probe,
               bool (*accepts)(void *argument, const lbx_envelope *envelope),
               void *argument, int64_t timeout_ns, lbx_envelope *ret)
{
    int64_t deadline_ns = lbx_deadline_after(NULL, timeout_ns);
    lbx_status status;

    if (!probe || !accepts)
        return LBX_INVALID;
    do
        status = probe_next(probe, deadline_ns);
    while (status == LBX_OK && !accepts(argument, &probe->current));
    if (status == LBX_OK)
        probe_return(probe, ret);
    return status;
}

lbx_status
lbx_probe_expect_none(lbx_probe *probe, int64_t duration_ns)
{
    lbx_status status = lbx_probe_receive(probe, duration_ns, NULL);

    if (status == LBX_OK) {
        probe->kept = true;
        return LBX_REFUSED;
    }
    return status == LBX_TIMEOUT ? LBX_OK : status;
}

void
lbx_probe_watch(lbx_probe *probe, lbx_ref ref)
{
    if (probe)
        lbx_tell_typed(probe->ref, probe->watch_type, lbx_ref_as_sender(ref));
}

lbx_status
lbx_probe_expect_end(lbx_probe *probe, lbx_ref ref, int64_t timeout_ns,
                     const lbx_termination **ret_why)
{
    lbx_status status =
        lbx_probe_expect(probe, lbx_terminated_type(), timeout_ns, NULL);

    if (status != LBX_OK)
        return status;
    if (ret_why)
        *ret_why = lbx_terminated_why(probe->current.message);
    return lbx_ref_equal(ref, lbx_terminated_ref(probe->current.message))
               ? LBX_OK
               : LBX_REFUSED;
}
