/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a store: making it, joining others, or recovering what a killed owner
 * has left.
 *
 * A store is made in this order, each step durable before the next: data.mdb
 * with its tables and a header with has_journal false; the journal, under
 * another name, then renamed; the header again, with has_journal true.
 *
 * RECOV-1  Replaying twice is replaying once: records are puts and deletes of
 *          whole rows, one transaction applies them all, and it also takes the
 *          next generation, so that they do not count any more.
 * RECOV-2  Damage is never read as empty, and never repaired by deleting: a
 *          journal without data.mdb, or a header with a journal that is not
 *          there, is CORRUPT and not a new store.
 *
 * Threads    the storage's.
 */
#include "base/fault.h"
#include "codec/random.h"
#include "stores/file/mdb_tables.h"
#include "stores/file/private.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FIRST_BYTES = 128 << 10 /* of a new data.mdb: more than its tables take */
};

/* ---- A new store ---- */

/* CORRUPT whatever options.must_exist is: there was a store. */
static lbx_status
recover_miss_data(lbx__file *file)
{
    return lbx__fault_set(file->options.fault, LBX_CORRUPT,
                          "there is a journal, but nothing in " LBX__DATA);
}

/* Removes a data.mdb that LMDB had just begun when the power failed: two meta
 * pages at most, and no journal. Nothing was ever committed to it. */
static lbx_status
recover_drop_stillborn(lbx__file *file)
{
    const off_t meta_pages = 2 * (off_t)sysconf(_SC_PAGESIZE); // LMDB's size
    struct stat found;

    if (fstatat(file->folder.fd, LBX__DATA, &found, AT_SYMLINK_NOFOLLOW) < 0)
        return LBX_OK; // not even that
    if (!file->folder.has_journal && found.st_size <= meta_pages) {
        if (unlinkat(file->folder.fd, LBX__DATA, 0) < 0)
            return LBX_IO;
        file->folder.has_data = false;
    }
    return LBX_OK;
}

/* Why the right to write, or the writer lock, was not granted. */
static lbx_status
recover_refuse_entry(lbx__file *file, lbx_status status)
{
    lbx_fault *fault = file->options.fault;
    char name[LBX__FILE_PROCESS_BYTES];

    if (status != LBX_BUSY)
        return lbx__file_open_refuse(file, status, LBX__WAKE);
    (void)lbx__file_name_process(lbx__blocker_pid(&file->membership), name);
    if (file->options.exclusive)
        return lbx__fault_set(fault, status,
                              "the store is wanted alone, but another process "
                              "has it open");
    if (lbx__membership_is_refused(&file->membership))
        return lbx__fault_set(fault, status, "%s has the store open, alone",
                              name);
    return lbx__fault_set(fault, status,
                          "%s has the store open, and has not let this one "
                          "join for options.busy_ms, %" PRId64
                          " ms: is it stopped?",
                          name, file->options.busy_ms);
}

/* Reads what LMDB would trust, before LMDB opens data.mdb: meta pages, the list
 * of tables, their roots, and the list of free pages. Reading all pages is what
 * lbx_store_options.check is for. */
static lbx_status
recover_skim(lbx__file *file, uint64_t *ret_map_bytes)
{
    const char *why = "";
    lbx__mdb_tables tables;
    lbx_status status;

    // In shared mode other processes commit and reuse pages, but not while this
    // one has the writer lock.
    if (file->membership.mode != LBX__MODE_EXCLUSIVE) {
        status = lbx__writer_lock_take(&file->membership);
        if (status != LBX_OK)
            return recover_refuse_entry(file, status);
    }
    status = lbx__mdb_tables_open(&tables, file->io, file->folder.fd, &why);
    if (status == LBX_OK)
        status = lbx__mdb_tables_skim(&tables, &why);
    *ret_map_bytes = tables.pages.map_bytes;
    lbx__mdb_tables_close(&tables);
    lbx__writer_lock_release(&file->membership);
    if (status == LBX_OK)
        return LBX_OK;
    return lbx__fault_set(file->options.fault, status, LBX__DATA ": %s", why);
}

