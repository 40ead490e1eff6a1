/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about boxes, and about what is sent to them. */
#include "contract.h"

#include <stdio.h>
#include <string.h>

PROMISE(a_box_is_created_once)
{
    lbx_box_options other = LBX_BOX_OPTIONS_INIT;
    lbx_box_request request = {.name = "orders", .options = &other};

    CHECK(make_box(trial, "orders", NULL).uid == box.uid);
    other.lease_ns = 7 * LBX_SECOND;
    CHECK_STATUS(LBX_EXISTS, run(trial, LBX_CALL_CREATE, &request));
    CHECK(make_box(trial, "others", &other).uid != box.uid);
    other.dead_letters = "nowhere";
    other.max_deliveries = 3;
    request.name = "third";
    CHECK_STATUS(LBX_NOT_FOUND, run(trial, LBX_CALL_CREATE, &request));
}

PROMISE(a_box_that_is_not_there_is_not_found)
{
    const lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    lbx_box_request request = {.name = "nowhere", .options = &options};

    CHECK_STATUS(LBX_NOT_FOUND, run(trial, LBX_CALL_DESCRIBE, &request));
    CHECK_STATUS(LBX_NOT_FOUND, run(trial, LBX_CALL_CONFIGURE, &request));
    CHECK_STATUS(LBX_NOT_FOUND, run(trial, LBX_CALL_DELETE, &request));
}

PROMISE(a_box_can_be_configured)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    lbx_box_options read = LBX_BOX_OPTIONS_INIT;
    char buffer[LBX_BOX_OPTIONS_BUFFER_BYTES];
    lbx_box_request change = {.box = box, .options = &options};
    lbx_box_request look = {
        .name = "orders", .buffer = buffer, .ret_options = &read};

    options.capacity_letters = 2;
    options.lease_ns = 5 * LBX_SECOND;
    CHECK_OK(run(trial, LBX_CALL_CONFIGURE, &change));
    CHECK_OK(run(trial, LBX_CALL_DESCRIBE, &look));
    CHECK(look.ret_box.uid == box.uid);
    CHECK_INT(2, read.capacity_letters);
    CHECK_INT(5 * LBX_SECOND, read.lease_ns);
    mail_each(trial, box, "ab");
    CHECK_STATUS(LBX_FULL, try_send(trial, box, "c"));
}

struct names {
    char text[256];
    int max;
    struct trial *trial; /* not NULL: each is described */
};

static bool
add_name(void *context, const char *name)
{
    struct names *names = context;

    strncat(names->text, name, sizeof(names->text) - strlen(names->text) - 1);
    strncat(names->text, " ", sizeof(names->text) - strlen(names->text) - 1);
    if (names->trial) {
        lbx_box_request request = {.name = name};

        // A store calls back with no lock of its own.
        CHECK_OK(run(names->trial, LBX_CALL_DESCRIBE, &request));
    }
    return --names->max > 0;
}

