/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings: configuration files, loaded once, then read only.
 *
 * A file is text in a subset of HOCON, which is JSON with less ceremony:
 *
 *     bounded-mailbox {
 *       mailbox-type = "akka.dispatch.BoundedMailbox"
 *       mailbox-capacity = 1000
 *       mailbox-push-timeout-time = 10s     # typed when it is read
 *     }
 *     letterbox.actor.deployment {
 *       /printer { mailbox = bounded-mailbox }
 *     }
 *
 * docs/settings.md is the whole of it on one page, with every difference to
 * HOCON. Loading gives a tree; everything else reads one value of it, usually a
 * section, at a path below that value.
 *
 * Example:
 *
 *     static lbx_status
 *     read_capacity(const char *file, lbx_fault *fault, int64_t *ret)
 *     {
 *         lbx_settings_options options = LBX_SETTINGS_OPTIONS_INIT;
 *         lbx_settings *settings;
 *         lbx_status status;
 *
 *         options.fault = fault;
 *         status = lbx_settings_load_file(file, &options, &settings);
 *         if (status != LBX_OK)
 *             return status; // fault->text: "my.conf:3: expected ..."
 *         status = lbx_settings_read_integer_or(
 *             settings, "bounded-mailbox.mailbox-capacity", 1000, ret, fault);
 *         lbx_settings_unref(settings);
 *         return status;
 *     }
 *
 * Paths    are keys with dots between them, "a.b.c". A key that has a dot, a
 *          quote or nothing in it is put in quotes: a."b.c".d. NULL and "" are
 *          the value itself.
 * Roots    the library's own keys live under "letterbox". At the top of a
 *          document "akka" and "pekko" are other names for it, in files,
 *          substitutions and paths alike; what they hold is merged in the
 *          order in which it appears.
 * Missing  a key that is not there and one that is null are the same to every
 *          read.
 * Faults   say where and what is allowed: "my.conf:4: mailbox-capacity: 0 is
 *          too small; at least 1 is allowed".
 * Owners   what is const is borrowed: it lives as long as its tree. A plain
 *          lbx_settings * is a reference that you release with
 *          lbx_settings_unref(); it keeps the whole tree, whichever value of it
 *          you hold.
 *
 * Threads    a tree does not change once it is loaded: any thread may read any
 *            value of it at the same time. Loading belongs to one thread; two
 *            loads do not disturb each other.
 *
 * Caveats
 * - A load reads the environment with getenv() unless stated otherwise: no
 *   other thread may change the environment meanwhile.
 * - A text cannot hold U+0000.
 * - A semicolon separates fields, as a comma does. That is not HOCON: quote a
 *   value that has one.
 */
#ifndef LETTERBOX_SETTINGS_H
#define LETTERBOX_SETTINGS_H

#include <letterbox/base.h>

LBX_BEGIN

/* One value of a tree: a section, a list, or a plain value. */
typedef struct lbx_settings lbx_settings;

/* What stands in the file. What a text means, a duration for example, is
 * decided by the read. */
typedef enum lbx_settings_kind {
    LBX_SETTINGS_KIND_NULL,
    LBX_SETTINGS_KIND_BOOLEAN,
    LBX_SETTINGS_KIND_NUMBER,
    LBX_SETTINGS_KIND_STRING,
    LBX_SETTINGS_KIND_LIST,
    LBX_SETTINGS_KIND_SECTION,
} lbx_settings_kind;

/* ---- Loading ---- */

/* Where text comes from: a file, or memory. Start from zeros. */
typedef struct lbx_settings_source {
    const char *file;    /* a path to read; NULL: `text` is the text */
    const char *text;    /* UTF-8, need not end in a NUL */
    size_t length_bytes; /* of `text` */
    const char *origin;  /* what faults call the text; NULL: "text" */
} lbx_settings_source;

