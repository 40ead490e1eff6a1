/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on a postbox, over a store that is slow on command. */
#include "post/script.h"

#include "support/clock.h"
#include "support/local_post.h"
#include "support/test.h"
#include "support/threads.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "post/store.h"

struct world {
    struct script script;
    lbx_postbox *postbox;
    lbx_letter *letters[LBX_MAX_BATCH];
    size_t count;
    _Atomic int wakes;
    lbx_operation operation;
};

static void
begin(struct world *world)
{
    memset(world, 0, sizeof(*world));
    script_init(&world->script);
    CHECK_OK(
        lbx_postbox_open_in(&world->script.base, "box", NULL, &world->postbox));
}

static void
end(struct world *world)
{
    for (size_t i = 0; i < world->count; i++)
        lbx_letter_destroy(world->letters[i]);
    lbx_postbox_unref(world->postbox);
    script_fini(&world->script);
}

static struct world *
world_begin(void)
{
    struct world *world = malloc(sizeof(*world));

    CHECK(world);
    begin(world);
    return world;
}

static void
world_end(struct world **world)
{
    end(*world);
    free(*world);
}

/* A world that is destroyed at the end of its scope. */
#define WORLD(name)                                                            \
    __attribute__((cleanup(world_end))) struct world *name = world_begin()

/* A test with a world. */
#define WORLD_TEST(behaviours, name)                                           \
    static void name##_in(struct world *world);                                \
    TEST_CITING(behaviours, name)                                              \
    {                                                                          \
        WORLD(world);                                                          \
                                                                               \
        name##_in(world);                                                      \
    }                                                                          \
    static void name##_in(struct world *world)

static void
count_wake(void *context)
{
    ((struct world *)context)->wakes++;
}

/* A receive that waits so long. */
static void
begin_receive(struct world *world, int64_t wait_ns)
{
    lbx_receive_options options = LBX_RECEIVE_OPTIONS_INIT;

    options.wait_ns = wait_ns;
    CHECK_OK(lbx_postbox_receive_init(&world->operation, world->postbox,
                                      &options, world->letters, &world->count));
}

static lbx_status
poll_once(struct world *world)
{
    const lbx_waker waker = {count_wake, world};

    return lbx_operation_poll(&world->operation, &waker);
}

WORLD_TEST("W-07", an_operation_touches_the_store_at_its_first_poll)
{
    begin_receive(world, -1);
    CHECK_STR("", world->script.log);
    CHECK_OK(poll_once(world));
    CHECK_STR("receive; ", world->script.log);
    CHECK_INT(1, world->count);
    CHECK_STR("hello", lbx_letter_body(world->letters[0], NULL));
    lbx_operation_fini(&world->operation);
}

WORLD_TEST("", a_pending_call_wakes_once_and_then_is_done)
{
    world->script.hold = true;
    begin_receive(world, -1);
    CHECK_STATUS(LBX_PENDING, poll_once(world));
    CHECK_STATUS(LBX_PENDING, poll_once(world)); // the waker is replaced
    CHECK_INT(0, world->wakes);
    script_finish(&world->script, 0, LBX_OK);
    CHECK_INT(1, world->wakes);
    CHECK_INT(0, world->count); // not before it is polled
    CHECK_OK(poll_once(world));
    CHECK_OK(poll_once(world)); // final
    CHECK_INT(1, world->count);
    CHECK_INT(1, world->wakes);
    lbx_operation_fini(&world->operation);
}

WORLD_TEST("", a_failed_receive_has_no_letters)
{
    world->script.hold = true;
    begin_receive(world, -1);
    CHECK_STATUS(LBX_PENDING, poll_once(world));
    script_finish(&world->script, 0, LBX_UNREACHABLE);
    CHECK_STATUS(LBX_UNREACHABLE, poll_once(world));
    CHECK_INT(0, world->count);
    lbx_operation_fini(&world->operation);
}

WORLD_TEST("", cancelling_what_waits_takes_nothing)
{
    world->script.hold = true;
    begin_receive(world, -1);
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&world->operation));
    CHECK_INT(0, world->script.cancels); // the store had not heard of it
    lbx_operation_fini(&world->operation);

    begin_receive(world, -1);
    CHECK_STATUS(LBX_PENDING, poll_once(world));
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&world->operation));
    CHECK_INT(1, world->script.cancels);
    CHECK_STATUS(LBX_CANCELLED, poll_once(world));
    CHECK_INT(0, world->wakes);
    lbx_operation_fini(&world->operation);
}

