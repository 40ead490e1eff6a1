/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every storm shares: see storm.h.
 *
 * STORM-1  The totals live in memory that is shared by all children of the
 *          program, because each test is a process of its own.
 * STORM-2  A message's number and its 64 bits determine each other, so that a
 *          torn or invented message is, all but surely, a stranger to the
 *          ledger.
 */
#include "stress/storm.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "support/test.h"

#if defined(__has_feature)
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif

bool
storm_is_tsan(void)
{
#if defined(__SANITIZE_THREAD__) || HAS_FEATURE(thread_sanitizer)
    return true;
#else
    return false;
#endif
}

bool
storm_is_asan(void)
{
#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer)
    return true;
#else
    return false;
#endif
}

/* ---- Seeds and sizes ---- */

static uint64_t seed;
static double scale = 1.0;
static bool asked_for_full;
static _Atomic(uint64_t) *totals; // STORM-1

__attribute__((constructor)) static void
storm_prepare(void)
{
    const char *text = getenv("LBX_SEED");
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    seed = text ? strtoull(text, NULL, 0)
                : (uint64_t)now.tv_sec * 1000003u + (uint64_t)now.tv_nsec;

    text = getenv("LBX_TEST_SCALE");
    if (text && strtod(text, NULL) > 0)
        scale = strtod(text, NULL);

    text = getenv("LBX_FULL");
    asked_for_full = text && strcmp(text, "0") != 0 && text[0] != '\0';
    if (asked_for_full)
        setenv("CK_TIMEOUT_MULTIPLIER", "1000", 0); // Check's own

    totals = mmap(NULL, STORM_TOTALS * sizeof(*totals), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (totals == MAP_FAILED)
        abort();
}

uint64_t
storm_begin(void)
{
    test_note("seed %" PRIu64 " (LBX_SEED)", seed);
    return seed;
}

struct storm_random
storm_random_of(uint64_t run_seed, unsigned index)
{
    struct storm_random random = {run_seed * 0x9E3779B97F4A7C15u + index};

    storm_random_next(&random);
    return random;
}

// SplitMix64.
uint64_t
storm_random_next(struct storm_random *random)
{
    uint64_t mixed = random->state += 0x9E3779B97F4A7C15u;

    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}

uint32_t
storm_random_below(struct storm_random *random, uint32_t limit)
{
    return (uint32_t)(((storm_random_next(random) >> 32) * limit) >> 32);
}

bool
storm_once_in(struct storm_random *random, uint32_t n)
{
    return storm_random_below(random, n) == 0;
}

uint64_t
storm_count(uint64_t plain, uint64_t asan, uint64_t tsan, unsigned full)
{
    double count = (double)(storm_is_tsan()   ? tsan
                            : storm_is_asan() ? asan
                                              : plain);

    count *= scale * (asked_for_full || test_is_full() ? full : 1);
    return count < 1 ? 1 : (uint64_t)count;
}

bool
storm_is_unscaled(void)
{
    return scale >= 1.0;
}

void
storm_spin(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#else
        __asm__ volatile("");
#endif
    }
}

int64_t
storm_deadline_us(unsigned us)
{
    return lbx_deadline_after(NULL, us * LBX_US);
}

/* ---- Totals ---- */

void
storm_add(enum storm_total total, uint64_t count)
{
    atomic_fetch_add(&totals[total], count);
}

uint64_t
storm_sum(enum storm_total total)
{
    return atomic_load(&totals[total]);
}

/* ---- Messages ---- */

#define SPREAD   UINT64_C(0x9E3779B97F4A7C15)
#define UNSPREAD UINT64_C(0xF1DE83E19937733D) // SPREAD * UNSPREAD == 1

void *
storm_message(uint64_t number)
{
    return (void *)(uintptr_t)(number * SPREAD);
}

uint64_t
storm_number(const void *message)
{
    return (uint64_t)(uintptr_t)message * UNSPREAD; // STORM-2
}

void
ledger_init(struct ledger *ledger, size_t size)
{
    *ledger = (struct ledger){.size = size};
    ledger->fates = calloc(size, 1);
    ledger->ranks = calloc(size, 1);
    ledger->ends = calloc(size, sizeof(*ledger->ends));
    CHECK(ledger->fates && ledger->ranks && ledger->ends);
}

void
ledger_fini(struct ledger *ledger)
{
    free(ledger->fates);
    free(ledger->ranks);
    free(ledger->ends);
}

