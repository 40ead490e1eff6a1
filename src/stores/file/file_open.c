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
#include "base/park.h"
#include "stores/file/foreign.h"
#include "stores/file/private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum {
    DESCRIPTORS = 8, /* that a store takes, with those of LMDB's */
    BUSY_MS = 30000
};

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
    char shown[LBX__FAULT_PATH_BYTES];
    lbx_status status;

    (void)pthread_once(&open_watch_once, open_watch_forks);
    lbx__lock_take(&open_lock);
    if (open_is_listed(file)) {
        status = lbx__fault_set(file->options.fault, LBX_BUSY,
                                "%s is open in this process",
                                lbx__fault_path(path, shown));
    } else {
        status = lbx__membership_open(
            &file->membership, file->io, file->folder.fd,
            file->options.exclusive,
            file->options.busy_ms < 0 ? -1 : file->options.busy_ms * LBX_MS);
        file->membership.slow = lbx__file_report_slow;
        file->membership.context = file;
        if (status != LBX_OK)
            (void)lbx__file_open_refuse(file, status, LBX__WAKE);
    }
    if (status == LBX_OK) {
        file->next = open_files;
        open_files = file;
    }
    lbx__lock_give(&open_lock);
    return status;
}

/* Whether this process may open hardly any more files. Probed: the call that
 * has failed may have been LMDB's, which has closed its own again. */
static bool
open_lacks_descriptors(const lbx__file *file)
{
    int probes[DESCRIPTORS], count = 0;
    bool lacks;

    while (count < DESCRIPTORS) {
        probes[count] = fcntl(file->folder.fd, F_DUPFD_CLOEXEC, 0);
        if (probes[count] < 0)
            break;
        count++;
    }
    lacks = count < DESCRIPTORS;
    while (count > 0)
        (void)close(probes[--count]);
    return lacks;
}

lbx_status
lbx__file_open_refuse(const lbx__file *file, lbx_status status,
                      const char *what)
{
    lbx_fault *fault = file->options.fault;

    if (status == LBX_NO_SPACE)
        return lbx__fault_set(
            fault, status,
            "%s: no space left on the disk: a new store takes "
            "1 MiB, and later its journal as much as "
            "options.journal_bytes, %" PRId64 " KiB",
            what, file->options.journal_bytes >> 10);
    if (status == LBX_IO && open_lacks_descriptors(file))
        return lbx__fault_set(fault, status,
                              "%s: too many open files: a store takes %d "
                              "descriptors; raise ulimit -n",
                              what, DESCRIPTORS);
    if (status == LBX_DENIED &&
        faccessat(file->folder.fd, ".", W_OK, AT_EACCESS) < 0)
        return lbx__fault_set(fault, status,
                              "%s: the folder cannot be written to (%s), and "
                              "every program that opens a store does",
                              what, strerror(errno));
    return lbx__fault_set(fault, status, "%s: %s", what,
                          lbx_status_text(status));
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

/* What is wrong with a number, and what is allowed; NULL: nothing is. */
static const char *
open_find_wrong(const lbx_store_options *options)
{
    if (options->interval_ms < 1 || options->interval_ms > INT64_MAX / LBX_MS)
        return "interval_ms: 1 or more";
    if (options->map_bytes < (int64_t)LBX__MAP_MIN ||
        options->map_bytes > INT64_C(1) << 46)
        return "map_bytes: 16 MiB to 64 TiB";
    if (options->journal_bytes < LBX__JOURNAL_MIN ||
        options->journal_bytes > INT64_C(1) << 32)
        return "journal_bytes: 64 KiB to 4 GiB";
    if (options->busy_ms < -1 || options->busy_ms > INT64_MAX / LBX_MS)
        return "busy_ms: 1 or more, 0 for 30 seconds, or -1 for ever";
    return NULL;
}

lbx_status
lbx__file_open_check(const lbx_store_options *options)
{
    const char *wrong = open_find_wrong(options);

    if (options->durability != LBX_DURABILITY_DEFAULT &&
        (options->durability < LBX_DURABILITY_PROCESS ||
         options->durability > LBX_DURABILITY_POWER_CUT))
        return lbx__fault_set(options->fault, LBX_UNSUPPORTED,
                              "durability: a store in files has "
                              "LBX_DURABILITY_PROCESS, _INTERVAL and "
                              "_POWER_CUT");
    return wrong ? lbx__fault_set(options->fault, LBX_INVALID, "%s", wrong)
                 : LBX_OK;
}

lbx_status
lbx__file_open(const char *path, const lbx_store_options *options,
               const lbx__io *io, lbx__storage **ret)
{
    const lbx_store_options defaults = LBX_STORE_OPTIONS_INIT;
    lbx__file *file;
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
    file->thread = lbx__thread_self();
    file->written_ns = lbx_clock_now(NULL);
    if (file->options.durability == LBX_DURABILITY_DEFAULT)
        file->options.durability = LBX_DURABILITY_POWER_CUT;
    if (file->options.busy_ms == 0)
        file->options.busy_ms = BUSY_MS;
    status = lbx__file_open_check(&file->options);
    if (status == LBX_OK)
        status =
            lbx__folder_open(&file->folder, file->io, path, options->must_exist,
                             options->group, options->fault);
    if (status == LBX_OK)
        status = lbx__foreign_check(&file->folder, file->io, options->fault);
    if (status == LBX_OK)
        status = open_enlist(file, path);
    if (status == LBX_OK)
        status = lbx__recover_file(file);
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
