/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Storage in files: LMDB behind a journal when alone, LMDB itself in company.
 *
 * Alone, one LMDB transaction is open from checkpoint to checkpoint and shows
 * what the groups have written (G1). Each group is also a record of the journal;
 * flush writes the records that are made, and flushes them as the level says.
 * When the journal is full, a group cannot be a record, or the transaction has
 * become large, flush makes a checkpoint instead, which is as good: LMDB commits
 * durably, and the journal begins anew. So does begin when room is scarce and
 * there are pages that a later transaction could use again.
 *
 * In company each group is a transaction of its own, committed durably in
 * commit, so that others need not wait for our flush; the level is then
 * POWER_CUT, whatever was asked for.
 *
 * K2, K3 are the engine's, N1 to N4 presence's, J1 to J5 the journal's.
 *
 * K4  `durable` is never ahead of the disk: it is raised by a flush that
 *     succeeded at the level, or a commit of LMDB's; what failed poisons, here
 *     and in `wake`, before anybody is told.
 */
#include "stores/file/copy.h"
#include "stores/file/parts.h"

#include <assert.h>
#include <unistd.h>

enum {
    /* Rows between two checkpoints: each may hold a path of LMDB's pages in
     * memory, and LMDB keeps 131,071 at most before it writes some early, which
     * would end the life of pointers that rules hold (G5). */
    ROWS_MOST = 12000,
    ROWS_MOST_TIGHT = 64 /* while the disk is full */
};

static lbx__file *
file_of(lbx__storage *storage)
{
    return (lbx__file *)storage;
}

static bool
is_alone(const lbx__file *file)
{
    return file->presence.right == LBX__ALONE;
}

static lbx_status
poison(lbx__file *file)
{
    if (!file->poisoned) {
        file->poisoned = true;
        lbx__presence_poison(&file->presence); // N4
        lbx__file_log(file, "writing failed: nothing is written any more "
                            "until the store is opened again");
    }
    return LBX_IO;
}

/* Ours, the flushing thread's, or another process's. */
static bool
is_poisoned(lbx__file *file)
{
    if (file->poisoned)
        return true;
    if ((file->beat.runs && lbx__load(&file->beat.failed, seq_cst)) ||
        lbx__presence_poisoned(&file->presence))
        (void)poison(file);
    return file->poisoned;
}

lbx_status
lbx__file_checkpoint(lbx__file *file, bool idle)
{
    lbx__own own = file->own;
    lbx_status status = lbx__engine_begin(&file->engine);
    uint64_t last;

    own.generation++;
    own.has_journal = true;
    own.journal_bytes = file->journal.bytes;
    own.idle = idle;
    own.level = file->options.durability;
    own.time_ns = lbx__file_time(file);
    own.wall_ns = file->io->wall_ns(file->io);
    if (status == LBX_OK)
        status = lbx__own_write(&file->engine, &own);
    if (status == LBX_OK)
        status = lbx__engine_commit(&file->engine, &last);
    if (status != LBX_OK) {
        lbx__engine_abort(&file->engine);
        return status;
    }
    file->own = own;
    lbx__journal_start(&file->journal, own.generation); // J4
    lbx__presence_tell_commit(&file->presence, last);
    file->durable = file->ticket;
    return LBX_OK;
}

/* Alone to company, when someone knocks (N2). */
static lbx_status
admit(lbx__file *file)
{
    lbx_status status = lbx__file_checkpoint(file, true);

    if (status != LBX_OK)
        return poison(file);
    lbx__presence_admit(&file->presence);
    lbx__file_log(file, "another process has come");
    return LBX_OK;
}

/* Company to alone, when there is nobody else (N2). */
static lbx_status
stay_alone(lbx__file *file)
{
    lbx_status status = lbx__engine_begin(&file->engine);

    if (status == LBX_OK)
        status = lbx__own_read(&file->engine, &file->own);
    if (status == LBX_OK)
        status = lbx__file_checkpoint(file, false);
    if (status != LBX_OK)
        return poison(file);
    lbx__file_log(file, "alone again");
    return LBX_OK;
}

/* A commit in company that changes nothing, but has a number. */
static lbx_status
commit_empty(lbx__file *file)
{
    lbx_status status = lbx__own_read(&file->engine, &file->own);
    uint64_t last;

    if (status == LBX_OK)
        status = lbx__own_write(&file->engine, &file->own);
    if (status == LBX_OK)
        status = lbx__engine_commit(&file->engine, &last);
    if (status == LBX_OK)
        lbx__presence_tell_commit(&file->presence, last);
    return status;
}

