/* SPDX-License-Identifier: Apache-2.0 */
/* cellex: MailboxSignal, and the local mailbox's use of it. */
#include "profiles/cellex/cellex.h"
#include <letterbox/compat/cellex.h>

static lbx_signal *
signal_create(void)
{
    lbx_signal *signal = NULL;

    CHECK_OK(lbx_signal_create(NULL, NULL, &signal));
    return signal;
}

static void
wait_start(struct waiter *waiter, lbx_signal *signal, int64_t deadline_ns)
{
    waiter_init(waiter);
    CHECK_OK(lbx_signal_wait_init(&waiter->operation, signal, deadline_ns));
}

TEST_CITING("C-19 C-20", wait_completes_after_notify)
{
    lbx_signal *signal = signal_create();
    struct waiter wait;

    wait_start(&wait, signal, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, waiter_poll(&wait));
    lbx_signal_notify(signal);
    CHECK_INT(1, atomic_load(&wait.wakes));
    CHECK_OK(waiter_poll(&wait));
    waiter_fini(&wait);
    lbx_signal_unref(signal);
}

static void
wait_in_a_thread(void *context)
{
    CHECK_OK(lbx_signal_wait_until(context, LBX_FOREVER));
}

/* The seed's scenario has two tasks; here they are threads. A notify before
 * the wait would do as well, so that there is no moment to miss. */
TEST_CITING("C-20 C-21", receiver_waits_until_notification)
{
    lbx_signal *signal = signal_create();
    struct thread waiter;

    thread_start(&waiter, wait_in_a_thread, signal);
    lbx_signal_notify(signal);
    thread_join(&waiter);
    lbx_signal_unref(signal);
}

TEST_CITING("C-21", notify_with_nobody_waiting_is_remembered)
{
    lbx_signal *signal = signal_create();
    struct waiter wait;

    lbx_signal_notify(signal);
    wait_start(&wait, signal, LBX_FOREVER);
    CHECK_OK(waiter_poll(&wait));
    CHECK_INT(0, atomic_load(&wait.wakes));
    waiter_fini(&wait);
    lbx_signal_unref(signal);
}

TEST_CITING("C-21", notifies_merge_into_one_permit)
{
    lbx_signal *signal = signal_create();
    struct waiter first, second;

    for (int i = 0; i < 5; i++)
        lbx_signal_notify(signal);
    wait_start(&first, signal, LBX_FOREVER);
    CHECK_OK(waiter_poll(&first));
    wait_start(&second, signal, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, waiter_poll(&second));
    waiter_fini(&first);
    waiter_fini(&second);
    lbx_signal_unref(signal);
}

/* Each notify wakes one, the one that has waited longest. */
TEST_CITING("C-21", each_notify_wakes_one_waiter_in_turn)
{
    lbx_signal *signal = signal_create();
    struct waiter waits[3];

    for (int i = 0; i < 3; i++) {
        wait_start(&waits[i], signal, LBX_FOREVER);
        CHECK_STATUS(LBX_PENDING, waiter_poll(&waits[i]));
    }
    for (int i = 0; i < 3; i++) {
        lbx_signal_notify(signal);
        for (int j = 0; j < 3; j++)
            CHECK_INT(j <= i, atomic_load(&waits[j].wakes));
    }
    for (int i = 0; i < 3; i++) {
        CHECK_OK(waiter_poll(&waits[i]));
        waiter_fini(&waits[i]);
    }
    lbx_signal_unref(signal);
}

/* A wait that was notified and then given up hands the wake-up on. */
TEST_CITING("C-21 C-32", cancelled_wait_passes_its_notification_on)
{
    lbx_signal *signal = signal_create();
    struct waiter first, second, third;

    wait_start(&first, signal, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, waiter_poll(&first));
    wait_start(&second, signal, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, waiter_poll(&second));
    lbx_signal_notify(signal);
    waiter_fini(&first);
    CHECK_INT(1, atomic_load(&second.wakes));
    waiter_fini(&second); // no waiter is left: it becomes the permit again
    wait_start(&third, signal, LBX_FOREVER);
    CHECK_OK(waiter_poll(&third));
    waiter_fini(&third);
    lbx_signal_unref(signal);
}

