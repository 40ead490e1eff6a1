/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power cuts, simulated, on the level of letters: one worker
 * sends, receives, settles and moves the clock; what the store below it writes
 * is recorded (disk.h), and for each step the states that a disk could be left
 * in are opened, in another boot, at the same moment of store time, looked
 * through and drained. What the ledger knew at that step must hold.
 *
 * What was begun and not answered may have happened; everything else is exact.
 */
#include "disk.h"
#include "processes.h"
#include "stores/file/fixture.h"
#include "stores/file/rounds.h"
#include "support/clock.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <letterbox/testing.h>

enum {
    LETTERS = 4000,
    EVENTS = 40000
};

/* Everything reported, in order: at each point of the recording it is known how
 * much of it. */
static struct ledger_event events[EVENTS];
static uint64_t event_count;

static lbx_test_clock now = LBX_TEST_CLOCK_INIT;
static lbx_clock clock_of_store;

static int64_t
read_clock(void *context)
{
    (void)context;
    return lbx_clock_now(&clock_of_store);
}

static void
keep_event(void *context, const struct ledger_event *event)
{
    CHECK(event_count < EVENTS);
    events[event_count++] = *event;
    disk_committed(event_count);
    ledger_note(context, event);
}

static struct workers
cut_crew(struct ledger *ledger, const char *url,
         const lbx_store_options *options, uint64_t seed)
{
    return (struct workers){
        .url = url,
        .options = options,
        .ledger = ledger,
        .now_ns = read_clock,
        .live_max = 24,
        .lease_ns = 10 * LBX_SECOND,
        .seed = seed,
    };
}

static lbx_store_options
cut_options(lbx_durability level)
{
    lbx_store_options options = fixture_options();

    clock_of_store = lbx_test_clock_as_clock(&now);
    options.clock = &clock_of_store;
    options.durability = level;
    return options;
}

/* ---- Recording ---- */

/* A store does not go back in time: a cut must know when it was, too. */
static void
pass_time(struct worker *worker)
{
    const int64_t time = (int64_t)worker_draw(worker, 5 * (uint64_t)LBX_SECOND);

    CHECK(event_count < EVENTS);
    events[event_count++] =
        (struct ledger_event){.ended_ns = now.now_ns + time};
    disk_committed(event_count);
    lbx_test_clock_advance(&now, time, worker->boxes->store);
}

static void
step(struct worker *worker)
{
    switch (worker_draw(worker, 8)) {
    case 0:
        pass_time(worker);
        break;
    case 1:
    case 2:
    case 3:
        (void)worker_send(worker);
        break;
    default:
        (void)worker_receive(worker);
    }
}

/* Made, used, closed, opened and used again. */
static void
record_life(struct workers *workers, long steps)
{
    struct boxes boxes;
    struct worker worker;

    event_count = 0;
    workers->tell = keep_event;
    workers->context = workers->ledger;
    for (int half = 0; half < 2; half++) {
        CHECK_OK(boxes_open(&boxes, workers));
        worker_init(&worker, workers, &boxes, 0);
        worker.state += (uint64_t)half;
        for (long i = 0; i < steps / 2; i++)
            step(&worker);
        boxes_close(&boxes);
    }
    disk_stop();
    if (workers->ledger->failures)
        FAIL("it answered %s",
             lbx_status_name((lbx_status)workers->ledger->failure));
}

/* ---- Cutting ---- */

struct tally {
    long states, refused;
    lbx_fault fault;    /* the first refusal */
    struct score score; /* of all states together */
};

struct cutting {
    struct ledger *at;   /* what was known at the point */
    struct ledger *copy; /* for one state */
    uint64_t noted;
    lbx_durability level;
    const char *image;
    char url[600];
    struct tally *tally;
    bool (*found)(const struct tally *tally); /* then that is enough; or NULL */
};

