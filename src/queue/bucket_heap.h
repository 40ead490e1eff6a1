/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bucket heap: items by urgency, in order of arrival among equals.
 *
 * Two structures share one order. Priorities 0 to 255 lie in buckets, one FIFO
 * list each, found through a bitmap: push and pop are O(1). All others, and
 * everything under a comparator, lie in a binary heap: O(log n). Items stay
 * where they are in a pool, each with its arrival and its link in one entry;
 * only their numbers move. (base/minheap.h compares through a callback; this
 * one is inlined, because every priority receive goes through it.)
 *
 * BHEAP-1  The order is (key, arrival). The key is the priority as an unsigned
 *          number, inverted when higher goes first, so that lower keys always
 *          leave first. The priorities 0 to 255 have the 256 keys from `low`
 *          on.
 * BHEAP-2  Keys below `low` leave before the buckets, keys above after them.
 * BHEAP-3  Push never allocates after a successful reserve.
 *
 * Threads    one at a time; the owner has a lock.
 */
#ifndef LBX_QUEUE_HEAP_H
#define LBX_QUEUE_HEAP_H

#include "queue/slot.h"
#include <letterbox/base.h>
#include <stdbool.h>

typedef int lbx__bucket_compare(const lbx_envelope *a, const lbx_envelope *b,
                                void *context);

typedef struct lbx__bucket_order {
    lbx__bucket_compare *compare; /* NULL: by number. Needs envelope items. */
    void *context;
    bool higher_first;
} lbx__bucket_order;

typedef struct lbx__bucket_node lbx__bucket_node;

enum {
    LBX__BUCKETS = 256
};

/* One list for each priority, by pool numbers, and a bitmap of those in use. */
typedef struct lbx__buckets {
    uint64_t used[LBX__BUCKETS / 64];
    uint32_t first[LBX__BUCKETS];
    uint32_t last[LBX__BUCKETS];
} lbx__buckets;

typedef struct lbx__bucket_heap {
    lbx__bucket_order order;
    const lbx_allocator *allocator;
    unsigned words;
    uint32_t stride; /* words of a pool entry */
    uint64_t arrivals;

    /* The pool: an entry for each number. */
    uint64_t *pool;
    uint32_t pool_size;
    uint32_t pool_free; /* first free number; NONE */
    uint32_t count;

    uint32_t low;          /* BHEAP-1 */
    lbx__buckets *buckets; /* made with the first pool */
    lbx__bucket_node *nodes;
    uint32_t node_count;
} lbx__bucket_heap;

void lbx__bucket_heap_init(lbx__bucket_heap *heap, unsigned words,
                           const lbx__bucket_order *order,
                           const lbx_allocator *allocator);
void lbx__bucket_heap_fini(lbx__bucket_heap *heap);

/* Reserves memory for `count` pushes; false: no memory. */
bool lbx__bucket_heap_reserve(lbx__bucket_heap *heap, uint32_t count);

/* Adds a copy of an item. Needs a reserve. */
void lbx__bucket_heap_push(lbx__bucket_heap *heap, const uint64_t *item);

/* Takes the most urgent item; false when empty. */
bool lbx__bucket_heap_pop(lbx__bucket_heap *heap, uint64_t *ret_item);

/* < 0 when a is more urgent than b, 0 when only their arrival decides. */
int lbx__bucket_heap_compare(const lbx__bucket_order *order,
                             const lbx_envelope *a, const lbx_envelope *b);

/* Whether an item inside is more urgent than this envelope. */
bool lbx__bucket_heap_beats(const lbx__bucket_heap *heap,
                            const lbx_envelope *than);

/* Takes the least urgent item, the oldest among equals. O(n) outside the
 * buckets. */
bool lbx__bucket_heap_evict(lbx__bucket_heap *heap, uint64_t *ret_item);

/* How many of the first `mark` items pushed since init are inside. O(n). */
uint64_t lbx__bucket_heap_older(const lbx__bucket_heap *heap, uint64_t mark);

bool lbx__bucket_heap_valid(const lbx__bucket_heap *heap);

#endif
