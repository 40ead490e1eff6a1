/* SPDX-License-Identifier: Apache-2.0 */
/* Dead letters on their way back: all of a letter comes back, once. */
#include "fixture.h"

#include <letterbox/compat/wink.h>

#include "support/local_post.h"
#include "support/torture.h"

#include <letterbox/post.h>

#include <string.h>

static lbx_status
refuse(lbx_job *job, void *context)
{
    (void)context;
    return lbx_job_fail(job, LBX_REFUSED, "shop.BadOrder", "no address");
}

/* Two boxes of one store in memory. */
struct shop {
    lbx_store *store;
    lbx_postbox *orders, *dead;
};

static void
open_shop(struct shop *shop, const lbx_box_options *box)
{
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;

    CHECK_OK(lbx_store_open("memory:", NULL, &shop->store));
    CHECK_OK(lbx_postbox_open_in(shop->store, "dead", NULL, &shop->dead));
    if (box)
        options.box = box;
    CHECK_OK(
        lbx_postbox_open_in(shop->store, "orders", &options, &shop->orders));
}

static void
close_shop(struct shop *shop)
{
    lbx_postbox_unref(shop->orders);
    lbx_postbox_unref(shop->dead);
    lbx_store_unref(shop->store);
}

/* A courier that fails, for one letter; whether it could be made. */
static lbx_status
kill_with(const struct shop *shop, const lbx_allocator *allocator)
{
    lbx_courier_options options = LBX_COURIER_OPTIONS_INIT;
    lbx_courier *courier;
    lbx_status status;

    options.allocator = allocator;
    options.retry_ns = 0;
    options.postbox = shop->orders;
    options.handle = refuse;
    options.wait_ns = 0;
    options.dead_letters.postbox = shop->dead;
    options.dead_letters.deliveries = 1;
    status = lbx_courier_create(&options, &courier);
    if (status != LBX_OK)
        return status;
    CHECK_OK(lbx_courier_run(courier, 1));
    lbx_courier_destroy(courier);
    return LBX_OK;
}

static void
kill_one(const struct shop *shop)
{
    CHECK_OK(kill_with(shop, NULL));
}

static lbx_letter *
take(lbx_postbox *postbox)
{
    lbx_letter *letter;

    CHECK_OK(lbx_postbox_receive(postbox, 0, &letter));
    return letter;
}

static void
check_count(lbx_postbox *postbox, uint64_t ready, uint64_t leased)
{
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;

    CHECK_OK(lbx_postbox_count(postbox, &counts));
    CHECK_INT(ready, counts.ready);
    CHECK_INT(leased, counts.leased);
}

static const unsigned char bytes[] = {'a', 0, 0xff, 'z'};

static void
send_order(const struct shop *shop)
{
    static const lbx_attribute attributes[] = {
        {"colour", LBX_ATTRIBUTE_STRING, NULL, "red", 3},
        {"weight", LBX_ATTRIBUTE_NUMBER, "float", "1.5", 3},
        {"key", LBX_ATTRIBUTE_BINARY, NULL, "\0\1", 2},
    };
    static const lbx_routes_entry table[] = {{"letterbox.Result", "results"}};
    lbx_draft draft = lbx_draft_of_bytes(bytes, sizeof(bytes));
    LOCAL_ROUTES(routes);

    CHECK_OK(lbx_routes_create(table, 1, "rest", NULL, &routes));
    draft.type_name = "shop.Order";
    draft.routes = routes;
    draft.attributes = attributes;
    draft.attribute_count = 3;
    draft.trace = "trace-1";
    draft.in_reply_to = "another";
    draft.group = "customer-7";
    CHECK_OK(lbx_postbox_send_draft(shop->orders, &draft, NULL));
}

static void
check_order(lbx_letter *letter)
{
    lbx_attribute attribute;
    lbx_letter_info facts = LBX_LETTER_INFO_INIT;
    size_t size;
    const void *body = lbx_letter_body(letter, &size);

    CHECK_INT(sizeof(bytes), size);
    CHECK(memcmp(bytes, body, size) == 0);
    CHECK_STR("shop.Order", lbx_letter_type_name(letter));
    CHECK(lbx_letter_routes(letter) != NULL);
    CHECK(strstr(lbx_routes_json(lbx_letter_routes(letter)), "\"results\""));
    CHECK(strstr(lbx_routes_json(lbx_letter_routes(letter)), "\"rest\""));
    CHECK(lbx_letter_attribute(letter, "colour", &attribute));
    CHECK(attribute.value_bytes == 3 && !memcmp(attribute.value, "red", 3));
    CHECK(lbx_letter_attribute(letter, "weight", &attribute));
    CHECK_INT(LBX_ATTRIBUTE_NUMBER, attribute.kind);
    CHECK_STR("float", attribute.label);
    CHECK(lbx_letter_attribute(letter, "key", &attribute));
    CHECK(attribute.value_bytes == 2 && !memcmp(attribute.value, "\0\1", 2));
    CHECK(!lbx_letter_attribute_at(letter, 3, &attribute));
    CHECK_OK(lbx_letter_info_read(letter, &facts));
    CHECK_STR("trace-1", facts.trace);
    CHECK_STR("another", facts.in_reply_to);
    CHECK_STR("customer-7", facts.group);
    CHECK_INT(1, facts.delivery_count);
    CHECK_PTR(NULL, facts.dead_letter_source);
}