/* All that was reported until this point. */
static void
catch_up(struct cutting *cutting)
{
    for (; cutting->noted < disk_point_committed(); cutting->noted++) {
        const struct ledger_event *event = &events[cutting->noted];

        if (event->what)
            ledger_note(cutting->at, event);
        if (event->ended_ns > now.now_ns)
            now.now_ns = event->ended_ns;
        if (event->begun_ns > now.now_ns)
            now.now_ns = event->begun_ns;
    }
}

static void
move_on(void *context)
{
    struct worker *worker = context;

    lbx_test_clock_advance(&now, LBX_SECOND * 60, worker->boxes->store);
}

static void
add_tally(struct tally *tally, const struct tally *more)
{
    if (tally->refused == 0)
        tally->fault = more->fault;
    tally->states += more->states;
    tally->refused += more->refused;
    score_add(&tally->score, &more->score);
}

/* Opens what a cut has left, tries old receipts, and drains it. */
static void
judge(struct cutting *cutting, struct tally *tally)
{
    lbx_store_options options = cut_options(cutting->level);
    struct workers workers = cut_crew(cutting->copy, cutting->url, &options, 1);
    const int64_t before = now.now_ns;
    lbx_fault fault = {LBX_OK, ""};
    struct score score;
    struct boxes boxes;
    struct worker worker;

    options.fault = &fault;
    memcpy(cutting->copy, cutting->at, ledger_bytes(cutting->at));
    tally->states++;
    if (boxes_open(&boxes, &workers) != LBX_OK) {
        if (tally->refused++ == 0)
            tally->fault = fault;
        return;
    }
    worker_init(&worker, &workers, &boxes, 0);
    worker_try_receipts(&worker);
    tally->score.failures += atomic_exchange(&cutting->copy->failures, 0);
    atomic_store(&cutting->copy->draining, 1);
    worker_drain(&worker, move_on, &worker);
    boxes_close(&boxes);
    now.now_ns = before;
    score = ledger_judge(cutting->copy);
    score.late = 0; // this clock jumps by minutes
    score_add(&tally->score, &score);
}

/* In a process of its own: a disk that lies can leave pages that make LMDB
 * fault, which is a refusal too. */
static void
judge_apart(struct cutting *cutting, struct tally *tally)
{
    struct tally *found = mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;
    int status;

    CHECK(found != MAP_FAILED);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        (void)alarm(20);
        judge(cutting, found);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    found->states = 1;
    found->refused |= status != 0;
    add_tally(tally, found);
    CHECK(munmap(found, sizeof(*found)) == 0);
}

static void
cut_everywhere(struct cutting *cutting, const struct ledger *live,
               const struct disk_lies *lies, uint64_t seed, long tries)
{
    void (*const judging)(struct cutting *, struct tally *) =
        lies ? judge_apart : judge;

    cutting->at = ledger_create(LETTERS, 0);
    cutting->copy = ledger_create(LETTERS, 0);
    cutting->noted = 0;
    // The receipts of all times; which are stale at a point the ledger knows.
    memcpy(cutting->at->receipts, live->receipts, sizeof(live->receipts));
    cutting->image = test_path();
    (void)snprintf(cutting->url, sizeof(cutting->url), "file:%s",
                   cutting->image);
    now = (lbx_test_clock)LBX_TEST_CLOCK_INIT;
    disk_other_boot = true;
    disk_rewind(lies);
    while (!(cutting->found && cutting->found(cutting->tally)) && disk_next()) {
        catch_up(cutting);
        disk_build(DISK_NOTHING, 0, cutting->image);
        judging(cutting, cutting->tally);
        if (!disk_at_stake())
            continue;
        disk_build(DISK_ALL, 0, cutting->image);
        judging(cutting, cutting->tally);
        // One write alone is there, or not, or torn.
        if (disk_at_stake() > 1) {
            disk_build(DISK_LAST, 0, cutting->image);
            judging(cutting, cutting->tally);
        }
        for (long i = 0; i < tries; i++) {
            const bool torn = disk_at_stake() == 1 || i % 2;

            disk_build(torn ? DISK_TORN : DISK_SOME, seed++, cutting->image);
            judging(cutting, cutting->tally);
        }
    }
    disk_other_boot = false;
    ledger_destroy(cutting->at);
    ledger_destroy(cutting->copy);
}

