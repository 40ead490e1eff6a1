/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sandbox of letterbox serve. Each test is a process of its own. That a
 * server works inside is what tests/sqs, tests/clients and the others show: it
 * is on unless it is switched off.
 */
#include "serve.h"

#include "support/folder.h"
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[TEST_PATH_BYTES];

/* What a process in the sandbox says, in memory that the test has too. */
struct verdict {
    int line; /* of the check that failed; 0: none */
    int error;
    char text[200];     /* of that check */
    char complaint[96]; /* what the kernel cannot do; "": nothing */
};

static struct verdict *verdict;

/* In place of the program's own, which complains on standard error. */
int
cli_target_folder(const char *url, bool path, char ret[CLI_URL_BYTES])
{
    (void)path;
    snprintf(ret, CLI_URL_BYTES, "%s", url + strlen("file:"));
    return CLI_OK;
}

static void
keep_line(void *context, const char *line)
{
    (void)context;
    snprintf(verdict->complaint, sizeof(verdict->complaint), "%s", line);
}

static void
enter_sandbox(void)
{
    static char url[TEST_PATH_BYTES + 8];
    struct serve_values values = {.listen = "127.0.0.1:0"};

    snprintf(url, sizeof(url), "file:%s", folder);
    values.store = url;
    serve_sandbox(&values, keep_line);
}

