/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How wakers are called without a lock, and cancel still means over.
 *
 * A thread that settles collects the waiters it has to wake on a ready list
 * of its own; the links are the operations', so the list too belongs to the
 * waiter lock. It then calls them one by one: under the lock it takes the
 * first off its list and points operation->call to a record on its stack;
 * without the lock it runs the callback; under the lock again it lets go of
 * the operation with call = NULL, its last touch.
 *
 * Cancel (and fini, and a final poll) unlinks the operation from wherever it
 * is linked, also from the ready list of another thread. If its callback is
 * running in another thread, it waits until call is NULL. If it is running in
 * this thread, further up this very stack, it does not wait: it marks the
 * record gone, and the caller will not touch the operation again.
 *
 * A callback may poll its operation anew, and so may another thread while the
 * callback still runs. Should a second thread then have to wake it, it finds
 * call taken and only sets `again`: the first thread, before it lets go, calls
 * once more. So there is never more than one record per operation.
 *
 * In the code             here
 *   the waiter lock       d_step and atomic
 *   operation->call       call[], record + 1 or 0
 *   a waiter's link       linked[] in the mailbox, ready[] in a ready list
 *   a record on a stack   gone[]; two per thread, as callbacks nest
 *   freeing the memory    alive[] = false; every touch asserts it
 *   "one thread at a      busy[]: what the header asks of callers
 *    time"
 *
 * Invariants
 *   - WAIT-5: after cancel has returned, no callback of the operation starts or is
 *       running, except one further up its own stack
 *   - WAIT-6: a callback runs at most once per PENDING poll, with no lock held, and
 *       may poll or cancel its own and other operations
 *   K1  no operation is touched after its end
 *   K2  no deadlock: at rest nobody is inside a call
 *   K3  a wake-up is not forgotten: at rest nobody is ready or due again
 *
 * Caveat, shown by the last twin: two callbacks in two threads that cancel
 * each other's operation wait for each other, like two threads that join each
 * other. So callbacks here cancel operations of higher number only.
 */
// check -DNESTED: a callback that wakes others, whose callbacks run inside it
// check -DBATCHES: three operations on two ready lists
// twin BUG_NO_WAIT: cancel returns while the callback runs elsewhere
// twin BUG_WAITS_FOR_ITSELF: cancel inside its own callback waits for its end
// twin BUG_SELF_BY_RECORD -DNESTED: knows itself only in the innermost call
// twin BUG_GONE_IGNORED: the caller lets go of an operation that is gone
// twin BUG_TOUCH_AFTER: one more look at the operation after call = NULL
// twin BUG_STAYS_READY: cancel leaves the operation on the ready list
// twin BUG_CALL_OVERWRITTEN: the second waker takes call for itself
// twin BUG_AGAIN_FORGOTTEN: lets go without looking at `again`
// twin BUG_POLL_DETACHES: a poll in its own callback lets go of the record
// twin BUG_WAITS_FOR_BATCH -DBATCHES: waits also for what has not begun
// twin CAVEAT_EACH_OTHER: two callbacks that cancel each other's operation

#ifdef NESTED
#define OPERATIONS 2
#define OWNERS     0
#elif defined(BATCHES)
#define OPERATIONS 3
#define OWNERS     0
#else
#define OPERATIONS 2
#define OWNERS     2
#endif
#define THREADS 2
#ifdef FULL
#define PASSES 2
#define POLLS  2
#else
#define PASSES 1
#define POLLS  1
#endif

#define RECORD(thread, depth) ((thread) * 2 + (depth))
#define THREAD_OF(r)          ((r) / 2)
#define NONE                  255

bool linked[OPERATIONS];
byte ready[OPERATIONS]; // record + 1
byte call[OPERATIONS];  // record + 1
bool again[OPERATIONS];
bool gone[THREADS * 2];

bool armed[OPERATIONS]; // a PENDING poll that was not answered by a call
bool alive[OPERATIONS];
bool busy[OPERATIONS];
byte runner[OPERATIONS]; // thread + 1 that runs its callback
byte polls_left = POLLS;

#define TOUCH(o) assert(alive[o]) /* K1 */

