/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Select over several operations: exactly one wins, the others leave no trace
 * (WAIT-8). And the eventfd adapter, which puts any of it into an epoll loop.
 */
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "mailbox/fixture.h"

enum {
    BOXES = 3
};

// A select over one receive from each of three mailboxes.
struct choice {
    struct box boxes[BOXES];
    lbx_operation receives[BOXES];
    lbx_operation *list[BOXES];
    void *messages[BOXES];
    lbx_operation select;
    struct bell bell;
    size_t index;
};

static void
choice_start(struct choice *choice)
{
    for (int i = 0; i < BOXES; i++) {
        choice->messages[i] = letter(-1);
        choice->list[i] = &choice->receives[i];
        CHECK_OK(lbx_consumer_receive_init(&choice->receives[i],
                                           choice->boxes[i].out,
                                           &choice->messages[i], LBX_FOREVER));
    }
}

static void
choice_begin(struct choice *choice)
{
    *choice = (struct choice){.index = 99};
    for (int i = 0; i < BOXES; i++)
        choice->boxes[i] = box_unbounded();
    choice_start(choice);
}

static void
choice_select(struct choice *choice, size_t first, int64_t deadline_ns)
{
    CHECK_OK(lbx_select_init(&choice->select, choice->list, BOXES, first,
                             deadline_ns, &choice->index));
}

static lbx_status
choice_poll(struct choice *choice)
{
    return bell_poll(&choice->select, &choice->bell);
}

static void
choice_fini(struct choice *choice)
{
    lbx_operation_fini(&choice->select);
    for (int i = 0; i < BOXES; i++)
        lbx_operation_fini(&choice->receives[i]);
}

static void
choice_end(struct choice *choice)
{
    choice_fini(choice);
    for (int i = 0; i < BOXES; i++)
        box_end(&choice->boxes[i]);
}

#define LOCAL_CHOICE(name)                                                     \
    __attribute__((cleanup(choice_end))) struct choice name

static bool
send_to_other(void *context)
{
    CHECK_OK(lbx_producer_try_send(context, letter(7)));
    return true;
}

// While the second mailbox is looked at, a message arrives in the first: the
// poll finds it, and calls no waker for it.
TEST_CITING("WAIT-8", a_wake_up_during_a_poll_of_select_is_part_of_that_poll)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    LOCAL_CHOICE(choice);

    choice_begin(&choice);
    choice_fini(&choice);
    box_end(&choice.boxes[1]);
    options.may_wait = send_to_other;
    options.may_wait_context = choice.boxes[0].in;
    choice.boxes[1] = box_make(LBX_KIND_UNBOUNDED, &options);
    choice_start(&choice);
    choice_select(&choice, 0, LBX_FOREVER);
    CHECK_OK(choice_poll(&choice));
    CHECK(choice.index == 0 && choice.messages[0] == letter(7));
    CHECK_INT(0, choice.bell.rings);
}

TEST_CITING("WAIT-8", select_takes_from_the_one_that_has_a_message)
{
    LOCAL_CHOICE(choice);

    choice_begin(&choice);
    box_send(&choice.boxes[1], 7);
    choice_select(&choice, 0, LBX_FOREVER);
    CHECK_OK(choice_poll(&choice));
    CHECK_INT(1, choice.index);
    CHECK_INT(7, number_of(choice.messages[1]));
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_status(&choice.receives[0]));
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_status(&choice.receives[2]));
}

TEST_CITING("WAIT-8", select_waits_and_is_woken_once)
{
    LOCAL_CHOICE(choice);

    choice_begin(&choice);
    choice_select(&choice, 0, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, choice_poll(&choice));
    for (int i = 0; i < BOXES; i++)
        CHECK_INT(1, box_stats(&choice.boxes[i]).waiting_receivers);
    box_send(&choice.boxes[2], 7);
    CHECK_INT(1, choice.bell.rings);
    CHECK_OK(choice_poll(&choice));
    CHECK_INT(2, choice.index);
    CHECK_INT(7, number_of(choice.messages[2]));
}

// Messages in all of them: exactly one is consumed.
TEST_CITING("WAIT-8", select_consumes_exactly_one)
{
    LOCAL_CHOICE(choice);

    choice_begin(&choice);
    choice_select(&choice, 0, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, choice_poll(&choice));
    for (int i = 0; i < BOXES; i++)
        box_send(&choice.boxes[i], i + 1);
    CHECK_OK(choice_poll(&choice));
    for (int i = 0; i < BOXES; i++)
        CHECK_INT((size_t)i == choice.index ? 0 : 1,
                  lbx_mailbox_depth(choice.boxes[i].mailbox));
}

