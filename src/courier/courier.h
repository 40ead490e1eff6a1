/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a courier: its workers, and the letters each of them holds.
 *
 * A worker is a thread that handles one job at a time. It parks on its `word`,
 * which changes when its receive can be polled again and when the courier is
 * asked to stop. A job that is finished by another thread has a word of its
 * own.
 *
 * COUR-1  All fields of a worker belong to its own thread, except `word`,
 *         `alive_ns`, `reported_ns` and the job's `done`.
 * COUR-2  A received letter ends in exactly one way, and is counted and
 *         destroyed by its worker: it was handled, its lease was lost before it
 *         was begun, or it was given back at a stop.
 * COUR-3  A thread that notifies a worker sets the flag first and changes
 *         `word` afterwards. A worker reads `word`, then checks the flags, then
 *         parks on the value it read. So no notification is lost.
 * COUR-4  `active` counts the workers that have not left, and the thread that
 *         starts them. A thread that is not joined (lbx_courier_run()) leaves
 *         after its last access to the courier, so that a thread that reads 0
 *         may free it.
 * COUR-5  `state` changes under the lock: IDLE, RUNNING, and ENDING while one
 *         thread joins the others.
 * COUR-6  The number of the run is in the same word as that count. A stop waits
 *         for the end of the run it has notified, and not for the end of a run
 *         that was started since.
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

    /* Set by lbx_job_fail(); empty: not called. */
    char error_type[LBX__ERROR_TYPE_BYTES];
    char error_text[LBX__ERROR_TEXT_BYTES];

    lbx_status lost;   /* EXPIRED or GONE: the lease was lost; or OK */
    lbx_status unsent; /* why the reply could not be sent; or OK */
    lbx_fault answer;  /* of lbx_job_reply_and_acknowledge() */
    bool extended;     /* at extended_ns, for the last time */
    int64_t extended_ns;

    _Atomic(uint32_t) done; /* lbx_job_finish() */
    lbx_status done_status;
};

struct lbx__courier_worker {
    lbx_courier *courier;
    pthread_t thread;
    _Atomic(uint32_t) word;    /* COUR-3 */
    _Atomic(int64_t) alive_ns; /* the last sign of life; 0: not running */
    _Atomic(int64_t)
        reported_ns; /* the silence that the watchdog has reported */
    lbx_job job;

    /* What was received and not begun: from `next` on. */
    lbx_letter *letters[LBX_MAX_BATCH];
    bool lost[LBX_MAX_BATCH]; /* its lease */
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
    lbx__lock lock;              /* COUR-5 */
    _Atomic(uint32_t) state;     /* lbx__courier_state */
    _Atomic(uint32_t) active;    /* COUR-4, COUR-6: ACTIVE_MASK is the count */
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

/* Marks the calling thread as one of the courier's; returns the courier it was
 * marked for before. */
const lbx_courier *lbx__courier_enter(const lbx_courier *courier);

/* ---- courier_signal.c ---- */

/* Makes the threads that wait for a signal look whether their courier still
 * runs. Async-signal-safe. */
void lbx__courier_signal_wake(void);

/* ---- courier_worker.c ---- */

/* Wakes a worker that is parked, or about to be. */
void lbx__courier_worker_wake(lbx__courier_worker *worker);

/* Receives and handles letters in the calling thread. LBX_OK when the courier
 * was stopped or `max_receives` receives were made; otherwise the status that
 * ended the loop: CLOSED, UNSUPPORTED, INVALID. */
lbx_status lbx__courier_worker_run(lbx__courier_worker *worker,
                                   int64_t max_receives);

/* ---- job.c ---- */

/* Calls the handler for a letter, settles the letter and destroys it. */
void lbx__job_run(lbx__courier_worker *worker, lbx_letter *letter);

/* Each returns whether the letter is settled; if not, it is counted as lost or
 * unsettled, and logged. The third is given the status of a settlement. */
bool lbx__job_acknowledge(lbx_job *job);
bool lbx__job_return(lbx_job *job);
bool lbx__job_settled(lbx_job *job, lbx__courier_tally tally,
                      lbx_status status);

/* Explains why a reply was not sent, by the routes of the letter. */
void lbx__job_explain_routes(const lbx_job *job, lbx_status status,
                             lbx_fault *fault);

/* ---- failure.c ---- */

/* Gives a failed letter back, or puts it aside. */
void lbx__failure_handle(lbx_job *job, lbx_status status);

/* ---- lease.c ---- */

/* Notes that the worker is alive. */
void lbx__lease_mark_alive(lbx__courier_worker *worker);

/* The same, and extends the leases of the worker's letters when that is due:
 * LBX_OK; EXPIRED, GONE. */
lbx_status lbx__lease_heartbeat(lbx_job *job);

/* Whether a letter that was received, and not begun, is still leased. */
bool lbx__lease_holds(const lbx__courier_worker *worker, size_t index);

/* Whether a settlement failed because the lease was lost. */
bool lbx__lease_is_lost(lbx_status status);

/* ---- watchdog.c ---- */

lbx_status lbx__watchdog_start(lbx_courier *courier);
void lbx__watchdog_stop(lbx_courier *courier);

/* One round: calls `stuck` for each worker that is. Returns when to check
 * again, on the courier's clock. */
int64_t lbx__watchdog_check(lbx_courier *courier);

#endif
