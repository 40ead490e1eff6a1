/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells: the inside of an actor.
 *
 * A cell is three cache lines: what senders write, what the thread that runs it
 * writes, and the rest. Cells are in chunks that stay until their system is
 * destroyed, so that a stale ref can always be checked. A ref is the cell's
 * address and its generation in one word.
 *
 * Everything that an actor has to do is in one of four: `stop`, the system
 * stack, the orphans (children that have ended), the inbox.
 *
 * CELL-1  The thread that holds `scheduled` owns the cell: the second and third
 *         line, dead or alive, the runnable in the first, and the right to
 *         schedule that once (RUNNABLE-1). Ownership passes on with the
 *         runnable, and is released by storing 0. The value 2 means owned, and
 *         woken since: for an owner whose work is not in its own cell (a
 *         balancer).
 * CELL-2  A thread that adds work adds it first and reads `scheduled` then; an
 *         owner that releases the cell stores 0 first and checks for work then.
 *         All four are seq_cst: no work is left without an owner.
 * CELL-3  The owner raises `generation` when the actor has ended. A node
 *         carries the ref it was sent to; if that does not match the generation
 *         when the node is taken, it is a dead letter. So a sender needs no
 *         lock between its check and its push.
 * CELL-4  A cell is put on the free list only after its parent has released it.
 *         A thread that takes it from there must also win `scheduled`.
 * CELL-5  The inbox: senders swap `tail` and then link the node before theirs
 *         to it; `head` is the node that was taken last. A tail that is not the
 *         head means work, even if the link is not there yet.
 */
#ifndef LBX_ACTOR_CORE_CELL_H
#define LBX_ACTOR_CORE_CELL_H

#include "actor/core/node.h"
#include "actor/dispatch/dispatcher.h"
#include "base/lock.h"
#include <letterbox/actor.h>
#include <stdalign.h>

typedef struct lbx__cell lbx__cell;
typedef struct lbx__facilities lbx__facilities;

typedef enum lbx__phase {
    LBX__PHASE_FREE = 0,
    LBX__PHASE_NEW, /* `start` has not been called */
    LBX__PHASE_ALIVE,
    LBX__PHASE_FAILED,   /* waits for its supervisor */
    LBX__PHASE_STOPPING, /* waits for its children */
    LBX__PHASE_ENDED,    /* waits for its parent to release it */
} lbx__phase;

/* System messages between cells, in a node's `code`. */
enum {
    LBX__CODE_WATCH = 1,
    LBX__CODE_UNWATCH,
    LBX__CODE_FAILURE,   /* from a child; number: the status */
    LBX__CODE_DIRECTIVE, /* from the parent: directive, delay */
    LBX__CODE_RETRY,     /* from its own timer */
    LBX__CODE_SUSPEND,
    LBX__CODE_RESUME,
    LBX__CODE_HOLD,        /* from the parent: an ancestor has failed */
    LBX__CODE_RELEASE,     /* from the parent: it may handle messages again */
    LBX__CODE_OUTGOING,    /* an outgoing message may be accepted */
    LBX__CODE_OUTBOX_LATE, /* the deadline of one has passed */
    LBX__CODE_END_IDLE,    /* to "/user": a thread pool may be idle */
    LBX__CODE_CONTINUE,    /* a pause before a start may be over */
    LBX__CODE_PIPE,        /* an operation of a pipe may be final */
    LBX__CODE_PIPE_LATE,   /* the deadline of one has passed */
};

/* What a cell is used for. */
enum {
    LBX__ROLE_ACTOR = 0,
    LBX__ROLE_GUARDIAN, /* "/user" */
    LBX__ROLE_PROMISE,  /* the sender of an ask */
    LBX__ROLE_BALANCER, /* a pool whose children share its mailbox */
};

/* What a cell's family has decided; the first under its own lock, the second
 * under its parent's. */
enum {
    LBX__FAMILY_BARREN = 1,    /* no more children */
    LBX__FAMILY_CONDEMNED = 2, /* stopped by its parent */
    LBX__FAMILY_CROWDED = 4,   /* a warning was given; by any thread */
};

