/* SPDX-License-Identifier: Apache-2.0 */
#include "net/address.h"

#include "support/test.h"
#include <string.h>

struct row {
    const char *text;
    const char *printed; /* NULL: refused */
};

static const struct row rows[] = {
    {"127.0.0.1:9324", "127.0.0.1:9324"},
    {"0.0.0.0:0", "0.0.0.0:0"},
    {"localhost:65535", "127.0.0.1:65535"},
    {"[::1]:80", "[::1]:80"},
    {"[::]:0", "[::]:0"},
    {"unix:/run/a.sock", "unix:/run/a.sock"},
    {"unix:a", "unix:a"},
    {"", NULL},
    {":", NULL},
    {":80", NULL},
    {"[", NULL},
    {"[]:80", NULL},
    {"[::1]", NULL},
    {"[::1:80", NULL},
    {"::1:80", NULL},
    {"127.0.0.1", NULL},
    {"127.0.0.1:", NULL},
    {"127.0.0.1:65536", NULL},
    {"127.0.0.1:-1", NULL},
    {"127.0.0.1:8o", NULL},
    {"127.0.0.1: 80", NULL},
    {"127.0.0:80", NULL},
    {"example.com:80", NULL},
    {"[127.0.0.1]:80", NULL},
    {"unix:", NULL},
    {"fd:", NULL},
    {"fd:x", NULL},
    {"fd:99999999999", NULL},
};

TEST(addresses_are_read_and_printed)
{
    char text[LBX__ADDRESS_TEXT];
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        lbx__address address;
        lbx_fault fault = {.text = ""};
        lbx_status status = lbx__address_parse(rows[i].text, &address, &fault);

        if (!rows[i].printed) {
            CHECK_STATUS(LBX_INVALID, status);
            CHECK(fault.text[0] != '\0');
            continue;
        }
        CHECK_OK(status);
        lbx__address_print(&address.socket, address.size, text, sizeof(text));
        CHECK_STR(rows[i].printed, text);
    }
}

TEST(descriptor_is_an_address)
{
    lbx__address address;

    CHECK_OK(lbx__address_parse("fd:3", &address, NULL));
    CHECK(address.kind == LBX__ADDRESS_FD);
    CHECK_INT(3, address.fd);
}

TEST(path_of_a_socket_may_not_be_too_long)
{
    char text[300] = "unix:/";
    lbx__address address;
    lbx_fault fault;

    memset(text + 6, 'a', 200);
    text[206] = '\0';
    CHECK_STATUS(LBX_INVALID, lbx__address_parse(text, &address, &fault));
    CHECK(strstr(fault.text, "too long") != NULL);
    text[5 + 108] = '\0'; // one byte is for the NUL
    CHECK_STATUS(LBX_INVALID, lbx__address_parse(text, &address, &fault));
    text[5 + 107] = '\0';
    CHECK_OK(lbx__address_parse(text, &address, &fault));
}

TEST(loopback_and_unix_sockets_are_local)
{
    static const struct {
        const char *text;
        bool is_local;
    } locals[] = {{"127.0.0.1:1", true},
                  {"127.9.9.9:1", true},
                  {"[::1]:1", true},
                  {"unix:/a", true},
                  {"192.0.2.1:1", false},
                  {"[2001:db8::1]:1", false},
                  {"0.0.0.0:1", false},
                  {"[::ffff:127.0.0.1]:1", true},
                  {"[::ffff:1.2.3.4]:1", false}};
    lbx__address address;
    size_t i;

    for (i = 0; i < sizeof(locals) / sizeof(locals[0]); i++) {
        CHECK_OK(lbx__address_parse(locals[i].text, &address, NULL));
        CHECK(lbx__address_is_local(&address.socket) == locals[i].is_local);
    }
}

/* A peer's text is shorter: the path of its socket is left out then. */
TEST(long_path_is_left_out_of_a_short_text)
{
    char path[90] = "unix:/", text[LBX__ADDRESS_PEER];
    lbx__address address;

    memset(path + 6, 'a', sizeof(path) - 7);
    CHECK_OK(lbx__address_parse(path, &address, NULL));
    lbx__address_print(&address.socket, address.size, text, sizeof(text));
    CHECK_STR("unix:", text);
}
