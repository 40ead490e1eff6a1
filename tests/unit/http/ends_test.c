/* SPDX-License-Identifier: Apache-2.0 */
/* Clients that leave, deadlines, limits of connections, stop and destroy. */
#include "http/fixture.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define GET_PARK "GET /park HTTP/1.1\r\nHost: x\r\n\r\n"
#define GET_ECHO "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n"

/* EXCH-2, EXCH-3: parks, lets the client leave, and answers in vain. */
static void
check_gone(void (*leave)(struct client *client), bool answers_inside,
           int requests)
{
    struct rig rig;
    struct client client;
    int i;

    rig_init(&rig);
    rig.answers_gone = answers_inside;
    rig_open(&rig);
    client_open(&client, &rig);
    for (i = 0; i < requests; i++)
        client_send(&client, GET_PARK);
    EVENTUALLY(atomic_load(&rig.parked_now) == (requests < 16 ? requests : 16));
    requests = atomic_load(&rig.parked_now);
    leave(&client);
    EVENTUALLY(atomic_load(&rig.gone) == requests);
    if (!answers_inside) {
        CHECK_INT(0, atomic_load(&rig.written_closed));
        rig_release(&rig, false);
    }
    EVENTUALLY(atomic_load(&rig.written_closed) == requests);
    rig_close(&rig);
    CHECK_INT(requests, atomic_load(&rig.gone));
    CHECK_INT(requests, atomic_load(&rig.written_closed));
    CHECK_INT(0, atomic_load(&rig.written));
}

TEST(client_that_closes_while_parked_is_gone)
{
    check_gone(client_close, false, 1);
    check_gone(client_close, true, 3);
}

TEST(client_that_resets_while_parked_is_gone)
{
    check_gone(client_reset, false, 1);
    check_gone(client_reset, true, 3);
}

/* The loop has not noticed it yet when the answer is given. */
static void
check_left(void (*leave)(struct client *), bool needs_client)
{
    struct client client;
    struct rig rig;

    rig_init(&rig);
    rig.needs_client = needs_client;
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, GET_PARK);
    EVENTUALLY(atomic_load(&rig.parked_now) == 1);
    rig_release_after(&rig, leave, &client);
    EVENTUALLY(atomic_load(&rig.written) + atomic_load(&rig.written_closed) ==
               1);
    rig_close(&rig);
    CHECK_INT(needs_client, atomic_load(&rig.written_closed));
    CHECK_INT(0, atomic_load(&rig.gone));
}

TEST(answer_that_needs_its_client_is_not_written_to_one_that_has_left)
{
    check_left(client_close, true);
    check_left(client_reset, true);
    check_left(client_close, false); // the kernel takes the bytes
}

/* STREAM-1: also while the connection is not read, as it has sent too much. */
TEST(client_that_leaves_while_it_is_not_read_is_gone)
{
    check_gone(client_close, true, 40);
    check_gone(client_reset, true, 40);
}

/* CONN-4 */
TEST(half_closed_client_is_gone_if_it_has_to_wait)
{
    struct rig rig;
    struct client client;

    rig_init(&rig);
    rig.answers_gone = true;
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, GET_ECHO GET_PARK GET_ECHO);
    CHECK(shutdown(client.fd, SHUT_WR) == 0);
    client_expect_body(&client, "GET /echo ");
    client_expect_close(&client);
    client_close(&client);
    EVENTUALLY(atomic_load(&rig.gone) == 1);
    // One that is answered at once gets its answer.
    client_open(&client, &rig);
    client_send(&client, GET_ECHO);
    CHECK(shutdown(client.fd, SHUT_WR) == 0);
    client_expect_body(&client, "GET /echo ");
    client_expect_close(&client);
    client_close(&client);
    rig_close(&rig);
    CHECK_INT(2, atomic_load(&rig.written));
    CHECK_INT(2, atomic_load(&rig.written_closed));
}

