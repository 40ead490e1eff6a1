/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No wake-up is lost (MSG-9), and one for a waiter that is just being cancelled
 * is passed on (MSG-10).
 *
 * A flood does not find a lost wake-up, because the next message covers it.
 * So the storms here have one message, or one burst, in flight and wait for the
 * answer without a deadline; whoever is not woken stalls, and the watchdog
 * says so with the mailboxes' numbers.
 *
 *   exchange    request and reply, one in flight; sends that wait for room
 *   hand-over   two wait, one of them gives up as the message arrives
 *   random      producers and consumers that park at random, with deadlines
 *
 * Three ways of waiting: threads that park, operations with an eventfd, and
 * operations whose waker sets a flag. What is counted: for threads, how often
 * the kernel really put them to sleep (at most once per call that could wait);
 * for operations, polls that answered PENDING and were then woken.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "stress/box.h"
#include "stress/slices.h"
#include "stress/storm.h"
#include "support/test.h"
#include "support/threads.h"

enum front {
    FRONT_PARK,  // _until
    FRONT_EVENT, // operation and eventfd
    FRONT_FLAG,  // operation and a flag
};

/* One thread's way of waiting. */
struct waiter {
    enum front front;
    lbx_event event;
    _Alignas(STORM_LINE) _Atomic(uint64_t) flags; // wakes so far
    uint64_t pending;                             // polls that answered PENDING
    uint64_t woken;                               // of these, woken
    uint64_t calls;                               // that could wait
};

static void
raise_flag(void *context)
{
    struct waiter *waiter = context;

    atomic_fetch_add(&waiter->flags, 1);
}

static void
waiter_init(struct waiter *waiter, enum front front)
{
    memset(waiter, 0, sizeof(*waiter));
    waiter->front = front;
    if (front == FRONT_EVENT)
        CHECK_OK(lbx_event_open(&waiter->event));
}

// A waker comes at most once for each poll that answered PENDING: whoever
// passes an operation on after PENDING relies on it.
static void
check_wakes(const struct waiter *waiter)
{
    uint64_t wakes = atomic_load(&waiter->flags);

    if (wakes > waiter->pending)
        FAIL("wakers were called %" PRIu64 " times for %" PRIu64
             " polls that answered LBX_PENDING",
             wakes, waiter->pending);
}

// Adds its counts to the totals.
static void
waiter_fini(struct waiter *waiter)
{
    if (waiter->front == FRONT_PARK) {
        uint64_t parks = storm_thread_parks();

        storm_add(STORM_PARKS, parks < waiter->calls ? parks : waiter->calls);
        return;
    }
    if (waiter->front == FRONT_EVENT)
        lbx_event_close(&waiter->event);
    else
        check_wakes(waiter);
    storm_add(STORM_WAKES, waiter->woken);
}

static void
wait_for_waker(struct waiter *waiter, uint64_t flags)
{
    if (waiter->front == FRONT_EVENT) {
        struct pollfd ready = {.fd = waiter->event.fd, .events = POLLIN};

        while (poll(&ready, 1, -1) < 0)
            CHECK(errno == EINTR);
        lbx_event_clear(&waiter->event);
        return;
    }
    for (unsigned spins = 0; atomic_load(&waiter->flags) == flags; spins++) {
        if (spins % 128 == 127)
            sched_yield();
        else
            storm_spin(1);
    }
}

static lbx_status
poll_to_the_end(struct waiter *waiter, struct box_wait *wait)
{
    const struct box_ops *ops = wait->box->ops;
    lbx_waker flag = {raise_flag, waiter};
    const lbx_waker *waker =
        waiter->front == FRONT_EVENT ? &waiter->event.waker : &flag;
    lbx_status status;

    for (;;) {
        uint64_t flags = atomic_load(&waiter->flags);

        status = ops->poll(wait, waker);
        if (status != LBX_PENDING)
            break;
        waiter->pending++;
        wait_for_waker(waiter, flags);
        waiter->woken++;
    }
    ops->end(wait);
    return status;
}

static lbx_status
waiter_send(struct waiter *waiter, struct box *box, uint64_t number)
{
    struct box_wait wait;

    waiter->calls++;
    if (waiter->front == FRONT_PARK)
        return box->ops->send_until(box, storm_message(number), LBX_FOREVER);
    memset(&wait, 0, sizeof(wait));
    box->ops->send_start(box, &wait, storm_message(number), LBX_FOREVER);
    return poll_to_the_end(waiter, &wait);
}

