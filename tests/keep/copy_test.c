/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores in use: copies and checks of them, by the public functions; and what
 * is refused.
 */
#include "known_store.h"

#include "stores/file/fixture.h"
#include "support/threads.h"

#include <letterbox/post.h>
#include <letterbox/post/file_store.h>

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *path;
static _Atomic(uint64_t) *all_sent; /* by all processes; NULL: not counted */

static lbx_postbox *
open_box(const char *folder, const char *name)
{
    const lbx_store_options store = fixture_options();
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_postbox *postbox;
    char url[600];

    options.store = &store;
    (void)snprintf(url, sizeof(url), "file:%s/%s", folder, name);
    CHECK_OK(lbx_postbox_open(url, &options, &postbox));
    return postbox;
}

static lbx_store *
open_store(const char *folder)
{
    const lbx_store_options options = fixture_options();
    lbx_store *store;
    char url[600];

    (void)snprintf(url, sizeof(url), "file:%s", folder);
    CHECK_OK(lbx_store_open(url, &options, &store));
    return store;
}

static uint64_t
count_box(const char *folder, const char *name)
{
    lbx_store *store = open_store(folder);
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;

    CHECK_OK(lbx_store_describe_box(store, name, NULL, NULL, &counts));
    lbx_store_unref(store);
    return counts.ready + counts.leased + counts.delayed;
}

static void
check_sound(const char *folder, uint64_t letters)
{
    lbx_file_store_report report = LBX_FILE_STORE_REPORT_INIT;

    CHECK_OK(lbx_file_store_check(folder, NULL, NULL, &report));
    CHECK_INT(letters, report.letters);
    CHECK_INT(0, report.damaged + report.missing);
}

/* Sends to one box and then to the other, all the time. */
struct sender {
    lbx_postbox *first, *second;
    _Atomic(uint64_t) sent; /* to both */
    _Atomic(bool) stop;
    struct thread thread;
};

static void
open_boxes(struct sender *sender)
{
    sender->first = open_box(path, "first");
    sender->second = open_box(path, "second");
}

static void
send_in_turn(void *context)
{
    struct sender *sender = context;

    while (!sender->stop) {
        CHECK_OK(lbx_postbox_send(sender->first, "one", 3, NULL));
        CHECK_OK(lbx_postbox_send(sender->second, "two", 3, NULL));
        sender->sent++;
        if (all_sent)
            ++*all_sent;
    }
}

static void
sender_start(struct sender *sender)
{
    open_boxes(sender);
    thread_start(&sender->thread, send_in_turn, sender);
}

static void
sender_stop(struct sender *sender)
{
    sender->stop = true;
    thread_join(&sender->thread);
}

static void
sender_close(struct sender *sender)
{
    lbx_postbox_unref(sender->first);
    lbx_postbox_unref(sender->second);
}

/* A copy has all that was answered before it was asked for, and is of one
 * moment: never the second letter without the first. */
TEST(a_copy_is_of_one_moment_while_the_store_goes_on)
{
    struct sender sender = {.sent = 0};
    lbx_store *store;

    test_paths_in_memory();
    path = test_path();
    sender_start(&sender);
    store = open_store(path);
    for (int i = 0; i < test_rounds(6, 100); i++) {
        const char *copy = test_path();
        uint64_t before, first, second;

        before = sender.sent;
        EVENTUALLY(sender.sent > before + 50);
        before = sender.sent;
        CHECK_OK(lbx_file_store_copy(store, copy));
        first = count_box(copy, "first");
        second = count_box(copy, "second");
        CHECK(second >= before && first >= second && first <= second + 1);
        check_sound(copy, first + second);
        known_remove(copy);
    }
    sender_stop(&sender);
    CHECK_INT(sender.sent, count_box(path, "first"));
    lbx_store_unref(store);
    sender_close(&sender);
    check_sound(path, 2 * sender.sent);
}

/* The store may be in use while it is checked, also by who checks it. */
TEST(a_store_in_use_is_checked_as_it_was_at_one_moment)
{
    struct sender sender = {.sent = 0};

    test_paths_in_memory();
    path = test_path();
    sender_start(&sender);
    for (int i = 0; i < test_rounds(20, 400); i++) {
        const uint64_t before = sender.sent;
        lbx_file_store_report report = LBX_FILE_STORE_REPORT_INIT;

        EVENTUALLY(sender.sent > before + 50);
        CHECK_OK(lbx_file_store_check(path, NULL, NULL, &report));
        CHECK_INT(2, report.boxes);
        CHECK(report.letters > 0);
    }
    sender_stop(&sender);
    check_sound(path, 2 * sender.sent);
    sender_close(&sender);
}

