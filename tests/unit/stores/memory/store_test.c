/* SPDX-License-Identifier: Apache-2.0 */
/* The store in memory, as programs open it. */
#include <letterbox/post/postbox.h>
#include <letterbox/testing.h>

#include "support/test.h"
#include "support/threads.h"

#include <stdlib.h>
#include <string.h>

static lbx_postbox *
open_orders(const char *url)
{
    lbx_postbox *postbox;

    CHECK_OK(lbx_postbox_open(url, NULL, &postbox));
    return postbox;
}

/* One store per name and process, and as long as it is referenced. */
TEST(a_name_is_one_store)
{
    lbx_postbox *mine = open_orders("memory:shop/orders");
    lbx_postbox *same = open_orders("memory:shop/orders");
    lbx_postbox *other = open_orders("memory:other/orders");
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;

    CHECK_OK(lbx_postbox_send(mine, "a", 1, NULL));
    CHECK_OK(lbx_postbox_count(same, &counts));
    CHECK_INT(1, counts.ready);
    CHECK_OK(lbx_postbox_count(other, &counts));
    CHECK_INT(0, counts.ready);
    lbx_postbox_unref(mine);
    lbx_postbox_unref(same);
    same = open_orders("memory:shop/orders"); // it was gone
    CHECK_OK(lbx_postbox_count(same, &counts));
    CHECK_INT(0, counts.ready);
    lbx_postbox_unref(same);
    lbx_postbox_unref(other);
}

TEST(a_letter_is_gone_with_its_box)
{
    lbx_postbox *orders = open_orders("memory:shop/orders");
    lbx_letter *letter;

    CHECK_OK(lbx_postbox_send(orders, "a", 1, NULL));
    CHECK_OK(lbx_postbox_receive(orders, 0, &letter));
    CHECK_OK(lbx_store_delete_box(lbx_postbox_store(orders), "orders"));
    CHECK_STATUS(LBX_GONE, lbx_letter_extend(letter, LBX_SECOND));
    CHECK_STATUS(LBX_GONE, lbx_letter_nack(letter, 0));
    CHECK_STATUS(LBX_GONE, lbx_letter_acknowledge(letter));
    lbx_letter_destroy(letter);
    lbx_postbox_unref(orders);
}

/* An OK is never weaker than what was asked for. */
TEST(memory_survives_nothing_and_says_so)
{
    lbx_store_options options = LBX_STORE_OPTIONS_INIT;
    lbx_store *store, *again;
    lbx_fault fault;

    options.fault = &fault;
    for (int level = LBX_DURABILITY_PROCESS; level <= LBX_DURABILITY_MACHINE;
         level++) {
        options.durability = (lbx_durability)level;
        CHECK_STATUS(LBX_UNSUPPORTED,
                     lbx_store_open("memory:shop", &options, &store));
        CHECK_STATUS(LBX_UNSUPPORTED, fault.status);
    }
    options.durability = LBX_DURABILITY_POWER_CUT;
    CHECK_STATUS(LBX_UNSUPPORTED,
                 lbx_store_open("memory:shop", &options, &store));
    CHECK(strstr(fault.text, "LBX_DURABILITY_POWER_CUT"));
    CHECK(strstr(fault.text, "LBX_DURABILITY_NONE"));
    options.durability = LBX_DURABILITY_NONE;
    CHECK_OK(lbx_store_open("memory:shop", &options, &store));
    options.durability = LBX_DURABILITY_POWER_CUT; // it is open already
    CHECK_STATUS(LBX_UNSUPPORTED,
                 lbx_store_open("memory:shop", &options, &again));
    options.durability = (lbx_durability)77;
    CHECK_STATUS(LBX_INVALID, lbx_store_open("memory:shop", &options, &again));
    CHECK(strstr(fault.text, "77"));
    options.durability = LBX_DURABILITY_DEFAULT;
    CHECK_OK(lbx_store_open("memory:shop", &options, &again));
    CHECK_PTR(store, again);
    lbx_store_unref(again);
    lbx_store_unref(store);
}

