/* SPDX-License-Identifier: Apache-2.0 */
/* The system's own calls, and what is made of them. */
#include "stores/file/io.h"

#include "base/clock.h"
#include "codec/random.h"
#include "codec/uuid.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that this user has made in a folder of a group is the group's too.
 * Here and not when it is made: LMDB makes some, and the umask counts then. */
static void
io_give_to_group(int folder, int fd)
{
    struct stat above, made;

    if (fstat(folder, &above) < 0 || !(above.st_mode & S_IWGRP) ||
        fstat(fd, &made) < 0 || !S_ISREG(made.st_mode) ||
        (made.st_mode & 0777) != 0600 || made.st_nlink > 1 ||
        made.st_uid != geteuid())
        return;
    // First the group: else another one might get the rights.
    if (made.st_gid == above.st_gid || fchown(fd, (uid_t)-1, above.st_gid) == 0)
        (void)fchmod(fd, 0660);
}

static int
io_open_file(const lbx__io *io, int folder, const char *name, int flags)
{
    const int fd = openat(folder, name, flags | O_CLOEXEC | O_NOFOLLOW, 0600);

    (void)io;
    if (fd >= 0 && (flags & O_ACCMODE) == O_RDWR)
        io_give_to_group(folder, fd);
    return fd < 0 ? -errno : fd;
}

static ssize_t
io_read_at(const lbx__io *io, int fd, void *bytes, size_t size, uint64_t offset)
{
    const ssize_t done = pread(fd, bytes, size, (off_t)offset);

    (void)io;
    return done < 0 ? -errno : done;
}

static ssize_t
io_write_at(const lbx__io *io, int fd, const void *bytes, size_t size,
            uint64_t offset)
{
    const ssize_t done = pwrite(fd, bytes, size, (off_t)offset);

    (void)io;
    return done < 0 ? -errno : done;
}

static int
io_sync_data(const lbx__io *io, int fd)
{
    (void)io;
    return fdatasync(fd) < 0 ? -errno : 0;
}

static int
io_sync_all(const lbx__io *io, int fd)
{
    (void)io;
    return fsync(fd) < 0 ? -errno : 0;
}

static int
io_allocate(const lbx__io *io, int fd, uint64_t size)
{
    int result;

    (void)io;
    do {
        result = fallocate(fd, 0, 0, (off_t)size);
    } while (result < 0 && errno == EINTR);
    return result < 0 ? -errno : 0;
}

static int
io_rename_in(const lbx__io *io, int folder, const char *from, const char *to)
{
    (void)io;
    return renameat(folder, from, folder, to) < 0 ? -errno : 0;
}

static int64_t
io_boot_ns(const lbx__io *io)
{
    (void)io;
    return lbx__clock_boot();
}

static int64_t
io_wall_ns(const lbx__io *io)
{
    (void)io;
    return lbx__clock_wall();
}

static void
io_boot_id(const lbx__io *io, uint8_t id[16])
{
    char text[LBX__UUID_TEXT_BYTES] = "";
    const int fd =
        open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

    (void)io;
    if (fd >= 0) {
        const ssize_t done = read(fd, text, sizeof(text) - 1);

        (void)close(fd);
        if (done == (ssize_t)sizeof(text) - 1 && lbx__uuid_parse(text, id))
            return;
    }
    // Without one, each open counts as another boot, which is only slower.
    if (!lbx__random(id, 16))
        memset(id, 0, 16);
}

const lbx__io lbx__io_system = {
    .open = io_open_file,
    .pread = io_read_at,
    .pwrite = io_write_at,
    .fdatasync = io_sync_data,
    .fsync = io_sync_all,
    .fallocate = io_allocate,
    .rename = io_rename_in,
    .boot_ns = io_boot_ns,
    .wall_ns = io_wall_ns,
    .boot_id = io_boot_id,
};

lbx_status
lbx__io_status(ssize_t result)
{
    switch (result < 0 ? (int)-result : 0) {
    case 0:
        return LBX_OK;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return LBX_NO_SPACE;
    case ENOMEM:
        return LBX_NO_MEMORY;
    case EACCES:
    case EPERM:
    case EROFS:
    case ELOOP:
        return LBX_DENIED;
    case ENOENT:
    case ENOTDIR:
        return LBX_NOT_FOUND;
    case ENAMETOOLONG:
        return LBX_INVALID;
    default:
        return LBX_IO;
    }
}

lbx_status
lbx__io_read_all(const lbx__io *io, int fd, void *bytes, size_t size,
                 uint64_t offset)
{
    size_t done = 0;

    while (done < size) {
        const ssize_t now =
            io->pread(io, fd, (char *)bytes + done, size - done, offset + done);

        if (now == 0)
            return LBX_IO;
        if (now < 0 && now != -EINTR)
            return lbx__io_status(now);
        done += now > 0 ? (size_t)now : 0;
    }
    return LBX_OK;
}

lbx_status
lbx__io_write_all(const lbx__io *io, int fd, const void *bytes, size_t size,
                  uint64_t offset)
{
    size_t done = 0;

    while (done < size) {
        const ssize_t now = io->pwrite(io, fd, (const char *)bytes + done,
                                       size - done, offset + done);

        if (now == 0)
            return LBX_IO;
        if (now < 0 && now != -EINTR)
            return lbx__io_status(now);
        done += now > 0 ? (size_t)now : 0;
    }
    return LBX_OK;
}

lbx_status
lbx__io_allocate(const lbx__io *io, int fd, uint64_t size)
{
    static const uint8_t zeros[4096];
    const int result = io->fallocate(io, fd, size);
    lbx_status status = lbx__io_status(result);
    struct stat found;

    if (result != -EOPNOTSUPP)
        return status;
    status = fstat(fd, &found) < 0 ? lbx__io_status(-errno) : LBX_OK;
    for (uint64_t at = (uint64_t)found.st_size;
         status == LBX_OK && at < size;) {
        const size_t some =
            size - at < sizeof(zeros) ? (size_t)(size - at) : sizeof(zeros);

        status = lbx__io_write_all(io, fd, zeros, some, at);
        at += some;
    }
    return status;
}
