/* SPDX-License-Identifier: Apache-2.0 */
#include "support/signals.h"

#include "support/test.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

void
test_await_own_signal(void)
{
    struct signalfd_siginfo got;
    sigset_t mask;
    int fd;

    CHECK(sigemptyset(&mask) == 0 && sigaddset(&mask, SIGTERM) == 0);
    CHECK(signal(SIGTERM, SIG_DFL) != SIG_ERR); // Check has a handler
    CHECK(pthread_sigmask(SIG_BLOCK, &mask, NULL) == 0);
    fd = signalfd(-1, &mask, SFD_CLOEXEC);
    CHECK(fd >= 0);
    CHECK(kill(getpid(), SIGTERM) == 0);
    CHECK_INT(sizeof(got), read(fd, &got, sizeof(got)));
    CHECK_INT(SIGTERM, got.ssi_signo);
    CHECK(close(fd) == 0);
}
