/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow. */
#include "base/array.h"
#include "support/test.h"
#include "support/torture.h"

typedef lbx__array(int) ints;

static void
check_ints(const ints *array, const int *expected, size_t count)
{
    CHECK_INT(count, array->count);
    for (size_t i = 0; i < count; i++)
        CHECK_INT(expected[i], array->items[i]);
}

TEST(array_keeps_what_is_added_while_it_grows)
{
    ints array = {.items = NULL};

    for (int i = 0; i < 1000; i++) {
        int *item = lbx__array_add(&array, NULL);

        CHECK(item);
        *item = i;
    }
    CHECK_INT(1000, array.count);
    for (int i = 0; i < 1000; i++)
        CHECK_INT(i, array.items[i]);
    lbx__array_fini(&array, NULL);
    CHECK_INT(0, array.count);
    CHECK(!array.items);
}

TEST(array_inserts_and_removes_anywhere)
{
    ints array = {.items = NULL};
    int *item;

    for (int i = 0; i < 3; i++) { // each at the front
        item = lbx__array_insert(&array, NULL, 0);
        CHECK(item);
        *item = i;
    }
    item = lbx__array_insert(&array, NULL, 3);
    CHECK(item);
    *item = 9;
    check_ints(&array, (const int[]){2, 1, 0, 9}, 4);
    lbx__array_remove(&array, 1);
    check_ints(&array, (const int[]){2, 0, 9}, 3);
    lbx__array_remove(&array, 2);
    lbx__array_remove(&array, 0);
    check_ints(&array, (const int[]){0}, 1);
    lbx__array_fini(&array, NULL);
}

/* What was reserved is there when it is needed: callers rely on it where they
 * cannot fail any more. */
TEST(array_adds_what_was_reserved_without_memory)
{
    TORTURE(memory, allocator);
    ints array = {.items = NULL};

    CHECK(lbx__array_reserve(&array, &allocator, 20));
    memory.allowed = 0;
    for (int i = 0; i < 20; i++)
        CHECK(lbx__array_add(&array, &allocator));
    lbx__array_fini(&array, &allocator);
    CHECK_INT(0, memory.live_blocks);
}

static void
add_many(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    ints array = {.items = NULL};
    size_t added = 0;

    (void)context;
    for (int i = 0; i < 100; i++) {
        int *item = lbx__array_add(&array, &allocator);

        if (item)
            *item = (int)added++;
        CHECK_INT(added, array.count);
    }
    for (size_t i = 0; i < added; i++)
        CHECK_INT(i, array.items[i]);
    lbx__array_fini(&array, &allocator);
}

TEST(array_is_unchanged_when_memory_fails)
{
    CHECK(torture_every_allocation(add_many, NULL) > 0);
}

TEST(array_refuses_sizes_that_do_not_fit)
{
    ints array = {.items = NULL};

    CHECK(!lbx__array_reserve(&array, NULL, SIZE_MAX));
    CHECK(!lbx__array_reserve(&array, NULL, SIZE_MAX / 2));
    CHECK_INT(0, array.capacity);
}
