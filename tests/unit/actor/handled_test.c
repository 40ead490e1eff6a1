/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting until a message has been handled: every way in which one can end, and
 * that each says so exactly once.
 */
#include <letterbox/actor.h>
#include <letterbox/mailbox.h>

#include "actor/fixture.h"
#include "support/torture.h"

struct waiting {
    struct world world;
    struct part a;
    struct part b;
    lbx_operation handled;
    _Atomic int rings;
};

static void
ring(void *context)
{
    atomic_fetch_add((_Atomic int *)context, 1);
}

static lbx_status
look(struct waiting *waiting)
{
    lbx_waker waker = {ring, &waiting->rings};

    return lbx_operation_poll(&waiting->handled, &waker);
}

static void
waiting_begin(struct waiting *waiting)
{
    world_begin(&waiting->world);
    atomic_store(&waiting->rings, 0);
    part_init(&waiting->a, &waiting->world, "a");
    part_init(&waiting->b, &waiting->world, "b");
}

/* Tells part a, which has been spawned. */
static void
tell(struct waiting *waiting, int number)
{
    lbx_envelope envelope = lbx_envelope_of(letter(number), 10);

    CHECK_OK(lbx_tell_handled_init(&waiting->handled, waiting->world.system,
                                   waiting->a.self, &envelope, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, look(waiting));
}

/* It has ended so, after one ring, and with nothing lost but these. */
static void
waiting_end(struct waiting *waiting, lbx_status expected, unsigned dead)
{
    world_run(&waiting->world);
    CHECK_STATUS(expected, look(waiting));
    CHECK_STATUS(expected, look(waiting)); // still
    CHECK_INT(1, atomic_load(&waiting->rings));
    CHECK_INT(dead, waiting->world.dead_count);
    lbx_operation_fini(&waiting->handled);
    world_end(&waiting->world);
}

#define WAITING_TEST(name, expected, dead)                                     \
    FIXTURE_TEST(waiting, "", name, waiting_begin(waiting),                    \
                 waiting_end(waiting, expected, dead))

WAITING_TEST(a_message_is_handled_when_its_handler_has_returned_ok, LBX_OK, 0)
{
    part_spawn(&waiting->a);
    tell(waiting, 7);
    CHECK_STATUS(LBX_PENDING, look(waiting)); // no actor has run
    CHECK_DIARY(&waiting->world, "a+ a:7");
}

static lbx_status
refuse(lbx_context *context, struct part *part, void *message)
{
    (void)context;
    (void)part;
    return number_of(message) == 0 ? LBX_OK : LBX_DENIED;
}

WAITING_TEST(a_failure_is_what_the_handler_answered, LBX_DENIED, 0)
{
    waiting->a.receive = refuse;
    part_spawn(&waiting->a);
    tell(waiting, 7);
}

static lbx_status
mend(lbx_context *context, struct part *part, lbx_status status, void *message)
{
    (void)context;
    (void)part;
    (void)status;
    (void)message;
    return LBX_OK;
}

WAITING_TEST(a_failure_that_was_mended_is_ok, LBX_OK, 0)
{
    waiting->a.receive = refuse;
    waiting->a.mend = mend;
    part_spawn(&waiting->a);
    tell(waiting, 7);
}

/* ---- A supervisor that decides ---- */

static lbx_directive
decide(lbx_context *context, struct part *part, lbx_child_failure *failure)
{
    (void)context;
    failure->retry_ns = LBX_SECOND;
    return *(const lbx_directive *)part->context;
}

static lbx_status
fail_once(lbx_context *context, struct part *part, void *message)
{
    (void)context;
    (void)message;
    return atomic_load(&part->received) <= 1 ? LBX_DENIED : LBX_OK;
}

/* Part b is the parent of part a. */
static void
supervised(struct waiting *waiting, lbx_directive *directive)
{
    waiting_begin(waiting);
    waiting->b.children[0] = &waiting->a;
    waiting->b.decide = decide;
    waiting->b.context = directive;
    waiting->a.receive = fail_once;
    part_spawn(&waiting->b);
    world_run(&waiting->world);
}

TEST(a_message_that_is_retried_is_reported_when_it_succeeds)
{
    lbx_directive directive = LBX_DIRECTIVE_RETRY;
    struct waiting waiting;

    supervised(&waiting, &directive);
    tell(&waiting, 7);
    world_run(&waiting.world);
    CHECK_STATUS(LBX_PENDING, look(&waiting)); // failed, and not for good
    CHECK_INT(0, atomic_load(&waiting.rings));
    world_advance(&waiting.world, LBX_SECOND);
    waiting_end(&waiting, LBX_OK, 0);
}

TEST(whatever_a_supervisor_decides_the_failure_is_reported)
{
    static const struct {
        lbx_directive directive;
        unsigned dead;
    } ways[] = {{LBX_DIRECTIVE_RESUME, 0},
                {LBX_DIRECTIVE_RESTART, 0},
                {LBX_DIRECTIVE_STOP, 1},
                {LBX_DIRECTIVE_ESCALATE, 0},
                {LBX_DIRECTIVE_DEAD_LETTER, 1}};

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        lbx_directive directive = ways[i].directive;
        struct waiting waiting;

        supervised(&waiting, &directive);
        tell(&waiting, 7);
        world_run(&waiting.world);
        CHECK_STATUS(LBX_DENIED, look(&waiting));
        CHECK_INT(1, atomic_load(&waiting.rings));
        lbx_operation_fini(&waiting.handled);
        world_end(&waiting.world);
    }
}

