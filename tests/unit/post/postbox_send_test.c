/* SPDX-License-Identifier: Apache-2.0 */
/* Sends of a postbox: one draft, a batch of them, the boxes that their routes
 * name, and what a check of a draft says before it is sent. */
#include "post/world.h"

#include "support/local_post.h"

#include <stdlib.h>
#include <string.h>

POSTBOX_TEST("W-06", a_send_answers_the_id)
{
    lbx_id id;

    CHECK_OK(lbx_postbox_send(world->postbox, "one", 3, &id));
    CHECK_STR("id-1", id.text);
    CHECK_STR("send 1 one; ", world->script.log);
}

POSTBOX_TEST("W-06 W-14", failures_of_the_store_are_passed_on_one_to_one)
{
    static const lbx_status failures[] = {
        LBX_FULL,    LBX_NO_SPACE, LBX_UNREACHABLE, LBX_UNKNOWN,
        LBX_CORRUPT, LBX_IO,       LBX_NO_MEMORY};
    lbx_letter *letter;
    lbx_sent_letter sent[2];
    lbx_draft drafts[2];

    drafts[0] = drafts[1] = lbx_draft_of_text("x");
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
        world->script.answer = failures[i];
        CHECK_STATUS(failures[i],
                     lbx_postbox_send_batch(world->postbox, drafts, 2, sent));
        CHECK_STATUS(failures[i], sent[0].status);
        CHECK_STATUS(failures[i], sent[1].status);
        CHECK_STATUS(failures[i],
                     lbx_postbox_receive(world->postbox, 0, &letter));
    }
}

POSTBOX_TEST("", a_batch_tells_each_of_its_drafts)
{
    lbx_draft drafts[4];
    lbx_sent_letter sent[4];

    for (size_t i = 0; i < 4; i++)
        drafts[i] = lbx_draft_of_text(&"abcd"[i]);
    drafts[1].delay_ns = -1;
    CHECK_STATUS(LBX_INVALID,
                 lbx_postbox_send_batch(world->postbox, drafts, 4, sent));
    CHECK_STR("send 1 abcd; send 1 cd; send 1 d; ", world->script.log);
    CHECK_STR("id-1", sent[0].id.text);
    CHECK_STATUS(LBX_INVALID, sent[1].status);
    CHECK_STR("id-2", sent[2].id.text);
    CHECK_STR("id-3", sent[3].id.text);
    CHECK_STATUS(LBX_INVALID,
                 lbx_postbox_send_batch(world->postbox, drafts, 0, sent));
    CHECK_STATUS(LBX_INVALID, lbx_postbox_send_batch(world->postbox, drafts,
                                                     LBX_MAX_BATCH + 1, sent));

    // A store that forgets one has not said what became of it.
    world->script.forget = 2;
    drafts[1].delay_ns = 0;
    CHECK_STATUS(LBX_UNKNOWN,
                 lbx_postbox_send_batch(world->postbox, drafts, 3, sent));
    CHECK_OK(sent[0].status);
    CHECK_STATUS(LBX_UNKNOWN, sent[1].status);
}

/* The size of the first draft tells where the others are. */
POSTBOX_TEST("", a_batch_whose_first_draft_was_not_started_is_refused)
{
    lbx_draft drafts[2] = {LBX_DRAFT_INIT, LBX_DRAFT_INIT};
    lbx_sent_letter sent[2];

    drafts[0].size_bytes = SIZE_MAX / 3;
    CHECK_STATUS(LBX_INVALID,
                 lbx_postbox_send_batch(world->postbox, drafts, 2, sent));
    CHECK_STATUS(LBX_INVALID, sent[0].status);
    CHECK_STATUS(LBX_INVALID, sent[1].status);
    CHECK_STR("", world->script.log);
}

TEST(a_batch_that_is_too_large_is_not_sent)
{
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_box_options box = LBX_BOX_OPTIONS_INIT;
    lbx_draft drafts[2];
    LOCAL_WORLD(world);
    lbx_sent_letter sent[2];

    box.limits.max_letter_bytes = 4;
    box.limits.max_batch_bytes = 6;
    options.box = &box;
    world_begin(&world, &options);
    drafts[0] = lbx_draft_of_text("1234");
    drafts[1] = lbx_draft_of_text("567");
    CHECK_STATUS(LBX_TOO_LARGE,
                 lbx_postbox_send_batch(world.postbox, drafts, 2, sent));
    CHECK_STATUS(LBX_TOO_LARGE, sent[0].status);
    CHECK_STR("", world.script.log);
    drafts[0] = lbx_draft_of_text("12345"); // one alone
    CHECK_STATUS(LBX_TOO_LARGE,
                 lbx_postbox_send_batch(world.postbox, drafts, 2, sent));
    CHECK_STATUS(LBX_TOO_LARGE, sent[0].status);
    CHECK_OK(sent[1].status);
}

