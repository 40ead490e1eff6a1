/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MSG-1 to MSG-8, one test or more for each, with threads where
 * threads matter.
 */
#include <stdlib.h>

#include "mailbox/fixture.h"
#include "support/torture.h"

enum {
    PRODUCERS = 4,
    CONSUMERS = 3,
    EACH = 1500,
    ALL = PRODUCERS * EACH,
};

struct crowd {
    struct box box;
    unsigned consumers;
    _Atomic int producing;
    _Atomic unsigned char seen[ALL];
};

// Consumers are the first threads, producers the rest; the last producer to
// finish closes.
static void
join_crowd(unsigned index, void *context)
{
    struct crowd *crowd = context;
    int last[PRODUCERS];
    void *message = NULL;

    for (int i = 0; i < PRODUCERS; i++)
        last[i] = -1;
    if (index < crowd->consumers) {
        while (lbx_consumer_receive(crowd->box.out, &message) == LBX_OK) {
            int number = number_of(message);

            CHECK(number >= 0 && number < ALL);                    // MSG-2
            CHECK(atomic_fetch_add(&crowd->seen[number], 1) == 0); // MSG-1
            CHECK(last[number / EACH] < number);                   // MSG-3
            last[number / EACH] = number;
        }
        return;
    }
    for (int i = 0; i < EACH; i++)
        CHECK_OK(lbx_producer_send(
            crowd->box.in, letter((int)(index - crowd->consumers) * EACH + i)));
    if (atomic_fetch_sub(&crowd->producing, 1) == 1)
        CHECK_OK(lbx_mailbox_close(crowd->box.mailbox, LBX_CLOSE_DRAIN));
}

// MSG-1, MSG-2, MSG-3: each message once, unharmed, in its producer's order.
static void
delivers_each_message_once_and_in_order(const char *kind)
{
    static struct crowd crowd;
    lbx_mailbox_options options = plain_options();
    unsigned capabilities = lbx_kind_registry_capabilities(NULL, kind);

    if (kind_is_limited(kind)) {
        options.capacity_messages = 16;
        options.overflow = LBX_OVERFLOW_BLOCK;
    }
    crowd.box = box_make(kind, &options);
    crowd.consumers =
        capabilities & LBX_CAPABILITY_MULTI_CONSUME ? CONSUMERS : 1;
    crowd.producing = PRODUCERS;
    threads_run(crowd.consumers + PRODUCERS, join_crowd, &crowd);
    for (int i = 0; i < ALL; i++)
        CHECK_INT(1, crowd.seen[i]);
    CHECK_INT(ALL, box_stats(&crowd.box).accepted);
    CHECK_INT(ALL, box_stats(&crowd.box).taken);
    box_end(&crowd.box);
}

EVERY_KIND(KIND_CITING, "MSG-1 MSG-2 MSG-3",
           delivers_each_message_once_and_in_order)

struct torn {
    struct box box;
    _Atomic int sending;
};

static void
send_whole(unsigned index, void *context)
{
    struct torn *torn = context;

    for (int i = 1; i <= 1000; i++) {
        lbx_envelope envelope =
            lbx_envelope_of(letter(i), (int32_t)(i * 7 + (int)index));
        lbx_envelope got;

        if (index < 2) {
            envelope.sender = letter(i * 3);
            envelope.deadline_ns = LBX_FOREVER - i;
            box_send_envelope(&torn->box, envelope);
            continue;
        }
        CHECK_OK(lbx_consumer_receive_envelope_until(torn->box.out, &got,
                                                     LBX_FOREVER));
        int number = number_of(got.message);

        CHECK_INT(number * 3, number_of(got.sender));
        CHECK_INT(LBX_FOREVER - number, got.deadline_ns);
        CHECK(got.priority == number * 7 || got.priority == number * 7 + 1);
    }
}

// MSG-2: an envelope is many words; no receiver sees half of one.
static void
delivers_no_torn_envelopes(const char *kind)
{
    lbx_mailbox_options options = options_for(kind, 4096);
    struct torn torn = {.sending = 2};

    torn.box = box_make(kind, &options);
    threads_run(4, send_whole, &torn);
    CHECK_NOTHING(&torn.box);
    box_end(&torn.box);
}