WORLD_TEST("", letters_that_came_before_a_cancel_go_back)
{
    world->script.hold = true;
    world->script.letters = 3;
    begin_receive(world, -1);
    CHECK_STATUS(LBX_PENDING, poll_once(world));
    script_finish(&world->script, 0, LBX_OK); // and it is not polled
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&world->operation));
    CHECK_STR("receive; undo 3; ", world->script.log);
    CHECK_INT(0, world->count);
    lbx_operation_fini(&world->operation);

    // The same when the letters come while it is being cancelled.
    script_clear(&world->script);
    world->script.cancel = SCRIPT_HAPPENED;
    begin_receive(world, -1);
    CHECK_STATUS(LBX_PENDING, poll_once(world));
    lbx_operation_fini(&world->operation);
    CHECK_STR("receive; undo 3; ", world->script.log);
}

WORLD_TEST("", a_send_that_is_cancelled_says_what_happened)
{
    const lbx_draft draft = lbx_draft_of_text("x");
    lbx_sent_letter sent;

    world->script.hold = true;
    CHECK_OK(lbx_postbox_send_init(&world->operation, world->postbox, &draft, 1,
                                   &sent, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, poll_once(world));
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&world->operation));
    CHECK_STATUS(LBX_CANCELLED, sent.status);
    lbx_operation_fini(&world->operation);

    world->script.cancel = SCRIPT_HAPPENED; // it had begun
    CHECK_OK(lbx_postbox_send_init(&world->operation, world->postbox, &draft, 1,
                                   &sent, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, poll_once(world));
    CHECK_OK(lbx_operation_cancel(&world->operation));
    CHECK_OK(sent.status);
    CHECK_STR("id-1", sent.id.text);
    lbx_operation_fini(&world->operation);

    CHECK_OK(lbx_postbox_send_init(&world->operation, world->postbox, &draft, 1,
                                   &sent, LBX_FOREVER));
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&world->operation));
    CHECK_STATUS(LBX_CANCELLED, sent.status); // never begun, and told
    lbx_operation_fini(&world->operation);
}

TEST_CITING("W-07", a_wait_that_is_over_is_empty_or_what_came_last)
{
    WORLD(world);
    TEST_CLOCK(time, clock);

    lbx__store_set_clock(&world->script.base, &clock);
    world->script.hold = true;
    begin_receive(world, 5 * LBX_SECOND);
    CHECK_STATUS(LBX_PENDING, poll_once(world));
    CHECK_INT(5 * LBX_SECOND, world->script.received.wait_ns);
    CHECK_INT(test_clock_now(&time) + 5 * LBX_SECOND,
              lbx_operation_deadline(&world->operation));
    test_clock_advance(&time, 5 * LBX_SECOND - 1);
    CHECK_STATUS(LBX_PENDING, poll_once(world));
    test_clock_advance(&time, 1);
    CHECK_STATUS(LBX_EMPTY, poll_once(world));

    // Again, with the same arguments; this time a letter comes with the end.
    world->script.cancel = SCRIPT_HAPPENED;
    CHECK_OK(lbx_operation_restart(&world->operation,
                                   test_clock_now(&time) + LBX_SECOND));
    CHECK_STATUS(LBX_PENDING, poll_once(world));
    CHECK_INT(LBX_SECOND, world->script.received.wait_ns);
    test_clock_advance(&time, LBX_SECOND);
    CHECK_OK(poll_once(world));
    CHECK_INT(1, world->count);
    lbx_operation_fini(&world->operation);
}

WORLD_TEST("W-07", a_receive_that_does_not_wait_is_not_cancelled)
{
    world->script.hold = true;
    begin_receive(world, 0);
    CHECK_STATUS(LBX_PENDING, poll_once(world)); // the store is slow
    CHECK_INT(0, world->script.received.wait_ns);
    CHECK_STATUS(LBX_PENDING, poll_once(world));
    CHECK_INT(0, world->script.cancels);
    script_finish(&world->script, 0, LBX_EMPTY);
    CHECK_STATUS(LBX_EMPTY, poll_once(world));
    lbx_operation_fini(&world->operation);
}

WORLD_TEST("", a_send_past_its_deadline_is_out_or_in)
{
    const lbx_draft draft = lbx_draft_of_text("x");

    world->script.hold = true;
    CHECK_OK(lbx_postbox_send_init(&world->operation, world->postbox, &draft, 1,
                                   NULL, 0));
    CHECK_STATUS(LBX_TIMEOUT, poll_once(world));
    CHECK_STR("", world->script.log);
    CHECK_STATUS(LBX_UNSUPPORTED,
                 lbx_operation_restart(&world->operation, LBX_FOREVER));
    lbx_operation_fini(&world->operation);
}

