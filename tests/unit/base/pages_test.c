/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that are aligned to their own size. */
#include "base/alloc.h"
#include "support/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    BLOCKS = 8,
    BLOCK_BYTES = 16384,
    SMALL_BYTES = 4096
};

/* The smaller mappings in between make the next block come unaligned. */
static void
take_and_give_back(void)
{
    char *blocks[BLOCKS];
    void *small[BLOCKS];

    for (int i = 0; i < BLOCKS; i++) {
        small[i] = mmap(NULL, SMALL_BYTES, PROT_READ,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(small[i] != MAP_FAILED);
        blocks[i] = lbx__pages_alloc(NULL, BLOCK_BYTES);
        CHECK(blocks[i]);
        CHECK_INT(0, (uintptr_t)blocks[i] % BLOCK_BYTES);
        for (int at = 0; at < BLOCK_BYTES; at++)
            CHECK(blocks[i][at] == 0);
        memset(blocks[i], 1, BLOCK_BYTES);
    }
    for (int i = 0; i < BLOCKS; i++) {
        lbx__pages_free(NULL, blocks[i], BLOCK_BYTES);
        CHECK_INT(0, munmap(small[i], SMALL_BYTES));
    }
}

TEST(pages_are_aligned_and_zeroed)
{
    for (int i = 0; i < 10; i++)
        take_and_give_back();
}

/* The pages of address space that this process has; calls no malloc. */
static long
mapped_pages(void)
{
    const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    char text[128] = "";

    CHECK(fd >= 0);
    CHECK(read(fd, text, sizeof(text) - 1) > 0);
    CHECK(close(fd) == 0);
    return strtol(text, NULL, 10);
}

/* What was mapped for the sake of the alignment is given back at once, on both
 * sides of the block. */
TEST(pages_take_no_more_than_their_size)
{
    const long page = sysconf(_SC_PAGESIZE);
    long before;

    if (test_is_sanitized())
        return; // ASan's blocks are malloc's, and TSan maps on its own

    (void)mapped_pages(); // what the first call needs
    before = mapped_pages();
    for (int i = 0; i < BLOCKS; i++) {
        CHECK(mmap(NULL, (size_t)page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
                   -1, 0) != MAP_FAILED);
        CHECK(lbx__pages_alloc(NULL, BLOCK_BYTES));
    }
    CHECK_INT(BLOCKS * (1 + BLOCK_BYTES / page), mapped_pages() - before);
}
