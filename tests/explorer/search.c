/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Depth first over schedules.
 *
 * The tree of choices is never stored: only the path to the execution under
 * way, as an array of steps. To visit the next leaf, the last step with a
 * choice left is changed and everything is run again from the start, which
 * needs no copies of the world and is cheap because nothing is decided anew.
 *
 * SEARCH_ALL is source-set DPOR (Abdulla, Aronis, Jonsson, Sagonas, 2014).
 * Two steps of different threads *conflict* when their order can matter: they
 * touch the same address and one of them changed it. Orders that differ only
 * by swapping neighbours that do not conflict are one and the same; one of
 * each is run:
 *
 * SEARCH-1  When a step conflicts with an earlier one and nothing in between
 *           forces their order, the other order is planned, at the earlier
 *           step, through a thread that can begin it (plan_reversal).
 * SEARCH-2  A thread whose next step was tried at a choice need not be tried
 *           again below it until a conflicting step has been made: it is
 *           `asleep`. When all runnable threads are, the execution is cut
 *           short.
 *
 * That plain memory does not count as a conflict is right as long as the code
 * under test has no data races, which ThreadSanitizer looks after. A write
 * that leaves the word as it was (a failed compare-and-swap) counts as a read.
 */
#include "search.h"

#include <string.h>

struct search search;

/* ---- The clocks of cause and effect ---- */

_Static_assert(EXPLORER_THREADS == 4, "a clock is four numbers of 16 bits");

static vclock
later(vclock a, vclock b)
{
    typedef int16_t numbers __attribute__((vector_size(8)));
    numbers x;
    numbers y;
    numbers greater;

    memcpy(&x, &a, sizeof(x));
    memcpy(&y, &b, sizeof(y));
    greater = x > y;
    x = (x & greater) | (y & ~greater);
    memcpy(&a, &x, sizeof(a));
    return a;
}

// Does step number `index` come before what has this clock?
static bool
precedes(unsigned index, vclock clock)
{
    return (uint16_t)(clock >> 16 * search.steps[index].thread) > index;
}

// Does such a step read the time?
static bool
tells_time(const void *address, enum op_kind kind)
{
    return kind == OP_TIMEOUT || kind == OP_WAIT_FOR ||
           address == &machine.now_ns;
}

static bool
conflict(const void *address, enum op_kind kind, bool changes,
         const struct step *done)
{
    if (kind == OP_LOCAL || done->kind == OP_LOCAL)
        return false;
    // A sleep that runs out moves time.
    if ((kind == OP_TIMEOUT && tells_time(done->address, done->kind)) ||
        (done->kind == OP_TIMEOUT && tells_time(address, kind)))
        return true;
    return address == done->address && (changes || done->changed);
}

// SEARCH-1. Step `index` with this clock so far came after step `early`; plans
// an execution in which it comes before.
static void
plan_reversal(unsigned early, unsigned index, vclock clock)
{
    struct step *choice = &search.steps[early];
    unsigned first[EXPLORER_THREADS];
    unsigned seen = 0;
    unsigned starters = 0;

    // Among the steps after `early` that do not depend on it, `index` last:
    // threads whose first one depends on none of the others.
    for (unsigned i = early + 1; i <= index; i++) {
        unsigned thread = search.steps[i].thread;
        vclock its = i == index ? clock : search.steps[i].clock;
        bool starts = true;

        if ((i < index && precedes(early, its)) || seen & 1u << thread)
            continue;
        for (unsigned other = 0; other < EXPLORER_THREADS; other++) {
            if (seen & 1u << other && precedes(first[other], its))
                starts = false;
        }
        first[thread] = i;
        seen |= 1u << thread;
        if (starts)
            starters |= 1u << thread;
    }
    if (starters & (choice->planned | choice->asleep))
        return;
    starters &= choice->runnable;
    if (starters == 0)
        choice->planned = choice->runnable; // cannot be; then try all
    else if (starters & 1u << search.steps[index].thread)
        choice->planned |= 1u << search.steps[index].thread;
    else
        choice->planned |= (uint8_t)(starters & -starters);
}

