/* SPDX-License-Identifier: Apache-2.0 */
/* Pipes: asking inside an actor, and operations that end in a message. */
#include <stdlib.h>
#include <string.h>

#include <letterbox/mailbox.h>

#include "actor/fixture.h"
#include "support/torture.h"

/* Writes NAME=STATUS#CORRELATION:ANSWER for a result, and fails for a result
 * with correlation 99. */
static lbx_status
write_result(lbx_context *context, struct part *part, void *message)
{
    const lbx_pipe_result *result = message;

    if (lbx_context_type(context) != lbx_pipe_result_type()) {
        world_write(part->world, "%s:%d", part->name, number_of(message));
        return LBX_OK;
    }
    CHECK_INT(sizeof(*result), result->size_bytes);
    world_write(part->world, "%s=%s#%d:%d", part->name,
                lbx_status_name(result->status) + 4, (int)result->correlation,
                number_of(result->answer.message));
    return result->correlation == 99 ? LBX_REFUSED : LBX_OK;
}

static lbx_status
answer_twice_the_number(lbx_context *context, struct part *part, void *message)
{
    world_write(part->world, "%s:%d", part->name, number_of(message));
    if (number_of(message) < FAILS)
        lbx_context_reply(context, letter(number_of(message) * 2));
    return LBX_OK;
}

/* What a part is told to ask. */
struct inquiry {
    lbx_ref to;
    int number;
    int64_t timeout_ns;
    uint64_t correlation;
    lbx_status expected;
};

static lbx_status
do_ask(lbx_context *context, struct part *part, void *argument)
{
    const struct inquiry *inquiry = argument;
    lbx_envelope question = lbx_envelope_of(letter(inquiry->number), 10);

    (void)part;
    CHECK_STATUS(inquiry->expected,
                 lbx_context_ask(context, inquiry->to, &question,
                                 inquiry->timeout_ns, inquiry->correlation));
    return LBX_OK;
}

/* a asks, b answers. */
struct inquest {
    struct world world;
    struct part a;
    struct part b;
};

static void
inquest_begin(struct inquest *inquest)
{
    world_begin(&inquest->world);
    part_init(&inquest->a, &inquest->world, "a");
    part_init(&inquest->b, &inquest->world, "b");
    inquest->a.receive = write_result;
    inquest->b.receive = answer_twice_the_number;
    part_spawn(&inquest->a);
    part_spawn(&inquest->b);
    CHECK_DIARY(&inquest->world, "a+ b+");
}

#define INQUEST_TEST(name)                                                     \
    FIXTURE_TEST(inquest, "", name, inquest_begin(inquest),                    \
                 world_end(&inquest->world))

/* Every message but the orders was ended. */
static void
inquest_check_ended(struct inquest *inquest, long letters)
{
    long orders = atomic_load(&inquest->world.order_count);

    world_end(&inquest->world);
    CHECK_INT(letters + orders, atomic_load(&inquest->world.ended));
}

INQUEST_TEST(ask_inside_is_answered_with_its_correlation)
{
    struct inquiry first = {inquest->b.self, 21, LBX_SECOND, 7, LBX_OK};
    struct inquiry second = {inquest->b.self, 4, -1, 8, LBX_OK};

    bid(&inquest->a, do_ask, &first);
    bid(&inquest->a, do_ask, &second);
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
    bid(&inquest->a, do_ask, &silent);
    bid(&inquest->a, do_ask, &late);
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
    bid(&inquest->a, do_ask, &stale);
    CHECK_DIARY(&inquest->world, "a=NOT_FOUND#7:0");
    bid(&inquest->a, do_ask, &nobody);
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
    bid(&inquest->a, do_ask, &inquiry);
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
    bid(&inquest->a, do_ask, &inquiry);
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
    bid(&inquest->a, do_ask, &first);
    bid(&inquest->a, do_ask, &second);
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
    bid(&inquest->a, do_ask, &inquiry);
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
    a->receive = write_result;
    b->receive = answer_twice_the_number;
    part_spawn_boxed(a, LBX_KIND_BOUNDED, &options);
    inquiry.to = part_spawn(b);
    bid(a, do_ask, &inquiry);
    CHECK_OK(lbx_system_run(world->system, 1, NULL)); // a has asked
    CHECK_OK(lbx_ref_suspend(a->self));
    lbx_tell(a->self, letter(1));
    lbx_tell(a->self, letter(2));
    CHECK_DIARY(world, "a+ b+ b:21");
    CHECK_OK(lbx_ref_resume(a->self));
    CHECK_DIARY(world, "a=OK#0:42 a:1");
    CHECK_INT(1, atomic_load(&world->dead_count)); // 2
}

// ---- Any operation ----

/* A mailbox that a part waits for. */
struct wait {
    lbx_producer *in;
    lbx_consumer *out;
    lbx_operation operation;
    void *message;
    int64_t deadline_ns;
    lbx_status expected;
    int releases;
    lbx_status released;
};

static void
wait_begin(struct wait *wait, int64_t deadline_ns)
{
    *wait = (struct wait){.deadline_ns = deadline_ns};
    CHECK_OK(
        lbx_mailbox_create(LBX_KIND_UNBOUNDED, NULL, &wait->in, &wait->out));
}

