/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bucket heap: pool, buckets, binary heap. BHEAP-1 to BHEAP-3 are in
 * bucket_heap.h.
 *
 * The pool and the nodes of the binary heap grow together, by doubling, in
 * lbx__bucket_heap_reserve(). After a burst, when the heap is empty, a large
 * pool is freed.
 */
#include "queue/bucket_heap.h"

#include "base/alloc.h"
#include <assert.h>

enum {
    FIRST_POOL = 64,
    LARGE_POOL = 4096,
    ARITY = 2
};

#define NONE UINT32_MAX

/* BHEAP-1: the key of priority 0, and of 255 inverted. */
#define SIGN         UINT32_C(0x80000000)
#define LOW          SIGN
#define LOW_INVERTED (~(SIGN + LBX__BUCKETS - 1))

struct lbx__bucket_node {
    uint64_t arrival;
    uint32_t key;
    uint32_t number;
};

/* The header of an item in the pool; its words follow. */
typedef struct entry {
    uint64_t arrival;
    uint32_t next; /* in its bucket, or among the free; NONE */
    uint32_t unused;
    uint64_t item[];
} entry;

void
lbx__bucket_heap_init(lbx__bucket_heap *heap, unsigned words,
                      const lbx__bucket_order *order,
                      const lbx_allocator *allocator)
{
    memset(heap, 0, sizeof(*heap));
    heap->order = *order;
    heap->words = words;
    heap->stride = (uint32_t)(sizeof(entry) / sizeof(uint64_t)) + words;
    heap->allocator = allocator;
    heap->pool_free = NONE;
    heap->low = order->higher_first ? LOW_INVERTED : LOW;
}

static inline entry *
bucket_heap_entry(const lbx__bucket_heap *heap, uint32_t number)
{
    return (entry *)(void *)&heap->pool[(size_t)number * heap->stride];
}

static bool
bucket_heap_make_buckets(lbx__bucket_heap *heap)
{
    lbx__buckets *buckets;

    if (heap->buckets)
        return true;
    buckets = lbx__zalloc(heap->allocator, sizeof(*buckets));
    if (!buckets)
        return false;
    for (int i = 0; i < LBX__BUCKETS; i++)
        buckets->first[i] = NONE;
    heap->buckets = buckets;
    return true;
}

static size_t
bucket_heap_pool_bytes(const lbx__bucket_heap *heap, uint32_t size)
{
    return (size_t)size * heap->stride * sizeof(uint64_t);
}

static size_t
bucket_heap_nodes_bytes(uint32_t size)
{
    return (size_t)size * sizeof(lbx__bucket_node);
}

static void
bucket_heap_free_pool(lbx__bucket_heap *heap)
{
    lbx__free(heap->allocator, heap->pool,
              bucket_heap_pool_bytes(heap, heap->pool_size));
    lbx__free(heap->allocator, heap->nodes,
              bucket_heap_nodes_bytes(heap->pool_size));
}

static void
bucket_heap_drop_pool(lbx__bucket_heap *heap)
{
    bucket_heap_free_pool(heap);
    heap->pool = NULL;
    heap->nodes = NULL;
    heap->pool_size = 0;
    heap->pool_free = NONE;
    lbx__free(heap->allocator, heap->buckets, sizeof(*heap->buckets));
    heap->buckets = NULL;
}

void
lbx__bucket_heap_fini(lbx__bucket_heap *heap)
{
    bucket_heap_drop_pool(heap);
}

static bool
bucket_heap_grow(lbx__bucket_heap *heap, uint32_t size)
{
    uint32_t old = heap->pool_size;
    uint64_t *pool = lbx__alloc(heap->allocator,
                                bucket_heap_pool_bytes(heap, size), LBX__LINE);
    lbx__bucket_node *nodes =
        lbx__alloc(heap->allocator, bucket_heap_nodes_bytes(size), LBX__LINE);

    if (!pool || !nodes) {
        lbx__free(heap->allocator, pool, bucket_heap_pool_bytes(heap, size));
        lbx__free(heap->allocator, nodes, bucket_heap_nodes_bytes(size));
        return false;
    }
    if (old > 0) {
        memcpy(pool, heap->pool, bucket_heap_pool_bytes(heap, old));
        memcpy(nodes, heap->nodes, bucket_heap_nodes_bytes(heap->node_count));
        bucket_heap_free_pool(heap);
    }
    heap->pool = pool;
    heap->nodes = nodes;
    heap->pool_size = size;
    for (uint32_t i = old; i < size; i++)
        bucket_heap_entry(heap, i)->next =
            i + 1 < size ? i + 1 : heap->pool_free;
    heap->pool_free = old;
    return true;
}