/* A process that sends until it is killed. */
static pid_t
fork_sender(void)
{
    struct sender sender = {.sent = 0};
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        open_boxes(&sender);
        send_in_turn(&sender);
    }
    return child;
}

/* Two processes write, each group a commit of LMDB's: whenever it is that the
 * check has the lock, one has just been made. */
TEST(a_shared_store_is_checked_while_all_of_them_write)
{
    struct sender sender = {.sent = 0};
    pid_t child;

    test_paths_in_memory();
    path = test_path();
    child = fork_sender();
    sender_start(&sender);
    for (int i = 0; i < test_rounds(100, 400); i++) {
        const uint64_t before = sender.sent;
        lbx_file_store_report report = LBX_FILE_STORE_REPORT_INIT;

        EVENTUALLY(sender.sent > before + 5);
        CHECK_OK(lbx_file_store_check(path, NULL, NULL, &report));
        CHECK(report.letters > 0);
    }
    sender_stop(&sender);
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, NULL, 0) == child);
    sender_close(&sender);
}

static ssize_t
read_slowly(const lbx__io *io, int fd, void *to, size_t size, uint64_t offset)
{
    const uint64_t before = *all_sent;

    // Until another process has written. Not for ever: none can while this one
    // has the writer lock.
    for (int i = 0; i < 4 && *all_sent == before; i++)
        test_pause(UINT_MAX);
    return lbx__io_system.pread(io, fd, to, size, offset);
}

/* Who comes looks at pages that others write; the more there are, the
 * longer. */
TEST(a_shared_store_is_opened_while_all_of_them_write)
{
    struct sender sender = {.sent = 0};
    pid_t child, guest;
    int status;

    all_sent = mmap(NULL, sizeof(*all_sent), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(all_sent != MAP_FAILED);
    test_paths_in_memory();
    path = test_path();
    child = fork_sender();
    guest = fork();
    CHECK(guest >= 0);
    if (guest == 0) {
        lbx__io io = lbx__io_system;

        io.pread = read_slowly;
        for (long i = 0; i < 20; i++) {
            lbx_store_options options = fixture_options();
            lbx_fault fault = {LBX_OK, ""};
            lbx__storage *storage;

            options.fault = &fault;
            if (lbx__file_open(path, &options, &io, &storage) != LBX_OK) {
                (void)fprintf(stderr, "# open %ld: %s\n", i, fault.text);
                _exit(1);
            }
            lbx__storage_close(storage);
        }
        _exit(0);
    }
    sender_start(&sender);
    CHECK(waitpid(guest, &status, 0) == guest);
    sender_stop(&sender);
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, NULL, 0) == child);
    sender_close(&sender);
    CHECK_INT(0, status);
}

/* All of a known store, in every state, and with its options. */
TEST(a_copy_has_every_letter_and_is_small)
{
    static struct known known;
    struct known_found found;
    char buffer[LBX_BOX_OPTIONS_BUFFER_BYTES];
    const char *copy;
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    lbx_store *store;

    test_paths_in_memory();
    path = test_path();
    copy = test_path();
    known_make(&known, path, 300, true, NULL);
    store = open_store(path);
    CHECK_OK(lbx_file_store_copy(store, copy));
    lbx_store_unref(store);
    check_sound(copy, known.alive);
    CHECK(fixture_size(copy, "data.mdb") <= fixture_size(path, "data.mdb"));
    store = open_store(copy);
    CHECK_OK(lbx_store_describe_box(store, "orders", buffer, &options, NULL));
    CHECK_STR("dead", options.dead_letters);
    CHECK_INT(2, options.max_deliveries);
    lbx_store_unref(store);
    known_read(&known, copy, false, &found);
    CHECK_OK(found.status);
    CHECK_INT(known.alive, found.alive);
    CHECK_INT(0, found.invented + found.twice + found.risen + found.miscounted);
}

