/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals, sinks, hooks, kinds and types survive the failure of every
 * allocation: LBX_NO_MEMORY, outputs unwritten, and success with memory.
 */
#include <sys/resource.h>

#include "fault/nest.h"
#include "support/local.h"

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
        nest_relent(memory);
        CHECK_OK(lbx_consumer_signal(nest.box.out, &signal));
    }
    nest_relent(memory);
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
        nest_relent(memory);
        CHECK_OK(lbx_mailbox_set_metrics_sink(nest.box.mailbox, &sink));
    }
    status = lbx_mailbox_set_scheduler_hook(nest.box.mailbox, &hook);
    if (status != LBX_OK) {
        CHECK_STATUS(LBX_NO_MEMORY, status);
        nest_relent(memory);
        CHECK_OK(lbx_mailbox_set_scheduler_hook(nest.box.mailbox, &hook));
    }
    nest_relent(memory);
    box_send(&nest.box, 1);
    CHECK_INT(1, events_of(&events, LBX_METRIC_ENQUEUED));
    CHECK_INT(1, ready);
    box_end(&nest.box);
}

NEST_PROMISE(watching_survives_every_failing_allocation, observe_body)

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
    .size_bytes = sizeof(lbx_kind_ops),
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
        nest_relent(memory);
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

// The storage was made, and then the mailbox could not be: it is released.
static void
own_kind_body(struct torture *memory, void *context)
{
    lbx_mailbox_options options = plain_options();
    struct nest nest;

    options.kinds = context;
    if (!nest_make(&nest, memory, "cup", options))
        return;
    nest_relent(memory);
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
    LOCAL_TYPE(second);
    LOCAL_TYPE(first);

    options.name = "shop.First";
    CHECK_OK(lbx_type_create(&options, &first));
    options.name = "shop.Second";
    CHECK_OK(lbx_type_create(&options, &second));
    bases[0] = first;
    bases[1] = second;
    CHECK(torture_every_allocation(type_body, (void *)bases) > 0);
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
