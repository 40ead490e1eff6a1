/* SPDX-License-Identifier: Apache-2.0 */
/* A mailbox under test: what all scenarios over the public API share. */
#include "explorer/scenarios/box.h"

#include "explorer.h"

#include <string.h>

static void
lost(void *context, const lbx_loss *loss)
{
    (void)context;
    EXPECT(loss->envelope->lost != LBX_LOSS_NONE);
    ledger_lost((uint64_t)(uintptr_t)loss->envelope->message);
}

lbx_mailbox_options
box_options(void)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;

    options.allocator = &explorer_memory;
    options.clock = &explorer_clock;
    options.loss_sink.lost = lost;
    return options;
}

lbx_mailbox_options with;

void
box_create(struct box *box, const char *kind,
           const lbx_mailbox_options *options)
{
    lbx_mailbox_options defaults = box_options();

    memset(box, 0, sizeof(*box));
    ledger_reset();
    EXPECT_OK(lbx_mailbox_create(kind, options ? options : &defaults, &box->in,
                                 &box->out));
}

void
box_drain(struct box *box)
{
    while (box_try_receive(box))
        continue;
}

void
box_finish(struct box *box, bool in_order)
{
    lbx_mailbox *mailbox = lbx_consumer_mailbox(box->out);
    lbx_mailbox_stats stats = LBX_MAILBOX_STATS_INIT;

    EXPECT_OK(lbx_mailbox_stats_read(mailbox, &stats));
    EXPECT(stats.waiting_receivers == 0 && stats.waiting_senders == 0);
    EXPECT(stats.depth ==
           ledger_sent_total() - ledger_received_total() - ledger_lost_total());
    box_drain(box);
    EXPECT(lbx_mailbox_is_empty(mailbox));
    ledger_check(in_order);
    lbx_producer_unref(box->in);
    lbx_consumer_unref(box->out);
}

static lbx_status
note_sent(lbx_status status, uint64_t message)
{
    if (status == LBX_OK)
        ledger_sent(message);
    return status;
}

lbx_status
box_try_send(struct box *box)
{
    uint64_t message = ledger_message();

    return note_sent(lbx_producer_try_send(box->in, (void *)(uintptr_t)message),
                     message);
}

lbx_status
box_send(struct box *box, int64_t deadline_ns)
{
    uint64_t message = ledger_message();
    lbx_operation operation;
    lbx_status status;

    EXPECT_OK(lbx_producer_send_init(&operation, box->in,
                                     (void *)(uintptr_t)message, deadline_ns));
    status = lbx_operation_wait(&operation);
    lbx_operation_fini(&operation);
    return note_sent(status, message);
}

lbx_status
box_try_send_envelope(struct box *box, lbx_envelope envelope)
{
    uint64_t message = ledger_message();

    envelope.message = (void *)(uintptr_t)message;
    return note_sent(lbx_producer_try_send_envelope(box->in, &envelope, NULL),
                     message);
}

bool
box_try_receive(struct box *box)
{
    void *message;
    lbx_status status = lbx_consumer_try_receive(box->out, &message);

    EXPECT(status == LBX_OK || status == LBX_EMPTY || status == LBX_CLOSED);
    if (status == LBX_OK)
        ledger_received((uint64_t)(uintptr_t)message);
    return status == LBX_OK;
}

lbx_status
box_receive(struct box *box, int64_t deadline_ns)
{
    void *message;
    lbx_operation operation;
    lbx_status status;

    EXPECT_OK(
        lbx_consumer_receive_init(&operation, box->out, &message, deadline_ns));
    status = lbx_operation_wait(&operation);
    lbx_operation_fini(&operation);
    if (status == LBX_OK)
        ledger_received((uint64_t)(uintptr_t)message);
    return status;
}

void
box_receive_all(struct box *box)
{
    lbx_status status;

    do {
        status = box_receive(box, LBX_FOREVER);
    } while (status == LBX_OK);
    EXPECT(status == LBX_CLOSED);
}

int64_t
box_soon(void)
{
    return lbx_deadline_after(&explorer_clock, LBX_MS);
}
