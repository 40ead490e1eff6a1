/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program `letterbox`: what its commands share.
 *
 * A command is one constant: its name, its help, its options as a table, and a
 * function that runs it. Help, the parsing of options and the suggestions for
 * misspelt names are made from the tables; tests compare them with the manual.
 *
 * CLI-1  What a command prints goes to standard output through cli_out; what
 *        it complains about goes to standard error as "letterbox: ...".
 * CLI-2  A letter counts as printed when its last byte was given to the
 *        kernel; only then may it be acknowledged.
 */
#ifndef LBX_CLI_H
#define LBX_CLI_H

#include <letterbox/post.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the program exits with; help.c explains them to people. */
enum cli_exit {
    CLI_OK = 0,
    CLI_FAILED = 1,
    CLI_USAGE = 2,
    CLI_NOTHING = 3,
    CLI_NOT_FOUND = 4,
    CLI_DAMAGED = 5,
    CLI_STALE = 6,
    CLI_TEMPORARY = 75,
    CLI_INTERRUPTED = 130,
    CLI_PIPE = 141, /* the reader has gone: main() ends by SIGPIPE */
    CLI_RUN = -1    /* of cli_parse(): no reason to exit yet */
};

/* What the value of an option is. */
enum cli_kind {
    CLI_FLAG,     /* bool */
    CLI_NO_FLAG,  /* bool: sets it to false */
    CLI_TEXT,     /* const char * */
    CLI_LIST,     /* struct cli_list: may be repeated */
    CLI_NUMBER,   /* int64_t, `least` to `most` */
    CLI_DURATION, /* int64_t of nanoseconds, likewise */
    CLI_SIZE,     /* int64_t of bytes, likewise */
    CLI_CHOICE    /* int: index in `choices` */
};

enum {
    CLI_LIST_MOST = 32
};

struct cli_list {
    const char *texts[CLI_LIST_MOST];
    size_t count;
};

struct cli_option {
    const char *name; /* "lease"; NULL ends a table */
    char letter;      /* 0: none */
    enum cli_kind kind;
    size_t offset;        /* of the value in the struct of the command */
    const char *argument; /* "DURATION"; NULL for flags */
    const char *help;
    const char *unlimited; /* the word for no limit; NULL: none */
    /* CLI_NUMBER, CLI_DURATION, CLI_SIZE: what is allowed; `most` 0, of the
     * latter two: anything */
    int64_t least, most;
    const char *const *choices; /* CLI_CHOICE: NULL ends it */
    /* CLI_TEXT: NULL for what is allowed, else what would be */
    const char *(*allowed)(const char *text);
};

struct cli_call;

struct cli_command {
    const char *name;
    const char *arguments; /* "URL [MESSAGE...]" */
    const char *summary;   /* a line of `letterbox help` */
    const char *details;   /* paragraphs of its own help */
    const struct cli_option *options;
    /* in pairs: what it does, and the line to type; NULL ends it */
    const char *const *examples;
    size_t least_arguments;
    size_t most_arguments;
    int (*run)(struct cli_call *call);
};

/* A command that is being run. */
struct cli_call {
    const struct cli_command *command;
    int argc;
    char **argv;
    char **arguments; /* after cli_parse(): what is left of argv */
    size_t argument_count;
};

/* The options that every command on a store has; first in its struct. */
struct cli_common {
    bool json;
    bool group_store;
    int64_t busy_ns;
};

#define CLI_COMMON_INIT                                                        \
    {                                                                          \
        .busy_ns = 30 * LBX_SECOND                                             \
    }

/* Rows for the table of a command whose struct has a member `common`. */
#define CLI_JSON_OPTION(type)                                                  \
    {                                                                          \
        .name = "json", .letter = 'j', .kind = CLI_FLAG,                       \
        .offset = offsetof(type, common.json),                                 \
        .help = "print JSON, one object on a line"                             \
    }
#define CLI_MAX_OPTION(type, text)                                             \
    {                                                                          \
        .name = "max", .letter = 'n', .kind = CLI_NUMBER,                      \
        .offset = offsetof(type, max), .argument = "N", .least = 1,            \
        .most = INT64_MAX, .help = text                                        \
    }
