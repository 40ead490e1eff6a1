/* SPDX-License-Identifier: Apache-2.0 */
/* A staging: what fails leaves nothing of its own, and all that is
 * another's. */
#include "stores/file/fixture.h"
#include "stores/file/repair/staging.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* Folders are flushed by fsync(), which fails once. */
struct flushes {
    lbx__io io; /* first */
    int left;   /* before that */
};

static int
fail_once(const lbx__io *io, int fd)
{
    struct flushes *flushes = (struct flushes *)(uintptr_t)io;

    return flushes->left-- == 0 ? -EIO : lbx__io_system.fsync(io, fd);
}

static bool
is_there(const char *folder, const char *name)
{
    char full[600];

    (void)snprintf(full, sizeof(full), "%s/%s", folder, name);
    return access(full, F_OK) == 0;
}

/* Copies are made inside of folders of stores, too. The flush of the folder
 * above is the last thing that can fail. */
TEST(a_staging_folder_that_fails_at_any_flush_leaves_no_trace)
{
    for (int before = 0; before < 2; before++) {
        struct flushes flushes = {lbx__io_system, before};
        lbx__staging staging;
        lbx__storage *storage;
        char wanted[600];
        const char *path = test_path();

        (void)snprintf(wanted, sizeof(wanted), "%s/copy", path);
        storage = fixture_open(path, NULL, NULL);
        CHECK_OK(store_text(storage, "a", "1"));
        lbx__storage_close(storage);
        flushes.io.fsync = fail_once;
        CHECK_OK(lbx__staging_open(&staging, &flushes.io, wanted, NULL));
        fixture_copy(path, staging.path, "data.mdb");
        CHECK_STATUS(LBX_IO, lbx__staging_close(&staging, LBX_OK));
        CHECK(is_there(path, "data.mdb"));
        CHECK(is_there(path, "journal"));
        CHECK(!is_there(path, "copy"));
        storage = fixture_open(path, NULL, NULL);
        check_text(storage, "a", "1");
        lbx__storage_close(storage);
    }
}
