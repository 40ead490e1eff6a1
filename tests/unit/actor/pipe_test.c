/* SPDX-License-Identifier: Apache-2.0 */
/* Pipes: asking inside an actor. Other operations that end in a message are in
 * pipe_operation_test.c, races in pipe_races_test.c. */
#include <letterbox/mailbox.h>

#include "actor/inquest.h"
#include "support/torture.h"

INQUEST_TEST(ask_inside_is_answered_with_its_correlation)
{
    struct inquiry first = {inquest->b.self, 21, LBX_SECOND, 7, LBX_OK};
    struct inquiry second = {inquest->b.self, 4, -1, 8, LBX_OK};

    bid(&inquest->a, inquest_ask, &first);
    bid(&inquest->a, inquest_ask, &second);
    lbx_tell(inquest->a.self, letter(1)); // it is not kept waiting
    CHECK_DIARY(&inquest->world, "a:1 b:21 b:4 a=OK#7:42 a=OK#8:8");
    world_advance(&inquest->world, 2 * LBX_SECOND);
    CHECK_DIARY(&inquest->world, ""); // no timeout after the answer
    CHECK_INT(0, atomic_load(&inquest->world.dead_count));
    inquest_check_ended(inquest, 5);
}

INQUEST_TEST(ask_inside_times_out_and_a_late_reply_is_a_dead_letter)
{
    struct inquiry silent = {inquest->b.self, FAILS, 10, 1, LBX_OK};
    struct inquiry late = {inquest->b.self, 3, 20, 2, LBX_OK};

    CHECK_OK(lbx_ref_suspend(inquest->b.self));
    bid(&inquest->a, inquest_ask, &silent);
    bid(&inquest->a, inquest_ask, &late);
    CHECK_DIARY(&inquest->world, "");
    world_advance(&inquest->world, 9);
    CHECK_DIARY(&inquest->world, "");
    world_advance(&inquest->world, 1);
    CHECK_DIARY(&inquest->world, "a=TIMEOUT#1:0");
    world_advance(&inquest->world, 10);
    CHECK_DIARY(&inquest->world, "a=TIMEOUT#2:0");
    CHECK_OK(lbx_ref_resume(inquest->b.self));
    CHECK_DIARY(&inquest->world, "b:1000 b:3");
    CHECK_INT(1, atomic_load(&inquest->world.dead_count));
    world_check_dead(&inquest->world, 0, 6, LBX_LOSS_NO_ACTOR);
    inquest_check_ended(inquest, 3);
}

INQUEST_TEST(ask_inside_of_one_that_has_stopped_fails_at_once)
{
    struct inquiry stale = {inquest->b.self, 21, LBX_SECOND, 7, LBX_OK};
    struct inquiry nobody = {{0}, 22, -1, 8, LBX_OK};

    lbx_ref_stop(inquest->b.self);
    CHECK_DIARY(&inquest->world, "b-");
    bid(&inquest->a, inquest_ask, &stale);
    CHECK_DIARY(&inquest->world, "a=NOT_FOUND#7:0");
    bid(&inquest->a, inquest_ask, &nobody);
    CHECK_DIARY(&inquest->world, "a=NOT_FOUND#8:0");
    CHECK_INT(2, atomic_load(&inquest->world.dead_count));
    world_check_dead(&inquest->world, 0, 21, LBX_LOSS_NO_ACTOR);
    world_check_dead(&inquest->world, 1, 22, LBX_LOSS_NO_ACTOR);
    inquest_check_ended(inquest, 2);
}

