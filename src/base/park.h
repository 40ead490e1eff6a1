/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parking: how a thread waits without using the processor.
 *
 * A futex per waiter, nothing else; the system's own (Linux) behind a seam
 * that the explorer replaces. Only this room parks threads.
 */
#ifndef LBX_BASE_PARK_H
#define LBX_BASE_PARK_H

#include "base/atomic.h"
#include <stdbool.h>
#include <stdint.h>

/* Sleeps while *word == expected, until woken or for at most `wait_ns` (a
 * negative one: for ever). May return early for no reason. */
void lbx__futex_wait(_Atomic(uint32_t) *word, uint32_t expected,
                     int64_t wait_ns);

/* Wakes up to `count` threads that sleep on `word`. Only the address is
 * compared: the memory may be freed already. */
void lbx__futex_wake(_Atomic(uint32_t) *word, int count);

/* The same two for a word in memory that processes share. */
void lbx__futex_wait_shared(_Atomic(uint32_t) *word, uint32_t expected,
                            int64_t wait_ns);
void lbx__futex_wake_shared(_Atomic(uint32_t) *word, int count);

/* Reports whether lbx__barrier_all() works here. */
bool lbx__barrier_ready(void);

/* Makes every other thread of this process pass a full memory barrier before
 * it returns. False where the system cannot: then the caller must not rely on
 * it. Costs microseconds. */
bool lbx__barrier_all(void);

/* A hint inside a spin loop. */
void lbx__pause(void);

/* How often to spin before parking; the explorer goes straight to the point. */
#ifdef LBX_SYSTEMATIC
#define LBX__SPINS(count) 0
#else
#define LBX__SPINS(count) (count)
#endif

/* Lets another thread run; for the rare waits that no wake-up ends. */
void lbx__yield(void);

/* An identity of the calling thread: an address, never 0. */
uintptr_t lbx__thread_self(void);

/* A small number of the calling thread, from 0 and unique among living threads
 * below LBX__THREADS; threads that found none free all get LBX__THREADS.
 * Numbers of ended threads are used again. */
enum {
    LBX__THREADS = 1024
};
unsigned lbx__thread_index(void);

/* A variable that each thread has for itself: LBX__LOCAL(int, mine) and
 * lbx__local(mine). The explorer's threads share one of the system's; it starts
 * the variables afresh each time. */
#ifdef LBX_SYSTEMATIC
#define LBX__LOCAL(type, name)                                                 \
    __attribute__((section("lbx_local"))) type name[8]
#define lbx__local(name) ((name)[lbx__thread_index()])
#else
#define LBX__LOCAL(type, name) _Thread_local type name[1]
#define lbx__local(name)       ((name)[0])
#endif

/* What a thread remembers while it has its number; zeroed when the number is
 * released. The thread may still run then, in other destructors of its locals,
 * while another thread has the number. */
typedef struct lbx__memo {
    uint64_t key; /* 0: nothing */
    void *value;
} lbx__memo;
extern LBX__LOCAL(lbx__memo, lbx__thread_memo);

#endif
