/* SPDX-License-Identifier: Apache-2.0 */
/* Vela: TestUnboundedMailbox. */
#include "profiles/vela/vela.h"
#include "support/torture.h"
#include <letterbox/compat/vela.h>

BOX_TEST("V-05", unbounded_initialization, vela_unbounded())
{
    CHECK(lbx_mailbox_is_empty(box->mailbox));
    CHECK_INT(0, box_depth(box));
    CHECK_INT(0, box_stats(box).accepted);
}

BOX_TEST("V-03 V-05", unbounded_enqueue_message, vela_unbounded())
{
    CHECK_OK(box_send(box, 1));
    CHECK(!lbx_mailbox_is_empty(box->mailbox));
    CHECK_INT(1, box_depth(box));
}

BOX_TEST("V-04", unbounded_dequeue_message, vela_unbounded())
{
    char text[] = "test message";
    void *message = NULL;

    CHECK_OK(lbx_producer_try_send(box->in, text));
    CHECK_OK(lbx_consumer_try_receive(box->out, &message));
    CHECK_PTR(text, message);
    CHECK(lbx_mailbox_is_empty(box->mailbox));
}

BOX_TEST("V-08", unbounded_fifo_ordering, vela_unbounded())
{
    box_fill(box, 1, 3);
    CHECK_TAKES(box, 1, 2, 3);
}

/* Outputs are written on success only: an empty mailbox leaves the caller's
 * variable as it was. */
BOX_TEST("V-04", unbounded_dequeue_empty_returns_none, vela_unbounded())
{
    void *message = message_of(99);

    CHECK_STATUS(LBX_EMPTY, lbx_consumer_try_receive(box->out, &message));
    CHECK_INT(99, number_of(message));
}

BOX_TEST("V-08", unbounded_multiple_enqueue_dequeue, vela_unbounded())
{
    box_fill(box, 'A', 'B');
    CHECK_TAKES(box, 'A');
    CHECK_OK(box_send(box, 'C'));
    CHECK_TAKES(box, 'B', 'C');
    CHECK_NOTHING(box);
}

/* The count is a lifetime total: taking a message does not lower it. */
BOX_TEST("V-06", unbounded_message_count_increases, vela_unbounded())
{
    CHECK_INT(0, box_stats(box).accepted);
    CHECK_OK(box_send(box, 1));
    CHECK_INT(1, box_stats(box).accepted);
    CHECK_OK(box_send(box, 2));
    CHECK_INT(2, box_stats(box).accepted);
    CHECK_TAKES(box, 1);
    CHECK_INT(2, box_stats(box).accepted);
}

BOX_TEST("V-08", unbounded_no_limit, vela_unbounded())
{
    box_fill(box, 1, 10000);
    CHECK_INT(10000, box_depth(box));
    CHECK(!lbx_mailbox_is_full(box->mailbox));
    CHECK_INT(LBX_UNLIMITED, lbx_mailbox_capacity(box->mailbox));
}

/* The documented risk is memory; running out of it is an answer, not the end
 * of the process, and what was accepted stays deliverable. */
TEST_CITING("V-08 R-12", unbounded_out_of_memory_refuses_one_message)
{
    lbx_mailbox_options options = lbx_vela_mailbox_options();
    struct torture memory = TORTURE_INIT;
    lbx_allocator allocator = torture_allocator(&memory);
    struct box box;
    intptr_t sent = 0;
    intptr_t number = 0;

    options.allocator = &allocator;
    box = box_create(LBX_KIND_UNBOUNDED, &options);
    memory.allowed = memory.allocations; // none from here on
    while (box_send(&box, sent + 1) == LBX_OK)
        sent++;
    CHECK_STATUS(LBX_NO_MEMORY, box_send(&box, sent + 1));
    CHECK_INT(sent, box_depth(&box));
    CHECK(!lbx_mailbox_is_closed(box.mailbox));
    for (intptr_t i = 1; i <= sent; i++) {
        CHECK_OK(box_take(&box, &number));
        CHECK_INT(i, number);
    }
    CHECK_NOTHING(&box);
    box_destroy(&box);
    CHECK_INT(0, memory.live_blocks);
}
