/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A8: for every call that may allocate, allocation k fails for k = 1, 2, ...
 * until none is left to fail. Each time the call says LBX_NO_MEMORY, nothing
 * has changed, nothing leaks, and the object works once there is memory again.
 *
 * And its counterpart: what must not need memory, does not.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "mailbox/fixture.h"
#include "support/torture.h"

// A mailbox and the memory it lives in.
struct nest {
    lbx_allocator allocator;
    struct torture *memory;
    struct box box;
};

// Makes the mailbox, or returns false when that failed as it should.
static bool
nest_make(struct nest *nest, struct torture *memory, const char *kind,
          lbx_mailbox_options options)
{
    lbx_fault fault = {LBX_OK, ""};
    lbx_status status;

    *nest = (struct nest){torture_allocator(memory), memory, {0}};
    nest->box.in = letter(1);
    nest->box.out = letter(2);
    options.allocator = &nest->allocator;
    options.fault = &fault;
    status = lbx_mailbox_create(kind, &options, &nest->box.in, &nest->box.out);
    if (status == LBX_OK) {
        nest->box.mailbox = lbx_producer_mailbox(nest->box.in);
        return true;
    }
    CHECK_STATUS(LBX_NO_MEMORY, status);
    CHECK_STATUS(LBX_NO_MEMORY, fault.status);
    CHECK_PTR(letter(1), nest->box.in); // outputs are written on success only
    CHECK_PTR(letter(2), nest->box.out);
    CHECK_INT(0, memory->live_blocks);
    return false;
}

// From here on there is enough memory.
static void
relent(struct torture *memory)
{
    memory->allowed = LONG_MAX;
}

// From here on there is none.
static void
starve(struct torture *memory)
{
    memory->allowed = 0;
    memory->once = false;
}

// The bodies take a void *, kinds are const.
static long
torture_kind(torture_body *body, const char *kind)
{
    char name[64];

    CHECK(strlen(kind) < sizeof(name));
    memcpy(name, kind, strlen(kind) + 1);
    return torture_every_allocation(body, name);
}

// ---- Creation ----

