/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is flushed when: every write of a running store to the disk is decided
 * here.
 *
 *     mode       level      when flush is called           LMDB commits
 *     exclusive  POWER_CUT  write the journal, fdatasync   at checkpoints
 *     exclusive  INTERVAL   write the journal; a thread    at checkpoints
 *                           flushes (interval_flush.c)
 *     exclusive  PROCESS    write the journal              at checkpoints
 *     shared     POWER_CUT, whatever was asked for         in commit, synced
 *
 * In exclusive mode one LMDB transaction is open from checkpoint to checkpoint.
 * A checkpoint commits it, synced, and starts the journal anew: when the
 * journal is full, a batch cannot be a record, the transaction has become
 * large, a process asks to join, the owner is idle (MEMB-6), a sync serves a
 * hold, a commit makes free pages usable that the next batch may need,
 * exclusive mode begins again, or the store is closed.
 *
 * In shared mode each batch is a synced commit of its own, so that other
 * processes need not wait for this one's flush.
 *
 * FLUSH-1  `durable` is never ahead of the disk: a flush that succeeded at the
 *          level raises it, or a commit of LMDB's. A failure poisons, here and
 *          in `wake`, before any caller gets its result.
 * FLUSH-2  Nothing is written, and no sync returns OK, when one of the files
 *          was deleted, moved away or replaced (FOLD-2): that is a failure too.
 *
 * Threads    the storage's, but lbx__flush_add_hold() and _remove_hold(): any.
 */
#include "stores/file/free_space.h"
#include "stores/file/private.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
    /* Rows between two checkpoints: each may hold a path of LMDB's pages in
     * memory, and LMDB keeps 131,071 at most before it writes some early, which
     * would invalidate pointers that the rules got from get and seek. */
    CHECKPOINT_ROWS_MAX = 12000,
    CHECKPOINT_ROWS_MAX_TIGHT = 64 /* while the disk is full */
};

/* When a name in the folder last came or went, by the clock of the file system;
 * 0: it says nothing yet. Such times are as fine as the kernel's ticks, or two
 * seconds (FAT): a recent one may be followed by a change of the same time. */
static int64_t
flush_folder_changed_ns(const lbx__folder *folder)
{
    struct stat found;
    int64_t changed_ns;

    if (fstat(folder->fd, &found) < 0)
        return 0;
    changed_ns =
        (int64_t)found.st_ctim.tv_sec * LBX_SECOND + found.st_ctim.tv_nsec;
    return changed_ns + 3 * LBX_SECOND < lbx__clock_wall() ? changed_ns : 0;
}

static const char *
flush_search_missing(const lbx__folder *folder)
{
    struct stat found;

    for (int i = 0; i < LBX__FOLDER_FILES; i++) {
        const char *name = lbx__folder_names[i];

        // Any other error says nothing about the file: a process that has
        // changed its user since it opened the folder may not search it.
        if (fstatat(folder->fd, name, &found, AT_SYMLINK_NOFOLLOW) < 0
                ? errno == ENOENT
                : found.st_ino != folder->inodes[i])
            return name;
    }
    return NULL;
}

/* The name of a file that was deleted, moved away or replaced since the storage
 * opened it (FOLD-2). NULL: there is none. One system call, unless something in
 * the folder has changed. */
static const char *
flush_find_missing(lbx__folder *folder)
{
    const char *missing;
    int64_t changed_ns;

    if (!folder->watched)
        return NULL;
    // Read first: a change during the search has a later time.
    changed_ns = flush_folder_changed_ns(folder);
    if (changed_ns != 0 && changed_ns == folder->unchanged_ns)
        return NULL;
    missing = flush_search_missing(folder);
    folder->unchanged_ns = missing ? 0 : changed_ns;
    return missing;
}

lbx_status
lbx__flush_check_files(lbx__file *file)
{
    const char *missing = flush_find_missing(&file->folder);

    if (!missing)
        return LBX_OK;
    lbx__file_log(file,
                  "%s was deleted, moved away or replaced while the store is "
                  "open",
                  missing);
    lbx__engine_abort(
        &file->engine); // other processes may wait for LMDB's lock
    return lbx__file_poison(file);
}

