/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a recording, and which file has which name and descriptor;
 * recording.h. */
#include "recording.h"

#include "support/test.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DESCRIPTORS = 1024,
    FOLDER = 1000 /* as a file's number: the folder itself */
};

const char *const recording_names[RECORDING_NAMES] = {"data.mdb", "journal",
                                                      "journal.new"};

struct recording recording;

bool disk_quick;

static bool is_on;
static char folder_path[PATH_MAX];
static size_t event_room;
static int file_count;
static int file_named[RECORDING_NAMES]; /* which file has the name; -1: none */
static struct {
    int file; /* -1: not ours */
    bool dsync;
} descriptors[DESCRIPTORS];

int __real_open(const char *path, int flags, ...);

/* A store writes in a thread of its own, while its user marks what was
 * reported. */
static pthread_mutex_t record_lock = PTHREAD_MUTEX_INITIALIZER;

static void
record(struct recording_event event, const void *bytes)
{
    CHECK(pthread_mutex_lock(&record_lock) == 0);
    if (recording.count == event_room) {
        event_room = event_room ? 2 * event_room : 1024;
        recording.events =
            realloc(recording.events, event_room * sizeof(*recording.events));
        CHECK(recording.events);
    }
    if (bytes) {
        event.bytes = malloc(event.size ? event.size : 1);
        CHECK(event.bytes);
        memcpy(event.bytes, bytes, event.size);
    }
    recording.events[recording.count++] = event;
    CHECK(pthread_mutex_unlock(&record_lock) == 0);
}

static int
name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    path = slash ? slash + 1 : path;
    for (int i = 0; i < RECORDING_NAMES; i++) {
        if (strcmp(path, recording_names[i]) == 0)
            return i;
    }
    return -1;
}

static void
set_name(int name, int file)
{
    file_named[name] = file;
    record((struct recording_event){.kind = RECORDED_NAME,
                                    .file = file,
                                    .offset = (uint64_t)name},
           NULL);
}

int
recording_file_named(int name)
{
    return file_named[name];
}

void
recording_note_open(int fd, const char *path, int flags)
{
    const int name = name_of(path);

    if (fd < 0 || fd >= DESCRIPTORS)
        return;
    descriptors[fd].file = -1;
    if (!is_on)
        return;
    if (flags & O_DIRECTORY && strcmp(path, folder_path) == 0)
        descriptors[fd].file = FOLDER;
    if (name < 0)
        return;
    if (file_named[name] < 0) {
        CHECK(file_count < RECORDING_FILES);
        set_name(name, file_count++);
    }
    if (flags & O_TRUNC)
        record((struct recording_event){.kind = RECORDED_RESIZE,
                                        .file = file_named[name]},
               NULL);
    descriptors[fd].file = file_named[name];
    descriptors[fd].dsync = (flags & O_DSYNC) != 0;
}

int
recording_file_of(int fd)
{
    return is_on && fd >= 0 && fd < DESCRIPTORS ? descriptors[fd].file : -1;
}

void
recording_note_write(int fd, const void *bytes, ssize_t size, off_t offset)
{
    const int file = recording_file_of(fd);

    if (file >= 0 && file < RECORDING_FILES && size > 0)
        record((struct recording_event){.kind = RECORDED_WRITE,
                                        .file = file,
                                        .safe = descriptors[fd].dsync,
                                        .offset = (uint64_t)offset,
                                        .size = (uint64_t)size},
               bytes);
}

void
recording_note_resize(int fd, uint64_t size)
{
    const int file = recording_file_of(fd);

    if (file >= 0)
        record((struct recording_event){.kind = RECORDED_RESIZE,
                                        .file = file,
                                        .size = size},
               NULL);
}

bool
recording_note_flush(int fd)
{
    const int file = recording_file_of(fd);

    if (file == FOLDER)
        record((struct recording_event){.kind = RECORDED_FLUSH_NAMES}, NULL);
    else if (file >= 0)
        record((struct recording_event){.kind = RECORDED_FLUSH, .file = file},
               NULL);
    return is_on || disk_quick;
}

void
recording_note_rename(const char *old, const char *new)
{
    if (is_on) {
        const int file = file_named[name_of(old)];

        // One step: the old name is not looked at after this.
        file_named[name_of(old)] = -1;
        set_name(name_of(new), file);
    }
}

void
recording_note_unlink(const char *name)
{
    if (is_on && name_of(name) >= 0)
        set_name(name_of(name), -1);
}

void
disk_committed(uint64_t group)
{
    record(
        (struct recording_event){.kind = RECORDED_COMMITTED, .offset = group},
        NULL);
}

void
disk_answered(uint64_t group)
{
    record((struct recording_event){.kind = RECORDED_ANSWERED, .offset = group},
           NULL);
}

/* What is in the folder is written, flushed and named. */
static void
take_up(const char *folder, int name)
{
    static uint8_t block[1 << 16], zeros[1 << 16];
    char path[PATH_MAX + 16];
    struct stat found;
    uint64_t at = 0;
    ssize_t done;
    int fd;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, recording_names[name]);
    fd = __real_open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    CHECK(fstat(fd, &found) == 0);
    set_name(name, file_count++);
    record((struct recording_event){.kind = RECORDED_RESIZE,
                                    .file = file_named[name],
                                    .size = (uint64_t)found.st_size},
           NULL);
    while ((done = read(fd, block, sizeof(block))) > 0) {
        if (memcmp(block, zeros, (size_t)done) != 0)
            record((struct recording_event){.kind = RECORDED_WRITE,
                                            .file = file_named[name],
                                            .offset = at,
                                            .size = (uint64_t)done},
                   block);
        at += (uint64_t)done;
    }
    CHECK(close(fd) == 0);
    record((struct recording_event){.kind = RECORDED_FLUSH,
                                    .file = file_named[name]},
           NULL);
}

void
disk_start(const char *folder)
{
    for (size_t i = 0; i < recording.count; i++)
        free(recording.events[i].bytes);
    recording.count = 0;
    file_count = 0;
    (void)snprintf(folder_path, sizeof(folder_path), "%s", folder);
    for (int i = 0; i < DESCRIPTORS; i++)
        descriptors[i].file = -1;
    for (int i = 0; i < RECORDING_NAMES; i++)
        file_named[i] = -1;
    for (int i = 0; i < RECORDING_NAMES; i++)
        take_up(folder, i);
    record((struct recording_event){.kind = RECORDED_FLUSH_NAMES}, NULL);
    recording.before = recording.count;
    is_on = true;
}

void
disk_stop(void)
{
    is_on = false;
}
