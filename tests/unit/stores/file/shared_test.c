/* SPDX-License-Identifier: Apache-2.0 */
/* A store in files that several processes have open: notifications, join
 * requests, and what killed processes leave behind. */
#include "letters.h"

#include "fixture.h"
#include "stores/file/private.h"

#include <fcntl.h>
#include <lmdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ROUNDS = 200
};

static void
answer_pings(int to)
{
    lbx_postbox *pings = open_box("pings");
    lbx_postbox *pongs = open_box("pongs");

    say(to);
    for (int i = 0; i < ROUNDS; i++) {
        take(pings, "ping");
        mail(pongs, "pong");
    }
    lbx_postbox_unref(pongs);
    lbx_postbox_unref(pings);
}

/* If notifications were lost, each would take a second: 200 s. */
TEST(processes_wake_each_other)
{
    lbx_postbox *pings, *pongs;
    struct child child;

    new_store_path();
    child = spawn_ready(answer_pings);
    pings = open_box("pings");
    pongs = open_box("pongs");
    for (int i = 0; i < ROUNDS; i++) {
        mail(pings, "ping");
        take(pongs, "pong");
    }
    await_end(child);
    lbx_postbox_unref(pongs);
    lbx_postbox_unref(pings);
}

static void
idle(int to)
{
    (void)open_store();
    say(to);
    for (;;)
        pause();
}

/* Its owner sleeps, and has nothing to do but to grant join requests. */
TEST(an_idle_store_lets_others_in)
{
    lbx_store_options options = fixture_options();
    lbx_postbox *postbox;
    lbx_store *store;
    struct child child;

    new_store_path();
    child = spawn_ready(idle);
    options.durability = LBX_DURABILITY_PROCESS;
    CHECK_OK(lbx_store_open(url(""), &options, &store));
    CHECK_INT(LBX_DURABILITY_POWER_CUT, (int)lbx_store_durability(store));
    CHECK_OK(lbx_postbox_open_in(store, "orders", NULL, &postbox));
    mail(postbox, "together");
    kill_child(child);
    for (int i = 0; lbx_store_durability(store) != LBX_DURABILITY_PROCESS;
         i++) {
        mail(postbox, "alone again?");
        CHECK(i < 1000);
    }
    take(postbox, "together");
    lbx_postbox_unref(postbox);
    lbx_store_unref(store);
}

/* What `wake` says of the last commit. */
static uint64_t
noted_commit(const char *path)
{
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    lbx__membership_state state;

    CHECK(folder >= 0);
    CHECK_OK(lbx__membership_inspect(&lbx__io_system, folder, &state));
    CHECK(close(folder) == 0);
    CHECK(state.in_use);
    return state.last_commit;
}

/* Else the next opener could not tell an older state from the last one. */
TEST(each_commit_in_shared_mode_is_noted_in_wake)
{
    lbx_postbox *postbox;
    struct child child;
    uint64_t before;

    new_store_path();
    child = spawn_ready(idle);
    postbox = open_box("orders");
    mail(postbox, "one");
    for (int i = 0; i < 3; i++) {
        before = noted_commit(store_path);
        mail(postbox, "more");
        CHECK(noted_commit(store_path) > before);
    }
    lbx_postbox_unref(postbox);
    kill_child(child);
}

TEST(each_checkpoint_is_noted_in_wake)
{
    const char *path = test_path();
    lbx__storage *storage = fixture_open(path, NULL, NULL);
    const uint64_t before = noted_commit(path);
    char body[1024];

    memset(body, 'x', sizeof(body) - 1);
    body[sizeof(body) - 1] = '\0';
    CHECK_OK(store_text(storage, "a", body));
    CHECK_INT(before, noted_commit(path)); // it is in the journal
    for (int i = 0; i < 64; i++)           // more than that holds
        CHECK_OK(store_text(storage, "a", body));
    CHECK(noted_commit(path) > before);
    lbx__storage_close(storage);
}

/* MEMB-2: an owner is killed, and two processes that want to join both see the
 * journal that it left. One recovers, and grants the other's join request. */