/* The asker ends, or begins anew, while its question is on its way. */
static void
check_asker_leaves(struct inquest *inquest, bool restarts)
{
    struct inquiry inquiry = {inquest->b.self, 21, LBX_SECOND, 7, LBX_OK};
    lbx_status refused = LBX_REFUSED;

    CHECK_OK(lbx_ref_suspend(inquest->b.self));
    bid(&inquest->a, inquest_ask, &inquiry);
    CHECK_DIARY(&inquest->world, "");
    bid(&inquest->a, restarts ? do_fail : do_stop, &refused);
    CHECK_DIARY(&inquest->world, restarts ? "a- a+" : "a-");
    CHECK_OK(lbx_ref_resume(inquest->b.self));
    world_advance(&inquest->world, 2 * LBX_SECOND);
    CHECK_DIARY(&inquest->world, "b:21");
    CHECK_INT(1, atomic_load(&inquest->world.dead_count));
    world_check_dead(&inquest->world, 0, 42, LBX_LOSS_NO_ACTOR);
    inquest_check_ended(inquest, 2);
}

INQUEST_TEST(asker_that_stops_leaves_its_reply_to_dead_letters)
{
    check_asker_leaves(inquest, false);
}

INQUEST_TEST(asker_that_restarts_leaves_its_reply_to_dead_letters)
{
    check_asker_leaves(inquest, true);
}

INQUEST_TEST(system_ends_with_asks_pending)
{
    struct inquiry inquiry = {inquest->b.self, 21, -1, 7, LBX_OK};

    CHECK_OK(lbx_ref_suspend(inquest->b.self));
    bid(&inquest->a, inquest_ask, &inquiry);
    CHECK_DIARY(&inquest->world, "");
    inquest_check_ended(inquest, 1);
}

// The correlation may mean something else to the new start.
INQUEST_TEST(result_of_an_earlier_start_is_a_dead_letter)
{
    struct inquiry first = {inquest->b.self, 21, -1, 99, LBX_OK};
    struct inquiry second = {inquest->b.self, 22, -1, 8, LBX_OK};

    CHECK_OK(lbx_ref_suspend(inquest->a.self));
    CHECK_OK(lbx_ref_suspend(inquest->b.self));
    bid(&inquest->a, inquest_ask, &first);
    bid(&inquest->a, inquest_ask, &second);
    CHECK_OK(lbx_ref_resume(inquest->a.self));
    CHECK_DIARY(&inquest->world, "");
    CHECK_OK(lbx_ref_suspend(inquest->a.self));
    CHECK_OK(lbx_ref_resume(inquest->b.self));
    CHECK_DIARY(&inquest->world, "b:21 b:22"); // both results are in a's inbox
    CHECK_OK(lbx_ref_resume(inquest->a.self));
    CHECK_DIARY(&inquest->world, "a=OK#99:42 a- a+");
    CHECK_INT(1, atomic_load(&inquest->world.dead_count));
    CHECK_PTR(lbx_pipe_result_type(), inquest->world.dead[0].envelope.type);
    inquest_check_ended(inquest, 4);
}

static lbx_status
take_answer(lbx_context *context, struct part *part, void *message)
{
    (void)context;
    CHECK_INT(42, number_of(lbx_pipe_result_take(message)));
    CHECK_PTR(NULL, lbx_pipe_result_take(message));
    world_write(part->world, "taken");
    return LBX_OK;
}

INQUEST_TEST(answer_can_be_taken_out_of_its_result)
{
    struct inquiry inquiry = {inquest->b.self, 21, -1, 7, LBX_OK};

    inquest->a.receive = take_answer;
    bid(&inquest->a, inquest_ask, &inquiry);
    CHECK_DIARY(&inquest->world, "b:21 taken");
    CHECK_PTR(NULL, lbx_pipe_result_take(NULL));
    inquest_check_ended(inquest, 1); // the answer is ours
}

// A result comes through although the mailbox is full.
ACTOR_TEST("", full_mailbox_does_not_refuse_a_result)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    struct inquiry inquiry = {.number = 21, .timeout_ns = -1};

    options.capacity_messages = 1;
    options.overflow = LBX_OVERFLOW_DROP_NEWEST;
    a->receive = inquest_write_result;
    b->receive = inquest_answer;
    part_spawn_boxed(a, LBX_KIND_BOUNDED, &options);
    inquiry.to = part_spawn(b);
    bid(a, inquest_ask, &inquiry);
    CHECK_OK(lbx_system_run(world->system, 1, NULL)); // a has asked
    CHECK_OK(lbx_ref_suspend(a->self));
    lbx_tell(a->self, letter(1));
    lbx_tell(a->self, letter(2));
    CHECK_DIARY(world, "a+ b+ b:21");
    CHECK_OK(lbx_ref_resume(a->self));
    CHECK_DIARY(world, "a=OK#0:42 a:1");
    CHECK_INT(1, atomic_load(&world->dead_count)); // 2
}

