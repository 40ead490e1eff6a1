/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a receiver of an unbounded lane falls asleep and is woken.
 *
 * The tail word packs the claimed index and WAITING. A producer claims with
 * one fetch-add, publishes into its slot, and goes to the waiter lock only if
 * the word it fetched said WAITING or if `stalled` is set. A receiver that
 * finds nothing registers under the waiter lock: fetch-or of WAITING, then a
 * second look by the word that came back. If a claim is there whose producer
 * has not published yet, that producer may have fetched before WAITING was
 * set; so the receiver sets `stalled`, makes every thread pass a barrier,
 * looks at the slot again, and only then sleeps.
 *
 * A producer in the waiter lock settles: it gives reservations to waiters in
 * order of arrival, as many as there are claims beyond those reserved. It
 * counts claims, published or not: a waiter woken for a claim that is not
 * published yet stalls by itself. A receiver that arrives settles for those
 * before it; one that comes back with its reservation does not, or two of
 * them would hand the same message to each other for ever.
 *
 * Memory. Publishing goes through a store buffer of one entry per producer,
 * which empties when it likes (process Memory), at the latest when its owner
 * releases a lock (a release) or another thread makes all pass a barrier.
 * Taking a lock does not empty it: that is weaker than x86-64, where every
 * read-modify-write does, and right for ARM.
 *
 * In the code          here
 *   lane->tail         word: index << 1 | WAITING
 *   slots              slot[], 0 is unpublished
 *   lane->head         head, moved by compare-and-swap
 *   lane->stalled      stalled
 *   lbx__barrier_all   barrier()
 *   the one load that  listed + reserved
 *     tells nobody waits
 *   the waiter lock    lock, and all that is only changed under it:
 *                      list[], listed, reserved, granted[]
 *   a waker            woken[]
 *
 * Invariants
 *   - MSG-1, MSG-2: every message is taken once, none that was not sent
 *   - MSG-3: messages of one producer are taken in the order sent
 *   - MSG-9: no lost wake-up: a receiver asleep while a message is there for
 *           it would be an invalid end state
 *   W1      WAITING is set whenever a waiter is listed and the lock is free
 *   W2      a reservation is counted once: reserved = number of granted
 */
// check -DONE_PRODUCER: who sends twice, for MSG-3
// progress -DONE_PRODUCER: receivers do not keep each other busy
// twin BUG_NO_RECHECK: sleeps without looking at the word that came back
// twin BUG_NO_BARRIER: sets `stalled` and looks at the slot, no barrier
// twin BUG_NO_STALLED: trusts WAITING alone behind an unpublished claim
// twin BUG_CHECK_BEFORE_PUBLISH: asks who waits, and only then publishes
// twin BUG_CLEAR_WAITING: clears WAITING though others are still listed
// twin BUG_GRANT_ONE: one publication gives one reservation, never more
// twin BUG_GRANT_PUBLISHED: gives reservations for published slots only
// livelock BUG_SETTLES_ON_RETURN -DONE_PRODUCER: who comes back settles too

#define RECEIVERS 2
#if defined(ONE_PRODUCER)
#define PRODUCERS 1
#define SENDS     2
#elif defined(FULL)
#define PRODUCERS 3
#define SENDS     1
#else
#define PRODUCERS 2
#define SENDS     1
#endif
#define MESSAGES (PRODUCERS * SENDS)

#define WAITING  1
#define CLAIM    2
#define INDEX(w) ((w) >> 1)

byte word;           // the tail: index and WAITING
byte head;           // taken so far
byte slot[MESSAGES]; // what is visible to others
bool stalled;

byte buffer_slot[PRODUCERS]; // a publication under way: slot + 1, or 0
byte buffer_value[PRODUCERS];

bool lock;
byte list[RECEIVERS]; // waiting receivers, the first in line at 0
byte listed;
byte reserved;
bool granted[RECEIVERS];
byte ticket[RECEIVERS]; // order of arrival
byte next_ticket;

bool woken[RECEIVERS];

byte taken_of[PRODUCERS]; // for MSG-3

#define TAKE_LOCK atomic { !lock -> lock = true }

// A release: what the owner stored before is visible first.
#define GIVE_LOCK_OF_PRODUCER(p)                                               \
    atomic { buffer_slot[p] == 0 -> CHECK_LIST; lock = false }
#define GIVE_LOCK                                                              \
    atomic { CHECK_LIST; lock = false }
#define CHECK_LIST                                                             \
    assert(listed == 0 || (word & WAITING)); /* W1 */                          \
    assert(reserved == granted[0] + granted[1]) /* W2 */

inline drain(p)
{
    slot[buffer_slot[p] - 1] = buffer_value[p];
    buffer_slot[p] = 0;
    buffer_value[p] = 0
}

// Keeps the list in order of arrival: one that comes back keeps its place.
inline enlist(r)
{
    k = listed;
    do
    :: k > 0 && ticket[list[k - 1]] > ticket[r] ->
        list[k] = list[k - 1];
        k--
    :: else -> break
    od;
    list[k] = r;
    listed++;
    k = 0
}

#ifdef BUG_GRANT_PUBLISHED
#define MAY_GRANT (slot[head] != 0)
#else
#define MAY_GRANT true
#endif

