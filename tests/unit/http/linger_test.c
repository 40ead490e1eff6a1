/* SPDX-License-Identifier: Apache-2.0 */
/* What a connection does after its last answer, and after a refusal. */
#include "http/fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    BURST_BYTES = 512 * 1024, /* more than is read at once */
    SEND_BYTES = 64 << 20,    /* in vain */
    READ_BYTES = 5 << 20      /* the limit, and what is read at once */
};

/* Sends a refused beginning and, in the same burst, requests behind it. */
static void
check_burst(const char *begin, int status)
{
    static const char request[] = "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n";
    size_t size = strlen(begin);
    char *burst = malloc(BURST_BYTES + sizeof(request));
    struct rig rig;
    struct client client;
    lbx__http_counts counts;

    CHECK(burst != NULL);
    memcpy(burst, begin, size + 1);
    for (; size < BURST_BYTES; size += sizeof(request) - 1)
        memcpy(burst + size, request, sizeof(request) - 1);
    rig_init(&rig);
    rig_open(&rig);
    client_open(&client, &rig);
    client_send_bytes(&client, burst, size);
    client_expect(&client, status);
    client_expect_close(&client);
    client_close(&client);
    rig_counts(&rig, &counts);
    CHECK_INT(1, counts.rejected);
    CHECK_INT(0, counts.requests);
    rig_close(&rig);
    CHECK_INT(0, atomic_load(&rig.handled));
    free(burst);
}

/* CONN-3: what a client means after bytes that were not understood is not
 * known; none of it is taken for a request. */
TEST(nothing_is_read_after_a_refusal)
{
    check_burst("GET /echo\r\n\r\n", 400);
    check_burst("POST /echo HTTP/1.1\r\nHost: x\r\n"
                "Transfer-Encoding: chunked\r\n\r\nno chunk\r\n",
                400);
    check_burst("POST /echo HTTP/1.1\r\nHost: x\r\n"
                "Content-Length: 99999999\r\n\r\n",
                413);
}

/* A client that goes on sending is read for a while, so that it can read its
 * answer; not for ever. */
TEST(client_that_sends_on_after_the_last_answer_is_cut_off)
{
    static char bytes[64 * 1024];
    struct rig rig;
    struct client client;
    lbx__http_counts counts;
    int i;

    rig_init(&rig);
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, "GET /echo HTTP/1.0\r\n\r\n");
    client_expect(&client, 200);
    for (i = 0; i < SEND_BYTES / (int)sizeof(bytes); i++) {
        if (send(client.fd, bytes, sizeof(bytes), MSG_NOSIGNAL) < 0)
            break;
    }
    EVENTUALLY((rig_counts(&rig, &counts), counts.connections == 0));
    CHECK(counts.bytes_in < READ_BYTES);
    client_close(&client);
    rig_close(&rig);
}

/* It has two seconds to read its answer and to close. */
TEST(client_that_does_not_close_after_the_last_answer_is_cut_off)
{
    struct rig rig;
    struct client client;
    lbx__http_counts counts;

    rig_init(&rig);
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, "GET /echo HTTP/1.0\r\n\r\n");
    client_expect(&client, 200);
    EVENTUALLY((rig_counts(&rig, &counts), counts.connections == 0));
    client_close(&client);
    rig_close(&rig);
}
