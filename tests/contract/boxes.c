/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about boxes, and about what is sent to them. */
#include "contract.h"

#include <stdio.h>
#include <string.h>

void
promise_a_box_is_created_once(struct desk *desk)
{
    lbx_box_options other = LBX_BOX_OPTIONS_INIT;
    const lbx_box box = make_box(desk, "orders", NULL);
    lbx_box_request request = {.name = "orders", .options = &other};

    CHECK(make_box(desk, "orders", NULL).uid == box.uid);
    other.lease_ns = 7 * LBX_SECOND;
    CHECK_STATUS(LBX_EXISTS, run(desk, LBX_CALL_CREATE, &request));
    CHECK(make_box(desk, "others", &other).uid != box.uid);
    other.dead_letters = "nowhere";
    other.max_deliveries = 3;
    request.name = "third";
    CHECK_STATUS(LBX_NOT_FOUND, run(desk, LBX_CALL_CREATE, &request));
}

void
promise_a_box_that_is_not_there_is_not_found(struct desk *desk)
{
    const lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    lbx_box_request request = {.name = "nowhere", .options = &options};

    CHECK_STATUS(LBX_NOT_FOUND, run(desk, LBX_CALL_DESCRIBE, &request));
    CHECK_STATUS(LBX_NOT_FOUND, run(desk, LBX_CALL_CONFIGURE, &request));
    CHECK_STATUS(LBX_NOT_FOUND, run(desk, LBX_CALL_DELETE, &request));
}

void
promise_a_box_can_be_configured(struct desk *desk)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    lbx_box_options read = LBX_BOX_OPTIONS_INIT;
    char buffer[LBX_BOX_OPTIONS_BUFFER_BYTES];
    const lbx_box box = make_box(desk, "orders", NULL);
    lbx_box_request change = {.box = box, .options = &options};
    lbx_box_request look = {
        .name = "orders", .buffer = buffer, .ret_options = &read};

    options.capacity_letters = 2;
    options.lease_ns = 5 * LBX_SECOND;
    CHECK_OK(run(desk, LBX_CALL_CONFIGURE, &change));
    CHECK_OK(run(desk, LBX_CALL_DESCRIBE, &look));
    CHECK(look.ret_box.uid == box.uid);
    CHECK_INT(2, read.capacity_letters);
    CHECK_INT(5 * LBX_SECOND, read.lease_ns);
    mail(desk, box, "a");
    mail(desk, box, "b");
    CHECK_STATUS(LBX_FULL, try_send(desk, box, "c"));
}

struct names {
    char text[256];
    int most;
    struct desk *desk; /* not NULL: each is looked at */
};

static bool
add_name(void *context, const char *name)
{
    struct names *names = context;

    strncat(names->text, name, sizeof(names->text) - strlen(names->text) - 1);
    strncat(names->text, " ", sizeof(names->text) - strlen(names->text) - 1);
    if (names->desk) {
        lbx_box_request request = {.name = name};

        // A store calls back with no lock of its own.
        CHECK_OK(run(names->desk, LBX_CALL_DESCRIBE, &request));
    }
    return --names->most > 0;
}

static void
check_list(struct desk *desk, const char *prefix, const char *after, int most,
           const char *expected)
{
    struct names names = {.most = most, .desk = desk};
    lbx_list_request request = {
        .prefix = prefix, .after = after, .each = add_name, .context = &names};

    CHECK_OK(run(desk, LBX_CALL_LIST, &request));
    CHECK_STR(expected, names.text);
}

static bool
count_name(void *context, const char *name)
{
    int *count = context;
    char expected[32];

    snprintf(expected, sizeof(expected), "many-%04d", (*count)++);
    CHECK_STR(expected, name);
    return true;
}

void
promise_boxes_are_listed_in_order(struct desk *desk)
{
    int many = 0;
    lbx_list_request request = {
        .prefix = "many-", .each = count_name, .context = &many};

    make_box(desk, "b", NULL);
    make_box(desk, "a1", NULL);
    make_box(desk, "c", NULL);
    make_box(desk, "a2", NULL);
    check_list(desk, NULL, NULL, 99, "a1 a2 b c ");
    check_list(desk, "a", NULL, 99, "a1 a2 ");
    check_list(desk, NULL, "a2", 99, "b c ");
    check_list(desk, NULL, NULL, 3, "a1 a2 b ");
    for (int i = 0; i < 600; i++) {
        char name[32];

        snprintf(name, sizeof(name), "many-%04d", i);
        make_box(desk, name, NULL);
    }
    CHECK_OK(run(desk, LBX_CALL_LIST, &request));
    CHECK_INT(600, many);
}

