/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The segment queue: unbounded, many producers, one consumer or many.
 *
 * Slots lie in segments of 16 KiB. One word holds everything a producer must
 * know, and one fetch-add claims a slot:
 *
 *     63      48 47                14 13       3  2        1      0
 *     [ index  ][ segment address   ][ sequence ][OBSERVED CLOSED WAITING]
 *
 * The index is on top, so that its carry falls off. `sequence` counts segments
 * modulo 2048. Consumers follow the segments by their `next`.
 *
 * Q1  A fetch-add that returns index < slots and no CLOSED is a claim: the
 *     slot is that producer's, and the consumer waits for it to be filled, so
 *     the segment stays. Anything else claims nothing.
 * Q2  An index past the end (overshoot) is mended by one compare-and-swap from
 *     a full word to {new segment, index 1, sequence + 1, flags kept}. Its
 *     winner owns slot 0 of the new segment and links it to the old one, which
 *     stays until it is linked. A loser claims anew.
 * Q3  CLOSED is set by one fetch-or, whose result is the exact end: no claim
 *     after it is one. `final` keeps the end, since void claims go on moving
 *     the index.
 * Q4  A segment is used again only when all its slots are taken, its next is
 *     set, and no consumer's hazard names it. Then it is clean: every word 0
 *     is 0.
 * Q5  accepted = (installs - 1) * slots + min(index, slots). `installs` may lag
 *     behind the word, never lead it if it is read first; the sequence in the
 *     word says by how much, as long as it is less than 2048 segments.
 * Q6  Whoever waits sets WAITING by a read-modify-write of this same word:
 *     every later claim sees it, every earlier one is counted from then on. An
 *     earlier claim that is not filled yet is covered by `stalled`: set it,
 *     call lbx__barrier_all(), look again; a producer that fills its slot
 *     later sees `stalled`.
 */
#ifndef LBX_QUEUE_SEGQ_H
#define LBX_QUEUE_SEGQ_H

#include "base/lock.h"
#include "queue/slot.h"
#include <letterbox/base.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    LBX__SEGMENT_BYTES = 16384,
    LBX__SEGMENT_HEAD_BYTES = 64,
    LBX__INDEX_SHIFT = 48,
    LBX__SEQUENCE_SHIFT = 3,
    LBX__SEQUENCE_MASK = 2047,
};

#define LBX__SEGMENT_MASK                                                      \
    ((((uint64_t)1 << LBX__INDEX_SHIFT) - 1) & ~(uint64_t)(16384 - 1))
#define LBX__INDEX_ONE ((uint64_t)1 << LBX__INDEX_SHIFT)

/* Slots in a segment, segments kept for later, threads with a hazard of their
 * own. The explorer makes them few, to see many segments in few steps. */
#ifdef LBX_SYSTEMATIC
enum {
    LBX__SEGMENT_CACHE = 2,
    LBX__HAZARDS = 5
};
#define LBX__SLOTS(words) ((void)(words), 2u)
#else
enum {
    LBX__SEGMENT_CACHE = 16,
    LBX__HAZARDS = 32
};
#define LBX__SLOTS(words)                                                      \
    ((LBX__SEGMENT_BYTES - LBX__SEGMENT_HEAD_BYTES) / 8u / (words))
#endif

typedef struct lbx__segment {
    _Atomic(struct lbx__segment *) next;
    struct lbx__segment *retired; /* under the consumers' lock */
    char pad[LBX__SEGMENT_HEAD_BYTES - 2 * sizeof(void *)];
    _Atomic(uint64_t) words[];
} lbx__segment;

/* One consumer thread's hazard, on a line of its own. */
typedef struct lbx__hazard {
    alignas(LBX__LINE) _Atomic(uint64_t) segment;
} lbx__hazard;