KIND_CITING(unbounded, LBX_KIND_UNBOUNDED, "MSG-2", delivers_no_torn_envelopes)
KIND_CITING(unbounded_priority, LBX_KIND_UNBOUNDED_PRIORITY, "MSG-2",
            delivers_no_torn_envelopes)
LIMITED_KINDS(KIND_CITING, "MSG-2", delivers_no_torn_envelopes)

struct watch {
    struct box box;
    _Atomic int running;
    int64_t capacity;
};

static void
press_and_watch(unsigned index, void *context)
{
    struct watch *watch = context;
    void *message;
    int moved = 0;

    if (index == 0) {
        while (watch->running > 0)
            CHECK(lbx_mailbox_depth(watch->box.mailbox) <=
                  (uint64_t)watch->capacity);
        return;
    }
    for (int i = 0; i < 3000; i++) {
        moved += lbx_producer_try_send(watch->box.in, letter(i)) == LBX_OK;
        if (i % 2 == 0 &&
            lbx_consumer_try_receive(watch->box.out, &message) == LBX_OK)
            moved++;
    }
    CHECK(moved > 0);
    atomic_fetch_sub(&watch->running, 1);
}

// MSG-5: count never above the bound, as seen by anyone at any time.
static void
never_holds_more_than_its_capacity(const char *kind)
{
    const lbx_overflow policies[] = {LBX_OVERFLOW_REJECT,
                                     LBX_OVERFLOW_DROP_OLDEST};

    for (size_t i = 0; i < 2; i++) {
        lbx_mailbox_options options = limited_options(3, policies[i]);
        struct watch watch = {.running = 2, .capacity = 3};

        watch.box = box_make(kind, &options);
        threads_run(3, press_and_watch, &watch);
        CHECK(lbx_mailbox_depth(watch.box.mailbox) <= 3);
        box_end(&watch.box);
    }
}

LIMITED_KINDS(KIND_CITING, "MSG-5", never_holds_more_than_its_capacity)

// MSG-4: a completely sent more urgent message is chosen first, FIFO inside.
BOX_TEST("MSG-4 R-04", priorities_come_out_sorted_and_stable,
         box_make(LBX_KIND_UNBOUNDED_PRIORITY, NULL))
{
    unsigned random = 12345;
    int last_priority = 0;
    int last_number = -1;

    for (int number = 0; number < 5000; number++) {
        random = random * 1103515245u + 12345u;
        box_send_envelope(
            box, lbx_envelope_of(letter(number), (int32_t)(random >> 16) % 20));
    }
    for (int i = 0; i < 5000; i++) {
        lbx_envelope envelope;

        CHECK_OK(lbx_consumer_try_receive_envelope(box->out, &envelope));
        CHECK(envelope.priority >= last_priority);
        if (envelope.priority == last_priority)
            CHECK(number_of(envelope.message) > last_number);
        last_priority = envelope.priority;
        last_number = number_of(envelope.message);
    }
    CHECK_NOTHING(box);
}

// MSG-6: a ring is made once; sends and receives touch no allocator.
static void
allocates_nothing_after_creation(const char *kind)
{
    TORTURE(memory, allocator);
    lbx_mailbox_options options = limited_options(8, LBX_OVERFLOW_REJECT);
    struct box box;
    long before;

    options.allocator = &allocator;
    box = box_make(kind, &options);
    before = memory.allocations;
    for (int round = 0; round < 1000; round++) {
        box_send_numbers(&box, 1, 8);
        CHECK_STATUS(LBX_FULL, lbx_producer_try_send(box.in, letter(9)));
        for (int number = 1; number <= 8; number++)
            CHECK_INT(number, box_next(&box));
        CHECK_NOTHING(&box);
    }
    CHECK_INT(before, memory.allocations);
    box_end(&box);
    CHECK_INT(0, memory.live_blocks);
}

KIND_CITING(bounded, LBX_KIND_BOUNDED, "MSG-6",
            allocates_nothing_after_creation)

// MSG-6 for the others: drained segments are used again.
static void
uses_its_memory_again(const char *kind)
{
    TORTURE(memory, allocator);
    size_t after_first_round = 0;
    struct box box = BOX(kind, plain_options(), with.allocator = &allocator);

    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 10000; i++) {
            box_send(&box, i);
            CHECK_INT(i, box_next(&box));
        }
        if (round == 0)
            after_first_round = memory.most_bytes;
    }
    CHECK_INT(after_first_round, memory.most_bytes);
    box_end(&box);
    CHECK_INT(0, memory.live_blocks);
}

