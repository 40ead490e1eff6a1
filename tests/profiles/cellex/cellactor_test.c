/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cellactor: its mailbox, offer and poll futures, registry and pressure
 * events. Throughput limits and the state engine are a dispatcher's.
 */
#include "profiles/cellex/cellex.h"

#include "support/clock.h"
#include <letterbox/compat/cellex.h>

BOX_TEST("C-37", system_before_user, cellex_unbounded())
{
    CHECK_OK(box_send(box, 1));
    CHECK_OK(box_post(box, system_of(LBX_SYSTEM_CODE_STOP, 2), NULL));
    CHECK_OK(box_send(box, 3));
    CHECK_OK(box_post(box, system_of(LBX_SYSTEM_CODE_WATCH, 4), NULL));
    CHECK_TAKES(box, 2, 4, 1, 3);
}

BOX_TEST("R-16", suspended_dequeue_gives_nothing, cellex_unbounded())
{
    void *messages[2];
    size_t count = 9;

    box_fill(box, 1, 2);
    CHECK(lbx_mailbox_suspend(box->mailbox));
    CHECK_NOTHING(box);
    CHECK_STATUS(LBX_EMPTY,
                 lbx_consumer_try_receive_batch(box->out, messages, 2, &count));
    CHECK_INT(0, count);
    CHECK_INT(2, box_depth(box)); // held back, not gone
}

BOX_TEST("C-37 R-41", lengths_of_both_lanes, cellex_unbounded())
{
    box_fill(box, 1, 3);
    CHECK_OK(box_post(box, system_of(LBX_SYSTEM_CODE_WATCH, 4), NULL));
    CHECK_INT(4, box_depth(box));
    CHECK_INT(1, box_stats(box).system_depth);
    CHECK_TAKES(box, 4);
    CHECK_INT(3, box_depth(box));
    CHECK_INT(0, box_stats(box).system_depth);
}

/* Same priority or not: the system lane keeps the order of arrival. */
BOX_TEST("C-38", system_queue_is_fifo,
         BOX(LBX_KIND_UNBOUNDED, lbx_cellex_mailbox_options(),
             with.system_reservation = LBX_UNLIMITED))
{
    for (int i = 1; i <= 9; i++)
        CHECK_OK(box_post(box, system_of((lbx_system_code)i, i), NULL));
    CHECK_INT(9, box_stats(box).system_depth);
    CHECK_TAKES(box, 1, 2, 3, 4, 5, 6, 7, 8, 9);
}

BOX_TEST("C-23", offer_future_is_immediate_when_unbounded, cellex_unbounded())
{
    struct waiter offer;

    for (int i = 0; i < 100; i++) {
        waiter_send(&offer, box, i, LBX_FOREVER);
        CHECK_OK(waiter_poll(&offer));
        waiter_fini(&offer);
    }
    CHECK_INT(100, box_depth(box));
}

/* The deadline passes; the message comes back and can be sent elsewhere. */
TEST_CITING("C-23 R-02 R-12", offer_future_times_out_and_returns_the_message)
{
    struct test_clock time = TEST_CLOCK_INIT;
    lbx_clock clock = test_clock_interface(&time);
    LOCAL_BOX(spare) = cellex_unbounded();
    struct waiter offer;
    LOCAL_BOX(box) =
        BOX(LBX_KIND_BOUNDED, lbx_cellex_mailbox_options(),
            with.capacity_messages = 1, with.overflow = LBX_OVERFLOW_BLOCK,
            with.clock = &clock);

    CHECK_OK(box_send(&box, 1));
    waiter_post(&offer, &box, regular(2),
                lbx_deadline_after(&clock, 10 * LBX_MS));
    CHECK_STATUS(LBX_PENDING, waiter_poll(&offer));
    test_clock_advance(&time, 10 * LBX_MS);
    CHECK_STATUS(LBX_TIMEOUT, waiter_poll(&offer));
    CHECK_INT(LBX_OUTCOME_NOT_SENT, offer.result.outcome);
    CHECK_INT(0, box_stats(&box).waiting_senders);
    waiter_fini(&offer);
    CHECK_OK(box_post(&spare, offer.sent, NULL));
    CHECK_TAKES(&spare, 2);
    CHECK_TAKES(&box, 1);
    CHECK_NOTHING(&box);
}

BOX_TEST("C-24", poll_future_pending_then_ready, cellex_unbounded())
{
    LOCAL_WAITER(take);

    waiter_receive_pending(&take, box);
    CHECK_OK(box_send(box, 5));
    CHECK_OK(waiter_poll(&take));
    CHECK_INT(5, number_of(take.message));
    CHECK_OK(waiter_poll(&take)); // final, and it stays so
    CHECK_INT(5, number_of(take.message));
}

