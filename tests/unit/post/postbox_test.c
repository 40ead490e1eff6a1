/* SPDX-License-Identifier: Apache-2.0 */
/* A postbox itself: opening and closing it, counting and purging its box. Its
 * sends, receives and types are in postbox_*_test.c. */
#include "post/world.h"

#include <string.h>

TEST(opening_makes_the_box_or_takes_it_as_it_is)
{
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_box_options box = LBX_BOX_OPTIONS_INIT;
    struct script script;
    lbx_postbox *postbox;
    lbx_fault fault;

    script_init(&script);
    options.fault = &fault;
    options.must_exist = true;
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_postbox_open_in(&script.base, "a", &options, &postbox));
    CHECK(strstr(fault.text, "box 'a': no such name"));
    options.must_exist = false;
    box.lease_ns = 7 * LBX_SECOND;
    options.box = &box;
    CHECK_OK(lbx_postbox_open_in(&script.base, "a", &options, &postbox));
    CHECK_STR("a", lbx_postbox_name(postbox));
    CHECK_PTR(&script.base, lbx_postbox_store(postbox));
    lbx_postbox_unref(postbox);
    box.lease_ns = -1;
    CHECK_OK(lbx_postbox_open_in(&script.base, "a", &options, &postbox));
    CHECK_INT(1, script.creates);
    lbx_postbox_unref(postbox);
    CHECK_STATUS(LBX_INVALID,
                 lbx_postbox_open_in(&script.base, "b", &options, &postbox));
    CHECK(strstr(fault.text, "lease_ns"));
    CHECK_STATUS(LBX_INVALID,
                 lbx_postbox_open_in(&script.base, "a b", NULL, &postbox));
    CHECK_STATUS(LBX_INVALID, lbx_postbox_open_in(NULL, "a", NULL, &postbox));
    script.box_answer = LBX_UNREACHABLE;
    CHECK_STATUS(LBX_UNREACHABLE,
                 lbx_postbox_open_in(&script.base, "a", NULL, &postbox));
    script_fini(&script);
}

static void
fill(lbx_fault *fault)
{
    memset(fault, 'Z', sizeof(*fault));
    fault->text[sizeof(fault->text) - 1] = '\0';
}

/* Whoever prints the fault of a failure reads a sentence, not old memory. */
TEST(no_failure_to_open_leaves_the_fault_as_it_was)
{
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_allocator half = {NULL, NULL, NULL};
    struct script script;
    lbx_postbox *postbox;
    lbx_fault fault;

    script_init(&script);
    options.fault = &fault;
#define REFUSED(expected, store, name, ret, words)                             \
    do {                                                                       \
        fill(&fault);                                                          \
        CHECK_STATUS(expected,                                                 \
                     lbx_postbox_open_in(store, name, &options, ret));         \
        CHECK_STATUS(expected, fault.status);                                  \
        CHECK(strstr(fault.text, words));                                      \
    } while (0)

    REFUSED(LBX_INVALID, NULL, "a", &postbox, "store is NULL");
    REFUSED(LBX_INVALID, &script.base, NULL, &postbox,
            "the name of a box is NULL");
    REFUSED(LBX_INVALID, &script.base, "a", NULL, "ret is NULL");
    REFUSED(LBX_INVALID, &script.base, "", &postbox, "'' is no name");
    REFUSED(LBX_INVALID, &script.base, "a\nb", &postbox,
            "'a\\x0ab' is no name");
    options.allocator = &half;
    REFUSED(LBX_INVALID, &script.base, "a", &postbox, "allocator");
    options.allocator = NULL;
    options.size_bytes = 7;
    REFUSED(LBX_INVALID, &script.base, "a", &postbox,
            "LBX_POSTBOX_OPTIONS_INIT");
    options.size_bytes = sizeof(lbx_postbox_options);
    script.box_answer = LBX_UNREACHABLE;
    REFUSED(LBX_UNREACHABLE, &script.base, "a", &postbox, "'a': ");
#undef REFUSED
    script_fini(&script);
}

