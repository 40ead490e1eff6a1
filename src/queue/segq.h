/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The segment queue: unbounded, many producers, one consumer or many.
 *
 * Slots lie in segments of 16 KiB. One word, the tail, holds everything that a
 * producer must know, and one fetch-add on it claims a slot:
 *
 *     63      48 47                14 13       3  2        1      0
 *     [ index  ][ segment address   ][ sequence ][OBSERVED CLOSED WAITING]
 *
 * The index is on top, so that its carry is lost. `sequence` counts segments
 * modulo 2048. Consumers follow the segments by their `next`.
 *
 * SEGQ-1  A fetch-add that returns index < slots and no CLOSED is a claim: the
 *         slot belongs to that producer, and its segment stays until the slot
 *         is filled and taken. Any other result claims nothing.
 * SEGQ-2  An index past the end is replaced by one compare-and-swap from a full
 *         word to {new segment, index 1, sequence + 1, same flags}. The thread
 *         that wins owns slot 0 of the new segment and links it to the old one,
 *         which stays until then. A thread that loses claims again.
 * SEGQ-3  CLOSED is set by one fetch-or; the word it returns is the exact end,
 *         since no later fetch-add is a claim. `final` keeps the end, because
 *         later fetch-adds still move the index.
 * SEGQ-4  A segment is reused only when all its slots are taken, its `next` is
 *         set and no consumer's hazard holds it. Then it is clean: word 0 of
 *         every slot is 0.
 * SEGQ-5  accepted = (installs - 1) * slots + min(index, slots). If `installs`
 *         is read before the word, it is never ahead of it; the sequence in the
 *         word shows how far behind it is, up to 2047 segments.
 * SEGQ-6  A receiver that waits sets WAITING by a read-modify-write of the
 *         tail: every later claim sees the flag, every earlier one is in the
 *         count that the receiver reads next. An earlier claim that is not
 *         filled yet is covered by `stalled`: the receiver sets it, calls
 *         lbx__barrier_all() and tries again; a producer that fills its slot
 *         after that sees `stalled`.
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

/* Slots in a segment, segments kept for reuse, threads with a hazard of their
 * own. Small in the explorer, so that few steps use many segments. */
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
    struct lbx__segment
        *retired; /* list of retired segments; the consumers' lock */
    char pad[LBX__SEGMENT_HEAD_BYTES - 2 * sizeof(void *)];
    _Atomic(uint64_t) words[];
} lbx__segment;

/* The hazard of one consumer thread, on a cache line of its own: the segment
 * that it reads. */
typedef struct lbx__hazard {
    alignas(LBX__LINE) _Atomic(uint64_t) segment;
} lbx__hazard;

