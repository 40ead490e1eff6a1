/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the system that fail under a store: every write,
 * every flush and every allocation in turn, LMDB's too. What was acknowledged
 * before is there when the store is opened again; after a flush that failed
 * nothing is acknowledged until then. And the full disk: sends are
 * refused, everything else goes on.
 */
#include "disk.h"
#include "processes.h"
#include "stores/file/fixture.h"
#include "support/torture.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LETTERS = 5000,
    STEPS = 60,
    MORE = 5 /* tries after a failure */
};

static const char *
new_url(const char **ret_path, char url[600])
{
    *ret_path = test_path();
    (void)snprintf(url, 600, "file:%s", *ret_path);
    return url;
}

static struct workers
fault_crew(struct ledger *ledger, const char *url,
           const lbx_store_options *options, uint64_t seed)
{
    return (struct workers){
        .url = url,
        .options = options,
        .ledger = ledger,
        .live_max = 40,
        .lease_ns = 40 * LBX_MS,
        .seed = seed,
    };
}

/* Sends and receives until something fails; then more, of which nothing may be
 * acknowledged. How much was. */
static uint64_t
work(const struct workers *workers, bool *ret_failed)
{
    struct ledger *ledger = workers->ledger;
    uint64_t before = 0;
    struct boxes boxes;
    struct worker worker;
    int more = MORE;

    *ret_failed = true;
    if (boxes_open(&boxes, workers) != LBX_OK)
        return 0;
    worker_init(&worker, workers, &boxes, 0);
    for (int i = 0; i < STEPS && more > 0; i++) {
        if (atomic_load(&ledger->failures)) {
            if (more-- == MORE)
                before = atomic_load(&ledger->operations);
        }
        if (worker_draw(&worker, 5) < 2)
            (void)worker_send(&worker);
        else
            (void)worker_receive(&worker);
    }
    *ret_failed = atomic_load(&ledger->failures) > 0;
    boxes_close(&boxes);
    return *ret_failed && more < MORE
               ? atomic_load(&ledger->operations) - before
               : 0;
}

struct sum {
    long failures; /* that were made */
    long stopped;  /* runs that did not go on */
    uint64_t operations, after;
    struct score score;
};

static void
add_up(struct sum *sum, const struct score *score)
{
    sum->operations += score->operations;
    sum->score.lost += score->lost;
    sum->score.phantom += score->phantom;
    sum->score.resurrected += score->resurrected;
    sum->score.stale_ok += score->stale_ok;
    sum->score.early += score->early;
    sum->score.duplicate += score->duplicate;
    sum->score.unknown += score->unknown;
}

/* The k-th call fails; the store is opened again and drained. False when there
 * is no k-th call. */
static bool
fail_at(enum disk_call call, long k, int error, bool for_ever, struct sum *sum)
{
    struct ledger *ledger = ledger_create(LETTERS, lbx_clock_now(NULL));
    lbx_store_options options = fixture_options();
    const char *path;
    char url[600];
    struct workers workers =
        fault_crew(ledger, new_url(&path, url), &options, (uint64_t)k + 1);
    lbx_fault fault = {LBX_OK, ""};
    bool failed, hit;
    struct score score;
    uint64_t after;

    options.fault = &fault;
    disk_fail(call, k, error, for_ever);
    after = work(&workers, &failed);
    hit = disk_calls(call) > k;
    disk_fail(call, -1, 0, false);
    atomic_store(&ledger->failures, 0);
    if (workers_drain(&workers) != LBX_OK)
        FAIL("call %d, the %ld-th: afterwards it does not open: %s", (int)call,
             k, fault.text);
    score = ledger_judge(ledger);
    if (score.failures)
        FAIL("call %d, the %ld-th: afterwards it answers %s", (int)call, k,
             lbx_status_name(score.failure));
    add_up(sum, &score);
    sum->after += after;
    sum->failures += hit;
    sum->stopped += failed;
    ledger_destroy(ledger);
    return hit;
}

static void
fail_everywhere(enum disk_call call, int error, bool for_ever, const char *name)
{
    const long most = test_is_full() ? 1000000 : 400;
    const long stride = test_is_full() ? 1 : 2;
    struct sum sum = {0};

    disk_quick = true;
    test_paths_in_memory();
    for (long k = 0; k < most && fail_at(call, k, error, for_ever, &sum);
         k += k < 40 ? 1 : stride)
        ;
    test_figure("crash, %s: %ld failures, %ld stores stopped, %" PRIu64
                " acknowledged operations, lost=%" PRIu64 " phantom=%" PRIu64
                " resurrected=%" PRIu64 " stale-ok=%" PRIu64 " early=%" PRIu64
                " acknowledged afterwards=%" PRIu64,
                name, sum.failures, sum.stopped, sum.operations, sum.score.lost,
                sum.score.phantom, sum.score.resurrected, sum.score.stale_ok,
                sum.score.early, sum.after);
    CHECK(sum.failures > 10);
    CHECK_INT(0, sum.score.lost);
    CHECK_INT(0, sum.score.phantom);
    CHECK_INT(0, sum.score.resurrected);
    CHECK_INT(0, sum.score.stale_ok);
    CHECK_INT(0, sum.score.early);
    CHECK_INT(0, sum.score.duplicate);
    if (call == DISK_FLUSH) {
        CHECK_INT(0, sum.after);
        CHECK(sum.stopped > 10);
    }
}

TEST(every_flush_may_fail)
{
    fail_everywhere(DISK_FLUSH, EIO, false, "a flush that fails once");
}

TEST(every_write_may_fail)
{
    fail_everywhere(DISK_WRITE, EIO, false, "a write that fails once");
}