/* A row whose sum is wrong, in a page that is sound. */
static void
damage_row(const char *folder)
{
    static const char value[80] = "not the sum of this";
    const lbx__row_size row = {16, sizeof(value)};
    lbx__storage *storage = fixture_open(folder, NULL, NULL);

    CHECK_OK(lbx__storage_begin(storage));
    CHECK_OK(lbx__storage_reserve(storage, &row, 1, LBX__GROWS));
    lbx__storage_put(storage, LBX__BODIES, text("0123456789abcdef"),
                     &(lbx__bytes){value, sizeof(value)}, 1);
    CHECK_OK(lbx__storage_flush(storage, lbx__storage_commit(storage)));
    lbx__storage_close(storage);
}

/* It would be a store that looks sound, without a letter. */
TEST(a_store_with_a_damaged_row_is_not_copied)
{
    const char *copy;
    lbx_postbox *postbox;
    lbx_store *store;

    test_paths_in_memory();
    path = test_path();
    copy = test_path();
    postbox = open_box(path, "box");
    CHECK_OK(lbx_postbox_send(postbox, "hello", 5, NULL));
    lbx_postbox_unref(postbox);
    damage_row(path);
    store = open_store(path);
    CHECK_STATUS(LBX_CORRUPT, lbx_file_store_copy(store, copy));
    lbx_store_unref(store);
    CHECK(access(copy, F_OK) < 0);
}

/* A receipt is good in the store that gave it, and in no copy. */
TEST(receipts_are_not_good_in_a_copy)
{
    char receipt[LBX_RECEIPT_BYTES];
    const char *copy = test_path();
    lbx_settle_item settle = {.action = LBX_SETTLE_ACKNOWLEDGE,
                              .receipt = receipt};
    lbx_postbox *postbox, *other;
    lbx_letter *letter;
    lbx_store *store;

    path = test_path();
    postbox = open_box(path, "box");
    store = open_store(path);
    CHECK_OK(lbx_postbox_send(postbox, "a", 1, NULL));
    CHECK_OK(lbx_postbox_receive(postbox, 0, &letter));
    CHECK_OK(lbx_letter_receipt(letter, receipt, sizeof(receipt)));
    CHECK_OK(lbx_file_store_copy(store, copy));
    other = open_box(copy, "box");
    CHECK_STATUS(LBX_INVALID, lbx_postbox_settle_batch(other, &settle, 1));
    CHECK_INT(1, count_box(copy, "box"));
    CHECK_OK(lbx_postbox_settle_batch(postbox, &settle, 1));
    lbx_letter_destroy(letter);
    lbx_postbox_unref(other);
    lbx_postbox_unref(postbox);
    lbx_store_unref(store);
}

static int
count_entries(const char *folder)
{
    DIR *open = opendir(folder);
    int count = 0;

    CHECK(open);
    while (readdir(open))
        count++;
    CHECK(closedir(open) == 0);
    return count;
}

static void
check_fault(const lbx_file_store_report *report, lbx_status status,
            const char *said)
{
    CHECK_STATUS(status, report->fault.status);
    if (!strstr(report->fault.text, said) ||
        (status != LBX_OK && !report->fault.text[0]))
        FAIL("\"%s\" does not say \"%s\"", report->fault.text, said);
}

static char logged[256];

static void
keep_line(void *context, const char *line)
{
    (void)context;
    (void)snprintf(logged, sizeof(logged), "%s", line);
}

/* A copy has no report: the log of the store is reported. */
TEST(why_a_copy_was_not_made_is_logged)
{
    lbx_store_options options = fixture_options();
    lbx_store *store;
    char url[600];

    options.log = keep_line;
    path = test_path();
    (void)snprintf(url, sizeof(url), "file:%s", path);
    CHECK_OK(lbx_store_open(url, &options, &store));
    CHECK_STATUS(LBX_NOT_FOUND, lbx_file_store_copy(store, "/nowhere/at/all"));
    CHECK(strstr(logged, "not copied") && strstr(logged, "/nowhere/at/all"));
    CHECK_STATUS(LBX_EXISTS, lbx_file_store_copy(store, path));
    CHECK(strstr(logged, "there is a") && strstr(logged, path));
    lbx_store_unref(store);
}

static int missing;

static void
note_missing(void *context, const lbx_file_store_damage *part)
{
    (void)context;
    missing += strcmp(part->what, "missing journal") == 0;
}

