/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every system call of the file store's own, behind one table, so that tests
 * can make the third flush fail or the disk full. (LMDB's are not behind it;
 * tests reach those through the linker.)
 *
 * Calls return what the system call does, or -errno.
 *
 * Threads    any.
 */
#ifndef LBX_STORES_FILE_IO_H
#define LBX_STORES_FILE_IO_H

#include <letterbox/base.h>

#include <sys/types.h>

typedef struct lbx__io lbx__io;

struct lbx__io {
    /* Of a name in a folder, always with O_CLOEXEC and O_NOFOLLOW. A file that
     * is made has mode 0600, in a folder that its group may write to 0660. */
    int (*open)(const lbx__io *io, int folder, const char *name, int flags);
    ssize_t (*pread)(const lbx__io *io, int fd, void *bytes, size_t size,
                     uint64_t offset);
    ssize_t (*pwrite)(const lbx__io *io, int fd, const void *bytes, size_t size,
                      uint64_t offset);
    int (*fdatasync)(const lbx__io *io, int fd);
    int (*fsync)(const lbx__io *io, int fd);
    /* The file is at least this large, with blocks behind every byte. */
    int (*fallocate)(const lbx__io *io, int fd, uint64_t size);
    int (*rename)(const lbx__io *io, int folder, const char *from,
                  const char *to);
    int64_t (*boot_ns)(const lbx__io *io);
    int64_t (*wall_ns)(const lbx__io *io);
    /* 16 bytes that differ after each start of the machine. */
    void (*boot_id)(const lbx__io *io, uint8_t id[16]);
    void *context;
};

extern const lbx__io lbx__io_system;

/* All of it, over short counts and signals: OK, or what the error means. A file
 * that ends sooner is LBX_IO to read_all. */
lbx_status lbx__io_read_all(const lbx__io *io, int fd, void *bytes, size_t size,
                            uint64_t offset);
lbx_status lbx__io_write_all(const lbx__io *io, int fd, const void *bytes,
                             size_t size, uint64_t offset);

/* Makes a file at least this large, with blocks behind every byte, for one that
 * is mapped: on a full disk a write to a page without a block would raise a
 * signal. Bytes that are there stay as they are. A file system that cannot
 * allocate in advance gets zeros behind the end; then no other process may do
 * the same at this time. */
lbx_status lbx__io_allocate(const lbx__io *io, int fd, uint64_t size);

/* The status that stands for -errno; OK for 0 and more. */
lbx_status lbx__io_status(ssize_t result);

#endif