/* ---- Boxes that cannot be made, in words ---- */

#define REFUSED(expected, call, words)                                         \
    do {                                                                       \
        memset(&fault, 0, sizeof(fault));                                      \
        CHECK_STATUS(expected, call);                                          \
        CHECK_STATUS(expected, fault.status);                                  \
        if (!strstr(fault.text, words))                                        \
            FAIL("%s", fault.text);                                            \
    } while (0)

TEST(a_box_for_dead_letters_that_does_not_do_is_named)
{
    const lbx_box_options line =
        lbx_box_options_preset(LBX_BOX_PRESET_SQS_FIFO);
    lbx_box_options deny = LBX_BOX_OPTIONS_INIT;
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    lbx_postbox_options opening = LBX_POSTBOX_OPTIONS_INIT;
    lbx_postbox *postbox;
    lbx_store *store;
    lbx_fault fault;

    deny.dead_letter_allow = LBX_DEAD_LETTER_ALLOW_NONE;
    options.max_deliveries = 3;
    opening.box = &options;
    opening.fault = &fault;
    CHECK_OK(lbx_store_open("memory:", NULL, &store));
    CHECK_OK(lbx_store_create_box(store, "deny", &deny, NULL));
    CHECK_OK(lbx_store_create_box(store, "line", &line, NULL));
    options.dead_letters = "dlq";
    REFUSED(LBX_NOT_FOUND, lbx_store_create_box(store, "q", &options, &fault),
            "box 'q': its dead_letters box 'dlq' does not exist");
    REFUSED(LBX_NOT_FOUND, lbx_postbox_open_in(store, "q", &opening, &postbox),
            "box 'q': its dead_letters box 'dlq' does not exist");
    REFUSED(LBX_NOT_FOUND,
            lbx_store_configure_box(store, "q", &options, &fault),
            "box 'q': no such name");
    REFUSED(LBX_NOT_FOUND,
            lbx_store_configure_box(store, "deny", &options, &fault),
            "'dlq' does not exist");
    options.dead_letters = "deny";
    REFUSED(LBX_DENIED, lbx_store_create_box(store, "q", &options, &fault),
            "'deny' does not allow it");
    options.dead_letters = "line";
    REFUSED(LBX_INVALID, lbx_store_create_box(store, "q", &options, &fault),
            "'line' must not be fifo");
    options.dead_letters = "q";
    REFUSED(LBX_INVALID, lbx_store_create_box(store, "q", &options, &fault),
            "dead_letters is the box itself");
    REFUSED(LBX_INVALID, lbx_postbox_open_in(store, "q", &opening, &postbox),
            "dead_letters is the box itself");
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_store_describe_box(store, "q", NULL, NULL, NULL));
    options.dead_letters = "dlq"; // as <letterbox/post/box.h> does
    CHECK_OK(lbx_store_create_box(store, "dlq", NULL, &fault));
    CHECK_OK(lbx_store_create_box(store, "q", &options, &fault));
    lbx_store_unref(store);
}

TEST(a_box_with_other_options_says_which)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    lbx_store *store;
    lbx_fault fault;

    CHECK_OK(lbx_store_open("memory:", NULL, &store));
    CHECK_OK(lbx_store_create_box(store, "q", NULL, &fault));
    options.lease_ns = 1;
    REFUSED(LBX_EXISTS, lbx_store_create_box(store, "q", &options, &fault),
            "lease_ns is 30000000000, not 1; lbx_store_configure_box()");
    options.lease_ns = 30 * LBX_SECOND;
    options.retention_ns = 0;
    REFUSED(LBX_EXISTS, lbx_store_create_box(store, "q", &options, &fault),
            "retention_ns is LBX_UNLIMITED, not 0");
    options.retention_ns = LBX_UNLIMITED;
    options.keep_position = true;
    REFUSED(LBX_EXISTS, lbx_store_create_box(store, "q", &options, &fault),
            "keep_position differs; lbx_store_configure_box()");
    CHECK_OK(lbx_store_configure_box(store, "q", &options, &fault));
    CHECK_OK(lbx_store_create_box(store, "q", &options, &fault));
    options.fifo = true;
    REFUSED(LBX_EXISTS, lbx_store_create_box(store, "q", &options, &fault),
            "fifo differs, which cannot be changed");
    REFUSED(LBX_INVALID, lbx_store_configure_box(store, "q", &options, &fault),
            "fifo cannot be changed");
    REFUSED(LBX_INVALID, lbx_store_configure_box(store, "q", NULL, &fault),
            "NULL");
    lbx_store_unref(store);
}