/* ---- Messages that are not handled ---- */

WAITING_TEST(an_actor_that_has_ended_handles_nothing, LBX_NOT_FOUND, 1)
{
    part_spawn(&waiting->a);
    world_run(&waiting->world);
    lbx_ref_stop(waiting->a.self);
    world_run(&waiting->world);
    tell(waiting, 7);
}

WAITING_TEST(an_actor_that_ends_first_has_not_handled_it, LBX_NOT_FOUND, 1)
{
    part_spawn(&waiting->a);
    world_run(&waiting->world);
    tell(waiting, 7);
    lbx_ref_stop(waiting->a.self); // overtakes it
}

static bool
is_nothing(const void *message)
{
    (void)message;
    return false;
}

static lbx_status
never(lbx_context *context, void *state, void *message)
{
    (void)context;
    (void)state;
    (void)message;
    return LBX_OK;
}

static const lbx_match no_match = {NULL, is_nothing, never};
static const lbx_behaviour deaf = {.size_bytes = sizeof(lbx_behaviour),
                                   .name = "deaf",
                                   .matches = &no_match,
                                   .match_count = 1};

WAITING_TEST(an_actor_without_a_handler_does_not_support_it, LBX_UNSUPPORTED, 1)
{
    lbx_props props = LBX_PROPS_INIT;

    props.behaviour = &deaf;
    CHECK_OK(lbx_system_spawn(waiting->world.system, &props, "deaf",
                              &waiting->a.self));
    tell(waiting, 7);
}

