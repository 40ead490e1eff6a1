/* SPDX-License-Identifier: Apache-2.0 */
/* Making and writing records; journal_read.c reads them back. */
#include "stores/file/journal.h"

#include "codec/crc32c.h"
#include "codec/endian.h"
#include "stores/file/folder.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    JOURNAL_HEAD = 40,          /* bytes of the file's header that are used */
    JOURNAL_GROWTH = 4,         /* times its size, of a small one; */
    JOURNAL_STEP_MAX = 16 << 20 /* at most by this: it is written at once */
};

static void
journal_pack_head(uint8_t head[JOURNAL_HEAD], const uint8_t uid[16])
{
    static const uint8_t magic[8] = {'L', 'B', 'X', 'J', 'R', 'N', 'L', '1'};

    memcpy(head, magic, sizeof(magic));
    lbx__put_le32(head + 8, LBX__JOURNAL_FORMAT);
    lbx__put_le32(head + 12, LBX__JOURNAL_FRONT);
    memcpy(head + 16, uid, 16);
    lbx__put_le32(head + 32, lbx__crc32c(0, head, 32));
    lbx__put_le32(head + 36, 0);
}

/* Written, not only allocated: a first write to blocks that are merely
 * allocated changes the file's extents, and a flush would have to as well. */
static lbx_status
journal_fill(const lbx__io *io, int fd, uint64_t from, uint64_t end)
{
    static const uint8_t zeros[65536];
    lbx_status status = LBX_OK;

    for (uint64_t at = from; status == LBX_OK && at < end;
         at += sizeof(zeros)) {
        const uint64_t left = end - at;

        status = lbx__io_write_all(
            io, fd, zeros, left < sizeof(zeros) ? left : sizeof(zeros), at);
    }
    return status;
}

static lbx_status
journal_make(const lbx__io *io, int fd, const uint8_t uid[16], uint64_t bytes)
{
    uint8_t head[JOURNAL_HEAD];
    lbx_status status = journal_fill(io, fd, 0, bytes);

    journal_pack_head(head, uid);
    if (status == LBX_OK)
        status = lbx__io_write_all(io, fd, head, sizeof(head), 0);
    if (status == LBX_OK)
        status = lbx__io_status(io->fsync(io, fd));
    return status;
}

lbx_status
lbx__journal_create(const lbx__io *io, int folder, const uint8_t uid[16],
                    uint64_t bytes)
{
    const int fd =
        io->open(io, folder, LBX__JOURNAL_NEW, O_RDWR | O_CREAT | O_TRUNC);
    lbx_status status;

    if (fd < 0)
        return lbx__io_status(fd);
    status = journal_make(io, fd, uid, bytes);
    (void)close(fd);
    if (status == LBX_OK)
        status = lbx__io_status(
            io->rename(io, folder, LBX__JOURNAL_NEW, LBX__JOURNAL));
    if (status != LBX_OK) // it may have taken the last free space on the disk
        (void)unlinkat(folder, LBX__JOURNAL_NEW, 0);
    if (status == LBX_OK)
        status = lbx__io_status(io->fsync(io, folder));
    return status;
}

static lbx_status
journal_check_head(const lbx__journal *journal, const uint8_t uid[16])
{
    uint8_t head[JOURNAL_HEAD], wanted[JOURNAL_HEAD];
    lbx_status status =
        lbx__io_read_all(journal->io, journal->fd, head, sizeof(head), 0);

    if (status != LBX_OK)
        return status;
    journal_pack_head(wanted, uid);
    if (memcmp(head, wanted, 8) == 0 &&
        lbx__get_le32(head + 32) == lbx__crc32c(0, head, 32) &&
        lbx__get_le32(head + 8) > LBX__JOURNAL_FORMAT)
        return LBX_NEWER;
    return memcmp(head, wanted, sizeof(head)) == 0 ? LBX_OK : LBX_CORRUPT;
}

lbx_status
lbx__journal_uid(const lbx__io *io, int folder, uint8_t uid[16])
{
    uint8_t head[JOURNAL_HEAD];
    const int fd = io->open(io, folder, LBX__JOURNAL, O_RDONLY);
    lbx_status status;

    if (fd < 0)
        return lbx__io_status(fd);
    status = lbx__io_read_all(io, fd, head, sizeof(head), 0);
    (void)close(fd);
    if (status != LBX_OK ||
        lbx__get_le32(head + 32) != lbx__crc32c(0, head, 32))
        return LBX_CORRUPT;
    memcpy(uid, head + 16, 16);
    return LBX_OK;
}

