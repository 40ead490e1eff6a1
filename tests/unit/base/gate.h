/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gate: the smallest thing an operation can wait on.
 *
 * It holds permits. A pass takes one, or waits in line; gate_open() adds one
 * and gives it to the first in line as a reservation, so that a cancelled
 * pass hands it on. Mailboxes and signals do the same with more around it.
 */
#ifndef LBX_TEST_GATE_H
#define LBX_TEST_GATE_H

#include "base/lock.h"
#include "base/op.h"

struct gate {
    lbx__lock lock;
    int permits;
    lbx__link line;
    const lbx_clock *clock;
    int released; /* operations that let go of the gate */
};

/* `clock` may be NULL for the system's; else it must outlive the gate. */
void gate_init(struct gate *gate, const lbx_clock *clock);

/* An operation that passes the gate. */
void gate_pass_init(lbx_operation *operation, struct gate *gate,
                    int64_t deadline_ns);

/* Lets `count` pass, waking those who wait. */
void gate_open(struct gate *gate, int count);

/* Ends the wait of all in line with `status`. */
void gate_refuse(struct gate *gate, lbx_status status);

int gate_permits(struct gate *gate);
int gate_waiting(struct gate *gate);

/* A waker that counts. */
struct counter {
    _Atomic(int) calls;
};

lbx_waker counter_waker(struct counter *counter);
int counter_calls(struct counter *counter);

#endif
