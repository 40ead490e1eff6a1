/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading records, lines as a rule, from a descriptor, some at a time.
 *
 * A group of records is returned when it is full, or when there is one and the
 * input would have to be waited for: `tail -f` is passed on without delay, and
 * a file in groups.
 */
#ifndef LBX_CLI_READER_H
#define LBX_CLI_READER_H

#include "cli.h"

enum {
    CLI_RECORD_MOST = 64 << 20 /* bytes; no store takes more */
};

struct cli_record {
    const char *bytes;
    size_t size_bytes;
    size_t offset; /* in the reader's buffer */
};

struct cli_reader {
    int fd;
    char delimiter;
    bool whole; /* all of it is one record */
    char *buffer;
    size_t size_bytes; /* of what has been read */
    size_t capacity_bytes;
    size_t used_bytes;    /* of records that were cut out */
    size_t scanned_bytes; /* there is no delimiter from used_bytes to here */
    bool ended;
    int error; /* errno; E2BIG: a record is too long */
};

/* Up to `most` records, which are the reader's until the next call; 0 at the
 * end, or when reading failed: reader->error. */
size_t cli_reader_next(struct cli_reader *reader, struct cli_record *records,
                       size_t most);

void cli_reader_fini(struct cli_reader *reader);

#endif
