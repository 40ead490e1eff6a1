/* SPDX-License-Identifier: Apache-2.0 */
/* What is refused at the head of a request, and how much is held at once. */
#include "http/fixture.h"
#include "http/rates.h"

#include <stdio.h>
#include <string.h>

enum {
    LARGE = 40000 /* bytes: less than a read */
};

struct asked {
    struct rig rig; /* first: the context of the rig's handler */
    atomic_int refusals[4];
    lbx__http_handler inner;
};

/* Notes why a request has no body, and answers as the rig does. */
static void
note_refusal(void *context, lbx__http_exchange *exchange)
{
    struct asked *asked = context;
    lbx__http_refusal refusal = exchange->request.refusal;

    CHECK(refusal == LBX__HTTP_ACCEPTED || exchange->request.body.size == 0);
    atomic_fetch_add(&asked->refusals[refusal], 1);
    asked->inner.handle(&asked->rig, exchange);
}

/* A body is wanted at every path but /no. */
static bool
wants_body(void *context, const lbx__http_request *request)
{
    (void)context;
    return !lbx__slice_is(request->path, "/no");
}

static void
asked_init(struct asked *asked)
{
    memset(asked, 0, sizeof(*asked));
    rig_init(&asked->rig);
    asked->inner = asked->rig.options.handler;
    asked->rig.options.handler.handle = note_refusal;
    asked->rig.options.handler.wants_body = wants_body;
}

static uint64_t
held_bytes(struct asked *asked)
{
    lbx__http_counts counts;

    rig_counts(&asked->rig, &counts);
    return counts.held_bytes;
}

static void
send_large(struct client *client, const char *path, size_t sent)
{
    static char body[LARGE];
    char head[128];

    memset(body, 'b', sizeof(body));
    (void)snprintf(head, sizeof(head),
                   "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n",
                   path, LARGE);
    client_send(client, head);
    client_send_bytes(client, body, sent);
}

/* The answer comes though not one byte of the body was sent, and nothing that
 * follows is taken for a request. */
TEST(unwanted_body_is_not_read)
{
    static const char *const heads[] = {
        "POST /no HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n",
        "POST /no HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST /no HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n"
        "Expect: 100-continue\r\n\r\n",
        "POST /no HTTP/1.1\r\nHost: x\r\nContent-Length: 34\r\n\r\n"
        "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n..",
    };
    struct asked asked;
    struct client client;

    asked_init(&asked);
    rig_open(&asked.rig);
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        client_open(&client, &asked.rig);
        client_send(&client, heads[i]);
        client_expect_body(&client, "POST /no ");
        client_expect_close(&client);
        client_close(&client);
    }
    CHECK_INT(4, atomic_load(&asked.refusals[LBX__HTTP_UNWANTED]));
    CHECK_INT(4, atomic_load(&asked.rig.handled));
    rig_close(&asked.rig);
}

/* Without a body there is nothing to refuse, and the connection goes on. */
TEST(request_without_a_body_is_not_asked_about)
{
    struct asked asked;
    struct client client;

    asked_init(&asked);
    rig_open(&asked.rig);
    client_open(&client, &asked.rig);
    client_send(&client, "GET /no HTTP/1.1\r\nHost: x\r\n\r\n"
                         "POST /echo HTTP/1.1\r\nHost: x\r\n"
                         "Content-Length: 1\r\n\r\na");
    client_expect_body(&client, "GET /no ");
    client_expect_body(&client, "POST /echo a");
    CHECK_INT(2, atomic_load(&asked.refusals[LBX__HTTP_ACCEPTED]));
    client_close(&client);
    rig_close(&asked.rig);
}

/* BUDGET-1: heads, bodies and answers count, and nothing is left at the end. */
TEST(what_is_held_is_counted)
{
    struct asked asked;
    struct client clients[3];

    asked_init(&asked);
    rig_open(&asked.rig);
    for (int i = 0; i < 3; i++)
        client_open(&clients[i], &asked.rig);
    client_send(&clients[0], "GET /echo HTTP/1.1\r\nX: "); // half a head
    EVENTUALLY(held_bytes(&asked) > 0);
    send_large(&clients[1], "/echo", LARGE / 2); // half a body
    EVENTUALLY(held_bytes(&asked) >= LARGE / 2);
    send_large(&clients[2], "/park", LARGE); // no answer yet
    EVENTUALLY(atomic_load(&asked.rig.parked_now) == 1);
    CHECK(held_bytes(&asked) >= LARGE + LARGE / 2);
    rig_release(&asked.rig, false);
    client_expect(&clients[2], 200);
    for (int i = 0; i < 3; i++)
        client_close(&clients[i]);
    EVENTUALLY(held_bytes(&asked) == 0);
    rig_close(&asked.rig);
}

