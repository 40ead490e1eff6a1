/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lbx_file_store_salvage(): what is intact of a damaged store, as a new one.
 *
 * The damaged store is read page by page, without LMDB (view.h), in this
 * process: nothing in it can crash the reader. No other process may have it
 * open, which the lock in `wake` shows; that is the only file that is written
 * to.
 *
 * What is saved: letters whose body row is intact, wherever it is found: in the
 * trees, in leaves whose branch is lost (salvage_orphans.c), in the journal,
 * also behind records that are damaged. A letter whose state is lost counts as
 * never delivered. Receipts, and what is known of tokens, duplicates, attempts
 * and moves, are not saved.
 *
 * SALV-1  A letter is made only of a body whose sum is right, and once.
 * SALV-2  What is known to be purged or deleted stays so.
 * SALV-3  Deletions count as far as they can be read. An acknowledged letter is
 *         there again only if the record or the page of its deletion is
 *         damaged, and that damage has been reported.
 *
 * Threads    any, one salvage of a store at a time.
 */
#include "stores/file/repair/salvage.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/sized.h"
#include "stores/file/private.h"
#include "stores/file/repair/staging.h"

static int64_t
salvage_wall_ms(void *context)
{
    (void)context;
    return lbx__clock_wall_ms();
}

/* Store time continues that of the damaged store. */
static void
salvage_adopt_time(lbx__file *file, const lbx__view *view)
{
    const lbx__header *old = &view->tables.header;
    const int64_t boot = file->io->boot_ns(file->io);
    int64_t now;

    if (view->tables.header_status != LBX_OK)
        return; // made by the wall clock, as that one was
    if (memcmp(old->boot, file->header.boot, sizeof(old->boot)) == 0) {
        now = boot + old->offset_ns;
    } else {
        now = old->time_ns + file->io->wall_ns(file->io) - old->wall_ns;
    }
    if (now < old->time_ns) // the wall clock was set back
        now = old->time_ns;
    file->header.offset_ns = now - boot;
    file->time_ns = now;
}

static lbx_status
salvage_fill(lbx__salvage *salvage)
{
    const lbx__rules_options options = {.wall_ms = salvage_wall_ms};
    lbx_status status =
        lbx__rules_open(salvage->storage, &options, &salvage->rules);

    if (status == LBX_OK)
        status = lbx__salvage_rows(salvage);
    if (status == LBX_OK)
        status = lbx__audit_progress_end(&salvage->log->progress);
    if (status == LBX_OK)
        status = salvage->storage->ops->sync(salvage->storage);
    lbx__rules_close(salvage->rules);
    return status;
}

/* The new store, whole or not there. */
static lbx_status
salvage_make_store(lbx__salvage *salvage, const char *new_dir, lbx_fault *fault)
{
    lbx_store_options options = LBX_STORE_OPTIONS_INIT;
    const int64_t most = (int64_t)salvage->view.tables.pages.file_bytes * 2;
    lbx__staging staging;
    lbx_status status =
        lbx__staging_open(&staging, &lbx__io_system, new_dir, fault);

    if (status != LBX_OK)
        return status;
    options.fault = fault;
    options.journal_bytes = LBX__JOURNAL_MIN; // its opener chooses the size
    if (options.map_bytes < most)
        options.map_bytes = most;
    status = lbx__file_open(staging.path, &options, NULL, &salvage->storage);
    if (status == LBX_OK) {
        salvage_adopt_time((lbx__file *)salvage->storage, &salvage->view);
        status = salvage_fill(salvage);
        lbx__storage_close(salvage->storage);
    }
    return lbx__staging_close(&staging, status);
}