bool
lbx__bucket_heap_reserve(lbx__bucket_heap *heap, uint32_t count)
{
    uint64_t size = heap->pool_size ? heap->pool_size : FIRST_POOL;
    uint64_t needed = (uint64_t)heap->count + count;

    if (needed <= heap->pool_size)
        return true;
    while (size < needed)
        size *= 2;
    if (size >= NONE)
        return false;
    return bucket_heap_make_buckets(heap) &&
           bucket_heap_grow(heap, (uint32_t)size);
}

static inline void
bucket_heap_copy(const lbx__bucket_heap *heap, uint64_t *to,
                 const uint64_t *from)
{
    if (heap->words == LBX__PAIR)
        memcpy(to, from, LBX__PAIR * sizeof(uint64_t));
    else
        memcpy(to, from, LBX__ENVELOPE * sizeof(uint64_t));
}

static inline uint32_t
bucket_heap_key(const lbx__bucket_heap *heap, const uint64_t *item)
{
    uint32_t priority;

    if (heap->words == LBX__PAIR)
        priority = (uint32_t)item[1];
    else
        memcpy(&priority, (const char *)item + offsetof(lbx_envelope, priority),
               sizeof(priority));
    priority ^= SIGN;
    return heap->order.higher_first ? ~priority : priority; // BHEAP-1
}

/* Under a comparator the pool holds envelopes as users see them, with the
 * decoded message in word 0. */
static const lbx_envelope *
bucket_heap_envelope(const lbx__bucket_heap *heap, uint32_t number)
{
    return (const lbx_envelope *)(const void *)bucket_heap_entry(heap, number)
        ->item;
}

/* < 0 when a is more urgent than b, apart from their arrival. */
static int
bucket_heap_compare_nodes(const lbx__bucket_heap *heap,
                          const lbx__bucket_node *a, const lbx__bucket_node *b)
{
    if (heap->order.compare)
        return heap->order.compare(bucket_heap_envelope(heap, a->number),
                                   bucket_heap_envelope(heap, b->number),
                                   heap->order.context);
    return (a->key > b->key) - (a->key < b->key);
}

/* BHEAP-1. Without branches: the result cannot be predicted. */
static bool
bucket_heap_before(const lbx__bucket_heap *heap, const lbx__bucket_node *a,
                   const lbx__bucket_node *b)
{
    int order = bucket_heap_compare_nodes(heap, a, b);

    return (order < 0) | ((order == 0) & (a->arrival < b->arrival));
}

static void
bucket_heap_sift_up(lbx__bucket_heap *heap, uint32_t index)
{
    lbx__bucket_node node = heap->nodes[index];

    while (index > 0) {
        uint32_t parent = (index - 1) / ARITY;

        if (!bucket_heap_before(heap, &node, &heap->nodes[parent]))
            break;
        heap->nodes[index] = heap->nodes[parent];
        index = parent;
    }
    heap->nodes[index] = node;
}

/* The most urgent child of `index`, or NONE. */
static uint32_t
bucket_heap_best_child(const lbx__bucket_heap *heap, uint32_t index)
{
    uint64_t first = (uint64_t)index * ARITY + 1;
    uint32_t child = (uint32_t)first;

    if (first >= heap->node_count)
        return NONE;
    if (first + 1 < heap->node_count)
        child += bucket_heap_before(heap, &heap->nodes[first + 1],
                                    &heap->nodes[first]);
    return child;
}

/* Moves a hole down to a leaf, the more urgent child up each time, and returns
 * where it ends. The node that fills the hole comes from the bottom and mostly
 * belongs there, so comparing it at each level would rarely help. */
