/* SPDX-License-Identifier: Apache-2.0 */
/* Postboxes: opening, sending, receiving, over a scripted store. */
#include "post/script.h"

#include "support/local.h"
#include "support/local_post.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world {
    struct script script;
    lbx_postbox *postbox;
};

static void
begin(struct world *world, const lbx_postbox_options *options)
{
    script_init(&world->script);
    CHECK_OK(lbx_postbox_open_in(&world->script.base, "box", options,
                                 &world->postbox));
}

static void
end(struct world *world)
{
    lbx_postbox_unref(world->postbox);
    script_fini(&world->script);
}

/* Declares one that is ended with its block. */
#define LOCAL_WORLD(name) __attribute__((cleanup(end))) struct world name

/* A test with a postbox without options. */
#define POSTBOX_TEST(behaviours, name)                                         \
    static void name##_in(struct world *world);                                \
    TEST_CITING(behaviours, name)                                              \
    {                                                                          \
        LOCAL_WORLD(world);                                                    \
                                                                               \
        begin(&world, NULL);                                                   \
        name##_in(&world);                                                     \
    }                                                                          \
    static void name##_in(struct world *world)

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
    begin(&world, &options);
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

    begin(&world, NULL);
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
    begin(&world, &options);
    CHECK_OK(lbx_postbox_send(world.postbox, "x", 1, NULL));
    CHECK_STATUS(LBX_UNSUPPORTED,
                 lbx_postbox_receive(world.postbox, 0, &letter));
    CHECK_STATUS(LBX_UNSUPPORTED,
                 lbx_postbox_receive_init(&operation, world.postbox, NULL,
                                          &letter, &count));
}

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
    begin(&world, &postbox);
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

/* Types: a number as decimal text. */
static lbx_status
encode(const void *message, lbx_buffer *out, void *context)
{
    char text[16];

    (void)context;
    if (*(const int *)message < 0)
        return LBX_INVALID; // becomes ENCODING
    (void)snprintf(text, sizeof(text), "%d", *(const int *)message);
    return lbx_buffer_append_text(out, text);
}

static lbx_status
decode(const void *bytes, size_t size_bytes, void **ret, void *context)
{
    (void)size_bytes;
    (void)context;
    if (*(const char *)bytes < '0' || *(const char *)bytes > '9')
        return LBX_ENCODING;
    *ret = (void *)(uintptr_t)bytes;
    return LBX_OK;
}

static lbx_type *
make_type(const char *name, const lbx_type *base)
{
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    lbx_type *type;

    options.name = name;
    options.bases = &base;
    options.base_count = base ? 1 : 0;
    options.encode = encode;
    options.decode = decode;
    CHECK_OK(lbx_type_create(&options, &type));
    return type;
}

TEST_CITING("W-05 W-06", bodies_are_of_the_postbox_s_type)
{
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    LOCAL_TYPE(number) = make_type("t.Number", NULL);
    LOCAL_TYPE(derived) = make_type("t.Derived", number);
    LOCAL_TYPE(other) = make_type("t.Other", NULL);
    struct world world;
    lbx_type_registry *types;
    lbx_draft draft;
    int seven = 7, minus = -1;

    CHECK_OK(lbx_type_registry_create(NULL, &types));
    CHECK_OK(lbx_type_registry_add(types, derived));
    options.body_type = number;
    options.types = types;
    begin(&world, &options);
    draft = lbx_draft_of_message(derived, &seven);
    CHECK_OK(lbx_postbox_send_draft(world.postbox, &draft, NULL));
    CHECK_STR("send 1 7; ", world.script.log);
    draft = lbx_draft_of_message(number, &minus);
    CHECK_STATUS(LBX_ENCODING,
                 lbx_postbox_send_draft(world.postbox, &draft, NULL));
    draft = lbx_draft_of_message(other, &seven);
    CHECK_STATUS(LBX_INVALID,
                 lbx_postbox_send_draft(world.postbox, &draft, NULL));
    draft = lbx_draft_of_text("7");
    CHECK_STATUS(LBX_INVALID,
                 lbx_postbox_send_draft(world.postbox, &draft, NULL));
    draft.type_name = "t.Derived"; // known by the registry
    CHECK_OK(lbx_postbox_send_draft(world.postbox, &draft, NULL));
    draft.type_name = "t.Number"; // and by the postbox
    CHECK_OK(lbx_postbox_send_draft(world.postbox, &draft, NULL));
    draft.type_name = "t.Nobody";
    CHECK_STATUS(LBX_INVALID,
                 lbx_postbox_send_draft(world.postbox, &draft, NULL));
    end(&world);
    lbx_type_registry_destroy(types);
}

