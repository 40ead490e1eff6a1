/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that fail, memory that is not there, clocks that jump; disk.h. */
#include "calls.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <letterbox/base.h>

void (*calls_hook)(void);
int64_t disk_wall_shift_ns;
int64_t disk_boot_shift_ns;

static struct {
    atomic_long left, made;
    bool for_ever;
    int error;
} failing[DISK_CALLS] = {
    {.left = -1}, {.left = -1}, {.left = -1}, {.left = -1}};

void
disk_fail(enum disk_call call, long after, int error, bool for_ever)
{
    failing[call].error = error;
    failing[call].for_ever = for_ever;
    atomic_store(&failing[call].made, 0);
    atomic_store(&failing[call].left, after);
}

long
disk_calls(enum disk_call call)
{
    return atomic_load(&failing[call].made);
}

bool
calls_fail(enum disk_call call)
{
    long left = atomic_load(&failing[call].left);

    if (calls_hook)
        calls_hook();
    atomic_fetch_add(&failing[call].made, 1);
    if (left < 0)
        return false;
    if (left == 0) {
        if (!failing[call].for_ever)
            atomic_store(&failing[call].left, -1);
        errno = failing[call].error;
        return true;
    }
    atomic_store(&failing[call].left, left - 1);
    return false;
}

size_t
calls_part(size_t size)
{
    return size / 2 / 512 * 512;
}

/* The first thread is the test's. */
static bool
memory_fails(void)
{
    return gettid() != getpid() && calls_fail(DISK_MEMORY);
}

REAL(void *, malloc, size_t size)
{
    return memory_fails() ? NULL : __real_malloc(size);
}

REAL(void *, calloc, size_t count, size_t size)
{
    return memory_fails() ? NULL : __real_calloc(count, size);
}

REAL(void *, realloc, void *memory, size_t size)
{
    return memory_fails() ? NULL : __real_realloc(memory, size);
}

REAL(int, clock_gettime, clockid_t clock, struct timespec *ret)
{
    if (calls_hook)
        calls_hook();

    const int result = __real_clock_gettime(clock, ret);
    const int64_t shift = clock == CLOCK_REALTIME   ? disk_wall_shift_ns
                          : clock == CLOCK_BOOTTIME ? disk_boot_shift_ns
                                                    : 0;
    const int64_t moved = ret->tv_sec * LBX_SECOND + ret->tv_nsec + shift;

    ret->tv_sec = moved / LBX_SECOND;
    ret->tv_nsec = moved % LBX_SECOND;
    return result;
}
