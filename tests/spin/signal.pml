/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A signal: notify wakes the first in line, or leaves one permit.
 *
 * One word holds PERMIT and WAITING. Notify is a compare-and-swap that sets
 * PERMIT, also if it is set already; with WAITING it takes the waiter lock
 * instead and wakes the first waiter. A wait takes the permit or registers:
 * under the lock, a second look and WAITING in one compare-and-swap. A wait
 * that was notified and is then cancelled passes the notification on: to the
 * next in line, or into the permit.
 *
 * Why notify must write even what is there: it is also the promise that what
 * was done before it will be seen. A mere load that finds PERMIT may run
 * before our own earlier store is visible; the waiter then takes the permit,
 * looks, sees nothing, and is not woken again. The check with READER has a
 * store buffer per notifier for this; releasing operations empty it.
 *
 * In the code          here
 *   signal->word       word
 *   the waiter lock    lock; under it list[], listed, notified[]
 *   a message, say     visible[], through buffered[]
 *
 * Invariants
 *   - MSG-9: at rest no thread waits beside a permit; a reader that waits and looks
 *        in turn sees everything
 *   - MSG-10: a notification is never lost: if no wait got it, the permit has it
 * SIGWAIT-1  no more waits end well than there were notifies
 * SIGWAIT-2  one permit, however many notifies
 *   - WAIT-10: waiters are notified in order of arrival
 */
// check -DREADER: one reader that must see what each notifier did before
// twin BUG_CANCEL_EATS: a cancelled wait keeps its notification
// twin BUG_NO_RECHECK: registers without a second look at PERMIT
// twin BUG_PERMIT_BESIDE_WAITER: notify leaves a permit though someone waits
// twin BUG_RELAXED_PERMIT -DREADER: leaves it to the lock to release
// twin BUG_PLAIN_LOAD -DREADER: notify only reads when the permit is there

#if defined(READER)
#define WAITERS   1
#define NOTIFIERS 2
#elif defined(FULL)
#define WAITERS   3
#define NOTIFIERS 3
#else
#define WAITERS   2
#define NOTIFIERS 2
#endif

#define PERMIT  1
#define WAITING 2

byte word;
bool lock;
byte list[WAITERS];
byte listed;
bool notified[WAITERS];
bool woken[WAITERS];

byte notifies;
byte ended_well;

bool buffered[NOTIFIERS];
bool visible[NOTIFIERS];

#define TAKE_LOCK atomic { !lock -> lock = true }
#define GIVE_LOCK                                                              \
    atomic { assert(listed == 0 || (word & WAITING)); lock = false }

// Lock held: to the first in line, or into the permit.
inline hand_over()
{
    d_step {
        if
        :: listed > 0 ->
            first = list[0];
            notified[first] = true;
            listed--;
            k = 0;
            do
            :: k < listed -> list[k] = list[k + 1]; k++
            :: else -> list[k] = 0; break
            od;
            k = 0;
            wake = true;
            if
            :: listed == 0 -> word = word & ~WAITING
            :: else
            fi
        :: else -> word = word | PERMIT
        fi
    }
}

inline call_waker()
{
    if
    :: wake -> atomic { woken[first] = true; wake = false; first = 0 }
    :: else
    fi
}

inline notify()
{
    do
    :: true ->
        seen = word;
        if
#ifdef BUG_PLAIN_LOAD
        :: seen & PERMIT -> break
#endif
#ifndef BUG_PERMIT_BESIDE_WAITER
        :: seen & WAITING ->
            TAKE_LOCK;
#ifndef BUG_RELAXED_PERMIT
            if
            :: listed == 0 -> !buffered[me] // setting PERMIT is a release
            :: else
            fi;
#endif
            hand_over();
            !buffered[me]; // and so is giving the lock back
            GIVE_LOCK;
            call_waker();
            break
#endif
        :: else ->
            d_step { // compare-and-swap; empties the store buffer
                if
                :: buffered[me] -> buffered[me] = false; visible[me] = true
                :: else
                fi;
                if
                :: word == seen -> word = word | PERMIT; swapped = true
                :: else
                fi
            };
            if
            :: swapped -> swapped = false; break
            :: else
            fi
        fi
    od;
    seen = 0
}

proctype Notifier(byte me)
{
    byte seen, k, first;
    bool wake, swapped;

#ifdef READER
    buffered[me] = true; // visible[me], in time
#endif
    notifies++;
    notify()
}

// The permit, by compare-and-swap.
inline take_permit()
{
    d_step {
        if
        :: word & PERMIT -> word = word & ~PERMIT; well = true
        :: else
        fi
    }
}

inline register()
{
    TAKE_LOCK;
#ifndef BUG_NO_RECHECK
    d_step {
        if
        :: word & PERMIT -> word = word & ~PERMIT; well = true
        :: else -> word = word | WAITING
        fi
    };
#else
    word = word | WAITING;
#endif
    if
    :: !well -> d_step { list[listed] = me; listed++ }
    :: else
    fi;
    GIVE_LOCK
}

inline cancel()
{
    TAKE_LOCK;
    if
    :: notified[me] ->
        notified[me] = false;
#ifndef BUG_CANCEL_EATS
        hand_over()
#endif
    :: else ->
        d_step {
            k = 0;
            do
            :: list[k] == me -> break
            :: else -> k++
            od;
            listed--;
            do
            :: k < listed -> list[k] = list[k + 1]; k++
            :: else -> list[k] = 0; break
            od;
            k = 0;
            if
            :: listed == 0 -> word = word & ~WAITING
            :: else
            fi
        }
    fi;
    GIVE_LOCK;
    call_waker();
    cancelled = true
}

inline wait()
{
    take_permit();
    if
    :: !well -> register()
    :: else
    fi;
    do
    :: well || cancelled -> break
    :: else ->
        if
        :: true ->
end:
            woken[me];
            atomic { woken[me] = false; notified[me] = false; well = true }
#ifndef READER
        :: cancel()
#endif
        fi
    od
}

proctype Waiter(byte me)
{
    byte k, first;
    bool well, cancelled, wake;

#ifdef READER
    do
    :: visible[0] && visible[1] -> break
    :: else -> wait(); well = false
    od
#else
    wait();
    if
    :: well -> d_step { ended_well++; assert(ended_well <= notifies) } // SIGWAIT-1
    :: else
    fi
#endif
}

#ifdef READER
proctype Memory()
{
endless:
    do
    :: atomic { buffered[0] -> buffered[0] = false; visible[0] = true }
    :: atomic { buffered[1] -> buffered[1] = false; visible[1] = true }
    od
}
#endif

proctype Judge()
{
    timeout;
    assert(listed == 0 || !(word & PERMIT)); // MSG-9
#ifdef READER
    assert(listed == 0) // MSG-9
#else
    assert(ended_well > 0 || (word & PERMIT)) // MSG-10
#endif
}

init
{
    byte i;

    atomic {
        run Judge();
#ifdef READER
        run Memory();
#endif
        do
        :: i < NOTIFIERS -> run Notifier(i); i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < WAITERS -> run Waiter(i); i++
        :: else -> break
        od;
        i = 0
    }
}