TEST(two_that_find_a_killed_owners_journal_both_get_in)
{
    enum {
        REQUESTS_AT = 24 /* in wake: after the magic and the boot's id */
    };
    struct flock lock = {.l_type = F_RDLCK, .l_len = 1};
    char wake[512];
    uint32_t before, requests;
    struct child children[2];
    int fd;

    new_store_path();
    kill_child(spawn_ready(idle));
    // As if both had it shared for a moment: no process can recover yet.
    (void)snprintf(wake, sizeof(wake), "%s/wake", store_path);
    fd = open(wake, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0 && fcntl(fd, F_OFD_SETLK, &lock) == 0);
    CHECK_INT(sizeof(before), pread(fd, &before, sizeof(before), REQUESTS_AT));
    for (int i = 0; i < 2; i++)
        children[i] = spawn(idle);
    do {
        CHECK_INT(sizeof(requests),
                  pread(fd, &requests, sizeof(requests), REQUESTS_AT));
    } while (requests - before < 100);
    lock.l_type = F_UNLCK;
    CHECK(fcntl(fd, F_OFD_SETLK, &lock) == 0);
    for (int i = 0; i < 2; i++)
        hear(children[i]);
    for (int i = 0; i < 2; i++)
        kill_child(children[i]);
    CHECK(close(fd) == 0);
}

/* A process that waits while a store is made opens its files again: data.mdb
 * that was only begun is deleted and made anew by the first process to
 * enter. */
TEST(who_waits_does_not_keep_a_file_that_was_thrown_away)
{
    enum {
        REQUESTS_AT = 24,
        META_BYTES = 8192
    };
    struct flock lock = {.l_type = F_RDLCK, .l_len = 1};
    char made[480], wake[512], data[512];
    uint32_t before, requests;
    MDB_env *env;
    struct child child;
    int fd;

    new_store_path();
    lbx_store_unref(open_store());
    (void)snprintf(made, sizeof(made), "%s", store_path);
    new_store_path();
    CHECK(mkdir(store_path, 0700) == 0);
    CHECK(mdb_env_create(&env) == 0 &&
          mdb_env_open(env, store_path, 0, 0600) == 0);
    mdb_env_close(env);
    CHECK_INT(META_BYTES, fixture_size(store_path, "data.mdb"));
    (void)snprintf(wake, sizeof(wake), "%s/wake", store_path);
    fd = open(wake, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && ftruncate(fd, 65536) == 0);
    CHECK(fcntl(fd, F_OFD_SETLK, &lock) == 0);
    CHECK_INT(sizeof(before), pread(fd, &before, sizeof(before), REQUESTS_AT));
    child = spawn(idle);
    do {
        CHECK_INT(sizeof(requests),
                  pread(fd, &requests, sizeof(requests), REQUESTS_AT));
    } while (requests - before < 20);
    CHECK(kill(child.pid, SIGSTOP) == 0);
    CHECK(waitpid(child.pid, NULL, WUNTRACED) == child.pid);
    (void)snprintf(data, sizeof(data), "%s/data.mdb", store_path);
    CHECK(unlink(data) == 0);
    fixture_copy_store(made, store_path);
    lock.l_type = F_UNLCK;
    CHECK(fcntl(fd, F_OFD_SETLK, &lock) == 0);
    CHECK(kill(child.pid, SIGCONT) == 0);
    hear(child);
    kill_child(child);
    CHECK(close(fd) == 0);
}

static void
remove_nothing(int to)
{
    lbx__storage *storage = fixture_open(store_path, NULL, NULL);

    CHECK(!lbx__file_is_exclusive(storage));
    CHECK_OK(lbx__storage_begin(storage));
    lbx__storage_remove(storage, LBX__BODIES, text("nothing"));
    CHECK_OK(lbx__storage_flush(storage, lbx__storage_commit(storage)));
    say(to);
}

/* LMDB does not write a transaction that has changed nothing: the next one has
 * its number, and recovery must not report it as missing. */