/* STREAM-1: without a deadline, only the loss ends the connection. */
TEST(half_closed_client_that_resets_is_cut_off)
{
    struct rig rig;
    struct client client;

    rig_init(&rig);
    rig.options.limits.write_ns = 0;
    rig.answers_gone = true;
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client,
                "GET /big?50000000 HTTP/1.1\r\nHost: x\r\n\r\n" GET_PARK);
    CHECK_INT(1, (int)recv(client.fd, client.bytes, 1, 0));
    EVENTUALLY(atomic_load(&rig.parked_now) == 1);
    CHECK(shutdown(client.fd, SHUT_WR) == 0);
    EVENTUALLY(atomic_load(&rig.gone) == 1); // its end was noticed
    client_reset(&client);
    EVENTUALLY(atomic_load(&rig.written_unknown) == 1);
    rig_close(&rig);
}

TEST(request_without_its_end_has_no_effect)
{
    struct rig rig;
    struct client client;

    rig_init(&rig);
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, "POST /echo HTTP/1.1\r\nHost: x\r\n"
                         "Content-Length: 10\r\n\r\nhello");
    CHECK(shutdown(client.fd, SHUT_WR) == 0);
    client_expect_close(&client);
    client_close(&client);
    rig_close(&rig);
    CHECK_INT(0, atomic_load(&rig.handled));
}

/* ---- Deadlines: the client waits for the close, however long it takes ---- */

TEST(slow_head_is_refused)
{
    struct rig rig;
    struct client client;

    rig_init(&rig);
    rig.options.limits.head_ns = 30 * LBX_MS;
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, "GET /echo HTTP/1.1\r\nHo");
    client_expect(&client, 408);
    client_expect_close(&client);
    client_close(&client);
    rig_close(&rig);
}

/* Bytes that come do not move the deadline. */
TEST(dripping_head_is_refused)
{
    struct rig rig;
    struct client client;
    lbx__http_counts counts;
    int i;

    rig_init(&rig);
    rig.options.limits.head_ns = 100 * LBX_MS;
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, "GET /echo HTTP/1.1\r\nX: ");
    for (i = 0; i < 30000; i++) {
        rig_counts(&rig, &counts);
        if (counts.rejected > 0)
            break;
        client_send(&client, "x");
        test_pause(2000);
    }
    CHECK(counts.rejected > 0);
    client_expect(&client, 408);
    client_close(&client);
    rig_close(&rig);
    CHECK_INT(0, atomic_load(&rig.handled));
}

TEST(slow_body_is_refused)
{
    struct rig rig;
    struct client client;

    rig_init(&rig);
    rig.options.limits.head_ns = 40 * LBX_MS;
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, "POST /echo HTTP/1.1\r\nHost: x\r\n"
                         "Content-Length: 1000\r\n\r\nhello");
    client_expect(&client, 408);
    client_expect_close(&client);
    client_close(&client);
    rig_close(&rig);
}

/* At a byte a second, 40,000 bytes last for hours. */
TEST(body_that_keeps_the_rate_is_read)
{
    struct rig rig;
    struct client client, other;
    static char bytes[40000];

    memset(bytes, 'a', sizeof(bytes));
    rig_init(&rig);
    rig.options.limits.head_ns = 20 * LBX_MS;
    rig.options.limits.min_body_bytes_per_second = 1;
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, "POST /echo HTTP/1.1\r\nHost: x\r\n"
                         "Content-Length: 40001\r\n\r\n");
    client_send_bytes(&client, bytes, sizeof(bytes));
    client_open(&other, &rig); // as long as a client without a head has
    client_send(&other, "G");
    client_expect(&other, 408);
    client_close(&other);
    client_send(&client, "a");
    client_expect(&client, 200);
    client_close(&client);
    rig_close(&rig);
}

TEST(idle_connection_is_closed)
{
    struct rig rig;
    struct client client;

    rig_init(&rig);
    rig.options.limits.idle_ns = 30 * LBX_MS;
    rig_open(&rig);
    client_open(&client, &rig);
    client_expect_close(&client);
    client_close(&client);
    client_open(&client, &rig);
    client_send(&client, GET_ECHO);
    client_expect(&client, 200);
    client_expect_close(&client);
    client_close(&client);
    rig_close(&rig);
}

