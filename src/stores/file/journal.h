/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal: batches that are durable and not in LMDB yet.
 *
 * A file, zero-filled and synced before its first use, so that a flush writes
 * data alone. It begins small, and grows when a generation has filled it.
 * Little-endian; records begin at multiples of 8.
 *
 *     0     "LBXJRNL1"  format u32  header bytes u32  store uid 16  crc u32
 *           zeros to 4096
 *     4096  record: "LBXS" or "LBXR"  size u32  generation u64  number u64
 *           time i64  before u32  crc u32
 *           per row: table u8  what u8 (0 put, 1 delete)  key bytes u16
 *           value bytes u32  key  value
 *           zeros to a multiple of 8
 *
 * `size` is that of the whole record. `before` is the crc of the record before,
 * 0 for the first. `crc` is CRC-32C of the store's uid and the record without
 * the crc: a body cannot pass for a record, since its sender does not know the
 * uid. "LBXS" records that all records before this one were flushed when it was
 * made.
 *
 * JRNL-1  A batch is one record. If it does not fit what is left of the file it
 *         is not written: the caller makes a checkpoint instead.
 * JRNL-2  Record n + 1 is written directly behind record n.
 * JRNL-3  The records that count are those of the generation that the store
 *         header names, from number 1 on, up to the first that does not check.
 * JRNL-4  A generation is written from the front only after LMDB has all
 *         earlier ones, durably (flush.c).
 * JRNL-5  A record that does not check with an "LBXS" one behind it (same
 *         generation, greater number) is damage; otherwise the end is torn,
 *         which is normal.
 *
 * Threads    one, but lbx__journal_flush() and what it reads: any.
 */
#ifndef LBX_STORES_FILE_JOURNAL_H
#define LBX_STORES_FILE_JOURNAL_H

#include "base/atomic.h"
#include "base/buffer.h"
#include "post/rules/storage.h"
#include "stores/file/io.h"

enum {
    LBX__JOURNAL_FORMAT = 1,
    LBX__JOURNAL_FRONT = 4096,      /* where records begin */
    LBX__JOURNAL_MIN = 65536,       /* bytes of the file */
    LBX__JOURNAL_FIRST = 256 << 10, /* of a new one, or less */
    LBX__RECORD_HEAD = 40
};

typedef struct lbx__journal {
    const lbx__io *io;
    const lbx_allocator *allocator;
    int fd;
    uint32_t seed;  /* what every crc begins with */
    uint64_t bytes; /* of the file */

    uint64_t generation;
    uint64_t number; /* of the last record made */
    uint64_t at;     /* where the next write goes */
    uint32_t before;

    lbx_buffer made;    /* records that are not written, and one that grows */
    size_t grows_at;    /* where that one begins in `made` */
    uint64_t made_upto; /* records ever made; so are the next two */
    _Atomic(uint64_t) written;
    _Atomic(uint64_t) flushed;
} lbx__journal;

/* Makes the file, of `bytes`; replaces one that may be there. */
lbx_status lbx__journal_create(const lbx__io *io, int folder,
                               const uint8_t uid[16], uint64_t bytes);

/* Opens it: OK; NOT_FOUND; NEWER; CORRUPT, also when it is another store's. */
lbx_status lbx__journal_open(lbx__journal *journal, const lbx__io *io,
                             int folder, const uint8_t uid[16],
                             const lbx_allocator *allocator);

/* The same whatever is in it, to be read by lbx__journal_read_damaged(). */
lbx_status lbx__journal_open_damaged(lbx__journal *journal, const lbx__io *io,
                                     int folder, const uint8_t uid[16],
                                     const lbx_allocator *allocator);

/* Closes it; accepts a zeroed one. */
void lbx__journal_close(lbx__journal *journal);

/* Starts a generation, at the front. What is made and not written is
 * dropped. */
void lbx__journal_start(lbx__journal *journal, uint64_t generation);

/* Makes the file larger by a step, up to `limit`, before the first record of a
 * generation. After a failure it is as it was. */
lbx_status lbx__journal_grow(lbx__journal *journal, uint64_t limit);

/* ---- Making records. Without memory a record is not whole: then
 * lbx__journal_fits() returns false. ---- */

void lbx__journal_put(lbx__journal *journal, lbx__table table, lbx__bytes key,
                      const lbx__bytes *parts, size_t count);
void lbx__journal_remove(lbx__journal *journal, lbx__table table,
                         lbx__bytes key);

/* Ends a batch: one record. False when there was nothing in it. */
bool lbx__journal_end(lbx__journal *journal, int64_t time_ns);

/* Whether all that is made can be written. */
bool lbx__journal_fits(const lbx__journal *journal);

/* Hands what is made to the system. After a failure the generation is over. */
lbx_status lbx__journal_write(lbx__journal *journal);

/* Waits until what has been written is on the disk. */
lbx_status lbx__journal_flush(lbx__journal *journal);

/* ---- Reading them back ---- */

/* What a walk over the records of a generation found. */
typedef struct lbx__journal_end_state {
    uint64_t records;
    uint64_t number;     /* of the last one; 0: there was none */
    int64_t time_ns;     /* of the last one */
    uint64_t end;        /* where the last one ends */
    uint64_t torn_bytes; /* behind that, of this generation */
    uint64_t bad_upto;   /* CORRUPT: a good record begins here */
} lbx__journal_end_state;

typedef lbx_status lbx__journal_row(void *context, lbx__table table,
                                    lbx__bytes key, const lbx__bytes *value);

/* Calls `row` for every row of the records that count (JRNL-3), in order; a
 * NULL value is a delete. Stops when that does not return OK. CORRUPT:
 * JRNL-5. */
lbx_status lbx__journal_read(const lbx__journal *journal, uint64_t generation,
                             lbx__journal_row *row, void *context,
                             lbx__journal_end_state *ret);

/* The same over damage: what does not check is skipped and reported to `bad`,
 * with where it begins and where the next good record does, or the end. */
lbx_status lbx__journal_read_damaged(
    const lbx__journal *journal, uint64_t generation, lbx__journal_row *row,
    void (*bad)(void *context, uint64_t from, uint64_t end), void *context,
    lbx__journal_end_state *ret);

/* The uid in the header of the journal in a folder: OK; NOT_FOUND; CORRUPT. */
lbx_status lbx__journal_uid(const lbx__io *io, int folder, uint8_t uid[16]);

/* The generation of a good record at the front; 0 when there is none. */
uint64_t lbx__journal_read_generation(const lbx__journal *journal);

#endif
