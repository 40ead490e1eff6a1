/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sandbox of a server: what it cannot do even if a request takes it over.
 *
 * SANDBOX-1  Landlock: files outside the store's folder, and the few that the
 *            server must read again (certificate, keys), cannot be opened. It
 *            holds for threads that are started later, so it is set up before
 *            the store is opened.
 * SANDBOX-2  Seccomp: system calls that a server has no use for, among them
 *            running a program, tracing, mounting and loading code into the
 *            kernel, fail with EPERM; and so do sockets of other families than
 *            IPv4, IPv6 and Unix.
 *
 * A kernel that cannot do one of them is reported in the log, and the server
 * goes on without.
 */
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Files ---- */

#define SANDBOX_READ                                                           \
    (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define SANDBOX_WRITE                                                          \
    (SANDBOX_READ | LANDLOCK_ACCESS_FS_WRITE_FILE |                            \
     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |          \
     LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR |               \
     LANDLOCK_ACCESS_FS_MAKE_SOCK)
#define SANDBOX_HANDLED                                                        \
    (SANDBOX_WRITE | LANDLOCK_ACCESS_FS_EXECUTE |                              \
     LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK |            \
     LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM)

/* Allows a file, or a folder and what is in it. One that is not there needs no
 * rule. */
static void
sandbox_allow(int rules, const char *path, uint64_t access)
{
    struct landlock_path_beneath_attr beneath = {.allowed_access = access};
    struct stat info;

    if (!path)
        return;
    beneath.parent_fd = open(path, O_PATH | O_CLOEXEC);
    if (beneath.parent_fd < 0)
        return;
    if (fstat(beneath.parent_fd, &info) == 0 && !S_ISDIR(info.st_mode))
        beneath.allowed_access &=
            LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;
    (void)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH,
                  &beneath, 0);
    close(beneath.parent_fd);
}

/* A file that is replaced by another, as certificates and keys are: its
 * folder must be readable. */
static void
sandbox_allow_folder_of(int rules, const char *path, uint64_t access)
{
    char copy[CLI_URL_BYTES], *target;

    if (!path || strlen(path) >= sizeof(copy))
        return;
    strcpy(copy, path);
    sandbox_allow(rules, dirname(copy), access);
    target = realpath(path, NULL); // of a link, as certbot's are
    if (target)
        sandbox_allow(rules, dirname(target), access);
    free(target);
}

/* What the system's library reads to find an address by its name, and what the
 * server itself opens. */
static const char *const sandbox_system_files[] = {
    "/etc/hosts",     "/etc/nsswitch.conf", "/etc/resolv.conf",
    "/etc/host.conf", "/etc/gai.conf",
    "/dev/null", // a descriptor in reserve (LSTN-1)
};

static bool
sandbox_close_files(const struct serve_values *values, const char *folder)
{
    const struct landlock_ruleset_attr handled = {.handled_access_fs =
                                                      SANDBOX_HANDLED};
    const int rules =
        (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0);
    bool done;

    if (rules < 0)
        return false;
    sandbox_allow(rules, folder, SANDBOX_WRITE);
    sandbox_allow_folder_of(rules, values->tls_certificate, SANDBOX_READ);
    sandbox_allow_folder_of(rules, values->tls_key, SANDBOX_READ);
    sandbox_allow_folder_of(rules, values->keys, SANDBOX_READ);
    if (strncmp(values->listen, "unix:", 5) == 0)
        sandbox_allow_folder_of(rules, values->listen + 5, SANDBOX_WRITE);
    for (size_t i = 0;
         i < sizeof(sandbox_system_files) / sizeof(sandbox_system_files[0]);
         i++)
        sandbox_allow(rules, sandbox_system_files[i], SANDBOX_READ);
    sandbox_allow(rules, "/proc/self", SANDBOX_READ);
    sandbox_allow(rules, "/usr/lib", SANDBOX_READ); // of name services
    done = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    close(rules);
    return done;
}

/* ---- System calls ---- */

