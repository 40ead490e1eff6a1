/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of a reservation when its holder gives up.
 *
 * A waiting receive is not handed a message but a reservation; the message
 * stays in its lane until the receive is polled. Between the two the holder
 * may cancel or time out, the mailbox may be suspended, and a try_receive
 * that was already past its check may take the message. In each case the
 * reservation goes back, and the receive that still waits keeps its place:
 * it is put back into the list by its ticket, which it drew when it arrived.
 *
 * Everything a receive does after its first look is under the waiter lock: it
 * gives its reservation back first, then takes, waits again or leaves; one
 * that leaves without a message settles, that is, passes on what is free now.
 *
 * The lane is wakeup.pml's, coarser: stores are visible at once and what is
 * done under the lock is one step, waking included. How such a step races
 * with producers is wakeup.pml's question, and a late waker is like a slow
 * receiver; here it is about what happens between the steps.
 *
 * In the code            here
 *   lane->tail           word: index << 1 | WAITING
 *   lane->head           head
 *   the one load that    listed + reserved, and suspended
 *     tells nobody waits
 *   operation cancel     cancel()
 *   a poll past its      poll(true), which leaves where it would wait
 *     deadline
 *   the waiter lock      atomic; what is only touched under it is list[],
 *                        listed, reserved, granted[], suspended
 *
 * Invariants
 *   - MSG-1: a message is taken at most once, and by one who was owed one
 *   - MSG-9: at rest no thread waits while a message is there and nothing is held
 *        back by suspension
 *   - MSG-10: a reservation whose holder gives up goes to the next in line
 *   - WAIT-3: giving up takes nothing: the message is still in its lane
 *   - WAIT-10: reservations are given in order of arrival, also to those who had
 *        to come back; a try_receive that began when someone waited takes
 *        nothing that was promised
 * SUSPEND-1  under the lock, nothing is taken while the mailbox is suspended
 */
// check -DSUSPENSION: one suspends and resumes meanwhile
// check -DOVERTAKING: two try_receives under way, two receivers
// twin BUG_GRANT_DROPPED: cancel gives back and wakes no other
// twin BUG_GRANT_LEAKED: cancel forgets that it holds a reservation
// twin BUG_TIMEOUT_DROPS: a poll past its deadline leaves without settling
// twin BUG_TAKE_BEFORE_GIVING_BACK: takes first, then gives back
// twin BUG_RESUME_ALONE -DSUSPENSION: resume does not settle
// twin BUG_SUSPENDED_GRANT -DSUSPENSION: poll does not ask for suspension
// twin BUG_VERY_FRONT -DOVERTAKING: who comes back goes before everyone
// twin BUG_TRY_OVERTAKES -DOVERTAKING: try_receive does not ask who waits

#if defined(SUSPENSION)
#define PRODUCERS  2
#define THIEVES    0
#define SUSPENDERS 1
#elif defined(OVERTAKING)
#define PRODUCERS  2
#define THIEVES    2
#define SUSPENDERS 0
#elif defined(FULL)
#define PRODUCERS  3
#define THIEVES    0
#define SUSPENDERS 0
#else
#define PRODUCERS  2
#define THIEVES    0
#define SUSPENDERS 0
#endif
#if defined(FULL) || !(defined(SUSPENSION) || defined(OVERTAKING))
#define RECEIVERS 3
#else
#define RECEIVERS 2
#endif

#define WAITING  1
#define CLAIM    2
#define INDEX(w) ((w) >> 1)

byte word;
byte head;
bool slot[PRODUCERS]; // published
bool stalled;
bool suspended;

byte list[RECEIVERS];
byte listed;
byte reserved;
bool granted[RECEIVERS];
byte ticket[RECEIVERS];
byte next_ticket;

bool woken[RECEIVERS];

inline drop_first()
{
    listed--;
    k = 0;
    do
    :: k < listed -> list[k] = list[k + 1]; k++
    :: else -> list[k] = 0; break
    od;
    k = 0
}

inline unlink(r)
{
    k = 0;
    do
    :: list[k] == r -> break
    :: else -> k++
    od;
    listed--;
    do
    :: k < listed -> list[k] = list[k + 1]; k++
    :: else -> list[k] = 0; break
    od;
    k = 0
}

// Keeps the list in order of arrival.
inline enlist(r)
{
    k = listed;
    do
#ifdef BUG_VERY_FRONT
    :: k > 0 && (again || ticket[list[k - 1]] > ticket[r]) ->
#else
    :: k > 0 && ticket[list[k - 1]] > ticket[r] ->
#endif
        list[k] = list[k - 1];
        k--
    :: else -> break
    od;
    list[k] = r;
    listed++;
    k = 1;
    do
    :: k < listed -> assert(ticket[list[k - 1]] < ticket[list[k]]); k++ // WAIT-10
    :: else -> break
    od;
    k = 0
}

