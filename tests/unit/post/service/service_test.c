/* SPDX-License-Identifier: Apache-2.0 */
/* What both forms of the service have in common. Each test is run for both. */
#include "double.h"

#include "support/torture.h"

#include <stdio.h>
#include <string.h>

#define BOTH(name)                                                             \
    static void both_##name(bool one_thread);                                  \
    TEST(name##_by_the_caller)                                                 \
    {                                                                          \
        both_##name(false);                                                    \
    }                                                                          \
    TEST(name##_by_one_thread)                                                 \
    {                                                                          \
        both_##name(true);                                                     \
    }                                                                          \
    static void both_##name(bool one_thread)

/* How many batches ticks begin when nothing is due: a tick of the caller's is
 * one, and never more. */
static int
begun_by_ticks(bool one_thread, int ticks)
{
    return one_thread ? 0 : ticks;
}

BOTH(a_send_is_received)
{
    STORE(store) = open_double(one_thread);
    struct ask receive = {.count = 0};

    CHECK_STR("double", store->ops->scheme);
    CHECK_INT(LBX_DURABILITY_PROCESS, store->ops->durability(store));
    ask_receive(&receive, store, 1, 0);
    CHECK_STATUS(LBX_EMPTY, end_of(&receive));
    CHECK_OK(send_now(store, 1));
    ask_receive(&receive, store, 1, 0);
    CHECK_OK(end_of(&receive));
    CHECK_INT(1, receive.count);
    CHECK_STATUS(LBX_CLOSED, send_now(store, BOXES + 1));
}

/* SVC-4 with the system's clock: there is no call, and the letter is delivered
 * nevertheless. */
BOTH(what_is_due_comes_by_itself)
{
    struct ask receive[3] = {{.count = 0}};
    struct ask send = {.count = 0};
    STORE(store) = NULL;

    world.real = true;
    store = open_double(one_thread);
    for (int i = 0; i < 3; i++)
        ask_receive(&receive[i], store, 1, -1);
    ask_send(&send, store, 1, 500 * LBX_MS);
    CHECK_OK(end_of(&send));
    ask_send(&send, store, 1, 5 * LBX_MS); // sooner than what is slept for
    CHECK_OK(end_of(&send));
    CHECK_OK(end_of(&receive[0]));
    CHECK_INT(1, receive[0].sequences[0]);
    CHECK_OK(end_of(&receive[1]));
    CHECK_INT(0, receive[1].sequences[0]);
    CHECK_OK(end_of(&receive[2])); // when a lease is over
}

/* A test's clock: nothing before the tick, everything when it returns. */
BOTH(a_tick_does_what_is_due)
{
    STORE(store) = open_double(one_thread);
    struct ask receive = {.count = 0};
    struct ask send = {.count = 0};

    ask_receive(&receive, store, 1, -1);
    ask_send(&send, store, 1, LBX_SECOND);
    CHECK_OK(end_of(&send));
    for (int i = 0; i < 9; i++) {
        pass(store, 100 * LBX_MS);
        CHECK(!is_over(&receive));
    }
    pass(store, 100 * LBX_MS);
    CHECK(is_over(&receive));
    CHECK_OK(end_of(&receive));
}

BOTH(background_work_is_done_to_the_end)
{
    struct ask purge = {.count = 0};
    STORE(store) = NULL;

    world.real = true;
    store = open_double(one_thread);
    CHECK_OK(send_now(store, 1));
    atomic_store(&world.work_left, 1000);
    ask_purge(&purge, store, 1);
    CHECK_OK(end_of(&purge));
    CHECK_INT(1, purge.request.box.ret_purged);
    EVENTUALLY(atomic_load(&world.work_left) == 0);
    atomic_store(&world.work_left, 1000);
    ask_delete(&purge, store, 1);
    CHECK_OK(end_of(&purge));
    EVENTUALLY(atomic_load(&world.work_left) == 0);
}

BOTH(background_work_that_fails_is_tried_again_in_a_second)
{
    STORE(store) = open_double(one_thread);
    struct ask purge = {.count = 0};

    atomic_store(&world.work, LBX_NO_MEMORY);
    atomic_store(&world.work_left, 10);
    ask_purge(&purge, store, 1);
    CHECK_OK(end_of(&purge));
    store->ops->tick(store);
    atomic_store(&world.work, LBX_OK);
    pass(store, LBX_SECOND);
    CHECK_INT(0, atomic_load(&world.work_left));
}

BOTH(a_letter_that_background_work_moves_ends_a_wait)
{
    struct ask receive = {.count = 0};
    struct ask purge = {.count = 0};
    STORE(store) = NULL;

    world.moves = true;
    store = open_double(one_thread);
    ask_receive(&receive, store, 2, -1);
    store->ops->tick(store); // it waits
    atomic_store(&world.work_left, 1);
    ask_purge(&purge, store, 3);
    CHECK_OK(end_of(&purge));
    CHECK_OK(end_of(&receive));
}

/* Later by an hour than it should be, if not at once. */
BOTH(a_sooner_letter_wakes_the_thread_that_sleeps)
{
    struct ask receive = {.count = 0};
    struct ask send = {.count = 0};
    STORE(store) = NULL;

    world.real = true;
    store = open_double(one_thread);
    ask_receive(&receive, store, 1, -1);
    ask_send(&send, store, 1, 3600 * LBX_SECOND);
    CHECK_OK(end_of(&send));
    ask_send(&send, store, 1, 5 * LBX_MS);
    CHECK_OK(end_of(&send));
    CHECK_OK(end_of(&receive));
    CHECK_INT(1, receive.sequences[0]);
}

/* A receive that has one letter and waits for another. */
static void
ask_for_more(struct ask *ask, lbx_store *store, uint64_t box)
{
    int flushed;

    CHECK_OK(send_now(store, box));
    flushed = atomic_load(&world.flushed);
    ask_receive_some(ask, store, box, 3, 2);
    EVENTUALLY(atomic_load(&world.flushed) > flushed);
    CHECK(!is_over(ask));
}

BOTH(what_a_wait_for_more_has_is_kept_unless_its_box_goes)
{
    STORE(store) = open_double(one_thread);
    struct ask some[2] = {{.count = 0}};
    struct ask all = {.count = 0};
    struct ask delete = {.count = 0};

    for (int i = 0; i < 2; i++)
        ask_for_more(&some[i], store, 1 + (uint64_t)i);
    CHECK_OK(cancel(&some[0]));
    CHECK_INT(1, some[0].count);
    ask_delete(&delete, store, 2);
    CHECK_OK(end_of(&delete));
    CHECK_STATUS(LBX_CLOSED, end_of(&some[1]));
    CHECK_OK(send_now(store, 3));
    ask_receive_some(&all, store, 3, 1, 3); // all that it may have
    CHECK_OK(end_of(&all));
}

/* Another process has poisoned it: nothing waits for ever, and no thread asks
 * again by itself. */
BOTH(a_storage_that_is_poisoned_ends_every_wait_and_all_work)
{
    STORE(store) = open_double(one_thread);
    struct ask waits = {.count = 0};
    struct ask some = {.count = 0};
    struct ask purge = {.count = 0};
    int begun;

    ask_receive(&waits, store, 2, -1);
    ask_for_more(&some, store, 1);
    atomic_store(&world.work, LBX_NO_MEMORY); // due again in a second
    ask_purge(&purge, store, 3);
    CHECK_OK(end_of(&purge));
    store->ops->tick(store);
    atomic_store(&world.begin, LBX_IO);
    CHECK_STATUS(LBX_IO, send_now(store, 1));
    CHECK_STATUS(LBX_IO, end_of(&waits));
    CHECK_OK(end_of(&some));
    CHECK_INT(1, some.count);
    begun = atomic_load(&world.begun);
    pass(store, 2 * LBX_SECOND);
    CHECK_INT(begun + begun_by_ticks(one_thread, 1), atomic_load(&world.begun));
}

BOTH(the_durability_is_that_of_the_last_batch)
{
    STORE(store) = open_double(one_thread);

    atomic_store(&world.durability, LBX_DURABILITY_POWER_CUT);
    CHECK_OK(send_now(store, 1));
    CHECK_INT(LBX_DURABILITY_POWER_CUT, store->ops->durability(store));
}

/* With a manual clock nothing happens by itself: also where other processes may
 * have sent something, and a receive waits. */
TEST(a_manual_clock_starts_no_work)
{
    lbx__service_options options = double_options(true);
    struct ask receive = {.count = 0};
    struct ask send = {.count = 0};
    STORE(store) = NULL;
    int begun;

    world.shared = true;
    options.poll_ns = LBX_MS;
    store = open_with(&options);
    ask_receive(&receive, store, 1, -1);
    ask_send(&send, store, 1, LBX_SECOND);
    CHECK_OK(end_of(&send));
    EVENTUALLY(atomic_load(&world.sleeps));
    CHECK_INT(-1, atomic_load(&world.wait_ns)); // until it is notified
    begun = atomic_load(&world.begun);
    test_clock_advance(&world.time, 2 * LBX_SECOND);
    CHECK(atomic_load(&world.sleeps));
    CHECK_INT(begun, atomic_load(&world.begun));
    CHECK(!is_over(&receive));
    store->ops->tick(store);
    CHECK_OK(end_of(&receive));
}

/* What is left in the background is done after the next open. */
BOTH(closing_does_not_wait_for_background_work)
{
    struct ask purge = {.count = 0};
    lbx_store *store;

    world.real = true;
    store = open_double(one_thread);
    CHECK_OK(send_now(store, 1));
    atomic_store(&world.work_left, 2000000000);
    ask_purge(&purge, store, 1);
    CHECK_OK(end_of(&purge));
    close_double(store);
    CHECK(atomic_load(&world.work_left) > 0);
}

/* A receive of one box moves a letter to another: its waiters come next. */
BOTH(what_serving_sets_free_is_served_too)
{
    struct ask first = {.count = 0};
    struct ask second = {.count = 0};
    STORE(store) = NULL;

    world.moves = true;
    store = open_double(one_thread);
    ask_receive(&second, store, 2, -1);
    ask_receive(&first, store, 1, -1);
    CHECK_OK(send_now(store, 1));
    CHECK_OK(end_of(&first));
    CHECK_OK(end_of(&second));
}

BOTH(a_deleted_box_ends_its_waits)
{
    STORE(store) = open_double(one_thread);
    struct ask waits[2] = {{.count = 0}};
    struct ask other = {.count = 0};
    struct ask delete = {.count = 0};

    ask_receive(&waits[0], store, 1, -1);
    ask_receive_some(&waits[1], store, 1, 3, 2);
    ask_receive(&other, store, 2, -1);
    ask_delete(&delete, store, 1);
    CHECK_OK(end_of(&delete));
    CHECK_STATUS(LBX_CLOSED, end_of(&waits[0]));
    CHECK_STATUS(LBX_CLOSED, end_of(&waits[1]));
    CHECK_STATUS(LBX_CANCELLED, cancel(&other));
}

/* The storage cannot begin just now: calls report it, waiting receives go on
 * waiting, and a second later it succeeds. */
BOTH(waits_outlast_a_busy_storage)
{
    STORE(store) = open_double(one_thread);
    struct ask receive = {.count = 0};
    struct ask send = {.count = 0};
    int begun;

    ask_receive(&receive, store, 1, -1);
    ask_send(&send, store, 1, 10 * LBX_SECOND);
    CHECK_OK(end_of(&send));
    atomic_store(&world.begin, LBX_BUSY);
    CHECK_STATUS(LBX_BUSY, send_now(store, 2));
    pass(store, 10 * LBX_SECOND);
    CHECK(!is_over(&receive));
    begun = atomic_load(&world.begun);
    for (int i = 0; i < 100; i++)
        store->ops->tick(store); // each is a turn of the thread
    CHECK_INT(begun + begun_by_ticks(one_thread, 100),
              atomic_load(&world.begun));
    atomic_store(&world.begin, LBX_OK);
    pass(store, LBX_SECOND);
    CHECK_OK(end_of(&receive));
}

/* SVC-1, STORAGE-2: what ran in a batch whose flush failed may or may not have
 * happened; what was refused was refused; from then on every call returns
 * LBX_IO. */
BOTH(a_failed_flush_is_unknown)
{
    STORE(store) = open_double(one_thread);
    struct ask waits = {.count = 0};
    struct ask some = {.count = 0};
    struct ask send = {.count = 0};
    int flushed;

    ask_receive(&waits, store, 2, -1);
    CHECK_OK(send_now(store, 1));
    flushed = atomic_load(&world.flushed);
    ask_receive_some(&some, store, 1, 3, 2); // has one, wants another
    EVENTUALLY(atomic_load(&world.flushed) > flushed);
    atomic_store(&world.flush, LBX_IO);
    ask_send(&send, store, BOXES + 1, 0);
    CHECK_STATUS(LBX_CLOSED, end_of(&send));
    CHECK_STATUS(LBX_IO, end_of(&waits));
    CHECK_STATUS(LBX_UNKNOWN, end_of(&some));
    CHECK_STATUS(LBX_IO, send_now(store, 1));
    ask_receive(&waits, store, 2, -1);
    CHECK_STATUS(LBX_IO, end_of(&waits));
}

BOTH(a_send_whose_flush_failed_is_unknown)
{
    STORE(store) = open_double(one_thread);
    const int flushed = atomic_load(&world.flushed);
    struct ask receive = {.count = 0};
    struct ask send = {.count = 0};

    ask_receive(&receive, store, 1, -1);
    EVENTUALLY(atomic_load(&world.flushed) > flushed); // it waits
    atomic_store(&world.flush, LBX_IO);
    ask_send(&send, store, 1, 0);
    CHECK_STATUS(LBX_UNKNOWN, end_of(&send));
    CHECK_STATUS(LBX_UNKNOWN, send.sent.status);
    CHECK_STATUS(LBX_UNKNOWN, end_of(&receive)); // it was handed a letter
}

struct listing {
    lbx_store *store;
    int count;
    int most;
};

static bool
list_one(void *context, const char *name)
{
    struct listing *listing = context;
    char expected[16];

    snprintf(expected, sizeof(expected), "%04d", listing->count++);
    CHECK_STR(expected, name);
    // SVC-2: it may use the store.
    if (listing->count % 100 == 0)
        CHECK_OK(send_now(listing->store, 1));
    return listing->count < listing->most;
}

BOTH(a_list_is_told_without_the_lock)
{
    STORE(store) = open_double(one_thread);
    struct listing listing = {.store = store, .most = 100000};
    struct ask list = {.count = 0};

    ask_list(&list, store, list_one, &listing);
    CHECK_OK(end_of(&list));
    CHECK_INT(1000, listing.count);
    listing = (struct listing){.store = store, .most = 300};
    ask_list(&list, store, list_one, &listing);
    CHECK_OK(end_of(&list));
    CHECK_INT(300, listing.count);
}

static void
add_text(void *context, const lbx_box_text *text)
{
    char *all = context;

    strncat(all, text->name, 40);
    strncat(all, "=", 2);
    strncat(all, text->value, 40);
    strncat(all, ";", 2);
}

BOTH(texts_of_a_box_are_told)
{
    STORE(store) = open_double(one_thread);
    char all[256] = "";
    struct ask ask = {.status = LBX_PENDING};
    lbx_status status;

    ask.request.box = (lbx_box_request){.each_text = add_text, .context = all};
    status = store->ops->describe(store, &ask.call, &ask.request.box);
    if (status == LBX_PENDING)
        status = end_of(&ask);
    CHECK_OK(status);
    CHECK_STR("tag:a=b;tag:c=;", all);
    CHECK_INT(1, ask.request.box.ret_box.uid);
}

BOTH(a_sync_comes_after_the_flush)
{
    STORE(store) = open_double(one_thread);
    struct ask sync = {.count = 0};

    ask_sync(&sync, store);
    CHECK_OK(end_of(&sync));
    CHECK_INT(1, atomic_load(&world.synced));
    atomic_store(&world.flush, LBX_IO);
    ask_sync(&sync, store);
    CHECK_STATUS(LBX_IO, end_of(&sync));
    CHECK_INT(1, atomic_load(&world.synced));
}

BOTH(opening_fails_as_the_storage_does)
{
    lbx__service_options options = double_options(one_thread);
    lbx_store *store = NULL;

    world.open = LBX_CORRUPT;
    CHECK_STATUS(LBX_CORRUPT, lbx__service_open(&options, &store));
    CHECK(!store);
}

static void
open_and_wait(struct torture *memory, void *context)
{
    const lbx_allocator allocator = torture_allocator(memory);
    lbx__service_options options = double_options(*(bool *)context);
    struct listing listing = {.most = 1};
    struct ask receive = {.count = 0};
    struct ask list = {.count = 0};
    lbx_store *store;
    lbx_status status;

    options.allocator = &allocator;
    status = lbx__service_open(&options, &store);
    CHECK(status == LBX_OK || status == LBX_NO_MEMORY);
    if (status != LBX_OK)
        return;
    ask_receive(&receive, store, 1, -1);
    ask_list(&list, store, list_one, &listing);
    status = end_of(&list);
    CHECK(status == LBX_OK || status == LBX_NO_MEMORY);
    CHECK_OK(send_now(store, 1)); // needs none
    status = end_of(&receive);
    CHECK(status == LBX_OK || status == LBX_NO_MEMORY);
    CHECK_INT(status == LBX_OK, receive.count);
    store->ops->close(store);
}

BOTH(the_service_survives_every_failing_allocation)
{
    CHECK(torture_every_allocation(open_and_wait, &one_thread) > 3);
}

BOTH(a_sync_that_fails_says_so)
{
    STORE(store) = open_double(one_thread);
    struct ask sync = {.count = 0};

    atomic_store(&world.sync, LBX_IO);
    ask_sync(&sync, store);
    CHECK_STATUS(LBX_IO, end_of(&sync));
    CHECK_INT(1, atomic_load(&world.synced));
}

/* A letter has become due, and no thread has noticed: the first receive that
 * comes serves those that wait before it looks for itself. */
BOTH(a_receive_that_does_not_wait_overtakes_none_that_does)
{
    STORE(store) = open_double(one_thread);
    struct ask waits = {.count = 0};
    struct ask hurries = {.count = 0};
    struct ask send = {.count = 0};

    ask_receive(&waits, store, 1, -1);
    ask_send(&send, store, 1, LBX_SECOND);
    CHECK_OK(end_of(&send));
    test_clock_advance(&world.time, 2 * LBX_SECOND);
    ask_receive(&hurries, store, 1, 0);
    CHECK_STATUS(LBX_EMPTY, end_of(&hurries));
    CHECK_OK(end_of(&waits));
}

/* The rules do not know when the next letter is due: it is tried again. */
BOTH(a_receive_waits_on_when_its_next_letter_is_not_known)
{
    STORE(store) = open_double(one_thread);
    struct ask receive = {.count = 0};
    struct ask send = {.count = 0};

    ask_send(&send, store, 1, 500 * LBX_MS);
    CHECK_OK(end_of(&send));
    atomic_store(&world.next_due, LBX_NO_MEMORY);
    ask_receive(&receive, store, 1, -1);
    pass(store, 0); // it waits
    atomic_store(&world.next_due, LBX_OK);
    CHECK(!is_over(&receive));
    pass(store, LBX_SECOND);
    CHECK_OK(end_of(&receive));
}

/* BATCH-2: whatever the rules say, a box that was served is not due again at
 * the same moment. */
BOTH(a_box_that_is_always_due_is_not_served_all_the_time)
{
    STORE(store) = open_double(one_thread);
    struct ask receive = {.count = 0};
    int begun;

    atomic_store(&world.due_ns, 1);
    ask_receive(&receive, store, 1, -1);
    store->ops->tick(store);
    begun = atomic_load(&world.begun);
    for (int i = 0; i < 100; i++)
        store->ops->tick(store);
    CHECK_INT(begun + begun_by_ticks(one_thread, 100),
              atomic_load(&world.begun));
    atomic_store(&world.due_ns, 0);
    CHECK_STATUS(LBX_CANCELLED, cancel(&receive));
}

/* It gets what it had, which no receive that waits could have. */
BOTH(a_repeated_attempt_does_not_wait_behind_others)
{
    STORE(store) = open_double(one_thread);
    struct ask first = {.count = 0};
    struct ask waits = {.count = 0};
    struct ask again = {.count = 0};

    CHECK_OK(send_now(store, 1));
    ask_attempt(&first, store, 1);
    CHECK_OK(end_of(&first));
    ask_receive(&waits, store, 1, -1);
    ask_attempt(&again, store, 1);
    store->ops->tick(store);
    CHECK(is_over(&again));
    CHECK_OK(end_of(&again));
    CHECK_INT(first.sequences[0], again.sequences[0]);
    CHECK_STATUS(LBX_CANCELLED, cancel(&waits));
}

/* Work is due, and the storage does not begin: it is tried again in a second,
 * and not all the time. */
BOTH(a_storage_that_does_not_begin_is_not_asked_all_the_time)
{
    struct ask send = {.count = 0};
    STORE(store) = NULL;
    int begun;

    atomic_store(&world.begin, LBX_BUSY);
    store = open_double(one_thread);
    ask_send(&send, store, 1, 0);
    CHECK_STATUS(LBX_BUSY, end_of(&send));
    store->ops->tick(store);
    begun = atomic_load(&world.begun);
    for (int i = 0; i < 100; i++)
        store->ops->tick(store); // each is a turn of the thread
    CHECK_INT(begun + begun_by_ticks(one_thread, 100),
              atomic_load(&world.begun));
    pass(store, LBX_SECOND);
    CHECK(atomic_load(&world.begun) > begun);
    atomic_store(&world.begin, LBX_OK);
}
