/* SPDX-License-Identifier: Apache-2.0 */
/* What a storage in files is made of; private to file.c, open.c, recover.c,
 * beat.c, copy.c, salvage.c. */
#ifndef LBX_STORES_FILE_PARTS_H
#define LBX_STORES_FILE_PARTS_H

#include "base/lock.h"
#include "stores/file/engine.h"
#include "stores/file/file.h"
#include "stores/file/folder.h"
#include "stores/file/journal.h"
#include "stores/file/presence.h"

#include <pthread.h>
#include <sys/types.h>

/* Level INTERVAL: a thread that flushes what has been written. */
typedef struct lbx__beat {
    pthread_t thread;
    bool runs;
    int64_t interval_ns;
    lbx__journal *journal;
    _Atomic(uint32_t) word; /* changes when there is something to look at */
    _Atomic(uint32_t) stop;
    _Atomic(uint32_t) failed; /* a flush did */
    _Atomic(int64_t)
        since_ns; /* the first write that is not flushed; 0: none */
    _Atomic(int64_t)
        flushing_ns; /* the first that the thread is flushing now; 0: none */
} lbx__beat;

typedef struct lbx__hold lbx__hold; /* copy.c */

typedef struct lbx__file {
    lbx__storage base; /* first */
    lbx_store_options options;
    const lbx__io *io;
    pid_t pid;
    struct lbx__file *next; /* of this process's */

    lbx__folder folder;
    lbx__presence presence;
    lbx__engine engine;
    lbx__journal journal;
    lbx__own own;
    lbx__beat beat;

    lbx__lock hold_lock;
    lbx__hold *holds; /* under it: who wants a copy */

    bool poisoned;
    uint64_t ticket;  /* the last that was given */
    uint64_t durable; /* the last that has reached the level */
    int64_t time_ns;  /* the last that was told */
} lbx__file;

extern const lbx__storage_ops lbx__file_ops;

/* Closes all parts that are open, and frees it. */
void lbx__file_destroy(lbx__file *file);

/* Everything from `wake`, which is open, to the journal; open.c frees what is
 * left of a failure. */
lbx_status lbx__file_recover(lbx__file *file, const char *path);

/* Store time: never goes back. */
int64_t lbx__file_time(lbx__file *file);

/* Commits what the transaction has, with a new generation of the journal, which
 * is written from the front now (J4): `idle`, not at all before the next. After a
 * failure the transaction is gone. */
lbx_status lbx__file_checkpoint(lbx__file *file, bool idle);

/* Says something to people, printf-like. */
void lbx__file_log(const lbx__file *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Starts and stops the thread of level INTERVAL. */
bool lbx__beat_start(lbx__beat *beat, lbx__journal *journal,
                     int64_t interval_ns);
void lbx__beat_stop(lbx__beat *beat);

/* Something has been written; flushes it here if the thread is late. */
lbx_status lbx__beat_written(lbx__beat *beat);

#endif
