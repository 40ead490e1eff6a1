/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads, sleep and time, as a model.
 *
 * There is no scheduler apart: the running thread asks the search which is next
 * and switches there directly, or simply goes on.
 *
 * MACHINE-1  Exactly one of the fibers runs; `machine.running` names it.
 * MACHINE-2  A thread that does not run has said in `next` what it would do.
 * MACHINE-3  Sleepers of one word are woken in the order in which they fell
 *            asleep, and never without reason.
 * MACHINE-4  A thread that pauses runs again only after another thread has
 *            changed something it looked at since its last pause at the same
 *            place: what it would do otherwise it has done already, as long as
 *            it does not count how often. A pause is therefore no step.
 */
#include "machine.h"

#include "base/atomic.h"
#include "base/park.h"
#include "memory.h"
#include "search.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct machine machine;

static const struct scenario *running_scenario;

// What each thread has for itself (LBX__LOCAL); the linker knows where.
extern char __start_lbx_local[];
extern char __stop_lbx_local[];

LBX__LOCAL(lbx__memo, lbx__thread_memo);

// Threads that the library made, for explorer_be_thread().
static struct made {
    void *(*body)(void *argument);
    void *argument;
    _Atomic(uint32_t) ended;
} made[EXPLORER_THREADS];
static unsigned made_count;

// Asks which thread makes the next step and lets it. Returns when it is ours.
static void
go_on(void)
{
    struct thread *self = &machine.threads[machine.running];
    int next;

    if (machine.starting) {
        fiber_switch(&self->fiber, &machine.main);
        return;
    }
    search_settle();
    next = search_choose();
    if (next == machine.running)
        return;
    if (next < 0) {
        fiber_switch(&self->fiber, &machine.main);
        abort(); // an execution that is over is never resumed
    }
    machine.running = next;
    fiber_switch(&self->fiber, &machine.threads[next].fiber);
}

static inline __attribute__((always_inline)) void
reach(const void *address, enum op_kind kind)
{
    machine.threads[machine.running].next = (struct op){address, kind};
    machine.threads[machine.running].caller = __builtin_return_address(0);
    go_on();
}

// One bit of 64 for an address.
static uint64_t
address_bit(const void *address)
{
    return 1ull << (machine_hash(address) >> 58);
}

void
machine_changed(const void *address, int by_thread, int step)
{
    uint64_t bit = address_bit(address);

    for (int i = 0; i < (int)machine.thread_count; i++) {
        struct thread *other = &machine.threads[i];

        if (i == by_thread)
            continue;
        for (unsigned j = 0; j < other->pause_count; j++) {
            struct pause *pause = &other->pauses[j];

            if (pause->stale || !(pause->looked_at & bit))
                continue;
            pause->stale = true;
            if (other->state == SPINNING && other->spinning_at == pause)
                other->roused_by = step;
        }
    }
}

// The running thread looks at an address.
static void
look(const void *address)
{
    struct thread *self = &machine.threads[machine.running];
    uint64_t bit = address_bit(address);

    for (unsigned i = 0; i < self->pause_count; i++)
        self->pauses[i].looked_at |= bit;
}

unsigned
machine_runnable(void)
{
    unsigned set = 0;

    for (unsigned i = 0; i < machine.thread_count; i++) {
        const struct thread *thread = &machine.threads[i];

        if (thread->state == READY || thread->state == ASLEEP_FOR ||
            (thread->state == SPINNING && thread->spinning_at->stale))
            set |= 1u << i;
    }
    if (machine.frozen >= 0 &&
        machine.threads[machine.frozen].steps >= machine.freeze_after)
        set &= ~(1u << machine.frozen);
    return set;
}

/* ---- What the code under test calls ---- */

// Most steps repeat what the thread did last time, and it goes on: then there
// is nothing to decide, and what follows from the step is known.
static inline bool
repeats(const void *address)
{
    const struct step *step = &search.steps[search.depth];

    if (search.depth >= search.run_end || step->address != address)
        return false;
    if (machine.has_paused) {
        if (step[-1].kind == OP_WRITE && step[-1].changed)
            machine_changed(step[-1].address, step[-1].thread,
                            (int)search.depth - 1);
        look(address);
    }
    search.depth++;
    return true;
}

void
lbx__explore_point(const volatile void *address, int writes)
{
    const void *plain = (const void *)(uintptr_t)address;

    if (machine.running < 0 || repeats(plain))
        return;
    reach(plain, writes ? OP_WRITE : OP_READ);
    look(plain);
    if (memory_is_dead(plain))
        explorer_fail(__FILE__, __LINE__,
                      "an atomic operation on released memory");
}

