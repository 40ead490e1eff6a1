/* SPDX-License-Identifier: Apache-2.0 */
/* The store in memory, as programs open it. */
#include <letterbox/post/postbox.h>
#include <letterbox/testing.h>

#include "support/test.h"
#include "support/threads.h"

#include <string.h>

static lbx_postbox *
open_orders(const char *url)
{
    lbx_postbox *postbox;

    CHECK_OK(lbx_postbox_open(url, NULL, &postbox));
    return postbox;
}

/* One store per name and process, and as long as somebody has it. */
TEST(a_name_is_one_store)
{
    lbx_postbox *mine = open_orders("memory:shop/orders");
    lbx_postbox *same = open_orders("memory:shop/orders");
    lbx_postbox *other = open_orders("memory:other/orders");
    lbx_box_counts counts;

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
    for (int level = LBX_SURVIVES_PROCESS; level <= LBX_SURVIVES_MACHINE;
         level++) {
        options.durability = (lbx_durability)level;
        CHECK_STATUS(LBX_UNSUPPORTED,
                     lbx_store_open("memory:shop", &options, &store));
        CHECK_STATUS(LBX_UNSUPPORTED, fault.status);
    }
    options.durability = LBX_SURVIVES_POWER_CUT;
    CHECK_STATUS(LBX_UNSUPPORTED,
                 lbx_store_open("memory:shop", &options, &store));
    CHECK(strstr(fault.text, "LBX_SURVIVES_POWER_CUT"));
    CHECK(strstr(fault.text, "LBX_SURVIVES_NOTHING"));
    options.durability = LBX_SURVIVES_NOTHING;
    CHECK_OK(lbx_store_open("memory:shop", &options, &store));
    options.durability = LBX_SURVIVES_POWER_CUT; // it is open already
    CHECK_STATUS(LBX_UNSUPPORTED,
                 lbx_store_open("memory:shop", &options, &again));
    options.durability = (lbx_durability)77;
    CHECK_STATUS(LBX_INVALID, lbx_store_open("memory:shop", &options, &again));
    CHECK(strstr(fault.text, "77"));
    options.durability = LBX_SURVIVES_DEFAULT;
    CHECK_OK(lbx_store_open("memory:shop", &options, &again));
    CHECK_PTR(store, again);
    lbx_store_unref(again);
    lbx_store_unref(store);
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
    const lbx_clock clock = lbx_test_clock_interface(&time);
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
    CHECK_INT(LBX_SURVIVES_NOTHING, lbx_store_durability(store));
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
