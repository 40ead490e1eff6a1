/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlines of clients that make progress, that wait, or that are many. */
#include "http/fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define GET_ECHO "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n"

static void
pass_ns(int64_t time_ns)
{
    const int64_t end_ns = lbx_clock_now(NULL) + time_ns;

    while (lbx_clock_now(NULL) < end_ns)
        test_pause(2000);
}

/* DEADL-2: a deadline that has passed leaves the next one armed. */
TEST(each_of_several_idle_connections_is_closed)
{
    enum {
        CLIENTS = 4
    };
    static struct client clients[CLIENTS];
    struct rig rig;
    int i;

    rig_init(&rig);
    rig.options.limits.idle_ns = 50 * LBX_MS;
    rig_open(&rig);
    for (i = 0; i < CLIENTS; i++) {
        client_open(&clients[i], &rig);
        pass_ns(10 * LBX_MS); // so that they do not pass together
    }
    for (i = 0; i < CLIENTS; i++) {
        client_expect_close(&clients[i]);
        client_close(&clients[i]);
    }
    rig_close(&rig);
}

/* An earlier deadline is armed though a later one is. */
TEST(head_has_its_own_deadline_beside_idle_connections)
{
    struct rig rig;
    struct client idle, slow;

    rig_init(&rig);
    rig.options.limits.idle_ns = 3600 * LBX_SECOND;
    rig.options.limits.head_ns = 30 * LBX_MS;
    rig_open(&rig);
    client_open(&idle, &rig);
    client_send(&idle, GET_ECHO);
    client_expect(&idle, 200);
    client_open(&slow, &rig);
    client_send(&slow, "GET /ec");
    client_expect(&slow, 408);
    client_close(&slow);
    client_close(&idle);
    rig_close(&rig);
}

/* Reads an answer for twice the time that one write may take. Reports whether
 * it came whole. */
static bool
read_slowly(int64_t write_ns)
{
    static char bytes[256 * 1024];
    const size_t size = 32 << 20, pieces = size / sizeof(bytes);
    const int64_t piece_ns = 2 * write_ns / (int64_t)pieces;
    struct rig rig;
    struct client client;
    size_t all = 0;
    ssize_t got;

    rig_init(&rig);
    rig.options.limits.write_ns = write_ns;
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, "GET /big?33554432 HTTP/1.0\r\n\r\n");
    while ((got = recv(client.fd, bytes, sizeof(bytes), MSG_WAITALL)) > 0) {
        all += (size_t)got;
        pass_ns(piece_ns);
    }
    client_close(&client);
    rig_close(&rig);
    return all > size;
}

/* A machine that is busy for longer than `write_ns` would cut it off: then it
 * is tried again with more time. */
TEST(client_that_reads_slowly_gets_all_of_its_answer)
{
    int64_t write_ns = 250 * LBX_MS;

    while (!read_slowly(write_ns)) {
        write_ns *= 4;
        CHECK(write_ns <= 4 * LBX_SECOND);
    }
}

/* CONN-9: reads for as long as two writes may take, in pieces of which the
 * server's kernel does not take notice one by one; then the rest. */
static bool
read_little(int64_t write_ns)
{
    static char bytes[64 * 1024];
    const int pieces = 32;
    struct rig rig;
    struct client client;
    size_t all = 0;
    ssize_t got;

    rig_init(&rig);
    rig.options.limits.write_ns = write_ns;
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, "GET /big?33554432 HTTP/1.0\r\n\r\n");
    for (int i = 0;
         (got = recv(client.fd, bytes, sizeof(bytes), MSG_WAITALL)) > 0; i++) {
        all += (size_t)got;
        if (i < pieces)
            pass_ns(4 * write_ns / pieces);
    }
    client_close(&client);
    rig_close(&rig);
    return all > 33554432;
}

TEST(client_that_reads_little_at_a_time_gets_all_of_its_answer)
{
    int64_t write_ns = 250 * LBX_MS;

    while (!read_little(write_ns)) {
        write_ns *= 4;
        CHECK(write_ns <= 4 * LBX_SECOND);
    }
}

/* CONN-9: progress alone is not enough. 16 KiB in 4 ms are 4 MiB in a second,
 * and the answer would take 8 seconds. */
TEST(client_that_reads_too_slowly_is_cut_off)
{
    static char bytes[16 * 1024];
    struct rig rig;
    struct client client;
    size_t all = 0;
    ssize_t got;

    rig_init(&rig);
    rig.options.limits.write_ns = 200 * LBX_MS;
    rig.options.limits.min_answer_bytes_per_second = 64 << 20;
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, "GET /big?33554432 HTTP/1.0\r\n\r\n");
    while (atomic_load(&rig.written_unknown) == 0 &&
           (got = recv(client.fd, bytes, sizeof(bytes), MSG_WAITALL)) > 0) {
        all += (size_t)got;
        pass_ns(4 * LBX_MS);
    }
    CHECK(all < 33554432);
    EVENTUALLY(atomic_load(&rig.written_unknown) == 1);
    client_close(&client);
    rig_close(&rig);
}

/* The time of a body begins when its client is told to send it. */
TEST(client_that_awaits_continue_is_not_slow)
{
    struct rig rig;
    struct client client, other;
    int i;

    rig_init(&rig);
    rig.options.limits.head_ns = 100 * LBX_MS;
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, "GET /park HTTP/1.1\r\nHost: x\r\n\r\n"
                         "POST /echo HTTP/1.1\r\nHost: x\r\n"
                         "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    EVENTUALLY(atomic_load(&rig.parked_now) == 1);
    for (i = 0; i < 2; i++) { // as long as two heads may take
        client_open(&other, &rig);
        client_send(&other, "G");
        client_expect(&other, 408);
        client_close(&other);
    }
    rig_release(&rig, false);
    client_expect_body(&client, "GET /park ");
    client_expect(&client, 100);
    client_close(&client);
    rig_close(&rig);
}
