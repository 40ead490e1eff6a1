/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads for tests.
 *
 * threads_run() starts `count` threads, lets them go at the same moment and
 * waits for all of them. thread_start() is one thread beside the test.
 * Checks inside threads fail the test at once, so nothing is handed back.
 *
 *     static void
 *     send_some(unsigned index, void *context) { ... }
 *
 *     threads_run(4, send_some, &world);
 */
#ifndef LBX_TEST_SUPPORT_THREADS_H
#define LBX_TEST_SUPPORT_THREADS_H

#include <pthread.h>

typedef void thread_body(unsigned index, void *context);

enum {
    THREADS_MOST = 256
};

/* Runs body(0) … body(count - 1), each in a thread of its own. */
void threads_run(unsigned count, thread_body *body, void *context);

struct thread {
    pthread_t id;
    void (*body)(void *context);
    void *context;
};

/* Starts body(context); `thread` must stay where it is until joined. */
void thread_start(struct thread *thread, void (*body)(void *context),
                  void *context);
void thread_join(struct thread *thread);

#endif
