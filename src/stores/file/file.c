/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Storage in files: the entries of storage.h over LMDB and a journal.
 *
 * In exclusive mode rows are written to the open transaction of LMDB's, which
 * shows them to reads, and to the journal, as one record for each batch. In
 * shared mode they are written to LMDB only. When they reach the disk is
 * decided in flush.c.
 *
 * begin also changes the mode: to shared when another process asks to join, to
 * exclusive when no other process is left (MEMB-2). So does the sleep of an
 * idle owner, to shared (MEMB-6).
 *
 * Threads    one, from open to close; the three entries of the notification
 *            any, but only the storage's own changes the mode.
 */
#include "stores/file/free_space.h"
#include "stores/file/private.h"

#include "base/park.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define IDLE_NS LBX_SECOND /* MEMB-6 */

static lbx__file *
file_of(lbx__storage *storage)
{
    return (lbx__file *)storage;
}

lbx_status
lbx__file_poison(lbx__file *file)
{
    if (!file->poisoned) {
        file->poisoned = true;
        lbx__boot_words_poison(&file->membership); // MEMB-4
        lbx__file_log(file, "writing failed: nothing is written any more "
                            "until the store is opened again");
    }
    return LBX_IO;
}

bool
lbx__file_is_poisoned(lbx__file *file)
{
    if (!file->poisoned && (lbx__interval_flush_has_failed(&file->interval) ||
                            lbx__boot_words_are_poisoned(&file->membership)))
        (void)lbx__file_poison(file);
    return file->poisoned;
}

/* ---- Batches ---- */

/* Exclusive to shared: on a join request, or when it is idle (MEMB-2). */
static lbx_status
file_share(lbx__file *file, bool is_idle)
{
    if (lbx__flush_checkpoint(file, true) != LBX_OK)
        return lbx__file_poison(file);
    file->membership.is_idle = is_idle;
    lbx__membership_share(&file->membership);
    if (!is_idle)
        lbx__file_log(file, "shared mode: another process has joined");
    return LBX_OK;
}

/* Whether it is in shared mode because it was idle, and is no longer: it has
 * written within the last second (MEMB-6). */
static bool
file_is_busy(const lbx__file *file)
{
    return file->membership.is_idle &&
           lbx_clock_now(NULL) - file->written_ns < IDLE_NS;
}

/* Shared to exclusive, when no other process is left (MEMB-2). */
static lbx_status
file_take_exclusive(lbx__file *file, bool was_idle)
{
    lbx_status status = lbx__engine_begin(&file->engine);

    if (status == LBX_OK)
        status = lbx__header_read(&file->engine, &file->header);
    if (status == LBX_OK)
        status = lbx__flush_checkpoint(file, false);
    if (status != LBX_OK)
        return lbx__file_poison(file);
    if (!was_idle)
        lbx__file_log(file, "exclusive mode: no other process is left");
    return LBX_OK;
}

void
lbx__file_report_slow(void *context, uint32_t pid)
{
    char name[LBX__FILE_PROCESS_BYTES];

    lbx__file_log(context,
                  "%s has kept this one waiting for a second: it is stopped, "
                  "or very slow",
                  lbx__file_name_process(pid, name));
}

const char *
lbx__file_name_process(uint32_t pid, char ret[LBX__FILE_PROCESS_BYTES])
{
    if (pid)
        (void)snprintf(ret, LBX__FILE_PROCESS_BYTES, "process %" PRIu32, pid);
    else
        (void)snprintf(ret, LBX__FILE_PROCESS_BYTES, "another process");
    return ret;
}

