/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Storage: ordered rows under the rules, with two implementations, memory and
 * files; docs/design/post.md lists the tables.
 *
 * A storage is a set of numbered tables of rows. A row is a key and a value,
 * both bytes. A table is ordered by its keys as memcmp() orders them; a key
 * comes before longer keys that begin with it. What the bytes mean is up to the
 * rules.
 *
 * A rule works in three steps: it reads until it knows what it will do,
 * reserves what that needs, and writes. After reserve has returned OK nothing
 * can fail, so that nothing has to be undone:
 *
 *     lbx__storage_begin(storage);
 *     lbx__storage_get(...); lbx__storage_seek(...);      // decide
 *     status = lbx__storage_reserve(storage, sizes, count, LBX__GROWS);
 *     if (status != LBX_OK) ...                           // refused: no trace
 *     lbx__storage_put(...); lbx__storage_remove(...);    // write
 *     ...                                                 // more of the batch
 *     batch = lbx__storage_commit(storage);
 *     status = lbx__storage_flush(storage, batch);        // then finish calls
 *
 * STORAGE-1  Between begin and commit a storage shows its own writes.
 * STORAGE-2  commit cannot fail. A batch is durable when flush has returned OK
 *            for its number or a later one. After any other result it may or
 *            may not be durable (LBX_UNKNOWN to callers), and the storage is
 *            poisoned: begin, and all that follows, returns LBX_IO until it is
 *            reopened.
 * STORAGE-3  Batches become durable in the order of their numbers, each as a
 *            whole or not at all.
 * STORAGE-4  In shared mode, begin may find rows that other processes have
 *            changed.
 * STORAGE-5  Pointers from get and seek are valid until the next write to that
 *            table, or commit.
 * STORAGE-6  A put has the size that was reserved for it, or is no larger than
 *            the row it replaces; remove needs no reservation.
 *
 * Threads    one at a time; with `one_thread`, always the same one, from open
 *            to close.
 */
#ifndef LBX_POST_RULES_STORAGE_H
#define LBX_POST_RULES_STORAGE_H

#include <letterbox/base.h>
#include <letterbox/store.h>

#include <assert.h>

/* Part of the file format: new tables are added at the end. */
typedef enum lbx__table {
    LBX__META = 0,
    LBX__NAMES,
    LBX__BOXES,
    LBX__BOX_RECORDS,
    LBX__BODIES,
    LBX__STATES,
    LBX__READY,
    LBX__WAITS,
    LBX__LINES,
    LBX__GROUP_DUE,
    LBX__GROUPS,
    LBX__GIDS,
    LBX__SEEN,
    LBX__SEEN_DUE,
    LBX__AGE,
    LBX__TASKS,
    LBX__GARBAGE,
    LBX__TABLES, /* how many */
} lbx__table;

enum {
    LBX__ROW_KEY_MAX = 160,        /* bytes: a name, or five numbers */
    LBX__ROW_VALUE_MAX = 64 << 20, /* bytes: a letter with its attributes */
    LBX__RESERVE_MAX = 256         /* rows in one reservation */
};

typedef struct lbx__bytes {
    const void *data;
    size_t size;
} lbx__bytes;

/* The sizes of a row that will be put. */
typedef struct lbx__row_size {
    uint32_t key;
    uint32_t value;
} lbx__row_size;

/* Whether a write makes the store larger for good. On a full disk only writes
 * that shrink it, or advance letters, succeed. */
typedef enum lbx__growth {
    LBX__GROWS,
    LBX__SHRINKS,
} lbx__growth;

typedef struct lbx__storage lbx__storage;

