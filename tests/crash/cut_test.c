/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power cuts, simulated: a store's work is recorded, and for
 * each step the states that a disk could be left in are opened and compared.
 *
 * After any of them the store opens, and holds exactly what it did after group
 * k, where answered <= k <= committed. Less is lost; more, or other, a phantom.
 *
 * Each promise has a negative control: the same with a flush that does nothing.
 */
#include "disk.h"
#include "stores/file/fixture.h"
#include "stores/file/membership.h"
#include "stores/file/rounds.h"
#include "workload.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct score {
    long states, lost, phantom, refused;
    lbx_fault fault; /* the first refusal */
};

/* Nothing is flushed, and nothing need reach a disk. */
static void
be_quick(void)
{
    disk_quick = true;
    test_paths_in_memory();
}

/* Opens what a cut has left, and keeps score. */
static void
judge(const char *image, const uint64_t *sums, struct score *score)
{
    lbx_store_options options = fixture_options();
    lbx_fault fault = {LBX_OK, ""};
    lbx__storage *storage;
    uint64_t last;

    options.fault = &fault;
    score->states++;
    if (lbx__file_open(image, &options, NULL, &storage) != LBX_OK) {
        if (score->refused++ == 0)
            score->fault = fault;
        return;
    }
    CHECK_OK(lbx__storage_begin(storage));
    last = workload_last(storage);
    if (last < disk_point_answered())
        score->lost++;
    else if (last > disk_point_committed() ||
             workload_sum(storage) != sums[last])
        score->phantom++;
    lbx__storage_commit(storage);
    lbx__storage_close(storage);
}

/* The same in a process of its own: a disk that lies can leave pages that make
 * LMDB fault, which is a refusal too. */
