/* SPDX-License-Identifier: Apache-2.0 */
/* Recording system calls, and building what a power cut may leave; disk.h. */
#include "disk.h"

#include "calls.h"

#include "stores/file/rounds.h"
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
    FILES = 16, /* that ever were, under whatever name */
    NAMES = 3,
    DESCRIPTORS = 1024,
    PENDING = 4096,
    SECTOR = 512,
    FOLDER = 1000 /* as a file's number: the folder itself */
};

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

static const char *const names[NAMES] = {"data.mdb", "journal", "journal.new"};

enum kind {
    WRITE,
    RESIZE,
    FLUSH,
    NAME, /* name `offset` is file `file` now; -1: nothing */
    FLUSH_NAMES,
    COMMITTED,
    ANSWERED,
};

struct event {
    enum kind kind;
    int file;
    bool safe; /* a write through O_DSYNC */
    uint64_t offset;
    uint64_t size;
    uint8_t *bytes;
};

/* ---- Recording ---- */

bool disk_quick;
bool disk_other_boot;

static bool recording;
static char folder_path[PATH_MAX];
static struct event *events;
static size_t event_count, event_room;
static int file_count;
static int named[NAMES]; /* which file has the name; -1: none */
static struct {
    int file; /* -1: not ours */
    bool dsync;
} descriptors[DESCRIPTORS];

/* A store writes in a thread of its own, while its user marks what was
 * reported. */
static pthread_mutex_t record_lock = PTHREAD_MUTEX_INITIALIZER;

static void
record(struct event event, const void *bytes)
{
    CHECK(pthread_mutex_lock(&record_lock) == 0);
    if (event_count == event_room) {
        event_room = event_room ? 2 * event_room : 1024;
        events = realloc(events, event_room * sizeof(*events));
        CHECK(events);
    }
    if (bytes) {
        event.bytes = malloc(event.size ? event.size : 1);
        CHECK(event.bytes);
        memcpy(event.bytes, bytes, event.size);
    }
    events[event_count++] = event;
    CHECK(pthread_mutex_unlock(&record_lock) == 0);
}

static int
name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    path = slash ? slash + 1 : path;
    for (int i = 0; i < NAMES; i++) {
        if (strcmp(path, names[i]) == 0)
            return i;
    }
    return -1;
}

static void
set_name(int name, int file)
{
    named[name] = file;
    record((struct event){.kind = NAME, .file = file, .offset = (uint64_t)name},
           NULL);
}

static void
note_open(int fd, const char *path, int flags)
{
    const int name = name_of(path);

    if (fd < 0 || fd >= DESCRIPTORS)
        return;
    descriptors[fd].file = -1;
    if (!recording)
        return;
    if (flags & O_DIRECTORY && strcmp(path, folder_path) == 0)
        descriptors[fd].file = FOLDER;
    if (name < 0)
        return;
    if (named[name] < 0) {
        CHECK(file_count < FILES);
        set_name(name, file_count++);
    }
    if (flags & O_TRUNC)
        record((struct event){.kind = RESIZE, .file = named[name]}, NULL);
    descriptors[fd].file = named[name];
    descriptors[fd].dsync = (flags & O_DSYNC) != 0;
}

static int
file_of(int fd)
{
    return recording && fd >= 0 && fd < DESCRIPTORS ? descriptors[fd].file : -1;
}

static void
note_write(int fd, const void *bytes, ssize_t size, off_t offset)
{
    const int file = file_of(fd);

    if (file >= 0 && file < FILES && size > 0)
        record((struct event){.kind = WRITE,
                              .file = file,
                              .safe = descriptors[fd].dsync,
                              .offset = (uint64_t)offset,
                              .size = (uint64_t)size},
               bytes);
}

/* True when the flush need not really be done. */
static bool
note_flush(int fd)
{
    const int file = file_of(fd);

    if (file == FOLDER)
        record((struct event){.kind = FLUSH_NAMES}, NULL);
    else if (file >= 0)
        record((struct event){.kind = FLUSH, .file = file}, NULL);
    return recording || disk_quick;
}

