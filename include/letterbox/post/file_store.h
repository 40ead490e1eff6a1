/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only stores in files can do: check, copy, salvage.
 *
 * A store is a folder:
 *
 *     data.mdb      the letters and their indexes
 *     lock.mdb      the processes that read and write it
 *     journal       what has been reported as OK and is not in data.mdb yet
 *     wake          through which processes notify each other
 *
 * Copy it with lbx_file_store_copy(), which makes it small again; copying the
 * files while a program has them open makes a store that may not open. Damage
 * is never repaired in place and never read as "empty": lbx_file_store_check()
 * reports what is damaged, lbx_file_store_salvage() puts what is intact into a
 * new store.
 *
 * Example:
 *
 *     #include <letterbox/post/file_store.h>
 *     #include <stdio.h>
 *
 *     static void
 *     tell(void *context, const lbx_file_store_damage *part)
 *     {
 *         (void)context;
 *         printf("%s: %s\n", part->box ? part->box : "store", part->what);
 *     }
 *
 *     int
 *     main(void)
 *     {
 *         lbx_file_store_report report;
 *         lbx_status status =
 *             lbx_file_store_check("shop", tell, NULL, &report);
 *
 *         if (status == LBX_CORRUPT)
 *             status = lbx_file_store_salvage("shop", "shop-saved", tell, NULL,
 *                                       &report);
 *         return status != LBX_OK;
 *     }
 *
 * Threads    any.
 *
 * Caveats
 * - A library that was built without stores in files (-Dfile=disabled) returns
 *   LBX_UNSUPPORTED to everything here.
 * - Every record is checked when it is read, and opening a store checks the
 *   pages that all others depend on. A damaged page further in is found by a
 *   check; without one, LMDB may abort the process that reads it. Check before
 *   opening (lbx_store_options.check) if the disk is not trusted.
 * - If the last record of a journal fails its check after a power cut, it
 *   counts as torn. After a kill it counts as damaged.
 * - A salvage brings a letter back that had been acknowledged if the record of
 *   that is damaged. It does not keep what was known of tokens, duplicates and
 *   moves.
 * - If both meta pages of data.mdb are lost, only what is in the journal is
 *   saved.
 */
#ifndef LETTERBOX_POST_FILE_H
#define LETTERBOX_POST_FILE_H

#include <letterbox/base.h>
#include <letterbox/store.h>

LBX_BEGIN

/*
 * A damaged part of a store. `what` is one of these words:
 *
 *     of data.mdb
 *     meta page        the first two pages, on which all others hang
 *     page             one that ended the process that read it
 *     table            the list of tables
 *     free pages       the list of pages that may be used again
 *
 *     of the journal
 *     journal          records in it, at `offset_bytes`
 *     missing journal  there is none, and there should be
 *
 *     of the store, or of a box
 *     store            who the store is, and its next numbers
 *     name             by which a box is found
 *     box              its options
 *     head             its counts, and the sequence of its next letter
 *     count            its head speaks of more or fewer letters than there are
 *     task             a move out of it
 *     old              that it was purged or deleted, and has yet to be cleared
 *     dead letters     its option; salvage: it has been left without
 *
 *     of letters
 *     body             the letter itself
 *     state            whether it is leased or delayed, and how often it was
 *                      delivered
 *     ready, wait      its place among those that came back; that are leased or
 *                      delayed
 *     age              when a letter was sent that has been moved
 *     line, turn       its place in its group; that of a group
 *     group            the group
 *     seen             what is remembered of tokens, duplicates and attempts
 */
typedef struct lbx_file_store_damage {
    const char *box;         /* its name, if that is known; else NULL */
    const char *what;        /* a word, above */
    uint64_t first_sequence; /* the letters it concerns; 0: none or unknown */
    uint64_t last_sequence;
    uint64_t offset_bytes; /* journal: where */
    uint64_t damaged_bytes;
} lbx_file_store_damage;

/* What a check or a salvage found. */
typedef struct lbx_file_store_report {
    size_t size_bytes; /* LBX_FILE_STORE_REPORT_INIT sets it */
    uint64_t boxes;
    uint64_t letters;         /* intact */
    uint64_t damaged;         /* records, each of which may be of letters */
    uint64_t missing;         /* letters that counts or indexes speak of */
    uint64_t journal_records; /* that a recovery would apply */
    uint64_t torn_bytes; /* at the end of the journal, never reported as OK */
    lbx_fault fault;     /* why it was not LBX_OK, for people; always written */
} lbx_file_store_report;

#define LBX_FILE_STORE_REPORT_INIT                                             \
    {                                                                          \
        .size_bytes = sizeof(lbx_file_store_report)                            \
    }

/* How a check, a copy or a salvage is done; all may be left 0. The functions
 * are called by the calling thread. */
