/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an unbounded lane is closed while others send and receive.
 *
 * Close is one compare-and-swap on the tail word: it sets CLOSED and copies
 * the index into the word's end field, the frozen end. A fetch-add before it
 * is a claim that will be delivered; one after it fetches CLOSED, is void,
 * and its message stays with the sender. Void claims move the index on, so
 * that nothing after close may look at the index: the end is the end.
 *
 * A receiver is told CLOSED when head has reached the end. Until then it
 * takes, or waits: behind a claim that is not published yet, or for a message
 * that another waiter was promised. Whoever holds the waiter lock settles,
 * which after close also means: once all is drained, wake everyone.
 *
 * The grain is cancel.pml's: what is done under the waiter lock is one step.
 *
 * In the code          here
 *   lane->tail         index, CLOSED, end, WAITING: one word, one step
 *   lane->head         head
 *   slots              slot[], sender + 1
 *   the waiter lock    d_step around list[], listed, reserved, granted[]
 *   a waker            woken[]
 *
 * Invariants
 *   - CLOSE-1: after a close has returned, sends are refused
 *   - CLOSE-2: what was accepted is received, and only then CLOSED
 *   - CLOSE-4: everyone who waits wakes, and is told CLOSED or gets a message
 *   - CLOSE-5: closing twice, and at the same time, is harmless
 *   - CLOSE-6: no send that was answered OK is lost; MSG-1: or received twice
 *   close ends suspension
 */
// check -DTWO_CLOSERS: at the same time, or one after the other
// twin BUG_END_BEFORE_FLAG: reads the end, then sets CLOSED
// twin BUG_FLAG_BEFORE_END: sets CLOSED, then reads the end
// twin BUG_DRAINED_BY_INDEX: drained when head reaches the index
// twin BUG_CLOSED_TOO_SOON: CLOSED while a claim is not published yet
// twin BUG_WAKES_ONE: wakes the first waiter only
// twin BUG_LAST_TAKER_SILENT: takes the last message and wakes no other
// twin BUG_TOLD_CLOSED_SILENT: gives back, gets CLOSED, wakes no other
// twin BUG_OLD_WORD: registers by a word from before the lock
// twin BUG_STAYS_SUSPENDED: close leaves the mailbox suspended
// twin BUG_SECOND_END -DTWO_CLOSERS: a second close moves the end

#if defined(TWO_CLOSERS)
#define PRODUCERS 2
#define RECEIVERS 1
#define CLOSERS   2
#define THIEVES   0
#elif defined(FULL)
#define PRODUCERS 2
#define RECEIVERS 3
#define CLOSERS   1
#define THIEVES   1
#else
#define PRODUCERS 2
#define RECEIVERS 2
#define CLOSERS   1
#define THIEVES   1
#endif

// The tail word.
byte index;
bool waiting;
bool closed;
byte last; // the frozen end

byte head;
byte slot[PRODUCERS];
bool stalled;

bool suspended;
byte list[RECEIVERS];
byte listed;
byte reserved;
bool granted[RECEIVERS];
bool woken[RECEIVERS];

bool accepted[PRODUCERS];
byte delivered[PRODUCERS];
bool close_returned;

#define LIMIT   (closed -> last : index)
#ifdef BUG_DRAINED_BY_INDEX
#define DRAINED (closed && head == index)
#else
#define DRAINED (closed && head == last)
#endif

inline drop_first()
{
    woken[list[0]] = true;
    listed--;
    k = 0;
    do
    :: k < listed -> list[k] = list[k + 1]; k++
    :: else -> list[k] = 0; break
    od;
    k = 0
}

// Lock held.
inline settle()
{
    do
    :: listed > 0 && !suspended && LIMIT > head + reserved ->
        granted[list[0]] = true;
        reserved++;
        drop_first()
    :: else -> break
    od;
    do
    :: listed > 0 && DRAINED ->
        drop_first();
#ifdef BUG_WAKES_ONE
        break
#endif
    :: else -> break
    od;
    waiting = (listed > 0)
}

proctype Producer(byte me)
{
    byte mine, k;
    bool saw_waiting, refused;

    d_step { // fetch-add
        mine = index;
        saw_waiting = waiting;
        refused = closed;
        index++;
        assert(refused || !close_returned); // CLOSE-1
        accepted[me] = !refused
    };
    if
    :: refused
    :: else ->
        slot[mine] = me + 1;
        if
        :: saw_waiting || stalled -> d_step { stalled = false; settle() }
        :: else
        fi
    fi;
    d_step { mine = 0; saw_waiting = false; refused = false }
}

