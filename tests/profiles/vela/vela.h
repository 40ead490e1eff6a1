/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vela's mailbox suite, in C.
 *
 * Vela's has 41 tests (V-27). They are here under their own names; the four
 * that need an actor are in actor_test.c, with those of the message loop, see
 * actor.h. The others are what the numbered items of docs/origins.md ask for
 * beyond them, and those of the later Rust port.
 *
 * Their names: enqueue is try_send, and "true" is LBX_OK; dequeue is
 * try_receive, and "None" is LBX_EMPTY; size is the depth; get_message_count
 * is `accepted`, get_rejected_count is `rejected` of the stats.
 */
#ifndef LBX_TEST_PROFILES_VELA_H
#define LBX_TEST_PROFILES_VELA_H

#include "profiles/common.h"
#include <letterbox/compat/vela.h>

/* A mailbox with the Vela profile; LBX_DEFAULT is the kind's capacity. */
static inline struct box
vela_create(const char *kind, int64_t capacity_messages)
{
    lbx_mailbox_options options = lbx_vela_mailbox_options();

    options.capacity_messages = capacity_messages;
    return box_create(kind, &options);
}

static inline struct box
vela_unbounded(void)
{
    return vela_create(LBX_KIND_UNBOUNDED, LBX_DEFAULT);
}

static inline struct box
vela_bounded(int64_t capacity_messages)
{
    return vela_create(LBX_KIND_BOUNDED, capacity_messages);
}

#endif