lbx_status
lbx__journal_open_damaged(lbx__journal *journal, const lbx__io *io, int folder,
                          const uint8_t uid[16], const lbx_allocator *allocator)
{
    struct stat found;
    lbx_status status;

    memset(journal, 0, sizeof(*journal));
    journal->io = io;
    journal->allocator = allocator;
    journal->seed = lbx__crc32c(0, uid, 16);
    journal->fd = io->open(io, folder, LBX__JOURNAL, O_RDWR);
    if (journal->fd < 0) {
        status = lbx__io_status(journal->fd);
        memset(journal, 0, sizeof(*journal));
        return status;
    }
    status = fstat(journal->fd, &found) < 0 ? lbx__io_status(-errno) : LBX_OK;
    journal->bytes = status == LBX_OK ? (uint64_t)found.st_size : 0;
    lbx__buffer_init(&journal->made, allocator,
                     journal->bytes ? (size_t)journal->bytes : 1);
    lbx__init(&journal->written, 0);
    lbx__init(&journal->flushed, 0);
    if (status != LBX_OK)
        lbx__journal_close(journal);
    return status;
}

lbx_status
lbx__journal_open(lbx__journal *journal, const lbx__io *io, int folder,
                  const uint8_t uid[16], const lbx_allocator *allocator)
{
    lbx_status status =
        lbx__journal_open_damaged(journal, io, folder, uid, allocator);

    if (status != LBX_OK)
        return status;
    status = journal->bytes < LBX__JOURNAL_MIN
                 ? LBX_CORRUPT
                 : journal_check_head(journal, uid);
    if (status != LBX_OK)
        lbx__journal_close(journal);
    return status;
}

void
lbx__journal_close(lbx__journal *journal)
{
    if (!journal->io)
        return;
    (void)close(journal->fd);
    lbx__buffer_fini(&journal->made);
    memset(journal, 0, sizeof(*journal));
}

void
lbx__journal_start(lbx__journal *journal, uint64_t generation)
{
    journal->generation = generation;
    journal->number = 0;
    journal->at = LBX__JOURNAL_FRONT;
    journal->before = 0;
    lbx__buffer_reset(&journal->made);
    journal->grows_at = 0;
    // Release: pairs with the acquire in lbx__journal_flush(), which may run
    // beside this and then raises `flushed` to no more than this.
    lbx__store(&journal->written, journal->made_upto, release);
    lbx__store(&journal->flushed, journal->made_upto, release);
}

lbx_status
lbx__journal_grow(lbx__journal *journal, uint64_t limit)
{
    const lbx__io *io = journal->io;
    const uint64_t from = journal->bytes;
    const uint64_t wanted = (JOURNAL_GROWTH - 1) * from;
    const uint64_t step = wanted < JOURNAL_STEP_MAX ? wanted : JOURNAL_STEP_MAX;
    const uint64_t end = from + step < limit ? from + step : limit;
    lbx_status status;

    assert(journal->at == LBX__JOURNAL_FRONT && journal->made.size == 0);
    if (end <= from)
        return LBX_OK;
    status = journal_fill(io, journal->fd, from, end);
    if (status == LBX_OK)
        status = lbx__io_status(io->fsync(io, journal->fd));
    if (status != LBX_OK) { // it may have taken the last free space on the disk
        (void)ftruncate(journal->fd, (off_t)from);
        return status;
    }
    journal->bytes = end;
    journal->made.max = (size_t)end;
    return LBX_OK;
}

/* Space for a row, behind the record's head if it is the first. */
static uint8_t *
journal_claim_row(lbx__journal *journal, size_t size)
{
    if (journal->made.size == journal->grows_at)
        (void)lbx__buffer_claim(&journal->made, LBX__RECORD_HEAD);
    return (uint8_t *)lbx__buffer_claim(&journal->made, size);
}

static uint8_t *
journal_pack_row(uint8_t *to, lbx__table table, uint8_t what, lbx__bytes key,
                 size_t value_size)
{
    *to++ = (uint8_t)table;
    *to++ = what;
    to = lbx__put_le16(to, (uint16_t)key.size);
    to = lbx__put_le32(to, (uint32_t)value_size);
    memcpy(to, key.data, key.size);
    return to + key.size;
}