/* All that can be read of the old one, over its damage. */
static lbx_status
salvage_read_store(lbx__salvage *salvage, int folder,
                   const lbx__membership_state *peek)
{
    const lbx_file_store_damage part = {.what = "meta page"};
    lbx__view *view = &salvage->view;
    const char *why;
    lbx_status status = lbx__view_open(view, &lbx__io_system, folder, &why);

    if (status == LBX_CORRUPT || status == LBX_NOT_FOUND ||
        (status == LBX_OK &&
         view->tables.pages.transaction < peek->last_commit)) {
        salvage->log->report.damaged++;
        lbx__audit_report_damage(salvage->log, &part);
        status = LBX_OK;
    }
    if (status == LBX_OK && view->tables.pages.count > 0)
        status = lbx__view_find_tables(view);
    if (status == LBX_OK && view->tables.header_status == LBX_NEWER)
        status = LBX_NEWER;
    if (status == LBX_OK)
        status = lbx__audit_journal(view, peek, true, salvage->log);
    if (status == LBX_OK && view->tables.pages.count > 0)
        status = lbx__audit_rows(view, salvage->log);
    if (status == LBX_OK)
        status = lbx__salvage_orphans(view);
    return status;
}

static lbx_status
salvage_folder(lbx__salvage *salvage, const lbx__folder *folder,
               const char *new_dir, lbx_fault *fault)
{
    lbx_file_store_report *report = &salvage->log->report;
    lbx__membership membership;
    lbx__membership_state peek;
    uint64_t expected;
    lbx_status status = lbx__boot_words_inspect(&lbx__io_system, folder->fd,
                                                &peek); // before all else

    if (status == LBX_OK)
        status = lbx__membership_open(&membership, &lbx__io_system, folder->fd,
                                      true, 0);
    if (status != LBX_OK)
        return status;
    status = lbx__membership_enter(&membership, true);
    if (status == LBX_BUSY)
        (void)lbx__fault_set(fault, status, "a process has it open");
    if (status == LBX_OK)
        status = salvage_read_store(salvage, folder->fd, &peek);
    expected = report->letters + report->missing;
    if (status == LBX_OK)
        status = salvage_make_store(salvage, new_dir, fault);
    report->missing =
        expected > report->letters ? expected - report->letters : 0;
    lbx__membership_close(&membership);
    return status;
}

lbx_status
lbx_file_store_salvage(const char *dir, const char *new_dir,
                       void (*damage)(void *context,
                                      const lbx_file_store_damage *part),
                       void *context, lbx_file_store_report *ret)
{
    lbx_file_store_work work = LBX_FILE_STORE_WORK_INIT;

    work.damage = damage;
    work.context = context;
    return lbx_file_store_salvage_with(dir, new_dir, &work, ret);
}

lbx_status
lbx_file_store_salvage_with(const char *dir, const char *new_dir,
                            const lbx_file_store_work *work,
                            lbx_file_store_report *ret)
{
    lbx__audit_log log = {.damage = NULL};
    lbx__salvage salvage = {.log = &log, .view = {.tables = {.fd = -1}}};
    lbx_fault fault = {LBX_OK, ""};
    lbx_file_store_work own;
    lbx__folder folder;
    lbx_status status;

    if (!ret || !LBX__SIZED_IS_WRITABLE(ret, lbx_file_store_report, fault))
        return LBX_INVALID;
    status = lbx__audit_progress_read(&own, work, &fault);
    if (status == LBX_OK && (!dir || !*dir || !new_dir || !*new_dir))
        status = LBX_INVALID;
    if (status != LBX_OK)
        return lbx__audit_report_end(ret, NULL, status, &fault, "");
    log.damage = own.damage;
    log.context = log.progress.context = own.context;
    log.progress.tell = own.progress;
    status = lbx__folder_open(&folder, &lbx__io_system, dir, true, own.group,
                              &fault);
    if (status != LBX_OK)
        return lbx__audit_report_end(ret, NULL, status, &fault, dir);
    lbx__buffer_init(&salvage.encoded, NULL, LBX__ROW_VALUE_MAX);
    status = salvage_folder(&salvage, &folder, new_dir, &fault);
    lbx__folder_close(&folder);
    lbx__view_close(&salvage.view);
    lbx__body_attributes_fini(&salvage.attributes);
    lbx__buffer_fini(&salvage.encoded);
    lbx__array_fini(&salvage.boxes, NULL);
    lbx__array_fini(&salvage.letters, NULL);
    return lbx__audit_report_end(ret, status == LBX_OK ? &log.report : NULL,
                                 status, &fault, dir);
}
