/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Level INTERVAL: a thread flushes the journal at half the interval after the
 * first write that is not flushed; who writes and finds one older than the
 * interval flushes it first. So no answer is given while something older than
 * the interval could be lost, however slow the disk.
 *
 * Threads    the storage's and its own; the words between them are atomic, and
 *            the journal's flush may be called by both.
 */
#include "base/park.h"
#include "stores/file/parts.h"

static lbx_status
flush(lbx__beat *beat)
{
    lbx_status status;

    // Before the flush: what is written beside it counts for the next one.
    lbx__store(&beat->since_ns, 0, seq_cst);
    status = lbx__journal_flush(beat->journal);
    if (status != LBX_OK)
        lbx__store(&beat->failed, 1u, seq_cst);
    return status;
}

/* In the thread, while others write. */
static bool
flush_beside(lbx__beat *beat, int64_t since)
{
    bool flushed;

    lbx__store(&beat->flushing_ns, since, seq_cst);
    flushed = flush(beat) == LBX_OK;
    lbx__store(&beat->flushing_ns, 0, seq_cst);
    return flushed;
}

static void *
beat_main(void *argument)
{
    lbx__beat *beat = argument;

    while (!lbx__load(&beat->stop, seq_cst)) {
        const uint32_t seen = lbx__load(&beat->word, seq_cst);
        const int64_t since = lbx__load(&beat->since_ns, seq_cst);
        const int64_t left =
            since + beat->interval_ns / 2 - lbx_clock_now(NULL);

        if (lbx__load(&beat->stop, seq_cst))
            break;
        if (since == 0)
            lbx__futex_wait(&beat->word, seen, -1);
        else if (left > 0)
            lbx__futex_wait(&beat->word, seen, left);
        else if (!flush_beside(beat, since))
            break;
    }
    return NULL;
}

bool
lbx__beat_start(lbx__beat *beat, lbx__journal *journal, int64_t interval_ns)
{
    beat->journal = journal;
    beat->interval_ns = interval_ns;
    lbx__init(&beat->word, 0);
    lbx__init(&beat->stop, 0);
    lbx__init(&beat->failed, 0);
    lbx__init(&beat->since_ns, 0);
    lbx__init(&beat->flushing_ns, 0);
    beat->runs = pthread_create(&beat->thread, NULL, beat_main, beat) == 0;
    return beat->runs;
}

static void
stir(lbx__beat *beat)
{
    (void)lbx__add(&beat->word, 1u, seq_cst);
    lbx__futex_wake(&beat->word, 1);
}

void
lbx__beat_stop(lbx__beat *beat)
{
    if (!beat->runs)
        return;
    lbx__store(&beat->stop, 1u, seq_cst);
    stir(beat);
    (void)pthread_join(beat->thread, NULL);
    beat->runs = false;
}

lbx_status
lbx__beat_written(lbx__beat *beat)
{
    const int64_t now = lbx_clock_now(NULL);
    // In this order: what the thread takes over is seen in one of them.
    const int64_t since = lbx__load(&beat->since_ns, seq_cst);
    const int64_t flushing = lbx__load(&beat->flushing_ns, seq_cst);
    const int64_t oldest = flushing ? flushing : since;

    if (lbx__load(&beat->failed, seq_cst))
        return LBX_IO;
    if (oldest != 0 && now - oldest >= beat->interval_ns)
        return flush(beat);
    if (since == 0) {
        lbx__store(&beat->since_ns, now, seq_cst);
        stir(beat);
    }
    return LBX_OK;
}