lbx_status
lbx__flush_checkpoint(lbx__file *file, bool idle)
{
    lbx__header header = file->header;
    lbx_status status = lbx__flush_check_files(file);
    uint64_t last;

    if (status == LBX_OK)
        status = lbx__engine_begin(&file->engine);
    header.generation++;
    header.has_journal = true;
    header.journal_bytes = file->journal.bytes;
    header.idle = idle;
    header.level = file->options.durability;
    header.time_ns = lbx__file_time(file);
    header.wall_ns = file->io->wall_ns(file->io);
    if (status == LBX_OK)
        status = lbx__header_write(&file->engine, &header);
    if (status == LBX_OK)
        status = lbx__engine_commit(&file->engine, &last);
    if (status != LBX_OK) {
        lbx__engine_abort(&file->engine);
        return status;
    }
    file->header = header;
    lbx__journal_start(&file->journal, header.generation); // JRNL-4
    lbx__boot_words_note_commit(&file->membership, last);
    file->durable = file->ticket;
    return LBX_OK;
}

/* ---- Before a batch ---- */

/* A commit in shared mode that changes nothing, but has a number. */
static lbx_status
flush_empty_commit(lbx__file *file)
{
    lbx_status status = lbx__header_read(&file->engine, &file->header);
    uint64_t last;

    if (status == LBX_OK)
        status = lbx__header_write(&file->engine, &file->header);
    if (status == LBX_OK)
        status = lbx__engine_commit(&file->engine, &last);
    if (status == LBX_OK)
        lbx__boot_words_note_commit(&file->membership, last);
    return status;
}

/* Pages that were freed can be used two commits later. That has to happen
 * before the batch: a refusal comes in the middle of one, which must not be
 * committed by halves. If no page was freed since the last time, nothing is
 * committed. A batch that needs more than those before it, and more pages in a
 * row than a part of the map, may be refused once. */
lbx_status
lbx__flush_free_pages(lbx__file *file)
{
    lbx__engine *engine = &file->engine;
    lbx_status status;

    lbx__free_space_start_batch(engine);
    for (int i = 0; i < 2 && lbx__free_space_wants_commit(engine); i++) {
        const bool empty = engine->rows == 0;

        status = lbx__file_has_exclusive_mode(file)
                     ? lbx__flush_checkpoint(file, false)
                     : flush_empty_commit(file);
        if (status != LBX_OK) {
            (void)lbx__file_poison(file);
            lbx__engine_abort(engine);
            return LBX_IO;
        }
        if (empty)
            engine->empty_commit = lbx__engine_last(engine);
        status = lbx__engine_begin(engine);
        if (status != LBX_OK)
            return status;
    }
    return LBX_OK;
}

/* ---- Shared mode ---- */

void
lbx__flush_shared_batch(lbx__file *file)
{
    const int64_t now = lbx__file_time(file);
    const bool changed = file->engine.rows > 0;
    lbx_status status = LBX_OK;
    uint64_t last;

    // The time of last resort, to the second, should the wall clock be set back
    // while the machine is off.
    if (changed && now - file->header.time_ns >= LBX_SECOND) {
        status = lbx__header_read(&file->engine, &file->header);
        file->header.time_ns = now;
        file->header.wall_ns = file->io->wall_ns(file->io);
        if (status == LBX_OK)
            status = lbx__header_write(&file->engine, &file->header);
    }
    if (status == LBX_OK)
        status = lbx__engine_commit(&file->engine, &last);
    if (status != LBX_OK) {
        // Other processes may have begun already: on the state before, which
        // LMDB's meta page still names.
        (void)lbx__file_poison(file);
        lbx__engine_abort(&file->engine);
        return;
    }
    if (changed) {
        file->written_ns = lbx_clock_now(NULL);
        lbx__boot_words_note_commit(&file->membership, last);
        lbx__notification_raise_others(&file->membership); // MEMB-3
    }
    file->durable = file->ticket;
}

