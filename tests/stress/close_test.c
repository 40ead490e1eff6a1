/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Close against everything (CLOSE-1 to CLOSE-6, MSG-7): many short lives of
 * mailboxes, each closed, or let go of, in the midst of sends and receives.
 *
 * Per life two threads send, one receives and one ends the mailbox in one of
 * the ways below; all wait without a deadline where they can, so that a thread
 * that is not woken by the close stalls. A ledger over all lives says whether
 * each message that a send called accepted was received, lost or destroyed
 * exactly once.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "stress/box.h"
#include "stress/slices.h"
#include "stress/storm.h"
#include "support/test.h"
#include "support/threads.h"

enum {
    THREADS = 4,
    MESSAGES = 12, // per sender and life
};

enum ending {
    END_DRAIN,
    END_IMMEDIATE,
    END_DEAD_LETTER,
    END_INTO,
    END_TWICE,        // drain, then stricter
    END_STOP,         // as an operation
    END_NO_PRODUCERS, // the last producer lets go
    END_NO_CONSUMERS,
    ENDINGS,
};

struct life {
    lbx_producer *producer;
    lbx_consumer *consumer;
    lbx_mailbox *mailbox;
    lbx_producer *letters_in; // dead letters
    lbx_consumer *letters_out;
    enum ending ending;
    bool must_be_received; // all of it, by the receiver
};

struct closing {
    const struct box_case *how;
    struct life life;
    struct ledger ledger;
    struct storm_watch watch;
    uint64_t seed;
    uint64_t lives;
    pthread_barrier_t begin, end;
    _Atomic(uint64_t) closed; // the life whose close has returned, from 1
    _Atomic(uint64_t) refused, received, lost, destroyed, lost_in_drain;
    uint64_t by_ending[ENDINGS];
};

static void
close_lost(void *context, const lbx_loss *loss)
{
    struct closing *closing = context;

    atomic_fetch_add(&closing->lost, 1);
    if (closing->life.must_be_received)
        atomic_fetch_add(&closing->lost_in_drain, 1);
    ledger_end(&closing->ledger, loss->envelope->message);
}

static void
close_destroy(void *message, void *context)
{
    struct closing *closing = context;

    atomic_fetch_add(&closing->destroyed, 1);
    if (closing->life.must_be_received)
        atomic_fetch_add(&closing->lost_in_drain, 1);
    ledger_end(&closing->ledger, message);
}

static void
close_rest(void *context, const lbx_envelope *envelope)
{
    close_destroy(envelope->message, context);
}

static void
open_life(struct closing *closing, struct storm_random *random, uint64_t number)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    lbx_mailbox_options letters = LBX_MAILBOX_OPTIONS_INIT;
    lbx_fault fault = {.text = ""};
    struct life *life = &closing->life;

    *life = (struct life){
        .ending = (enum ending)(storm_random_next(random) % ENDINGS)};
    closing->by_ending[life->ending]++;
    life->must_be_received = life->ending == END_DRAIN ||
                             life->ending == END_STOP ||
                             life->ending == END_NO_PRODUCERS;
    if (closing->how->capacity > 0)
        options.capacity_messages = closing->how->capacity;
    options.overflow = closing->how->overflow;
    options.envelopes = closing->how->ranks != BOX_PLAIN;
    if (closing->how->ranks == BOX_LANES)
        options.system_reservation = LBX_UNLIMITED;
    if (number % 2 == 0)
        options.loss_sink = (lbx_loss_sink){close_lost, closing};
    options.destroy = close_destroy;
    options.destroy_context = closing;
    if (life->ending == END_DEAD_LETTER) {
        letters.envelopes = true;
        CHECK_OK(lbx_mailbox_create(LBX_KIND_UNBOUNDED, &letters,
                                    &life->letters_in, &life->letters_out));
        options.dead_letters = life->letters_in;
    }
    options.fault = &fault;
    if (lbx_mailbox_create(closing->how->kind, &options, &life->producer,
                           &life->consumer) != LBX_OK)
        FAIL("%s: %s", closing->how->name, fault.text);
    life->mailbox = lbx_producer_mailbox(life->producer);
    // Threads 0, 1 and 3 have a producer, 2 and 3 a consumer.
    lbx_producer_ref(life->producer);
    lbx_producer_ref(life->producer);
    lbx_consumer_ref(life->consumer);
}

static void
close_life(struct closing *closing)
{
    struct life *life = &closing->life;
    void *message;

    if (!life->letters_in)
        return;
    while (lbx_consumer_try_receive(life->letters_out, &message) == LBX_OK)
        ledger_end(&closing->ledger, message);
    lbx_producer_unref(life->letters_in);
    lbx_consumer_unref(life->letters_out);
}