static lbx_status
waiter_receive(struct waiter *waiter, struct box *box, uint64_t *ret)
{
    struct box_wait wait;
    void *message = NULL;
    lbx_status status;

    waiter->calls++;
    if (waiter->front == FRONT_PARK) {
        status = box->ops->receive_until(box, &message, LBX_FOREVER);
    } else {
        memset(&wait, 0, sizeof(wait));
        box->ops->receive_start(box, &wait, LBX_FOREVER);
        status = poll_to_the_end(waiter, &wait);
        message = wait.message;
    }
    *ret = storm_number(message);
    return status;
}

/* ---- Exchange ---- */

enum {
    STOP = UINT8_MAX, // marks in a message's low byte
    MORE = 2,
    LAST = 1,
};

struct exchange {
    struct box requests;
    struct box replies;
    struct storm_watch watch;
    enum front front;
    unsigned servers;
    unsigned burst; // most messages per request
    bool pinned;
    bool suspends; // requests are sent while suspended
    uint64_t rounds;
    uint64_t seed;
    unsigned patience_ms;
    bool is_control;
    unsigned processor;
};

static bool
exchange_stalled(void *context, unsigned worker, uint64_t count)
{
    struct exchange *exchange = context;
    char text[400];

    if (!exchange->is_control) {
        test_note("stall of worker %u after %" PRIu64 " rounds", worker, count);
        box_describe(&exchange->requests, text, sizeof(text));
        test_note("requests: %s", text);
        box_describe(&exchange->replies, text, sizeof(text));
        test_note("replies: %s", text);
        return false;
    }
    exchange->requests.ops->rescue(&exchange->requests);
    exchange->replies.ops->rescue(&exchange->replies);
    return true;
}

// Suspends around the send, so that it is resume which must wake.
static lbx_status
send_suspended(struct exchange *exchange, struct waiter *waiter,
               uint64_t number)
{
    lbx_mailbox *mailbox = lbx_producer_mailbox(exchange->requests.producer);
    lbx_status status;

    lbx_mailbox_suspend(mailbox);
    status = waiter_send(waiter, &exchange->requests, number);
    lbx_mailbox_resume(mailbox);
    return status;
}

static void
run_client(struct exchange *exchange)
{
    struct storm_random random = storm_random_of(exchange->seed, 0);
    struct waiter waiter;
    uint64_t answer;
    lbx_status status = LBX_OK;

    waiter_init(&waiter, exchange->front);
    for (uint64_t i = 0; i < exchange->rounds && status == LBX_OK; i++) {
        unsigned burst = 1 + storm_random_below(&random, exchange->burst);

        if (storm_once_in(&random, 4))
            storm_spin(storm_random_below(&random, 300));
        for (; burst > 1 && status == LBX_OK; burst--)
            status = waiter_send(&waiter, &exchange->requests, i << 8 | MORE);
        if (status == LBX_OK)
            status =
                exchange->suspends
                    ? send_suspended(exchange, &waiter, i << 8 | LAST)
                    : waiter_send(&waiter, &exchange->requests, i << 8 | LAST);
        if (status == LBX_OK)
            status = waiter_receive(&waiter, &exchange->replies, &answer);
        CHECK(status == LBX_CLOSED || answer == (i << 8 | LAST));
        storm_beat(&exchange->watch, 0);
    }
    for (unsigned i = 0; i < exchange->servers && status == LBX_OK;) {
        status = waiter_send(&waiter, &exchange->requests, STOP);
        i += status == LBX_OK;
        if (status == LBX_FULL) {
            status = LBX_OK; // a mailbox for one that does not wait for room
            sched_yield();
        }
    }
    CHECK(status == LBX_OK || exchange->is_control);
    storm_beat_end(&exchange->watch, 0);
    waiter_fini(&waiter);
}

static void
run_server(struct exchange *exchange, unsigned index)
{
    struct storm_random random = storm_random_of(exchange->seed, index);
    struct waiter waiter;
    uint64_t request = 0;
    lbx_status status;

    waiter_init(&waiter, exchange->front);
    for (;;) {
        if (storm_once_in(&random, 4))
            storm_spin(storm_random_below(&random, 300));
        status = waiter_receive(&waiter, &exchange->requests, &request);
        if (status != LBX_OK || request == STOP)
            break;
        if ((request & 255) == LAST)
            status = waiter_send(&waiter, &exchange->replies, request);
        if (status != LBX_OK)
            break;
    }
    CHECK(status == LBX_OK || exchange->is_control);
    waiter_fini(&waiter);
}

static void
exchange_work(unsigned index, void *context)
{
    struct exchange *exchange = context;

    if (exchange->pinned)
        storm_pin(exchange->processor);
    if (index == 0)
        run_client(exchange);
    else
        run_server(exchange, index);
}

// Only the client is watched: it waits for all the others.
static unsigned
exchange_run(struct exchange *exchange)
{
    storm_watch_start(&exchange->watch, 1, exchange->patience_ms,
                      exchange_stalled, exchange);
    threads_run(1 + exchange->servers, exchange_work, exchange);

    unsigned stalls = storm_watch_stop(&exchange->watch);

    exchange->requests.ops->fini(&exchange->requests);
    exchange->replies.ops->fini(&exchange->replies);
    return stalls;
}

