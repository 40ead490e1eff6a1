/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals: one wake-up per notify, one permit remembered (C-19 to C-21), and
 * the signal of a mailbox.
 */
#include "mailbox/fixture.h"
#include "support/torture.h"

struct listener {
    lbx_operation operation;
    struct bell bell;
};

static void
listen_to(struct listener *listener, lbx_signal *signal)
{
    *listener = (struct listener){.bell = {0}};
    CHECK_OK(lbx_signal_wait_init(&listener->operation, signal, LBX_FOREVER));
}

static lbx_status
listener_poll(struct listener *listener)
{
    return bell_poll(&listener->operation, &listener->bell);
}

static lbx_signal *
make_signal(void)
{
    lbx_signal *signal;

    CHECK_OK(lbx_signal_create(NULL, NULL, &signal));
    return signal;
}

TEST_CITING("C-20", wait_ends_with_a_notify)
{
    LOCAL_SIGNAL(signal) = make_signal();
    struct listener listener;

    listen_to(&listener, signal);
    CHECK_STATUS(LBX_PENDING, listener_poll(&listener));
    CHECK_STATUS(LBX_PENDING, listener_poll(&listener));
    CHECK_INT(0, listener.bell.rings);
    lbx_signal_notify(signal);
    CHECK_INT(1, listener.bell.rings);
    CHECK_OK(listener_poll(&listener));
    lbx_operation_fini(&listener.operation);
}

// Several notifies without a waiter merge into one permit.
TEST_CITING("C-21", one_permit_is_remembered_and_only_one)
{
    LOCAL_SIGNAL(signal) = make_signal();
    struct listener first;
    struct listener second;

    lbx_signal_notify(signal);
    lbx_signal_notify(signal);
    lbx_signal_notify(signal);
    listen_to(&first, signal);
    listen_to(&second, signal);
    CHECK_OK(listener_poll(&first));
    CHECK_STATUS(LBX_PENDING, listener_poll(&second));
    lbx_operation_fini(&first.operation);
    lbx_operation_fini(&second.operation);
}

TEST_CITING("C-21 R-35", each_notify_wakes_the_one_that_waited_longest)
{
    LOCAL_SIGNAL(signal) = make_signal();
    struct listener listeners[3];

    for (int i = 0; i < 3; i++) {
        listen_to(&listeners[i], signal);
        CHECK_STATUS(LBX_PENDING, listener_poll(&listeners[i]));
    }
    for (int i = 0; i < 3; i++) {
        lbx_signal_notify(signal);
        CHECK_INT(1, listeners[i].bell.rings);
        CHECK_OK(listener_poll(&listeners[i]));
        if (i < 2)
            CHECK_STATUS(LBX_PENDING, listener_poll(&listeners[i + 1]));
        lbx_operation_fini(&listeners[i].operation);
    }
}

// embassy#6964: the wake-up of a wait that is given up goes to the next.
TEST_CITING("MSG-10", cancelled_wait_passes_its_notification_on)
{
    LOCAL_SIGNAL(signal) = make_signal();
    struct listener first;
    struct listener second;

    listen_to(&first, signal);
    listen_to(&second, signal);
    CHECK_STATUS(LBX_PENDING, listener_poll(&first));
    CHECK_STATUS(LBX_PENDING, listener_poll(&second));
    lbx_signal_notify(signal);
    CHECK_INT(1, first.bell.rings);
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&first.operation));
    CHECK_INT(1, second.bell.rings);
    CHECK_OK(listener_poll(&second));
    lbx_operation_fini(&first.operation);
    lbx_operation_fini(&second.operation);
}

// And with no next, it becomes the permit.
TEST_CITING("MSG-10", notification_of_the_last_waiter_becomes_the_permit)
{
    LOCAL_SIGNAL(signal) = make_signal();
    struct listener first;

    listen_to(&first, signal);
    CHECK_STATUS(LBX_PENDING, listener_poll(&first));
    lbx_signal_notify(signal);
    lbx_operation_fini(&first.operation);
    CHECK_OK(lbx_signal_wait_until(signal, 0));
    CHECK_STATUS(LBX_TIMEOUT, lbx_signal_wait_until(signal, 0));
}

// A wait that was done and polled has used its notification up.
TEST_CITING("C-21", ended_wait_keeps_what_it_consumed)
{
    LOCAL_SIGNAL(signal) = make_signal();
    struct listener first;

    lbx_signal_notify(signal);
    listen_to(&first, signal);
    CHECK_OK(listener_poll(&first));
    CHECK_OK(lbx_operation_cancel(&first.operation));
    lbx_operation_fini(&first.operation);
    CHECK_STATUS(LBX_TIMEOUT, lbx_signal_wait_until(signal, 0));
}

TEST_CITING("C-32", destroyed_wait_leaves_no_registration)
{
    LOCAL_SIGNAL(signal) = make_signal();
    struct listener first;

    listen_to(&first, signal);
    CHECK_STATUS(LBX_PENDING, listener_poll(&first));
    lbx_operation_fini(&first.operation);
    lbx_signal_notify(signal);
    CHECK_INT(0, first.bell.rings);
    CHECK_OK(lbx_signal_wait_until(signal, 0)); // kept as the permit
}

