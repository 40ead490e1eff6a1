/* SPDX-License-Identifier: Apache-2.0 */
/* The ported test groups' shared helpers: see common.h. */
#include "profiles/common.h"

#include <string.h>

/* ---- A mailbox under test ---- */

struct box
box_create(const char *kind, const lbx_mailbox_options *options)
{
    struct box box = {0};

    CHECK_OK(lbx_mailbox_create(kind, options, &box.in, &box.out));
    box.mailbox = lbx_producer_mailbox(box.in);
    CHECK_PTR(box.mailbox, lbx_consumer_mailbox(box.out));
    return box;
}

_Thread_local lbx_mailbox_options with;

lbx_mailbox_options
plain_options(void)
{
    return (lbx_mailbox_options)LBX_MAILBOX_OPTIONS_INIT;
}

struct box
box_bounded(int64_t capacity_messages, lbx_overflow overflow)
{
    return BOX(LBX_KIND_BOUNDED, plain_options(),
               with.capacity_messages = capacity_messages,
               with.overflow = overflow);
}

void
box_destroy(struct box *box)
{
    lbx_producer_unref(box->in);
    lbx_consumer_unref(box->out);
    *box = (struct box){0};
}

void *
message_of(intptr_t number)
{
    return (void *)number; // never followed
}

intptr_t
number_of(const void *message)
{
    return (intptr_t)message;
}

lbx_status
box_send(struct box *box, intptr_t number)
{
    return lbx_producer_try_send(box->in, message_of(number));
}

lbx_status
box_take(struct box *box, intptr_t *ret)
{
    void *message;
    lbx_status status = lbx_consumer_try_receive(box->out, &message);

    if (status == LBX_OK)
        *ret = number_of(message);
    return status;
}

void
box_fill(struct box *box, intptr_t first, intptr_t last)
{
    for (intptr_t number = first; number <= last; number++)
        CHECK_OK(box_send(box, number));
}

lbx_status
box_post(struct box *box, lbx_envelope envelope, lbx_send_result *ret_result)
{
    return lbx_producer_try_send_envelope(box->in, &envelope, ret_result);
}

lbx_mailbox_stats
box_stats(struct box *box)
{
    lbx_mailbox_stats stats = LBX_MAILBOX_STATS_INIT;

    CHECK_OK(lbx_mailbox_stats_read(box->mailbox, &stats));
    return stats;
}

uint64_t
box_depth(struct box *box)
{
    return lbx_mailbox_depth(box->mailbox);
}

void
box_check_takes(const char *file, int line, struct box *box, const int *numbers,
                size_t count)
{
    for (size_t i = 0; i < count; i++) {
        intptr_t number = 0;

        test_check_status(file, line, "take", LBX_OK, box_take(box, &number));
        test_check_int(file, line, "the message taken", numbers[i], number);
    }
}

/* ---- Operations polled by hand ---- */

static void
count_wake(void *context)
{
    atomic_int *wakes = context;

    atomic_fetch_add(wakes, 1);
}

void
waiter_init(struct waiter *waiter)
{
    memset(waiter, 0, sizeof(*waiter));
    waiter->waker = (lbx_waker){count_wake, &waiter->wakes};
}

void
waiter_send(struct waiter *waiter, struct box *box, intptr_t number,
            int64_t deadline_ns)
{
    waiter_init(waiter);
    CHECK_OK(lbx_producer_send_init(&waiter->operation, box->in,
                                    message_of(number), deadline_ns));
}

void
waiter_post(struct waiter *waiter, struct box *box, lbx_envelope envelope,
            int64_t deadline_ns)
{
    waiter_init(waiter);
    waiter->sent = envelope;
    waiter->result.size_bytes = sizeof(waiter->result);
    CHECK_OK(lbx_producer_send_envelope_init(&waiter->operation, box->in,
                                             &waiter->sent, deadline_ns,
                                             &waiter->result));
}

void
waiter_receive(struct waiter *waiter, struct box *box, int64_t deadline_ns)
{
    waiter_init(waiter);
    CHECK_OK(lbx_consumer_receive_init(&waiter->operation, box->out,
                                       &waiter->message, deadline_ns));
}

void
waiter_send_pending(struct waiter *waiter, struct box *box, intptr_t number)
{
    waiter_send(waiter, box, number, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, waiter_poll(waiter));
}

