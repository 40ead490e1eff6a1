/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The explorer's own proof, by comparison.
 *
 * Random little programs of two or three threads, over a few words, made of
 * every operation that the machine knows, are run twice: through every
 * schedule there is, and through those that SEARCH_ALL keeps. The set of ends
 * (what every thread saw, what memory holds, which threads still sleep) must be
 * the same: an end that only brute force finds is a hole in the reduction.
 */
#include "selfcheck.h"

#include "base/atomic.h"
#include "base/park.h"
#include "explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORDS = 3,
    LENGTH = 4,
    MOST_ENDS = 4096,
    MOST_RUNS = 300000
};

enum instruction {
    LOAD,
    STORE,
    ADD,
    CAS,
    WAIT,     /* while the word is 0 */
    WAIT_FOR, /* the same, with a limit */
    WAKE,
    SPIN, /* until the word is not 0 */
    CLOCK,
    INSTRUCTIONS,
};

static struct {
    struct {
        enum instruction what;
        unsigned word;
    } code[EXPLORER_THREADS][LENGTH];
    unsigned length;
} program;

static struct {
    _Atomic(uint32_t) words[WORDS];
    uint64_t seen[EXPLORER_THREADS];
} world;

struct ends {
    uint64_t hashes[MOST_ENDS];
    unsigned count;
    uint64_t runs;
};

static uint64_t
mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0xff51afd7ed558ccdull;
    return hash ^ hash >> 32;
}

static void
setup(void)
{
    memset(&world, 0, sizeof(world));
}

static uint64_t
spin(_Atomic(uint32_t) *word)
{
    for (;;) {
        uint32_t seen = lbx__load(word, seq_cst);

        if (seen != 0)
            return seen;
        lbx__pause();
    }
}

static uint64_t
perform(enum instruction what, _Atomic(uint32_t) *word)
{
    uint32_t seen = 0;

    switch (what) {
    case LOAD:
        return lbx__load(word, seq_cst);
    case STORE:
        lbx__store(word, (uint32_t)explorer_thread() % 2, seq_cst);
        return 0;
    case ADD:
        return lbx__add(word, 1, seq_cst);
    case CAS:
        return lbx__cas(word, &seen, 7u, seq_cst) ? 7 : seen;
    case WAIT:
        lbx__futex_wait(word, 0, -1);
        return 0;
    case WAIT_FOR:
        lbx__futex_wait(word, 0, LBX_MS);
        return 0;
    case WAKE:
        lbx__futex_wake(word, 1);
        return 0;
    case SPIN:
        return spin(word);
    default:
        return (uint64_t)explorer_clock.now_ns(NULL);
    }
}

static void
run(void)
{
    int thread = explorer_thread();

    for (unsigned i = 0; i < program.length; i++)
        world.seen[thread] =
            mix(world.seen[thread],
                perform(program.code[thread][i].what,
                        &world.words[program.code[thread][i].word]));
}

static void
finish(void)
{
}

static uint64_t
hash_end(enum outcome outcome)
{
    uint64_t hash = mix(1, outcome);

    for (unsigned i = 0; i < WORDS; i++)
        hash = mix(hash, lbx__peek(&world.words[i]));
    for (unsigned i = 0; i < machine.thread_count; i++)
        hash = mix(mix(hash, world.seen[i]), machine.threads[i].state);
    return hash;
}

static void
note(struct ends *ends, uint64_t hash)
{
    for (unsigned i = 0; i < ends->count; i++) {
        if (ends->hashes[i] == hash)
            return;
    }
    if (ends->count < MOST_ENDS)
        ends->hashes[ends->count++] = hash;
}

// False when there are too many schedules to wait for.
static bool
collect(const struct scenario *scenario, enum search_mode mode,
        struct ends *ret)
{
    ret->count = 0;
    ret->runs = 0;
    machine.frozen = -1;
    machine_set_mutant(NULL);
    search_begin(mode, 15, 1);
    do {
        enum outcome outcome = machine_run(scenario);

        if (outcome != OUTCOME_CUT)
            note(ret, hash_end(outcome));
        if (outcome == OUTCOME_FAILED && !strstr(machine.failure, "all thr") &&
            !strstr(machine.failure, "livelock")) {
            printf("# %s\n", machine.failure);
            exit(2);
        }
        if (++ret->runs > MOST_RUNS)
            return false;
    } while (search_next());
    return ret->count < MOST_ENDS;
}

static bool
includes(const struct ends *all, const struct ends *some)
{
    for (unsigned i = 0; i < some->count; i++) {
        unsigned j = 0;

        while (j < all->count && all->hashes[j] != some->hashes[i])
            j++;
        if (j == all->count)
            return false;
    }
    return true;
}

static uint64_t
make_program(uint64_t random, unsigned threads)
{
    program.length = threads == 2 ? LENGTH : LENGTH - 2;
    for (unsigned t = 0; t < threads; t++) {
        for (unsigned i = 0; i < program.length; i++) {
            random = random * 6364136223846793005ull + 1442695040888963407ull;
            program.code[t][i].what = (random >> 33) % INSTRUCTIONS;
            program.code[t][i].word = (unsigned)(random >> 53) % WORDS;
        }
    }
    return random;
}

static void
print_program(unsigned threads)
{
    static const char *const names[] = {"load", "store", "add",
                                        "cas",  "wait",  "wait-for",
                                        "wake", "spin",  "clock"};

    for (unsigned t = 0; t < threads; t++) {
        printf("# thread %u:", t);
        for (unsigned i = 0; i < program.length; i++)
            printf(" %s(%u)", names[program.code[t][i].what],
                   program.code[t][i].word);
        printf("\n");
    }
}

bool
selfcheck(uint64_t seed, unsigned programs, struct selfcheck *ret)
{
    static struct ends reduced;
    static struct ends brute;
    uint64_t random = seed;

    memset(ret, 0, sizeof(*ret));
    for (unsigned i = 0; i < programs; i++) {
        unsigned threads = 2 + i % 2;
        struct scenario scenario = {.name = "selfcheck",
                                    .setup = setup,
                                    .thread = {run, run, NULL},
                                    .finish = finish};

        if (threads == 3)
            scenario.thread[2] = run;
        random = make_program(random, threads);
        if (!collect(&scenario, SEARCH_BOUNDED, &brute) ||
            !collect(&scenario, SEARCH_ALL, &reduced))
            continue;
        ret->programs++;
        ret->interleavings += reduced.runs;
        ret->brute += brute.runs;
        ret->ends += reduced.count;
        if (!includes(&reduced, &brute) || !includes(&brute, &reduced)) {
            printf("# program %u: %u ends of %u by brute force\n", i,
                   reduced.count, brute.count);
            print_program(threads);
            return false;
        }
    }
    return true;
}
