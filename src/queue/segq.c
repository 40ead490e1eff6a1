/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The segment queue: everything but the fast paths. Q1 to Q6 are in segq.h.
 */
#include "queue/segq_word.h"

#include "base/alloc.h"
#include "base/park.h"
#include <assert.h>

const char lbx__slot_null;

/* Q5: how many slots lie before `word`, of which `installs` was read first. */
static uint64_t
count_of(const lbx__segq *q, uint64_t installs, uint64_t word)
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
free_segment(lbx__segq *q, lbx__segment *segment)
{
    lbx__pages_free(q->allocator, segment, LBX__SEGMENT_BYTES);
}

void
lbx__segq_keep(lbx__segq *q, lbx__segment *segment)
{
    for (int i = 0; i < LBX__SEGMENT_CACHE; i++) {
        lbx__segment *none = NULL;

        // Relaxed look: saves a read-modify-write on a full place. Release:
        // whoever takes it out sees it clean (Q4).
        if (!lbx__load(&q->cache[i], relaxed) &&
            lbx__cas(&q->cache[i], &none, segment, release))
            return;
    }
    free_segment(q, segment);
}

static lbx__segment *
fresh_segment(lbx__segq *q)
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
        free_segment(q, segment); // an address that the word cannot hold
        return NULL;
    }
    return segment;
}

void
lbx__segq_recycle(lbx__segq *q, lbx__segment *segment)
{
    // All consumers are done with it and no producer knows it: plain stores.
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
        return; // never begun
    if (!q->many)
        segment = q->segment;
    if (!segment)
        segment = lbx__peek(&q->first);
    while (segment) {
        lbx__segment *next = lbx__peek(&segment->next);

        free_segment(q, segment);
        segment = next;
    }
    while (q->retired) {
        segment = q->retired;
        q->retired = segment->retired;
        free_segment(q, segment);
    }
    for (int i = 0; i < LBX__SEGMENT_CACHE; i++)
        if (lbx__peek(&q->cache[i]))
            free_segment(q, lbx__peek(&q->cache[i]));
    lbx__free(q->allocator, q->hazards, sizeof(lbx__hazard) * LBX__HAZARDS);
    q->words = 0;
}

/* Fills the claimed slot and says what was seen. */
static int
fill_claim(lbx__segq *q, uint64_t seen, lbx__segment *segment, uint64_t index,
           const uint64_t *item)
{
    int flags = (int)(seen & (LBX__FLAG_WAITING | LBX__FLAG_OBSERVED));

    lbx__slot_fill(&segment->words[index * q->words], item, q->words);
    lbx__keep_order();
    // Relaxed: Q6, as in lbx__segq_push().
    if (lbx__load(&q->stalled, relaxed) != 0)
        flags |= LBX__FLAG_STALLED;
    return flags;
}

/* After running out of memory: takes the overshoots back, so that however
 * often a push fails the index does not run over. */
static void
mend_index(lbx__segq *q)
{
    uint64_t slots = lbx__segq_slots_of(q);
    uint64_t word = lbx__load(&q->tail, relaxed);

    while (!(word & LBX__FLAG_CLOSED) && lbx__segq_index_of(word) > slots) {
        uint64_t mended =
            (word & (LBX__INDEX_ONE - 1)) | slots << LBX__INDEX_SHIFT;

        // Relaxed: nothing is handed over, only a number is put right.
        if (lbx__cas(&q->tail, &word, mended, relaxed))
            return;
    }
}

/* Q2: installs `segment`; false when someone else did, or the queue closed.
 * On success *word is what was replaced. */
static bool
install(lbx__segq *q, lbx__segment *segment, uint64_t *word)
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
            return fill_claim(q, seen, lbx__segq_segment_of(seen),
                              lbx__segq_index_of(seen), item);
        }
        if (!segment)
            segment = fresh_segment(q);
        if (!segment) {
            mend_index(q);
            return LBX_NO_MEMORY;
        }
        if (install(q, segment, &seen))
            break;
        // Acquire: as in lbx__segq_push().
        if (!(seen & LBX__FLAG_CLOSED))
            seen = lbx__add(&q->tail, LBX__INDEX_ONE, acquire);
    }
    // Release: whoever sees the new number sees the new word (Q5).
    (void)lbx__add(&q->installs, 1, release);
    flags = fill_claim(q, seen, segment, 0, item);
    old = lbx__segq_segment_of(seen);
    // Release: a consumer that follows the link sees the segment.
    lbx__store(old ? &old->next : &q->first, segment, release);
    lbx__keep_order();
    // The link is a publication too: a receiver may have stalled on it.
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
    if (old) {
        lbx__segq_recycle(q, old);
    }
    return true;
}

/* Q3: the end of a closed queue. Its closer stores it right after CLOSED. */
static uint64_t
final_of(lbx__segq *q)
{
    for (;;) {
        // Acquire: pairs with the release in lbx__segq_close().
        uint64_t final = lbx__load(&q->final, acquire);

        if (final != UINT64_MAX)
            return final;
        lbx__yield();
    }
}

/* Reads a counter and its word so that Q5 holds: the counter first, and not
 * many segments ago. */
static uint64_t
read_count(const lbx__segq *q, const _Atomic(uint64_t) *segments,
           const _Atomic(uint64_t) *word, uint64_t *ret_word)
{
    uint64_t before;

    do {
        // Acquire, all: in this order; and pairs with the release of the add.
        before = lbx__load(segments, acquire);
        *ret_word = lbx__load(word, acquire);
    } while (lbx__load(segments, acquire) - before > LBX__SEQUENCE_MASK / 2);
    return count_of(q, before, *ret_word);
}

uint64_t
lbx__segq_accepted(lbx__segq *q)
{
    uint64_t word;
    uint64_t count = read_count(q, &q->installs, &q->tail, &word);

    return word & LBX__FLAG_CLOSED ? final_of(q) : count;
}

uint64_t
lbx__segq_taken(lbx__segq *q)
{
    uint64_t word;

    // Acquire: whoever sees the number sees the take.
    if (!q->many)
        return lbx__load(&q->taken, acquire);
    return read_count(q, &q->retires, &q->head, &word);
}

void
lbx__segq_raise(lbx__segq *q, unsigned flags)
{
    // Release and acquire: the waiter's registration comes before every claim
    // that sees the flag, every earlier claim before the waiter's next look
    // (Q6).
    (void)lbx__or(&q->tail, (uint64_t)flags, acq_rel);
}

void
lbx__segq_lower(lbx__segq *q, unsigned flags)
{
    assert(!(flags & LBX__FLAG_CLOSED)); // Q3
    (void)lbx__and(&q->tail, ~(uint64_t)flags, acq_rel);
}

void
lbx__segq_close(lbx__segq *q)
{
    uint64_t word = lbx__or(&q->tail, (uint64_t)LBX__FLAG_CLOSED, acq_rel);

    assert(!(word & LBX__FLAG_CLOSED));
    // `installs` only now: nothing is installed any more, so it lags by no
    // more than the threads that are between their two steps (Q5). Release:
    // pairs with the acquire in final_of().
    lbx__store(&q->final, count_of(q, lbx__load(&q->installs, acquire), word),
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
    // Every accepted and not taken slot is filled; nothing else is.
    if (!segment)
        segment = lbx__peek(&q->first);
    for (; segment; segment = lbx__peek(&segment->next))
        for (uint64_t i = 0; i < slots; i++)
            filled += lbx__peek(&segment->words[i * q->words]) != 0;
    return filled >= accepted - taken && filled < accepted - taken + slots + 1;
}
