/* SPDX-License-Identifier: Apache-2.0 */
/* A store in files that several processes have open: notifications, join
 * requests, and what killed processes leave behind. Those that are stopped are
 * in stopped_test.c, children in fork_test.c. */
#include "letters.h"

#include "fixture.h"
#include "stores/file/private.h"

#include <fcntl.h>
#include <lmdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Its owner sleeps, and has nothing to do but to grant join requests. */
TEST(an_idle_store_lets_others_in)
{
    lbx_store_options options = fixture_options();
    lbx_postbox *postbox;
    lbx_store *store;
    struct child child;

    new_store_path();
    child = spawn_ready(stay_idle);
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
    CHECK_OK(lbx__boot_words_inspect(&lbx__io_system, folder, &state));
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
    child = spawn_ready(stay_idle);
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
    kill_child(spawn_ready(stay_idle));
    // As if both had it shared for a moment: no process can recover yet.
    (void)snprintf(wake, sizeof(wake), "%s/wake", store_path);
    fd = open(wake, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0 && fcntl(fd, F_OFD_SETLK, &lock) == 0);
    CHECK_INT(sizeof(before), pread(fd, &before, sizeof(before), REQUESTS_AT));
    for (int i = 0; i < 2; i++)
        children[i] = spawn(stay_idle);
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
    child = spawn(stay_idle);
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
    owner = spawn_ready(stay_idle);
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

    child = spawn_ready(stay_idle);
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
