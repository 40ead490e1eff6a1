/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sandbox of a server: what it cannot do even if a request takes it over.
 *
 * SANDBOX-1  Landlock: files outside the store's folder, and the few that the
 *            server must read again (settings, certificate, keys), cannot be
 *            opened. It holds for threads that are started later, so it is set
 *            up before the store is opened.
 * SANDBOX-2  Seccomp: system calls that a server does not need fail
 *            (serve_seccomp.c).
 * SANDBOX-3  Of the capabilities that root has, those are kept that open files
 *            of other owners, and ports below 1024.
 *
 * A kernel that cannot do one of them is reported in the log, and the server
 * goes on without.
 */
#include "serve.h"

#include <fcntl.h>
#include <libgen.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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
    memcpy(copy, path, strlen(path) + 1);
    sandbox_allow(rules, dirname(copy), access);
    target = realpath(path, NULL); // of a link, as certbot's are
    if (target)
        sandbox_allow(rules, dirname(target), access);
    free(target);
}

/* What the system's library reads to find an address by its name, and what the
 * server itself opens. */
static const char *const sandbox_system_files[] = {
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/resolv.conf",
    "/etc/host.conf",
    "/etc/gai.conf",
    "/etc/localtime",
    "/sys/devices/system/cpu/online",  // how many loops
    "/proc/sys/kernel/random/boot_id", // which locks are of an earlier life
    "/dev/null",                       // a descriptor in reserve (LSTN-1)
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
    sandbox_allow_folder_of(rules, values->config, SANDBOX_READ);
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

/* ---- Capabilities ---- */

/* SANDBOX-3: they are those of a thread, so this is done before there are
 * others. A group's store needs to give its files to the group. */
static bool
sandbox_drop_capabilities(const struct serve_values *values)
{
    struct __user_cap_header_struct header = {.version =
                                                  _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    uint32_t kept = 1u << CAP_NET_BIND_SERVICE | 1u << CAP_DAC_OVERRIDE |
                    1u << CAP_DAC_READ_SEARCH;

    if (values->common.group_store)
        kept |= 1u << CAP_CHOWN | 1u << CAP_FOWNER;
    if (syscall(SYS_capget, &header, sets) != 0)
        return false;
    for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        const uint32_t mask = i == 0 ? kept : 0;

        sets[i].permitted &= mask;
        sets[i].effective &= mask;
        sets[i].inheritable = 0;
    }
    return syscall(SYS_capset, &header, sets) == 0;
}

/* ---- All of it ---- */

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
    if (!sandbox_drop_capabilities(values))
        log(NULL, "capabilities cannot be given up in this kernel");
    if (!serve_seccomp())
        log(NULL, "no seccomp in this kernel: system calls are not closed "
                  "off");
}
