/* SPDX-License-Identifier: Apache-2.0 */
/* Reading records: see reader.h. */
#include "reader.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    READ_BYTES = 64 << 10
};

/* Cuts the next record out of what has been read; false when it is not there
 * yet. The last one, at the end of the input, needs no delimiter. What was
 * searched before is not searched again. */
static bool
reader_cut(struct cli_reader *reader, struct cli_record *record)
{
    const size_t begin = reader->used_bytes;
    const size_t from =
        begin < reader->scanned_bytes ? reader->scanned_bytes : begin;
    const char *end = NULL;

    if (begin == reader->size_bytes)
        return false;
    if (!reader->whole && from < reader->size_bytes)
        end = memchr(reader->buffer + from, reader->delimiter,
                     reader->size_bytes - from);
    reader->scanned_bytes = reader->size_bytes;
    if (!end && !reader->ended)
        return false;
    record->offset = begin;
    record->size_bytes = end ? (size_t)(end - reader->buffer) - begin
                             : reader->size_bytes - begin;
    reader->used_bytes += record->size_bytes + (end ? 1 : 0);
    reader->scanned_bytes = reader->used_bytes;
    return true;
}

/* Makes space for READ_BYTES more. */
static bool
reader_grow(struct cli_reader *reader)
{
    const size_t need = reader->size_bytes + READ_BYTES;
    size_t capacity = reader->capacity_bytes * 2;
    char *buffer;

    if (need <= reader->capacity_bytes)
        return true;
    capacity = capacity < need ? need : capacity;
    buffer = realloc(reader->buffer, capacity);
    if (!buffer) {
        reader->error = ENOMEM;
        return false;
    }
    reader->buffer = buffer;
    reader->capacity_bytes = capacity;
    return true;
}

/* Reads once; the end and failures are noted. */
static void
reader_read(struct cli_reader *reader)
{
    ssize_t size;

    if (!reader_grow(reader))
        return;
    do {
        size =
            read(reader->fd, reader->buffer + reader->size_bytes, READ_BYTES);
    } while (size < 0 && errno == EINTR);
    if (size < 0)
        reader->error = errno;
    else if (size == 0)
        reader->ended = true;
    else
        reader->size_bytes += (size_t)size;
}

static bool
reader_would_wait(const struct cli_reader *reader)
{
    struct pollfd input = {.fd = reader->fd, .events = POLLIN};

    return poll(&input, 1, 0) == 0;
}

/* Forgets the records of the call before. */
static void
reader_shift(struct cli_reader *reader)
{
    const size_t left = reader->size_bytes - reader->used_bytes;

    if (reader->used_bytes > 0 && left > 0)
        memmove(reader->buffer, reader->buffer + reader->used_bytes, left);
    reader->scanned_bytes = reader->scanned_bytes > reader->used_bytes
                                ? reader->scanned_bytes - reader->used_bytes
                                : 0;
    reader->size_bytes = left;
    reader->used_bytes = 0;
}

/* Whether the record that has been begun is longer than one may be. */
static bool
reader_is_too_long(const struct cli_reader *reader)
{
    return reader->size_bytes - reader->used_bytes > CLI_RECORD_MOST;
}

size_t
cli_reader_next(struct cli_reader *reader, struct cli_record *records,
                size_t most)
{
    const bool first = reader->size_bytes == 0 && !reader->ended;
    size_t count = 0;

    reader_shift(reader);
    for (;;) {
        while (count < most && reader_cut(reader, &records[count]))
            count++;
        if (count == most || reader->ended || reader->error ||
            (count > 0 && reader_would_wait(reader)))
            break;
        if (reader_is_too_long(reader))
            reader->error = E2BIG;
        else
            reader_read(reader);
    }
    // An empty file is one empty record when it is taken whole.
    if (reader->whole && first && reader->ended && count == 0)
        records[count++] = (struct cli_record){.offset = 0};
    for (size_t i = 0; i < count; i++)
        records[i].bytes = reader->buffer + records[i].offset;
    return count;
}

void
cli_reader_fini(struct cli_reader *reader)
{
    free(reader->buffer);
    reader->buffer = NULL;
}