static void
exchange_open(struct exchange *exchange, const struct box_case *how)
{
    box_open(&exchange->requests, how);
    box_open(&exchange->replies, how);
    exchange->burst = how->overflow == LBX_OVERFLOW_BLOCK ? 3
                      : how->capacity > 0                 ? 1
                                                          : 2;
    exchange->patience_ms = STORM_STALL_MS;
}

static const struct box_case kinds[] = {
    {.name = "unbounded", .kind = LBX_KIND_UNBOUNDED},
    {.name = "single-consumer",
     .kind = LBX_KIND_UNBOUNDED_SINGLE_CONSUMER,
     .one_consumer = true},
    {.name = "bounded 1", .kind = LBX_KIND_BOUNDED, .capacity = 1},
    {.name = "bounded 1 BLOCK",
     .kind = LBX_KIND_BOUNDED,
     .capacity = 1,
     .overflow = LBX_OVERFLOW_BLOCK},
    {.name = "priority",
     .kind = LBX_KIND_UNBOUNDED_PRIORITY,
     .ranks = BOX_PRIORITIES},
    {.name = "bounded priority 1 BLOCK",
     .kind = LBX_KIND_BOUNDED_PRIORITY,
     .capacity = 1,
     .overflow = LBX_OVERFLOW_BLOCK,
     .ranks = BOX_PRIORITIES},
    {.name = "control-aware",
     .kind = LBX_KIND_UNBOUNDED_CONTROL_AWARE,
     .ranks = BOX_LANES},
    {.name = "bounded control-aware 1 BLOCK",
     .kind = LBX_KIND_BOUNDED_CONTROL_AWARE,
     .capacity = 1,
     .overflow = LBX_OVERFLOW_BLOCK,
     .ranks = BOX_LANES},
    {.name = "deque", .kind = LBX_KIND_UNBOUNDED_DEQUE},
};

enum {
    KINDS = sizeof(kinds) / sizeof(kinds[0])
};

struct exchange_style {
    enum front front;
    bool pinned;
    bool suspends;
    unsigned servers;
    uint64_t rounds;
};

// All kinds, one after another.
static void
exchange_storm(const char *name, struct exchange_style style)
{
    uint64_t seed = storm_begin();

    for (unsigned i = 0; i < KINDS; i++) {
        static struct exchange exchange;
        uint64_t before = storm_sum(STORM_PARKS) + storm_sum(STORM_WAKES);
        struct slices slices = slices_begin(style.rounds, KINDS);

        if (style.servers > 1 && kinds[i].one_consumer)
            continue;
        if (style.suspends && kinds[i].overflow == LBX_OVERFLOW_BLOCK)
            continue; // a burst that waits for room would never be taken
        for (uint64_t some; (some = slices_next(&slices)) > 0;) {
            memset(&exchange, 0, sizeof(exchange));
            exchange_open(&exchange, &kinds[i]);
            exchange.front = style.front;
            exchange.pinned = style.pinned;
            exchange.suspends = style.suspends;
            exchange.servers = style.servers;
            exchange.rounds = some;
            exchange.seed = seed + i + slices.made;
            exchange.processor = i;
            if (style.suspends)
                exchange.burst = 1;
            CHECK_INT(0, exchange_run(&exchange));
            storm_add(STORM_OPERATIONS, 4 * some);
        }
        test_note("wake: %s, %s: rounds=%" PRIu64 " pairs=%" PRIu64 " stalls=0",
                  name, kinds[i].name, slices.made,
                  storm_sum(STORM_PARKS) + storm_sum(STORM_WAKES) - before);
    }
    storm_add(STORM_RUNS, 1);
}

TEST_LIMIT(parked_threads_exchange_without_a_stall, 120)
{
    exchange_storm("threads", (struct exchange_style){
                                  .front = FRONT_PARK,
                                  .servers = 1,
                                  .rounds = storm_count(12000, 3000, 2000, 250),
                              });
}

// On one processor every wait really sleeps.
TEST_LIMIT(parked_threads_exchange_on_one_processor, 120)
{
    exchange_storm("threads on one processor",
                   (struct exchange_style){
                       .front = FRONT_PARK,
                       .pinned = true,
                       .servers = 1,
                       .rounds = storm_count(25000, 4000, 2000, 250),
                   });
}

TEST_LIMIT(several_parked_consumers_exchange_without_a_stall, 120)
{
    exchange_storm("threads, three consumers",
                   (struct exchange_style){
                       .front = FRONT_PARK,
                       .servers = 3,
                       .rounds = storm_count(8000, 1500, 1000, 250),
                   });
}

