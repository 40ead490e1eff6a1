/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording: what was written to the files of a store, flushed and named, in
 * the order in which it happened. wraps.c adds to it, disk.c builds from it
 * what a power cut may leave.
 *
 * A file has a number from when it is first seen, under whatever name; a name
 * is an index of recording_names.
 *
 * Threads    as disk.h.
 */
#ifndef LBX_TEST_CRASH_RECORDING_H
#define LBX_TEST_CRASH_RECORDING_H

#include "disk.h"

#include <sys/types.h>

enum {
    RECORDING_FILES = 16, /* that ever were */
    RECORDING_NAMES = 3,
};

extern const char *const recording_names[RECORDING_NAMES];

enum recording_kind {
    RECORDED_WRITE,
    RECORDED_RESIZE,
    RECORDED_FLUSH,
    RECORDED_NAME, /* name `offset` is file `file` now; -1: nothing */
    RECORDED_FLUSH_NAMES,
    RECORDED_COMMITTED,
    RECORDED_ANSWERED,
};

struct recording_event {
    enum recording_kind kind;
    int file;
    bool safe; /* a write through O_DSYNC */
    uint64_t offset;
    uint64_t size;
    uint8_t *bytes;
};

/* All events; `before`: how many of them are of what was in the folder when it
 * began. */
struct recording {
    struct recording_event *events;
    size_t count, before;
};

extern struct recording recording;

/* Which file has a name now; -1: none. */
int recording_file_named(int name);

/* The file, or the folder, of a descriptor; -1: it is not recorded. */
int recording_file_of(int fd);

/* System calls that have succeeded. */
void recording_note_open(int fd, const char *path, int flags);
void recording_note_write(int fd, const void *bytes, ssize_t size,
                          off_t offset);
void recording_note_resize(int fd, uint64_t size);
void recording_note_rename(const char *old, const char *new);
void recording_note_unlink(const char *name);

/* True when the flush need not really be done. */
bool recording_note_flush(int fd);

#endif