void
lbx__futex_wait(_Atomic(uint32_t) *word, uint32_t expected, int64_t wait_ns)
{
    struct thread *self;
    struct step *fell_asleep;

    if (machine.running < 0)
        explorer_fail(__FILE__, __LINE__, "setup or finish would wait");
    self = &machine.threads[machine.running];
    reach(word, wait_ns < 0 ? OP_WAIT : OP_WAIT_FOR);
    if (memory_is_dead(word))
        explorer_fail(__FILE__, __LINE__, "a wait on released memory");
    if (lbx__peek(word) != expected || wait_ns == 0)
        return;
    fell_asleep = &search.steps[search.depth - 1];
    fell_asleep->changed = true;
    self->state = wait_ns < 0 ? ASLEEP : ASLEEP_FOR;
    self->ticket = machine.tickets++;
    self->until_ns = machine.now_ns + wait_ns;
    reach(word, wait_ns < 0 ? OP_LOCAL : OP_TIMEOUT);
    if (self->state == ASLEEP_FOR) { // no thread woke us: the time is up
        search.steps[search.depth - 1].changed = true;
        if (machine.now_ns < self->until_ns)
            machine.now_ns = self->until_ns;
        self->state = READY;
    }
}

static struct thread *
first_sleeper(const void *word)
{
    struct thread *first = NULL;

    for (unsigned i = 0; i < machine.thread_count; i++) {
        struct thread *thread = &machine.threads[i];

        if ((thread->state == ASLEEP || thread->state == ASLEEP_FOR) &&
            thread->next.address == word &&
            (!first || thread->ticket < first->ticket))
            first = thread;
    }
    return first;
}

void
lbx__futex_wake(_Atomic(uint32_t) *word, int count)
{
    struct thread *sleeper;

    if (machine.running < 0)
        return;
    reach(word, OP_WAKE);
    for (; count > 0; count--) {
        sleeper = first_sleeper(word);
        if (!sleeper)
            return;
        if (machine.wake_to_lose) {
            machine.wake_to_lose = false;
            return;
        }
        search.steps[search.depth - 1].changed = true;
        // Who might have timed out instead races with this wake-up; others
        // simply come after it.
        if (sleeper->state == ASLEEP_FOR) {
            sleeper->next.kind = OP_WOKEN;
        } else {
            sleeper->next.kind = OP_LOCAL;
            sleeper->roused_by = (int)search.depth - 1;
        }
        sleeper->state = READY;
    }
}

// The place in the program; when it is new, nothing is known about what was
// looked at, and the thread may go round once more.
static struct pause *
find_pause(struct thread *self, const void *caller)
{
    struct pause *pause;

    for (unsigned i = 0; i < self->pause_count; i++) {
        if (self->pauses[i].caller == caller)
            return &self->pauses[i];
    }
    machine.has_paused = true;
    pause = &self->pauses[self->pause_count % PAUSES];
    if (self->pause_count < PAUSES)
        self->pause_count++;
    pause->caller = caller;
    pause->stale = true;
    return pause;
}

static inline __attribute__((always_inline)) void
pause_here(void)
{
    struct thread *self;
    struct pause *pause;

    if (machine.running < 0 || running_scenario->impatient)
        return;
    self = &machine.threads[machine.running];
    pause = find_pause(self, __builtin_return_address(0));
    if (!pause->stale) {
        self->state = SPINNING;
        self->spinning_at = pause;
        reach(NULL, OP_LOCAL);
        self->state = READY;
    }
    pause->stale = false;
    pause->looked_at = 0;
}

void
lbx__pause(void)
{
    pause_here();
}

void
lbx__yield(void)
{
    pause_here();
}

bool
lbx__barrier_ready(void)
{
    return true;
}

bool
lbx__barrier_all(void)
{
    return true; // operations take effect in one order anyway
}

uintptr_t
lbx__thread_self(void)
{
    return (uintptr_t)(machine.running + 2);
}

unsigned
lbx__thread_index(void)
{
    return (unsigned)(machine.running + 1);
}

// Instead of the system's, like all of the above.
int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
               void *(*body)(void *), void *argument)
{
    (void)attributes;
    if (made_count == EXPLORER_THREADS)
        return EAGAIN;
    made[made_count].body = body;
    made[made_count].argument = argument;
    *thread = made_count++;
    return 0;
}

int
pthread_join(pthread_t thread, void **ret)
{
    (void)ret;
    while (machine.running >= 0 && lbx__load(&made[thread].ended, seq_cst) == 0)
        lbx__futex_wait(&made[thread].ended, 0, -1);
    return 0;
}

void
explorer_be_thread(unsigned which)
{
    (void)made[which].body(made[which].argument);
    lbx__store(&made[which].ended, 1u, seq_cst);
    lbx__futex_wake(&made[which].ended, 1);
}

static int64_t
read_clock(void *context)
{
    (void)context;
    if (machine.running >= 0)
        reach(&machine.now_ns, OP_READ);
    return machine.now_ns;
}