TEST_LIMIT(event_loops_exchange_without_a_stall, 120)
{
    exchange_storm("eventfd", (struct exchange_style){
                                  .front = FRONT_EVENT,
                                  .servers = 1,
                                  .rounds = storm_count(10000, 2000, 1500, 250),
                              });
}

TEST_LIMIT(operations_exchange_without_a_stall, 120)
{
    exchange_storm("operations",
                   (struct exchange_style){
                       .front = FRONT_FLAG,
                       .servers = 1,
                       .rounds = storm_count(120000, 15000, 8000, 250),
                   });
}

TEST_LIMIT(several_operations_exchange_without_a_stall, 120)
{
    exchange_storm("operations, two consumers",
                   (struct exchange_style){
                       .front = FRONT_FLAG,
                       .servers = 2,
                       .rounds = storm_count(15000, 3000, 2000, 250),
                   });
}

// Resume must wake those who wait for what was held back.
TEST_LIMIT(resume_wakes_those_who_wait, 120)
{
    exchange_storm("suspended, operations",
                   (struct exchange_style){
                       .front = FRONT_FLAG,
                       .suspends = true,
                       .servers = 1,
                       .rounds = storm_count(20000, 4000, 3000, 250),
                   });
    exchange_storm("suspended, threads",
                   (struct exchange_style){
                       .front = FRONT_PARK,
                       .suspends = true,
                       .servers = 1,
                       .rounds = storm_count(5000, 1000, 1000, 250),
                   });
}

/* ---- Flush: done when all that was sent before has been taken ---- */

static void
flush_work(unsigned index, void *context)
{
    struct exchange *exchange = context;
    struct box *box = &exchange->requests;
    lbx_mailbox *mailbox = lbx_producer_mailbox(box->producer);
    struct storm_random random = storm_random_of(exchange->seed, index);
    struct waiter waiter;
    uint64_t number = 0;

    waiter_init(&waiter, FRONT_FLAG);
    for (uint64_t i = 0; index == 0 && i < exchange->rounds; i++) {
        struct box_wait wait;

        for (unsigned j = storm_random_below(&random, 4); j > 0; j--)
            CHECK_OK(waiter_send(&waiter, box, MORE));
        memset(&wait, 0, sizeof(wait));
        wait.box = box;
        CHECK_OK(lbx_mailbox_flush_init(&wait.operation, mailbox, LBX_FOREVER));
        CHECK_OK(poll_to_the_end(&waiter, &wait));
        CHECK_INT(0, lbx_mailbox_depth(mailbox)); // nobody else sends
        storm_beat(&exchange->watch, 0);
    }
    if (index == 0) {
        CHECK_OK(waiter_send(&waiter, box, STOP));
        storm_beat_end(&exchange->watch, 0);
    }
    while (index > 0 && number != STOP)
        CHECK_OK(waiter_receive(&waiter, box, &number));
    waiter_fini(&waiter);
}

TEST_LIMIT(flush_is_woken_by_the_last_take, 120)
{
    uint64_t seed = storm_begin();

    for (unsigned i = 0; i < KINDS; i++) {
        static struct exchange exchange;
        struct slices slices =
            slices_begin(storm_count(10000, 2000, 1500, 250), KINDS);

        if (kinds[i].capacity > 0 && kinds[i].overflow != LBX_OVERFLOW_BLOCK)
            continue;
        for (uint64_t some; (some = slices_next(&slices)) > 0;) {
            memset(&exchange, 0, sizeof(exchange));
            exchange_open(&exchange, &kinds[i]);
            exchange.rounds = some;
            exchange.seed = seed + i + slices.made;
            storm_watch_start(&exchange.watch, 1, STORM_STALL_MS,
                              exchange_stalled, &exchange);
            threads_run(2, flush_work, &exchange);
            CHECK_INT(0, storm_watch_stop(&exchange.watch));
            exchange.requests.ops->fini(&exchange.requests);
            exchange.replies.ops->fini(&exchange.replies);
        }
        test_note("wake: flush, %s: rounds=%" PRIu64 " stalls=0", kinds[i].name,
                  slices.made);
    }
    storm_add(STORM_RUNS, 1);
}

/* ---- Hand-over: three threads, one of which gives up ---- */

/*
 * Each round the client makes one thing available: a message, room, or a
 * notification. The fickle thread waits for it with an operation and cancels;
 * the patient one waits without a deadline. Exactly one gets it. The fickle
 * one does not try again before the round is over: if it was handed the thing
 * and kept it for itself, the patient one sleeps for ever.
 */
