/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring: bounded, many producers, one consumer or many.
 *
 *     tail: ticket << 4 | GATED | OBSERVED | CLOSED | WAITING
 *     head: ticket << 4 | SENDERS
 *
 * Both are moved by compare-and-swap, one for a whole batch. A slot carries
 * the ticket it was filled for, plus one (its stamp), beside the item.
 *
 * G1  head <= tail <= head + capacity, always: the capacity is exact, the
 *     array behind it is the next power of two.
 * G2  A producer that moved the tail past ticket t owns t's slot: the head is
 *     past t - size, and consumers copy a slot *before* they move the head
 *     past it, so nobody reads the old content any more.
 * G3  A consumer takes t only with stamp t + 1, copies, and then moves the
 *     head; if the head had moved, the copy is thrown away.
 * G4  Tickets have 60 bits: they do not wrap.
 * G5  CLOSED is set by one fetch-or; tickets are only taken by compare-and-
 *     swap on a word without it, so the tail is the exact end.
 * G6  Whoever waits to receive raises WAITING in the tail, whoever waits to
 *     send raises SENDERS in the head and GATED in the tail, each by a
 *     read-modify-write of the word that the other side must change. GATED
 *     turns away pushes that do not have their turn. An unfilled slot is
 *     covered by `stalled`, as in segq.h (Q6).
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
    /* Producers. */
    alignas(2 * LBX__LINE) _Atomic(uint64_t) tail;
    _Atomic(uint64_t) head_seen; /* a ticket; never ahead of the head */

    /* Consumers. */
    alignas(2 * LBX__LINE) _Atomic(uint64_t) head;

    /* Read by all, written seldom. */
    alignas(2 * LBX__LINE) _Atomic(uint32_t) stalled;
    uint32_t words;
    bool many;  /* several consumers */
    bool gated; /* senders may wait: the head is moved with care */
    uint64_t capacity;
    uint64_t mask;
    _Atomic(uint64_t) *slots; /* stamp and item, mask + 1 times */
    const lbx_allocator *allocator;
} lbx__ring;

/* Makes an empty ring for `capacity` items of `words` words. */
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

/* Senders wait, or no longer do. */
void lbx__ring_raise_senders(lbx__ring *ring);
void lbx__ring_lower_senders(lbx__ring *ring);

bool lbx__ring_valid(lbx__ring *ring);

LBX__INLINE _Atomic(uint64_t) *
lbx__ring_slot(const lbx__ring *ring, uint64_t ticket, unsigned words)
{
    return &ring->slots[(ticket & ring->mask) * (words + 1)];
}

/*
 * Appends up to `count` items in one step; *ret_count says how many (one or
 * more on success). `ahead` is for whoever has its turn: it ignores GATED.
 * Not negative: done, with the flags that were seen. Negative: LBX_FULL or
 * LBX_CLOSED, nothing done.
 */
LBX__INLINE int
lbx__ring_push(lbx__ring *ring, const uint64_t *items, size_t count,
               unsigned words, bool ahead, size_t *ret_count)
{
    // A guess, confirmed by the compare-and-swap. Acquire: before the load of
    // the head, or FULL could be told of a tail that came after it.
    uint64_t tail = lbx__load(&ring->tail, acquire);
    uint64_t ticket;
    int flags;

    for (;;) {
        uint64_t room;

        if (LBX__UNLIKELY(tail & (LBX__FLAG_CLOSED | LBX__FLAG_GATED))) {
            if (tail & LBX__FLAG_CLOSED)
                return LBX_CLOSED;
            if (!ahead)
                return LBX_FULL;
        }
        ticket = tail >> LBX__TICKET_SHIFT;
        // Acquire: G2, the consumers' copies come before our fill; the
        // thread that stored it passed the head's own order on.
        room = lbx__load(&ring->head_seen, acquire) + ring->capacity - ticket;
        if (LBX__UNLIKELY(room - 1 >= ring->capacity)) { // 0, or outdated
            uint64_t head =
                lbx__load(&ring->head, acquire) >> LBX__TICKET_SHIFT;

            lbx__store(&ring->head_seen, head, release);
            room = head + ring->capacity - ticket;
            if (room == 0)
                return LBX_FULL;
            if (room > ring->capacity) { // the tail we saw is outdated
                tail = lbx__load(&ring->tail, acquire);
                continue;
            }
        }
        if (count > room)
            count = room;
        // Acquire: registrations behind the flags we see. Release: nothing
        // yet, the stamps publish.
        if (lbx__cas(&ring->tail, &tail, tail + count * LBX__TICKET_ONE,
                     acquire))
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
    // Relaxed: ordered by the waiter's lbx__barrier_all() (G6).
    if (LBX__UNLIKELY(lbx__load(&ring->stalled, relaxed) != 0))
        flags |= LBX__FLAG_STALLED;
    return flags;
}

/* Takes up to `most` items in order; how many. *ret_notes: LBX__NOTE_*. */
LBX__INLINE size_t
lbx__ring_pop(lbx__ring *ring, uint64_t *items, size_t most, unsigned words,
              unsigned *ret_notes)
{
    // Relaxed: a guess, confirmed below.
    uint64_t head = lbx__load(&ring->head, relaxed);

    *ret_notes = 0;
    for (;;) {
        uint64_t ticket = head >> LBX__TICKET_SHIFT;
        size_t count = 0;

        while (count < most) {
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
            // Release: G2, our copies come before the room.
            lbx__store(&ring->head, head + count * LBX__TICKET_ONE, release);
            *ret_notes = lbx__note_sample(ticket, ticket + count);
            return count;
        }
        // Release: as above. Acquire: the senders behind the flag.
        if (lbx__cas(&ring->head, &head, head + count * LBX__TICKET_ONE,
                     acq_rel)) {
            *ret_notes = lbx__note_sample(ticket, ticket + count) |
                         (head & LBX__FLAG_SENDERS ? LBX__NOTE_SENDERS : 0);
            return count;
        }
    }
}

#endif
