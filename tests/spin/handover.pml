/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a full bounded lane keeps its waiting senders in line.
 *
 * A sender reads tail, then head, and claims by compare-and-swap of tail. If
 * there is no room it registers under the waiter lock: fetch-or of SENDERS
 * into the head word, a second look, and only then into the list. A consumer
 * advances head with one fetch-add; if that fetched SENDERS, it takes the
 * lock and moves waiting messages in, first come first served, while there is
 * room. The waiter wakes up with its message sent: no thread retries. While
 * SENDERS is set, a try_send answers FULL without looking further.
 *
 * Cancelling a waiting send: OK if it was moved in before, otherwise it is
 * unlinked and its message stays out. Close sets CLOSED in the tail word and
 * then refuses those who wait.
 *
 * In the code          here
 *   lane->tail         tail: ticket << 1 | CLOSED
 *   lane->head         head: taken << 1 | SENDERS
 *   slots              slot[], by ticket; the ring's wrapping round is the
 *                      explorer's affair
 *   the waiter lock    lock, and all that is only touched under it:
 *                      list[], listed, status[] of those who wait
 *   a waker            woken[]
 *
 * Invariants
 *   - MSG-1: what was answered OK is received exactly once; the rest never
 *   - MSG-5: no more than CAPACITY inside; FULL is only said when, at one moment
 *        during the call, it was full or someone waited
 *   - MSG-9: no sender waits for ever while there is room
 *   - WAIT-4: a cancelled send is wholly in (OK) or wholly out (CANCELLED)
 *   - WAIT-10: waiters get in in the order in which they came; a try_send that
 *        began while someone waited does not overtake
 *   - CLOSE-1, CLOSE-4, CLOSE-6: waiting senders are refused by close, and none that was
 *        answered OK is lost by it
 */
// check -DCLOSING: no cancels; apart, because close covers a lost wake-up
// check -DROOM_FOR_TWO: two try_sends and a waiting one, capacity 2
// twin BUG_BARGE: room wakes the first waiter, who then tries again
// twin BUG_CANCEL_STAYS_LINKED: cancel forgets to unlink
// twin BUG_CHECK_THEN_REGISTER: no second look after SENDERS is set
// twin BUG_TRY_OVERTAKES: try_send does not look at SENDERS
// twin BUG_HEAD_FIRST -DROOM_FOR_TWO: reads head, then tail: FULL when not full
// twin BUG_MOVE_IN_AFTER_CLOSE -DCLOSING: moving in does not ask for CLOSED
// twin BUG_CLOSE_WAKES_ONE -DCLOSING: close answers the first waiter only

#if defined(ROOM_FOR_TWO)
#define CAPACITY 2
#if defined(FULL)
#define WAITERS 2
#else
#define WAITERS 1
#endif
#define TRIERS 2
#else
#define CAPACITY 1
#if defined(FULL) && !defined(CLOSING)
#define WAITERS 3
#define TRIERS  1
#elif defined(FULL)
#define WAITERS 2
#define TRIERS  2
#else
#define WAITERS 2
#define TRIERS  1
#endif
#endif
#define MESSAGES (WAITERS + TRIERS)

#define CLOSED     1
#define SENDERS    1
#define ONE        2
#define NUMBER(w)  ((w) >> 1)
#define NOT_YET    255

mtype = { PENDING, SENT, CANCELLED, REFUSED, FULL_NOW };

byte tail;
byte head;
byte slot[MESSAGES]; // message + 1, 0 is unpublished

bool lock;
byte list[WAITERS];
byte listed;
mtype status[MESSAGES] = PENDING;
bool woken[WAITERS];

byte arrived[WAITERS] = NOT_YET; // ticket of those who wait, for WAIT-10
byte arrivals;
byte delivered[MESSAGES];
bool saw_full[TRIERS]; // since its try began, for MSG-5

#define TAKE_LOCK atomic { !lock -> lock = true }
#define GIVE_LOCK                                                              \
    atomic { assert(listed == 0 || (head & SENDERS)); lock = false }

#define IS_FULL (NUMBER(tail) - NUMBER(head) >= CAPACITY)

