/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must not need memory works without it, and what half of the allocations
 * fail for, under threads, loses no message.
 */
#include <stdlib.h>

#include "fault/nest.h"

static void
keep_number(void *context, const lbx_envelope *envelope)
{
    int *expected = context;

    CHECK_INT(*expected, number_of(envelope->message));
    ++*expected;
}

// A mailbox can be destroyed in order to free memory.
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
    nest_starve(&memory);
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

// Sorting may need memory (PRIOQ-3): without it the order may suffer, but every
// message comes out, once, and order returns with memory.
TEST(priority_kind_without_memory_loses_order_but_no_message)
{
    static bool seen[MANY + 1];
    struct torture memory = TORTURE_INIT;
    struct nest nest;

    CHECK(nest_make(&nest, &memory, LBX_KIND_UNBOUNDED_PRIORITY,
                    plain_options()));
    for (int number = 1; number <= MANY; number++)
        box_send_envelope(&nest.box, lbx_envelope_of(letter(number), -number));
    nest_starve(&memory);
    for (int i = 0; i < MANY / 2; i++)
        seen[box_next(&nest.box)] = true;
    nest_relent(&memory);
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
    nest_starve(&memory);
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
