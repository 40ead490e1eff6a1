/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How sanitizers behave in test programs, built in so that a program run by
 * hand does the same as under script/test: the first report ends the test.
 */
#include "support/test.h"

#if defined(__has_feature)
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer) ||         \
    defined(__SANITIZE_THREAD__) || HAS_FEATURE(thread_sanitizer)
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif

bool
test_is_sanitized(void)
{
    return IS_SANITIZED;
}

// The sanitizers' run-time looks these up by name; no header declares them.
const char *__asan_default_options(void);
const char *__tsan_default_options(void);
const char *__ubsan_default_options(void);

const char *
__asan_default_options(void)
{
    return "detect_leaks=1:detect_stack_use_after_return=1:"
           "strict_string_checks=1:allocator_may_return_null=1";
}

const char *
__tsan_default_options(void)
{
    // Children of tests that have threads start some of their own: a store is
    // opened anew after a fork.
    return "halt_on_error=1:second_deadlock_stack=1:history_size=4:"
           "die_after_fork=0";
}

const char *
__ubsan_default_options(void)
{
    return "halt_on_error=1:print_stacktrace=1";
}