#define CLI_NULL_OPTION(type)                                                  \
    {                                                                          \
        .name = "null", .letter = '0', .kind = CLI_FLAG,                       \
        .offset = offsetof(type, null),                                        \
        .help = "in a pipe: end messages with a NUL byte, not with a newline"  \
    }
#define CLI_STORE_OPTIONS(type)                                                \
    {.name = "busy",                                                           \
     .kind = CLI_DURATION,                                                     \
     .offset = offsetof(type, common.busy_ns),                                 \
     .argument = "DURATION",                                                   \
     .help = "how long to wait for a stopped process that has the store "      \
             "open (30s)"},                                                    \
    {                                                                          \
        .name = "group-store", .kind = CLI_FLAG,                               \
        .offset = offsetof(type, common.group_store),                          \
        .help = "the folder of the store may be shared by its group"           \
    }

/* ---- arguments.c ---- */

/* Reads "30s", "1h30m", "0". False for anything else and what is too long. */
bool cli_read_duration(const char *text, int64_t *ret_ns);

/* Reads "4096", "64KiB", "1M". */
bool cli_read_size(const char *text, int64_t *ret_bytes);

/* Reads a number without sign. */
bool cli_read_number(const char *text, int64_t *ret);

/* ---- parse.c ---- */

/* Reads the options into `values` and what is left into call->arguments.
 * CLI_RUN, or what to exit with: after --help, or a complaint. */
int cli_parse(struct cli_call *call, void *values);

/* ---- help.c ---- */

/* Every command; NULL ends it (main.c). */
extern const struct cli_command *const cli_commands[];

const struct cli_command *cli_command_find(const char *name);
int cli_help_all(void);
int cli_help_command(const struct cli_command *command);

/* The exit code for a failure. */
int cli_exit_of(lbx_status status);

/* ---- complain.c ---- */

/* "letterbox: ..." on standard error. */
void cli_complain(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* The same, with the command's name and a hint at its help; CLI_USAGE. */
int cli_complain_usage(const struct cli_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for a status, with the fault's text if there is one, and what it
 * was about; the exit code. */
int cli_complain_status(lbx_status status, const lbx_fault *fault,
                        const char *what);

/* The name of a list (by index; NULL ends it) that `text` may be meant to be;
 * NULL when none is near. */
const char *cli_nearest(const char *text,
                        const char *(*name_at)(const void *list, size_t index),
                        const void *list);

/* ---- target.c ---- */

enum {
    CLI_URL_BYTES = 4097
};

/* A URL, taken apart: file:DIR/BOX. */
struct cli_target {
    const char *url;
    char store_url[CLI_URL_BYTES];
    char box[LBX_BOX_NAME_BYTES + 64]; /* decoded; empty for a store */
    lbx_store *store;
    lbx_postbox *postbox;
};

/* Whether it begins as the URL of a store does. */
bool cli_target_has_scheme(const char *url);

/* Takes the URL of a box apart and opens its store, which must exist unless
 * `create`. CLI_OK, or the exit code after a complaint. */
int cli_target_open_store(struct cli_target *target, const char *url,
                          const struct cli_common *common, bool create);

/* The same, and opens the box. */
int cli_target_open(struct cli_target *target, const char *url,
                    const struct cli_common *common, bool create);

/* Opens the store of a URL without a box. */
int cli_target_open_whole(struct cli_target *target, const char *url,
                          const struct cli_common *common);

/* The folder of "file:DIR", decoded, or of a plain path if `path`. */
int cli_target_folder(const char *url, bool path, char folder[CLI_URL_BYTES]);

void cli_target_close(struct cli_target *target);

/* ---- signals.c ---- */

/* Blocks SIGINT, SIGTERM and SIGHUP and returns a descriptor that is readable
 * when one has come; -1 on failure: then they end the program as always. */
int cli_signals_open(void);

/* Whether one has come; its number, 0 for none. */
int cli_signals_take(int fd);

#endif
