/* SPDX-License-Identifier: Apache-2.0 */
/* Where a server listens, and on how many loops. */
#include "http/fixture.h"

#include "support/folder.h"
#include <stdio.h>
#include <string.h>

#define GET_ECHO "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n"

static void
check_served(struct rig *rig, int clients)
{
    struct client client;
    int i;

    for (i = 0; i < clients; i++) {
        client_open(&client, rig);
        client_send(&client, GET_ECHO);
        client_expect_body(&client, "GET /echo ");
        client_close(&client);
    }
}

TEST(several_loops_share_a_port)
{
    struct rig rig;
    lbx__http_options options;
    lbx_fault fault;
    lbx__http *http;

    rig_init(&rig);
    rig.options.loop_count = RIG_LOOPS;
    rig_open(&rig);
    check_served(&rig, 50);
    // Another server does not share it.
    options = rig.options;
    options.address = lbx__http_address(rig.http);
    CHECK_STATUS(LBX_EXISTS, lbx__http_create(&options, &http, &fault));
    CHECK(strstr(fault.text, "in use") != NULL);
    rig_close(&rig);
}

TEST(several_loops_share_a_unix_socket)
{
    char address[TEST_PATH_BYTES + 8];
    struct rig rig;

    (void)snprintf(address, sizeof(address), "unix:%s", test_path());
    rig_init(&rig);
    rig.options.loop_count = 3;
    rig.options.address = address;
    rig_open(&rig);
    CHECK_STR(address, lbx__http_address(rig.http));
    check_served(&rig, 50);
    rig_close(&rig);
}

static void
check_unix_peer(void *context, lbx__http_exchange *exchange)
{
    lbx__http_reply reply = {.status = 204};

    (void)context;
    CHECK_STR("unix:", exchange->request.peer);
    lbx__http_answer(exchange, &reply);
}

TEST(peer_of_a_unix_socket_has_no_name)
{
    char address[TEST_PATH_BYTES + 8];
    struct rig rig;
    struct client client;
    struct client_answer answer;

    (void)snprintf(address, sizeof(address), "unix:%s", test_path());
    rig_init(&rig);
    rig.options.address = address;
    rig.options.handler.handle = check_unix_peer;
    rig.options.handler.written = NULL;
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, GET_ECHO);
    CHECK(client_read(&client, &answer));
    CHECK_INT(204, answer.status);
    CHECK(strstr(answer.head, "Content-Length") == NULL);
    client_close(&client);
    rig_close(&rig);
}

TEST(parked_exchange_of_a_unix_socket_notices_its_end)
{
    char address[TEST_PATH_BYTES + 8];
    struct rig rig;
    struct client client;

    (void)snprintf(address, sizeof(address), "unix:%s", test_path());
    rig_init(&rig);
    rig.options.address = address;
    rig.answers_gone = true;
    rig_open(&rig);
    client_open(&client, &rig);
    client_send(&client, "GET /park HTTP/1.1\r\nHost: x\r\n\r\n");
    EVENTUALLY(atomic_load(&rig.parked_now) == 1);
    client_close(&client);
    EVENTUALLY(atomic_load(&rig.gone) == 1);
    rig_close(&rig);
}

TEST(bad_limits_are_refused)
{
    struct rig rig;
    lbx__http *http;
    lbx_fault fault;

    rig_init(&rig);
    rig.options.limits.max_pipelined = 0;
    CHECK_STATUS(LBX_INVALID, lbx__http_create(&rig.options, &http, &fault));
    rig_init(&rig);
    rig.options.limits.max_head_bytes = 1 << 30;
    CHECK_STATUS(LBX_INVALID, lbx__http_create(&rig.options, &http, &fault));
    rig_init(&rig);
    rig.options.address = "nowhere";
    CHECK_STATUS(LBX_INVALID, lbx__http_create(&rig.options, &http, &fault));
    CHECK(strstr(fault.text, "nowhere") != NULL);
}
