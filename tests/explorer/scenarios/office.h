/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A post office: the service with rules of a few lines, a storage that keeps
 * nothing, and errands, calls whose memory is gone when they have ended. What
 * the service links to is defined here, and the library's is not taken.
 *
 * What must hold: each errand ends once, and nobody touches it afterwards; each
 * letter that was sent is received once, or still there.
 */
#ifndef LBX_EXPLORER_OFFICE_H
#define LBX_EXPLORER_OFFICE_H

#include <letterbox/store_driver.h>

struct errand;

/* Makes the office, for as many clients; in setup(). With a thread of its own,
 * that is office_work(), the scenario's first thread. */
void office_open(bool one_thread, unsigned clients);
void office_open_shared(unsigned clients); /* with a bell for other processes */
void office_work(void);

/* Each client's last: the last of all closes. */
void office_leave(void);

/* After that: nothing was lost, nothing is there twice. */
void office_check(void);

/* Starts an errand: a letter is sent; one is waited for. */
struct errand *office_send(void);
struct errand *office_receive(void);

/* Gives it up. */
void office_cancel(struct errand *errand);

/* Waits for its end, forgets it, and answers its status. */
lbx_status office_await(struct errand *errand);

void office_tick(void);

/* Another process sends a letter, and rings. */
void office_send_from_outside(void);

#endif
