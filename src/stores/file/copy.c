/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lbx_file_copy(): a store as it is at one moment, in a new folder.
 *
 * The thread of the storage only marks the moment: it brings everything into
 * LMDB and begins a transaction that reads, which keeps the pages of that moment
 * from being used again. Then the store goes on, and whoever asked for the copy
 * writes it, row by row, from those pages: read without LMDB (view.h), each with
 * its sum, so that no copy is made of what is damaged.
 *
 * The copy is a store of its own: another uid, another key for receipts, and a
 * later era. Time goes on in it as in the first.
 *
 * I1  A hold is in the list until it is served, or its owner takes it out; both
 *     under the lock.
 *
 * Threads    lbx__copy_serve() the storage's; the rest any.
 */
#include "stores/file/copy.h"

#include "base/clock.h"
#include "codec/random.h"
#include "post/rules/rules.h"
#include "stores/file/cradle.h"
#include "stores/file/parts.h"
#include "stores/file/room.h"
#include "stores/file/view.h"

#include <string.h>

enum {
    ROWS_AT_ONCE = 10000,
    BYTES_AT_ONCE = 32 << 20,
    TRIES = 16
};

/* Somebody who wants the store to be held. */
struct lbx__hold {
    lbx__hold *next;
    bool served;
    lbx_status status;
    MDB_txn *txn;
    uint64_t map_bytes;
    lbx__own own;
    lbx__view view;
};

/* ---- In the thread of the storage ---- */

bool
lbx__copy_is_wanted(lbx__file *file)
{
    bool wanted;

    lbx__lock_take(&file->hold_lock);
    wanted = file->holds != NULL;
    lbx__lock_give(&file->hold_lock);
    return wanted;
}

/* The latest transaction, and its meta page. BUSY: another process has committed
 * between the two. */
static lbx_status
hold_once(lbx__file *file, lbx__hold *hold)
{
    const char *why;
    int result = mdb_txn_begin(file->engine.env, NULL, MDB_RDONLY, &hold->txn);
    lbx_status status = lbx__lmdb_status(result);

    if (status != LBX_OK)
        return status;
    status = lbx__view_open(&hold->view, file->io, file->folder.fd, &why);
    if (status == LBX_OK &&
        hold->view.pages.transaction != mdb_txn_id(hold->txn))
        status = LBX_BUSY;
    if (status == LBX_OK)
        return LBX_OK;
    lbx__view_close(&hold->view);
    mdb_txn_abort(hold->txn);
    hold->txn = NULL;
    return status;
}

static lbx_status
hold_now(lbx__file *file, lbx__hold *hold)
{
    const bool in_company = file->presence.right != LBX__ALONE;
    lbx_status status = LBX_BUSY;

    if (in_company && !lbx__presence_take_turn(&file->presence))
        return LBX_NO_MEMORY;
    for (int i = 0; i < TRIES && status == LBX_BUSY; i++)
        status = hold_once(file, hold);
    hold->map_bytes = file->engine.map_pages * file->engine.page_bytes;
    hold->own = file->own;
    hold->own.time_ns = lbx__file_time(file);
    hold->own.wall_ns = file->io->wall_ns(file->io);
    lbx__presence_end_turn(&file->presence);
    return status;
}

void
lbx__copy_serve(lbx__file *file, lbx_status status)
{
    lbx__lock_take(&file->hold_lock);
    while (file->holds) {
        lbx__hold *hold = file->holds;

        file->holds = hold->next;
        lbx__lock_give(&file->hold_lock);
        hold->status = status == LBX_OK ? hold_now(file, hold) : status;
        lbx__lock_take(&file->hold_lock);
        hold->served = true;
    }
    lbx__lock_give(&file->hold_lock);
}

/* ---- In the thread of who wants a copy ---- */

static void
ask(lbx__file *file, lbx__hold *hold)
{
    lbx__lock_take(&file->hold_lock);
    hold->next = file->holds;
    file->holds = hold;
    lbx__lock_give(&file->hold_lock);
}

