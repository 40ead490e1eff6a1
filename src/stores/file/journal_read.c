/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a journal back, whatever is in it.
 *
 * A record is taken only when every number in its head is what it must be and
 * its crc agrees, so that nothing is allocated or parsed by a number that has
 * not been checked against the file.
 *
 * Senders of letters choose bytes in the file, though not so that they pass for
 * a record. Behind a torn end, bytes that only look like a record's are read up
 * to a few times the size of the file, and then no more: `wasted` counts them.
 * What is inside a good record is not searched, and a search begins with small
 * steps, since the next good record is mostly near.
 *
 * Threads    one at a time.
 */
#include "stores/file/journal.h"

#include "base/alloc.h"
#include "codec/crc32c.h"
#include "codec/endian.h"

#include <string.h>

/* The head of a record, as it stands in the file. */
struct record_head {
    bool flushed; /* "LBXS" */
    uint32_t size;
    uint64_t generation;
    uint64_t number;
    int64_t time_ns;
    uint32_t before;
    uint32_t crc;
};

/* A buffer for one record; grows. */
struct record_buffer {
    uint8_t *bytes;
    size_t size;
    uint64_t wasted; /* bytes read of records that did not check */
};

static bool
record_unpack_head(const uint8_t *from, struct record_head *ret)
{
    ret->flushed = from[3] == 'S';
    ret->size = lbx__get_le32(from + 4);
    ret->generation = lbx__get_le64(from + 8);
    ret->number = lbx__get_le64(from + 16);
    ret->time_ns = (int64_t)lbx__get_le64(from + 24);
    ret->before = lbx__get_le32(from + 32);
    ret->crc = lbx__get_le32(from + 36);
    return memcmp(from, "LBX", 3) == 0 && (from[3] == 'S' || from[3] == 'R') &&
           ret->size >= LBX__RECORD_HEAD && ret->size % 8 == 0;
}

static bool
record_buffer_grow(const lbx__journal *journal, struct record_buffer *buffer,
                   size_t size)
{
    uint8_t *bytes;

    if (size <= buffer->size)
        return true;
    bytes = lbx__alloc(journal->allocator, size, 8);
    if (!bytes)
        return false;
    lbx__free(journal->allocator, buffer->bytes, buffer->size);
    buffer->bytes = bytes;
    buffer->size = size;
    return true;
}

/* The record at an offset: OK when its crc agrees; CORRUPT when it does not, or
 * there is none; NO_MEMORY; IO. */
static lbx_status
record_read(const lbx__journal *journal, uint64_t at,
            struct record_buffer *buffer, struct record_head *ret)
{
    uint8_t bytes[LBX__RECORD_HEAD];
    lbx_status status;
    uint32_t crc;

    if (at + LBX__RECORD_HEAD > journal->bytes)
        return LBX_CORRUPT;
    status =
        lbx__io_read_all(journal->io, journal->fd, bytes, sizeof(bytes), at);
    if (status != LBX_OK)
        return status;
    if (!record_unpack_head(bytes, ret) || ret->size > journal->bytes - at)
        return LBX_CORRUPT;
    if (!record_buffer_grow(journal, buffer, ret->size))
        return LBX_NO_MEMORY;
    status = lbx__io_read_all(journal->io, journal->fd, buffer->bytes,
                              ret->size, at);
    if (status != LBX_OK)
        return status;
    crc = lbx__crc32c(journal->seed, buffer->bytes, 36);
    crc = lbx__crc32c(crc, buffer->bytes + LBX__RECORD_HEAD,
                      ret->size - LBX__RECORD_HEAD);
    return crc == ret->crc ? LBX_OK : LBX_CORRUPT;
}