/* A journal that is gone is reported as that, not as one that is damaged. */
TEST(a_missing_journal_is_told_as_missing)
{
    lbx_store_options options = fixture_options();
    lbx_fault fault = {LBX_OK, ""};
    lbx_file_store_report report = LBX_FILE_STORE_REPORT_INIT;
    lbx_store *store;
    char url[600], file[600], saved[600];

    path = test_path();
    (void)snprintf(url, sizeof(url), "file:%s", path);
    (void)snprintf(file, sizeof(file), "%s/journal", path);
    (void)snprintf(saved, sizeof(saved), "%s-saved", path);
    CHECK_OK(lbx_store_open(url, &options, &store));
    lbx_store_unref(store);
    CHECK(unlink(file) == 0);
    options.fault = &fault;
    for (int i = 0; i < 2; i++) {
        options.check = i == 1;
        CHECK_STATUS(LBX_CORRUPT, lbx_store_open(url, &options, &store));
        CHECK(strstr(fault.text, "journal: it is missing"));
    }
    CHECK_STATUS(LBX_CORRUPT,
                 lbx_file_store_check(path, note_missing, NULL, &report));
    check_fault(&report, LBX_CORRUPT, path);
    CHECK_INT(1, missing);
    CHECK_OK(lbx_file_store_salvage(path, saved, note_missing, NULL, &report));
    CHECK_INT(2, missing);
}

TEST(what_cannot_be_done_is_refused_and_leaves_nothing)
{
    lbx_file_store_report report = LBX_FILE_STORE_REPORT_INIT;
    lbx_store *store, *memory;
    char missing_store[512], other[512];
    const char *above = test_path();
    int entries;

    CHECK(mkdir(above, 0700) == 0);
    path = missing_store;
    (void)snprintf(missing_store, sizeof(missing_store), "%.400s/store", above);
    (void)snprintf(other, sizeof(other), "%.400s/other", above);
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_file_store_check(path, NULL, NULL, &report));
    check_fault(&report, LBX_NOT_FOUND, path);
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_file_store_salvage(path, other, NULL, NULL, &report));
    check_fault(&report, LBX_NOT_FOUND, path);
    CHECK_STATUS(LBX_INVALID,
                 lbx_file_store_check("/etc/passwd", NULL, NULL, &report));
    check_fault(&report, LBX_INVALID, "/etc/passwd is not a folder");
    CHECK_STATUS(LBX_INVALID, lbx_file_store_salvage("/etc/passwd", other, NULL,
                                                     NULL, &report));
    check_fault(&report, LBX_INVALID, "/etc/passwd is not a folder");
    CHECK_STATUS(LBX_INVALID, lbx_file_store_check(NULL, NULL, NULL, &report));
    CHECK_STATUS(LBX_INVALID, lbx_file_store_check(path, NULL, NULL, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_file_store_salvage(path, NULL, NULL, NULL, &report));
    store = open_store(path);
    entries = count_entries(above);
    // It is there, and is not written to.
    CHECK_STATUS(LBX_EXISTS, lbx_file_store_copy(store, path));
    CHECK_STATUS(LBX_INVALID, lbx_file_store_copy(store, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_file_store_copy(NULL, other));
    CHECK_STATUS(LBX_NOT_FOUND, lbx_file_store_copy(store, "/nowhere/at/all"));
    CHECK_OK(lbx_store_open("memory:keep", NULL, &memory));
    CHECK_STATUS(LBX_UNSUPPORTED, lbx_file_store_copy(memory, other));
    lbx_store_unref(memory);
    CHECK_STATUS(LBX_BUSY,
                 lbx_file_store_salvage(path, other, NULL, NULL, &report));
    check_fault(&report, LBX_BUSY, "has it open");
    CHECK_INT(entries, count_entries(above));
    CHECK_OK(lbx_file_store_copy(store, other));
    CHECK_INT(entries + 1, count_entries(above));
    lbx_store_unref(store);
    CHECK_STATUS(LBX_EXISTS,
                 lbx_file_store_salvage(path, other, NULL, NULL, &report));
    check_fault(&report, LBX_EXISTS, other);
    CHECK_OK(lbx_file_store_check(path, NULL, NULL, &report));
    check_fault(&report, LBX_OK, "");
    CHECK_INT(entries + 1, count_entries(above));
}
