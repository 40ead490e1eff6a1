/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A service under test: with rules of a few lines, a storage that keeps
 * nothing, and calls whose memory is freed when they have ended. What the
 * service links to is defined here instead of being taken from the library.
 *
 * What must hold: each call ends once and is not touched afterwards; each
 * letter that was sent is received once, or still there.
 */
#ifndef LBX_EXPLORER_TESTBED_H
#define LBX_EXPLORER_TESTBED_H

#include <letterbox/store_driver.h>

struct testbed_call;

/* Creates the service, for as many clients; in setup(). Its own thread, if it
 * has one, is testbed_work(), the scenario's first thread. */
void testbed_open(bool one_thread, unsigned clients);
void testbed_open_shared(unsigned clients); /* with other processes */
void testbed_work(void);

/* Each client's last: the last of all closes. */
void testbed_leave(void);

/* After that: nothing was lost, nothing is there twice. */
void testbed_check(void);

/* Starts a call: sends a letter; waits for one. */
struct testbed_call *testbed_send(void);
struct testbed_call *testbed_receive(void);

/* Cancels it. */
void testbed_cancel(struct testbed_call *call);

/* Waits for its end, frees it, and returns its status. */
lbx_status testbed_await(struct testbed_call *call);

void testbed_tick(void);

/* Another process sends a letter, and notifies. */
void testbed_send_from_outside(void);

#endif