typedef struct lbx__segq {
    /* Producers. */
    alignas(2 * LBX__LINE) _Atomic(uint64_t) tail;
    _Atomic(uint64_t) installs;
    _Atomic(lbx__segment *) first;

    /* Read by all, written seldom. */
    alignas(2 * LBX__LINE) _Atomic(uint32_t) stalled;
    uint32_t words;
    bool many; /* several consumers */
    const lbx_allocator *allocator;
    lbx__hazard *hazards; /* many: LBX__HAZARDS of them */
    _Atomic(uint64_t) final;
    _Atomic(lbx__segment *) cache[LBX__SEGMENT_CACHE];

    /* The consumer, or consumers. */
    alignas(2 * LBX__LINE) _Atomic(uint64_t) taken; /* one: count */
    lbx__segment *segment;                          /* one */
    uint64_t end;           /* one: the ticket after the segment's last slot */
    _Atomic(uint64_t) head; /* many: as the tail word */
    _Atomic(uint64_t) retires; /* many */
    lbx__lock lock;            /* many: guards `retired` */
    lbx__segment *retired;
} lbx__segq;

/* Makes an empty queue of items of `words` words. No segment is allocated
 * before the first push. */
lbx_status lbx__segq_init(lbx__segq *q, unsigned words, bool many,
                          const lbx_allocator *allocator);

/* Frees the segments. What is still inside is forgotten: drain first. */
void lbx__segq_fini(lbx__segq *q);

/* Messages ever accepted, and ever taken. Exact; a claim counts at once. */
uint64_t lbx__segq_accepted(lbx__segq *q);
uint64_t lbx__segq_taken(lbx__segq *q);

/* Sets flags in the tail word. */
void lbx__segq_raise(lbx__segq *q, unsigned flags);

/* Clears flags. CLOSED is never cleared. */
void lbx__segq_lower(lbx__segq *q, unsigned flags);

/* Closes: Q3. Once, one caller. */
void lbx__segq_close(lbx__segq *q);

/* Checks what can be checked while nobody uses the queue. */
bool lbx__segq_valid(lbx__segq *q);

/* Slow paths; use the functions below. */
int lbx__segq_push_slow(lbx__segq *q, uint64_t seen, const uint64_t *item);
bool lbx__segq_next_segment(lbx__segq *q);
size_t lbx__segq_pop_many(lbx__segq *q, uint64_t *items, size_t most,
                          unsigned *ret_notes);

/* Claims a slot, perhaps: what the word was. */
LBX__INLINE uint64_t
lbx__segq_claim(lbx__segq *q)
{
    // Acquire: makes the segment's clean slots (Q4) visible; pairs with the
    // install in push_slow.
    return lbx__add(&q->tail, LBX__INDEX_ONE, acquire);
}

/* Tells whether it is a claim (Q1), and nobody waits and nobody watches. */
LBX__INLINE bool
lbx__segq_is_plain(uint64_t seen, unsigned words)
{
    return (seen >> LBX__INDEX_SHIFT) < LBX__SLOTS(words) &&
           (seen &
            (LBX__FLAG_WAITING | LBX__FLAG_CLOSED | LBX__FLAG_OBSERVED)) == 0;
}

/* Fills a plainly claimed slot; LBX__FLAG_STALLED when a receiver waits for that,
 * else 0. */
LBX__INLINE int
lbx__segq_fill(lbx__segq *q, uint64_t seen, const uint64_t *item,
               unsigned words)
{
    lbx__segment *segment =
        (lbx__segment *)(uintptr_t)(seen & LBX__SEGMENT_MASK);
    uint64_t index = seen >> LBX__INDEX_SHIFT;

    lbx__slot_fill(&segment->words[index * words], item, words);
    lbx__keep_order();
    // Relaxed: Q6, ordered after the fill by the waiter's lbx__barrier_all().
    return LBX__UNLIKELY(lbx__load(&q->stalled, relaxed) != 0)
               ? LBX__FLAG_STALLED
               : 0;
}

