/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests that make event loops: libuv opens two descriptors with the first
 * loop of a process and keeps them, which would count as leaked by that test.
 * A source of the program that includes this has them opened before.
 */
#ifndef LBX_TEST_SUPPORT_LOOPS_H
#define LBX_TEST_SUPPORT_LOOPS_H

#include <uv.h>

__attribute__((constructor)) static void
test_open_first_loop(void)
{
    uv_loop_t loop;

    if (uv_loop_init(&loop) == 0)
        (void)uv_loop_close(&loop);
}

#endif
