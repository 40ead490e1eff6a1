/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Producers and consumers that park at random, with deadlines and without: none
 * of them stalls (MSG-9), and what was sent is what was received.
 */
#include <inttypes.h>
#include <string.h>

#include "stress/storm.h"
#include "stress/waiter.h"
#include "support/test.h"
#include "support/threads.h"

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

TEST(threads_that_park_at_random_do_not_stall)
{
    uint64_t seed = storm_begin();
    uint64_t messages = storm_count(20000, 4000, 3000, 250);

    for (unsigned i = 0; i < WAITER_KINDS; i++) {
        static struct random_run run;
        uint64_t before = storm_sum(STORM_PARKS);
        uint64_t sent = 0;
        uint64_t received = 0;
        uint64_t timeouts = 0;

        if (waiter_kinds[i].capacity > 0 &&
            waiter_kinds[i].overflow != LBX_OVERFLOW_BLOCK)
            continue;
        memset(&run, 0, sizeof(run));
        box_open(&run.box, &waiter_kinds[i]);
        run.one_consumer = waiter_kinds[i].one_consumer;
        run.unlimited = waiter_kinds[i].capacity == 0;
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
                  waiter_kinds[i].name, (run.one_consumer ? 3 : 2) * messages,
                  timeouts, storm_sum(STORM_PARKS) - before);
    }
    storm_add(STORM_RUNS, 1);
}
