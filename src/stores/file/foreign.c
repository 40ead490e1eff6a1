/* SPDX-License-Identifier: Apache-2.0 */
/* What is foreign; see foreign.h. */
#include "stores/file/foreign.h"

#include "base/fault.h"
#include "stores/file/mdb_tables.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FRONT_BYTES = 24 /* that are read of each file: behind them, `wake` has
                        words that are set before its mark is */
};

/* Where each of lbx__folder_names has the bytes that tell it. */
static const struct foreign_mark {
    size_t at;
    const char *bytes; /* NULL: those of LMDB's files */
    size_t size;
} foreign_marks[] = {
    {LBX__MDB_PAGE_HEAD, NULL, 4},
    {0, NULL, 4},
    {0, "LBXJRNL", 7},
    {0, "LBXWAKE", 7},
    {0, "LBXJRNL", 7},
};

static bool
foreign_is_there(const lbx__folder *folder, const char *name)
{
    struct stat found;

    return fstatat(folder->fd, name, &found, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Whether a file begins as one of the store's does, or has nothing in it. */
static bool
foreign_begins_well(const lbx__folder *folder, const lbx__io *io, int i)
{
    static const uint32_t lmdb = 0xbeefc0de;
    static const uint8_t zeros[FRONT_BYTES];
    const struct foreign_mark *mark = &foreign_marks[i];
    uint8_t front[FRONT_BYTES] = {0};
    int fd;

    if (!foreign_is_there(folder, lbx__folder_names[i]))
        return true;
    fd = io->open(io, folder->fd, lbx__folder_names[i], O_RDONLY);
    if (fd < 0)
        return true; // opening it to write will fail too
    (void)io->pread(io, fd, front, sizeof(front), 0);
    (void)close(fd);
    return memcmp(front, zeros, sizeof(front)) == 0 ||
           memcmp(front + mark->at,
                  mark->bytes ? mark->bytes : (const char *)&lmdb,
                  mark->size) == 0;
}

/* Whether data.mdb is sound and has no table of a store: one of another
 * program's. An empty one is, without `wake`, which a store has before LMDB
 * makes its files, if there is a lock.mdb, or its map is smaller than that of a
 * store can be. */
static bool
foreign_has_data(const lbx__folder *folder, const lbx__io *io)
{
    bool foreign = false;
    const char *why;
    lbx__mdb_tables tables;

    if (lbx__mdb_tables_open(&tables, io, folder->fd, &why) == LBX_OK) {
        if (tables.pages.main.rows == 0) {
            foreign = !foreign_is_there(folder, LBX__WAKE) &&
                      (foreign_is_there(folder, LBX__LOCK) ||
                       tables.pages.map_bytes < LBX__MAP_MIN);
        } else if (lbx__mdb_tables_find(&tables) == LBX_OK) {
            foreign = true;
            for (int i = 0; i < LBX__MDB_TABLES; i++)
                foreign &= !tables.has[i];
        }
    }
    lbx__mdb_tables_close(&tables);
    return foreign;
}

lbx_status
lbx__foreign_check(const lbx__folder *folder, const lbx__io *io,
                   lbx_fault *fault)
{
    const char *name = NULL;

    if (folder->has_data && folder->has_journal)
        return LBX_OK;
    for (int i = 0; !name && lbx__folder_names[i]; i++) {
        if (!foreign_begins_well(folder, io, i))
            name = lbx__folder_names[i];
    }
    if (!name && folder->has_data && foreign_has_data(folder, io))
        name = LBX__DATA;
    if (!name)
        return LBX_OK;
    return lbx__fault_set(fault, LBX_DENIED,
                          "%s is there, and is not of a store: foreign files "
                          "are left alone; a store is made in a new or empty "
                          "folder",
                          name);
}
