/* SPDX-License-Identifier: Apache-2.0 */
/* Memory through an allocator, or through the C library. */
#include "base/alloc.h"
#include "support/test.h"
#include "support/torture.h"

#include <string.h>

static void
check_alignments(const lbx_allocator *allocator)
{
    for (size_t align = 1; align <= 16384; align *= 2) {
        char *memory = lbx__alloc(allocator, 100, align);

        CHECK(memory);
        CHECK_INT(0, (uintptr_t)memory % align);
        memset(memory, 1, 100);
        lbx__free(allocator, memory, 100);
    }
}

TEST(alloc_aligns)
{
    TORTURE(memory, allocator);

    check_alignments(NULL);
    check_alignments(&allocator);
    CHECK_INT(0, memory.live_blocks);
}

static void
check_zeroed(const lbx_allocator *allocator)
{
    char *memory = lbx__zalloc(allocator, 1000);

    CHECK(memory);
    for (int i = 0; i < 1000; i++)
        CHECK_INT(0, memory[i]);
    lbx__free(allocator, memory, 1000);
}

TEST(alloc_zeroes)
{
    TORTURE(memory, allocator);

    check_zeroed(NULL);
    check_zeroed(&allocator);
}

TEST(alloc_failure_is_null)
{
    struct torture memory = {.allowed = 0};
    lbx_allocator allocator = torture_allocator(&memory);

    CHECK_PTR(NULL, lbx__alloc(&allocator, 8, 8));
    CHECK_PTR(NULL, lbx__zalloc(&allocator, 8));
    CHECK_INT(2, memory.failures);
}

TEST(alloc_free_takes_null)
{
    TORTURE(memory, allocator);

    lbx__free(NULL, NULL, 0);
    lbx__free(&allocator, NULL, 8);
}