// Compare-and-swap of tail; then `claimed`, and `t` is the ticket.
inline claim()
{
    d_step {
        if
        :: tail == t ->
            assert(NUMBER(tail) - NUMBER(head) < CAPACITY); // MSG-5
            assert(!(tail & CLOSED)); // CLOSE-1
            tail = tail + ONE;
            claimed = true;
            note_full()
        :: else
        fi
    }
}

inline note_full()
{
    if
    :: IS_FULL ->
        k = 0;
        do
        :: k < TRIERS -> saw_full[k] = true; k++
        :: else -> break
        od;
        k = 0
    :: else
    fi
}

inline publish(message)
{
    slot[NUMBER(t)] = message + 1
}

// One try without lock: SENT, FULL_NOW or REFUSED in `answer`.
inline try_send(message)
{
    answer = PENDING;
    do
    :: answer != PENDING -> break
    :: else ->
#ifdef BUG_HEAD_FIRST
        d_step { h = head; behind = (listed > 0) };
        t = tail;
#else
        t = tail;
        d_step { h = head; behind = (listed > 0) };
#endif
        if
        :: t & CLOSED -> answer = REFUSED
#ifndef BUG_TRY_OVERTAKES
        :: !(t & CLOSED) && (h & SENDERS) -> answer = FULL_NOW
        :: !(t & CLOSED) && !(h & SENDERS) &&
#else
        :: !(t & CLOSED) &&
#endif
            NUMBER(t) - NUMBER(h) >= CAPACITY ->
            assert(message < WAITERS || saw_full[message - WAITERS]); // MSG-5
            answer = FULL_NOW
        :: else ->
            claim();
            if
            :: claimed ->
                assert(!behind); // WAIT-10
                publish(message);
                answer = SENT
            :: else
            fi
        fi
    od;
    atomic { t = 0; h = 0; behind = false; claimed = false }
}

// WAIT-10: no thread that came earlier still waits.
inline check_turn(s)
{
    k = 0;
    do
    :: k < WAITERS ->
        assert(arrived[k] == NOT_YET || arrived[k] >= arrived[s]);
        k++
    :: else -> break
    od;
    k = 0;
    arrived[s] = NOT_YET
}

// Lock held. Harmless for one who is not linked.
inline unlink(s)
{
    k = 0;
    do
    :: k == listed || list[k] == s + 1 -> break
    :: else -> k++
    od;
    if
    :: k < listed ->
        do
        :: k + 1 < listed -> list[k] = list[k + 1]; k++
        :: else -> break
        od;
        list[k] = 0;
        listed--
    :: else
    fi;
    k = 0
}

inline clear_if_nobody()
{
    if
    :: listed == 0 -> d_step { head = head & ~SENDERS }
    :: else
    fi
}

// Lock held. Moves waiting messages in while there is room.
inline settle()
{
    do
    :: listed == 0 -> break
    :: else ->
#ifdef BUG_BARGE
        d_step { s = list[0] - 1; unlink(s); wakes = wakes | (1 << s) };
        break
#else
        t = tail;
        h = head;
        if
#ifndef BUG_MOVE_IN_AFTER_CLOSE
        :: t & CLOSED -> break
        :: !(t & CLOSED) && NUMBER(t) - NUMBER(h) >= CAPACITY -> break
#else
        :: NUMBER(t) - NUMBER(h) >= CAPACITY -> break
#endif
        :: else -> claim()
        fi;
        if
        :: claimed ->
            d_step {
                s = list[0] - 1;
                assert(status[s] == PENDING); // WAIT-4
                publish(s);
                check_turn(s);
                unlink(s);
                status[s] = SENT;
                wakes = wakes | (1 << s)
            };
            claimed = false
        :: else
        fi
#endif
    od;
    clear_if_nobody();
    d_step { t = 0; h = 0; s = 0 }
}