// A loser that was already promised something passes it on.
TEST_CITING("WAIT-8 MSG-10", losers_do_not_eat_a_wake_up)
{
    struct receiver behind[BOXES];
    int served = 0;
    LOCAL_CHOICE(choice);

    choice_begin(&choice);
    choice_select(&choice, 0, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, choice_poll(&choice));
    for (int i = 0; i < BOXES; i++)
        receiver_wait(&behind[i], &choice.boxes[i]);
    for (int i = 0; i < BOXES; i++)
        box_send(&choice.boxes[i], i + 1);
    CHECK_OK(choice_poll(&choice));
    for (int i = 0; i < BOXES; i++) {
        if ((size_t)i != choice.index) {
            CHECK_INT(1, behind[i].bell.rings);
            CHECK_OK(receiver_poll(&behind[i]));
            CHECK_INT(i + 1, number_of(behind[i].message));
            served++;
        }
        lbx_operation_fini(&behind[i].operation);
    }
    CHECK_INT(2, served);
}

TEST_CITING("WAIT-8 C-32", losers_are_deregistered)
{
    LOCAL_CHOICE(choice);

    choice_begin(&choice);
    choice_select(&choice, 0, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, choice_poll(&choice));
    box_send(&choice.boxes[0], 1);
    CHECK_OK(choice_poll(&choice));
    for (int i = 0; i < BOXES; i++)
        CHECK_INT(0, box_stats(&choice.boxes[i]).waiting_receivers);
    CHECK_INT(1, choice.bell.rings);
    box_send(&choice.boxes[1], 2);
    CHECK_INT(1, choice.bell.rings);
}

// 0 gives precedence; the last winner plus one is round-robin.
TEST(looking_starts_where_the_caller_says)
{
    for (size_t first = 0; first < BOXES; first++) {
        struct choice choice;

        choice_begin(&choice);
        for (int i = 0; i < BOXES; i++)
            box_send(&choice.boxes[i], i);
        choice_select(&choice, first, LBX_FOREVER);
        CHECK_OK(choice_poll(&choice));
        CHECK_INT(first, choice.index);
        choice_end(&choice);
    }
}

TEST(round_robin_serves_all_in_turn)
{
    struct choice choice;
    size_t first = 0;
    int wins[BOXES] = {0};

    choice_begin(&choice);
    for (int i = 0; i < BOXES; i++)
        box_send_numbers(&choice.boxes[i], 1, 10);
    for (int round = 0; round < 9; round++) {
        choice_select(&choice, first, LBX_FOREVER);
        CHECK_OK(choice_poll(&choice));
        wins[choice.index]++;
        first = (choice.index + 1) % BOXES;
        choice_fini(&choice);
        choice_start(&choice);
    }
    for (int i = 0; i < BOXES; i++)
        CHECK_INT(3, wins[i]);
    for (int i = 0; i < BOXES; i++) {
        lbx_operation_fini(&choice.receives[i]);
        box_end(&choice.boxes[i]);
    }
}

// operation.h: at its own deadline the children stay pending and can be
// selected over again.
TEST_CITING("WAIT-9", select_that_timed_out_leaves_its_children_pending)
{
    LOCAL_CHOICE(choice);

    choice_begin(&choice);
    choice_select(&choice, 0, 0);
    CHECK_STATUS(LBX_TIMEOUT, choice_poll(&choice));
    CHECK_INT(99, choice.index);
    for (int i = 0; i < BOXES; i++)
        CHECK_STATUS(LBX_PENDING, lbx_operation_status(&choice.receives[i]));
    lbx_operation_fini(&choice.select);

    choice_select(&choice, 0, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, choice_poll(&choice));
    box_send(&choice.boxes[0], 1);
    CHECK_OK(choice_poll(&choice));
    CHECK_INT(0, choice.index);
}

// A child's own end, whatever it is, wins.
TEST(closed_mailbox_wins_with_its_status)
{
    LOCAL_CHOICE(choice);

    choice_begin(&choice);
    choice_select(&choice, 0, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, choice_poll(&choice));
    CHECK_OK(lbx_mailbox_close(choice.boxes[1].mailbox, LBX_CLOSE_DRAIN));
    CHECK_INT(1, choice.bell.rings);
    CHECK_STATUS(LBX_CLOSED, choice_poll(&choice));
    CHECK_INT(1, choice.index);
}