static void
be_quick(void)
{
    disk_quick = true;
    test_paths_in_memory();
}

/* How a store lives that loses its power. */
struct life {
    lbx_durability level;
    bool shared; /* another process has the right to write, too */
    const struct disk_lies *lies;
    uint64_t seed;
    long steps;
    bool (*found)(const struct tally *tally); /* see struct cutting */
};

/* Shared mode: a store that is there, and a shared lock on it. */
static int
share_store(const struct workers *workers, const char *path)
{
    struct flock lock = {.l_type = F_RDLCK, .l_len = 1};
    char wake[600];
    struct boxes boxes;
    int fd;

    CHECK_OK(boxes_open(&boxes, workers));
    boxes_close(&boxes);
    (void)snprintf(wake, sizeof(wake), "%s/wake", path);
    fd = open(wake, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0 && fcntl(fd, F_OFD_SETLK, &lock) == 0);
    return fd;
}

/* One life, and all the cuts in it. */
static void
live_and_cut(const struct life *life, struct tally *tally)
{
    lbx_store_options options = cut_options(life->level);
    struct ledger *ledger = ledger_create(LETTERS, 0);
    struct cutting cutting = {
        .level = life->level, .tally = tally, .found = life->found};
    char url[600];
    const char *path = test_path();
    struct workers workers = cut_crew(ledger, url, &options, life->seed);
    int other = -1;

    (void)snprintf(url, sizeof(url), "file:%s", path);
    now = (lbx_test_clock)LBX_TEST_CLOCK_INIT;
    if (life->shared)
        other = share_store(&workers, path);
    disk_start(path);
    record_life(&workers, life->steps);
    if (life->shared)
        CHECK(close(other) == 0);
    cut_everywhere(&cutting, ledger, life->lies, life->seed,
                   test_rounds(6, 40));
    ledger_destroy(ledger);
}

static void
report(const char *what, const struct tally *tally)
{
    test_figure("crash, %s: %ld crash states, lost=%" PRIu64 " phantom=%" PRIu64
                " resurrected=%" PRIu64 " stale-ok=%" PRIu64 " early=%" PRIu64
                " duplicate=%" PRIu64 " reordered=%" PRIu64 " refused=%ld",
                what, tally->states, tally->score.lost, tally->score.phantom,
                tally->score.resurrected, tally->score.stale_ok,
                tally->score.early, tally->score.duplicate,
                tally->score.reordered, tally->refused);
    if (tally->refused)
        test_note("first refused: %s %s", lbx_status_name(tally->fault.status),
                  tally->fault.text);
}

/* A store has a thread of its own, and each call goes to it and back: on one
 * processor that is quickest, and another process can have the next. */
static void
stay_on(int worker)
{
    cpu_set_t all, one;
    int skip = worker;

    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof(all), &all) != 0)
        return;
    skip %= CPU_COUNT(&all);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &all) && skip-- == 0)
            CPU_SET(cpu, &one);
    }
    (void)sched_setaffinity(0, sizeof(one), &one);
}

static bool
is_clean(const struct tally *tally)
{
    return tally->score.lost + tally->score.phantom + tally->score.resurrected +
               tally->score.stale_ok + tally->score.early +
               tally->score.duplicate + tally->score.reordered +
               tally->score.failures + (uint64_t)tally->refused ==
           0;
}

/* Lives and their cuts, by several processes: so many states in all, or until
 * the time is over, or something was found. */