/* A parked request is not idle. */
TEST(parked_connection_is_not_idle)
{
    struct rig rig;
    struct client client, other;

    rig_init(&rig);
    rig.options.limits.idle_ns = 20 * LBX_MS;
    rig.options.limits.head_ns = 20 * LBX_MS;
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, GET_PARK);
    EVENTUALLY(atomic_load(&rig.parked_now) == 1);
    // Long enough for another client to be cut off twice.
    client_open(&other, &rig);
    client_expect_close(&other);
    client_close(&other);
    client_open(&other, &rig);
    client_expect_close(&other);
    client_close(&other);
    rig_release(&rig, false);
    client_expect_body(&client, "GET /park ");
    client_close(&client);
    rig_close(&rig);
}

/* ---- Limits ---- */

TEST(connections_over_the_limit_are_refused)
{
    struct rig rig;
    struct client first, second, third;
    lbx__http_counts counts;

    rig_init(&rig);
    rig.options.limits.max_connections = 2;
    rig_open(&rig);
    client_open(&first, &rig);
    client_open(&second, &rig);
    EVENTUALLY((rig_counts(&rig, &counts), counts.connections == 2));
    client_open(&third, &rig);
    client_expect(&third, 503);
    client_expect_close(&third);
    client_close(&third);
    // Old connections go on, and there is a place again when one leaves.
    client_send(&first, GET_ECHO);
    client_expect(&first, 200);
    client_close(&second);
    EVENTUALLY((rig_counts(&rig, &counts), counts.connections == 1));
    client_open(&third, &rig);
    client_send(&third, GET_ECHO);
    client_expect(&third, 200);
    client_close(&third);
    client_close(&first);
    rig_counts(&rig, &counts);
    CHECK_INT(1, counts.refused);
    rig_close(&rig);
}

/* LSTN-1 */
TEST(process_without_descriptors_closes_connections_and_goes_on)
{
    enum {
        MANY = 8,
        SPARE = 64
    };
    struct rig rig;
    struct client clients[MANY], last;
    struct rlimit old, low;
    lbx__http_counts counts;
    int i, fds[SPARE], count = 0;

    rig_init(&rig);
    rig_open(&rig);
    client_open(&last, &rig);
    client_send(&last, GET_ECHO);
    client_expect(&last, 200);
    for (i = 0; i < MANY; i++)
        client_open_socket(&clients[i]);
    CHECK(getrlimit(RLIMIT_NOFILE, &old) == 0);
    low = old;
    low.rlim_cur = (rlim_t)clients[MANY - 1].fd + 1;
    CHECK(setrlimit(RLIMIT_NOFILE, &low) == 0);
    while (count < SPARE && (fds[count] = dup(0)) >= 0)
        count++;
    for (i = 0; i < MANY; i++) {
        client_connect(&clients[i], &rig);
        client_expect_close(&clients[i]);
    }
    client_send(&last, GET_ECHO);
    client_expect(&last, 200);
    for (i = 0; i < MANY; i++)
        client_close(&clients[i]);
    for (i = 0; i < count; i++)
        CHECK(close(fds[i]) == 0);
    CHECK(setrlimit(RLIMIT_NOFILE, &old) == 0);
    client_close(&last);
    client_open(&last, &rig);
    client_send(&last, GET_ECHO);
    client_expect(&last, 200);
    client_close(&last);
    rig_counts(&rig, &counts);
    CHECK_INT(MANY, counts.refused);
    rig_close(&rig);
}

/* ---- Stop ---- */

TEST(stop_closes_idle_connections_and_waits_for_answers)
{
    struct rig rig;
    struct client idle, parked, partial;
    struct client_answer answer;

    rig_init(&rig);
    rig_open(&rig);
    client_open(&idle, &rig);
    client_send(&idle, GET_ECHO);
    client_expect(&idle, 200);
    client_open(&partial, &rig);
    client_send(&partial, "POST /echo HTTP/1.1\r\nHost: x\r\n"
                          "Content-Length: 5\r\n\r\nhe");
    client_open(&parked, &rig);
    client_send(&parked, GET_PARK);
    EVENTUALLY(atomic_load(&rig.parked_now) == 1);
    lbx__http_stop(rig.http);
    lbx__http_stop(rig.http);
    client_expect_close(&idle);
    client_send(&partial, "llo");
    CHECK(client_read(&partial, &answer));
    CHECK_STR("POST /echo hello", answer.body);
    CHECK(strstr(answer.head, "\r\nConnection: close\r\n") != NULL);
    client_expect_close(&partial);
    rig_release(&rig, false);
    CHECK(client_read(&parked, &answer));
    CHECK_STR("GET /park ", answer.body);
    CHECK(strstr(answer.head, "\r\nConnection: close\r\n") != NULL);
    client_expect_close(&parked);
    client_close(&idle);
    client_close(&partial);
    client_close(&parked);
    rig_close(&rig);
}

