/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interval flush: the thread that flushes the journal at level INTERVAL.
 *
 * It flushes half an interval after the first write that is not flushed. The
 * storage's thread flushes by itself when it finds a write older than the
 * interval, so that no batch is acknowledged while something older than the
 * interval could be lost, however slow the disk is.
 *
 * Threads    the storage's and its own; the words between them are atomic, and
 *            both may call the journal's flush.
 */
#ifndef LBX_STORES_FILE_INTERVAL_FLUSH_H
#define LBX_STORES_FILE_INTERVAL_FLUSH_H

#include "stores/file/journal.h"

#include <pthread.h>

typedef struct lbx__interval_flush {
    pthread_t thread;
    bool runs;
    int64_t interval_ns;
    lbx__journal *journal;
    _Atomic(uint32_t) word; /* changes when there is something to do */
    _Atomic(uint32_t) stop;
    _Atomic(uint32_t) failed;     /* a flush has failed */
    _Atomic(int64_t) since_ns;    /* the first unflushed write; 0: none */
    _Atomic(int64_t) flushing_ns; /* the first that the thread is flushing */
} lbx__interval_flush;

/* Starts the thread; false: there is none. */
bool lbx__interval_flush_start(lbx__interval_flush *interval,
                               lbx__journal *journal, int64_t interval_ns);

/* Stops it; accepts one that does not run. */
void lbx__interval_flush_stop(lbx__interval_flush *interval);

/* Tells it that something has been written; flushes here if the thread is late.
 * OK; IO. */
lbx_status lbx__interval_flush_written(lbx__interval_flush *interval);

/* Whether a flush of the thread's has failed. */
static inline bool
lbx__interval_flush_has_failed(const lbx__interval_flush *interval)
{
    return interval->runs && lbx__load(&interval->failed, seq_cst);
}

#endif