TEST_CITING("WAIT-9", signal_wait_has_a_deadline)
{
    TEST_CLOCK(time, clock);
    lbx_operation wait;
    LOCAL_SIGNAL(signal);

    CHECK_OK(lbx_signal_create(NULL, &clock, &signal));
    CHECK_OK(
        lbx_signal_wait_init(&wait, signal, test_clock_now(&time) + LBX_MS));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&wait, NULL));
    test_clock_advance(&time, LBX_MS);
    CHECK_STATUS(LBX_TIMEOUT, lbx_operation_poll(&wait, NULL));
    lbx_signal_notify(signal); // not for it any more
    CHECK_STATUS(LBX_TIMEOUT, lbx_operation_poll(&wait, NULL));
    lbx_operation_fini(&wait);
    CHECK_OK(lbx_signal_wait_until(signal, 0));
}

struct pair {
    lbx_signal *ping;
    lbx_signal *pong;
};

static void
play(unsigned index, void *context)
{
    struct pair *pair = context;

    for (int round = 0; round < 1000; round++) {
        if (index == 0) {
            lbx_signal_notify(pair->ping);
            CHECK_OK(lbx_signal_wait_until(pair->pong, LBX_FOREVER));
        } else {
            CHECK_OK(lbx_signal_wait_until(pair->ping, LBX_FOREVER));
            lbx_signal_notify(pair->pong);
        }
    }
}

// One in flight: what finds a lost wake-up where heavy load would cover it.
TEST_CITING("MSG-9", ping_pong_over_two_signals_never_hangs)
{
    struct pair pair = {make_signal(), make_signal()};

    threads_run(2, play, &pair);
    lbx_signal_unref(pair.ping);
    lbx_signal_unref(pair.pong);
}

TEST_CITING("C-19", signal_lives_as_long_as_a_handle_or_a_wait)
{
    TORTURE(memory, allocator);
    struct listener listener;
    lbx_signal *signal;

    CHECK_OK(lbx_signal_create(&allocator, NULL, &signal));
    CHECK_PTR(signal, lbx_signal_ref(signal));
    lbx_signal_unref(signal);
    listen_to(&listener, signal);
    CHECK_STATUS(LBX_PENDING, listener_poll(&listener));
    lbx_signal_unref(signal);
    CHECK_INT(1, memory.live_blocks);
    lbx_operation_fini(&listener.operation);
    CHECK_INT(0, memory.live_blocks);
}

static void
let_go(void *context)
{
    lbx_signal **signal = context;

    lbx_signal_unref(*signal);
    *signal = NULL;
}

// WAIT-6: the last handle may go inside the waker that its notify called.
TEST_CITING("WAIT-6", signal_may_be_given_up_inside_its_own_notify)
{
    lbx_signal *signal = make_signal();
    lbx_waker waker = {let_go, &signal};
    LOCAL_OPERATION(wait);

    CHECK_OK(lbx_signal_wait_init(&wait, signal, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&wait, &waker));
    lbx_signal_notify(signal);
    CHECK_PTR(NULL, signal);
    CHECK_OK(lbx_operation_poll(&wait, NULL));
}

TEST(null_signals_are_harmless)
{
    lbx_operation operation;

    lbx_signal_notify(NULL);
    lbx_signal_unref(NULL);
    CHECK_PTR(NULL, lbx_signal_ref(NULL));
    CHECK_STATUS(LBX_INVALID, lbx_signal_create(NULL, NULL, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_signal_wait_until(NULL, 0));
    CHECK_STATUS(LBX_INVALID, lbx_signal_wait_init(&operation, NULL, 0));
}

// ---- A mailbox's own signal ----

static void
notifies_its_signal_after_each_message(const char *kind)
{
    LOCAL_BOX(box) = BOX(kind, options_for(kind, 10));
    LOCAL_SIGNAL(signal);

    CHECK_OK(lbx_consumer_signal(box.out, &signal));
    CHECK_STATUS(LBX_TIMEOUT, lbx_signal_wait_until(signal, 0));
    box_send(&box, 1);
    CHECK_OK(lbx_signal_wait_until(signal, 0));
    CHECK_STATUS(LBX_TIMEOUT, lbx_signal_wait_until(signal, 0));
    box_send_system(&box, 2);
    CHECK_OK(lbx_signal_wait_until(signal, 0));
    CHECK_RECEIVES(&box, 2, 1);
}

EVERY_KIND(KIND_CITING, "C-37", notifies_its_signal_after_each_message)

BOX_TEST("C-02", every_call_gives_the_same_signal, box_unbounded())
{
    LOCAL_SIGNAL(second);
    LOCAL_SIGNAL(first);

    CHECK_OK(lbx_consumer_signal(box->out, &first));
    CHECK_OK(lbx_consumer_signal(box->out, &second));
    CHECK_PTR(first, second);
}

// A handle to the wake-up object may outlive the mailbox.
TEST_CITING("C-02", mailboxs_signal_outlives_the_mailbox)
{
    TORTURE(memory, allocator);
    lbx_signal *signal;
    struct box box =
        BOX(LBX_KIND_UNBOUNDED, plain_options(), with.allocator = &allocator);

    CHECK_OK(lbx_consumer_signal(box.out, &signal));
    box_send(&box, 1);
    box_end(&box);
    CHECK_OK(lbx_signal_wait_until(signal, 0));
    lbx_signal_unref(signal);
    CHECK_INT(0, memory.live_blocks);
}
