/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the library. */
#include "base/threads.h"
#include "support/test.h"

#include <signal.h>

static void *
read_mask(void *context)
{
    CHECK_INT(0, pthread_sigmask(SIG_SETMASK, NULL, context));
    return NULL;
}

/* A thread of the library blocks signals; the one that starts it goes on with
 * those that it had. */
TEST(thread_of_the_library_blocks_signals_and_its_starter_does_not)
{
    sigset_t mask, its, mine;
    pthread_t thread;

    CHECK_INT(0, sigemptyset(&mask));
    CHECK_INT(0, sigaddset(&mask, SIGUSR1));
    CHECK_INT(0, pthread_sigmask(SIG_SETMASK, &mask, NULL));
    CHECK(lbx__threads_start(&thread, read_mask, &its));
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_INT(0, pthread_sigmask(SIG_SETMASK, NULL, &mine));
    CHECK_INT(1, sigismember(&its, SIGTERM));
    CHECK_INT(0, sigismember(&its, SIGSEGV));
    CHECK_INT(1, sigismember(&mine, SIGUSR1));
    CHECK_INT(0, sigismember(&mine, SIGTERM));
}
