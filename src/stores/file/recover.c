/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a store: making it, joining others, or recovering what a killed owner
 * has left.
 *
 * A store is made in this order, each step durable before the next: data.mdb with
 * its tables and a row that says "no journal yet"; the journal, under another
 * name, then renamed; that row again, saying that there is one. So a journal
 * without data, or data that speak of a journal which is not there, are damage
 * and never a new store (K6).
 *
 * K5  Replaying twice is replaying once: records are puts and deletes of whole
 *     rows, all of them are applied in one transaction, and that transaction
 *     also takes the next generation, so that they do not count any more.
 */
#include "base/fault.h"
#include "codec/random.h"
#include "stores/file/parts.h"
#include "stores/file/view.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static lbx_status
refuse(lbx__file *file, lbx_status status, const char *what)
{
    return lbx__fault_set(file->options.fault, status, "%s: %s", what,
                          lbx_status_text(status));
}

/* ---- A new store ---- */

/* Whether or not it must exist: it did. */
static lbx_status
miss_data(lbx__file *file)
{
    return lbx__fault_set(file->options.fault, LBX_CORRUPT,
                          "there is a journal, but nothing in " LBX__DATA);
}

/* data.mdb that LMDB had just begun when the power went: two meta pages at most,
 * and no journal. Nothing was ever committed. */
static lbx_status
drop_stillborn(lbx__file *file)
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

/* Looks at data.mdb before LMDB does, which trusts it: meta pages, the list of
 * tables, their roots, and the pages that may be used again. Not at all pages: that
 * is lbx_store_options.check. */
static lbx_status
look_first(lbx__file *file, uint64_t *ret_map_bytes)
{
    const char *why = "";
    lbx__view view;
    lbx_status status;

    // In company others commit, and use pages again, but not in our turn.
    if (file->presence.right != LBX__ALONE &&
        !lbx__presence_take_turn(&file->presence))
        return LBX_NO_MEMORY;
    status = lbx__view_open(&view, file->io, file->folder.fd, &why);
    if (status == LBX_OK)
        status = lbx__view_skim(&view, &why);
    *ret_map_bytes = view.pages.map_bytes;
    lbx__view_close(&view);
    lbx__presence_end_turn(&file->presence);
    if (status == LBX_OK)
        return LBX_OK;
    return lbx__fault_set(file->options.fault, status, LBX__DATA ": %s", why);
}

/* LMDB did not open: because of its map? It says ENOMEM or EINVAL to that, as to
 * other things. */