static lbx_status
send_somehow(struct box *box, struct storm_random *random, void *message)
{
    struct box_wait wait;
    lbx_status status;

    switch (storm_random_below(random, 3)) {
    case 0:
        return box->ops->try_send(box, message);
    case 1:
        return box->ops->send_until(box, message, LBX_FOREVER);
    default:
        memset(&wait, 0, sizeof(wait));
        box->ops->send_start(box, &wait, message, LBX_FOREVER);
        status = lbx_operation_wait(&wait.operation);
        box->ops->end(&wait);
        return status;
    }
}

static void
send_until_closed(struct closing *closing, struct box *box,
                  struct storm_random *random, unsigned index, uint64_t life)
{
    uint64_t number = (life * 2 + index) * MESSAGES;
    uint64_t limit = number + storm_random_below(random, MESSAGES + 1);
    lbx_status status = LBX_OK;

    while (number < limit) {
        bool was_closed = atomic_load(&closing->closed) == life + 1;

        storm_spin(storm_random_below(random, 100));
        status = send_somehow(box, random, storm_message(number));
        if (was_closed)
            CHECK_STATUS(LBX_CLOSED, status); // CLOSE-1
        if (status == LBX_CLOSED)
            break;
        if (status == LBX_FULL) {
            sched_yield();
            continue;
        }
        CHECK_OK(status);
        closing->ledger.fates[number++] = STORM_IN;
    }
    if (status == LBX_CLOSED) {
        atomic_fetch_add(&closing->refused, 1);
        CHECK(lbx_mailbox_is_closed(closing->life.mailbox));
        CHECK_STATUS(LBX_CLOSED, box->ops->try_send(box, NULL));
    }
    lbx_producer_unref(box->producer);
}

static void
receive_until_closed(struct closing *closing, struct box *box,
                     struct storm_random *random)
{
    uint64_t most = closing->life.ending == END_NO_CONSUMERS
                        ? storm_random_below(random, MESSAGES)
                        : UINT64_MAX;
    void *message;
    lbx_status status = LBX_OK;

    for (uint64_t i = 0; i < most; i++) {
        if (closing->life.ending == END_NO_CONSUMERS)
            status = box->ops->receive_until(
                box, &message,
                storm_deadline_us(storm_random_below(random, 50)));
        else
            status = box->ops->receive_until(box, &message, LBX_FOREVER);
        if (status == LBX_TIMEOUT)
            continue;
        if (status == LBX_CLOSED)
            break;
        CHECK_OK(status);
        atomic_fetch_add(&closing->received, 1);
        ledger_end(&closing->ledger, message);
        if (storm_once_in(random, 8))
            storm_spin(storm_random_below(random, 300));
    }
    if (status == LBX_CLOSED) {
        CHECK_STATUS(LBX_CLOSED,
                     box->ops->try_receive(box, &message)); // CLOSE-2
        CHECK(lbx_mailbox_is_empty(closing->life.mailbox));
    }
    lbx_consumer_unref(box->consumer);
}

static void
end_it(struct closing *closing, struct storm_random *random, uint64_t number)
{
    struct life *life = &closing->life;
    lbx_operation stop;

    storm_spin(storm_random_below(random, 2000));
    if (storm_once_in(random, 4))
        sched_yield();
    if (storm_once_in(random, 8))
        lbx_mailbox_suspend(life->mailbox); // close ends it
    switch (life->ending) {
    case END_DRAIN:
        CHECK_OK(lbx_mailbox_close(life->mailbox, LBX_CLOSE_DRAIN));
        break;
    case END_TWICE:
        CHECK_OK(lbx_mailbox_close(life->mailbox, LBX_CLOSE_DRAIN));
        CHECK_OK(lbx_mailbox_close(life->mailbox, LBX_CLOSE_IMMEDIATE));
        break;
    case END_IMMEDIATE:
        CHECK_OK(lbx_mailbox_close(life->mailbox, LBX_CLOSE_IMMEDIATE));
        break;
    case END_DEAD_LETTER:
        CHECK_OK(lbx_mailbox_close(life->mailbox, LBX_CLOSE_DEAD_LETTER));
        break;
    case END_INTO:
        CHECK_OK(lbx_mailbox_close_into(life->mailbox, close_rest, closing));
        break;
    case END_STOP:
        memset(&stop, 0, sizeof(stop));
        CHECK_OK(lbx_mailbox_stop_init(&stop, life->mailbox, LBX_FOREVER));
        CHECK_OK(lbx_operation_wait(&stop));
        CHECK(lbx_mailbox_is_empty(life->mailbox));
        lbx_operation_fini(&stop);
        break;
    default:
        lbx_mailbox_resume(life->mailbox);
        break;
    }
    if (life->ending < END_NO_PRODUCERS) {
        CHECK(lbx_mailbox_is_closed(life->mailbox));
        atomic_store(&closing->closed, number + 1);
        CHECK_OK(lbx_mailbox_close(life->mailbox, LBX_CLOSE_DRAIN)); // CLOSE-5
    }
    lbx_producer_unref(life->producer);
    lbx_consumer_unref(life->consumer);
}

