/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a store after a kill: damage that only one look finds, and that is
 * reported as such and not read over.
 */
#include "stores/file/fixture.h"
#include "stores/file/journal.h"

#include <letterbox/post/file_store.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static lbx_status
try_open(const char *path, lbx_fault *fault)
{
    lbx_store_options options = fixture_options();
    lbx__storage *storage;
    lbx_status status;

    options.fault = fault;
    status = lbx__file_open(path, &options, NULL, &storage);
    if (status == LBX_OK)
        lbx__storage_close(storage);
    return status;
}

/* A process that writes one row and ends as by a kill. */
static void
write_and_die(const char *path, size_t size)
{
    lbx_store_options options = fixture_options();
    const pid_t child = fork();
    int status;

    CHECK(child >= 0);
    if (child == 0) {
        const lbx__row_size row = {3, (uint32_t)size};
        char *value = calloc(1, size);
        lbx__storage *storage;

        options.journal_bytes = 1 << 20;
        storage = fixture_open(path, &options, NULL);
        CHECK(value && lbx__storage_begin(storage) == LBX_OK);
        CHECK_OK(lbx__storage_reserve(storage, &row, 1, LBX__GROWS));
        lbx__storage_put(storage, LBX__BODIES, text("row"),
                         &(lbx__bytes){value, size}, 1);
        CHECK_OK(lbx__storage_flush(storage, lbx__storage_commit(storage)));
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_INT(0, status);
}

/* Small records, and those that are read in more than one step. */
TEST(a_damaged_record_of_any_size_is_not_replayed)
{
    static const size_t sizes[] = {100, 60000, 70000, 200000};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const char *path = test_path();
        const uint64_t at = LBX__JOURNAL_FRONT + sizes[i] - 10;
        lbx_fault fault = {LBX_OK, ""};
        uint8_t byte;

        write_and_die(path, sizes[i]);
        fixture_read(path, "journal", &byte, 1, at);
        byte ^= 0x10;
        fixture_write(path, "journal", &byte, 1, at);
        CHECK_STATUS(LBX_CORRUPT, try_open(path, &fault));
        CHECK(strstr(fault.text, "journal: record 1 is damaged"));
        byte ^= 0x10;
        fixture_write(path, "journal", &byte, 1, at);
        CHECK_OK(try_open(path, &fault));
    }
}

static void
count_meta_pages(void *context, const lbx_file_store_damage *part)
{
    *(int *)context += strcmp(part->what, "meta page") == 0;
}

/* data.mdb of some time before, complete and sound: in the same boot it is
 * known that there were commits after it. */
TEST(data_of_an_earlier_time_is_damage)
{
    const char *path = test_path();
    lbx_file_store_report report = LBX_FILE_STORE_REPORT_INIT;
    int checked = 0, salvaged = 0;
    lbx__storage *storage = fixture_open(path, NULL, NULL);
    lbx_fault fault = {LBX_OK, ""};
    uint8_t *bytes;
    char wake[600];
    size_t size;

    CHECK_OK(store_text(storage, "a", "1"));
    lbx__storage_close(storage);
    size = fixture_size(path, "data.mdb");
    bytes = malloc(size);
    CHECK(bytes);
    fixture_read(path, "data.mdb", bytes, size, 0);
    CHECK_OK(try_open(path, &fault)); // commits, and writes no journal
    fixture_write(path, "data.mdb", bytes, size, 0);
    CHECK_STATUS(LBX_CORRUPT, try_open(path, &fault));
    CHECK(strstr(fault.text, "shows an older state"));
    CHECK_STATUS(LBX_CORRUPT, lbx_file_store_check(path, count_meta_pages,
                                                   &checked, &report));
    CHECK_OK(lbx_file_store_salvage(path, test_path(), count_meta_pages,
                                    &salvaged, &report));
    CHECK_INT(1, checked);
    CHECK_INT(1, salvaged);
    // As after another boot: then there is nothing to compare it with.
    (void)snprintf(wake, sizeof(wake), "%s/wake", path);
    CHECK_INT(0, unlink(wake));
    CHECK_OK(try_open(path, &fault));
    free(bytes);
}