static lbx_status
refuse_map(lbx__file *file, bool is_new, uint64_t bytes, lbx_status status)
{
    void *map = mmap(NULL, bytes, PROT_READ,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (map != MAP_FAILED) {
        (void)munmap(map, bytes);
        return refuse(file, status, LBX__DATA);
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
open_engine(lbx__file *file)
{
    lbx_status status = lbx__folder_look(&file->folder, NULL);
    uint64_t map_bytes = (uint64_t)file->options.map_bytes;
    bool is_new;

    if (status != LBX_OK)
        return status;
    if (file->presence.right == LBX__ALONE)
        status = drop_stillborn(file);
    is_new = !file->folder.has_data;
    // Before LMDB makes one, which would be in the way of who brings it back.
    if (status == LBX_OK && is_new && file->folder.has_journal)
        return miss_data(file);
    if (status == LBX_OK && !is_new) {
        status = look_first(file, &map_bytes);
        if (status != LBX_OK)
            return status;
    }
    if (status == LBX_OK) {
        status = lbx__engine_open(&file->engine, file->io, file->folder.fd,
                                  is_new ? map_bytes : 0);
        if (status == LBX_NO_MEMORY || status == LBX_IO)
            return refuse_map(file, is_new, map_bytes, status);
    }
    file->engine.allocator = file->options.allocator;
    // The meta pages before anything else: see drop_stillborn(); and the name
    // before there is one of a journal.
    if (status == LBX_OK && is_new && mdb_env_sync(file->engine.env, 1) != 0)
        status = LBX_IO;
    if (status == LBX_OK && is_new)
        status = lbx__io_status(file->io->fsync(file->io, file->folder.fd));
    return status == LBX_OK ? LBX_OK : refuse(file, status, LBX__DATA);
}

static lbx_status
create(lbx__file *file)
{
    lbx__own *own = &file->own;
    lbx_status status;
    uint64_t last;

    if (file->folder.has_journal)
        return miss_data(file);
    if (file->options.must_exist)
        return refuse(file, LBX_NOT_FOUND, LBX__DATA);
    *own = (lbx__own){.generation = 1, .idle = true};
    if (!lbx__random(own->uid, sizeof(own->uid)))
        return LBX_IO;
    file->io->boot_id(file->io, own->boot);
    own->wall_ns = file->io->wall_ns(file->io);
    own->offset_ns = own->wall_ns - file->io->boot_ns(file->io);
    own->time_ns =
        lbx__file_time(file); // the wall's, or that of a test's clock
    status = lbx__engine_begin(&file->engine);
    if (status == LBX_OK)
        status = lbx__engine_create(&file->engine);
    if (status == LBX_OK)
        status = lbx__own_write(&file->engine, own);
    if (status == LBX_OK)
        status = lbx__engine_commit(&file->engine, &last);
    return status == LBX_OK ? LBX_OK : refuse(file, status, LBX__DATA);
}

/* ---- Recovery ---- */

static lbx_status
apply(void *context, lbx__table table, lbx__bytes key, const lbx__bytes *value)
{
    lbx__engine *engine = context;

    return value ? lbx__engine_put(engine, table, key, value, 1)
                 : lbx__engine_remove(engine, table, key);
}

static lbx_status
report_damage(lbx__file *file, const lbx__journal_end_state *state)
{
    return lbx__fault_set(file->options.fault, LBX_CORRUPT,
                          "journal: record %" PRIu64
                          " is damaged, bytes %" PRIu64 " to %" PRIu64,
                          state->records + 1, state->end, state->bad_upto);
}

static lbx_status
replay(lbx__file *file)
{
    const uint64_t generation = file->own.generation;
    lbx__journal_end_state state;
    lbx_status status = lbx__engine_begin(&file->engine);

    if (status != LBX_OK)
        return refuse(file, status, LBX__DATA);
    status = lbx__journal_read(&file->journal, generation, apply, &file->engine,
                               &state);
    if (status == LBX_CORRUPT)
        return report_damage(file, &state);
    if (status != LBX_OK)
        return refuse(file, status, LBX__JOURNAL);
    // Killed, not cut off from power: what was handed over is there.
    if (state.records <
        lbx__presence_last_record(&file->presence, generation)) {
        state.bad_upto = state.end + state.torn_bytes;
        return report_damage(file, &state);
    }
    if (state.time_ns > file->time_ns)
        file->time_ns = state.time_ns;
    if (state.records > 0 || state.torn_bytes > 0)
        lbx__file_log(file,
                      "recovered %" PRIu64 " groups; cut %" PRIu64
                      " bytes that had not been answered",
                      state.records, state.torn_bytes);
    return LBX_OK;
}

/* Time goes on where it was: over a boot, by what the wall clock says. */
static void
continue_time(lbx__file *file)
{
    lbx__own *own = &file->own;
    uint8_t boot[16];
    int64_t now;

    if (own->time_ns > file->time_ns)
        file->time_ns = own->time_ns;
    file->io->boot_id(file->io, boot);
    if (memcmp(boot, own->boot, sizeof(boot)) == 0)
        return;
    memcpy(own->boot, boot, sizeof(boot));
    now = file->io->wall_ns(file->io) - own->wall_ns;
    now = own->time_ns + (now > 0 ? now : 0);
    if (now < file->time_ns)
        now = file->time_ns;
    own->offset_ns = now - file->io->boot_ns(file->io);
    if (!own->idle && own->level < LBX_SURVIVES_POWER_CUT)
        own->era++;
}

static lbx_status
open_journal(lbx__file *file)
{
    lbx_status status =
        lbx__journal_open(&file->journal, file->io, file->folder.fd,
                          file->own.uid, file->options.allocator);

    if (status == LBX_NOT_FOUND)
        return lbx__fault_set(file->options.fault, LBX_CORRUPT,
                              LBX__JOURNAL ": it is missing");
    if (status == LBX_OK && !file->own.idle &&
        file->journal.bytes < file->own.journal_bytes)
        return lbx__fault_set(file->options.fault, LBX_CORRUPT,
                              LBX__JOURNAL ": it is shorter than it was");
    if (status != LBX_OK)
        return refuse(file, status, LBX__JOURNAL);
    return LBX_OK;
}

static lbx_status
make_journal(lbx__file *file)
{
    lbx_status status =
        lbx__journal_create(file->io, file->folder.fd, file->own.uid,
                            (uint64_t)file->options.journal_bytes);

    if (status != LBX_OK)
        return refuse(file, status, LBX__JOURNAL);
    lbx__journal_close(&file->journal);
    return open_journal(file);
}

/* What LMDB shows must not be older than what is known to have been there. */
static lbx_status
check_age(lbx__file *file)
{
    if (lbx__presence_last_commit(&file->presence) >
            lbx__engine_last(&file->engine) ||
        lbx__journal_first_generation(&file->journal) > file->own.generation)
        return lbx__fault_set(file->options.fault, LBX_CORRUPT,
                              LBX__DATA
                              " shows an older state: its latest meta "
                              "page is damaged");
    return LBX_OK;
}

static lbx_status
read_own(lbx__file *file)
{
    lbx_status status = lbx__own_read(&file->engine, &file->own);

    if (status == LBX_NOT_FOUND)
        status = LBX_CORRUPT;
    return status == LBX_OK ? LBX_OK : refuse(file, status, LBX__DATA);
}

/* We are alone. */
static lbx_status
take_over(lbx__file *file)
{
    lbx_status status = lbx__engine_tables(&file->engine);
    bool resize;

    if (status == LBX_NOT_FOUND)
        status = create(file);
    else if (status != LBX_OK)
        status = refuse(file, status, LBX__DATA);
    if (status == LBX_OK)
        status = read_own(file);
    if (status == LBX_OK)
        status =
            file->own.has_journal ? open_journal(file) : make_journal(file);
    if (status == LBX_OK)
        status = check_age(file);
    if (status == LBX_OK && !file->own.idle)
        status = replay(file);
    if (status != LBX_OK)
        return status;
    continue_time(file);
    resize = file->journal.bytes != (uint64_t)file->options.journal_bytes;
    status = lbx__file_checkpoint(file, resize);
    if (status == LBX_OK && resize) {
        status = make_journal(file);
        // D10: the old one will do, so that letters can be taken out.
        if (status == LBX_OK || (status == LBX_NO_SPACE && file->journal.io))
            status = lbx__file_checkpoint(file, false);
    }
    if (status != LBX_OK)
        return refuse(file, status, LBX__DATA);
    lbx__presence_clear(&file->presence); // N4
    return LBX_OK;
}

/* Others are there. BUSY: not any more, and who had the journal was killed. */
static lbx_status
join(lbx__file *file)
{
    lbx_status status;

    if (!lbx__presence_take_turn(&file->presence))
        return LBX_NO_MEMORY;
    status = lbx__engine_tables(&file->engine);
    if (status == LBX_OK)
        status = read_own(file);
    else if (status != LBX_NOT_FOUND)
        status = refuse(file, status, LBX__DATA);
    lbx__presence_end_turn(&file->presence);
    // Made, but for its journal, by someone who was killed then.
    if (status == LBX_NOT_FOUND)
        return LBX_BUSY;
    if (status == LBX_OK && (!file->own.idle || !file->own.has_journal))
        return LBX_BUSY;
    if (status == LBX_OK && lbx__presence_poisoned(&file->presence))
        status =
            lbx__fault_set(file->options.fault, LBX_IO,
                           "writing failed in another process that has the "
                           "store open");
    if (status == LBX_OK)
        status = open_journal(file);
    if (status == LBX_OK && file->own.time_ns > file->time_ns)
        file->time_ns = file->own.time_ns;
    return status;
}

/* Why we were not let in. */
static lbx_status
refuse_entry(lbx__file *file, lbx_status status, const char *path)
{
    return lbx__fault_set(
        file->options.fault, status,
        file->options.alone ? "%s is wanted alone, but another process has it "
                              "open"
        : lbx__presence_is_refused(&file->presence)
            ? "another process has %s open, alone"
            : "another process has %s open, and has not let us in for 30 s",
        path);
}

lbx_status
lbx__file_recover(lbx__file *file, const char *path)
{
    lbx_status status;

    for (bool again = false;; again = true) {
        status = lbx__presence_enter(&file->presence, again);
        if (status != LBX_OK)
            return refuse_entry(file, status, path);
        status = open_engine(file);
        if (status != LBX_OK)
            return status;
        if (file->presence.right == LBX__ALONE)
            return take_over(file);
        status = join(file);
        if (status != LBX_BUSY)
            return status;
        // Whoever recovers may throw data.mdb away: see drop_stillborn().
        lbx__engine_close(&file->engine);
        lbx__presence_retreat(&file->presence);
    }
}