// A poll that answers PENDING.
inline poll(o)
{
    d_step {
        TOUCH(o);
        linked[o] = true;
        ready[o] = 0;
        again[o] = false;
        armed[o] = true;
#ifdef BUG_POLL_DETACHES
        if
        :: call[o] != 0 && THREAD_OF(call[o] - 1) == me ->
            gone[call[o] - 1] = true;
            call[o] = 0
        :: else
        fi
#endif
    }
}

// Cancel by thread `me`, and then the memory is gone.
inline cancel(o)
{
#ifdef BUG_WAITS_FOR_BATCH
    ready[o] == 0 || THREAD_OF(ready[o] - 1) == me;
#endif
    d_step {
        TOUCH(o);
        linked[o] = false;
#ifndef BUG_STAYS_READY
        ready[o] = 0;
#endif
        again[o] = false;
        if
#ifdef BUG_WAITS_FOR_ITSELF
        :: false
#else
#ifdef BUG_SELF_BY_RECORD
        :: call[o] == innermost + 1 ->
#else
        :: call[o] != 0 && THREAD_OF(call[o] - 1) == me ->
#endif
            gone[call[o] - 1] = true;
            call[o] = 0
#endif
        :: else
        fi
    };
#ifndef BUG_NO_WAIT
    call[o] == 0;
#endif
    d_step {
        assert(runner[o] == 0 || runner[o] == me + 1); // WAIT-5
        alive[o] = false;
        armed[o] = false
    }
}

// Lock held: some or all of the waiters must be woken by us.
inline collect(record)
{
    atomic {
        k = 0;
        do
        :: k < OPERATIONS ->
            if
            :: linked[k] ->
                TOUCH(k);
                linked[k] = false;
#ifdef BUG_CALL_OVERWRITTEN
                ready[k] = record + 1
#else
                if
                :: call[k] != 0 -> again[k] = true
                :: else -> ready[k] = record + 1
                fi
#endif
            :: skip
            fi;
            k++
        :: else -> break
        od;
        k = 0
    }
}

// Lock held: the first of our ready list into `o`, NONE if there is none.
inline next(o, record)
{
    d_step {
        o = 0;
        do
        :: o == OPERATIONS -> o = NONE; break
        :: o < OPERATIONS && ready[o] == record + 1 -> break
        :: else -> o++
        od;
        if
        :: o != NONE ->
            TOUCH(o);
            ready[o] = 0;
            call[o] = record + 1;
            gone[record] = false;
            assert(armed[o]); // WAIT-6
            armed[o] = false
        :: else
        fi
    }
}

inline begin(o)
{
    d_step {
        assert(alive[o]);        // WAIT-5
#ifndef BUG_POLL_DETACHES // WAIT-5 is to find it
        assert(runner[o] == 0); // one at a time
#endif
        runner[o] = me + 1
    }
}

// The callback has returned: let go, or call once more.
inline finish(o, record, once_more)
{
    d_step {
        runner[o] = 0;
        once_more = false;
        if
#ifndef BUG_GONE_IGNORED
        :: gone[record] -> gone[record] = false
        :: !gone[record] && again[o] ->
#else
        :: again[o] ->
#endif
#ifndef BUG_AGAIN_FORGOTTEN
            TOUCH(o);
            again[o] = false;
            assert(armed[o]); // WAIT-6
            armed[o] = false;
            once_more = true
#else
            TOUCH(o);
            call[o] = 0
#endif
        :: else ->
            TOUCH(o);
            call[o] = 0;
#ifdef BUG_TOUCH_AFTER
            look = true
#endif
        fi
    };
#ifdef BUG_TOUCH_AFTER
    if
    :: look -> TOUCH(o); look = false
    :: else
    fi
#endif
}

#ifdef CAVEAT_EACH_OTHER
#define MAY_CANCEL(o, p) ((o) != (p))
#else
#define MAY_CANCEL(o, p) ((o) < (p))
#endif

