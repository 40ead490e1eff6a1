/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run queue of one worker: a ring of runnables that others may steal from.
 *
 * Only the worker pushes; the worker and thieves take, by moving the head with
 * a compare-and-swap. Lock-free.
 *
 * RUNQ-1  head <= tail <= head + SIZE. A slot between them is not written.
 * RUNQ-2  A taker reads slots first and moves the head then; if the head had
 *         moved, it discards what it read. A slot is written again only after
 *         the head has passed it.
 * RUNQ-3  The tail is published with seq_cst before the worker reads the number
 *         of sleepers; a worker that goes to sleep raises that number first and
 *         reads the tail then (DISP-2).
 */
#ifndef LBX_ACTOR_DISPATCH_RUN_QUEUE_H
#define LBX_ACTOR_DISPATCH_RUN_QUEUE_H

#include "actor/dispatch/runnable.h"

#ifdef LBX_SYSTEMATIC
enum {
    LBX__RUN_QUEUE_SIZE = 4
};
#else
enum {
    LBX__RUN_QUEUE_SIZE = 256
};
#endif

typedef struct lbx__run_queue {
    alignas(2 * LBX__LINE) _Atomic(uint32_t) head;
    alignas(2 * LBX__LINE) _Atomic(uint32_t) tail;
    _Atomic(lbx__runnable *) slots[LBX__RUN_QUEUE_SIZE];
} lbx__run_queue;

/* By the worker; false when full. */
static inline bool
lbx__run_queue_push(lbx__run_queue *queue, lbx__runnable *runnable)
{
    // Relaxed: only this thread writes it.
    uint32_t tail = lbx__load(&queue->tail, relaxed);

    // Acquire: RUNQ-2, the takers' reads come before our write.
    if (tail - lbx__load(&queue->head, acquire) == LBX__RUN_QUEUE_SIZE)
        return false;
    // Relaxed: published by the tail.
    lbx__store(&queue->slots[tail % LBX__RUN_QUEUE_SIZE], runnable, relaxed);
    lbx__store(&queue->tail, tail + 1, seq_cst); // RUNQ-3
    return true;
}

/* The oldest, or NULL. Any thread. */
static inline lbx__runnable *
lbx__run_queue_take(lbx__run_queue *queue)
{
    // Acquire: RUNQ-2, pairs with the takers' compare-and-swap.
    uint32_t head = lbx__load(&queue->head, acquire);

    for (;;) {
        lbx__runnable *runnable;

        // Acquire and seq_cst: the slots, and RUNQ-3.
        if (head == lbx__load(&queue->tail, seq_cst))
            return NULL;
        runnable =
            lbx__load(&queue->slots[head % LBX__RUN_QUEUE_SIZE], relaxed);
        if (lbx__cas(&queue->head, &head, head + 1, acq_rel))
            return runnable;
    }
}

/* Moves half of `from`, at least one, to the worker's own empty `to`; returns
 * the oldest, or NULL. */
static inline lbx__runnable *
lbx__run_queue_steal(lbx__run_queue *from, lbx__run_queue *to,
                     uint64_t *ret_count)
{
    uint32_t mine = lbx__load(&to->tail, relaxed);
    // Acquire: as in take.
    uint32_t head = lbx__load(&from->head, acquire);

    for (;;) {
        uint32_t count = lbx__load(&from->tail, seq_cst) - head;
        lbx__runnable *first;

        if (count == 0)
            return NULL;
        if (count > LBX__RUN_QUEUE_SIZE) { // the head we saw is outdated
            head = lbx__load(&from->head, acquire);
            continue;
        }
        count -= count / 2;
        first = lbx__load(&from->slots[head % LBX__RUN_QUEUE_SIZE], relaxed);
        for (uint32_t i = 1; i < count; i++)
            lbx__store(&to->slots[(mine + i - 1) % LBX__RUN_QUEUE_SIZE],
                       lbx__load(&from->slots[(head + i) % LBX__RUN_QUEUE_SIZE],
                                 relaxed),
                       relaxed);
        if (lbx__cas(&from->head, &head, head + count, acq_rel)) {
            lbx__store(&to->tail, mine + count - 1, seq_cst); // RUNQ-3
            *ret_count += count;
            return first;
        }
    }
}

/* How many there are: a statistic. */
static inline uint32_t
lbx__run_queue_count(lbx__run_queue *queue)
{
    // Relaxed, both, and the head first: RUNQ-1, at most too many.
    uint32_t head = lbx__load(&queue->head, relaxed);
    uint32_t count = lbx__load(&queue->tail, relaxed) - head;

    return count < LBX__RUN_QUEUE_SIZE ? count : LBX__RUN_QUEUE_SIZE;
}

static inline bool
lbx__run_queue_is_empty(lbx__run_queue *queue)
{
    // seq_cst: RUNQ-3. The head first: a tail that is loaded later and equals
    // it was the end of an empty queue.
    uint32_t head = lbx__load(&queue->head, seq_cst);
    uint32_t tail = lbx__load(&queue->tail, seq_cst);

    return head == tail;
}

#endif
