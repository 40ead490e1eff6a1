/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations that are cancelled while another thread finishes them: WAIT-3 to
 * WAIT-5, and no message is lost (MSG-1).
 */
#include "mailbox/fixture.h"

struct slow_waker {
    struct box box;
    _Atomic bool has_begun;
    _Atomic bool has_ended;
};

static void
wake_slowly(void *context)
{
    struct slow_waker *slow = context;

    slow->has_begun = true;
    for (int i = 0; i < 200; i++)
        sched_yield();
    slow->has_ended = true;
}

static void
send_one(void *context)
{
    struct slow_waker *slow = context;

    box_send(&slow->box, 1);
}

// Whoever frees what the waker uses, after cancel, is safe.
TEST_CITING("WAIT-5", cancel_awaits_a_waker_that_runs_in_another_thread)
{
    for (int round = 0; round < 50; round++) {
        struct slow_waker slow = {.has_begun = false};
        lbx_waker waker = {wake_slowly, &slow};
        struct thread thread;
        lbx_operation receive;
        void *message = NULL;

        slow.box = box_unbounded();
        CHECK_OK(lbx_consumer_receive_init(&receive, slow.box.out, &message,
                                           LBX_FOREVER));
        CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&receive, &waker));
        thread_start(&thread, send_one, &slow);
        EVENTUALLY(slow.has_begun);
        CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&receive));
        CHECK(slow.has_ended);
        lbx_operation_fini(&receive);
        thread_join(&thread);
        CHECK_RECEIVES(&slow.box, 1);
        box_end(&slow.box);
    }
}

struct give_up {
    struct box box;
    _Atomic int got;
};

static void
send_or_give_up(unsigned index, void *context)
{
    struct give_up *world = context;

    for (int i = 0; i < 500; i++) {
        lbx_operation receive;
        void *message = NULL;
        struct bell bell = {0};

        if (index == 0) {
            box_send(&world->box, 1);
            continue;
        }
        CHECK_OK(lbx_consumer_receive_init(&receive, world->box.out, &message,
                                           LBX_FOREVER));
        if (bell_poll(&receive, &bell) == LBX_PENDING)
            (void)lbx_operation_cancel(&receive);
        if (lbx_operation_status(&receive) == LBX_OK)
            atomic_fetch_add(&world->got, 1);
        lbx_operation_fini(&receive);
    }
}

// WAIT-3, MSG-1 under a race: what the cancelled did not get is still there.
TEST_CITING("WAIT-3 MSG-1", racing_cancels_lose_no_message)
{
    struct give_up world = {.got = 0};

    world.box = box_unbounded();
    threads_run(3, send_or_give_up, &world);
    CHECK_INT(500, world.got + (int)lbx_mailbox_depth(world.box.mailbox));
    while (box_look(&world.box) == LBX_OK)
        world.got++;
    CHECK_INT(500, world.got);
    box_end(&world.box);
}

static void
take_or_give_up(unsigned index, void *context)
{
    struct give_up *world = context;

    for (int i = 0; i < 500; i++) {
        lbx_operation send;
        void *message;

        if (index == 0) {
            if (lbx_consumer_try_receive(world->box.out, &message) == LBX_OK)
                atomic_fetch_sub(&world->got, 1);
            continue;
        }
        CHECK_OK(lbx_producer_send_init(&send, world->box.in, letter(1),
                                        LBX_FOREVER));
        if (lbx_operation_poll(&send, NULL) == LBX_OK ||
            lbx_operation_cancel(&send) == LBX_OK)
            atomic_fetch_add(&world->got, 1);
        lbx_operation_fini(&send);
    }
}

// WAIT-4 under a race: what cancel called sent is in, what it did not is out.
TEST_CITING("WAIT-4 MSG-1", racing_cancelled_sends_are_wholly_in_or_out)
{
    lbx_mailbox_options options = limited_options(2, LBX_OVERFLOW_BLOCK);
    struct give_up world = {.got = 0};

    world.box = box_make(LBX_KIND_BOUNDED, &options);
    threads_run(3, take_or_give_up, &world);
    CHECK_INT(world.got, lbx_mailbox_depth(world.box.mailbox));
    CHECK_INT(0, box_stats(&world.box).waiting_senders);
    box_end(&world.box);
}