typedef struct lbx__storage_ops {
    const char *scheme;
    bool one_thread;

    /* Its rows are memory of this process, and only the rules that have it open
     * read them: rows carry no sums, and the records of boxes are written when
     * the rules are closed. */
    bool is_private;

    /* Begins a batch. OK; IO when poisoned; BUSY, NO_MEMORY, CORRUPT: nothing
     * has begun. May wait for another process. */
    lbx_status (*begin)(lbx__storage *storage);

    /* The value of a key: OK, NOT_FOUND, IO, CORRUPT. */
    lbx_status (*get)(lbx__storage *storage, lbx__table table, lbx__bytes key,
                      lbx__bytes *ret_value);

    /* The first row whose key is not before `key`. The same statuses. */
    lbx_status (*seek)(lbx__storage *storage, lbx__table table, lbx__bytes key,
                       lbx__bytes *ret_key, lbx__bytes *ret_value);

    /* Makes sure that rows of these sizes can be put: OK, NO_MEMORY, NO_SPACE.
     * A second reservation adds to the first. commit releases what was not
     * used. */
    lbx_status (*reserve)(lbx__storage *storage, const lbx__row_size *sizes,
                          size_t count, lbx__growth growth);

    /* Puts a row, in place of one that has this key. The value is given in
     * parts. Cannot fail: an error of the engine poisons (STORAGE-2). */
    void (*put)(lbx__storage *storage, lbx__table table, lbx__bytes key,
                const lbx__bytes *parts, size_t count);

    /* Removes a row, if there is one. Cannot fail, as put. */
    void (*remove)(lbx__storage *storage, lbx__table table, lbx__bytes key);

    /* Ends the batch; returns its number, greater than all before. */
    uint64_t (*commit)(lbx__storage *storage);

    /* Waits until a batch has reached the storage's durability: OK; IO. */
    lbx_status (*flush)(lbx__storage *storage, uint64_t batch);

    /* Makes every batch survive a power cut: OK; IO; UNSUPPORTED. */
    lbx_status (*sync)(lbx__storage *storage);

    /* Store time, in ns, >= 1: never decreases, also over restarts. */
    int64_t (*now)(lbx__storage *storage);

    /* What OK from flush means at the moment. */
    lbx_durability (*durability)(lbx__storage *storage);

    /* Releases everything; outside a batch. */
    void (*close)(lbx__storage *storage);

    /* NULL: 0. Grows when changes that callers know of may have been lost; then
     * no earlier receipt is valid. Constant from open to close. */
    uint32_t (*era)(const lbx__storage *storage);

    /* For storages that other processes write too; all four or none. Processes
     * notify each other when they have changed something; notify() does the
     * same for our own threads, and any thread may call it. notifications()
     * counts them. sleep() returns when there have been more than `seen`,
     * after wait_ns (-1: no limit), or earlier; in the storage's thread it may
     * write what was committed. has_join_request() is true when a batch
     * should begin although there are no calls. */
    uint32_t (*notifications)(lbx__storage *storage);
    void (*sleep)(lbx__storage *storage, uint32_t seen, int64_t wait_ns);
    void (*notify)(lbx__storage *storage);
    bool (*has_join_request)(const lbx__storage *storage);
} lbx__storage_ops;

/* What every storage begins with. */
struct lbx__storage {
    const lbx__storage_ops *ops;
    bool begun;
    uint32_t batches; /* that have begun; wraps */
};

/* ---- Calls, with the checks that hold for every storage ---- */

static inline lbx_status
lbx__storage_begin(lbx__storage *storage)
{
    lbx_status status;

    assert(!storage->begun);
    status = storage->ops->begin(storage);
    storage->begun = status == LBX_OK;
    storage->batches += storage->begun;
    return status;
}

static inline lbx_status
lbx__storage_get(lbx__storage *storage, lbx__table table, lbx__bytes key,
                 lbx__bytes *ret_value)
{
    assert(storage->begun && table < LBX__TABLES);
    assert(key.size > 0 && key.size <= LBX__ROW_KEY_MAX);
    return storage->ops->get(storage, table, key, ret_value);
}

static inline lbx_status
lbx__storage_seek(lbx__storage *storage, lbx__table table, lbx__bytes key,
                  lbx__bytes *ret_key, lbx__bytes *ret_value)
{
    assert(storage->begun && table < LBX__TABLES);
    assert(key.size <= LBX__ROW_KEY_MAX); // none: from the first row on
    return storage->ops->seek(storage, table, key, ret_key, ret_value);
}

static inline lbx_status
lbx__storage_reserve(lbx__storage *storage, const lbx__row_size *sizes,
                     size_t count, lbx__growth growth)
{
    assert(storage->begun && count <= LBX__RESERVE_MAX);
    return storage->ops->reserve(storage, sizes, count, growth);
}

static inline void
lbx__storage_put(lbx__storage *storage, lbx__table table, lbx__bytes key,
                 const lbx__bytes *parts, size_t count)
{
    assert(storage->begun && table < LBX__TABLES);
    assert(key.size > 0 && key.size <= LBX__ROW_KEY_MAX);
    storage->ops->put(storage, table, key, parts, count);
}

static inline void
lbx__storage_remove(lbx__storage *storage, lbx__table table, lbx__bytes key)
{
    assert(storage->begun && table < LBX__TABLES);
    storage->ops->remove(storage, table, key);
}

static inline uint64_t
lbx__storage_commit(lbx__storage *storage)
{
    assert(storage->begun);
    storage->begun = false;
    return storage->ops->commit(storage);
}

static inline lbx_status
lbx__storage_flush(lbx__storage *storage, uint64_t batch)
{
    return storage->ops->flush(storage, batch);
}

static inline int64_t
lbx__storage_now(lbx__storage *storage)
{
    const int64_t now = storage->ops->now(storage);

    assert(now >= 1);
    return now;
}

static inline void
lbx__storage_close(lbx__storage *storage)
{
    if (!storage)
        return;
    assert(!storage->begun);
    storage->ops->close(storage);
}

#endif
