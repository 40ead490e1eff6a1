/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parking on Linux: futex, membarrier, thread numbers.
 */
#include "base/park.h"

#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void
futex_wait(_Atomic(uint32_t) *word, int how, uint32_t expected, int64_t wait_ns)
{
    struct timespec limit = {
        .tv_sec = (time_t)(wait_ns / 1000000000),
        .tv_nsec = (long)(wait_ns % 1000000000),
    };

    // Every error means "check again": the word changed, a signal, time is up.
    (void)syscall(SYS_futex, word, how, expected, wait_ns < 0 ? NULL : &limit,
                  NULL, 0);
}

void
lbx__futex_wait(_Atomic(uint32_t) *word, uint32_t expected, int64_t wait_ns)
{
    futex_wait(word, FUTEX_WAIT_PRIVATE, expected, wait_ns);
}

void
lbx__futex_wait_shared(_Atomic(uint32_t) *word, uint32_t expected,
                       int64_t wait_ns)
{
    futex_wait(word, FUTEX_WAIT, expected, wait_ns);
}

void
lbx__futex_wake(_Atomic(uint32_t) *word, int count)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

void
lbx__futex_wake_shared(_Atomic(uint32_t) *word, int count)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
}

static pthread_once_t barrier_once = PTHREAD_ONCE_INIT;
static bool barrier_works;

static void
barrier_register(void)
{
    barrier_works =
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0,
                0) == 0;
}

bool
lbx__barrier_ready(void)
{
    return pthread_once(&barrier_once, barrier_register) == 0 && barrier_works;
}

bool
lbx__barrier_all(void)
{
    if (!lbx__barrier_ready())
        return false;
    return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void
lbx__pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

void
lbx__yield(void)
{
    sched_yield();
}

uintptr_t
lbx__thread_self(void)
{
    static _Thread_local char self;

    return (uintptr_t)&self;
}

/* Thread numbers: a bitmap of those in use. A thread takes the lowest free one
 * at its first call and releases it when it ends. */
enum {
    NUMBERS = LBX__THREADS,
    BITS = 64
};

static _Atomic(uint64_t) numbers[NUMBERS / BITS];
static pthread_key_t number_key;
static pthread_once_t number_once = PTHREAD_ONCE_INIT;
static bool number_key_works;
static _Thread_local unsigned mine; // number + 1; 0: none yet

LBX__LOCAL(lbx__memo, lbx__thread_memo);

static void
thread_release_number(void *value)
{
    unsigned number = (unsigned)((uintptr_t)value - 1);

    mine = 0;
    lbx__local(lbx__thread_memo) = (lbx__memo){0};
    // Release: what this thread did under its number comes before what
    // the next holder does.
    (void)lbx__and(&numbers[number / BITS], ~((uint64_t)1 << (number % BITS)),
                   release);
}

static void
thread_make_key(void)
{
    number_key_works =
        pthread_key_create(&number_key, thread_release_number) == 0;
}

static unsigned
thread_take_number(void)
{
    for (unsigned i = 0; i < NUMBERS / BITS; i++) {
        uint64_t used = lbx__load(&numbers[i], relaxed);

        while (used != UINT64_MAX) {
            unsigned bit = (unsigned)__builtin_ctzll(~used);

            // Acquire: pairs with the release in thread_release_number().
            if (lbx__cas(&numbers[i], &used, used | (uint64_t)1 << bit,
                         acquire))
                return i * BITS + bit;
        }
    }
    return NUMBERS;
}

unsigned
lbx__thread_index(void)
{
    if (mine == 0) {
        unsigned number = NUMBERS;

        if (pthread_once(&number_once, thread_make_key) == 0 &&
            number_key_works)
            number = thread_take_number();
        mine = number + 1;
        if (number < NUMBERS &&
            pthread_setspecific(number_key, (void *)(uintptr_t)mine) != 0) {
            thread_release_number((void *)(uintptr_t)mine);
            mine = NUMBERS + 1;
        }
    }
    return mine - 1;
}
