/* SPDX-License-Identifier: Apache-2.0 */
/* Receives of a postbox: what is asked of the store, and what of the letter
 * that it delivers can be read. */
#include "post/world.h"

#include <string.h>

TEST_CITING("W-07 W-31 R-29", a_receive_says_what_it_wants)
{
    lbx_receive_options options = LBX_RECEIVE_OPTIONS_INIT;
    lbx_postbox_options postbox = LBX_POSTBOX_OPTIONS_INIT;
    lbx_box_options box = lbx_box_options_preset(LBX_BOX_PRESET_SQS);
    lbx_letter *letters[LBX_MAX_BATCH];
    LOCAL_WORLD(world);
    size_t count;

    postbox.box = &box;
    box.wait_ns = 3 * LBX_SECOND;
    world_begin(&world, &postbox);
    CHECK_OK(lbx_postbox_receive_batch(world.postbox, NULL, letters, &count));
    CHECK_INT(30 * LBX_SECOND, world.script.received.lease_ns);
    CHECK(world.script.received.wait_ns > 2 * LBX_SECOND &&
          world.script.received.wait_ns <= 3 * LBX_SECOND);
    CHECK_INT(1, world.script.received.max_letters);
    lbx_letter_destroy(letters[0]);
    options.max_letters = 100;
    options.min_letters = 0;
    options.lease_ns = 0;
    options.wait_ns = 0;
    CHECK_OK(
        lbx_postbox_receive_batch(world.postbox, &options, letters, &count));
    CHECK_INT(10, world.script.received.max_letters);
    CHECK_INT(1, world.script.received.min_letters);
    CHECK_INT(0, world.script.received.lease_ns);
    lbx_letter_destroy(letters[0]);
    options.wait_ns = 20 * LBX_SECOND + 1;
    CHECK_STATUS(LBX_INVALID, lbx_postbox_receive_batch(world.postbox, &options,
                                                        letters, &count));
    options.wait_ns = -1; // for ever is more than 20 s
    CHECK_STATUS(LBX_INVALID, lbx_postbox_receive_batch(world.postbox, &options,
                                                        letters, &count));
    options.wait_ns = 0;
    options.lease_ns = 12 * 3600 * LBX_SECOND + 1;
    CHECK_STATUS(LBX_INVALID, lbx_postbox_receive_batch(world.postbox, &options,
                                                        letters, &count));
}

POSTBOX_TEST("", a_store_that_gives_too_much_has_it_back)
{
    lbx_letter *letter;

    world->script.letters = 3;
    CHECK_OK(lbx_postbox_receive(world->postbox, 0, &letter));
    CHECK_STR("receive; undo 2; ", world->script.log);
    lbx_letter_destroy(letter);
    world->script.letters = 0; // and OK without letters is none
    CHECK_STATUS(LBX_EMPTY, lbx_postbox_receive(world->postbox, 0, &letter));
}

TEST_CITING("W-10 W-28", a_letter_carries_all_that_was_delivered)
{
    static const lbx_attribute attributes[] = {
        {"one", LBX_ATTRIBUTE_STRING, NULL, "1", 1},
        {"two", LBX_ATTRIBUTE_BINARY, "png", "\0\1", 2}};
    static const lbx_parcel parcel = {
        .body = "b\0dy",
        .body_bytes = 4,
        .type_name = "t.T",
        .routes = "{\"default\":\"d\",\"routes\":{\"t.R\":\"r\"}}",
        .attributes = attributes,
        .attribute_count = 2,
        .group = "g",
        .deduplication_id = "dup",
        .trace = "tr",
        .in_reply_to = "q",
    };
    char receipt[LBX_RECEIPT_BYTES];
    lbx_letter_info facts = LBX_LETTER_INFO_INIT;
    lbx_attribute found;
    struct world world;
    lbx_letter *letter;
    size_t size;

    world_begin(&world, NULL);
    world.script.content = &parcel;
    CHECK_OK(lbx_postbox_receive(world.postbox, 0, &letter));
    CHECK_STR("id-1", lbx_letter_id(letter));
    CHECK(memcmp("b\0dy", lbx_letter_body(letter, &size), 5) == 0);
    CHECK_INT(4, size);
    CHECK_STR("r",
              lbx_routes_address_by_name(lbx_letter_routes(letter), "t.R"));
    CHECK_STR("d", lbx_routes_default(lbx_letter_routes(letter)));
    CHECK(lbx_letter_attribute(letter, "two", &found));
    CHECK_INT(2, found.value_bytes);
    CHECK_STR("png", found.label);
    CHECK(memcmp("\0\1", found.value, 2) == 0);
    CHECK(!lbx_letter_attribute(letter, "three", &found));
    CHECK(lbx_letter_attribute_at(letter, 0, &found));
    CHECK_STR("one", found.name);
    CHECK(!lbx_letter_attribute_at(letter, 2, &found));
    CHECK_OK(lbx_letter_info_read(letter, &facts));
    CHECK_INT(1, facts.delivery_count);
    CHECK_INT(30 * LBX_SECOND, facts.lease_ns);
    CHECK_STR("g", facts.group);
    CHECK_STR("dup", facts.deduplication_id);
    CHECK_STR("tr", facts.trace);
    CHECK_STR("q", facts.in_reply_to);
    CHECK_PTR(NULL, facts.dead_letter_source);
    CHECK_OK(lbx_letter_receipt(letter, receipt, sizeof(receipt)));
    CHECK_STR("receipt", receipt);
    CHECK_STATUS(LBX_INVALID, lbx_letter_receipt(letter, receipt, 8));
    lbx_postbox_unref(world.postbox); // letters may live on
    CHECK_OK(lbx_letter_acknowledge(letter));
    lbx_letter_destroy(letter);
    script_fini(&world.script);
}
