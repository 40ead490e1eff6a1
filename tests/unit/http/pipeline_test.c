/* SPDX-License-Identifier: Apache-2.0 */
/* Several requests of one connection, and clients that do not read. */
#include "http/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static void
send_numbered(struct client *client, const char *path, int from, int to)
{
    char *bytes = malloc((size_t)(to - from) * 64), *at = bytes;
    int i;

    CHECK(bytes != NULL);
    for (i = from; i < to; i++)
        at +=
            snprintf(at, 64, "GET %s?%d HTTP/1.1\r\nHost: x\r\n\r\n", path, i);
    client_send_bytes(client, bytes, (size_t)(at - bytes));
    free(bytes);
}

static void
expect_numbered(struct client *client, const char *path, int from, int to)
{
    char body[64];
    int i;

    for (i = from; i < to; i++) {
        (void)snprintf(body, sizeof(body), "GET %s?%d ", path, i);
        client_expect_body(client, body);
    }
}

TEST(a_thousand_pipelined_requests_are_answered_in_order)
{
    struct rig rig;
    struct client client;

    rig_init(&rig);
    rig_open(&rig);
    client_open(&client, &rig);
    send_numbered(&client, "/echo", 0, 1000);
    expect_numbered(&client, "/echo", 0, 1000);
    client_close(&client);
    rig_close(&rig);
    CHECK_INT(1000, atomic_load(&rig.handled));
    CHECK_INT(1000, atomic_load(&rig.written));
}

/* PARSE-1: a body ends where it says; what follows is the next request. */
TEST(bodies_of_pipelined_requests_end_where_they_say)
{
    static const char requests[] =
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\none"
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        "3\r\ntwo\r\n0\r\nX: y\r\n\r\n"
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nthree";
    struct rig rig;
    struct client client;
    int i;

    rig_init(&rig);
    rig_open(&rig);
    client_open(&client, &rig);
    for (i = 0; i < 3; i++)
        client_send(&client, requests);
    for (i = 0; i < 3; i++) {
        client_expect_body(&client, "POST /echo one");
        client_expect_body(&client, "POST /echo two");
        client_expect_body(&client, "POST /echo three");
    }
    client_close(&client);
    rig_close(&rig);
}

TEST(answers_from_other_threads_keep_the_order)
{
    struct rig rig;
    struct client client;

    rig_init(&rig);
    rig_open(&rig);
    client_open(&client, &rig);
    send_numbered(&client, "/later", 0, 100);
    expect_numbered(&client, "/later", 0, 100);
    client_close(&client);
    rig_close(&rig);
}

/* The newest is answered first, and must wait for the oldest. */
TEST(answers_wait_for_those_before_them)
{
    struct rig rig;
    struct client client;

    rig_init(&rig);
    rig_open(&rig);
    client_open(&client, &rig);
    send_numbered(&client, "/park", 0, 5);
    send_numbered(&client, "/echo", 5, 7);
    EVENTUALLY(atomic_load(&rig.handled) == 7);
    CHECK_INT(0, atomic_load(&rig.written));
    rig_release(&rig, true);
    expect_numbered(&client, "/park", 0, 5);
    expect_numbered(&client, "/echo", 5, 7);
    client_close(&client);
    rig_close(&rig);
    CHECK_INT(7, atomic_load(&rig.written));
}

