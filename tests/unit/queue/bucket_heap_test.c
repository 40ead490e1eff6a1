/* SPDX-License-Identifier: Apache-2.0 */
/* The priority heap. */
#include "queue/bucket_heap.h"

#include "queue/fixture.h"

static lbx__bucket_heap heap;

static const lbx__bucket_order lower_first = {.higher_first = false};
static const lbx__bucket_order higher_first = {.higher_first = true};

static void
make(unsigned words, const lbx__bucket_order *order)
{
    lbx__bucket_heap_init(&heap, words, order, allocator);
}

static void
end(void)
{
    CHECK(lbx__bucket_heap_valid(&heap));
    lbx__bucket_heap_fini(&heap);
    check_nothing_allocated();
}

static void
push(uint64_t number, int32_t priority)
{
    struct item item = item_urgent(number, priority, heap.words);

    CHECK(lbx__bucket_heap_reserve(&heap, 1));
    lbx__bucket_heap_push(&heap, item.words);
}

static uint64_t
pop(void)
{
    struct item item;

    return lbx__bucket_heap_pop(&heap, item.words) ? item_message(item.words)
                                                   : NOTHING;
}

static uint64_t
evict(void)
{
    struct item item;

    return lbx__bucket_heap_evict(&heap, item.words) ? item_message(item.words)
                                                     : NOTHING;
}

/* Numbers 0, 1, 2 … with these priorities, and the order they leave in. */
static void
push_all(const int32_t *priorities, size_t count)
{
    for (size_t i = 0; i < count; i++)
        push(i, priorities[i]);
}

static void
check_pops(const uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        CHECK_INT(numbers[i], pop());
    CHECK_INT(NOTHING, pop());
}

static void
check_evicts(const uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        CHECK_INT(numbers[i], evict());
    CHECK_INT(NOTHING, evict());
}

QUEUE_TEST("BHEAP-1", lower_priorities_leave_first, LBX__PAIR, &lower_first)
{
    push_all((int32_t[]){5, 3, 9, 3, 0, 255}, 6);
    check_pops((uint64_t[]){4, 1, 3, 0, 2, 5}, 6);
}

QUEUE_TEST("BHEAP-1", higher_priorities_leave_first_when_turned_round,
           LBX__PAIR, &higher_first)
{
    push_all((int32_t[]){5, 3, 9, 3, 0, 255, 300, -1}, 8);
    check_pops((uint64_t[]){6, 5, 2, 0, 1, 3, 4, 7}, 8);
}

TEST_CITING("BHEAP-1 MSG-4", equals_leave_in_the_order_they_came)
{
    static const int32_t priorities[] = {-7, 0, 100, 255, 256, INT32_MAX};

    for (int p = 0; p < 6; p++) {
        make(LBX__ENVELOPE, &lower_first);
        for (uint64_t i = 0; i < 300; i++)
            push(i, priorities[p]);
        for (uint64_t i = 0; i < 300; i++)
            CHECK_INT(i, pop());
        end();
    }
}

/* What beats what agrees with what leaves first, in all ranges and both
 * ways. */
static void
beats_as_it_pops(const lbx__bucket_order *order)
{
    static const int32_t priorities[] = {INT32_MIN, -1,  0,    1,
                                         255,       256, 1000, INT32_MAX};

    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            lbx_envelope a = lbx_envelope_of(NULL, priorities[i]);
            lbx_envelope b = lbx_envelope_of(NULL, priorities[j]);
            bool first = order->higher_first ? i > j : i < j;

            make(LBX__PAIR, order);
            CHECK(!lbx__bucket_heap_beats(&heap, &b));
            push(1, priorities[i]);
            CHECK(lbx__bucket_heap_beats(&heap, &b) == first);
            CHECK((lbx__bucket_heap_compare(order, &a, &b) < 0) == first);
            CHECK((lbx__bucket_heap_compare(order, &a, &b) == 0) == (i == j));
            end();
        }
}

TEST_CITING("BHEAP-1 BHEAP-2 R-36", what_beats_a_message_would_leave_before_it)
{
    beats_as_it_pops(&lower_first);
    beats_as_it_pops(&higher_first);
}

