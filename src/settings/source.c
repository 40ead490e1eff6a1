/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files, and which file an include means.
 *
 * A file's text is kept while it is parsed, not longer. The files that are open
 * are a chain on the stack, compared by device and inode, so a file that
 * includes itself is detected whatever it is called.
 */
#include "settings/source.h"

#include "base/array.h"
#include "settings/parser.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The bytes of a text; of a file, in memory of the load's allocator. */
typedef lbx__array(char) source_bytes;

static const char *
source_error_text(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return "permission denied";
    case EISDIR:
        return "it is a folder";
    case ENOTDIR:
        return "a part of its path is no folder";
    case ELOOP:
        return "too many symbolic links";
    case EMFILE:
    case ENFILE:
        return "too many open files";
    default:
        return "the system reports an error";
    }
}

static bool
source_unreadable(lbx__loader *load, lbx__fault_line origin, const char *file,
                  int error)
{
    return lbx__loader_fail(load, LBX_INVALID, origin,
                            "%.100s cannot be read: %s (%d)", file,
                            source_error_text(error), error);
}

static bool
source_read_all(lbx__loader *load, int descriptor, lbx__fault_line origin,
                const char *file, source_bytes *text)
{
    for (;;) {
        const size_t more = text->count > 0 ? text->count : 4096;
        ssize_t got;

        if (text->count == text->capacity &&
            !lbx__array_reserve(text, load->options.allocator, more)) {
            load->arena.full = false;
            return lbx__loader_no_memory(load);
        }
        got = read(descriptor, text->items + text->count,
                   text->capacity - text->count);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return source_unreadable(load, origin, file, errno);
        if (got == 0)
            return true;
        text->count += (size_t)got;
        if (text->count > load->options.max_file_bytes)
            return lbx__loader_fail(load, LBX_INVALID, origin,
                                    "%.100s is longer than %zu bytes", file,
                                    load->options.max_file_bytes);
    }
}

/* Whether the text is being parsed already, by an outer include. */
static bool
source_is_open(const lbx__loader *load, const lbx__loader_reading *reading)
{
    for (const lbx__loader_reading *outer = load->reading; outer;
         outer = outer->outer) {
        if (reading->file
                ? outer->file && outer->device == reading->device &&
                      outer->inode == reading->inode
                : !outer->file && strcmp(outer->name, reading->name) == 0)
            return true;
    }
    return false;
}

static uint32_t
source_open_count(const lbx__loader *load)
{
    uint32_t count = 0;

    for (const lbx__loader_reading *outer = load->reading; outer;
         outer = outer->outer)
        count++;
    return count;
}

/* Parses the text `reading`; `origin` is the include, for faults. */
static bool
source_parse(lbx__loader *load, lbx__loader_reading *reading,
             lbx__fault_line origin, const source_bytes *text,
             lbx__expr *section)
{
    bool done;

    if (text->count > load->options.max_file_bytes)
        return lbx__loader_fail(load, LBX_INVALID, origin,
                                "%.100s is longer than %zu bytes",
                                reading->name, load->options.max_file_bytes);
    if (source_is_open(load, reading))
        return lbx__loader_fail(load, LBX_INVALID, origin,
                                "%.100s includes itself", reading->name);
    if (!lbx__loader_check_depth(load, origin, source_open_count(load) + 1))
        return false;
    reading->outer = load->reading;
    load->reading = reading;
    done = lbx__parser_parse(load, reading->name, text->items, text->count,
                             section);
    load->reading = reading->outer;
    return done;
}

/* Reads and parses an open descriptor, and closes it. */
static bool
source_read_descriptor(lbx__loader *load, int descriptor, const char *file,
                       lbx__fault_line origin, lbx__expr *section)
{
    lbx__loader_reading reading = {.file = file};
    source_bytes text = {0};
    struct stat about;
    bool done = false;

    reading.name = lbx__loader_copy(load, file, strlen(file));
    if (reading.name && fstat(descriptor, &about) != 0)
        (void)source_unreadable(load, origin, file, errno);
    else if (reading.name)
        done = source_read_all(load, descriptor, origin, file, &text);
    (void)close(descriptor);
    if (done) {
        reading.device = (uint64_t)about.st_dev;
        reading.inode = (uint64_t)about.st_ino;
        done = source_parse(load, &reading, origin, &text, section);
    }
    lbx__array_fini(&text, load->options.allocator);
    return done;
}

/* Parses a file; *ret_found is false when it does not exist, which is no
 * fault. */
static bool
source_read_file(lbx__loader *load, const char *file, lbx__fault_line origin,
                 lbx__expr *section, bool *ret_found)
{
    const int descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    *ret_found = descriptor >= 0 || errno != ENOENT;
    if (descriptor >= 0)
        return source_read_descriptor(load, descriptor, file, origin, section);
    return *ret_found ? source_unreadable(load, origin, file, errno) : true;
}

