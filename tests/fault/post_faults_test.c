/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every call of postboxes, stores and couriers that takes an lbx_fault writes
 * it when it fails; as faults_test.c.
 */
#include "fault/explained.h"

#include "support/local_post.h"
#include "support/torture.h"

static lbx_status
handle_job(lbx_job *job, void *context)
{
    (void)job;
    (void)context;
    return LBX_OK;
}

TEST(failed_stores_write_their_fault)
{
    const lbx_allocator lame = {NULL, NULL, NULL};
    lbx_store_options good = LBX_STORE_OPTIONS_INIT;
    lbx_store_options bad[4];
    lbx_store *store;

    good.fault = &fault;
    FILL(bad, good);
    bad[0].size_bytes = 0;
    bad[1].allocator = &lame;
    bad[2].durability = LBX_DURABILITY_MACHINE;
    bad[3].must_exist = true;
    for (size_t i = 0; i < COUNT(bad); i++)
        EXPLAINED(lbx_store_open("memory:none", &bad[i], &store));
    EXPLAINED(lbx_store_open("memory:", &good, NULL));
    EXPLAINED(lbx_store_open(NULL, &good, &store));
    EXPLAINED(lbx_store_open("", &good, &store));
    EXPLAINED(lbx_store_open("nonsense", &good, &store));
    EXPLAINED(lbx_store_open("ftp:there", &good, &store));
    EXPLAINED(lbx_store_open("file:/no/such/folder/here", &bad[3], &store));
}

TEST(failed_boxes_write_their_fault)
{
    lbx_box_options good = LBX_BOX_OPTIONS_INIT;
    lbx_box_options bad[3];
    lbx_store *store;

    CHECK_OK(lbx_store_open("memory:", NULL, &store));
    FILL(bad, good);
    bad[0].size_bytes = 0;
    bad[1].lease_ns = -5;
    bad[2].dead_letters = "no-such-box";
    bad[2].max_deliveries = 3;
    for (size_t i = 0; i < COUNT(bad); i++) {
        EXPLAINED(lbx_store_create_box(store, "box", &bad[i], &fault));
        EXPLAINED(lbx_store_configure_box(store, "box", &bad[i], &fault));
    }
    EXPLAINED(lbx_box_options_check(&bad[0], &fault));
    EXPLAINED(lbx_box_options_check(&bad[1], &fault));
    EXPLAINED(lbx_store_create_box(NULL, "box", &good, &fault));
    EXPLAINED(lbx_store_create_box(store, NULL, &good, &fault));
    EXPLAINED(lbx_store_create_box(store, "a/b", &good, &fault));
    EXPLAINED(lbx_store_configure_box(store, "none", &good, &fault));
    EXPLAINED(lbx_store_configure_box(NULL, "none", &good, &fault));
    lbx_store_unref(store);
}

TEST(failed_postboxes_write_their_fault)
{
    const lbx_allocator lame = {NULL, NULL, NULL};
    lbx_postbox_options good = LBX_POSTBOX_OPTIONS_INIT;
    lbx_store_options store_options = LBX_STORE_OPTIONS_INIT;
    lbx_box_options box = LBX_BOX_OPTIONS_INIT;
    lbx_postbox_options bad[5];
    lbx_postbox *postbox;
    lbx_store *store;

    CHECK_OK(lbx_store_open("memory:", NULL, &store));
    good.fault = &fault;
    FILL(bad, good);
    bad[0].size_bytes = 0;
    bad[1].allocator = &lame;
    bad[2].must_exist = true;
    box.lease_ns = -5;
    bad[3].box = &box;
    for (size_t i = 0; i < 4; i++) {
        EXPLAINED(lbx_postbox_open("memory:sweep", &bad[i], &postbox));
        EXPLAINED(lbx_postbox_open_in(store, "sweep", &bad[i], &postbox));
    }
    store_options.size_bytes = 0;
    bad[4].store = &store_options;
    EXPLAINED(lbx_postbox_open("memory:sweep", &bad[4], &postbox));
    EXPLAINED(lbx_postbox_open(NULL, &good, &postbox));
    EXPLAINED(lbx_postbox_open("", &good, &postbox));
    EXPLAINED(lbx_postbox_open("ftp:a/b", &good, &postbox));
    EXPLAINED(lbx_postbox_open("memory:sweep", &good, NULL));
    EXPLAINED(lbx_postbox_open_in(NULL, "sweep", &good, &postbox));
    EXPLAINED(lbx_postbox_open_in(store, NULL, &good, &postbox));
    EXPLAINED(lbx_postbox_open_in(store, "a/b", &good, &postbox));
    EXPLAINED(lbx_postbox_open_in(store, "sweep", &good, NULL));
    lbx_store_unref(store);
}

TEST(failed_drafts_routes_and_resolvers_write_their_fault)
{
    const lbx_resolver none = {NULL, NULL};
    lbx_draft draft = lbx_draft_of_text("hello");
    lbx_draft unstarted = {0};
    lbx_postbox *found;
    lbx_routes *routes;
    LOCAL_POSTBOX(postbox);

    CHECK_OK(lbx_postbox_open("memory:drafts", NULL, &postbox));
    draft.delay_ns = -5;
    EXPLAINED(lbx_postbox_check_draft(postbox, &draft, &fault));
    EXPLAINED(lbx_postbox_check_draft(postbox, &unstarted, &fault));
    EXPLAINED(lbx_postbox_check_draft(postbox, NULL, &fault));
    EXPLAINED(lbx_postbox_check_draft(NULL, &draft, &fault));
    EXPLAINED(lbx_routes_from_json("{", 1, NULL, &routes, &fault));
    EXPLAINED(lbx_routes_from_json("", 0, NULL, &routes, &fault));
    EXPLAINED(lbx_routes_from_json(NULL, 1, NULL, &routes, &fault));
    EXPLAINED(lbx_routes_from_json("{}", 2, NULL, NULL, &fault));
    EXPLAINED(lbx_resolver_resolve(none, "there", &found, &fault));
    EXPLAINED(lbx_resolver_resolve(none, NULL, &found, &fault));
    EXPLAINED(lbx_resolver_resolve(none, "there", NULL, &fault));
    EXPLAINED(lbx_letter_reply(NULL, &draft, NULL, &fault));
    EXPLAINED(lbx_letter_reply_and_acknowledge(NULL, &draft, NULL, &fault));
}

TEST(failed_couriers_write_their_fault)
{
    const lbx_allocator lame = {NULL, NULL, NULL};
    lbx_courier_options good = LBX_COURIER_OPTIONS_INIT;
    lbx_courier_options bad[7];
    lbx_courier *courier;
    LOCAL_POSTBOX(postbox);

    CHECK_OK(lbx_postbox_open("memory:courier", NULL, &postbox));
    good.fault = &fault;
    good.postbox = postbox;
    good.handle = handle_job;
    FILL(bad, good);
    bad[0].size_bytes = 0;
    bad[1].allocator = &lame;
    bad[2].postbox = NULL;
    bad[3].handle = NULL;
    bad[4].handlers = 0;
    bad[5].lease_ns = 0;
    bad[6].dead_letters.postbox = postbox;
    for (size_t i = 0; i < COUNT(bad); i++)
        EXPLAINED(lbx_courier_create(&bad[i], &courier));
    EXPLAINED(lbx_courier_create(&good, NULL));
}
