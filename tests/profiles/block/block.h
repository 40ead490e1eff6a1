/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seed 003: the overflow policy Block really waits (B-01 … B-16 without the
 * bare-metal build). Its `offer` is a send operation, `poll` a receive, and
 * `Disconnected` is LBX_CLOSED. Operations are polled by hand and time is
 * injected, so that nothing here depends on how fast a machine is.
 */
#ifndef LBX_TEST_PROFILES_BLOCK_H
#define LBX_TEST_PROFILES_BLOCK_H

#include "profiles/common.h"

/* A full mailbox: 1 … capacity are inside, and a send has to wait. */
static inline struct box
block_full(int64_t capacity_messages)
{
    struct box box = box_bounded(capacity_messages, LBX_OVERFLOW_BLOCK);

    box_fill(&box, 1, (intptr_t)capacity_messages);
    return box;
}

/* The same with time in the test's hands. */
static inline struct box
block_full_timed(const lbx_clock *clock, int64_t wait_ns,
                 lbx_overflow after_wait)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    struct box box;

    options.capacity_messages = 1;
    options.overflow = LBX_OVERFLOW_BLOCK;
    options.wait_ns = wait_ns;
    options.after_wait = after_wait;
    options.clock = clock;
    box = box_create(LBX_KIND_BOUNDED, &options);
    box_fill(&box, 1, 1);
    return box;
}

#endif
