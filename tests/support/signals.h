/* SPDX-License-Identifier: Apache-2.0 */
/* A program that waits for a signal with signalfd(). */
#ifndef LBX_TEST_SUPPORT_SIGNALS_H
#define LBX_TEST_SUPPORT_SIGNALS_H

/* Blocks SIGTERM in this thread, sends it to the process and reads it from a
 * signalfd. A thread that has it unblocked would end the process. */
void test_await_own_signal(void);

#endif