void
promise_spaces_do_not_see_each_other(struct desk *desk)
{
    const lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    const lbx_box ours = make_box(desk, "orders", NULL);
    lbx_box_request request = {
        .space = "other", .name = "orders", .options = &options};
    struct names names = {.most = 99};
    lbx_list_request list = {
        .space = "other", .each = add_name, .context = &names};

    CHECK_STATUS(LBX_NOT_FOUND, run(desk, LBX_CALL_DESCRIBE, &request));
    CHECK_OK(run(desk, LBX_CALL_LIST, &list));
    CHECK_STR("", names.text);
    CHECK_OK(run(desk, LBX_CALL_CREATE, &request));
    CHECK(request.ret_box.uid != ours.uid);
    mail(desk, ours, "ours");
    receive_none(desk, request.ret_box);
}

void
promise_sends_get_ids_and_growing_sequences(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    const lbx_sent_letter first = mail(desk, box, "a");
    const lbx_sent_letter second = mail(desk, box, "b");
    struct taken letter = receive(desk, box, "a");
    lbx_sent_letter third;

    CHECK(first.id.text[0] != '\0');
    CHECK(strcmp(first.id.text, second.id.text) != 0);
    CHECK(second.sequence > first.sequence);
    CHECK_STR(first.id.text, letter.id);
    CHECK(letter.sequence == first.sequence);
    purge(desk, box);
    third = mail(desk, box, "c");
    CHECK(third.sequence > second.sequence);
}

void
promise_a_batch_is_sent_letter_by_letter(struct desk *desk)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    lbx_parcel parcels[3] = {parcel_of("a"), parcel_of("b"), parcel_of("c")};
    lbx_sent_letter sent[3];
    lbx_send_request request = {.parcels = parcels, .count = 3, .sent = sent};

    options.capacity_letters = 2;
    request.box = make_box(desk, "orders", &options);
    CHECK_STATUS(LBX_FULL, run(desk, LBX_CALL_SEND, &request));
    CHECK_OK(sent[0].status);
    CHECK_OK(sent[1].status);
    CHECK_STATUS(LBX_FULL, sent[2].status);
    receive(desk, request.box, "a");
    receive(desk, request.box, "b");
    receive_none(desk, request.box);
}

/* What is not in struct taken. */
static lbx_status
check_delivery(lbx_call *call, const lbx_delivery *delivery)
{
    const lbx_parcel *parcel = &delivery->parcel;
    int *seen = ((struct getting *)call)->context;

    CHECK_INT(5, parcel->body_bytes);
    CHECK(memcmp(parcel->body, "a\0b\0c", 5) == 0);
    CHECK_STR("shop.Order", parcel->type_name);
    CHECK_STR("{\"routes\":{}}", parcel->routes);
    CHECK_INT(2, parcel->attribute_count);
    CHECK_STR("lang", parcel->attributes[0].name);
    CHECK_INT(LBX_ATTRIBUTE_STRING, parcel->attributes[0].kind);
    CHECK_INT(2, parcel->attributes[0].size_bytes);
    CHECK(memcmp(parcel->attributes[0].value, "de", 2) == 0);
    CHECK_STR("price", parcel->attributes[1].name);
    CHECK_INT(LBX_ATTRIBUTE_NUMBER, parcel->attributes[1].kind);
    CHECK_STR("float", parcel->attributes[1].label);
    CHECK_STR("group", parcel->group);
    CHECK_STR("trace", parcel->trace);
    CHECK_STR("earlier", parcel->in_reply_to);
    CHECK(delivery->sent_ms > 0);
    ++*seen;
    return LBX_OK;
}

static void
finish_checked(lbx_call *call, lbx_status status)
{
    struct getting *mine = (struct getting *)call;

    mine->status = status;
    atomic_fetch_add(&mine->over, 1);
}