/* LMDB did not open. A map that is too large makes it return ENOMEM or EINVAL,
 * as other things do: mapping as much here finds out. */
static lbx_status
recover_refuse_map(lbx__file *file, bool is_new, uint64_t bytes,
                   lbx_status status)
{
    void *map = mmap(NULL, bytes, PROT_READ,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (map != MAP_FAILED) {
        (void)munmap(map, bytes);
        return lbx__file_open_refuse(file, status, LBX__DATA);
    }
    return lbx__fault_set(
        file->options.fault, LBX_NO_MEMORY,
        LBX__DATA ": %" PRIu64 " MiB of address space cannot be had%s",
        bytes >> 20,
        is_new ? ": set options.map_bytes to less, or raise "
                 "ulimit -v"
               : ", which were its map_bytes when it was made: "
                 "raise ulimit -v");
}

static lbx_status
recover_open_engine(lbx__file *file)
{
    lbx_status status = lbx__folder_look(&file->folder, NULL);
    uint64_t map_bytes = (uint64_t)file->options.map_bytes;
    bool is_new;

    if (status != LBX_OK)
        return status;
    if (file->membership.mode == LBX__MODE_EXCLUSIVE)
        status = recover_drop_stillborn(file);
    is_new = !file->folder.has_data;
    // Before LMDB makes one, which would hide a backup that is restored later.
    if (status == LBX_OK && is_new && file->folder.has_journal)
        return recover_miss_data(file);
    if (status == LBX_OK && !is_new) {
        status = recover_skim(file, &map_bytes);
        if (status != LBX_OK)
            return status;
    }
    if (status == LBX_OK) {
        status = lbx__engine_open(&file->engine, file->io, file->folder.fd,
                                  is_new ? map_bytes : 0);
        if (status == LBX_NO_MEMORY || status == LBX_IO)
            return recover_refuse_map(file, is_new, map_bytes, status);
    }
    file->engine.allocator = file->options.allocator;
    // The meta pages before anything else: see recover_drop_stillborn(); and
    // the name of data.mdb before there is one of a journal.
    if (status == LBX_OK && is_new && mdb_env_sync(file->engine.env, 1) != 0)
        status = LBX_IO;
    if (status == LBX_OK && is_new)
        status = lbx__io_status(file->io->fsync(file->io, file->folder.fd));
    return status == LBX_OK ? LBX_OK
                            : lbx__file_open_refuse(file, status, LBX__DATA);
}

static lbx_status
recover_create(lbx__file *file)
{
    lbx__header *header = &file->header;
    lbx_status status;
    uint64_t last;

    if (file->folder.has_journal)
        return recover_miss_data(file);
    if (file->options.must_exist)
        return lbx__file_open_refuse(file, LBX_NOT_FOUND, LBX__DATA);
    *header = (lbx__header){.generation = 1, .idle = true};
    if (!lbx__random(header->uid, sizeof(header->uid)))
        return LBX_IO;
    file->io->boot_id(file->io, header->boot);
    header->wall_ns = file->io->wall_ns(file->io);
    header->offset_ns = header->wall_ns - file->io->boot_ns(file->io);
    header->time_ns =
        lbx__file_time(file); // the wall's, or that of a test's clock
    // A disk that is full is reported as such here; LMDB would return EIO.
    status = lbx__io_allocate(file->io, file->engine.fd, FIRST_BYTES);
    if (status == LBX_OK)
        status = lbx__engine_begin(&file->engine);
    if (status == LBX_OK)
        status = lbx__engine_create(&file->engine);
    if (status == LBX_OK)
        status = lbx__header_write(&file->engine, header);
    if (status == LBX_OK)
        status = lbx__engine_commit(&file->engine, &last);
    return status == LBX_OK ? LBX_OK
                            : lbx__file_open_refuse(file, status, LBX__DATA);
}

/* ---- Recovery ---- */

static lbx_status
recover_apply(void *context, lbx__table table, lbx__bytes key,
              const lbx__bytes *value)
{
    lbx__engine *engine = context;

    return value ? lbx__engine_put(engine, table, key, value, 1)
                 : lbx__engine_remove(engine, table, key);
}

static lbx_status
recover_report_damage(lbx__file *file, const lbx__journal_end_state *state)
{
    return lbx__fault_set(file->options.fault, LBX_CORRUPT,
                          "journal: record %" PRIu64
                          " is damaged, bytes %" PRIu64 " to %" PRIu64,
                          state->records + 1, state->end, state->bad_upto);
}

static lbx_status
recover_replay(lbx__file *file)
{
    const uint64_t generation = file->header.generation;
    lbx__journal_end_state state;
    lbx_status status = lbx__engine_begin(&file->engine);

    if (status != LBX_OK)
        return lbx__file_open_refuse(file, status, LBX__DATA);
    status = lbx__journal_read(&file->journal, generation, recover_apply,
                               &file->engine, &state);
    if (status == LBX_CORRUPT)
        return recover_report_damage(file, &state);
    if (status != LBX_OK)
        return lbx__file_open_refuse(file, status, LBX__JOURNAL);
    // In the same boot what was handed to the system is in the file.
    if (state.records <
        lbx__boot_words_last_record(&file->membership, generation)) {
        state.bad_upto = state.end + state.torn_bytes;
        return recover_report_damage(file, &state);
    }
    if (state.time_ns > file->time_ns)
        file->time_ns = state.time_ns;
    if (state.records > 0 || state.torn_bytes > 0)
        lbx__file_log(file,
                      "recovered %" PRIu64 " batches; cut %" PRIu64
                      " bytes that were never acknowledged",
                      state.records, state.torn_bytes);
    return LBX_OK;
}

/* Store time continues where it was: over a boot, by the wall clock. */
static void
recover_continue_time(lbx__file *file)
{
    lbx__header *header = &file->header;
    uint8_t boot[16];
    int64_t now;

    if (header->time_ns > file->time_ns)
        file->time_ns = header->time_ns;
    file->io->boot_id(file->io, boot);
    if (memcmp(boot, header->boot, sizeof(boot)) == 0)
        return;
    memcpy(header->boot, boot, sizeof(boot));
    now = header->time_ns + file->io->wall_ns(file->io) - header->wall_ns;
    if (now < file->time_ns) // the wall clock was set back
        now = file->time_ns;
    header->offset_ns = now - file->io->boot_ns(file->io);
    if (!header->idle && header->level < LBX_DURABILITY_POWER_CUT)
        header->era++;
}

static lbx_status
recover_open_journal(lbx__file *file)
{
    lbx_status status =
        lbx__journal_open(&file->journal, file->io, file->folder.fd,
                          file->header.uid, file->options.allocator);

    if (status == LBX_NOT_FOUND)
        return lbx__fault_set(file->options.fault, LBX_CORRUPT,
                              LBX__JOURNAL ": it is missing");
    if (status == LBX_OK && !file->header.idle &&
        file->journal.bytes < file->header.journal_bytes)
        return lbx__fault_set(file->options.fault, LBX_CORRUPT,
                              LBX__JOURNAL ": it is shorter than it was");
    if (status != LBX_OK)
        return lbx__file_open_refuse(file, status, LBX__JOURNAL);
    return LBX_OK;
}

static lbx_status
recover_make_journal(lbx__file *file)
{
    const uint64_t limit = (uint64_t)file->options.journal_bytes;
    lbx_status status = lbx__journal_create(
        file->io, file->folder.fd, file->header.uid,
        limit < LBX__JOURNAL_FIRST ? limit : LBX__JOURNAL_FIRST);

    if (status != LBX_OK)
        return lbx__file_open_refuse(file, status, LBX__JOURNAL);
    lbx__journal_close(&file->journal);
    return recover_open_journal(file);
}

/* LMDB must not show an older state than one that was durable before. */
static lbx_status
recover_check_age(lbx__file *file)
{
    if (lbx__boot_words_last_commit(&file->membership) >
            lbx__engine_last(&file->engine) ||
        lbx__journal_read_generation(&file->journal) > file->header.generation)
        return lbx__fault_set(file->options.fault, LBX_CORRUPT,
                              LBX__DATA
                              " shows an older state: its latest meta "
                              "page is damaged");
    return LBX_OK;
}

static lbx_status
recover_read_header(lbx__file *file)
{
    lbx_status status = lbx__header_read(&file->engine, &file->header);

    if (status == LBX_NOT_FOUND)
        status = LBX_CORRUPT;
    return status == LBX_OK ? LBX_OK
                            : lbx__file_open_refuse(file, status, LBX__DATA);
}

/* Exclusive mode. */
static lbx_status
recover_take_over(lbx__file *file)
{
    lbx_status status = lbx__engine_tables(&file->engine);
    bool resize;

    if (status == LBX_NOT_FOUND)
        status = recover_create(file);
    else if (status != LBX_OK)
        status = lbx__file_open_refuse(file, status, LBX__DATA);
    if (status == LBX_OK)
        status = recover_read_header(file);
    if (status == LBX_OK)
        status = file->header.has_journal ? recover_open_journal(file)
                                          : recover_make_journal(file);
    if (status == LBX_OK)
        status = recover_check_age(file);
    if (status == LBX_OK && !file->header.idle)
        status = recover_replay(file);
    if (status != LBX_OK)
        return status;
    recover_continue_time(file);
    resize = file->journal.bytes > (uint64_t)file->options.journal_bytes;
    status = lbx__flush_checkpoint(file, resize);
    if (status == LBX_OK && resize) {
        status = recover_make_journal(file);
        // On a full disk the old one stays, so that letters can be taken out.
        if (status == LBX_OK || (status == LBX_NO_SPACE && file->journal.io))
            status = lbx__flush_checkpoint(file, false);
    }
    if (status != LBX_OK)
        return lbx__file_open_refuse(file, status, LBX__DATA);
    lbx__boot_words_clear_poison(&file->membership); // MEMB-4
    return LBX_OK;
}

/* Shared mode. NOT_FOUND: the process that had the journal was killed, and the
 * store has to be recovered. */
static lbx_status
recover_join(lbx__file *file)
{
    lbx_status status;

    status = lbx__writer_lock_take(&file->membership);
    if (status != LBX_OK)
        return recover_refuse_entry(file, status);
    status = lbx__engine_tables(&file->engine);
    if (status == LBX_OK)
        status = recover_read_header(file);
    else if (status != LBX_NOT_FOUND)
        status = lbx__file_open_refuse(file, status, LBX__DATA);
    lbx__writer_lock_release(&file->membership);
    if (status == LBX_OK && (!file->header.idle || !file->header.has_journal))
        return LBX_NOT_FOUND;
    // Not found: a process was killed before it had made the journal.
    if (status == LBX_OK && lbx__boot_words_are_poisoned(&file->membership))
        status =
            lbx__fault_set(file->options.fault, LBX_IO,
                           "writing failed in another process that has the "
                           "store open");
    if (status == LBX_OK)
        status = recover_open_journal(file);
    if (status == LBX_OK && file->header.time_ns > file->time_ns)
        file->time_ns = file->header.time_ns;
    return status;
}

lbx_status
lbx__recover_file(lbx__file *file)
{
    lbx_status status;

    for (bool again = false;; again = true) {
        status = lbx__membership_enter(&file->membership, again);
        if (status != LBX_OK)
            return recover_refuse_entry(file, status);
        status = recover_open_engine(file);
        if (status != LBX_OK)
            return status;
        status = file->membership.mode == LBX__MODE_EXCLUSIVE
                     ? recover_take_over(file)
                     : recover_join(file);
        if (status != LBX_NOT_FOUND || lbx__file_has_exclusive_mode(file))
            break;
        // The process that recovers may remove data.mdb:
        // recover_drop_stillborn().
        lbx__engine_close(&file->engine);
        lbx__membership_leave(&file->membership);
    }
    if (status == LBX_OK && lbx__folder_watch(&file->folder) != LBX_OK)
        status = lbx__fault_set(file->options.fault, LBX_IO,
                                "a file of the store was deleted while it was "
                                "being opened");
    return status;
}
