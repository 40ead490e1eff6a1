/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting receives: by box, in the order they came; and when the next letter of
 * each such box is due.
 *
 * A box with waiting receives is an lbx__waited_box: a map finds it by its uid,
 * a heap by its due time. A box that may have changed is marked. A batch serves
 * every marked box before it ends: it retries the receives, and asks the rules
 * again when the next letter is due. So a change needs to name only its box.
 *
 * WAITERS-1  A waited box is in the map once and in the heap once.
 * WAITERS-2  One without calls is marked: the next batch removes it.
 * WAITERS-3  The due time of a box is never later than that of a letter in it,
 *            unless the box is marked.
 *
 * Threads    one at a time: the service's lock.
 */
#ifndef LBX_POST_SERVICE_WAITERS_H
#define LBX_POST_SERVICE_WAITERS_H

#include "base/list.h"
#include "base/map.h"
#include "base/minheap.h"
#include "post/service/calls.h"

typedef struct lbx__waited_box {
    uint64_t uid;
    lbx__calls calls;
    lbx__minheap_node due; /* LBX_FOREVER: no letter will be due */
    lbx__link marked;      /* linked: to be served */
} lbx__waited_box;

typedef struct lbx__waiters {
    const lbx_allocator *allocator;
    lbx__map by_uid;
    lbx__minheap by_due;
    lbx__link marked;
    lbx__waited_box *spare; /* the last one removed */
} lbx__waiters;

void lbx__waiters_init(lbx__waiters *waiters, const lbx_allocator *allocator);

/* Releases everything; no call is waiting. */
void lbx__waiters_fini(lbx__waiters *waiters);

/* How many boxes have waiting receives. */
static inline size_t
lbx__waiters_count(const lbx__waiters *waiters)
{
    return waiters->by_uid.count;
}

/* The box, if it is a waited one; NULL. */
lbx__waited_box *lbx__waiters_search(const lbx__waiters *waiters, uint64_t uid);

static inline lbx__waited_box *
lbx__waiters_find(const lbx__waiters *waiters, uint64_t uid)
{
    return lbx__waiters_count(waiters) == 0 ? NULL
                                            : lbx__waiters_search(waiters, uid);
}

/* The same; else a new one, without calls and marked. NULL: no memory. */
lbx__waited_box *lbx__waiters_add_box(lbx__waiters *waiters, uint64_t uid);

/* Removes a box without calls. */
void lbx__waiters_remove_box(lbx__waiters *waiters, lbx__waited_box *box);

/* Marks a box, if it is a waited one; all boxes; those that are due. */
void lbx__waiters_mark(lbx__waiters *waiters, uint64_t uid);
void lbx__waiters_mark_all(lbx__waiters *waiters);
void lbx__waiters_mark_due(lbx__waiters *waiters, int64_t now_ns);

/* Takes one of the marked boxes; NULL when there is none left. */
lbx__waited_box *lbx__waiters_take_marked(lbx__waiters *waiters);

/* Sets when the next letter of a box is due; or only makes it earlier, if the
 * box is a waited one. */
void lbx__waiters_set_due(lbx__waiters *waiters, lbx__waited_box *box,
                          int64_t due_ns);
void lbx__waiters_advance_due(lbx__waiters *waiters, uint64_t uid,
                              int64_t due_ns);

/* Adds a receive at the end; or back where it was, at the front. */
void lbx__waiters_append(lbx__waited_box *box, lbx_call *call);
void lbx__waiters_prepend(lbx__waited_box *box, lbx_call *call);

/* Removes the first receive of a box, NULL when there is none; or this one, and
 * marks its box when it was the last. */
lbx_call *lbx__waiters_pop(lbx__waited_box *box);
void lbx__waiters_remove(lbx__waiters *waiters, lbx_call *call);

/* When the first letter is due. */
static inline int64_t
lbx__waiters_due(const lbx__waiters *waiters)
{
    const lbx__minheap_node *first = lbx__minheap_first(&waiters->by_due);

    return first ? first->key : LBX_FOREVER;
}

/* WAITERS-1 and WAITERS-2, for tests. */
bool lbx__waiters_valid(const lbx__waiters *waiters);

#endif