static lbx_status
file_begin(lbx__storage *storage)
{
    lbx__file *file = file_of(storage);
    lbx__membership *membership = &file->membership;
    const bool was_idle = membership->is_idle;
    lbx_status status = LBX_OK;

    if (lbx__file_is_poisoned(file))
        return LBX_IO;
    if (lbx__file_has_exclusive_mode(file)) {
        if (lbx__membership_is_requested(membership))
            status = file_share(file, false);
    } else if (lbx__membership_try_exclusive(membership, file_is_busy(file))) {
        status = file_take_exclusive(file, was_idle);
    }
    if (status == LBX_OK && !lbx__file_has_exclusive_mode(file))
        status = lbx__writer_lock_take(membership);
    // With the writer lock: no process that made a lock.mdb of its own has
    // written before this one notices.
    if (status == LBX_OK && !lbx__file_has_exclusive_mode(file))
        status = lbx__flush_check_files(file);
    if (status == LBX_OK)
        status = lbx__engine_begin(&file->engine);
    // The process that held the lock until now may have failed.
    if (status == LBX_OK && lbx__file_is_poisoned(file)) {
        lbx__engine_abort(&file->engine);
        status = LBX_IO;
    }
    if (status == LBX_OK)
        status = lbx__flush_free_pages(file);
    if (status != LBX_OK)
        lbx__writer_lock_release(membership);
    return status;
}

static uint64_t
file_commit(lbx__storage *storage)
{
    lbx__file *file = file_of(storage);

    file->ticket++;
    if (file->poisoned)
        lbx__engine_abort(&file->engine);
    else if (!lbx__file_has_exclusive_mode(file))
        lbx__flush_shared_batch(file);
    else if (lbx__journal_end(&file->journal, lbx__file_time(file)))
        file->written_ns = lbx_clock_now(NULL);
    else if (file->durable == file->ticket - 1)
        file->durable = file->ticket; // nothing was written
    lbx__writer_lock_release(&file->membership);
    return file->ticket;
}

static lbx_status
file_flush(lbx__storage *storage, uint64_t ticket)
{
    lbx__file *file = file_of(storage);

    assert(ticket <= file->ticket && !storage->begun);
    if (ticket <= file->durable)
        return LBX_OK;
    if (lbx__file_is_poisoned(file))
        return LBX_IO;
    return lbx__flush_to_level(file);
}

static lbx_status
file_sync(lbx__storage *storage)
{
    lbx__file *file = file_of(storage);

    assert(!storage->begun);
    if (lbx__file_is_poisoned(file))
        return LBX_IO;
    return lbx__flush_sync(file);
}

/* ---- Rows ---- */

static lbx_status
file_get(lbx__storage *storage, lbx__table table, lbx__bytes key,
         lbx__bytes *ret_value)
{
    lbx__file *file = file_of(storage);

    if (file->poisoned)
        return LBX_IO;
    return lbx__engine_get(&file->engine, table, key, ret_value);
}

static lbx_status
file_seek(lbx__storage *storage, lbx__table table, lbx__bytes key,
          lbx__bytes *ret_key, lbx__bytes *ret_value)
{
    lbx__file *file = file_of(storage);

    if (file->poisoned)
        return LBX_IO;
    return lbx__engine_seek(&file->engine, table, key, ret_key, ret_value);
}

static lbx_status
file_reserve(lbx__storage *storage, const lbx__row_size *sizes, size_t count,
             lbx__growth growth)
{
    return lbx__free_space_reserve(&file_of(storage)->engine, sizes, count,
                                   growth);
}

static void
file_put(lbx__storage *storage, lbx__table table, lbx__bytes key,
         const lbx__bytes *parts, size_t count)
{
    lbx__file *file = file_of(storage);

    if (file->poisoned)
        return;
    if (lbx__file_has_exclusive_mode(file))
        lbx__journal_put(&file->journal, table, key, parts, count);
    if (lbx__engine_put(&file->engine, table, key, parts, count) != LBX_OK)
        (void)lbx__file_poison(file);
}

static void
file_remove(lbx__storage *storage, lbx__table table, lbx__bytes key)
{
    lbx__file *file = file_of(storage);

    if (file->poisoned)
        return;
    if (lbx__file_has_exclusive_mode(file))
        lbx__journal_remove(&file->journal, table, key);
    if (lbx__engine_remove(&file->engine, table, key) != LBX_OK)
        (void)lbx__file_poison(file);
}

/* ---- What it is ---- */

