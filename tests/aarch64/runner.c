/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test program's main() without Check, for a processor that is emulated:
 * in place of tests/support/runner.c and sanitizers.c. Each test is a process
 * with a time limit, as there, but only for one that hangs; rounds are a
 * quarter of those of a sanitized build.
 *
 * A test has passed when its body has returned: the child then writes a byte,
 * so that one that calls exit(0) fails.
 */
#include "support/test.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <check.h>

enum {
    ROUNDS_SHARE = 32,
    HANG_SECONDS = 20 * 60 /* no limit says how fast a machine must be */
};

static test_entry *first_test;
static test_entry *last_test;

void
test_register(test_entry *entry)
{
    if (last_test)
        last_test->next = entry;
    else
        first_test = entry;
    last_test = entry;
}

static void
print_remark(const char *mark, const char *format, va_list arguments)
{
    printf("%s ", mark);
    vprintf(format, arguments);
    printf("\n");
    fflush(stdout);
}

void
test_note(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_remark("#", format, arguments);
    va_end(arguments);
}

void
test_figure(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_remark("#", format, arguments); // a figure of the real machine only
    va_end(arguments);
}

_Noreturn void
_ck_assert_failed(const char *file, int line, const char *expr,
                  const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    printf("%s:%d: %s:", file, line, expr);
    print_remark("", format, arguments);
    va_end(arguments);
    _exit(1);
}

bool
test_is_full(void)
{
    return false;
}

bool
test_is_sanitized(void)
{
    return true;
}

long
test_rounds(long brief, long full)
{
    (void)full;
    return brief >= ROUNDS_SHARE ? brief / ROUNDS_SHARE : 1;
}

int
test_open_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    int count = 0;

    if (!directory)
        return -1;
    while (readdir(directory))
        count++;
    closedir(directory);
    return count - 3; // ".", ".." and the directory's own descriptor
}

static void
run_child(const test_entry *entry, int done)
{
    int before = test_open_descriptors();
    int after;

    alarm(entry->limit_s * 4 > HANG_SECONDS ? (unsigned)entry->limit_s * 4
                                            : HANG_SECONDS);
    entry->body();
    after = test_open_descriptors();
    if (after > before)
        test_fail(entry->file, entry->line, "%d file descriptor(s) left open",
                  after - before);
    if (write(done, "", 1) != 1)
        abort();
    exit(0);
}

static bool
run_test(const test_entry *entry, int number)
{
    char byte;
    int done[2];
    int status = -1;
    pid_t child;
    bool passed;

    fflush(stdout);
    if (pipe(done) != 0)
        abort();
    child = fork();
    if (child == 0) {
        close(done[0]);
        run_child(entry, done[1]);
    }
    close(done[1]);
    passed = child > 0 && waitpid(child, &status, 0) == child && status == 0 &&
             read(done[0], &byte, 1) == 1;
    close(done[0]);
    printf("%sok %d - aarch64: %s: %s\n", passed ? "" : "not ", number,
           entry->suite, entry->name);
    if (!passed)
        printf("#   wait status 0x%x\n", (unsigned)status);
    fflush(stdout);
    return passed;
}

/* Arguments: parts of the names of the tests to run; all without. */
int
main(int argc, char **argv)
{
    int number = 0;
    int failed = 0;

    for (test_entry *entry = first_test; entry; entry = entry->next) {
        bool selected = argc == 1;

        for (int i = 1; i < argc; i++)
            selected |= strstr(entry->name, argv[i]) != NULL;
        if (selected)
            failed += !run_test(entry, ++number);
    }
    printf("1..%d\n", number);
    return number > 0 && failed == 0 ? 0 : 1;
}