/* 64 MiB are the letter's, with what is kept beside its body. */
TEST(a_body_is_less_than_a_letter)
{
    const size_t most = (size_t)64 << 20;
    lbx_postbox *orders = open_orders("memory:orders");
    char *body = calloc(1, most + 1);

    CHECK(body);
    CHECK_STATUS(LBX_TOO_LARGE, lbx_postbox_send(orders, body, most + 1, NULL));
    CHECK_STATUS(LBX_TOO_LARGE, lbx_postbox_send(orders, body, most, NULL));
    CHECK_OK(lbx_postbox_send(orders, body, most - 256, NULL));
    free(body);
    lbx_postbox_unref(orders);
}

static void
receive_later(void *context)
{
    lbx_letter *letter;

    CHECK_OK(lbx_postbox_receive(context, -1, &letter));
    CHECK_STR("late", lbx_letter_body(letter, NULL));
    CHECK_OK(lbx_letter_acknowledge(letter));
    lbx_letter_destroy(letter);
}

/* Nobody calls the store when the letter becomes due: it comes by a timer. */
TEST(a_delayed_letter_comes_by_itself)
{
    lbx_postbox *postbox = open_orders("memory:orders");
    lbx_draft draft = lbx_draft_of_text("late");
    struct thread thread;

    draft.delay_ns = 20 * LBX_MS;
    CHECK_OK(lbx_postbox_send_draft(postbox, &draft, NULL));
    thread_start(&thread, receive_later, postbox);
    thread_join(&thread);
    lbx_postbox_unref(postbox);
}

/* A wait of the test's clock ends when the test says so. */
TEST(a_wait_ends_by_the_clock_of_the_store)
{
    lbx_test_clock time = LBX_TEST_CLOCK_INIT;
    const lbx_clock clock = lbx_test_clock_as_clock(&time);
    lbx_store_options store_options = LBX_STORE_OPTIONS_INIT;
    lbx_receive_options options = LBX_RECEIVE_OPTIONS_INIT;
    lbx_operation receive;
    lbx_letter *letter;
    lbx_postbox *postbox;
    lbx_store *store;
    size_t count;

    store_options.clock = &clock;
    CHECK_OK(lbx_store_open("memory:", &store_options, &store));
    CHECK_STR("memory", lbx_store_scheme(store));
    CHECK_INT(LBX_DURABILITY_NONE, lbx_store_durability(store));
    CHECK_STATUS(LBX_UNSUPPORTED, lbx_store_sync(store));
    CHECK_OK(lbx_postbox_open_in(store, "orders", NULL, &postbox));
    options.wait_ns = LBX_SECOND;
    CHECK_OK(
        lbx_postbox_receive_init(&receive, postbox, &options, &letter, &count));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&receive, NULL));
    lbx_test_clock_advance(&time, LBX_SECOND - 1, store);
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&receive, NULL));
    lbx_test_clock_advance(&time, 1, store);
    CHECK_STATUS(LBX_EMPTY, lbx_operation_poll(&receive, NULL));
    lbx_operation_fini(&receive);
    lbx_postbox_unref(postbox);
    lbx_store_unref(store);
}
