/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flood: as many plain sends and receives as the time allows, above all
 * for ThreadSanitizer, which must see 20 million of them.
 *
 * Two threads send and two receive (three and one for a single consumer) with
 * nothing in between but the check that each receiver sees each sender's
 * numbers rise. Rising numbers, and as many of them and the same sum as were
 * sent, mean that each arrived exactly once. What a number points to is read
 * without atomics, so that a message that is not published properly is a race.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "stress/box.h"
#include "stress/storm.h"
#include "support/test.h"
#include "support/threads.h"

enum {
    THREADS = 4,
    NOTES = 1 << 14, // per sender; used again when all have been read
    BURST = 64,
};

struct note {
    uint64_t number;
    unsigned sender;
};

struct flood {
    struct box box;
    const struct box_case *how;
    uint64_t messages; // per sender
    unsigned senders;
    struct note *notes; // NOTES for each sender
    // How many of each sender's notes have been read.
    _Alignas(STORM_LINE) _Atomic(uint64_t) received[THREADS];
    struct {
        _Alignas(STORM_LINE) uint64_t count, sum;
    } results[THREADS];
    _Atomic(unsigned) sending;
};

static void
flood_send(struct flood *flood, unsigned index)
{
    struct note *notes = &flood->notes[(size_t)index * NOTES];
    uint64_t sum = 0;

    for (uint64_t i = 1; i <= flood->messages; i++) {
        struct note *note = &notes[i % NOTES];

        while (i % NOTES == 0 && atomic_load(&flood->received[index]) < i - 1)
            sched_yield();
        note->number = i;
        note->sender = index;
        sum += i;

        lbx_status status = flood->box.ops->try_send(&flood->box, note);

        for (unsigned tries = 0; status == LBX_FULL; tries++) {
            if (tries % 4 == 3)
                sched_yield();
            status = flood->box.ops->try_send(&flood->box, note);
        }
        CHECK_OK(status);
    }
    flood->results[index].count = flood->messages;
    flood->results[index].sum = sum;
    atomic_fetch_sub(&flood->sending, 1);
}

static void
flood_receive(struct flood *flood, unsigned index)
{
    uint64_t last[THREADS] = {0};
    uint64_t unseen[THREADS] = {0};
    uint64_t count = 0;
    uint64_t sum = 0;
    bool ordered = flood->box.ranks == BOX_PLAIN;
    void *message;

    for (bool over = false;;) {
        lbx_status status = flood->box.ops->try_receive(&flood->box, &message);

        if (status == LBX_EMPTY) {
            if (over)
                break;
            over = atomic_load(&flood->sending) == 0;
            for (unsigned i = 0; i < flood->senders; i++) {
                atomic_fetch_add(&flood->received[i], unseen[i]);
                unseen[i] = 0;
            }
            if (!over)
                sched_yield();
            continue;
        }
        CHECK_OK(status);

        // A copy: once it counts as read, the note may be written again.
        struct note note = *(const struct note *)message;

        if (ordered && note.number <= last[note.sender])
            FAIL("%s: %" PRIu64 " of %u after %" PRIu64, flood->how->name,
                 note.number, note.sender, last[note.sender]);
        last[note.sender] = note.number;
        count++;
        sum += note.number;
        if (++unseen[note.sender] == BURST) {
            atomic_fetch_add(&flood->received[note.sender], BURST);
            unseen[note.sender] = 0;
        }
    }
    flood->results[index].count = count;
    flood->results[index].sum = sum;
}

static void
flood_work(unsigned index, void *context)
{
    struct flood *flood = context;

    if (index < flood->senders)
        flood_send(flood, index);
    else
        flood_receive(flood, index);
}

static void
flood_run(const struct box_case *how, uint64_t messages)
{
    static struct flood flood;
    uint64_t sent = 0;
    uint64_t received = 0;
    uint64_t sums = 0;

    memset(&flood, 0, sizeof(flood));
    flood.how = how;
    flood.senders = how->one_consumer ? THREADS - 1 : THREADS / 2;
    flood.messages = messages / flood.senders;
    flood.sending = flood.senders;
    flood.notes = calloc((size_t)NOTES * THREADS, sizeof(struct note));
    CHECK(flood.notes != NULL);
    box_open(&flood.box, how);
    threads_run(THREADS, flood_work, &flood);
    for (unsigned i = 0; i < THREADS; i++) {
        if (i < flood.senders) {
            sent += flood.results[i].count;
            sums += flood.results[i].sum;
        } else {
            received += flood.results[i].count;
            sums -= flood.results[i].sum;
        }
    }
    CHECK_INT(sent, received);
    CHECK_INT(0, sums);
    flood.box.ops->fini(&flood.box);
    free(flood.notes);
    storm_add(STORM_OPERATIONS, sent + received);
    storm_add(STORM_RUNS, 1);
    test_note("flood: %s: %" PRIu64 " operations, lost=0 duplicate=0",
              how->name, sent + received);
}

TEST(floods_arrive_whole_and_in_order)
{
    static const struct {
        struct box_case box;
        unsigned share; // of 100
    } rows[] = {
        {{.name = "unbounded", .kind = LBX_KIND_UNBOUNDED}, 25},
        {{.name = "single consumer",
          .kind = LBX_KIND_UNBOUNDED_SINGLE_CONSUMER,
          .one_consumer = true},
         25},
        {{.name = "bounded 1000", .kind = LBX_KIND_BOUNDED, .capacity = 1000},
         20},
        {{.name = "bounded 100 BLOCK",
          .kind = LBX_KIND_BOUNDED,
          .capacity = 100,
          .overflow = LBX_OVERFLOW_BLOCK},
         10},
        {{.name = "control-aware, user lane",
          .kind = LBX_KIND_UNBOUNDED_CONTROL_AWARE},
         10},
        {{.name = "deque", .kind = LBX_KIND_UNBOUNDED_DEQUE}, 5},
        {{.name = "priority",
          .kind = LBX_KIND_UNBOUNDED_PRIORITY,
          .ranks = BOX_PRIORITIES},
         5},
    };
    uint64_t messages = storm_count(12000000, 2000000, 9000000, 100);

    storm_begin();
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        flood_run(&rows[i].box, messages / 100 * rows[i].share);
}