typedef struct lbx_file_store_work {
    size_t size_bytes; /* LBX_FILE_STORE_WORK_INIT sets it */
    void *context;     /* of both functions */

    /* Called for each damaged part; a copy stops at the first, and does not
     * call it. */
    void (*damage)(void *context, const lbx_file_store_damage *part);

    /* Called now and then, and at the end. `done` of about `total` records have
     * been read or written; `total` may grow. False stops the work, which then
     * returns LBX_CANCELLED and leaves nothing behind. */
    bool (*progress)(void *context, uint64_t done, uint64_t total);

    /* check, salvage: the folder may be one of a group, as with `group` in
     * lbx_store_options. What is made is the user's own. */
    bool group;
} lbx_file_store_work;

#define LBX_FILE_STORE_WORK_INIT                                               \
    {                                                                          \
        .size_bytes = sizeof(lbx_file_store_work)                              \
    }

/*
 * lbx_file_store_check() reads every record of the store in folder `dir` and
 * compares checksums, counts and indexes, as they are at one moment. It runs in
 * a process of its own, so that a damaged page does not crash the caller; the
 * store may be in use, also by the caller. `damage`, which may be NULL, is
 * called for each part.
 *
 * Returns    LBX_OK; LBX_CORRUPT; LBX_NEWER; LBX_NOT_FOUND; LBX_DENIED;
 *            LBX_INVALID, also when `dir` is not a folder; LBX_NO_MEMORY, also
 *            when its process was killed; LBX_BUSY when it has as many readers
 *            as it can; and any I/O failure.
 * Ownership  the report is a copy, written for LBX_OK and LBX_CORRUPT, and its
 *            fault always.
 * Blocks     as long as reading it all takes.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_file_store_check(
    const char *dir,
    void (*damage)(void *context, const lbx_file_store_damage *part),
    void *context, lbx_file_store_report *ret);

/*
 * lbx_file_store_check_with() is the same, with progress. `work` may be NULL.
 *
 * Returns    as lbx_file_store_check(); LBX_CANCELLED; LBX_INVALID also for a
 *            `work` that was not started with its _INIT.
 * Ownership  as lbx_file_store_check().
 * Blocks     as lbx_file_store_check().
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_file_store_check_with(const char *dir, const lbx_file_store_work *work,
                          lbx_file_store_report *ret);

/*
 * lbx_file_store_copy() makes a compact copy of an open store in the new folder
 * `dir`, as it was at one moment, while the store is in use: it has everything
 * that had returned before. Receipts from before the copy are not good in it.
 * Meanwhile the store keeps the pages of that moment, and grows by what is
 * written to it. A process that is killed leaves a folder DIR.part-XXXXXX, and
 * no copy.
 *
 * Returns    LBX_OK; LBX_EXISTS; LBX_NOT_FOUND when there is no folder to make
 *            it in; LBX_UNSUPPORTED for a store that is not in files;
 *            LBX_CORRUPT; LBX_NO_SPACE; LBX_INVALID; and any I/O failure. The
 *            reason goes to the store's `log`.
 * Blocks     as long as writing it all takes.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_file_store_copy(lbx_store *store,
                                                    const char *dir);

/*
 * lbx_file_store_copy_with() is the same, with progress. `work` may be NULL.
 *
 * Returns    as lbx_file_store_copy(); LBX_CANCELLED; LBX_INVALID also for a
 *            `work` that was not started with its _INIT.
 * Ownership  the fault, which has the reason, is the caller's and may be NULL.
 * Blocks     as lbx_file_store_copy().
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_file_store_copy_with(lbx_store *store, const char *dir,
                         const lbx_file_store_work *work, lbx_fault *fault);

/*
 * lbx_file_store_salvage() puts every letter of `dir` that is intact into a new
 * store in `new_dir`, with its id, its sequence, when it was sent and how often
 * it was delivered. Leased letters become ready. A box whose options are lost
 * gets those of LBX_BOX_OPTIONS_INIT and the name salvaged-NAME, or
 * salvaged-NUMBER. The damaged store is left as it is.
 *
 * Returns    LBX_OK, also when something was damaged; LBX_EXISTS; LBX_BUSY when
 *            a process has it open; as lbx_file_store_check().
 * Ownership  the report is a copy, written for LBX_OK, and its fault always.
 * Blocks     as long as that takes.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_file_store_salvage(
    const char *dir, const char *new_dir,
    void (*damage)(void *context, const lbx_file_store_damage *part),
    void *context, lbx_file_store_report *ret);

/*
 * lbx_file_store_salvage_with() is the same, with progress. `work` may be NULL.
 *
 * Returns    as lbx_file_store_salvage(); LBX_CANCELLED; LBX_INVALID also for a
 *            `work` that was not started with its _INIT.
 * Ownership  as lbx_file_store_salvage().
 * Blocks     as lbx_file_store_salvage().
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_file_store_salvage_with(
    const char *dir, const char *new_dir, const lbx_file_store_work *work,
    lbx_file_store_report *ret);

LBX_END

#endif