POSTBOX_TEST("W-09 W-37", a_closed_postbox_refuses_clearly)
{
    lbx_letter *letter, *other;
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;
    uint64_t purged;

    CHECK_OK(lbx_postbox_receive(world->postbox, 0, &letter));
    lbx_postbox_close(world->postbox);
    CHECK_STATUS(LBX_CLOSED, lbx_postbox_send(world->postbox, "x", 1, NULL));
    CHECK_STATUS(LBX_CLOSED, lbx_postbox_receive(world->postbox, -1, &other));
    CHECK_STATUS(LBX_CLOSED, lbx_postbox_count(world->postbox, &counts));
    CHECK_STATUS(LBX_CLOSED, lbx_postbox_purge(world->postbox, &purged));
    CHECK_OK(lbx_letter_acknowledge(letter)); // what was received goes on
    lbx_letter_destroy(letter);
}

/* A letter keeps the postbox, and so does an operation, but neither uses it. */
TEST(the_last_unref_ends_a_receive_that_waits)
{
    lbx_receive_options wanted = LBX_RECEIVE_OPTIONS_INIT;
    lbx_operation receive;
    lbx_letter *kept, *none[1];
    struct world world;
    size_t count;

    world_begin(&world, NULL);
    CHECK_OK(lbx_postbox_receive(world.postbox, 0, &kept));
    world.script.hold = true;
    wanted.wait_ns = -1;
    CHECK_OK(lbx_postbox_receive_init(&receive, world.postbox, &wanted, none,
                                      &count));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&receive, NULL));
    CHECK_PTR(world.postbox, lbx_postbox_ref(world.postbox));
    lbx_postbox_unref(world.postbox);
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&receive, NULL));
    lbx_postbox_unref(world.postbox);
    CHECK_STATUS(LBX_CLOSED, lbx_operation_poll(&receive, NULL));
    lbx_operation_fini(&receive);
    world.script.hold = false;
    CHECK_OK(lbx_letter_acknowledge(kept));
    lbx_letter_destroy(kept);
    script_fini(&world.script);
}

POSTBOX_TEST("", a_box_that_is_gone_closes_its_postbox)
{
    world->script.answer = LBX_CLOSED;
    CHECK(!lbx_postbox_is_closed(world->postbox));
    CHECK_STATUS(LBX_CLOSED, lbx_postbox_send(world->postbox, "x", 1, NULL));
    CHECK(lbx_postbox_is_closed(world->postbox));
}

TEST_CITING("W-40 R-23", a_send_only_postbox_does_not_receive)
{
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    LOCAL_WORLD(world);
    lbx_letter *letter;
    lbx_operation operation;
    size_t count;

    options.send_only = true;
    world_begin(&world, &options);
    CHECK_OK(lbx_postbox_send(world.postbox, "x", 1, NULL));
    CHECK_STATUS(LBX_UNSUPPORTED,
                 lbx_postbox_receive(world.postbox, 0, &letter));
    CHECK_STATUS(LBX_UNSUPPORTED,
                 lbx_postbox_receive_init(&operation, world.postbox, NULL,
                                          &letter, &count));
}

POSTBOX_TEST("", a_purge_without_one_receives_and_acknowledges)
{
    uint64_t purged = 0;

    world->script.letters = 2;
    world->script.forget = 2; // the second time it fails: the purge says so
    CHECK_STATUS(LBX_UNKNOWN, lbx_postbox_purge(world->postbox, &purged));
    CHECK_STR("receive; ack receipt; ack receipt; ", world->script.log);
    script_clear(&world->script);
    world->script.forget = 0;
    world->script.letters = 0;
    CHECK_OK(lbx_postbox_purge(world->postbox, &purged));
    CHECK_INT(0, purged);
}

POSTBOX_TEST("W-08", counting_asks_the_store)
{
    lbx_operation operation;
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;

    CHECK_OK(lbx_postbox_send(world->postbox, "x", 1, NULL));
    CHECK_OK(lbx_postbox_count(world->postbox, &counts));
    CHECK_INT(1, counts.ready);
    CHECK_OK(lbx_postbox_count_init(&operation, world->postbox, &counts));
    CHECK_OK(lbx_operation_wait(&operation));
    lbx_operation_fini(&operation);
    CHECK_OK(lbx_postbox_count_init(&operation, world->postbox, &counts));
    lbx_operation_fini(&operation); // never begun
    CHECK_OK(lbx_store_delete_box(&world->script.base, "box"));
    CHECK_STATUS(LBX_CLOSED, lbx_postbox_count(world->postbox, &counts));
    CHECK(lbx_postbox_is_closed(world->postbox));
}