void
promise_a_letter_arrives_as_it_was_sent(struct desk *desk)
{
    static const lbx_call_sink checking = {finish_checked, check_delivery};
    const lbx_attribute attributes[2] = {
        {"lang", LBX_ATTRIBUTE_STRING, NULL, "de", 2},
        {"price", LBX_ATTRIBUTE_NUMBER, "float", "1.5", 3},
    };
    const lbx_parcel parcel = {
        .body = "a\0b\0c",
        .body_bytes = 5,
        .type_name = "shop.Order",
        .routes = "{\"routes\":{}}",
        .attributes = attributes,
        .attribute_count = 2,
        .group = "group",
        .trace = "trace",
        .in_reply_to = "earlier",
    };
    const lbx_box box = make_box(desk, "orders", NULL);
    int seen = 0;
    struct getting mine = {
        .request = {.box = box, .max_letters = 1, .lease_ns = LBX_SECOND},
        .context = &seen,
    };
    lbx_status status;

    send_parcel(desk, box, &parcel);
    lbx_call_init(&mine.call, &checking, LBX_CALL_RECEIVE, &mine.request);
    status = desk->store->ops->receive(desk->store, &mine.call, &mine.request);
    if (status == LBX_PENDING)
        status = end_wait(&mine);
    CHECK_OK(status);
    CHECK_INT(1, seen);
}

void
promise_a_full_box_refuses(struct desk *desk)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    struct taken letter;
    lbx_box box;

    options.capacity_letters = 1;
    box = make_box(desk, "orders", &options);
    mail(desk, box, "a");
    CHECK_STATUS(LBX_FULL, try_send(desk, box, "b"));
    letter = receive(desk, box, "a");
    CHECK_STATUS(LBX_FULL, try_send(desk, box, "b")); // leased is inside
    CHECK_OK(acknowledge(desk, box, &letter));
    mail(desk, box, "b");
    receive(desk, box, "b");
}

void
promise_a_token_sends_once(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    lbx_parcel parcel = parcel_of("a");
    lbx_sent_letter first;
    lbx_sent_letter second;

    parcel.token = "token";
    first = send_parcel(desk, box, &parcel);
    second = send_parcel(desk, box, &parcel);
    CHECK(!first.duplicate && second.duplicate);
    CHECK_STR(first.id.text, second.id.text);
    CHECK(first.sequence == second.sequence);
    receive(desk, box, "a");
    receive_none(desk, box);
}

void
promise_peeking_leases_nothing(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    lbx_box_counts counts;
    struct getting mine;

    if (!desk->store->ops->peek)
        return;
    mail(desk, box, "a");
    mail(desk, box, "b");
    receive(desk, box, "a");
    CHECK_OK(look_at(desk, box, 0, 10, &mine));
    CHECK_INT(2, mine.count); // also the leased one
    CHECK_STR("a", mine.letters[0].body);
    CHECK_STR("b", mine.letters[1].body);
    CHECK_INT(0, mine.letters[0].receipt_bytes);
    CHECK_OK(look_at(desk, box, mine.letters[1].sequence, 10, &mine));
    CHECK_INT(1, mine.count);
    CHECK_STR("b", mine.letters[0].body);
    counts = count(desk, box);
    CHECK_INT(1, counts.ready);
    CHECK_INT(1, counts.leased);
}

void
promise_a_purge_deletes_everything(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    lbx_parcel delayed = parcel_of("delayed");
    struct taken leased;
    lbx_box_counts counts;

    delayed.delay_ns = LBX_SECOND;
    mail(desk, box, "leased");
    mail(desk, box, "ready");
    send_parcel(desk, box, &delayed);
    leased = receive(desk, box, "leased");
    CHECK_INT(3, purge(desk, box));
    counts = count(desk, box);
    CHECK_INT(0, counts.ready + counts.leased + counts.delayed);
    CHECK_INT(0, counts.bytes);
    CHECK_STATUS(LBX_INVALID, acknowledge(desk, box, &leased));
    advance(desk, 60 * LBX_SECOND);
    receive_none(desk, box);
    CHECK_INT(0, purge(desk, box));
    mail(desk, box, "after");
    receive(desk, box, "after");
}

void
promise_a_deleted_box_is_closed(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    struct getting mine;
    struct taken leased;
    lbx_box again;

    mail(desk, box, "a");
    mail(desk, box, "b");
    leased = receive(desk, box, "a");
    CHECK_OK(delete_box(desk, box));
    CHECK_STATUS(LBX_NOT_FOUND, delete_box(desk, box));
    CHECK_STATUS(LBX_CLOSED, try_send(desk, box, "c"));
    CHECK_STATUS(LBX_CLOSED, receive_some(desk, box, 1, LBX_SECOND, &mine));
    again = make_box(desk, "orders", NULL);
    CHECK(again.uid != box.uid);
    receive_none(desk, again);
    CHECK_STATUS(LBX_INVALID, acknowledge(desk, again, &leased));
    CHECK_STATUS(LBX_CLOSED, try_send(desk, box, "d"));
    mail(desk, again, "e");
    receive(desk, again, "e");
}
