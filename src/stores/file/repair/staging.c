/* SPDX-License-Identifier: Apache-2.0 */
/* The staging folder; see staging.h. */
#include "stores/file/repair/staging.h"

#include "base/fault.h"
#include "stores/file/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

lbx_status
lbx__staging_open(lbx__staging *staging, const lbx__io *io, const char *wanted,
                  lbx_fault *fault)
{
    struct stat found;
    size_t size = strlen(wanted);

    while (size > 1 && wanted[size - 1] == '/')
        size--;
    if (size == 0 || size + sizeof(".part-XXXXXX") > sizeof(staging->path))
        return lbx__fault_set(fault, LBX_INVALID, "%s: too short or too long",
                              wanted);
    staging->io = io;
    memcpy(staging->wanted, wanted, size);
    staging->wanted[size] = '\0';
    if (lstat(staging->wanted, &found) == 0)
        return lbx__fault_set(fault, LBX_EXISTS, "there is a %s", wanted);
    if (errno != ENOENT)
        return lbx__fault_set(fault, lbx__io_status(-errno), "%s: %s", wanted,
                              strerror(errno));
    (void)snprintf(staging->path, sizeof(staging->path), "%.*s.part-XXXXXX",
                   (int)size, wanted);
    if (!mkdtemp(staging->path))
        return lbx__fault_set(fault, lbx__io_status(-errno),
                              "no folder can be made beside %s: %s", wanted,
                              strerror(errno));
    return LBX_OK;
}

static lbx_status
staging_sync_folder(const lbx__io *io, const char *path)
{
    // Not through io->open: the path may lead over symbolic links.
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    lbx_status status;

    if (fd < 0)
        return lbx__io_status(-errno);
    status = lbx__io_status(io->fsync(io, fd));
    (void)close(fd);
    return status;
}

/* The folder that a path is in. */
static lbx_status
staging_sync_parent(const lbx__io *io, const char *path)
{
    char above[PATH_MAX];
    char *slash;

    (void)snprintf(above, sizeof(above), "%s", path);
    slash = strrchr(above, '/');
    if (!slash)
        return staging_sync_folder(io, ".");
    slash[slash == above] = '\0';
    return staging_sync_folder(io, above);
}

static lbx_status
staging_rename(lbx__staging *staging)
{
    lbx_status status = staging_sync_folder(staging->io, staging->path);

    if (status != LBX_OK)
        return status;
    // Not in place of anything, not even of an empty folder.
    if (renameat2(AT_FDCWD, staging->path, AT_FDCWD, staging->wanted,
                  RENAME_NOREPLACE) < 0)
        return errno == EEXIST ? LBX_EXISTS : lbx__io_status(-errno);
    memcpy(staging->path, staging->wanted, strlen(staging->wanted) + 1);
    return staging_sync_parent(staging->io, staging->path);
}

static void
staging_remove(const lbx__staging *staging)
{
    const int fd = open(staging->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return;
    for (int i = 0; lbx__folder_names[i]; i++)
        (void)unlinkat(fd, lbx__folder_names[i], 0);
    (void)close(fd);
    (void)rmdir(staging->path);
}

lbx_status
lbx__staging_close(lbx__staging *staging, lbx_status status)
{
    if (status == LBX_OK)
        status = staging_rename(staging);
    if (status != LBX_OK)
        staging_remove(staging);
    return status;
}