size_t
ledger_end(struct ledger *ledger, const void *message)
{
    uint64_t number = storm_number(message);

    if (number >= ledger->size) {
        atomic_fetch_add(&ledger->strangers, 1);
        return SIZE_MAX;
    }
    // Relaxed: only counted, and read after the threads were joined.
    atomic_fetch_add_explicit(&ledger->ends[number], 1, memory_order_relaxed);
    return (size_t)number;
}

struct ledger_report
ledger_check(const struct ledger *ledger)
{
    struct ledger_report report = {
        .phantom = atomic_load(&ledger->strangers),
    };

    for (size_t i = 0; i < ledger->size; i++) {
        unsigned ends =
            atomic_load_explicit(&ledger->ends[i], memory_order_relaxed);

        report.in += ledger->fates[i] == STORM_IN;
        report.ended += ends > 0;
        report.duplicate += ends > 1;
        report.lost += ledger->fates[i] == STORM_IN && ends == 0;
        report.phantom += ledger->fates[i] == STORM_OUT && ends > 0;
        report.recovered += ledger->fates[i] == STORM_UNKNOWN && ends == 1;
    }
    report.bad = report.lost + report.phantom + report.duplicate;
    return report;
}

/* ---- The watchdog ---- */

enum {
    TICK_MS = 50
};

// Counts its own ticks and not the time, so that a machine which gives it no
// processor is not taken for a stall.
static void *
watch(void *argument)
{
    struct storm_watch *watch = argument;
    struct pollfd stop = {.fd = watch->stop_fd, .events = POLLIN};
    uint64_t seen[STORM_WORKERS_MOST] = {0};
    unsigned quiet[STORM_WORKERS_MOST] = {0};

    while (poll(&stop, 1, TICK_MS) <= 0) {
        for (unsigned i = 0; i < watch->workers; i++) {
            uint64_t count = atomic_load_explicit(&watch->beats[i].count,
                                                  memory_order_relaxed);

            if (count == UINT64_MAX || count != seen[i]) {
                seen[i] = count;
                quiet[i] = 0;
                continue;
            }
            if (++quiet[i] * TICK_MS < watch->patience_ms)
                continue;
            quiet[i] = 0;
            atomic_fetch_add(&watch->stalls, 1);
            if (!watch->stalled(watch->context, i, count))
                FAIL("worker %u made no progress for %u ms after %" PRIu64
                     " rounds; seed %" PRIu64,
                     i, watch->patience_ms, count, seed);
        }
    }
    return NULL;
}

void
storm_watch_start(struct storm_watch *watched, unsigned workers,
                  unsigned patience_ms,
                  bool (*stalled)(void *context, unsigned worker,
                                  uint64_t count),
                  void *context)
{
    CHECK(workers <= STORM_WORKERS_MOST);
    memset(watched, 0, sizeof(*watched));
    watched->workers = workers;
    watched->patience_ms = patience_ms;
    watched->stalled = stalled;
    watched->context = context;
    watched->stop_fd = eventfd(0, EFD_CLOEXEC);
    CHECK(watched->stop_fd >= 0);
    watched->thread = malloc(sizeof(*watched->thread));
    CHECK(watched->thread != NULL);
    CHECK(pthread_create(watched->thread, NULL, watch, watched) == 0);
}

unsigned
storm_watch_stop(struct storm_watch *watched)
{
    uint64_t one = 1;

    CHECK(write(watched->stop_fd, &one, sizeof(one)) == sizeof(one));
    CHECK(pthread_join(*watched->thread, NULL) == 0);
    free(watched->thread);
    close(watched->stop_fd);
    return atomic_load(&watched->stalls);
}

void
storm_beat(struct storm_watch *watched, unsigned worker)
{
    _Atomic(uint64_t) *count = &watched->beats[worker].count;

    // Relaxed, and no read-modify-write: one writer, and only ever compared.
    atomic_store_explicit(count,
                          atomic_load_explicit(count, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

void
storm_beat_end(struct storm_watch *watched, unsigned worker)
{
    atomic_store_explicit(&watched->beats[worker].count, UINT64_MAX,
                          memory_order_relaxed);
}

uint64_t
storm_thread_parks(void)
{
    struct rusage usage;

    CHECK(getrusage(RUSAGE_THREAD, &usage) == 0);
    return (uint64_t)usage.ru_nvcsw;
}

bool
storm_pin(unsigned processor)
{
    cpu_set_t allowed;
    cpu_set_t one;

    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
        return false;
    processor %= (unsigned)CPU_COUNT(&allowed);
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, &allowed) || processor-- != 0)
            continue;
        CPU_ZERO(&one);
        CPU_SET(i, &one);
        return sched_setaffinity(0, sizeof(one), &one) == 0;
    }
    return false;
}