EVERY_KIND(KIND_CITING, "MSG-6", uses_its_memory_again)

// A burst does not keep its memory for ever (at most 2 MiB).
TEST(memory_of_a_burst_is_given_back)
{
    enum {
        BURST = 300000
    };
    TORTURE(memory, allocator);
    struct box box =
        BOX(LBX_KIND_UNBOUNDED, plain_options(), with.allocator = &allocator);

    box_send_numbers(&box, 1, BURST);
    CHECK(memory.live_bytes >= BURST * sizeof(void *));
    for (int number = 1; number <= BURST; number++)
        CHECK_INT(number, box_next(&box));
    CHECK(memory.live_bytes < 1024 * 1024);
    box_end(&box);
    CHECK_INT(0, memory.live_blocks);
}

// MSG-7: every kind, every lane, freed exactly once (the allocator checks).
static void
frees_everything_whatever_is_left_inside(const char *kind)
{
    for (int left = 0; left < 5000; left = left * 3 + 1) {
        TORTURE(memory, allocator);
        _Atomic int ended = 0;
        struct box box =
            BOX(kind, options_for(kind, 5000), with.allocator = &allocator,
                with.destroy = destroy_counting, with.destroy_context = &ended);

        for (int i = 0; i < left; i++) {
            box_send(&box, i);
            if (i % 4 == 3)
                (void)box_next(&box);
        }
        box_send_system(&box, 1);
        box_end(&box);
        CHECK_INT(left - left / 4 + 1, ended);
        CHECK_INT(0, memory.live_blocks);
    }
}

EVERY_KIND(KIND_CITING, "MSG-7", frees_everything_whatever_is_left_inside)

// MSG-8: tickets, segments and sequences go round many times.
static void
counts_on_past_every_internal_counter(const char *kind)
{
    lbx_mailbox_options options = plain_options();
    int rounds = test_is_sanitized() ? 300000 : 5000000;
    LOCAL_BOX(box);

    if (kind_is_limited(kind))
        options.capacity_messages = 3;
    box = box_make(kind, &options);
    box_send(&box, 0);
    for (int i = 1; i <= rounds; i++) {
        box_send(&box, i);
        CHECK_INT(i - 1, box_next(&box));
    }
    CHECK_INT(1, lbx_mailbox_depth(box.mailbox));
    CHECK_INT(rounds + 1, box_stats(&box).accepted);
    CHECK_INT(rounds, box_stats(&box).taken);
    CHECK_RECEIVES(&box, rounds);
}

KIND_CITING(unbounded, LBX_KIND_UNBOUNDED, "MSG-8",
            counts_on_past_every_internal_counter)
KIND_CITING(single_consumer, LBX_KIND_UNBOUNDED_SINGLE_CONSUMER, "MSG-8",
            counts_on_past_every_internal_counter)
KIND_CITING(bounded, LBX_KIND_BOUNDED, "MSG-8",
            counts_on_past_every_internal_counter)

struct payload {
    int number;
    int twice;
};

static void
pass_payloads(unsigned index, void *context)
{
    struct box *box = context;

    for (int i = 0; i < 2000; i++) {
        struct payload *payload;
        void *message = NULL;

        if (index == 0) {
            payload = malloc(sizeof(*payload));
            CHECK(payload != NULL);
            *payload = (struct payload){i, 2 * i};
            CHECK_OK(lbx_producer_send(box->in, payload));
            continue;
        }
        CHECK_OK(lbx_consumer_receive(box->out, &message));
        payload = message;
        CHECK_INT(i, payload->number);
        CHECK_INT(2 * i, payload->twice);
        free(payload);
    }
}

// WAIT-2: what was written before a send is seen after its receive. TSan
// judges.
static void
hands_over_what_was_written_before(const char *kind)
{
    lbx_mailbox_options options = plain_options();
    LOCAL_BOX(box);

    if (kind_is_limited(kind)) {
        options.capacity_messages = 2;
        options.overflow = LBX_OVERFLOW_BLOCK;
    }
    box = box_make(kind, &options);
    threads_run(2, pass_payloads, &box);
}

EVERY_KIND(KIND_CITING, "WAIT-2", hands_over_what_was_written_before)