/* The three ranges side by side, and their borders. */
QUEUE_TEST("BHEAP-2",
           negative_ones_leave_before_the_buckets_and_large_ones_after,
           LBX__PAIR, &lower_first)
{
    push_all((int32_t[]){256, 255, 0, -1, 1000, -1000, 128, 257}, 8);
    CHECK(lbx__bucket_heap_valid(&heap));
    check_pops((uint64_t[]){5, 3, 2, 6, 1, 0, 7, 4}, 8);
}

TEST_CITING("BHEAP-1 BHEAP-2", extreme_priorities_are_in_order)
{
    static const int32_t priorities[] = {
        INT32_MAX, INT32_MIN, 0, INT32_MIN + 1, -1, INT32_MAX - 1};

    make(LBX__PAIR, &lower_first);
    push_all(priorities, 6);
    check_pops((uint64_t[]){1, 3, 4, 2, 5, 0}, 6);
    end();
    make(LBX__ENVELOPE, &higher_first);
    push_all(priorities, 6);
    check_pops((uint64_t[]){0, 5, 2, 4, 3, 1}, 6);
    end();
}

/* For DROP_OLDEST: the least urgent, the oldest among equals. */
TEST_CITING("BHEAP-2", evict_takes_the_least_urgent_and_oldest)
{
    make(LBX__PAIR, &lower_first);
    push_all((int32_t[]){300, 7, -5, 300, 7, 255, -5, INT32_MAX}, 8);
    check_evicts((uint64_t[]){7, 0, 3, 5, 1, 4, 2, 6}, 8);
    end();
    make(LBX__PAIR, &higher_first);
    push_all((int32_t[]){300, 7, -5, 300, 7, 255, -5, INT32_MIN}, 8);
    check_evicts((uint64_t[]){7, 2, 6, 1, 4, 5, 0, 3}, 8);
    end();
}

QUEUE_TEST("BHEAP-2", evict_knows_the_borders_of_the_buckets, LBX__PAIR,
           &lower_first)
{
    push_all((int32_t[]){255, 256}, 2);
    check_evicts((uint64_t[]){1, 0}, 2);
    push_all((int32_t[]){-1, 0}, 2);
    check_evicts((uint64_t[]){1, 0}, 2);
    push_all((int32_t[]){256, 0, -1, 255}, 4);
    check_evicts((uint64_t[]){0, 3, 1, 2}, 4);
}

/* ---- By comparison ---- */

static int
by_recipient(const lbx_envelope *a, const lbx_envelope *b, void *context)
{
    uintptr_t first = (uintptr_t)a->recipient;
    uintptr_t second = (uintptr_t)b->recipient;

    (*(uint64_t *)context)++;
    CHECK((uintptr_t)a->message < 1000 && (uintptr_t)b->message < 1000);
    return (first > second) - (first < second);
}

static void
push_for(uint64_t number, uintptr_t recipient)
{
    struct item item = item_urgent(number, -(int32_t)number, LBX__ENVELOPE);

    CHECK(lbx__bucket_heap_reserve(&heap, 1));
    memcpy((char *)item.words + offsetof(lbx_envelope, recipient), &recipient,
           sizeof(recipient));
    lbx__bucket_heap_push(&heap, item.words);
}

/* A comparator sees messages as they were sent, NULL too, and nothing else
 * decides: not the number, not the buckets. */
TEST_CITING("BHEAP-1", comparator_alone_decides)
{
    static const uintptr_t keys[] = {50, 20, 90, 20, 10, 90};
    uint64_t calls = 0;
    lbx__bucket_order order = {.compare = by_recipient, .context = &calls};

    make(LBX__ENVELOPE, &order);
    for (uint64_t i = 0; i < 6; i++)
        push_for(i, keys[i]); // number 0 is NULL
    CHECK(lbx__bucket_heap_valid(&heap));
    check_pops((uint64_t[]){4, 1, 3, 0, 2, 5}, 6);
    CHECK(calls > 0);
    for (uint64_t i = 0; i < 6; i++)
        push_for(i, keys[i]);
    check_evicts((uint64_t[]){2, 5, 0, 1, 3, 4}, 6);
    end();
}

