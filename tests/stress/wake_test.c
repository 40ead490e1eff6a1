/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No wake-up is lost (MSG-9): request and reply with one message, or one burst,
 * in flight, sends that wait for free space, and flushes.
 *
 * A flood does not find a lost wake-up, because the next message covers it.
 * So the storms here wait for each answer without a deadline: a thread that is
 * not woken stalls, and the watchdog reports it with the mailboxes' numbers.
 *
 * handover_test.c has waiters that are cancelled, park_test.c waiters with
 * deadlines.
 */
#include <inttypes.h>
#include <sched.h>
#include <string.h>

#include "stress/slices.h"
#include "stress/storm.h"
#include "stress/waiter.h"
#include "support/test.h"
#include "support/threads.h"

enum {
    STOP = UINT8_MAX, // marks in a message's low byte
    MORE = 2,
    LAST = 1,
};

struct exchange {
    struct box requests;
    struct box replies;
    struct storm_watch watch;
    enum waiter_front front;
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

struct exchange_style {
    enum waiter_front front;
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

    for (unsigned i = 0; i < WAITER_KINDS; i++) {
        static struct exchange exchange;
        uint64_t before = storm_sum(STORM_PARKS) + storm_sum(STORM_WAKES);
        struct slices slices = slices_begin(style.rounds, WAITER_KINDS);

        if (style.servers > 1 && waiter_kinds[i].one_consumer)
            continue;
        if (style.suspends && waiter_kinds[i].overflow == LBX_OVERFLOW_BLOCK)
            continue; // a burst that waits for room would never be taken
        for (uint64_t some; (some = slices_next(&slices)) > 0;) {
            memset(&exchange, 0, sizeof(exchange));
            exchange_open(&exchange, &waiter_kinds[i]);
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
                  name, waiter_kinds[i].name, slices.made,
                  storm_sum(STORM_PARKS) + storm_sum(STORM_WAKES) - before);
    }
    storm_add(STORM_RUNS, 1);
}

#define EXCHANGE(name, ...)                                                    \
    exchange_storm(name, (struct exchange_style){__VA_ARGS__})

TEST(parked_threads_exchange_without_a_stall)
{
    EXCHANGE("threads", .front = FRONT_PARK, .servers = 1,
             .rounds = storm_count(12000, 3000, 2000, 250));
}

// On one processor every wait really sleeps.
TEST(parked_threads_exchange_on_one_processor)
{
    EXCHANGE("threads on one processor", .front = FRONT_PARK, .servers = 1,
             .pinned = true, .rounds = storm_count(25000, 4000, 2000, 250));
}

TEST(several_parked_consumers_exchange_without_a_stall)
{
    EXCHANGE("threads, three consumers", .front = FRONT_PARK, .servers = 3,
             .rounds = storm_count(8000, 1500, 1000, 250));
}

TEST(event_loops_exchange_without_a_stall)
{
    EXCHANGE("eventfd", .front = FRONT_EVENT, .servers = 1,
             .rounds = storm_count(10000, 2000, 1500, 250));
}

TEST(operations_exchange_without_a_stall)
{
    EXCHANGE("operations", .front = FRONT_FLAG, .servers = 1,
             .rounds = storm_count(120000, 15000, 8000, 250));
}

TEST(several_operations_exchange_without_a_stall)
{
    EXCHANGE("operations, two consumers", .front = FRONT_FLAG, .servers = 2,
             .rounds = storm_count(15000, 3000, 2000, 250));
}

// Resume must wake the waiters for what was held back.
TEST(resume_wakes_those_who_wait)
{
    EXCHANGE("suspended, operations", .front = FRONT_FLAG, .servers = 1,
             .suspends = true, .rounds = storm_count(20000, 4000, 3000, 250));
    EXCHANGE("suspended, threads", .front = FRONT_PARK, .servers = 1,
             .suspends = true, .rounds = storm_count(5000, 1000, 1000, 250));
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
        CHECK_OK(waiter_poll(&waiter, &wait));
        CHECK_INT(0, lbx_mailbox_depth(mailbox)); // no other thread sends
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

TEST(flush_is_woken_by_the_last_take)
{
    uint64_t seed = storm_begin();

    for (unsigned i = 0; i < WAITER_KINDS; i++) {
        static struct exchange exchange;
        struct slices slices =
            slices_begin(storm_count(10000, 2000, 1500, 250), WAITER_KINDS);

        if (waiter_kinds[i].capacity > 0 &&
            waiter_kinds[i].overflow != LBX_OVERFLOW_BLOCK)
            continue;
        for (uint64_t some; (some = slices_next(&slices)) > 0;) {
            memset(&exchange, 0, sizeof(exchange));
            exchange_open(&exchange, &waiter_kinds[i]);
            exchange.rounds = some;
            exchange.seed = seed + i + slices.made;
            storm_watch_start(&exchange.watch, 1, STORM_STALL_MS,
                              exchange_stalled, &exchange);
            threads_run(2, flush_work, &exchange);
            CHECK_INT(0, storm_watch_stop(&exchange.watch));
            exchange.requests.ops->fini(&exchange.requests);
            exchange.replies.ops->fini(&exchange.replies);
        }
        test_note("wake: flush, %s: rounds=%" PRIu64 " stalls=0",
                  waiter_kinds[i].name, slices.made);
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

TEST(sound_mailbox_does_not_stall)
{
    CHECK_INT(0, exchange_control(MINI_SOUND, 2000));
}

TEST(lost_wake_up_is_found)
{
    CHECK(exchange_control(MINI_LOST_WAKE, 1000000) > 0);
}
