/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the mailbox tests have in common.
 */
#include "mailbox/fixture.h"

#include <string.h>

bool
kind_is_limited(const char *kind)
{
    return (lbx_kind_registry_capabilities(NULL, kind) &
            LBX_CAPABILITY_BOUND) != 0;
}

struct box
box_make(const char *kind, const lbx_mailbox_options *options)
{
    struct box box = {NULL, NULL, NULL};

    CHECK_OK(lbx_mailbox_create(kind, options, &box.in, &box.out));
    box.mailbox = lbx_producer_mailbox(box.in);
    CHECK(box.mailbox != NULL);
    return box;
}

_Thread_local lbx_mailbox_options with;

struct box
box_limited(int64_t capacity, lbx_overflow overflow)
{
    return BOX(LBX_KIND_BOUNDED, limited_options(capacity, overflow));
}

struct box
box_unbounded(void)
{
    return box_make(LBX_KIND_UNBOUNDED, NULL);
}

void
box_end(struct box *box)
{
    lbx_producer_unref(box->in);
    lbx_consumer_unref(box->out);
    *box = (struct box){NULL, NULL, NULL};
}

void *
letter(int number)
{
    return (void *)(intptr_t)number;
}

int
number_of(const void *message)
{
    return (int)(intptr_t)message;
}

void
box_send(const struct box *box, int number)
{
    CHECK_OK(lbx_producer_try_send(box->in, letter(number)));
}

void
box_send_numbers(const struct box *box, int first, int last)
{
    for (int number = first; number <= last; number++)
        box_send(box, number);
}

void
box_send_envelope(const struct box *box, lbx_envelope envelope)
{
    CHECK_OK(lbx_producer_try_send_envelope(box->in, &envelope, NULL));
}

void
box_send_control(const struct box *box, int number)
{
    box_send_envelope(
        box, lbx_envelope_control(letter(number), LBX_PRIORITY_DEFAULT));
}

lbx_status
box_try_send_system(const struct box *box, int number)
{
    lbx_envelope envelope = lbx_envelope_from_system(
        lbx_system_message_of(LBX_SYSTEM_CODE_WATCH), letter(number));

    return lbx_producer_try_send_envelope(box->in, &envelope, NULL);
}

void
box_send_system(const struct box *box, int number)
{
    CHECK_OK(box_try_send_system(box, number));
}

lbx_mailbox_stats
box_stats(const struct box *box)
{
    lbx_mailbox_stats stats = LBX_MAILBOX_STATS_INIT;

    memset(&stats, 0xa5, sizeof(stats));
    stats.size_bytes = sizeof(stats);
    CHECK_OK(lbx_mailbox_stats_read(box->mailbox, &stats));
    return stats;
}

int
box_next(const struct box *box)
{
    void *message = letter(-1);

    CHECK_OK(lbx_consumer_try_receive(box->out, &message));
    return number_of(message);
}

lbx_status
box_look(const struct box *box)
{
    void *message;

    return lbx_consumer_try_receive(box->out, &message);
}

void
box_check_receives(const char *file, int line, const struct box *box,
                   const int *numbers, size_t count)
{
    void *message = letter(-1);
    lbx_status status;

    for (size_t i = 0; i < count; i++) {
        status = lbx_consumer_try_receive(box->out, &message);
        if (status != LBX_OK)
            test_fail(file, line, "message %zu of %zu: expected %d, got %s",
                      i + 1, count, numbers[i], lbx_status_name(status));
        if (number_of(message) != numbers[i])
            test_fail(file, line, "message %zu of %zu: expected %d, got %d",
                      i + 1, count, numbers[i], number_of(message));
    }
    status = lbx_consumer_try_receive(box->out, &message);
    if (status == LBX_OK)
        test_fail(file, line, "one more than the %zu expected: %d", count,
                  number_of(message));
}

lbx_mailbox_options
plain_options(void)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;

    return options;
}

lbx_mailbox_options
envelope_options(void)
{
    lbx_mailbox_options options = plain_options();

    options.envelopes = true;
    return options;
}

lbx_mailbox_options
limited_options(int64_t capacity, lbx_overflow overflow)
{
    lbx_mailbox_options options = plain_options();

    options.capacity_messages = capacity;
    options.overflow = overflow;
    return options;
}

lbx_mailbox_options
options_for(const char *kind, int64_t capacity)
{
    lbx_mailbox_options options = envelope_options();

    if (kind_is_limited(kind))
        options.capacity_messages = capacity;
    return options;
}

static void
ring(void *context)
{
    struct bell *bell = context;

    atomic_fetch_add(&bell->rings, 1);
}

lbx_waker
bell_waker(struct bell *bell)
{
    return (lbx_waker){.wake = ring, .context = bell};
}

static void
note_loss(void *context, const lbx_loss *loss)
{
    struct losses *losses = context;
    unsigned index = atomic_fetch_add(&losses->count, 1);

    if (index >= LOSSES_KEPT)
        return;
    losses->envelopes[index] = *loss->envelope;
    losses->totals[index] = loss->lost_messages;
    losses->mailboxes[index] = loss->mailbox;
    if (index == 0)
        losses->name = loss->mailbox_name;
}

lbx_loss_sink
losses_sink(struct losses *losses)
{
    return (lbx_loss_sink){.lost = note_loss, .context = losses};
}

void
losses_check(const struct losses *losses, unsigned index, int number,
             lbx_loss_reason reason)
{
    CHECK(index < losses->count);
    CHECK_INT(number, number_of(losses->envelopes[index].message));
    CHECK_INT(reason, losses->envelopes[index].lost);
}

