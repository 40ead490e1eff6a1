/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots: how a message lies in a queue.
 *
 * An item is 1, 2 or 8 words: a message, a message with its priority, or a
 * whole envelope. Word 0 is the message. In a segment it also shows whether the
 * slot is filled: 0 means not yet. A NULL message is therefore stored as the
 * address of lbx__slot_null, an object that no user can send.
 *
 * Threads    a slot is filled by the producer that claimed it and copied by
 *            consumers; word 0 publishes the other words.
 */
#ifndef LBX_QUEUE_SLOT_H
#define LBX_QUEUE_SLOT_H

#include "base/atomic.h"
#include <letterbox/mailbox/messages.h>
#include <stdint.h>
#include <string.h>

#define LBX__INLINE      static inline __attribute__((always_inline))
#define LBX__COLD        static __attribute__((noinline, cold))
#define LBX__LIKELY(x)   __builtin_expect(!!(x), 1)
#define LBX__UNLIKELY(x) __builtin_expect(!!(x), 0)

enum {
    LBX__WORD = 1,    /* message */
    LBX__PAIR = 2,    /* message, priority */
    LBX__ENVELOPE = 8 /* lbx_envelope */
};

_Static_assert(sizeof(lbx_envelope) == LBX__ENVELOPE * sizeof(uint64_t),
               "an envelope fills one cache line");

/* Flags that a push finds in a queue's tail word; the mailbox sets them. */
enum {
    LBX__FLAG_WAITING = 1,  /* a receiver waits */
    LBX__FLAG_CLOSED = 2,   /* no more pushes */
    LBX__FLAG_OBSERVED = 4, /* observers are notified of every push */
    LBX__FLAG_STALLED = 8,  /* not in the word: a receiver waits for this very
                          publication */
};

/* The result of a push when the storage of a user's kind is full, not the
 * capacity: final, whatever the policy. */
enum {
    LBX__STORAGE_FULL = -100
};

/* What a pop reports beside the number of items. */
enum {
    LBX__NOTE_SENDERS = 1, /* senders wait for capacity */
    LBX__NOTE_SAMPLE = 2,  /* time to sample the depth */
    LBX__SAMPLE_EVERY = 256,
};

/* NOTE_SAMPLE if the count passes a multiple of SAMPLE_EVERY. */
LBX__INLINE unsigned
lbx__note_sample(uint64_t before, uint64_t after)
{
    return before / LBX__SAMPLE_EVERY != after / LBX__SAMPLE_EVERY
               ? LBX__NOTE_SAMPLE
               : 0;
}

extern const char lbx__slot_null;

LBX__INLINE uint64_t
lbx__slot_encode(const void *message)
{
    return (uint64_t)(uintptr_t)(message ? message : &lbx__slot_null);
}

LBX__INLINE void *
lbx__slot_decode(uint64_t word)
{
    return word == (uint64_t)(uintptr_t)&lbx__slot_null
               ? NULL
               : (void *)(uintptr_t)word;
}

/* Fills a slot that this thread has claimed. */
LBX__INLINE void
lbx__slot_fill(_Atomic(uint64_t) *slot, const uint64_t *item, unsigned words)
{
    // Relaxed: the words become visible with word 0.
    for (unsigned i = 1; i < words; i++)
        lbx__store(&slot[i], item[i], relaxed);
    // Release: a consumer that sees word 0 sees the rest, and all that the
    // sender did before. Pairs with the acquire loads of the pops.
    lbx__store(&slot[0], item[0], release);
}

/* Copies a filled slot, apart from word 0, which the caller has loaded. */
LBX__INLINE void
lbx__slot_copy(const _Atomic(uint64_t) *slot, uint64_t word0, uint64_t *item,
               unsigned words)
{
    item[0] = word0;
    // Relaxed: ordered by the acquire load of word 0 (or of the ring's stamp).
    for (unsigned i = 1; i < words; i++)
        item[i] = lbx__load(&slot[i], relaxed);
}

#endif
