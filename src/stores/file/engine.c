/* SPDX-License-Identifier: Apache-2.0 */
/* Rows in LMDB; see engine.h. free_space.c has ENG-2. */
#include "stores/file/engine.h"

#include "stores/file/folder.h"
#include "stores/file/free_space.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    READERS = 1024,                   /* of all processes together */
    LOCK_BYTES = READERS * 64 + 4096, /* at least what LMDB wants for them */
};

/* The names in LMDB: part of the file format. */
static const char *const table_names[LBX__TABLES] = {
    "meta",  "names",    "boxes", "heads", "bodies", "states",
    "ready", "waits",    "lines", "turns", "groups", "gids",
    "seen",  "seen_due", "age",   "tasks", "old",
};

int
lbx__engine_table(lbx__bytes name)
{
    if (name.size == 3 && memcmp(name.data, "own", 3) == 0)
        return LBX__TABLES;
    for (int i = 0; i < LBX__TABLES; i++) {
        if (name.size == strlen(table_names[i]) &&
            memcmp(name.data, table_names[i], name.size) == 0)
            return i;
    }
    return -1;
}

int
lbx__engine_compare(lbx__bytes a, lbx__bytes b)
{
    const size_t both = a.size < b.size ? a.size : b.size;
    const int order = both > 0 ? memcmp(a.data, b.data, both) : 0;

    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

lbx_status
lbx__engine_status(int result)
{
    switch (result) {
    case MDB_SUCCESS:
        return LBX_OK;
    case MDB_NOTFOUND:
        return LBX_NOT_FOUND;
    case MDB_MAP_FULL:
        return LBX_NO_SPACE;
    case MDB_READERS_FULL:
        return LBX_BUSY;
    case MDB_VERSION_MISMATCH:
        return LBX_NEWER;
    case MDB_PAGE_NOTFOUND:
    case MDB_CORRUPTED:
    case MDB_INVALID:
    case MDB_INCOMPATIBLE:
    case MDB_BAD_DBI:
        return LBX_CORRUPT;
    default:
        return result > 0 ? lbx__io_status(-result) : LBX_IO;
    }
}

/* Makes lock.mdb, before LMDB does: LMDB maps it and writes to it, and would
 * leave it without blocks. Not while this process has it open: closing it drops
 * the locks of the process on it. */
static lbx_status
engine_make_lock(const lbx__io *io, int folder)
{
    const int fd = io->open(io, folder, LBX__LOCK, O_RDWR | O_CREAT);
    lbx_status status;

    if (fd < 0)
        return lbx__io_status(fd);
    status = lbx__io_allocate(io, fd, LOCK_BYTES);
    (void)close(fd);
    return status;
}

lbx_status
lbx__engine_open(lbx__engine *engine, const lbx__io *io, int folder,
                 uint64_t map_bytes)
{
    char path[64];
    lbx_status status;
    int result;

    memset(engine, 0, sizeof(*engine));
    status = engine_make_lock(io, folder);
    if (status != LBX_OK)
        return status;
    engine->io = io;
    engine->fd = -1;
    // By descriptor: the folder that was checked, whatever its path leads to
    // now.
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", folder);
    result = mdb_env_create(&engine->env);
    if (result == 0)
        result = mdb_env_set_maxdbs(engine->env, LBX__TABLES + 1);
    if (result == 0)
        result = mdb_env_set_maxreaders(engine->env, READERS);
    if (result == 0 && map_bytes)
        result = mdb_env_set_mapsize(engine->env, map_bytes);
    // Readers belong to their transaction, not to a thread: so a short one can
    // be had beside the write transaction.
    if (result == 0)
        result = mdb_env_open(engine->env, path, MDB_NOTLS, 0600);
    if (result == 0) {
        engine->fd = io->open(io, folder, LBX__DATA, O_RDWR);
        result = engine->fd < 0 ? -engine->fd : 0;
    }
    if (result != 0) {
        lbx__engine_close(engine);
        return lbx__engine_status(result);
    }
    lbx__free_space_refresh(engine);
    return LBX_OK;
}

void
lbx__engine_close(lbx__engine *engine)
{
    if (!engine->io)
        return;
    lbx__engine_abort(engine);
    // Before LMDB's: closing any descriptor of the file would drop LMDB's locks
    // on it, if it had some; they are on lock.mdb.
    if (engine->fd >= 0)
        (void)close(engine->fd);
    if (engine->env)
        mdb_env_close(engine->env);
    memset(engine, 0, sizeof(*engine));
}

static int
engine_open_tables(lbx__engine *engine, MDB_txn *txn, unsigned flags)
{
    int result = mdb_dbi_open(txn, "own", flags, &engine->header);

    if (result != 0)
        return result;
    for (int i = 0; i < LBX__TABLES; i++) {
        result = mdb_dbi_open(txn, table_names[i], flags, &engine->tables[i]);
        if (result != 0)
            return result == MDB_NOTFOUND ? MDB_CORRUPTED : result;
    }
    return 0;
}

lbx_status
lbx__engine_create(lbx__engine *engine)
{
    assert(engine->txn);
    return lbx__engine_status(
        engine_open_tables(engine, engine->txn, MDB_CREATE));
}

lbx_status
lbx__engine_tables(lbx__engine *engine)
{
    MDB_txn *txn;
    int result;

    assert(!engine->txn);
    // Whoever was killed reading holds the pages it read until it is forgotten.
    (void)mdb_reader_check(engine->env, NULL);
    result = mdb_txn_begin(engine->env, NULL, MDB_RDONLY, &txn);
    if (result != 0)
        return lbx__engine_status(result);
    result = engine_open_tables(engine, txn, 0);
    // Handles stay only with a transaction that ends well.
    if (result == 0)
        result = mdb_txn_commit(txn);
    else
        mdb_txn_abort(txn);
    return lbx__engine_status(result);
}

lbx_status
lbx__engine_begin(lbx__engine *engine)
{
    int result;

    if (engine->txn)
        return LBX_OK;
    result = mdb_txn_begin(engine->env, NULL, 0, &engine->txn);
    if (result != 0) {
        engine->txn = NULL;
        return lbx__engine_status(result);
    }
    lbx__free_space_refresh(engine);
    return LBX_OK;
}

lbx_status
lbx__engine_commit(lbx__engine *engine, uint64_t *ret_last)
{
    int result;

    assert(engine->txn);
    *ret_last = mdb_txn_id(engine->txn);
    result = mdb_txn_commit(engine->txn); // also frees the cursors
    engine->txn = NULL;
    memset(engine->cursors, 0, sizeof(engine->cursors));
    return lbx__engine_status(result);
}

void
lbx__engine_abort(lbx__engine *engine)
{
    if (!engine->txn)
        return;
    mdb_txn_abort(engine->txn);
    engine->txn = NULL;
    memset(engine->cursors, 0, sizeof(engine->cursors));
}

uint64_t
lbx__engine_last(const lbx__engine *engine)
{
    MDB_envinfo info;

    return mdb_env_info(engine->env, &info) == 0 ? info.me_last_txnid : 0;
}

static MDB_val
engine_val(lbx__bytes bytes)
{
    // LMDB does not write through it.
    return (MDB_val){bytes.size, (void *)(uintptr_t)bytes.data};
}

lbx_status
lbx__engine_get(lbx__engine *engine, lbx__table table, lbx__bytes key,
                lbx__bytes *ret)
{
    MDB_val name = engine_val(key), value;
    const int result =
        mdb_get(engine->txn, engine->tables[table], &name, &value);

    if (result != 0)
        return lbx__engine_status(result);
    *ret = (lbx__bytes){value.mv_data, value.mv_size};
    return LBX_OK;
}

lbx_status
lbx__engine_seek(lbx__engine *engine, lbx__table table, lbx__bytes key,
                 lbx__bytes *ret_key, lbx__bytes *ret_value)
{
    MDB_val name = engine_val(key), value;
    int result = 0;

    if (!engine->cursors[table])
        result = mdb_cursor_open(engine->txn, engine->tables[table],
                                 &engine->cursors[table]);
    if (result == 0)
        result = mdb_cursor_get(engine->cursors[table], &name, &value,
                                key.size ? MDB_SET_RANGE : MDB_FIRST);
    if (result != 0)
        return lbx__engine_status(result);
    if (name.mv_size == 0 || name.mv_size > LBX__ROW_KEY_MAX)
        return LBX_CORRUPT; // no rule puts such a key, and they copy keys
    *ret_key = (lbx__bytes){name.mv_data, name.mv_size};
    *ret_value = (lbx__bytes){value.mv_data, value.mv_size};
    // On a page whose keys are out of order a search leads anywhere; a caller
    // that continues behind the result must not come back to it.
    if (lbx__engine_compare(*ret_key, key) < 0)
        return LBX_CORRUPT;
    return LBX_OK;
}

lbx_status
lbx__engine_put(lbx__engine *engine, lbx__table table, lbx__bytes key,
                const lbx__bytes *parts, size_t count)
{
    MDB_val name = engine_val(key), value = {0, NULL};
    char *to;
    int result;

    for (size_t i = 0; i < count; i++)
        value.mv_size += parts[i].size;
    engine->rows++;
    result =
        mdb_put(engine->txn, engine->tables[table], &name, &value, MDB_RESERVE);
    if (result != 0)
        return lbx__engine_status(result);
    to = value.mv_data;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].size)
            memcpy(to, parts[i].data, parts[i].size);
        to += parts[i].size;
    }
    return LBX_OK;
}

lbx_status
lbx__engine_remove(lbx__engine *engine, lbx__table table, lbx__bytes key)
{
    MDB_val name = engine_val(key);
    int result;

    result = mdb_del(engine->txn, engine->tables[table], &name, NULL);
    if (result == MDB_NOTFOUND)
        return LBX_OK; // and no row: LMDB has nothing to commit
    engine->rows++;
    engine->removed = true;
    return lbx__engine_status(result);
}