TEST(cancelled_select_takes_nothing)
{
    struct choice choice;

    choice_begin(&choice);
    choice_select(&choice, 0, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, choice_poll(&choice));
    box_send(&choice.boxes[0], 1);
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&choice.select));
    choice_fini(&choice);
    CHECK_INT(1, box_next(&choice.boxes[0]));
    for (int i = 0; i < BOXES; i++)
        box_end(&choice.boxes[i]);
}

// operation.h: a loser that was a send and already completed by a receiver
// says LBX_OK.
TEST_CITING("WAIT-4", losing_send_says_whether_it_was_sent)
{
    LOCAL_BOX(full) = box_limited(1, LBX_OVERFLOW_BLOCK);
    LOCAL_BOX(empty) = box_unbounded();
    lbx_operation send;
    lbx_operation receive;
    lbx_operation *list[] = {&receive, &send};
    lbx_operation select;
    void *message = NULL;
    size_t index = 99;

    box_send(&full, 1);
    CHECK_OK(lbx_producer_send_init(&send, full.in, letter(2), LBX_FOREVER));
    CHECK_OK(
        lbx_consumer_receive_init(&receive, empty.out, &message, LBX_FOREVER));
    CHECK_OK(lbx_select_init(&select, list, 2, 0, LBX_FOREVER, &index));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&select, NULL));
    CHECK_INT(1, box_next(&full)); // the send is completed here,
    box_send(&empty, 3);           // and the receive can be, too
    CHECK_OK(lbx_operation_poll(&select, NULL));
    CHECK_OK(lbx_operation_status(&send));
    CHECK_RECEIVES(&full, 2);
    CHECK_INT(index == 0 ? 0 : 1, lbx_mailbox_depth(empty.mailbox));
    lbx_operation_fini(&select);
    lbx_operation_fini(&send);
    lbx_operation_fini(&receive);
}

TEST(select_may_be_nested)
{
    struct choice choice;
    lbx_operation outer;
    lbx_operation *only[] = {&choice.select};
    size_t index = 99;

    choice_begin(&choice);
    choice_select(&choice, 0, LBX_FOREVER);
    CHECK_OK(lbx_select_init(&outer, only, 1, 0, LBX_FOREVER, &index));
    CHECK_STATUS(LBX_PENDING, bell_poll(&outer, &choice.bell));
    box_send(&choice.boxes[2], 5);
    CHECK_INT(1, choice.bell.rings);
    CHECK_OK(bell_poll(&outer, &choice.bell));
    CHECK_INT(0, index);
    CHECK_INT(2, choice.index);
    CHECK_INT(5, number_of(choice.messages[2]));
    lbx_operation_fini(&outer);
    choice_end(&choice);
}

static void
end_choice(void *context)
{
    struct choice *choice = context;

    choice->bell.rings++;
    choice_fini(choice);
}

// WAIT-6 for selects: the whole choice ends inside the select's own waker.
TEST_CITING("WAIT-6 WAIT-8", select_and_its_children_may_end_inside_its_waker)
{
    struct choice choice;
    lbx_waker waker = {end_choice, &choice};

    choice_begin(&choice);
    choice_select(&choice, 0, LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&choice.select, &waker));
    box_send(&choice.boxes[1], 5);
    CHECK_INT(1, choice.bell.rings);
    for (int i = 0; i < BOXES; i++)
        CHECK_INT(0, box_stats(&choice.boxes[i]).waiting_receivers);
    CHECK_INT(5, box_next(&choice.boxes[1]));
    for (int i = 0; i < BOXES; i++)
        box_end(&choice.boxes[i]);
}