struct hand_over {
    struct box box;     // what is waited on
    struct box replies; // the answer of whoever got it
    lbx_signal *signal; // or what is waited on
    struct storm_watch watch;
    enum front patient_front;
    bool sends; // they wait to send
    uint64_t rounds;
    uint64_t seed;
    unsigned patience_ms;
    bool is_control;
    // Written by the client; rounds count from 1.
    _Alignas(STORM_LINE) _Atomic(uint64_t) round;
    // Written by the fickle one: round << 2 | what became of its wait.
    _Alignas(STORM_LINE) _Atomic(uint64_t) ready;
    _Alignas(STORM_LINE) _Atomic(uint64_t) report;
    _Atomic(bool) over;
    uint64_t cancelled, got; // by the fickle one
};

enum {
    PREFILL = 3,
    FICKLE = 4,
    PATIENT = 5,
};

static bool
hand_over_stalled(void *context, unsigned worker, uint64_t count)
{
    struct hand_over *hand_over = context;
    char text[400];

    if (!hand_over->is_control) {
        test_note("stall of worker %u after %" PRIu64 " rounds", worker, count);
        if (hand_over->box.ops) {
            box_describe(&hand_over->box, text, sizeof(text));
            test_note("box: %s", text);
        }
        box_describe(&hand_over->replies, text, sizeof(text));
        test_note("replies: %s", text);
        return false;
    }
    atomic_store(&hand_over->over, true);
    hand_over->box.ops->rescue(&hand_over->box);
    hand_over->replies.ops->rescue(&hand_over->replies);
    return true;
}

// Waits until *word is at least `least`; false when it is all over.
static bool
reaches(struct hand_over *hand_over, _Atomic(uint64_t) *word, uint64_t least)
{
    for (unsigned spins = 0; atomic_load(word) < least; spins++) {
        if (atomic_load(&hand_over->over))
            return false;
        if (spins % 128 == 127)
            sched_yield();
        else
            storm_spin(1);
    }
    return true;
}

static lbx_status
client_round(struct hand_over *hand_over, struct waiter *waiter, uint64_t round)
{
    uint64_t number;
    bool prefill = false;
    bool patient = false;
    bool fickle = false;
    lbx_status status;

    if (!hand_over->sends) {
        if (hand_over->signal)
            lbx_signal_notify(hand_over->signal);
        else if (hand_over->box.ops->try_send(
                     &hand_over->box, storm_message(round << 8)) != LBX_OK)
            return LBX_CLOSED;
        status = waiter_receive(waiter, &hand_over->replies, &number);
        if (status == LBX_OK)
            CHECK_INT(round << 8, number);
        return status;
    }

    // Takes one message; whoever is first in line must get in, and in the end
    // the patient one in any case, the fickle one if it says so.
    while (!prefill || !patient) {
        status = waiter_receive(waiter, &hand_over->box, &number);
        if (status != LBX_OK)
            return status;
        CHECK_INT(round, number >> 8);
        prefill |= (number & 255) == PREFILL;
        patient |= (number & 255) == PATIENT;
        fickle |= (number & 255) == FICKLE;
    }
    if (!reaches(hand_over, &hand_over->report, round << 2))
        return LBX_CLOSED;

    bool sent = (atomic_load(&hand_over->report) & 3) != 0;

    if (sent && !fickle) {
        status = waiter_receive(waiter, &hand_over->box, &number);
        if (status != LBX_OK)
            return status;
        fickle = number == (round << 8 | FICKLE);
    }
    if (fickle != sent) {
        if (!hand_over->is_control)
            FAIL("round %" PRIu64 ": the fickle send %s", round,
                 fickle ? "was cancelled and is in" : "was sent and is not in");
        return LBX_INVALID;
    }
    return LBX_OK;
}

static void
run_hand_over_client(struct hand_over *hand_over)
{
    struct waiter waiter;
    lbx_status status = LBX_OK;

    waiter_init(&waiter, FRONT_FLAG);
    for (uint64_t round = 1; round <= hand_over->rounds; round++) {
        // The round before left nothing inside.
        if (hand_over->sends &&
            hand_over->box.ops->try_send(
                &hand_over->box, storm_message(round << 8 | PREFILL)) != LBX_OK)
            status = LBX_INVALID;
        atomic_store(&hand_over->round, round);
        if (status != LBX_OK || !reaches(hand_over, &hand_over->ready, round))
            break;
        status = client_round(hand_over, &waiter, round);
        if (status != LBX_OK ||
            !reaches(hand_over, &hand_over->report, round << 2))
            break;
        storm_beat(&hand_over->watch, 0);
    }
    CHECK(status == LBX_OK || hand_over->is_control);
    if (status == LBX_INVALID)
        atomic_fetch_add(&hand_over->watch.stalls, 1);
    atomic_store(&hand_over->over, true);
    if (hand_over->box.ops)
        hand_over->box.ops->rescue(&hand_over->box);
    storm_beat_end(&hand_over->watch, 0);
    waiter_fini(&waiter);
}