TEST_CITING("R-44", what_a_courier_has_put_aside_comes_back_as_it_was)
{
    struct shop shop;
    lbx_letter *letter;
    lbx_sent_letter sent;

    open_shop(&shop, NULL);
    send_order(&shop);
    kill_one(&shop);
    check_count(shop.orders, 0, 0);
    letter = take(shop.dead);
    CHECK_STR("letterbox.DeadLetter", lbx_letter_type_name(letter));
    CHECK_OK(lbx_dead_letter_send_back(letter, shop.orders, &sent));
    CHECK_OK(sent.status);
    CHECK(!sent.duplicate);
    check_count(shop.dead, 0, 0);
    CHECK(lbx_letter_is_finalized(letter));
    CHECK_STATUS(LBX_FINALIZED,
                 lbx_dead_letter_send_back(letter, shop.orders, NULL));
    lbx_letter_destroy(letter);

    letter = take(shop.orders);
    CHECK_STR(sent.id.text, lbx_letter_id(letter));
    check_order(letter);
    lbx_letter_destroy(letter);
    close_shop(&shop);
}

/* What cannot be put aside for want of memory is where it was. */
static void
kill_once(struct torture *memory, void *context)
{
    const lbx_allocator allocator = torture_allocator(memory);
    const struct shop *shop = context;
    LOCAL_LETTER(letter);

    send_order(shop);
    if (kill_with(shop, &allocator) == LBX_OK && memory->failures == 0) {
        check_count(shop->orders, 0, 0);
        letter = take(shop->dead);
    } else {
        check_count(shop->dead, 0, 0);
        letter = take(shop->orders);
    }
    CHECK_OK(lbx_letter_acknowledge(letter));
}

TEST(a_letter_is_put_aside_wholly_or_not_at_all)
{
    struct shop shop;

    open_shop(&shop, NULL);
    CHECK_INT(2, torture_every_allocation(kill_once, &shop));
    close_shop(&shop);
}

TEST(what_a_box_has_moved_comes_back_the_same_way)
{
    lbx_box_options box = LBX_BOX_OPTIONS_INIT;
    struct shop shop;
    lbx_letter *letter;

    box.dead_letters = "dead";
    box.max_deliveries = 1;
    open_shop(&shop, &box);
    send_order(&shop);
    letter = take(shop.orders);
    CHECK_OK(lbx_letter_nack(letter, 0));
    lbx_letter_destroy(letter);
    CHECK_STATUS(LBX_EMPTY, lbx_postbox_receive(shop.orders, 0, &letter));
    letter = take(shop.dead);
    CHECK_STR("shop.Order", lbx_letter_type_name(letter));
    CHECK_OK(lbx_dead_letter_send_back(letter, shop.orders, NULL));
    lbx_letter_destroy(letter);
    check_count(shop.dead, 0, 0);
    letter = take(shop.orders);
    check_order(letter);
    lbx_letter_destroy(letter);
    close_shop(&shop);
}

/* DEAD-2: within the five minutes in which a fifo box knows duplicates, and
 * again and again. */
TEST_CITING("R-44", the_way_back_is_never_taken_for_a_duplicate)
{
    lbx_box_options box = LBX_BOX_OPTIONS_INIT;
    lbx_draft draft = lbx_draft_of_text("a book");
    struct shop shop;
    lbx_letter *letter;
    lbx_sent_letter sent;

    box.fifo = true;
    box.deduplicate_by_content = true;
    open_shop(&shop, NULL);
    lbx_postbox_unref(shop.orders);
    CHECK_OK(lbx_store_create_box(shop.store, "orders.fifo", &box, NULL));
    CHECK_OK(
        lbx_postbox_open_in(shop.store, "orders.fifo", NULL, &shop.orders));
    draft.group = "customer-7";
    CHECK_OK(lbx_postbox_send_draft(shop.orders, &draft, NULL));
    for (int i = 0; i < 3; i++) {
        kill_one(&shop);
        letter = take(shop.dead);
        CHECK_OK(lbx_dead_letter_send_back(letter, shop.orders, &sent));
        CHECK(!sent.duplicate);
        lbx_letter_destroy(letter);
        check_count(shop.orders, 1, 0);
    }
    close_shop(&shop);
}