typedef struct lbx_settings_options {
    size_t size_bytes; /* LBX_SETTINGS_OPTIONS_INIT sets it */
    const lbx_allocator *allocator;
    lbx_fault *fault; /* filled in when a load fails; NULL: not wanted */

    /* What stands below all sources, typically a library's defaults. Only read
     * during the load; substitutions see it. */
    const lbx_settings *fallback;

    /* The same key twice in one pair of braces is an error unless this is set;
     * then the later one wins, which is HOCON's rule. */
    bool allow_duplicates;

    /* ${NAME} that is no key is looked up in the environment, unless
     * `no_environment` is set. `environment` stands in for getenv(); it returns
     * NULL for what it does not know. What it returns must stay until the next
     * call. */
    bool no_environment;
    const char *(*environment)(const char *name, void *context);

    /* include "name" is a file beside the including one; in a source from
     * memory, below `include_folder`. `include` stands in for the file system:
     * it returns LBX_OK and a source, which must stay until the load returns,
     * or LBX_NOT_FOUND. `origin` is the includer. Its sources are distinguished
     * by their origin. */
    const char *include_folder;
    lbx_status (*include)(const char *name, const char *origin, void *context,
                          lbx_settings_source *ret);

    void *context; /* given to the two above */

    /* Limits; reaching one is a fault. Expanded substitutions count. */
    uint32_t max_depth;      /* of nesting and of substitutions; 1 to 500 */
    size_t max_values;       /* values of the tree */
    size_t max_file_bytes;   /* length of one source */
    size_t max_memory_bytes; /* what a load may take besides one source */
} lbx_settings_options;

#define LBX_SETTINGS_OPTIONS_INIT                                              \
    {                                                                          \
        .size_bytes = sizeof(lbx_settings_options), .max_depth = 100,          \
        .max_values = 1000000, .max_file_bytes = (size_t)16 << 20,             \
        .max_memory_bytes = (size_t)256 << 20                                  \
    }

/*
 * lbx_settings_load() reads `count` sources and merges them: sections key by
 * key, for anything else the later source wins. Substitutions are replaced
 * when all are read, so that a file can use what a later one sets. No sources
 * give an empty tree (or the fallback). `options` may be NULL.
 *
 * Returns    LBX_OK; LBX_INVALID for text that cannot be understood, a missing
 *            substitution, a cycle, a file that cannot be read, a limit;
 *            LBX_NOT_FOUND for a file, or a required include, that is not
 *            there; LBX_NO_MEMORY. The fault explains it.
 * Ownership  the tree is the caller's; release it with lbx_settings_unref().
 * Threads    any.
 * Blocks     while files are read.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_settings_load(const lbx_settings_source *sources, size_t count,
                  const lbx_settings_options *options, lbx_settings **ret);

/*
 * lbx_settings_load_file() loads one file.
 *
 * Returns    as lbx_settings_load().
 * Ownership  the tree is the caller's; release it with lbx_settings_unref().
 * Threads    any.
 * Blocks     while files are read.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_settings_load_file(
    const char *file, const lbx_settings_options *options, lbx_settings **ret);

/*
 * lbx_settings_load_text() loads one text, which ends with a NUL.
 *
 * Returns    as lbx_settings_load().
 * Ownership  the tree is the caller's; release it with lbx_settings_unref().
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_settings_load_text(
    const char *text, const lbx_settings_options *options, lbx_settings **ret);

/*
 * lbx_settings_with_fallback() makes a new tree from section `settings`, with
 * what it lacks taken from section `fallback`, key by key. Values keep their
 * origin, and the new root keeps the path of `settings` for faults and for
 * lbx_settings_path(). Memory comes from where that of `settings` did.
 *
 * Returns    LBX_OK; LBX_INVALID when one of them is no section;
 *            LBX_NO_MEMORY.
 * Ownership  the new tree is the caller's; the two others are not kept.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_settings_with_fallback(const lbx_settings *settings,
                           const lbx_settings *fallback, lbx_settings **ret);

/*
 * lbx_settings_merge() is lbx_settings_with_fallback() with an allocator for
 * the new tree; NULL is the C library's.
 *
 * Returns    LBX_OK; LBX_INVALID when one of them is no section, or the
 *            allocator lacks a function; LBX_NO_MEMORY.
 * Ownership  the new tree is the caller's; the two others are not kept. The
 *            allocator must outlive the tree.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_settings_merge(const lbx_settings *settings, const lbx_settings *fallback,
                   const lbx_allocator *allocator, lbx_settings **ret);

/*
 * lbx_settings_with_string() makes a new tree from section `settings` in which
 * the string `text` stands at `path`, whatever stood there before.
 *
 * Returns    LBX_OK; LBX_INVALID when it is no section, for an empty or
 *            malformed path, for text that is not UTF-8; LBX_NO_MEMORY.
 * Ownership  the new tree is the caller's; `settings` and `text` are not kept.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_settings_with_string(const lbx_settings *settings, const char *path,
                         const char *text, lbx_settings **ret);

/*
 * lbx_settings_ref() takes a reference on the tree that `settings` is in, and
 * returns the same value. Takes NULL.
 *
 * Ownership  the reference is the caller's; release it with
 *            lbx_settings_unref().
 * Threads    any. Wait-free.
 * Since      0.1
 */
