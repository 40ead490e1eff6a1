/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening and closing a storage in files, and the list of those that this
 * process has open.
 *
 * OPEN-1  A folder is open once in a process: a second environment of LMDB's
 *         would drop the locks of the first one when it is closed.
 * OPEN-2  A child after fork() does not have `wake`: locks belong to the open
 *         file, and would outlive a parent that is killed. So, under the lock
 *         of the list, `wake` is open exactly while its storage is listed;
 *         fork() takes that lock.
 *
 * Threads    any; the list has a lock.
 */
#include "base/alloc.h"
#include "base/fault.h"
#include "base/lock.h"
#include "stores/file/foreign.h"
#include "stores/file/private.h"

#include <unistd.h>

/* The storages that this process has open (OPEN-1, OPEN-2). */
static lbx__lock open_lock;
static lbx__file *open_files;
static pthread_once_t open_watch_once = PTHREAD_ONCE_INIT;

static void
open_before_fork(void)
{
    lbx__lock_take(&open_lock);
}

static void
open_after_fork(void)
{
    lbx__lock_give(&open_lock);
}

static void
open_in_child(void)
{
    for (lbx__file *file = open_files; file; file = file->next)
        lbx__membership_abandon(&file->membership);
    open_files = NULL;
    lbx__lock_give(&open_lock);
}

static void
open_watch_forks(void)
{
    (void)pthread_atfork(open_before_fork, open_after_fork, open_in_child);
}

static bool
open_is_listed(const lbx__file *file)
{
    for (const lbx__file *other = open_files; other; other = other->next) {
        if (other->folder.device == file->folder.device &&
            other->folder.inode == file->folder.inode)
            return true;
    }
    return false;
}

/* Opens `wake` and adds the storage to the list. */
static lbx_status
open_enlist(lbx__file *file, const char *path)
{
    lbx_status status;

    (void)pthread_once(&open_watch_once, open_watch_forks);
    lbx__lock_take(&open_lock);
    if (open_is_listed(file)) {
        status = lbx__fault_set(file->options.fault, LBX_BUSY,
                                "%s is open in this process", path);
    } else {
        status = lbx__membership_open(&file->membership, file->io,
                                      file->folder.fd, file->options.exclusive);
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
open_delist(lbx__file *file)
{
    lbx__lock_take(&open_lock);
    for (lbx__file **at = &open_files; *at; at = &(*at)->next) {
        if (*at == file) {
            *at = file->next;
            break;
        }
    }
    lbx__membership_close(&file->membership);
    lbx__lock_give(&open_lock);
}

void
lbx__file_open_undo(lbx__file *file)
{
    lbx__interval_flush_stop(&file->interval);
    lbx__engine_close(&file->engine);
    lbx__journal_close(&file->journal);
    lbx__folder_close(&file->folder);
    open_delist(file); // last: another process may open it now
    lbx__free(file->options.allocator, file, sizeof(*file));
}

/* What is wrong with options, and what is allowed; NULL: nothing is. */
static const char *
open_find_fault(const lbx_store_options *options)
{
    if (options->durability < LBX_DURABILITY_PROCESS ||
        options->durability > LBX_DURABILITY_POWER_CUT)
        return "durability: a store in files has LBX_DURABILITY_PROCESS, "
               "_INTERVAL and _POWER_CUT";
    if (options->interval_ms < 1 || options->interval_ms > INT64_MAX / LBX_MS)
        return "interval_ms: 1 or more";
    if (options->map_bytes < (int64_t)LBX__MAP_MIN ||
        options->map_bytes > INT64_C(1) << 46)
        return "map_bytes: 16 MiB to 64 TiB";
    if (options->journal_bytes < LBX__JOURNAL_MIN ||
        options->journal_bytes > INT64_C(1) << 32)
        return "journal_bytes: 64 KiB to 4 GiB";
    return NULL;
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
    if (file->options.durability == LBX_DURABILITY_DEFAULT)
        file->options.durability = LBX_DURABILITY_POWER_CUT;
    wrong = open_find_fault(&file->options);
    if (wrong)
        status = lbx__fault_set(options->fault, LBX_INVALID, "%s", wrong);
    else
        status = lbx__folder_open(&file->folder, file->io, path,
                                  options->must_exist, options->fault);
    if (status == LBX_OK)
        status = lbx__foreign_check(&file->folder, file->io, options->fault);
    if (status == LBX_OK)
        status = open_enlist(file, path);
    if (status == LBX_OK)
        status = lbx__recover_file(file, path);
    if (status == LBX_OK &&
        file->options.durability == LBX_DURABILITY_INTERVAL &&
        !lbx__interval_flush_start(&file->interval, &file->journal,
                                   file->options.interval_ms * LBX_MS))
        status = LBX_NO_MEMORY;
    if (status != LBX_OK) {
        lbx__file_open_undo(file);
        return status;
    }
    file->options.fault = NULL;
    *ret = &file->base;
    return LBX_OK;
}
