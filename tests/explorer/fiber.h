/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fibers: stacks that run one at a time on one thread of the system.
 *
 * Only what the explorer needs: start a function on a fresh stack, switch to
 * another stack, forget a stack half way through.
 */
#ifndef LBX_EXPLORER_FIBER_H
#define LBX_EXPLORER_FIBER_H

#include <stddef.h>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

struct fiber {
    char *stack; /* NULL for the thread's own */
    size_t size_bytes;
#if defined(__x86_64__)
    void *sp; /* where it was left */
#else
    ucontext_t context;
#endif
};

/* Gives the fiber a stack; the lowest page becomes its guard. `stack` must be
 * aligned to a page. */
void fiber_create(struct fiber *fiber, char *stack, size_t size_bytes);

/* The next switch to `fiber` calls `entry`, which must never return. Whatever
 * ran there before is forgotten. */
void fiber_start(struct fiber *fiber, void (*entry)(void));

/* Leaves `from`, the running one, and goes on where `to` was left. */
void fiber_switch(struct fiber *from, struct fiber *to);

#endif
