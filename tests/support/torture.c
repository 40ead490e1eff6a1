/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that fails on command and keeps the books.
 *
 * A block is one malloc():
 *
 *     | padding | header | guard | what the caller gets | guard |
 *
 * TORTURE-1  The caller's part is a multiple of the alignment asked for, and of
 *            no greater power of two, so that code which relies on more is
 *            found out.
 * TORTURE-2  Header and guards of a live block are as allocate() wrote them.
 */
#include "support/torture.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

enum {
    GUARD_BYTES = 16,
    FILL_GUARD = 0xfb,
    FILL_NEW = 0xa5,
    FILL_OLD = 0x5a,
};

#define MAGIC 0x6c62782d6c697665u

struct header {
    uint64_t magic;
    size_t size_bytes;
    void *origin;
    unsigned char guard[GUARD_BYTES];
};

static bool
is_power_of_two(size_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

// The first address in `origin` that leaves room for a header in front, and
// is aligned to `align_bytes` and no more.
static unsigned char *
place_block(unsigned char *origin, size_t align_bytes)
{
    uintptr_t low = (uintptr_t)origin + sizeof(struct header);
    uintptr_t at = (low + align_bytes - 1) & ~(uintptr_t)(align_bytes - 1);

    if ((at & align_bytes) == 0)
        at += align_bytes; // odd multiple: TORTURE-1
    return origin + (at - (uintptr_t)origin);
}

// The header may sit at any address, so it is copied in and out.
static unsigned char *
make_block(size_t size_bytes, size_t align_bytes)
{
    size_t whole = sizeof(struct header) + 2 * align_bytes + size_bytes;
    struct header header = {.magic = MAGIC, .size_bytes = size_bytes};
    unsigned char *block;

    if (whole > SIZE_MAX - GUARD_BYTES - 1 || whole < size_bytes)
        return NULL;
    header.origin = malloc(whole + GUARD_BYTES);
    if (!header.origin)
        return NULL;

    block = place_block(header.origin, align_bytes);
    memset(header.guard, FILL_GUARD, sizeof(header.guard));
    memcpy(block - sizeof(header), &header, sizeof(header));
    memset(block, FILL_NEW, size_bytes);
    memset(block + size_bytes, FILL_GUARD, GUARD_BYTES);
    return block;
}

static void
check_guard(const unsigned char *guard, const char *where)
{
    for (int i = 0; i < GUARD_BYTES; i++) {
        if (guard[i] != FILL_GUARD)
            FAIL("a block was written to %s its end", where);
    }
}

static void
end_block(unsigned char *block, size_t size_bytes)
{
    struct header header;

    memcpy(&header, block - sizeof(header), sizeof(header));
    if (header.magic != MAGIC)
        FAIL("released %p, which is not a live block", (void *)block);
    if (header.size_bytes != size_bytes)
        FAIL("allocated %zu bytes but released %zu", header.size_bytes,
             size_bytes);
    check_guard(header.guard, "before"); // TORTURE-2
    check_guard(block + size_bytes, "after");

    memset(block - sizeof(header), FILL_OLD, sizeof(header) + size_bytes);
    free(header.origin);
}

// Whether this allocation is one of those that fail. Called with the lock.
static bool
must_fail(struct torture *memory)
{
    long number = memory->allocations++;

    return memory->once ? number == memory->allowed : number >= memory->allowed;
}

static void *
allocate(void *context, size_t size_bytes, size_t align_bytes)
{
    struct torture *memory = context;
    unsigned char *block = NULL;

    if (!is_power_of_two(align_bytes))
        FAIL("asked for an alignment of %zu", align_bytes);
    if (size_bytes == 0)
        FAIL("asked for no memory at all");

    pthread_mutex_lock(&memory->lock);
    if (must_fail(memory)) {
        memory->failures++;
    } else {
        block = make_block(size_bytes, align_bytes);
        if (block) {
            memory->live_blocks++;
            memory->live_bytes += size_bytes;
            memory->total_bytes += size_bytes;
        }
        if (memory->live_bytes > memory->most_bytes)
            memory->most_bytes = memory->live_bytes;
    }
    pthread_mutex_unlock(&memory->lock);
    return block;
}

static void
release(void *context, void *block, size_t size_bytes)
{
    struct torture *memory = context;

    if (!block)
        FAIL("released NULL");
    end_block(block, size_bytes);

    pthread_mutex_lock(&memory->lock);
    memory->live_blocks--;
    memory->live_bytes -= size_bytes;
    pthread_mutex_unlock(&memory->lock);
}

lbx_allocator
torture_allocator(struct torture *memory)
{
    return (lbx_allocator){
        .allocate = allocate,
        .release = release,
        .context = memory,
    };
}

// One run; true if an allocation was made to fail in it.
static bool
run_once(torture_body *body, void *context, long allowed, bool once)
{
    struct torture memory = TORTURE_INIT;

    memory.allowed = allowed;
    memory.once = once;
    body(&memory, context);
    if (memory.live_blocks != 0)
        FAIL("allocation %ld failed and %ld block(s), %zu byte(s) were left",
             allowed + 1, memory.live_blocks, memory.live_bytes);
    return memory.failures > 0;
}

long
torture_every_allocation(torture_body *body, void *context)
{
    long allowed = 0;

    for (;; allowed++) {
        bool failed = run_once(body, context, allowed, true);

        failed |= run_once(body, context, allowed, false);
        if (!failed)
            return allowed;
    }
}
