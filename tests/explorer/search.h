/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search: which thread makes the next step, in this execution and in all
 * that follow. Four ways:
 *
 *   SEARCH_ALL      every order that makes a difference, each once
 *   SEARCH_BOUNDED  every order with at most `bound` preemptions
 *   SEARCH_RANDOM   random priorities with `bound` changes of mind (PCT)
 *   SEARCH_REPLAY   one given order
 *
 * A preemption is a switch away from a thread that could have gone on.
 */
#ifndef LBX_EXPLORER_SEARCH_H
#define LBX_EXPLORER_SEARCH_H

#include "machine.h"

enum {
    SEARCH_STEPS = 4000
}; /* longer executions count as livelock */

enum search_mode {
    SEARCH_ALL,
    SEARCH_BOUNDED,
    SEARCH_RANDOM,
    SEARCH_REPLAY,
};

/* One step of the execution under way, and with it the choice made there. */
struct step {
    const void *address;
    uint64_t before; /* OP_WRITE: the word around the address */
    vclock clock;
    uint16_t earlier; /* 1 + the last step before in the same bucket; 0 */
    uint8_t thread;
    uint8_t kind;
    bool changed; /* changed memory or which threads sleep */
    /* Sets of threads, one bit each. */
    uint8_t runnable;
    uint8_t asleep;  /* known from elsewhere: need not be tried here */
    uint8_t planned; /* to be tried here */
    uint8_t tried;
    uint8_t preemptions; /* so far, this one included */
};

enum {
    SEARCH_BUCKETS = 128
};

extern struct search {
    struct step steps[SEARCH_STEPS];
    /* By hash of the address: 1 + the last step there. */
    uint16_t buckets[SEARCH_BUCKETS];
    unsigned depth;   /* steps made in this execution */
    unsigned planned; /* steps fixed before it began */
    unsigned run_end; /* before this one, the running thread only repeats */
    enum search_mode mode;
    unsigned bound;
    uint64_t random;
    unsigned deepest;
    uint64_t states; /* steps that were not repetitions */
    /* SEARCH_RANDOM: priorities and the steps at which the first falls. */
    int priorities[EXPLORER_THREADS];
    unsigned falls[16];
    /* SEARCH_REPLAY: where in the program each step was made. */
    const void *callers[SEARCH_STEPS];
} search;

/* Forgets everything and begins a new search. */
void search_begin(enum search_mode mode, unsigned bound, uint64_t seed);

/* Fixes the order of the first steps, for SEARCH_REPLAY. */
void search_plan(const uint8_t *threads, unsigned count);

/* Before each execution. */
void search_rewind(void);

/* The thread that makes the next step, already written down as the last of
 * search.steps; -1 when this execution is over (machine.outcome says how). */
int search_choose(void);

/* Between two steps: draws conclusions from the last one. */
void search_settle(void);

/* Plans the next execution; false when there is none. */
bool search_next(void);

#endif