// A child's own deadline ends the select, and the loop is told in time.
TEST_CITING("WAIT-9", select_minds_the_deadlines_of_its_children)
{
    TEST_CLOCK(time, clock);
    int64_t soon = test_clock_now(&time) + LBX_MS;
    lbx_operation receive;
    lbx_operation *list[] = {&receive};
    lbx_operation select;
    void *message;
    size_t index = 9;
    LOCAL_BOX(box) =
        BOX(LBX_KIND_UNBOUNDED, plain_options(), with.clock = &clock);

    CHECK_OK(lbx_consumer_receive_init(&receive, box.out, &message, soon));
    CHECK_OK(lbx_select_init(&select, list, 1, 0, LBX_FOREVER, &index));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&select, NULL));
    CHECK_INT(soon, lbx_operation_deadline(&select));
    test_clock_advance(&time, LBX_MS);
    CHECK_STATUS(LBX_TIMEOUT, lbx_operation_poll(&select, NULL));
    CHECK_INT(0, index); // its child's, not its own
    lbx_operation_fini(&select);
    lbx_operation_fini(&receive);
}

TEST(select_over_nothing_is_invalid)
{
    lbx_operation *with_null[] = {NULL};
    size_t index;
    LOCAL_CHOICE(choice);

    choice_begin(&choice);
    CHECK_STATUS(LBX_INVALID, lbx_select_init(&choice.select, choice.list, 0, 0,
                                              LBX_FOREVER, &index));
    CHECK_STATUS(LBX_INVALID, lbx_select_init(&choice.select, with_null, 1, 0,
                                              LBX_FOREVER, &index));
    CHECK_STATUS(LBX_INVALID, lbx_select_init(&choice.select, choice.list, 3, 3,
                                              LBX_FOREVER, &index));
    CHECK_STATUS(LBX_INVALID, lbx_select_init(&choice.select, NULL, 3, 0,
                                              LBX_FOREVER, &index));
}

// Two receives from one mailbox are two places in its line.
BOX_TEST("WAIT-8", select_over_one_mailbox_twice_takes_one_message,
         box_unbounded())
{
    lbx_operation receives[2];
    lbx_operation *list[] = {&receives[0], &receives[1]};
    lbx_operation select;
    void *messages[2] = {letter(-1), letter(-1)};
    size_t index = 9;

    for (int i = 0; i < 2; i++)
        CHECK_OK(lbx_consumer_receive_init(&receives[i], box->out, &messages[i],
                                           LBX_FOREVER));
    CHECK_OK(lbx_select_init(&select, list, 2, 0, LBX_FOREVER, &index));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&select, NULL));
    box_send_numbers(box, 1, 2);
    CHECK_OK(lbx_operation_poll(&select, NULL));
    CHECK(index < 2);
    CHECK_INT(1, number_of(messages[index]));
    CHECK_RECEIVES(box, 2);
    lbx_operation_fini(&select);
    lbx_operation_fini(&receives[0]);
    lbx_operation_fini(&receives[1]);
}

// A deadline can only be compared with one clock.
TEST(select_over_different_clocks_is_invalid)
{
    TEST_CLOCK(time, clock);
    LOCAL_BOX(real) = box_unbounded();
    lbx_operation receives[2];
    lbx_operation *list[] = {&receives[0], &receives[1]};
    lbx_operation select;
    void *message;
    size_t index;
    LOCAL_BOX(other) =
        BOX(LBX_KIND_UNBOUNDED, plain_options(), with.clock = &clock);

    CHECK_OK(lbx_consumer_receive_init(&receives[0], real.out, &message,
                                       LBX_FOREVER));
    CHECK_OK(lbx_consumer_receive_init(&receives[1], other.out, &message,
                                       LBX_FOREVER));
    CHECK_STATUS(LBX_INVALID,
                 lbx_select_init(&select, list, 2, 0, LBX_FOREVER, &index));
    lbx_operation_fini(&receives[0]);
    lbx_operation_fini(&receives[1]);
}

struct crossing {
    struct box boxes[2];
    _Atomic int sent;
};

static void
cross(unsigned index, void *context)
{
    struct crossing *crossing = context;
    void *messages[2];
    size_t winner = 0;

    if (index < 2) {
        for (int i = 0; i < 500; i++)
            box_send(&crossing->boxes[index], i);
        return;
    }
    for (int i = 0; i < 1000; i++) {
        lbx_operation receives[2];
        lbx_operation *list[] = {&receives[0], &receives[1]};
        lbx_operation select;

        for (int j = 0; j < 2; j++)
            CHECK_OK(lbx_consumer_receive_init(&receives[j],
                                               crossing->boxes[j].out,
                                               &messages[j], LBX_FOREVER));
        CHECK_OK(lbx_select_init(&select, list, 2, (winner + 1) % 2,
                                 LBX_FOREVER, &winner));
        CHECK_OK(lbx_operation_wait(&select));
        lbx_operation_fini(&select);
        lbx_operation_fini(&receives[0]);
        lbx_operation_fini(&receives[1]);
    }
}

