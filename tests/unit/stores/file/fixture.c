/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

lbx_store_options
fixture_options(void)
{
    lbx_store_options options = LBX_STORE_OPTIONS_INIT;

    options.journal_bytes = 64 << 10;
    options.map_bytes = 256 << 20;
    return options;
}

lbx__storage *
fixture_open(const char *path, const lbx_store_options *options,
             const lbx__io *io)
{
    const lbx_store_options usual = fixture_options();
    lbx_store_options mine = options ? *options : usual;
    lbx_fault fault = {LBX_OK, ""};
    lbx__storage *storage = NULL;
    lbx_status status;

    mine.fault = mine.fault ? mine.fault : &fault;
    status = lbx__file_open(path, &mine, io, &storage);
    if (status != LBX_OK)
        FAIL("open: %s, %s", lbx_status_name(status), mine.fault->text);
    return storage;
}

lbx_status
fixture_try_open(const char *path, const lbx_store_options *options,
                 lbx_fault *ret_fault)
{
    lbx_store_options mine = options ? *options : fixture_options();
    lbx__storage *storage;
    lbx_status status;

    mine.fault = ret_fault;
    status = lbx__file_open(path, &mine, NULL, &storage);
    if (status == LBX_OK)
        lbx__storage_close(storage);
    return status;
}

void
put_text(lbx__storage *storage, lbx__table table, const char *key,
         const char *value)
{
    const lbx__row_size size = {(uint32_t)strlen(key), (uint32_t)strlen(value)};
    const lbx__bytes part = text(value);

    CHECK_OK(lbx__storage_reserve(storage, &size, 1, LBX__GROWS));
    lbx__storage_put(storage, table, text(key), &part, 1);
}

lbx_status
store_text(lbx__storage *storage, const char *key, const char *value)
{
    CHECK_OK(lbx__storage_begin(storage));
    put_text(storage, LBX__BODIES, key, value);
    return lbx__storage_flush(storage, lbx__storage_commit(storage));
}

void
check_text(lbx__storage *storage, const char *key, const char *value)
{
    lbx__bytes found;

    CHECK_OK(lbx__storage_begin(storage));
    if (!value) {
        CHECK_STATUS(LBX_NOT_FOUND,
                     lbx__storage_get(storage, LBX__BODIES, text(key), &found));
    } else {
        CHECK_OK(lbx__storage_get(storage, LBX__BODIES, text(key), &found));
        CHECK_INT(strlen(value), found.size);
        CHECK(memcmp(value, found.data, found.size) == 0);
    }
    CHECK_OK(lbx__storage_flush(storage, lbx__storage_commit(storage)));
}

/* Whether this call is the one that fails. */
static bool
fails(struct faulty_io *faulty, _Atomic(long) *left)
{
    if (*left < 0)
        return false;
    if (*left > 0) {
        --*left;
        return false;
    }
    if (!faulty->for_ever)
        *left = -1;
    return true;
}

static struct faulty_io *
faulty_of(const lbx__io *io)
{
    return (struct faulty_io *)(uintptr_t)io;
}

static ssize_t
faulty_write(const lbx__io *io, int fd, const void *bytes, size_t size,
             uint64_t offset)
{
    struct faulty_io *faulty = faulty_of(io);

    faulty->writes++;
    // Half of it first, as full disks do; then the error.
    if (faulty->writes_left == 0 && size > 1)
        return lbx__io_system.pwrite(io, fd, bytes, size / 2, offset) < 0
                   ? -EIO
                   : (fails(faulty, &faulty->writes_left), -faulty->error);
    if (fails(faulty, &faulty->writes_left))
        return -faulty->error;
    return lbx__io_system.pwrite(io, fd, bytes, size, offset);
}

static int
faulty_sync(const lbx__io *io, int fd)
{
    struct faulty_io *faulty = faulty_of(io);

    faulty->syncs++;
    if (fails(faulty, &faulty->syncs_left))
        return -faulty->error;
    return lbx__io_system.fdatasync(io, fd);
}