TEST(every_write_may_fail_from_then_on)
{
    fail_everywhere(DISK_WRITE, ENOSPC, true, "writes that fail for ever");
}

/* The library's memory and LMDB's, in the thread that has the store. */
TEST(every_allocation_of_a_store_may_fail)
{
    fail_everywhere(DISK_MEMORY, ENOMEM, false, "memory that fails once");
}

/* And the books of it: what is opened with an allocator gives all of it
 * back. */
static void
use_store(struct torture *memory, void *context)
{
    const lbx_allocator allocator = torture_allocator(memory);
    lbx_store_options options = fixture_options();
    lbx_postbox_options mine = LBX_POSTBOX_OPTIONS_INIT;
    lbx_postbox *box;
    lbx_letter *letter;
    lbx_status status;
    char url[600];

    (void)context;
    (void)snprintf(url, sizeof(url), "file:%s/box", test_path());
    options.allocator = mine.allocator = &allocator;
    mine.store = &options;
    status = lbx_postbox_open(url, &mine, &box);
    if (status == LBX_OK) {
        status = lbx_postbox_send(box, "a", 1, NULL);
        if (status == LBX_OK)
            status = lbx_postbox_receive(box, 0, &letter);
        if (status == LBX_OK) {
            status = lbx_letter_acknowledge(letter);
            lbx_letter_destroy(letter);
        }
        lbx_postbox_unref(box);
    }
    if (status != LBX_OK)
        CHECK_STATUS(LBX_NO_MEMORY, status);
}

TEST(a_store_gives_its_memory_back)
{
    disk_quick = true;
    test_paths_in_memory();
    CHECK(torture_every_allocation(use_store, NULL) > 10);
}

/* The control: a disk that says nothing of its failed flushes. Then there is
 * nothing to stop for, and what was acknowledged is gone with the power; the
 * cuts of a disk that lies show it. Here: the same runs with nothing failing
 * must go on, or "stopped" would say nothing. */
TEST(stores_on_which_nothing_fails_do_not_stop)
{
    struct sum sum = {0};

    disk_quick = true;
    test_paths_in_memory();
    CHECK(!fail_at(DISK_FLUSH, 1000000, EIO, false, &sum));
    CHECK_INT(0, sum.stopped);
    CHECK(sum.operations > 50);
}

/* ---- The full disk ---- */

/* Sends until there is no room; answers how many were sent. */
static uint64_t
fill(lbx_postbox *box, uint64_t most)
{
    static char body[3000];
    lbx_status status = LBX_OK;
    uint64_t sent = 0;

    while (status == LBX_OK && sent < most) {
        status = lbx_postbox_send(box, body, sizeof(body), NULL);
        sent += status == LBX_OK;
    }
    CHECK_STATUS(LBX_NO_SPACE, status);
    return sent;
}

/* Receives, extends, gives back and acknowledges all. */
static uint64_t
empty(lbx_postbox *box)
{
    lbx_letter *letter;
    uint64_t count = 0;

    while (lbx_postbox_receive(box, 0, &letter) == LBX_OK) {
        CHECK_OK(lbx_letter_extend(letter, 60 * LBX_SECOND));
        if (lbx_letter_delivery_count(letter) == 1 && count % 16 == 0) {
            CHECK_OK(lbx_letter_nack(letter, 0));
        } else {
            CHECK_OK(lbx_letter_acknowledge(letter));
            count++;
        }
        lbx_letter_destroy(letter);
    }
    return count;
}

static void
fill_and_empty(const char *url, const lbx_store_options *options,
               const char *name)
{
    lbx_postbox_options mine = LBX_POSTBOX_OPTIONS_INIT;
    lbx_postbox *box;
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;
    uint64_t sent, again;

    mine.store = options;
    CHECK_OK(lbx_postbox_open(url, &mine, &box));
    sent = fill(box, 1000000);
    CHECK(sent > 10);
    CHECK_OK(lbx_postbox_count(box, &counts));
    CHECK_INT(sent, counts.ready);
    CHECK_INT(sent, empty(box));
    again = fill(box, 1000000);
    CHECK(again > sent / 2);
    CHECK_INT(again, empty(box));
    lbx_postbox_unref(box);
    test_figure("crash, %s: %" PRIu64 " letters until it was full, all of them "
                "out, and %" PRIu64 " in again",
                name, sent, again);
}

TEST(a_full_disk_refuses_sends_and_delivers)
{
    lbx_store_options options = fixture_options();
    const char *path;
    char url[600];

    options.durability = LBX_DURABILITY_PROCESS; // quicker, and the same here
    test_paths_in_memory();
    (void)new_url(&path, url);
    (void)snprintf(url, sizeof(url), "file:%s/box", path);
    // Some space first: the file grows in small steps, then never again.
    disk_fail(DISK_ALLOCATE, 8, ENOSPC, true);
    fill_and_empty(url, &options, "no more room");
    disk_fail(DISK_ALLOCATE, -1, 0, false);
}

TEST(a_small_disk_refuses_sends_and_delivers)
{
    lbx_store_options options = fixture_options();
    const char *path;
    char url[600];

    (void)new_url(&path, url);
    (void)snprintf(url, sizeof(url), "file:%s/box", path);
    CHECK(mkdir(path, 0700) == 0);
    // A name space of our own: the mount ends with this process.
    if (unshare(CLONE_NEWNS) < 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", path, "tmpfs", 0, "size=16m,mode=0700") < 0) {
        test_note("no right to mount a small disk: not tried");
        return;
    }
    fill_and_empty(url, &options, "a disk of 16 MiB");
    CHECK(umount(path) == 0);
}
