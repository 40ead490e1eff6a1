/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening, and the few things that are not entries of storage.h.
 *
 * O1  A place is open once in a process: a second environment of LMDB's would
 *     drop the first one's locks when it is closed.
 * O2  A child after fork() does not have `wake`: locks belong to the open file,
 *     and would outlive a parent that is killed. So, for who has the lock of the
 *     list, `wake` is open exactly while its store is listed; a fork takes it.
 */
#include "base/alloc.h"
#include "base/fault.h"
#include "base/lock.h"
#include "stores/file/audit.h"
#include "stores/file/check.h"
#include "stores/file/parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The stores that this process has open (O1, O2). */
static lbx__lock open_lock;
static lbx__file *open_files;
static pthread_once_t watch_forks_once = PTHREAD_ONCE_INIT;

static void
before_fork(void)
{
    lbx__lock_take(&open_lock);
}

static void
after_fork(void)
{
    lbx__lock_give(&open_lock);
}

static void
begin_life(void)
{
    for (lbx__file *file = open_files; file; file = file->next)
        lbx__presence_forget(&file->presence);
    open_files = NULL;
    lbx__lock_give(&open_lock);
}

static void
watch_forks(void)
{
    (void)pthread_atfork(before_fork, after_fork, begin_life);
}

static bool
is_open(const lbx__file *file)
{
    for (const lbx__file *other = open_files; other; other = other->next) {
        if (other->folder.device == file->folder.device &&
            other->folder.inode == file->folder.inode)
            return true;
    }
    return false;
}

/* Opens `wake`, with a place in the list. */
static lbx_status
enlist(lbx__file *file, const char *path)
{
    lbx_status status;

    (void)pthread_once(&watch_forks_once, watch_forks);
    lbx__lock_take(&open_lock);
    if (is_open(file)) {
        status = lbx__fault_set(file->options.fault, LBX_BUSY,
                                "%s is open in this process", path);
    } else {
        status = lbx__presence_open(&file->presence, file->io, file->folder.fd,
                                    file->options.alone);
        if (status != LBX_OK)
            (void)lbx__fault_set(file->options.fault, status, "%s: %s",
                                 LBX__WAKE, lbx_status_text(status));
    }
    if (status == LBX_OK) {
        file->next = open_files;
        open_files = file;
    }
    lbx__lock_give(&open_lock);
    return status;
}

static void
strike_off(lbx__file *file)
{
    lbx__lock_take(&open_lock);
    for (lbx__file **at = &open_files; *at; at = &(*at)->next) {
        if (*at == file) {
            *at = file->next;
            break;
        }
    }
    lbx__presence_close(&file->presence);
    lbx__lock_give(&open_lock);
}

void
lbx__file_destroy(lbx__file *file)
{
    lbx__beat_stop(&file->beat);
    lbx__engine_close(&file->engine);
    lbx__journal_close(&file->journal);
    lbx__folder_close(&file->folder);
    strike_off(file); // last: lets others in
    lbx__free(file->options.allocator, file, sizeof(*file));
}

/* What is wrong with options, and what is allowed; NULL: nothing. */
static const char *
find_fault(const lbx_store_options *options)
{
    if (options->durability < LBX_SURVIVES_PROCESS ||
        options->durability > LBX_SURVIVES_POWER_CUT)
        return "durability: a store in files has LBX_SURVIVES_PROCESS, "
               "_INTERVAL and _POWER_CUT";
    if (options->interval_ms < 1 || options->interval_ms > INT64_MAX / LBX_MS)
        return "interval_ms: 1 or more";
    if (options->map_bytes < 16 << 20 || options->map_bytes > INT64_C(1) << 46)
        return "map_bytes: 16 MiB to 64 TiB";
    if (options->journal_bytes < LBX__JOURNAL_LEAST ||
        options->journal_bytes > INT64_C(1) << 32)
        return "journal_bytes: 64 KiB to 4 GiB";
    return NULL;
}