TEST(a_message_is_replied_in_one_call)
{
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    LOCAL_TYPE(number) = make_type("t.Number", NULL);
    lbx_draft draft = lbx_draft_of_text("how many?");
    lbx_postbox *questions, *numbers;
    lbx_letter *letter;
    lbx_routes *routes;
    int seven = 7, minus = -1;
    void *message;

    options.body_type = number;
    CHECK_OK(lbx_postbox_open("memory:typed/questions", NULL, &questions));
    CHECK_OK(lbx_postbox_open("memory:typed/numbers", &options, &numbers));
    CHECK_OK(lbx_routes_create(NULL, 0, "numbers", NULL, &routes));
    draft.routes = routes;
    CHECK_OK(lbx_postbox_send_draft(questions, &draft, NULL));
    lbx_routes_unref(routes);
    CHECK_OK(lbx_postbox_receive(questions, 0, &letter));
    CHECK_STATUS(LBX_ENCODING,
                 lbx_letter_reply_message(letter, number, &minus, NULL));
    CHECK_OK(lbx_letter_reply_message(letter, number, &seven, NULL));
    seven++;
    CHECK_OK(
        lbx_letter_reply_message_and_acknowledge(letter, number, &seven, NULL));
    CHECK(lbx_letter_is_finalized(letter));
    lbx_letter_destroy(letter);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(lbx_postbox_receive(numbers, 0, &letter));
        CHECK_OK(lbx_letter_message(letter, &message));
        CHECK_STR(i == 0 ? "7" : "8", message);
        lbx_letter_destroy(letter);
    }
    lbx_postbox_unref(numbers);
    lbx_postbox_unref(questions);
}

TEST_CITING("R-32 W-39", what_cannot_be_decoded_is_delivered_with_its_bytes)
{
    static const lbx_parcel bad = {
        .body = "bad", .body_bytes = 3, .type_name = "t.Number"};
    static const lbx_parcel good = {
        .body = "12", .body_bytes = 2, .type_name = "t.Number"};
    static const lbx_parcel strange = {
        .body = "12", .body_bytes = 2, .type_name = "t.Nobody"};
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    LOCAL_TYPE(number) = make_type("t.Number", NULL);
    struct world world;
    lbx_letter *letter;
    void *message;

    options.body_type = number;
    begin(&world, &options);
    world.script.content = &bad;
    CHECK_OK(lbx_postbox_receive(world.postbox, 0, &letter));
    CHECK(!lbx_letter_is_decodable(letter));
    CHECK_STATUS(LBX_ENCODING, lbx_letter_message(letter, &message));
    CHECK_STR("bad", lbx_letter_body(letter, NULL));
    CHECK_OK(lbx_letter_acknowledge(letter));
    lbx_letter_destroy(letter);

    world.script.content = &good;
    CHECK_OK(lbx_postbox_receive(world.postbox, 0, &letter));
    CHECK(lbx_letter_is_decodable(letter));
    CHECK_OK(lbx_letter_message(letter, &message));
    CHECK_STR("12", message);
    CHECK_PTR(number, lbx_letter_type(letter));
    lbx_letter_destroy(letter);

    world.script.content = &strange; // kept, and nothing can be said
    CHECK_OK(lbx_postbox_receive(world.postbox, 0, &letter));
    CHECK(lbx_letter_is_decodable(letter));
    CHECK_PTR(NULL, lbx_letter_type(letter));
    CHECK_STR("t.Nobody", lbx_letter_type_name(letter));
    CHECK_STATUS(LBX_UNSUPPORTED, lbx_letter_message(letter, &message));
    lbx_letter_destroy(letter);
    end(&world);

    options.refuse_undecodable = true;
    options.refuse_endless_wait = true;
    begin(&world, &options);
    world.script.content = &bad;
    CHECK_STATUS(LBX_ENCODING, lbx_postbox_receive(world.postbox, 0, &letter));
    CHECK_STR("receive; ", world.script.log); // it stays leased
    CHECK_STATUS(LBX_INVALID, lbx_postbox_receive(world.postbox, -1, &letter));
    end(&world);
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

    begin(&world, NULL);
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
    begin(&world, NULL);
    CHECK_OK(lbx_postbox_send_draft(world.postbox, &draft, NULL));
    CHECK_INT(3, world.script.box_count); // "box", "rest", "a"
    CHECK_INT(3, world.script.creates);
    CHECK_OK(lbx_postbox_send_draft(world.postbox, &draft, NULL));
    CHECK_INT(3, world.script.creates);
    end(&world);

    options.resolver = lbx_url_resolver(NULL); // then it does not matter
    begin(&world, &options);
    CHECK_OK(lbx_postbox_send_draft(world.postbox, &draft, NULL));
    CHECK_INT(1, world.script.box_count);
    end(&world);
}

/* What a send only calls INVALID has a name here, and nothing is sent. */
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
