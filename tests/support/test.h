/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test harness: Check without its ceremony.
 *
 *     #include "support/test.h"
 *
 *     // A refused message stays the sender's.
 *     TEST(full_mailbox_refuses)
 *     {
 *         CHECK_STATUS(LBX_FULL, lbx_producer_try_send(producer, message));
 *     }
 *
 * A test registers itself. It runs in a forked child of its own with a time
 * limit, so that a crash, a hang, a sanitizer's report, a leaked descriptor
 * and a check that fails in any thread each fail that one named test. The
 * program prints TAP, the plan first.
 *
 * Arguments of a test program: parts of test names (those tests run; all
 * without); --list; --full for the long forms of script/soak. Tests of one
 * program have distinct names.
 *
 * Checks work in every thread of the test, but not in processes it forks.
 * They are never compiled out.
 */
#ifndef LBX_TEST_SUPPORT_TEST_H
#define LBX_TEST_SUPPORT_TEST_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <letterbox/base.h>

/* A test that takes longer hangs. Not a measure of speed: machines are busy. */
#define TEST_SECONDS 300

/* Four ways to define a test: plain, with its own time limit in seconds, with
 * the numbers of the behaviours it shows ("V-09 R-01", printed beside its
 * name), and with both. Sanitizers stretch every limit. */
#define TEST(name)                   TEST_DEFINE(name, "", TEST_SECONDS)
#define TEST_LIMIT(name, seconds)    TEST_DEFINE(name, "", seconds)
#define TEST_CITING(behaviour, name) TEST_DEFINE(name, behaviour, TEST_SECONDS)
#define TEST_CITING_LIMIT(behaviour, name, seconds)                            \
    TEST_DEFINE(name, behaviour, seconds)

#define CHECK(condition)                                                       \
    ((condition) ? (void)0                                                     \
                 : test_fail(__FILE__, __LINE__, "CHECK(%s)", #condition))

#define CHECK_OK(expression) CHECK_STATUS(LBX_OK, expression)

#define CHECK_STATUS(expected, expression)                                     \
    test_check_status(__FILE__, __LINE__, #expression, expected, expression)

#define CHECK_INT(expected, actual)                                            \
    test_check_int(__FILE__, __LINE__, #actual, (intmax_t)(expected),          \
                   (intmax_t)(actual))

#define CHECK_PTR(expected, actual)                                            \
    test_check_ptr(__FILE__, __LINE__, #actual, expected, actual)

#define CHECK_STR(expected, actual)                                            \
    test_check_str(__FILE__, __LINE__, #actual, expected, actual)

/* Fails with a sentence of its own, printf-like. */
#define FAIL(...) test_fail(__FILE__, __LINE__, __VA_ARGS__)

/* Ends a test whose question this machine cannot answer; TAP says why. */
#define SKIP(reason)                                                           \
    do {                                                                       \
        test_skip(reason);                                                     \
        return;                                                                \
    } while (0)

/* Waits for another thread to make `condition` true; the test's time limit
 * ends it. For what cannot be waited on otherwise, such as "is parked now". */
#define EVENTUALLY(condition)                                                  \
    do {                                                                       \
        for (unsigned tries = 0; !(condition); tries++)                        \
            test_pause(tries);                                                 \
    } while (0)

void test_skip(const char *reason);

/* Between two looks: yields, and after some of those naps, so that who looks
 * does not keep from working whom it waits for. */
void test_pause(unsigned tries);

/* A remark that is printed as a TAP diagnostic whether the test passes or
 * not: a seed, a count. One line, printf-like. */
void test_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for a figure that script/test prints without being asked. */
void test_figure(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* How many rounds a test should do: `brief` in script/test, an eighth of that
 * under a sanitizer (at least 1), `full` in script/soak. */
long test_rounds(long brief, long full);

/* True in builds with ASan or TSan, which are many times slower. */
bool test_is_sanitized(void);

/* True when the program was started with --full. */
bool test_is_full(void);

/* How many open descriptors this process has; -1 when it cannot tell. */
int test_open_descriptors(void);

/* ---- What the macros stand on ---- */

typedef struct test_entry {
    const char *suite; /* TEST_SUITE, defined by the build */
    const char *name;
    const char *behaviour;
    int limit_s;
    void (*body)(void);
    const char *file;
    int line;
    struct test_entry *next;
} test_entry;

#define TEST_DEFINE(test_name, test_behaviour, seconds)                        \
    static void test_body_##test_name(void);                                   \
    __attribute__((constructor)) static void test_register_##test_name(void)   \
    {                                                                          \
        static test_entry entry = {                                            \
            .suite = TEST_SUITE,                                               \
            .name = #test_name,                                                \
            .behaviour = (test_behaviour),                                     \
            .limit_s = (seconds),                                              \
            .body = test_body_##test_name,                                     \
            .file = __FILE__,                                                  \
            .line = __LINE__,                                                  \
        };                                                                     \
                                                                               \
        test_register(&entry);                                                 \
    }                                                                          \
    static void test_body_##test_name(void)

void test_register(test_entry *entry);

_Noreturn void test_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void test_check_status(const char *file, int line, const char *expression,
                       lbx_status expected, lbx_status actual);
void test_check_int(const char *file, int line, const char *expression,
                    intmax_t expected, intmax_t actual);
void test_check_ptr(const char *file, int line, const char *expression,
                    const void *expected, const void *actual);
void test_check_str(const char *file, int line, const char *expression,
                    const char *expected, const char *actual);

#endif
