/* SPDX-License-Identifier: Apache-2.0 */
/* The sandbox of letterbox serve. Each test is a process of its own. */
#include "serve.h"

#include "support/folder.h"
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <unistd.h>

static char folder[TEST_PATH_BYTES];
static int lines;

/* In place of the program's own, which complains on standard error. */
int
cli_target_folder(const char *url, bool path, char ret[CLI_URL_BYTES])
{
    (void)path;
    snprintf(ret, CLI_URL_BYTES, "%s", url + strlen("file:"));
    return CLI_OK;
}

static void
count_line(void *context, const char *line)
{
    (void)context;
    (void)line;
    lines++;
}

/* Without landlock or seccomp in the kernel there is nothing to test. */
static bool
enter_sandbox(void)
{
    static char url[TEST_PATH_BYTES + 8];
    struct serve_values values = {.listen = "127.0.0.1:0"};

    snprintf(folder, sizeof(folder), "%s", test_path());
    snprintf(url, sizeof(url), "file:%s", folder);
    values.store = url;
    CHECK(access("/etc/passwd", R_OK) == 0);
    serve_sandbox(&values, count_line);
    return lines == 0;
}

TEST(a_server_opens_files_of_its_store_and_no_others)
{
    char path[TEST_PATH_BYTES + 16];
    int fd;

    if (!enter_sandbox())
        return;
    snprintf(path, sizeof(path), "%s/data.mdb", folder);
    fd = open(path, O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0 && write(fd, "x", 1) == 1 && close(fd) == 0);
    CHECK(unlink(path) == 0);
    CHECK(open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES);
    CHECK(open("/tmp/lbx-outside", O_RDWR | O_CREAT, 0600) < 0);
    CHECK_INT(EACCES, errno);
}

TEST(a_server_runs_no_program)
{
    char *const arguments[] = {NULL};

    if (!enter_sandbox())
        return;
    CHECK(execve("/bin/true", arguments, arguments) < 0);
    CHECK(errno == EPERM || errno == EACCES);
}

TEST(a_server_traces_no_process_and_is_traced_by_none)
{
    if (!enter_sandbox())
        return;
    CHECK(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) < 0);
    CHECK_INT(EPERM, errno);
}

TEST(a_server_has_sockets_of_three_families)
{
    const int families[] = {AF_INET, AF_INET6, AF_UNIX};

    if (!enter_sandbox())
        return;
    for (size_t i = 0; i < 3; i++) {
        int fd = socket(families[i], SOCK_STREAM, 0);

        // A machine may be without IPv6.
        CHECK(fd >= 0 || errno == EAFNOSUPPORT);
        if (fd >= 0)
            close(fd);
    }
    CHECK(socket(AF_NETLINK, SOCK_RAW, 0) < 0 && errno == EPERM);
    CHECK(socket(AF_PACKET, SOCK_RAW, 0) < 0 && errno == EPERM);
}

/* Negative control: what is refused above works outside. */
TEST(without_a_sandbox_all_of_it_works)
{
    int fd = open("/etc/passwd", O_RDONLY);

    CHECK(fd >= 0 && close(fd) == 0);
    fd = socket(AF_NETLINK, SOCK_RAW, 0);
    CHECK(fd >= 0 && close(fd) == 0);
}
