/* SPDX-License-Identifier: Apache-2.0 */
/* The priority heap. H1 to H3 are in heap.h. */
#include "queue/bucket_heap.h"

#include "base/alloc.h"
#include <assert.h>

enum {
    FIRST_POOL = 64,
    LARGE_POOL = 4096,
    ARITY = 2
};

#define NONE UINT32_MAX

/* H1: the key of priority 0, and of 255 turned round. */
#define SIGN       UINT32_C(0x80000000)
#define LOW        SIGN
#define LOW_TURNED (~(SIGN + LBX__BUCKETS - 1))

struct lbx__bucket_node {
    uint64_t arrival;
    uint32_t key;
    uint32_t number;
};

/* What the pool keeps for an item; the item's words follow. */
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
    heap->low = order->higher_first ? LOW_TURNED : LOW;
}

static inline entry *
entry_of(const lbx__bucket_heap *heap, uint32_t number)
{
    return (entry *)(void *)&heap->pool[(size_t)number * heap->stride];
}

static bool
make_buckets(lbx__bucket_heap *heap)
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
pool_bytes(const lbx__bucket_heap *heap, uint32_t size)
{
    return (size_t)size * heap->stride * sizeof(uint64_t);
}

static size_t
nodes_bytes(uint32_t size)
{
    return (size_t)size * sizeof(lbx__bucket_node);
}

static void
free_pool(lbx__bucket_heap *heap)
{
    lbx__free(heap->allocator, heap->pool, pool_bytes(heap, heap->pool_size));
    lbx__free(heap->allocator, heap->nodes, nodes_bytes(heap->pool_size));
}

static void
forget_pool(lbx__bucket_heap *heap)
{
    free_pool(heap);
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
    forget_pool(heap);
}

static bool
grow(lbx__bucket_heap *heap, uint32_t size)
{
    uint32_t old = heap->pool_size;
    uint64_t *pool =
        lbx__alloc(heap->allocator, pool_bytes(heap, size), LBX__LINE);
    lbx__bucket_node *nodes =
        lbx__alloc(heap->allocator, nodes_bytes(size), LBX__LINE);

    if (!pool || !nodes) {
        lbx__free(heap->allocator, pool, pool_bytes(heap, size));
        lbx__free(heap->allocator, nodes, nodes_bytes(size));
        return false;
    }
    if (old > 0) {
        memcpy(pool, heap->pool, pool_bytes(heap, old));
        memcpy(nodes, heap->nodes, nodes_bytes(heap->node_count));
        free_pool(heap);
    }
    heap->pool = pool;
    heap->nodes = nodes;
    heap->pool_size = size;
    for (uint32_t i = old; i < size; i++)
        entry_of(heap, i)->next = i + 1 < size ? i + 1 : heap->pool_free;
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
    return make_buckets(heap) && grow(heap, (uint32_t)size);
}

static inline void
copy_item(const lbx__bucket_heap *heap, uint64_t *to, const uint64_t *from)
{
    if (heap->words == LBX__PAIR)
        memcpy(to, from, LBX__PAIR * sizeof(uint64_t));
    else
        memcpy(to, from, LBX__ENVELOPE * sizeof(uint64_t));
}

static inline uint32_t
key_of(const lbx__bucket_heap *heap, const uint64_t *item)
{
    uint32_t priority;

    if (heap->words == LBX__PAIR)
        priority = (uint32_t)item[1];
    else
        memcpy(&priority, (const char *)item + offsetof(lbx_envelope, priority),
               sizeof(priority));
    priority ^= SIGN;
    return heap->order.higher_first ? ~priority : priority; // H1
}

/* Under a comparator the pool holds envelopes as users know them, with the
 * message itself in word 0. */
static const lbx_envelope *
envelope_of(const lbx__bucket_heap *heap, uint32_t number)
{
    return (const lbx_envelope *)(const void *)entry_of(heap, number)->item;
}