static uint32_t
bucket_heap_sink_hole(lbx__bucket_heap *heap, uint32_t index)
{
    for (;;) {
        uint32_t child = bucket_heap_best_child(heap, index);

        if (child == NONE)
            return index;
        heap->nodes[index] = heap->nodes[child];
        index = child;
    }
}

static inline void
bucket_heap_bucket_append(lbx__bucket_heap *heap, unsigned bucket,
                          uint32_t number)
{
    lbx__buckets *buckets = heap->buckets;

    bucket_heap_entry(heap, number)->next = NONE;
    if (buckets->first[bucket] == NONE)
        buckets->first[bucket] = number;
    else
        bucket_heap_entry(heap, buckets->last[bucket])->next = number;
    buckets->last[bucket] = number;
    buckets->used[bucket / 64] |= (uint64_t)1 << bucket % 64;
}

static inline uint32_t
bucket_heap_bucket_take(lbx__bucket_heap *heap, unsigned bucket)
{
    lbx__buckets *buckets = heap->buckets;
    uint32_t number = buckets->first[bucket];

    buckets->first[bucket] = bucket_heap_entry(heap, number)->next;
    if (buckets->first[bucket] == NONE)
        buckets->used[bucket / 64] &= ~((uint64_t)1 << bucket % 64);
    return number;
}

/* The most urgent used bucket, or -1. */
static inline int
bucket_heap_lowest_bucket(const lbx__bucket_heap *heap)
{
    if (!heap->buckets)
        return -1;
    for (int i = 0; i < LBX__BUCKETS / 64; i++)
        if (heap->buckets->used[i] != 0)
            return i * 64 + __builtin_ctzll(heap->buckets->used[i]);
    return -1;
}

static int
bucket_heap_highest_bucket(const lbx__bucket_heap *heap)
{
    if (!heap->buckets)
        return -1;
    for (int i = LBX__BUCKETS / 64 - 1; i >= 0; i--)
        if (heap->buckets->used[i] != 0)
            return i * 64 + 63 - __builtin_clzll(heap->buckets->used[i]);
    return -1;
}

void
lbx__bucket_heap_push(lbx__bucket_heap *heap, const uint64_t *item)
{
    uint32_t number = heap->pool_free;
    entry *to = bucket_heap_entry(heap, number);
    uint32_t key = bucket_heap_key(heap, item);

    assert(number != NONE); // BHEAP-3
    heap->pool_free = to->next;
    bucket_heap_copy(heap, to->item, item);
    to->arrival = heap->arrivals++;
    heap->count++;
    if (!heap->order.compare && key - heap->low < LBX__BUCKETS) {
        bucket_heap_bucket_append(heap, key - heap->low, number);
        return;
    }
    if (heap->order.compare)
        to->item[0] = (uintptr_t)lbx__slot_decode(item[0]);
    heap->nodes[heap->node_count].arrival = to->arrival;
    heap->nodes[heap->node_count].key = key;
    heap->nodes[heap->node_count].number = number;
    bucket_heap_sift_up(heap, heap->node_count++);
}

/* Copies an item out and frees its entry in the pool. */
static inline void
bucket_heap_hand_out(lbx__bucket_heap *heap, uint32_t number,
                     uint64_t *ret_item)
{
    entry *from = bucket_heap_entry(heap, number);

    bucket_heap_copy(heap, ret_item, from->item);
    if (heap->order.compare)
        ret_item[0] = lbx__slot_encode((void *)(uintptr_t)ret_item[0]);
    from->next = heap->pool_free;
    heap->pool_free = number;
    heap->count--;
    if (heap->count == 0 && heap->pool_size >= LARGE_POOL)
        bucket_heap_drop_pool(heap); // after a burst
}

int
lbx__bucket_heap_compare(const lbx__bucket_order *order, const lbx_envelope *a,
                         const lbx_envelope *b)
{
    int urgency = (a->priority > b->priority) - (a->priority < b->priority);

    if (order->compare)
        return order->compare(a, b, order->context);
    return order->higher_first ? -urgency : urgency;
}

/* The key of the most urgent item; none inside: UINT64_MAX. */
static uint64_t
bucket_heap_lowest_key(const lbx__bucket_heap *heap)
{
    int bucket = bucket_heap_lowest_bucket(heap);
    uint64_t lowest = UINT64_MAX;

    if (bucket >= 0)
        lowest = (uint64_t)heap->low + (unsigned)bucket;
    if (heap->node_count > 0 && heap->nodes[0].key < lowest)
        lowest = heap->nodes[0].key;
    return lowest;
}

