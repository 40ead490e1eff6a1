/* SPDX-License-Identifier: Apache-2.0 */
/* What the queue tests have in common. */
#include "queue/fixture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "queue/deque.h"

struct torture memory = TORTURE_INIT;

static lbx_allocator books;
const lbx_allocator *const allocator = &books;

__attribute__((constructor)) static void
open_books(void)
{
    books = torture_allocator(&memory);
}

static uint64_t
word_of(uint64_t number, unsigned i)
{
    return number * 0x9e3779b97f4a7c15u + i;
}

struct item
item_of(uint64_t number)
{
    struct item item;

    item.words[0] = lbx__slot_encode((void *)(uintptr_t)number);
    for (unsigned i = 1; i < LBX__ENVELOPE; i++)
        item.words[i] = word_of(number, i);
    return item;
}

struct item
item_urgent(uint64_t number, int32_t priority, unsigned words)
{
    struct item item = item_of(number);

    if (words == LBX__PAIR)
        item.words[1] = (uint32_t)priority;
    else
        memcpy((char *)item.words + offsetof(lbx_envelope, priority), &priority,
               sizeof(priority));
    return item;
}

uint64_t
item_message(const uint64_t *words)
{
    return (uint64_t)(uintptr_t)lbx__slot_decode(words[0]);
}

uint64_t
item_number(const uint64_t *words, unsigned count)
{
    uint64_t number = item_message(words);

    for (unsigned i = 1; i < count; i++)
        if (words[i] != word_of(number, i))
            FAIL("item %" PRIu64 " is torn: word %u of %u", number, i, count);
    return number;
}

void
memory_fails(bool fails)
{
    memory.allowed = fails ? 0 : LONG_MAX;
}

void
check_nothing_allocated(void)
{
    CHECK_INT(0, memory.live_blocks);
    CHECK_INT(0, memory.live_bytes);
}

struct random
random_begin(void)
{
    const char *given = getenv("LBX_SEED");
    struct random random;
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    random.state = given ? strtoull(given, NULL, 0)
                         : (uint64_t)now.tv_sec << 20 ^ (uint64_t)now.tv_nsec;
    test_note("LBX_SEED=%" PRIu64, random.state);
    return random;
}

/* splitmix64 */
uint64_t
random_next(struct random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint64_t
random_below(struct random *random, uint64_t limit)
{
    return random_next(random) % limit;
}

static lbx_status
make_queue(lbx__lane *lane, enum lane_kind kind, uint64_t capacity)
{
    static const lbx__locked_ops deque_ops = {
        .destroy = lbx__deque_destroy,
        .push = lbx__deque_push,
        .pop = lbx__deque_pop,
        .push_front = lbx__deque_push_front,
    };
    lbx__bucket_order by_number = {0};
    void *storage;

    switch (kind) {
    case SEGQ_ONE:
    case SEGQ_MANY:
        lane->type = LBX__LANE_SEGQ;
        return lbx__segq_init(&lane->q.segq, LBX__ENVELOPE, kind == SEGQ_MANY,
                              allocator);
    case RING_ONE:
    case RING_GATED:
    case RING_MANY:
        lane->type = LBX__LANE_RING;
        return lbx__ring_init(&lane->q.ring, capacity, LBX__ENVELOPE,
                              kind == RING_MANY, kind == RING_GATED, allocator);
    case SORTER:
        lane->type = LBX__LANE_PRIORITY;
        return lbx__priority_queue_init(&lane->q.priority, LBX__ENVELOPE,
                                        &by_number, allocator);
    default:
        CHECK_OK(lbx__deque_create(allocator, &storage));
        lane->type = LBX__LANE_LOCKED;
        lbx__locked_queue_init(&lane->q.locked, &deque_ops, storage);
        return LBX_OK;
    }
}

void
lane_make(lbx__lane *lane, enum lane_kind kind, uint64_t capacity)
{
    memset(lane, 0, sizeof(*lane));
    lane->words = LBX__ENVELOPE;
    CHECK_OK(make_queue(lane, kind, capacity));
}

void
lane_end(lbx__lane *lane)
{
    lbx__lane_fini(lane);
    check_nothing_allocated();
}

bool
lane_is_ring(enum lane_kind kind)
{
    return kind == RING_ONE || kind == RING_GATED || kind == RING_MANY;
}

bool
lane_is_for_one(enum lane_kind kind)
{
    return kind == SEGQ_ONE || kind == RING_ONE || kind == RING_GATED;
}

/* In a sorter all are equally urgent: first come, first served. */
int
lane_give(lbx__lane *lane, uint64_t number)
{
    struct item item = lane->type == LBX__LANE_PRIORITY
                           ? item_urgent(number, 7, LBX__ENVELOPE)
                           : item_of(number);

    return lbx__lane_push(lane, item.words, false);
}

uint64_t
lane_take(lbx__lane *lane)
{
    struct item item;
    unsigned notes;

    if (lbx__lane_pop(lane, item.words, 1, &notes) == 0)
        return NOTHING;
    if (lane->type == LBX__LANE_PRIORITY)
        return item_message(item.words);
    return item_number(item.words, LBX__ENVELOPE);
}

bool
lane_valid(lbx__lane *lane)
{
    switch (lane->type) {
    case LBX__LANE_SEGQ:
        return lbx__segq_valid(&lane->q.segq);
    case LBX__LANE_RING:
        return lbx__ring_valid(&lane->q.ring);
    case LBX__LANE_PRIORITY:
        return lbx__segq_valid(&lane->q.priority.inbox) &&
               lbx__bucket_heap_valid(&lane->q.priority.heap);
    default:
        return true;
    }
}
