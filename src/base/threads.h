/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the library: the only caller of pthread_create().
 *
 * SIGMASK-1  A thread of the library has all signals blocked but those that its
 *            own instructions raise (a bad address, an illegal instruction). So
 *            a program that blocks a signal in its own threads, to wait for it
 *            with signalfd() or sigwait(), gets it.
 */
#ifndef LBX_BASE_THREADS_H
#define LBX_BASE_THREADS_H

#include <letterbox/base.h>

#include <pthread.h>

/* Starts a thread, to be joined. False: the system has none. */
bool lbx__threads_start(pthread_t *ret, void *(*main)(void *), void *argument);

#endif