static void
wait_end(struct wait *wait)
{
    lbx_producer_unref(wait->in);
    lbx_consumer_unref(wait->out);
}

static void
wait_release(void *data, lbx_status status)
{
    struct wait *wait = data;

    wait->releases++;
    wait->released = status;
}

static lbx_status
do_wait(lbx_context *context, struct part *part, void *argument)
{
    struct wait *wait = argument;

    (void)part;
    // The mailbox has the real clock, and the system the test's.
    CHECK_OK(lbx_consumer_receive_init(&wait->operation, wait->out,
                                       &wait->message, wait->deadline_ns));
    CHECK_STATUS(wait->expected, lbx_context_pipe(context, &wait->operation, 5,
                                                  wait, wait_release));
    if (wait->expected != LBX_OK)
        lbx_operation_fini(&wait->operation);
    return LBX_OK;
}

INQUEST_TEST(operation_is_piped_to_its_actor)
{
    struct wait wait;

    wait_begin(&wait, LBX_FOREVER);
    bid(&inquest->a, do_wait, &wait);
    CHECK_DIARY(&inquest->world, "");
    CHECK_OK(lbx_producer_try_send(wait.in, letter(3)));
    CHECK_INT(0, wait.releases);
    CHECK_DIARY(&inquest->world, "a=OK#5:0");
    CHECK_INT(3, number_of(wait.message));
    CHECK_INT(1, wait.releases);
    CHECK_STATUS(LBX_OK, wait.released);
    CHECK_OK(lbx_producer_try_send(wait.in, letter(4)));
    bid(&inquest->a, do_wait, &wait); // final at the first poll
    CHECK_DIARY(&inquest->world, "a=OK#5:0");
    CHECK_INT(4, number_of(wait.message));
    wait_end(&wait);
}

INQUEST_TEST(piped_operation_is_cancelled_when_its_actor_stops_or_restarts)
{
    lbx_status refused = LBX_REFUSED;
    struct wait wait;

    for (int restarts = 1; restarts >= 0; restarts--) {
        wait_begin(&wait, LBX_FOREVER);
        bid(&inquest->a, do_wait, &wait);
        CHECK_DIARY(&inquest->world, "");
        bid(&inquest->a, restarts ? do_fail : do_stop, &refused);
        CHECK_DIARY(&inquest->world, restarts ? "a- a+" : "a-");
        CHECK_INT(1, wait.releases);
        CHECK_STATUS(LBX_CANCELLED, wait.released);
        // The message goes to whoever receives next.
        CHECK_OK(lbx_producer_try_send(wait.in, letter(3)));
        CHECK_OK(lbx_consumer_try_receive(wait.out, &wait.message));
        CHECK_DIARY(&inquest->world, "");
        wait_end(&wait);
    }
}

// The waker has called, and the actor ends before it polls.
INQUEST_TEST(actor_may_end_between_the_wake_and_the_poll)
{
    struct wait wait;

    wait_begin(&wait, LBX_FOREVER);
    bid(&inquest->a, do_wait, &wait);
    CHECK_DIARY(&inquest->world, "");
    lbx_ref_stop(inquest->a.self);
    CHECK_OK(lbx_producer_try_send(wait.in, letter(3)));
    CHECK_DIARY(&inquest->world, "a-");
    CHECK_INT(1, wait.releases);
    wait_end(&wait);
}

ACTOR_TEST("", piped_operation_ends_at_its_deadline)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    struct wait waits[3];
    // The second timer must not wait for the first.
    const int64_t delays[3] = {20, 10, 30};

    options.clock = &world->clock;
    a->receive = write_result;
    part_spawn(a);
    for (int i = 0; i < 3; i++) {
        wait_begin(&waits[i], LBX_FOREVER);
        wait_end(&waits[i]);
        CHECK_OK(lbx_mailbox_create(LBX_KIND_UNBOUNDED, &options, &waits[i].in,
                                    &waits[i].out));
        waits[i].deadline_ns = test_clock_now(&world->time) + delays[i];
        bid(a, do_wait, &waits[i]);
    }
    CHECK_DIARY(world, "a+");
    for (int i = 1; i <= 3; i++) {
        world_advance(world, 9);
        CHECK_DIARY(world, "");
        world_advance(world, 1);
        CHECK_DIARY(world, "a=TIMEOUT#5:0");
    }
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(LBX_TIMEOUT, waits[i].released);
        wait_end(&waits[i]);
    }
}

static void
wait_in_stop(lbx_context *context, struct part *part)
{
    struct inquiry inquiry = {part->self, 5, -1, 1, LBX_CLOSED};

    (void)do_wait(context, part, part->context);
    (void)do_ask(context, part, &inquiry);
}

