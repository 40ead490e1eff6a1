/* SPDX-License-Identifier: Apache-2.0 */
/* Vela: TestMailboxFactory, and its manual's advice on which kind to use. */
#include "profiles/vela/vela.h"
#include <letterbox/compat/vela.h>

#include <string.h>

BOX_TEST("V-18", create_unbounded_mailbox,
         vela_create("unbounded", LBX_DEFAULT))
{
    CHECK_INT(LBX_UNLIMITED, lbx_mailbox_capacity(box->mailbox));
    CHECK(!(lbx_mailbox_capabilities(box->mailbox) & LBX_CAPABILITY_BOUND));
}

BOX_TEST("V-18", create_bounded_mailbox, vela_create("bounded", 500))
{
    CHECK_INT(500, lbx_mailbox_capacity(box->mailbox));
    CHECK(lbx_mailbox_capabilities(box->mailbox) & LBX_CAPABILITY_BOUND);
}

/* Without any options at all, as create_mailbox(BOUNDED) in Vela. */
BOX_TEST("V-12 V-18", create_bounded_mailbox_default_capacity,
         box_create("bounded", NULL))
{
    CHECK_INT(1000, lbx_mailbox_capacity(box->mailbox));
    CHECK_INT(1000, LBX_MAILBOX_DEFAULT_CAPACITY);
    box_fill(box, 1, 1000);
    CHECK_STATUS(LBX_FULL, box_send(box, 1001));
}

static bool
priority_is_the_number(const void *message, void *context, int32_t *ret)
{
    (void)context;
    *ret = (int32_t)number_of(message);
    return true;
}

TEST_CITING("V-18", create_priority_mailbox)
{
    lbx_mailbox_options options = lbx_vela_mailbox_options();
    LOCAL_BOX(box);

    options.priority = priority_is_the_number;
    box = box_create("priority", &options);
    CHECK(lbx_mailbox_capabilities(box.mailbox) & LBX_CAPABILITY_PRIORITIZE);
    CHECK_OK(box_send(&box, 20));
    CHECK_OK(box_send(&box, 10));
    CHECK_TAKES(&box, 10, 20);
}

/* An unknown type is an error, and its text names the type. */
TEST_CITING("V-18", create_mailbox_invalid_type)
{
    lbx_mailbox_options options = lbx_vela_mailbox_options();
    lbx_fault fault = {0};
    lbx_producer *in = NULL;
    lbx_consumer *out = NULL;

    options.fault = &fault;
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_mailbox_create("invalid_type", &options, &in, &out));
    CHECK_STATUS(LBX_NOT_FOUND, fault.status);
    CHECK(strstr(fault.text, "invalid_type") != NULL);
    CHECK(in == NULL && out == NULL);
}

BOX_TEST("V-18", create_mailbox_default_type_is_unbounded,
         box_create(NULL, NULL))
{
    CHECK_INT(LBX_UNLIMITED, lbx_mailbox_capacity(box->mailbox));
    box_fill(box, 1, 2000);
    CHECK_INT(2000, box_depth(box));
}

/* Options that do not concern the type are ignored: a priority function does
 * not reorder a FIFO. */
TEST_CITING("V-18", create_mailbox_ignores_irrelevant_options)
{
    lbx_mailbox_options options = lbx_vela_mailbox_options();
    LOCAL_BOX(box);

    options.priority = priority_is_the_number;
    options.capacity_messages = 10;
    box = box_create("bounded", &options);
    CHECK_OK(box_send(&box, 20));
    CHECK_OK(box_send(&box, 10));
    CHECK_TAKES(&box, 20, 10);
}

/* The type is a name, so it can be changed without changing the code. */
TEST_CITING("V-18 V-38", create_mailbox_hides_the_concrete_type)
{
    static const char *const kinds[] = {"unbounded", "bounded", "priority"};

    for (size_t i = 0; i < 3; i++) {
        struct box box = vela_create(kinds[i], LBX_DEFAULT);

        box_fill(&box, 1, 100);
        for (int number = 1; number <= 100; number++)
            CHECK_TAKES(&box, number);
        box_destroy(&box);
    }
}

/* The manual's advice for production is a bounded mailbox that refuses; it is a
 * profile of its own. */
TEST_CITING("V-13 V-38 R-28", production_profile_is_bounded_and_refuses)
{
    lbx_mailbox_options options = lbx_mailbox_options_production();
    LOCAL_BOX(box);

    CHECK_INT(LBX_OVERFLOW_REJECT, options.overflow);
    box = box_create(LBX_KIND_BOUNDED, &options);
    CHECK_INT(1000, lbx_mailbox_capacity(box.mailbox));
    box_fill(&box, 1, 1000);
    CHECK_STATUS(LBX_FULL, box_send(&box, 1001));
    CHECK_INT(1, box_stats(&box).rejected);
}