/* < 0 when a is more urgent than b, whatever their arrival. */
static int
compare_urgency(const lbx__bucket_heap *heap, const lbx__bucket_node *a,
                const lbx__bucket_node *b)
{
    if (heap->order.compare)
        return heap->order.compare(envelope_of(heap, a->number),
                                   envelope_of(heap, b->number),
                                   heap->order.context);
    return (a->key > b->key) - (a->key < b->key);
}

/* H1. Without branches: which of two is first cannot be foreseen. */
static bool
before(const lbx__bucket_heap *heap, const lbx__bucket_node *a,
       const lbx__bucket_node *b)
{
    int order = compare_urgency(heap, a, b);

    return (order < 0) | ((order == 0) & (a->arrival < b->arrival));
}

static void
sift_up(lbx__bucket_heap *heap, uint32_t place)
{
    lbx__bucket_node node = heap->nodes[place];

    while (place > 0) {
        uint32_t parent = (place - 1) / ARITY;

        if (!before(heap, &node, &heap->nodes[parent]))
            break;
        heap->nodes[place] = heap->nodes[parent];
        place = parent;
    }
    heap->nodes[place] = node;
}

/* The most urgent child of `place`, or NONE. */
static uint32_t
best_child(const lbx__bucket_heap *heap, uint32_t place)
{
    uint64_t first = (uint64_t)place * ARITY + 1;
    uint32_t child = (uint32_t)first;

    if (first >= heap->node_count)
        return NONE;
    if (first + 1 < heap->node_count)
        child += before(heap, &heap->nodes[first + 1], &heap->nodes[first]);
    return child;
}

/* Moves a hole down to a leaf, the better child up each time; where it ends. The
 * node that fills it comes from the bottom and mostly stays there, so asking it
 * on the way would be a comparison per level in vain. */
static uint32_t
sink_hole(lbx__bucket_heap *heap, uint32_t place)
{
    for (;;) {
        uint32_t child = best_child(heap, place);

        if (child == NONE)
            return place;
        heap->nodes[place] = heap->nodes[child];
        place = child;
    }
}

static inline void
bucket_append(lbx__bucket_heap *heap, unsigned bucket, uint32_t number)
{
    lbx__buckets *buckets = heap->buckets;

    entry_of(heap, number)->next = NONE;
    if (buckets->first[bucket] == NONE)
        buckets->first[bucket] = number;
    else
        entry_of(heap, buckets->last[bucket])->next = number;
    buckets->last[bucket] = number;
    buckets->used[bucket / 64] |= (uint64_t)1 << bucket % 64;
}

static inline uint32_t
bucket_take(lbx__bucket_heap *heap, unsigned bucket)
{
    lbx__buckets *buckets = heap->buckets;
    uint32_t number = buckets->first[bucket];

    buckets->first[bucket] = entry_of(heap, number)->next;
    if (buckets->first[bucket] == NONE)
        buckets->used[bucket / 64] &= ~((uint64_t)1 << bucket % 64);
    return number;
}

/* The most urgent used bucket, or -1. */
static inline int
lowest_bucket(const lbx__bucket_heap *heap)
{
    if (!heap->buckets)
        return -1;
    for (int i = 0; i < LBX__BUCKETS / 64; i++)
        if (heap->buckets->used[i] != 0)
            return i * 64 + __builtin_ctzll(heap->buckets->used[i]);
    return -1;
}

static int
highest_bucket(const lbx__bucket_heap *heap)
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
    entry *to = entry_of(heap, number);
    uint32_t key = key_of(heap, item);

    assert(number != NONE); // H3
    heap->pool_free = to->next;
    copy_item(heap, to->item, item);
    to->arrival = heap->arrivals++;
    heap->count++;
    if (!heap->order.compare && key - heap->low < LBX__BUCKETS) {
        bucket_append(heap, key - heap->low, number);
        return;
    }
    if (heap->order.compare)
        to->item[0] = (uintptr_t)lbx__slot_decode(item[0]);
    heap->nodes[heap->node_count].arrival = to->arrival;
    heap->nodes[heap->node_count].key = key;
    heap->nodes[heap->node_count].number = number;
    sift_up(heap, heap->node_count++);
}