/* So many messages in an inbox are a crowd; senders look for one each time the
 * number of a message is a multiple of the second. */
enum {
    LBX__CROWD = 10000,
    LBX__CROWD_STEP = 4096,
};

/* crowd.c: warns if there is one. Any thread, without a lock. */
void lbx__crowd_check(lbx__cell *cell);

struct lbx__cell {
    /* Written by senders. */
    alignas(LBX__LINE) lbx__runnable runnable; /* first: see lbx__cell_from() */
    _Atomic(lbx__node *) tail;
    _Atomic(uint32_t) scheduled;
    _Atomic(uint32_t) generation;
    uint32_t life; /* the generation of this life; set at its birth */
    _Atomic(uint32_t) failures; /* the owner's; any thread may read it */
    _Atomic(struct lbx__actor_mailbox *)
        box; /* NULL: its messages are in the inbox */
    lbx_system *system;
    lbx__cell *parent;

    /* Written by the owner; and what others seldom write and it reads in every
     * run. */
    alignas(LBX__LINE) _Atomic(lbx__node *) head; /* any thread may read it */
    lbx__facilities *facilities;                  /* NULL until one is needed */
    const lbx_behaviour *behaviour;
    void *state;
    _Atomic(uint64_t) handled; /* any thread may read it */
    _Atomic(lbx__node *) system_stack;
    _Atomic(lbx__cell *) orphans;
    _Atomic(uint32_t) stop; /* the highest generation that is to end */
    uint8_t phase;
    uint8_t role;
    bool started : 1; /* `stop` is due */
    bool restarting : 1;
    bool half_started : 1; /* `start` failed */
    bool held : 1;         /* an ancestor has failed */
    uint8_t suspensions;   /* nested */

    /* The family: under `lock`, the parent's lock for the sibling links. */
    alignas(LBX__LINE) lbx__lock lock;
    uint32_t child_count;
    lbx__cell *children;
    lbx__cell *next_sibling; /* also on the free list */
    lbx__cell *prev_sibling;
    char *name;     /* NULL: made from `serial` */
    void *argument; /* the owner's */
    lbx__cell *next_orphan;
    uint32_t serial;         /* of this life, for unnamed actors' names */
    _Atomic(uint8_t) family; /* LBX__FAMILY_*; set under a lock */
    _Atomic(uint8_t) step;   /* the selection step that decided; set at birth */
    _Atomic(uint16_t)
        mailbox; /* its number in the settings, or 0; set at birth */
};

_Static_assert(sizeof(lbx__cell) == 3ul * LBX__LINE, "a cell is three lines");
_Static_assert(offsetof(lbx__cell, runnable) == 0, "a cell is a runnable");

/* The cell that a dispatcher runs. */
static inline lbx__cell *
lbx__cell_from(lbx__runnable *runnable)
{
    return (lbx__cell *)(void *)runnable;
}

/* Passes an owned cell on to its dispatcher (CELL-1). */
static inline void
lbx__cell_schedule(lbx__cell *cell)
{
    lbx__dispatcher_schedule(lbx__peek(&cell->runnable.dispatcher),
                             &cell->runnable);
}

/* Refs: 16 bits of the generation above the address, 6 below. */
enum {
    LBX__GENERATION_LOW = 6,
    LBX__GENERATIONS = 1 << 22,
};
#define LBX__CELL_MASK ((((uint64_t)1 << 48) - 1) & ~(uint64_t)63)

static inline lbx__cell *
lbx__cell_of(uint64_t ref)
{
    return (lbx__cell *)(uintptr_t)(ref & LBX__CELL_MASK);
}

static inline uint32_t
lbx__generation_of(uint64_t ref)
{
    return (uint32_t)(ref >> 48 << LBX__GENERATION_LOW | (ref & 63));
}

static inline uint64_t
lbx__ref_of(const lbx__cell *cell, uint32_t generation)
{
    return (uint64_t)(uintptr_t)cell |
           (uint64_t)(generation >> LBX__GENERATION_LOW) << 48 |
           (generation & 63);
}