inline call_wakers()
{
    d_step {
        k = 0;
        do
        :: k < WAITERS ->
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

// Lock held: takes room or waits. Done when status is no longer PENDING.
inline register()
{
    d_step { h = head; head = head | SENDERS };
    if
    :: arrived[me] == NOT_YET ->
        d_step { arrived[me] = arrivals; arrivals++ }
    :: else
    fi;
    do
    :: atomic { claimed || status[me] != PENDING || waiting -> break }
    :: else ->
        t = tail;
        if
        :: t & CLOSED -> d_step { status[me] = REFUSED; arrived[me] = NOT_YET }
#ifdef BUG_CHECK_THEN_REGISTER
        :: else -> waiting = true
#else
        :: !(t & CLOSED) &&
                (listed > 0 || NUMBER(t) - NUMBER(h) >= CAPACITY) ->
            waiting = true
        :: else -> claim()
#endif
        fi
    od;
    if
    :: claimed ->
        d_step { publish(me); check_turn(me); status[me] = SENT };
        claimed = false
    :: waiting -> d_step { list[listed] = me + 1; listed++; waiting = false }
    :: else
    fi;
    clear_if_nobody();
    atomic { t = 0; h = 0 }
}

proctype Sender(byte me)
{
    byte t, h, k;
    bool claimed, waiting, behind, fickle;
    mtype answer;

    try_send(me);
    if
    :: answer == FULL_NOW -> skip
    :: else -> status[me] = answer; goto done
    fi;
#ifdef BUG_BARGE
retry:
#endif
    TAKE_LOCK;
    register();
    GIVE_LOCK;
#if !defined(CLOSING)
    if
    :: fickle = true
    :: skip
    fi;
#endif
    do
    :: status[me] != PENDING -> break
    :: woken[me] ->
        woken[me] = false;
#ifdef BUG_BARGE
        if
        :: status[me] == PENDING -> goto retry
        :: else
        fi
#endif
    :: fickle && status[me] == PENDING -> // cancels, at any moment
        TAKE_LOCK;
        if
        :: status[me] == PENDING ->
#ifndef BUG_CANCEL_STAYS_LINKED
            d_step { unlink(me) };
            clear_if_nobody();
#endif
            atomic { status[me] = CANCELLED; arrived[me] = NOT_YET }
        :: else
        fi;
        GIVE_LOCK
    od;
done:
    skip
}

proctype Trier(byte me)
{
    byte t, h, k;
    bool claimed, behind;
    mtype answer;

    saw_full[me - WAITERS] = IS_FULL;
    try_send(me);
    atomic { status[me] = answer; saw_full[me - WAITERS] = true }
}

proctype Consumer()
{
    byte got, t, h, k, s, wakes;
    bool claimed;

end:
    do
    :: NUMBER(head) < MESSAGES && slot[NUMBER(head)] != 0 ->
        d_step { // fetch-add; the message was read before it
            got = head;
            delivered[slot[NUMBER(head)] - 1]++;
            head = head + ONE
        };
        if
        :: got & SENDERS ->
            TAKE_LOCK;
            settle();
            GIVE_LOCK;
            call_wakers()
        :: else
        fi;
        got = 0
    od
}

proctype Closer()
{
    byte k, s, wakes;

    d_step { tail = tail | CLOSED };
    TAKE_LOCK;
    do
    :: listed > 0 ->
        d_step {
            s = list[0] - 1;
            unlink(s);
            arrived[s] = NOT_YET;
            status[s] = REFUSED;
            wakes = wakes | (1 << s)
        }
#ifdef BUG_CLOSE_WAKES_ONE
        ; break
#endif
    :: else -> break
    od;
    clear_if_nobody();
    GIVE_LOCK;
    call_wakers()
}

proctype Judge()
{
    byte k;

    timeout;
    d_step {
        do
        :: k < MESSAGES ->
            assert(status[k] != PENDING);                 // MSG-9, CLOSE-4
            assert(delivered[k] == (status[k] == SENT)); // MSG-1, WAIT-4, CLOSE-6
            k++
        :: else -> break
        od
    }
}

init
{
    byte i;

    atomic {
        run Consumer();
#if defined(CLOSING)
        run Closer();
#endif
        run Judge();
        do
        :: i < WAITERS -> run Sender(i); i++
        :: i >= WAITERS && i < MESSAGES -> run Trier(i); i++
        :: else -> break
        od
    }
}