// WAIT-8, MSG-1 and MSG-9 with real threads: a thousand selects take a
// thousand.
TEST_CITING("WAIT-8", threaded_select_loses_nothing)
{
    struct crossing crossing = {.sent = 0};

    for (int i = 0; i < 2; i++)
        crossing.boxes[i] = box_unbounded();
    threads_run(3, cross, &crossing);
    for (int i = 0; i < 2; i++) {
        CHECK_NOTHING(&crossing.boxes[i]);
        box_end(&crossing.boxes[i]);
    }
}

// ---- eventfd ----

static bool
is_readable(int fd)
{
    struct pollfd look = {.fd = fd, .events = POLLIN};

    return poll(&look, 1, 0) == 1;
}

TEST_CITING("R-43", event_becomes_readable_when_a_poll_is_worth_it)
{
    LOCAL_BOX(box) = box_unbounded();
    lbx_operation receive;
    void *message = NULL;
    lbx_event event;

    CHECK_OK(lbx_event_open(&event));
    CHECK_OK(
        lbx_consumer_receive_init(&receive, box.out, &message, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&receive, &event.waker));
    CHECK(!is_readable(event.fd));
    box_send(&box, 1);
    CHECK(is_readable(event.fd));
    lbx_event_clear(&event);
    CHECK(!is_readable(event.fd));
    CHECK_OK(lbx_operation_poll(&receive, &event.waker));
    CHECK_INT(1, number_of(message));
    lbx_operation_fini(&receive);
    lbx_event_close(&event);
}

static void
send_three(void *context)
{
    struct box *box = context;

    box_send_numbers(box, 1, 3);
}

// The loop a user would write: epoll, clear, poll until pending again.
BOX_TEST("R-43", event_drives_an_epoll_loop, box_unbounded())
{
    struct epoll_event watch = {.events = EPOLLIN};
    int loop = epoll_create1(EPOLL_CLOEXEC);
    struct thread thread;
    lbx_event event;
    int got = 0;

    CHECK(loop >= 0);
    CHECK_OK(lbx_event_open(&event));
    CHECK(epoll_ctl(loop, EPOLL_CTL_ADD, event.fd, &watch) == 0);
    thread_start(&thread, send_three, box);
    while (got < 3) {
        lbx_operation receive;
        void *message = NULL;

        CHECK_OK(lbx_consumer_receive_init(&receive, box->out, &message,
                                           LBX_FOREVER));
        while (lbx_operation_poll(&receive, &event.waker) == LBX_PENDING) {
            CHECK(epoll_wait(loop, &watch, 1, -1) == 1);
            lbx_event_clear(&event);
        }
        CHECK_INT(++got, number_of(message));
        lbx_operation_fini(&receive);
    }
    thread_join(&thread);
    lbx_event_close(&event);
    close(loop);
}

// One event may serve many operations; wake-ups merge and none is lost.
BOX_TEST("R-43", one_event_serves_many_operations, box_unbounded())
{
    lbx_operation receives[4];
    void *messages[4];
    lbx_event event;

    CHECK_OK(lbx_event_open(&event));
    for (int i = 0; i < 4; i++) {
        CHECK_OK(lbx_consumer_receive_init(&receives[i], box->out, &messages[i],
                                           LBX_FOREVER));
        CHECK_STATUS(LBX_PENDING,
                     lbx_operation_poll(&receives[i], &event.waker));
    }
    box_send_numbers(box, 1, 4);
    CHECK(is_readable(event.fd));
    lbx_event_clear(&event);
    for (int i = 0; i < 4; i++) {
        CHECK_OK(lbx_operation_poll(&receives[i], &event.waker));
        CHECK_INT(i + 1, number_of(messages[i]));
        lbx_operation_fini(&receives[i]);
    }
    lbx_event_close(&event);
}

TEST(event_may_be_cleared_and_closed_again_and_again)
{
    lbx_event event;

    CHECK_STATUS(LBX_INVALID, lbx_event_open(NULL));
    CHECK_OK(lbx_event_open(&event));
    lbx_event_clear(&event); // nothing to clear: does not hang
    lbx_event_clear(&event);
    lbx_event_close(&event);
    lbx_event_close(&event);
    lbx_event_close(NULL);
}
