/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Couriers that run until SIGTERM or SIGINT.
 *
 * The signal may be delivered to any thread of the process, so it is caught by
 * a handler, which counts it and wakes the threads that wait here. The calling
 * thread unblocks both signals: with library threads, and often all others,
 * blocking them, it is the one that gets them.
 *
 * SIGN-1  The handlers are installed while at least one call waits, and those
 *         that were there before are put back by the last.
 * SIGN-2  A call reads the count before it installs its handlers: a signal that
 *         comes after that is not missed.
 * SIGN-3  A signal that the program ignores stays ignored, as shells start
 *         programs in the background with SIGINT ignored.
 */
#include "courier/courier.h"

#include <signal.h>

static const int signal_numbers[] = {SIGTERM, SIGINT};

enum {
    SIGNAL_COUNT = sizeof(signal_numbers) / sizeof(signal_numbers[0])
};

static _Atomic(uint32_t) signal_word;  /* changes when a waiter has to look */
static _Atomic(uint32_t) signals_seen; /* how many came; SIGN-2 */

static lbx__lock signal_lock;
static unsigned signal_users;                         /* SIGN-1 */
static struct sigaction signals_before[SIGNAL_COUNT]; /* SIGN-1 */

void
lbx__courier_signal_wake(void)
{
    // Release: a waiter that reads the word sees what was set before it.
    (void)lbx__add(&signal_word, 1u, release);
    lbx__futex_wake(&signal_word, INT32_MAX);
}

/* Async-signal-safe: two atomic additions and a system call. */
static void
courier_signal_handle(int number)
{
    (void)number;
    // Relaxed: the word that follows orders it.
    (void)lbx__add(&signals_seen, 1u, relaxed);
    lbx__courier_signal_wake();
}

static void
courier_signal_install(void)
{
    struct sigaction action = {.sa_handler = courier_signal_handle,
                               .sa_flags = SA_RESTART};

    (void)sigemptyset(&action.sa_mask);
    lbx__lock_take(&signal_lock);
    for (int i = 0; i < SIGNAL_COUNT && signal_users == 0; i++) {
        (void)sigaction(signal_numbers[i], NULL, &signals_before[i]);
        if (signals_before[i].sa_handler != SIG_IGN) // SIGN-3
            (void)sigaction(signal_numbers[i], &action, NULL);
    }
    signal_users++;
    lbx__lock_give(&signal_lock);
}

static void
courier_signal_restore(void)
{
    lbx__lock_take(&signal_lock);
    signal_users--;
    for (int i = 0; i < SIGNAL_COUNT && signal_users == 0; i++)
        (void)sigaction(signal_numbers[i], &signals_before[i], NULL);
    lbx__lock_give(&signal_lock);
}

/* Waits until a signal has come since `seen`, or the courier has stopped;
 * returns whether it was the signal. */
static bool
courier_signal_await(const lbx_courier *courier, uint32_t seen,
                     const sigset_t *unblocked)
{
    for (;;) {
        // Acquire: what follows sees what was set before the word.
        const uint32_t word = lbx__load(&signal_word, acquire);

        if (lbx__load(&signals_seen, relaxed) != seen) // ordered by the word
            return true;
        if (!lbx_courier_is_running(courier))
            return false;
        lbx__futex_wait(&signal_word, word, -1);
        // For ThreadSanitizer, which runs handlers in calls that it knows.
        (void)pthread_sigmask(SIG_UNBLOCK, unblocked, NULL);
    }
}

lbx_status
lbx_courier_run_until_signal(lbx_courier *courier, int64_t grace_ns)
{
    // Relaxed: only changes after this matter (SIGN-2).
    const uint32_t seen = lbx__load(&signals_seen, relaxed);
    sigset_t signals, before;
    lbx_status status, stopped;
    bool signalled;

    if (!courier)
        return LBX_INVALID;
    courier_signal_install();
    (void)sigemptyset(&signals);
    for (int i = 0; i < SIGNAL_COUNT; i++)
        (void)sigaddset(&signals, signal_numbers[i]);
    (void)pthread_sigmask(SIG_UNBLOCK, &signals, &before);
    status = lbx_courier_start(courier);
    if (status == LBX_OK) {
        signalled = courier_signal_await(courier, seen, &signals);
        stopped = lbx_courier_stop(
            courier, grace_ns < 0 ? LBX_FOREVER
                                  : lbx_deadline_after(courier->options.clock,
                                                       grace_ns));
        status = stopped;
        if (!signalled && lbx_postbox_is_closed(courier->options.postbox))
            status = LBX_CLOSED;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    courier_signal_restore();
    return status;
}