/* Calls `row` for each of a record whose crc agrees. */
static lbx_status
record_read_rows(const uint8_t *at, const uint8_t *end, lbx__journal_row *row,
                 void *context)
{
    lbx_status status = LBX_OK;

    while (status == LBX_OK && end - at >= 8) {
        const uint8_t table = at[0], what = at[1];
        const lbx__bytes key = {at + 8, lbx__get_le16(at + 2)};
        const lbx__bytes value = {at + 8 + key.size, lbx__get_le32(at + 4)};

        if (table >= LBX__TABLES || what > 1 || key.size == 0 ||
            key.size > LBX__ROW_KEY_MAX || (what == 1 && value.size > 0) ||
            key.size + value.size > (size_t)(end - at) - 8)
            return LBX_CORRUPT;
        status = row(context, (lbx__table)table, key, what ? NULL : &value);
        at += 8 + key.size + value.size;
    }
    return status;
}

/* Whether the head at an offset is that of a record behind `before`. */
static bool
record_may_follow(const lbx__journal *journal, uint64_t at,
                  const struct record_head *before, struct record_head *ret)
{
    uint8_t bytes[LBX__RECORD_HEAD];

    return at + sizeof(bytes) <= journal->bytes &&
           lbx__io_read_all(journal->io, journal->fd, bytes, sizeof(bytes),
                            at) == LBX_OK &&
           record_unpack_head(bytes, ret) && ret->size <= journal->bytes - at &&
           ret->generation == before->generation &&
           ret->number > before->number;
}

/* The record at an offset, if it may follow `before`: OK; CORRUPT: it does not,
 * or too much was wasted; NO_MEMORY; IO. */
static lbx_status
record_try(const lbx__journal *journal, const struct record_head *before,
           uint64_t at, struct record_buffer *buffer, struct record_head *ret)
{
    const uint64_t limit = 4 * journal->bytes;
    lbx_status status;

    if (!record_may_follow(journal, at, before, ret) ||
        ret->size > limit - buffer->wasted)
        return LBX_CORRUPT;
    status = record_read(journal, at, buffer, ret);
    if (status == LBX_CORRUPT)
        buffer->wasted += ret->size;
    return status;
}

/* The first record at `from` or behind it that checks, is of the generation of
 * `before` and has a greater number: OK; NOT_FOUND; NO_MEMORY; IO. */
static lbx_status
record_find_next(const lbx__journal *journal, const struct record_head *before,
                 uint64_t from, struct record_buffer *buffer,
                 struct record_head *ret, uint64_t *ret_at)
{
    enum {
        STEP_FIRST = 1 << 9,
        STEP_MAX = 1 << 16
    };
    lbx_status status = record_try(journal, before, from, buffer, ret);
    size_t step = STEP_FIRST, size;
    uint8_t *bytes;

    *ret_at = from;
    if (status != LBX_CORRUPT)
        return status;
    bytes = lbx__alloc(journal->allocator, STEP_MAX, 8);
    if (!bytes)
        return LBX_NO_MEMORY;
    for (uint64_t at = from + 8; status == LBX_CORRUPT && at < journal->bytes;
         at += size, step = step < STEP_MAX ? 2 * step : step) {
        const uint64_t left = journal->bytes - at;
        lbx_status found;

        size = left < step ? (size_t)left : step;
        found = lbx__io_read_all(journal->io, journal->fd, bytes, size, at);
        if (found != LBX_OK)
            status = found;
        for (size_t i = 0; status == LBX_CORRUPT && i + 8 <= size; i += 8) {
            if (memcmp(bytes + i, "LBX", 3) != 0)
                continue;
            status = record_try(journal, before, at + i, buffer, ret);
            *ret_at = at + i;
        }
    }
    lbx__free(journal->allocator, bytes, STEP_MAX);
    return status == LBX_CORRUPT ? LBX_NOT_FOUND : status;
}

/* Looks behind a record that does not check (JRNL-5). */
static lbx_status
record_look_behind(const lbx__journal *journal, uint64_t generation,
                   uint64_t number, struct record_buffer *buffer,
                   lbx__journal_end_state *state)
{
    const struct record_head before = {.generation = generation,
                                       .number = number};
    uint64_t from = state->end, at;
    struct record_head head;
    lbx_status status;

    for (;;) {
        status = record_find_next(journal, &before, from, buffer, &head, &at);
        if (status != LBX_OK)
            return status == LBX_NOT_FOUND ? LBX_OK : status;
        state->bad_upto = at;
        state->torn_bytes = at + head.size - state->end;
        if (head.flushed)
            return LBX_CORRUPT;
        from = at + head.size;
    }
}

