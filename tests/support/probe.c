/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that fail on purpose, one for each way a test can fail. The script
 * `run` beside this file checks that each is reported under its own name.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/clock.h"
#include "support/test.h"
#include "support/threads.h"
#include "support/torture.h"

TEST(passes)
{
    CHECK(true);
    CHECK_OK(LBX_OK);
    CHECK_INT(-3, LBX_FULL);
    CHECK_STR("LBX_FULL", lbx_status_name(LBX_FULL));
}

TEST_CITING("V-09 R-01", passes_and_cites)
{
    test_note("seed %d", 42);
    test_figure("%d bytes each", 42);
}

TEST(fails_with_status_names)
{
    CHECK_STATUS(LBX_FULL, LBX_CLOSED);
}

TEST(fails_in_a_check)
{
    CHECK(1 + 1 == 3);
}

static void
fail_in_the_third(unsigned index, void *context)
{
    (void)context;
    CHECK(index != 2);
}

TEST(fails_in_a_thread)
{
    threads_run(4, fail_in_the_third, NULL);
}

TEST(crashes)
{
    abort();
}

TEST_LIMIT(hangs, 1)
{
    for (;;)
        pause();
}

TEST(leaves_a_descriptor_open)
{
    CHECK(open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0);
}

TEST(ends_early)
{
    exit(3);
}

TEST(ends_early_as_if_all_were_well)
{
    exit(0);
}

static void
forget_a_block(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    void *one = allocator.allocate(memory, 10, 8);
    void *two = allocator.allocate(memory, 20, 64);

    (void)context;
    if (!one)
        return;
    allocator.release(memory, one, 10);
    if (two)
        allocator.release(memory, two, 20);
}

// With allocation 1 alone failing, the second block is never given back.
TEST(torture_finds_a_forgotten_block)
{
    torture_every_allocation(forget_a_block, NULL);
}

TEST(torture_finds_a_wrong_size)
{
    struct torture memory = TORTURE_INIT;
    lbx_allocator allocator = torture_allocator(&memory);

    allocator.release(&memory, allocator.allocate(&memory, 24, 8), 16);
}

TEST(torture_finds_a_write_past_the_end)
{
    struct torture memory = TORTURE_INIT;
    lbx_allocator allocator = torture_allocator(&memory);
    unsigned char *block = allocator.allocate(&memory, 24, 8);

    memset(block, 0, 25);
    allocator.release(&memory, block, 24);
}

TEST(torture_counts)
{
    struct torture memory = {.allowed = 2};
    lbx_allocator allocator = torture_allocator(&memory);
    void *one = allocator.allocate(&memory, 24, 8);
    void *two = allocator.allocate(&memory, 40, 128);

    CHECK_INT(0, (uintptr_t)two % 128);
    CHECK(allocator.allocate(&memory, 1, 1) == NULL);
    CHECK_INT(64, memory.live_bytes);
    allocator.release(&memory, one, 24);
    allocator.release(&memory, two, 40);
    CHECK_INT(0, memory.live_bytes);
    CHECK_INT(64, memory.most_bytes);
    CHECK_INT(3, memory.allocations);
}

TEST(clock_stands_still_until_moved)
{
    struct test_clock time = TEST_CLOCK_INIT;
    lbx_clock clock = test_clock_interface(&time);
    int64_t before = clock.now_ns(clock.context);

    CHECK_INT(before, clock.now_ns(clock.context));
    test_clock_advance(&time, 5 * LBX_MS);
    CHECK_INT(before + 5 * LBX_MS, clock.now_ns(clock.context));
}
