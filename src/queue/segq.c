/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The segment queue: init, fini, counts, flags, and the slow path of a push.
 * The design and SEGQ-1 to SEGQ-6 are in segq.h.
 *
 * Segments are allocated by the push that needs one. Used-up ones are cleaned
 * and kept in a small cache, from which the next push takes them.
 *
 * Threads    as the functions in segq.h say; init and fini: one.
 */
#include "queue/segq.h"

#include "base/alloc.h"
#include "base/park.h"
#include <assert.h>

const char lbx__slot_null;

/* SEGQ-5: the slots before `word`; `installs` was read first. */
static uint64_t
segq_count(const lbx__segq *q, uint64_t installs, uint64_t word)
{
    uint64_t slots = lbx__segq_slots_of(q);
    uint64_t index = lbx__segq_index_of(word);
    uint64_t lag =
        (lbx__segq_sequence_of(word) - installs) & LBX__SEQUENCE_MASK;

    if (installs + lag == 0)
        return 0;
    return (installs + lag - 1) * slots + (index < slots ? index : slots);
}

lbx_status
lbx__segq_init(lbx__segq *q, unsigned words, bool many,
               const lbx_allocator *allocator)
{
    uint64_t empty;

    memset(q, 0, sizeof(*q));
    q->words = words;
    q->many = many;
    q->allocator = allocator;
    empty = lbx__segq_pack(lbx__segq_slots_of(q), NULL, 0,
                           0); // full: the first push installs
    lbx__init(&q->tail, empty);
    lbx__init(&q->head, empty);
    lbx__init(&q->final, UINT64_MAX);
    if (!many)
        return LBX_OK;
    q->hazards = lbx__alloc(allocator, sizeof(lbx__hazard) * LBX__HAZARDS,
                            alignof(lbx__hazard));
    if (!q->hazards)
        return LBX_NO_MEMORY;
    for (int i = 0; i < LBX__HAZARDS; i++)
        lbx__init(&q->hazards[i].segment, 0);
    return LBX_OK;
}

static void
segq_free_segment(lbx__segq *q, lbx__segment *segment)
{
    lbx__pages_free(q->allocator, segment, LBX__SEGMENT_BYTES);
}

void
lbx__segq_keep(lbx__segq *q, lbx__segment *segment)
{
    for (int i = 0; i < LBX__SEGMENT_CACHE; i++) {
        lbx__segment *none = NULL;

        // Relaxed load: saves a read-modify-write on a used entry. Release:
        // the thread that takes the segment sees it clean (SEGQ-4).
        if (!lbx__load(&q->cache[i], relaxed) &&
            lbx__cas(&q->cache[i], &none, segment, release))
            return;
    }
    segq_free_segment(q, segment);
}

static lbx__segment *
segq_new_segment(lbx__segq *q)
{
    lbx__segment *segment;

    for (int i = 0; i < LBX__SEGMENT_CACHE; i++) {
        if (!lbx__load(&q->cache[i], relaxed))
            continue;
        // Acquire: pairs with the release when it was cached, above.
        segment = lbx__exchange(&q->cache[i], NULL, acquire);
        if (segment)
            return segment;
    }
    segment = lbx__pages_alloc(q->allocator, LBX__SEGMENT_BYTES);
    if (!segment)
        return NULL;
    if (((uint64_t)(uintptr_t)segment & ~LBX__SEGMENT_MASK) != 0) {
        segq_free_segment(q, segment); // the address does not fit into the word
        return NULL;
    }
    return segment;
}

void
lbx__segq_recycle(lbx__segq *q, lbx__segment *segment)
{
    // No consumer reads it and no producer knows it: plain stores.
    memset(segment, 0,
           LBX__SEGMENT_HEAD_BYTES +
               (size_t)lbx__segq_slots_of(q) * q->words * 8);
    lbx__segq_keep(q, segment);
}

