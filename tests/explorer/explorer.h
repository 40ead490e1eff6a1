/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interleaving explorer, as its scenarios see it.
 *
 * A scenario is a handful of threads, each a plain function over the code
 * under test, that the explorer runs again and again until it has been through
 * every order that could make a difference. The code under test is compiled
 * with LBX_SYSTEMATIC: each atomic operation is a point where the explorer may
 * go on with another thread.
 *
 *     static struct { _Atomic(int) x; int seen; } world;
 *
 *     static void setup(void)  { memset(&world, 0, sizeof(world)); }
 *     static void writer(void) { lbx__store(&world.x, 1, release); }
 *     static void reader(void) { world.seen = lbx__load(&world.x, acquire); }
 *     static void finish(void) { EXPECT(world.seen == 0 || world.seen == 1); }
 *
 * Rules for scenarios:
 * - setup() makes the world the same each time: threads behave alike when
 *   scheduled alike. The explorer stops on a difference.
 * - Plain variables belong to one thread until finish(), which runs alone
 *   after all threads have ended. What must be compared across threads is
 *   kept per thread and compared there.
 * - Memory comes from explorer_memory, time from explorer_clock.
 * - finish() destroys what setup() and the threads have created: a leak is a
 *   failure.
 *
 * What counts as a failure: an EXPECT or assert() that does not hold; all
 * threads asleep (a lost wake-up) or spinning; a crash; a leak, a double free,
 * an atomic operation or a write on freed memory.
 *
 * What is not covered: weak memory. Operations take effect in one order, as if
 * all were seq_cst; ThreadSanitizer and the tests under stress look at the
 * rest.
 */
#ifndef LBX_EXPLORER_EXPLORER_H
#define LBX_EXPLORER_EXPLORER_H

#include <letterbox/base.h>

enum {
    EXPLORER_THREADS = 4
};

struct scenario {
    const char *name; /* "family/what-happens" */
    /* A twin: the same scenario with a planted bug, which must be found. Says
     * what is wrong; NULL for scenarios that must hold. */
    const char *bug;
    /* Names the bug to the scenario or to an entry of planted.txt
     * (explorer_mutant()), or to the machine
     * ("lost-wake" ...; see machine.h). */
    const char *mutant;

    void (*setup)(void);
    void (*thread[EXPLORER_THREADS])(void); /* up to the first NULL */
    void (*finish)(void);

    /* Preemptions allowed in the short form and with --full; 0 is no limit,
     * and every order that makes a difference is tried. */
    unsigned bound;
    unsigned full_bound;

    bool full_only;    /* too large for the short form */
    bool reuse_memory; /* freed memory is handed out again at once, as malloc
                          does: finds what trusts that an address is new */
    bool impatient;    /* spins go round and round instead of waiting for a
                          change: for code that gives up after a count */
    int lose;   /* 1 + a thread whose changes to shared memory are lost, the
                   first in one search, the second in the next, and so on: most
                   of these twins must fail */
    int freeze; /* 1 + a thread that may be stopped anywhere for ever:
                   the others must finish all the same */
};

/* Rows of a table of scenarios; what else a row needs is written out:
 *
 *     SCENARIO("close/at-once", setup, finish, THREADS(send, close),
 *              BOUND(2, 3)),
 *     TWIN("close/forgets-senders", "close-forgets-senders",
 *          "a close does not look at waiting sends"),
 *     LOSING("close/losing-a-sender's-changes", 1 + 0),
 *
 * Rows without a setup have the setup, the threads and the finish of the row
 * above them, and nothing else of it. */
#define SCENARIO(name_, setup_, finish_, ...)                                  \
    {                                                                          \
        .name = name_, .setup = setup_, .finish = finish_, __VA_ARGS__         \
    }
#define THREADS(...)           .thread = {__VA_ARGS__}
#define PLANTED(mutant_, bug_) .mutant = mutant_, .bug = bug_
#define BOUND(short_, full)    .bound = short_, .full_bound = full

/* A setup, a thread or a finish that makes one call, or one after another:
 *
 *     STEP(send_2, send(), send())
 */
#define STEP(name, ...)                                                        \
    static void name(void)                                                     \
    {                                                                          \
        __VA_ARGS__;                                                           \
    }

/* The same threads otherwise; with a planted bug, and what is wrong then; with
 * a wake-up that is lost; with `.lose`. */
#define ALSO(name_, ...)                                                       \
    {                                                                          \
        .name = name_, __VA_ARGS__                                             \
    }
#define TWIN(name_, mutant_, ...)                                              \
    ALSO(name_, .mutant = mutant_, .bug = __VA_ARGS__)
#define LOST_WAKE(...) LOST_WAKE_ROW(__VA_ARGS__, .lose = 0)
#define LOST_WAKE_ROW(name_, ...)                                              \
    TWIN(name_, "lost-wake", "the system swallows a wake-up", __VA_ARGS__)
#define LOSING(name_, ...) ALSO(name_, .lose = __VA_ARGS__)

#define EXPECT(condition)                                                      \
    ((condition)                                                               \
         ? (void)0                                                             \
         : explorer_fail(__FILE__, __LINE__, "EXPECT(%s)", #condition))

#define EXPECT_OK(expression) explorer_expect_ok(__FILE__, __LINE__, expression)
void explorer_expect_ok(const char *file, int line, lbx_status status);

/* Ends this execution: the scenario has failed. */
_Noreturn void explorer_fail(const char *file, int line, const char *format,
                             ...) __attribute__((format(printf, 3, 4)));

/* Memory that is checked and starts afresh with each execution. */
extern const lbx_allocator explorer_memory;

/* Time that stands still but for sleeps that run out. A sleep with a limit may
 * run out at any moment, as far as the search is concerned. */
extern const lbx_clock explorer_clock;

/* The number of the running thread, from 0; -1 in setup() and finish(). */
int explorer_thread(void);

/* The thread that the library made in setup(), the first, the second...: its
 * number in the scenario. Joining it waits for the end of this. */
void explorer_be_thread(unsigned which);

/* True in a twin whose mutant has this name; for bugs in scenarios. */
bool explorer_mutant(const char *name);

#endif
