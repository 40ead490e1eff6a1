/* SPDX-License-Identifier: Apache-2.0 */
/* The system calls that are recorded, the library's and LMDB's, as the linker's
 * --wrap leads them here: each may be made to fail (calls.c), and is noted when
 * it has succeeded (recording.c). */
#include "calls.h"
#include "recording.h"

#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

bool disk_other_boot;

/* A boot that is not this one, for who asks which it is. */
static int
open_other_boot(void)
{
    static const char id[] = "00112233-4455-6677-8899-aabbccddeeff\n";
    const int fd = memfd_create("boot_id", MFD_CLOEXEC);

    CHECK(fd >= 0);
    CHECK_INT(sizeof(id) - 1, write(fd, id, sizeof(id) - 1));
    CHECK(lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int
__wrap_open(const char *path, int flags, ...)
{
    va_list arguments;
    int fd;

    if (disk_other_boot && strcmp(path, BOOT_ID) == 0)
        return open_other_boot();
    va_start(arguments, flags);
    fd = __real_open(path, flags,
                     flags & O_CREAT ? va_arg(arguments, mode_t) : 0);
    va_end(arguments);
    recording_note_open(fd, path, flags);
    return fd;
}

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int
__wrap_open64(const char *path, int flags, ...)
{
    va_list arguments;
    int fd;

    if (disk_other_boot && strcmp(path, BOOT_ID) == 0)
        return open_other_boot();
    va_start(arguments, flags);
    fd = __real_open64(path, flags,
                       flags & O_CREAT ? va_arg(arguments, mode_t) : 0);
    va_end(arguments);
    recording_note_open(fd, path, flags);
    return fd;
}

int __real_openat64(int folder, const char *path, int flags, ...);
int __wrap_openat64(int folder, const char *path, int flags, ...);
int
__wrap_openat64(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    int fd;

    va_start(arguments, flags);
    fd = __real_openat64(folder, path, flags, va_arg(arguments, mode_t));
    va_end(arguments);
    recording_note_open(fd, path, flags);
    return fd;
}

REAL(ssize_t, pwrite, int fd, const void *bytes, size_t size, off_t offset)
{
    ssize_t done;

    if (calls_fail(DISK_WRITE)) {
        const int error = errno;

        (void)!__real_pwrite(fd, bytes, calls_part(size), offset);
        errno = error;
        return -1;
    }
    done = __real_pwrite(fd, bytes, size, offset);
    recording_note_write(fd, bytes, done, offset);
    return done;
}

REAL(ssize_t, pwrite64, int fd, const void *bytes, size_t size, off_t offset)
{
    ssize_t done;

    if (calls_fail(DISK_WRITE)) {
        const int error = errno;

        (void)!__real_pwrite64(fd, bytes, calls_part(size), offset);
        errno = error;
        return -1;
    }
    done = __real_pwrite64(fd, bytes, size, offset);
    recording_note_write(fd, bytes, done, offset);
    return done;
}

REAL(ssize_t, writev, int fd, const struct iovec *parts, int count)
{
    const off_t offset =
        recording_file_of(fd) >= 0 ? lseek(fd, 0, SEEK_CUR) : 0;
    ssize_t done;
    off_t at = offset;

    if (calls_fail(DISK_WRITE))
        return -1;
    done = __real_writev(fd, parts, count);
    for (int i = 0; i < count && at - offset < done; i++) {
        const off_t left = done - (at - offset);
        const ssize_t size =
            (off_t)parts[i].iov_len < left ? (ssize_t)parts[i].iov_len : left;

        recording_note_write(fd, parts[i].iov_base, size, at);
        at += size;
    }
    return done;
}

REAL(int, fdatasync, int fd)
{
    if (calls_fail(DISK_FLUSH))
        return -1;
    return recording_note_flush(fd) ? 0 : __real_fdatasync(fd);
}

REAL(int, fsync, int fd)
{
    if (calls_fail(DISK_FLUSH))
        return -1;
    return recording_note_flush(fd) ? 0 : __real_fsync(fd);
}

REAL(int, ftruncate, int fd, off_t size)
{
    if (recording_file_of(fd) >= 0)
        FAIL("no code was known to shrink a file");
    return __real_ftruncate(fd, size);
}

REAL(int, fallocate64, int fd, int mode, off_t offset, off_t size)
{
    int result;

    if (calls_fail(DISK_ALLOCATE))
        return -1;
    result = __real_fallocate64(fd, mode, offset, size);
    if (result == 0)
        recording_note_resize(fd, (uint64_t)(offset + size));
    return result;
}

REAL(int, renameat, int from, const char *old, int to, const char *new)
{
    const int result = __real_renameat(from, old, to, new);

    if (result == 0)
        recording_note_rename(old, new);
    return result;
}

REAL(int, unlinkat, int folder, const char *name, int flags)
{
    const int result = __real_unlinkat(folder, name, flags);

    if (result == 0)
        recording_note_unlink(name);
    return result;
}