// The step before step `index` that may conflict with it, plus one. Steps at
// other addresses are passed over, unless time is involved.
static unsigned
earlier_than(unsigned index, const struct step *last)
{
    if (tells_time(last->address, last->kind))
        return index;
    return search.steps[index].earlier;
}

static void
find_conflicts(unsigned index)
{
    struct step *last = &search.steps[index];
    struct thread *thread = &machine.threads[last->thread];
    vclock clock = thread->clock;
    unsigned next = last->kind == OP_LOCAL ? 0 : earlier_than(index, last);

    if (thread->roused_by >= 0)
        clock = later(clock, search.steps[thread->roused_by].clock);
    for (; next > 0; next = earlier_than(next - 1, last)) {
        unsigned i = next - 1;
        const struct step *early = &search.steps[i];

        if (!conflict(last->address, last->kind, last->changed, early))
            continue;
        if (!precedes(i, clock)) {
            plan_reversal(i, index, clock);
            clock = later(clock, early->clock);
        }
        // What is still earlier at this address comes before this change.
        if (early->changed && early->address == last->address &&
            !tells_time(last->address, last->kind))
            break;
    }
    clock &= ~((vclock)0xffff << 16 * last->thread);
    last->clock = clock | (vclock)(index + 1) << 16 * last->thread;
}

/* ---- Between steps ---- */

// The aligned word around an address; atomic objects do not cross it.
__attribute__((no_sanitize("address"))) static uint64_t *
word_around(const void *address)
{
    return (uint64_t *)((uintptr_t)address & ~(uintptr_t)7);
}

static void
spread_change(struct step *last, struct thread *thread, unsigned index)
{
    if (++thread->changes == machine.change_to_lose &&
        machine.change_to_lose_by == last->thread) {
        *word_around(last->address) = last->before;
        machine.lost_change = true;
    }
    machine_changed(last->address, last->thread, (int)index);
}

// Repeated steps keep no clocks: fetches those of each thread's last step
// before `index`.
static void
recall_clocks(unsigned index)
{
    unsigned missing = (1u << machine.thread_count) - 1;

    for (unsigned i = 0; i < machine.thread_count; i++)
        machine.threads[i].clock = 0;
    for (unsigned i = index; i-- > 0 && missing != 0;) {
        const struct step *step = &search.steps[i];

        if (missing & 1u << step->thread)
            machine.threads[step->thread].clock = step->clock;
        missing &= ~(1u << step->thread);
    }
}

static __attribute__((noinline)) void
settle_new(struct step *last, unsigned index)
{
    if (last->kind == OP_WRITE)
        last->changed = *word_around(last->address) != last->before;
    if (search.mode != SEARCH_ALL)
        return;
    if (search.depth == search.planned)
        recall_clocks(index);
    find_conflicts(index);
    machine.threads[last->thread].clock = last->clock;
}

void
search_settle(void)
{
    unsigned index = search.depth - 1;
    struct step *last = &search.steps[index];
    struct thread *thread = &machine.threads[last->thread];

    // The last planned step is a new choice; those before it are repetitions.
    if (search.depth >= search.planned || search.mode == SEARCH_REPLAY)
        settle_new(last, index);
    if (last->kind == OP_WRITE && last->changed)
        spread_change(last, thread, index);
    thread->roused_by = -1;
}

/* ---- Choices ---- */

// SEARCH-2: the threads that are asleep after the last step.
static unsigned
still_asleep(void)
{
    const struct step *last;
    unsigned set;

    if (search.depth == 0)
        return 0;
    last = &search.steps[search.depth - 1];
    set = (last->asleep | last->tried) & ~(1u << last->thread);
    for (unsigned i = 0; set >> i; i++) {
        const struct op *next = &machine.threads[i].next;

        if (set & 1u << i &&
            conflict(next->address, next->kind, next->kind != OP_READ, last))
            set &= ~(1u << i);
    }
    return set;
}

