/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the segment queue share: the queue `q`, which is made and
 * ended by each test, and numbered items in and out.
 */
#ifndef LBX_TEST_QUEUE_SEGQ_FIXTURE_H
#define LBX_TEST_QUEUE_SEGQ_FIXTURE_H

#include "queue/fixture.h"

static lbx__segq q;

static inline void
make(unsigned words, bool many)
{
    CHECK_OK(lbx__segq_init(&q, words, many, allocator));
}

static inline void
end(void)
{
    CHECK(lbx__segq_valid(&q));
    lbx__segq_fini(&q);
    check_nothing_allocated();
}

static inline int
push(uint64_t number)
{
    struct item item = item_of(number);

    return lbx__segq_push(&q, item.words, q.words);
}

static inline uint64_t
pop(void)
{
    struct item item;
    unsigned notes;

    if (lbx__segq_pop(&q, item.words, 1, q.words, &notes) == 0)
        return NOTHING;
    return item_number(item.words, q.words);
}

static inline void
push_range(uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        CHECK_INT(0, push(i));
}

static inline void
check_pops(uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        CHECK_INT(i, pop());
}

#endif
