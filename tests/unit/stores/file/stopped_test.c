/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that are stopped while others have their store open: which of them
 * keep the others out, for how long, and who is told (MEMB-6). */
#include "letters.h"

#include "fixture.h"
#include "stores/file/private.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

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
    child = spawn_ready(stay_idle);
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
    owner = spawn_ready(stay_idle);
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
