/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The switch itself: on x86-64 by hand, elsewhere through ucontext.
 *
 * ucontext asks the kernel about the signal mask at every switch, which is
 * hundreds of times slower; the explorer switches tens of millions of times.
 */
#include "fiber.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    GUARD_BYTES = 4096
};

void
fiber_create(struct fiber *fiber, char *stack, size_t size_bytes)
{
    if (mprotect(stack, GUARD_BYTES, PROT_NONE) != 0) {
        perror("explorer: a stack cannot be guarded");
        exit(2);
    }
    fiber->stack = stack;
    fiber->size_bytes = size_bytes;
}

#if defined(__x86_64__)

// void switch_stacks(void **ret_from_sp, void *to_sp): saves what the calling
// convention says a callee keeps, swaps the stack pointer, restores. The
// floating-point control words are never changed by what runs here.
void explorer__switch_stacks(void **ret_from_sp, void *to_sp);
__asm__(".text\n"
        ".globl explorer__switch_stacks\n"
        ".type explorer__switch_stacks, @function\n"
        "explorer__switch_stacks:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size explorer__switch_stacks, .-explorer__switch_stacks\n");

void
fiber_start(struct fiber *fiber, void (*entry)(void))
{
    void **top = (void **)(void *)(fiber->stack + fiber->size_bytes);

    // From the top: a return address of 0, where backtraces end; the entry,
    // which `ret` finds; six registers. Entered so, the stack is aligned as
    // after a call.
    top -= 8;
    memset(top, 0, 8 * sizeof(*top));
    top[6] = (void *)(uintptr_t)entry;
    fiber->sp = top;
}

void
fiber_switch(struct fiber *from, struct fiber *to)
{
    explorer__switch_stacks(&from->sp, to->sp);
}

#else

void
fiber_start(struct fiber *fiber, void (*entry)(void))
{
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = fiber->size_bytes;
    fiber->context.uc_link = NULL;
    makecontext(&fiber->context, entry, 0);
}

void
fiber_switch(struct fiber *from, struct fiber *to)
{
    swapcontext(&from->context, &to->context);
}

#endif
