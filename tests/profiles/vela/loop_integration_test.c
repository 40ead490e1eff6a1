/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vela: test_actor_concurrency.py with loops, all ten. integration_test.c has
 * the same questions for mailboxes alone.
 */
#include "profiles/vela/actor.h"
#include <letterbox/compat/vela.h>

enum {
    SENDERS = 5,
    EACH = 200
};

/* A handler that checks each sender's order. */
struct crowd {
    struct actor actor;
    intptr_t next[SENDERS];
};

static lbx_status
check_turn(struct actor *actor, intptr_t number)
{
    struct crowd *crowd = (struct crowd *)actor;

    CHECK_INT(crowd->next[number / 10000]++, number % 10000);
    return LBX_OK;
}

static void
send_turns(unsigned index, void *context)
{
    struct crowd *crowd = context;

    for (int turn = 0; turn < EACH; turn++)
        actor_send(&crowd->actor, (intptr_t)index * 10000 + turn);
}

TEST_CITING("V-01 V-36", loop_many_senders_to_one)
{
    struct crowd crowd = {.actor.also = check_turn};
    lbx_system *system = vela_system(2);

    actor_create(&crowd.actor, system);
    threads_run(SENDERS, send_turns, &crowd); // only then is it started
    CHECK_INT(SENDERS * EACH, actor_stats(&crowd.actor).waiting);
    actor_start(&crowd.actor);
    AWAIT(&crowd.actor, SENDERS * EACH);
    CHECK_INT(0, actor_stats(&crowd.actor).waiting);
    end(system, &crowd.actor);
}

TEST_CITING("V-21 V-36", loop_fifo_per_sender_with_several)
{
    struct crowd crowd = {.actor.also = check_turn,
                          .actor.options = LBX_VELA_LOOP_OPTIONS_INIT};
    lbx_system *system = vela_system(2);

    crowd.actor.options.max_throughput = 10; // V-36: the fairness quantum
    actor_create(&crowd.actor, system);
    actor_start(&crowd.actor);
    threads_run(SENDERS, send_turns, &crowd);
    AWAIT(&crowd.actor, SENDERS * EACH);
    for (int sender = 0; sender < SENDERS; sender++)
        CHECK_INT(EACH, crowd.next[sender]);
    CHECK(actor_stats(&crowd.actor).cycles >= SENDERS * EACH / 10);
    end(system, &crowd.actor);
}

/* The kind with one consumer: only the thread that handles takes. */
TEST_CITING("V-21", loop_with_a_single_consumer_mailbox)
{
    struct crowd crowd = {.actor.also = check_turn,
                          .actor.options = LBX_VELA_LOOP_OPTIONS_INIT};
    lbx_system *system = vela_system(2);

    crowd.actor.options.mailbox = LBX_KIND_UNBOUNDED_SINGLE_CONSUMER;
    crowd.actor.options.max_throughput = 3;
    actor_create(&crowd.actor, system);
    actor_start(&crowd.actor);
    threads_run(SENDERS, send_turns, &crowd);
    AWAIT(&crowd.actor, SENDERS * EACH);
    end(system, &crowd.actor);
}

struct tally {
    struct actor actor;
    atomic_long sum;
};

static lbx_status
add_up(struct actor *actor, intptr_t number)
{
    atomic_fetch_add(&((struct tally *)actor)->sum, (long)number);
    return LBX_OK;
}

static void
send_ones(unsigned index, void *context)
{
    (void)index;
    for (int i = 0; i < EACH; i++)
        actor_send(context, 1);
}

TEST_CITING("V-01", loop_sends_are_thread_safe)
{
    struct tally tally = {.actor.also = add_up};
    lbx_system *system = vela_system(2);

    actor_create(&tally.actor, system);
    actor_start(&tally.actor);
    threads_run(SENDERS, send_ones, &tally.actor);
    AWAIT(&tally.actor, SENDERS * EACH);
    CHECK_INT(SENDERS * EACH, atomic_load(&tally.sum));
    end(system, &tally.actor);
}

TEST_CITING("V-08 V-36", loop_keeps_the_order_of_one_sender)
{
    struct crowd crowd = {.actor.also = check_turn};
    lbx_system *system = vela_system(2);

    actor_create(&crowd.actor, system);
    actor_start(&crowd.actor);
    for (int i = 0; i < 2000; i++)
        actor_send(&crowd.actor, i);
    AWAIT(&crowd.actor, 2000);
    end(system, &crowd.actor);
}

TEST_CITING("V-08", loop_processes_a_large_queue)
{
    struct tally tally = {.actor.also = add_up};
    lbx_system *system = vela_system(2);
    long count = test_rounds(100000, 1000000);

    actor_create(&tally.actor, system);
    for (long i = 0; i < count; i++)
        actor_send(&tally.actor, 1);
    actor_start(&tally.actor);
    AWAIT(&tally.actor, count);
    CHECK_INT(count, atomic_load(&tally.sum));
    end(system, &tally.actor);
}

TEST_CITING("V-09 V-11", loop_keeps_fifo_with_overflow)
{
    lbx_mailbox_options box = lbx_vela_mailbox_options();
    struct actor actor = {.options = LBX_VELA_LOOP_OPTIONS_INIT};
    lbx_system *system = vela_system(0);
    static const int expected[] = {0, 1, 2, 3, 4, 10, 11, 12, 13, 14};

    box.capacity_messages = 5;
    actor.options.mailbox = LBX_KIND_BOUNDED;
    actor.options.mailbox_options = &box;
    actor_create(&actor, system);
    actor_start(&actor);
    for (int i = 0; i < 20; i++) {
        if (i == 10)
            run(system);
        CHECK_STATUS(i % 10 < 5 ? LBX_OK : LBX_FULL,
                     lbx_vela_loop_send(actor.loop, message_of(i)));
    }
    run(system);
    CHECK_INT(10, actor.count);
    for (int i = 0; i < 10; i++)
        CHECK_INT(expected[i], actor.got[i]);
    end(system, &actor);
}