/* The ref of the current life, or of the last one. By the owner, or by the
 * owner of the parent. */
static inline uint64_t
lbx__cell_ref(const lbx__cell *cell)
{
    return lbx__ref_of(cell, cell->life);
}

/* Returns whether the life that a ref names has not ended. */
static inline bool
lbx__ref_lives(uint64_t ref)
{
    // Acquire: a thread that sees the end sees what came before it.
    return ref != 0 && lbx__load(&lbx__cell_of(ref)->generation, acquire) ==
                           lbx__generation_of(ref);
}

/* cell.c: adding work to a cell, and taking it. */

/* Adds a message, which always succeeds, and wakes the cell. Wait-free. */
static inline void lbx__cell_push(lbx__cell *cell, lbx__node *node);
void lbx__cell_push_system(lbx__cell *cell, lbx__node *node);
void lbx__cell_push_orphan(lbx__cell *parent, lbx__cell *child);
void lbx__cell_stop(lbx__cell *cell, uint32_t generation);

/* Schedules the cell unless it is owned (CELL-2). The second is for work that
 * was added with a weaker order than CELL-2 requires. */
static inline void lbx__cell_wake(lbx__cell *cell);
void lbx__cell_wake_always(lbx__cell *cell);
void lbx__cell_claim(lbx__cell *cell); /* the second half of a wake */

/* The next message, which stays valid until the next pop; NULL when there is
 * none, or when its link is not there yet. By the owner. */
lbx__node *lbx__cell_pop(lbx__cell *cell);

/* Returns whether the next pop returns a message. What its sender did before
 * the send is visible after this. By the owner. */
bool lbx__cell_is_linked(lbx__cell *cell);

/* All system messages, oldest first, linked by `next`; and all orphans. */
lbx__node *lbx__cell_take_system(lbx__cell *cell);
lbx__cell *lbx__cell_take_orphans(lbx__cell *cell);

/* Returns whether there may be messages. By the owner. */
static inline bool
lbx__cell_has_messages(lbx__cell *cell)
{
    // Relaxed: a hint; CELL-2 covers what comes later.
    return lbx__load(&cell->tail, relaxed) != lbx__load(&cell->head, relaxed);
}

/* Releases the cell (CELL-2). `deaf`: messages do not count as work;
 * `stopping`: nor does `stop`. */
void lbx__cell_release(lbx__cell *cell, bool deaf, bool stopping);

static inline void
lbx__cell_wake(lbx__cell *cell)
{
    // seq_cst: CELL-2, after the work was added. The load saves a
    // read-modify-write.
    if (lbx__load(&cell->scheduled, seq_cst) == 0)
        lbx__cell_claim(cell);
}

static inline void
lbx__cell_push(lbx__cell *cell, lbx__node *node)
{
    lbx__node *before;
    int64_t number;

    // Relaxed: published with the link below.
    lbx__store(&node->next, NULL, relaxed);
    // seq_cst: CELL-2 and CELL-5; it is work from here on.
    before = lbx__exchange(&cell->tail, node, seq_cst);
    // Relaxed: a statistic. `before` stays until it is linked (CELL-5).
    number = lbx__load(&before->number, relaxed) + 1;
    lbx__store(&node->number, number, relaxed);
    // Release: pairs with the acquire in lbx__cell_pop(), which follows the
    // link.
    lbx__store(&before->next, node, release);
    lbx__cell_wake(cell);
    if ((number & (LBX__CROWD_STEP - 1)) == 0)
        lbx__crowd_check(cell);
}

/* cells.c: where cells come from. */
typedef struct lbx__cells lbx__cells;
lbx_status lbx__cells_create(lbx_system *system, const lbx_allocator *allocator,
                             lbx__node_pool *pool, lbx__cells **ret);
void lbx__cells_destroy(lbx__cells *cells);

/* A clean cell that the caller owns (CELL-1); NULL when there is no memory. */
lbx__cell *lbx__cells_get(lbx__cells *cells);
void lbx__cells_put(lbx__cells *cells, lbx__cell *cell);

#endif
