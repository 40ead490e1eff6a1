/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boxes: thin fronts over the library and over the mini mailbox.
 */
#include "stress/box.h"

#include <inttypes.h>
#include <stdio.h>

#include "stress/storm.h"
#include "support/test.h"

unsigned
box_rank(enum box_ranks ranks, uint64_t number)
{
    if (ranks == BOX_PRIORITIES)
        return number % 4;
    if (ranks == BOX_LANES)
        return number % 16 == 0 ? 0 : number % 4 == 0 ? 1 : 2;
    return 0;
}

lbx_envelope
box_envelope(const struct box *box, void *message)
{
    unsigned rank = box_rank(box->ranks, storm_number(message));

    if (box->ranks == BOX_PRIORITIES)
        return lbx_envelope_of(message, (int32_t)rank);
    if (box->ranks == BOX_LANES && rank == 0)
        return lbx_envelope_from_system(
            lbx_system_message_of(LBX_SYSTEM_CODE_USER), message);
    if (box->ranks == BOX_LANES && rank == 1)
        return lbx_envelope_control(message, LBX_PRIORITY_DEFAULT);
    return lbx_envelope_with_default_priority(message);
}

/* ---- The library ---- */

static lbx_status
library_try_send(struct box *box, void *message)
{
    if (box->ranks == BOX_PLAIN)
        return lbx_producer_try_send(box->producer, message);

    lbx_envelope envelope = box_envelope(box, message);

    return lbx_producer_try_send_envelope(box->producer, &envelope, NULL);
}

static lbx_status
library_try_receive(struct box *box, void **ret)
{
    return lbx_consumer_try_receive(box->consumer, ret);
}

static lbx_status
library_send_until(struct box *box, void *message, int64_t deadline_ns)
{
    if (box->ranks == BOX_PLAIN)
        return lbx_producer_send_until(box->producer, message, deadline_ns);

    lbx_envelope envelope = box_envelope(box, message);

    return lbx_producer_send_envelope_until(box->producer, &envelope,
                                            deadline_ns, NULL);
}

static lbx_status
library_receive_until(struct box *box, void **ret, int64_t deadline_ns)
{
    return lbx_consumer_receive_until(box->consumer, ret, deadline_ns);
}

static void
library_send_start(struct box *box, struct box_wait *wait, void *message,
                   int64_t deadline_ns)
{
    wait->box = box;
    if (box->ranks == BOX_PLAIN) {
        CHECK_OK(lbx_producer_send_init(&wait->operation, box->producer,
                                        message, deadline_ns));
        return;
    }

    lbx_envelope envelope = box_envelope(box, message);

    CHECK_OK(lbx_producer_send_envelope_init(&wait->operation, box->producer,
                                             &envelope, deadline_ns, NULL));
}

static void
library_receive_start(struct box *box, struct box_wait *wait,
                      int64_t deadline_ns)
{
    wait->box = box;
    CHECK_OK(lbx_consumer_receive_init(&wait->operation, box->consumer,
                                       &wait->message, deadline_ns));
}

static lbx_status
library_poll(struct box_wait *wait, const lbx_waker *waker)
{
    return lbx_operation_poll(&wait->operation, waker);
}

static lbx_status
library_cancel(struct box_wait *wait)
{
    return lbx_operation_cancel(&wait->operation);
}

static void
library_end(struct box_wait *wait)
{
    lbx_operation_fini(&wait->operation);
}

static void
library_numbers(struct box *box, lbx_mailbox_stats *ret)
{
    CHECK_OK(lbx_mailbox_stats_read(lbx_producer_mailbox(box->producer), ret));
}

static void
library_rescue(struct box *box)
{
    CHECK_OK(lbx_mailbox_close(lbx_producer_mailbox(box->producer),
                               LBX_CLOSE_DRAIN));
}

static void
library_fini(struct box *box)
{
    lbx_producer_unref(box->producer);
    lbx_consumer_unref(box->consumer);
}

static const struct box_ops library_ops = {
    .try_send = library_try_send,
    .try_receive = library_try_receive,
    .send_until = library_send_until,
    .receive_until = library_receive_until,
    .send_start = library_send_start,
    .receive_start = library_receive_start,
    .poll = library_poll,
    .cancel = library_cancel,
    .end = library_end,
    .numbers = library_numbers,
    .rescue = library_rescue,
    .fini = library_fini,
};

