/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files, and which file an include means.
 *
 * A file's text is kept only while it is parsed. Which files are open is a
 * chain on the stack, so that a file that includes itself is found out by what
 * it is, not by what it is called.
 */
#include "settings/source.h"

#include "base/alloc.h"
#include "settings/parser.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The bytes of a file. */
struct contents {
    char *bytes;
    size_t size_bytes; /* of the memory */
    size_t length_bytes;
};

static const char *
reason(int error)
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
unreadable(lbx__loader *load, lbx__fault_line origin, const char *file,
           int error)
{
    return lbx__loader_fail(load, LBX_INVALID, origin,
                            "%.100s cannot be read: %s (%d)", file,
                            reason(error), error);
}

/* Twice the room, or a first piece of it. */
static bool
more_room(lbx__loader *load, struct contents *contents)
{
    const lbx_allocator *allocator = load->options.allocator;
    const size_t size_bytes =
        contents->size_bytes ? 2 * contents->size_bytes : (size_t)4096;
    char *bytes = lbx__alloc(allocator, size_bytes, 1);

    if (!bytes) {
        load->arena.full = false;
        return lbx__loader_no_memory(load);
    }
    if (contents->length_bytes > 0)
        memcpy(bytes, contents->bytes, contents->length_bytes);
    lbx__free(allocator, contents->bytes, contents->size_bytes);
    contents->bytes = bytes;
    contents->size_bytes = size_bytes;
    return true;
}