// Lock held.
inline settle()
{
    do
    :: listed > 0 && !suspended && INDEX(word) > head + reserved ->
        granted[list[0]] = true;
        reserved++;
        woken[list[0]] = true;
        drop_first()
    :: else -> break
    od;
    clear_if_nobody()
}

inline clear_if_nobody()
{
    if
    :: listed == 0 -> word = word & ~WAITING
    :: else
    fi;
    assert(listed == 0 || (word & WAITING))
}

proctype Producer(byte me)
{
    byte got, k;

#ifdef OVERTAKING
    d_step { got = word; word = word + CLAIM; slot[INDEX(got)] = true };
#else
    d_step { got = word; word = word + CLAIM };
    slot[INDEX(got)] = true;
#endif
    if
    :: (got & WAITING) || stalled -> d_step { stalled = false; settle() }
    :: else
    fi
}

// Compare-and-swap of head from `at`.
inline take()
{
    if
    :: head == at ->
        assert(at < INDEX(word) && slot[at]); // MSG-1
        head++;
        got_one = true
    :: else
    fi
}

// Lock held. Gives back what it holds, or its place, for a second look.
inline come_back()
{
    if
    :: granted[me] -> granted[me] = false; reserved--; again = true
    :: !granted[me] && asleep -> unlink(me); again = true
    :: else -> ticket[me] = next_ticket; next_ticket++
    fi;
    asleep = false
}

// Lock held: takes, or says that there is nothing to take.
inline look(late)
{
    if
#ifdef BUG_SUSPENDED_GRANT
    :: INDEX(word) <= head + reserved -> nothing = true
#else
    :: suspended || INDEX(word) <= head + reserved -> nothing = true
#endif
    :: else ->
        if
        :: slot[head] ->
            assert(!suspended); // SUSPEND-1
            at = head;
            take()
        :: else -> stalled = stalled || !late; nothing = true
        fi
    fi
}

// A poll. `late`: past its deadline, so that it leaves and does not wait.
inline poll(late)
{
#ifdef BUG_TAKE_BEFORE_GIVING_BACK
    d_step {
        if
        :: granted[me] && head < INDEX(word) && slot[head] -> at = head; take()
        :: else
        fi
    };
#endif
    d_step {
        come_back();
        if
        :: !again -> settle() // those before us come first
        :: else
        fi;
        if
        :: !got_one -> look(late)
        :: else
        fi;
        if
        :: nothing && !late -> enlist(me); word = word | WAITING; asleep = true
        :: nothing && late ->
            left = true;
#ifdef BUG_TIMEOUT_DROPS
            clear_if_nobody()
#else
            settle()
#endif
        :: else -> clear_if_nobody()
        fi;
        nothing = false;
        again = false;
        at = 0
    }
}

inline cancel()
{
    d_step {
        if
        :: granted[me] ->
            granted[me] = false;
#ifndef BUG_GRANT_LEAKED
            reserved--
#endif
        :: else -> unlink(me)
        fi;
        asleep = false;
        left = true;
#ifdef BUG_GRANT_DROPPED
        clear_if_nobody()
#else
        settle()
#endif
    }
}

proctype Receiver(byte me)
{
    byte at, k;
    bool asleep, again, nothing, got_one, left;

    poll(false);
    do
    :: got_one || left -> break
    :: else ->
        if
        :: true -> // patient
end:
            woken[me];
            woken[me] = false;
            poll(false)
        :: cancel() // now, granted or not
#ifndef OVERTAKING
        :: poll(true)
#endif
        fi
    od
}

// try_receive, once.
proctype Thief()
{
    byte at, k;
    bool got_one, promised;

    promised = (listed + reserved > 0 || suspended); // one load
    if
#ifdef BUG_TRY_OVERTAKES
    :: true ->
#else
    :: !promised ->
#endif
        at = head;
        if
        :: at < PRODUCERS && slot[at] -> d_step { take() }
        :: else
        fi;
        atomic {
            assert(!got_one || !promised); // WAIT-10
            at = 0;
            promised = false;
            got_one = false
        }
    :: else ->
        d_step {
            settle();
            if
            :: !suspended && INDEX(word) > head + reserved && slot[head] ->
                at = head;
                take()
            :: else
            fi;
            at = 0;
            promised = false;
            got_one = false
        }
    fi
}

proctype Suspender()
{
    byte k;

    suspended = true;
    d_step {
        suspended = false;
#ifndef BUG_RESUME_ALONE
        settle()
#endif
    }
}

proctype Judge()
{
    timeout;
    assert(reserved == 0);                         // MSG-10
    assert(listed == 0 || head == INDEX(word))     // MSG-9
}

init
{
    byte i;

    atomic {
        run Judge();
        do
        :: i < PRODUCERS -> run Producer(i); i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < RECEIVERS -> run Receiver(i); i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < THIEVES -> run Thief(); i++
        :: else -> break
        od;
#if SUSPENDERS
        run Suspender();
#endif
        i = 0
    }
}