static void
run_fickle(struct hand_over *hand_over)
{
    struct storm_random random = storm_random_of(hand_over->seed, 1);
    struct waiter waiter;
    struct box *box = &hand_over->box;

    waiter_init(&waiter, FRONT_FLAG);
    for (uint64_t round = 1; reaches(hand_over, &hand_over->round, round);
         round++) {
        lbx_waker waker = {raise_flag, &waiter};
        struct box_wait wait;
        lbx_status status;

        memset(&wait, 0, sizeof(wait));
        storm_spin(storm_random_below(&random, 200));
        if (hand_over->signal)
            CHECK_OK(lbx_signal_wait_init(&wait.operation, hand_over->signal,
                                          LBX_FOREVER));
        else if (hand_over->sends)
            box->ops->send_start(box, &wait, storm_message(round << 8 | FICKLE),
                                 LBX_FOREVER);
        else
            box->ops->receive_start(box, &wait, LBX_FOREVER);
        status = hand_over->signal ? lbx_operation_poll(&wait.operation, &waker)
                                   : box->ops->poll(&wait, &waker);
        atomic_store(&hand_over->ready, round);
        storm_spin(storm_random_below(&random, 200));
        if (storm_once_in(&random, 4))
            sched_yield();
        if (status == LBX_PENDING && storm_once_in(&random, 4))
            status = hand_over->signal
                         ? lbx_operation_poll(&wait.operation, &waker)
                         : box->ops->poll(&wait, &waker);
        if (status == LBX_PENDING)
            status = hand_over->signal ? lbx_operation_cancel(&wait.operation)
                                       : box->ops->cancel(&wait);
        CHECK(status == LBX_OK || status == LBX_CANCELLED ||
              status == LBX_CLOSED);
        hand_over->cancelled += status == LBX_CANCELLED;
        hand_over->got += status == LBX_OK;
        if (status == LBX_OK && !hand_over->sends)
            CHECK(waiter_send(&waiter, &hand_over->replies, round << 8) ==
                      LBX_OK ||
                  hand_over->is_control);
        if (hand_over->signal)
            lbx_operation_fini(&wait.operation);
        else
            box->ops->end(&wait);
        atomic_store(&hand_over->report, round << 2 | (status == LBX_OK));
    }
    waiter.pending = UINT64_MAX; // not counted here
    waiter_fini(&waiter);
}

static void
run_patient(struct hand_over *hand_over)
{
    struct storm_random random = storm_random_of(hand_over->seed, 2);
    struct waiter waiter;
    uint64_t number = 0;
    lbx_status status = LBX_OK;

    waiter_init(&waiter, hand_over->patient_front);
    for (uint64_t round = 1; status == LBX_OK; round++) {
        // Half of the time behind the fickle one.
        if (storm_once_in(&random, 2) &&
            !reaches(hand_over, &hand_over->ready,
                     hand_over->sends ? round : (number >> 8) + 1))
            break;
        if (hand_over->sends) {
            if (!reaches(hand_over, &hand_over->round, round))
                break;
            status =
                waiter_send(&waiter, &hand_over->box, round << 8 | PATIENT);
            continue;
        }
        if (hand_over->signal) {
            // Ends by a last notify, after `over` was set.
            waiter.calls++;
            CHECK_OK(lbx_signal_wait_until(hand_over->signal, LBX_FOREVER));
            number = atomic_load(&hand_over->round) << 8;
            if (atomic_load(&hand_over->over))
                break;
        } else {
            status = waiter_receive(&waiter, &hand_over->box, &number);
        }
        if (status == LBX_OK)
            status = waiter_send(&waiter, &hand_over->replies, number);
    }
    waiter_fini(&waiter);
}

static void
hand_over_work(unsigned index, void *context)
{
    struct hand_over *hand_over = context;

    if (index == 0) {
        run_hand_over_client(hand_over);
        if (hand_over->signal)
            lbx_signal_notify(hand_over->signal);
    } else if (index == 1) {
        run_fickle(hand_over);
    } else {
        run_patient(hand_over);
    }
}

static unsigned
hand_over_run(struct hand_over *hand_over)
{
    storm_watch_start(&hand_over->watch, 1, hand_over->patience_ms,
                      hand_over_stalled, hand_over);
    threads_run(3, hand_over_work, hand_over);

    unsigned stalls = storm_watch_stop(&hand_over->watch);

    if (hand_over->box.ops)
        hand_over->box.ops->fini(&hand_over->box);
    hand_over->replies.ops->fini(&hand_over->replies);
    return stalls;
}

