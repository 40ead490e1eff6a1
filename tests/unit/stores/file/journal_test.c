/* SPDX-License-Identifier: Apache-2.0 */
/* Records, written and read back, whole, torn and damaged. */
#include "codec/crc32c.h"
#include "codec/endian.h"
#include "fixture.h"
#include "stores/file/journal.h"
#include "support/torture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint8_t uid[16] = "a store's uid..";

enum {
    BYTES = 64 << 10
};

struct boxes {
    const char *path;
    int folder;
    lbx__journal journal;
};

static void
open_desk(struct boxes *boxes, const lbx_allocator *allocator)
{
    boxes->path = test_path();
    CHECK(mkdir(boxes->path, 0700) == 0);
    boxes->folder = open(boxes->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(boxes->folder >= 0);
    CHECK_OK(lbx__journal_create(&lbx__io_system, boxes->folder, uid, BYTES));
    CHECK_OK(lbx__journal_open(&boxes->journal, &lbx__io_system, boxes->folder,
                               uid, allocator));
    lbx__journal_start(&boxes->journal, 7);
}

static void
close_desk(struct boxes *boxes)
{
    lbx__journal_close(&boxes->journal);
    CHECK(close(boxes->folder) == 0);
}

/* A record of one row, written and flushed. */
static void
add(struct boxes *boxes, const char *key, const char *value, bool flush)
{
    const lbx__bytes part = text(value);

    lbx__journal_put(&boxes->journal, LBX__BODIES, text(key), &part, 1);
    CHECK(lbx__journal_end(&boxes->journal, 1000));
    CHECK(lbx__journal_fits(&boxes->journal));
    CHECK_OK(lbx__journal_write(&boxes->journal));
    if (flush)
        CHECK_OK(lbx__journal_flush(&boxes->journal));
}

struct found {
    char text[4096];
};

static lbx_status
note_row(void *context, lbx__table table, lbx__bytes key,
         const lbx__bytes *value)
{
    struct found *found = context;
    const size_t size = strlen(found->text);

    (void)snprintf(
        found->text + size, sizeof(found->text) - size, "%d:%.*s%s%.*s ", table,
        (int)key.size, (const char *)key.data, value ? "=" : "-",
        value ? (int)value->size : 0, value ? (const char *)value->data : "");
    return LBX_OK;
}

static lbx_status
read_back(struct boxes *boxes, struct found *found,
          lbx__journal_end_state *state)
{
    found->text[0] = '\0';
    return lbx__journal_read(&boxes->journal, boxes->journal.generation,
                             note_row, found, state);
}

static void
check_records(struct boxes *boxes, const char *wanted)
{
    struct found found;
    lbx__journal_end_state state;

    CHECK_OK(read_back(boxes, &found, &state));
    CHECK_STR(wanted, found.text);
}

TEST(records_are_read_back_in_order)
{
    const lbx__bytes parts[] = {{"in ", 3}, {"", 0}, {"parts", 5}};
    struct boxes boxes;
    struct found found;
    lbx__journal_end_state state;

    open_desk(&boxes, NULL);
    check_records(&boxes, "");
    CHECK(!lbx__journal_end(&boxes.journal, 1)); // nothing in it: no record
    lbx__journal_put(&boxes.journal, LBX__META, text("k"), parts, 3);
    lbx__journal_remove(&boxes.journal, LBX__GARBAGE, text("gone"));
    CHECK(lbx__journal_end(&boxes.journal, 55));
    lbx__journal_put(&boxes.journal, LBX__READY, text("empty"), NULL, 0);
    CHECK(lbx__journal_end(&boxes.journal, 77));
    CHECK_OK(lbx__journal_write(&boxes.journal));
    CHECK_OK(read_back(&boxes, &found, &state));
    CHECK_STR("0:k=in parts 16:gone- 6:empty= ", found.text);
    CHECK_INT(2, state.records);
    CHECK_INT(77, state.time_ns);
    CHECK_INT(0, state.torn_bytes);
    CHECK_INT(boxes.journal.at, state.end);
    close_desk(&boxes);
}

static size_t bytes_read;

static ssize_t
count_read(const lbx__io *io, int fd, void *bytes, size_t size, uint64_t offset)
{
    bytes_read += size;
    return lbx__io_system.pread(io, fd, bytes, size, offset);
}

/* Bodies of an older generation may be full of heads of records, each of which
 * says that it is as large as what is left: they must not each be read. */
TEST(bodies_that_look_like_records_do_not_hold_up_recovery)
{
    lbx__io io = lbx__io_system;
    struct boxes boxes;
    struct found found;
    lbx__journal_end_state state;

    io.pread = count_read;
    open_desk(&boxes, NULL);
    add(&boxes, "a", "1", true);
    for (size_t at = boxes.journal.at + 8; at + 40 <= BYTES; at += 40) {
        uint8_t head[40] = "LBXS";

        lbx__put_le32(head + 4, (uint32_t)(BYTES - at) / 8 * 8);
        lbx__put_le64(head + 8, 7);
        lbx__put_le64(head + 16, at);
        fixture_write(boxes.path, "journal", head, sizeof(head), at);
    }
    boxes.journal.io = &io;
    CHECK_OK(read_back(&boxes, &found, &state));
    CHECK_STR("4:a=1 ", found.text);
    CHECK(bytes_read < 8 * (size_t)BYTES);
    close_desk(&boxes);
}

/* JRNL-3: of an older generation nothing counts, however well it checks. */
TEST(a_new_generation_begins_with_nothing)
{
    struct boxes boxes;
    struct found found;
    lbx__journal_end_state state;

    open_desk(&boxes, NULL);
    add(&boxes, "a", "1", true);
    add(&boxes, "b", "2", true);
    CHECK_INT(7, lbx__journal_read_generation(&boxes.journal));
    lbx__journal_start(&boxes.journal, 8);
    CHECK_OK(read_back(&boxes, &found, &state));
    CHECK_STR("", found.text);
    CHECK_INT(0, state.torn_bytes);
    // One that is as long as the old first: the old second lies just behind it.
    add(&boxes, "c", "3", true);
    check_records(&boxes, "4:c=3 ");
    CHECK_INT(8, lbx__journal_read_generation(&boxes.journal));
    close_desk(&boxes);
}

/* JRNL-1: what does not fit is left to the caller, and so is what memory does
 * not suffice for. */
TEST(a_record_that_does_not_fit_is_not_written)
{
    static char large[BYTES];
    const lbx__bytes part = {large, sizeof(large)};
    struct torture memory = TORTURE_INIT;
    lbx_allocator allocator = torture_allocator(&memory);
    struct boxes boxes;
    long count = 0;

    open_desk(&boxes, &allocator);
    lbx__journal_put(&boxes.journal, LBX__BODIES, text("k"), &part, 1);
    CHECK(lbx__journal_end(&boxes.journal, 1));
    CHECK(!lbx__journal_fits(&boxes.journal));
    lbx__journal_start(&boxes.journal, 8);
    for (;; count++) {
        const lbx__bytes small = {large, 1000};

        lbx__journal_put(&boxes.journal, LBX__BODIES, text("k"), &small, 1);
        CHECK(lbx__journal_end(&boxes.journal, 1));
        if (!lbx__journal_fits(&boxes.journal))
            break;
        CHECK_OK(lbx__journal_write(&boxes.journal));
    }
    CHECK_INT((BYTES - 4096) / 1056, count);
    lbx__journal_start(&boxes.journal, 9);
    add(&boxes, "k", "v", true);
    memory.allowed = 0;
    lbx__buffer_fini(&boxes.journal.made);
    lbx__journal_remove(&boxes.journal, LBX__BODIES, text("k"));
    CHECK(lbx__journal_end(&boxes.journal, 1));
    CHECK(!lbx__journal_fits(&boxes.journal));
    memory.allowed = LONG_MAX;
    check_records(&boxes, "4:k=v ");
    close_desk(&boxes);
    CHECK_INT(0, memory.live_bytes);
}

/* Every length a write can be cut at: the records before it, and how much was
 * torn; never an error, never a row of the cut one. */
TEST(a_torn_end_is_cut_off_at_any_length)
{
    struct boxes boxes;
    struct found found;
    lbx__journal_end_state state;
    uint8_t whole[256];
    static const uint8_t zeros[256];

    open_desk(&boxes, NULL);
    add(&boxes, "a", "1", true);
    const size_t at = boxes.journal.at;
    add(&boxes, "b", "a longer value than the first", true);
    const size_t size = boxes.journal.at - at;
    CHECK(size <= sizeof(whole));
    fixture_read(boxes.path, "journal", whole, size, at);
    CHECK(whole[size - 1] == 0); // padding: cutting only that loses nothing
    for (size_t cut = 0; cut < size; cut++) {
        fixture_write(boxes.path, "journal", zeros, size, at);
        fixture_write(boxes.path, "journal", whole, cut, at);
        CHECK_OK(read_back(&boxes, &found, &state));
        CHECK(state.records == 1 ||
              memcmp(whole + cut, zeros, size - cut) == 0);
        CHECK_STR(state.records == 1
                      ? "4:a=1 "
                      : "4:a=1 4:b=a longer value than the first ",
                  found.text);
        if (cut >= LBX__RECORD_HEAD && state.records == 1)
            CHECK_INT(size, state.torn_bytes);
    }
    close_desk(&boxes);
}

/* JRNL-5: each bit of a record that others were written behind. */
TEST(a_flipped_bit_before_a_flushed_record_is_damage)
{
    struct boxes boxes;
    struct found found;
    lbx__journal_end_state state;
    size_t at, behind;
    long flips = 0;

    open_desk(&boxes, NULL);
    add(&boxes, "a", "1", true);
    at = boxes.journal.at;
    add(&boxes, "b", "2", true);
    behind = boxes.journal.at;
    add(&boxes, "c", "3", true);
    for (size_t i = at; i < behind; i++) {
        uint8_t byte;

        fixture_read(boxes.path, "journal", &byte, 1, i);
        for (int bit = 0; bit < 8; bit++, flips++) {
            const uint8_t other = byte ^ (uint8_t)(1u << bit);

            fixture_write(boxes.path, "journal", &other, 1, i);
            CHECK_STATUS(LBX_CORRUPT, read_back(&boxes, &found, &state));
            CHECK_STR("4:a=1 ", found.text);
            CHECK_INT(at, state.end);
            CHECK_INT(behind, state.bad_upto);
        }
        fixture_write(boxes.path, "journal", &byte, 1, i);
    }
    check_records(&boxes, "4:a=1 4:b=2 4:c=3 ");
    test_note("%ld flips", flips);
    close_desk(&boxes);
}

/* Below level sync the disk may keep a later record and lose an earlier one:
 * that is no damage. */
TEST(a_lost_record_that_was_never_flushed_is_a_torn_end)
{
    struct boxes boxes;
    struct found found;
    lbx__journal_end_state state;
    static const uint8_t zeros[40];

    open_desk(&boxes, NULL);
    add(&boxes, "a", "1", true);
    const size_t at = boxes.journal.at;
    add(&boxes, "b", "2", false);
    add(&boxes, "c", "3", false);
    fixture_write(boxes.path, "journal", zeros, sizeof(zeros), at);
    CHECK_OK(read_back(&boxes, &found, &state));
    CHECK_STR("4:a=1 ", found.text);
    CHECK_INT(boxes.journal.at - at, state.torn_bytes);
    close_desk(&boxes);
}

/* A body that is a record, bit by bit, of this very generation: the reader must
 * not find it when the record around it is torn. */
TEST(a_body_that_looks_like_a_record_is_none)
{
    struct boxes boxes, other;
    struct found found;
    lbx__journal_end_state state;
    uint8_t forged[64];
    static const uint8_t zero;

    // The forger's own store, where it is the third record.
    open_desk(&other, NULL);
    lbx__journal_close(&other.journal);
    CHECK_OK(lbx__journal_create(&lbx__io_system, other.folder,
                                 (const uint8_t *)"another's uid...", BYTES));
    CHECK_OK(lbx__journal_open(&other.journal, &lbx__io_system, other.folder,
                               (const uint8_t *)"another's uid...", NULL));
    lbx__journal_start(&other.journal, 7);
    add(&other, "a", "1", true);
    add(&other, "b", "2", true);
    const size_t third = other.journal.at;
    add(&other, "c", "3", true);
    CHECK(other.journal.at - third <= sizeof(forged));
    fixture_read(other.path, "journal", forged, sizeof(forged), third);
    close_desk(&other);

    open_desk(&boxes, NULL);
    add(&boxes, "a", "1", true);
    const size_t at = boxes.journal.at;
    // 40 bytes of head, 8 of the row's, a key of 8: the body is aligned.
    const lbx__bytes part = {forged, sizeof(forged)};
    lbx__journal_put(&boxes.journal, LBX__BODIES, text("8 bytes!"), &part, 1);
    CHECK(lbx__journal_end(&boxes.journal, 1));
    CHECK_OK(lbx__journal_write(&boxes.journal));
    fixture_write(boxes.path, "journal", &zero, 1, at);
    CHECK_OK(read_back(&boxes, &found, &state));
    CHECK_STR("4:a=1 ", found.text);
    close_desk(&boxes);
}

/* Changes bytes of the record at `from`, which ends at `end`, and makes its sum
 * right again. */
static void
patch_record(struct boxes *boxes, size_t from, size_t end, size_t at,
             const void *bytes, size_t size)
{
    uint8_t record[128];
    uint32_t crc;

    CHECK(end - from <= sizeof(record));
    fixture_read(boxes->path, "journal", record, end - from, from);
    memcpy(record + at, bytes, size);
    crc = lbx__crc32c(boxes->journal.seed, record, 36);
    crc = lbx__crc32c(crc, record + LBX__RECORD_HEAD,
                      end - from - LBX__RECORD_HEAD);
    lbx__put_le32(record + 36, crc);
    fixture_write(boxes->path, "journal", record, end - from, from);
}

/* Its sum agrees; but it does not follow the record before it. */
TEST(a_record_that_does_not_follow_the_one_before_does_not_count)
{
    const uint8_t three = 3, other[4] = {1, 2, 3, 4};
    static const struct {
        size_t at, size;
    } fields[] = {{16, 1}, {32, 4}}; // its number; the sum of the one before

    for (size_t i = 0; i < 2; i++) {
        struct boxes boxes;
        size_t at;

        open_desk(&boxes, NULL);
        add(&boxes, "a", "1", i == 1); // else the next says that it is flushed
        at = boxes.journal.at;
        add(&boxes, "b", "2", false);
        patch_record(&boxes, at, boxes.journal.at, fields[i].at,
                     i == 0 ? &three : other, fields[i].size);
        check_records(&boxes, "4:a=1 ");
        close_desk(&boxes);
    }
}

TEST(a_record_whose_size_is_no_multiple_of_eight_is_none)
{
    struct boxes boxes;
    uint8_t size;

    open_desk(&boxes, NULL);
    add(&boxes, "a", "1", true);
    size = (uint8_t)(boxes.journal.at - LBX__JOURNAL_FRONT - 1);
    patch_record(&boxes, LBX__JOURNAL_FRONT, LBX__JOURNAL_FRONT + size, 4,
                 &size, 1);
    check_records(&boxes, "");
    close_desk(&boxes);
}

TEST(a_record_may_end_where_its_file_does)
{
    static char body[BYTES - LBX__JOURNAL_FRONT - LBX__RECORD_HEAD - 8 - 1];
    const lbx__bytes part = {body, sizeof(body)};
    struct boxes boxes;
    struct found found;
    lbx__journal_end_state state;

    open_desk(&boxes, NULL);
    lbx__journal_put(&boxes.journal, LBX__BODIES, text("k"), &part, 1);
    CHECK(lbx__journal_end(&boxes.journal, 1));
    CHECK(lbx__journal_fits(&boxes.journal));
    CHECK_OK(lbx__journal_write(&boxes.journal));
    CHECK_INT(BYTES, boxes.journal.at);
    CHECK_OK(read_back(&boxes, &found, &state));
    CHECK_INT(1, state.records);
    CHECK_INT(BYTES, state.end);
    close_desk(&boxes);
}

/* JRNL-5: the first record behind the damage does not say that all before it
 * were flushed; a later one does. */
TEST(damage_is_known_by_any_later_record_that_was_flushed)
{
    const uint8_t zero = 0;
    struct boxes boxes;
    struct found found;
    lbx__journal_end_state state;
    size_t at;

    open_desk(&boxes, NULL);
    add(&boxes, "a", "1", true);
    at = boxes.journal.at;
    add(&boxes, "b", "2", false);
    add(&boxes, "c", "3", true);
    add(&boxes, "d", "4", true);
    fixture_write(boxes.path, "journal", &zero, 1, at);
    CHECK_STATUS(LBX_CORRUPT, read_back(&boxes, &found, &state));
    CHECK_STR("4:a=1 ", found.text);
    close_desk(&boxes);
}

static void
note_bad(void *context, uint64_t from, uint64_t end)
{
    (void)from;
    (void)end;
    ++*(int *)context;
}

static lbx_status
skip_row(void *context, lbx__table table, lbx__bytes key,
         const lbx__bytes *value)
{
    (void)context;
    (void)table;
    (void)key;
    (void)value;
    return LBX_OK;
}

/* Its sum agrees, so that its writer was broken, or another program: nothing
 * behind the record's end may be read for it. */
TEST(a_row_longer_than_its_record_or_with_wrong_numbers_is_damage)
{
    // A row of 8 + 4 + 12 bytes fills its record.
    static const struct {
        uint8_t table, what;
        uint16_t key;
        uint32_t value;
        bool good;
    } rows[] = {
        {LBX__BODIES, 0, 4, 12, true},  {LBX__BODIES, 0, 4, 13, false},
        {LBX__BODIES, 0, 4, 20, false}, {LBX__BODIES, 0, 4, UINT32_MAX, false},
        {LBX__BODIES, 0, 16, 0, true},  {LBX__BODIES, 0, 17, 0, false},
        {LBX__BODIES, 0, 24, 0, false}, {LBX__BODIES, 0, 0, 16, false},
        {LBX__BODIES, 1, 16, 0, true},  {LBX__BODIES, 1, 4, 12, false},
        {LBX__BODIES, 2, 16, 0, false}, {LBX__TABLES - 1, 0, 4, 12, true},
        {LBX__TABLES, 0, 4, 12, false},
    };
    struct boxes boxes;

    open_desk(&boxes, NULL);
    add(&boxes, "four", "twelve bytes", true);
    CHECK_INT(LBX__RECORD_HEAD + 24, boxes.journal.at - LBX__JOURNAL_FRONT);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint8_t row[8] = {rows[i].table, rows[i].what};
        lbx__journal_end_state state;
        int bad = 0;

        lbx__put_le16(row + 2, rows[i].key);
        lbx__put_le32(row + 4, rows[i].value);
        patch_record(&boxes, LBX__JOURNAL_FRONT, boxes.journal.at,
                     LBX__RECORD_HEAD, row, sizeof(row));
        if (lbx__journal_read(&boxes.journal, 7, skip_row, NULL, &state) !=
            (rows[i].good ? LBX_OK : LBX_CORRUPT))
            FAIL("row %zu", i);
        if (!rows[i].good) {
            CHECK_INT(LBX__JOURNAL_FRONT, state.end);
            CHECK_INT(boxes.journal.at, state.bad_upto);
        }
        CHECK_OK(lbx__journal_read_damaged(&boxes.journal, 7, skip_row,
                                           note_bad, &bad, &state));
        CHECK_INT(!rows[i].good, bad);
    }
    close_desk(&boxes);
}

