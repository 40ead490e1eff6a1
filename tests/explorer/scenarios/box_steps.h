/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What scenarios with one mailbox, `box`, have in common: setups, and threads
 * that make one call or two, of which only one result is right.
 */
#ifndef LBX_EXPLORER_BOX_STEPS_H
#define LBX_EXPLORER_BOX_STEPS_H

#include "explorer.h"
#include "explorer/scenarios/box.h"

static struct box box;

/* ---- Setups ---- */

static inline void
setup(void)
{
    box_create(&box, LBX_KIND_UNBOUNDED, NULL);
}

static inline void
setup_one_consumer(void)
{
    box_create(&box, LBX_KIND_UNBOUNDED_SINGLE_CONSUMER, NULL);
}

/* Capacity for one message, which is there: a send must wait. */
static inline void
setup_full(void)
{
    BOX_CREATE(&box, LBX_KIND_BOUNDED, with.capacity_messages = 1,
               with.overflow = LBX_OVERFLOW_BLOCK);
    EXPECT_OK(box_try_send(&box));
}

/* ---- Threads ---- */

static inline void
send(void)
{
    EXPECT_OK(box_try_send(&box));
}

static inline void
send_2(void)
{
    send();
    send();
}

static inline void
receive(void)
{
    EXPECT_OK(box_receive(&box, LBX_FOREVER));
}

static inline void
receive_2(void)
{
    receive();
    receive();
}

static inline void
try_receive(void)
{
    (void)box_try_receive(&box);
}

static inline void
try_receive_2(void)
{
    try_receive();
    try_receive();
}

static inline void
suspend_and_resume(void)
{
    lbx_mailbox *mailbox = lbx_producer_mailbox(box.in);

    EXPECT(lbx_mailbox_suspend(mailbox));
    EXPECT(lbx_mailbox_resume(mailbox));
}

/* Closes, waits until the mailbox is empty, and finds it so. */
static inline void
stop(void)
{
    lbx_mailbox *mailbox = lbx_producer_mailbox(box.in);
    lbx_operation operation;

    EXPECT_OK(lbx_mailbox_stop_init(&operation, mailbox, LBX_FOREVER));
    EXPECT_OK(lbx_operation_wait(&operation));
    EXPECT(lbx_mailbox_is_empty(mailbox));
    lbx_operation_fini(&operation);
}

/* ---- Ends ---- */

static inline void
finish(void)
{
    box_finish(&box, true);
}

#endif