static void
hand_over_storm(const char *name, const struct box_case *how, bool sends,
                enum front patient, uint64_t rounds)
{
    static const struct box_case plain = {
        .name = "replies",
        .kind = LBX_KIND_UNBOUNDED,
    };
    static struct hand_over hand_over;
    uint64_t seed = storm_begin();
    struct slices slices = slices_begin(rounds, 2 * KINDS);
    uint64_t cancelled = 0;
    uint64_t got = 0;

    for (uint64_t some; (some = slices_next(&slices)) > 0;) {
        memset(&hand_over, 0, sizeof(hand_over));
        box_open(&hand_over.replies, &plain);
        if (how)
            box_open(&hand_over.box, how);
        else
            CHECK_OK(lbx_signal_create(NULL, NULL, &hand_over.signal));
        hand_over.sends = sends;
        hand_over.patient_front = patient;
        hand_over.rounds = some;
        hand_over.seed = seed + slices.made;
        hand_over.patience_ms = STORM_STALL_MS;
        CHECK_INT(0, hand_over_run(&hand_over));
        lbx_signal_unref(hand_over.signal);
        cancelled += hand_over.cancelled;
        got += hand_over.got;
    }
    storm_add(STORM_CANCELS, cancelled);
    storm_add(STORM_OPERATIONS, 4 * slices.made);
    test_note("wake: hand-over, %s: rounds=%" PRIu64 " cancelled=%" PRIu64
              " got=%" PRIu64 " stalls=0",
              name, slices.made, cancelled, got);
}

TEST_LIMIT(message_for_one_who_gave_up_goes_to_the_next, 120)
{
    uint64_t rounds = storm_count(20000, 4000, 3000, 250);

    for (unsigned i = 0; i < KINDS; i++) {
        if (kinds[i].one_consumer || kinds[i].overflow == LBX_OVERFLOW_BLOCK)
            continue;
        hand_over_storm(kinds[i].name, &kinds[i], false, FRONT_FLAG, rounds);
        hand_over_storm(kinds[i].name, &kinds[i], false, FRONT_PARK,
                        rounds / 4);
    }
    storm_add(STORM_RUNS, 1);
}

TEST_LIMIT(room_for_one_who_gave_up_goes_to_the_next, 120)
{
    uint64_t rounds = storm_count(20000, 4000, 3000, 250);

    for (unsigned i = 0; i < KINDS; i++) {
        if (kinds[i].overflow != LBX_OVERFLOW_BLOCK ||
            kinds[i].ranks != BOX_PLAIN)
            continue;
        hand_over_storm(kinds[i].name, &kinds[i], true, FRONT_FLAG, rounds);
        hand_over_storm(kinds[i].name, &kinds[i], true, FRONT_PARK, rounds / 4);
    }
    storm_add(STORM_RUNS, 1);
}

TEST_LIMIT(notification_for_one_who_gave_up_goes_to_the_next, 120)
{
    hand_over_storm("signal", NULL, false, FRONT_PARK,
                    storm_count(20000, 4000, 3000, 250));
    storm_add(STORM_RUNS, 1);
}

/* ---- Random parking, with deadlines ---- */

struct random_run {
    struct box box;
    struct storm_watch watch;
    uint64_t seed;
    uint64_t messages; // per producer
    uint64_t timeouts[4];
    uint64_t sums[4];
    bool one_consumer;
    bool unlimited;
};

static bool
random_stalled(void *context, unsigned worker, uint64_t count)
{
    struct random_run *run = context;
    char text[400];

    box_describe(&run->box, text, sizeof(text));
    test_note("stall of worker %u after %" PRIu64 ": %s", worker, count, text);
    return false;
}

static void
random_work(unsigned index, void *context)
{
    struct random_run *run = context;
    struct storm_random random = storm_random_of(run->seed, index);
    unsigned producers = run->one_consumer ? 3 : 2;
    uint64_t parks = storm_thread_parks();
    uint64_t calls = 0;
    uint64_t done = 0;
    void *message;

    for (bool going = true; going;) {
        int64_t deadline_ns =
            storm_once_in(&random, 2)
                ? LBX_FOREVER
                : storm_deadline_us(storm_random_below(&random, 100));
        lbx_status status;

        // Long enough for consumers to go to sleep, where nothing else slows
        // the producers down.
        if (storm_once_in(&random, run->unlimited && index < producers ? 2 : 8))
            storm_spin(storm_random_below(&random, 3000));
        calls++;
        if (index < producers) {
            status = run->box.ops->send_until(
                &run->box, storm_message(index * run->messages + done),
                deadline_ns);
            if (status == LBX_OK)
                run->sums[index] += index * run->messages + done++;
            going = done < run->messages;
        } else {
            status =
                run->box.ops->receive_until(&run->box, &message, deadline_ns);
            if (status == LBX_OK)
                run->sums[index] += storm_number(message);
            going = status != LBX_CLOSED;
        }
        run->timeouts[index] += status == LBX_TIMEOUT;
        CHECK(status == LBX_OK || status == LBX_TIMEOUT ||
              (status == LBX_CLOSED && index >= producers));
        storm_beat(&run->watch, index);
    }
    storm_beat_end(&run->watch, index);
    parks = storm_thread_parks() - parks;
    storm_add(STORM_PARKS, parks < calls ? parks : calls);
    if (index < producers)
        lbx_producer_unref(run->box.producer); // the last one closes
}