static void
cut_many(lbx_durability level, bool shared, long states, struct tally *ret)
{
    enum {
        WORKERS = 2
    };
    struct tally *tallies =
        mmap(NULL, WORKERS * sizeof(*tallies), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const int64_t end =
        lbx_clock_now(NULL) + test_rounds(30, 36000) * LBX_SECOND;
    const uint64_t seed = rounds_seed();
    pid_t children[WORKERS];

    CHECK(tallies != MAP_FAILED);
    for (int i = 0; i < WORKERS; i++) {
        children[i] = fork();
        CHECK(children[i] >= 0);
        if (children[i] > 0)
            continue;
        stay_on(i);
        for (uint64_t mine = seed + (uint64_t)i;
             tallies[i].states < states / WORKERS && is_clean(&tallies[i]) &&
             lbx_clock_now(NULL) < end;
             mine += WORKERS)
            live_and_cut(&(struct life){.level = level,
                                        .shared = shared,
                                        .seed = mine,
                                        .steps = shared ? 40 : 200},
                         &tallies[i]);
        if (!is_clean(&tallies[i]))
            report("letters, found", &tallies[i]);
        _exit(0);
    }
    for (int i = 0; i < WORKERS; i++) {
        int status;

        CHECK(waitpid(children[i], &status, 0) == children[i]);
        CHECK_INT(0, status);
        add_tally(ret, &tallies[i]);
    }
    CHECK(munmap(tallies, WORKERS * sizeof(*tallies)) == 0);
}

static void
check_clean(const struct tally *tally)
{
    CHECK(tally->states > 1000);
    CHECK_INT(0, tally->refused);
    score_check_faultless(&tally->score);
}

TEST(no_cut_loses_a_letter)
{
    struct tally tally = {0};

    be_quick();
    cut_many(LBX_DURABILITY_POWER_CUT, false, test_rounds(50000, 20000000),
             &tally);
    report("letters", &tally);
    check_clean(&tally);
}

/* In shared mode each batch is a commit of LMDB's, whatever was asked for. */
TEST(no_cut_in_shared_mode_loses_a_letter)
{
    struct tally tally = {0};

    be_quick();
    cut_many(LBX_DURABILITY_PROCESS, true, test_rounds(6000, 2000000), &tally);
    report("letters in shared mode", &tally);
    check_clean(&tally);
}

/* Lives are cut until all that must be found has been. */
static void
cut_until(struct life life, bool (*found)(const struct tally *tally),
          struct tally *ret)
{
    const int64_t end = lbx_clock_now(NULL) + 60 * LBX_SECOND;

    be_quick();
    stay_on(0);
    for (life.seed = rounds_seed(); !found(ret) && lbx_clock_now(NULL) < end;
         life.seed++)
        live_and_cut(&life, ret);
}

static bool
has_forgotten(const struct tally *tally)
{
    return tally->score.lost > 0 && tally->score.resurrected > 0 &&
           tally->score.early > 0;
}

static bool
has_suffered(const struct tally *tally)
{
    return tally->score.lost + (uint64_t)tally->refused > 0;
}

/* The control: without flushes letters are lost, and come back, and leases are
 * forgotten; but the store opens, and has no letter that was never sent. */
TEST(cuts_without_flushes_lose_letters_and_do_no_damage)
{
    struct tally tally = {0};

    cut_until((struct life){.level = LBX_DURABILITY_PROCESS, .steps = 40},
              has_forgotten, &tally);
    report("control, letters at level process", &tally);
    CHECK(has_forgotten(&tally));
    CHECK_INT(0, tally.score.phantom);
    CHECK_INT(0, tally.refused);
}

TEST(cuts_of_a_disk_that_lies_are_found_out)
{
    static const struct disk_lies lies = {.journal = true};
    struct tally tally = {0};

    cut_until((struct life){.level = LBX_DURABILITY_POWER_CUT,
                            .lies = &lies,
                            .steps = 30,
                            .found = has_suffered},
              has_suffered, &tally);
    report("control, letters with a journal that is never flushed", &tally);
    CHECK(has_suffered(&tally));
}