static bool
read_all(lbx__loader *load, int descriptor, lbx__fault_line origin,
         const char *file, struct contents *contents)
{
    for (;;) {
        ssize_t got;

        if (contents->length_bytes == contents->size_bytes &&
            !more_room(load, contents))
            return false;
        got = read(descriptor, contents->bytes + contents->length_bytes,
                   contents->size_bytes - contents->length_bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return unreadable(load, origin, file, errno);
        if (got == 0)
            return true;
        contents->length_bytes += (size_t)got;
        if (contents->length_bytes > load->options.file_max_bytes)
            return lbx__loader_fail(load, LBX_INVALID, origin,
                                    "%.100s is longer than %zu bytes", file,
                                    load->options.file_max_bytes);
    }
}

/* Whether the text is being read already, further out. */
static bool
is_open(const lbx__loader *load, const lbx__loader_reading *reading)
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
open_count(const lbx__loader *load)
{
    uint32_t count = 0;

    for (const lbx__loader_reading *outer = load->reading; outer;
         outer = outer->outer)
        count++;
    return count;
}

/* Parses a text that is open as `reading`; `origin` is who wants it. */
static bool
parse_open(lbx__loader *load, lbx__loader_reading *reading,
           lbx__fault_line origin, const struct contents *contents,
           lbx__expr *section)
{
    bool done;

    if (contents->length_bytes > load->options.file_max_bytes)
        return lbx__loader_fail(load, LBX_INVALID, origin,
                                "%.100s is longer than %zu bytes",
                                reading->name, load->options.file_max_bytes);
    if (is_open(load, reading))
        return lbx__loader_fail(load, LBX_INVALID, origin,
                                "%.100s includes itself", reading->name);
    if (!lbx__loader_check_depth(load, origin, open_count(load) + 1))
        return false;
    reading->outer = load->reading;
    load->reading = reading;
    done = lbx__parser_parse(load, reading->name, contents->bytes,
                             contents->length_bytes, section);
    load->reading = reading->outer;
    return done;
}

/* Reads and parses an open descriptor, and closes it. */
static bool
read_descriptor(lbx__loader *load, int descriptor, const char *file,
                lbx__fault_line origin, lbx__expr *section)
{
    lbx__loader_reading reading = {.file = file};
    struct contents contents = {0};
    struct stat about;
    bool done = false;

    reading.name = lbx__loader_copy(load, file, strlen(file));
    if (reading.name && fstat(descriptor, &about) != 0)
        (void)unreadable(load, origin, file, errno);
    else if (reading.name)
        done = read_all(load, descriptor, origin, file, &contents);
    (void)close(descriptor);
    if (done) {
        reading.device = (uint64_t)about.st_dev;
        reading.inode = (uint64_t)about.st_ino;
        done = parse_open(load, &reading, origin, &contents, section);
    }
    lbx__free(load->options.allocator, contents.bytes, contents.size_bytes);
    return done;
}

/* Parses a file; *ret_found is false when there is none, which is no fault. */
static bool
read_file(lbx__loader *load, const char *file, lbx__fault_line origin,
          lbx__expr *section, bool *ret_found)
{
    const int descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    *ret_found = descriptor >= 0 || errno != ENOENT;
    if (descriptor >= 0)
        return read_descriptor(load, descriptor, file, origin, section);
    return *ret_found ? unreadable(load, origin, file, errno) : true;
}

static bool
read_memory(lbx__loader *load, const lbx_settings_source *source,
            lbx__fault_line origin, lbx__expr *section)
{
    // The text is only read; the pointer is plain because a file's is.
    const struct contents contents = {
        .bytes = (char *)(uintptr_t)source->text,
        .length_bytes = source->length_bytes,
    };
    const char *name = source->origin ? source->origin : "text";
    lbx__loader_reading reading = {.file = NULL};

    reading.name = lbx__loader_copy(load, name, strlen(name));
    return reading.name &&
           parse_open(load, &reading, origin, &contents, section);
}

bool
lbx__source_read(lbx__loader *load, const lbx_settings_source *source,
                 lbx__expr *section)
{
    const lbx__fault_line nowhere = {NULL, 0};
    bool found;

    if (!source->file)
        return read_memory(load, source, nowhere, section);
    if (!read_file(load, source->file, nowhere, section, &found))
        return false;
    return found || lbx__loader_fail(load, LBX_NOT_FOUND, nowhere,
                                     "%.160s: no such file", source->file);
}

/* ---- Includes ---- */

/* The folder to which a name is relative, and the length of its text; NULL
 * when there is none. */
static const char *
include_folder(const lbx__loader *load, size_t *ret_length)
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

/* folder/name and `extra`. */
static char *
path_of(lbx__loader *load, const lbx__source_include_name *include,
        const char *extra)
{
    size_t length = 0;
    const char *folder = include_folder(load, &length);
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
include_file(lbx__loader *load, const lbx__source_include_name *include,
             lbx__expr *section, bool *ret_found)
{
    static const char *const extras[] = {"", ".conf", ".json"};

    *ret_found = false;
    for (size_t i = 0; i < 3 && !*ret_found; i++) {
        const char *path = path_of(load, include, extras[i]);

        if (!path ||
            !read_file(load, path, include->origin, section, ret_found))
            return false;
    }
    return true;
}

static bool
include_by_callback(lbx__loader *load, const lbx__source_include_name *include,
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
        return read_file(load, source.file, include->origin, section,
                         ret_found);
    if (!source.text && source.length_bytes > 0)
        return lbx__loader_fail(load, LBX_INVALID, include->origin,
                                "include \"%.60s\": the callback gave no text",
                                include->name);
    return read_memory(load, &source, include->origin, section);
}

bool
lbx__source_include(lbx__loader *load, const lbx__source_include_name *include,
                    lbx__expr *section)
{
    bool found;

    assert(load->reading); // an include stands in a text
    if (include->name[0] == '\0')
        return lbx__loader_fail(load, LBX_INVALID, include->origin,
                                "include \"\": a name is missing");
    if (load->options.include
            ? !include_by_callback(load, include, section, &found)
            : !include_file(load, include, section, &found))
        return false;
    if (!found && include->required)
        return lbx__loader_fail(load, LBX_NOT_FOUND, include->origin,
                                "include \"%.80s\": no such file, and it is "
                                "required",
                                include->name);
    return true;
}
