/* SPDX-License-Identifier: Apache-2.0 */
/* Settling letters and answering them, over a scripted store. */
#include "post/script.h"

#include "support/local.h"
#include "support/test.h"
#include <letterbox/compat/wink.h>
#include <letterbox/testing.h>

#include <string.h>

struct world {
    struct script script;
    lbx_postbox *postbox;
    lbx_postbox_options options;
    lbx_parcel content;
    lbx_letter *letter;
    lbx_draft reply; /* "r", and what came of it */
    lbx_sent_letter sent;
    lbx_fault fault;
};

/* A letter with these routes, or none. */
static void
begin(struct world *world, const char *routes)
{
    script_init(&world->script);
    world->content =
        (lbx_parcel){.body = "ask", .body_bytes = 3, .routes = routes};
    world->script.content = &world->content;
    CHECK_OK(lbx_postbox_open_in(&world->script.base, "box", &world->options,
                                 &world->postbox));
    CHECK_OK(lbx_postbox_receive(world->postbox, 0, &world->letter));
    script_clear(&world->script);
}

static void
end(struct world *world)
{
    lbx_letter_destroy(world->letter);
    lbx_postbox_unref(world->postbox);
    script_fini(&world->script);
}

#define WORLD                                                                  \
    {                                                                          \
        .options = LBX_POSTBOX_OPTIONS_INIT, .reply = lbx_draft_of_text("r")   \
    }

/* A test with a world that has a letter with these routes. */
#define LETTER_TEST(behaviours, name, routes)                                  \
    static void name##_in(struct world *world);                                \
    TEST_CITING(behaviours, name)                                              \
    {                                                                          \
        struct world world = WORLD;                                            \
                                                                               \
        begin(&world, routes);                                                 \
        name##_in(&world);                                                     \
        end(&world);                                                           \
    }                                                                          \
    static void name##_in(struct world *world)

#define TO_THE_BOX "{\"default\":\"box\"}"

static lbx_status
reply_and_acknowledge(struct world *world)
{
    return lbx_letter_reply_and_acknowledge(world->letter, &world->reply,
                                            &world->sent, NULL);
}

LETTER_TEST("W-12 W-13 R-31", settling_is_final_when_the_store_says_ok,
            TO_THE_BOX)
{
    CHECK_OK(lbx_letter_extend(world->letter, LBX_SECOND));
    CHECK(!lbx_letter_is_finalized(world->letter));
    CHECK_OK(lbx_letter_nack(world->letter, 2 * LBX_SECOND));
    CHECK(lbx_letter_is_finalized(world->letter));
    CHECK_STR("extend receipt; nack receipt; ", world->script.log);
    CHECK_STATUS(LBX_FINALIZED, lbx_letter_acknowledge(world->letter));
    CHECK_STATUS(LBX_FINALIZED, lbx_letter_nack(world->letter, 0));
    CHECK_STATUS(LBX_FINALIZED, lbx_letter_extend(world->letter, 0));
    CHECK_STATUS(LBX_FINALIZED,
                 lbx_letter_reply(world->letter, &world->reply, NULL, NULL));
}

LETTER_TEST("W-35 R-31", a_settle_that_failed_is_not_final, TO_THE_BOX)
{
    static const lbx_status failures[] = {LBX_EXPIRED, LBX_GONE, LBX_UNKNOWN,
                                          LBX_UNREACHABLE, LBX_IO};

    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
        world->script.answer = failures[i];
        CHECK_STATUS(failures[i], lbx_letter_acknowledge(world->letter));
        CHECK_STATUS(failures[i], lbx_letter_nack(world->letter, 0));
        CHECK_STATUS(failures[i], lbx_letter_extend(world->letter, 0));
        CHECK(!lbx_letter_is_finalized(world->letter));
    }
    world->script.answer = LBX_OK;
    CHECK_OK(lbx_letter_reply(world->letter, &world->reply, NULL, NULL));
}

TEST_CITING("W-35", a_settled_or_deleted_letter_may_count_as_expired)
{
    struct world world = WORLD;

    world.options.late_is_expired = true;
    begin(&world, NULL);
    world.script.answer = LBX_GONE;
    CHECK_STATUS(LBX_EXPIRED, lbx_letter_acknowledge(world.letter));
    world.script.answer = LBX_OK;
    CHECK_OK(lbx_letter_acknowledge(world.letter));
    CHECK_STATUS(LBX_EXPIRED, lbx_letter_acknowledge(world.letter));
    CHECK_STATUS(LBX_EXPIRED, lbx_letter_extend(world.letter, 0));
    end(&world);
}

