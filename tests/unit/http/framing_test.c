/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes in, status out: what is no request is refused and the connection
 * closed, and what is one is understood.
 */
#include "http/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct framing {
    const char *bytes;
    int status; /* 0: closed without an answer */
};

#define HOST "Host: x\r\n"
#define GET  "GET /echo HTTP/1.1\r\n"
#define POST "POST /echo HTTP/1.1\r\n" HOST
#define CHUNKED                                                                \
    POST "Transfer-Encoding: chunked\r\n"                                      \
         "\r\n"

static const struct framing refused[] = {
    /* Two lengths. */
    {POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
    {POST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", 400},
    {POST "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400},
    {POST "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 400},
    /* Lengths that are none. */
    {POST "Content-Length: +5\r\n\r\nhello", 400},
    {POST "Content-Length: -1\r\n\r\nhello", 400},
    {POST "Content-Length: 0x5\r\n\r\nhello", 400},
    {POST "Content-Length: 5,5\r\n\r\nhello", 400},
    {POST "Content-Length: 5 5\r\n\r\nhello", 400},
    {POST "Content-Length: 18446744073709551617\r\n\r\nhello", 400},
    {POST "Content-Length: 99999999999999999999999\r\n\r\nhello", 400},
    {POST "Content-Length:\r\n\r\nhello", 400},
    {POST "Content-Length: 5a\r\n\r\nhello", 400},
    {POST "Content-Length: 5\r\ncontent-length: 05\r\n\r\nhello", 400},
    {POST "Content-Length: 5, 5\r\n\r\nhello", 400},
    {POST "Content-Length: ,5\r\n\r\nhello", 400},
    {POST "Content-Length: 5;\r\n\r\nhello", 400},
    {POST "Content-Length: \"5\"\r\n\r\nhello", 400},
    {POST "Content-Length: 5.0\r\n\r\nhello", 400},
    {POST "Content-Length: 1e1\r\n\r\nhello", 400},
    {POST "Content-Length: five\r\n\r\nhello", 400},
    {POST "Content-Length: \xc2\xb2\r\n\r\nhello", 400},
    {POST "Content-Length: 9223372036854775808\r\n\r\nhello", 413},
    {POST "Content-Length : 5\r\n\r\nhello", 400},
    {POST "Content-Length\t: 5\r\n\r\nhello", 400},
    {POST "Content-Length: 5\r\n Transfer-Encoding: chunked\r\n\r\n", 400},
    {"GET /echo HTTP/1.1\r\n" HOST
     "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
     400},
    {"GET /echo HTTP/1.1\r\n" HOST "Content-Length: x\r\n\r\n", 400},
    {"DELETE /echo HTTP/1.1\r\n" HOST "Content-Length: -0\r\n\r\n", 400},
    /* Lines. */
    {GET "Host : x\r\n\r\n", 400},
    {GET HOST "X: a\r\n b\r\n\r\n", 400},
    {GET HOST "X: a\r\n\tb\r\n\r\n", 400},
    {GET " Host: x\r\n\r\n", 400},
    {"GET /echo HTTP/1.1\nHost: x\n\n", 400},
    {GET "Host: x\n\r\n", 400},
    {GET HOST "X: a\rb\r\n\r\n", 400},
    {GET HOST "X: a\r\n\rX", 0},
    {GET HOST "\rX: a\r\n\r\n", 400},
    {GET HOST ": a\r\n\r\n", 400},
    {GET HOST "X\r\n\r\n", 400},
    {GET HOST "X(: a\r\n\r\n", 400},
    {GET HOST "X: \x01\r\n\r\n", 400},
    {GET HOST "X: a\x7f\r\n\r\n", 400},
    {"\r\n\r\n" GET HOST "\r\n", 400},
    /* Transfer-Encoding. */
    {POST "Transfer-Encoding: gzip\r\n\r\n", 501},
    {POST "Transfer-Encoding: identity\r\n\r\n", 501},
    {POST "Transfer-Encoding: xchunked\r\n\r\n", 501},
    {POST "Transfer-Encoding: chunked, chunked\r\n\r\n", 400},
    {POST "Transfer-Encoding: gzip, chunked\r\n\r\n", 400},
    {POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
     400},
    {POST "Transfer-Encoding:\r\n\r\n", 400},
    {POST "Transfer-Encoding: \x0b"
          "chunked\r\n\r\n",
     400},
    {"POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
    {POST "Transfer-Encoding: chunked;q=1\r\n\r\n", 501},
    {POST "Transfer-Encoding: \"chunked\"\r\n\r\n", 501},
    {POST "Transfer-Encoding: chunked,\r\n\r\n", 400},
    {POST "Transfer-Encoding: ,chunked\r\n\r\n", 400},
    {POST "Transfer-Encoding: chunked, identity\r\n\r\n", 400},
    {POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n", 400},
    {POST "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
    {POST "Transfer-Encoding : chunked\r\n\r\n", 400},
    {POST "Transfer-Encoding: chunked\x7f\r\n\r\n", 400},
    {POST "Transfer-Encoding: cow\r\nContent-Length: 5\r\n\r\nhello", 400},
    {POST "Transfer-Encoding: compress\r\n\r\n", 501},
    {POST "Transfer-Encoding: deflate\r\n\r\n", 501},
    {POST "Transfer-Encoding: trailers\r\n\r\n", 501},
    /* Chunks. */
    {CHUNKED "+5\r\nhello\r\n0\r\n\r\n", 400},
    {CHUNKED "-5\r\nhello\r\n0\r\n\r\n", 400},
    {CHUNKED "0x5\r\nhello\r\n0\r\n\r\n", 400},
    {CHUNKED "5_0\r\nhello\r\n0\r\n\r\n", 400},
    {CHUNKED "5 \r\nhello\r\n0\r\n\r\n", 400},
    {CHUNKED " 5\r\nhello\r\n0\r\n\r\n", 400},
    {CHUNKED "\r\n", 400},
    {CHUNKED "12345678901234567\r\nhello\r\n0\r\n\r\n", 400},
    {CHUNKED "5\nhello\r\n0\r\n\r\n", 400},
    {CHUNKED "5;a\nb\r\nhello\r\n0\r\n\r\n", 400},
    {CHUNKED "5;a\rb\r\nhello\r\n0\r\n\r\n", 400},
    {CHUNKED "5\r\nhelloX0\r\n\r\n", 400},
    {CHUNKED "5\r\nhelloX\r\n0\r\n\r\n", 400},
    {CHUNKED "5\r\nhello\n0\r\n\r\n", 400},
    {CHUNKED "5\r\nhello\r\n0\r\nX: a\n\r\n", 400},
    {CHUNKED "5\r\nhello\r\n0\r\nX: a\r\n b\r\n\r\n", 400},
    {CHUNKED "5\r\nhello\r\n0\r\n\n", 400},
    {CHUNKED "0\r\n\rX", 400},
    {CHUNKED "0\r\n: x\r\n\r\n", 400},
    {CHUNKED "fffffffffffffff\r\n", 413},
    {CHUNKED "200000\r\n", 413},
    {CHUNKED "5\r\nhello\r\n17fffc\r\n", 413},
    {CHUNKED "g\r\n", 400},
    {CHUNKED "5g\r\nhello\r\n0\r\n\r\n", 400},
    {CHUNKED "5,5\r\nhello\r\n0\r\n\r\n", 400},
    {CHUNKED "5.0\r\nhello\r\n0\r\n\r\n", 400},
    {CHUNKED "\t5\r\nhello\r\n0\r\n\r\n", 400},
    {CHUNKED ";a\r\nhello\r\n0\r\n\r\n", 400},
    {CHUNKED "5\r\r\nhello\r\n0\r\n\r\n", 400},
    {CHUNKED "5\rhello\r\n0\r\n\r\n", 400},
    {CHUNKED "4\r\nhello\r\n0\r\n\r\n", 400},
    {CHUNKED "5\r\nhello\r\r\n0\r\n\r\n", 400},
    {CHUNKED "5\r\nhello\r\n\r\n0\r\n\r\n", 400},
    {CHUNKED "5\r\nhello\r\n0\r\nX a\r\n\r\n", 400},
    {CHUNKED "5\r\nhello\r\n0\r\nX : a\r\n\r\n", 400},
    {CHUNKED "5\r\nhello\r\n0\r\nX: a\rb\r\n\r\n", 400},
    {CHUNKED "0\r\nX: \x01\r\n\r\n", 400},
    {CHUNKED "7fffffffffffffff\r\n", 413},
    {CHUNKED "ffffffffffffffff\r\n", 413},
    /* Host. */
    {GET "X: y\r\n\r\n", 400},
    {GET HOST "host: x\r\n\r\n", 400},
    {GET "Host: a,b\r\n\r\n", 400},
    {GET "Host: a\r\nHost: b\r\n\r\n", 400},
    {GET "Host: \xff\r\n\r\n", 400},
    {GET "Host: a?b\r\n\r\n", 400},
    {GET "Host: a#b\r\n\r\n", 400},
    {GET "Host: http://a\r\n\r\n", 400},
    {GET "Host: a:-1\r\n\r\n", 400},
    {GET "Host: :80\r\n\r\n", 400},
    {GET "Host: []\r\n\r\n", 400},
    {GET "Host: [::1]:x\r\n\r\n", 400},
    {GET "Host: a\tb\r\n\r\n", 400},
    {GET "\r\n", 400},
    {GET HOST HOST "\r\n", 400},
    {GET "Host:\r\n\r\n", 400},
    {GET "Host: a b\r\n\r\n", 400},
    {GET "Host: a/b\r\n\r\n", 400},
    {GET "Host: a@b\r\n\r\n", 400},
    {GET "Host: a:b\r\n\r\n", 400},
    {GET "Host: a:123456\r\n\r\n", 400},
    {GET "Host: [::1\r\n\r\n", 400},
    {GET "Host: [x]\r\n\r\n", 400},
    {GET "Host: [::1]x\r\n\r\n", 400},
    {"GET /echo HTTP/1.0\r\n" HOST HOST "\r\n", 400},
    /* Methods and versions. */
    {"PATCH /echo HTTP/1.1\r\n" HOST "\r\n", 405},
    {"TRACE /echo HTTP/1.1\r\n" HOST "\r\n", 405},
    {"CONNECT x:443 HTTP/1.1\r\n" HOST "\r\n", 405},
    {"BREW /echo HTTP/1.1\r\n" HOST "\r\n", 501},
    {"get /echo HTTP/1.1\r\n" HOST "\r\n", 501},
    {"G@T /echo HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET /echo\r\n", 400},
    {"GET /echo \r\n\r\n", 400},
    {"GET /echo HTTP/1.1 \r\n" HOST "\r\n", 400},
    {"GET  /echo HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET /e cho HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET /echo HTTP/0.9\r\n" HOST "\r\n", 505},
    {"GET /echo HTTP/2.0\r\n" HOST "\r\n", 505},
    {"GET /echo HTTP/3.7\r\n" HOST "\r\n", 505},
    {"GET /echo HTTP/1.2\r\n" HOST "\r\n", 505},
    {"GET /echo http/1.1\r\n" HOST "\r\n", 400},
    {"GET /echo HTTP/11\r\n" HOST "\r\n", 400},
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
    {" GET /echo HTTP/1.1\r\n" HOST "\r\n", 400},
    {"\tGET /echo HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET\t/echo HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET /echo\tHTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET /echo  HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET /echo HTTP/1.1x\r\n" HOST "\r\n", 400},
    {"GET /echo HTTP/1.10\r\n" HOST "\r\n", 400},
    {"GET /echo HTTP/01.1\r\n" HOST "\r\n", 400},
    {"GET /echo HTTP/1,1\r\n" HOST "\r\n", 505},
    {"GET /echo HTTP/+1.1\r\n" HOST "\r\n", 400},
    {"GET /echo HTTP /1.1\r\n" HOST "\r\n", 400},
    {"GET /echo XTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET /echo RTSP/1.0\r\n" HOST "\r\n", 400},
    {"GETX /echo HTTP/1.1\r\n" HOST "\r\n", 501},
    {"Post /echo HTTP/1.1\r\n" HOST "\r\n", 501},
    {"PROPFIND /echo HTTP/1.1\r\n" HOST "\r\n", 501},
    {"(GET) /echo HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET, /echo HTTP/1.1\r\n" HOST "\r\n", 400},
    /* Targets. */
    {"GET \\echo HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET ?a HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET /a\x7f HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET /a\x01 HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET /%2e%2e HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET /.%2e/x HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET /a?% HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET http://x:99999999/ HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET http://a@x/ HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET x:443 HTTP/1.1\r\n" HOST "\r\n", 400},
    {"POST * HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n", 400},
    {"GET /%zz HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET /% HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET /%4 HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET /a%00b HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET /../a HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET /a/.. HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET /a/%2e%2E/b HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET /a%2f..%2fb HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET /a?b=%zz HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET /a#b HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET /a\x80 HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET a HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET * HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET http://other/echo HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET http://y/echo HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET http:///echo HTTP/1.1\r\n" HOST "\r\n", 400},
    {"GET ftp://x/echo HTTP/1.1\r\n" HOST "\r\n", 400},
    /* Expectations and encodings. */
    {POST "Content-Length: 5\r\nExpect: 200-ok\r\n\r\nhello", 417},
    {POST "Content-Length: 5\r\nExpect:\r\n\r\nhello", 417},
    {POST "Content-Length: 5\r\nContent-Encoding: gzip\r\n\r\nhello", 415},
    {POST "Expect: 100-continue\r\nContent-Length: 2000000\r\n\r\n", 413},
    {POST "Expect: 100-continue\r\nContent-Length: x\r\n\r\n", 400},
    {POST "Content-Length: 1572865\r\n\r\n", 413},
    {POST "Content-Length: 5\r\nExpect: 100-continue, x\r\n\r\nhello", 417},
    {POST "Content-Length: 5\r\nContent-Encoding: br\r\n\r\nhello", 415},
    {POST "Content-Length: 5\r\nContent-Encoding: identity, gzip\r\n\r\nh",
     415},
    /* Something else. */
    {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 0},
    {"\x01\x02\x03\x04", 400},
    {"SSH-"
     "2.0-OpenSSH_9.2\r\n",
     400},
    {"* OK IMAP4rev1\r\n", 400},
    {"{\"jsonrpc\": \"2.0\"}\r\n", 400},
    {"EHLOEHLOEHLOEHLOEHLOEHLOEHLOEHLO", 400},
};

/* The rest of a row is sent as it is; the server must not wait for more. */
static void
check_refused(struct rig *rig, const struct framing *row)
{
    struct client client;
    struct client_answer answer = {.status = 0};

    client_open(&client, rig);
    client_send(&client, row->bytes);
    if (row->status == 0)
        CHECK(shutdown(client.fd, SHUT_WR) == 0);
    if (client_read(&client, &answer)) {
        if (answer.status != row->status)
            FAIL("%d instead of %d for: %s", answer.status, row->status,
                 row->bytes);
        CHECK(strstr(answer.head, "\r\nConnection: close\r\n") != NULL);
        CHECK(strstr(answer.head, "\r\nContent-Length: ") != NULL);
        CHECK(answer.body_size > 0);
        client_expect_close(&client);
    } else if (row->status != 0) {
        FAIL("no answer instead of %d for: %s", row->status, row->bytes);
    }
    client_close(&client);
}

TEST(what_is_no_request_is_refused)
{
    struct rig rig;
    size_t i;

    rig_init(&rig);
    rig_open(&rig);
    for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        check_refused(&rig, &refused[i]);
    CHECK_INT(0, atomic_load(&rig.handled));
    CHECK_INT(1, atomic_load(&rig.lines)); // the TLS hello
    rig_close(&rig);
}

struct accepted {
    const char *bytes;
    const char *body; /* of the answer */
};

static const struct accepted accepted[] = {
    {GET HOST "\r\n", "GET /echo "},
    {"\r\n" GET HOST "\r\n", "GET /echo "},
    {GET "HOST:x\r\n\r\n", "GET /echo "},
    {GET "Host: \t x \t \r\n\r\n", "GET /echo "},
    {GET "Host: [::1]:9324\r\n\r\n", "GET /echo "},
    {GET "Host: a-b.c_d:1\r\n\r\n", "GET /echo "},
    {GET HOST "X:\r\nY: \r\nZ: \x80\xff\r\n\r\n", "GET /echo "},
    {POST "Content-Length: 5\r\n\r\nhello", "POST /echo hello"},
    {POST "Content-Length: 005\r\n\r\nhello", "POST /echo hello"},
    {POST "Content-Length: 0\r\n\r\n", "POST /echo "},
    {POST "\r\n", "POST /echo "},
    {POST "Content-Encoding: identity\r\nContent-Length: 1\r\n\r\na",
     "POST /echo a"},
    {CHUNKED "5\r\nhello\r\n0\r\n\r\n", "POST /echo hello"},
    {CHUNKED "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
     "POST /echo hello world"},
    {CHUNKED "0\r\n\r\n", "POST /echo "},
    {CHUNKED "05;a=b\r\nhello\r\n0\r\n\r\n", "POST /echo hello"},
    {CHUNKED "5\r\nhello\r\n0\r\nX: y\r\nZ: w\r\n\r\n", "POST /echo hello"},
    {CHUNKED "A\r\n\r\n\n\n\r\r  \t\n\r\n0\r\n\r\n",
     "POST /echo \r\n\n\n\r\r  \t\n"},
    {POST "Transfer-Encoding: Chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
     "POST /echo a"},
    {"GET http://x/echo?a HTTP/1.1\r\n" HOST "\r\n", "GET /echo?a "},
    {"GET HTTP://X HTTP/1.1\r\n" HOST "\r\n", "GET / "},
    {"OPTIONS * HTTP/1.1\r\n" HOST "\r\n", "OPTIONS * "},
    {"DELETE /a%20b/.x/..y/%2e HTTP/1.1\r\n" HOST "\r\n",
     "DELETE /a%20b/.x/..y/%2e "},
    {"PUT /a?x=../%00 HTTP/1.1\r\n" HOST "\r\n", "PUT /a?x=../%00 "},
    {GET HOST "Connection: upgrade\r\nUpgrade: h2c\r\n\r\n", "GET /echo "},
    {GET HOST "Connection: ,, x ,\tkeep-alive,\r\n\r\n", "GET /echo "},
};

/* Each at once, and then byte by byte: where reads end must not matter. */
static void
check_accepted(struct client *client, const struct accepted *row, bool slowly)
{
    size_t size = strlen(row->bytes), i;
    struct client_answer answer;

    if (!slowly) {
        client_send(client, row->bytes);
    } else {
        for (i = 0; i < size; i++)
            client_send_bytes(client, row->bytes + i, 1);
    }
    CHECK(client_read(client, &answer));
    if (answer.status != 200 || strcmp(answer.body, row->body) != 0)
        FAIL("%d, %s for: %s", answer.status, answer.body, row->bytes);
}

TEST(requests_are_understood_however_they_are_cut)
{
    struct rig rig;
    struct client client;
    size_t i, count = sizeof(accepted) / sizeof(accepted[0]);

    rig_init(&rig);
    rig_open(&rig);
    client_open(&client, &rig);
    for (i = 0; i < count; i++)
        check_accepted(&client, &accepted[i], false);
    for (i = 0; i < count; i++)
        check_accepted(&client, &accepted[i], true);
    client_close(&client);
    rig_close(&rig);
    CHECK_INT(2 * count, atomic_load(&rig.handled));
}

/* A request is the same in each of its cuts, and refusals come at once. */
TEST(refusals_do_not_depend_on_cuts)
{
    struct rig rig;
    struct client client;
    struct client_answer answer;
    size_t i, j;

    rig_init(&rig);
    rig_open(&rig);
    for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (refused[i].status == 0)
            continue;
        client_open(&client, &rig);
        for (j = 0; j < strlen(refused[i].bytes); j++)
            client_send_bytes(&client, refused[i].bytes + j, 1);
        CHECK(client_read(&client, &answer));
        if (answer.status != refused[i].status)
            FAIL("%d instead of %d for: %s", answer.status, refused[i].status,
                 refused[i].bytes);
        client_expect_close(&client);
        client_close(&client);
    }
    CHECK_INT(0, atomic_load(&rig.handled));
    rig_close(&rig);
}

/* Bytes with NUL, which texts above cannot have. */
TEST(nul_in_a_head_is_refused)
{
    static const char bytes[] = GET HOST "X: a\0b\r\n\r\n";
    static const char target[] = "GET /a\0b HTTP/1.1\r\n" HOST "\r\n";
    struct rig rig;
    struct client client;

    rig_init(&rig);
    rig_open(&rig);
    client_open(&client, &rig);
    client_send_bytes(&client, bytes, sizeof(bytes) - 1);
    client_expect(&client, 400);
    client_close(&client);
    client_open(&client, &rig);
    client_send_bytes(&client, target, sizeof(target) - 1);
    client_expect(&client, 400);
    client_close(&client);
    rig_close(&rig);
}

/* Sends `begin`, `count` times `piece`, and `end`. */
static void
check_repeated(struct rig *rig, const char *begin, const char *piece,
               size_t count, const char *end, int status)
{
    size_t size = strlen(begin) + count * strlen(piece) + strlen(end);
    char *bytes = malloc(size + 1), *at = bytes;
    struct client client;
    size_t i;

    CHECK(bytes != NULL);
    at += sprintf(at, "%s", begin);
    for (i = 0; i < count; i++)
        at += sprintf(at, "%s", piece);
    (void)sprintf(at, "%s", end);
    client_open(&client, rig);
    client_send_bytes(&client, bytes, size);
    client_expect(&client, status);
    if (status != 200)
        client_expect_close(&client);
    client_close(&client);
    free(bytes);
}

TEST(sizes_are_limited)
{
    struct rig rig;

    rig_init(&rig);
    rig.options.limits.max_body_bytes = 50000;
    rig_open(&rig);
    // Targets.
    check_repeated(&rig, "GET /", "a", 8191, " HTTP/1.1\r\n" HOST "\r\n", 200);
    check_repeated(&rig, "GET /", "a", 8192, " HTTP/1.1\r\n" HOST "\r\n", 414);
    check_repeated(&rig, "GET /", "a", 9000, "", 414);
    // Fields.
    check_repeated(&rig, GET HOST, "X: y\r\n", 99, "\r\n", 200);
    check_repeated(&rig, GET HOST, "X: y\r\n", 100, "\r\n", 431);
    check_repeated(&rig, GET HOST, "X: y\r\n", 100, "", 431);
    // Bytes of a head.
    check_repeated(&rig, GET HOST "X: ", "y", 32700, "\r\n\r\n", 200);
    check_repeated(&rig, GET HOST "X: ", "y",
                   32768 - strlen(GET HOST "X: \r\n\r\n"), "\r\n\r\n", 200);
    check_repeated(&rig, GET HOST "X: ", "y",
                   32769 - strlen(GET HOST "X: \r\n\r\n"), "\r\n\r\n", 431);
    check_repeated(&rig, GET HOST "X: ", "y", 32768, "\r\n\r\n", 431);
    check_repeated(&rig, GET HOST "X: ", "y", 32768, "", 431);
    // Extensions and trailers.
    check_repeated(&rig, CHUNKED "1;", "e", 1000, "\r\na\r\n0\r\n\r\n", 200);
    check_repeated(&rig, CHUNKED "1;", "e", 1100, "", 400);
    check_repeated(&rig, CHUNKED, "1;eeeeeeee\r\na\r\n", 200, "", 400);
    check_repeated(&rig, CHUNKED "0\r\n", "X: y\r\n", 1000, "\r\n", 200);
    check_repeated(&rig, CHUNKED "0\r\n", "Xxxxxx: y\r\n", 1500, "", 431);
    check_repeated(&rig, CHUNKED, "0", 20000, "", 400);
    check_repeated(&rig, CHUNKED, "1\r\na\r\n", 20000, "0\r\n\r\n", 200);
    // Bodies.
    check_repeated(&rig, POST "Content-Length: 50000\r\n\r\n", "b", 50000, "",
                   200);
    check_repeated(&rig, POST "Content-Length: 50001\r\n\r\n", "b", 50001, "",
                   413);
    check_repeated(&rig, CHUNKED "1\r\na\r\nc34f\r\n", "b", 49999,
                   "\r\n0\r\n\r\n", 200);
    check_repeated(&rig, CHUNKED "1\r\na\r\nc350\r\n", "b", 0, "", 413);
    rig_close(&rig);
}