TEST(a_group_that_changed_nothing_is_not_missed)
{
    struct child owner;

    new_store_path();
    owner = spawn_ready(idle);
    await_end(spawn_ready(remove_nothing));
    kill_child(owner);
    lbx_store_unref(open_store());
}

static void
fail_to_enter(int to)
{
    lbx_store_options options = fixture_options();
    lbx_fault fault;
    lbx_store *store;

    options.fault = &fault;
    CHECK_STATUS(LBX_BUSY, lbx_store_open(url(""), &options, &store));
    CHECK(strstr(fault.text, "open, alone"));
    say(to);
}

TEST(exclusive_mode_is_granted_or_refused)
{
    lbx_store_options options = fixture_options();
    lbx_fault fault = {LBX_OK, ""};
    lbx_store *store;
    struct child child;

    new_store_path();
    options.exclusive = true;
    CHECK_OK(lbx_store_open(url(""), &options, &store));
    await_end(spawn_ready(fail_to_enter));
    lbx_store_unref(store);

    child = spawn_ready(idle);
    options.fault = &fault;
    CHECK_STATUS(LBX_BUSY, lbx_store_open(url(""), &options, &store));
    CHECK(strstr(fault.text, "wanted alone, but another process has it open"));
    kill_child(child);
    CHECK_OK(lbx_store_open(url(""), &options, &store));
    lbx_store_unref(store);
}

static void
wait_for_the_end(int to)
{
    lbx_postbox *postbox = open_box("orders");
    lbx_letter *letter;

    say(to);
    CHECK_STATUS(LBX_CLOSED,
                 lbx_postbox_receive(postbox, 50 * LBX_SECOND, &letter));
    lbx_postbox_unref(postbox);
}

TEST_CITING("W-09", a_box_that_another_process_deletes_ends_waits)
{
    lbx_store *store;
    struct child child;

    new_store_path();
    child = spawn_ready(wait_for_the_end);
    store = open_store();
    CHECK_OK(lbx_store_delete_box(store, "orders"));
    await_end(child);
    lbx_store_unref(store);
}

static void
start_a_move(int to)
{
    lbx_store *store = open_store();

    CHECK_OK(lbx_store_start_move(store, "orders", "others", 20));
    say(to);
    for (;;)
        pause();
}

/* The move continues in another process that has the store open, even if that
 * process does nothing with it. */
TEST(a_move_goes_on_when_who_started_it_is_killed)
{
    lbx_postbox *orders, *others;
    lbx_store *store;
    struct child child;

    new_store_path();
    store = open_store();
    CHECK_OK(lbx_postbox_open_in(store, "orders", NULL, &orders));
    CHECK_OK(lbx_postbox_open_in(store, "others", NULL, &others));
    for (int i = 0; i < 20; i++)
        mail(orders, "moved");
    child = spawn_ready(start_a_move);
    kill_child(child);
    for (int i = 0; i < 20; i++)
        take(others, "moved");
    lbx_postbox_unref(others);
    lbx_postbox_unref(orders);
    lbx_store_unref(store);
}

static lbx_store *inherited;

static void
use_what_was_inherited(int to)
{
    lbx_postbox *postbox;
    lbx_store *mine;

    CHECK_STATUS(LBX_FORKED,
                 lbx_postbox_open_in(inherited, "orders", NULL, &postbox));
    lbx_store_unref(inherited);
    mine = open_store();
    CHECK_OK(lbx_postbox_open_in(mine, "orders", NULL, &postbox));
    take(postbox, "from the parent");
    lbx_postbox_unref(postbox);
    lbx_store_unref(mine);
    say(to);
}

TEST(a_child_opens_its_own)
{
    lbx_postbox *postbox;

    new_store_path();
    inherited = open_store();
    CHECK_OK(lbx_postbox_open_in(inherited, "orders", NULL, &postbox));
    mail(postbox, "from the parent");
    await_end(spawn_ready(use_what_was_inherited));
    lbx_postbox_unref(postbox);
    lbx_store_unref(inherited);
}