/* A boot that is not this one, for who asks which it is. */
static int
open_other_boot(void)
{
    static const char id[] = "00112233-4455-6677-8899-aabbccddeeff\n";
    const int fd = memfd_create("boot_id", MFD_CLOEXEC);

    CHECK(fd >= 0);
    CHECK_INT(sizeof(id) - 1, write(fd, id, sizeof(id) - 1));
    CHECK(lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int
__wrap_open(const char *path, int flags, ...)
{
    va_list arguments;
    int fd;

    if (disk_other_boot && strcmp(path, BOOT_ID) == 0)
        return open_other_boot();
    va_start(arguments, flags);
    fd = __real_open(path, flags,
                     flags & O_CREAT ? va_arg(arguments, mode_t) : 0);
    va_end(arguments);
    note_open(fd, path, flags);
    return fd;
}

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int
__wrap_open64(const char *path, int flags, ...)
{
    va_list arguments;
    int fd;

    if (disk_other_boot && strcmp(path, BOOT_ID) == 0)
        return open_other_boot();
    va_start(arguments, flags);
    fd = __real_open64(path, flags,
                       flags & O_CREAT ? va_arg(arguments, mode_t) : 0);
    va_end(arguments);
    note_open(fd, path, flags);
    return fd;
}

int __real_openat64(int folder, const char *path, int flags, ...);
int __wrap_openat64(int folder, const char *path, int flags, ...);
int
__wrap_openat64(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    int fd;

    va_start(arguments, flags);
    fd = __real_openat64(folder, path, flags, va_arg(arguments, mode_t));
    va_end(arguments);
    note_open(fd, path, flags);
    return fd;
}

REAL(ssize_t, pwrite, int fd, const void *bytes, size_t size, off_t offset)
{
    ssize_t done;

    if (calls_fail(DISK_WRITE)) {
        const int error = errno;

        (void)!__real_pwrite(fd, bytes, calls_part(size), offset);
        errno = error;
        return -1;
    }
    done = __real_pwrite(fd, bytes, size, offset);
    note_write(fd, bytes, done, offset);
    return done;
}

REAL(ssize_t, pwrite64, int fd, const void *bytes, size_t size, off_t offset)
{
    ssize_t done;

    if (calls_fail(DISK_WRITE)) {
        const int error = errno;

        (void)!__real_pwrite64(fd, bytes, calls_part(size), offset);
        errno = error;
        return -1;
    }
    done = __real_pwrite64(fd, bytes, size, offset);
    note_write(fd, bytes, done, offset);
    return done;
}

REAL(ssize_t, writev, int fd, const struct iovec *parts, int count)
{
    const off_t offset = file_of(fd) >= 0 ? lseek(fd, 0, SEEK_CUR) : 0;
    ssize_t done;
    off_t at = offset;

    if (calls_fail(DISK_WRITE))
        return -1;
    done = __real_writev(fd, parts, count);
    for (int i = 0; i < count && at - offset < done; i++) {
        const off_t left = done - (at - offset);
        const ssize_t size =
            (off_t)parts[i].iov_len < left ? (ssize_t)parts[i].iov_len : left;

        note_write(fd, parts[i].iov_base, size, at);
        at += size;
    }
    return done;
}

REAL(int, fdatasync, int fd)
{
    if (calls_fail(DISK_FLUSH))
        return -1;
    return note_flush(fd) ? 0 : __real_fdatasync(fd);
}

REAL(int, fsync, int fd)
{
    if (calls_fail(DISK_FLUSH))
        return -1;
    return note_flush(fd) ? 0 : __real_fsync(fd);
}

REAL(int, ftruncate, int fd, off_t size)
{
    if (file_of(fd) >= 0)
        FAIL("no code was known to shrink a file");
    return __real_ftruncate(fd, size);
}

REAL(int, fallocate64, int fd, int mode, off_t offset, off_t size)
{
    const int file = file_of(fd);
    int result;

    if (calls_fail(DISK_ALLOCATE))
        return -1;
    result = __real_fallocate64(fd, mode, offset, size);
    if (result == 0 && file >= 0)
        record((struct event){.kind = RESIZE,
                              .file = file,
                              .size = (uint64_t)(offset + size)},
               NULL);
    return result;
}

REAL(int, renameat, int from, const char *old, int to, const char *new)
{
    const int result = __real_renameat(from, old, to, new);

    if (recording && result == 0) {
        const int file = named[name_of(old)];

        // One step: the old name is not looked at after this.
        named[name_of(old)] = -1;
        set_name(name_of(new), file);
    }
    return result;
}

REAL(int, unlinkat, int folder, const char *name, int flags)
{
    const int result = __real_unlinkat(folder, name, flags);

    if (recording && result == 0 && name_of(name) >= 0)
        set_name(name_of(name), -1);
    return result;
}

void
disk_committed(uint64_t group)
{
    record((struct event){.kind = COMMITTED, .offset = group}, NULL);
}

void
disk_answered(uint64_t group)
{
    record((struct event){.kind = ANSWERED, .offset = group}, NULL);
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

    (void)snprintf(path, sizeof(path), "%s/%s", folder, names[name]);
    fd = __real_open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    CHECK(fstat(fd, &found) == 0);
    set_name(name, file_count++);
    record((struct event){.kind = RESIZE,
                          .file = named[name],
                          .size = (uint64_t)found.st_size},
           NULL);
    while ((done = read(fd, block, sizeof(block))) > 0) {
        if (memcmp(block, zeros, (size_t)done) != 0)
            record((struct event){.kind = WRITE,
                                  .file = named[name],
                                  .offset = at,
                                  .size = (uint64_t)done},
                   block);
        at += (uint64_t)done;
    }
    CHECK(close(fd) == 0);
    record((struct event){.kind = FLUSH, .file = named[name]}, NULL);
}

/* Where the recording proper begins. */
static size_t events_before;

void
disk_start(const char *folder)
{
    for (size_t i = 0; i < event_count; i++)
        free(events[i].bytes);
    event_count = 0;
    file_count = 0;
    (void)snprintf(folder_path, sizeof(folder_path), "%s", folder);
    for (int i = 0; i < DESCRIPTORS; i++)
        descriptors[i].file = -1;
    for (int i = 0; i < NAMES; i++)
        named[i] = -1;
    for (int i = 0; i < NAMES; i++)
        take_up(folder, i);
    record((struct event){.kind = FLUSH_NAMES}, NULL);
    events_before = event_count;
    recording = true;
}

void
disk_stop(void)
{
    recording = false;
}

/* ---- Cutting ---- */

struct file {
    uint8_t *bytes; /* what is safe */
    uint64_t room;
    uint64_t size;
    uint64_t high; /* no byte is other than 0 from here on */
};

static struct file files[FILES];
static const struct event *pending[PENDING]; /* writes and sizes, not safe */
static size_t pending_count;
static int safe_names[NAMES];
static const struct event *pending_names[PENDING];
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
apply(struct file *file, const struct event *event)
{
    if (event->kind == WRITE) {
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
    for (int i = 0; i < NAMES; i++) {
        if (safe_names[i] == file || named[i] == file)
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
advance(const struct event *event, bool lies_count)
{
    switch (event->kind) {
    case WRITE:
    case RESIZE:
        if (event->safe && !(lies_count && lies_about(event->file))) {
            apply(&files[event->file], event);
            break;
        }
        CHECK(pending_count < PENDING);
        pending[pending_count++] = event;
        break;
    case FLUSH:
        if (!(lies_count && lies_about(event->file)))
            flush_file(event->file);
        break;
    case NAME:
        CHECK(pending_name_count < PENDING);
        pending_names[pending_name_count++] = event;
        break;
    case FLUSH_NAMES:
        if (lies_count && lying.names)
            break;
        for (size_t i = 0; i < pending_name_count; i++)
            safe_names[pending_names[i]->offset] = pending_names[i]->file;
        pending_name_count = 0;
        break;
    case COMMITTED:
        committed = event->offset;
        break;
    case ANSWERED:
        answered = event->offset;
        break;
    }
}

void
disk_rewind(const struct disk_lies *lies)
{
    lying = lies ? *lies : (struct disk_lies){false, false, false};
    for (int i = 0; i < FILES; i++) {
        free(files[i].bytes);
        files[i] = (struct file){NULL, 0, 0, 0};
    }
    for (int i = 0; i < NAMES; i++)
        safe_names[i] = -1;
    pending_count = pending_name_count = 0;
    committed = answered = 0;
    for (point = 0; point < events_before; point++)
        advance(&events[point], false);
}

bool
disk_next(void)
{
    while (point < event_count) {
        const struct event *event = &events[point++];

        advance(event, true);
        if (event->kind != COMMITTED)
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
apply_some(struct file *file, const struct event *event, enum disk_fate fate,
           bool is_last, uint64_t *state)
{
    if (fate == DISK_ALL || (fate == DISK_LAST && is_last) ||
        (fate == DISK_SOME && rounds_draw(state, 2))) {
        apply(file, event);
    } else if (fate == DISK_TORN && event->kind == RESIZE) {
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

    (void)snprintf(path, sizeof(path), "%s/%s", to, names[name]);
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
    int place[NAMES];
    size_t names_kept;

    clear_folder(to);
    memcpy(place, safe_names, sizeof(place));
    names_kept = fate == DISK_NOTHING ? 0
                 : fate == DISK_ALL
                     ? pending_name_count
                     : rounds_draw(&state, pending_name_count + 1);
    for (size_t i = 0; i < names_kept; i++)
        place[pending_names[i]->offset] = pending_names[i]->file;
    for (int name = 0; name < NAMES; name++) {
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
