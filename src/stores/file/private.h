/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a storage in files is made of: the private header of stores/file.
 *
 *     file.c           the entries of storage.h, on what is below
 *     flush.c          when what is committed reaches the disk
 *     file_open.c      opening and closing
 *     recover.c        what opening finds in the folder
 *
 * repair/ uses it too, for copies and salvages.
 */
#ifndef LBX_STORES_FILE_PRIVATE_H
#define LBX_STORES_FILE_PRIVATE_H

#include "base/lock.h"
#include "stores/file/file.h"
#include "stores/file/folder.h"
#include "stores/file/header.h"
#include "stores/file/interval_flush.h"
#include "stores/file/membership.h"

#include <sys/types.h>

typedef struct lbx__file lbx__file;

/* A request to the storage's thread: `take` is called in the next sync, when
 * everything that was committed is in LMDB; its result is `status`. */
typedef struct lbx__flush_hold {
    struct lbx__flush_hold *next;
    lbx_status (*take)(lbx__file *file, struct lbx__flush_hold *hold);
    bool served;
    lbx_status status;
} lbx__flush_hold;

struct lbx__file {
    lbx__storage base; /* first */
    lbx_store_options options;
    const lbx__io *io;
    pid_t pid;
    lbx__file *next; /* in the list of this process's */

    lbx__folder folder;
    lbx__membership membership;
    lbx__engine engine;
    lbx__journal journal;
    lbx__header header;
    lbx__interval_flush interval;

    lbx__lock hold_lock;
    lbx__flush_hold *holds; /* under it */

    bool poisoned;
    uintptr_t thread;   /* that opened it */
    int64_t written_ns; /* when a batch last changed rows */
    uint64_t ticket;    /* the last that commit returned */
    uint64_t durable;   /* the last that has reached the level */
    int64_t time_ns;    /* the last that was returned */
};

/* ---- file.c ---- */

extern const lbx__storage_ops lbx__file_ops;

static inline bool
lbx__file_has_exclusive_mode(const lbx__file *file)
{
    return file->membership.mode == LBX__MODE_EXCLUSIVE;
}

/* Poisons the storage after a failed write, in all processes; returns IO. */
lbx_status lbx__file_poison(lbx__file *file);

/* Whether it is poisoned: by this thread, the one of interval flushes, or
 * another process. */
bool lbx__file_is_poisoned(lbx__file *file);

/* For lbx__membership.slow: `context` is the storage. */
void lbx__file_report_slow(void *context, uint32_t pid);

enum {
    LBX__FILE_PROCESS_BYTES = 24
};

/* "process 12"; 0 is one that is not known. Returns `ret`. */
const char *lbx__file_name_process(uint32_t pid,
                                   char ret[LBX__FILE_PROCESS_BYTES]);

/* Store time: never goes back. */
int64_t lbx__file_time(lbx__file *file);

/* Passes a line to options.log, printf-like. */
void lbx__file_log(const lbx__file *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- flush.c ---- */

/* Poisons the storage, and aborts the transaction, when a file of it is not in
 * its folder any more (FLUSH-2). OK; IO. */
lbx_status lbx__flush_check_files(lbx__file *file);

/* Commits what the transaction has, with a new generation of the journal, which
 * is written from the front from now on (JRNL-4). `idle`: no record is written
 * before the next checkpoint. After a failure the transaction is aborted. */
lbx_status lbx__flush_checkpoint(lbx__file *file, bool idle);

/* Before a batch: commits when that makes free pages usable (ENG-2). OK; any
 * failure, and then no transaction is open. */
lbx_status lbx__flush_free_pages(lbx__file *file);

/* Commits a batch in shared mode: durable afterwards, or poisoned. */
void lbx__flush_shared_batch(lbx__file *file);

/* Brings everything that is committed to the level of the options, or to
 * POWER_CUT and the holds served. */
lbx_status lbx__flush_to_level(lbx__file *file);
lbx_status lbx__flush_sync(lbx__file *file);

/* Adds a hold, from any thread; removes one that may have been served. */
void lbx__flush_add_hold(lbx__file *file, lbx__flush_hold *hold);
void lbx__flush_remove_hold(lbx__file *file, const lbx__flush_hold *hold);

/* ---- file_open.c ---- */

/* Closes all parts that are open, and frees it. */
void lbx__file_open_undo(lbx__file *file);

/* Writes the fault for a failure of `what` while opening, with what to do about
 * it; returns the status. */
lbx_status lbx__file_open_refuse(const lbx__file *file, lbx_status status,
                                 const char *what);

/* ---- recover.c ---- */

/* Opens everything from the open membership to the journal; file_open.c frees
 * what a failure leaves. */
lbx_status lbx__recover_file(lbx__file *file);

#endif
