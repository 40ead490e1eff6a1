/* SPDX-License-Identifier: Apache-2.0 */
/* Asking: a question, and how it can end. */
#include <poll.h>
#include <stdlib.h>

#include <letterbox/mailbox.h>

#include "actor/fixture.h"
#include "support/torture.h"

static lbx_status
answer_double(lbx_context *context, struct part *part, void *message)
{
    world_write(part->world, "%s:%d", part->name, number_of(message));
    if (number_of(message) != 0) // 0 gets no answer
        lbx_context_reply(context, letter(number_of(message) * 2));
    if (number_of(message) == 50) // and 50 gets two
        lbx_context_reply(context, letter(51));
    return LBX_OK;
}

struct asking {
    struct world world;
    struct part a;
    lbx_operation ask;
    lbx_envelope question;
    lbx_envelope answer;
    _Atomic int rings;
};

static void
ring(void *context)
{
    atomic_fetch_add((_Atomic int *)context, 1);
}

static lbx_status
ask_poll(struct asking *asking)
{
    lbx_waker waker = {ring, &asking->rings};

    return lbx_operation_poll(&asking->ask, &waker);
}

static void
ask_make(struct asking *asking, int number, int64_t deadline_ns)
{
    asking->question = lbx_envelope_of(letter(number), 10);
    asking->answer = lbx_envelope_of(letter(-1), 10);
    CHECK_OK(lbx_ask_init(&asking->ask, asking->world.system, asking->a.self,
                          &asking->question, &asking->answer, deadline_ns));
}

static void
asking_begin(struct asking *asking)
{
    world_begin(&asking->world);
    atomic_store(&asking->rings, 0);
    part_init(&asking->a, &asking->world, "a");
    asking->a.receive = answer_double;
    part_spawn(&asking->a);
    CHECK_DIARY(&asking->world, "a+");
}

#define ASKING_TEST(behaviour, name)                                           \
    FIXTURE_TEST(asking, behaviour, name, asking_begin(asking),                \
                 world_end(&asking->world))

ASKING_TEST("", ask_is_answered)
{
    ask_make(asking, 21, LBX_FOREVER);
    CHECK_DIARY(&asking->world, ""); // told by the first poll
    CHECK_STATUS(LBX_PENDING, ask_poll(asking));
    CHECK_STATUS(LBX_PENDING, ask_poll(asking)); // and only by that
    CHECK_DIARY(&asking->world, "a:21");
    CHECK_INT(1, atomic_load(&asking->rings));
    CHECK_OK(ask_poll(asking));
    CHECK_INT(42, number_of(asking->answer.message));
    CHECK(lbx_ref_equal(asking->a.self,
                        lbx_ref_of_sender(asking->answer.sender)));
    CHECK_OK(ask_poll(asking)); // still
    lbx_operation_fini(&asking->ask);
    world_end(&asking->world);
    CHECK_INT(0, atomic_load(&asking->world.dead_count));
    CHECK_INT(1, atomic_load(&asking->world.ended)); // the answer is ours
}

ASKING_TEST("", ask_times_out)
{
    ask_make(asking, 0, test_clock_now(&asking->world.time) + 10);
    CHECK_STATUS(LBX_PENDING, ask_poll(asking));
    CHECK_INT(test_clock_now(&asking->world.time) + 10,
              lbx_operation_deadline(&asking->ask));
    world_advance(&asking->world, 9);
    CHECK_STATUS(LBX_PENDING, ask_poll(asking));
    world_advance(&asking->world, 1);
    CHECK_STATUS(LBX_TIMEOUT, ask_poll(asking));
    CHECK_INT(-1, number_of(asking->answer.message));
    lbx_operation_fini(&asking->ask);
    world_end(&asking->world);
    CHECK_INT(0, atomic_load(&asking->world.dead_count));
}

ASKING_TEST("", late_answer_is_a_dead_letter)
{
    ask_make(asking, 21, test_clock_now(&asking->world.time) + 10);
    CHECK_STATUS(LBX_PENDING, ask_poll(asking));
    test_clock_advance(&asking->world.time, 10);
    CHECK_STATUS(LBX_TIMEOUT, ask_poll(asking));
    CHECK_DIARY(&asking->world, "a:21");
    CHECK_INT(1, atomic_load(&asking->world.dead_count));
    world_check_dead(&asking->world, 0, 42, LBX_LOSS_NO_ACTOR);
    CHECK(lbx_ref_equal(asking->a.self, asking->world.dead[0].sender));
    CHECK_INT(2, atomic_load(&asking->world.ended));
    lbx_operation_fini(&asking->ask);
}