LBX_API lbx_settings *lbx_settings_ref(const lbx_settings *settings);

/*
 * lbx_settings_unref() releases a reference; the last one frees the tree. Takes
 * NULL.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API void lbx_settings_unref(lbx_settings *settings);

/* ---- Looking ---- */

/*
 * lbx_settings_at() is the value at `path` below `settings`, null or not; NULL
 * when there is none.
 *
 * Ownership  borrowed from the tree.
 * Threads    any.
 * Since      0.1
 */
LBX_API const lbx_settings *lbx_settings_at(const lbx_settings *settings,
                                            const char *path);

/*
 * lbx_settings_has() returns whether there is a value at `path` that is not
 * null.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API bool lbx_settings_has(const lbx_settings *settings, const char *path);

/*
 * lbx_settings_kind_of() is what the value is; NULL is a null.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_settings_kind lbx_settings_kind_of(const lbx_settings *settings);

/*
 * lbx_settings_count() is how many children a section or list has; 0 for
 * others.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API size_t lbx_settings_count(const lbx_settings *settings);

/*
 * lbx_settings_child() is child number `index` of a section or list, in order
 * of appearance; NULL past the end.
 *
 * Ownership  borrowed from the tree.
 * Threads    any.
 * Since      0.1
 */
LBX_API const lbx_settings *lbx_settings_child(const lbx_settings *settings,
                                               size_t index);

/*
 * lbx_settings_key() is the key under which the value stands in its section,
 * without quotes; "" for roots and members of lists.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API const char *lbx_settings_key(const lbx_settings *settings);

/*
 * lbx_settings_text() is a plain value as it was written, quotes and escapes
 * undone; "" for sections, lists and nulls.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API const char *lbx_settings_text(const lbx_settings *settings);

/*
 * lbx_settings_file() is the file, or other origin, in which the value stands.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API const char *lbx_settings_file(const lbx_settings *settings);

/*
 * lbx_settings_line() is the line of that file, from 1; 0 when it was not read
 * from a file or text.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API uint32_t lbx_settings_line(const lbx_settings *settings);

/*
 * lbx_settings_path() writes the value's whole path, keys quoted where they
 * must be, and returns its length. As with snprintf(), at most `size_bytes` are
 * written, NUL included; a longer path is cut off.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API size_t lbx_settings_path(const lbx_settings *settings, char *buffer,
                                 size_t size_bytes);

/* ---- Reading ----
 *
 * Each read finds a value by path and converts it. The plain form needs the
 * value; the _or form takes another when it is missing. Both refuse a value of
 * the wrong type with LBX_INVALID. `fault` may be NULL.
 */

