/* SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define KERNEL "/usr/bin/linux.uml"
#define MKFS   "/usr/sbin/mkfs.ext4"

enum {
    DISK_BYTES = 96 << 20,
    RUNS_MS = 60000
};

/* Starts a program with its output in `out`, in a group of its own. */
static pid_t
spawn(char *const words[], int out)
{
    const pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        const int none = open("/dev/null", O_RDWR);

        (void)setsid();
        // A test that fails leaves no machine running.
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)dup2(none, STDIN_FILENO);
        (void)dup2(out >= 0 ? out : none, STDOUT_FILENO);
        (void)dup2(none, STDERR_FILENO);
        (void)execv(words[0], words);
        _exit(127);
    }
    return child;
}

void
machine_make(struct machine *machine, const char *folder)
{
    char disk[600];
    char *words[] = {MKFS, "-q", "-F", disk, NULL};
    int fd, status;

    *machine = (struct machine){.console = -1};
    if (access(KERNEL, X_OK) != 0)
        FAIL("no " KERNEL ": script/bootstrap installs it");
    (void)snprintf(machine->folder, sizeof(machine->folder), "%s", folder);
    CHECK(mkdir(folder, 0700) == 0);
    (void)snprintf(disk, sizeof(disk), "%s/disk", folder);
    fd = open(disk, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && ftruncate(fd, DISK_BYTES) == 0 && close(fd) == 0);
    CHECK(waitpid(spawn(words, -1), &status, 0) > 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* What its first process does. Our root is its root, to read; what it mounts
 * is its own. */
static void
write_init(const struct machine *machine, const char *command)
{
    char path[600];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/init", machine->folder);
    (void)unlink(path);
    file = fopen(path, "we");
    CHECK(file);
    (void)fprintf(file,
                  "#!/bin/sh\n"
                  "echo RUNS\n"
                  "mount -t proc none /proc\n"
                  "mount -t tmpfs none /mnt\n"
                  "mkdir /mnt/disk\n"
                  "mount -t ext4 /dev/ubda /mnt/disk || exit 1\n"
                  "echo MOUNTED\n"
                  "stty -opost 2>/dev/null\n"
                  "%s\n"
                  "sync\n"
                  "echo o >/proc/sysrq-trigger\n"
                  "sleep 60\n",
                  command);
    CHECK(fclose(file) == 0);
    CHECK(chmod(path, 0700) == 0);
}

void
machine_start(struct machine *machine, const char *command)
{
    char disk[600], init[600], state[600];
    char *words[] = {
        KERNEL,     "mem=192M", "rootfstype=hostfs", "ro", "rootflags=/",
        "con=null", "quiet",    "con0=null,fd:1",    disk, init,
        state,      NULL};
    int ends[2];

    write_init(machine, command);
    (void)snprintf(disk, sizeof(disk), "ubd0=%s/disk", machine->folder);
    (void)snprintf(init, sizeof(init), "init=%s/init", machine->folder);
    (void)snprintf(state, sizeof(state), "uml_dir=%s/", machine->folder);
    CHECK(pipe2(ends, O_CLOEXEC) == 0);
    machine->size = 0;
    machine->process = spawn(words, ends[1]);
    CHECK(close(ends[1]) == 0);
    machine->console = ends[0];
}

/* The first line of what there is. */
static bool
cut_line(struct machine *machine, char *line, size_t size)
{
    char *end = memchr(machine->text, '\n', machine->size);
    size_t length;

    if (!end)
        return false;
    length = (size_t)(end - machine->text);
    (void)snprintf(line, size, "%.*s", (int)length, machine->text);
    line[strcspn(line, "\r")] = '\0';
    machine->size -= length + 1;
    memmove(machine->text, end + 1, machine->size);
    return true;
}

bool
machine_line(struct machine *machine, char *line, size_t size, int wait_ms)
{
    struct pollfd console = {.fd = machine->console, .events = POLLIN};

    while (!cut_line(machine, line, size)) {
        ssize_t done;

        if (machine->size == sizeof(machine->text))
            machine->size = 0; // no line of ours
        if (poll(&console, 1, wait_ms) != 1)
            return false;
        done = read(machine->console, machine->text + machine->size,
                    sizeof(machine->text) - machine->size);
        if (done <= 0)
            return false;
        machine->size += (size_t)done;
    }
    return true;
}

void
machine_cut(struct machine *machine)
{
    int status;

    // The whole group: children of its kernel would hold the disk.
    CHECK(kill(-machine->process, SIGKILL) == 0);
    CHECK(waitpid(machine->process, &status, 0) == machine->process);
    EVENTUALLY(kill(-machine->process, 0) < 0 && errno == ESRCH);
}

/* True when the processor of this machine has AMX. */
static bool
has_amx(void)
{
    char line[8192];
    bool found = false;
    FILE *file = fopen("/proc/cpuinfo", "re");

    while (file && !found && fgets(line, sizeof(line), file))
        found = strncmp(line, "flags", 5) == 0 && strstr(line, " amx_tile");
    if (file)
        (void)fclose(file);
    return found;
}

bool
machine_runs(struct machine *machine)
{
    char line[400];
    bool runs = false;

    if (!has_amx())
        return true;
    machine_start(machine, "true");
    while (!runs && machine_line(machine, line, sizeof(line), RUNS_MS))
        runs = strcmp(line, "RUNS") == 0;
    machine_cut(machine);
    machine_end(machine);
    return runs;
}

void
machine_end(struct machine *machine)
{
    CHECK(close(machine->console) == 0);
    machine->console = -1;
}