static struct boxes *written_beside;

static int
sync_beside_a_write(const lbx__io *io, int fd)
{
    const int result = lbx__io_system.fdatasync(io, fd);

    written_beside->journal.io = &lbx__io_system;
    add(written_beside, "b", "2", false);
    return result;
}

/* A flush counts what was written when it began: a record that is made after it
 * does not say that the disk has all before it. */
TEST(a_record_written_beside_a_flush_is_not_flushed_by_it)
{
    lbx__io io = lbx__io_system;
    struct boxes boxes;
    char magic[4];
    size_t at;

    io.fdatasync = sync_beside_a_write;
    open_desk(&boxes, NULL);
    add(&boxes, "a", "1", false);
    written_beside = &boxes;
    boxes.journal.io = &io;
    CHECK_OK(lbx__journal_flush(&boxes.journal));
    CHECK_INT(1, boxes.journal.flushed);
    at = boxes.journal.at;
    add(&boxes, "c", "3", true);
    fixture_read(boxes.path, "journal", magic, sizeof(magic), at);
    CHECK(memcmp(magic, "LBXR", 4) == 0);
    check_records(&boxes, "4:a=1 4:b=2 4:c=3 ");
    close_desk(&boxes);
}

TEST(a_journal_of_another_store_or_a_newer_format_is_refused)
{
    const uint8_t newer = 2;
    struct boxes boxes;
    uint8_t head[36];

    open_desk(&boxes, NULL);
    lbx__journal_close(&boxes.journal);
    CHECK_STATUS(LBX_CORRUPT, lbx__journal_open(
                                  &boxes.journal, &lbx__io_system, boxes.folder,
                                  (const uint8_t *)"another's uid...", NULL));
    fixture_write(boxes.path, "journal", &newer, 1, 8);
    // Without its sum it is damage;
    CHECK_STATUS(LBX_CORRUPT, lbx__journal_open(&boxes.journal, &lbx__io_system,
                                                boxes.folder, uid, NULL));
    // with it, a newer one.
    fixture_read(boxes.path, "journal", head, sizeof(head), 0);
    {
        const uint32_t crc = lbx__crc32c(0, head, 32);

        fixture_write(boxes.path, "journal", &crc, 4, 32);
    }
    CHECK_STATUS(LBX_NEWER, lbx__journal_open(&boxes.journal, &lbx__io_system,
                                              boxes.folder, uid, NULL));
    CHECK(unlinkat(boxes.folder, "journal", 0) == 0);
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx__journal_open(&boxes.journal, &lbx__io_system,
                                   boxes.folder, uid, NULL));
    CHECK(close(boxes.folder) == 0);
}