TEST_CITING("W-31", times_are_inside_the_box_s_limits)
{
    const lbx_box_options box = lbx_wink_box_options();
    const int64_t most = 43200 * LBX_SECOND;
    struct world world = WORLD;

    world.options.box = &box;
    begin(&world, NULL);
    CHECK_STATUS(LBX_INVALID, lbx_letter_extend(world.letter, -1));
    CHECK_STATUS(LBX_INVALID, lbx_letter_extend(world.letter, most + 1));
    CHECK_STATUS(LBX_INVALID, lbx_letter_nack(world.letter, -1));
    CHECK_STATUS(LBX_INVALID, lbx_letter_nack(world.letter, most + 1));
    CHECK_STR("", world.script.log);
    CHECK_OK(lbx_letter_extend(world.letter, 0));
    CHECK_OK(lbx_letter_extend(world.letter, most));
    CHECK_OK(lbx_letter_nack(world.letter, most));
    end(&world);
}

LETTER_TEST("", a_batch_settles_each_by_itself, NULL)
{
    lbx_postbox *other;
    lbx_letter *strange;
    lbx_settle_item settles[4];

    CHECK_OK(lbx_postbox_open_in(&world->script.base, "other", NULL, &other));
    CHECK_OK(lbx_postbox_receive(other, 0, &strange));
    script_clear(&world->script);
    settles[0] = (lbx_settle_item){.letter = strange};
    settles[1] =
        (lbx_settle_item){.action = LBX_SETTLE_NACK, .receipt = "as text"};
    settles[2] = (lbx_settle_item){.letter = world->letter};
    settles[3] = (lbx_settle_item){.letter = world->letter, .receipt = "both"};
    CHECK_STATUS(LBX_INVALID,
                 lbx_postbox_settle_batch(world->postbox, settles, 4));
    CHECK_STATUS(LBX_INVALID, settles[0].status); // of another postbox
    CHECK_OK(settles[1].status);
    CHECK_OK(settles[2].status);
    CHECK_STATUS(LBX_INVALID, settles[3].status);
    CHECK_STR("nack as text; ack receipt; ", world->script.log);
    CHECK(lbx_letter_is_finalized(world->letter));
    CHECK_STATUS(LBX_INVALID,
                 lbx_postbox_settle_batch(world->postbox, settles, 11));
    CHECK_STATUS(LBX_FINALIZED,
                 lbx_postbox_settle_batch(world->postbox, &settles[2], 1));
    lbx_letter_destroy(strange);
    lbx_postbox_unref(other);
}

TEST_CITING("W-11", a_reply_without_routes_is_not_available)
{
    struct world world = WORLD;
    const lbx_draft reply = lbx_draft_of_text("r");
    lbx_fault fault;
    lbx_sent_letter sent;

    begin(&world, NULL);
    CHECK_STATUS(LBX_NO_REPLY,
                 lbx_letter_reply(world.letter, &reply, &sent, &fault));
    CHECK_STATUS(LBX_NO_REPLY, sent.status);
    CHECK_STATUS(LBX_NO_REPLY, fault.status);
    end(&world);
    begin(&world, "no JSON"); // delivered all the same
    CHECK_STATUS(LBX_NO_REPLY,
                 lbx_letter_reply(world.letter, &reply, &sent, &fault));
    end(&world);
}

/* The fault of a reply is a sentence whatever the failure. */
LETTER_TEST("", a_reply_that_fails_says_why, TO_THE_BOX)
{
#define REFUSED(expected, call, words)                                         \
    do {                                                                       \
        memset(&world->fault, 0, sizeof(world->fault));                        \
        CHECK_STATUS(expected, call);                                          \
        CHECK_STATUS(expected, world->fault.status);                           \
        CHECK(strstr(world->fault.text, words));                               \
    } while (0)

    REFUSED(LBX_INVALID,
            lbx_letter_reply(NULL, &world->reply, NULL, &world->fault), "NULL");
    REFUSED(LBX_INVALID,
            lbx_letter_reply_and_acknowledge(world->letter, NULL, NULL,
                                             &world->fault),
            "NULL");
    world->reply.size_bytes = 9;
    REFUSED(LBX_INVALID,
            lbx_letter_reply_and_acknowledge(world->letter, &world->reply, NULL,
                                             &world->fault),
            "LBX_DRAFT_INIT");
    world->reply.size_bytes = sizeof(lbx_draft);
    world->reply.delay_ns = -1;
    REFUSED(LBX_INVALID,
            lbx_letter_reply(world->letter, &world->reply, NULL, &world->fault),
            "delay_ns is -1");
    REFUSED(LBX_INVALID,
            lbx_letter_reply_and_acknowledge(world->letter, &world->reply, NULL,
                                             &world->fault),
            "delay_ns is -1");
    world->reply.delay_ns = LBX_DEFAULT;
    CHECK_OK(lbx_letter_acknowledge(world->letter));
    REFUSED(LBX_FINALIZED,
            lbx_letter_reply(world->letter, &world->reply, NULL, &world->fault),
            "settled");
    REFUSED(LBX_FINALIZED,
            lbx_letter_reply_and_acknowledge(world->letter, &world->reply, NULL,
                                             &world->fault),
            "settled");
#undef REFUSED
}

