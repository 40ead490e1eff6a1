/* SPDX-License-Identifier: Apache-2.0 */
#include "support/folder.h"

#include "support/test.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    ROOT_BYTES = 440,
    MEMORY_BYTES_MIN = 1 << 30 /* containers may have 64 MiB of it */
};

/* Kept until the process ends. */
struct path {
    struct path *previous;
    char text[TEST_PATH_BYTES];
};

static char root[ROOT_BYTES];
static struct path *last_path;
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
    struct statvfs found;

    CHECK(!root[0]);
    if (access("/dev/shm", W_OK) == 0 && statvfs("/dev/shm", &found) == 0 &&
        found.f_bavail * found.f_frsize >= MEMORY_BYTES_MIN)
        CHECK(setenv("TMPDIR", "/dev/shm", 1) == 0);
}

const char *
test_path(void)
{
    const char *parent = getenv("TMPDIR");
    struct path *path = malloc(sizeof(*path));

    if (!root[0]) {
        (void)snprintf(root, sizeof(root), "%s/lbx-XXXXXX",
                       parent ? parent : "/tmp");
        CHECK(mkdtemp(root));
        owner = getpid();
        CHECK(atexit(remove_root) == 0);
    }
    CHECK(path);
    path->previous = last_path;
    last_path = path;
    (void)snprintf(path->text, sizeof(path->text), "%s/%d", root, paths++);
    return path->text;
}
