/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring: bounded, many producers, one consumer or many.
 *
 *     tail: ticket << 4 | GATED | OBSERVED | CLOSED | WAITING
 *     head: ticket << 4 | SENDERS
 *
 * Both words are moved by compare-and-swap, once per batch. A slot holds the
 * item and a stamp: the ticket it was filled for, plus one.
 *
 * RING-1  head <= tail <= head + capacity: the capacity is exact; the array has
 *         the next power of two.
 * RING-2  A producer that moved the tail past ticket t owns the slot of t: the
 *         head is past t - size, and consumers copy a slot *before* they move
 *         the head past it, so no consumer reads the old item any more.
 * RING-3  A consumer takes t only with stamp t + 1, copies, then moves the
 *         head; if another consumer moved it first, the copy is not used.
 * RING-4  Tickets have 60 bits: they do not wrap.
 * RING-5  CLOSED is set by one fetch-or; tickets are drawn by compare-and-swap
 *         on a word without it, so the tail is the exact end.
 * RING-6  A receiver that waits sets WAITING in the tail; a sender that waits
 *         sets SENDERS in the head and GATED in the tail: each by a
 *         read-modify-write of the word that the other side must change. GATED
 *         refuses pushes that are not made for a waiting sender. An unfilled
 *         slot is covered by `stalled`, as in SEGQ-6.
 * RING-7  A thread that has loaded a tail (acquire) loads a head of at least
 *         that tail - capacity: the thread that moved the tail had seen such a
 *         head, and published it with the tail (release). So a head that is
 *         further behind means that the tail is outdated.
 */
#ifndef LBX_QUEUE_RING_H
#define LBX_QUEUE_RING_H

#include "queue/slot.h"
#include <letterbox/base.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    LBX__FLAG_GATED = 8,   /* in the tail */
    LBX__FLAG_SENDERS = 1, /* in the head */
    LBX__TICKET_SHIFT = 4,
    LBX__TICKET_FLAGS = 15,
};
#define LBX__TICKET_ONE ((uint64_t)1 << LBX__TICKET_SHIFT)

typedef struct lbx__ring {
    /* Written by producers. */
    alignas(2 * LBX__LINE) _Atomic(uint64_t) tail;
    _Atomic(uint64_t) head_seen; /* a ticket; never ahead of the head */

    /* Written by consumers. */
    alignas(2 * LBX__LINE) _Atomic(uint64_t) head;

    /* Read by all, written rarely. */
    alignas(2 * LBX__LINE) _Atomic(uint32_t) stalled;
    uint32_t words;
    bool many;  /* several consumers */
    bool gated; /* senders may wait: the head is moved by compare-and-swap */
    uint64_t capacity;
    uint64_t mask;
    _Atomic(uint64_t) *slots; /* stamp and item, mask + 1 times */
    const lbx_allocator *allocator;
} lbx__ring;

/* Initialises an empty ring for `capacity` items of `words` words. */
lbx_status lbx__ring_init(lbx__ring *ring, uint64_t capacity, unsigned words,
                          bool many, bool gated,
                          const lbx_allocator *allocator);
void lbx__ring_fini(lbx__ring *ring);

uint64_t lbx__ring_accepted(lbx__ring *ring);
uint64_t lbx__ring_taken(lbx__ring *ring);

/* Sets flags in the tail. */
void lbx__ring_raise(lbx__ring *ring, unsigned flags);
void lbx__ring_lower(lbx__ring *ring, unsigned flags);
void lbx__ring_close(lbx__ring *ring);

/* Marks that senders wait, or no longer do: RING-6. */
void lbx__ring_raise_senders(lbx__ring *ring);
void lbx__ring_lower_senders(lbx__ring *ring);

bool lbx__ring_valid(lbx__ring *ring);

LBX__INLINE _Atomic(uint64_t) *
lbx__ring_slot(const lbx__ring *ring, uint64_t ticket, unsigned words)
{
    return &ring->slots[(ticket & ring->mask) * (words + 1)];
}

/*
 * Appends up to `count` items in one step; *ret_count is how many (one or more
 * on success). `ahead` is for the push of a waiting sender: it ignores GATED.
 * Returns the flags that were set, or a negative status, LBX_FULL or
 * LBX_CLOSED; then the ring is unchanged.
 */
