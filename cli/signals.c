/* SPDX-License-Identifier: Apache-2.0 */
/* Signals as a descriptor, so that a wait can watch for both. */
#include "cli.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

int
cli_signals_open(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
        return -1;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int
cli_signals_take(int fd)
{
    struct signalfd_siginfo info;

    if (fd < 0 || read(fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
        return 0;
    return (int)info.ssi_signo;
}