// ---- Replies with a type ----

static lbx_type *number_type;

static lbx_status
answer_typed(lbx_context *context, struct part *part, void *message)
{
    (void)part;
    lbx_context_reply_typed(context, number_type, message);
    (void)lbx_context_take(context);
    return LBX_OK;
}

static lbx_status
check_typed(lbx_context *context, struct part *part, void *message)
{
    const lbx_pipe_result *result = message;

    (void)context;
    CHECK_PTR(number_type, result->answer.type);
    CHECK_INT(3, result->answer.priority);
    world_write(part->world, "typed");
    return LBX_OK;
}

INQUEST_TEST(typed_reply_is_one_call)
{
    struct inquiry inquiry = {inquest->b.self, 21, -1, 7, LBX_OK};
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;

    options.name = "test.Number";
    options.default_priority = 3;
    CHECK_OK(lbx_type_create(&options, &number_type));
    inquest->a.receive = check_typed;
    inquest->b.receive = answer_typed;
    bid(&inquest->a, inquest_ask, &inquiry);
    CHECK_DIARY(&inquest->world, "typed");
    lbx_tell(inquest->b.self, letter(9)); // without a sender: a dead letter
    CHECK_DIARY(&inquest->world, "");
    CHECK_INT(1, atomic_load(&inquest->world.dead_count));
    CHECK_PTR(number_type, inquest->world.dead[0].envelope.type);
    lbx_context_reply_typed(NULL, number_type, NULL);
    world_end(&inquest->world);
    lbx_type_destroy(number_type);
}

// ---- Without memory ----

struct frugal {
    int results;
    int refused;
};

static lbx_status
frugal_receive(lbx_context *context, void *state, void *message)
{
    struct frugal *frugal = *(struct frugal **)state;
    lbx_envelope question = lbx_envelope_of(letter(1), 10);

    if (lbx_context_type(context) == lbx_pipe_result_type()) {
        frugal->results++;
        return LBX_OK;
    }
    if (message)
        return LBX_OK; // the question, which it asked itself
    if (lbx_context_ask(context, lbx_context_self(context), &question, 0, 0) !=
        LBX_OK)
        frugal->refused++;
    return LBX_OK;
}

static lbx_status
frugal_start(lbx_context *context, void *state, void *argument)
{
    (void)context;
    *(struct frugal **)state = argument;
    return LBX_OK;
}

static const lbx_behaviour frugal_behaviour = {
    .size_bytes = sizeof(lbx_behaviour),
    .state_bytes = sizeof(struct frugal *),
    .start = frugal_start,
    .receive = frugal_receive,
};

static void
ask_once(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;
    lbx_props props = LBX_PROPS_INIT;
    struct frugal frugal = {0};
    lbx_system *system;
    lbx_ref ref;

    (void)context;
    options.allocator = &allocator;
    options.threads = 0;
    props.behaviour = &frugal_behaviour;
    props.argument = &frugal;
    if (lbx_system_create(&options, &system) != LBX_OK)
        return;
    if (lbx_system_spawn(system, &props, NULL, &ref) == LBX_OK) {
        lbx_envelope envelope = lbx_envelope_of(NULL, 10);

        if (lbx_try_tell(ref, &envelope) == LBX_OK) {
            CHECK_OK(lbx_system_run(system, UINT64_MAX, NULL));
            CHECK_INT(1, frugal.results + frugal.refused);
        }
    }
    lbx_system_destroy(system);
}

TEST(ask_inside_survives_every_failing_allocation)
{
    CHECK(torture_every_allocation(ask_once, NULL) > 0);
}