WAITING_TEST(a_message_whose_deadline_has_passed_is_too_late, LBX_TIMEOUT, 1)
{
    lbx_envelope envelope = lbx_envelope_of(letter(7), 10);

    part_spawn(&waiting->a);
    world_run(&waiting->world);
    envelope.deadline_ns = waiting->world.time.now_ns + LBX_SECOND;
    CHECK_OK(lbx_tell_handled_init(&waiting->handled, waiting->world.system,
                                   waiting->a.self, &envelope, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, look(waiting));
    world_advance(&waiting->world, 2 * LBX_SECOND);
}

/* ---- Messages that go elsewhere first ---- */

WAITING_TEST(a_stashed_message_is_handled_when_it_comes_back, LBX_OK, 0)
{
    part_spawn(&waiting->a);
    bid(&waiting->a, do_stash, NULL);
    tell(waiting, 7);
    world_run(&waiting->world);
    CHECK_STATUS(LBX_PENDING, look(waiting));
    bid(&waiting->a, do_unstash, NULL);
}

static lbx_status
clear(lbx_context *context, struct part *part, void *argument)
{
    (void)part;
    (void)argument;
    lbx_context_stash_clear(context);
    return LBX_OK;
}

WAITING_TEST(a_stash_that_is_cleared_cancels, LBX_CANCELLED, 0)
{
    part_spawn(&waiting->a);
    bid(&waiting->a, do_stash, NULL);
    tell(waiting, 7);
    bid(&waiting->a, clear, NULL);
}

WAITING_TEST(a_stash_that_ends_with_its_actor_has_not_handled, LBX_NOT_FOUND, 1)
{
    part_spawn(&waiting->a);
    bid(&waiting->a, do_stash, NULL);
    tell(waiting, 7);
    world_run(&waiting->world);
    lbx_ref_stop(waiting->a.self);
}

static lbx_status
pass_on(lbx_context *context, struct part *part, void *message)
{
    struct waiting *waiting = part->context;

    (void)message;
    lbx_context_forward(context, waiting->b.self);
    lbx_context_stop(context); // its own end says nothing
    return LBX_OK;
}

WAITING_TEST(a_forwarded_message_is_handled_by_whom_it_reaches, LBX_DENIED, 0)
{
    waiting->a.receive = pass_on;
    waiting->a.context = waiting;
    waiting->b.receive = refuse;
    part_spawn(&waiting->b);
    part_spawn(&waiting->a);
    tell(waiting, 7);
}

static lbx_status
take(lbx_context *context, struct part *part, void *message)
{
    (void)part;
    (void)message;
    (void)lbx_context_take(context);
    return LBX_OK;
}

WAITING_TEST(a_message_that_is_kept_has_been_handled, LBX_OK, 0)
{
    waiting->a.receive = take;
    part_spawn(&waiting->a);
    tell(waiting, 7);
}

static lbx_status
answer(lbx_context *context, struct part *part, void *message)
{
    (void)part;
    lbx_context_reply(context, message);
    return LBX_OK;
}

WAITING_TEST(an_answer_is_not_what_is_waited_for, LBX_OK, 1)
{
    waiting->a.receive = answer;
    part_spawn(&waiting->a);
    tell(waiting, 7);
}

/* ---- Mailboxes of their own ---- */

TEST(the_wait_goes_through_any_mailbox)
{
    static const char *const kinds[] = {
        LBX_KIND_UNBOUNDED, LBX_KIND_BOUNDED, LBX_KIND_UNBOUNDED_PRIORITY,
        LBX_KIND_UNBOUNDED_CONTROL_AWARE, LBX_KIND_UNBOUNDED_DEQUE};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct waiting waiting;
        lbx_props props;

        waiting_begin(&waiting);
        waiting.a.receive = refuse;
        props = part_props(&waiting.a);
        props.mailbox = kinds[i];
        CHECK_OK(lbx_system_spawn(waiting.world.system, &props, "a",
                                  &waiting.a.self));
        tell(&waiting, 7);
        waiting_end(&waiting, LBX_DENIED, 0);
    }
}

WAITING_TEST(a_message_that_a_mailbox_drops_found_it_full, LBX_FULL, 1)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    lbx_props props;

    options.capacity_messages = 1;
    options.overflow = LBX_OVERFLOW_DROP_OLDEST;
    props = part_props(&waiting->a);
    props.mailbox = LBX_KIND_BOUNDED;
    props.mailbox_options = &options;
    CHECK_OK(
        lbx_system_spawn(waiting->world.system, &props, "a", &waiting->a.self));
    tell(waiting, 7);
    lbx_tell(waiting->a.self, letter(8)); // pushes it out
}

TEST(a_pool_passes_the_wait_on)
{
    static const lbx_pool_routing routings[] = {
        LBX_POOL_ROUTING_ROUND_ROBIN, LBX_POOL_ROUTING_SMALLEST_MAILBOX,
        LBX_POOL_ROUTING_BROADCAST, LBX_POOL_ROUTING_BALANCING};

    for (size_t i = 0; i < sizeof(routings) / sizeof(routings[0]); i++) {
        lbx_props props;
        lbx_pool pool = LBX_POOL_INIT;
        struct waiting waiting;

        waiting_begin(&waiting);
        waiting.a.receive = refuse;
        pool.routing = routings[i];
        pool.routees = 1;
        props = part_props(&waiting.a);
        pool.props = &props;
        CHECK_OK(lbx_system_spawn_pool(waiting.world.system, &pool, "pool",
                                       &waiting.a.self));
        tell(&waiting, 7);
        waiting_end(&waiting, LBX_DENIED, 0);
    }
}

/* ---- Giving up ---- */

TEST(who_gives_up_does_not_take_the_message_back)
{
    struct waiting waiting;

    waiting_begin(&waiting);
    part_spawn(&waiting.a);
    tell(&waiting, 7);
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&waiting.handled));
    lbx_operation_fini(&waiting.handled);
    CHECK_DIARY(&waiting.world, "a+ a:7");
    CHECK_INT(0, atomic_load(&waiting.rings));
    CHECK_INT(0, waiting.world.dead_count); // nor is the report one
    world_end(&waiting.world);
}