LETTER_TEST("W-02 W-11 W-30", no_route_names_the_type,
            "{\"routes\":{\"t.Known\":\"box\"}}")
{
    world->reply.type_name = "t.Strange";
    CHECK_STATUS(LBX_NO_ROUTE, lbx_letter_reply(world->letter, &world->reply,
                                                NULL, &world->fault));
    CHECK(strstr(world->fault.text, "t.Strange"));
    world->reply.type_name = "t.Known";
    CHECK_OK(
        lbx_letter_reply(world->letter, &world->reply, NULL, &world->fault));
    CHECK(!lbx_letter_is_finalized(world->letter));
}

LETTER_TEST("W-11 W-40", a_place_that_is_not_there_is_not_available,
            "{\"default\":\"nowhere\"}")
{
    CHECK_STATUS(LBX_NO_REPLY, lbx_letter_reply(world->letter, &world->reply,
                                                NULL, &world->fault));
    CHECK(strstr(world->fault.text, "nowhere"));
    CHECK_INT(1, world->script.box_count); // replies create none
}

TEST_CITING("W-05", replies_are_of_the_type_the_postbox_lets_out)
{
    lbx_type_options type = LBX_TYPE_OPTIONS_INIT;
    struct world world = WORLD;
    lbx_draft reply = lbx_draft_of_text("r");
    LOCAL_TYPE(expected);

    type.name = "t.Reply";
    CHECK_OK(lbx_type_create(&type, &expected));
    world.options.reply_type = expected;
    begin(&world, TO_THE_BOX);
    CHECK_STATUS(LBX_INVALID,
                 lbx_letter_reply(world.letter, &reply, NULL, NULL));
    reply.type_name = "t.Reply";
    CHECK_OK(lbx_letter_reply(world.letter, &reply, NULL, NULL));
    end(&world);

    world.options.no_replies = true;
    begin(&world, TO_THE_BOX);
    CHECK_STATUS(LBX_INVALID,
                 lbx_letter_reply(world.letter, &reply, NULL, NULL));
    end(&world);
}

LETTER_TEST("W-11", any_number_of_replies_before_the_end, TO_THE_BOX)
{
    CHECK_OK(
        lbx_letter_reply(world->letter, &world->reply, &world->sent, NULL));
    CHECK_STR("id-2", world->sent.id.text);
    CHECK_OK(
        lbx_letter_reply(world->letter, &world->reply, &world->sent, NULL));
    CHECK_STR("id-3", world->sent.id.text);
    CHECK_OK(lbx_letter_acknowledge(world->letter));
    CHECK_STR("send 1 r; send 1 r; ack receipt; ", world->script.log);
}

LETTER_TEST("", reply_and_acknowledge_is_one_step_in_one_store, TO_THE_BOX)
{
    world->script.answer = LBX_EXPIRED;
    CHECK_STATUS(LBX_EXPIRED, reply_and_acknowledge(world));
    CHECK_STATUS(LBX_EXPIRED, world->sent.status);
    CHECK(!lbx_letter_is_finalized(world->letter));
    world->script.answer = LBX_OK;
    CHECK_OK(reply_and_acknowledge(world));
    CHECK_STR("with 1 r re id-1; ack receipt; ", world->script.log);
    CHECK_OK(world->sent.status);
    CHECK(lbx_letter_is_finalized(world->letter));
}

/* What is attached shares its letter's fate, whatever the store has said of
 * it. */