static lbx_status
pipe_nonsense(lbx_context *context, struct part *part, void *argument)
{
    lbx_envelope question = lbx_envelope_of(letter(1), 10);
    lbx_operation operation;

    (void)part;
    memset(&operation, 0, sizeof(operation));
    CHECK_STATUS(LBX_INVALID,
                 lbx_context_pipe(context, &operation, 0, NULL, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_context_pipe(context, NULL, 0, NULL, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_context_pipe(NULL, &operation, 0, NULL, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_context_ask(context, lbx_ref_nobody(), NULL, 0, 0));
    CHECK_STATUS(LBX_INVALID,
                 lbx_context_ask(NULL, lbx_ref_nobody(), &question, 0, 0));
    CHECK_STATUS(LBX_INVALID,
                 lbx_context_ask(context, ((struct part *)argument)->self,
                                 &question, 0, 0));
    return LBX_OK;
}

INQUEST_TEST(pipes_are_refused_in_stop_and_for_nonsense)
{
    struct world other;
    struct part stranger;
    struct wait wait;

    world_begin(&other);
    part_init(&stranger, &other, "s");
    part_spawn(&stranger);
    bid(&inquest->a, pipe_nonsense, &stranger);
    CHECK_DIARY(&inquest->world, "");
    world_end(&other);
    wait_begin(&wait, LBX_FOREVER);
    wait.expected = LBX_CLOSED;
    inquest->a.context = &wait;
    inquest->a.stop = wait_in_stop;
    lbx_ref_stop(inquest->a.self);
    CHECK_DIARY(&inquest->world, "a-");
    CHECK_INT(0, wait.releases);
    CHECK_INT(1, atomic_load(&inquest->world.dead_count)); // the question
    wait_end(&wait);
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
    bid(&inquest->a, do_ask, &inquiry);
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

// ---- Races ----

struct rush {
    struct world world;
    struct part b;
    _Atomic long asked;
    _Atomic long results;
    _Atomic long answers;
};

static lbx_status
rush_receive(lbx_context *context, struct part *part, void *message)
{
    struct rush *rush = part->context;
    lbx_envelope question = lbx_envelope_of(letter(1), 10);
    const lbx_pipe_result *result = message;

    if (lbx_context_type(context) == lbx_pipe_result_type()) {
        CHECK(result->status == LBX_OK || result->status == LBX_TIMEOUT);
        atomic_fetch_add(&rush->results, 1);
        if (result->status == LBX_OK)
            atomic_fetch_add(&rush->answers, 1);
        return LBX_OK;
    }
    // Some time out at about the time when the answer comes.
    for (int i = 0; i < 4; i++) {
        CHECK_OK(lbx_context_ask(context, rush->b.self, &question,
                                 i % 2 == 0 ? -1 : i * 4 * LBX_US, 0));
        atomic_fetch_add(&rush->asked, 1);
    }
    return LBX_OK;
}

static lbx_status
rush_answer(lbx_context *context, struct part *part, void *message)
{
    (void)part;
    lbx_context_reply(context, message);
    (void)lbx_context_take(context);
    return LBX_OK;
}

static void
rush_begin(struct rush *rush, struct part *asker)
{
    world_begin_threads(&rush->world, 2);
    part_init(&rush->b, &rush->world, "b");
    rush->b.silent = true;
    rush->b.receive = rush_answer;
    part_spawn(&rush->b);
    part_init(asker, &rush->world, "a");
    asker->silent = true;
    asker->receive = rush_receive;
    asker->context = rush;
}

// Every ask ends in one result, every answer in one or as a dead letter.
TEST_CITING("ACTOR-3", every_ask_inside_ends_in_one_result)
{
    static struct rush rush;
    const long rounds = test_rounds(1000, 50000);
    struct part a;

    rush_begin(&rush, &a);
    part_spawn(&a);
    for (long i = 0; i < rounds; i++)
        lbx_tell(a.self, letter(2));
    EVENTUALLY(atomic_load(&rush.results) == 4 * rounds);
    lbx_tell(rush.b.self, lbx_poison_pill()); // after all questions
    CHECK_OK(lbx_ref_ended_until(rush.world.system, rush.b.self, LBX_FOREVER));
    world_end(&rush.world);
    CHECK_INT(4 * rounds, atomic_load(&rush.asked));
    CHECK_INT(4 * rounds, atomic_load(&rush.results));
    CHECK_INT(4 * rounds - atomic_load(&rush.answers),
              atomic_load(&rush.world.dead_count));
    CHECK_INT(5 * rounds, atomic_load(&rush.world.ended));
}

// Askers end while answers come, wakers call and timers fire.
TEST_CITING("ACTOR-3", askers_that_are_stopped_leave_nothing_behind)
{
    static struct rush rush;
    const long rounds = test_rounds(1000, 50000);
    struct part a;
    lbx_props props;

    rush_begin(&rush, &a);
    props = part_props(&a);
    for (long i = 0; i < rounds; i++) {
        lbx_ref ref;

        CHECK_OK(lbx_system_spawn(rush.world.system, &props, NULL, &ref));
        lbx_tell(ref, letter(2));
        if (i % 2 == 0)
            EVENTUALLY(atomic_load(&rush.asked) > 0);
        lbx_ref_stop(ref);
    }
    world_end(&rush.world);
    // One for each round, and one for each question: answers are questions.
    CHECK_INT(rounds + atomic_load(&rush.asked),
              atomic_load(&rush.world.ended));
}
