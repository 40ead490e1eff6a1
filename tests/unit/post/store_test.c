/* SPDX-License-Identifier: Apache-2.0 */
/* lbx_store: tables, references, boxes by name, defaults of optional
 * entries. */
#include "post/script.h"

#include "support/test.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(a_table_must_be_whole)
{
    lbx_store store;
    lbx_store_ops ops = script_ops;

    CHECK_STATUS(LBX_INVALID, lbx_store_init(NULL, &ops));
    CHECK_STATUS(LBX_INVALID, lbx_store_init(&store, NULL));
    ops.size_bytes--;
    CHECK_STATUS(LBX_INVALID, lbx_store_init(&store, &ops));
    ops = script_ops;
    ops.cancel = NULL;
    CHECK_STATUS(LBX_INVALID, lbx_store_init(&store, &ops));
}

TEST(the_last_reference_closes)
{
    struct script script;
    lbx_postbox *postbox;
    lbx_letter *letter;

    script_init(&script);
    CHECK_PTR(&script.base, lbx_store_ref(&script.base));
    CHECK_OK(lbx_postbox_open_in(&script.base, "box", NULL, &postbox));
    CHECK_OK(lbx_postbox_receive(postbox, 0, &letter));
    lbx_store_unref(&script.base);
    lbx_store_unref(&script.base);
    lbx_postbox_unref(postbox);
    CHECK(!script.closed);
    CHECK_STR("script", lbx_store_scheme(&script.base));
    CHECK_INT(LBX_DURABILITY_PROCESS, lbx_store_durability(&script.base));
    lbx_letter_destroy(letter);
    CHECK(script.closed);
    lbx_store_unref(NULL);
}

#ifndef NDEBUG
static void
unref_postbox_twice(void)
{
    lbx_postbox *postbox;

    CHECK_OK(lbx_postbox_open("memory:twice/box", NULL, &postbox));
    lbx_postbox_unref(postbox);
    lbx_postbox_unref(postbox);
}

static void
unref_store_twice(void)
{
    lbx_store *store;

    CHECK_OK(lbx_store_open("memory:twice", NULL, &store));
    lbx_store_unref(store);
    lbx_store_unref(store);
}

static void
unref_routes_twice(void)
{
    lbx_routes *routes;

    CHECK_OK(lbx_routes_create(NULL, 0, "box", NULL, &routes));
    lbx_routes_unref(routes);
    lbx_routes_unref(routes);
}

/* As <letterbox/base.h> says (REFS-1). */
TEST(a_debug_build_stops_when_a_handle_is_released_twice)
{
    static void (*const twice[])(void) = {
        unref_postbox_twice, unref_store_twice, unref_routes_twice};

    for (size_t i = 0; i < sizeof(twice) / sizeof(twice[0]); i++) {
        const pid_t child = fork();
        int status;

        if (child == 0) {
            (void)close(STDERR_FILENO); // it is expected to complain
            twice[i]();
            _exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            FAIL("handle %zu was released twice", i);
    }
}
#endif

static bool
count(void *context, const char *name)
{
    (void)name;
    ++*(int *)context;
    return true;
}

TEST(boxes_are_managed_by_name)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT, read = LBX_BOX_OPTIONS_INIT;
    char texts[LBX_BOX_OPTIONS_BUFFER_BYTES];
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;
    struct script script;
    lbx_fault fault;
    int names = 0;

    script_init(&script);
    CHECK_OK(lbx_store_create_box(&script.base, "a", NULL, &fault));
    CHECK_STATUS(LBX_INVALID,
                 lbx_store_create_box(&script.base, "a b", NULL, &fault));
    CHECK(strstr(fault.text, "a b"));
    options.lease_ns = 9;
    CHECK_OK(lbx_store_configure_box(&script.base, "a", &options, &fault));
    CHECK_OK(lbx_store_describe_box(&script.base, "a", texts, &read, &counts));
    CHECK_INT(9, read.lease_ns);
    CHECK_STATUS(LBX_INVALID,
                 lbx_store_describe_box(&script.base, "a", NULL, &read, NULL));
    options.lease_ns = -9;
    CHECK_STATUS(LBX_INVALID,
                 lbx_store_configure_box(&script.base, "a", &options, &fault));
    CHECK(strstr(fault.text, "lease_ns"));
    CHECK_OK(lbx_store_list_boxes(&script.base, NULL, NULL, count, &names));
    CHECK_INT(1, names);
    CHECK_OK(lbx_store_delete_box(&script.base, "a"));
    CHECK_STATUS(LBX_NOT_FOUND, lbx_store_delete_box(&script.base, "a"));
    script_fini(&script);
}