/* CONN-2: the 17th request is not begun, however many are sent. */
TEST(requests_of_a_connection_are_bounded)
{
    struct rig rig;
    struct client client, other;

    rig_init(&rig);
    rig_open(&rig);
    client_open(&client, &rig);
    send_numbered(&client, "/park", 0, 40);
    EVENTUALLY(atomic_load(&rig.parked_now) == 16);
    // A round of the loop for another client, during which nothing is begun.
    client_open(&other, &rig);
    client_send(&other, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    client_expect(&other, 200);
    client_close(&other);
    CHECK_INT(16, atomic_load(&rig.parked_now));
    rig_release(&rig, false);
    EVENTUALLY(atomic_load(&rig.parked_now) == 16);
    rig_release(&rig, true);
    EVENTUALLY(atomic_load(&rig.parked_now) == 8);
    rig_release(&rig, true);
    expect_numbered(&client, "/park", 0, 40);
    client_close(&client);
    rig_close(&rig);
}

/* An error behind requests that are good is answered in its turn. */
TEST(refusal_waits_for_the_answers_before_it)
{
    struct rig rig;
    struct client client;

    rig_init(&rig);
    rig_open(&rig);
    client_open(&client, &rig);
    send_numbered(&client, "/park", 0, 2);
    client_send(&client, "NONSENSE\r\n\r\n");
    EVENTUALLY(atomic_load(&rig.parked_now) == 2);
    rig_release(&rig, true);
    expect_numbered(&client, "/park", 0, 2);
    client_expect(&client, 400);
    client_expect_close(&client);
    client_close(&client);
    rig_close(&rig);
}

/* A handler that closes ends the requests behind it too. */
TEST(requests_behind_a_close_are_gone)
{
    struct rig rig;
    struct client client;

    rig_init(&rig);
    rig.answers_gone = true;
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, "GET /close HTTP/1.1\r\nHost: x\r\n\r\n"
                         "GET /park HTTP/1.1\r\nHost: x\r\n\r\n"
                         "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    client_expect_body(&client, "GET /close ");
    client_expect_close(&client);
    client_close(&client);
    rig_close(&rig);
    CHECK_INT(1, atomic_load(&rig.gone));
    CHECK_INT(1, atomic_load(&rig.written));
    CHECK_INT(2, atomic_load(&rig.written_closed));
}

/* ---- Clients that do not read ---- */

static size_t
read_all(struct client *client, size_t want)
{
    static char bytes[1 << 16];
    size_t all = 0;

    while (all < want) {
        ssize_t got = recv(client->fd, bytes, sizeof(bytes), 0);

        if (got <= 0)
            break;
        all += (size_t)got;
    }
    return all;
}

TEST(client_that_does_not_read_is_not_read)
{
    static const char request[] =
        "GET /big?1000000 HTTP/1.1\r\nHost: x\r\n\r\n";
    struct rig rig;
    struct client client;
    int handled, i;

    rig_init(&rig);
    rig_open(&rig);
    client_open(&client, &rig);
    for (i = 0; i < 1000; i++)
        client_send(&client, request);
    EVENTUALLY(atomic_load(&rig.handled) >= 1);
    // Until the kernel is full, some may be begun; then none.
    handled = atomic_load(&rig.handled);
    CHECK(handled < 200);
    CHECK(read_all(&client, 30 * 1000 * 1000) >= 30 * 1000 * 1000);
    CHECK(atomic_load(&rig.handled) < 200);
    client_reset(&client);
    rig_close(&rig);
    CHECK_INT(atomic_load(&rig.handled), atomic_load(&rig.written) +
                                             atomic_load(&rig.written_closed) +
                                             atomic_load(&rig.written_unknown));
}

TEST(large_answers_arrive_whole)
{
    struct rig rig;
    struct client client;
    size_t size = 5 * 1000 * 1000;

    rig_init(&rig);
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, "GET /big?5000000 HTTP/1.0\r\n\r\n");
    size = read_all(&client, SIZE_MAX);
    CHECK(size > 5 * 1000 * 1000 && size < 5 * 1000 * 1000 + 300);
    client_close(&client);
    rig_close(&rig);
    CHECK_INT(1, atomic_load(&rig.written));
}

/* EXCH-3: some bytes were written, so it is not known whether it arrived. */
TEST(write_deadline_cuts_a_client_that_does_not_read)
{
    struct rig rig;
    struct client client;

    rig_init(&rig);
    rig.options.limits.write_ns = 50 * LBX_MS;
    rig_open(&rig);
    client_open(&client, &rig);
    send_numbered(&client, "/park", 0, 1);
    client_send(&client, "GET /big?50000000 HTTP/1.1\r\nHost: x\r\n\r\n");
    send_numbered(&client, "/park", 2, 3);
    EVENTUALLY(atomic_load(&rig.handled) == 3);
    rig_release(&rig, true);
    EVENTUALLY(atomic_load(&rig.written_unknown) == 1);
    EVENTUALLY(atomic_load(&rig.written_closed) == 1);
    CHECK_INT(1, atomic_load(&rig.written));
    client_close(&client);
    rig_close(&rig);
}