// What users do in a callback: nothing, or something with the operation
// itself, or end another one.
inline body(o, p)
{
    if
    :: skip
    :: atomic {
            alive[o] && !busy[o] && polls_left > 0 ->
            busy[o] = true;
            polls_left--
        };
        poll(o);
        busy[o] = false
    :: atomic { alive[o] && !busy[o] -> busy[o] = true };
        cancel(o);
        busy[o] = false
    :: atomic {
            p = 0;
            do
            :: p + 1 < OPERATIONS -> p++
            :: break
            od;
            if
            :: MAY_CANCEL(o, p) && alive[p] && !busy[p] -> busy[p] = true
            :: else -> p = NONE
            fi
        };
        if
        :: p != NONE -> cancel(p); busy[p] = false
        :: else
        fi;
        p = 0
    fi
}

proctype Waker(byte me)
{
    byte o, p, k, passes;
    bool once_more;
#ifdef NESTED
    byte inner;
    bool inner_more;
#endif
#ifdef BUG_SELF_BY_RECORD
    byte innermost;
#endif
#ifdef BUG_TOUCH_AFTER
    bool look;
#endif

    do
    :: passes == PASSES -> break
    :: else ->
        collect(RECORD(me, 0));
        do
        :: true ->
            next(o, RECORD(me, 0));
            if
            :: o == NONE -> o = 0; break
            :: else
            fi;
            do
            :: true ->
                begin(o);
#ifdef BUG_SELF_BY_RECORD
                innermost = RECORD(me, 0);
#endif
#ifdef NESTED
                if
                :: skip
                :: true -> // sends a message, which wakes others
                    collect(RECORD(me, 1));
                    do
                    :: true ->
                        next(inner, RECORD(me, 1));
                        if
                        :: inner == NONE -> inner = 0; break
                        :: else
                        fi;
#ifdef BUG_SELF_BY_RECORD
                        innermost = RECORD(me, 1);
#endif
                        do
                        :: true ->
                            begin(inner);
                            if
                            :: skip
                            :: atomic {
                                    alive[o] && !busy[o] -> busy[o] = true
                                };
                                cancel(o); // the outer one
                                busy[o] = false
                            :: atomic {
                                    alive[inner] && !busy[inner] ->
                                    busy[inner] = true
                                };
                                cancel(inner);
                                busy[inner] = false
                            fi;
                            finish(inner, RECORD(me, 1), inner_more);
                            if
                            :: inner_more -> inner_more = false
                            :: else -> break
                            fi
                        od
                    od
                fi;
#ifdef BUG_SELF_BY_RECORD
                innermost = RECORD(me, 0);
#endif
#endif
                body(o, p);
                finish(o, RECORD(me, 0), once_more);
                if
                :: once_more -> once_more = false
                :: else -> break
                fi
            od
        od;
        passes++
    od
}

// The thread that started operation `o`.
proctype Owner(byte o)
{
    byte me = THREADS + o;
#ifdef BUG_SELF_BY_RECORD
    byte innermost = NONE - 1;
#endif

    if
    :: skip
    :: atomic {
            alive[o] && !busy[o] && polls_left > 0 ->
            busy[o] = true;
            polls_left--
        };
        poll(o);
        busy[o] = false
    fi;
    if
    :: skip // leaves its end to the callback
    :: atomic { alive[o] && !busy[o] -> busy[o] = true };
        cancel(o);
        busy[o] = false
    fi
}

proctype Judge()
{
    byte k;

    timeout;
    d_step {
        do
        :: k < OPERATIONS -> assert(!busy[k]); k++ // K2
        :: else -> break
        od;
        k = 0;
        do
        :: k < OPERATIONS ->
            // K3
            assert(!alive[k] || (ready[k] == 0 && !again[k] && call[k] == 0));
            assert(!alive[k] || linked[k] || !armed[k]);
            k++
        :: else -> break
        od
    }
}

init
{
    byte i;

    atomic {
        do
        :: i < OPERATIONS ->
            alive[i] = true;
            linked[i] = true;
            armed[i] = true;
            i++
        :: else -> break
        od;
        run Judge();
        i = 0;
        do
        :: i < THREADS -> run Waker(i); i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < OWNERS -> run Owner(i); i++
        :: else -> break
        od;
        i = 0
    }
}
