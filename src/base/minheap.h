/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A binary heap: what is due first is first.
 *
 * Nodes lie in the members, as links of lists do, and know their position, so
 * that any node can be removed or given another key in O(log n). Nodes with
 * equal keys come out in no particular order. Memory is needed for growing
 * only: after lbx__minheap_reserve() an add cannot fail.
 *
 * MHEAP-1  nodes[i]->position == i for all i < count; the position of a node
 *          that is in no heap is LBX__MINHEAP_OUT.
 * MHEAP-2  no node's key is less than that of its parent, nodes[(i - 1) / 2].
 *
 * Threads    one at a time: the owner's lock.
 */
#ifndef LBX_BASE_MINHEAP_H
#define LBX_BASE_MINHEAP_H

#include "base/array.h"

#define LBX__MINHEAP_OUT SIZE_MAX

typedef struct lbx__minheap_node {
    int64_t key;
    size_t position;
} lbx__minheap_node;

typedef struct lbx__minheap {
    const lbx_allocator *allocator;
    lbx__array(lbx__minheap_node *) nodes;
} lbx__minheap;

void lbx__minheap_init(lbx__minheap *heap, const lbx_allocator *allocator);

/* Frees the array; the nodes are their owners'. */
void lbx__minheap_fini(lbx__minheap *heap);

/* Makes a node that is in no heap. */
static inline void
lbx__minheap_node_init(lbx__minheap_node *node)
{
    node->key = INT64_MAX;
    node->position = LBX__MINHEAP_OUT;
}

static inline bool
lbx__minheap_has(const lbx__minheap_node *node)
{
    return node->position != LBX__MINHEAP_OUT;
}

/* Makes sure that the next add has memory; false: there is none. */
bool lbx__minheap_reserve(lbx__minheap *heap);

/* Adds a node that is in no heap. One was reserved. */
void lbx__minheap_add(lbx__minheap *heap, lbx__minheap_node *node, int64_t key);

/* Removes a node. Nothing happens if it is in no heap. */
void lbx__minheap_remove(lbx__minheap *heap, lbx__minheap_node *node);

/* Gives a node another key. */
void lbx__minheap_rekey(lbx__minheap *heap, lbx__minheap_node *node,
                        int64_t key);

/* The node with the least key; NULL when the heap is empty. */
static inline lbx__minheap_node *
lbx__minheap_first(const lbx__minheap *heap)
{
    return heap->nodes.count > 0 ? heap->nodes.items[0] : NULL;
}

/* MHEAP-1 and MHEAP-2, for tests and debug builds. */
bool lbx__minheap_valid(const lbx__minheap *heap);

#endif