void
lbx__segq_fini(lbx__segq *q)
{
    lbx__segment *segment = lbx__segq_segment_of(lbx__peek(&q->head));

    if (q->words == 0)
        return; // zeroed
    if (!q->many)
        segment = q->segment;
    if (!segment)
        segment = lbx__peek(&q->first);
    while (segment) {
        lbx__segment *next = lbx__peek(&segment->next);

        segq_free_segment(q, segment);
        segment = next;
    }
    while (q->retired) {
        segment = q->retired;
        q->retired = segment->retired;
        segq_free_segment(q, segment);
    }
    for (int i = 0; i < LBX__SEGMENT_CACHE; i++)
        if (lbx__peek(&q->cache[i]))
            segq_free_segment(q, lbx__peek(&q->cache[i]));
    lbx__free(q->allocator, q->hazards, sizeof(lbx__hazard) * LBX__HAZARDS);
    q->words = 0;
}

/* Fills a claimed slot and returns the flags. */
static int
segq_fill_claim(lbx__segq *q, uint64_t seen, lbx__segment *segment,
                uint64_t index, const uint64_t *item)
{
    int flags = (int)(seen & (LBX__FLAG_WAITING | LBX__FLAG_OBSERVED));

    lbx__slot_fill(&segment->words[index * q->words], item, q->words);
    lbx__keep_order();
    // Relaxed: SEGQ-6, as in lbx__segq_push().
    if (lbx__load(&q->stalled, relaxed) != 0)
        flags |= LBX__FLAG_STALLED;
    return flags;
}

/* Without memory for a segment: sets the index back to the end, so that it does
 * not overflow however often pushes fail. */
static void
segq_reset_index(lbx__segq *q)
{
    uint64_t slots = lbx__segq_slots_of(q);
    uint64_t word = lbx__load(&q->tail, relaxed);

    while (!(word & LBX__FLAG_CLOSED) && lbx__segq_index_of(word) > slots) {
        uint64_t mended =
            (word & (LBX__INDEX_ONE - 1)) | slots << LBX__INDEX_SHIFT;

        // Relaxed: it publishes nothing.
        if (lbx__cas(&q->tail, &word, mended, relaxed))
            return;
    }
}

/* SEGQ-2: installs `segment`; false when another thread did or the queue is
 * closed. On success *word is the word that was replaced. */
static bool
segq_install(lbx__segq *q, lbx__segment *segment, uint64_t *word)
{
    uint64_t slots = lbx__segq_slots_of(q);

    // Acquire: an index inside a segment that another thread installed.
    *word = lbx__load(&q->tail, acquire);
    while (!(*word & LBX__FLAG_CLOSED) && lbx__segq_index_of(*word) >= slots) {
        uint64_t next =
            lbx__segq_pack(1, segment, lbx__segq_sequence_of(*word) + 1,
                           *word & (LBX__FLAG_WAITING | LBX__FLAG_OBSERVED));

        // Release: producers that claim in it see it clean. Acquire: the old
        // segment, to link it.
        if (lbx__cas(&q->tail, word, next, acq_rel))
            return true;
    }
    return false;
}

int
lbx__segq_push_slow(lbx__segq *q, uint64_t seen, const uint64_t *item)
{
    uint64_t slots = lbx__segq_slots_of(q);
    lbx__segment *segment = NULL;
    lbx__segment *old;
    int flags;

    for (;;) {
        if (seen & LBX__FLAG_CLOSED) {
            if (segment)
                lbx__segq_keep(q, segment);
            return LBX_CLOSED;
        }
        if (lbx__segq_index_of(seen) < slots) {
            if (segment)
                lbx__segq_keep(q, segment);
            return segq_fill_claim(q, seen, lbx__segq_segment_of(seen),
                                   lbx__segq_index_of(seen), item);
        }
        if (!segment)
            segment = segq_new_segment(q);
        if (!segment) {
            segq_reset_index(q);
            return LBX_NO_MEMORY;
        }
        if (segq_install(q, segment, &seen))
            break;
        // Acquire: as in lbx__segq_push().
        if (!(seen & LBX__FLAG_CLOSED))
            seen = lbx__add(&q->tail, LBX__INDEX_ONE, acquire);
    }
    // Release: a thread that sees the new count sees the new word (SEGQ-5).
    (void)lbx__add(&q->installs, 1, release);
    flags = segq_fill_claim(q, seen, segment, 0, item);
    old = lbx__segq_segment_of(seen);
    // Release: a consumer that follows the link sees the segment.
    lbx__store(old ? &old->next : &q->first, segment, release);
    lbx__keep_order();
    // The link is a publication too: a receiver may wait for it.
    if (lbx__load(&q->stalled, relaxed) != 0)
        flags |= LBX__FLAG_STALLED;
    return flags;
}