TEST(what_a_stranger_left_in_an_envelope_is_no_duty)
{
    lbx_envelope envelope = lbx_envelope_of(letter(7), 10);
    struct waiting waiting;

    waiting_begin(&waiting);
    part_spawn(&waiting.a);
    part_spawn(&waiting.b);
    envelope.reserved[0] = 1;
    envelope.sender = lbx_ref_as_sender(waiting.b.self);
    lbx_tell_envelope(waiting.a.self, &envelope);
    CHECK_OK(lbx_try_tell(waiting.a.self, &envelope));
    CHECK_DIARY(&waiting.world, "a+ a:7 a:7 b+");
    world_end(&waiting.world);
}

TEST(a_wait_for_nobody_is_over_and_its_message_a_dead_letter)
{
    lbx_envelope envelope = lbx_envelope_of(letter(7), 10);
    struct waiting waiting;

    waiting_begin(&waiting);
    CHECK_OK(lbx_tell_handled_init(&waiting.handled, waiting.world.system,
                                   lbx_ref_nobody(), &envelope, LBX_FOREVER));
    CHECK_STATUS(LBX_NOT_FOUND, lbx_operation_poll(&waiting.handled, NULL));
    lbx_operation_fini(&waiting.handled);
    CHECK_INT(1, atomic_load(&waiting.world.dead_count));
    world_end(&waiting.world);
}

/* ---- Failing memory: whatever fails, the wait ends ---- */

static void
wait_once(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    lbx_system_options options;
    struct waiting waiting;
    lbx_envelope envelope = lbx_envelope_of(letter(7), 10);
    lbx_props props;
    lbx_status status;

    (void)context;
    waiting.world.threads = 0;
    options = (lbx_system_options)LBX_SYSTEM_OPTIONS_INIT;
    options.threads = 0;
    options.allocator = &allocator;
    part_init(&waiting.a, &waiting.world, "a");
    waiting.a.silent = true;
    props = part_props(&waiting.a);
    if (lbx_system_create(&options, &waiting.world.system) != LBX_OK)
        return;
    if (lbx_system_spawn(waiting.world.system, &props, "a", &waiting.a.self) ==
        LBX_OK) {
        CHECK_OK(lbx_tell_handled_init(&waiting.handled, waiting.world.system,
                                       waiting.a.self, &envelope, LBX_FOREVER));
        status = lbx_operation_poll(&waiting.handled, NULL);
        CHECK(status == LBX_PENDING || status == LBX_NO_MEMORY);
        CHECK_OK(lbx_system_run(waiting.world.system, UINT64_MAX, NULL));
        status = lbx_operation_poll(&waiting.handled, NULL);
        CHECK(status == LBX_OK || status == LBX_NO_MEMORY ||
              status == LBX_UNKNOWN || status == LBX_NOT_FOUND);
        CHECK(memory->failures > 0 || status == LBX_OK);
        lbx_operation_fini(&waiting.handled);
    }
    CHECK_OK(lbx_system_terminate(waiting.world.system, LBX_FOREVER));
    lbx_system_destroy(waiting.world.system);
}

TEST(a_wait_ends_whatever_allocation_fails)
{
    CHECK(torture_every_allocation(wait_once, NULL) > 0);
}

/* ---- Threads ---- */

TEST(waits_end_under_threads_too)
{
    struct waiting waiting;

    world_begin_threads(&waiting.world, 2);
    part_init(&waiting.a, &waiting.world, "a");
    waiting.a.silent = true;
    atomic_store(&waiting.rings, 0);
    part_spawn(&waiting.a);
    for (int i = 0; i < test_rounds(2000, 20000); i++) {
        lbx_envelope envelope = lbx_envelope_of(letter(i % 2), 10);

        CHECK_OK(lbx_tell_handled_init(&waiting.handled, waiting.world.system,
                                       waiting.a.self, &envelope, LBX_FOREVER));
        if (i % 10 == 9) { // and some are given up at any moment
            (void)look(&waiting);
            (void)lbx_operation_cancel(&waiting.handled);
        } else {
            CHECK_OK(lbx_operation_wait(&waiting.handled));
        }
        lbx_operation_fini(&waiting.handled);
    }
    world_end(&waiting.world);
}