static void
check_list(struct trial *trial, const char *prefix, const char *after, int max,
           const char *expected)
{
    struct names names = {.max = max, .trial = trial};
    lbx_list_request request = {
        .prefix = prefix, .after = after, .each = add_name, .context = &names};

    CHECK_OK(run(trial, LBX_CALL_LIST, &request));
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

PROMISE(boxes_are_listed_in_order)
{
    int many = 0;
    lbx_list_request request = {
        .prefix = "many-", .each = count_name, .context = &many};

    make_box(trial, "b", NULL);
    make_box(trial, "a1", NULL);
    make_box(trial, "c", NULL);
    make_box(trial, "a2", NULL);
    check_list(trial, NULL, NULL, 99, "a1 a2 b c orders ");
    check_list(trial, "a", NULL, 99, "a1 a2 ");
    check_list(trial, NULL, "a2", 99, "b c orders ");
    check_list(trial, NULL, NULL, 3, "a1 a2 b ");
    for (int i = 0; i < 600; i++) {
        char name[32];

        snprintf(name, sizeof(name), "many-%04d", i);
        make_box(trial, name, NULL);
    }
    CHECK_OK(run(trial, LBX_CALL_LIST, &request));
    CHECK_INT(600, many);
}

PROMISE(spaces_do_not_see_each_other)
{
    const lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    lbx_box_request request = {
        .space = "other", .name = "orders", .options = &options};
    struct names names = {.max = 99};
    lbx_list_request list = {
        .space = "other", .each = add_name, .context = &names};

    CHECK_STATUS(LBX_NOT_FOUND, run(trial, LBX_CALL_DESCRIBE, &request));
    CHECK_OK(run(trial, LBX_CALL_LIST, &list));
    CHECK_STR("", names.text);
    CHECK_OK(run(trial, LBX_CALL_CREATE, &request));
    CHECK(request.ret_box.uid != box.uid);
    mail(trial, box, "ours");
    receive_none(trial, request.ret_box);
}

static void
check_spaces(struct trial *trial, const char *prefix, const char *after,
             int max, const char *expected)
{
    struct names names = {.max = max};
    lbx_list_request request = {.dead_letters = {LBX_LIST_SPACES},
                                .prefix = prefix,
                                .after = after,
                                .each = add_name,
                                .context = &names};

    CHECK_OK(run(trial, LBX_CALL_LIST, &request));
    CHECK_STR(expected, names.text);
}

/* A space is there as long as it has a box; that of programs has no name. */
PROMISE(spaces_are_listed_in_order)
{
    static const char *const spaces[] = {"2/eu", "1/us", "1/eu", "1"};
    const lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    lbx_box_request request = {.name = "orders", .options = &options};

    check_spaces(trial, NULL, NULL, 99, "");
    for (size_t i = 0; i < 4; i++) {
        request.space = spaces[i];
        request.name = "orders";
        CHECK_OK(run(trial, LBX_CALL_CREATE, &request));
        request.name = "second";
        CHECK_OK(run(trial, LBX_CALL_CREATE, &request));
    }
    check_spaces(trial, NULL, NULL, 99, "1 1/eu 1/us 2/eu ");
    check_spaces(trial, NULL, NULL, 2, "1 1/eu ");
    check_spaces(trial, "1/", NULL, 99, "1/eu 1/us ");
    check_spaces(trial, "1/", "1/eu", 99, "1/us ");
    check_spaces(trial, "1/", "1", 99, "1/eu 1/us ");
    check_spaces(trial, NULL, "1", 99, "1/eu 1/us 2/eu ");
    check_spaces(trial, "2", "3", 99, "");
    CHECK_OK(run(trial, LBX_CALL_DELETE, &request)); // 1, second
    check_spaces(trial, "1", NULL, 1, "1 ");
    request.name = "orders";
    CHECK_OK(run(trial, LBX_CALL_DELETE, &request));
    check_spaces(trial, "1", NULL, 1, "1/eu ");
}

PROMISE(sends_get_ids_and_growing_sequences)
{
    const lbx_sent_letter first = mail(trial, box, "a");
    const lbx_sent_letter second = mail(trial, box, "b");
    struct taken letter = receive(trial, box, "a");
    lbx_sent_letter third;

    CHECK(first.id.text[0] != '\0');
    CHECK(strcmp(first.id.text, second.id.text) != 0);
    CHECK(second.sequence > first.sequence);
    CHECK_STR(first.id.text, letter.id);
    CHECK(letter.sequence == first.sequence);
    purge(trial, box);
    third = mail(trial, box, "c");
    CHECK(third.sequence > second.sequence);
}

PROMISE(a_batch_is_sent_letter_by_letter)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    lbx_parcel parcels[3] = {parcel_of("a"), parcel_of("b"), parcel_of("c")};
    lbx_sent_letter sent[3];
    lbx_send_request request = {.parcels = parcels, .count = 3, .sent = sent};

    options.capacity_letters = 2;
    request.box = make_box(trial, "other", &options);
    CHECK_STATUS(LBX_FULL, run(trial, LBX_CALL_SEND, &request));
    CHECK_OK(sent[0].status);
    CHECK_OK(sent[1].status);
    CHECK_STATUS(LBX_FULL, sent[2].status);
    receive(trial, request.box, "a");
    receive(trial, request.box, "b");
    receive_none(trial, request.box);
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
    CHECK_INT(2, parcel->attributes[0].value_bytes);
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

PROMISE(a_letter_arrives_as_it_was_sent)
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
    int seen = 0;
    struct getting mine = {
        .request = {.box = box, .max_letters = 1, .lease_ns = LBX_SECOND},
        .context = &seen,
    };
    lbx_status status;

    send_parcel(trial, box, &parcel);
    lbx_call_init(&mine.call, &checking, LBX_CALL_RECEIVE, &mine.request);
    status =
        trial->store->ops->receive(trial->store, &mine.call, &mine.request);
    if (status == LBX_PENDING)
        status = end_wait(&mine);
    CHECK_OK(status);
    CHECK_INT(1, seen);
}