static uint64_t
random_next(void)
{
    search.random ^= search.random << 13;
    search.random ^= search.random >> 7;
    search.random ^= search.random << 17;
    return search.random;
}

static int
most_urgent(unsigned runnable)
{
    int best = -1;

    for (int i = 0; i < EXPLORER_THREADS; i++) {
        if (runnable & 1u << i &&
            (best < 0 || search.priorities[i] > search.priorities[best]))
            best = i;
    }
    return best;
}

static int
choose_at_random(unsigned runnable)
{
    int best = most_urgent(runnable);

    for (unsigned i = 0; i < search.bound; i++) {
        if (search.falls[i] == search.depth) {
            search.priorities[best] = -(int)(i + 1);
            best = most_urgent(runnable);
        }
    }
    return best;
}

// The last thread goes on if it may: that costs no switch.
static int
choose_from(unsigned set)
{
    if (search.depth > 0 && set & 1u << search.steps[search.depth - 1].thread)
        return search.steps[search.depth - 1].thread;
    return __builtin_ctz(set);
}

static unsigned
preemptions_with(unsigned depth, unsigned runnable, unsigned thread)
{
    const struct step *last;

    if (depth == 0)
        return 0;
    last = &search.steps[depth - 1];
    return last->preemptions +
           (thread != last->thread && runnable & 1u << last->thread);
}

// Nobody can make a step: is that the end, or a failure?
static void
conclude(void)
{
    bool spinning = false;
    bool left = false;

    for (unsigned i = 0; i < machine.thread_count; i++) {
        if (machine.threads[i].state == ENDED || (int)i == machine.frozen)
            continue;
        left = true;
        spinning |= machine.threads[i].state == SPINNING;
    }
    if (left)
        explorer_fail(__FILE__, __LINE__, "%s",
                      machine.frozen >= 0
                          ? "a thread that stopped holds up the others"
                      : spinning ? "livelock: no thread changes what is spun on"
                                 : "deadlock: all threads sleep");
    machine.outcome = OUTCOME_COMPLETE;
    for (unsigned i = 0; i < machine.thread_count; i++) {
        if (machine.threads[i].state != ENDED)
            machine.outcome = OUTCOME_FROZEN;
    }
}

// Enters step `index` under its address, and takes it out again.

static uint16_t *
bucket_of(const struct step *step)
{
    return &search.buckets[machine_hash(step->address) >> 57];
}

static void
file_step(unsigned index)
{
    struct step *step = &search.steps[index];

    step->earlier = *bucket_of(step);
    *bucket_of(step) = (uint16_t)(index + 1);
}

static void
unfile_step(unsigned index)
{
    *bucket_of(&search.steps[index]) = search.steps[index].earlier;
}

static int
begin_step(int chosen)
{
    struct step *step = &search.steps[search.depth++];
    const struct op *next = &machine.threads[chosen].next;

    step->thread = (uint8_t)chosen;
    step->address = next->address;
    step->kind = (uint8_t)next->kind;
    step->changed = next->kind == OP_TIMEOUT;
    if (search.mode == SEARCH_ALL)
        file_step(search.depth - 1);
    if (next->kind == OP_WRITE)
        step->before = *word_around(next->address);
    if (search.mode == SEARCH_REPLAY)
        search.callers[search.depth - 1] = machine.threads[chosen].caller;
    machine.threads[chosen].steps++;
    return chosen;
}

// How far the thread that made the last step goes on by repetition alone.
static void
find_run(unsigned thread)
{
    unsigned end = search.depth;

    // Counts that only the slow way keeps.
    if (machine.frozen >= 0 || machine.change_to_lose_by >= 0)
        return;
    while (end + 1 < search.planned && search.steps[end].thread == thread &&
           search.steps[end].kind <= OP_WRITE)
        end++;
    search.run_end = end;
}