/* cellactor's enqueue answers "enqueued" or "pending(operation)": the first
 * poll is that answer. */
BOX_TEST("C-23", enqueue_outcome_is_enqueued_or_pending,
         cellex_bounded(1, LBX_OVERFLOW_BLOCK))
{
    struct waiter first, second;

    waiter_post(&first, box, regular(1), LBX_FOREVER);
    CHECK_OK(waiter_poll(&first));
    CHECK_INT(LBX_OUTCOME_ENQUEUED, first.result.outcome);
    waiter_post(&second, box, regular(2), LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, waiter_poll(&second));
    CHECK_TAKES(box, 1);
    CHECK_OK(waiter_poll(&second));
    CHECK_INT(LBX_OUTCOME_ENQUEUED, second.result.outcome);
    waiter_fini(&first);
    waiter_fini(&second);
}

/* ---- The registry of mailbox types ---- */

TEST_CITING("C-04 R-21", registry_registers_a_type)
{
    struct fussy fussy;
    struct box box = fussy_create(&fussy, 4, LBX_OVERFLOW_REJECT);

    CHECK(lbx_kind_registry_capabilities(fussy.kinds, FUSSY_KIND) != 0);
    CHECK_INT(
        0, lbx_kind_registry_capabilities(NULL, FUSSY_KIND)); // in its own only
    box_fill(&box, 1, 4);
    CHECK_STATUS(LBX_FULL, box_send(&box, 5));
    CHECK_TAKES(&box, 1, 2, 3, 4);
    fussy_destroy(&fussy, &box);
}

/* A registered type keeps messages; the policies are the mailbox's. */
TEST_CITING("C-34 R-21", registered_type_works_with_every_policy)
{
    static const struct {
        lbx_overflow overflow;
        lbx_outcome outcome;
        int first;
    } rows[] = {
        {LBX_OVERFLOW_DROP_OLDEST, LBX_OUTCOME_DROPPED_OLDEST, 2},
        {LBX_OVERFLOW_DROP_NEWEST, LBX_OUTCOME_DROPPED_NEWEST, 1},
        {LBX_OVERFLOW_GROW, LBX_OUTCOME_GREW, 1},
    };

    for (size_t i = 0; i < 3; i++) {
        struct fussy fussy;
        struct box box = fussy_create(&fussy, 2, rows[i].overflow);
        lbx_send_result result = LBX_SEND_RESULT_INIT;

        box_fill(&box, 1, 2);
        CHECK_OK(box_post(&box, regular(3), &result));
        CHECK_INT(rows[i].outcome, result.outcome);
        CHECK_TAKES(&box, rows[i].first);
        fussy_destroy(&fussy, &box);
    }
}

TEST_CITING("C-04 R-21", registry_refuses_duplicates)
{
    struct fussy fussy;
    struct box box = fussy_create(&fussy, 4, LBX_OVERFLOW_REJECT);
    lbx_kind_ops ops = fussy_ops();

    CHECK_STATUS(LBX_EXISTS,
                 lbx_kind_registry_add(fussy.kinds, FUSSY_KIND, &ops, NULL));
    CHECK_STATUS(LBX_EXISTS, lbx_kind_registry_add(
                                 fussy.kinds, LBX_KIND_BOUNDED, &ops, NULL));
    CHECK_OK(box_send(&box, 1)); // the first is still the one
    CHECK_TAKES(&box, 1);
    fussy_destroy(&fussy, &box);
}

TEST_CITING("C-04 R-21", registry_does_not_know_unregistered_types)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    lbx_kind_registry *kinds = NULL;
    lbx_producer *in;
    lbx_consumer *out;

    CHECK_OK(lbx_kind_registry_create(NULL, &kinds));
    options.kinds = kinds;
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_mailbox_create("unknown", &options, &in, &out));
    CHECK_INT(0, lbx_kind_registry_capabilities(kinds, "unknown"));
    lbx_kind_registry_destroy(kinds);
}

/* cellactor makes sure that "default" exists; ours is always there. */
TEST_CITING("C-05 R-21 R-28", registry_always_has_the_default)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    lbx_kind_registry *kinds = NULL;
    struct box box;

    CHECK_OK(lbx_kind_registry_create(NULL, &kinds));
    options.kinds = kinds;
    box = box_create(NULL, &options);
    CHECK_INT(LBX_UNLIMITED, lbx_mailbox_capacity(box.mailbox));
    box_destroy(&box);
    lbx_kind_registry_destroy(kinds);
}