/*
 * lbx_settings_read_string() reads text: strings, numbers and booleans alike.
 *
 * Returns    LBX_OK; LBX_NOT_FOUND; LBX_INVALID for a section or list.
 * Ownership  the text is borrowed from the tree.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_settings_read_string(const lbx_settings *settings, const char *path,
                         const char **ret, lbx_fault *fault);

/*
 * lbx_settings_read_string_or() is the same, with `otherwise` for what is not
 * there.
 *
 * Returns    LBX_OK; LBX_INVALID for a section or list.
 * Ownership  the text is borrowed from the tree, or `otherwise` itself.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_settings_read_string_or(
    const lbx_settings *settings, const char *path, const char *otherwise,
    const char **ret, lbx_fault *fault);

/*
 * lbx_settings_read_integer() reads a whole number: 1000, "1000", 1e3.
 *
 * Returns    LBX_OK; LBX_NOT_FOUND; LBX_INVALID for anything else, and for
 *            what does not fit.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_settings_read_integer(const lbx_settings *settings, const char *path,
                          int64_t *ret, lbx_fault *fault);

/*
 * lbx_settings_read_integer_or() is the same, with `otherwise` for what is not
 * there.
 *
 * Returns    LBX_OK; LBX_INVALID as above.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_settings_read_integer_or(const lbx_settings *settings, const char *path,
                             int64_t otherwise, int64_t *ret, lbx_fault *fault);

/*
 * lbx_settings_read_number() reads a number with or without a fraction, in any
 * locale.
 *
 * Returns    LBX_OK; LBX_NOT_FOUND; LBX_INVALID for anything else, and for
 *            what a double cannot hold.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_settings_read_number(const lbx_settings *settings, const char *path,
                         double *ret, lbx_fault *fault);

/*
 * lbx_settings_read_number_or() is the same, with `otherwise` for what is not
 * there.
 *
 * Returns    LBX_OK; LBX_INVALID as above.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_settings_read_number_or(const lbx_settings *settings, const char *path,
                            double otherwise, double *ret, lbx_fault *fault);

/*
 * lbx_settings_read_boolean() reads true, yes, on; false, no, off.
 *
 * Returns    LBX_OK; LBX_NOT_FOUND; LBX_INVALID for anything else.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_settings_read_boolean(const lbx_settings *settings, const char *path,
                          bool *ret, lbx_fault *fault);

/*
 * lbx_settings_read_boolean_or() is the same, with `otherwise` for what is not
 * there.
 *
 * Returns    LBX_OK; LBX_INVALID as above.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_settings_read_boolean_or(const lbx_settings *settings, const char *path,
                             bool otherwise, bool *ret, lbx_fault *fault);

/*
 * lbx_settings_read_duration() reads a duration in nanoseconds: 10s, "1.5 h",
 * 200 millis. Units are ns, us, ms, s, m, h, d and their long names (nanos,
 * microseconds, second ...); a number without one is in milliseconds. Any
 * negative duration, and the words infinite and inf, are -1: forever. "off" is
 * refused: some settings mean 0 by it, others forever.
 *
 * Returns    LBX_OK; LBX_NOT_FOUND; LBX_INVALID for anything else, and for
 *            more than 292 years.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_settings_read_duration(const lbx_settings *settings, const char *path,
                           int64_t *ret_ns, lbx_fault *fault);

/*
 * lbx_settings_read_duration_or() is the same, with `otherwise_ns` for what is
 * not there.
 *
 * Returns    LBX_OK; LBX_INVALID as above.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_settings_read_duration_or(
    const lbx_settings *settings, const char *path, int64_t otherwise_ns,
    int64_t *ret_ns, lbx_fault *fault);

/*
 * lbx_settings_read_size() reads a size in bytes: 512, 64KiB, "1.5 MB". kB (and
 * KB), MB, GB, TB, PB, EB are powers of 1000; K, KiB, M, MiB ... powers of
 * 1024; long names (kilobytes, mebibyte) too. A fraction of a byte is cut off.
 *
 * Returns    LBX_OK; LBX_NOT_FOUND; LBX_INVALID for anything else, for less
 *            than 0 and for what does not fit.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_settings_read_size(const lbx_settings *settings, const char *path,
                       int64_t *ret_bytes, lbx_fault *fault);

/*
 * lbx_settings_read_size_or() is the same, with `otherwise_bytes` for what is
 * not there.
 *
 * Returns    LBX_OK; LBX_INVALID as above.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_settings_read_size_or(
    const lbx_settings *settings, const char *path, int64_t otherwise_bytes,
    int64_t *ret_bytes, lbx_fault *fault);

/*
 * lbx_settings_read_strings() finds a list of plain values; go through it with
 * lbx_settings_count(), lbx_settings_child() and lbx_settings_text().
 *
 * Returns    LBX_OK; LBX_NOT_FOUND; LBX_INVALID when it is no list, or has a
 *            section, a list or a null in it.
 * Ownership  the list is borrowed from the tree.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_settings_read_strings(const lbx_settings *settings, const char *path,
                          const lbx_settings **ret, lbx_fault *fault);

/*
 * lbx_settings_read_section() finds a section. To keep it beyond the life of
 * what it was found in, take a reference.
 *
 * Returns    LBX_OK; LBX_NOT_FOUND; LBX_INVALID when it is no section.
 * Ownership  the section is borrowed from the tree.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_settings_read_section(const lbx_settings *settings, const char *path,
                          const lbx_settings **ret, lbx_fault *fault);

/* ---- Checking ---- */