const lbx_clock explorer_clock = {read_clock, NULL};

int
explorer_thread(void)
{
    return machine.running;
}

/* ---- Bugs ---- */

bool
explorer_mutant(const char *name)
{
    return machine.mutant && strcmp(machine.mutant, name) == 0;
}

void
machine_set_mutant(const char *mutant)
{
    int thread = -1;
    unsigned which = 0;

    machine.mutant = mutant;
    if (mutant)
        (void)sscanf(mutant, "lost-write:%d:%u", &thread, &which);
    machine_lose_change(thread, which);
}

void
machine_lose_change(int thread, unsigned which)
{
    machine.change_to_lose_by = thread;
    machine.change_to_lose = which;
    machine.lost_change = false;
}

/* ---- Failures ---- */

void
explorer_fail(const char *file, int line, const char *format, ...)
{
    const char *name = strrchr(file, '/');
    va_list arguments;
    int length = 0;

    va_start(arguments, format);
    if (machine.running >= 0)
        length = snprintf(machine.failure, sizeof(machine.failure),
                          "thread %d: ", machine.running);
    length +=
        vsnprintf(machine.failure + length,
                  sizeof(machine.failure) - (size_t)length, format, arguments);
    va_end(arguments);
    if (length < (int)sizeof(machine.failure))
        snprintf(machine.failure + length,
                 sizeof(machine.failure) - (size_t)length, " (%s:%d)",
                 name ? name + 1 : file, line);
    longjmp(machine.failed, 1);
}

void
explorer_expect_ok(const char *file, int line, lbx_status status)
{
    if (status != LBX_OK)
        explorer_fail(file, line, "%s, not LBX_OK", lbx_status_name(status));
}

// glibc's assert() ends here: one failed execution, not the end of the search.
_Noreturn void __assert_fail(const char *assertion, const char *file,
                             unsigned line, const char *function);
void
__assert_fail(const char *assertion, const char *file, unsigned line,
              const char *function)
{
    (void)function;
    explorer_fail(file, (int)line, "assert(%s)", assertion);
}

static void
crashed(int signal)
{
    explorer_fail(__FILE__, __LINE__, "crashed: %s", strsignal(signal));
}

void
machine_create(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static _Alignas(4096) char stacks[EXPLORER_THREADS][256 * 1024];
    static char stack[64 * 1024];
    stack_t handler_stack = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction action;

    for (unsigned i = 0; i < EXPLORER_THREADS; i++)
        fiber_create(&machine.threads[i].fiber, stacks[i], sizeof(stacks[i]));
    memset(&action, 0, sizeof(action));
    action.sa_handler = crashed;
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
    sigaltstack(&handler_stack, NULL);
    for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaction(signals[i], &action, NULL);
}

/* ---- One execution ---- */

static void
thread_entry(void)
{
    running_scenario->thread[machine.running]();
    machine.threads[machine.running].state = ENDED;
    go_on();
}

static void
start_threads(void)
{
    machine.starting = true;
    machine.has_paused = false;
    machine.thread_count = 0;
    while (machine.thread_count < EXPLORER_THREADS &&
           running_scenario->thread[machine.thread_count]) {
        struct thread *thread = &machine.threads[machine.thread_count];

        thread->state = READY;
        thread->pause_count = 0;
        thread->roused_by = -1;
        thread->steps = 0;
        thread->changes = 0;
        thread->clock = 0;
        fiber_start(&thread->fiber, thread_entry);
        // Up to its first shared operation it can disturb no thread.
        machine.running = (int)machine.thread_count++;
        fiber_switch(&machine.main, &thread->fiber);
    }
    machine.starting = false;
}

static void
execute(void)
{
    int first;

    memory_reset(running_scenario->reuse_memory);
    memset(__start_lbx_local, 0,
           (size_t)(__stop_lbx_local - __start_lbx_local));
    memset(made, 0, sizeof(made));
    made_count = 0;
    search_rewind();
    machine.running = -1;
    machine.tickets = 0;
    machine.now_ns = LBX_SECOND;
    machine.wake_to_lose = explorer_mutant("lost-wake");
    running_scenario->setup();
    start_threads();
    first = search_choose();
    if (first >= 0) {
        machine.running = first;
        fiber_switch(&machine.main, &machine.threads[first].fiber);
    }
    machine.running = -1;
    if (machine.outcome == OUTCOME_COMPLETE) {
        running_scenario->finish();
        memory_check_end();
    }
}

enum outcome
machine_run(const struct scenario *scenario)
{
    running_scenario = scenario;
    // Not sigsetjmp: handlers do not block their signal (SA_NODEFER).
    if (_setjmp(machine.failed) == 0)
        execute();
    else
        machine.outcome = OUTCOME_FAILED;
    return machine.outcome;
}