ASKING_TEST("", second_answer_is_a_dead_letter)
{
    ask_make(asking, 50, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, ask_poll(asking));
    CHECK_DIARY(&asking->world, "a:50");
    CHECK_OK(ask_poll(asking));
    CHECK_INT(100, number_of(asking->answer.message));
    CHECK_INT(1, atomic_load(&asking->world.dead_count));
    world_check_dead(&asking->world, 0, 51, LBX_LOSS_NO_ACTOR);
    lbx_operation_fini(&asking->ask);
    world_end(&asking->world);
    CHECK_INT(2, atomic_load(&asking->world.ended));
}

ASKING_TEST("", cancelled_ask_leaves_its_answer_to_dead_letters)
{
    ask_make(asking, 21, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, ask_poll(asking));
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&asking->ask));
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&asking->ask));
    CHECK_DIARY(&asking->world, "a:21");
    CHECK_INT(0, atomic_load(&asking->rings));
    CHECK_INT(1, atomic_load(&asking->world.dead_count));
    lbx_operation_fini(&asking->ask);
    world_end(&asking->world);
    CHECK_INT(2, atomic_load(&asking->world.ended));
}

// The answer is there, and it is not polled for.
ASKING_TEST("", ended_ask_ends_an_answer_nobody_took)
{
    ask_make(asking, 21, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, ask_poll(asking));
    CHECK_DIARY(&asking->world, "a:21");
    lbx_operation_fini(&asking->ask);
    CHECK_INT(1, atomic_load(&asking->world.dead_count));
    CHECK_INT(2, atomic_load(&asking->world.ended));
    world_end(&asking->world);
    CHECK_INT(2, atomic_load(&asking->world.ended));
}

// The question is the operation's until the first poll: it ends with it.
ASKING_TEST("", ask_that_was_never_polled_ends_its_question)
{
    ask_make(asking, 21, LBX_FOREVER);
    lbx_operation_fini(&asking->ask);
    CHECK_DIARY(&asking->world, "");
    world_end(&asking->world);
    CHECK_INT(1, atomic_load(&asking->world.ended));
}

ASKING_TEST("", ask_of_the_dead_is_not_found)
{
    lbx_ref_stop(asking->a.self);
    CHECK_DIARY(&asking->world, "a-");
    ask_make(asking, 21, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, ask_poll(asking));
    (void)world_run(&asking->world);
    CHECK_STATUS(LBX_NOT_FOUND, ask_poll(asking));
    CHECK_INT(1, atomic_load(&asking->world.dead_count));
    world_check_dead(&asking->world, 0, 21, LBX_LOSS_NO_ACTOR);
    CHECK_INT(1, atomic_load(&asking->world.ended));
    lbx_operation_fini(&asking->ask);
}

ASKING_TEST("", ask_of_one_that_ends_without_answering_is_not_found)
{
    ask_make(asking, 0, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, ask_poll(asking));
    CHECK_DIARY(&asking->world, "a:0");
    CHECK_STATUS(LBX_PENDING, ask_poll(asking));
    lbx_ref_stop(asking->a.self);
    CHECK_DIARY(&asking->world, "a-");
    CHECK_INT(1, atomic_load(&asking->rings));
    CHECK_STATUS(LBX_NOT_FOUND, ask_poll(asking));
    lbx_operation_fini(&asking->ask);
    world_end(&asking->world);
    CHECK_INT(0, atomic_load(&asking->world.dead_count));
}

/* Passes the notice of an end on to whoever asked last. */
static struct {
    lbx_ref watched;
    lbx_ref asker;
} herald;

static lbx_status
herald_receive(lbx_context *context, void *state, void *message)
{
    (void)state;
    (void)message;
    if (lbx_context_type(context) == lbx_terminated_type()) {
        lbx_context_forward(context, herald.asker);
        return LBX_OK;
    }
    herald.asker = lbx_context_sender(context);
    return lbx_context_watch(context, herald.watched);
}

TEST(notice_that_is_passed_on_to_an_ask_is_destroyed)
{
    static const lbx_behaviour behaviour = {sizeof(lbx_behaviour), "herald",
                                            .receive = herald_receive};
    struct torture memory = TORTURE_INIT;
    lbx_allocator allocator = torture_allocator(&memory);
    struct asking asking;
    lbx_system_options options = world_options(&asking.world);

    options.allocator = &allocator;
    world_begin_with(&asking.world, &options);
    herald.watched = behaviour_spawn(&asking.world, &behaviour, NULL);
    asking.a.self = behaviour_spawn(&asking.world, &behaviour, NULL);
    ask_make(&asking, 1, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, ask_poll(&asking));
    (void)world_run(&asking.world);
    lbx_ref_stop(herald.watched);
    (void)world_run(&asking.world);
    CHECK_STATUS(LBX_NOT_FOUND, ask_poll(&asking));
    lbx_operation_fini(&asking.ask);
    world_end(&asking.world);
    CHECK_INT(0, memory.live_blocks);
}

