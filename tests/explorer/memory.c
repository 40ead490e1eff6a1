/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of one execution.
 *
 * Each thread, and setup() and finish() together, cut blocks off a region of
 * their own, from its beginning: an address depends only on what that thread
 * did before, so that executions which differ only in the order of unrelated
 * steps see the same addresses.
 *
 * EXPMEM-1  A block's bytes are NEW when handed out and OLD once released, and
 *           stay OLD to the end of the execution: a later write is found at the
 *           end. In a large block this holds for the beginning only, to save
 *           time.
 * EXPMEM-2  `state` has a byte per grain of memory: an atomic operation on
 *           memory that is not LIVE is found at once.
 *
 * With reuse, a released block goes to the next request of its size, from any
 * thread; EXPMEM-1's second half does not hold then. Asking and releasing are
 * steps of the search in that mode, since their order matters.
 */
#include "memory.h"

#include "base/atomic.h"
#include "explorer.h"

#include <stdint.h>
#include <string.h>

enum {
    REGIONS = EXPLORER_THREADS + 1,
    REGION_BYTES = 1024 * 1024,
    REGION_BLOCKS = 512,
    GRAIN = 16,
    NEW = 0xa5,
    OLD = 0xdd,
    LARGE_BYTES = 512,
    LIVE = 1, /* a grain's state; 0 is dead */
};

struct block {
    char *memory;
    size_t size_bytes;
    bool live;
};

static _Alignas(64 * 1024) char bytes[REGIONS][REGION_BYTES];
static uint8_t state[REGIONS][REGION_BYTES / GRAIN];
static struct {
    struct block blocks[REGION_BLOCKS];
    unsigned block_count;
    size_t used_bytes;
} regions[REGIONS];
static bool reuse_blocks;

// How much of a block is filled and checked: EXPMEM-1.
static size_t
watched_bytes(const struct block *block)
{
    return block->size_bytes < LARGE_BYTES ? block->size_bytes : LARGE_BYTES;
}

static void
mark(const struct block *block, uint8_t grain_state)
{
    size_t first = (size_t)(block->memory - &bytes[0][0]) / GRAIN;

    memset(&state[0][0] + first, grain_state,
           (block->size_bytes + GRAIN - 1) / GRAIN);
}

void
memory_reset(bool reuse)
{
    for (unsigned i = 0; i < REGIONS; i++) {
        if (regions[i].used_bytes == 0)
            continue;
        memset(state[i], 0, regions[i].used_bytes / GRAIN);
        regions[i].used_bytes = 0;
        regions[i].block_count = 0;
    }
    reuse_blocks = reuse;
}

static struct block *
find_released(size_t size_bytes, size_t align_bytes)
{
    for (unsigned i = 0; i < REGIONS; i++) {
        for (unsigned j = 0; j < regions[i].block_count; j++) {
            struct block *block = &regions[i].blocks[j];

            if (!block->live && block->size_bytes == size_bytes &&
                (uintptr_t)block->memory % align_bytes == 0)
                return block;
        }
    }
    return NULL;
}

static struct block *
cut(unsigned region, size_t size_bytes, size_t align_bytes)
{
    size_t align = align_bytes < GRAIN ? GRAIN : align_bytes;
    size_t start = (regions[region].used_bytes + align - 1) / align * align;
    size_t end = start + (size_bytes + GRAIN - 1) / GRAIN * GRAIN;
    struct block *block;

    if (end > REGION_BYTES || regions[region].block_count == REGION_BLOCKS)
        explorer_fail(__FILE__, __LINE__,
                      "the scenario is too large for the explorer's memory");
    block = &regions[region].blocks[regions[region].block_count++];
    block->memory = bytes[region] + start;
    block->size_bytes = size_bytes;
    regions[region].used_bytes = end;
    return block;
}

static void *
allocate(void *context, size_t size_bytes, size_t align_bytes)
{
    struct block *block = NULL;

    (void)context;
    if (reuse_blocks) {
        lbx__explore_point(&reuse_blocks, 1);
        block = find_released(size_bytes, align_bytes);
    }
    if (!block)
        block = cut((unsigned)(explorer_thread() + 1), size_bytes, align_bytes);
    block->live = true;
    mark(block, LIVE);
    memset(block->memory, NEW, watched_bytes(block));
    return block->memory;
}

static struct block *
find_block(const void *memory)
{
    size_t region =
        (size_t)((const char *)memory - &bytes[0][0]) / REGION_BYTES;

    if (region >= REGIONS)
        return NULL;
    for (unsigned i = regions[region].block_count; i-- > 0;) {
        if (regions[region].blocks[i].memory == memory)
            return &regions[region].blocks[i];
    }
    return NULL;
}

static void
release(void *context, void *memory, size_t size_bytes)
{
    struct block *block;

    (void)context;
    if (reuse_blocks)
        lbx__explore_point(&reuse_blocks, 1);
    block = find_block(memory);
    if (!block)
        explorer_fail(__FILE__, __LINE__, "released what was not allocated");
    if (!block->live)
        explorer_fail(__FILE__, __LINE__, "released %zu bytes twice",
                      size_bytes);
    if (block->size_bytes != size_bytes)
        explorer_fail(__FILE__, __LINE__,
                      "allocated %zu bytes and released %zu", block->size_bytes,
                      size_bytes);
    block->live = false;
    mark(block, 0);
    memset(memory, OLD, watched_bytes(block));
}

const lbx_allocator explorer_memory = {allocate, release, NULL};

static void
check_block(const struct block *block)
{
    if (block->live)
        explorer_fail(__FILE__, __LINE__, "leaked %zu bytes",
                      block->size_bytes);
    // All bytes are OLD when the first is and each equals the one before.
    if (!reuse_blocks && block->size_bytes > 0 &&
        ((uint8_t)block->memory[0] != OLD ||
         memcmp(block->memory, block->memory + 1, watched_bytes(block) - 1) !=
             0))
        explorer_fail(__FILE__, __LINE__, "wrote into released memory");
}

void
memory_check_end(void)
{
    for (unsigned i = 0; i < REGIONS; i++) {
        for (unsigned j = 0; j < regions[i].block_count; j++)
            check_block(&regions[i].blocks[j]);
    }
}

bool
memory_is_dead(const void *address)
{
    size_t offset = (size_t)((const char *)address - &bytes[0][0]);

    return offset < sizeof(bytes) && (&state[0][0])[offset / GRAIN] != LIVE;
}
