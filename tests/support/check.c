/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checks themselves: what a failed expectation says.
 *
 * They run in the forked child, in any of its threads. The first failure
 * reports through Check's message file and ends the child; a second thread
 * that fails at the same moment waits on the lock until the process is gone.
 */
#include "support/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <check.h>

_Noreturn void
test_fail(const char *file, int line, const char *format, ...)
{
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    char text[1000];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);

    pthread_mutex_lock(&once); // never unlocked: the process ends here
    _ck_assert_failed(file, line, "failed", "%s", text);
}

void
test_check_status(const char *file, int line, const char *expression,
                  lbx_status expected, lbx_status actual)
{
    if (actual != expected)
        test_fail(file, line, "%s: expected %s, got %s (%d)", expression,
                  lbx_status_name(expected), lbx_status_name(actual),
                  (int)actual);
}

void
test_check_int(const char *file, int line, const char *expression,
               intmax_t expected, intmax_t actual)
{
    if (actual != expected)
        test_fail(file, line, "%s: expected %jd, got %jd", expression, expected,
                  actual);
}

void
test_check_ptr(const char *file, int line, const char *expression,
               const void *expected, const void *actual)
{
    if (actual != expected)
        test_fail(file, line, "%s: expected %p, got %p", expression, expected,
                  actual);
}

void
test_check_str(const char *file, int line, const char *expression,
               const char *expected, const char *actual)
{
    if (!actual || strcmp(actual, expected) != 0)
        test_fail(file, line, "%s: expected \"%s\", got \"%s\"", expression,
                  expected, actual ? actual : "(null)");
}

void
test_pause(unsigned tries)
{
    const struct timespec nap = {.tv_nsec = 100000};

    if (tries < 2000)
        (void)sched_yield();
    else
        (void)nanosleep(&nap, NULL);
}