ASKING_TEST("", answer_given_before_the_end_counts)
{
    ask_make(asking, 21, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, ask_poll(asking));
    lbx_tell(asking->a.self, lbx_poison_pill());
    CHECK_DIARY(&asking->world, "a:21 a-");
    CHECK_OK(ask_poll(asking));
    CHECK_INT(42, number_of(asking->answer.message));
    lbx_operation_fini(&asking->ask);
}

ASKING_TEST("", question_to_nobody_is_a_dead_letter)
{
    lbx_envelope question = lbx_envelope_of(letter(5), 10);

    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_ask_until(asking->world.system, lbx_ref_nobody(),
                               &question, &asking->answer, LBX_FOREVER));
    CHECK_INT(1, atomic_load(&asking->world.dead_count));
    world_check_dead(&asking->world, 0, 5, LBX_LOSS_NO_ACTOR);
    CHECK_INT(1, atomic_load(&asking->world.ended));
}

ASKING_TEST("", ask_refuses_nonsense)
{
    lbx_envelope strange = lbx_envelope_from_system(
        lbx_system_message_of(LBX_SYSTEM_CODE_USER), NULL);
    lbx_system *system;
    LOCAL_WORLD(other);

    world_begin(&other);
    system = asking->world.system;
    asking->question = lbx_envelope_of(letter(1), 10);
    CHECK_STATUS(LBX_INVALID,
                 lbx_ask_init(NULL, system, asking->a.self, &asking->question,
                              &asking->answer, LBX_FOREVER));
    CHECK_STATUS(LBX_INVALID,
                 lbx_ask_init(&asking->ask, NULL, asking->a.self,
                              &asking->question, &asking->answer, LBX_FOREVER));
    CHECK_STATUS(LBX_INVALID, lbx_ask_init(&asking->ask, system, asking->a.self,
                                           NULL, &asking->answer, LBX_FOREVER));
    CHECK_STATUS(LBX_INVALID,
                 lbx_ask_init(&asking->ask, system, asking->a.self,
                              &asking->question, NULL, LBX_FOREVER));
    CHECK_STATUS(LBX_INVALID,
                 lbx_ask_init(&asking->ask, system, asking->a.self, &strange,
                              &asking->answer, LBX_FOREVER));
    CHECK_STATUS(LBX_INVALID,
                 lbx_ask_init(&asking->ask, other.system, asking->a.self,
                              &asking->question, &asking->answer, LBX_FOREVER));
}

ASKING_TEST("", ask_cannot_be_restarted)
{
    ask_make(asking, 21, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, ask_poll(asking));
    CHECK_STATUS(LBX_BUSY, lbx_operation_restart(&asking->ask, LBX_FOREVER));
    (void)world_run(&asking->world);
    CHECK_OK(ask_poll(asking));
    CHECK_STATUS(LBX_UNSUPPORTED,
                 lbx_operation_restart(&asking->ask, LBX_FOREVER));
    lbx_operation_fini(&asking->ask);
}

// An operation keeps what it waits on alive (operation.h).
ASKING_TEST("", finished_ask_may_be_ended_after_its_system)
{
    ask_make(asking, 21, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, ask_poll(asking));
    (void)world_run(&asking->world);
    CHECK_OK(ask_poll(asking));
    world_end(&asking->world);
    lbx_operation_fini(&asking->ask);
}

ASKING_TEST("", terminating_ends_pending_asks)
{
    ask_make(asking, 0, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, ask_poll(asking));
    (void)world_run(&asking->world);
    CHECK_OK(lbx_system_terminate(asking->world.system, LBX_FOREVER));
    CHECK_STATUS(LBX_NOT_FOUND, ask_poll(asking));
    lbx_operation_fini(&asking->ask);
}

// Many asks use few cells, and leave nothing behind.
ASKING_TEST("", asks_use_cells_again)
{
    asking->a.silent = true;
    asking->a.receive = answer_double;
    for (int i = 1; i <= 500; i++) {
        ask_make(asking, i == 50 ? 49 : i, LBX_FOREVER);
        CHECK_STATUS(LBX_PENDING, ask_poll(asking));
        (void)world_run(&asking->world);
        CHECK_OK(ask_poll(asking));
        lbx_operation_fini(&asking->ask);
        asking->world.diary[0] = 0;
    }
    CHECK_INT(1, world_stats(&asking->world).actors); // asks are not actors
    world_end(&asking->world);
    CHECK_INT(0, atomic_load(&asking->world.dead_count));
}