typedef enum lbx_settings_type {
    LBX_SETTINGS_TYPE_ANY,
    LBX_SETTINGS_TYPE_STRING,
    LBX_SETTINGS_TYPE_INTEGER,
    LBX_SETTINGS_TYPE_NUMBER,
    LBX_SETTINGS_TYPE_BOOLEAN,
    LBX_SETTINGS_TYPE_DURATION,
    LBX_SETTINGS_TYPE_SIZE,
    LBX_SETTINGS_TYPE_STRINGS,
    LBX_SETTINGS_TYPE_SECTION,
} lbx_settings_type;

/* One key that a section may have. Start from zeros. */
typedef struct lbx_settings_rule {
    const char *key; /* one key, not a path; "*" stands for all others */
    lbx_settings_type type;
    bool required;

    /* The least and the greatest value of an integer, of a duration in
     * nanoseconds, of a size in bytes; both 0 for no limits. For ever is a
     * duration only where there are no limits or `max` is LBX_FOREVER. */
    int64_t min;
    int64_t max;

    /* The words that a string may be; ends with a NULL. NULL: any. */
    const char *const *words;
} lbx_settings_rule;

/*
 * lbx_settings_check() compares a section with the keys that its user knows: a
 * key that has no rule, a value that its rule does not allow and a required key
 * that is missing are faults. Sections inside it are not looked into: each is
 * checked where it is used. After LBX_OK, reads of these keys cannot fail.
 *
 *     static const lbx_settings_rule rules[] = {
 *         {.key = "mailbox-type", .type = LBX_SETTINGS_TYPE_STRING},
 *         {.key = "mailbox-capacity", .type = LBX_SETTINGS_TYPE_INTEGER,
 *          .min = 1, .max = INT64_MAX},
 *     };
 *
 * Returns    LBX_OK; LBX_INVALID; LBX_NOT_FOUND for a missing required key.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_settings_check(const lbx_settings *section, const lbx_settings_rule *rules,
                   size_t count, lbx_fault *fault);

/*
 * lbx_settings_write_fault() writes a fault about a value, "my.conf:4: path: "
 * and then `what`, for checks that go beyond the rules.
 *
 * Returns    LBX_INVALID, always, to be returned in turn.
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_status lbx_settings_write_fault(const lbx_settings *settings,
                                            const char *what, lbx_fault *fault);

/* ---- Printing ---- */

typedef enum lbx_settings_format {
    LBX_SETTINGS_FORMAT_JSON,    /* on one line */
    LBX_SETTINGS_FORMAT_LINES,   /* "path = value" for each plain value */
    LBX_SETTINGS_FORMAT_EXPLAIN, /* the same, and " # file:line" */
} lbx_settings_format;

/*
 * lbx_settings_render() prints a value and all below it, and returns the length
 * of the text. As with snprintf(), at most `size_bytes` are written, NUL
 * included; a longer text is cut off. All formats can be loaded again, lines
 * only if they are of a section. Paths in lines begin below `settings`.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API size_t lbx_settings_render(const lbx_settings *settings,
                                   lbx_settings_format format, char *buffer,
                                   size_t size_bytes);

LBX_END

#endif