/* I1. */
static void
give_up(lbx__file *file, const lbx__hold *hold)
{
    lbx__lock_take(&file->hold_lock);
    for (lbx__hold **at = &file->holds; *at; at = &(*at)->next) {
        if (*at == hold) {
            *at = hold->next;
            break;
        }
    }
    lbx__lock_give(&file->hold_lock);
}

struct copying {
    lbx__hold *hold;
    lbx__engine engine; /* the copy's */
    size_t bytes;       /* since the last commit */
    bool damaged;       /* a page could not be read */
};

static void
note_bad(void *context, lbx__table table, const lbx__bad_page *page)
{
    (void)table;
    (void)page;
    ((struct copying *)context)->damaged = true;
}

static lbx_status
commit_some(struct copying *copying)
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
        if (status == LBX_OK && (copying->engine.rows >= ROWS_AT_ONCE ||
                                 copying->bytes >= BYTES_AT_ONCE))
            status = commit_some(copying);
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
write_own(struct copying *copying)
{
    lbx__own own = copying->hold->own;

    own.generation++;
    own.has_journal = false;
    own.idle = true;
    if (!lbx__random(own.uid, sizeof(own.uid)))
        return LBX_IO;
    return lbx__own_write(&copying->engine, &own);
}

static lbx_status
copy_rows(struct copying *copying)
{
    lbx__view *view = &copying->hold->view;
    lbx_status status;
    uint64_t last;

    lbx__view_listen(view, note_bad, copying);
    status = lbx__view_find_tables(view);
    for (int i = 0; i < LBX__TABLES && status == LBX_OK; i++)
        status = view->has_table[i] ? copy_table(copying, (lbx__table)i)
                                    : LBX_CORRUPT;
    if (status == LBX_OK)
        status = write_own(copying);
    if (status == LBX_OK)
        status = lbx__engine_commit(&copying->engine, &last);
    return status;
}

static lbx_status
fill(lbx__hold *hold, const char *path)
{
    struct copying copying = {.hold = hold};
    lbx__folder folder;
    lbx_status status =
        lbx__folder_open(&folder, &lbx__io_system, path, false, NULL);

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
wall_ms(void *context)
{
    (void)context;
    return lbx__clock_wall_ms();
}

/* Makes its journal, and makes it a store of its own. */
static lbx_status
finish(const char *path)
{
    const lbx__rules_options rules_options = {.wall_ms = wall_ms};
    lbx_store_options options = LBX_STORE_OPTIONS_INIT;
    lbx__storage *storage;
    lbx__rules *rules = NULL;
    lbx_status status;

    options.journal_bytes = LBX__JOURNAL_LEAST; // who opens it says how large
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
lbx__file_copy(lbx__storage *storage, const char *dir,
               lbx_status (*sync)(void *context), void *context)
{
    lbx__file *file = (lbx__file *)storage;
    lbx__hold hold = {.view = {.fd = -1}};
    lbx__cradle cradle;
    lbx_fault fault = {LBX_OK, ""};
    lbx_status status = lbx__cradle_open(&cradle, &lbx__io_system, dir, &fault);

    if (status != LBX_OK) {
        lbx__file_log(file, "not copied: %s", fault.text);
        return status;
    }
    ask(file, &hold);
    status = sync(context);
    give_up(file, &hold);
    if (status == LBX_OK)
        status = hold.served ? hold.status : LBX_IO;
    if (status == LBX_OK)
        status = fill(&hold, cradle.path);
    if (status == LBX_OK)
        status = finish(cradle.path);
    lbx__view_close(&hold.view);
    if (hold.txn)
        mdb_txn_abort(hold.txn);
    status = lbx__cradle_close(&cradle, status);
    if (status != LBX_OK)
        lbx__file_log(file, "not copied to %s: %s", dir,
                      lbx_status_text(status));
    return status;
}
