/* SPDX-License-Identifier: Apache-2.0 */
/* Giving up at each moment of a call's life, and groups of a service's
 * thread. */
#include "double.h"

/* SVC-1: while the flush is held no call finishes; those that are started
 * meanwhile are the next batch, with one flush for all. */
TEST(calls_that_are_there_are_one_group)
{
    enum {
        MANY = 20
    };
    STORE(store) = open_double(true);
    struct ask first = {.count = 0};
    struct ask sends[MANY] = {{.count = 0}};
    int flushed;

    atomic_store(&world.at_flush.closed, 1);
    ask_send(&first, store, 1, 0);
    EVENTUALLY(atomic_load(&world.at_flush.there) == 1);
    flushed = atomic_load(&world.flushed);
    for (int i = 0; i < MANY; i++)
        ask_send(&sends[i], store, 1, 0);
    CHECK(!is_over(&first));
    atomic_store(&world.at_flush.closed, 0);
    CHECK_OK(end_of(&first));
    for (int i = 0; i < MANY; i++) {
        CHECK_OK(end_of(&sends[i]));
        CHECK_INT(i + 1, sends[i].sent.sequence); // in the order asked
    }
    CHECK_INT(flushed + 2, atomic_load(&world.flushed));
}

/* Not begun: it ends at once, though the thread is held. */
TEST(a_call_that_has_not_begun_is_cancelled_at_once)
{
    STORE(store) = open_double(true);
    struct ask first = {.count = 0};
    struct ask second = {.count = 0};
    struct ask third = {.count = 0};

    atomic_store(&world.at_flush.closed, 1);
    ask_send(&first, store, 1, 0);
    EVENTUALLY(atomic_load(&world.at_flush.there) == 1);
    ask_send(&second, store, 1, 0);
    ask_send(&third, store, 1, 0);
    CHECK_STATUS(LBX_CANCELLED, cancel(&second));
    CHECK_STATUS(LBX_CANCELLED, second.sent.status);
    store->ops->cancel(store, &first.call); // begun: it ends with what happened
    CHECK(!is_over(&first));
    atomic_store(&world.at_flush.closed, 0);
    CHECK_OK(end_of(&first));
    CHECK_OK(end_of(&third));
    CHECK_INT(1, third.sent.sequence);
}

/* Cancelled while the rule searches for letters: nothing was found, so that it
 * does not begin to wait. */
TEST(a_receive_cancelled_while_it_searches_does_not_wait)
{
    STORE(store) = open_double(true);
    struct ask receive = {.count = 0};

    atomic_store(&world.at_receive.closed, 1);
    ask_receive(&receive, store, 1, -1);
    EVENTUALLY(atomic_load(&world.at_receive.there) == 1);
    store->ops->cancel(store, &receive.call);
    CHECK(!is_over(&receive));
    atomic_store(&world.at_receive.closed, 0);
    CHECK_STATUS(LBX_CANCELLED, end_of(&receive));
}

/* Cancelled before it begins in its batch, in a box where another waits
 * already: it must not queue behind that one, where it would never be
 * examined. */
TEST(a_receive_cancelled_before_it_begins_does_not_join_others)
{
    STORE(store) = open_double(true);
    struct ask waits = {.count = 0};
    struct ask first = {.count = 0};
    struct ask second = {.count = 0};
    struct ask send = {.count = 0};

    ask_receive(&waits, store, 1, -1);
    CHECK_OK(send_now(store, 2)); // by now it waits
    atomic_store(&world.at_flush.closed, 1);
    ask_send(&send, store, 2, 0);
    EVENTUALLY(atomic_load(&world.at_flush.there) == 1);
    ask_receive(&first, store, 3, 0);
    ask_receive(&second, store, 1, -1);
    atomic_store(&world.at_receive.closed, 1);
    atomic_store(&world.at_flush.closed, 0);
    EVENTUALLY(atomic_load(&world.at_receive.there) == 1); // one group
    store->ops->cancel(store, &second.call);
    CHECK(!is_over(&second));
    atomic_store(&world.at_receive.closed, 0);
    CHECK_STATUS(LBX_CANCELLED, end_of(&second));
    CHECK_STATUS(LBX_EMPTY, end_of(&first));
    CHECK_OK(end_of(&send));
    CHECK(!is_over(&waits));
    CHECK_STATUS(LBX_CANCELLED, cancel(&waits));
}

/* The same, but there is a letter: then it has it. */
TEST(a_receive_cancelled_too_late_has_its_letter)
{
    STORE(store) = open_double(true);
    struct ask receive = {.count = 0};

    CHECK_OK(send_now(store, 1));
    atomic_store(&world.at_receive.closed, 1);
    ask_receive(&receive, store, 1, -1);
    EVENTUALLY(atomic_load(&world.at_receive.there) == 1);
    store->ops->cancel(store, &receive.call);
    atomic_store(&world.at_receive.closed, 0);
    CHECK_OK(end_of(&receive));
    CHECK_INT(1, receive.count);
}