/* How many bytes of this generation's next record there are, by its head. */
static uint64_t
record_torn_size(const lbx__journal *journal, uint64_t generation, uint64_t at)
{
    uint8_t bytes[LBX__RECORD_HEAD];
    struct record_head head;

    if (at + sizeof(bytes) > journal->bytes ||
        lbx__io_read_all(journal->io, journal->fd, bytes, sizeof(bytes), at) !=
            LBX_OK ||
        !record_unpack_head(bytes, &head) || head.generation != generation)
        return 0;
    return head.size < journal->bytes - at ? head.size : journal->bytes - at;
}

lbx_status
lbx__journal_read(const lbx__journal *journal, uint64_t generation,
                  lbx__journal_row *row, void *context,
                  lbx__journal_end_state *ret)
{
    lbx__journal_end_state state = {.end = LBX__JOURNAL_FRONT};
    struct record_buffer buffer = {.bytes = NULL};
    uint32_t before = 0;
    lbx_status status;

    for (;;) {
        struct record_head head;

        status = record_read(journal, state.end, &buffer, &head);
        if (status == LBX_OK &&
            (head.generation != generation ||
             head.number != state.records + 1 || head.before != before))
            status = LBX_CORRUPT;
        if (status != LBX_OK)
            break;
        status = record_read_rows(buffer.bytes + LBX__RECORD_HEAD,
                                  buffer.bytes + head.size, row, context);
        if (status != LBX_OK) {
            state.bad_upto = state.end + head.size;
            goto out;
        }
        state.records++;
        state.number = head.number;
        state.time_ns = head.time_ns;
        state.end += head.size;
        before = head.crc;
    }
    if (status == LBX_CORRUPT) {
        state.torn_bytes = record_torn_size(journal, generation, state.end);
        status = record_look_behind(journal, generation, state.records + 1,
                                    &buffer, &state);
    }
out:
    lbx__free(journal->allocator, buffer.bytes, buffer.size);
    *ret = state;
    return status;
}

lbx_status
lbx__journal_read_damaged(const lbx__journal *journal, uint64_t generation,
                          lbx__journal_row *row,
                          void (*bad)(void *context, uint64_t from,
                                      uint64_t end),
                          void *context, lbx__journal_end_state *ret)
{
    struct record_buffer buffer = {.bytes = NULL};
    struct record_head before = {.generation = generation}, head;
    uint64_t at;
    lbx_status status;

    *ret = (lbx__journal_end_state){.end = LBX__JOURNAL_FRONT};
    while ((status = record_find_next(journal, &before, ret->end, &buffer,
                                      &head, &at)) == LBX_OK) {
        if (at > ret->end || head.number != before.number + 1)
            bad(context, ret->end, at);
        status = record_read_rows(buffer.bytes + LBX__RECORD_HEAD,
                                  buffer.bytes + head.size, row, context);
        if (status == LBX_CORRUPT)
            bad(context, at, at + head.size);
        else if (status != LBX_OK)
            break;
        before = head;
        ret->records++;
        ret->number = head.number;
        ret->time_ns = head.time_ns;
        ret->end = at + head.size;
    }
    lbx__free(journal->allocator, buffer.bytes, buffer.size);
    ret->torn_bytes = record_torn_size(journal, generation, ret->end);
    return status == LBX_NOT_FOUND ? LBX_OK : status;
}

uint64_t
lbx__journal_read_generation(const lbx__journal *journal)
{
    struct record_buffer buffer = {.bytes = NULL};
    struct record_head head;
    const lbx_status status =
        record_read(journal, LBX__JOURNAL_FRONT, &buffer, &head);

    lbx__free(journal->allocator, buffer.bytes, buffer.size);
    return status == LBX_OK ? head.generation : 0;
}