TEST(what_is_no_dead_letter_is_refused_and_left_alone)
{
    lbx_draft draft = lbx_draft_of_text("{\"message_id\": 7}");
    struct shop shop;
    lbx_letter *letter;
    lbx_sent_letter sent;

    open_shop(&shop, NULL);
    CHECK_STATUS(LBX_INVALID,
                 lbx_dead_letter_send_back(NULL, shop.orders, NULL));
    CHECK_OK(lbx_postbox_send(shop.dead, "a book", 6, NULL));
    letter = take(shop.dead);
    CHECK_STATUS(LBX_INVALID, lbx_dead_letter_send_back(letter, NULL, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_dead_letter_send_back(letter, shop.orders, &sent));
    CHECK_STATUS(LBX_INVALID, sent.status);
    CHECK(!lbx_letter_is_finalized(letter));
    CHECK_OK(lbx_letter_acknowledge(letter));
    lbx_letter_destroy(letter);

    draft.type_name = "letterbox.DeadLetter"; // but it is none
    CHECK_OK(lbx_postbox_send_draft(shop.dead, &draft, NULL));
    letter = take(shop.dead);
    CHECK_STATUS(LBX_ENCODING,
                 lbx_dead_letter_send_back(letter, shop.orders, &sent));
    CHECK_STATUS(LBX_ENCODING, sent.status);
    CHECK(!lbx_letter_is_finalized(letter));
    lbx_letter_destroy(letter);
    check_count(shop.orders, 0, 0);
    close_shop(&shop);
}

TEST(a_record_of_another_hand_has_its_replies_in_one_place)
{
    lbx_draft draft =
        lbx_draft_of_text("{\"message_id\": \"1\", \"body\": \"a book\", "
                          "\"reply_mailbox\": \"answers\", \"more\": [1]}");
    struct shop shop;
    lbx_letter *letter;

    open_shop(&shop, NULL);
    draft.type_name = "letterbox.DeadLetter";
    CHECK_OK(lbx_postbox_send_draft(shop.dead, &draft, NULL));
    letter = take(shop.dead);
    CHECK_OK(lbx_dead_letter_send_back(letter, shop.orders, NULL));
    lbx_letter_destroy(letter);
    letter = take(shop.orders);
    CHECK_STR("a book", lbx_letter_body(letter, NULL));
    CHECK_PTR(NULL, lbx_letter_type_name(letter));
    CHECK_STR("answers", lbx_routes_address(lbx_letter_routes(letter),
                                            lbx_wink_request_type()));
    lbx_letter_destroy(letter);
    close_shop(&shop);
}

/* ---- Order, and what may go wrong in between ---- */

/* Fails the n-th call that changes something. */
struct fate {
    int at;
    int calls;
};

static lbx_status
strike(void *context, lbx_call_kind verb, const void *request)
{
    struct fate *fate = context;

    (void)request;
    if (verb != LBX_CALL_SEND && verb != LBX_CALL_SETTLE)
        return LBX_OK;
    return ++fate->calls == fate->at ? LBX_UNREACHABLE : LBX_OK;
}

static lbx_letter *
dead_letter_of(struct fixture *fx)
{
    lbx_letter *letter;

    fixture_open(fx);
    fx->options.handle = refuse;
    fx->options.dead_letters.postbox = fx->dead;
    fx->options.dead_letters.deliveries = 1;
    fixture_send(fx, "a book");
    fixture_run(fx, 1);
    CHECK_OK(lbx_postbox_receive(fx->dead, 0, &letter));
    return letter;
}

TEST_CITING("R-44", in_one_store_the_way_back_is_one_step)
{
    struct fate fate = {.at = 1};
    FIXTURE(fx);
    LOCAL_LETTER(letter) = dead_letter_of(&fx);

    fixture_before(&fx, strike, &fate);
    CHECK_STATUS(LBX_UNREACHABLE,
                 lbx_dead_letter_send_back(letter, fx.requests, NULL));
    CHECK_COUNTS(&fx, "requests", 0, 0, 0);
    CHECK_COUNTS(&fx, "dead", 0, 1, 0);
    CHECK_OK(lbx_dead_letter_send_back(letter, fx.requests, NULL));
    CHECK_INT(2, fate.calls);
    CHECK_COUNTS(&fx, "requests", 1, 0, 0);
    CHECK_COUNTS(&fx, "dead", 0, 0, 0);
}

TEST_CITING("R-44", between_two_stores_it_is_sent_first_and_once)
{
    struct fate fate = {.at = 1};
    struct fixture fx;
    struct fake_store other;
    size_t ready, leased, delayed;
    lbx_postbox *orders;
    lbx_letter *letter = dead_letter_of(&fx);

    fake_store_open(&other, &fx.time);
    CHECK_OK(lbx_postbox_open_in(&other.base, "orders", NULL, &orders));
    fx.store.before = strike; // the acknowledgement
    fx.store.context = &fate;
    CHECK_STATUS(LBX_UNREACHABLE,
                 lbx_dead_letter_send_back(letter, orders, NULL));
    fake_store_count(&other, "orders", &ready, &leased, &delayed);
    CHECK_INT(1, ready);
    CHECK_COUNTS(&fx, "dead", 0, 1, 0);
    CHECK_OK(lbx_dead_letter_send_back(letter, orders, NULL));
    fake_store_count(&other, "orders", &ready, &leased, &delayed);
    CHECK_INT(1, ready); // by its token
    CHECK_COUNTS(&fx, "dead", 0, 0, 0);
    lbx_letter_destroy(letter);
    lbx_postbox_unref(orders);
    fixture_close(&fx);
    lbx_store_unref(&other.base);
}
