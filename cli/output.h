/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output: for people on a terminal, for programs otherwise.
 *
 * What is printed is collected in memory and written by cli_out_flush(), which
 * a signal can end even when the reader of a pipe does not read.
 */
#ifndef LBX_CLI_OUTPUT_H
#define LBX_CLI_OUTPUT_H

#include "cli.h"

#include <letterbox/json.h>
#include <stdio.h>

enum cli_style {
    CLI_PLAIN, /* a pipe or a file */
    CLI_HUMAN, /* a terminal */
    CLI_JSON
};

struct cli_out {
    FILE *stream; /* to print to; in memory */
    char *text;   /* what `stream` has, after a flush of it */
    size_t size_bytes;
    enum cli_style style;
    bool color;
    int signal_fd; /* -1: writes are not ended by signals */
    int signal;    /* that ended a write */
    bool gone;     /* the reader of the pipe has gone */
    int error;     /* errno of a write that failed; 0 */
};

/* CLI_OK, or CLI_FAILED after a complaint. */
int cli_out_open(struct cli_out *out, bool json);

/* Writes what was printed. False when that failed, now or before. */
bool cli_out_flush(struct cli_out *out);

/* The same when much has come together. */
bool cli_out_flush_some(struct cli_out *out);

/* Flushes, closes, and returns `code`, or what to exit with when the output
 * could not be written. */
int cli_out_close(struct cli_out *out, int code);

/* Escape sequences; empty texts where there is no colour. */
const char *cli_out_bold(const struct cli_out *out);
const char *cli_out_dim(const struct cli_out *out);
const char *cli_out_red(const struct cli_out *out);
const char *cli_out_normal(const struct cli_out *out);

/* Bytes with everything that a terminal would act on as \xNN. With `lines`,
 * newlines and tabs are printed as they are. */
void cli_out_escaped(FILE *stream, const void *bytes, size_t size_bytes,
                     bool lines);

/* "30s", "1h30m", "unlimited", "2.5ms": short, exact where possible. */
enum {
    CLI_NUMBER_BYTES = 32
};
const char *cli_format_duration(int64_t ns, char buffer[CLI_NUMBER_BYTES]);
const char *cli_format_bytes(uint64_t bytes, char buffer[CLI_NUMBER_BYTES]);
/* UTC, RFC 3339 with milliseconds; `human`: local time, without. */
const char *cli_format_time(int64_t ms, bool human,
                            char buffer[CLI_NUMBER_BYTES]);

/* ---- json.c ---- */

/* One line of JSON: begin, write members, end. */
struct cli_json {
    struct cli_out *out;
    lbx_buffer *buffer;
    lbx_json_writer writer;
};

bool cli_json_begin(struct cli_json *json, struct cli_out *out);
bool cli_json_end(struct cli_json *json);

/* Text as it is; other bytes as base64 with "encoding":"base64" beside. */
void cli_json_bytes(struct cli_json *json, const char *name, const void *bytes,
                    size_t size_bytes);

/* A duration in milliseconds; null for no limit. */
void cli_json_ms(struct cli_json *json, const char *name, int64_t ns);

/* A number; null for no limit. */
void cli_json_limit(struct cli_json *json, const char *name, int64_t number);
void cli_json_count(struct cli_json *json, const char *name, uint64_t number);

/* ---- letter.c ---- */

struct cli_letter_style {
    bool receipt;       /* on a terminal and in JSON */
    bool plain_receipt; /* in a pipe too, and a tab, in front of the body */
    bool peeked;        /* there is no receipt, and no lease */
    char delimiter;     /* after the body, plain */
};

/* Prints a letter. False: there was no memory. */
bool cli_letter_print(struct cli_out *out, const lbx_letter *letter,
                      const struct cli_letter_style *style);

#endif
