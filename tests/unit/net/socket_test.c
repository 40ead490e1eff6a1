/* SPDX-License-Identifier: Apache-2.0 */
#include "net/socket.h"

#include "support/folder.h"
#include "support/test.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    SOCKETS = 3
};

/* Opens `count` sockets that listen on the text. */
static lbx_status
listen_on(const char *text, lbx__socket_group *group, int *fds, size_t count,
          lbx_fault *fault)
{
    lbx__address address;

    CHECK_OK(lbx__address_parse(text, &address, fault));
    *group = (lbx__socket_group){.fds = fds, .count = count};
    return lbx__socket_listen(&address, group, fault);
}

static void
close_group(lbx__socket_group *group)
{
    lbx__socket_close(group);
    lbx__socket_unlink(group);
}

static void
check_connects(const char *text, bool connects)
{
    lbx__address address;
    int fd;

    CHECK_OK(lbx__address_parse(text, &address, NULL));
    fd = socket(address.socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0);
    CHECK((connect(fd, (struct sockaddr *)&address.socket, address.size) ==
           0) == connects);
    CHECK(close(fd) == 0);
}

TEST(sockets_of_one_port_share_it)
{
    lbx__socket_group group;
    lbx_fault fault = {.text = ""};
    int fds[SOCKETS];

    CHECK_OK(listen_on("127.0.0.1:0", &group, fds, SOCKETS, &fault));
    CHECK(strncmp(group.text, "127.0.0.1:", 10) == 0);
    CHECK(strcmp(group.text, "127.0.0.1:0") != 0);
    check_connects(group.text, true);
    close_group(&group);
    check_connects(group.text, false);
}

/* SOCK-1: whether one or several sockets have it, and one or several ask. */
TEST(port_in_use_is_refused)
{
    lbx__socket_group first, second;
    lbx_fault fault;
    int fds[SOCKETS], others[SOCKETS];
    size_t i, j;

    for (i = 1; i <= SOCKETS; i += 2) {
        CHECK_OK(listen_on("127.0.0.1:0", &first, fds, i, &fault));
        for (j = 1; j <= SOCKETS; j += 2) {
            CHECK_STATUS(LBX_EXISTS,
                         listen_on(first.text, &second, others, j, &fault));
            CHECK(strstr(fault.text, "in use") != NULL);
            CHECK(strstr(fault.text, first.text) != NULL);
        }
        close_group(&first);
    }
}

TEST(address_of_another_machine_is_refused)
{
    lbx__socket_group group;
    lbx_fault fault;
    int fds[1];

    CHECK_STATUS(LBX_NOT_FOUND,
                 listen_on("192.0.2.1:0", &group, fds, 1, &fault));
    CHECK(strstr(fault.text, "192.0.2.1:0") != NULL);
}

/* [::] is IPv6 alone: the same port of IPv4 may belong to another process. */
TEST(socket_of_ipv6_leaves_the_port_of_ipv4)
{
    lbx__socket_group six, four;
    char text[64];
    int fds[1], others[1];

    if (listen_on("[::]:0", &six, fds, 1, NULL) != LBX_OK) {
        test_note("this machine has no IPv6");
        return;
    }
    (void)snprintf(text, sizeof(text), "127.0.0.1%s", strrchr(six.text, ':'));
    check_connects(text, false);
    if (listen_on(text, &four, others, 1, NULL) == LBX_OK) {
        check_connects(text, true);
        close_group(&four);
    }
    close_group(&six);
}

TEST(unix_socket_is_removed_at_the_end)
{
    lbx__socket_group group;
    char text[TEST_PATH_BYTES + 8];
    struct stat file;
    int fds[SOCKETS];

    (void)snprintf(text, sizeof(text), "unix:%s", test_path());
    CHECK_OK(listen_on(text, &group, fds, SOCKETS, NULL));
    CHECK_STR(text, group.text);
    check_connects(text, true);
    close_group(&group);
    CHECK(lstat(text + 5, &file) != 0);
}

/* SOCK-2 */
TEST(stale_unix_socket_is_replaced)
{
    lbx__socket_group group, other;
    char text[TEST_PATH_BYTES + 8];
    lbx_fault fault;
    int fds[1], others[1];

    (void)snprintf(text, sizeof(text), "unix:%s", test_path());
    CHECK_OK(listen_on(text, &group, fds, 1, &fault));
    CHECK_STATUS(LBX_EXISTS, listen_on(text, &other, others, 1, &fault));
    check_connects(text, true); // the first was not harmed
    lbx__socket_close(&group);  // as by a kill: the file stays
    CHECK_OK(listen_on(text, &other, others, 1, &fault));
    lbx__socket_unlink(&group); // not its own any more
    check_connects(text, true);
    close_group(&other);
}

TEST(file_that_is_no_socket_is_left_alone)
{
    lbx__socket_group group;
    char text[TEST_PATH_BYTES + 8];
    const char *path = test_path();
    struct stat file;
    int fds[1], fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

    CHECK(fd >= 0 && close(fd) == 0);
    (void)snprintf(text, sizeof(text), "unix:%s", path);
    CHECK_STATUS(LBX_EXISTS, listen_on(text, &group, fds, 1, NULL));
    CHECK(lstat(path, &file) == 0 && S_ISREG(file.st_mode));
    CHECK(unlink(path) == 0);
    (void)snprintf(text, sizeof(text), "unix:%s/none/x", path);
    CHECK_STATUS(LBX_NOT_FOUND, listen_on(text, &group, fds, 1, NULL));
}

TEST(descriptor_must_listen)
{
    lbx__socket_group group, inherited;
    char text[16];
    lbx_fault fault;
    int fds[1], others[SOCKETS], pipes[2];

    CHECK(pipe(pipes) == 0);
    (void)snprintf(text, sizeof(text), "fd:%d", pipes[0]);
    CHECK_STATUS(LBX_INVALID,
                 listen_on(text, &inherited, others, SOCKETS, &fault));
    CHECK(strstr(fault.text, "listens") != NULL);
    CHECK(close(pipes[0]) == 0 && close(pipes[1]) == 0);
    CHECK_OK(listen_on("127.0.0.1:0", &group, fds, 1, &fault));
    (void)snprintf(text, sizeof(text), "fd:%d", fds[0]);
    CHECK_OK(listen_on(text, &inherited, others, SOCKETS, &fault));
    CHECK_STR(group.text, inherited.text);
    close_group(&inherited);
    check_connects(group.text, true); // the one that was passed stays
    close_group(&group);
}