TEST_CITING("W-41", sends_make_the_boxes_their_routes_name)
{
    static const lbx_routes_entry table[] = {{"t.A", "a"},
                                             {"t.B", "no box's name"}};
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    struct world world;
    lbx_draft draft = lbx_draft_of_text("x");
    LOCAL_ROUTES(routes);

    CHECK_OK(lbx_routes_create(table, 2, "rest", NULL, &routes));
    draft.routes = routes;
    world_begin(&world, NULL);
    CHECK_OK(lbx_postbox_send_draft(world.postbox, &draft, NULL));
    CHECK_INT(3, world.script.box_count); // "box", "rest", "a"
    CHECK_INT(3, world.script.creates);
    CHECK_OK(lbx_postbox_send_draft(world.postbox, &draft, NULL));
    CHECK_INT(3, world.script.creates);
    world_end(&world);

    options.resolver = lbx_url_resolver(NULL); // then it does not matter
    world_begin(&world, &options);
    CHECK_OK(lbx_postbox_send_draft(world.postbox, &draft, NULL));
    CHECK_INT(1, world.script.box_count);
    world_end(&world);
}

/* Whatever a check of a draft returns, a send of it returns too. */
TEST(checking_a_draft_refuses_what_a_send_refuses)
{
    static const size_t row_bytes = (size_t)64 << 20;
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_box_options box = LBX_BOX_OPTIONS_INIT;
    char *body = calloc(1, row_bytes);
    lbx_draft draft = lbx_draft_of_bytes("12345", 5);
    lbx_status checked = LBX_TOO_LARGE;
    lbx_postbox *postbox;
    lbx_fault fault;

    CHECK(body);
    options.box = &box;
    box.limits.max_batch_bytes = 4;
    CHECK_OK(lbx_postbox_open("memory:small", &options, &postbox));
    CHECK_STATUS(LBX_TOO_LARGE, lbx_postbox_send_draft(postbox, &draft, NULL));
    CHECK_STATUS(LBX_TOO_LARGE,
                 lbx_postbox_check_draft(postbox, &draft, &fault));
    CHECK(strstr(fault.text, "the box allows 4 bytes"));
    lbx_postbox_unref(postbox);
    CHECK_OK(lbx_postbox_open("memory:any", NULL, &postbox));
    // With the rest of its row a letter of 64 MiB is larger than that.
    for (size_t less = 0; checked != LBX_OK && less < 256; less += 16) {
        draft = lbx_draft_of_bytes(body, row_bytes - less);
        checked = lbx_postbox_check_draft(postbox, &draft, &fault);
        CHECK_STATUS(checked, lbx_postbox_send_draft(postbox, &draft, NULL));
    }
    CHECK_OK(checked);
    CHECK(draft.body_bytes < row_bytes);
    lbx_postbox_unref(postbox);
    free(body);
}

/* What a send only calls INVALID has a name here, and nothing is sent. */
POSTBOX_TEST("", checking_a_draft_says_what_is_wrong_with_it)
{
    lbx_draft draft = lbx_draft_of_text("x");
    lbx_fault fault;

    CHECK_OK(lbx_postbox_check_draft(world->postbox, &draft, &fault));
    CHECK_OK(lbx_postbox_check_draft(world->postbox, &draft, NULL));
    draft.delay_ns = -1;
    CHECK_STATUS(LBX_INVALID,
                 lbx_postbox_send_draft(world->postbox, &draft, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_postbox_check_draft(world->postbox, &draft, &fault));
    CHECK(strstr(fault.text, "delay_ns is -1"));
    draft.size_bytes = 0;
    CHECK_STATUS(LBX_INVALID,
                 lbx_postbox_check_draft(world->postbox, &draft, &fault));
    CHECK(strstr(fault.text, "LBX_DRAFT_INIT"));
    CHECK_STATUS(LBX_INVALID,
                 lbx_postbox_check_draft(world->postbox, NULL, &fault));
    CHECK(strstr(fault.text, "draft"));
    CHECK_STATUS(LBX_INVALID, lbx_postbox_check_draft(NULL, &draft, &fault));
    draft = lbx_draft_of_text("x");
    lbx_postbox_close(world->postbox);
    CHECK_STATUS(LBX_CLOSED,
                 lbx_postbox_check_draft(world->postbox, &draft, &fault));
    CHECK(strstr(fault.text, "closed"));
}