static const unsigned sandbox_refused[] = {
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_move_mount,
    SYS_open_tree,
    SYS_fsopen,
    SYS_fsmount,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_kexec_file_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_setns,
    SYS_unshare,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_acct,
    SYS_quotactl,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    SYS_personality,
    SYS_io_uring_setup,
    SYS_mknodat,
};

#if defined(__x86_64__)
#define SANDBOX_ARCH AUDIT_ARCH_X86_64
#else
#define SANDBOX_ARCH AUDIT_ARCH_AARCH64
#endif

enum {
    SANDBOX_REFUSED = sizeof(sandbox_refused) / sizeof(sandbox_refused[0]),
    SANDBOX_STEPS = 16 + 2 * SANDBOX_REFUSED
};

#define SANDBOX_EPERM (SECCOMP_RET_ERRNO | (EPERM & SECCOMP_RET_DATA))

static void
sandbox_add(struct sock_filter *filter, size_t *count, uint16_t code,
            uint32_t k, uint8_t if_true, uint8_t if_false)
{
    filter[(*count)++] = (struct sock_filter){code, if_true, if_false, k};
}

/* Whatever else a number of another architecture would mean is refused. */
static size_t
sandbox_make_filter(struct sock_filter *filter)
{
    const uint16_t load = BPF_LD | BPF_W | BPF_ABS;
    const uint16_t equal = BPF_JMP | BPF_JEQ | BPF_K;
    const uint16_t end = BPF_RET | BPF_K;
    const unsigned families[] = {AF_UNIX, AF_INET, AF_INET6};
    size_t count = 0;

    sandbox_add(filter, &count, load, offsetof(struct seccomp_data, arch), 0,
                0);
    sandbox_add(filter, &count, equal, SANDBOX_ARCH, 1, 0);
    sandbox_add(filter, &count, end, SANDBOX_EPERM, 0, 0);
    sandbox_add(filter, &count, load, offsetof(struct seccomp_data, nr), 0, 0);
    for (size_t i = 0; i < SANDBOX_REFUSED; i++) {
        sandbox_add(filter, &count, equal, sandbox_refused[i], 0, 1);
        sandbox_add(filter, &count, end, SANDBOX_EPERM, 0, 0);
    }
    sandbox_add(filter, &count, equal, SYS_socket, 1, 0);
    sandbox_add(filter, &count, end, SECCOMP_RET_ALLOW, 0, 0);
    sandbox_add(filter, &count, load, offsetof(struct seccomp_data, args[0]), 0,
                0);
    for (size_t i = 0; i < 3; i++)
        sandbox_add(filter, &count, equal, families[i], (uint8_t)(3 - i), 0);
    sandbox_add(filter, &count, end, SANDBOX_EPERM, 0, 0);
    sandbox_add(filter, &count, end, SECCOMP_RET_ALLOW, 0, 0);
    return count;
}

static bool
sandbox_close_calls(void)
{
    struct sock_filter filter[SANDBOX_STEPS];
    const struct sock_fprog program = {
        .len = (unsigned short)sandbox_make_filter(filter),
        .filter = filter,
    };

    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                   SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

/* ---- Both ---- */

void
serve_sandbox(const struct serve_values *values,
              void (*log)(void *context, const char *line))
{
    const struct rlimit none = {0, 0};
    const bool in_files = strncmp(values->store, "file:", 5) == 0;
    char folder[CLI_URL_BYTES];
    struct stat info;

    // Secrets are in memory: no dump of it, and no debugger.
    (void)prctl(PR_SET_DUMPABLE, 0);
    (void)setrlimit(RLIMIT_CORE, &none);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        log(NULL, "this kernel does not refuse new privileges");
    if (in_files) {
        if (cli_target_folder(values->store, false, folder) != CLI_OK)
            return;
        (void)mkdir(folder, 0700); // its rule needs a folder
        if (stat(folder, &info) != 0)
            return; // opening the store will say why
    }
    if (!sandbox_close_files(values, in_files ? folder : NULL))
        log(NULL, "no landlock in this kernel: files are not closed off");
    if (!sandbox_close_calls())
        log(NULL, "no seccomp in this kernel: system calls are not closed "
                  "off");
}
