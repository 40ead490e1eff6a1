/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a storage in files: which folders, files and options are refused,
 * what is made, and in which order its names become durable (FOLD-1). */
#include "fixture.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is done to the names in a folder. */
static struct stat synced_last;
static int renames;

static int
note_sync(const lbx__io *io, int fd)
{
    CHECK(fstat(fd, &synced_last) == 0);
    return lbx__io_system.fsync(io, fd);
}

static int
note_rename(const lbx__io *io, int folder, const char *from, const char *to)
{
    struct stat found;

    // Ours is synced last: the new journal. So it was before that.
    renames++;
    CHECK(fstatat(folder, from, &found, 0) == 0);
    CHECK(found.st_ino == synced_last.st_ino);
    return lbx__io_system.rename(io, folder, from, to);
}

static int
note_open(const lbx__io *io, int folder, const char *name, int flags)
{
    struct stat found;

    // The name of data.mdb is durable before there is one of a journal: or a
    // cut leaves a journal without data, which is damage for ever.
    if (strcmp(name, "journal.new") == 0) {
        CHECK(fstat(folder, &found) == 0);
        CHECK(found.st_ino == synced_last.st_ino);
    }
    return lbx__io_system.open(io, folder, name, flags);
}

TEST(names_are_durable_in_the_order_they_are_needed)
{
    lbx__io io = lbx__io_system;

    io.open = note_open;
    io.fsync = note_sync;
    io.rename = note_rename;
    lbx__storage_close(fixture_open(test_path(), NULL, &io));
    CHECK_INT(1, renames);
}

/* FOLD-1. */
TEST(folders_that_are_not_safe_are_refused_and_left_alone)
{
    char link[600], inside[600];
    const char *path = test_path();
    lbx_fault fault;

    CHECK(mkdir(path, 0700) == 0);
    (void)snprintf(link, sizeof(link), "%s-link", path);
    CHECK(symlink(path, link) == 0);
    CHECK_STATUS(LBX_DENIED, fixture_try_open(link, NULL, &fault));
    CHECK(strstr(fault.text, "symbolic link"));
    CHECK(chmod(path, 0777) == 0);
    CHECK_STATUS(LBX_DENIED, fixture_try_open(path, NULL, &fault));
    CHECK(strstr(fault.text, "others may write"));
    CHECK(chmod(path, 0700) == 0);
    (void)snprintf(inside, sizeof(inside), "%s/journal", path);
    CHECK(symlink("/etc/passwd", inside) == 0);
    CHECK_STATUS(LBX_DENIED, fixture_try_open(path, NULL, &fault));
    CHECK(unlink(inside) == 0);
    CHECK(mkfifo(inside, 0600) == 0);
    CHECK_STATUS(LBX_DENIED, fixture_try_open(path, NULL, &fault));
    CHECK(unlink(inside) == 0);
    CHECK(rmdir(path) == 0); // nothing was left in it
    CHECK_STATUS(LBX_NOT_FOUND,
                 fixture_try_open("/nowhere/at/all", NULL, &fault));
    CHECK_STATUS(LBX_INVALID, fixture_try_open("/etc/passwd", NULL, &fault));
    if (geteuid() == 0) {
        CHECK(mkdir(path, 0700) == 0);
        CHECK(chown(path, 12345, 12345) == 0);
        CHECK_STATUS(LBX_DENIED, fixture_try_open(path, NULL, &fault));
        CHECK(strstr(fault.text, "someone else"));
    }
}

static void
touch(const char *path, const char *name)
{
    fixture_write(path, name, "", 0, 0);
}

/* A forgotten name of a box is reported, not obeyed. */
TEST(a_store_is_not_made_among_files_of_others)
{
    lbx_store_options options = fixture_options();
    char file[600];
    const char *path = test_path();
    lbx_fault fault = {LBX_OK, ""};

    CHECK(mkdir(path, 0700) == 0);
    touch(path, ".hidden");
    touch(path, "notes.txt");
    CHECK_STATUS(LBX_DENIED, fixture_try_open(path, NULL, &fault));
    CHECK(strstr(fault.text, "notes.txt") &&
          strstr(fault.text, "file:DIR/BOX"));
    options.must_exist = true;
    CHECK_STATUS(LBX_NOT_FOUND, fixture_try_open(path, &options, &fault));
    (void)snprintf(file, sizeof(file), "%s/wake", path);
    CHECK(access(file, F_OK) < 0); // nothing was made
    (void)snprintf(file, sizeof(file), "%s/notes.txt", path);
    CHECK(unlink(file) == 0);
    (void)snprintf(file, sizeof(file), "%s/lost+found", path);
    CHECK(mkdir(file, 0700) == 0);
    CHECK_OK(fixture_try_open(path, NULL, &fault));
    // One that is there is opened, whatever lies beside it.
    touch(path, "notes.txt");
    CHECK_OK(fixture_try_open(path, NULL, &fault));
}