typedef struct lbx__segq {
    /* Written by producers. */
    alignas(2 * LBX__LINE) _Atomic(uint64_t) tail;
    _Atomic(uint64_t) installs;
    _Atomic(lbx__segment *) first;

    /* Read by all, written rarely. */
    alignas(2 * LBX__LINE) _Atomic(uint32_t) stalled;
    uint32_t words;
    bool many; /* several consumers */
    const lbx_allocator *allocator;
    lbx__hazard *hazards; /* many: LBX__HAZARDS of them */
    _Atomic(uint64_t) final;
    _Atomic(lbx__segment *) cache[LBX__SEGMENT_CACHE];

    /* Written by the consumer, or consumers. */
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

/* Frees the segments, not the messages inside: drain first. */
void lbx__segq_fini(lbx__segq *q);

/* Messages accepted and taken since init. Exact; a claim counts at once. */
uint64_t lbx__segq_accepted(lbx__segq *q);
uint64_t lbx__segq_taken(lbx__segq *q);

/* Sets flags in the tail word. */
void lbx__segq_raise(lbx__segq *q, unsigned flags);

/* Clears flags. CLOSED is never cleared. */
void lbx__segq_lower(lbx__segq *q, unsigned flags);

/* Closes: SEGQ-3. Called once. */
void lbx__segq_close(lbx__segq *q);

/* Checks the structure while no other thread uses the queue. */
bool lbx__segq_valid(lbx__segq *q);

/* Shared by segq.c and segq_many.c. */

/* Keeps a clean segment for reuse, or frees it. */
void lbx__segq_keep(lbx__segq *q, lbx__segment *segment);

/* Cleans a used-up segment and keeps it for reuse. */
void lbx__segq_recycle(lbx__segq *q, lbx__segment *segment);

/* The segment after `segment`, or the first if that is NULL; NULL when it is
 * not linked yet. */
lbx__segment *lbx__segq_after(lbx__segq *q, lbx__segment *segment);

static inline uint32_t
lbx__segq_slots_of(const lbx__segq *q)
{
    switch (q->words) {
    case LBX__WORD:
        return LBX__SLOTS(LBX__WORD);
    case LBX__PAIR:
        return LBX__SLOTS(LBX__PAIR);
    default:
        return LBX__SLOTS(LBX__ENVELOPE);
    }
}

static inline lbx__segment *
lbx__segq_segment_of(uint64_t word)
{
    return (lbx__segment *)(uintptr_t)(word & LBX__SEGMENT_MASK);
}

static inline uint64_t
lbx__segq_index_of(uint64_t word)
{
    return word >> LBX__INDEX_SHIFT;
}

static inline uint64_t
lbx__segq_sequence_of(uint64_t word)
{
    return (word >> LBX__SEQUENCE_SHIFT) & LBX__SEQUENCE_MASK;
}

static inline uint64_t
lbx__segq_pack(uint64_t index, lbx__segment *segment, uint64_t sequence,
               uint64_t flags)
{
    return index << LBX__INDEX_SHIFT | (uint64_t)(uintptr_t)segment |
           (sequence & LBX__SEQUENCE_MASK) << LBX__SEQUENCE_SHIFT | flags;
}

/* Slow paths of the functions below. */
int lbx__segq_push_slow(lbx__segq *q, uint64_t seen, const uint64_t *item);
bool lbx__segq_next_segment(lbx__segq *q);
size_t lbx__segq_pop_many(lbx__segq *q, uint64_t *items, size_t max,
                          unsigned *ret_notes);

/* Tries to claim a slot; returns the tail word before it. */
LBX__INLINE uint64_t
lbx__segq_claim(lbx__segq *q)
{
    // Acquire: makes the segment's clean slots (SEGQ-4) visible; pairs with
    // the install in lbx__segq_push_slow().
    return lbx__add(&q->tail, LBX__INDEX_ONE, acquire);
}

/* Whether the word is a claim (SEGQ-1) without flags. */
LBX__INLINE bool
lbx__segq_is_plain(uint64_t seen, unsigned words)
{
    return (seen >> LBX__INDEX_SHIFT) < LBX__SLOTS(words) &&
           (seen &
            (LBX__FLAG_WAITING | LBX__FLAG_CLOSED | LBX__FLAG_OBSERVED)) == 0;
}

/* Fills the slot of a plain claim. Returns LBX__FLAG_STALLED when a receiver
 * waits for it, else 0. */
LBX__INLINE int
lbx__segq_fill(lbx__segq *q, uint64_t seen, const uint64_t *item,
               unsigned words)
{
    lbx__segment *segment =
        (lbx__segment *)(uintptr_t)(seen & LBX__SEGMENT_MASK);
    uint64_t index = seen >> LBX__INDEX_SHIFT;

    lbx__slot_fill(&segment->words[index * words], item, words);
    lbx__keep_order();
    // Relaxed: SEGQ-6, ordered after the fill by the waiter's
    // lbx__barrier_all().
    return LBX__UNLIKELY(lbx__load(&q->stalled, relaxed) != 0)
               ? LBX__FLAG_STALLED
               : 0;
}

/*
 * Appends an item. Returns the flags that were set (mostly 0: no receiver
 * waits, no observer), or a negative lbx_status, CLOSED or NO_MEMORY; then the
 * queue is unchanged.
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
 * not linked yet. Single consumer; tickets must be asked for in order. */
LBX__INLINE const _Atomic(uint64_t) *
lbx__segq_slot(lbx__segq *q, uint64_t ticket, unsigned words)
{
    if (LBX__UNLIKELY(ticket == q->end) && !lbx__segq_next_segment(q))
        return NULL;
    return &q->segment->words[(ticket + LBX__SLOTS(words) - q->end) * words];
}

/* Counts taken items; returns LBX__NOTE_SAMPLE or 0. */
LBX__INLINE unsigned
lbx__segq_count_taken(lbx__segq *q, uint64_t taken, size_t count)
{
    // Release: pairs with the acquire in lbx__segq_taken().
    if (count > 0)
        lbx__store(&q->taken, taken + count, release);
    return lbx__note_sample(taken, taken + count);
}

/* Takes up to `max` items in order and returns how many. *ret_notes:
 * LBX__NOTE_SAMPLE. Single consumer. */
LBX__INLINE size_t
lbx__segq_pop_one(lbx__segq *q, uint64_t *items, size_t max, unsigned words,
                  unsigned *ret_notes)
{
    // Relaxed: only this thread writes it.
    uint64_t taken = lbx__load(&q->taken, relaxed);
    size_t count = 0;

    for (; count < max; count++) {
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
lbx__segq_pop_messages(lbx__segq *q, void **ret_messages, size_t max,
                       unsigned *ret_notes)
{
    uint64_t taken = lbx__load(&q->taken, relaxed);
    size_t count = 0;

    for (; count < max; count++) {
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

/* A cheap check before a pop: true only if the queue was empty. Many
 * consumers. */
LBX__INLINE bool
lbx__segq_looks_empty(lbx__segq *q)
{
    const uint64_t flags =
        LBX__FLAG_WAITING | LBX__FLAG_CLOSED | LBX__FLAG_OBSERVED;

    // Acquire: as the loads of a pop. The head first: a tail that is loaded
    // later and equals it was the end of an empty queue; an older tail could
    // equal the head while newer items are behind it.
    const uint64_t head = lbx__load(&q->head, acquire);
    const uint64_t tail = lbx__load(&q->tail, acquire);

    return ((head ^ tail) & ~flags) == 0;
}

LBX__INLINE size_t
lbx__segq_pop(lbx__segq *q, uint64_t *items, size_t max, unsigned words,
              unsigned *ret_notes)
{
    if (q->many)
        return lbx__segq_pop_many(q, items, max, ret_notes);
    return lbx__segq_pop_one(q, items, max, words, ret_notes);
}

#endif
