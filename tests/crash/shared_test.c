/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several processes on one store: exclusive, shared, exclusive again; one of
 * them killed at any time. Nobody is stuck, nothing is lost, and groups of
 * different processes do not mix.
 *
 * Each process counts: its own row, and one that all share, in one group. So at
 * every moment the shared row is the sum of the others.
 */
#include "codec/endian.h"
#include "stores/file/fixture.h"
#include "stores/file/private.h"
#include "stores/file/rounds.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PROCESSES = 3,
    PATIENCE_MS = 60000 /* then a process hangs */
};

struct report {
    uint64_t count;
    uint64_t alone; /* whether it was */
};

static uint64_t
read_count(lbx__storage *storage, const char *key)
{
    lbx__bytes value;

    if (lbx__storage_get(storage, LBX__BODIES, text(key), &value) != LBX_OK)
        return 0;
    return lbx__get_be64(value.data);
}

/* One more; false when there is no room. */
static bool
count_one(lbx__storage *storage, const char *key, uint64_t *ret)
{
    const lbx__row_size size = {(uint32_t)strlen(key), 8};
    uint8_t bytes[8];
    const lbx__bytes value = {bytes, sizeof(bytes)};

    if (lbx__storage_reserve(storage, &size, 1, LBX__GROWS) != LBX_OK)
        return false;
    *ret = read_count(storage, key) + 1;
    lbx__put_be64(bytes, *ret);
    lbx__storage_put(storage, LBX__BODIES, text(key), &value, 1);
    return true;
}

/* ---- Children: no checks in here ---- */

static const char *
key_of(int who)
{
    static const char *const keys[PROCESSES] = {"a", "b", "c"};

    return keys[who];
}

static _Noreturn void
count_for_ever(const char *path, int who, int to)
{
    const lbx_store_options options = fixture_options();
    struct report report = {0, 0};
    lbx__storage *storage;
    uint64_t sum;

    if (lbx__file_open(path, &options, NULL, &storage) != LBX_OK)
        _exit(1);
    for (;;) {
        if (lbx__storage_begin(storage) != LBX_OK)
            _exit(2);
        if (!count_one(storage, key_of(who), &report.count) ||
            !count_one(storage, "sum", &sum))
            _exit(3);
        if (lbx__storage_flush(storage, lbx__storage_commit(storage)) != LBX_OK)
            _exit(4);
        report.alone = lbx__file_is_exclusive(storage);
        if (write(to, &report, sizeof(report)) != sizeof(report))
            _exit(5);
    }
}

/* Has the store open, and begins a batch at each notification. */
static _Noreturn void
idle_for_ever(const char *path, int to)
{
    const lbx_store_options options = fixture_options();
    struct report report = {0, 0};
    lbx__storage *storage;

    if (lbx__file_open(path, &options, NULL, &storage) != LBX_OK)
        _exit(1);
    for (;;) {
        const uint32_t seen = lbx__file_notified(storage);

        if (lbx__storage_begin(storage) != LBX_OK ||
            lbx__storage_flush(storage, lbx__storage_commit(storage)) != LBX_OK)
            _exit(2);
        report.count++;
        report.alone = lbx__file_is_exclusive(storage);
        if (write(to, &report, sizeof(report)) != sizeof(report))
            _exit(3);
        lbx__file_wait(storage, seen, -1);
    }
}

/* ---- The parent ---- */

struct child {
    pid_t pid; /* 0: none */
    int from;
    uint64_t answered;
    long alone, together; /* reports */
};

static void
start(struct child *child, const char *path, int who)
{
    int ends[2];

    CHECK(pipe2(ends, O_CLOEXEC) == 0);
    child->pid = fork();
    CHECK(child->pid >= 0);
    if (child->pid == 0) {
        if (who < 0)
            idle_for_ever(path, ends[1]);
        else
            count_for_ever(path, who, ends[1]);
    }
    CHECK(close(ends[1]) == 0);
    child->from = ends[0];
}

static bool
take_report(struct child *child)
{
    struct report report;

    if (read(child->from, &report, sizeof(report)) != sizeof(report))
        return false;
    child->answered = report.count;
    child->alone += report.alone != 0;
    child->together += report.alone == 0;
    return true;
}