WORLD_TEST("W-09 W-37", closing_wakes_those_who_wait)
{
    world->script.hold = true;
    begin_receive(world, -1);
    CHECK_STATUS(LBX_PENDING, poll_once(world));
    CHECK(!lbx_postbox_is_closed(world->postbox));
    lbx_postbox_close(world->postbox);
    lbx_postbox_close(world->postbox);
    CHECK_INT(1, world->wakes);
    CHECK_STATUS(LBX_CLOSED, poll_once(world));
    CHECK(lbx_postbox_is_closed(world->postbox));
    lbx_operation_fini(&world->operation);
}

WORLD_TEST("W-37", a_receive_that_has_letters_when_it_closes_gives_them)
{
    world->script.hold = true;
    begin_receive(world, -1);
    CHECK_STATUS(LBX_PENDING, poll_once(world));
    world->script.cancel = SCRIPT_HAPPENED;
    lbx_postbox_close(world->postbox);
    CHECK_OK(poll_once(world));
    CHECK_INT(1, world->count);
    CHECK_OK(lbx_operation_restart(&world->operation, LBX_FOREVER));
    world->count = 0;
    lbx_letter_destroy(world->letters[0]);
    CHECK_STATUS(LBX_CLOSED, poll_once(world));
    lbx_operation_fini(&world->operation);
}

static void
fini_in_waker(void *context)
{
    struct world *world = context;

    world->wakes++;
    lbx_operation_fini(&world->operation);
}

WORLD_TEST("", a_waker_may_end_its_own_operation)
{
    const lbx_waker waker = {fini_in_waker, world};

    world->script.hold = true;
    begin_receive(world, -1);
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&world->operation, &waker));
    script_finish(&world->script, 0, LBX_OK);
    CHECK_INT(1, world->wakes);
    CHECK_STR("receive; undo 1; ", world->script.log);
}

WORLD_TEST("", an_eventfd_tells_a_loop)
{
    struct pollfd readable;
    lbx_event event;

    world->script.hold = true;
    CHECK_OK(lbx_event_open(&event));
    readable = (struct pollfd){.fd = event.fd, .events = POLLIN};
    begin_receive(world, -1);
    CHECK_STATUS(LBX_PENDING,
                 lbx_operation_poll(&world->operation, &event.waker));
    CHECK_INT(0, poll(&readable, 1, 0));
    script_finish(&world->script, 0, LBX_OK);
    CHECK_INT(1, poll(&readable, 1, -1));
    lbx_event_clear(&event);
    CHECK_OK(lbx_operation_poll(&world->operation, &event.waker));
    CHECK_INT(1, world->count);
    lbx_operation_fini(&world->operation);
    lbx_event_close(&event);
}

WORLD_TEST("", of_several_receives_a_select_takes_from_one)
{
    lbx_operation first, second, select;
    lbx_operation *both[] = {&first, &second};
    lbx_letter *letter[2];
    lbx_receive_options options = LBX_RECEIVE_OPTIONS_INIT;
    size_t count[2], index;

    world->script.hold = true;
    options.wait_ns = -1;
    for (size_t i = 0; i < 2; i++)
        CHECK_OK(lbx_postbox_receive_init(both[i], world->postbox, &options,
                                          &letter[i], &count[i]));
    CHECK_OK(lbx_select_init(&select, both, 2, 0, LBX_FOREVER, &index));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&select, NULL));
    script_finish(&world->script, 1, LBX_OK);
    CHECK_OK(lbx_operation_poll(&select, NULL));
    CHECK_INT(1, index);
    CHECK_INT(1, count[1]);
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_status(&first));
    lbx_letter_destroy(letter[1]);
    lbx_operation_fini(&select);
    lbx_operation_fini(&first);
    lbx_operation_fini(&second);
}

static void
finish_all(void *context)
{
    struct world *world = context;

    EVENTUALLY(script_held(&world->script) > 0);
    script_finish(&world->script, 0, LBX_OK);
}

WORLD_TEST("", a_plain_call_parks_until_the_store_answers)
{
    struct thread thread;
    LOCAL_LETTER(letter);

    world->script.hold = true;
    thread_start(&thread, finish_all, world);
    CHECK_OK(lbx_postbox_receive(world->postbox, -1, &letter));
    thread_join(&thread);
    CHECK_STR("hello", lbx_letter_body(letter, NULL));

    thread_start(&thread, finish_all, world);
    CHECK_OK(lbx_letter_acknowledge(letter));
    thread_join(&thread);
    CHECK(lbx_letter_is_finalized(letter));
}