inline take()
{
    assert(slot[head] > 0);
    delivered[slot[head] - 1]++;
    assert(delivered[slot[head] - 1] == 1); // MSG-1
    head++
}

proctype Receiver(byte me)
{
    byte k;
    bool told_closed, got_one, nothing, again;
#ifdef BUG_OLD_WORD
    bool was_closed;
    byte old_limit;
#endif

    do
    :: told_closed || got_one -> break
    :: else ->
#ifdef BUG_OLD_WORD
        d_step { was_closed = closed; old_limit = LIMIT };
#endif
        d_step {
            if
            :: granted[me] -> granted[me] = false; reserved--
            :: !granted[me] && !again -> settle() // those before us come first
            :: else
            fi;
            again = true;
            if
#ifdef BUG_OLD_WORD
            :: was_closed && head == old_limit -> told_closed = true
            :: !(was_closed && head == old_limit) &&
                !suspended && old_limit > head + reserved ->
#else
            :: DRAINED -> told_closed = true
            :: !DRAINED && !suspended && LIMIT > head + reserved ->
#endif
                if
                :: slot[head] > 0 -> take(); got_one = true
                :: else ->
#ifdef BUG_CLOSED_TOO_SOON
                    told_closed = closed;
#endif
                    stalled = true;
                    nothing = !told_closed
                fi
            :: else -> nothing = true
            fi;
            if
            :: nothing ->
                list[listed] = me;
                listed++;
                waiting = true
            :: got_one ->
#ifdef BUG_LAST_TAKER_SILENT
                waiting = (listed > 0)
#else
                settle()
#endif
            :: told_closed ->
                assert(closed && head == last); // CLOSE-2
#if defined(BUG_TOLD_CLOSED_SILENT) || defined(BUG_WAKES_ONE)
                waiting = (listed > 0)
#else
                settle()
#endif
            fi;
#ifdef BUG_OLD_WORD
            was_closed = false;
            old_limit = 0
#endif
        };
        if
        :: nothing -> woken[me]; atomic { woken[me] = false; nothing = false }
        :: else
        fi
    od
}

// try_receive; its check for waiters is past.
proctype Thief()
{
    byte at;

    if
    :: listed + reserved == 0 && !suspended ->
        at = head;
        if
        :: at < PRODUCERS && slot[at] > 0 ->
            d_step { // compare-and-swap
                if
                :: head == at -> take()
                :: else
                fi;
                at = 0
            }
        :: else -> at = 0
        fi
    :: else
    fi
}

#ifdef BUG_SECOND_END
#define SEEN_CLOSED false
#else
#define SEEN_CLOSED closed
#endif

proctype Closer()
{
    byte seen, k;
    bool seen_waiting, done;

#ifdef BUG_END_BEFORE_FLAG
    seen = index;
    d_step {
        if
        :: !closed -> closed = true; last = seen
        :: else
        fi
    };
#else
#ifdef BUG_FLAG_BEFORE_END
    d_step { done = closed; closed = true };
    if
    :: !done -> last = index
    :: else
    fi;
#else
    do
    :: done -> break
    :: else ->
        d_step { seen = index; seen_waiting = waiting; done = SEEN_CLOSED };
        if
        :: done // closed before, by another
        :: else ->
            d_step { // compare-and-swap
                if
                :: index == seen && waiting == seen_waiting && !SEEN_CLOSED ->
                    closed = true;
                    last = seen;
                    done = true
                :: else
                fi
            }
        fi
    od;
#endif
#endif
    atomic {
#ifndef BUG_STAYS_SUSPENDED
        suspended = false;
#endif
        settle();
        seen = 0;
        seen_waiting = false;
        close_returned = true
    }
}

proctype Judge()
{
    byte k;

    timeout;
    d_step {
        assert(listed == 0); // CLOSE-4
        do
        :: head < last -> take() // what is left can be received
        :: else -> break
        od;
        do
        :: k < PRODUCERS ->
            assert(delivered[k] == accepted[k]); // CLOSE-2, CLOSE-6
            k++
        :: else -> break
        od
    }
}

init
{
    byte i;

    atomic {
        if
        :: suspended = true
        :: skip
        fi;
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
        :: i < CLOSERS -> run Closer(); i++
        :: else -> break
        od;
#if THIEVES
        run Thief();
#endif
        i = 0
    }
}
