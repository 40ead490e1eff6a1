/* SPDX-License-Identifier: Apache-2.0 */
/* Sound stores: check says so, salvage and copy keep all of them. */
#include "known_store.h"

#include "stores/file/fixture.h"
#include "stores/file/repair/check.h"

#include <letterbox/post/file_store.h>

#include "support/threads.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static void
print_damage(void *context, const lbx_file_store_damage *part)
{
    (void)context;
    test_note("damage: box %s, %s, letters %" PRIu64 " to %" PRIu64
              ", bytes %" PRIu64 "+%" PRIu64,
              part->box ? part->box : "-", part->what, part->first_sequence,
              part->last_sequence, part->offset_bytes, part->damaged_bytes);
}

TEST(a_sound_store_checks_ok_as_closed_and_as_killed)
{
    static struct known known;
    lbx_file_store_report report = LBX_FILE_STORE_REPORT_INIT;
    const char *path;

    test_paths_in_memory();
    for (int killed = 0; killed < 2; killed++) {
        path = test_path();
        known_make(&known, path, 300, killed, NULL);
        CHECK_OK(lbx_file_store_check(path, print_damage, NULL, &report));
        CHECK_INT(KNOWN_BOXES, report.boxes);
        CHECK_INT(known.alive, report.letters);
        CHECK_INT(0, report.damaged + report.missing);
        CHECK(killed ? report.journal_records > 10
                     : report.journal_records == 0);
    }
}

/* options.check: a folder that the check may not read is no sound store. */
TEST(a_check_before_opening_passes_on_that_it_was_refused)
{
    const char *file = test_path(), *link = test_path();
    lbx_fault fault = {LBX_OK, ""};
    FILE *made = fopen(file, "we");

    CHECK(made && fclose(made) == 0);
    CHECK_INT(0, symlink(".", link));
    CHECK_STATUS(LBX_INVALID, lbx__check_before_open(file, false, &fault));
    CHECK(strstr(fault.text, "is not a folder"));
    CHECK_STATUS(LBX_DENIED, lbx__check_before_open(link, false, &fault));
    CHECK(strstr(fault.text, "is a symbolic link"));
    CHECK_OK(lbx__check_before_open(test_path(), false, &fault));
}

TEST(a_sound_store_is_salvaged_whole)
{
    static struct known known;
    struct known_found found;
    lbx_file_store_report report = LBX_FILE_STORE_REPORT_INIT;
    const char *saved;
    const char *path;

    test_paths_in_memory();
    path = test_path();
    saved = test_path();
    known_make(&known, path, 300, true, NULL);
    CHECK_OK(lbx_file_store_salvage(path, saved, print_damage, NULL, &report));
    CHECK_INT(KNOWN_BOXES, report.boxes);
    CHECK_INT(known.alive, report.letters);
    CHECK_INT(0, report.damaged + report.missing);
    CHECK_OK(lbx_file_store_check(saved, print_damage, NULL, &report));
    CHECK_INT(known.alive, report.letters);
    known_read(&known, saved, false, &found);
    CHECK_OK(found.status);
    CHECK_INT(known.alive, found.alive);
    CHECK_INT(0, found.invented + found.twice + found.risen);
    CHECK_INT(0, found.miscounted);
}

TEST(the_known_store_has_what_is_known)
{
    static struct known known;
    struct known_found found;
    const char *path;

    test_paths_in_memory();
    path = test_path();
    known_make(&known, path, 300, true, NULL);
    known_read(&known, path, false, &found);
    CHECK_OK(found.status);
    CHECK_INT(known.alive, found.alive);
    CHECK_INT(0, found.invented + found.twice + found.risen);
    CHECK_INT(0, found.miscounted);
}

/* ---- Progress ---- */

struct progress {
    int calls;
    uint64_t done, total;
    bool stops; /* at the first call */
};

static bool
note_progress(void *context, uint64_t done, uint64_t total)
{
    struct progress *progress = context;

    CHECK(done >= progress->done && done <= total);
    progress->calls++;
    progress->done = done;
    progress->total = total;
    return !progress->stops;
}