/* One that waits is given up while the thread is serving another of its box. */
TEST(the_box_may_be_left_while_it_is_served)
{
    STORE(store) = open_double(true);
    struct ask waits[3] = {{.count = 0}};
    struct ask send = {.count = 0};

    for (int i = 0; i < 3; i++) {
        ask_receive(&waits[i], store, 1, -1);
    }
    CHECK_OK(send_now(store, 2)); // by now they wait
    atomic_store(&world.at_receive.closed, 1);
    ask_send(&send, store, 1, 0);
    EVENTUALLY(atomic_load(&world.at_receive.there) == 1);
    CHECK_STATUS(LBX_CANCELLED, cancel(&waits[1]));
    CHECK_STATUS(LBX_CANCELLED, cancel(&waits[2]));
    atomic_store(&world.at_receive.closed, 0);
    CHECK_OK(end_of(&waits[0]));
    CHECK_OK(end_of(&send));
    CHECK_OK(send_now(store, 2));
}

static void
call_the_store(struct ask *ask)
{
    struct ask receive = {.count = 0};

    if (ask->status != LBX_OK)
        return;
    // All of these wait for the very thread that is calling us.
    CHECK_OK(send_now(ask->store, 2));
    ask_receive(&receive, ask->store, 2, 0);
    CHECK_OK(end_of(&receive));
    ask_receive(&receive, ask->store, 3, -1);
    CHECK_STATUS(LBX_CANCELLED, cancel(&receive));
    pass(ask->store, LBX_MS);
}

TEST(the_thread_that_tells_may_call_the_store)
{
    STORE(store) = open_double(true);
    struct ask send = {.then = call_the_store};
    struct ask more[3] = {{.then = call_the_store}, {.then = call_the_store}};

    ask_send(&send, store, 1, 0);
    for (int i = 0; i < 3; i++)
        ask_send(&more[i], store, 1, 0);
    CHECK_OK(end_of(&send));
    for (int i = 0; i < 3; i++)
        CHECK_OK(end_of(&more[i]));
}

static void
cancel_the_next(struct ask *ask)
{
    struct ask *next = ask->context;

    (void)cancel(next);
}

/* SVC-6: both were served in one batch; the end of the first cancels the
 * second, whose end the same thread was to report. */
static void
check_cancel_in_end(bool one_thread)
{
    lbx_store *store = open_double(one_thread);
    struct ask first = {.then = cancel_the_next};
    struct ask second = {.count = 0};
    struct ask delete = {.count = 0};

    first.context = &second;
    ask_receive(&first, store, 1, -1);
    ask_receive(&second, store, 1, -1);
    ask_delete(&delete, store, 1);
    CHECK_OK(end_of(&delete));
    CHECK_STATUS(LBX_CLOSED, end_of(&first));
    CHECK_STATUS(LBX_CLOSED, end_of(&second));
    close_double(store);
}

TEST(an_end_may_cancel_the_next_by_the_caller)
{
    check_cancel_in_end(false);
}

TEST(an_end_may_cancel_the_next_by_one_thread)
{
    check_cancel_in_end(true);
}

/* Closes the store when the call that was asked has returned. */
static void
close_it(struct ask *ask)
{
    _Atomic int *asked = ask->context;

    CHECK_OK(ask->status);
    EVENTUALLY(atomic_load(asked));
    ask->store->ops->close(ask->store);
}

/* The last use is given up by a waker, in the service's own thread. */
TEST(the_thread_may_close_the_store)
{
    _Atomic int asked = 0;
    struct ask send = {.then = close_it, .context = &asked};

    ask_send(&send, open_double(true), 1, 0);
    atomic_store(&asked, 1);
    CHECK_OK(end_of(&send));
    EVENTUALLY(atomic_load(&world.closed) == 1);
}

TEST(the_timer_may_close_the_store)
{
    _Atomic int asked = 0;
    struct ask receive = {.then = close_it, .context = &asked};
    struct ask send = {.count = 0};
    lbx_store *store;

    world.real = true;
    store = open_double(false);
    ask_receive(&receive, store, 1, -1);
    ask_send(&send, store, 1, 10 * LBX_MS);
    atomic_store(&asked, 1);
    CHECK_OK(end_of(&receive));
    EVENTUALLY(atomic_load(&world.closed) == 1);
}

/* Another process has sent something: the rules were not notified. */
TEST(a_look_finds_what_others_sent)
{
    lbx__service_options options;
    STORE(store) = NULL;
    struct ask receive = {.count = 0};
    int begun;

    world.real = true;
    options = double_options(true);
    options.poll_ns = LBX_MS;
    store = open_with(&options);
    ask_receive(&receive, store, 1, -1);
    CHECK_OK(send_now(store, 2));
    begun = atomic_load(&world.begun);
    EVENTUALLY(atomic_load(&world.begun) > begun + 3); // by itself
    CHECK_STATUS(LBX_CANCELLED, cancel(&receive));
}
