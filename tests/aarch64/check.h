/* SPDX-License-Identifier: Apache-2.0 */
/* In place of Check's header, which exists for this machine's processor only:
 * what tests/support needs of it. See runner.c. */
#ifndef LBX_TEST_AARCH64_CHECK_H
#define LBX_TEST_AARCH64_CHECK_H

_Noreturn void _ck_assert_failed(const char *file, int line, const char *expr,
                                 const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