static void
leave_a_child(int to)
{
    pid_t child;

    (void)open_store();
    child = fork();
    CHECK(child >= 0);
    if (child > 0)
        CHECK(write(to, &child, sizeof(child)) == sizeof(child));
    for (;;)
        pause();
}

/* Locks belong to the open file description, which a child shares: a child that
 * never uses the store must not keep the locks of a parent that has ended. */
TEST(a_child_does_not_hold_its_parents_store)
{
    struct child owner, child;

    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    new_store_path();
    owner = spawn(leave_a_child);
    child.from = dup(owner.from);
    CHECK(read(owner.from, &child.pid, sizeof(pid_t)) == sizeof(pid_t));
    kill_child(owner);
    lbx_store_unref(open_store());
    kill_child(child);
}

/* ---- Processes that are stopped (MEMB-6) ---- */

static bool
is_locked(short kind, off_t byte)
{
    struct flock lock = {
        .l_type = kind, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    char wake[512];
    int fd;

    (void)snprintf(wake, sizeof(wake), "%s/wake", store_path);
    fd = open(wake, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock) == 0);
    CHECK(close(fd) == 0);
    return lock.l_type != F_UNLCK;
}

static void
stop_child(struct child child)
{
    CHECK(kill(child.pid, SIGSTOP) == 0);
    CHECK(waitpid(child.pid, NULL, WUNTRACED) == child.pid);
}

TEST(a_process_that_is_stopped_while_it_is_idle_keeps_no_other_out)
{
    struct child child;
    lbx_postbox *postbox;

    new_store_path();
    child = spawn_ready(idle);
    EVENTUALLY(!is_locked(F_RDLCK, 0)); // it has shared, after a second
    stop_child(child);
    while (is_locked(F_WRLCK, 258) || is_locked(F_WRLCK, 257)) {
        // Not idle: in the middle of some background work.
        CHECK(kill(child.pid, SIGCONT) == 0);
        sched_yield();
        stop_child(child);
    }
    postbox = open_box("orders");
    mail(postbox, "one");
    take(postbox, "one");
    lbx_postbox_unref(postbox);
    kill_child(child);
}

/* A store that nothing was written to for a second is fast again. */
TEST(an_owner_that_was_idle_is_exclusive_again)
{
    lbx_store_options options = fixture_options();
    lbx_postbox *postbox;
    lbx_store *store;

    new_store_path();
    options.durability = LBX_DURABILITY_PROCESS;
    CHECK_OK(lbx_store_open(url(""), &options, &store));
    CHECK_OK(lbx_postbox_open_in(store, "orders", NULL, &postbox));
    for (int i = 0; i < 2; i++) {
        mail(postbox, "one");
        take(postbox, "one");
        EVENTUALLY(!is_locked(F_RDLCK, 0));
        for (int tries = 0; !is_locked(F_RDLCK, 0); tries++) {
            mail(postbox, "one");
            take(postbox, "one");
            CHECK(tries < 1000);
        }
    }
    lbx_postbox_unref(postbox);
    lbx_store_unref(store);
}

/* Else a receive that waits, and looks once a second, would have the store
 * change its mode, and so write, for ever. */
TEST(an_owner_that_was_idle_is_exclusive_only_when_it_writes)
{
    lbx__storage *storage = fixture_open(test_path(), NULL, NULL);
    lbx__file *file = (lbx__file *)storage;

    CHECK_OK(store_text(storage, "a", "1"));
    file->written_ns -= 2 * LBX_SECOND;
    lbx__file_wait(storage, lbx__file_notified(storage), 1);
    CHECK(!lbx__file_is_exclusive(storage));
    for (int i = 0; i < 100; i++)
        check_text(storage, "a", "1");
    CHECK(!lbx__file_is_exclusive(storage));
    for (int i = 0; !lbx__file_is_exclusive(storage); i++) {
        CHECK_OK(store_text(storage, "a", "2"));
        CHECK(i < 1000);
    }
    check_text(storage, "a", "2");
    lbx__storage_close(storage);
}