void
lbx__journal_put(lbx__journal *journal, lbx__table table, lbx__bytes key,
                 const lbx__bytes *parts, size_t count)
{
    size_t size = 0;
    uint8_t *to;

    for (size_t i = 0; i < count; i++)
        size += parts[i].size;
    to = journal_claim_row(journal, 8 + key.size + size);
    if (!to)
        return; // the buffer remembers
    to = journal_pack_row(to, table, 0, key, size);
    for (size_t i = 0; i < count; i++) {
        if (parts[i].size)
            memcpy(to, parts[i].data, parts[i].size);
        to += parts[i].size;
    }
}

void
lbx__journal_remove(lbx__journal *journal, lbx__table table, lbx__bytes key)
{
    uint8_t *to = journal_claim_row(journal, 8 + key.size);

    if (to)
        (void)journal_pack_row(to, table, 1, key, 0);
}

/* Whether all records before the one that is being made are on the disk. */
static bool
journal_is_flushed(lbx__journal *journal)
{
    // Acquire: pairs with lbx__journal_flush(), in whatever thread.
    return lbx__load(&journal->flushed, acquire) == journal->made_upto;
}

bool
lbx__journal_end(lbx__journal *journal, int64_t time_ns)
{
    static const uint8_t zeros[8], magic[3] = {'L', 'B', 'X'};
    uint8_t *head, *to;
    size_t size;

    if (journal->made.status == LBX_OK &&
        journal->made.size == journal->grows_at)
        return false;
    size = journal->made.size - journal->grows_at;
    lbx__buffer_add(&journal->made, zeros, (8 - size % 8) % 8);
    if (journal->made.status == LBX_OK) {
        size = journal->made.size - journal->grows_at;
        head = (uint8_t *)journal->made.bytes + journal->grows_at;
        memcpy(head, magic, sizeof(magic));
        head[3] = journal_is_flushed(journal) ? 'S' : 'R';
        to = lbx__put_le32(head + 4, (uint32_t)size);
        to = lbx__put_le64(to, journal->generation);
        to = lbx__put_le64(to, journal->number + 1);
        to = lbx__put_le64(to, (uint64_t)time_ns);
        to = lbx__put_le32(to, journal->before);
        journal->before = lbx__crc32c(journal->seed, head, 36);
        journal->before = lbx__crc32c(journal->before, head + LBX__RECORD_HEAD,
                                      size - LBX__RECORD_HEAD);
        lbx__put_le32(to, journal->before);
        journal->grows_at = journal->made.size;
    }
    journal->number++;
    journal->made_upto++;
    return true;
}

bool
lbx__journal_fits(const lbx__journal *journal)
{
    return journal->made.status == LBX_OK &&
           journal->made.size <= journal->bytes - journal->at; // JRNL-1
}

lbx_status
lbx__journal_write(lbx__journal *journal)
{
    lbx_status status;

    assert(lbx__journal_fits(journal));
    assert(journal->made.size == journal->grows_at); // no batch is open
    status = lbx__io_write_all(journal->io, journal->fd, journal->made.bytes,
                               journal->made.size, journal->at); // JRNL-2
    if (status != LBX_OK)
        return status;
    journal->at += journal->made.size;
    lbx__buffer_reset(&journal->made);
    journal->grows_at = 0;
    // Release: pairs with the acquire in lbx__journal_flush(): a flush that
    // counts these records begins after they were written.
    lbx__store(&journal->written, journal->made_upto, release);
    return LBX_OK;
}

lbx_status
lbx__journal_flush(lbx__journal *journal)
{
    // Acquire: pairs with the release in lbx__journal_write().
    const uint64_t written = lbx__load(&journal->written, acquire);
    uint64_t seen;
    lbx_status status =
        lbx__io_status(journal->io->fdatasync(journal->io, journal->fd));

    if (status != LBX_OK)
        return LBX_IO;
    // Relaxed: only the highest matters; the exchange below publishes.
    seen = lbx__load(&journal->flushed, relaxed);
    // Release: a thread that finds `flushed` this high finds them on disk.
    // Pairs with journal_is_flushed().
    while (seen < written &&
           !lbx__cas(&journal->flushed, &seen, written, release))
        ;
    return LBX_OK;
}
