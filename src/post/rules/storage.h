/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Storage: ordered rows under the rules. Private to post, with two
 * implementations, memory and files; docs/design/post.md has the tables.
 *
 * A storage is numbered tables of rows. A row is a key and a value, both bytes;
 * a table is in the order of its keys as memcmp() has it, a shorter key before a
 * longer one that begins with it. What the bytes mean is the rules' affair.
 *
 * A rule works in three steps: it reads until it knows what it will do, reserves
 * what that takes, and writes. After an OK from reserve nothing can fail, so
 * that there is nothing to undo:
 *
 *     lbx__storage_begin(storage);
 *     lbx__storage_get(...); lbx__storage_seek(...);      // decide
 *     status = lbx__storage_reserve(storage, sizes, count, LBX__GROWS);
 *     if (status != LBX_OK) ...                           // refused: no trace
 *     lbx__storage_put(...); lbx__storage_remove(...);    // write
 *     ...                                                 // more of the group
 *     ticket = lbx__storage_commit(storage);
 *     status = lbx__storage_flush(storage, ticket);       // then answer
 *
 * G1  Between begin and commit a storage shows its own writes.
 * G2  commit cannot fail. What it holds is durable when flush has answered OK for
 *     its ticket or a later one; any other answer means that it may or may not
 *     be (LBX_UNKNOWN to callers), and from then on the storage is poisoned:
 *     begin, and all that follows, answers LBX_IO until it is opened again.
 * G3  Groups become durable in the order of their tickets, each wholly or not at
 *     all.
 * G4  In company, begin may find rows that other processes have changed.
 * G5  Pointers from get and seek are good until the next write to that table, or
 *     commit.
 * G6  A put has the size that was reserved for it, or is no larger than a row of
 *     that key that is there; removing needs no reservation.
 *
 * Threads    one at a time; with `one_thread`, always the same one, from open to
 *            close.
 */
#ifndef LBX_POST_STORAGE_H
#define LBX_POST_STORAGE_H

#include <letterbox/base.h>
#include <letterbox/store.h>

#include <assert.h>

/* Part of the file format: only ever added to, at the end. */
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
    LBX__ROW_VALUE_MAX = 64 << 20, /* a letter and what is said about it */
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

/* Whether a write makes the store larger for good. On a full disk only what
 * shrinks it, or moves letters on, goes ahead. */
typedef enum lbx__growth {
    LBX__GROWS,
    LBX__SHRINKS,
} lbx__growth;

typedef struct lbx__storage lbx__storage;

typedef struct lbx__storage_ops {
    const char *scheme;
    bool one_thread;

    /* Its rows are memory of this process, and read by nobody but the rules that
     * have it open: they carry no sums, and heads need not be as they should
     * before the rules are closed. */
    bool is_private;

    /* Begins a group. OK; IO when poisoned; BUSY, NO_MEMORY, CORRUPT: nothing
     * has begun. May wait for another process. */
    lbx_status (*begin)(lbx__storage *storage);

    /* The value of a key: OK, NOT_FOUND, IO, CORRUPT. */
    lbx_status (*get)(lbx__storage *storage, lbx__table table, lbx__bytes key,
                      lbx__bytes *ret_value);

    /* The first row whose key is not before `key`. The same statuses. */
    lbx_status (*seek)(lbx__storage *storage, lbx__table table, lbx__bytes key,
                       lbx__bytes *ret_key, lbx__bytes *ret_value);

    /* Makes sure that rows of these sizes can be put: OK, NO_MEMORY, NO_SPACE. A
     * second reservation adds to the first. What is not used is given back by
     * commit. */
    lbx_status (*reserve)(lbx__storage *storage, const lbx__row_size *sizes,
                          size_t count, lbx__growth growth);

    /* Puts a row, in place of one that has this key. The value is given in
     * parts. Cannot fail: an error of the engine poisons (G2). */
    void (*put)(lbx__storage *storage, lbx__table table, lbx__bytes key,
                const lbx__bytes *parts, size_t count);

    /* Takes a row out; nothing if there is none. As put. */
    void (*remove)(lbx__storage *storage, lbx__table table, lbx__bytes key);

    /* Ends the group; the ticket is greater than all before. */
    uint64_t (*commit)(lbx__storage *storage);

    /* Waits until a ticket has reached the storage's durability: OK; IO. */
    lbx_status (*flush)(lbx__storage *storage, uint64_t ticket);

    /* Makes every ticket survive a power cut: OK; IO; UNSUPPORTED. */
    lbx_status (*sync)(lbx__storage *storage);

    /* Store time, in ns: never goes back, over restarts too; >= 1. */
    int64_t (*now)(lbx__storage *storage);

    /* What OK from flush promises now. */
    lbx_durability (*durability)(lbx__storage *storage);

    /* Frees everything; outside a group. */
    void (*close)(lbx__storage *storage);

    /* NULL: 0. Grows when changes that were answered may have been lost, after
     * which no receipt from before is good. The same from open to close. */
    uint32_t (*era)(const lbx__storage *storage);

    /* Of storages that other processes write too, all four or none. A bell,
     * which they ring when they have changed something, and ring() does for our
     * own threads. The one that uses the storage sleeps on it: until it has rung
     * since it had rung `seen` times, or wait_ns are over, -1: never. is_called()
     * tells that a group should begin though we have nothing to do. Any thread
     * may ring. */
    uint32_t (*bell)(lbx__storage *storage);
    void (*sleep)(lbx__storage *storage, uint32_t seen, int64_t wait_ns);
    void (*ring)(lbx__storage *storage);
    bool (*is_called)(const lbx__storage *storage);
} lbx__storage_ops;

/* What every storage begins with. */
struct lbx__storage {
    const lbx__storage_ops *ops;
    bool begun;
    uint32_t groups; /* that have begun; wraps */
};

/* ---- The calls: the checks that hold for every storage are here ---- */

static inline lbx_status
lbx__storage_begin(lbx__storage *storage)
{
    lbx_status status;

    assert(!storage->begun);
    status = storage->ops->begin(storage);
    storage->begun = status == LBX_OK;
    storage->groups += storage->begun;
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
lbx__storage_flush(lbx__storage *storage, uint64_t ticket)
{
    return storage->ops->flush(storage, ticket);
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