/* Killed while it was made: only files of ours, in any state before
 * data.mdb. */
TEST(a_store_that_was_never_finished_is_made_again)
{
    static const char *const left[] = {"wake", "lock.mdb", "data.mdb"};
    const char *path;

    for (size_t count = 1; count <= 3; count++) {
        path = test_path();
        CHECK(mkdir(path, 0700) == 0);
        for (size_t i = 0; i < count; i++)
            touch(path, left[i]);
        lbx__storage_close(fixture_open(path, NULL, NULL));
    }
}

TEST(must_exist_makes_nothing)
{
    lbx_store_options options = fixture_options();
    const char *path = test_path();
    lbx_fault fault;
    struct stat found;

    options.must_exist = true;
    CHECK_STATUS(LBX_NOT_FOUND, fixture_try_open(path, &options, &fault));
    CHECK(stat(path, &found) < 0);
    CHECK(mkdir(path, 0700) == 0);
    CHECK_STATUS(LBX_NOT_FOUND, fixture_try_open(path, &options, &fault));
    CHECK(rmdir(path) == 0);
}

/* As under ulimit -v, or valgrind. */
TEST(a_map_that_cannot_be_had_is_told)
{
    lbx_store_options options = fixture_options();
    const char *other = test_path();
    const char *path = test_path();
    struct rlimit limit = {(rlim_t)4 << 30, (rlim_t)4 << 30};
    lbx_fault fault = {LBX_OK, ""};

    if (test_is_sanitized())
        return; // needs terabytes itself
    options.map_bytes = INT64_C(64) << 30;
    CHECK_OK(fixture_try_open(path, &options, &fault));
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    CHECK_STATUS(LBX_NO_MEMORY, fixture_try_open(path, &options, &fault));
    CHECK(strstr(fault.text, "65536 MiB of address space"));
    CHECK_STATUS(LBX_NO_MEMORY, fixture_try_open(other, &options, &fault));
    CHECK(strstr(fault.text, "options.map_bytes"));
    options.map_bytes = INT64_C(1) << 30;
    CHECK_OK(fixture_try_open(other, &options, &fault));
}

/* It was there: that it must exist does not make damage of it "not found". */
TEST(a_lost_data_file_is_damage_though_it_must_exist)
{
    lbx_store_options options = fixture_options();
    char file[600];
    const char *path = test_path();
    lbx_fault fault = {LBX_OK, ""};

    CHECK_OK(fixture_try_open(path, NULL, &fault));
    (void)snprintf(file, sizeof(file), "%s/data.mdb", path);
    CHECK(unlink(file) == 0);
    for (int i = 0; i < 2; i++) {
        options.must_exist = i == 0;
        CHECK_STATUS(LBX_CORRUPT, fixture_try_open(path, &options, &fault));
        CHECK(strstr(fault.text, "journal, but nothing in data.mdb"));
        CHECK(access(file, F_OK) < 0); // and none was made
    }
}

TEST(options_out_of_their_limits_are_invalid)
{
    lbx_store_options options = fixture_options();
    const char *path = test_path();
    lbx_fault fault;

    options.durability = LBX_DURABILITY_NONE;
    CHECK_STATUS(LBX_UNSUPPORTED, fixture_try_open(path, &options, &fault));
    options.durability = LBX_DURABILITY_MACHINE;
    CHECK_STATUS(LBX_UNSUPPORTED, fixture_try_open(path, &options, &fault));
    CHECK(strstr(fault.text, "LBX_DURABILITY_PROCESS, _INTERVAL and"));
    options = fixture_options();
    options.busy_ms = -2;
    CHECK_STATUS(LBX_INVALID, fixture_try_open(path, &options, &fault));
    options = fixture_options();
    options.interval_ms = 0;
    CHECK_STATUS(LBX_INVALID, fixture_try_open(path, &options, &fault));
    options = fixture_options();
    options.journal_bytes = 1;
    CHECK_STATUS(LBX_INVALID, fixture_try_open(path, &options, &fault));
    options = fixture_options();
    options.map_bytes = 1;
    CHECK_STATUS(LBX_INVALID, fixture_try_open(path, &options, &fault));
}
