/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of durability: what each flushes, and which batch is answered when a
 * flush is slow or fails (FLUSH-1). */
#include "fixture.h"

#include <errno.h>

/* How many flushes a level takes; none promises less than it was asked for. */
TEST(each_level_flushes_as_it_says)
{
    static const struct {
        lbx_durability level;
        long least, most; /* flushes of the journal, by 50 groups */
    } levels[] = {
        {LBX_DURABILITY_POWER_CUT, 50, 50},
        {LBX_DURABILITY_PROCESS, 0, 0},
        {LBX_DURABILITY_INTERVAL, 1, 49},
    };

    for (size_t i = 0; i < 3; i++) {
        lbx_store_options options = fixture_options();
        struct faulty_io faulty;
        lbx__storage *storage;
        long before;

        faulty_init(&faulty);
        options.durability = levels[i].level;
        options.interval_ms = 10;
        storage = fixture_open(test_path(), &options, &faulty.io);
        CHECK_INT(levels[i].level, storage->ops->durability(storage));
        before = faulty.syncs;
        for (int group = 0; group < 50; group++)
            CHECK_OK(store_text(storage, "k", "v"));
        if (levels[i].level == LBX_DURABILITY_INTERVAL)
            EVENTUALLY(faulty.syncs > before);
        CHECK(faulty.syncs - before >= levels[i].least);
        CHECK(faulty.syncs - before <= levels[i].most);
        // On demand, whatever the level.
        before = faulty.syncs;
        CHECK_OK(storage->ops->sync(storage));
        CHECK(faulty.syncs > before);
        lbx__storage_close(storage);
    }
}

static _Atomic int slow_syncs;
static _Atomic int answered; /* what must not be, before the flush is over */

/* The first takes until there is another, or a caller got its result without.
 * */
static int
slow_sync(const lbx__io *io, int fd)
{
    if (atomic_fetch_add(&slow_syncs, 1) == 0)
        EVENTUALLY(slow_syncs > 1 || answered);
    return lbx__io_system.fdatasync(io, fd);
}

/* The thread's flush takes longer than the interval: what it flushes is older
 * then, and nothing more is answered before it is on the disk. */
TEST(a_slow_flush_is_waited_for_by_who_writes)
{
    lbx_store_options options = fixture_options();
    lbx__io io = lbx__io_system;
    lbx__storage *storage;
    int64_t written;

    io.fdatasync = slow_sync;
    options.durability = LBX_DURABILITY_INTERVAL;
    options.interval_ms = 20;
    storage = fixture_open(test_path(), &options, &io);
    CHECK_OK(store_text(storage, "a", "1"));
    written = lbx_clock_now(NULL);
    EVENTUALLY(slow_syncs == 1);
    EVENTUALLY(lbx_clock_now(NULL) > written + 20 * LBX_MS);
    CHECK_OK(store_text(storage, "b", "2"));
    answered = 1;
    CHECK_INT(2, slow_syncs);
    lbx__storage_close(storage);
}

static int
slow_sync_that_fails(const lbx__io *io, int fd)
{
    const int result = slow_sync(io, fd);

    return slow_syncs > 1 ? -EIO : result;
}

/* The flush of who writes fails: that very batch is not answered with OK. */
TEST(a_failed_flush_of_who_writes_fails_its_batch)
{
    lbx_store_options options = fixture_options();
    lbx__io io = lbx__io_system;
    lbx__storage *storage;
    int64_t written;

    io.fdatasync = slow_sync_that_fails;
    options.durability = LBX_DURABILITY_INTERVAL;
    options.interval_ms = 20;
    storage = fixture_open(test_path(), &options, &io);
    CHECK_OK(store_text(storage, "a", "1"));
    written = lbx_clock_now(NULL);
    EVENTUALLY(slow_syncs == 1);
    EVENTUALLY(lbx_clock_now(NULL) > written + 20 * LBX_MS);
    CHECK_STATUS(LBX_IO, store_text(storage, "b", "2"));
    CHECK_INT(2, slow_syncs);
    lbx__storage_close(storage);
}

/* A ticket of a group without writes needs no flush of its own. */
TEST(groups_that_only_read_do_not_flush)
{
    struct faulty_io faulty;
    lbx__storage *storage;
    long before;

    faulty_init(&faulty);
    storage = fixture_open(test_path(), NULL, &faulty.io);
    CHECK_OK(store_text(storage, "a", "1"));
    before = faulty.syncs;
    for (int i = 0; i < 10; i++)
        check_text(storage, "a", "1");
    CHECK_INT(before, faulty.syncs);
    lbx__storage_close(storage);
}
