/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the library; see threads.h. */
#include "base/threads.h"

#include <signal.h>

bool
lbx__threads_start(pthread_t *ret, void *(*main)(void *), void *argument)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t blocked, before;
    int result;

    (void)sigfillset(&blocked);
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        (void)sigdelset(&blocked, own[i]);
    // A thread inherits the mask of the one that creates it (SIGMASK-1).
    (void)pthread_sigmask(SIG_BLOCK, &blocked, &before);
    result = pthread_create(ret, NULL, main, argument);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result == 0;
}
