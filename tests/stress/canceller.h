/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cancellers: threads whose operations are cancelled, time out or are dropped
 * at random points against delivery (WAIT-1 to WAIT-8).
 *
 * Every message has a number in a ledger. A send reports whether its message is
 * in (LBX_OK) or out (anything else); one that was dropped with fini without
 * a result leaves that open: its message may come out once or never. A receive
 * that returns LBX_OK ends a message. After a full drain each message that is
 * in has ended exactly once and each that is out never, and no registration is
 * left behind. Wakers are watched too: at most one call for each poll that
 * returned LBX_PENDING, and none after cancel or fini has returned.
 *
 * A cancel is counted when the operation had returned LBX_PENDING before.
 */
#ifndef LBX_TEST_STRESS_CANCELLER_H
#define LBX_TEST_STRESS_CANCELLER_H

#include "stress/box.h"
#include "stress/storm.h"

enum {
    CANCEL_THREADS = 4,
    CANCEL_WAKERS = 16, // so that a late call finds a waker that is still dead
};

/* A waker that keeps its books. */
struct canceller_alarm {
    _Atomic(uint64_t) allowed; // polls that answered PENDING, or may yet
    _Atomic(uint64_t) calls;
    _Atomic(bool) dead;
    _Atomic(bool) late;
};

struct cancel_storm {
    struct box box;
    struct box other; // selects: a second mailbox
    lbx_signal *signal;
    const struct box_case *how;
    struct ledger ledger;
    uint64_t seed;
    uint64_t rounds; // per thread
    bool planted;    // a bug that makes two threads own one message
    _Atomic(uint64_t) cancels, timeouts, drops, finished, late, too_often;
    _Atomic(uint64_t) notified, signalled;
};

struct canceller {
    struct cancel_storm *storm;
    struct storm_random random;
    struct canceller_alarm alarms[CANCEL_WAKERS];
    uint64_t next, limit; // numbers of messages
    uint64_t cancels, timeouts, drops, finished;
};

/* What happens to an operation that is pending. */
enum canceller_end {
    END_CANCEL,
    END_DROP,
    END_PERSIST, // polls on, as long as that can help
};

void canceller_init(struct canceller *self, struct cancel_storm *storm,
                    unsigned index);
void canceller_fini(struct canceller *self);

struct canceller_alarm *canceller_set_alarm(struct canceller *self,
                                            uint64_t round);
/* The alarm's waker. */
void canceller_alarm_ring(void *alarm);
/* After the operation has ended. */
void canceller_check_alarm(struct canceller *self,
                           struct canceller_alarm *alarm);

/* At random. */
int64_t canceller_deadline(struct canceller *self);
enum canceller_end canceller_ending(struct canceller *self);

/* Polls a few times and then stops, or not. Returns the final status, or
 * LBX_PENDING if the operation is to be cancelled or dropped. */
lbx_status canceller_poll(struct canceller *self, struct canceller_alarm *alarm,
                          enum canceller_end ending,
                          lbx_status (*poll)(struct box_wait *wait,
                                             const lbx_waker *waker),
                          struct box_wait *wait);
lbx_status canceller_count(struct canceller *self, lbx_status status,
                           bool waited);

void cancel_storm_end_message(struct cancel_storm *storm, void *message);
/* Empties the box and reports what was wrong. */
struct ledger_report cancel_storm_settle(struct cancel_storm *storm,
                                         struct box *box);
/* Nothing and no waiter is left. */
void cancel_storm_check_quiet(struct box *box);
void cancel_storm_check(struct cancel_storm *storm, const char *name,
                        const struct ledger_report *report);

/* One storm of `work` over one mailbox, `each` messages for a round. */
void cancel_storm_run(const struct box_case *how,
                      void (*work)(unsigned, void *), uint64_t seed,
                      uint64_t rounds, unsigned each);

enum {
    CANCEL_CASES = 7
};

extern const struct box_case cancel_cases[CANCEL_CASES];

#endif