// A promise is a ref like any other.
static lbx_status
look_at_sender(lbx_context *context, struct part *part, void *message)
{
    lbx_ref sender = lbx_context_sender(context);

    (void)message;
    CHECK(lbx_ref_is_alive(sender));
    world_write(part->world, "%s?", part->name);
    lbx_tell_typed(sender, lbx_receive_timeout_type(), letter(9));
    return LBX_OK;
}

ASKING_TEST("", answer_may_have_a_type)
{
    asking->a.receive = look_at_sender;
    ask_make(asking, 1, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, ask_poll(asking));
    CHECK_DIARY(&asking->world, "a?");
    CHECK_OK(ask_poll(asking));
    CHECK_PTR(lbx_receive_timeout_type(), asking->answer.type);
    CHECK_INT(9, number_of(asking->answer.message));
    lbx_operation_fini(&asking->ask);
}

// ---- Select and event loops ----

// A select over a receive and the ask, in this order.
struct choice {
    lbx_producer *in;
    lbx_consumer *out;
    lbx_operation receive;
    lbx_operation select;
    lbx_operation *both[2];
    void *message;
    size_t index;
};

static void
choice_begin(struct choice *choice, struct asking *asking)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;

    *choice =
        (struct choice){.both = {&choice->receive, &asking->ask}, .index = 9};
    options.clock = &asking->world.clock;
    CHECK_OK(lbx_mailbox_create(LBX_KIND_UNBOUNDED, &options, &choice->in,
                                &choice->out));
    CHECK_OK(lbx_consumer_receive_init(&choice->receive, choice->out,
                                       &choice->message, LBX_FOREVER));
    ask_make(asking, 21, LBX_FOREVER);
    CHECK_OK(lbx_select_init(&choice->select, choice->both, 2, 0, LBX_FOREVER,
                             &choice->index));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&choice->select, NULL));
}

static void
choice_end(struct choice *choice)
{
    lbx_operation_fini(&choice->select);
    lbx_operation_fini(choice->both[1]);
    lbx_operation_fini(&choice->receive);
    lbx_producer_unref(choice->in);
    lbx_consumer_unref(choice->out);
}

ASKING_TEST("", ask_can_be_selected)
{
    struct choice choice;

    choice_begin(&choice, asking);
    (void)world_run(&asking->world);
    CHECK_OK(lbx_operation_poll(&choice.select, NULL));
    CHECK_INT(1, choice.index);
    CHECK_INT(42, number_of(asking->answer.message));
    choice_end(&choice);
}

ASKING_TEST("", ask_that_loses_a_select_is_cancelled)
{
    struct choice choice;

    choice_begin(&choice, asking);
    CHECK_OK(lbx_producer_try_send(choice.in, letter(5)));
    CHECK_OK(lbx_operation_poll(&choice.select, NULL));
    CHECK_INT(0, choice.index);
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_status(&asking->ask));
    (void)world_run(&asking->world);
    CHECK_INT(1, atomic_load(&asking->world.dead_count)); // the answer
    choice_end(&choice);
    world_end(&asking->world);
    CHECK_INT(2, atomic_load(&asking->world.ended));
}

TEST(ask_until_waits_for_the_answer)
{
    struct asking asking;
    lbx_envelope question = lbx_envelope_of(letter(21), 10);
    lbx_envelope late = lbx_envelope_of(letter(22), 10);
    lbx_envelope answer;

    world_begin_threads(&asking.world, 1);
    part_init(&asking.a, &asking.world, "a");
    asking.a.receive = answer_double;
    part_spawn(&asking.a);
    CHECK_OK(lbx_ask_until(asking.world.system, asking.a.self, &question,
                           &answer, LBX_FOREVER));
    CHECK_INT(42, number_of(answer.message));
    CHECK_STATUS(LBX_INVALID, lbx_ask_until(asking.world.system, asking.a.self,
                                            NULL, &answer, LBX_FOREVER));
    lbx_ref_stop(asking.a.self);
    CHECK_OK(
        lbx_ref_ended_until(asking.world.system, asking.a.self, LBX_FOREVER));
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_ask_until(asking.world.system, asking.a.self, &late,
                               &answer, LBX_FOREVER));
    CHECK_INT(42, number_of(answer.message)); // as it was
    world_end(&asking.world);
}

