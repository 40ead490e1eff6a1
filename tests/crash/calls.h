/* SPDX-License-Identifier: Apache-2.0 */
/* System calls on their way through the linker's --wrap: wraps.c records them,
 * calls.c makes them fail. */
#ifndef LBX_TEST_CRASH_CALLS_H
#define LBX_TEST_CRASH_CALLS_H

#include "disk.h"

#define REAL(type, name, ...)                                                  \
    type __real_##name(__VA_ARGS__);                                           \
    type __wrap_##name(__VA_ARGS__);                                           \
    type __wrap_##name(__VA_ARGS__)

/* Whether this is the one that fails; then errno says how. */
bool calls_fail(enum disk_call call);

/* Called by every one of them, unless it is NULL; in this process. */
extern void (*calls_hook)(void);

/* What a write that fails has written: half, by sectors. */
size_t calls_part(size_t size);

#endif