/* ---- Against a list ---- */

struct entry {
    uint64_t number;
    int64_t key;
};

enum {
    MOST = 600
};

static struct {
    struct entry entries[MOST]; /* in order of arrival */
    size_t count;
} list;

static uint64_t
list_remove(size_t at)
{
    uint64_t number = list.entries[at].number;

    list.count--;
    memmove(&list.entries[at], &list.entries[at + 1],
            (list.count - at) * sizeof(list.entries[0]));
    return number;
}

static uint64_t
list_pop(void)
{
    size_t best = 0;

    if (list.count == 0)
        return NOTHING;
    for (size_t i = 1; i < list.count; i++)
        if (list.entries[i].key < list.entries[best].key)
            best = i;
    return list_remove(best);
}

static uint64_t
list_evict(void)
{
    size_t worst = 0;

    if (list.count == 0)
        return NOTHING;
    for (size_t i = 1; i < list.count; i++)
        if (list.entries[i].key > list.entries[worst].key)
            worst = i;
    return list_remove(worst);
}

static uint64_t
list_older(uint64_t mark)
{
    uint64_t count = 0;

    for (size_t i = 0; i < list.count; i++)
        count += list.entries[i].number < mark;
    return count;
}

/* Often equal, often at a border, sometimes anything. */
static int32_t
random_priority(struct random *random)
{
    static const int32_t borders[] = {INT32_MIN, -1,  0,   1,
                                      254,       255, 256, INT32_MAX};

    switch (random_below(random, 4)) {
    case 0:
        return borders[random_below(random, 8)];
    case 1:
        return (int32_t)(uint32_t)random_next(random);
    case 2:
        return (int32_t)random_below(random, 600) - 200;
    default:
        return (int32_t)random_below(random, 4);
    }
}

static void
agrees_with_a_list(unsigned words, const lbx__bucket_order *order)
{
    struct random random = random_begin();
    uint64_t pushed = 0;
    long steps = test_rounds(40000, 4000000);

    make(words, order);
    for (long step = 0; step < steps; step++) {
        uint64_t what = random_below(&random, 20);

        if (what < (step / 1000 % 2 ? 8 : 12) && list.count < MOST) {
            int32_t priority = random_priority(&random);

            list.entries[list.count++] = (struct entry){
                pushed, order->higher_first ? -(int64_t)priority : priority};
            push(pushed++, priority);
        } else if (what < 18) {
            CHECK_INT(list_pop(), pop());
        } else if (what == 18) {
            CHECK_INT(list_evict(), evict());
        } else {
            uint64_t mark = random_below(&random, pushed + 2);

            CHECK_INT(list_older(mark), lbx__bucket_heap_older(&heap, mark));
        }
        if (step % 64 == 0)
            CHECK(lbx__bucket_heap_valid(&heap));
        CHECK_INT(list.count, heap.count);
    }
    while (list.count > 0)
        CHECK_INT(list_pop(), pop());
    CHECK_INT(NOTHING, pop());
    end();
}

TEST_CITING("BHEAP-1 BHEAP-2 MSG-4", heap_of_pairs_agrees_with_a_list)
{
    agrees_with_a_list(LBX__PAIR, &lower_first);
}

TEST_CITING("BHEAP-1 BHEAP-2 MSG-4", heap_of_envelopes_agrees_with_a_list)
{
    agrees_with_a_list(LBX__ENVELOPE, &higher_first);
}

static int
by_priority(const lbx_envelope *a, const lbx_envelope *b, void *context)
{
    (void)context;
    return (a->priority > b->priority) - (a->priority < b->priority);
}

TEST_CITING("BHEAP-1 MSG-4", heap_with_a_comparator_agrees_with_a_list)
{
    lbx__bucket_order order = {.compare = by_priority};

    agrees_with_a_list(LBX__ENVELOPE, &order);
}

/* ---- Memory ---- */

