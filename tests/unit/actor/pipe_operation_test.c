/* SPDX-License-Identifier: Apache-2.0 */
/* Pipes of any operation: it ends in a message to its actor, or with it. */
#include <letterbox/mailbox.h>
#include <string.h>

#include "actor/inquest.h"

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
    a->receive = inquest_write_result;
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
    (void)inquest_ask(context, part, &inquiry);
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
