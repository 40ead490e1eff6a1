/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stress: one mailbox, four threads, every way to send and to receive, chosen
 * at random.
 *
 * While it runs, any of the threads may suspend and resume the mailbox, attach
 * and detach metrics, scheduler hook and signal, and look at its numbers. What
 * must hold: every accepted message ends exactly once (MSG-1, MSG-2); one
 * thread's messages of one rank arrive in the order in which it sent them
 * (MSG-3, MSG-4); no more inside than the capacity (MSG-5); what is left at the
 * end is lost or destroyed once each (MSG-7); and the mailbox's own counts
 * agree with ours.
 *
 * The plain array that receivers read and senders write without atomics makes
 * ThreadSanitizer check that a message's content is published with it.
 *
 *     stress_test.c       which mailboxes: every kind with every policy
 *     stress_run.c        a run: the threads, how it ends, its counts
 *     stress_send.c       what a thread sends
 *     stress_receive.c    what it receives, and in which order
 *     stress_disturb.c    what it does in between
 */
#ifndef LBX_TEST_STRESS_STRESS_H
#define LBX_TEST_STRESS_STRESS_H

#include "stress/box.h"
#include "stress/storm.h"

enum {
    STRESS_THREADS = 4,
    STRESS_BATCH = 8,
    STRESS_RANKS = 5,      // BOX_PRIORITIES has four, BOX_LANES three
    STRESS_RANK_FRONT = 4, // sent to the front: in no order
};

enum stress_leftovers {
    STRESS_LEFT_DRAINED, // received at the end
    STRESS_LEFT_SINK,    // given to the loss sink by the last unref
    STRESS_LEFT_DESTROY, // given to the destructor
    STRESS_LEFT_CLOSED,  // closed, IMMEDIATE
    STRESS_LEFT_INTO,    // closed, into a callback
    STRESS_LEFTOVERS,
};

struct stress_case {
    struct box_case box;
    bool deque;
    bool envelopes; // with deadlines
};

struct stress_counts {
    uint64_t calls;     // of the library
    uint64_t sent;      // LBX_OK
    uint64_t swallowed; // of these, outcome LBX_OUTCOME_DROPPED_NEWEST
    uint64_t full;
    uint64_t timeouts;
    uint64_t received;
};

struct stress {
    const struct stress_case *how;
    struct box box;
    lbx_mailbox *mailbox;
    struct ledger ledger;
    uint64_t seed;
    uint64_t sends; // per sending thread
    enum stress_leftovers leftovers;
    struct stress_counts counts[STRESS_THREADS];
    _Atomic(unsigned) sending;
    _Atomic(uint64_t) lost, destroyed, metric_events, hook_calls;
    _Atomic(uint64_t) lost_newest;
};

/* One of the threads. */
struct stress_worker {
    struct stress *stress;
    unsigned index;
    struct stress_counts *counts;
    struct storm_random random;
    uint64_t next, limit;
    unsigned suspensions;
    // By sender: number + 1 of the newest received.
    uint64_t last[STRESS_THREADS][STRESS_RANKS];
};

/* Sends half of `total`, receives it, and checks everything; returns how many
 * messages were sent and received. */
uint64_t stress_run(const struct stress_case *how,
                    enum stress_leftovers leftovers, uint64_t seed,
                    uint64_t total);

/* Sends once, in a way that is drawn. */
void stress_send_some(struct stress_worker *worker);

/* Receives once, in a way that is drawn; false: there was nothing. */
bool stress_receive_some(struct stress_worker *worker);

/* Suspends the mailbox, changes what is attached to it, or looks at it. */
void stress_disturb(struct stress_worker *worker);

/* Takes all suspensions of this thread back. */
void stress_resume(struct stress_worker *worker);

#endif
