/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of a store: of this user, or of a group that this process trusts,
 * and safe to write to.
 *
 * FOLD-1  Nothing is written to a folder that is refused: one that is a
 *         symbolic link, has another owner, is writable for others, lies on a
 *         network file system, has such a file among those of the store, or has
 *         no store but foreign files. With `group`, users of its group are no
 *         others, if this process is in it: they may own and write it.
 * FOLD-2  A storage that is open notices when one of its files is no longer the
 *         one of that name in the folder. What is written then would not be
 *         found by the next process to open the store, and a process that finds
 *         no `wake` or lock.mdb makes one, and does not see this process.
 *
 * Threads    one at a time.
 */
#ifndef LBX_STORES_FILE_FOLDER_H
#define LBX_STORES_FILE_FOLDER_H

#include "stores/file/io.h"

#define LBX__DATA        "data.mdb"
#define LBX__LOCK        "lock.mdb"
#define LBX__JOURNAL     "journal"
#define LBX__JOURNAL_NEW "journal.new" /* while it is being made */
#define LBX__WAKE        "wake"

/* All of them; a NULL at the end. The first LBX__FOLDER_FILES are always there
 * while a storage is open. */
extern const char *const lbx__folder_names[];

enum {
    LBX__FOLDER_FILES = 4
};

typedef struct lbx__folder {
    int fd;
    uint64_t device;
    uint64_t inode;
    bool group;    /* FOLD-1 */
    bool has_data; /* a data.mdb with something in it */
    bool has_journal;
    bool watched;
    uint64_t inodes[LBX__FOLDER_FILES]; /* of the open files, once watched */
    int64_t unchanged_ns; /* the files were there, and since then no name of the
                           * folder has changed; 0: unknown */
} lbx__folder;

/* Opens a folder, and makes it, durably, unless `must_exist`. OK; NOT_FOUND;
 * INVALID: it is no folder; DENIED; the fault has the reason; any I/O
 * failure. */
lbx_status lbx__folder_open(lbx__folder *folder, const lbx__io *io,
                            const char *path, bool must_exist, bool group,
                            lbx_fault *fault);

/* Reads which files there are; again after another process has made some. */
lbx_status lbx__folder_look(lbx__folder *folder, lbx_fault *fault);

/* Remembers the files that are there: the storage has just opened them, and
 * each flush compares (FOLD-2, flush.c). */
lbx_status lbx__folder_watch(lbx__folder *folder);

void lbx__folder_close(lbx__folder *folder);

#endif