static void
create_body(struct torture *memory, void *context)
{
    struct nest nest;

    if (!nest_make(&nest, memory, context, options_for(context, 100)))
        return;
    relent(memory);
    box_send_numbers(&nest.box, 1, 10);
    CHECK_RECEIVES(&nest.box, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    box_end(&nest.box);
}

static void
creation_survives_every_failing_allocation(const char *kind)
{
    CHECK(torture_kind(create_body, kind) > 0);
}

EVERY_KIND(KIND_TEST, creation_survives_every_failing_allocation)

// ---- Sends ----

enum {
    MANY = 5000 // crosses segments, rings of blocks and heap doublings
};

// Sends; when that fails for want of memory, nothing has changed, and it
// works with memory.
static void
send_or_retry(struct nest *nest, const lbx_envelope *envelope)
{
    lbx_mailbox_stats before = box_stats(&nest->box);
    lbx_mailbox_stats after;
    lbx_status status =
        lbx_producer_try_send_envelope(nest->box.in, envelope, NULL);

    if (status == LBX_OK)
        return;
    CHECK_STATUS(LBX_NO_MEMORY, status);
    after = box_stats(&nest->box);
    CHECK_INT(before.depth, after.depth);
    CHECK_INT(before.accepted, after.accepted);
    CHECK_INT(before.capacity_messages, after.capacity_messages);
    CHECK_INT(before.lost, after.lost);
    CHECK(!lbx_mailbox_is_closed(nest->box.mailbox));
    relent(nest->memory);
    CHECK_OK(lbx_producer_try_send_envelope(nest->box.in, envelope, NULL));
}

static void
send_body(struct torture *memory, void *context)
{
    struct nest nest;

    if (!nest_make(&nest, memory, context, options_for(context, MANY)))
        return;
    for (int number = 1; number <= MANY; number++) {
        lbx_envelope envelope =
            lbx_envelope_with_default_priority(letter(number));

        send_or_retry(&nest, &envelope);
    }
    relent(memory);
    for (int number = 1; number <= MANY; number++)
        CHECK_INT(number, box_next(&nest.box));
    CHECK_NOTHING(&nest.box);
    box_end(&nest.box);
}

static void
sends_survive_every_failing_allocation(const char *kind)
{
    CHECK(torture_kind(send_body, kind) > 0);
}

EVERY_KIND(KIND_TEST, sends_survive_every_failing_allocation)

static void
plain_send_body(struct torture *memory, void *context)
{
    lbx_mailbox_options options = plain_options();
    struct nest nest;

    if (kind_is_limited(context))
        options.capacity_messages = MANY;
    if (!nest_make(&nest, memory, context, options))
        return;
    for (int number = 1; number <= MANY; number++) {
        lbx_status status = lbx_producer_try_send(nest.box.in, letter(number));

        if (status == LBX_OK)
            continue;
        CHECK_STATUS(LBX_NO_MEMORY, status);
        CHECK_INT(number - 1, lbx_mailbox_depth(nest.box.mailbox));
        relent(memory);
        box_send(&nest.box, number);
    }
    for (int number = 1; number <= MANY; number++)
        CHECK_INT(number, box_next(&nest.box));
    box_end(&nest.box);
}

// The one-word lanes are other code than the envelope lanes.
static void
plain_sends_survive_every_failing_allocation(const char *kind)
{
    CHECK(torture_kind(plain_send_body, kind) > 0);
}

KIND_TEST(unbounded, LBX_KIND_UNBOUNDED,
          plain_sends_survive_every_failing_allocation)
KIND_TEST(single_consumer, LBX_KIND_UNBOUNDED_SINGLE_CONSUMER,
          plain_sends_survive_every_failing_allocation)
KIND_TEST(bounded, LBX_KIND_BOUNDED,
          plain_sends_survive_every_failing_allocation)
KIND_TEST(unbounded_priority, LBX_KIND_UNBOUNDED_PRIORITY,
          plain_sends_survive_every_failing_allocation)

static void
system_body(struct torture *memory, void *context)
{
    lbx_mailbox_options options = options_for(context, 10);
    struct nest nest;

    options.system_reservation = LBX_UNLIMITED;
    if (!nest_make(&nest, memory, context, options))
        return;
    for (int number = 1; number <= MANY; number++) {
        lbx_envelope envelope = lbx_envelope_from_system(
            lbx_system_message_of(LBX_SYSTEM_CODE_STOP), letter(number));

        send_or_retry(&nest, &envelope);
    }
    for (int number = 1; number <= MANY; number++)
        CHECK_INT(number, box_next(&nest.box));
    box_end(&nest.box);
}

// The first one may have to make its lane.
static void
system_sends_survive_every_failing_allocation(const char *kind)
{
    CHECK(torture_kind(system_body, kind) > 0);
}

EVERY_KIND(KIND_CITING, "R-08", system_sends_survive_every_failing_allocation)

static void
control_body(struct torture *memory, void *context)
{
    lbx_mailbox_options options = options_for(context, 10);
    struct nest nest;

    options.control_capacity = LBX_UNLIMITED;
    if (!nest_make(&nest, memory, context, options))
        return;
    for (int number = 1; number <= MANY; number++) {
        lbx_envelope envelope = lbx_envelope_control(letter(number), 0);

        send_or_retry(&nest, &envelope);
    }
    for (int number = 1; number <= MANY; number++)
        CHECK_INT(number, box_next(&nest.box));
    box_end(&nest.box);
}

static void
control_sends_survive_every_failing_allocation(const char *kind)
{
    CHECK(torture_kind(control_body, kind) > 0);
}

KIND_TEST(unbounded_control_aware, LBX_KIND_UNBOUNDED_CONTROL_AWARE,
          control_sends_survive_every_failing_allocation)
KIND_TEST(bounded_control_aware, LBX_KIND_BOUNDED_CONTROL_AWARE,
          control_sends_survive_every_failing_allocation)

static void
front_body(struct torture *memory, void *context)
{
    struct nest nest;

    if (!nest_make(&nest, memory, context, options_for(context, MANY)))
        return;
    for (int number = MANY; number >= 1; number--) {
        lbx_status status =
            lbx_producer_try_send_front(nest.box.in, letter(number));

        if (status == LBX_OK)
            continue;
        CHECK_STATUS(LBX_NO_MEMORY, status);
        CHECK_INT(MANY - number, lbx_mailbox_depth(nest.box.mailbox));
        relent(memory);
        CHECK_OK(lbx_producer_try_send_front(nest.box.in, letter(number)));
    }
    for (int number = 1; number <= MANY; number++)
        CHECK_INT(number, box_next(&nest.box));
    box_end(&nest.box);
}

TEST(sends_to_the_front_survive_every_failing_allocation)
{
    CHECK(torture_kind(front_body, LBX_KIND_UNBOUNDED_DEQUE) > 0);
    CHECK(torture_kind(front_body, LBX_KIND_BOUNDED_DEQUE) > 0);
}

static void
batch_body(struct torture *memory, void *context)
{
    static void *messages[MANY];
    struct nest nest;
    size_t sent = 0;
    lbx_status status;

    for (int i = 0; i < MANY; i++)
        messages[i] = letter(i + 1);
    if (!nest_make(&nest, memory, context, options_for(context, MANY)))
        return;
    status = lbx_producer_try_send_batch(nest.box.in, messages, MANY, &sent);
    if (status != LBX_OK) {
        size_t rest = 0;

        CHECK_STATUS(LBX_NO_MEMORY, status);
        CHECK_INT(sent, lbx_mailbox_depth(nest.box.mailbox));
        relent(memory);
        CHECK_OK(lbx_producer_try_send_batch(nest.box.in, messages + sent,
                                             MANY - sent, &rest));
        sent += rest;
    }
    CHECK_INT(MANY, sent);
    for (int number = 1; number <= MANY; number++)
        CHECK_INT(number, box_next(&nest.box));
    box_end(&nest.box);
}

// How many went in is exact, also when memory ran out in the middle.
static void
batches_survive_every_failing_allocation(const char *kind)
{
    CHECK(torture_kind(batch_body, kind) > 0);
}

EVERY_KIND(KIND_TEST, batches_survive_every_failing_allocation)

static void
grow_body(struct torture *memory, void *context)
{
    lbx_mailbox_options options = limited_options(1, LBX_OVERFLOW_GROW);
    struct nest nest;

    if (!nest_make(&nest, memory, context, options))
        return;
    for (int number = 1; number <= 1000; number++) {
        lbx_envelope envelope =
            lbx_envelope_with_default_priority(letter(number));

        send_or_retry(&nest, &envelope);
    }
    CHECK_INT(1024, lbx_mailbox_capacity(nest.box.mailbox));
    for (int number = 1; number <= 1000; number++)
        CHECK_INT(number, box_next(&nest.box));
    box_end(&nest.box);
}

// A capacity that could not be doubled stays as it was.
static void
growing_survives_every_failing_allocation(const char *kind)
{
    CHECK(torture_kind(grow_body, kind) > 0);
}

LIMITED_KINDS(KIND_TEST, growing_survives_every_failing_allocation)

// ---- Waiting sends ----

static void
hand_over_body(struct torture *memory, void *context)
{
    lbx_mailbox_options options = options_for(context, 2);
    struct sender senders[3];
    struct nest nest;
    int in = 0;
    int out = 0;

    options.overflow = LBX_OVERFLOW_BLOCK;
    if (!nest_make(&nest, memory, context, options))
        return;
    for (int i = 0; i < 2; i++) {
        lbx_envelope envelope =
            lbx_envelope_with_default_priority(letter(i + 1));

        send_or_retry(&nest, &envelope);
    }
    for (int i = 0; i < 3; i++)
        sender_wait(&senders[i], &nest.box, i + 3);
    while (box_look(&nest.box) == LBX_OK)
        out++;
    for (int i = 0; i < 3; i++) {
        lbx_status status = sender_poll(&senders[i]);

        CHECK(status == LBX_OK || status == LBX_NO_MEMORY);
        in += status == LBX_OK;
        lbx_operation_fini(&senders[i].operation);
    }
    CHECK_INT(2 + in, out); // wholly in or wholly out
    CHECK_INT(0, box_stats(&nest.box).waiting_senders);
    box_end(&nest.box);
}

// WAIT-4 without memory: who makes room moves the message in, or tells its sender
// that it could not; nobody waits for ever.
static void
hand_over_survives_every_failing_allocation(const char *kind)
{
    (void)torture_kind(hand_over_body, kind);
}

LIMITED_KINDS(KIND_CITING, "WAIT-4",
              hand_over_survives_every_failing_allocation)

// ---- What must need no memory ----

static void
keep_number(void *context, const lbx_envelope *envelope)
{
    int *expected = context;

    CHECK_INT(*expected, number_of(envelope->message));
    ++*expected;
}

// Whoever wants to get rid of a mailbox for want of memory must be able to.
static void
receives_and_ends_without_memory(const char *kind)
{
    struct torture memory = TORTURE_INIT;
    lbx_mailbox_options options = options_for(kind, MANY);
    struct losses losses = {.count = 0};
    struct receiver receiver;
    struct nest nest;
    lbx_operation flush;
    int expected = 4;

    options.loss_sink = losses_sink(&losses);
    CHECK(nest_make(&nest, &memory, kind, options));
    box_send_numbers(&nest.box, 1, MANY);
    starve(&memory);
    CHECK_INT(1, box_next(&nest.box));
    CHECK(lbx_mailbox_suspend(nest.box.mailbox));
    receiver_wait(&receiver, &nest.box);
    CHECK(lbx_mailbox_resume(nest.box.mailbox));
    receiver_check(&receiver, 2);
    CHECK_OK(lbx_mailbox_flush_init(&flush, nest.box.mailbox, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&flush, NULL));
    CHECK_INT(3, box_next(&nest.box));
    CHECK_OK(lbx_mailbox_close_into(nest.box.mailbox, keep_number, &expected));
    CHECK_INT(MANY + 1, expected);
    CHECK_OK(lbx_operation_poll(&flush, NULL));
    lbx_operation_fini(&flush);
    box_end(&nest.box);
    CHECK_INT(0, losses.count);
    CHECK_INT(0, memory.live_blocks);
}

EVERY_KIND(KIND_CITING, "MSG-6 MSG-7", receives_and_ends_without_memory)

// Sorting may need memory (PRIOQ-3 of queue/priority_queue.h): without it the order may
// suffer, but every message comes out, once, and order returns with memory.
TEST(priority_kind_without_memory_loses_order_but_no_message)
{
    static bool seen[MANY + 1];
    struct torture memory = TORTURE_INIT;
    struct nest nest;

    CHECK(nest_make(&nest, &memory, LBX_KIND_UNBOUNDED_PRIORITY,
                    plain_options()));
    for (int number = 1; number <= MANY; number++)
        box_send_envelope(&nest.box, lbx_envelope_of(letter(number), -number));
    starve(&memory);
    for (int i = 0; i < MANY / 2; i++)
        seen[box_next(&nest.box)] = true;
    relent(&memory);
    for (int number = MANY; number >= 1; number--) {
        if (!seen[number])
            CHECK_INT(number, box_next(&nest.box));
    }
    CHECK_NOTHING(&nest.box);
    box_end(&nest.box);
}

// DROP_OLDEST trades one message for another: nothing new is needed.
static void
drops_the_oldest_without_memory(const char *kind)
{
    struct torture memory = TORTURE_INIT;
    lbx_mailbox_options options = options_for(kind, 10);
    struct losses losses = {.count = 0};
    struct nest nest;

    options.overflow = LBX_OVERFLOW_DROP_OLDEST;
    options.loss_sink = losses_sink(&losses);
    CHECK(nest_make(&nest, &memory, kind, options));
    box_send_numbers(&nest.box, 1, 10);
    starve(&memory);
    box_send_numbers(&nest.box, 11, 50);
    CHECK_INT(40, losses.count);
    CHECK_INT(41, box_next(&nest.box));
    box_end(&nest.box);
    CHECK_INT(0, memory.live_blocks);
}

LIMITED_KINDS(KIND_TEST, drops_the_oldest_without_memory)

// MSG-1: what the dead letters have no memory for is destroyed, once.
static void
dead_letter_body(struct torture *memory, void *context)
{
    lbx_mailbox_options options = limited_options(1, LBX_OVERFLOW_DROP_NEWEST);
    _Atomic int ended = 0;
    struct nest dead;
    struct box box;
    uint64_t kept;

    (void)context;
    if (!nest_make(&dead, memory, LBX_KIND_UNBOUNDED, envelope_options()))
        return;
    options.envelopes = true;
    options.dead_letters = dead.box.in;
    options.destroy = destroy_counting;
    options.destroy_context = &ended;
    box = box_make(LBX_KIND_BOUNDED, &options);
    box_send_numbers(&box, 0, MANY); // one stays
    kept = lbx_mailbox_depth(dead.box.mailbox);
    CHECK_INT(MANY, (int)kept + ended);
    box_end(&box);
    box_end(&dead.box);
}

TEST(dead_letters_without_memory_lose_nothing_twice)
{
    CHECK(torture_every_allocation(dead_letter_body, NULL) > 0);
}

// ---- Signals, sinks, hooks ----

static void
signal_body(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    lbx_signal *signal = letter(7);
    lbx_status status = lbx_signal_create(&allocator, NULL, &signal);

    (void)context;
    if (status != LBX_OK) {
        CHECK_STATUS(LBX_NO_MEMORY, status);
        CHECK_PTR(letter(7), signal);
        return;
    }
    lbx_signal_notify(signal);
    CHECK_OK(lbx_signal_wait_until(signal, 0));
    lbx_signal_unref(signal);
}

TEST(signal_creation_survives_every_failing_allocation)
{
    CHECK(torture_every_allocation(signal_body, NULL) > 0);
}

static void
consumer_signal_body(struct torture *memory, void *context)
{
    lbx_signal *signal = letter(7);
    lbx_status status;
    struct nest nest;

    (void)context;
    if (!nest_make(&nest, memory, LBX_KIND_UNBOUNDED, plain_options()))
        return;
    status = lbx_consumer_signal(nest.box.out, &signal);
    if (status != LBX_OK) {
        CHECK_STATUS(LBX_NO_MEMORY, status);
        CHECK_PTR(letter(7), signal);
        relent(memory);
        CHECK_OK(lbx_consumer_signal(nest.box.out, &signal));
    }
    relent(memory);
    box_send(&nest.box, 1);
    CHECK_OK(lbx_signal_wait_until(signal, 0));
    lbx_signal_unref(signal);
    box_end(&nest.box);
}

TEST(signal_of_a_mailbox_survives_every_failing_allocation)
{
    CHECK(torture_every_allocation(consumer_signal_body, NULL) > 0);
}

static void
count_ready(void *context, lbx_mailbox *mailbox)
{
    (void)mailbox;
    ++*(int *)context;
}

static void
observe_body(struct torture *memory, void *context)
{
    struct events events = {.count = 0};
    lbx_metrics_sink sink = events_sink(&events);
    int ready = 0;
    lbx_scheduler_hook hook = {count_ready, &ready};
    lbx_status status;
    struct nest nest;

    if (!nest_make(&nest, memory, context, options_for(context, 10)))
        return;
    status = lbx_mailbox_set_metrics_sink(nest.box.mailbox, &sink);
    if (status != LBX_OK) {
        CHECK_STATUS(LBX_NO_MEMORY, status);
        CHECK_INT(0, events.count);
        relent(memory);
        CHECK_OK(lbx_mailbox_set_metrics_sink(nest.box.mailbox, &sink));
    }
    status = lbx_mailbox_set_scheduler_hook(nest.box.mailbox, &hook);
    if (status != LBX_OK) {
        CHECK_STATUS(LBX_NO_MEMORY, status);
        relent(memory);
        CHECK_OK(lbx_mailbox_set_scheduler_hook(nest.box.mailbox, &hook));
    }
    relent(memory);
    box_send(&nest.box, 1);
    CHECK_INT(1, events_of(&events, LBX_METRIC_ENQUEUED));
    CHECK_INT(1, ready);
    box_end(&nest.box);
}

static void
watching_survives_every_failing_allocation(const char *kind)
{
    CHECK(torture_kind(observe_body, kind) > 0);
}

EVERY_KIND(KIND_TEST, watching_survives_every_failing_allocation)

// ---- Kinds and types ----

// A queue of one, in the mailbox's own memory.
struct cup {
    const lbx_allocator *allocator;
    lbx_envelope envelope;
    bool is_full;
};

static lbx_status
cup_create(void *kind_context, const lbx_mailbox_options *options,
           void **ret_storage)
{
    const lbx_allocator *allocator = options->allocator;
    struct cup *cup = allocator->allocate(allocator->context, sizeof(*cup),
                                          _Alignof(struct cup));

    (void)kind_context;
    if (!cup)
        return LBX_NO_MEMORY;
    *cup = (struct cup){.allocator = allocator};
    *ret_storage = cup;
    return LBX_OK;
}

static void
cup_destroy(void *storage)
{
    struct cup *cup = storage;
    const lbx_allocator *allocator = cup->allocator;

    CHECK(!cup->is_full);
    allocator->release(allocator->context, cup, sizeof(*cup));
}

static lbx_status
cup_push(void *storage, const lbx_envelope *envelope)
{
    struct cup *cup = storage;

    if (cup->is_full)
        return LBX_FULL;
    cup->envelope = *envelope;
    cup->is_full = true;
    return LBX_OK;
}

static bool
cup_pop(void *storage, lbx_envelope *ret)
{
    struct cup *cup = storage;

    if (!cup->is_full)
        return false;
    *ret = cup->envelope;
    cup->is_full = false;
    return true;
}

static const lbx_kind_ops cup_ops = {
    .version = LBX_KIND_OPS_VERSION,
    .create = cup_create,
    .destroy = cup_destroy,
    .push = cup_push,
    .pop = cup_pop,
};

static void
registry_body(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    lbx_kind_registry *kinds = letter(7);
    lbx_status status = lbx_kind_registry_create(&allocator, &kinds);
    char name[] = "cup-00";

    (void)context;
    if (status != LBX_OK) {
        CHECK_STATUS(LBX_NO_MEMORY, status);
        CHECK_PTR(letter(7), kinds);
        return;
    }
    for (int i = 0; i < 40; i++) {
        name[4] = (char)('0' + i / 10);
        name[5] = (char)('0' + i % 10);
        status = lbx_kind_registry_add(kinds, name, &cup_ops, NULL);
        if (status == LBX_OK)
            continue;
        CHECK_STATUS(LBX_NO_MEMORY, status);
        CHECK_INT(0, lbx_kind_registry_capabilities(kinds, name));
        relent(memory);
        CHECK_OK(lbx_kind_registry_add(kinds, name, &cup_ops, NULL));
    }
    CHECK(lbx_kind_registry_capabilities(kinds, "cup-00") != 0);
    CHECK(lbx_kind_registry_capabilities(kinds, "cup-39") != 0);
    lbx_kind_registry_destroy(kinds);
}

TEST(kinds_registry_survives_every_failing_allocation)
{
    CHECK(torture_every_allocation(registry_body, NULL) > 0);
}

// The storage was made, and then the mailbox could not be: it is given back.
static void
own_kind_body(struct torture *memory, void *context)
{
    lbx_mailbox_options options = plain_options();
    struct nest nest;

    options.kinds = context;
    if (!nest_make(&nest, memory, "cup", options))
        return;
    relent(memory);
    box_send(&nest.box, 1);
    CHECK_STATUS(LBX_FULL, lbx_producer_try_send(nest.box.in, letter(2)));
    CHECK_RECEIVES(&nest.box, 1);
    box_end(&nest.box);
}

TEST(own_kind_survives_every_failing_allocation)
{
    lbx_kind_registry *kinds;

    CHECK_OK(lbx_kind_registry_create(NULL, &kinds));
    CHECK_OK(lbx_kind_registry_add(kinds, "cup", &cup_ops, NULL));
    CHECK(torture_every_allocation(own_kind_body, kinds) > 1);
    lbx_kind_registry_destroy(kinds);
}

static void
type_body(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    const lbx_type *const *bases = context;
    lbx_type *type = letter(7);
    lbx_status status;

    options.name = "shop.Derived";
    options.bases = bases;
    options.base_count = 2;
    options.allocator = &allocator;
    status = lbx_type_create(&options, &type);
    if (status != LBX_OK) {
        CHECK_STATUS(LBX_NO_MEMORY, status);
        CHECK_PTR(letter(7), type);
        return;
    }
    CHECK(lbx_type_is_a(type, bases[0]));
    CHECK(lbx_type_is_a(type, bases[1]));
    CHECK_STR("shop.Derived", lbx_type_name(type));
    lbx_type_destroy(type);
}

TEST(type_creation_survives_every_failing_allocation)
{
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    const lbx_type *bases[2];
    lbx_type *first;
    lbx_type *second;

    options.name = "shop.First";
    CHECK_OK(lbx_type_create(&options, &first));
    options.name = "shop.Second";
    CHECK_OK(lbx_type_create(&options, &second));
    bases[0] = first;
    bases[1] = second;
    CHECK(torture_every_allocation(type_body, (void *)bases) > 0);
    lbx_type_destroy(first);
    lbx_type_destroy(second);
}

// Descriptors run out like memory does.
TEST(event_without_descriptors_is_out_of_memory)
{
    struct rlimit limit;
    lbx_event event;

    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = 0;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK_STATUS(LBX_NO_MEMORY, lbx_event_open(&event));
    limit.rlim_cur = limit.rlim_max;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK_OK(lbx_event_open(&event));
    lbx_event_close(&event);
}

// ---- Memory that fails now and then, under threads ----

struct flaky {
    _Atomic unsigned calls;
    _Atomic long live;
};

static void *
flaky_allocate(void *context, size_t size_bytes, size_t align_bytes)
{
    struct flaky *flaky = context;
    size_t align = align_bytes < sizeof(void *) ? sizeof(void *) : align_bytes;
    void *block = NULL;
    unsigned noise = (atomic_fetch_add(&flaky->calls, 1) + 1) * 2654435761u;

    noise = (noise ^ noise >> 15) * 2246822519u;
    if ((noise ^ noise >> 13) & 1)
        return NULL; // half of them, in no order
    if (posix_memalign(&block, align, size_bytes) != 0)
        return NULL;
    atomic_fetch_add(&flaky->live, 1);
    return block;
}

static void
flaky_release(void *context, void *block, size_t size_bytes)
{
    struct flaky *flaky = context;

    (void)size_bytes;
    atomic_fetch_sub(&flaky->live, 1);
    free(block);
}

enum {
    FLAKY_EACH = 6000,
    FLAKY_SENDERS = 3,
};

struct flaky_crowd {
    struct box box;
    _Atomic int sending;
    _Atomic unsigned char seen[FLAKY_SENDERS * FLAKY_EACH];
};

static void
send_through_flaky_memory(unsigned index, void *context)
{
    struct flaky_crowd *crowd = context;
    void *message = NULL;

    if (index == FLAKY_SENDERS) {
        while (lbx_consumer_receive(crowd->box.out, &message) == LBX_OK)
            atomic_fetch_add(&crowd->seen[number_of(message)], 1);
        return;
    }
    for (int i = 0; i < FLAKY_EACH; i++) {
        void *mine = letter((int)index * FLAKY_EACH + i);
        lbx_status status = lbx_producer_try_send(crowd->box.in, mine);

        while (status == LBX_NO_MEMORY)
            status = lbx_producer_try_send(crowd->box.in, mine);
        CHECK_OK(status);
    }
    if (atomic_fetch_sub(&crowd->sending, 1) == 1)
        CHECK_OK(lbx_mailbox_close(crowd->box.mailbox, LBX_CLOSE_DRAIN));
}

// MSG-1 when half of all allocations fail while others send: a failed claim
// leaves no hole for the consumer to wait at.
static void
loses_nothing_in_flaky_memory(const char *kind)
{
    static struct flaky_crowd crowd;
    struct flaky flaky = {.calls = 0};
    lbx_allocator allocator = {flaky_allocate, flaky_release, &flaky};
    lbx_mailbox_options options = plain_options();
    lbx_status status;

    options.allocator = &allocator;
    do {
        status =
            lbx_mailbox_create(kind, &options, &crowd.box.in, &crowd.box.out);
    } while (status == LBX_NO_MEMORY && flaky.calls < 1000);
    CHECK_OK(status);
    crowd.box.mailbox = lbx_producer_mailbox(crowd.box.in);
    crowd.sending = FLAKY_SENDERS;
    threads_run(FLAKY_SENDERS + 1, send_through_flaky_memory, &crowd);
    for (int i = 0; i < FLAKY_SENDERS * FLAKY_EACH; i++)
        CHECK_INT(1, crowd.seen[i]);
    box_end(&crowd.box);
    CHECK_INT(0, flaky.live);
}

UNLIMITED_KINDS(KIND_CITING, "MSG-1", loses_nothing_in_flaky_memory)
