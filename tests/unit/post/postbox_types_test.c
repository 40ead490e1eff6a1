/* SPDX-License-Identifier: Apache-2.0 */
/* Postboxes with a type: messages are encoded when they are sent, and decoded
 * when their letter is read. */
#include "post/world.h"

#include "support/local.h"

#include <stdio.h>

/* The type of the tests: a number as decimal text. */
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
    world_begin(&world, &options);
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
    world_end(&world);
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
    world_begin(&world, &options);
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
    world_end(&world);

    options.refuse_undecodable = true;
    options.refuse_endless_wait = true;
    world_begin(&world, &options);
    world.script.content = &bad;
    CHECK_STATUS(LBX_ENCODING, lbx_postbox_receive(world.postbox, 0, &letter));
    CHECK_STR("receive; ", world.script.log); // it stays leased
    CHECK_STATUS(LBX_INVALID, lbx_postbox_receive(world.postbox, -1, &letter));
    world_end(&world);
}
