/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells: the inside of an actor.
 *
 * A cell is three cache lines: what senders touch, what the thread that runs it
 * touches, and the rest. Cells lie in chunks that stay until their system is
 * destroyed, so that a stale ref can always be looked at. A ref is the cell's
 * address and its generation in one word.
 *
 * Everything that an actor has to do waits in one of four places: `stop`, the
 * system stack, the orphans (children that have ended), the inbox.
 *
 * K1  Whoever holds `scheduled` owns the cell: the second and third line, dead
 *     or alive, and the right to put it on one run queue (A1, A9). It is handed
 *     over with the run queue, and given up by storing 0. 2 is held, and told
 *     always: for an owner whose work is not the cell's own (a balancer).
 * K2  Who adds work, adds it first and looks at `scheduled` then; who gives the
 *     cell up, stores 0 first and looks for work then. All four are seq_cst: no
 *     work is left without an owner.
 * K3  `generation` is raised by the owner when the actor has ended. A node
 *     carries the ref it was meant for; one that does not fit the generation
 *     when it is taken is a dead letter (A8). So a sender needs no lock between
 *     looking and pushing.
 * K4  A cell is on the free list only after its parent has let it go; who takes
 *     it from there must also win `scheduled`.
 * K5  The inbox: `tail` is swapped by senders, who then link the node before
 *     theirs to it; `head` is the node that was taken last. A tail that is not
 *     the head means work, even if the link is not there yet.
 */
#ifndef LBX_ACTOR_CELL_H
#define LBX_ACTOR_CELL_H

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
    LBX__PHASE_ENDED,    /* waits for its parent to let it go */
} lbx__phase;

/* System messages between cells, in a node's `code`. */
enum {
    LBX__CODE_WATCH = 1,
    LBX__CODE_UNWATCH,
    LBX__CODE_FAILURE, /* from a child; number: the status */
    LBX__CODE_DIRECTIVE, /* from the parent; number: what to do; deadline_ns: delay */
    LBX__CODE_RETRY, /* from oneself, by a timer */
    LBX__CODE_SUSPEND,
    LBX__CODE_RESUME,
    LBX__CODE_HOLD,     /* from the parent: it, or one above it, has failed */
    LBX__CODE_RELEASE,  /* and goes on */
    LBX__CODE_OUTGOING, /* an outgoing message may be accepted */
    LBX__CODE_OUTBOX_LATE, /* one has waited long enough */
    LBX__CODE_END_IDLE, /* to "/user": threads have had no actors for a while */
};

/* What a cell is for. */
enum {
    LBX__ROLE_ACTOR = 0,
    LBX__ROLE_GUARDIAN, /* "/user" */
    LBX__ROLE_PROMISE,  /* the sender of an ask */
    LBX__ROLE_BALANCER, /* a pool whose children share its mailbox */
};

struct lbx__cell {
    /* Senders. */
    alignas(LBX__LINE) lbx__runnable runnable; /* first: see lbx__cell_from() */
    _Atomic(lbx__node *) tail;
    _Atomic(uint32_t) scheduled;
    _Atomic(uint32_t) generation;
    uint32_t life; /* the generation of this life; set at its birth */
    _Atomic(uint32_t) failures; /* the owner's; anybody may read it */
    _Atomic(struct lbx__actor_mailbox *)
        box; /* NULL: messages lie in the cell */
    lbx_system *system;
    lbx__cell *parent;

    /* The owner; and what others seldom write and it looks at each time. */
    alignas(LBX__LINE) _Atomic(lbx__node *) head; /* others may look at it */
    lbx__facilities *facilities; /* NULL until something is needed */
    const lbx_behaviour *behaviour;
    void *state;
    _Atomic(uint64_t) handled; /* anybody may read it */
    _Atomic(lbx__node *) system_stack;
    _Atomic(lbx__cell *) orphans;
    _Atomic(uint32_t) stop; /* the highest generation that is to end */
    uint8_t phase;
    uint8_t role;
    bool started : 1; /* `stop` is due */
    bool restarting : 1;
    bool half_started : 1; /* `start` failed */
    bool held : 1;         /* the parent, or one above it, has failed */
    uint8_t suspensions;   /* nested */

