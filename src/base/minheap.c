/* SPDX-License-Identifier: Apache-2.0 */
/* The binary heap; MHEAP-1 and MHEAP-2 are in minheap.h. */
#include "base/minheap.h"

#include <assert.h>

void
lbx__minheap_init(lbx__minheap *heap, const lbx_allocator *allocator)
{
    *heap = (lbx__minheap){.allocator = allocator};
}

void
lbx__minheap_fini(lbx__minheap *heap)
{
    lbx__array_fini(&heap->nodes, heap->allocator);
}

bool
lbx__minheap_reserve(lbx__minheap *heap)
{
    return lbx__array_reserve(&heap->nodes, heap->allocator, 1);
}

static void
minheap_set(lbx__minheap *heap, size_t position, lbx__minheap_node *node)
{
    heap->nodes.items[position] = node;
    node->position = position; // MHEAP-1
}

/* Moves a node towards the first; returns where it stays. */
static size_t
minheap_sift_up(lbx__minheap *heap, lbx__minheap_node *node, size_t position)
{
    while (position > 0) {
        lbx__minheap_node *parent = heap->nodes.items[(position - 1) / 2];

        if (parent->key <= node->key)
            break;
        minheap_set(heap, position, parent);
        position = (position - 1) / 2;
    }
    return position;
}

/* Moves a node away from the first; returns where it stays. */
static size_t
minheap_sift_down(lbx__minheap *heap, const lbx__minheap_node *node,
                  size_t position)
{
    lbx__minheap_node *const *nodes = heap->nodes.items;

    for (;;) {
        size_t child = 2 * position + 1;

        if (child >= heap->nodes.count)
            return position;
        if (child + 1 < heap->nodes.count &&
            nodes[child + 1]->key < nodes[child]->key)
            child++;
        if (node->key <= nodes[child]->key)
            return position;
        minheap_set(heap, position, nodes[child]);
        position = child;
    }
}

/* Puts a node where its key belongs, from a position that is free (MHEAP-2). */
static void
minheap_settle(lbx__minheap *heap, lbx__minheap_node *node, size_t position)
{
    position = minheap_sift_up(heap, node, position);
    position = minheap_sift_down(heap, node, position);
    minheap_set(heap, position, node);
}

void
lbx__minheap_add(lbx__minheap *heap, lbx__minheap_node *node, int64_t key)
{
    assert(!lbx__minheap_has(node));
    assert(heap->nodes.count < heap->nodes.capacity); // reserved
    node->key = key;
    heap->nodes.count++;
    minheap_settle(heap, node, heap->nodes.count - 1);
}

void
lbx__minheap_remove(lbx__minheap *heap, lbx__minheap_node *node)
{
    lbx__minheap_node *last;
    const size_t position = node->position;

    if (!lbx__minheap_has(node))
        return;
    assert(heap->nodes.items[position] == node); // MHEAP-1
    last = heap->nodes.items[--heap->nodes.count];
    if (last != node)
        minheap_settle(heap, last, position);
    node->position = LBX__MINHEAP_OUT;
}

void
lbx__minheap_rekey(lbx__minheap *heap, lbx__minheap_node *node, int64_t key)
{
    assert(heap->nodes.items[node->position] == node); // MHEAP-1
    node->key = key;
    minheap_settle(heap, node, node->position);
}

bool
lbx__minheap_valid(const lbx__minheap *heap)
{
    for (size_t i = 0; i < heap->nodes.count; i++) {
        const lbx__minheap_node *node = heap->nodes.items[i];

        if (node->position != i)
            return false;
        if (i > 0 && heap->nodes.items[(i - 1) / 2]->key > node->key)
            return false;
    }
    return true;
}
