/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a courier: its workers, and what each has in hand.
 *
 * A worker is a thread with one job at a time. It waits for three things, and all
 * of them change its `word`, on which it parks: its receive has something to say,
 * the courier is told to stop, its job is done elsewhere.
 *
 * C1  Everything of a worker is its own thread's, but for `word`, `alive_ns`,
 *     `reported_ns` and the job's `done`.
 * C2  A letter that was received is settled or lost exactly once: handled, found
 *     to have lost its lease before it was begun, or given back at a stop. Each is
 *     counted, and destroyed by its worker.
 * C3  Who tells a worker something sets it first and changes `word` then; a worker
 *     reads `word` first, looks then, and parks on what it read. So nothing is
 *     slept through.
 * C4  `active` counts the workers that have not left, and who is starting them.
 *     The thread that is not joined (lbx_courier_run()) leaves last of all it does
 *     with the courier, so that whoever sees 0 may free it.
 * C5  `state` changes under the lock: IDLE, RUNNING, and ENDING while one thread
 *     joins the others.
 * C6  The number of the run stands beside that count, in one word. A stop waits for
 *     the end of the run that it has told, and not for that of one that somebody
 *     has started since.
 */
#ifndef LBX_COURIER_COURIER_H
#define LBX_COURIER_COURIER_H

#include "base/atomic.h"
#include "base/lock.h"
#include "base/park.h"
#include <letterbox/courier.h>

#include <pthread.h>

typedef struct lbx__courier_worker lbx__courier_worker;

enum {
    LBX__ERROR_TYPE_BYTES = 128,
    LBX__ERROR_TEXT_BYTES = 1024,
};

struct lbx_job {
    lbx__courier_worker *worker;
    lbx_letter *letter;

    /* lbx_job_fail(); empty: nothing was said. */
    char error_type[LBX__ERROR_TYPE_BYTES];
    char error_text[LBX__ERROR_TEXT_BYTES];

    lbx_status lost;   /* EXPIRED or GONE: it is somebody else's; or OK */
    lbx_status unsent; /* why the answer could not be sent; or OK */
    bool extended;     /* at extended_ns, for the last time */
    int64_t extended_ns;

    _Atomic(uint32_t) done; /* lbx_job_done() */
    lbx_status done_status;
};

struct lbx__courier_worker {
    lbx_courier *courier;
    pthread_t thread;
    _Atomic(uint32_t) word;       /* C3 */
    _Atomic(int64_t) alive_ns;    /* the last sign of life; 0: not running */
    _Atomic(int64_t) reported_ns; /* of which silence the watchdog has spoken */
    lbx_job job;

    /* What was received and not begun: from `next` on. */
    lbx_letter *letters[LBX_BATCH_MOST];
    bool lost[LBX_BATCH_MOST]; /* its lease */
    size_t count;
    size_t next;
    int64_t leased_ns; /* until when, by our clock */
};

typedef enum lbx__courier_state {
    LBX__COURIER_IDLE = 0,
    LBX__COURIER_RUNNING,
    LBX__COURIER_ENDING,
} lbx__courier_state;

/* In the order of lbx_courier_stats. */
typedef enum lbx__courier_tally {
    LBX__TALLY_RECEIVED,
    LBX__TALLY_ACKNOWLEDGED,
    LBX__TALLY_RETURNED,
    LBX__TALLY_DEAD,
    LBX__TALLY_LOST_LEASES,
    LBX__TALLY_EXTENDED,
    LBX__TALLY_GIVEN_BACK,
    LBX__TALLY_UNSETTLED,
    LBX__TALLY_COUNT,
} lbx__courier_tally;

struct lbx_courier {
    lbx_courier_options options; /* a copy; both postboxes are referenced */
    lbx__lock lock;              /* C5 */
    _Atomic(uint32_t) state;     /* lbx__courier_state */
    _Atomic(uint32_t) active;    /* C4, C6: ACTIVE_MOST is the count's part */
    _Atomic(uint32_t) stopping;
    uint32_t started; /* threads to be joined */
    bool watched;     /* there is a watchdog's thread */
    bool borrowed;    /* the loop is in a thread that is not ours */
    pthread_t watchdog;
    _Atomic(uint32_t) watch; /* 1: the watchdog is to end */
    _Atomic(uint64_t) tallies[LBX__TALLY_COUNT];
    lbx__courier_worker workers[];
};

/* ---- courier.c ---- */

void lbx__courier_count(lbx_courier *courier, lbx__courier_tally what,
                        uint64_t more);
void lbx__courier_log(const lbx_courier *courier, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool lbx__courier_is_stopping(const lbx_courier *courier);

/* The calling thread is one of the courier's from here on; whose it was before. */
const lbx_courier *lbx__courier_enter(const lbx_courier *courier);

/* Wakes a worker that is parked, or about to. */
void lbx__courier_worker_wake(lbx__courier_worker *worker);

/* ---- loop.c ---- */

/* Receives and handles, in the calling thread. LBX_OK when it was stopped or is
 * through; what ends a loop otherwise: CLOSED, UNSUPPORTED, INVALID. */
lbx_status lbx__loop_run(lbx__courier_worker *worker, int64_t receives_most);

/* ---- job.c ---- */

/* Has a letter handled, and settles it. */
void lbx__job_run(lbx__courier_worker *worker, lbx_letter *letter);

/* Each answers whether the letter is settled; if not it is counted as lost or
 * unsettled, and logged. The third is told what a settlement came to. */
bool lbx__job_acknowledge(lbx_job *job);
bool lbx__job_return(lbx_job *job);
bool lbx__job_settled(lbx_job *job, lbx__courier_tally tally,
                      lbx_status status);

/* ---- failure.c ---- */

/* Retries, or puts aside. */
void lbx__failure_handle(lbx_job *job, lbx_status status);

/* ---- lease.c ---- */

/* The worker is alive. */
void lbx__lease_mark_alive(lbx__courier_worker *worker);

/* And extends what it has, if that is due: LBX_OK; EXPIRED, GONE. */
lbx_status lbx__lease_heartbeat(lbx_job *job);

/* Whether a letter that was received, and not begun, is still ours. */
bool lbx__lease_holds(const lbx__courier_worker *worker, size_t index);

/* ---- watchdog.c ---- */

lbx_status lbx__watchdog_start(lbx_courier *courier);
void lbx__watchdog_stop(lbx_courier *courier);

/* One round: calls `stuck` for those that are; when to look again, on the
 * courier's clock. */
int64_t lbx__watchdog_check(lbx_courier *courier);

#endif