LETTER_TEST("", what_is_attached_was_sent_only_if_its_letter_was_settled,
            TO_THE_BOX)
{
    world->script.forget = 1; // it is not known what became of the letter
    CHECK_STATUS(LBX_UNKNOWN, reply_and_acknowledge(world));
    CHECK_STATUS(LBX_UNKNOWN, world->sent.status);
    CHECK(!lbx_letter_is_finalized(world->letter));
}

/* The reply goes to a collecting postbox, which is a store of its own. */
struct elsewhere {
    struct world world;
    lbx_postbox *there;
    lbx_postbox_registry *registry;
};

static void
begin_elsewhere(struct elsewhere *test)
{
    test->world = (struct world)WORLD;
    CHECK_OK(lbx_collecting_postbox_create(NULL, &test->there));
    CHECK_OK(lbx_postbox_registry_create(NULL, &test->registry));
    CHECK_OK(lbx_postbox_registry_add(test->registry, "there", test->there));
    test->world.options.resolver =
        lbx_postbox_registry_as_resolver(test->registry);
    begin(&test->world, "{\"default\":\"there\"}");
}

static void
end_elsewhere(struct elsewhere *test)
{
    end(&test->world);
    lbx_postbox_registry_destroy(test->registry);
    lbx_postbox_unref(test->there);
}

#define ELSEWHERE_TEST(behaviours, name)                                       \
    static void name##_in(struct world *world, lbx_postbox *there);            \
    TEST_CITING(behaviours, name)                                              \
    {                                                                          \
        struct elsewhere test;                                                 \
                                                                               \
        begin_elsewhere(&test);                                                \
        name##_in(&test.world, test.there);                                    \
        end_elsewhere(&test);                                                  \
    }                                                                          \
    static void name##_in(struct world *world,                                 \
                          __attribute__((unused)) lbx_postbox *there)

ELSEWHERE_TEST("W-11 W-25", a_reply_elsewhere_is_sent_before_the_letter_goes)
{
    world->script.answer = LBX_EXPIRED; // twice, but never not at all
    CHECK_STATUS(LBX_EXPIRED, reply_and_acknowledge(world));
    CHECK_OK(world->sent.status);
    CHECK_INT(1, lbx_collecting_postbox_count(there));
    CHECK(!lbx_letter_is_finalized(world->letter));
    world->script.answer = LBX_OK;
    CHECK_OK(reply_and_acknowledge(world));
    CHECK_STR("ack receipt; ", world->script.log);
    CHECK_STR("id-1", lbx_collecting_postbox_at(there, 1)->in_reply_to);
}

ELSEWHERE_TEST("", a_letter_whose_reply_was_not_sent_is_not_settled)
{
    lbx_postbox_close(there);
    CHECK_STATUS(LBX_CLOSED, reply_and_acknowledge(world));
    CHECK_STATUS(LBX_CLOSED, world->sent.status);
    CHECK_STR("", world->script.log);
    CHECK(!lbx_letter_is_finalized(world->letter));
}

LETTER_TEST("", send_and_acknowledge_is_one_step_in_one_store, NULL)
{
    lbx_draft draft = lbx_draft_of_text("done");
    lbx_postbox *next;

    CHECK_OK(lbx_postbox_open_in(&world->script.base, "next", NULL, &next));
    script_clear(&world->script);
    world->script.answer = LBX_EXPIRED;
    CHECK_STATUS(LBX_EXPIRED, lbx_letter_send_and_acknowledge(
                                  world->letter, next, &draft, &world->sent));
    CHECK_STATUS(LBX_EXPIRED, world->sent.status);
    CHECK(!lbx_letter_is_finalized(world->letter));
    world->script.answer = LBX_OK;
    CHECK_OK(lbx_letter_send_and_acknowledge(world->letter, next, &draft,
                                             &world->sent));
    CHECK_STR("with 2 done; ack receipt; ", world->script.log);
    CHECK_OK(world->sent.status);
    CHECK(lbx_letter_is_finalized(world->letter));
    CHECK_STATUS(LBX_FINALIZED, lbx_letter_send_and_acknowledge(
                                    world->letter, next, &draft, &world->sent));
    CHECK_STATUS(LBX_FINALIZED, world->sent.status);
    lbx_postbox_unref(next);
}