PROMISE(a_full_box_refuses)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    struct taken letter;

    options.capacity_letters = 1;
    box = make_box(trial, "other", &options);
    mail(trial, box, "a");
    CHECK_STATUS(LBX_FULL, try_send(trial, box, "b"));
    letter = receive(trial, box, "a");
    CHECK_STATUS(LBX_FULL, try_send(trial, box, "b")); // leased is inside
    CHECK_OK(acknowledge(trial, box, &letter));
    mail(trial, box, "b");
    receive(trial, box, "b");
}

PROMISE(a_token_sends_once)
{
    lbx_parcel parcel = parcel_of("a");
    lbx_sent_letter first;
    lbx_sent_letter second;

    parcel.token = "token";
    first = send_parcel(trial, box, &parcel);
    second = send_parcel(trial, box, &parcel);
    CHECK(!first.duplicate && second.duplicate);
    CHECK_STR(first.id.text, second.id.text);
    CHECK(first.sequence == second.sequence);
    receive(trial, box, "a");
    receive_none(trial, box);
}

PROMISE(peeking_leases_nothing)
{
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;
    struct getting mine;

    if (!trial->store->ops->peek)
        return;
    mail_each(trial, box, "ab");
    receive(trial, box, "a");
    CHECK_OK(peek(trial, box, 0, 10, &mine));
    CHECK_INT(2, mine.count); // also the leased one
    CHECK_STR("a", mine.letters[0].body);
    CHECK_STR("b", mine.letters[1].body);
    CHECK_INT(0, mine.letters[0].receipt_bytes);
    CHECK_OK(peek(trial, box, mine.letters[1].sequence, 10, &mine));
    CHECK_INT(1, mine.count);
    CHECK_STR("b", mine.letters[0].body);
    counts = count(trial, box);
    CHECK_INT(1, counts.ready);
    CHECK_INT(1, counts.leased);
}

PROMISE(a_peek_ends_when_it_has_shown_enough_bytes)
{
    struct getting mine;

    if (!trial->store->ops->peek)
        return;
    mail_each(trial, box, "abcd");
    CHECK_OK(peek_bytes(trial, box, 2, &mine));
    CHECK_INT(2, mine.count);
    CHECK_STR("b", mine.letters[1].body);
    CHECK_OK(peek_bytes(trial, box, 9, &mine));
    CHECK_INT(4, mine.count);
}

PROMISE(a_purge_deletes_everything)
{
    lbx_parcel delayed = parcel_of("delayed");
    struct taken leased;
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;

    delayed.delay_ns = LBX_SECOND;
    mail(trial, box, "leased");
    mail(trial, box, "ready");
    send_parcel(trial, box, &delayed);
    leased = receive(trial, box, "leased");
    CHECK_INT(3, purge(trial, box));
    counts = count(trial, box);
    CHECK_INT(0, counts.ready + counts.leased + counts.delayed);
    CHECK_INT(0, counts.bytes);
    CHECK_STATUS(LBX_INVALID, acknowledge(trial, box, &leased));
    advance(trial, 60 * LBX_SECOND);
    receive_none(trial, box);
    CHECK_INT(0, purge(trial, box));
    mail(trial, box, "after");
    receive(trial, box, "after");
}

PROMISE(a_deleted_box_is_closed)
{
    struct getting mine;
    struct taken leased;
    lbx_box again;

    mail_each(trial, box, "ab");
    leased = receive(trial, box, "a");
    CHECK_OK(delete_box(trial, box));
    CHECK_STATUS(LBX_NOT_FOUND, delete_box(trial, box));
    CHECK_STATUS(LBX_CLOSED, try_send(trial, box, "c"));
    CHECK_STATUS(LBX_CLOSED, receive_some(trial, box, 1, LBX_SECOND, &mine));
    again = make_box(trial, "orders", NULL);
    CHECK(again.uid != box.uid);
    receive_none(trial, again);
    CHECK_STATUS(LBX_INVALID, acknowledge(trial, again, &leased));
    CHECK_STATUS(LBX_CLOSED, try_send(trial, box, "d"));
    mail(trial, again, "e");
    receive(trial, again, "e");
}