LBX__INLINE int
lbx__ring_push(lbx__ring *ring, const uint64_t *items, size_t count,
               unsigned words, bool ahead, size_t *ret_count)
{
    // A guess, confirmed by the compare-and-swap. Acquire: before the load of
    // the head; otherwise FULL could be returned for a later tail.
    uint64_t tail = lbx__load(&ring->tail, acquire);
    uint64_t ticket;
    int flags;

    for (;;) {
        uint64_t left;

        if (LBX__UNLIKELY(tail & (LBX__FLAG_CLOSED | LBX__FLAG_GATED))) {
            if (tail & LBX__FLAG_CLOSED)
                return LBX_CLOSED;
            if (!ahead)
                return LBX_FULL;
        }
        ticket = tail >> LBX__TICKET_SHIFT;
        // Acquire: RING-2, the consumers' copies come before this fill; the
        // thread that stored `head_seen` had acquired the head.
        left = lbx__load(&ring->head_seen, acquire) + ring->capacity - ticket;
        if (LBX__UNLIKELY(left - 1 >= ring->capacity)) { // 0, or outdated
            uint64_t head =
                lbx__load(&ring->head, acquire) >> LBX__TICKET_SHIFT;

            lbx__store(&ring->head_seen, head, release);
            left = head + ring->capacity - ticket;
            if (left == 0)
                return LBX_FULL;
            if (left > ring->capacity) { // `tail` is outdated: RING-7
                tail = lbx__load(&ring->tail, acquire);
                continue;
            }
        }
        if (count > left)
            count = left;
        // Acquire: the registrations behind the flags. Release: a producer that
        // loads this tail also sees the head that this thread has seen;
        // otherwise it would take the new tail for an outdated one and load it
        // again and again (RING-7).
        if (lbx__cas(&ring->tail, &tail, tail + count * LBX__TICKET_ONE,
                     acq_rel))
            break;
    }
    flags = (int)(tail & (LBX__FLAG_WAITING | LBX__FLAG_OBSERVED));
    for (size_t i = 0; i < count; i++) {
        _Atomic(uint64_t) *slot = lbx__ring_slot(ring, ticket + i, words);

        // Relaxed: published by the stamp.
        for (unsigned w = 0; w < words; w++)
            lbx__store(&slot[1 + w], items[i * words + w], relaxed);
        // Release: a consumer that sees the stamp sees the item. Pairs with
        // the acquire in lbx__ring_pop().
        lbx__store(&slot[0], ticket + i + 1, release);
    }
    *ret_count = count;
    lbx__keep_order();
    // Relaxed: ordered by the waiter's lbx__barrier_all() (RING-6).
    if (LBX__UNLIKELY(lbx__load(&ring->stalled, relaxed) != 0))
        flags |= LBX__FLAG_STALLED;
    return flags;
}

/* Takes up to `max` items in order and returns how many. *ret_notes:
 * LBX__NOTE_*. */
LBX__INLINE size_t
lbx__ring_pop(lbx__ring *ring, uint64_t *items, size_t max, unsigned words,
              unsigned *ret_notes)
{
    // Relaxed: a guess, confirmed below.
    uint64_t head = lbx__load(&ring->head, relaxed);

    *ret_notes = 0;
    for (;;) {
        uint64_t ticket = head >> LBX__TICKET_SHIFT;
        size_t count = 0;

        while (count < max) {
            const _Atomic(uint64_t) *slot =
                lbx__ring_slot(ring, ticket + count, words);

            // Acquire: pairs with the release of the stamp.
            if (lbx__load(&slot[0], acquire) != ticket + count + 1)
                break;
            for (unsigned w = 0; w < words; w++)
                items[count * words + w] = lbx__load(&slot[1 + w], relaxed);
            count++;
        }
        if (count == 0) {
            uint64_t now = lbx__load(&ring->head, acquire);

            if (!ring->many || now >> LBX__TICKET_SHIFT == ticket)
                return 0;
            head = now;
            continue;
        }
        if (!ring->many && !ring->gated) {
            // Release: RING-2, these copies come before the head.
            lbx__store(&ring->head, head + count * LBX__TICKET_ONE, release);
            *ret_notes = lbx__note_sample(ticket, ticket + count);
            return count;
        }
        // Release: as above. Acquire: the registrations of senders.
        if (lbx__cas(&ring->head, &head, head + count * LBX__TICKET_ONE,
                     acq_rel)) {
            *ret_notes = lbx__note_sample(ticket, ticket + count) |
                         (head & LBX__FLAG_SENDERS ? LBX__NOTE_SENDERS : 0);
            return count;
        }
    }
}

#endif
