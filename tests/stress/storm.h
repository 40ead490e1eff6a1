/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every storm shares: seeds, sizes, totals, tagged messages, the ledger
 * that says whether each message ended exactly once, and a watchdog.
 *
 * Environment
 *   LBX_SEED=n         the seed to repeat; every test prints its own
 *   LBX_FULL=1         the long form, as --full gives it
 *   LBX_TEST_SCALE=x   every count times x; floors are then not checked
 */
#ifndef LBX_TEST_STRESS_STORM_H
#define LBX_TEST_STRESS_STORM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <letterbox/base.h>

enum {
    STORM_LINE = 128,       // keeps two threads' words apart
    STORM_STALL_MS = 30000, // for hangs only: a busy machine is no stall
    STORM_CONTROL_MS = 300, // its patience with what must stall
    STORM_WORKERS_MOST = 16,
};

/* ---- Seeds and sizes ---- */

struct storm_random {
    uint64_t state;
};

/* Prints the seed and gives it; every test calls it first. */
uint64_t storm_begin(void);

/* A generator of its own for thread `index` of a run. */
struct storm_random storm_random_of(uint64_t seed, unsigned index);
uint64_t storm_random_next(struct storm_random *random);
/* Below `limit`, which is not 0. */
uint32_t storm_random_below(struct storm_random *random, uint32_t limit);
/* True once in `n`. */
bool storm_once_in(struct storm_random *random, uint32_t n);

/* The count for this build, scaled as the environment says. `full` is by how
 * much the long form is longer. */
uint64_t storm_count(uint64_t plain, uint64_t asan, uint64_t tsan,
                     unsigned full);
/* True when nothing was scaled down, so that floors must be reached. */
bool storm_is_unscaled(void);
bool storm_is_tsan(void);
bool storm_is_asan(void);

/* Keeps the processor busy for about `rounds` short moments. */
void storm_spin(unsigned rounds);
/* A new deadline, `us` microseconds from now. */
int64_t storm_deadline_us(unsigned us);

/* ---- Totals over all tests of the program, across their processes ---- */

enum storm_total {
    STORM_OPERATIONS, // calls that moved a message
    STORM_PARKS,      // times a thread slept in the kernel and was woken
    STORM_WAKES,      // polls that answered PENDING and were then woken
    STORM_CANCELS,    // operations given up while they waited
    STORM_RUNS,
    STORM_TOTALS,
};

void storm_add(enum storm_total total, uint64_t count);
uint64_t storm_sum(enum storm_total total);

/* ---- Messages ---- */

/* A number as a message, spread over all 64 bits; number 0 is NULL. */
void *storm_message(uint64_t number);
uint64_t storm_number(const void *message);

/*
 * The ledger: every message has a number below `size`, belongs to one sending
 * thread and must end (be received, lost or destroyed) exactly once if it
 * was sent, and not at all if it was not.
 */
enum storm_fate {
    STORM_OUT = 0, // never sent, or given back
    STORM_IN,      // a send answered LBX_OK
    STORM_UNKNOWN, // the send was dropped without asking
};

struct ledger {
    size_t size;
    uint8_t *fates;              // written by the sender of each number
    uint8_t *ranks;              // the same; read by the receiver
    _Atomic(uint8_t) *ends;      // how often it was received, lost or destroyed
    _Atomic(uint64_t) strangers; // messages that were not sent
};

struct ledger_report {
    uint64_t in;
    uint64_t ended;
    uint64_t lost;      // sent and never ended
    uint64_t phantom;   // ended and never sent, or no number of ours
    uint64_t duplicate; // ended more than once
    uint64_t recovered; // unknown, and ended once
    uint64_t bad;       // lost + phantom + duplicate
};

void ledger_init(struct ledger *ledger, size_t size);
void ledger_fini(struct ledger *ledger);
/* Notes the end of a message and gives its number; SIZE_MAX for a stranger. */
size_t ledger_end(struct ledger *ledger, const void *message);
/* When all is quiet and drained. */
struct ledger_report ledger_check(const struct ledger *ledger);

/* ---- The watchdog ---- */

struct storm_beat {
    _Alignas(STORM_LINE) _Atomic(uint64_t) count; // UINT64_MAX: finished
};

struct storm_watch {
    struct storm_beat beats[STORM_WORKERS_MOST];
    unsigned workers;
    unsigned patience_ms;
    /* Called when a worker made no progress for so long; what it returns
     * false for is reported as a failed test. */
    bool (*stalled)(void *context, unsigned worker, uint64_t count);
    void *context;
    _Atomic(unsigned) stalls;
    int stop_fd;
    pthread_t *thread;
};

void storm_watch_start(struct storm_watch *watch, unsigned workers,
                       unsigned patience_ms,
                       bool (*stalled)(void *context, unsigned worker,
                                       uint64_t count),
                       void *context);
/* Returns how many stalls there were. */
unsigned storm_watch_stop(struct storm_watch *watch);
void storm_beat(struct storm_watch *watch, unsigned worker);
void storm_beat_end(struct storm_watch *watch, unsigned worker);

/* How often the calling thread has slept in the kernel. */
uint64_t storm_thread_parks(void);
/* Keeps the calling thread on one processor; false where it cannot. */
bool storm_pin(unsigned processor);

#endif
