/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of level INTERVAL; see interval_flush.h. */
#include "stores/file/interval_flush.h"

#include "base/park.h"
#include "base/threads.h"

static lbx_status
interval_flush_now(lbx__interval_flush *interval)
{
    lbx_status status;

    // Before the flush: what is written meanwhile counts for the next one.
    lbx__store(&interval->since_ns, 0, seq_cst);
    status = lbx__journal_flush(interval->journal);
    if (status != LBX_OK)
        lbx__store(&interval->failed, 1u, seq_cst);
    return status;
}

/* In the thread of interval flushes, while the storage's writes. */
static bool
interval_flush_beside(lbx__interval_flush *interval, int64_t since)
{
    bool flushed;

    lbx__store(&interval->flushing_ns, since, seq_cst);
    flushed = interval_flush_now(interval) == LBX_OK;
    lbx__store(&interval->flushing_ns, 0, seq_cst);
    return flushed;
}

static void *
interval_main(void *argument)
{
    lbx__interval_flush *interval = argument;

    while (!lbx__load(&interval->stop, seq_cst)) {
        const uint32_t seen = lbx__load(&interval->word, seq_cst);
        const int64_t since = lbx__load(&interval->since_ns, seq_cst);
        const int64_t left =
            since + interval->interval_ns / 2 - lbx_clock_now(NULL);

        if (lbx__load(&interval->stop, seq_cst))
            break;
        if (since == 0)
            lbx__futex_wait(&interval->word, seen, -1);
        else if (left > 0)
            lbx__futex_wait(&interval->word, seen, left);
        else if (!interval_flush_beside(interval, since))
            break;
    }
    return NULL;
}

bool
lbx__interval_flush_start(lbx__interval_flush *interval, lbx__journal *journal,
                          int64_t interval_ns)
{
    interval->journal = journal;
    interval->interval_ns = interval_ns;
    lbx__init(&interval->word, 0);
    lbx__init(&interval->stop, 0);
    lbx__init(&interval->failed, 0);
    lbx__init(&interval->since_ns, 0);
    lbx__init(&interval->flushing_ns, 0);
    interval->runs =
        lbx__threads_start(&interval->thread, interval_main, interval);
    return interval->runs;
}

static void
interval_notify(lbx__interval_flush *interval)
{
    (void)lbx__add(&interval->word, 1u, seq_cst);
    lbx__futex_wake(&interval->word, 1);
}

void
lbx__interval_flush_stop(lbx__interval_flush *interval)
{
    if (!interval->runs)
        return;
    lbx__store(&interval->stop, 1u, seq_cst);
    interval_notify(interval);
    (void)pthread_join(interval->thread, NULL);
    interval->runs = false;
}

lbx_status
lbx__interval_flush_written(lbx__interval_flush *interval)
{
    const int64_t now = lbx_clock_now(NULL);
    // In this order: a time that the thread moves is seen in one of the two.
    const int64_t since = lbx__load(&interval->since_ns, seq_cst);
    const int64_t flushing = lbx__load(&interval->flushing_ns, seq_cst);
    const int64_t oldest = flushing ? flushing : since;

    if (lbx__load(&interval->failed, seq_cst))
        return LBX_IO;
    if (oldest != 0 && now - oldest >= interval->interval_ns)
        return interval_flush_now(interval);
    if (since == 0) {
        lbx__store(&interval->since_ns, now, seq_cst);
        interval_notify(interval);
    }
    return LBX_OK;
}