/* A check, a copy and a salvage of one store. */
static lbx_status
work_on(const char *path, int kind, struct progress *progress, const char *made,
        lbx_fault *fault)
{
    lbx_file_store_work work = LBX_FILE_STORE_WORK_INIT;
    lbx_file_store_report report = LBX_FILE_STORE_REPORT_INIT;
    lbx_store *store;
    lbx_status status;
    char url[600];

    work.context = progress;
    work.progress = note_progress;
    if (kind < 2) {
        status = kind == 0
                     ? lbx_file_store_check_with(path, &work, &report)
                     : lbx_file_store_salvage_with(path, made, &work, &report);
        *fault = report.fault;
        return status;
    }
    (void)snprintf(url, sizeof(url), "file:%s", path);
    CHECK_OK(lbx_store_open(url, NULL, &store));
    status = lbx_file_store_copy_with(store, made, &work, fault);
    lbx_store_unref(store);
    return status;
}

TEST(progress_is_told_and_can_stop_the_work)
{
    static struct known known;
    const char *path;

    test_paths_in_memory();
    path = test_path();
    known_make(&known, path, 300, true, NULL);
    for (int kind = 0; kind < 3; kind++) {
        struct progress told = {.calls = 0}, stopped = {.stops = true};
        const char *made = test_path(), *none = test_path();
        lbx_fault fault = {LBX_OK, ""};

        CHECK_OK(work_on(path, kind, &told, made, &fault));
        CHECK(told.calls > 1 && told.done > known.alive);
        CHECK_INT(told.total, told.done);
        CHECK_STATUS(LBX_CANCELLED,
                     work_on(path, kind, &stopped, none, &fault));
        CHECK_INT(1, stopped.calls);
        CHECK(stopped.done < told.done);
        CHECK(access(none, F_OK) < 0);
        CHECK_STATUS(LBX_CANCELLED, fault.status);
        CHECK(fault.text[0]);
    }
}

TEST(a_struct_that_was_not_started_is_refused_with_a_fault)
{
    lbx_file_store_work work = {.size_bytes = 3};
    lbx_file_store_report report = LBX_FILE_STORE_REPORT_INIT;
    const char *path = test_path();
    lbx_fault fault = {LBX_OK, ""};
    lbx_store *store;
    char url[600];

    (void)snprintf(url, sizeof(url), "file:%s", path);
    CHECK_OK(lbx_store_open(url, NULL, &store));
    CHECK_STATUS(LBX_INVALID,
                 lbx_file_store_copy_with(store, test_path(), &work, &fault));
    CHECK(strstr(fault.text, "LBX_FILE_STORE_WORK_INIT"));
    CHECK_STATUS(LBX_EXISTS,
                 lbx_file_store_copy_with(store, path, NULL, &fault));
    CHECK(strstr(fault.text, "there is a"));
    lbx_store_unref(store);
    CHECK_STATUS(LBX_INVALID, lbx_file_store_check_with(path, &work, &report));
    CHECK(strstr(report.fault.text, "LBX_FILE_STORE_WORK_INIT"));
    CHECK_STATUS(LBX_INVALID, lbx_file_store_salvage_with(path, test_path(),
                                                          &work, &report));
    CHECK(strstr(report.fault.text, "LBX_FILE_STORE_WORK_INIT"));
}

/* Kills every child of the first thread, as the system does when memory is
 * short. */
static void
kill_children(void *context)
{
    atomic_bool *over = context;
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/children",
                   (int)getpid());
    while (!atomic_load(over)) {
        FILE *list = fopen(path, "re");
        int child;

        CHECK(list);
        while (fscanf(list, "%d", &child) == 1)
            (void)kill(child, SIGKILL);
        fclose(list);
    }
}

/* CHECK-2: that is no damage. */
TEST(a_check_that_is_killed_says_nothing_of_damage)
{
    static struct known known;
    lbx_file_store_report report = LBX_FILE_STORE_REPORT_INIT;
    struct thread thread;
    atomic_bool over = false;
    int killed = 0;
    const char *path;

    test_paths_in_memory();
    path = test_path();
    known_make(&known, path, 300, false, NULL);
    thread_start(&thread, kill_children, &over);
    for (int i = 0; i < 100; i++) {
        lbx_status status =
            lbx_file_store_check(path, print_damage, NULL, &report);

        if (status == LBX_NO_MEMORY)
            killed++;
        else
            CHECK_OK(status);
    }
    atomic_store(&over, true);
    thread_join(&thread);
    CHECK(killed > 0);
}