/* Requirement flags are checked against what a kind can do. */
TEST_CITING("C-04 R-25", capabilities_answer_requirements)
{
    static const struct {
        const char *kind;
        uint32_t can;
        uint32_t cannot;
    } rows[] = {
        {LBX_KIND_UNBOUNDED_DEQUE, LBX_CAPABILITY_SEND_FRONT,
         LBX_CAPABILITY_BOUND},
        {LBX_KIND_BOUNDED_DEQUE,
         LBX_CAPABILITY_SEND_FRONT | LBX_CAPABILITY_BOUND,
         LBX_CAPABILITY_CONTROL},
        {LBX_KIND_BOUNDED, LBX_CAPABILITY_BOUND, LBX_CAPABILITY_SEND_FRONT},
        {LBX_KIND_BOUNDED_CONTROL_AWARE,
         LBX_CAPABILITY_CONTROL | LBX_CAPABILITY_BOUND,
         LBX_CAPABILITY_PRIORITIZE},
        {LBX_KIND_UNBOUNDED_PRIORITY, LBX_CAPABILITY_PRIORITIZE,
         LBX_CAPABILITY_BOUND},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint32_t has = lbx_kind_registry_capabilities(NULL, rows[i].kind);

        CHECK_INT(rows[i].can, has & rows[i].can);
        CHECK_INT(0, has & rows[i].cannot);
    }
}

/* What a kind cannot do is an answer of its own, not a guess. */
BOX_TEST("C-04 R-25", missing_capability_is_unsupported, cellex_unbounded())
{
    CHECK_STATUS(LBX_UNSUPPORTED,
                 lbx_producer_try_send_front(box->in, message_of(1)));
    CHECK_NOTHING(box);
}

/* ---- Pressure ---- */

static struct box
watched_box(int64_t capacity_messages, int64_t pressure_messages,
            struct events *events)
{
    struct box box = BOX(LBX_KIND_BOUNDED, lbx_cellex_mailbox_options(),
                         with.capacity_messages = capacity_messages,
                         with.pressure_messages = pressure_messages,
                         with.overflow = LBX_OVERFLOW_REJECT);

    events_watch(events, &box);
    return box;
}

TEST_CITING("C-39", pressure_event_at_three_of_four)
{
    static struct events events; // the box outlives this frame
    LOCAL_BOX(box) = watched_box(4, LBX_DEFAULT, &events);

    box_fill(&box, 1, 2);
    CHECK_INT(0, events_count(&events, LBX_METRIC_PRESSURE));
    CHECK_OK(box_send(&box, 3));
    CHECK_INT(1, events_count(&events, LBX_METRIC_PRESSURE));
    CHECK_INT(3, events_last(&events, LBX_METRIC_PRESSURE).count);
    CHECK_OK(box_send(&box, 4)); // already told
    CHECK_INT(1, events_count(&events, LBX_METRIC_PRESSURE));
}

/* The warning threshold is an option, and each rise to it is one event. */
TEST_CITING("C-39", warning_at_a_threshold_of_ones_own)
{
    static struct events events; // the box outlives this frame
    LOCAL_BOX(box) = watched_box(10, 2, &events);

    box_fill(&box, 1, 3);
    CHECK_INT(1, events_count(&events, LBX_METRIC_PRESSURE));
    CHECK_INT(2, events_last(&events, LBX_METRIC_PRESSURE).count);
    CHECK_TAKES(&box, 1, 2, 3);
    box_fill(&box, 4, 5);
    CHECK_INT(2, events_count(&events, LBX_METRIC_PRESSURE));
}

/* A rise is a rise, also by the one message that was just taken. */
TEST_CITING("C-39", pressure_is_told_again_after_it_has_fallen)
{
    static struct events events; // the box outlives this frame
    LOCAL_BOX(box) = watched_box(4, LBX_DEFAULT, &events);

    box_fill(&box, 1, 3);
    CHECK_TAKES(&box, 1);
    CHECK_OK(box_send(&box, 4));
    CHECK_INT(2, events_count(&events, LBX_METRIC_PRESSURE));
}

/* Policy getters: what was asked for can be read back. */
BOX_TEST("C-13", policy_can_be_read_back, cellex_bounded(7, LBX_OVERFLOW_BLOCK))
{
    lbx_mailbox_options options = lbx_cellex_mailbox_options();
    lbx_send_result result = LBX_SEND_RESULT_INIT;

    CHECK_INT(LBX_OVERFLOW_DROP_OLDEST, options.overflow);
    CHECK_INT(7, lbx_mailbox_capacity(box->mailbox));
    CHECK_INT(7, box_stats(box).capacity_messages);
    CHECK_OK(box_post(box, regular(1), &result));
    CHECK_INT(LBX_OVERFLOW_BLOCK, result.overflow);
    CHECK(lbx_mailbox_capabilities(box->mailbox) & LBX_CAPABILITY_BLOCK);
}
