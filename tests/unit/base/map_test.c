/* SPDX-License-Identifier: Apache-2.0 */
/* The hash table. */
#include "base/map.h"
#include "support/test.h"
#include "support/torture.h"

#include <string.h>

enum {
    ITEMS = 500
};

struct item {
    uint64_t key;
    bool inside; /* what a plain search says */
};

static bool
has_key(const void *item, const void *key)
{
    return ((const struct item *)item)->key == *(const uint64_t *)key;
}

/* A poor hash, so that slots collide. */
static uint64_t
poor_hash(uint64_t key)
{
    return key % 37;
}

static uint64_t
next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 33;
}

static void
walk(uint64_t (*hash)(uint64_t), uint64_t random)
{
    struct item items[ITEMS];
    lbx__map map = {.slots = NULL};
    size_t inside = 0;

    for (uint64_t i = 0; i < ITEMS; i++)
        items[i] = (struct item){.key = i * 3};
    for (int step = 0; step < 20000; step++) {
        struct item *item = &items[next_random(&random) % ITEMS];
        const uint64_t code = hash(item->key);

        CHECK_PTR(item->inside ? item : NULL,
                  lbx__map_find(&map, code, has_key, &item->key));
        if (item->inside) {
            CHECK_PTR(item, lbx__map_remove(&map, code, has_key, &item->key));
            inside--;
        } else {
            CHECK(!lbx__map_remove(&map, code, has_key, &item->key));
            CHECK(lbx__map_reserve(&map, NULL));
            lbx__map_add(&map, code, item);
            inside++;
        }
        item->inside = !item->inside;
        CHECK_INT(inside, map.count);
        CHECK(step % 64 || lbx__map_valid(&map));
    }
    lbx__map_fini(&map, NULL);
}

/* Random adds and removals: the map has exactly what a plain search has. */
TEST(map_agrees_with_a_plain_search)
{
    walk(lbx__map_hash_word, 1);
}

TEST(map_agrees_with_a_plain_search_when_hashes_collide)
{
    walk(poor_hash, 2);
}

TEST(map_next_visits_each_item_once)
{
    struct item items[ITEMS];
    lbx__map map = {.slots = NULL};
    size_t position = 0, visited = 0;
    struct item *item;

    for (uint64_t i = 0; i < ITEMS; i++) {
        items[i] = (struct item){.key = i};
        CHECK(lbx__map_reserve(&map, NULL));
        lbx__map_add(&map, lbx__map_hash_word(i), &items[i]);
    }
    while ((item = lbx__map_next(&map, &position)) != NULL) {
        CHECK(!item->inside);
        item->inside = true;
        visited++;
    }
    CHECK_INT(ITEMS, visited);
    lbx__map_fini(&map, NULL);
}

/* Without a comparison the item itself is the key. */
TEST(map_without_a_comparison_is_a_set)
{
    int one, two;
    lbx__map map = {.slots = NULL};

    CHECK(lbx__map_reserve(&map, NULL));
    lbx__map_add(&map, 5, &one);
    CHECK_PTR(&one, lbx__map_find(&map, 5, NULL, &one));
    CHECK(!lbx__map_find(&map, 5, NULL, &two));
    CHECK_PTR(&one, lbx__map_remove(&map, 5, NULL, &one));
    CHECK_INT(0, map.count);
    lbx__map_fini(&map, NULL);
}

TEST(map_hashes_of_short_texts_differ_in_their_low_bits)
{
    unsigned used = 0;

    for (char c = 'a'; c <= 'z'; c++)
        used |= 1u << (lbx__map_hash_bytes(0, &c, 1) & 31);
    CHECK(__builtin_popcount(used) > 10);
    CHECK(lbx__map_hash_bytes(1, "a", 1) != lbx__map_hash_bytes(2, "a", 1));
}

static void
fill(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    struct item items[ITEMS];
    lbx__map map = {.slots = NULL};
    size_t added = 0;

    (void)context;
    for (uint64_t i = 0; i < ITEMS; i++) {
        items[i] = (struct item){.key = i};
        if (!lbx__map_reserve(&map, &allocator))
            continue;
        lbx__map_add(&map, lbx__map_hash_word(i), &items[i]);
        added++;
    }
    CHECK_INT(added, map.count);
    CHECK(lbx__map_valid(&map));
    lbx__map_fini(&map, &allocator);
}

TEST(map_survives_every_failing_allocation)
{
    CHECK(torture_every_allocation(fill, NULL) > 0);
}
