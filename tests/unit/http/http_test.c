/* SPDX-License-Identifier: Apache-2.0 */
/* Requests and answers that are as they should be. */
#include "http/fixture.h"

#include <stdio.h>
#include <string.h>

TEST(request_is_answered)
{
    struct rig rig;
    struct client client;
    struct client_answer answer;

    rig_init(&rig);
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, "GET /echo?a=b HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(client_read(&client, &answer));
    CHECK_INT(200, answer.status);
    CHECK_STR("GET /echo?a=b ", answer.body);
    CHECK(strstr(answer.head, "\r\nDate: ") != NULL);
    CHECK(strstr(answer.head, " GMT\r\n") != NULL);
    CHECK(strstr(answer.head, "\r\nContent-Type: text/plain\r\n") != NULL);
    CHECK(strstr(answer.head, "\r\nConnection:") == NULL);
    client_send(&client, "POST /echo HTTP/1.1\r\nHost: x\r\n"
                         "Content-Length: 5\r\n\r\nhello");
    client_expect_body(&client, "POST /echo hello");
    client_close(&client);
    rig_close(&rig);
    CHECK_INT(2, atomic_load(&rig.written));
}

TEST(date_of_answers_moves_on)
{
    struct rig rig;
    struct client client;
    struct client_answer answer;
    char first[64] = "", *date;

    rig_init(&rig);
    rig_open(&rig);
    client_open(&client, &rig);
    do { // the time limit of the test ends it, if nothing does
        client_send(&client, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
        CHECK(client_read(&client, &answer));
        date = strstr(answer.head, "\r\nDate: ");
        CHECK(date != NULL && strlen(date) >= 37);
        if (!first[0])
            (void)snprintf(first, sizeof(first), "%.37s", date);
        test_pause(2000);
    } while (strncmp(first, date, 37) == 0);
    client_close(&client);
    rig_close(&rig);
}

/* A port that is attacked must not fill a disk. */
TEST(lines_of_a_log_are_limited)
{
    static const char hello[] = "\x16\x03\x01\x02";
    struct rig rig;
    struct client client;
    const int64_t began_ns = lbx_clock_now(NULL);
    int64_t seconds;
    int i;

    rig_init(&rig);
    rig_open(&rig);
    for (i = 0; i < 100; i++) {
        client_open(&client, &rig);
        client_send(&client, hello);
        client_expect_close(&client);
        client_close(&client);
    }
    seconds = (lbx_clock_now(NULL) - began_ns) / LBX_SECOND;
    CHECK(atomic_load(&rig.lines) >= 10);
    CHECK(atomic_load(&rig.lines) <= 10 * (seconds + 2));
    rig_close(&rig);
}

TEST(answer_may_come_later_from_another_thread)
{
    struct rig rig;
    struct client client;
    int i;

    rig_init(&rig);
    rig_open(&rig);
    client_open(&client, &rig);
    for (i = 0; i < 20; i++) {
        client_send(&client, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
        client_expect_body(&client, "GET /later ");
    }
    client_close(&client);
    rig_close(&rig);
}

TEST(head_has_no_body_but_its_length)
{
    struct rig rig;
    struct client client;
    struct client_answer answer;

    rig_init(&rig);
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, "HEAD /echo HTTP/1.1\r\nHost: x\r\n\r\n"
                         "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(client_read_head(&client, &answer));
    CHECK_INT(200, answer.status);
    CHECK(strstr(answer.head, "\r\nContent-Length: 11\r\n") != NULL);
    client_expect_body(&client, "GET /echo ");
    client_close(&client);
    rig_close(&rig);
}

TEST(old_clients_get_one_answer_unless_they_ask_for_more)
{
    struct rig rig;
    struct client client;
    struct client_answer answer;

    rig_init(&rig);
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client,
                "GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    CHECK(client_read(&client, &answer));
    CHECK(strstr(answer.head, "\r\nConnection: keep-alive\r\n") != NULL);
    client_send(&client, "GET /echo HTTP/1.0\r\n\r\n");
    CHECK(client_read(&client, &answer));
    CHECK(strstr(answer.head, "\r\nConnection: close\r\n") != NULL);
    client_expect_close(&client);
    client_close(&client);
    rig_close(&rig);
}

/* CONN-3 */
TEST(nothing_is_read_after_the_last_request)
{
    struct rig rig;
    struct client client;
    struct client_answer answer;

    rig_init(&rig);
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, "GET /echo HTTP/1.1\r\nHost: x\r\n"
                         "Connection: keep-alive, close\r\n\r\n"
                         "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(client_read(&client, &answer));
    CHECK(strstr(answer.head, "\r\nConnection: close\r\n") != NULL);
    client_expect_close(&client);
    client_close(&client);
    client_open(&client, &rig);
    client_send(&client, "GET /close HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(client_read(&client, &answer));
    CHECK(strstr(answer.head, "\r\nConnection: close\r\n") != NULL);
    client_expect_close(&client);
    client_close(&client);
    rig_close(&rig);
    CHECK_INT(2, atomic_load(&rig.handled));
}

TEST(continue_is_sent_when_the_head_was_accepted)
{
    struct rig rig;
    struct client client;

    rig_init(&rig);
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, "POST /echo HTTP/1.1\r\nHost: x\r\n"
                         "Expect: 100-Continue\r\nContent-Length: 5\r\n\r\n");
    client_expect(&client, 100);
    client_send(&client, "hello");
    client_expect_body(&client, "POST /echo hello");
    // A client that does not wait gets no 100.
    client_send(&client, "POST /echo HTTP/1.1\r\nHost: x\r\n"
                         "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n"
                         "hello");
    client_expect_body(&client, "POST /echo hello");
    client_close(&client);
    rig_close(&rig);
}

/* The 100 of the second request must not be read as one of the first. */
TEST(continue_waits_for_the_answers_before_it)
{
    struct rig rig;
    struct client client;

    rig_init(&rig);
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, "GET /park HTTP/1.1\r\nHost: x\r\n\r\n"
                         "POST /echo HTTP/1.1\r\nHost: x\r\n"
                         "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    EVENTUALLY(atomic_load(&rig.parked_now) == 1);
    rig_release(&rig, false);
    client_expect_body(&client, "GET /park ");
    client_expect(&client, 100);
    client_send(&client, "hello");
    client_expect_body(&client, "POST /echo hello");
    client_close(&client);
    rig_close(&rig);
}

static void
check_fields(void *context, lbx__http_exchange *exchange)
{
    const lbx__http_request *request = &exchange->request;
    lbx__http_field more = {{"X-More", 6}, {"yes", 3}};
    lbx__http_reply reply = {.status = 299, .fields = &more, .field_count = 1};

    (void)context;
    CHECK(request->method == LBX__HTTP_POST);
    CHECK(lbx__slice_is(request->host, "h:1"));
    CHECK(lbx__slice_is(request->path, "/a"));
    CHECK(lbx__slice_is(request->query, ""));
    CHECK(lbx__slice_is(lbx__http_field_of(request, "x-one"), "a b"));
    CHECK(lbx__slice_is(lbx__http_field_of(request, "x-two"), ""));
    CHECK(lbx__http_field_of(request, "x-three").bytes == NULL);
    CHECK(lbx__slice_is(request->fields[0].name, "host"));
    CHECK(lbx__slice_is(
        lbx__http_field_of(request, "abcdefghijklmnopqrstuvwxyz"), "1"));
    CHECK_INT(5, request->field_count);
    CHECK(strncmp(request->peer, "127.0.0.1:", 10) == 0);
    CHECK(!request->is_secure);
    lbx__http_answer(exchange, &reply);
}

TEST(handler_sees_fields_and_may_add_some)
{
    struct rig rig;
    struct client client;
    struct client_answer answer;

    rig_init(&rig);
    rig.options.handler =
        (lbx__http_handler){.handle = check_fields, .context = &rig};
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, "POST /a? HTTP/1.1\r\nHost: h:1\r\n"
                         "X-ONE:  a b \t\r\nx-Two:\r\nX-One: c\r\n"
                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ:1\r\n\r\n");
    CHECK(client_read(&client, &answer));
    CHECK_INT(299, answer.status);
    CHECK(strstr(answer.head, "\r\nX-More: yes\r\n") != NULL);
    CHECK(strstr(answer.head, "\r\nContent-Length: 0\r\n") != NULL);
    client_close(&client);
    rig_close(&rig);
}

TEST(counts_are_kept)
{
    struct rig rig;
    struct client client;
    lbx__http_counts counts;

    rig_init(&rig);
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    client_expect(&client, 200);
    client_send(&client, "GET /echo\r\n\r\n");
    client_expect(&client, 400);
    client_expect_close(&client);
    lbx__http_count(rig.http, &counts);
    CHECK_INT(1, counts.accepted);
    CHECK_INT(1, counts.requests);
    CHECK_INT(1, counts.rejected);
    CHECK_INT(0, counts.refused);
    CHECK_INT(44, counts.bytes_in);
    CHECK(counts.bytes_out > 200);
    client_close(&client);
    EVENTUALLY((lbx__http_count(rig.http, &counts), counts.connections == 0));
    rig_close(&rig);
}