/* The first part that a check finds, as a sentence. */
static void
note_damage(void *context, const lbx_damage *part)
{
    lbx_fault *fault = context;

    if (fault->text[0])
        return;
    if (strcmp(part->what, LBX__NO_JOURNAL) == 0) {
        (void)lbx__fault_set(fault, LBX_CORRUPT,
                             LBX__JOURNAL ": it is missing");
        return;
    }
    if (part->size_bytes > 0)
        (void)lbx__fault_set(fault, LBX_CORRUPT,
                             "%s: bytes %" PRIu64 " to %" PRIu64 " are damaged",
                             part->what, part->offset_bytes,
                             part->offset_bytes + part->size_bytes);
    else if (part->first_sequence > 0)
        (void)lbx__fault_set(fault, LBX_CORRUPT,
                             "box %s: %s of letters %" PRIu64 " to %" PRIu64
                             " is damaged",
                             part->box ? part->box : "(unknown)", part->what,
                             part->first_sequence, part->last_sequence);
    else
        (void)lbx__fault_set(fault, LBX_CORRUPT, "%s%s%s is damaged",
                             part->box ? part->box : "", part->box ? ": " : "",
                             part->what);
}

/* lbx_store_options.check. */
static lbx_status
check_first(const lbx__file *file, const char *path)
{
    lbx_fault found = {LBX_OK, ""}, fault = {LBX_OK, ""};
    lbx_file_report report;
    lbx_status status =
        lbx__file_check(path, note_damage, &found, &report, &fault);

    if (status == LBX_OK || status == LBX_NOT_FOUND) // it will be made
        return LBX_OK;
    return lbx__fault_set(file->options.fault, status, "%s: %s", path,
                          found.text[0]   ? found.text
                          : fault.text[0] ? fault.text
                                          : lbx_status_text(status));
}

lbx_status
lbx__file_open(const char *path, const lbx_store_options *options,
               const lbx__io *io, lbx__storage **ret)
{
    const lbx_store_options defaults = LBX_STORE_OPTIONS_INIT;
    lbx__file *file;
    const char *wrong;
    lbx_status status;

    options = options ? options : &defaults;
    file = lbx__zalloc(options->allocator, sizeof(*file));
    if (!file)
        return LBX_NO_MEMORY;
    file->base.ops = &lbx__file_ops;
    file->options = *options;
    file->io = io ? io : &lbx__io_system;
    file->pid = getpid();
    file->folder.fd = -1;
    file->time_ns = 1;
    if (file->options.durability == LBX_SURVIVES_DEFAULT)
        file->options.durability = LBX_SURVIVES_POWER_CUT;
    wrong = find_fault(&file->options);
    if (wrong)
        status = lbx__fault_set(options->fault, LBX_INVALID, "%s", wrong);
    else
        status = lbx__folder_open(&file->folder, file->io, path,
                                  options->must_exist, options->fault);
    if (status == LBX_OK)
        status = enlist(file, path);
    if (status == LBX_OK && options->check &&
        (file->folder.has_data || file->folder.has_journal))
        status = check_first(file, path);
    if (status == LBX_OK)
        status = lbx__file_recover(file, path);
    if (status == LBX_OK && file->options.durability == LBX_SURVIVES_INTERVAL &&
        !lbx__beat_start(&file->beat, &file->journal,
                         file->options.interval_ms * LBX_MS))
        status = LBX_NO_MEMORY;
    if (status != LBX_OK) {
        lbx__file_destroy(file);
        return status;
    }
    file->options.fault = NULL;
    *ret = &file->base;
    return LBX_OK;
}

void
lbx__file_log(const lbx__file *file, const char *format, ...)
{
    char line[256];
    va_list arguments;

    if (!file->options.log)
        return;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    file->options.log(file->options.log_context, line);
}

uint32_t
lbx__file_bell(lbx__storage *storage)
{
    return lbx__presence_bell(&((lbx__file *)storage)->presence);
}

void
lbx__file_sleep(lbx__storage *storage, uint32_t seen, int64_t wait_ns)
{
    lbx__presence_sleep(&((lbx__file *)storage)->presence, seen, wait_ns);
}

void
lbx__file_ring(lbx__storage *storage)
{
    lbx__presence_ring(&((lbx__file *)storage)->presence);
}

uint32_t
lbx__file_era(const lbx__storage *storage)
{
    return ((const lbx__file *)storage)->own.era;
}

const lbx_store_options *
lbx__file_options(const lbx__storage *storage)
{
    return &((const lbx__file *)storage)->options;
}

const uint8_t *
lbx__file_uid(const lbx__storage *storage)
{
    return ((const lbx__file *)storage)->own.uid;
}

bool
lbx__file_is_alone(const lbx__storage *storage)
{
    return ((const lbx__file *)storage)->presence.right == LBX__ALONE;
}
