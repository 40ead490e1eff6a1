/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queue histories: who called what when, and whether a queue can explain it.
 *
 * Each thread writes its own log: for every call a start, an end, what it was
 * and which value it moved. The checker then decides in O(n log n), without a
 * search, whether the calls could have happened one after another, each at
 * one instant between its start and its end, on a queue that keeps its rules.
 * For queues with distinct values that is equivalent to a handful of aspects
 * (Henzinger, Sezgin, Vafeiadis: "Aspect-oriented linearizability proofs"):
 *
 *   UNSENT    a value was dequeued that was not enqueued
 *   EARLY     ... wholly before it was enqueued
 *   TWICE     ... more than once
 *   LOST      ... never, although the history ends drained
 *   ORDER     enq(a) wholly before enq(b), yet deq(b) wholly before deq(a)
 *   EMPTY     a dequeue answered EMPTY, and at every instant of that call some
 *             value was surely inside: its enqueue over, its dequeue not begun
 *
 * and beyond plain queues:
 *
 *   URGENCY   (ranks: lanes, priorities) a dequeue of l began after enq(h) of a
 *             more urgent h was over, and ended before deq(h) began
 *   FRONT     (deques) f was put in front of a, yet a was dequeued wholly
 *             between the end of enq(f) and the start of deq(f)
 *   CAPACITY  more values than the capacity were surely inside at one instant
 *   FULL      an enqueue answered FULL, and at every instant of that call fewer
 *             values than the capacity were possibly inside
 *
 * Invariant MSG-11, exactly. A receive may answer EMPTY behind an older send
 * that has claimed its place and not yet filled it. A history does not show
 * claims, so the checker grants this, with `claims` set, to an EMPTY call if
 * there is an instant t in it at which a send u is under way (start(u) <= t <=
 * end(u)) that may be older than everything surely inside at t: start(u) <
 * end(enq(v)) for each such v. It grants nothing else: not for sends that are
 * over, not for sends that began after some surely-inside value was completely
 * sent. The same claim can hide a completely sent urgent message h from a
 * receive, and is granted there likewise: a send u under way at some instant of
 * the receive, start(u) < end(enq(h)). With `lanes`, claims and EMPTY count for
 * each rank by itself: u must be of the lane of v. What was granted is counted
 * in `excused`, so that a report shows how much rests on it.
 *
 * Time. An interval must contain the instant at which the call took effect
 * *for other processors*: the stamp at the end waits for the processor's own
 * stores, because a queue may publish with a plain store. Equal stamps never
 * count as "before".
 */
#ifndef LBX_TEST_HISTORY_HISTORY_H
#define LBX_TEST_HISTORY_HISTORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum {
    HISTORY_MAX_LOGS = 16,
    HISTORY_MAX_RANKS = 8,
};

enum history_kind {
    HISTORY_ENQUEUE,
    HISTORY_ENQUEUE_FRONT,
    HISTORY_DEQUEUE,
    HISTORY_ANSWER_EMPTY,
    HISTORY_ANSWER_FULL,
};

struct history_call {
    uint64_t start;
    uint64_t end;
    uint64_t value;
    uint8_t kind; // history_kind
    uint8_t rank; // enqueues: 0 is the most urgent
};

/* One thread's calls, in its order. */
struct history_log {
    struct history_call *calls;
    size_t count;
    size_t capacity;
};

struct history {
    struct history_log logs[HISTORY_MAX_LOGS];
    unsigned log_count;
};

struct history_rules {
    unsigned ranks;   // 0 and 1: a plain queue
    bool lanes;       // ranks are queues of their own
    bool claims;      // MSG-11: see above
    bool drained;     // nothing is left inside at the end
    bool exact_full;  // FULL is only answered when full
    int64_t capacity; // 0: none
};

#define HISTORY_ASPECT_MAP(XX)                                                 \
    XX(MALFORMED)                                                              \
    XX(UNSENT)                                                                 \
    XX(EARLY)                                                                  \
    XX(TWICE)                                                                  \
    XX(LOST)                                                                   \
    XX(ORDER)                                                                  \
    XX(EMPTY)                                                                  \
    XX(URGENCY)                                                                \
    XX(FRONT)                                                                  \
    XX(CAPACITY)                                                               \
    XX(FULL)

enum history_aspect {
#define HISTORY_ASPECT_ENUM(name) HISTORY_##name,
    HISTORY_ASPECT_MAP(HISTORY_ASPECT_ENUM)
#undef HISTORY_ASPECT_ENUM
    HISTORY_ASPECTS
};

struct history_report {
    uint64_t enqueued;
    uint64_t dequeued;
    uint64_t empties;
    uint64_t fulls;
    uint64_t excused; // granted by MSG-11
    uint64_t violations;
    uint64_t by_aspect[HISTORY_ASPECTS];
    char first[320];                 // the first violation, for people
    uint64_t first_start, first_end; // and when it was
};

void history_init(struct history *history, unsigned log_count,
                  size_t calls_per_log);
void history_fini(struct history *history);

/* Decides. Needs memory for about 100 bytes per call. */
struct history_report history_check(const struct history *history,
                                    const struct history_rules *rules);

/* Prints the calls that touch [start, end], at most `most` of them, with
 * stamps relative to `start`. */
void history_print(const struct history *history, uint64_t start, uint64_t end,
                   unsigned most);

const char *history_aspect_name(enum history_aspect aspect);

/* ---- Recording; inline, because it must not slow down what it watches ---- */

/* The mfence comes first: it waits until this thread's own stores are seen by
 * others, and rdtsc waits for it. Neither lfence nor a locked instruction does
 * as much on every processor: on an AMD EPYC guest, with lfence, one read in
 * 30,000 came back stale although its stamp lay after the write's. */
static inline uint64_t
history_clock(void)
{
#if defined(__x86_64__)
    uint32_t low;
    uint32_t high;

    __asm__ volatile("mfence\n\trdtsc\n\tlfence"
                     : "=a"(low), "=d"(high)
                     :
                     : "memory");
    return (uint64_t)high << 32 | low;
#else
    static _Thread_local _Atomic(int) mine;
    struct timespec now;

    atomic_exchange(&mine, 1);
    clock_gettime(CLOCK_MONOTONIC, &now);
    atomic_exchange(&mine, 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

/* Writes a call down; what goes beyond the log's capacity is a programming
 * error that shows as MALFORMED. */
static inline void
history_note(struct history_log *log, enum history_kind kind, uint64_t value,
             unsigned rank, uint64_t start, uint64_t end)
{
    if (log->count < log->capacity)
        log->calls[log->count] = (struct history_call){
            .start = start,
            .end = end,
            .value = value,
            .kind = (uint8_t)kind,
            .rank = (uint8_t)rank,
        };
    log->count++;
}

#endif