static int
repeat(void)
{
    struct step *step = &search.steps[search.depth];
    const struct op *next = &machine.threads[step->thread].next;

    // The last planned step has another thread than last time.
    if (search.depth + 1 == search.planned || search.mode == SEARCH_REPLAY) {
        if (!(machine_runnable() & 1u << step->thread))
            explorer_fail(__FILE__, __LINE__, "thread %d cannot run now",
                          step->thread);
        return begin_step(step->thread);
    }
    if (step->address != next->address || step->kind != next->kind)
        explorer_fail(__FILE__, __LINE__,
                      "thread %d behaves differently when run again",
                      step->thread);
    search.depth++;
    if (step->kind != OP_WRITE)
        step->changed = step->kind == OP_TIMEOUT;
    machine.threads[step->thread].steps++;
    find_run(step->thread);
    return step->thread;
}

static __attribute__((noinline)) int
choose_new(void)
{
    struct step *step = &search.steps[search.depth];
    unsigned runnable;
    unsigned candidates;
    int chosen;

    if (search.depth == SEARCH_STEPS)
        explorer_fail(__FILE__, __LINE__, "livelock: %d steps and no end",
                      SEARCH_STEPS);
    runnable = machine_runnable();
    if (runnable == 0) {
        conclude();
        return -1;
    }
    search.states++;
    step->runnable = (uint8_t)runnable;
    step->tried = 0;
    step->asleep =
        search.mode == SEARCH_ALL ? (uint8_t)still_asleep() : (uint8_t)0;
    candidates = runnable & ~step->asleep;
    if (candidates == 0) {
        machine.outcome = OUTCOME_CUT;
        return -1;
    }
    chosen = search.mode == SEARCH_RANDOM ? choose_at_random(candidates)
                                          : choose_from(candidates);
    step->planned =
        (uint8_t)(search.mode == SEARCH_BOUNDED ? runnable : 1u << chosen);
    step->preemptions =
        (uint8_t)preemptions_with(search.depth, runnable, (unsigned)chosen);
    return begin_step(chosen);
}

int
search_choose(void)
{
    return search.depth < search.planned ? repeat() : choose_new();
}

/* ---- Between executions ---- */

void
search_begin(enum search_mode mode, unsigned bound, uint64_t seed)
{
    search.mode = mode;
    search.bound = bound < 16 ? bound : 16;
    search.random = seed * 2 + 1;
    search.planned = 0;
    search.depth = 0;
    search.deepest = 0;
    search.states = 0;
    memset(search.buckets, 0, sizeof(search.buckets));
}

void
search_plan(const uint8_t *threads, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        search.steps[i].thread = threads[i];
    search.planned = count;
}

void
search_rewind(void)
{
    search.depth = 0;
    search.run_end = 0;
    if (search.mode != SEARCH_RANDOM)
        return;
    for (int i = 0; i < EXPLORER_THREADS; i++)
        search.priorities[i] = (int)(random_next() >> 34);
    for (unsigned i = 0; i < search.bound; i++)
        search.falls[i] = (unsigned)(random_next() % (search.deepest + 1));
}

// A thread still to be tried at this step; -1 when there is none.
static int
untried(unsigned index)
{
    const struct step *step = &search.steps[index];
    unsigned set = step->planned & ~step->tried & ~step->asleep;

    for (; set != 0; set &= set - 1) {
        unsigned thread = (unsigned)__builtin_ctz(set);

        if (search.mode == SEARCH_ALL ||
            preemptions_with(index, step->runnable, thread) <= search.bound)
            return (int)thread;
    }
    return -1;
}

bool
search_next(void)
{
    if (search.deepest < search.depth)
        search.deepest = search.depth;
    if (search.mode == SEARCH_RANDOM)
        return true;
    if (search.mode == SEARCH_REPLAY)
        return false;
    for (unsigned i = search.depth; i-- > 0;) {
        struct step *step = &search.steps[i];
        int thread;

        if (search.mode == SEARCH_ALL)
            unfile_step(i);
        step->tried |= (uint8_t)(1u << step->thread);
        thread = untried(i);
        if (thread < 0)
            continue;
        step->preemptions =
            (uint8_t)preemptions_with(i, step->runnable, (unsigned)thread);
        step->thread = (uint8_t)thread;
        search.planned = i + 1;
        return true;
    }
    return false;
}