static int
faulty_allocate(const lbx__io *io, int fd, uint64_t size)
{
    struct faulty_io *faulty = faulty_of(io);

    faulty->allocates++;
    if (fails(faulty, &faulty->allocates_left))
        return -faulty->error;
    return lbx__io_system.fallocate(io, fd, size);
}

static int64_t
faulty_boot_ns(const lbx__io *io)
{
    const struct faulty_io *faulty = faulty_of(io);

    return faulty->boot_ns ? faulty->boot_ns : lbx__io_system.boot_ns(io);
}

static int64_t
faulty_wall_ns(const lbx__io *io)
{
    const struct faulty_io *faulty = faulty_of(io);

    return faulty->boot_ns ? faulty->wall_ns : lbx__io_system.wall_ns(io);
}

static void
faulty_boot_id(const lbx__io *io, uint8_t id[16])
{
    const struct faulty_io *faulty = faulty_of(io);

    if (faulty->boot_ns)
        memcpy(id, faulty->boot, 16);
    else
        lbx__io_system.boot_id(io, id);
}

void
faulty_init(struct faulty_io *faulty)
{
    memset(faulty, 0, sizeof(*faulty));
    faulty->io = lbx__io_system;
    faulty->writes_left = faulty->syncs_left = faulty->allocates_left = -1;
    faulty->error = EIO;
    faulty->io.pwrite = faulty_write;
    faulty->io.fdatasync = faulty_sync;
    faulty->io.fallocate = faulty_allocate;
    faulty->io.boot_ns = faulty_boot_ns;
    faulty->io.wall_ns = faulty_wall_ns;
    faulty->io.boot_id = faulty_boot_id;
}

static int
open_in(const char *path, const char *name, int flags)
{
    char full[PATH_MAX + 64];
    int fd;

    (void)snprintf(full, sizeof(full), "%s/%s", path, name);
    fd = open(full, flags | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    return fd;
}

size_t
fixture_size(const char *path, const char *name)
{
    const int fd = open_in(path, name, O_RDONLY);
    struct stat found;

    CHECK(fstat(fd, &found) == 0);
    CHECK(close(fd) == 0);
    return (size_t)found.st_size;
}

void
fixture_read(const char *path, const char *name, void *bytes, size_t size,
             size_t offset)
{
    const int fd = open_in(path, name, O_RDONLY);

    CHECK_INT(size, pread(fd, bytes, size, (off_t)offset));
    CHECK(close(fd) == 0);
}

void
fixture_write(const char *path, const char *name, const void *bytes,
              size_t size, size_t offset)
{
    const int fd = open_in(path, name, O_RDWR | O_CREAT);

    CHECK_INT(size, pwrite(fd, bytes, size, (off_t)offset));
    CHECK(close(fd) == 0);
}

void
fixture_copy(const char *from, const char *to, const char *name)
{
    static const char zeros[1 << 16];
    static char block[sizeof(zeros)];
    int source, target;
    off_t at = 0;
    ssize_t done;

    CHECK(mkdir(to, 0700) == 0 || errno == EEXIST);
    source = open_in(from, name, O_RDONLY);
    target = open_in(to, name, O_RDWR | O_CREAT | O_TRUNC);
    // Holes stay holes: the end of data.mdb is megabytes of free pages.
    for (; (done = pread(source, block, sizeof(block), at)) > 0; at += done) {
        if (memcmp(block, zeros, (size_t)done) != 0)
            CHECK_INT(done, pwrite(target, block, (size_t)done, at));
    }
    CHECK(ftruncate(target, at) == 0);
    CHECK(close(source) == 0 && close(target) == 0);
}

void
fixture_copy_store(const char *from, const char *to)
{
    fixture_copy(from, to, "data.mdb");
    fixture_copy(from, to, "journal");
}