static void
judge_apart(const char *image, const uint64_t *sums, struct score *score)
{
    struct score found = {0};
    const pid_t child = fork();
    int status;

    CHECK(child >= 0);
    if (child == 0) {
        judge(image, sums, &found);
        _exit(found.lost ? 1 : found.phantom ? 2 : found.refused ? 3 : 0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    score->states++;
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 2)
        score->refused++;
    else if (WEXITSTATUS(status) == 1)
        score->lost++;
    else if (WEXITSTATUS(status) == 2)
        score->phantom++;
}

/* All points of the recording, each with several fates. */
static void
cut_everywhere(const struct disk_lies *lies, const uint64_t *sums,
               uint64_t seed, long tries, struct score *score)
{
    void (*const judging)(const char *, const uint64_t *, struct score *) =
        lies ? judge_apart : judge;
    const char *image = test_path();

    disk_rewind(lies);
    while (disk_next()) {
        disk_build(DISK_NOTHING, 0, image);
        judging(image, sums, score);
        if (!disk_at_stake())
            continue;
        disk_build(DISK_ALL, 0, image);
        judging(image, sums, score);
        disk_build(DISK_LAST, 0, image);
        judging(image, sums, score);
        for (long i = 0; i < tries; i++) {
            disk_build(i % 2 ? DISK_TORN : DISK_SOME, seed++, image);
            judging(image, sums, score);
        }
    }
}

/* Groups `from` to `last`, several to a flush now and then. */
static void
work(lbx__storage *storage, uint64_t from, uint64_t last)
{
    for (uint64_t i = from; i <= last; i++) {
        uint64_t ticket;

        CHECK_OK(lbx__storage_begin(storage));
        (void)workload_group(storage, i);
        disk_committed(i);
        ticket = lbx__storage_commit(storage);
        if (i % 5 < 2 && i < last)
            continue;
        CHECK_OK(lbx__storage_flush(storage, ticket));
        disk_answered(i);
    }
}

/* Made, used over several checkpoints, closed, opened and used again. */
static void
record_life(lbx_durability level, uint64_t groups)
{
    lbx_store_options options = fixture_options();
    const char *path = test_path();
    lbx__storage *storage;

    options.durability = level;
    disk_start(path);
    storage = fixture_open(path, &options, NULL);
    work(storage, 1, groups / 2);
    lbx__storage_close(storage);
    storage = fixture_open(path, &options, NULL);
    work(storage, groups / 2 + 1, groups);
    lbx__storage_close(storage);
    disk_stop();
}

static void
report(const char *what, const struct score *score)
{
    test_figure("crash %s: %ld crash states, lost=%ld phantom=%ld refused=%ld",
                what, score->states, score->lost, score->phantom,
                score->refused);
    if (score->refused)
        test_note("first refused: %s", score->fault.text);
}

static void
check_clean(const struct score *score)
{
    CHECK_INT(0, score->lost);
    CHECK_INT(0, score->phantom);
    CHECK_INT(0, score->refused);
    CHECK(score->states > 100);
}

/* Records a life of so many batches at a level, and cuts it everywhere. */
static struct score
cut_life(const char *what, lbx_durability level, long batches, long cuts)
{
    const uint64_t seed = rounds_seed();
    uint64_t *sums = workload_sums((uint64_t)batches);
    struct score score = {0};

    be_quick();
    record_life(level, (uint64_t)batches);
    cut_everywhere(NULL, sums, seed, cuts, &score);
    report(what, &score);
    free(sums);
    return score;
}

TEST(no_power_cut_loses_what_was_answered)
{
    const struct score score =
        cut_life("exclusive mode", LBX_DURABILITY_POWER_CUT,
                 test_rounds(400, 4000), test_rounds(6, 40));

    check_clean(&score);
}

/* Below level sync a cut may lose operations that were reported as done, and
 * nothing else: the store opens in the state of some earlier moment. This is
 * also the control of the test above: without the flush it must find losses. */
TEST(without_flushes_a_power_cut_loses_but_does_not_damage)
{
    const struct score score =
        cut_life("control, level process", LBX_DURABILITY_PROCESS,
                 test_rounds(150, 1500), 4);

    CHECK(score.lost > 0);
    CHECK_INT(0, score.phantom);
    CHECK_INT(0, score.refused);
}

/* Controls: a disk that lies about one of the three flushes. Each must show. */
TEST(a_disk_that_lies_is_found_out)
{
    static const struct {
        const char *what;
        struct disk_lies lies;
    } cases[] = {
        {"control, data.mdb never flushed", {true, false, false}},
        {"control, journal never flushed", {false, true, false}},
        {"control, names never flushed", {false, false, true}},
    };
    const uint64_t seed = rounds_seed();
    uint64_t *sums = workload_sums(60);

    be_quick();
    record_life(LBX_DURABILITY_POWER_CUT, 60);
    for (size_t i = 0; i < 3; i++) {
        struct score score = {0};

        cut_everywhere(&cases[i].lies, sums, seed, 4, &score);
        report(cases[i].what, &score);
        CHECK(score.lost + score.phantom + score.refused > 0);
    }
    free(sums);
}

/* RECOV-1: the power goes again while the store recovers. */
TEST(a_power_cut_during_recovery_loses_nothing)
{
    enum {
        GROUPS = 60
    };
    const uint64_t seed = rounds_seed();
    uint64_t *sums = workload_sums(GROUPS);
    struct score score = {0};
    const char *copy;
    const char *path;
    lbx__storage *storage;

    be_quick();
    // As a kill leaves it.
    path = test_path();
    copy = test_path();
    storage = fixture_open(path, NULL, NULL);
    work(storage, 1, GROUPS);
    fixture_copy_store(path, copy);
    lbx__storage_close(storage);

    disk_start(copy);
    disk_committed(GROUPS);
    disk_answered(GROUPS);
    storage = fixture_open(copy, NULL, NULL);
    lbx__storage_close(storage);
    disk_stop();
    cut_everywhere(NULL, sums, seed, test_rounds(40, 1000), &score);
    report("in recovery", &score);
    CHECK_INT(0, score.lost + score.phantom + score.refused);
    CHECK(score.states > 50);
    free(sums);
}

/* In shared mode each batch is a commit of LMDB's, whatever the level. */
TEST(no_power_cut_loses_what_was_answered_in_shared_mode)
{
    const uint64_t groups = (uint64_t)test_rounds(100, 1000);
    const uint64_t seed = rounds_seed();
    uint64_t *sums = workload_sums(groups);
    lbx_store_options options = fixture_options();
    struct flock lock = {.l_type = F_RDLCK, .l_len = 1};
    struct score score = {0};
    char wake[600];
    const char *path;
    lbx__storage *storage;
    int fd;

    be_quick();
    path = test_path();
    lbx__storage_close(fixture_open(path, NULL, NULL));
    // Shared mode: another process has the right to write, too.
    (void)snprintf(wake, sizeof(wake), "%s/wake", path);
    fd = open(wake, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0 && fcntl(fd, F_OFD_SETLK, &lock) == 0);
    options.durability = LBX_DURABILITY_PROCESS;
    disk_start(path);
    storage = fixture_open(path, &options, NULL);
    CHECK(!lbx__file_is_exclusive(storage));
    CHECK_INT(LBX_DURABILITY_POWER_CUT, storage->ops->durability(storage));
    work(storage, 1, groups);
    lbx__storage_close(storage);
    disk_stop();
    CHECK(close(fd) == 0);
    cut_everywhere(NULL, sums, seed, test_rounds(4, 40), &score);
    report("in shared mode", &score);
    check_clean(&score);
    free(sums);
}