TEST_CITING("C-19", signal_handles_are_clonable)
{
    lbx_signal *signal = signal_create();
    lbx_signal *clone = lbx_signal_ref(signal);
    struct waiter wait;

    wait_start(&wait, signal, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, waiter_poll(&wait));
    lbx_signal_unref(signal);
    lbx_signal_notify(clone);
    lbx_signal_unref(clone); // the operation keeps it alive
    CHECK_OK(waiter_poll(&wait));
    waiter_fini(&wait);
}

TEST_CITING("C-19 R-02", wait_ends_at_its_deadline)
{
    struct test_clock time = TEST_CLOCK_INIT;
    lbx_clock clock = test_clock_interface(&time);
    lbx_signal *signal = NULL;
    struct waiter wait;

    CHECK_OK(lbx_signal_create(NULL, &clock, &signal));
    wait_start(&wait, signal, lbx_deadline_after(&clock, 5 * LBX_MS));
    CHECK_STATUS(LBX_PENDING, waiter_poll(&wait));
    test_clock_advance(&time, 5 * LBX_MS - 1);
    CHECK_STATUS(LBX_PENDING, waiter_poll(&wait));
    test_clock_advance(&time, 1);
    CHECK_STATUS(LBX_TIMEOUT, waiter_poll(&wait));
    waiter_fini(&wait);
    lbx_signal_unref(signal);
}

/* ---- The local mailbox ---- */

/* The consumer's signal is notified after each accepted message. */
BOX_TEST("C-02 C-37 B-07", signal_wakes_after_arrival, cellex_unbounded())
{
    lbx_signal *signal = NULL;
    struct waiter wait;

    CHECK_OK(lbx_consumer_signal(box->out, &signal));
    wait_start(&wait, signal, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, waiter_poll(&wait));
    CHECK_OK(box_send(box, 1));
    CHECK_OK(waiter_poll(&wait));
    waiter_fini(&wait);
    lbx_signal_unref(signal);
}

/* The signal is a hint: it takes nothing. */
BOX_TEST("C-02 C-21", message_is_preserved_after_wake, cellex_unbounded())
{
    lbx_signal *signal = NULL;

    CHECK_OK(lbx_consumer_signal(box->out, &signal));
    box_fill(box, 1, 2);
    CHECK_OK(lbx_signal_wait_until(signal, LBX_FOREVER));
    CHECK_INT(2, box_depth(box));
    CHECK_TAKES(box, 1, 2);
    lbx_signal_unref(signal);
}

/* Every asking gives the same signal, and it outlives its mailbox. */
TEST_CITING("C-02 C-19", signal_is_one_and_outlives_the_mailbox)
{
    struct box box = cellex_unbounded();
    lbx_signal *signal = NULL;
    lbx_signal *again = NULL;

    CHECK_OK(lbx_consumer_signal(box.out, &signal));
    CHECK_OK(lbx_consumer_signal(box.out, &again));
    CHECK_PTR(signal, again);
    lbx_signal_unref(again);
    box_destroy(&box);
    lbx_signal_notify(signal);
    CHECK_OK(lbx_signal_wait_until(signal, LBX_FOREVER));
    lbx_signal_unref(signal);
}

TEST_CITING("C-05 C-14", local_mailbox_is_limitless_and_fifo)
{
    lbx_mailbox_options options = lbx_cellex_mailbox_options();
    LOCAL_BOX(box);

    options.overflow = LBX_OVERFLOW_REJECT; // a single consumer cannot evict
    box = box_create(LBX_KIND_UNBOUNDED_SINGLE_CONSUMER, &options);
    CHECK_INT(LBX_UNLIMITED, lbx_mailbox_capacity(box.mailbox));
    box_fill(&box, 1, 500);
    for (int number = 1; number <= 500; number++)
        CHECK_TAKES(&box, number);
}