    /* The family: under `lock`, the parent's for the sibling links. */
    alignas(LBX__LINE) lbx__lock lock;
    uint32_t child_count;
    lbx__cell *children;
    lbx__cell *next_sibling; /* also on the free list */
    lbx__cell *prev_sibling;
    char *name;     /* NULL: made from `serial` */
    void *argument; /* the owner's */
    lbx__cell *next_orphan;
    uint32_t serial;           /* of this life, for unnamed actors' names */
    bool barren;               /* no more children */
    _Atomic(uint8_t) step;     /* of selection, that decided; set at birth */
    _Atomic(uint16_t) mailbox; /* its number in the settings, or 0; the same */
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

/* The ref of the life that the cell lives, or has lived last. By its owner, or
 * by its parent. */
static inline uint64_t
lbx__cell_ref(const lbx__cell *cell)
{
    return lbx__ref_of(cell, cell->life);
}

/* Tells whether the life that a ref names has not ended. */
static inline bool
lbx__ref_lives(uint64_t ref)
{
    // Acquire: who sees the end sees what came before it.
    return ref != 0 && lbx__load(&lbx__cell_of(ref)->generation, acquire) ==
                           lbx__generation_of(ref);
}

/* inbox.c: work for a cell, and taking it. */

/* Adds a message; always succeeds. Wakes the cell. */
static inline void lbx__cell_push(lbx__cell *cell, lbx__node *node);
void lbx__cell_push_system(lbx__cell *cell, lbx__node *node);
void lbx__cell_push_orphan(lbx__cell *parent, lbx__cell *child);
void lbx__cell_stop(lbx__cell *cell, uint32_t generation);

/* Puts the cell on a run queue unless it is on one: K2. The second is for work
 * that was added with weaker order than K2 asks for. */
static inline void lbx__cell_wake(lbx__cell *cell);
void lbx__cell_wake_always(lbx__cell *cell);
void lbx__cell_claim(lbx__cell *cell); /* the rest of a wake */

/* By the owner. The next message, which stays valid until the next pop; NULL
 * when there is none, or when its link is not there yet. */
lbx__node *lbx__cell_pop(lbx__cell *cell);

/* By the owner: the next pop gives a message. What its sender did before it
 * sent it is seen from here on. */
bool lbx__cell_is_linked(lbx__cell *cell);

/* All system messages, oldest first, linked by `next`; and all orphans. */
lbx__node *lbx__cell_take_system(lbx__cell *cell);
lbx__cell *lbx__cell_take_orphans(lbx__cell *cell);

/* Tells whether there may be messages. By the owner. */
static inline bool
lbx__cell_has_messages(lbx__cell *cell)
{
    // Relaxed: a hint; K2 covers what comes later.
    return lbx__load(&cell->tail, relaxed) != lbx__load(&cell->head, relaxed);
}

/* Gives the cell up: K2. `deaf`: messages do not count as work; `stopping`: nor
 * does being told to stop. */
void lbx__cell_release(lbx__cell *cell, bool deaf, bool stopping);

static inline void
lbx__cell_wake(lbx__cell *cell)
{
    // seq_cst: K2, after the work was added. The look saves a
    // read-modify-write.
    if (lbx__load(&cell->scheduled, seq_cst) == 0)
        lbx__cell_claim(cell);
}

static inline void
lbx__cell_push(lbx__cell *cell, lbx__node *node)
{
    lbx__node *before;

    // Relaxed: published with the link below.
    lbx__store(&node->next, NULL, relaxed);
    // seq_cst: K2 and K5; it is work from here on.
    before = lbx__exchange(&cell->tail, node, seq_cst);
    // Relaxed: a number for people. `before` stays until it is linked (K5).
    lbx__store(&node->number, lbx__load(&before->number, relaxed) + 1, relaxed);
    // Release: who follows the link sees the node. Pairs with the acquire in
    // lbx__cell_pop().
    lbx__store(&before->next, node, release);
    lbx__cell_wake(cell);
}

/* cells.c: making and letting go. */
typedef struct lbx__cells lbx__cells;
lbx_status lbx__cells_create(lbx_system *system, const lbx_allocator *allocator,
                             lbx__node_pool *pool, lbx__cells **ret);
void lbx__cells_destroy(lbx__cells *cells);

/* A clean cell that the caller owns (K1); NULL when there is no memory. */
lbx__cell *lbx__cells_get(lbx__cells *cells);
void lbx__cells_put(lbx__cells *cells, lbx__cell *cell);

#endif