/* A stopped process is named by the fault, or a line of the log. */
static void
check_names(const char *text, pid_t pid)
{
    char number[32];

    (void)snprintf(number, sizeof(number), "%ld", (long)pid);
    if (!strstr(text, number))
        FAIL("%s: %s", number, text);
}

static void
stop_as_owner(int to)
{
    lbx__storage *storage = fixture_open(store_path, NULL, NULL);

    CHECK(lbx__file_is_exclusive(storage));
    CHECK_OK(lbx__storage_begin(storage));
    say(to);
    for (;;)
        pause();
}

TEST(an_owner_that_is_stopped_is_waited_for_until_busy_ms)
{
    lbx_store_options options = fixture_options();
    lbx_fault fault = {LBX_OK, ""};
    struct child child;
    lbx_store *store;

    new_store_path();
    child = spawn_ready(stop_as_owner);
    stop_child(child);
    options.busy_ms = 50;
    options.fault = &fault;
    CHECK_STATUS(LBX_BUSY, lbx_store_open(url(""), &options, &store));
    check_names(fault.text, child.pid);
    kill_child(child);
    CHECK_OK(lbx_store_open(url(""), &options, &store));
    lbx_store_unref(store);
}

static void
stop_as_writer(int to)
{
    lbx__storage *storage = fixture_open(store_path, NULL, NULL);

    CHECK(!lbx__file_is_exclusive(storage));
    CHECK_OK(lbx__storage_begin(storage));
    say(to);
    for (;;)
        pause();
}

static char slow_lines[4096];

static void
log_slow(void *context, const char *line)
{
    (void)context;
    (void)strncat(slow_lines, line,
                  sizeof(slow_lines) - strlen(slow_lines) - 1);
}

TEST(a_call_waits_until_busy_ms_for_a_process_that_is_stopped)
{
    lbx_store_options options = fixture_options();
    lbx_postbox *postbox;
    lbx_store *store;
    struct child child;

    new_store_path();
    options.busy_ms = 1100;
    options.log = log_slow;
    CHECK_OK(lbx_store_open(url(""), &options, &store));
    CHECK_OK(lbx_postbox_open_in(store, "orders", NULL, &postbox));
    mail(postbox, "one");
    child = spawn_ready(stop_as_writer);
    stop_child(child);
    CHECK_STATUS(LBX_BUSY, lbx_postbox_send(postbox, "two", 3, NULL));
    kill_child(child);
    take(postbox, "one");
    check_names(slow_lines, child.pid);
    lbx_postbox_unref(postbox);
    lbx_store_unref(store);
}

static int poison_order[2];

static void
poison_when_told(int to)
{
    lbx__storage *storage = fixture_open(store_path, NULL, NULL);
    char byte;

    CHECK_OK(lbx__storage_begin(storage));
    say(to);
    CHECK_INT(1, read(poison_order[0], &byte, 1));
    (void)lbx__file_poison((lbx__file *)storage);
    (void)lbx__storage_commit(storage);
    for (;;)
        pause();
}

static void *
order_poison(void *unused)
{
    EVENTUALLY(is_locked(F_WRLCK, 257)); // this process is the next writer
    CHECK_INT(1, write(poison_order[1], "x", 1));
    return unused;
}

/* MEMB-4: the process that had the writer lock has failed meanwhile. */
TEST(a_process_that_waits_for_the_writer_lock_hears_of_a_failure)
{
    struct child owner, child;
    pthread_t thread;
    lbx__storage *storage;

    new_store_path();
    CHECK(pipe(poison_order) == 0);
    owner = spawn_ready(idle);
    storage = fixture_open(store_path, NULL, NULL);
    child = spawn_ready(poison_when_told);
    CHECK(pthread_create(&thread, NULL, order_poison, NULL) == 0);
    CHECK_STATUS(LBX_IO, lbx__storage_begin(storage));
    CHECK(pthread_join(thread, NULL) == 0);
    lbx__storage_close(storage);
    kill_child(child);
    kill_child(owner);
    CHECK(close(poison_order[0]) == 0 && close(poison_order[1]) == 0);
}