// Lock held. `wakes` collects the bits of those to be woken.
inline settle(wakes)
{
    d_step {
        k = 0;
        do
        :: listed > 0 && INDEX(word) > head + reserved && MAY_GRANT ->
            granted[list[0]] = true;
            reserved++;
            wakes = wakes | (1 << list[0]);
            listed--;
            k = 0;
            do
            :: k < listed -> list[k] = list[k + 1]; k++
            :: else -> list[k] = 0; break
            od;
            k = 0;
#ifdef BUG_GRANT_ONE
            break
#endif
        :: else -> break
        od
    };
#ifdef BUG_CLEAR_WAITING
    d_step { word = word & ~WAITING }
#else
    if
    :: listed == 0 -> d_step { word = word & ~WAITING }
    :: else
    fi
#endif
}

inline barrier()
{
#ifndef BUG_NO_BARRIER
    d_step {
        k = 0;
        do
        :: k < PRODUCERS ->
            if
            :: buffer_slot[k] != 0 -> drain(k)
            :: else
            fi;
            k++
        :: else -> break
        od;
        k = 0
    }
#else
    skip
#endif
}

inline call_wakers(wakes)
{
    d_step {
        k = 0;
        do
        :: k < RECEIVERS ->
            if
            :: wakes & (1 << k) -> woken[k] = true
            :: else
            fi;
            k++
        :: else -> break
        od;
        k = 0;
        wakes = 0
    }
}

inline publish()
{
    atomic {
        buffer_slot[me] == 0 ->
        buffer_slot[me] = INDEX(got) + 1;
        buffer_value[me] = me * SENDS + sent + 1
    }
}

proctype Producer(byte me)
{
    byte got, k, wakes, sent;
    bool must_wake;

    do
    :: sent < SENDS ->
        d_step { got = word; word = word + CLAIM };
#ifdef BUG_CHECK_BEFORE_PUBLISH
        must_wake = (got & WAITING) || stalled;
        publish();
#else
        publish();
#ifdef BUG_NO_STALLED
        must_wake = (got & WAITING);
#else
        must_wake = (got & WAITING) || stalled;
#endif
#endif
        if
        :: must_wake ->
#ifdef BUG_GRANT_PUBLISHED
            buffer_slot[me] == 0; // it sees its own store
#endif
            TAKE_LOCK;
            stalled = false;
            settle(wakes);
            GIVE_LOCK_OF_PRODUCER(me);
            call_wakers(wakes)
        :: else
        fi;
        d_step { got = 0; must_wake = false; sent++ }
    :: else -> break
    od
}

// Compare-and-swap of head from `at`; the message is then this receiver's.
inline take()
{
    d_step {
        if
        :: head == at ->
            value = slot[at];
            assert(value > 0); // MSG-2
            from = (value - 1) / SENDS;
            assert((value - 1) % SENDS == taken_of[from]); // MSG-1, MSG-3
            taken_of[from]++;
            head++;
            from = 0
        :: else -> value = 0
        fi
    }
}

// Lock held: looks by the word that came back, and takes or falls asleep.
inline look_again()
{
    do
    :: asleep || value != 0 -> break
    :: else ->
        at = head;
        if
        :: INDEX(got) <= at + reserved -> asleep = true
        :: else ->
            if
            :: slot[at] != 0 -> take()
            :: else ->
                stalled = true;
                barrier();
                if
                :: slot[at] != 0 -> take()
                :: else -> asleep = true
                fi
            fi
        fi
    od
}

// One poll that may register.
inline poll()
{
    TAKE_LOCK;
    d_step {
        if
        :: granted[me] -> granted[me] = false; reserved--
        :: else -> ticket[me] = next_ticket; next_ticket++; fresh = true
        fi
    };
    if
#ifdef BUG_SETTLES_ON_RETURN
    :: true -> settle(wakes)
#else
    :: fresh -> settle(wakes) // those before us come first
#endif
    :: else
    fi;
    fresh = false;
    d_step { got = word; word = word | WAITING };
#ifdef BUG_NO_RECHECK
    asleep = true;
#else
    look_again();
#endif
    if
    :: asleep -> d_step { enlist(me); asleep = false }
    :: else ->
        if
        :: listed == 0 -> d_step { word = word & ~WAITING }
        :: else
        fi
    fi;
    GIVE_LOCK;
    call_wakers(wakes);
    d_step { got = 0; at = 0 }
}

// Receives one message.
proctype Receiver(byte me)
{
    byte got, at, k, wakes, value, from;
    bool asleep, fresh;

    if
    :: listed + reserved == 0 -> // no waiter, by one load: no lock
        at = head;
        if
        :: at < MESSAGES && slot[at] != 0 -> take()
        :: else
        fi
    :: else
    fi;
    do
    :: value != 0 -> break
    :: else ->
        poll();
        if
        :: value == 0 -> woken[me]; woken[me] = false
        :: else
        fi
    od
}

proctype Memory()
{
end:
    do
    :: atomic { buffer_slot[0] != 0 -> drain(0) }
#if PRODUCERS > 1
    :: atomic { buffer_slot[1] != 0 -> drain(1) }
#endif
#if PRODUCERS > 2
    :: atomic { buffer_slot[2] != 0 -> drain(2) }
#endif
    od
}

init
{
    byte i;

    atomic {
        run Memory();
        i = 0;
        do
        :: i < PRODUCERS -> run Producer(i); i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < RECEIVERS -> run Receiver(i); i++
        :: else -> break
        od
    }
}
