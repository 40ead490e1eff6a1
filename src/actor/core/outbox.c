/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outbox: messages that wait for space (OUTBOX-1 and OUTBOX-2 in outbox.h).
 *
 * Threads: the owner of the sender; wakers, from any thread, push a node only.
 */
#include "actor/core/outbox.h"

#include "base/alloc.h"
#include <letterbox/operation.h>

typedef struct lbx__outgoing {
    lbx__node node; /* first: OUTBOX-2 */
    lbx_operation send;
    lbx_send_result result;
    lbx__actor_mailbox *box; /* a reference */
    lbx__cell *sender;
    lbx_ref to;
    lbx_envelope envelope;
    bool called; /* the node is under way */
    struct lbx__outgoing *next;
} lbx__outgoing;

static lbx__outgoing *
outgoing_of(lbx__node *node)
{
    return (lbx__outgoing *)(void *)node;
}

static void
outgoing_wake(void *context)
{
    lbx__outgoing *outgoing = context;

    outgoing->called = true;
    lbx__cell_push_system(outgoing->sender, &outgoing->node);
}

static void
outgoing_release(lbx__outgoing *outgoing)
{
    lbx_system *system = outgoing->box->system;

    lbx__actor_mailbox_unref(outgoing->box);
    lbx__free(system->options.allocator, outgoing, sizeof(*outgoing));
}

static void
outgoing_unlink(lbx__facilities *facilities, const lbx__outgoing *outgoing)
{
    lbx__outgoing **link = &facilities->outbox;

    while (*link != outgoing)
        link = &(*link)->next;
    *link = outgoing->next;
}

/* Wakes the receiver, or makes a dead letter. */
static void
outgoing_finish(lbx__outgoing *outgoing, lbx_status status)
{
    const lbx_loss_reason reason = lbx__ref_loss_reason(status);

    lbx_operation_fini(&outgoing->send);
    outgoing->envelope.recipient = lbx_ref_as_sender(outgoing->to);
    if (status == LBX_OK)
        lbx__actor_mailbox_wake(outgoing->box, lbx__cell_of(outgoing->to.word));
    else if (reason == LBX_LOSS_NO_ACTOR)
        lbx__dead_letter_publish(outgoing->box->system, &outgoing->envelope,
                                 reason);
    else
        lbx__actor_mailbox_lose(outgoing->box, &outgoing->envelope, reason);
}

/* Polls; false when it is final and released. */
static bool
outgoing_poll(lbx__cell *cell, lbx__outgoing *outgoing)
{
    lbx_waker waker = {outgoing_wake, outgoing};
    lbx_status status = lbx_operation_poll(&outgoing->send, &waker);

    if (status == LBX_PENDING)
        return true;
    outgoing_unlink(cell->facilities, outgoing);
    outgoing_finish(outgoing, status);
    if (!outgoing->called)
        outgoing_release(outgoing);
    return false;
}

bool
lbx__outbox_add(lbx_context *context, lbx__actor_mailbox *box, lbx_ref to,
                const lbx_envelope *envelope)
{
    lbx__cell *cell = context->cell;
    lbx_system *system = cell->system;
    // An ended actor or a promise does not wait: here a listener for dead
    // letters sends.
    bool waits = cell->role != LBX__ROLE_PROMISE &&
                 cell->phase != LBX__PHASE_FREE &&
                 cell->phase < LBX__PHASE_ENDED;
    lbx__facilities *facilities = waits ? lbx__facilities_of(cell) : NULL;
    lbx__outgoing *outgoing =
        facilities
            ? lbx__zalloc(box->system->options.allocator, sizeof(*outgoing))
            : NULL;
    lbx__outgoing **link;
    int64_t due_ns;

    if (!outgoing)
        return false;
    outgoing->node.code = LBX__CODE_OUTGOING;
    outgoing->node.recipient = lbx__cell_ref(cell);
    outgoing->box = box;
    outgoing->sender = cell;
    outgoing->to = to;
    outgoing->envelope = *envelope;
    outgoing->result.size_bytes = sizeof(outgoing->result);
    if (lbx_producer_send_envelope_init(&outgoing->send, box->in, envelope,
                                        LBX_FOREVER,
                                        &outgoing->result) != LBX_OK) {
        lbx__free(box->system->options.allocator, outgoing, sizeof(*outgoing));
        return false;
    }
    for (link = &facilities->outbox; *link; link = &(*link)->next) {
    }
    *link = outgoing;
    if (!outgoing_poll(cell, outgoing))
        return true;
    due_ns = lbx_operation_deadline(&outgoing->send);
    // Without memory for a timer it waits for space only.
    if (due_ns != LBX_FOREVER)
        (void)lbx__timers_start_system(
            system->timers, lbx__cell_ref(cell), LBX__CODE_OUTBOX_LATE,
            due_ns - lbx_clock_now(system->options.clock), NULL);
    return true;
}

void
lbx__outbox_poll(lbx__cell *cell, lbx__node *node)
{
    lbx__outgoing *outgoing = outgoing_of(node);

    outgoing->called = false;
    // Its deadline may have made it final before its node was taken.
    if (lbx_operation_status(&outgoing->send) == LBX_PENDING)
        (void)outgoing_poll(cell, outgoing);
    else
        outgoing_release(outgoing);
}

void
lbx__outbox_poll_all(lbx__cell *cell)
{
    lbx__outgoing *next;

    if (!cell->facilities)
        return;
    for (lbx__outgoing *outgoing = cell->facilities->outbox; outgoing;
         outgoing = next) {
        next = outgoing->next;
        (void)outgoing_poll(cell, outgoing);
    }
}

void
lbx__outbox_end(lbx__cell *cell)
{
    while (cell->facilities->outbox) {
        lbx__outgoing *outgoing = cell->facilities->outbox;

        cell->facilities->outbox = outgoing->next;
        outgoing_finish(outgoing, lbx_operation_cancel(&outgoing->send));
        if (!outgoing->called)
            outgoing_release(outgoing);
    }
}

void
lbx__outbox_bury(lbx__node *node)
{
    outgoing_release(outgoing_of(node));
}