static void
note_event(void *context, const lbx_metric_event *event)
{
    struct events *events = context;
    unsigned index = atomic_fetch_add(&events->count, 1);

    if (index < EVENTS_KEPT)
        events->list[index] = *event;
}

lbx_metrics_sink
events_sink(struct events *events)
{
    return (lbx_metrics_sink){.event = note_event, .context = events};
}

unsigned
events_of(const struct events *events, lbx_metric metric)
{
    unsigned found = 0;

    CHECK(events->count <= EVENTS_KEPT);
    for (unsigned i = 0; i < events->count; i++)
        found += events->list[i].metric == metric;
    return found;
}

lbx_metric_event
events_last(const struct events *events, lbx_metric metric)
{
    CHECK(events->count <= EVENTS_KEPT);
    for (unsigned i = events->count; i > 0; i--) {
        if (events->list[i - 1].metric == metric)
            return events->list[i - 1];
    }
    FAIL("no event %d among %u", (int)metric, events->count);
}

void
destroy_counting(void *message, void *counter)
{
    (void)message;
    atomic_fetch_add((_Atomic int *)counter, 1);
}

lbx_status
bell_poll(lbx_operation *operation, struct bell *bell)
{
    lbx_waker waker = bell_waker(bell);

    return lbx_operation_poll(operation, &waker);
}

static void
pending_poll(lbx_operation *operation, struct bell *bell)
{
    CHECK_STATUS(LBX_PENDING, bell ? bell_poll(operation, bell)
                                   : lbx_operation_poll(operation, NULL));
}

void
flush_wait(lbx_operation *flush, const struct box *box, struct bell *bell)
{
    CHECK_OK(lbx_mailbox_flush_init(flush, box->mailbox, LBX_FOREVER));
    pending_poll(flush, bell);
}

void
stop_wait(lbx_operation *stop, const struct box *box, struct bell *bell)
{
    CHECK_OK(lbx_mailbox_stop_init(stop, box->mailbox, LBX_FOREVER));
    pending_poll(stop, bell);
}

void
receiver_wait_until(struct receiver *receiver, const struct box *box,
                    int64_t deadline_ns)
{
    *receiver = (struct receiver){.message = letter(-1)};
    CHECK_OK(lbx_consumer_receive_init(&receiver->operation, box->out,
                                       &receiver->message, deadline_ns));
    CHECK_STATUS(LBX_PENDING, receiver_poll(receiver));
}

void
receiver_end(struct receiver *receiver)
{
    lbx_operation_fini(&receiver->operation);
}

void
sender_end(struct sender *sender)
{
    lbx_operation_fini(&sender->operation);
}

void
receiver_wait(struct receiver *receiver, const struct box *box)
{
    receiver_wait_until(receiver, box, LBX_FOREVER);
}

lbx_status
receiver_poll(struct receiver *receiver)
{
    return bell_poll(&receiver->operation, &receiver->bell);
}

void
receiver_check(struct receiver *receiver, int number)
{
    CHECK_OK(receiver_poll(receiver));
    CHECK_INT(number, number_of(receiver->message));
    lbx_operation_fini(&receiver->operation);
}

void
sender_wait_until(struct sender *sender, const struct box *box, int number,
                  int64_t deadline_ns)
{
    *sender = (struct sender){.bell = {0}};
    CHECK_OK(lbx_producer_send_init(&sender->operation, box->in, letter(number),
                                    deadline_ns));
    CHECK_STATUS(LBX_PENDING, sender_poll(sender));
}

void
sender_wait(struct sender *sender, const struct box *box, int number)
{
    sender_wait_until(sender, box, number, LBX_FOREVER);
}

struct box
box_with_sender(struct sender *sender)
{
    struct box box = box_limited(1, LBX_OVERFLOW_BLOCK);

    box_send(&box, 1);
    sender_wait(sender, &box, 2);
    return box;
}

struct box
box_with_promise(struct receiver *receiver)
{
    struct box box = box_make(LBX_KIND_UNBOUNDED, NULL);

    receiver_wait(receiver, &box);
    box_send(&box, 1);
    return box;
}

lbx_status
sender_poll(struct sender *sender)
{
    return bell_poll(&sender->operation, &sender->bell);
}

static void
run_receive(void *context)
{
    struct parked *parked = context;

    parked->status = lbx_consumer_receive_until(
        parked->box.out, &parked->message, parked->deadline_ns);
    parked->is_done = true;
}

static void
run_send(void *context)
{
    struct parked *parked = context;

    parked->status = lbx_producer_send_until(parked->box.in, parked->message,
                                             parked->deadline_ns);
    parked->is_done = true;
}

void
parked_receive(struct parked *parked, const struct box *box,
               int64_t deadline_ns)
{
    uint64_t before = box_stats(box).waiting_receivers;

    *parked = (struct parked){
        .box = *box, .deadline_ns = deadline_ns, .message = letter(-1)};
    thread_start(&parked->thread, run_receive, parked);
    EVENTUALLY(box_stats(box).waiting_receivers > before);
}

void
parked_send(struct parked *parked, const struct box *box, int number,
            int64_t deadline_ns)
{
    uint64_t before = box_stats(box).waiting_senders;

    *parked = (struct parked){
        .box = *box, .deadline_ns = deadline_ns, .message = letter(number)};
    thread_start(&parked->thread, run_send, parked);
    EVENTUALLY(box_stats(box).waiting_senders > before);
}

lbx_status
parked_end(struct parked *parked)
{
    thread_join(&parked->thread);
    return parked->status;
}