TEST_LIMIT(threads_that_park_at_random_do_not_stall, 120)
{
    uint64_t seed = storm_begin();
    uint64_t messages = storm_count(20000, 4000, 3000, 250);

    for (unsigned i = 0; i < KINDS; i++) {
        static struct random_run run;
        uint64_t before = storm_sum(STORM_PARKS);
        uint64_t sent = 0;
        uint64_t received = 0;
        uint64_t timeouts = 0;

        if (kinds[i].capacity > 0 && kinds[i].overflow != LBX_OVERFLOW_BLOCK)
            continue;
        memset(&run, 0, sizeof(run));
        box_open(&run.box, &kinds[i]);
        run.one_consumer = kinds[i].one_consumer;
        run.unlimited = kinds[i].capacity == 0;
        run.seed = seed + i;
        run.messages = messages;
        for (unsigned j = 1; j < (run.one_consumer ? 3 : 2); j++)
            lbx_producer_ref(run.box.producer);
        storm_watch_start(&run.watch, 4, STORM_STALL_MS, random_stalled, &run);
        threads_run(4, random_work, &run);
        CHECK_INT(0, storm_watch_stop(&run.watch));
        for (unsigned j = 0; j < 4; j++) {
            if (j < (run.one_consumer ? 3u : 2u))
                sent += run.sums[j];
            else
                received += run.sums[j];
            timeouts += run.timeouts[j];
        }
        CHECK_INT(sent, received);
        lbx_consumer_unref(run.box.consumer);
        storm_add(STORM_OPERATIONS, (run.one_consumer ? 6 : 4) * messages);
        test_note("wake: random, %s: messages=%" PRIu64 " timeouts=%" PRIu64
                  " pairs=%" PRIu64 " stalls=0",
                  kinds[i].name, (run.one_consumer ? 3 : 2) * messages,
                  timeouts, storm_sum(STORM_PARKS) - before);
    }
    storm_add(STORM_RUNS, 1);
}

/* ---- Controls ---- */

static unsigned
exchange_control(unsigned bug, uint64_t rounds)
{
    static struct exchange exchange;

    memset(&exchange, 0, sizeof(exchange));
    box_open_mini(&exchange.requests, bug, 1);
    box_open_mini(&exchange.replies, bug, 1);
    exchange.front = FRONT_FLAG;
    exchange.servers = 1;
    exchange.burst = 3;
    exchange.rounds = rounds;
    exchange.seed = storm_begin();
    exchange.patience_ms = STORM_CONTROL_MS;
    exchange.is_control = true;
    return exchange_run(&exchange);
}

static unsigned
hand_over_control(unsigned bug, bool sends, uint64_t rounds)
{
    static struct hand_over hand_over;

    memset(&hand_over, 0, sizeof(hand_over));
    box_open_mini(&hand_over.replies, MINI_SOUND, 0);
    box_open_mini(&hand_over.box, bug, 1);
    hand_over.sends = sends;
    hand_over.patient_front = FRONT_FLAG;
    hand_over.rounds = rounds;
    hand_over.seed = storm_begin();
    hand_over.patience_ms = STORM_CONTROL_MS;
    hand_over.is_control = true;
    return hand_over_run(&hand_over);
}

TEST(sound_mailbox_does_not_stall)
{
    CHECK_INT(0, exchange_control(MINI_SOUND, 2000));
    CHECK_INT(0, hand_over_control(MINI_SOUND, false, 2000));
    CHECK_INT(0, hand_over_control(MINI_SOUND, true, 2000));
}

TEST(lost_wake_up_is_found)
{
    CHECK(exchange_control(MINI_LOST_WAKE, 1000000) > 0);
}

TEST(grant_that_is_not_passed_on_is_found)
{
    CHECK(hand_over_control(MINI_DROP_GRANT, false, 1000000) > 0);
}

TEST(message_that_goes_with_a_cancelled_receive_is_found)
{
    CHECK(hand_over_control(MINI_EAT_MESSAGE, false, 1000000) > 0);
}

TEST(send_that_is_both_cancelled_and_in_is_found)
{
    CHECK(hand_over_control(MINI_SEND_BOTH, true, 1000000) > 0);
}
