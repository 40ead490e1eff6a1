/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every call of postboxes, stores and couriers that takes an lbx_fault writes
 * it when it fails; as faults_test.c.
 */
#include <string.h>

#include <letterbox/letterbox.h>

#include "support/test.h"
#include "support/torture.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static lbx_fault post_fault;

static void
check_written(lbx_status status, const char *what)
{
    if (status == LBX_OK)
        FAIL("%s: did not fail", what);
    if (post_fault.status != status)
        FAIL("%s: returned %s, the fault has %d", what, lbx_status_name(status),
             (int)post_fault.status);
    if (!memchr(post_fault.text, '\0', sizeof(post_fault.text)) ||
        post_fault.text[0] == 'G' || post_fault.text[0] == '\0')
        FAIL("%s: the fault was not written: \"%.40s\"", what, post_fault.text);
}

#define WRITTEN(call)                                                          \
    do {                                                                       \
        memset(&post_fault, 'G', sizeof(post_fault));                          \
        check_written(call, #call);                                            \
    } while (0)

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

    good.fault = &post_fault;
    for (size_t i = 0; i < COUNT(bad); i++)
        bad[i] = good;
    bad[0].size_bytes = 0;
    bad[1].allocator = &lame;
    bad[2].durability = LBX_DURABILITY_MACHINE;
    bad[3].must_exist = true;
    for (size_t i = 0; i < COUNT(bad); i++)
        WRITTEN(lbx_store_open("memory:none", &bad[i], &store));
    WRITTEN(lbx_store_open("memory:", &good, NULL));
    WRITTEN(lbx_store_open(NULL, &good, &store));
    WRITTEN(lbx_store_open("", &good, &store));
    WRITTEN(lbx_store_open("nonsense", &good, &store));
    WRITTEN(lbx_store_open("ftp:there", &good, &store));
    WRITTEN(lbx_store_open("file:/no/such/folder/here", &bad[3], &store));
}

TEST(failed_boxes_write_their_fault)
{
    lbx_box_options good = LBX_BOX_OPTIONS_INIT;
    lbx_box_options bad[3];
    lbx_store *store;

    CHECK_OK(lbx_store_open("memory:", NULL, &store));
    for (size_t i = 0; i < COUNT(bad); i++)
        bad[i] = good;
    bad[0].size_bytes = 0;
    bad[1].lease_ns = -5;
    bad[2].dead_letters = "no-such-box";
    bad[2].max_deliveries = 3;
    for (size_t i = 0; i < COUNT(bad); i++) {
        WRITTEN(lbx_store_create_box(store, "box", &bad[i], &post_fault));
        WRITTEN(lbx_store_configure_box(store, "box", &bad[i], &post_fault));
    }
    WRITTEN(lbx_box_options_check(&bad[0], &post_fault));
    WRITTEN(lbx_box_options_check(&bad[1], &post_fault));
    WRITTEN(lbx_store_create_box(NULL, "box", &good, &post_fault));
    WRITTEN(lbx_store_create_box(store, NULL, &good, &post_fault));
    WRITTEN(lbx_store_create_box(store, "a/b", &good, &post_fault));
    WRITTEN(lbx_store_configure_box(store, "none", &good, &post_fault));
    WRITTEN(lbx_store_configure_box(NULL, "none", &good, &post_fault));
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
    good.fault = &post_fault;
    for (size_t i = 0; i < COUNT(bad); i++)
        bad[i] = good;
    bad[0].size_bytes = 0;
    bad[1].allocator = &lame;
    bad[2].must_exist = true;
    box.lease_ns = -5;
    bad[3].box = &box;
    for (size_t i = 0; i < 4; i++) {
        WRITTEN(lbx_postbox_open("memory:sweep", &bad[i], &postbox));
        WRITTEN(lbx_postbox_open_in(store, "sweep", &bad[i], &postbox));
    }
    store_options.size_bytes = 0;
    bad[4].store = &store_options;
    WRITTEN(lbx_postbox_open("memory:sweep", &bad[4], &postbox));
    WRITTEN(lbx_postbox_open(NULL, &good, &postbox));
    WRITTEN(lbx_postbox_open("", &good, &postbox));
    WRITTEN(lbx_postbox_open("ftp:a/b", &good, &postbox));
    WRITTEN(lbx_postbox_open("memory:sweep", &good, NULL));
    WRITTEN(lbx_postbox_open_in(NULL, "sweep", &good, &postbox));
    WRITTEN(lbx_postbox_open_in(store, NULL, &good, &postbox));
    WRITTEN(lbx_postbox_open_in(store, "a/b", &good, &postbox));
    WRITTEN(lbx_postbox_open_in(store, "sweep", &good, NULL));
    lbx_store_unref(store);
}

TEST(failed_drafts_routes_and_resolvers_write_their_fault)
{
    const lbx_resolver none = {NULL, NULL};
    lbx_draft draft = lbx_draft_of_text("hello");
    lbx_draft unstarted = {0};
    lbx_postbox *postbox;
    lbx_postbox *found;
    lbx_routes *routes;

    CHECK_OK(lbx_postbox_open("memory:drafts", NULL, &postbox));
    draft.delay_ns = -5;
    WRITTEN(lbx_postbox_check_draft(postbox, &draft, &post_fault));
    WRITTEN(lbx_postbox_check_draft(postbox, &unstarted, &post_fault));
    WRITTEN(lbx_postbox_check_draft(postbox, NULL, &post_fault));
    WRITTEN(lbx_postbox_check_draft(NULL, &draft, &post_fault));
    WRITTEN(lbx_routes_from_json("{", 1, NULL, &routes, &post_fault));
    WRITTEN(lbx_routes_from_json("", 0, NULL, &routes, &post_fault));
    WRITTEN(lbx_routes_from_json(NULL, 1, NULL, &routes, &post_fault));
    WRITTEN(lbx_routes_from_json("{}", 2, NULL, NULL, &post_fault));
    WRITTEN(lbx_resolver_resolve(none, "there", &found, &post_fault));
    WRITTEN(lbx_resolver_resolve(none, NULL, &found, &post_fault));
    WRITTEN(lbx_resolver_resolve(none, "there", NULL, &post_fault));
    WRITTEN(lbx_letter_reply(NULL, &draft, NULL, &post_fault));
    WRITTEN(lbx_letter_reply_and_acknowledge(NULL, &draft, NULL, &post_fault));
    lbx_postbox_unref(postbox);
}

TEST(failed_couriers_write_their_fault)
{
    const lbx_allocator lame = {NULL, NULL, NULL};
    lbx_courier_options good = LBX_COURIER_OPTIONS_INIT;
    lbx_courier_options bad[7];
    lbx_courier *courier;
    lbx_postbox *postbox;

    CHECK_OK(lbx_postbox_open("memory:courier", NULL, &postbox));
    good.fault = &post_fault;
    good.postbox = postbox;
    good.handle = handle_job;
    for (size_t i = 0; i < COUNT(bad); i++)
        bad[i] = good;
    bad[0].size_bytes = 0;
    bad[1].allocator = &lame;
    bad[2].postbox = NULL;
    bad[3].handle = NULL;
    bad[4].handlers = 0;
    bad[5].lease_ns = 0;
    bad[6].dead_letters.postbox = postbox;
    for (size_t i = 0; i < COUNT(bad); i++)
        WRITTEN(lbx_courier_create(&bad[i], &courier));
    WRITTEN(lbx_courier_create(&good, NULL));
    lbx_postbox_unref(postbox);
}