/* ---- Exclusive mode ---- */

static bool
flush_wants_checkpoint(const lbx__file *file)
{
    return !lbx__journal_fits(&file->journal) ||
           file->engine.rows >= (file->engine.tight ? CHECKPOINT_ROWS_MAX_TIGHT
                                                    : CHECKPOINT_ROWS_MAX);
}

/* Instead of a write to the journal: a checkpoint is as durable. One that was
 * too small grows, if it can. */
static lbx_status
flush_by_checkpoint(lbx__file *file, bool too_small)
{
    if (lbx__flush_checkpoint(file, false) != LBX_OK)
        return lbx__file_poison(file);
    if (too_small)
        (void)lbx__journal_grow(&file->journal,
                                (uint64_t)file->options.journal_bytes);
    return LBX_OK;
}

static lbx_status
flush_journal(lbx__file *file, lbx_durability level)
{
    lbx__journal *journal = &file->journal;
    lbx_status status = LBX_OK;

    if (flush_wants_checkpoint(file))
        return flush_by_checkpoint(file, !lbx__journal_fits(journal));
    if (lbx__journal_write(journal) != LBX_OK)
        return flush_by_checkpoint(file, false);
    if (level == LBX_DURABILITY_POWER_CUT)
        status = lbx__journal_flush(journal);
    else if (level == LBX_DURABILITY_INTERVAL)
        status = lbx__interval_flush_written(&file->interval);
    if (status != LBX_OK)
        return lbx__file_poison(file);
    lbx__boot_words_note_record(&file->membership, journal->generation,
                                journal->number);
    file->durable = file->ticket; // FLUSH-1
    return LBX_OK;
}

lbx_status
lbx__flush_to_level(lbx__file *file)
{
    const lbx_status status = lbx__flush_check_files(file);

    return status == LBX_OK ? flush_journal(file, file->options.durability)
                            : status;
}

/* ---- Sync, and holds ---- */

void
lbx__flush_add_hold(lbx__file *file, lbx__flush_hold *hold)
{
    lbx__lock_take(&file->hold_lock);
    hold->next = file->holds;
    file->holds = hold;
    lbx__lock_give(&file->hold_lock);
}

void
lbx__flush_remove_hold(lbx__file *file, const lbx__flush_hold *hold)
{
    lbx__lock_take(&file->hold_lock);
    for (lbx__flush_hold **at = &file->holds; *at; at = &(*at)->next) {
        if (*at == hold) {
            *at = hold->next;
            break;
        }
    }
    lbx__lock_give(&file->hold_lock);
}

static bool
flush_has_holds(lbx__file *file)
{
    bool has;

    lbx__lock_take(&file->hold_lock);
    has = file->holds != NULL;
    lbx__lock_give(&file->hold_lock);
    return has;
}

static void
flush_serve_holds(lbx__file *file, lbx_status status)
{
    lbx__lock_take(&file->hold_lock);
    while (file->holds) {
        lbx__flush_hold *hold = file->holds;

        file->holds = hold->next;
        lbx__lock_give(&file->hold_lock);
        hold->status = status == LBX_OK ? hold->take(file, hold) : status;
        lbx__lock_take(&file->hold_lock);
        hold->served = true;
    }
    lbx__lock_give(&file->hold_lock);
}

lbx_status
lbx__flush_sync(lbx__file *file)
{
    lbx_status status = lbx__flush_check_files(file);

    if (!flush_has_holds(file))
        return status == LBX_OK && lbx__file_has_exclusive_mode(file)
                   ? flush_journal(file, LBX_DURABILITY_POWER_CUT)
                   : status;
    if (status == LBX_OK && lbx__file_has_exclusive_mode(file) &&
        lbx__flush_checkpoint(file, false) != LBX_OK)
        status = lbx__file_poison(file);
    flush_serve_holds(file, status);
    return status;
}
