/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the queue tests have in common: numbered items that notice when they
 * are torn, memory that keeps the books, and lanes of every type.
 *
 *     struct item one = item_of(1);
 *
 *     CHECK_INT(0, lbx__lane_push(&lane, one.words, false));
 *     CHECK_INT(1, lane_take(&lane));
 *
 * Everything here fails the test when it does not go as its name says. Each
 * test is a process of its own, so `memory` is fresh in every one.
 */
#ifndef LBX_TEST_QUEUE_FIXTURE_H
#define LBX_TEST_QUEUE_FIXTURE_H

#include "queue/lane.h"
#include "support/test.h"
#include "support/threads.h"
#include "support/torture.h"

/* ---- Items ---- */

/* Every word of an item follows from its number; number 0 is the NULL
 * message. */
struct item {
    uint64_t words[LBX__ENVELOPE];
};

struct item item_of(uint64_t number);

/* The same with a priority, which is not checked. */
struct item item_urgent(uint64_t number, int32_t priority, unsigned words);

/* The number of an item; fails when its words do not belong together. */
uint64_t item_number(const uint64_t *words, unsigned count);

/* The number alone. */
uint64_t item_message(const uint64_t *words);

/* What the tests answer for "there was none". */
#define NOTHING UINT64_MAX

/* ---- Memory ---- */

extern struct torture memory;
extern const lbx_allocator *const allocator; /* draws on `memory` */

/* From now on every allocation fails, or none. One thread. */
void memory_fails(bool fails);
void check_nothing_allocated(void);

/* A test over the queue of its file: make() is called before it with what
 * follows the name, and end() after it. */
#define QUEUE_TEST(behaviours, name, ...)                                      \
    static void name##_in_it(void);                                            \
                                                                               \
    TEST_CITING(behaviours, name)                                              \
    {                                                                          \
        make(__VA_ARGS__);                                                     \
        name##_in_it();                                                        \
        end();                                                                 \
    }                                                                          \
                                                                               \
    static void name##_in_it(void)

/* ---- Randomness ---- */

struct random {
    uint64_t state;
};

/* From LBX_SEED, or from the clock; prints it. */
struct random random_begin(void);
uint64_t random_next(struct random *random);
uint64_t random_below(struct random *random, uint64_t limit);

/* ---- Lanes ---- */

enum lane_kind {
    SEGQ_ONE,
    SEGQ_MANY,
    RING_ONE,
    RING_GATED,
    RING_MANY,
    SORTER,
    SHELF,
    LANE_KINDS,
};

/* One row per kind of lane, for tests that are stamped for each. */
#define EVERY_LANE(XX, promise)                                                \
    XX(segq_of_one_consumer, SEGQ_ONE, promise)                                \
    XX(segq_of_many_consumers, SEGQ_MANY, promise)                             \
    XX(ring_of_one_consumer, RING_ONE, promise)                                \
    XX(gated_ring, RING_GATED, promise)                                        \
    XX(ring_of_many_consumers, RING_MANY, promise)                             \
    XX(sorter, SORTER, promise)                                                \
    XX(shelf, SHELF, promise)

/* Makes a lane of envelopes; `capacity` only matters to rings. */
void lane_make(lbx__lane *lane, enum lane_kind kind, uint64_t capacity);
void lane_end(lbx__lane *lane);

bool lane_is_ring(enum lane_kind kind);
bool lane_is_for_one(enum lane_kind kind);

/* One item in; what lbx__lane_push() says. */
int lane_give(lbx__lane *lane, uint64_t number);

/* One item out: its number, or NOTHING. */
uint64_t lane_take(lbx__lane *lane);

bool lane_valid(lbx__lane *lane);

#endif