static bool
source_read_memory(lbx__loader *load, const lbx_settings_source *source,
                   lbx__fault_line origin, lbx__expr *section)
{
    // The text is not written; the pointer is not const because a file's is
    // not.
    const source_bytes text = {
        .items = (char *)(uintptr_t)source->text,
        .count = source->length_bytes,
    };
    const char *name = source->origin ? source->origin : "text";
    lbx__loader_reading reading = {.file = NULL};

    reading.name = lbx__loader_copy(load, name, strlen(name));
    return reading.name && source_parse(load, &reading, origin, &text, section);
}

bool
lbx__source_read(lbx__loader *load, const lbx_settings_source *source,
                 lbx__expr *section)
{
    const lbx__fault_line nowhere = {NULL, 0};
    bool found;

    if (!source->file)
        return source_read_memory(load, source, nowhere, section);
    if (!source_read_file(load, source->file, nowhere, section, &found))
        return false;
    return found || lbx__loader_fail(load, LBX_NOT_FOUND, nowhere,
                                     "%.160s: no such file", source->file);
}

/* ---- Includes ---- */

/* The folder that names are relative to, and its length; NULL: there is
 * none. */
static const char *
source_include_folder(const lbx__loader *load, size_t *ret_length)
{
    const char *file = load->reading->file;
    const char *slash;

    if (file) {
        slash = strrchr(file, '/');
        *ret_length = slash ? (size_t)(slash - file) + 1 : 0;
        return file;
    }
    file = load->options.include_folder;
    *ret_length = file ? strlen(file) : 0;
    return file;
}

/* folder/name followed by `extra`. */
static char *
source_include_path(lbx__loader *load, const lbx__source_include_name *include,
                    const char *extra)
{
    size_t length = 0;
    const char *folder = source_include_folder(load, &length);
    char *path, *at;

    if (include->name[0] == '/')
        length = 0;
    else if (!folder) {
        (void)lbx__loader_fail(
            load, LBX_INVALID, include->origin,
            "include \"%.60s\": this text is no file, and no "
            "include_folder was given",
            include->name);
        return NULL;
    }
    path = lbx__loader_take(load,
                            length + strlen(include->name) + strlen(extra) + 2);
    if (!path)
        return NULL;
    at = path;
    if (length > 0) {
        memcpy(at, folder, length);
        at += length;
        if (at[-1] != '/')
            *at++ = '/';
    }
    at = stpcpy(at, include->name);
    (void)stpcpy(at, extra);
    return path;
}

static bool
source_include_file(lbx__loader *load, const lbx__source_include_name *include,
                    lbx__expr *section, bool *ret_found)
{
    static const char *const extras[] = {"", ".conf", ".json"};

    *ret_found = false;
    for (size_t i = 0; i < 3 && !*ret_found; i++) {
        const char *path = source_include_path(load, include, extras[i]);

        if (!path ||
            !source_read_file(load, path, include->origin, section, ret_found))
            return false;
    }
    return true;
}

static bool
source_include_by_callback(lbx__loader *load,
                           const lbx__source_include_name *include,
                           lbx__expr *section, bool *ret_found)
{
    lbx_settings_source source = {.origin = include->name};
    const lbx_status status = load->options.include(
        include->name, load->reading->name, load->options.context, &source);

    *ret_found = status == LBX_OK;
    if (status == LBX_NOT_FOUND)
        return true;
    if (status != LBX_OK)
        return lbx__loader_fail(load, status, include->origin,
                                "include \"%.60s\": %s", include->name,
                                lbx_status_text(status));
    if (source.file)
        return source_read_file(load, source.file, include->origin, section,
                                ret_found);
    if (!source.text && source.length_bytes > 0)
        return lbx__loader_fail(load, LBX_INVALID, include->origin,
                                "include \"%.60s\": the callback gave no text",
                                include->name);
    return source_read_memory(load, &source, include->origin, section);
}

bool
lbx__source_include(lbx__loader *load, const lbx__source_include_name *include,
                    lbx__expr *section)
{
    bool found;

    assert(load->reading); // an include is in a text
    if (include->name[0] == '\0')
        return lbx__loader_fail(load, LBX_INVALID, include->origin,
                                "include \"\": a name is missing");
    if (load->options.include
            ? !source_include_by_callback(load, include, section, &found)
            : !source_include_file(load, include, section, &found))
        return false;
    if (!found && include->required)
        return lbx__loader_fail(load, LBX_NOT_FOUND, include->origin,
                                "include \"%.80s\": no such file, and it is "
                                "required",
                                include->name);
    return true;
}
