/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that fails on command and keeps the books.
 *
 *     static void
 *     create_once(struct torture *memory, void *context)
 *     {
 *         lbx_allocator allocator = torture_allocator(memory);
 *         ... create with &allocator, use, destroy; check that a failure
 *         ... is LBX_NO_MEMORY and nothing else changed
 *     }
 *
 *     TEST(create_survives_every_failing_allocation)
 *     {
 *         CHECK(torture_every_allocation(create_once, NULL) > 0);
 *     }
 *
 * A block is guarded on both sides, filled with junk when it is handed out
 * and when it comes back, aligned to exactly what was asked for, and must be
 * released with the size it was asked for. Anything else fails the test.
 *
 * Threads: an allocator may be used from any.
 */
#ifndef LBX_TEST_SUPPORT_TORTURE_H
#define LBX_TEST_SUPPORT_TORTURE_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include <letterbox/base.h>

struct torture {
    /* Yours to set before use. */
    long allowed; /* this many allocations succeed; the next one fails */
    bool once;    /* only that one fails; otherwise all after it as well */

    /* To read when no other thread is using it. */
    long allocations;   /* calls of allocate, failed ones included */
    long failures;      /* of these, made to fail */
    long live_blocks;   /* handed out and not yet released */
    size_t live_bytes;  /* as asked for */
    size_t most_bytes;  /* the most that live_bytes has been */
    size_t total_bytes; /* ever handed out */

    pthread_mutex_t lock;
};

/* Memory that never fails, for counting and for the checks. */
#define TORTURE_INIT                                                           \
    {                                                                          \
        .allowed = LONG_MAX, .lock = PTHREAD_MUTEX_INITIALIZER                 \
    }

/* Declares memory that never fails and its allocator. */
#define TORTURE(memory, allocator)                                             \
    struct torture memory = TORTURE_INIT;                                      \
    const lbx_allocator allocator = torture_allocator(&memory)

/* The allocator that draws on `memory`; copy it freely. A struct torture that
 * was only given its first fields is ready for use too. */
lbx_allocator torture_allocator(struct torture *memory);

/* What a fault test runs. It must leave nothing allocated. */
typedef void torture_body(struct torture *memory, void *context);

/* Runs `body` with allocation 1 failing, then 2, and so on until a run makes
 * do without a failure; each time failing once, and failing from there on.
 * Checks after each run that nothing is left. Returns how many allocations
 * were made to fail in turn: 0 means the body does not allocate. */
long torture_every_allocation(torture_body *body, void *context);

#endif