/*
 * Appends an item. Not negative: done, with the flags that were seen (0 mostly;
 * then nobody waits and nobody watches). Negative: an lbx_status, CLOSED or
 * NO_MEMORY, and no trace of the item.
 */
LBX__INLINE int
lbx__segq_push(lbx__segq *q, const uint64_t *item, unsigned words)
{
    uint64_t seen = lbx__segq_claim(q);

    if (LBX__UNLIKELY(!lbx__segq_is_plain(seen, words)))
        return lbx__segq_push_slow(q, seen, item);
    return lbx__segq_fill(q, seen, item, words);
}

/* The slot of a ticket from `taken` on, filled or not; NULL when its segment is
 * not there yet. One consumer only, which asks for one after the other. */
LBX__INLINE const _Atomic(uint64_t) *
lbx__segq_slot(lbx__segq *q, uint64_t ticket, unsigned words)
{
    if (LBX__UNLIKELY(ticket == q->end) && !lbx__segq_next_segment(q))
        return NULL;
    return &q->segment->words[(ticket + LBX__SLOTS(words) - q->end) * words];
}

/* Counts what was taken; LBX__NOTE_SAMPLE or 0. */
LBX__INLINE unsigned
lbx__segq_count_taken(lbx__segq *q, uint64_t taken, size_t count)
{
    // Release: for those who count.
    if (count > 0)
        lbx__store(&q->taken, taken + count, release);
    return lbx__note_sample(taken, taken + count);
}

/* Takes up to `most` items in order; how many. *ret_notes: LBX__NOTE_SAMPLE.
 * One consumer only. */
LBX__INLINE size_t
lbx__segq_pop_one(lbx__segq *q, uint64_t *items, size_t most, unsigned words,
                  unsigned *ret_notes)
{
    // Relaxed: only this thread writes it.
    uint64_t taken = lbx__load(&q->taken, relaxed);
    size_t count = 0;

    for (; count < most; count++) {
        const _Atomic(uint64_t) *slot = lbx__segq_slot(q, taken + count, words);
        // Acquire: pairs with the release in lbx__slot_fill().
        uint64_t word0 = slot ? lbx__load(&slot[0], acquire) : 0;

        if (word0 == 0)
            break;
        lbx__slot_copy(slot, word0, &items[count * words], words);
    }
    *ret_notes = lbx__segq_count_taken(q, taken, count);
    return count;
}

/* The same for plain messages, straight into the caller's array. */
LBX__INLINE size_t
lbx__segq_pop_messages(lbx__segq *q, void **ret_messages, size_t most,
                       unsigned *ret_notes)
{
    uint64_t taken = lbx__load(&q->taken, relaxed);
    size_t count = 0;

    for (; count < most; count++) {
        const _Atomic(uint64_t) *slot =
            lbx__segq_slot(q, taken + count, LBX__WORD);
        uint64_t word = slot ? lbx__load(slot, acquire) : 0;

        if (word == 0)
            break;
        ret_messages[count] = lbx__slot_decode(word);
    }
    *ret_notes = lbx__segq_count_taken(q, taken, count);
    return count;
}

/* A cheap look before a pop: false when there was something, and sometimes when
 * there was not. Many consumers only. */
LBX__INLINE bool
lbx__segq_looks_empty(lbx__segq *q)
{
    const uint64_t flags =
        LBX__FLAG_WAITING | LBX__FLAG_CLOSED | LBX__FLAG_OBSERVED;

    // Acquire: as the loads of a pop.
    return ((lbx__load(&q->head, acquire) ^ lbx__load(&q->tail, acquire)) &
            ~flags) == 0;
}

LBX__INLINE size_t
lbx__segq_pop(lbx__segq *q, uint64_t *items, size_t most, unsigned words,
              unsigned *ret_notes)
{
    if (q->many)
        return lbx__segq_pop_many(q, items, most, ret_notes);
    return lbx__segq_pop_one(q, items, most, words, ret_notes);
}

#endif