TEST_CITING("V-20 V-36", loop_hundred_actors)
{
    enum {
        ACTORS = 100
    };
    static struct tally tallies[ACTORS];
    lbx_system *system = vela_system(2);

    for (int i = 0; i < ACTORS; i++) {
        tallies[i].actor.also = add_up;
        actor_create(&tallies[i].actor, system);
        actor_start(&tallies[i].actor);
    }
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < ACTORS; i++)
            actor_send(&tallies[i].actor, i);
    }
    for (int i = 0; i < ACTORS; i++) {
        AWAIT(&tallies[i].actor, 10);
        CHECK_INT(10 * i, atomic_load(&tallies[i].sum));
        lbx_vela_loop_destroy(tallies[i].actor.loop);
    }
    lbx_system_destroy(system);
}

struct gated {
    struct actor actor;
    lbx_signal *entered;
    lbx_signal *leave;
};

static lbx_status
dawdle(struct actor *actor, intptr_t number)
{
    struct gated *gated = (struct gated *)actor;

    (void)number;
    lbx_signal_notify(gated->entered);
    return lbx_signal_wait_until(gated->leave, LBX_FOREVER);
}

/* One thread is held by a slow handler; the other serves all others. */
TEST_CITING("V-20", loop_slow_actors_do_not_stall_others)
{
    struct gated slow = {.actor.also = dawdle};
    struct actor quick = {0};
    lbx_system *system = vela_system(2);

    CHECK_OK(lbx_signal_create(NULL, NULL, &slow.entered));
    CHECK_OK(lbx_signal_create(NULL, NULL, &slow.leave));
    actor_create(&slow.actor, system);
    actor_create(&quick, system);
    actor_start(&slow.actor);
    actor_start(&quick);
    actor_send(&slow.actor, 1);
    CHECK_OK(lbx_signal_wait_until(slow.entered, LBX_FOREVER));
    for (int i = 1; i <= 100; i++) {
        actor_send(&quick, i);
        AWAIT(&quick, i);
    }
    CHECK_INT(0, actor_stats(&slow.actor).processed);
    lbx_signal_notify(slow.leave);
    AWAIT(&slow.actor, 1);
    lbx_vela_loop_destroy(quick.loop);
    end(system, &slow.actor);
    lbx_signal_unref(slow.entered);
    lbx_signal_unref(slow.leave);
}

struct player {
    struct actor actor;
    struct player *other;
    intptr_t last;
};

/* Hits the ball back, one higher each time, until it has been over the net
 * often enough. */
static lbx_status
hit(struct actor *actor, intptr_t ball)
{
    struct player *player = (struct player *)actor;

    if (ball < player->last)
        actor_send(&player->other->actor, ball + 1);
    return LBX_OK;
}

static void
play(int64_t threads, intptr_t last)
{
    struct player left = {.actor.also = hit, .last = last};
    struct player right = {.actor.also = hit, .last = last};
    lbx_system *system = vela_system(threads);

    left.other = &right;
    right.other = &left;
    actor_create(&left.actor, system);
    actor_create(&right.actor, system);
    actor_start(&left.actor);
    actor_start(&right.actor);
    actor_send(&left.actor, 1);
    AWAIT(&left.actor, last / 2);
    AWAIT(&right.actor, last / 2);
    lbx_vela_loop_destroy(right.actor.loop);
    end(system, &left.actor);
}

TEST_CITING("V-36", loop_two_way_messaging)
{
    play(2, 2);
}

TEST_CITING("V-36", loop_ping_pong)
{
    play(2, 1000);
}

/* One thread is enough for both: neither waits for the other. */
TEST_CITING("V-36 R-18", loop_ping_pong_on_one_thread)
{
    play(1, 1000);
}

/* ---- The Rust port ---- */

/* What was sent is still handled when the mailbox is closed; later sends are
 * told. */
ACTOR_TEST("V-37", loop_of_a_closed_mailbox_handles_the_rest)
{
    actor_start(actor);
    actor_send(actor, 1);
    actor_send(actor, 2);
    CHECK_OK(lbx_mailbox_close(
        lbx_producer_mailbox(lbx_vela_loop_producer(actor->loop)),
        LBX_CLOSE_DRAIN));
    CHECK_STATUS(LBX_CLOSED, lbx_vela_loop_send(actor->loop, message_of(3)));
    run(system);
    CHECK_INT(2, actor->count);
    actor_stop(actor);
}

static void
send_ten(void *context)
{
    struct actor *actor = context;

    for (int i = 1; i <= 10; i++)
        CHECK_OK(lbx_producer_send(lbx_vela_loop_producer(actor->loop),
                                   message_of(i)));
}

/* A sender that waits for room gets it from the loop. */
TEST_CITING("V-37", loop_gives_room_to_senders_that_wait)
{
    lbx_mailbox_options box = lbx_vela_mailbox_options();
    struct actor actor = {.options = LBX_VELA_LOOP_OPTIONS_INIT};
    lbx_system *system = vela_system(2);
    struct thread sender;

    box.capacity_messages = 1;
    box.overflow = LBX_OVERFLOW_BLOCK;
    actor.options.mailbox = LBX_KIND_BOUNDED;
    actor.options.mailbox_options = &box;
    actor_create(&actor, system);
    thread_start(&sender, send_ten, &actor);
    actor_start(&actor);
    thread_join(&sender);
    AWAIT(&actor, 10);
    for (int i = 1; i <= 10; i++)
        CHECK_INT(i, actor.got[i - 1]);
    end(system, &actor);
}
