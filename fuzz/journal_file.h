/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A journal's file in memory, made of an input; and an io that counts what
 * reading it takes: memory of the allocator and bytes of the file, both with a
 * limit. A folder is the descriptor of its only file.
 */
#ifndef LBX_FUZZ_JOURNAL_FILE_H
#define LBX_FUZZ_JOURNAL_FILE_H

#include "codec/crc32c.h"
#include "codec/endian.h"
#include "stores/file/journal.h"
#include "target.h"

#include <sys/mman.h>
#include <unistd.h>

static const uint8_t uid[16] = "a store's uid..";

struct taken {
    uint64_t memory, memory_max;
    uint64_t read, read_max;
};

/* At the beginning of each reading: in proportion to the file. */
static inline void
taken_start(struct taken *taken, uint64_t file_bytes)
{
    taken->memory_max = 2 * file_bytes + (1 << 17);
    taken->read = 0;
    taken->read_max = 16 * file_bytes;
}

static inline void *
taken_allocate(void *context, size_t size_bytes, size_t align_bytes)
{
    struct taken *taken = context;

    (void)align_bytes; // no more than malloc()'s
    taken->memory += size_bytes;
    must_be(taken->memory <= taken->memory_max);
    return malloc(size_bytes);
}

static inline void
taken_release(void *context, void *memory, size_t size_bytes)
{
    struct taken *taken = context;

    taken->memory -= size_bytes;
    free(memory);
}

static inline ssize_t
taken_pread(const lbx__io *io, int fd, void *bytes, size_t size,
            uint64_t offset)
{
    struct taken *taken = io->context;

    taken->read += size;
    must_be(taken->read <= taken->read_max);
    return lbx__io_system.pread(io, fd, bytes, size, offset);
}

static inline int
memory_open(const lbx__io *io, int folder, const char *name, int flags)
{
    (void)io;
    (void)name;
    (void)flags;
    return dup(folder);
}

static inline int
memory_rename(const lbx__io *io, int folder, const char *from, const char *to)
{
    (void)io;
    (void)folder;
    (void)from;
    (void)to;
    return 0;
}

static inline lbx__io
memory_io_of(struct taken *taken)
{
    lbx__io io = lbx__io_system;

    io.open = memory_open;
    io.rename = memory_rename;
    io.pread = taken_pread;
    io.context = taken;
    return io;
}

static inline lbx_allocator
memory_allocator_of(struct taken *taken)
{
    return (lbx_allocator){taken_allocate, taken_release, taken};
}

/* Puts right the crc of each record that has none. */
static inline void
fill_in_sums(uint8_t *bytes, size_t size)
{
    const uint32_t seed = lbx__crc32c(0, uid, sizeof(uid));
    uint32_t record, sum;

    for (size_t at = 0; size - at >= LBX__RECORD_HEAD; at += record) {
        uint8_t *head = bytes + at;

        record = lbx__get_le32(head + 4);
        if (record < LBX__RECORD_HEAD || record > size - at)
            return;
        if (lbx__get_le32(head + 36) != 0)
            continue;
        sum = lbx__crc32c(seed, head, 36);
        sum = lbx__crc32c(sum, head + LBX__RECORD_HEAD,
                          record - LBX__RECORD_HEAD);
        lbx__put_le32(head + 36, sum);
        if (size - at - record >= LBX__RECORD_HEAD)
            lbx__put_le32(head + record + 32, sum); // `before` of the next
    }
}

/* A file with the input in it: all of it if it begins as the header does, else
 * what stands behind a good header, with some zeros at the end. */
static inline int
journal_file_create(const lbx__io *io, const uint8_t *data, size_t size)
{
    const bool whole = size >= 8 && memcmp(data, "LBXJRNL1", 8) == 0;
    const size_t from = whole ? 0 : LBX__JOURNAL_FRONT;
    const size_t skipped = whole ? LBX__JOURNAL_FRONT : 0;
    const size_t limit = whole ? LBX__JOURNAL_MIN : from + size + 64;
    const int fd = memfd_create("journal", MFD_CLOEXEC);
    uint8_t *bytes = copy_exactly(data, size);

    if (size > limit - from)
        size = limit - from;
    if (size > skipped)
        fill_in_sums(bytes + skipped, size - skipped);
    must_be(fd >= 0);
    must_be(lbx__journal_create(io, fd, uid, limit) == LBX_OK);
    must_be(pwrite(fd, bytes, size, (off_t)from) == (ssize_t)size);
    free(bytes);
    return fd;
}

#endif