static void
close_work(unsigned index, void *context)
{
    struct closing *closing = context;
    struct storm_random random = storm_random_of(closing->seed, index);

    for (uint64_t life = 0; life < closing->lives; life++) {
        struct box box;

        if (index == 0)
            open_life(closing, &random, life);
        pthread_barrier_wait(&closing->begin);
        box_borrow(&box, closing->how, closing->life.producer,
                   closing->life.consumer);
        if (index < 2)
            send_until_closed(closing, &box, &random, index, life);
        else if (index == 2)
            receive_until_closed(closing, &box, &random);
        else
            end_it(closing, &random, life);
        storm_beat(&closing->watch, index);
        pthread_barrier_wait(&closing->end);
        if (index == 0)
            close_life(closing);
    }
    storm_beat_end(&closing->watch, index);
}

static bool
close_stalled(void *context, unsigned worker, uint64_t count)
{
    struct closing *closing = context;
    lbx_mailbox_stats stats = LBX_MAILBOX_STATS_INIT;

    (void)worker;
    (void)count;
    // Whoever waits keeps the mailbox alive.
    CHECK_OK(lbx_mailbox_stats_read(closing->life.mailbox, &stats));
    test_note("%s, ending %d: depth=%" PRIu64 " waiting_senders=%" PRIu64
              " waiting_receivers=%" PRIu64 " closed=%d",
              closing->how->name, (int)closing->life.ending, stats.depth,
              stats.waiting_senders, stats.waiting_receivers,
              lbx_mailbox_is_closed(closing->life.mailbox));
    return false;
}

// Many lives of one case.
static void
close_run(const struct box_case *how, uint64_t seed, uint64_t lives)
{
    static struct closing closing;
    struct ledger_report report;

    memset(&closing, 0, sizeof(closing));
    closing.how = how;
    closing.seed = seed;
    closing.lives = lives;
    ledger_init(&closing.ledger, lives * 2 * MESSAGES);
    CHECK(pthread_barrier_init(&closing.begin, NULL, THREADS) == 0);
    CHECK(pthread_barrier_init(&closing.end, NULL, THREADS) == 0);
    storm_watch_start(&closing.watch, THREADS, STORM_STALL_MS, close_stalled,
                      &closing);
    threads_run(THREADS, close_work, &closing);
    CHECK_INT(0, storm_watch_stop(&closing.watch));
    pthread_barrier_destroy(&closing.begin);
    pthread_barrier_destroy(&closing.end);

    report = ledger_check(&closing.ledger);
    storm_add(STORM_OPERATIONS, report.in + report.ended);
    test_note("close: %s: lives=%" PRIu64 " accepted=%" PRIu64
              " received=%" PRIu64 " lost_events=%" PRIu64 " destroyed=%" PRIu64
              " refused=%" PRIu64 " lost=%" PRIu64 " phantom=%" PRIu64
              " duplicate=%" PRIu64,
              how->name, lives, report.in, atomic_load(&closing.received),
              atomic_load(&closing.lost), atomic_load(&closing.destroyed),
              atomic_load(&closing.refused), report.lost, report.phantom,
              report.duplicate);
    CHECK_INT(0, report.bad);
    CHECK_INT(0, atomic_load(&closing.lost_in_drain));
    ledger_fini(&closing.ledger);
}

TEST(close_loses_nothing_and_wakes_everyone)
{
    static const struct box_case cases[] = {
        BOX_UNLIMITED("unbounded", UNBOUNDED, BOX_PLAIN),
        BOX_SINGLE_CONSUMER,
        BOX_REJECTING("bounded", BOUNDED, 2),
        BOX_BLOCKING("bounded", BOUNDED, 2, BOX_PLAIN),
        BOX_UNLIMITED("priority", UNBOUNDED_PRIORITY, BOX_PRIORITIES),
        BOX_BLOCKING("bounded priority", BOUNDED_PRIORITY, 2, BOX_PRIORITIES),
        BOX_UNLIMITED("control-aware", UNBOUNDED_CONTROL_AWARE, BOX_LANES),
        BOX_BLOCKING("bounded control-aware", BOUNDED_CONTROL_AWARE, 2,
                     BOX_LANES),
        BOX_BLOCKING("bounded deque", BOUNDED_DEQUE, 2, BOX_PLAIN),
    };
    uint64_t seed = storm_begin();
    enum {
        CASES = sizeof(cases) / sizeof(cases[0])
    };

    for (unsigned i = 0; i < CASES; i++) {
        struct slices slices =
            slices_begin(storm_count(4000, 1000, 800, 100), CASES);

        for (uint64_t some; (some = slices_next(&slices)) > 0;)
            close_run(&cases[i], seed + i + slices.made, some);
        storm_add(STORM_RUNS, 1);
    }
}