ELSEWHERE_TEST("", what_is_sent_elsewhere_is_there_before_the_letter_goes)
{
    const lbx_draft draft = lbx_draft_of_text("done");

    world->script.answer = LBX_EXPIRED;
    CHECK_STATUS(LBX_EXPIRED, lbx_letter_send_and_acknowledge(
                                  world->letter, there, &draft, &world->sent));
    CHECK_OK(world->sent.status);
    CHECK_INT(1, lbx_collecting_postbox_count(there));
    CHECK(lbx_collecting_postbox_at(there, 0)->in_reply_to == NULL);
    world->script.answer = LBX_OK;
    CHECK_OK(
        lbx_letter_send_and_acknowledge(world->letter, there, &draft, NULL));
    CHECK_STR("ack receipt; ", world->script.log);
}

ELSEWHERE_TEST("", what_could_not_be_sent_settles_nothing)
{
    const lbx_draft draft = lbx_draft_of_text("done");
    const lbx_draft none = {.size_bytes = 0};

    CHECK_STATUS(LBX_INVALID, lbx_letter_send_and_acknowledge(
                                  world->letter, NULL, &draft, &world->sent));
    CHECK_STATUS(LBX_INVALID, lbx_letter_send_and_acknowledge(
                                  NULL, there, &draft, &world->sent));
    CHECK_STATUS(LBX_INVALID, lbx_letter_send_and_acknowledge(
                                  world->letter, there, &none, &world->sent));
    lbx_postbox_close(there);
    CHECK_STATUS(LBX_CLOSED, lbx_letter_send_and_acknowledge(
                                 world->letter, there, &draft, &world->sent));
    CHECK_STATUS(LBX_CLOSED, world->sent.status);
    CHECK_STR("", world->script.log);
    CHECK(!lbx_letter_is_finalized(world->letter));
}

/* A resolver keeps postboxes that are open: one that is not told stays for
 * ever, though there be a new box of that name. */
TEST(a_postbox_whose_box_was_deleted_is_closed_by_what_is_sent_along)
{
    struct world world = WORLD;
    const lbx_draft draft = lbx_draft_of_text("done");
    struct script other;
    lbx_postbox *here, *there;
    lbx_sent_letter sent;

    script_init(&other);
    begin(&world, NULL);
    CHECK_OK(lbx_postbox_open_in(&world.script.base, "next", NULL, &here));
    CHECK_OK(lbx_postbox_open_in(&other.base, "next", NULL, &there));
    other.answer = LBX_CLOSED;
    CHECK_STATUS(LBX_CLOSED, lbx_letter_send_and_acknowledge(
                                 world.letter, there, &draft, &sent));
    CHECK(lbx_postbox_is_closed(there));
    world.script.answer = LBX_CLOSED;
    CHECK_STATUS(LBX_CLOSED, lbx_letter_send_and_acknowledge(world.letter, here,
                                                             &draft, &sent));
    CHECK(lbx_postbox_is_closed(here));
    CHECK(!lbx_letter_is_finalized(world.letter));
    CHECK(!lbx_postbox_is_closed(world.postbox));
    lbx_postbox_unref(here);
    lbx_postbox_unref(there);
    end(&world);
    script_fini(&other);
}

ELSEWHERE_TEST("", settles_with_replies_are_an_operation)
{
    const lbx_draft *replies[2] = {&world->reply, NULL};
    lbx_settle_item settles[2];
    lbx_operation operation;
    lbx_letter *second;
    lbx_sent_letter sent[2];

    CHECK_OK(lbx_postbox_receive(world->postbox, 0, &second));
    script_clear(&world->script);
    settles[0] = (lbx_settle_item){.letter = world->letter};
    settles[1] = (lbx_settle_item){.action = LBX_SETTLE_NACK, .letter = second};
    world->script.hold = true;
    CHECK_OK(lbx_postbox_settle_init(&operation, world->postbox, settles, 2,
                                     replies, sent));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&operation, NULL));
    CHECK_INT(1, lbx_collecting_postbox_count(there));
    script_finish(&world->script, 0, LBX_OK);
    CHECK_OK(lbx_operation_poll(&operation, NULL));
    CHECK_STR("ack receipt; nack receipt; ", world->script.log);
    CHECK_OK(settles[0].status);
    CHECK_OK(settles[1].status);
    CHECK_OK(sent[0].status);
    lbx_operation_fini(&operation);

    CHECK_OK(lbx_postbox_settle_init(&operation, world->postbox, settles, 2,
                                     replies, sent)); // finalized by now
    CHECK_STATUS(LBX_FINALIZED, lbx_operation_poll(&operation, NULL));
    CHECK_INT(1, lbx_collecting_postbox_count(there));
    lbx_operation_fini(&operation);
    lbx_letter_destroy(second);
}

