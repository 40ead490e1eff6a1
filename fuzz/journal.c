/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of a store in files, as a torn write, a damaged disk or another
 * program may leave it. An input is what stands behind the file's header, or,
 * with the header's first bytes, the whole file. A record whose crc is 0 gets
 * the right one here, so that what is behind the crc is reached.
 *
 * Reading takes memory and bytes in proportion to the file, and ends in OK or
 * CORRUPT. Rows that count (JRNL-3), written again, are read back as the same;
 * with a bit flipped, the record that has it does not count. Reading over
 * damage finds no fewer records.
 */
#include "codec/hash64.h"
#include "journal_file.h"

#define GENERATION 1

static struct taken taken;

/* What a reading has seen; `copy` gets its rows, unless NULL. */
struct seen {
    uint64_t hash;
    uint64_t bad_from, bytes;
    lbx__journal *copy;
};

static lbx_status
see_row(void *context, lbx__table table, lbx__bytes key,
        const lbx__bytes *value)
{
    struct seen *seen = context;

    must_be(table < LBX__TABLES && key.size > 0 &&
            key.size <= LBX__ROW_KEY_MAX);
    seen->hash = lbx__hash64(seen->hash + table, key.data, key.size);
    if (value)
        seen->hash = lbx__hash64(seen->hash + 1, value->data, value->size);
    if (seen->copy && value)
        lbx__journal_put(seen->copy, table, key, value, 1);
    else if (seen->copy)
        lbx__journal_remove(seen->copy, table, key);
    return LBX_OK;
}

static void
see_damage(void *context, uint64_t from, uint64_t end)
{
    struct seen *seen = context;

    must_be(from >= seen->bad_from && from <= end && end <= seen->bytes);
    seen->bad_from = from;
}

static lbx__journal_end_state
read_rows(const lbx__journal *journal, struct seen *seen)
{
    lbx__journal_end_state state;
    lbx_status status;

    taken_start(&taken, journal->bytes);
    status = lbx__journal_read(journal, GENERATION, see_row, seen, &state);
    must_be(status == LBX_OK || status == LBX_CORRUPT);
    must_be(state.end <= journal->bytes);
    return state;
}

/* All rows and one more, in one record of another file, read back. */
static void
check_copy(const lbx__journal *journal)
{
    static const lbx__bytes last = {"last", 4};
    const int fd = memfd_create("copy", MFD_CLOEXEC);
    lbx__journal copy;
    struct seen rows = {.copy = &copy}, again = {.hash = 0};

    must_be(lbx__journal_create(journal->io, fd, uid, journal->bytes) ==
            LBX_OK);
    must_be(lbx__journal_open_damaged(&copy, journal->io, fd, uid, NULL) ==
            LBX_OK);
    lbx__journal_start(&copy, GENERATION);
    (void)read_rows(journal, &rows);
    (void)see_row(&rows, LBX__META, last, &last);
    must_be(lbx__journal_end(&copy, 1));
    if (lbx__journal_fits(&copy)) { // but for a last row too many
        must_be(lbx__journal_write(&copy) == LBX_OK &&
                read_rows(&copy, &again).records == 1);
        must_be(rows.hash == again.hash);
    }
    lbx__journal_close(&copy);
    close(fd);
}

/* A bit of what counts is flipped; which, depends on the rows. */
static void
check_flip(const lbx__journal *journal, uint64_t end, uint64_t hash)
{
    const uint64_t at = LBX__JOURNAL_FRONT + hash % (end - LBX__JOURNAL_FRONT);
    struct seen seen = {.hash = 0};
    uint8_t byte;

    must_be(pread(journal->fd, &byte, 1, (off_t)at) == 1);
    byte ^= (uint8_t)(1 << (hash >> 32) % 8);
    must_be(pwrite(journal->fd, &byte, 1, (off_t)at) == 1);
    must_be(read_rows(journal, &seen).end <= at);
}

static void
check_journal(lbx__journal *journal)
{
    struct seen rows = {.hash = 0}, damaged = {.bytes = journal->bytes};
    const lbx__journal_end_state state = read_rows(journal, &rows);
    lbx__journal_end_state all;

    taken_start(&taken, journal->bytes);
    must_be(lbx__journal_read_damaged(journal, GENERATION, see_row, see_damage,
                                      &damaged, &all) == LBX_OK &&
            all.records >= state.records && all.end <= journal->bytes);
    check_copy(journal);
    if (state.records > 0) {
        must_be(lbx__journal_read_generation(journal) == GENERATION);
        check_flip(journal, state.end, rows.hash);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const lbx__io io = memory_io_of(&taken);
    const lbx_allocator allocator = memory_allocator_of(&taken);
    const int fd = journal_file_create(&io, data, size);
    lbx_status status;
    lbx__journal journal;
    uint8_t found[16];

    taken_start(&taken, LBX__JOURNAL_MIN);
    status = lbx__journal_open(&journal, &io, fd, uid, &allocator);
    if (status == LBX_OK)
        must_be(lbx__journal_uid(&io, fd, found) == LBX_OK &&
                memcmp(found, uid, sizeof(uid)) == 0);
    else
        must_be((status == LBX_CORRUPT || status == LBX_NEWER) &&
                lbx__journal_open_damaged(&journal, &io, fd, uid, &allocator) ==
                    LBX_OK);
    check_journal(&journal);
    lbx__journal_close(&journal);
    must_be(taken.memory == 0);
    close(fd);
    return 0;
}