/* Whether the test's first thread sleeps: its state in the system's words. */
static bool
main_thread_sleeps(void)
{
    char path[64], state = 0;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat",
                   (int)getpid());
    file = fopen(path, "re");
    CHECK(file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1);
    (void)fclose(file);
    return state == 'S';
}

static void
finish_a_sleeper(void *context)
{
    struct world *world = context;

    EVENTUALLY(script_held(&world->script) > 0);
    EVENTUALLY(main_thread_sleeps());
    finish_all(context);
}

/* CALL-4: a thread spins for a moment only, and then sleeps until the answer
 * comes. One that spins on would never be finished here. */
WORLD_TEST("", a_plain_call_that_waits_long_sleeps)
{
    struct thread thread;
    LOCAL_LETTER(letter);

    world->script.hold = true;
    thread_start(&thread, finish_a_sleeper, world);
    CHECK_OK(lbx_postbox_receive(world->postbox, -1, &letter));
    thread_join(&thread);
}

/* A thread that finishes, against one that cancels: whichever is first, the
 * letter is delivered or goes back, and no thread touches what is destroyed. */
static void
finish_many(void *context)
{
    struct world *world = context;

    // On one processor, a thread that only ever took the lock would starve the
    // other.
    while (!world->script.closed) {
        script_finish(&world->script, 0, LBX_OK);
        sched_yield();
    }
}

/* The store finishes a call while its operation is being queued: the wait ends
 * all the same. A wake-up that is lost is a test that hangs. */
TEST(no_wake_up_is_lost_when_a_call_is_finished_early)
{
    const long rounds = test_rounds(5000, 100000);
    struct world world;
    struct thread thread;

    begin(&world);
    world.script.hold = true;
    thread_start(&thread, finish_many, &world);
    for (long i = 0; i < rounds; i++) {
        begin_receive(&world, -1);
        CHECK_OK(lbx_operation_wait(&world.operation));
        lbx_letter_destroy(world.letters[0]);
        lbx_operation_fini(&world.operation);
        if (i % 64 == 0)
            script_clear(&world.script);
    }
    lbx_postbox_unref(world.postbox);
    lbx_store_unref(&world.script.base);
    thread_join(&thread);
    pthread_mutex_destroy(&world.script.lock);
}

TEST(cancel_and_finish_race_at_every_moment)
{
    const long rounds = test_rounds(20000, 400000);
    long taken = 0;
    struct world world;
    struct thread thread;

    begin(&world);
    world.script.hold = true;
    thread_start(&thread, finish_many, &world);
    for (long i = 0; i < rounds; i++) {
        lbx_status status;

        begin_receive(&world, -1);
        status = poll_once(&world);
        for (long spin = 0; spin < i % 64 && status == LBX_PENDING; spin++) {
            if (spin % 8 == 0)
                sched_yield();
            if (i % 3 == 0)
                status = poll_once(&world);
        }
        if (status == LBX_PENDING)
            status = lbx_operation_cancel(&world.operation);
        CHECK(status == LBX_OK || status == LBX_CANCELLED);
        CHECK_INT(status == LBX_OK, world.count);
        if (world.count > 0)
            lbx_letter_destroy(world.letters[0]);
        taken += status == LBX_OK;
        lbx_operation_fini(&world.operation);
        if (i % 64 == 0)
            script_clear(&world.script);
    }
    test_note("%ld of %ld were taken", taken, rounds);
    CHECK(taken > 0 && taken < rounds); // both have been seen
    lbx_postbox_unref(world.postbox);
    lbx_store_unref(&world.script.base);
    thread_join(&thread);
    pthread_mutex_destroy(&world.script.lock);
}

static void
close_soon(void *context)
{
    struct world *world = context;

    EVENTUALLY(script_held(&world->script) == 3);
    lbx_postbox_close(world->postbox);
}

static void
receive_until_closed(unsigned index, void *context)
{
    struct world *world = context;
    lbx_letter *letter;

    (void)index;
    CHECK_STATUS(LBX_CLOSED, lbx_postbox_receive(world->postbox, -1, &letter));
}

WORLD_TEST("W-37", closing_wakes_blocked_threads)
{
    struct thread thread;

    world->script.hold = true;
    thread_start(&thread, close_soon, world);
    threads_run(3, receive_until_closed, world);
    thread_join(&thread);
}