void
box_open(struct box *box, const struct box_case *how)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    lbx_fault fault = {.text = ""};

    if (how->capacity > 0)
        options.capacity_messages = how->capacity;
    options.overflow = how->overflow;
    options.envelopes = how->ranks != BOX_PLAIN;
    if (how->ranks == BOX_LANES)
        options.system_reservation = LBX_UNLIMITED;
    options.loss_sink = how->sink;
    options.fault = &fault;
    *box = (struct box){
        .ops = &library_ops,
        .name = how->name,
        .ranks = how->ranks,
    };
    if (lbx_mailbox_create(how->kind, &options, &box->producer,
                           &box->consumer) != LBX_OK)
        FAIL("%s: %s", how->name, fault.text);
}

void
box_borrow(struct box *box, const struct box_case *how, lbx_producer *producer,
           lbx_consumer *consumer)
{
    *box = (struct box){
        .ops = &library_ops,
        .name = how->name,
        .ranks = how->ranks,
        .producer = producer,
        .consumer = consumer,
    };
}

/* ---- The mini mailbox ---- */

static lbx_status
box_mini_try_send(struct box *box, void *message)
{
    return mini_try_send(&box->mini, message);
}

static lbx_status
box_mini_try_receive(struct box *box, void **ret)
{
    return mini_try_receive(&box->mini, ret);
}

static void
box_mini_send_start(struct box *box, struct box_wait *wait, void *message,
                    int64_t deadline_ns)
{
    wait->box = box;
    mini_send_start(&box->mini, &wait->mini, message, deadline_ns);
}

static void
box_mini_receive_start(struct box *box, struct box_wait *wait,
                       int64_t deadline_ns)
{
    wait->box = box;
    mini_receive_start(&box->mini, &wait->mini, deadline_ns);
}

static lbx_status
box_mini_poll(struct box_wait *wait, const lbx_waker *waker)
{
    lbx_status status = mini_poll(&wait->mini, waker);

    if (status == LBX_OK && !wait->mini.sends)
        wait->message = wait->mini.message;
    return status;
}

static lbx_status
box_mini_cancel(struct box_wait *wait)
{
    return mini_cancel(&wait->mini);
}

static void
box_mini_end(struct box_wait *wait)
{
    mini_cancel(&wait->mini);
}

static lbx_status
box_mini_send_until(struct box *box, void *message, int64_t deadline_ns)
{
    struct mini_wait wait;

    mini_send_start(&box->mini, &wait, message, deadline_ns);
    return mini_park(&wait);
}

static lbx_status
box_mini_receive_until(struct box *box, void **ret, int64_t deadline_ns)
{
    struct mini_wait wait;
    lbx_status status;

    mini_receive_start(&box->mini, &wait, deadline_ns);
    status = mini_park(&wait);
    if (status == LBX_OK)
        *ret = wait.message;
    return status;
}

static void
box_mini_numbers(struct box *box, lbx_mailbox_stats *ret)
{
    mini_numbers(&box->mini, ret);
}

static void
box_mini_rescue(struct box *box)
{
    mini_close(&box->mini);
}

static void
box_mini_fini(struct box *box)
{
    mini_fini(&box->mini);
}

static const struct box_ops mini_ops = {
    .try_send = box_mini_try_send,
    .try_receive = box_mini_try_receive,
    .send_until = box_mini_send_until,
    .receive_until = box_mini_receive_until,
    .send_start = box_mini_send_start,
    .receive_start = box_mini_receive_start,
    .poll = box_mini_poll,
    .cancel = box_mini_cancel,
    .end = box_mini_end,
    .numbers = box_mini_numbers,
    .rescue = box_mini_rescue,
    .fini = box_mini_fini,
};

void
box_open_mini(struct box *box, unsigned bug, size_t capacity)
{
    *box = (struct box){.ops = &mini_ops, .name = "mini"};
    mini_init(&box->mini, bug, capacity);
}

void
box_describe(struct box *box, char *text, size_t size)
{
    lbx_mailbox_stats stats = LBX_MAILBOX_STATS_INIT;

    box->ops->numbers(box, &stats);
    snprintf(text, size,
             "%s: depth=%" PRIu64 " system=%" PRIu64 " control=%" PRIu64
             " accepted=%" PRIu64 " taken=%" PRIu64 " rejected=%" PRIu64
             " lost=%" PRIu64 " waiting_senders=%" PRIu64
             " waiting_receivers=%" PRIu64 " suspensions=%" PRIu64,
             box->name, stats.depth, stats.system_depth, stats.control_depth,
             stats.accepted, stats.taken, stats.rejected, stats.lost,
             stats.waiting_senders, stats.waiting_receivers, stats.suspensions);
}