TEST(ask_wakes_an_eventfd)
{
    struct asking asking;
    lbx_event event;
    struct pollfd poll_fd;

    world_begin_threads(&asking.world, 1);
    part_init(&asking.a, &asking.world, "a");
    asking.a.receive = answer_double;
    part_spawn(&asking.a);
    CHECK_OK(lbx_event_open(&event));
    ask_make(&asking, 21, LBX_FOREVER);
    while (lbx_operation_poll(&asking.ask, &event.waker) == LBX_PENDING) {
        poll_fd = (struct pollfd){.fd = event.fd, .events = POLLIN};
        CHECK_INT(1, poll(&poll_fd, 1, -1));
        lbx_event_clear(&event);
    }
    CHECK_OK(lbx_operation_status(&asking.ask));
    CHECK_INT(42, number_of(asking.answer.message));
    lbx_operation_fini(&asking.ask);
    lbx_event_close(&event);
    world_end(&asking.world);
}

// ---- Threads ----

struct crowd {
    struct world world;
    struct part a;
    _Atomic long answers;
    _Atomic long late;
};

static void
ask_often(unsigned index, void *context)
{
    struct crowd *crowd = context;

    const int rounds = (int)test_rounds(4001, 100001);

    for (int i = 1; i <= rounds; i++) {
        int number = i * 8 + (int)index;
        lbx_envelope question = lbx_envelope_of(letter(number), 10);
        lbx_envelope answer;
        lbx_operation ask;
        // One in four gives up at about the time the answer comes. The last one
        // waits, so that all questions before it have been handled.
        int64_t deadline_ns = i % 4 == 0 && i < rounds
                                  ? lbx_deadline_after(NULL, i % 16 * LBX_US)
                                  : LBX_FOREVER;
        lbx_status status;

        CHECK_OK(lbx_ask_init(&ask, crowd->world.system, crowd->a.self,
                              &question, &answer, deadline_ns));
        status = lbx_operation_wait(&ask);
        if (status == LBX_OK) {
            CHECK_INT(2 * number, number_of(answer.message));
            atomic_fetch_add(&crowd->answers, 1);
        } else {
            CHECK_STATUS(LBX_TIMEOUT, status);
            atomic_fetch_add(&crowd->late, 1);
        }
        lbx_operation_fini(&ask);
    }
}

static lbx_status
answer_quietly(lbx_context *context, struct part *part, void *message)
{
    (void)part;
    lbx_context_reply(context, letter(number_of(message) * 2));
    return LBX_OK;
}

TEST_CITING("WAIT-1 ACTOR-3", every_ask_is_answered_or_times_out)
{
    static struct crowd crowd;
    long total = 3 * test_rounds(4001, 100001);

    world_begin_threads(&crowd.world, 2);
    part_init(&crowd.a, &crowd.world, "a");
    crowd.a.silent = true;
    crowd.a.receive = answer_quietly;
    part_spawn(&crowd.a);
    threads_run(3, ask_often, &crowd);
    world_end(&crowd.world);
    CHECK_INT(total, atomic_load(&crowd.answers) + atomic_load(&crowd.late));
    // Every question was ended, and so was every answer that was not received.
    CHECK_INT(atomic_load(&crowd.late), atomic_load(&crowd.world.dead_count));
    CHECK_INT(total + atomic_load(&crowd.late),
              atomic_load(&crowd.world.ended));
}

static void
ask_the_dying(unsigned index, void *context)
{
    struct world *world = context;
    struct part a;

    (void)index;
    part_init(&a, world, "a");
    a.silent = true;
    a.receive = answer_quietly;
    for (int i = 1; i <= test_rounds(4000, 100000); i++) {
        lbx_props props = part_props(&a);
        lbx_envelope question = lbx_envelope_of(letter(i), 10);
        lbx_envelope answer;
        lbx_operation ask;
        lbx_status status;
        lbx_ref ref;

        CHECK_OK(lbx_system_spawn(world->system, &props, NULL, &ref));
        CHECK_OK(lbx_ask_init(&ask, world->system, ref, &question, &answer,
                              LBX_FOREVER));
        status = lbx_operation_poll(&ask, NULL);
        CHECK(status == LBX_PENDING || status == LBX_OK);
        lbx_ref_stop(ref);
        status = lbx_operation_wait(&ask);
        CHECK(status == LBX_OK || status == LBX_NOT_FOUND);
        lbx_operation_fini(&ask);
    }
    EVENTUALLY(atomic_load(&a.stops) == atomic_load(&a.starts));
}

ACTOR_TEST_THREADS("ACTOR-7", ask_of_one_that_is_being_stopped_always_ends, 2)
{
    threads_run(2, ask_the_dying, world);
}
