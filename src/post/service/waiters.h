/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting receives: by box, in the order they came; and when the next letter of
 * each box that has some is due.
 *
 * A box that is waited on is a lbx__wanted: found by its uid through a hash
 * table, and by its due time through a heap. Those where something may have
 * happened are `stirred`: a turn looks at each of them before it ends, serves
 * who can be served, and asks the rules anew when the next letter is due. So
 * whoever changes a box needs to know only that it has changed.
 *
 * W1  A wanted box is in the table once, in the heap once, at `place`.
 * W2  One without calls is stirred: the next look takes it out.
 * W3  The heap's first has the least due time. A due time is never later than
 *     that of a letter in the box, unless the box is stirred.
 *
 * Threads    one at a time: the service's lock.
 */
#ifndef LBX_POST_WAITERS_H
#define LBX_POST_WAITERS_H

#include "base/list.h"
#include "post/service/calls.h"

typedef struct lbx__wanted {
    uint64_t uid;
    lbx__calls calls;
    int64_t due_ns;           /* LBX_FOREVER: nothing is coming */
    size_t place;             /* in the heap */
    lbx__link stirred;        /* linked: to be looked at */
    struct lbx__wanted *next; /* in its chain of the table */
} lbx__wanted;

typedef struct lbx__waiters {
    const lbx_allocator *allocator;
    lbx__wanted **table; /* `room` chains */
    lbx__wanted **heap;  /* `count` of `room` */
    size_t room;         /* a power of two, or 0 */
    size_t count;
    lbx__link stirred;
    lbx__wanted *spare; /* the last that was not wanted any more */
} lbx__waiters;

void lbx__waiters_init(lbx__waiters *waiters, const lbx_allocator *allocator);

/* Frees everything; no call is waiting. */
void lbx__waiters_fini(lbx__waiters *waiters);

/* The box, when it is waited on; NULL. */
lbx__wanted *lbx__waiters_find(const lbx__waiters *waiters, uint64_t uid);

/* The same; made if need be, without calls, and stirred. NULL: no memory. */
lbx__wanted *lbx__waiters_want(lbx__waiters *waiters, uint64_t uid);

/* Something happened in a box; nothing if nobody waits there. */
void lbx__waiters_stir(lbx__waiters *waiters, uint64_t uid);

/* A letter of a box will be due; nothing if nobody waits there. */
void lbx__waiters_expect(lbx__waiters *waiters, uint64_t uid, int64_t due_ns);

/* In any box; and in all that have a letter due. */
void lbx__waiters_stir_all(lbx__waiters *waiters);
void lbx__waiters_stir_due(lbx__waiters *waiters, int64_t now_ns);

/* Takes one of the stirred; NULL: there is none left. */
lbx__wanted *lbx__waiters_next(lbx__waiters *waiters);

/* Sets when its next letter is due. */
void lbx__waiters_set_due(lbx__waiters *waiters, lbx__wanted *wanted,
                          int64_t due_ns);

/* Takes a box without calls out. */
void lbx__waiters_drop(lbx__waiters *waiters, lbx__wanted *wanted);

/* Puts a receive last, or back where it was: first. */
void lbx__wanted_append(lbx__wanted *wanted, lbx_call *call);
void lbx__wanted_put_back(lbx__wanted *wanted, lbx_call *call);

/* Takes a waiting receive out: the first, NULL when there is none; or this one,
 * and stirs its box when it was the last. */
lbx_call *lbx__wanted_take(lbx__wanted *wanted);
void lbx__waiters_leave(lbx__waiters *waiters, lbx_call *call);

/* When the first letter is due. */
static inline int64_t
lbx__waiters_due(const lbx__waiters *waiters)
{
    return waiters->count ? waiters->heap[0]->due_ns : LBX_FOREVER;
}

/* W1 to W3, for tests. */
bool lbx__waiters_valid(const lbx__waiters *waiters);

#endif
