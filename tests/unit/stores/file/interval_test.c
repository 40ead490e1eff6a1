/* SPDX-License-Identifier: Apache-2.0 */
/* When the journal is flushed at level INTERVAL, and by which thread. */
#include "base/park.h"
#include "fixture.h"
#include "stores/file/interval_flush.h"

#include <errno.h>

#define MINUTE (60 * LBX_SECOND)
#define HOUR   (60 * MINUTE)

static _Atomic int syncs;
static _Atomic(int64_t) synced_ns; /* when the first began */
static void (*beside)(void);       /* called once, during a flush */
static int sync_result;

static int
note_sync(const lbx__io *io, int fd)
{
    void (*call)(void) = beside;

    (void)io;
    (void)fd;
    if (syncs == 0)
        synced_ns = lbx_clock_now(NULL);
    beside = NULL;
    if (call)
        call();
    syncs++;
    return sync_result;
}

static lbx__io io;
static lbx__journal journal; /* of no file: nothing but its flush is called */
static lbx__interval_flush interval;

/* Without a thread: what the storage's does is tried alone. */
static void
set_up(int64_t interval_ns)
{
    io = lbx__io_system;
    io.fdatasync = note_sync;
    journal.io = &io;
    interval.journal = &journal;
    interval.interval_ns = interval_ns;
}

/* As if the first write that is not flushed had been `age_ns` ago. */
static void
age(int64_t age_ns)
{
    lbx__store(&interval.since_ns, lbx_clock_now(NULL) - age_ns, seq_cst);
}

/* Has the thread look at `since_ns`. */
static void
rouse(void)
{
    (void)lbx__add(&interval.word, 1u, seq_cst);
    lbx__futex_wake(&interval.word, 1);
}

TEST(an_interval_flush_comes_half_an_interval_after_the_first_write)
{
    int64_t written;

    set_up(0);
    CHECK(lbx__interval_flush_start(&interval, &journal, 60 * LBX_MS));
    written = lbx_clock_now(NULL);
    CHECK_OK(lbx__interval_flush_written(&interval));
    EVENTUALLY(syncs > 0);
    lbx__interval_flush_stop(&interval);
    CHECK(synced_ns - written >= 30 * LBX_MS);
    CHECK_INT(1, syncs); // and no more when nothing was written
}

TEST(an_interval_flush_does_not_wait_for_the_whole_interval)
{
    set_up(0);
    CHECK(lbx__interval_flush_start(&interval, &journal, HOUR));
    age(31 * MINUTE);
    rouse();
    EVENTUALLY(syncs > 0);
    lbx__interval_flush_stop(&interval);
    CHECK_INT(1, syncs);
    CHECK_INT(0, interval.since_ns);
    CHECK_INT(0, interval.flushing_ns);
}

TEST(who_writes_flushes_what_is_as_old_as_the_interval)
{
    set_up(HOUR);
    age(59 * MINUTE);
    CHECK_OK(lbx__interval_flush_written(&interval));
    CHECK_INT(0, syncs);
    CHECK(interval.since_ns != 0);
    age(61 * MINUTE);
    CHECK_OK(lbx__interval_flush_written(&interval));
    CHECK_INT(1, syncs);
    CHECK_INT(0, interval.since_ns);
    // As old, and in the middle of a flush of the thread's.
    interval.flushing_ns = lbx_clock_now(NULL) - 61 * MINUTE;
    CHECK_OK(lbx__interval_flush_written(&interval));
    CHECK_INT(2, syncs);
    interval.flushing_ns = lbx_clock_now(NULL) - 59 * MINUTE;
    CHECK_OK(lbx__interval_flush_written(&interval));
    CHECK_INT(2, syncs);
}

TEST(only_the_first_write_of_an_interval_wakes_its_thread)
{
    int64_t first;

    set_up(HOUR);
    CHECK_OK(lbx__interval_flush_written(&interval));
    first = interval.since_ns;
    CHECK(first > 0);
    CHECK_INT(1, interval.word);
    EVENTUALLY(lbx_clock_now(NULL) > first);
    CHECK_OK(lbx__interval_flush_written(&interval));
    CHECK_INT(first, interval.since_ns);
    CHECK_INT(1, interval.word);
}

static int64_t beside_ns;

static void
write_beside(void)
{
    CHECK_OK(lbx__interval_flush_written(&interval));
    beside_ns = interval.since_ns;
}

/* The disk need not have it: it counts for the next flush. */
TEST(what_is_written_beside_an_interval_flush_is_flushed_by_the_next)
{
    set_up(HOUR);
    age(61 * MINUTE);
    beside = write_beside;
    CHECK_OK(lbx__interval_flush_written(&interval));
    CHECK_INT(1, syncs);
    CHECK(beside_ns != 0);
    CHECK_INT(beside_ns, interval.since_ns);
}

/* The same beside the thread's own. */
TEST(what_is_written_beside_the_threads_flush_is_flushed_by_the_next)
{
    set_up(0);
    CHECK(lbx__interval_flush_start(&interval, &journal, HOUR));
    beside = write_beside;
    age(31 * MINUTE);
    rouse();
    EVENTUALLY(syncs > 0);
    lbx__interval_flush_stop(&interval);
    CHECK_INT(1, syncs);
    CHECK(beside_ns != 0);
    CHECK_INT(beside_ns, interval.since_ns);
}

TEST(after_a_failed_interval_flush_every_write_fails)
{
    set_up(HOUR);
    sync_result = -EIO;
    age(61 * MINUTE);
    CHECK_STATUS(LBX_IO, lbx__interval_flush_written(&interval));
    sync_result = 0;
    CHECK_STATUS(LBX_IO, lbx__interval_flush_written(&interval));
    CHECK_INT(1, syncs);
}

/* As long as the options say, not as long as something else. */
TEST(a_store_flushes_at_the_interval_it_was_given)
{
    lbx_store_options options = fixture_options();
    lbx__storage *storage;
    int64_t written;

    set_up(0);
    options.durability = LBX_DURABILITY_INTERVAL;
    options.interval_ms = 100;
    storage = fixture_open(test_path(), &options, &io);
    syncs = 0;
    written = lbx_clock_now(NULL);
    CHECK_OK(store_text(storage, "a", "1"));
    EVENTUALLY(syncs > 0);
    CHECK(synced_ns - written >= 50 * LBX_MS);
    lbx__storage_close(storage);
}