bool
lbx__bucket_heap_beats(const lbx__bucket_heap *heap, const lbx_envelope *than)
{
    uint32_t key = (uint32_t)than->priority ^ SIGN;

    if (heap->order.compare)
        return heap->node_count > 0 &&
               heap->order.compare(
                   bucket_heap_envelope(heap, heap->nodes[0].number), than,
                   heap->order.context) < 0;
    return bucket_heap_lowest_key(heap) <
           (heap->order.higher_first ? ~key : key);
}

static uint32_t
bucket_heap_node_take(lbx__bucket_heap *heap, uint32_t index)
{
    uint32_t number = heap->nodes[index].number;

    heap->node_count--;
    if (index < heap->node_count) {
        lbx__bucket_node last = heap->nodes[heap->node_count];

        index = bucket_heap_sink_hole(heap, index);
        heap->nodes[index] = last;
        bucket_heap_sift_up(heap, index);
    }
    return number;
}

bool
lbx__bucket_heap_pop(lbx__bucket_heap *heap, uint64_t *ret_item)
{
    int bucket = bucket_heap_lowest_bucket(heap);
    uint32_t number;

    if (heap->count == 0)
        return false;
    if (bucket < 0 ||
        (heap->node_count > 0 && heap->nodes[0].key < heap->low)) // BHEAP-2
        number = bucket_heap_node_take(heap, 0);
    else
        number = bucket_heap_bucket_take(heap, (unsigned)bucket);
    bucket_heap_hand_out(heap, number, ret_item);
    return true;
}

/* The index of the least urgent node, the oldest among equals. */
static uint32_t
bucket_heap_last_node(const lbx__bucket_heap *heap)
{
    uint32_t last = 0;

    for (uint32_t i = 1; i < heap->node_count; i++) {
        int order = bucket_heap_compare_nodes(heap, &heap->nodes[i],
                                              &heap->nodes[last]);

        if (order > 0 ||
            (order == 0 && heap->nodes[i].arrival < heap->nodes[last].arrival))
            last = i;
    }
    return last;
}

bool
lbx__bucket_heap_evict(lbx__bucket_heap *heap, uint64_t *ret_item)
{
    int bucket = bucket_heap_highest_bucket(heap);
    uint32_t index = bucket_heap_last_node(heap);
    uint32_t number;

    if (heap->count == 0)
        return false;
    if (bucket < 0 ||
        (heap->node_count > 0 && heap->nodes[index].key > heap->low))
        number = bucket_heap_node_take(heap, index); // BHEAP-2
    else
        number = bucket_heap_bucket_take(heap, (unsigned)bucket);
    bucket_heap_hand_out(heap, number, ret_item);
    return true;
}

uint64_t
lbx__bucket_heap_older(const lbx__bucket_heap *heap, uint64_t mark)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < heap->node_count; i++)
        count += heap->nodes[i].arrival < mark;
    for (int i = 0; heap->buckets && i < LBX__BUCKETS; i++)
        for (uint32_t n = heap->buckets->first[i]; n != NONE;
             n = bucket_heap_entry(heap, n)->next)
            count += bucket_heap_entry(heap, n)->arrival < mark;
    return count;
}

bool
lbx__bucket_heap_valid(const lbx__bucket_heap *heap)
{
    uint64_t in_buckets = 0;

    for (uint32_t i = 1; i < heap->node_count; i++)
        if (bucket_heap_before(heap, &heap->nodes[i],
                               &heap->nodes[(i - 1) / ARITY]))
            return false;
    for (int i = 0; heap->buckets && i < LBX__BUCKETS; i++) {
        bool used = (heap->buckets->used[i / 64] >> i % 64 & 1) != 0;

        if (used != (heap->buckets->first[i] != NONE))
            return false;
        for (uint32_t n = heap->buckets->first[i]; n != NONE;
             n = bucket_heap_entry(heap, n)->next)
            in_buckets++;
    }
    return in_buckets + heap->node_count == heap->count;
}
