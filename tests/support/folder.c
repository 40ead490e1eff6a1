/* SPDX-License-Identifier: Apache-2.0 */
#include "support/folder.h"

#include "support/test.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[PATH_MAX];
static pid_t owner; /* its children leave the folders alone */
static int paths;

static int
remove_one(const char *path, const struct stat *found, int kind,
           struct FTW *where)
{
    (void)found;
    (void)kind;
    (void)where;
    return remove(path);
}

static void
remove_root(void)
{
    if (root[0] && owner == getpid())
        (void)nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void
test_paths_in_memory(void)
{
    CHECK(!root[0]);
    if (access("/dev/shm", W_OK) == 0)
        CHECK(setenv("TMPDIR", "/dev/shm", 1) == 0);
}

const char *
test_path(void)
{
    static char path[PATH_MAX + 32];
    const char *parent = getenv("TMPDIR");

    if (!root[0]) {
        (void)snprintf(root, sizeof(root), "%s/lbx-XXXXXX",
                       parent ? parent : "/tmp");
        CHECK(mkdtemp(root));
        owner = getpid();
        CHECK(atexit(remove_root) == 0);
    }
    (void)snprintf(path, sizeof(path), "%s/%d", root, paths++);
    return path;
}