/* Copies an item out and frees its place in the pool. */
static inline void
hand_out(lbx__bucket_heap *heap, uint32_t number, uint64_t *ret_item)
{
    entry *from = entry_of(heap, number);

    copy_item(heap, ret_item, from->item);
    if (heap->order.compare)
        ret_item[0] = lbx__slot_encode((void *)(uintptr_t)ret_item[0]);
    from->next = heap->pool_free;
    heap->pool_free = number;
    heap->count--;
    if (heap->count == 0 && heap->pool_size >= LARGE_POOL)
        forget_pool(heap); // after a burst
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
lowest_key(const lbx__bucket_heap *heap)
{
    int bucket = lowest_bucket(heap);
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
               heap->order.compare(envelope_of(heap, heap->nodes[0].number),
                                   than, heap->order.context) < 0;
    return lowest_key(heap) < (heap->order.higher_first ? ~key : key);
}

static uint32_t
node_take(lbx__bucket_heap *heap, uint32_t place)
{
    uint32_t number = heap->nodes[place].number;

    heap->node_count--;
    if (place < heap->node_count) {
        lbx__bucket_node last = heap->nodes[heap->node_count];

        place = sink_hole(heap, place);
        heap->nodes[place] = last;
        sift_up(heap, place);
    }
    return number;
}

bool
lbx__bucket_heap_pop(lbx__bucket_heap *heap, uint64_t *ret_item)
{
    int bucket = lowest_bucket(heap);
    uint32_t number;

    if (heap->count == 0)
        return false;
    if (bucket < 0 ||
        (heap->node_count > 0 && heap->nodes[0].key < heap->low)) // H2
        number = node_take(heap, 0);
    else
        number = bucket_take(heap, (unsigned)bucket);
    hand_out(heap, number, ret_item);
    return true;
}

/* The place of the least urgent node, the oldest among equals. */
static uint32_t
last_node(const lbx__bucket_heap *heap)
{
    uint32_t last = 0;

    for (uint32_t i = 1; i < heap->node_count; i++) {
        int order = compare_urgency(heap, &heap->nodes[i], &heap->nodes[last]);

        if (order > 0 ||
            (order == 0 && heap->nodes[i].arrival < heap->nodes[last].arrival))
            last = i;
    }
    return last;
}

bool
lbx__bucket_heap_evict(lbx__bucket_heap *heap, uint64_t *ret_item)
{
    int bucket = highest_bucket(heap);
    uint32_t place = last_node(heap);
    uint32_t number;

    if (heap->count == 0)
        return false;
    if (bucket < 0 ||
        (heap->node_count > 0 && heap->nodes[place].key > heap->low))
        number = node_take(heap, place); // H2
    else
        number = bucket_take(heap, (unsigned)bucket);
    hand_out(heap, number, ret_item);
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
             n = entry_of(heap, n)->next)
            count += entry_of(heap, n)->arrival < mark;
    return count;
}

bool
lbx__bucket_heap_valid(const lbx__bucket_heap *heap)
{
    uint64_t in_buckets = 0;

    for (uint32_t i = 1; i < heap->node_count; i++)
        if (before(heap, &heap->nodes[i], &heap->nodes[(i - 1) / ARITY]))
            return false;
    for (int i = 0; heap->buckets && i < LBX__BUCKETS; i++) {
        bool used = (heap->buckets->used[i / 64] >> i % 64 & 1) != 0;

        if (used != (heap->buckets->first[i] != NONE))
            return false;
        for (uint32_t n = heap->buckets->first[i]; n != NONE;
             n = entry_of(heap, n)->next)
            in_buckets++;
    }
    return in_buckets + heap->node_count == heap->count;
}