TEST_CITING("BHEAP-3 MSG-6", push_after_a_reserve_never_allocates)
{
    long before;

    make(LBX__PAIR, &lower_first);
    for (uint32_t size = 1; size < 3000; size = size * 3 + 1) {
        CHECK(lbx__bucket_heap_reserve(&heap, size));
        before = memory.allocations;
        memory_fails(true);
        for (uint32_t i = 0; i < size; i++)
            lbx__bucket_heap_push(
                &heap, item_urgent(i, (int32_t)i * 7 - 300, LBX__PAIR).words);
        CHECK_INT(before, memory.allocations);
        memory_fails(false);
    }
    while (pop() != NOTHING)
        ;
    end();
}

QUEUE_TEST("BHEAP-3", reserve_without_memory_changes_nothing, LBX__ENVELOPE,
           &lower_first)
{
    uint32_t count;

    memory_fails(true);
    CHECK(!lbx__bucket_heap_reserve(&heap, 1));
    CHECK_INT(NOTHING, pop());
    CHECK_INT(NOTHING, evict());
    memory_fails(false);
    for (uint64_t i = 0; i < 64; i++)
        push(i, (int32_t)i * 9 - 100);
    count = heap.count;
    for (int i = 0; i < 2; i++) { // the pool, the nodes
        memory.allowed = memory.allocations + i;
        CHECK(!lbx__bucket_heap_reserve(&heap, 1));
        CHECK(lbx__bucket_heap_valid(&heap));
        CHECK_INT(count, heap.count);
    }
    memory_fails(false);
    for (uint64_t i = 0; i < 64; i++)
        CHECK_INT(i, pop());
}

QUEUE_TEST("", reserve_of_more_than_there_are_numbers_fails, LBX__PAIR,
           &lower_first)
{
    CHECK(!lbx__bucket_heap_reserve(&heap, UINT32_MAX));
    CHECK_INT(0, memory.allocations);
}

/* After a burst the pool is given back; a small one is kept. */
QUEUE_TEST("", large_pool_is_forgotten_when_it_is_empty, LBX__PAIR,
           &lower_first)
{
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < 10000; i++)
            push(i, (int32_t)i - 5000);
        CHECK(memory.live_bytes >= 10000 * 2 * sizeof(uint64_t));
        for (uint64_t i = 0; i < 10000; i++)
            CHECK_INT(i, pop());
        check_nothing_allocated();
    }
}

/* From 4096 items on it is large. */
QUEUE_TEST("", smallest_large_pool_is_forgotten, LBX__PAIR, &lower_first)
{
    CHECK(lbx__bucket_heap_reserve(&heap, 4096));
    CHECK_INT(4096, heap.pool_size);
    push(1, 1);
    CHECK_INT(1, pop());
    check_nothing_allocated();
    CHECK(lbx__bucket_heap_reserve(&heap, 2048));
    CHECK_INT(2048, heap.pool_size);
    push(1, 1);
    CHECK_INT(1, pop());
    CHECK_INT(2048, heap.pool_size);
}

TEST_CITING("MSG-6", small_pool_is_kept)
{
    long before;

    make(LBX__PAIR, &lower_first);
    push(0, 1);
    before = memory.allocations;
    for (uint64_t i = 1; i < 1000; i++) {
        push(i, 1);
        CHECK_INT(i - 1, pop());
    }
    CHECK_INT(before, memory.allocations);
    CHECK_INT(999, pop());
    end();
}

/* Negative control. */
QUEUE_TEST("", heap_valid_notices_what_is_wrong, LBX__PAIR, &lower_first)
{
    push_all((int32_t[]){5, 3, -9, 300}, 4);
    CHECK(lbx__bucket_heap_valid(&heap));
    heap.buckets->used[0] ^= 1u << 5; // a bucket that is not in the bitmap
    CHECK(!lbx__bucket_heap_valid(&heap));
    heap.buckets->used[0] ^= 1u << 5;
    heap.count++;
    CHECK(!lbx__bucket_heap_valid(&heap));
    heap.count--;
}