int64_t
lbx__file_time(lbx__file *file)
{
    const int64_t now = file->options.clock ? lbx_clock_now(file->options.clock)
                                            : file->io->boot_ns(file->io) +
                                                  file->header.offset_ns;

    if (now > file->time_ns)
        file->time_ns = now;
    return file->time_ns;
}

static int64_t
file_now(lbx__storage *storage)
{
    return lbx__file_time(file_of(storage));
}

static lbx_durability
file_durability(lbx__storage *storage)
{
    const lbx__file *file = file_of(storage);

    return lbx__file_has_exclusive_mode(file) ? file->options.durability
                                              : LBX_DURABILITY_POWER_CUT;
}

uint32_t
lbx__file_era(const lbx__storage *storage)
{
    return ((const lbx__file *)storage)->header.era;
}

const lbx_store_options *
lbx__file_options(const lbx__storage *storage)
{
    return &((const lbx__file *)storage)->options;
}

const uint8_t *
lbx__file_uid(const lbx__storage *storage)
{
    return ((const lbx__file *)storage)->header.uid;
}

bool
lbx__file_is_exclusive(const lbx__storage *storage)
{
    return lbx__file_has_exclusive_mode((const lbx__file *)storage);
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

/* ---- Notification ---- */

uint32_t
lbx__file_notified(lbx__storage *storage)
{
    return lbx__notification_count(&file_of(storage)->membership);
}

/* How long until an owner that writes nothing shares (MEMB-6); -1: it never
 * does. Only the thread of the storage may. */
static int64_t
file_idle_left(const lbx__file *file)
{
    int64_t left;

    // The thread first: another one must not read the rest.
    if (file->thread != lbx__thread_self() || file->options.clock ||
        file->membership.refuses || !lbx__file_has_exclusive_mode(file))
        return -1;
    left = file->written_ns + IDLE_NS - lbx_clock_now(NULL);
    return left > 0 ? left : 0;
}

void
lbx__file_wait(lbx__storage *storage, uint32_t seen, int64_t wait_ns)
{
    lbx__file *file = file_of(storage);
    const int64_t left = file_idle_left(file);

    if (left >= 0 && (wait_ns < 0 || wait_ns > left)) {
        lbx__notification_wait(&file->membership, seen, left);
        // To share takes time: the caller decides anew how long to wait.
        if (lbx__notification_count(&file->membership) == seen &&
            file_idle_left(file) == 0 && !lbx__file_is_poisoned(file))
            (void)file_share(file, true);
        return;
    }
    lbx__notification_wait(&file->membership, seen, wait_ns);
}

void
lbx__file_notify(lbx__storage *storage)
{
    lbx__notification_raise(&file_of(storage)->membership);
}

/* Whether a process asks to join, which begin would let in. */
static bool
file_is_called(const lbx__storage *storage)
{
    const lbx__file *file = (const lbx__file *)storage;

    return lbx__file_has_exclusive_mode(file) &&
           lbx__membership_is_requested(&file->membership);
}

static void
file_close(lbx__storage *storage)
{
    lbx__file *file = file_of(storage);

    // In a forked child locks, pages and descriptors are the parent's.
    if (file->pid != getpid())
        return;
    // What was flushed is in the journal whether or not this succeeds.
    if (!lbx__file_is_poisoned(file) && lbx__file_has_exclusive_mode(file))
        (void)lbx__flush_checkpoint(file, true);
    lbx__file_open_undo(file);
}

const lbx__storage_ops lbx__file_ops = {
    .scheme = "file",
    .one_thread = true,
    .begin = file_begin,
    .get = file_get,
    .seek = file_seek,
    .reserve = file_reserve,
    .put = file_put,
    .remove = file_remove,
    .commit = file_commit,
    .flush = file_flush,
    .sync = file_sync,
    .now = file_now,
    .durability = file_durability,
    .close = file_close,
    .era = lbx__file_era,
    .notifications = lbx__file_notified,
    .sleep = lbx__file_wait,
    .notify = lbx__file_notify,
    .has_join_request = file_is_called,
};