static void
take_expected_report(struct child *child)
{
    int status;

    if (take_report(child))
        return;
    CHECK(waitpid(child->pid, &status, 0) == child->pid);
    FAIL("a process has ended: %s %d", WIFEXITED(status) ? "exit" : "signal",
         WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

/* The next report of one of them, which must come: no process is stuck. Those
 * of the others are read meanwhile: on a fast disk their pipes would be full
 * soon, and a process that waits for its pipe lets no other join. */
static void
await_report(struct child *children, int count, const struct child *awaited)
{
    const int64_t end = lbx_clock_now(NULL) + PATIENCE_MS * LBX_MS;

    for (bool reported = false; !reported;) {
        struct pollfd polled[PROCESSES];

        CHECK(count <= PROCESSES);
        for (int i = 0; i < count; i++)
            polled[i] = (struct pollfd){
                .fd = children[i].pid ? children[i].from : -1,
                .events = POLLIN,
            };
        if (poll(polled, (nfds_t)count, PATIENCE_MS) < 1 ||
            lbx_clock_now(NULL) > end)
            FAIL("process %d is stuck", (int)awaited->pid);
        for (int i = 0; i < count; i++) {
            if (polled[i].revents == 0)
                continue;
            take_expected_report(&children[i]);
            reported |= &children[i] == awaited;
        }
    }
}

/* Kills it, and reads what it had still reported. */
static void
end(struct child *child)
{
    int status;

    CHECK(kill(child->pid, SIGKILL) == 0);
    while (take_report(child))
        ;
    CHECK(waitpid(child->pid, &status, 0) == child->pid);
    if (!WIFSIGNALED(status))
        FAIL("a process ended by itself: %d", WEXITSTATUS(status));
    CHECK(close(child->from) == 0);
    child->pid = 0;
}

/* All counts against what was answered. */
static void
check_counts(const char *path, const struct child *children)
{
    lbx__storage *storage = fixture_open(path, NULL, NULL);
    uint64_t sum = 0;

    CHECK_OK(lbx__storage_begin(storage));
    for (int i = 0; i < PROCESSES; i++) {
        const uint64_t count = read_count(storage, key_of(i));

        if (count < children[i].answered || count > children[i].answered + 1)
            FAIL("process %d: %" PRIu64 " answered, %" PRIu64 " there", i,
                 children[i].answered, count);
        sum += count;
    }
    CHECK_INT(sum, read_count(storage, "sum"));
    lbx__storage_commit(storage);
    lbx__storage_close(storage);
}

TEST(processes_come_and_are_killed_and_none_is_stuck)
{
    struct rounds rounds = rounds_of(test_rounds(160, 20000), 40, 15);
    uint64_t state = rounds_seed();
    struct child children[PROCESSES] = {{0, 0, 0, 0, 0}};
    long killed = 0, alone = 0, together = 0;
    uint64_t answered = 0;
    const char *path = test_path();

    while (rounds_next(&rounds)) {
        struct child *child = &children[rounds_draw(&state, PROCESSES)];

        if (!child->pid) {
            start(child, path, (int)(child - children));
        } else if (rounds_draw(&state, 3) == 0) {
            end(child); // maybe while it opens
            killed++;
        }
        // Each process gets on, several times: in exclusive mode in between.
        for (int i = 0; i < PROCESSES; i++) {
            const uint64_t reports = rounds_draw(&state, 24);

            for (uint64_t k = 0; children[i].pid && k < reports; k++)
                await_report(children, PROCESSES, &children[i]);
        }
        if (killed % 8 == 7) {
            for (int i = 0; i < PROCESSES; i++) {
                if (children[i].pid) {
                    end(&children[i]);
                    killed++;
                }
            }
            check_counts(path, children);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        if (children[i].pid)
            end(&children[i]);
    }
    check_counts(path, children);
    for (int i = 0; i < PROCESSES; i++) {
        alone += children[i].alone;
        together += children[i].together;
        answered += children[i].answered;
    }
    test_figure("crash shared: %ld kills, %" PRIu64
                " acknowledged groups, lost=0 phantom=0; %ld exclusive, %ld "
                "shared",
                killed, answered, alone, together);
    CHECK(killed > 0 && alone > 0 && together > 0);
}

/* Starts a process that has the store open before this returns. */
static void
start_owner(struct child *owner, const char *path)
{
    *owner = (struct child){0, 0, 0, 0, 0};
    start(owner, path, -1);
    await_report(owner, 1, owner);
}

/* An owner that sleeps is woken by a join request, and is exclusive again when
 * the others have left. */
TEST(an_owner_that_sleeps_lets_others_in)
{
    struct child owner;
    lbx__storage *storage;
    const char *path = test_path();

    start_owner(&owner, path);
    CHECK_INT(1, owner.alone);
    for (int round = 0; round < 5; round++) {
        const long alone = owner.alone;

        storage = fixture_open(path, NULL, NULL);
        CHECK(!lbx__file_is_exclusive(storage));
        CHECK_OK(store_text(storage, "a", "1"));
        check_text(storage, "a", "1");
        lbx__storage_close(storage);
        // It is notified because we have left, and becomes exclusive.
        while (owner.alone == alone)
            await_report(&owner, 1, &owner);
    }
    CHECK(owner.together > 0);
    end(&owner);
    storage = fixture_open(path, NULL, NULL);
    check_text(storage, "a", "1");
    lbx__storage_close(storage);
}

/* MEMB-4: a flush that fails in one process stops the others, until all
 * of them have left. */
TEST(poison_reaches_every_process)
{
    struct child owner;
    lbx_store_options options = fixture_options();
    struct faulty_io faulty;
    lbx_fault fault;
    lbx__storage *storage;
    const char *path = test_path();
    int status;

    start_owner(&owner, path);
    faulty_init(&faulty);
    storage = fixture_open(path, NULL, &faulty.io);
    CHECK_OK(store_text(storage, "a", "1"));
    // Ours, in exclusive mode: kill the others, and fail.
    end(&owner);
    for (int i = 0; i < 40 && !lbx__file_is_exclusive(storage); i++)
        CHECK_OK(store_text(storage, "a", "2"));
    CHECK(lbx__file_is_exclusive(storage));
    faulty.syncs_left = 0;
    CHECK_STATUS(LBX_IO, store_text(storage, "a", "3"));
    // No process can join while ours is open; and ours does nothing any more.
    CHECK_STATUS(LBX_IO, lbx__storage_begin(storage));
    lbx__storage_close(storage);
    // The word is left; the next exclusive opener recovers and clears it.
    storage = fixture_open(path, NULL, NULL);
    CHECK_OK(store_text(storage, "b", "4"));
    check_text(storage, "b", "4");
    // In shared mode the word is enough to stop the other.
    start(&owner, path, -1);
    while (lbx__file_is_exclusive(storage)) {
        CHECK_OK(lbx__storage_begin(storage));
        lbx__storage_commit(storage);
    }
    await_report(&owner, 1, &owner);
    lbx__boot_words_poison(&((lbx__file *)storage)->membership);
    CHECK(waitpid(owner.pid, &status, 0) == owner.pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 2);
    CHECK(close(owner.from) == 0);
    CHECK_STATUS(LBX_IO, lbx__storage_begin(storage));
    // And a process that comes while we are still there.
    {
        const pid_t child = fork();

        CHECK(child >= 0);
        if (child == 0) {
            lbx__storage *mine;

            options.fault = &fault;
            _exit(lbx__file_open(path, &options, NULL, &mine) == LBX_IO ? 0
                                                                        : 1);
        }
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    lbx__storage_close(storage);
    storage = fixture_open(path, NULL, NULL);
    check_text(storage, "b", "4");
    lbx__storage_close(storage);
}

/* options.exclusive: its owner refuses others, and is refused by them. */
TEST(exclusive_mode_refuses_to_share_both_ways)
{
    struct child owner;
    lbx_store_options options = fixture_options();
    lbx_fault fault = {LBX_OK, ""};
    lbx__storage *storage;
    const char *path = test_path();
    int status;

    start_owner(&owner, path);
    options.exclusive = true;
    options.fault = &fault;
    CHECK_STATUS(LBX_BUSY, lbx__file_open(path, &options, NULL, &storage));
    CHECK(fault.text[0]);
    end(&owner);
    storage = fixture_open(path, &options, NULL);
    CHECK(lbx__file_is_exclusive(storage));
    start(&owner, path, -1);
    CHECK(waitpid(owner.pid, &status, 0) == owner.pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    CHECK(close(owner.from) == 0);
    CHECK_OK(store_text(storage, "a", "1"));
    CHECK(lbx__file_is_exclusive(storage));
    lbx__storage_close(storage);
}

/* MEMB-2: an owner is killed just when another gets the right to write shared.
 * Who finds the journal not idle must not go on as if there were nothing in
 * it. */
TEST(a_killed_owners_journal_is_not_passed_over_in_shared_mode)
{
    enum {
        REQUESTS_AT = 24 /* in wake: after the magic and the boot's id */
    };
    struct flock lock = {.l_type = F_RDLCK, .l_len = 1};
    char wake[600];
    const char *path = test_path();
    uint32_t before, requests;
    pid_t child;
    int fd, status;

    (void)snprintf(wake, sizeof(wake), "%s/wake", path);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        const lbx_store_options options = fixture_options();
        lbx__storage *storage;

        if (lbx__file_open(path, &options, NULL, &storage) != LBX_OK)
            _exit(1);
        _exit(store_text(storage, "a", "1") == LBX_OK ? 0 : 2);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);

    // Someone who has it shared, as another that was faster would.
    fd = open(wake, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0 && fcntl(fd, F_OFD_SETLK, &lock) == 0);
    CHECK_INT(sizeof(before), pread(fd, &before, sizeof(before), REQUESTS_AT));
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        const lbx_store_options options = fixture_options();
        lbx__storage *storage;
        lbx__bytes value;

        if (lbx__file_open(path, &options, NULL, &storage) != LBX_OK ||
            lbx__storage_begin(storage) != LBX_OK)
            _exit(1);
        _exit(lbx__storage_get(storage, LBX__BODIES, text("a"), &value) ==
                      LBX_OK
                  ? 0
                  : 2);
    }
    // It waits for us: it asks to join, and does not take the store as it is.
    do {
        if (waitpid(child, &status, WNOHANG) == child)
            FAIL("it did not wait: %d", WEXITSTATUS(status));
        CHECK_INT(sizeof(requests),
                  pread(fd, &requests, sizeof(requests), REQUESTS_AT));
    } while (requests == before);
    lock.l_type = F_UNLCK;
    CHECK(fcntl(fd, F_OFD_SETLK, &lock) == 0);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(close(fd) == 0);
}
