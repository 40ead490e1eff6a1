/* SPDX-License-Identifier: Apache-2.0 */
/* What a power cut may leave on the disk, built from a recording; disk.h. */
#include "disk.h"

#include "recording.h"

#include "stores/file/rounds.h"
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PENDING = 4096,
    SECTOR = 512,
};

/* The files are built without being recorded. */
int __real_open(const char *path, int flags, ...);
int __real_ftruncate(int fd, off_t size);
ssize_t __real_pwrite(int fd, const void *bytes, size_t size, off_t offset);

struct file {
    uint8_t *bytes; /* what is safe */
    uint64_t room;
    uint64_t size;
    uint64_t high; /* no byte is other than 0 from here on */
};

static struct file files[RECORDING_FILES];
static const struct recording_event *pending[PENDING]; /* not safe */
static size_t pending_count;
static int safe_names[RECORDING_NAMES];
static const struct recording_event *pending_names[PENDING];
static size_t pending_name_count;
static struct disk_lies lying;
static size_t point;
static uint64_t committed, answered;

static void
need_room(struct file *file, uint64_t size)
{
    if (size <= file->room)
        return;
    file->bytes = realloc(file->bytes, size);
    CHECK(file->bytes);
    memset(file->bytes + file->room, 0, size - file->room);
    file->room = size;
}

static void
write_part(struct file *file, uint64_t offset, const uint8_t *bytes,
           uint64_t size)
{
    const uint64_t end = offset + size;

    need_room(file, end);
    memcpy(file->bytes + offset, bytes, size);
    file->size = end > file->size ? end : file->size;
    file->high = end > file->high ? end : file->high;
}

static void
apply(struct file *file, const struct recording_event *event)
{
    if (event->kind == RECORDED_WRITE) {
        write_part(file, event->offset, event->bytes, event->size);
    } else if (event->size == 0) {
        memset(file->bytes ? file->bytes : (uint8_t *)file, 0,
               file->bytes ? file->high : 0);
        file->size = file->high = 0;
    } else if (event->size > file->size) {
        file->size = event->size;
    }
}

static bool
lies_about(int file)
{
    for (int i = 0; i < RECORDING_NAMES; i++) {
        if (safe_names[i] == file || recording_file_named(i) == file)
            return i == 0 ? lying.data : lying.journal;
    }
    return false;
}

static void
flush_file(int file)
{
    size_t kept = 0;

    for (size_t i = 0; i < pending_count; i++) {
        if (pending[i]->file == file)
            apply(&files[file], pending[i]);
        else
            pending[kept++] = pending[i];
    }
    pending_count = kept;
}

static void
advance(const struct recording_event *event, bool lies_count)
{
    switch (event->kind) {
    case RECORDED_WRITE:
    case RECORDED_RESIZE:
        if (event->safe && !(lies_count && lies_about(event->file))) {
            apply(&files[event->file], event);
            break;
        }
        CHECK(pending_count < PENDING);
        pending[pending_count++] = event;
        break;
    case RECORDED_FLUSH:
        if (!(lies_count && lies_about(event->file)))
            flush_file(event->file);
        break;
    case RECORDED_NAME:
        CHECK(pending_name_count < PENDING);
        pending_names[pending_name_count++] = event;
        break;
    case RECORDED_FLUSH_NAMES:
        if (lies_count && lying.names)
            break;
        for (size_t i = 0; i < pending_name_count; i++)
            safe_names[pending_names[i]->offset] = pending_names[i]->file;
        pending_name_count = 0;
        break;
    case RECORDED_COMMITTED:
        committed = event->offset;
        break;
    case RECORDED_ANSWERED:
        answered = event->offset;
        break;
    }
}

void
disk_rewind(const struct disk_lies *lies)
{
    lying = lies ? *lies : (struct disk_lies){false, false, false};
    for (int i = 0; i < RECORDING_FILES; i++) {
        free(files[i].bytes);
        files[i] = (struct file){NULL, 0, 0, 0};
    }
    for (int i = 0; i < RECORDING_NAMES; i++)
        safe_names[i] = -1;
    pending_count = pending_name_count = 0;
    committed = answered = 0;
    for (point = 0; point < recording.before; point++)
        advance(&recording.events[point], false);
}

bool
disk_next(void)
{
    while (point < recording.count) {
        const struct recording_event *event = &recording.events[point++];

        advance(event, true);
        if (event->kind != RECORDED_COMMITTED)
            return true;
    }
    return false;
}

uint64_t
disk_point_committed(void)
{
    return committed;
}

uint64_t
disk_point_answered(void)
{
    return answered;
}

size_t
disk_at_stake(void)
{
    return pending_count + pending_name_count;
}

static void
apply_some(struct file *file, const struct recording_event *event,
           enum disk_fate fate, bool is_last, uint64_t *state)
{
    if (fate == DISK_ALL || (fate == DISK_LAST && is_last) ||
        (fate == DISK_SOME && rounds_draw(state, 2))) {
        apply(file, event);
    } else if (fate == DISK_TORN && event->kind == RECORDED_RESIZE) {
        if (rounds_draw(state, 2))
            apply(file, event);
    } else if (fate == DISK_TORN) {
        for (uint64_t at = 0; at < event->size;) {
            // Sectors end where the disk's do.
            uint64_t size = SECTOR - (event->offset + at) % SECTOR;

            size = size < event->size - at ? size : event->size - at;
            if (rounds_draw(state, 2))
                write_part(file, event->offset + at, event->bytes + at, size);
            at += size;
        }
    }
}

static void
write_file(const char *to, int name, const struct file *file)
{
    char path[PATH_MAX + 16];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/%s", to, recording_names[name]);
    fd = __real_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    if (file->high > 0)
        CHECK_INT(file->high, __real_pwrite(fd, file->bytes, file->high, 0));
    CHECK(__real_ftruncate(fd, (off_t)file->size) == 0);
    CHECK(close(fd) == 0);
}

static void
clear_folder(const char *to)
{
    static const char *const all[] = {"data.mdb", "journal", "journal.new",
                                      "wake", "lock.mdb"};
    char path[PATH_MAX + 16];

    CHECK(mkdir(to, 0700) == 0 || errno == EEXIST);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", to, all[i]);
        CHECK(unlink(path) == 0 || errno == ENOENT);
    }
}

void
disk_build(enum disk_fate fate, uint64_t seed, const char *to)
{
    uint64_t state = seed;
    int place[RECORDING_NAMES];
    size_t names_kept;

    clear_folder(to);
    memcpy(place, safe_names, sizeof(place));
    names_kept = fate == DISK_NOTHING ? 0
                 : fate == DISK_ALL
                     ? pending_name_count
                     : rounds_draw(&state, pending_name_count + 1);
    for (size_t i = 0; i < names_kept; i++)
        place[pending_names[i]->offset] = pending_names[i]->file;
    for (int name = 0; name < RECORDING_NAMES; name++) {
        struct file copy;

        if (place[name] < 0)
            continue;
        copy = files[place[name]];
        copy.room = copy.high;
        copy.bytes = malloc(copy.high ? copy.high : 1);
        CHECK(copy.bytes);
        if (copy.high > 0)
            memcpy(copy.bytes, files[place[name]].bytes, copy.high);
        for (size_t i = 0; i < pending_count; i++) {
            if (pending[i]->file == place[name])
                apply_some(&copy, pending[i], fate, i + 1 == pending_count,
                           &state);
        }
        write_file(to, name, &copy);
        free(copy.bytes);
    }
}