/* At the deadline connections are cut off; the handler is told, and answers. */
TEST(destroy_cuts_off_what_is_left)
{
    struct rig rig;
    struct client clients[3];
    int i;

    rig_init(&rig);
    rig.answers_gone = true;
    rig_open(&rig);
    for (i = 0; i < 3; i++) {
        client_open(&clients[i], &rig);
        client_send(&clients[i], GET_PARK GET_PARK);
    }
    EVENTUALLY(atomic_load(&rig.parked_now) == 6);
    lbx__http_stop(rig.http);
    lbx__http_destroy(rig.http, lbx_deadline_after(NULL, 20 * LBX_MS));
    CHECK_INT(6, atomic_load(&rig.gone));
    CHECK_INT(6, atomic_load(&rig.written_closed));
    lbx__loop_destroy(rig.loops[0]);
    for (i = 0; i < 3; i++) {
        client_expect_close(&clients[i]);
        client_close(&clients[i]);
    }
}

/* ---- Memory ---- */

static void
serve_once(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    struct rig rig;
    struct client client;
    struct client_answer answer;
    lbx_fault fault;
    lbx_status status;

    (void)context;
    rig_init(&rig);
    rig.options.allocator = &allocator;
    CHECK_OK(lbx__loop_create(NULL, "test", &rig.loops[0], &fault));
    rig.options.loops = rig.loops;
    status = lbx__http_create(&rig.options, &rig.http, &fault);
    if (status == LBX_OK) {
        client_open(&client, &rig);
        client_send(&client, "POST /echo HTTP/1.1\r\n");
        client_send(&client, "Host: x\r\nContent-Length: 5\r\n\r\nhello");
        if (client_read(&client, &answer))
            CHECK(answer.status == 200 || answer.status == 503);
        client_close(&client);
        lbx__http_destroy(rig.http, LBX_FOREVER);
    } else {
        CHECK_STATUS(LBX_NO_MEMORY, status);
    }
    lbx__loop_destroy(rig.loops[0]);
    CHECK_INT(atomic_load(&rig.handled),
              atomic_load(&rig.written) + atomic_load(&rig.written_closed));
}

TEST(server_survives_every_failing_allocation)
{
    CHECK(torture_every_allocation(serve_once, NULL) > 4);
}

static uint64_t
received(struct rig *rig)
{
    lbx__http_counts counts;

    rig_counts(rig, &counts);
    return counts.bytes_in;
}

/* CONN-1 */
TEST(idle_connection_has_little_memory)
{
    enum {
        MANY = 50
    };
    static struct client clients[MANY];
    char part[1024] = "GET /echo HTTP/1.1\r\nX: ";
    TORTURE(memory, allocator);
    struct rig rig;
    uint64_t asked = 0;
    size_t before;
    int i;

    memset(part + strlen(part), 'x', sizeof(part) - strlen(part) - 1);
    part[sizeof(part) - 1] = '\0';
    rig_init(&rig);
    rig.allocator = &allocator;
    rig_open(&rig);
    before = memory.live_bytes;
    for (i = 0; i < MANY; i++) {
        client_open(&clients[i], &rig);
        client_send(&clients[i], part); // has to be kept until the rest comes
        EVENTUALLY(received(&rig) > asked);
        client_send(&clients[i], "\r\nHost: x\r\n\r\n");
        client_expect(&clients[i], 200);
        asked = received(&rig);
    }
    EVENTUALLY(atomic_load(&rig.written) == MANY);
    for (i = 0; i < MANY; i++)
        client_close(&clients[i]);
    rig_close(&rig);
    test_note("%zu bytes for each connection at most",
              (memory.most_bytes - before) / MANY);
    CHECK((memory.most_bytes - before) / MANY < 700);
    CHECK_INT(0, memory.live_bytes);
}