/* Before a group that may be refused for want of room (K3): pages that were freed
 * can be used two commits after. It has to be done here, since a refusal comes in
 * the middle of a group, which must not be committed by halves. Without a page
 * freed since the last time nothing is committed. A group that wants more than
 * those before, and more in a row than a part of the map, may be refused once. */
static lbx_status
make_room(lbx__file *file)
{
    lbx__engine *engine = &file->engine;
    lbx_status status;

    lbx__engine_start_group(engine);
    for (int i = 0; i < 2 && lbx__engine_wants_commit(engine); i++) {
        const bool empty = engine->rows == 0;

        status = is_alone(file) ? lbx__file_checkpoint(file, false)
                                : commit_empty(file);
        if (status != LBX_OK) {
            (void)poison(file);
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

static lbx_status
begin(lbx__storage *storage)
{
    lbx__file *file = file_of(storage);
    lbx_status status = LBX_OK;

    if (is_poisoned(file))
        return LBX_IO;
    if (is_alone(file)) {
        if (lbx__presence_knocked(&file->presence))
            status = admit(file);
    } else if (lbx__presence_try_alone(&file->presence)) {
        status = stay_alone(file);
    }
    if (status == LBX_OK && !is_alone(file) &&
        !lbx__presence_take_turn(&file->presence))
        return LBX_NO_MEMORY;
    if (status == LBX_OK)
        status = lbx__engine_begin(&file->engine);
    // Who held us up may have failed.
    if (status == LBX_OK && is_poisoned(file)) {
        lbx__engine_abort(&file->engine);
        status = LBX_IO;
    }
    if (status == LBX_OK)
        status = make_room(file);
    if (status != LBX_OK)
        lbx__presence_end_turn(&file->presence);
    return status;
}

static lbx_status
get(lbx__storage *storage, lbx__table table, lbx__bytes key,
    lbx__bytes *ret_value)
{
    lbx__file *file = file_of(storage);

    if (file->poisoned)
        return LBX_IO;
    return lbx__engine_get(&file->engine, table, key, ret_value);
}

static lbx_status
seek(lbx__storage *storage, lbx__table table, lbx__bytes key,
     lbx__bytes *ret_key, lbx__bytes *ret_value)
{
    lbx__file *file = file_of(storage);

    if (file->poisoned)
        return LBX_IO;
    return lbx__engine_seek(&file->engine, table, key, ret_key, ret_value);
}

static lbx_status
reserve(lbx__storage *storage, const lbx__row_size *sizes, size_t count,
        lbx__growth growth)
{
    return lbx__engine_reserve(&file_of(storage)->engine, sizes, count, growth);
}

static void
put(lbx__storage *storage, lbx__table table, lbx__bytes key,
    const lbx__bytes *parts, size_t count)
{
    lbx__file *file = file_of(storage);

    if (file->poisoned)
        return;
    if (is_alone(file))
        lbx__journal_put(&file->journal, table, key, parts, count);
    if (lbx__engine_put(&file->engine, table, key, parts, count) != LBX_OK)
        (void)poison(file);
}

static void
remove_row(lbx__storage *storage, lbx__table table, lbx__bytes key)
{
    lbx__file *file = file_of(storage);

    if (file->poisoned)
        return;
    if (is_alone(file))
        lbx__journal_remove(&file->journal, table, key);
    if (lbx__engine_remove(&file->engine, table, key) != LBX_OK)
        (void)poison(file);
}

/* A group in company: durable when this is done, or never. */
static void
commit_in_company(lbx__file *file)
{
    const int64_t now = lbx__file_time(file);
    const bool changed = file->engine.rows > 0;
    lbx_status status = LBX_OK;
    uint64_t last;

    // The time of last resort, should the wall clock be set back while the
    // machine is off; to the second.
    if (changed && now - file->own.time_ns >= LBX_SECOND) {
        status = lbx__own_read(&file->engine, &file->own);
        file->own.time_ns = now;
        file->own.wall_ns = file->io->wall_ns(file->io);
        if (status == LBX_OK)
            status = lbx__own_write(&file->engine, &file->own);
    }
    if (status == LBX_OK)
        status = lbx__engine_commit(&file->engine, &last);
    if (status != LBX_OK) {
        // Others may have begun already. They stand on the state before, which
        // is what LMDB's meta page still names.
        (void)poison(file);
        lbx__engine_abort(&file->engine);
        return;
    }
    if (changed) {
        lbx__presence_tell_commit(&file->presence, last);
        lbx__presence_ring_others(&file->presence); // N3
    }
    file->durable = file->ticket;
}

static uint64_t
commit(lbx__storage *storage)
{
    lbx__file *file = file_of(storage);

    file->ticket++;
    if (file->poisoned)
        lbx__engine_abort(&file->engine);
    else if (!is_alone(file))
        commit_in_company(file);
    else if (!lbx__journal_end(&file->journal, lbx__file_time(file)) &&
             file->durable == file->ticket - 1)
        file->durable = file->ticket; // nothing was written
    lbx__presence_end_turn(&file->presence);
    return file->ticket;
}

static bool
wants_checkpoint(const lbx__file *file)
{
    return !lbx__journal_fits(&file->journal) ||
           file->engine.rows >=
               (file->engine.tight ? ROWS_MOST_TIGHT : ROWS_MOST);
}

/* Brings everything that is committed to the level given. */
static lbx_status
flush_to(lbx__file *file, lbx_durability level)
{
    lbx__journal *journal = &file->journal;
    lbx_status status;

    // What cannot be written to the journal goes where the journal would go.
    if (wants_checkpoint(file) || lbx__journal_write(journal) != LBX_OK)
        return lbx__file_checkpoint(file, false) == LBX_OK ? LBX_OK
                                                           : poison(file);
    if (level == LBX_SURVIVES_POWER_CUT)
        status = lbx__journal_flush(journal);
    else if (level == LBX_SURVIVES_INTERVAL)
        status = lbx__beat_written(&file->beat);
    else
        status = LBX_OK;
    if (status != LBX_OK)
        return poison(file);
    lbx__presence_tell_record(&file->presence, journal->generation,
                              journal->number);
    file->durable = file->ticket; // K4
    return LBX_OK;
}

static lbx_status
flush(lbx__storage *storage, uint64_t ticket)
{
    lbx__file *file = file_of(storage);

    assert(ticket <= file->ticket && !storage->begun);
    if (ticket <= file->durable)
        return LBX_OK;
    if (is_poisoned(file))
        return LBX_IO;
    return flush_to(file, file->options.durability);
}

static lbx_status
sync_all(lbx__storage *storage)
{
    lbx__file *file = file_of(storage);

    assert(!storage->begun);
    if (is_poisoned(file))
        return LBX_IO;
    if (lbx__copy_is_wanted(file)) {
        lbx_status status = LBX_OK;

        if (is_alone(file) && lbx__file_checkpoint(file, false) != LBX_OK)
            status = poison(file);
        lbx__copy_serve(file, status);
        return status;
    }
    return is_alone(file) ? flush_to(file, LBX_SURVIVES_POWER_CUT) : LBX_OK;
}

int64_t
lbx__file_time(lbx__file *file)
{
    const int64_t now = file->options.clock
                            ? lbx_clock_now(file->options.clock)
                            : file->io->boot_ns(file->io) + file->own.offset_ns;

    if (now > file->time_ns)
        file->time_ns = now;
    return file->time_ns;
}

static int64_t
now_ns(lbx__storage *storage)
{
    return lbx__file_time(file_of(storage));
}

static lbx_durability
durability(lbx__storage *storage)
{
    const lbx__file *file = file_of(storage);

    return is_alone(file) ? file->options.durability : LBX_SURVIVES_POWER_CUT;
}

/* Somebody wants to be let in, and begin would do it. */
static bool
is_called(const lbx__storage *storage)
{
    const lbx__file *file = (const lbx__file *)storage;

    return is_alone(file) && lbx__presence_knocked(&file->presence);
}

static void
close_file(lbx__storage *storage)
{
    lbx__file *file = file_of(storage);

    // In a forked child all of it is the parent's: locks, pages, descriptors.
    if (file->pid != getpid())
        return;
    // What was flushed is in the journal whether or not this succeeds.
    if (!is_poisoned(file) && is_alone(file))
        (void)lbx__file_checkpoint(file, true);
    lbx__file_destroy(file);
}

const lbx__storage_ops lbx__file_ops = {
    .scheme = "file",
    .one_thread = true,
    .begin = begin,
    .get = get,
    .seek = seek,
    .reserve = reserve,
    .put = put,
    .remove = remove_row,
    .commit = commit,
    .flush = flush,
    .sync = sync_all,
    .now = now_ns,
    .durability = durability,
    .close = close_file,
    .era = lbx__file_era,
    .bell = lbx__file_bell,
    .sleep = lbx__file_sleep,
    .ring = lbx__file_ring,
    .is_called = is_called,
};
