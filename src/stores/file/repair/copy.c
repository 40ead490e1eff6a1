/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lbx_file_store_copy(): a store as it is at one moment, in a new folder.
 *
 * The storage's thread only marks the moment (lbx__flush_hold): it brings
 * everything into LMDB and begins a read transaction, which keeps the pages of
 * that moment from being reused. Then the store goes on, and the calling thread
 * writes the copy from those pages, row by row: read without LMDB (view.h),
 * each with its sum, so that damaged rows are not copied.
 *
 * The copy is a store of its own: another uid, another key for receipts, and a
 * later era. Its time continues that of the first.
 *
 * COPY-1  A hold is in the list until it is served, or its owner removes it;
 *         both under the lock.
 *
 * Threads    copy_take_hold() the storage's; the rest any.
 */
#include "stores/file/repair/copy.h"

#include "base/clock.h"
#include "base/fault.h"
#include "codec/random.h"
#include "post/rules/rules.h"
#include "post/service/service.h"
#include "post/store.h"
#include "stores/file/private.h"
#include "stores/file/repair/staging.h"
#include "stores/file/repair/view.h"

#include <letterbox/post/file_store.h>

#include <string.h>

enum {
    COPY_ROWS = 10000,
    COPY_BYTES = 32 << 20,
    COPY_TRIES = 16
};

/* One copy: what the storage's thread notes down for the caller's. */
struct copy_hold {
    lbx__flush_hold base; /* first */
    MDB_txn *txn;
    uint64_t map_bytes;
    lbx__header header;
    lbx__view view;
};

/* ---- In the storage's thread ---- */

/* The latest transaction, and its meta page. BUSY: another process has
 * committed between the two. */
static lbx_status
copy_hold_once(lbx__file *file, struct copy_hold *hold)
{
    const char *why;
    int result = mdb_txn_begin(file->engine.env, NULL, MDB_RDONLY, &hold->txn);
    lbx_status status = lbx__engine_status(result);

    if (status != LBX_OK)
        return status;
    status = lbx__view_open(&hold->view, file->io, file->folder.fd, &why);
    if (status == LBX_OK &&
        hold->view.tables.pages.transaction != mdb_txn_id(hold->txn))
        status = LBX_BUSY;
    if (status == LBX_OK)
        return LBX_OK;
    lbx__view_close(&hold->view);
    mdb_txn_abort(hold->txn);
    hold->txn = NULL;
    return status;
}

static lbx_status
copy_take_hold(lbx__file *file, lbx__flush_hold *base)
{
    struct copy_hold *hold = (struct copy_hold *)base;
    const bool shared = file->membership.mode != LBX__MODE_EXCLUSIVE;
    lbx_status status =
        shared ? lbx__writer_lock_take(&file->membership) : LBX_OK;

    if (status != LBX_OK)
        return status;
    status = LBX_BUSY;
    for (int i = 0; i < COPY_TRIES && status == LBX_BUSY; i++)
        status = copy_hold_once(file, hold);
    hold->map_bytes = file->engine.map_pages * file->engine.page_bytes;
    hold->header = file->header;
    hold->header.time_ns = lbx__file_time(file);
    hold->header.wall_ns = file->io->wall_ns(file->io);
    lbx__writer_lock_release(&file->membership);
    return status;
}

/* ---- In the caller's thread ---- */

struct copying {
    struct copy_hold *hold;
    lbx__audit_progress *progress;
    lbx__engine engine; /* the copy's */
    size_t bytes;       /* since the last commit */
    bool damaged;       /* a page could not be read */
};

static void
copy_note_bad(void *context, lbx__table table, const lbx__mdb_bad_page *page)
{
    (void)table;
    (void)page;
    ((struct copying *)context)->damaged = true;
}

static lbx_status
copy_commit_some(struct copying *copying)
{
    uint64_t last;
    lbx_status status = lbx__engine_commit(&copying->engine, &last);

    copying->bytes = 0;
    return status == LBX_OK ? lbx__engine_begin(&copying->engine) : status;
}

static lbx_status
copy_table(struct copying *copying, lbx__table table)
{
    lbx__view *view = &copying->hold->view;
    lbx__view_row row;
    lbx_status status;

    while ((status = lbx__view_next(view, table, &row)) == LBX_OK) {
        lbx__bytes value;

        if (!row.is_good)
            return LBX_CORRUPT;
        value.data = (const uint8_t *)row.value.data - LBX__SUM_BYTES;
        value.size = row.value.size + LBX__SUM_BYTES;
        status = lbx__engine_put(&copying->engine, table, row.key, &value, 1);
        copying->bytes += row.key.size + value.size;
        if (status == LBX_OK &&
            (copying->engine.rows >= COPY_ROWS || copying->bytes >= COPY_BYTES))
            status = copy_commit_some(copying);
        if (status == LBX_OK)
            status = lbx__audit_progress_step(copying->progress);
        if (status != LBX_OK)
            return status;
    }
    if (status == LBX_NOT_FOUND)
        status =
            copying->damaged || !view->is_whole[table] ? LBX_CORRUPT : LBX_OK;
    return status;
}

/* As a store that was made, and has no journal yet: recover.c. */
static lbx_status
copy_write_header(struct copying *copying)
{
    lbx__header header = copying->hold->header;

    header.generation++;
    header.has_journal = false;
    header.idle = true;
    if (!lbx__random(header.uid, sizeof(header.uid)))
        return LBX_IO;
    return lbx__header_write(&copying->engine, &header);
}