ELSEWHERE_TEST("", a_settle_that_is_cancelled_says_what_happened)
{
    const lbx_draft *replies = &world->reply;
    lbx_operation operation;
    lbx_settle_item settle;

    settle = (lbx_settle_item){.letter = world->letter};
    world->script.hold = true;
    CHECK_OK(lbx_postbox_settle_init(&operation, world->postbox, &settle, 1,
                                     &replies, &world->sent));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&operation, NULL));
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&operation));
    CHECK_STATUS(LBX_CANCELLED, settle.status);
    CHECK_OK(world->sent.status); // that had happened
    CHECK(!lbx_letter_is_finalized(world->letter));
    lbx_operation_fini(&operation);

    CHECK_OK(lbx_postbox_settle_init(&operation, world->postbox, &settle, 1,
                                     NULL, NULL));
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&operation)); // not begun
    CHECK_STATUS(LBX_CANCELLED, settle.status);
    lbx_operation_fini(&operation);

    world->script.cancel = SCRIPT_HAPPENED;
    CHECK_OK(lbx_postbox_settle_init(&operation, world->postbox, &settle, 1,
                                     NULL, NULL));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&operation, NULL));
    CHECK_OK(lbx_operation_cancel(&operation));
    CHECK(lbx_letter_is_finalized(world->letter));
    lbx_operation_fini(&operation);
}

TEST(a_cancel_between_reply_and_settling_settles_nothing)
{
    struct world world = WORLD;
    struct script other;
    lbx_postbox *there;
    lbx_postbox_registry *registry;
    const lbx_draft reply = lbx_draft_of_text("r");
    const lbx_draft *replies = &reply;
    lbx_operation operation;
    lbx_settle_item settle;
    lbx_sent_letter sent;

    script_init(&other);
    CHECK_OK(lbx_postbox_open_in(&other.base, "there", NULL, &there));
    CHECK_OK(lbx_postbox_registry_create(NULL, &registry));
    CHECK_OK(lbx_postbox_registry_add(registry, "there", there));
    world.options.resolver = lbx_postbox_registry_as_resolver(registry);
    begin(&world, "{\"default\":\"there\"}");
    settle = (lbx_settle_item){.letter = world.letter};
    other.hold = true;
    other.cancel = SCRIPT_HAPPENED;
    CHECK_OK(lbx_postbox_settle_init(&operation, world.postbox, &settle, 1,
                                     &replies, &sent));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&operation, NULL));
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&operation));
    CHECK_OK(sent.status);
    CHECK_STATUS(LBX_CANCELLED, settle.status);
    CHECK_STR("", world.script.log);
    CHECK_STR("send 1 r; ", other.log);
    lbx_operation_fini(&operation);
    end(&world);
    lbx_postbox_registry_destroy(registry);
    lbx_postbox_unref(there);
    script_fini(&other);
}

LETTER_TEST("", a_reply_is_an_operation_too, TO_THE_BOX)
{
    lbx_operation operation;

    world->script.hold = true;
    CHECK_OK(lbx_letter_reply_init(&operation, world->letter, &world->reply,
                                   &world->sent, &world->fault));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&operation, NULL));
    script_finish(&world->script, 0, LBX_OK);
    CHECK_OK(lbx_operation_poll(&operation, NULL));
    CHECK_STR("id-2", world->sent.id.text);
    lbx_operation_fini(&operation);
    CHECK_OK(lbx_letter_reply_init(&operation, world->letter, &world->reply,
                                   &world->sent, &world->fault));
    lbx_operation_fini(&operation);
    CHECK_STATUS(LBX_CANCELLED, world->sent.status);
    CHECK_STATUS(LBX_INVALID,
                 lbx_letter_reply_init(&operation, NULL, &world->reply,
                                       &world->sent, &world->fault));
}

TEST(replies_into_fifo_boxes_have_a_group)
{
    lbx_box_options fifo = LBX_BOX_OPTIONS_INIT;
    struct world world = WORLD;
    const lbx_draft reply = lbx_draft_of_text("r");

    fifo.fifo = true;
    fifo.deduplicate_by_content = true;
    begin(&world, "{\"default\":\"line\"}");
    CHECK_OK(lbx_store_create_box(&world.script.base, "line", &fifo, NULL));
    CHECK_OK(lbx_letter_reply(world.letter, &reply, NULL, NULL));
    CHECK_STR("send 2 r; ", world.script.log);
    end(&world);
}