TEST(what_a_store_cannot_do_is_unsupported)
{
    struct script script;
    lbx_move_progress state = LBX_MOVE_PROGRESS_INIT;
    lbx_postbox *postbox;
    lbx_letter *letter;
    size_t letters;

    script_init(&script);
    CHECK_OK(lbx_postbox_open_in(&script.base, "a", NULL, &postbox));
    CHECK_STATUS(LBX_UNSUPPORTED, lbx_store_sync(&script.base));
    CHECK_STATUS(LBX_UNSUPPORTED,
                 lbx_store_start_move(&script.base, "a", NULL, 0));
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_store_start_move(&script.base, "a", "b", 0));
    CHECK_STATUS(LBX_INVALID,
                 lbx_store_start_move(&script.base, "a", NULL, -1));
    CHECK_STATUS(LBX_UNSUPPORTED,
                 lbx_store_describe_move(&script.base, "a", &state));
    CHECK_STATUS(LBX_UNSUPPORTED, lbx_store_cancel_move(&script.base, "a"));
    CHECK_STATUS(LBX_UNSUPPORTED,
                 lbx_postbox_peek(postbox, 0, 1, &letter, &letters));
    CHECK_INT(0, letters);
    lbx_postbox_unref(postbox);
    script_fini(&script);
}

/* A store that can only show. */
static lbx_status
peek(lbx_store *store, lbx_call *call, lbx_peek_request *request)
{
    (void)store;
    for (uint32_t i = 0; i < request->max_letters && i < 2; i++) {
        const lbx_delivery delivery = {
            .parcel = {.body = "seen", .body_bytes = 4},
            .id = {"x"},
            .sequence = request->from + i,
        };

        if (lbx_call_deliver(call, &delivery) != LBX_OK)
            return LBX_NO_MEMORY;
    }
    return LBX_OK;
}

TEST(what_was_only_seen_cannot_be_settled)
{
    const lbx_draft reply = lbx_draft_of_text("r");
    char receipt[LBX_RECEIPT_BYTES];
    lbx_store_ops ops = script_ops;
    lbx_letter *letters[5];
    struct script script;
    lbx_postbox *postbox;
    lbx_letter_info facts = LBX_LETTER_INFO_INIT;
    size_t letter_count;

    script_init(&script);
    ops.peek = peek;
    CHECK_OK(lbx_store_init(&script.base, &ops));
    CHECK_OK(lbx_postbox_open_in(&script.base, "a", NULL, &postbox));
    CHECK_OK(lbx_postbox_peek(postbox, 40, 5, letters, &letter_count));
    CHECK_INT(2, letter_count);
    CHECK_OK(lbx_letter_info_read(letters[1], &facts));
    CHECK_INT(41, facts.sequence);
    CHECK_STATUS(LBX_FINALIZED, lbx_letter_acknowledge(letters[0]));
    CHECK_STATUS(LBX_FINALIZED,
                 lbx_letter_reply(letters[0], &reply, NULL, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_letter_receipt(letters[0], receipt, sizeof(receipt)));
    lbx_letter_destroy(letters[0]);
    lbx_letter_destroy(letters[1]);
    CHECK_STATUS(LBX_INVALID,
                 lbx_postbox_peek(postbox, 0, 0, letters, &letter_count));
    lbx_postbox_unref(postbox);
    script_fini(&script);
}

TEST(a_store_cannot_deliver_without_a_receive)
{
    const lbx_delivery delivery = {.id = {"x"}};
    lbx_call call = {.kind = LBX_CALL_SEND};

    CHECK_STATUS(LBX_INVALID, lbx_call_deliver(&call, &delivery));
    CHECK_STATUS(LBX_INVALID, lbx_call_deliver(NULL, &delivery));
}