/* As CHECK, in the sandbox, where the harness cannot work. */
#define INSIDE(condition)                                                      \
    do {                                                                       \
        if (!(condition))                                                      \
            fail_inside(__LINE__, #condition);                                 \
    } while (0)

static void
fail_inside(int line, const char *text)
{
    verdict->error = errno;
    verdict->line = line;
    snprintf(verdict->text, sizeof(verdict->text), "%s", text);
    _exit(1);
}

/* Runs `body` in a process in the sandbox. False: the kernel cannot. */
static bool
run_inside(void (*body)(void))
{
    int how = 0;
    pid_t child;

    verdict = mmap(NULL, sizeof(*verdict), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(verdict != MAP_FAILED);
    snprintf(folder, sizeof(folder), "%s", test_path());
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        enter_sandbox();
        if (!verdict->complaint[0])
            body();
        _exit(0);
    }
    CHECK(waitpid(child, &how, 0) == child);
    if (verdict->line)
        FAIL("line %d: %s (%s)", verdict->line, verdict->text,
             strerror(verdict->error));
    CHECK(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    return !verdict->complaint[0];
}

/* A test whose body runs in the sandbox. */
#define INSIDE_TEST(name)                                                      \
    static void name##_inside(void);                                           \
    TEST(name)                                                                 \
    {                                                                          \
        if (!run_inside(name##_inside))                                        \
            SKIP(verdict->complaint);                                          \
    }                                                                          \
    static void name##_inside(void)

INSIDE_TEST(a_server_opens_files_of_its_store_and_no_others)
{
    char path[TEST_PATH_BYTES + 16];
    int fd;

    snprintf(path, sizeof(path), "%s/data.mdb", folder);
    fd = open(path, O_RDWR | O_CREAT, 0600);
    INSIDE(fd >= 0 && write(fd, "x", 1) == 1 && close(fd) == 0);
    INSIDE(unlink(path) == 0);
    INSIDE(open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES);
    INSIDE(open("/tmp/lbx-outside", O_RDWR | O_CREAT, 0600) < 0);
    INSIDE(errno == EACCES);
}

INSIDE_TEST(a_server_runs_no_program)
{
    char *const arguments[] = {NULL};

    INSIDE(execve("/bin/true", arguments, arguments) < 0 && errno == EPERM);
    INSIDE(fork() < 0 && errno == EPERM);
    INSIDE(vfork() < 0);
}

static void *
thread_main(void *argument)
{
    *(bool *)argument = true;
    (void)prctl(PR_SET_NAME, "letterbox");
    return NULL;
}

/* SECCOMP-2: without clone3() the C library uses clone(). */
INSIDE_TEST(a_server_starts_threads)
{
    pthread_t thread;
    bool ran = false;

    INSIDE(syscall(SYS_clone3, NULL, 0) < 0 && errno == ENOSYS);
    INSIDE(pthread_create(&thread, NULL, thread_main, &ran) == 0);
    INSIDE(pthread_join(thread, NULL) == 0 && ran);
}

INSIDE_TEST(a_server_traces_no_process_and_is_traced_by_none)
{
    INSIDE(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) < 0);
    INSIDE(errno == EPERM);
    INSIDE(kill(getppid(), 0) < 0 && errno == EPERM);
    INSIDE(syscall(SYS_tgkill, getppid(), getppid(), 0) < 0 && errno == EPERM);
    INSIDE(syscall(SYS_tgkill, getpid(), getpid(), 0) == 0);
}

INSIDE_TEST(a_server_has_sockets_of_three_families)
{
    const int families[] = {AF_INET, AF_INET6, AF_UNIX};

    for (size_t i = 0; i < 3; i++) {
        int fd = socket(families[i], SOCK_STREAM, 0);

        // A machine may be without IPv6.
        INSIDE(fd >= 0 || errno == EAFNOSUPPORT);
        if (fd >= 0)
            close(fd);
    }
    INSIDE(socket(AF_NETLINK, SOCK_RAW, 0) < 0 && errno == EPERM);
    INSIDE(socket(AF_PACKET, SOCK_RAW, 0) < 0 && errno == EPERM);
}

/* SECCOMP-1: a sample of what is not in the list, each with arguments that
 * would give another error. */
INSIDE_TEST(a_server_makes_no_other_calls)
{
    const int calls[] = {
        SYS_mount,       SYS_umount2,          SYS_unshare,   SYS_setns,
        SYS_bpf,         SYS_perf_event_open,  SYS_keyctl,    SYS_add_key,
        SYS_userfaultfd, SYS_process_vm_readv, SYS_chroot,    SYS_reboot,
        SYS_init_module, SYS_io_uring_setup,   SYS_setuid,    SYS_setgid,
        SYS_symlinkat,   SYS_mknodat,          SYS_linkat,    SYS_personality,
        SYS_setrlimit,   SYS_memfd_create,     SYS_setxattr,  SYS_quotactl,
        SYS_acct,        SYS_syslog,           SYS_swapon,    SYS_capset,
        SYS_seccomp,     SYS_setdomainname,    SYS_pidfd_open};

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        errno = 0;
        INSIDE(syscall(calls[i], -1, -1, -1, -1, -1, -1) == -1);
        INSIDE(errno == EPERM);
    }
    // SECCOMP-2: what this program cannot know of.
    INSIDE(syscall(1000, 0) < 0 && errno == ENOSYS);
    // SECCOMP-3
    INSIDE(ioctl(0, TIOCSTI, "x") < 0 && errno == EPERM);
    INSIDE(prctl(PR_SET_DUMPABLE, 1) < 0 && errno == EPERM);
    INSIDE(syscall(SYS_prlimit64, getppid(), RLIMIT_CORE, NULL, NULL) < 0);
    INSIDE(errno == EPERM);
}

INSIDE_TEST(a_server_leaves_no_dump_of_its_memory)
{
    struct rlimit limit;

    INSIDE(getrlimit(RLIMIT_CORE, &limit) == 0);
    INSIDE(limit.rlim_cur == 0 && limit.rlim_max == 0);
    INSIDE(prctl(PR_GET_DUMPABLE) == 0);
}

/* SANDBOX-3, as the kernel shows it. */
INSIDE_TEST(a_server_keeps_three_capabilities_at_the_most)
{
    const unsigned long long kept = 1ull << CAP_NET_BIND_SERVICE |
                                    1ull << CAP_DAC_OVERRIDE |
                                    1ull << CAP_DAC_READ_SEARCH;
    unsigned long long has = ~0ull;
    char line[256];
    FILE *status;

    status = fopen("/proc/self/status", "r");
    INSIDE(status != NULL);
    while (fgets(line, sizeof(line), status))
        (void)sscanf(line, "CapPrm: %llx", &has);
    fclose(status);
    INSIDE((has & ~kept) == 0);
}

/* Negative control: what is refused above works outside. */
TEST(without_a_sandbox_all_of_it_works)
{
    int fd = open("/etc/passwd", O_RDONLY);
    pid_t child;

    CHECK(fd >= 0 && close(fd) == 0);
    fd = socket(AF_NETLINK, SOCK_RAW, 0);
    CHECK(fd >= 0 && close(fd) == 0);
    child = fork();
    if (child == 0)
        _exit(0);
    CHECK(child > 0 && waitpid(child, NULL, 0) == child);
    CHECK(syscall(SYS_linkat, -1, NULL, -1, NULL, -1) < 0 && errno != EPERM);
}
