/* SPDX-License-Identifier: Apache-2.0 */
/* Vela: TestBoundedMailbox. */
#include "profiles/vela/vela.h"
#include <letterbox/compat/vela.h>

#include <string.h>

BOX_TEST("V-05 V-10", bounded_initialization_with_capacity, vela_bounded(100))
{
    CHECK_INT(100, lbx_mailbox_capacity(box->mailbox));
    CHECK(lbx_mailbox_is_empty(box->mailbox));
    CHECK(!lbx_mailbox_is_full(box->mailbox));
    CHECK_INT(0, box_stats(box).rejected);
}

BOX_TEST("V-12", bounded_default_capacity, vela_bounded(LBX_DEFAULT))
{
    CHECK_INT(1000, lbx_mailbox_capacity(box->mailbox));
}

/* Neither 0 nor a negative number is a capacity, and the fault says so. */
TEST_CITING("V-12 R-09", bounded_invalid_capacity)
{
    static const int64_t wrong[] = {0, -10};
    lbx_mailbox_options options = lbx_vela_mailbox_options();
    lbx_fault fault = {0};
    lbx_producer *in = NULL;
    lbx_consumer *out = NULL;

    options.fault = &fault;
    for (size_t i = 0; i < 2; i++) {
        options.capacity_messages = wrong[i];
        memset(&fault, 0, sizeof(fault));
        CHECK_STATUS(LBX_INVALID,
                     lbx_mailbox_create(LBX_KIND_BOUNDED, &options, &in, &out));
        CHECK_STATUS(LBX_INVALID, fault.status);
        CHECK(strstr(fault.text, "capacity") != NULL);
        CHECK(in == NULL && out == NULL);
    }
}

BOX_TEST("V-09", bounded_within_capacity, vela_bounded(3))
{
    box_fill(box, 1, 3);
    CHECK_INT(3, box_depth(box));
}

BOX_TEST("V-03 V-09", bounded_exceeds_capacity, vela_bounded(2))
{
    box_fill(box, 1, 2);
    CHECK_STATUS(LBX_FULL, box_send(box, 3));
    CHECK_INT(2, box_depth(box));
}

BOX_TEST("V-10", bounded_is_full, vela_bounded(2))
{
    CHECK(!lbx_mailbox_is_full(box->mailbox));
    CHECK_OK(box_send(box, 1));
    CHECK(!lbx_mailbox_is_full(box->mailbox));
    CHECK_OK(box_send(box, 2));
    CHECK(lbx_mailbox_is_full(box->mailbox));
}

BOX_TEST("V-10", bounded_rejected_count, vela_bounded(2))
{
    box_fill(box, 1, 2);
    CHECK_INT(0, box_stats(box).rejected);
    CHECK_STATUS(LBX_FULL, box_send(box, 3));
    CHECK_INT(1, box_stats(box).rejected);
    CHECK_STATUS(LBX_FULL, box_send(box, 4));
    CHECK_INT(2, box_stats(box).rejected);
}

/* One message taken is room for exactly one more. */
BOX_TEST("V-11", bounded_dequeue_frees_space, vela_bounded(2))
{
    box_fill(box, 1, 2);
    CHECK_TAKES(box, 1);
    CHECK(!lbx_mailbox_is_full(box->mailbox));
    CHECK_OK(box_send(box, 3));
    CHECK_STATUS(LBX_FULL, box_send(box, 4));
}

BOX_TEST("V-09", bounded_fifo_ordering, vela_bounded(5))
{
    box_fill(box, 1, 5);
    CHECK_TAKES(box, 1, 2, 3, 4, 5);
    CHECK_NOTHING(box);
}

/* A refusal leaves the contents untouched and counts nothing as accepted. */
BOX_TEST("V-06 V-09", bounded_refusal_changes_nothing_but_its_counter,
         vela_bounded(2))
{
    box_fill(box, 1, 2);
    CHECK_STATUS(LBX_FULL, box_send(box, 3));
    CHECK_INT(2, box_stats(box).accepted);
    CHECK_TAKES(box, 1, 2);
    CHECK_NOTHING(box);
}

/* Refuse-and-count was chosen so that the producer decides: the message is
 * still its own, to send again here or elsewhere. Nothing is lost in silence.
 */
TEST_CITING("V-13 R-12", bounded_refused_message_can_go_elsewhere)
{
    struct losses losses = {0};
    lbx_mailbox_options options = lbx_vela_mailbox_options();
    LOCAL_BOX(spare) = vela_unbounded();
    LOCAL_BOX(box);

    options.capacity_messages = 1;
    options.loss_sink = losses_sink(&losses);
    box = box_create(LBX_KIND_BOUNDED, &options);
    CHECK_OK(box_send(&box, 1));
    CHECK_STATUS(LBX_FULL, box_send(&box, 2));
    CHECK_OK(box_send(&spare, 2));
    CHECK_TAKES(&spare, 2);
    CHECK_TAKES(&box, 1);
    CHECK_INT(0, losses.count);
}

/* Even send(), which may wait under another policy, never blocks here. */
BOX_TEST("V-03 V-13", bounded_send_never_blocks, vela_bounded(1))
{
    CHECK_OK(lbx_producer_send(box->in, message_of(1)));
    CHECK_STATUS(LBX_FULL, lbx_producer_send(box->in, message_of(2)));
    CHECK_STATUS(LBX_FULL,
                 lbx_producer_send_until(box->in, message_of(2), LBX_FOREVER));
}

/* Every capacity is exact: a ring that rounds to a power of two would not
 * refuse these in the right place. */
TEST_CITING("V-09 R-09", bounded_capacity_is_exact)
{
    static const int64_t capacities[] = {1, 2, 3, 5, 7, 100, 1000};

    for (size_t i = 0; i < sizeof(capacities) / sizeof(*capacities); i++) {
        struct box box = vela_bounded(capacities[i]);

        for (int round = 0; round < 3; round++) { // over the ring's end too
            intptr_t number = 0;

            box_fill(&box, 1, (intptr_t)capacities[i]);
            CHECK_STATUS(LBX_FULL, box_send(&box, 0));
            while (box_take(&box, &number) == LBX_OK)
                continue;
            CHECK_INT(capacities[i], number);
        }
        box_destroy(&box);
    }
}