lbx__segment *
lbx__segq_after(lbx__segq *q, lbx__segment *segment)
{
    // Acquire: pairs with the release of the link.
    return lbx__load(segment ? &segment->next : &q->first, acquire);
}

bool
lbx__segq_next_segment(lbx__segq *q)
{
    lbx__segment *old = q->segment;
    lbx__segment *next = lbx__segq_after(q, old);

    if (!next)
        return false;
    q->segment = next;
    q->end += lbx__segq_slots_of(q);
    if (old)
        lbx__segq_recycle(q, old);
    return true;
}

/* SEGQ-3: the end of a closed queue; stored right after CLOSED is set. */
static uint64_t
segq_final(lbx__segq *q)
{
    for (;;) {
        // Acquire: pairs with the release in lbx__segq_close().
        uint64_t final = lbx__load(&q->final, acquire);

        if (final != UINT64_MAX)
            return final;
        lbx__yield();
    }
}

/* Reads a counter and its word as SEGQ-5 demands: the counter first, and again
 * if it is too old. */
static uint64_t
segq_read_count(const lbx__segq *q, const _Atomic(uint64_t) *segments,
                const _Atomic(uint64_t) *word, uint64_t *ret_word)
{
    uint64_t before;

    do {
        // Acquire, all: in this order; and pairs with the release of the add.
        before = lbx__load(segments, acquire);
        *ret_word = lbx__load(word, acquire);
    } while (lbx__load(segments, acquire) - before > LBX__SEQUENCE_MASK / 2);
    return segq_count(q, before, *ret_word);
}

uint64_t
lbx__segq_accepted(lbx__segq *q)
{
    uint64_t word;
    uint64_t count = segq_read_count(q, &q->installs, &q->tail, &word);

    return word & LBX__FLAG_CLOSED ? segq_final(q) : count;
}

uint64_t
lbx__segq_taken(lbx__segq *q)
{
    uint64_t word;

    // Acquire: a thread that sees the count sees the takes.
    if (!q->many)
        return lbx__load(&q->taken, acquire);
    return segq_read_count(q, &q->retires, &q->head, &word);
}

void
lbx__segq_raise(lbx__segq *q, unsigned flags)
{
    // Release and acquire: the waiter's registration comes before every claim
    // that sees the flag, every earlier claim before the waiter's next read
    // of the count (SEGQ-6).
    (void)lbx__or(&q->tail, (uint64_t)flags, acq_rel);
}

void
lbx__segq_lower(lbx__segq *q, unsigned flags)
{
    assert(!(flags & LBX__FLAG_CLOSED)); // SEGQ-3
    (void)lbx__and(&q->tail, ~(uint64_t)flags, acq_rel);
}

void
lbx__segq_close(lbx__segq *q)
{
    uint64_t word = lbx__or(&q->tail, (uint64_t)LBX__FLAG_CLOSED, acq_rel);

    assert(!(word & LBX__FLAG_CLOSED));
    // `installs` is read now: no segment is installed any more, so it lags by
    // no more than the threads between the two steps of an install (SEGQ-5).
    // Release: pairs with the acquire in segq_final().
    lbx__store(&q->final, segq_count(q, lbx__load(&q->installs, acquire), word),
               release);
}

bool
lbx__segq_valid(lbx__segq *q)
{
    uint64_t accepted = lbx__segq_accepted(q);
    uint64_t taken = lbx__segq_taken(q);
    lbx__segment *segment =
        q->many ? lbx__segq_segment_of(lbx__peek(&q->head)) : q->segment;
    uint64_t slots = lbx__segq_slots_of(q);
    uint64_t filled = 0;

    if (taken > accepted)
        return false;
    // Every slot that is accepted and not taken is filled, and no other.
    if (!segment)
        segment = lbx__peek(&q->first);
    for (; segment; segment = lbx__peek(&segment->next))
        for (uint64_t i = 0; i < slots; i++)
            filled += lbx__peek(&segment->words[i * q->words]) != 0;
    return filled >= accepted - taken && filled < accepted - taken + slots + 1;
}
