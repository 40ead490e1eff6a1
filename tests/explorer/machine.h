/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine that code under test runs on: threads, sleep and time.
 *
 * It stands where src/base/park.c stands in the product. One step of a thread
 * is one shared operation and everything plain up to the thread's next one.
 * Before each step the machine asks the search which thread makes it.
 *
 * Mutants it knows, for twins without a line in the source:
 *   "lost-wake"       the first wake-up that would wake a thread is swallowed
 *   "lost-write:T:N"  the Nth change that thread T makes to shared memory is
 *                     undone, although T believes in it
 */
#ifndef LBX_EXPLORER_MACHINE_H
#define LBX_EXPLORER_MACHINE_H

#include "explorer.h"
#include "fiber.h"

#include <setjmp.h>
#include <stdint.h>

enum op_kind {
    OP_READ,
    OP_WRITE,
    OP_WAIT,     /* compares a word and perhaps falls asleep on it */
    OP_WAIT_FOR, /* the same with a limit, counted from now */
    OP_WAKE,     /* wakes threads that sleep on a word */
    OP_TIMEOUT,  /* a sleep runs out; time moves */
    OP_WOKEN,    /* goes on after a sleep that could have run out instead */
    OP_LOCAL,    /* goes on; touches nothing shared */
};

struct op {
    const void *address;
    enum op_kind kind;
};

/* A step's clock names, for each of four threads, the number of its last step
 * that came before, cause and effect: 16 bits each, thread 0 lowest. */
typedef uint64_t vclock;

enum {
    PAUSES = 4
};

struct thread {
    struct fiber fiber;
    struct op next;     /* what it does when it is chosen */
    const void *caller; /* and where in the program */
    enum {
        READY,
        ASLEEP,
        ASLEEP_FOR, /* asleep with a limit: may be chosen, to time out */
        SPINNING,   /* may be chosen once what it read has changed: MACHINE-4 */
        ENDED,
    } state;
    /* Where it has paused, each position apart, since loops nest. */
    struct pause {
        const void *caller;
        /* Since the last pause here: which addresses it looked at, one bit
         * each by hash, and whether another thread has changed one. */
        uint64_t looked_at;
        bool stale;
    } pauses[PAUSES];
    unsigned pause_count;
    struct pause *spinning_at;
    /* Asleep: since when, in order of falling asleep, and until when. */
    unsigned ticket;
    int64_t until_ns;
    int roused_by; /* the step that made it runnable again; -1 */
    unsigned steps;
    unsigned changes;
    vclock clock; /* of its last step */
};

enum outcome {
    OUTCOME_COMPLETE, /* all threads ended */
    OUTCOME_FROZEN,   /* all but the frozen one did */
    OUTCOME_CUT,      /* the rest is known from another execution */
    OUTCOME_FAILED,
};

extern struct machine {
    struct thread threads[EXPLORER_THREADS];
    unsigned thread_count;
    int running;     /* -1: setup() or finish() */
    bool has_paused; /* some thread has, in this execution */
    bool starting;
    struct fiber main;
    jmp_buf failed; /* where explorer_fail() and crashes go */
    unsigned tickets;
    int64_t now_ns;
    enum outcome outcome;
    char failure[512];

    int frozen; /* this thread stops for ever after that many steps; -1 */
    unsigned freeze_after;

    const char *mutant;
    bool wake_to_lose;
    int change_to_lose_by; /* a thread, or -1 */
    unsigned change_to_lose;
    bool lost_change; /* has it come to that? */
} machine;

/* A hash of an address, best bits on top. The same in every run, wherever the
 * system puts the program: everything shared lies in its static memory. */
static inline uint64_t
machine_hash(const void *address)
{
    return ((uintptr_t)address - (uintptr_t)&machine) / 4 *
           0x9e3779b97f4a7c15ull;
}

/* Once per program: stacks, crash handlers. */
void machine_create(void);

/* Runs `scenario` once under the search's orders. */
enum outcome machine_run(const struct scenario *scenario);

/* Chooses the planted bug for the runs that follow; NULL for none. */
void machine_set_mutant(const char *mutant);

/* Loses the change number `which` of `thread`, from 1, in the runs that follow
 * (the mutant "lost-write:T:N"). */
void machine_lose_change(int thread, unsigned which);

/* Threads that can make a step now, one bit each. */
unsigned machine_runnable(void);

/* Tells spinning threads that `address` was changed by step number `step`. */
void machine_changed(const void *address, int by_thread, int step);

#endif