void
waiter_receive_pending(struct waiter *waiter, struct box *box)
{
    waiter_receive(waiter, box, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, waiter_poll(waiter));
}

lbx_status
waiter_poll(struct waiter *waiter)
{
    return lbx_operation_poll(&waiter->operation, &waiter->waker);
}

void
waiter_fini(struct waiter *waiter)
{
    lbx_operation_fini(&waiter->operation);
}

/* ---- Sinks that remember ---- */

static void
remember_loss(void *context, const lbx_loss *loss)
{
    struct losses *losses = context;
    size_t room = sizeof(losses->envelopes) / sizeof(losses->envelopes[0]);

    if (losses->count < room) {
        losses->envelopes[losses->count] = *loss->envelope;
        losses->totals[losses->count] = loss->lost_messages;
    }
    losses->mailbox_name = loss->mailbox_name;
    losses->count++;
}

lbx_loss_sink
losses_sink(struct losses *losses)
{
    return (lbx_loss_sink){remember_loss, losses};
}

static void
remember_event(void *context, const lbx_metric_event *event)
{
    struct events *events = context;
    size_t room = sizeof(events->list) / sizeof(events->list[0]);

    if (events->count < room)
        events->list[events->count++] = *event;
}

void
events_watch(struct events *events, struct box *box)
{
    lbx_metrics_sink sink = {remember_event, events};

    CHECK_OK(lbx_mailbox_set_metrics_sink(box->mailbox, &sink));
}

size_t
events_count(const struct events *events, lbx_metric metric)
{
    size_t count = 0;

    for (size_t i = 0; i < events->count; i++)
        count += events->list[i].metric == metric;
    return count;
}

lbx_metric_event
events_last(const struct events *events, lbx_metric metric)
{
    for (size_t i = events->count; i > 0; i--) {
        if (events->list[i - 1].metric == metric)
            return events->list[i - 1];
    }
    FAIL("there was no event %d", (int)metric);
}

/* ---- A kind whose storage answers what the test wants ---- */

enum {
    SHELF_SLOTS = 16
};

struct shelf {
    struct fussy *owner;
    size_t head;
    size_t count;
    lbx_envelope slots[SHELF_SLOTS];
};

static struct shelf the_shelf; // each test is a process of its own

static lbx_status
shelf_create(void *kind_context, const lbx_mailbox_options *options,
             void **ret_storage)
{
    (void)options;
    the_shelf = (struct shelf){.owner = kind_context};
    *ret_storage = &the_shelf;
    return LBX_OK;
}

static void
shelf_destroy(void *storage)
{
    struct shelf *shelf = storage;

    CHECK_INT(0, shelf->count); // the mailbox emptied it first
}

static lbx_status
shelf_push(void *storage, const lbx_envelope *envelope)
{
    struct shelf *shelf = storage;

    if (shelf->owner->answer != LBX_OK)
        return shelf->owner->answer;
    if (shelf->count == SHELF_SLOTS)
        return LBX_FULL;
    shelf->slots[(shelf->head + shelf->count++) % SHELF_SLOTS] = *envelope;
    return LBX_OK;
}

static bool
shelf_pop(void *storage, lbx_envelope *ret)
{
    struct shelf *shelf = storage;

    if (shelf->count == 0)
        return false;
    *ret = shelf->slots[shelf->head++ % SHELF_SLOTS];
    shelf->count--;
    return true;
}

static const lbx_kind_ops shelf_ops = {
    .size_bytes = sizeof(lbx_kind_ops),
    .create = shelf_create,
    .destroy = shelf_destroy,
    .push = shelf_push,
    .pop = shelf_pop,
};

lbx_kind_ops
fussy_ops(void)
{
    return shelf_ops;
}

struct box
fussy_create(struct fussy *fussy, int64_t capacity_messages,
             lbx_overflow overflow)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;

    *fussy = (struct fussy){.answer = LBX_OK};
    CHECK_OK(lbx_kind_registry_create(NULL, &fussy->kinds));
    CHECK_OK(
        lbx_kind_registry_add(fussy->kinds, FUSSY_KIND, &shelf_ops, fussy));
    options.kinds = fussy->kinds;
    options.capacity_messages = capacity_messages;
    options.overflow = overflow;
    return box_create(FUSSY_KIND, &options);
}

void
fussy_destroy(struct fussy *fussy, struct box *box)
{
    box_destroy(box);
    lbx_kind_registry_destroy(fussy->kinds);
}