static lbx_status
copy_rows(struct copying *copying)
{
    lbx__view *view = &copying->hold->view;
    lbx_status status;
    uint64_t last;

    lbx__mdb_tables_listen(&view->tables, copy_note_bad, copying);
    status = lbx__view_find_tables(view);
    if (status == LBX_OK)
        lbx__audit_progress_expect(copying->progress, view);
    for (int i = 0; i < LBX__TABLES && status == LBX_OK; i++)
        status = view->tables.has[i] ? copy_table(copying, (lbx__table)i)
                                     : LBX_CORRUPT;
    if (status == LBX_OK)
        status = copy_write_header(copying);
    if (status == LBX_OK)
        status = lbx__engine_commit(&copying->engine, &last);
    return status == LBX_OK ? lbx__audit_progress_end(copying->progress)
                            : status;
}

static lbx_status
copy_fill(struct copy_hold *hold, const char *path,
          lbx__audit_progress *progress)
{
    struct copying copying = {.hold = hold, .progress = progress};
    lbx__folder folder;
    lbx_status status =
        lbx__folder_open(&folder, &lbx__io_system, path, false, false, NULL);

    if (status != LBX_OK)
        return status;
    status = lbx__engine_open(&copying.engine, &lbx__io_system, folder.fd,
                              hold->map_bytes);
    if (status == LBX_OK)
        status = lbx__engine_begin(&copying.engine);
    if (status == LBX_OK)
        status = lbx__engine_create(&copying.engine);
    if (status == LBX_OK)
        status = copy_rows(&copying);
    lbx__engine_close(&copying.engine);
    lbx__folder_close(&folder);
    return status;
}

static int64_t
copy_wall_ms(void *context)
{
    (void)context;
    return lbx__clock_wall_ms();
}

/* Makes its journal, and makes it a store of its own. */
static lbx_status
copy_finish(const char *path)
{
    const lbx__rules_options rules_options = {.wall_ms = copy_wall_ms};
    lbx_store_options options = LBX_STORE_OPTIONS_INIT;
    lbx__storage *storage;
    lbx__rules *rules = NULL;
    lbx_status status;

    options.journal_bytes = LBX__JOURNAL_MIN; // its opener chooses the size
    status = lbx__file_open(path, &options, NULL, &storage);
    if (status != LBX_OK)
        return status;
    status = lbx__rules_open(storage, &rules_options, &rules);
    if (status == LBX_OK)
        status = lbx__rules_renew(rules);
    if (status == LBX_OK)
        status = storage->ops->sync(storage);
    lbx__rules_close(rules);
    lbx__storage_close(storage);
    return status;
}

lbx_status
lbx__copy_store(lbx__storage *storage, lbx__copy *copy)
{
    lbx__file *file = (lbx__file *)storage;
    struct copy_hold hold = {
        .base = {.take = copy_take_hold},
        .view = {.tables = {.fd = -1}},
    };
    lbx__staging staging;
    lbx_status status =
        lbx__staging_open(&staging, &lbx__io_system, copy->dir, &copy->fault);

    if (status != LBX_OK) {
        lbx__file_log(file, "not copied: %s", copy->fault.text);
        return status;
    }
    lbx__flush_add_hold(file, &hold.base);
    status = copy->sync(copy->context);
    lbx__flush_remove_hold(file, &hold.base);
    if (status == LBX_OK)
        status = hold.base.served ? hold.base.status : LBX_IO;
    if (status == LBX_OK)
        status = copy_fill(&hold, staging.path, &copy->progress);
    if (status == LBX_OK)
        status = copy_finish(staging.path);
    lbx__view_close(&hold.view);
    if (hold.txn)
        mdb_txn_abort(hold.txn);
    status = lbx__staging_close(&staging, status);
    if (status == LBX_OK)
        return status;
    lbx__file_log(file, "not copied to %s: %s", copy->dir,
                  lbx_status_text(status));
    return lbx__fault_set(&copy->fault, status, "%s: %s", copy->dir,
                          lbx_status_text(status));
}

static lbx_status
copy_sync_store(void *context)
{
    return lbx_store_sync(context);
}

lbx_status
lbx_file_store_copy(lbx_store *store, const char *dir)
{
    return lbx_file_store_copy_with(store, dir, NULL, NULL);
}

lbx_status
lbx_file_store_copy_with(lbx_store *store, const char *dir,
                         const lbx_file_store_work *work, lbx_fault *fault)
{
    lbx__copy copy = {
        .dir = dir,
        .sync = copy_sync_store,
        .context = store,
    };
    lbx_file_store_work own;
    lbx_status status = lbx__audit_progress_read(&own, work, fault);

    if (status != LBX_OK)
        return status;
    if (!store || !dir || !*dir)
        return lbx__fault_set(fault, LBX_INVALID, "no store, or no folder");
    if (strcmp(lbx_store_scheme(store), lbx__file_ops.scheme) != 0)
        return lbx__fault_set(fault, LBX_UNSUPPORTED,
                              "a store that is not in files");
    copy.progress.tell = own.progress;
    copy.progress.context = own.context;
    status = lbx__copy_store(lbx__service_storage(store), &copy);
    if (fault)
        *fault = copy.fault;
    return status;
}