/* BUDGET-2, and then it goes on. */
TEST(spent_budget_refuses_bodies_and_requests)
{
    struct asked asked;
    struct client holder, growing, other;

    asked_init(&asked);
    asked.rig.options.limits.max_held_bytes = LARGE;
    rig_open(&asked.rig);
    client_open(&holder, &asked.rig);
    client_open(&growing, &asked.rig);
    client_open(&other, &asked.rig);
    send_large(&growing, "/echo", 100);
    EVENTUALLY(held_bytes(&asked) > 100);
    client_send(&holder, "GET /big?60000 HTTP/1.1\r\nHost: x\r\n\r\n");
    // An answer that nobody reads: its budget is spent with the first.
    for (int i = 0; i < 15; i++)
        client_send(&holder, "GET /big?9000000 HTTP/1.1\r\nHost: x\r\n\r\n");
    EVENTUALLY(held_bytes(&asked) > LARGE);
    client_send(&growing, "b");
    client_expect_body(&growing, "POST /echo ");
    client_expect_close(&growing);
    client_send(&other, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    client_expect_body(&other, "GET /echo ");
    CHECK(atomic_load(&asked.refusals[LBX__HTTP_NO_SPACE]) >= 2);
    client_reset(&holder);
    EVENTUALLY(held_bytes(&asked) == 0);
    // Without a body that was not read, the connection has stayed.
    client_send(&other, "POST /echo HTTP/1.1\r\nHost: x\r\n"
                        "Content-Length: 1\r\n\r\na");
    client_expect_body(&other, "POST /echo a");
    client_close(&growing);
    client_close(&other);
    rig_close(&asked.rig);
}

/* A head that is held while the budget is spent. */
TEST(spent_budget_refuses_half_a_head)
{
    struct asked asked;
    struct client holder, client;

    asked_init(&asked);
    asked.rig.options.limits.max_held_bytes = 1; // one request spends it
    rig_open(&asked.rig);
    client_open(&holder, &asked.rig);
    client_send(&holder, "GET /park HTTP/1.1\r\nHost: x\r\n\r\n");
    EVENTUALLY(atomic_load(&asked.rig.parked_now) == 1);
    client_open(&client, &asked.rig);
    client_send(&client, "GET /echo HTTP/1.1\r\nX: ");
    client_expect(&client, 503);
    client_close(&client);
    rig_release(&asked.rig, false);
    client_close(&holder);
    rig_close(&asked.rig);
}

TEST(requests_that_come_too_often_are_refused)
{
    struct asked asked;
    struct client client;
    struct client_answer answer;

    asked_init(&asked);
    asked.rig.options.limits.max_requests_per_second = 5;
    rig_open(&asked.rig);
    client_open(&client, &asked.rig);
    for (int i = 0; i < 20; i++) {
        client_send(&client, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
        CHECK(client_read(&client, &answer));
    }
    // On a slow machine more than five are within the limit.
    CHECK(atomic_load(&asked.refusals[LBX__HTTP_ACCEPTED]) >= 5);
    CHECK_INT(20, atomic_load(&asked.refusals[LBX__HTTP_ACCEPTED]) +
                      atomic_load(&asked.refusals[LBX__HTTP_TOO_OFTEN]));
    client_close(&client);
    rig_close(&asked.rig);
}

/* ---- Rates, with times that are given ---- */

TEST(rate_is_a_second_at_once_and_then_the_limit)
{
    TORTURE(memory, allocator);
    lbx__rates rates;
    int64_t now = 1000 * LBX_SECOND;
    int taken = 0;

    CHECK_OK(lbx__rates_init(&rates, &allocator, 10));
    for (int i = 0; i < 100; i++)
        taken += lbx__rates_take(&rates, 1, now);
    CHECK_INT(10, taken);
    CHECK(lbx__rates_take(&rates, 2, now)); // another address
    CHECK(lbx__rates_take(&rates, 0, now)); // not counted
    for (int i = 0; i < 100; i++)
        taken += lbx__rates_take(&rates, 1, now + i * LBX_SECOND / 100);
    CHECK_INT(10 + 9, taken);
    taken = 0;
    for (int i = 0; i < 100; i++)
        taken += lbx__rates_take(&rates, 1, now + 60 * LBX_SECOND);
    CHECK_INT(10, taken); // what was not used does not add up
    lbx__rates_fini(&rates);
    CHECK_INT(0, memory.live_bytes);
}

/* RATES-1 */
TEST(many_addresses_take_no_more_memory_and_refuse_none)
{
    TORTURE(memory, allocator);
    lbx__rates rates;
    size_t bytes;

    CHECK_OK(lbx__rates_init(&rates, &allocator, 1));
    bytes = (size_t)memory.live_bytes;
    for (uint64_t key = 1; key <= 100000; key++)
        CHECK(lbx__rates_take(&rates, key, LBX_SECOND));
    CHECK_INT(bytes, memory.live_bytes);
    CHECK(!lbx__rates_take(&rates, 100000, LBX_SECOND));
    lbx__rates_fini(&rates);
}

TEST(no_rate_is_no_limit_and_no_memory)
{
    TORTURE(memory, allocator);
    lbx__rates rates;

    CHECK_OK(lbx__rates_init(&rates, &allocator, 0));
    CHECK_INT(0, memory.live_bytes);
    for (int i = 0; i < 1000; i++)
        CHECK(lbx__rates_take(&rates, 1, LBX_SECOND));
    lbx__rates_fini(&rates);
}
