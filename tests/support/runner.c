/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test program's main(): picks tests, runs each as a Check suite of its
 * own so that its result can be printed at once, and speaks TAP.
 *
 * RUNNER-1  Every line of TAP is written by the parent, and stdout is empty
 *           whenever a child is forked, so no line appears twice.
 * RUNNER-2  The exit status is 0 only if at least one test ran and all passed.
 * RUNNER-3  A test passes only if its body returned: exit(0) in the middle of
 *           one looks like a pass to Check.
 */
#include "support/test.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <check.h>

static test_entry *first_test;
static test_entry *last_test;
static bool is_full;

// In declaration order: constructors of one file run in that order.
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
    char text[1000];

    vsnprintf(text, sizeof(text), format, arguments);
    printf("%s %s\n", mark, text);
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
    print_remark("#=", format, arguments);
    va_end(arguments);
}

bool
test_is_full(void)
{
    return is_full;
}

long
test_rounds(long brief, long full)
{
    if (is_full)
        return full;
    if (test_is_sanitized())
        return brief >= 8 ? brief / 8 : 1;
    return brief;
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

static test_entry *running;

/* What the child says of itself, in memory that both have. */
struct outcome {
    atomic_bool has_returned; // RUNNER-3
    char skipped[96];         // why; "": it was not
};

static struct outcome *outcome;

void
test_skip(const char *reason)
{
    (void)snprintf(outcome->skipped, sizeof(outcome->skipped), "%s", reason);
}

// The child's whole life. Leaving it by return makes Check call exit(), which
// lets the leak sanitizer look as well.
static void
run_body(int index)
{
    int before = test_open_descriptors();

    (void)index;
    running->body();

    int after = test_open_descriptors();

    if (after > before)
        test_fail(running->file, running->line,
                  "%d file descriptor(s) left open", after - before);
    atomic_store(&outcome->has_returned, true);
}

// Why a test failed, each line of it as a diagnostic.
static void
print_failure(TestResult *result)
{
    if (tr_rtype(result) == CK_PASS) {
        printf("#   %s:%d: the test exited before the end of its body\n",
               running->file, running->line);
        return;
    }

    const char *file = tr_lfile(result);
    char *text = strdup(tr_msg(result));
    char *rest = text;
    char *line;

    for (line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n"))
        printf("#   %s:%d: %s\n", file ? file : "?", tr_lno(result), line);
    free(text);
}

// The long forms have a whole night.
static int
limit_of(const test_entry *entry)
{
    if (is_full)
        return entry->limit_s * 1000;
    return entry->limit_s * (test_is_sanitized() ? 4 : 1);
}

static bool
run_test(test_entry *entry, int number)
{
    const TTest check_test = {entry->name, run_body, entry->file, entry->line};
    Suite *suite = suite_create(entry->suite);
    TCase *tcase = tcase_create(entry->name);
    SRunner *runner;
    TestResult **results;
    bool passed;

    running = entry;
    atomic_store(&outcome->has_returned, false);
    outcome->skipped[0] = '\0';
    tcase_set_timeout(tcase, limit_of(entry));
    _tcase_add_test(tcase, &check_test, 0, 0, 0, 1);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);

    fflush(stdout); // RUNNER-1
    srunner_run_all(runner, CK_SILENT);

    results = srunner_results(runner);
    passed =
        tr_rtype(results[0]) == CK_PASS && atomic_load(&outcome->has_returned);
    printf("%sok %d - %s: %s", passed ? "" : "not ", number, entry->suite,
           entry->name);
    if (entry->behaviour[0])
        printf(" (%s)", entry->behaviour);
    if (outcome->skipped[0])
        printf(" # SKIP %s", outcome->skipped);
    printf("\n");
    if (!passed)
        print_failure(results[0]);
    fflush(stdout);

    free(results);
    srunner_free(runner);
    return passed;
}

static bool
is_selected(const test_entry *entry, char **filters)
{
    if (!*filters)
        return true;
    for (; *filters; filters++) {
        if (strstr(entry->name, *filters))
            return true;
    }
    return false;
}

int
main(int argc, char **argv)
{
    char **filters = argv + 1;
    bool only_list = false;
    int planned = 0;
    int number = 0;
    int failed = 0;

    (void)argc;
    for (; *filters && strncmp(*filters, "--", 2) == 0; filters++) {
        only_list |= strcmp(*filters, "--list") == 0;
        is_full |= strcmp(*filters, "--full") == 0;
    }
    for (test_entry *entry = first_test; entry; entry = entry->next)
        planned += is_selected(entry, filters);

    outcome = mmap(NULL, sizeof(*outcome), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (outcome == MAP_FAILED)
        return 1;
    if (!only_list)
        printf("1..%d\n", planned);
    for (test_entry *entry = first_test; entry; entry = entry->next) {
        if (!is_selected(entry, filters))
            continue;
        if (only_list)
            printf("%s\n", entry->name);
        else if (!run_test(entry, ++number))
            failed++;
    }
    return planned > 0 && failed == 0 ? 0 : 1; // RUNNER-2
}
