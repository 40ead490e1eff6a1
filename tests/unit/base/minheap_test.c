/* SPDX-License-Identifier: Apache-2.0 */
/* The binary heap. */
#include "base/minheap.h"
#include "support/test.h"
#include "support/torture.h"

enum {
    NODES = 200
};

static uint64_t
next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 33;
}

static void
add_node(lbx__minheap *heap, lbx__minheap_node *node, int64_t key)
{
    lbx__minheap_node_init(node);
    CHECK(lbx__minheap_reserve(heap));
    lbx__minheap_add(heap, node, key);
}

TEST(minheap_gives_nodes_in_order_of_their_keys)
{
    lbx__minheap_node nodes[NODES];
    lbx__minheap heap;
    uint64_t random = 7;
    int64_t last = INT64_MIN;

    lbx__minheap_init(&heap, NULL);
    CHECK(!lbx__minheap_first(&heap));
    for (int i = 0; i < NODES; i++)
        add_node(&heap, &nodes[i], (int64_t)(next_random(&random) % 50));
    CHECK(lbx__minheap_valid(&heap));
    for (int i = 0; i < NODES; i++) {
        lbx__minheap_node *first = lbx__minheap_first(&heap);

        CHECK(first && first->key >= last);
        last = first->key;
        lbx__minheap_remove(&heap, first);
        CHECK(!lbx__minheap_has(first));
    }
    CHECK(!lbx__minheap_first(&heap));
    lbx__minheap_fini(&heap);
}

/* Random adds, removals and new keys beside a plain array: the first is always
 * the least, and the invariants hold after each step. */
TEST(minheap_agrees_with_a_plain_search)
{
    lbx__minheap_node nodes[NODES];
    lbx__minheap heap;
    uint64_t random = 1;

    lbx__minheap_init(&heap, NULL);
    for (int i = 0; i < NODES; i++)
        lbx__minheap_node_init(&nodes[i]);
    for (int step = 0; step < 20000; step++) {
        lbx__minheap_node *node = &nodes[next_random(&random) % NODES];
        const int64_t key = (int64_t)(next_random(&random) % 1000);
        const lbx__minheap_node *first;

        if (!lbx__minheap_has(node)) {
            CHECK(lbx__minheap_reserve(&heap));
            lbx__minheap_add(&heap, node, key);
        } else if (key % 2) {
            lbx__minheap_rekey(&heap, node, key);
        } else {
            lbx__minheap_remove(&heap, node);
        }
        CHECK(lbx__minheap_valid(&heap));
        first = lbx__minheap_first(&heap);
        for (int i = 0; i < NODES; i++)
            CHECK(!lbx__minheap_has(&nodes[i]) || first->key <= nodes[i].key);
    }
    lbx__minheap_fini(&heap);
}

TEST(minheap_removing_twice_is_harmless)
{
    lbx__minheap_node nodes[2];
    lbx__minheap heap;

    lbx__minheap_init(&heap, NULL);
    add_node(&heap, &nodes[0], 1);
    add_node(&heap, &nodes[1], 2);
    lbx__minheap_remove(&heap, &nodes[0]);
    lbx__minheap_remove(&heap, &nodes[0]);
    CHECK_PTR(&nodes[1], lbx__minheap_first(&heap));
    lbx__minheap_fini(&heap);
}

static void
fill(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    lbx__minheap_node nodes[NODES];
    lbx__minheap heap;

    (void)context;
    lbx__minheap_init(&heap, &allocator);
    for (int i = 0; i < NODES; i++) {
        lbx__minheap_node_init(&nodes[i]);
        if (lbx__minheap_reserve(&heap))
            lbx__minheap_add(&heap, &nodes[i], NODES - i);
    }
    CHECK(lbx__minheap_valid(&heap));
    lbx__minheap_fini(&heap);
}

TEST(minheap_survives_every_failing_allocation)
{
    CHECK(torture_every_allocation(fill, NULL) > 0);
}
