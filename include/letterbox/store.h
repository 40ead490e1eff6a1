/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores: where letters are kept, and what an LBX_OK survives.
 *
 *     file:DIR/BOX       a folder, shared by the processes of one machine
 *     memory:BOX         this process; gone when it exits
 *     memory:NAME/BOX    one of several stores in memory, by name
 *
 * A store is opened by URL, once per process however often it is requested, and
 * closed when its last reference is released. lbx_postbox_open() does that by
 * itself; open a store yourself to set its options, to manage its boxes, or to
 * have several postboxes in it for certain.
 *
 *     lbx_store_options options = LBX_STORE_OPTIONS_INIT;
 *
 *     options.durability = LBX_DURABILITY_POWER_CUT;       // the default
 *     lbx_store_open("file:/var/lib/shop", &options, &store);
 *
 * Durability is a promise about LBX_OK. Each level keeps what those above keep:
 *
 *   level                      an OK survives
 *   LBX_DURABILITY_NONE        (memory:) nothing outside the process
 *   LBX_DURABILITY_PROCESS     kill -9 of any process; of a power cut or a
 *                              crash of the system, what the kernel had written
 *   LBX_DURABILITY_INTERVAL    the same, and a power cut but for the last
 *                              `interval_ms`
 *   LBX_DURABILITY_POWER_CUT   kill -9, system crash, power cut on a disk that
 *                              does not lie (`sync`, the default of file:)
 *
 * No level can damage a store; they differ in what may be missing. A call that
 * cannot reach the level fails; it never returns a weaker OK.
 * lbx_store_durability() returns the level in force.
 *
 * Several processes may open the same folder at the same time; no setup is
 * needed. One process writes faster (exclusive mode): a second one makes it
 * change to shared mode, and back when it is the only one again. `exclusive`
 * refuses other processes. A process may be killed at any moment without harm
 * to the others.
 *
 * Time in a store goes on while its programs do not run: leases, delays and
 * retention count through restarts and reboots. Setting the wall clock does not
 * move them.
 *
 * A store in files can hold `map_bytes` less a reserve, so that a full store
 * can still deliver and acknowledge: 8 MiB (of a map below 128 MiB less, down
 * to a sixteenth if its letters are large), and 256 bytes for each letter that
 * has never been received. A body of 2 KiB or more takes whole pages of 4 KiB
 * in a row. Of the smallest map, 16 MiB, that leaves space for 12 bodies of 1
 * MiB, 220 of 64 KiB, or 15,000 of 100 bytes. Sends beyond that return
 * LBX_NO_SPACE until letters have been acknowledged.
 *
 * `map_bytes` is address space, not memory, and every process that opens the
 * store needs as much: where there is less than 64 GiB (ulimit -v, valgrind,
 * small machines) opening returns LBX_NO_MEMORY, unless the first opener asked
 * for less.
 *
 * Threads    any, for everything here.
 *
 * Caveats
 * - A folder of a store must belong to the user, must not be writable by
 *   others (but see `group` in the options), not a symbolic link, and not on a
 *   network file system.
 * - A store is made in a folder that is new or empty. One that has files of
 *   others is LBX_DENIED, so that file:./orders with its box forgotten does not
 *   fill the current folder; names that begin with a dot, and lost+found, do
 *   not count.
 * - The files of a store belong together. When one of them is deleted, moved
 *   away or replaced while a program has the store open, what that program
 *   sends or syncs from then on returns LBX_IO, and the log names the file.
 * - After fork(), and so after daemon(), a child must open its stores anew;
 *   calls of what it has inherited return LBX_FORKED.
 * - After LBX_IO a file store writes nothing more until every user of it in
 *   every process has closed it and it is opened again.
 */
#ifndef LETTERBOX_STORE_H
#define LETTERBOX_STORE_H

#include <letterbox/base.h>
#include <letterbox/operation.h>
#include <letterbox/post/box.h>

LBX_BEGIN

typedef struct lbx_store lbx_store;
typedef struct lbx_store_options lbx_store_options;

/* What an OK survives; more is greater. */
typedef enum lbx_durability {
    LBX_DURABILITY_DEFAULT = 0, /* in options: what suits the store */
    LBX_DURABILITY_NONE,
    LBX_DURABILITY_PROCESS,
    LBX_DURABILITY_INTERVAL,
    LBX_DURABILITY_POWER_CUT,
    LBX_DURABILITY_MACHINE, /* and the loss of one machine: replicated stores */
} lbx_durability;

struct lbx_store_options {
    size_t size_bytes;              /* LBX_STORE_OPTIONS_INIT sets it */
    const lbx_allocator *allocator; /* borrowed, as all pointers here */
    const lbx_clock *clock; /* for tests: replaces the store's time. NULL: time
                               since boot, continued over boots */
    lbx_fault *fault;       /* filled in when opening fails */
    bool must_exist;        /* do not create it */

    /* file: PROCESS, INTERVAL or POWER_CUT, the default; memory: NOTHING */
    lbx_durability durability;

    /* file: */
    int64_t interval_ms; /* INTERVAL: 1 or more; 100 */
    /* refuse other processes: a second opener gets LBX_BUSY, and so does
     * this one if there is another */
    bool exclusive;
    /* check every record before opening, as lbx_file_store_check() does;
     * slow. Damage is LBX_CORRUPT and the fault has where. Not of one that
     * this process has open already */
    bool check;
    int64_t map_bytes;     /* the most that data.mdb can be, above; fixed by its
                               first opener. 16 MiB or more; 64 GiB */
    int64_t journal_bytes; /* the most that the journal, which is used in
                               exclusive mode, can be; it begins with 256 KiB.
                               64 KiB or more; 64 MiB */

    /* Called with lines for people: what recovery cut off, that another process
     * asks to join while this one writes. NULL: not called. In any thread, with
     * no lock held, in the middle of an operation: it must not use the
     * store. */
    void (*log)(void *context, const char *line);
    void *log_context;

    /* file: the limit of each wait, of an open or a call, for a process that
     * has the store open and does not react, as one that is stopped in the
     * middle of a call (SIGSTOP, a debugger). Then it returns LBX_BUSY; the
     * fault of an open, and the log after a second, have its pid. 0: 30
     * seconds; -1: for ever. `check` waits for as long as it takes. */
    int64_t busy_ms;

    /* file: the group of the folder may use the store. A folder that is made
     * has mode 2770; one that is there keeps its mode, and may be of another
     * user if its group, one of this process's, may write to it. Files that are
     * made have mode 0660 in such a folder, whatever the umask. Each process
     * that opens the store sets it: it trusts all users of the group. */
    bool group;
};

#define LBX_STORE_OPTIONS_INIT                                                 \
    {                                                                          \
        .size_bytes = sizeof(lbx_store_options), .interval_ms = 100,           \
        .map_bytes = (int64_t)64 << 30, .journal_bytes = (int64_t)64 << 20     \
    }

/*
 * lbx_store_open() opens the store of a URL without a box: "memory:",
 * "memory:name", "file:dir". %20 and the like are decoded; a ?, a # and a ~ at
 * the beginning are refused. A store that this process has open already is
 * returned again; its options must then not contradict: the fault names the one
 * that does.
 *
 * Returns    LBX_OK; LBX_NOT_FOUND for a scheme that is not built in, or with
 *            must_exist; LBX_BUSY when another process has it open with
 *            `exclusive`, has it open and `exclusive` is set, or has not
 *            reacted for `busy_ms`; LBX_UNSUPPORTED for a
 *            durability above what the store has, as anything but
 *            LBX_DURABILITY_NONE in memory; LBX_NEWER; LBX_CORRUPT; LBX_DENIED;
 *            LBX_INVALID; LBX_NO_MEMORY; and any I/O failure. options->fault
 *            explains it.
 * Ownership  the store is the caller's: lbx_store_unref().
 * Blocks     for recovery, if the last user was killed.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_store_open(const char *url,
                                               const lbx_store_options *options,
                                               lbx_store **ret);

/*
 * lbx_store_ref() takes one more reference.
 *
 * Since      0.1
 */
LBX_API lbx_store *lbx_store_ref(lbx_store *store);

/*
 * lbx_store_unref() releases one reference; the last closes the store, when its
 * postboxes and operations are gone too. Takes NULL.
 *
 * Blocks     the last: for what is being written.
 * Since      0.1
 */
LBX_API void lbx_store_unref(lbx_store *store);

/*
 * lbx_store_scheme() is how its URLs begin: "memory", "file".
 *
 * Since      0.1
 */
LBX_API const char *lbx_store_scheme(const lbx_store *store);

/*
 * lbx_store_durability() is what an OK survives now, as the store found it when
 * it was opened, or better: several processes on one folder write through.
 *
 * Since      0.1
 */
LBX_API lbx_durability lbx_store_durability(const lbx_store *store);

/*
 * lbx_store_sync() waits until everything that returned before it survives a
 * power cut, whatever the level. LBX_UNSUPPORTED in memory.
 *
 * Returns    LBX_OK; LBX_UNSUPPORTED; LBX_INVALID; LBX_IO.
 * Blocks     for one flush.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_store_sync(lbx_store *store);

/*
 * lbx_store_create_box() makes a box by its options; NULL is
 * LBX_BOX_OPTIONS_INIT. One that exists with the same options is left as it is.
 *
 * Returns    LBX_OK; LBX_EXISTS for other options; LBX_NOT_FOUND when
 *            `dead_letters` names no box; LBX_DENIED when that box does not
 *            allow it; LBX_INVALID, and `fault`, which may be NULL, explains
 *            it; and any failure of the store.
 * Ownership  the fault is the caller's.
 * Blocks     until it is durable.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_store_create_box(lbx_store *store, const char *name,
                     const lbx_box_options *options, lbx_fault *fault);

/*
 * lbx_store_configure_box() gives a box new options. Letters that are inside
 * are subject to them from now on: a shorter retention deletes them sooner. A
 * `dead_letters` that stays the same is not checked again: that box may have
 * been deleted since.
 *
 * Returns    LBX_OK; LBX_NOT_FOUND; LBX_INVALID, also for a change of `fifo`;
 *            as lbx_store_create_box().
 * Ownership  the fault is the caller's.
 * Blocks     until it is durable.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_store_configure_box(lbx_store *store, const char *name,
                        const lbx_box_options *options, lbx_fault *fault);

/*
 * lbx_store_delete_box() deletes a box and every letter in it. Receives that
 * wait on it return LBX_CLOSED, and never see a new box of that name.
 *
 * Returns    LBX_OK; LBX_NOT_FOUND; LBX_INVALID; and any failure of the store.
 * Blocks     until it is durable.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_store_delete_box(lbx_store *store,
                                                     const char *name);

/*
 * lbx_store_describe_box() reads a box's options and counts; either may be
 * NULL.
 *
 * Returns    LBX_OK; LBX_NOT_FOUND; LBX_INVALID; and any failure of the store.
 * Ownership  copies; texts inside the options are in `buffer`, which must be of
 *            LBX_BOX_OPTIONS_BUFFER_BYTES if the options are wanted, and may be
 *            NULL otherwise.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_store_describe_box(
    lbx_store *store, const char *name, char *buffer,
    lbx_box_options *ret_options, lbx_box_counts *ret_counts);

#define LBX_BOX_OPTIONS_BUFFER_BYTES 2048

/*
 * lbx_store_list_boxes() calls `each` for the boxes whose name begins with
 * `prefix`, in the order of their bytes, beginning behind `after`, until it
 * returns false. Both texts may be NULL.
 *
 * Returns    LBX_OK; LBX_INVALID; and any failure of the store.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_store_list_boxes(
    lbx_store *store, const char *prefix, const char *after,
    bool (*each)(void *context, const char *name), void *context);

/* The phase of a move. */
typedef enum lbx_move_phase {
    LBX_MOVE_PHASE_RUNNING = 0,
    LBX_MOVE_PHASE_COMPLETED,
    LBX_MOVE_PHASE_CANCELLING,
    LBX_MOVE_PHASE_CANCELLED,
    LBX_MOVE_PHASE_FAILED, /* `reason` has the cause */
} lbx_move_phase;

/* The progress of a move. */
typedef struct lbx_move_progress {
    size_t size_bytes; /* LBX_MOVE_PROGRESS_INIT sets it */
    uint64_t task;     /* its number; growing */
    lbx_move_phase phase;
    lbx_status reason; /* LBX_NOT_FOUND: the destination is gone */
    uint64_t moved;
    uint64_t left;      /* in the box it takes from */
    int64_t started_ms; /* wall time, ms since 1970 */
} lbx_move_progress;

#define LBX_MOVE_PROGRESS_INIT                                                 \
    {                                                                          \
        .size_bytes = sizeof(lbx_move_progress)                                \
    }

/*
 * lbx_store_start_move() moves letters from one box to another, each in one
 * step; a NULL `to` brings letters that a box moved by its `dead_letters` back
 * to the boxes they came from. It starts a task in the store, which continues
 * when this process exits and another has the store open. Moved letters get a
 * new id and start with no deliveries.
 *
 * What a courier has put aside is another letter, a record, which came from no
 * box: for those, lbx_dead_letter_send_back() (<letterbox/courier.h>).
 *
 * A task that finds a letter without a destination stops there,
 * LBX_MOVE_PHASE_FAILED, as lbx_store_describe_move() reports. If the first
 * letter has no box to go back to, no task is started.
 *
 * Returns    LBX_OK; LBX_NOT_FOUND for a box that does not exist, or a first
 *            letter that came from no box, or from one that is gone; LBX_BUSY
 *            while another task takes from the same box; LBX_INVALID, also for
 *            two boxes of which one is fifo, and for a box and itself; and any
 *            failure of the store.
 * Blocks     until the task is durable, not until it is done.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_store_start_move(lbx_store *store, const char *from, const char *to,
                     int64_t letters_per_second);

/*
 * lbx_store_describe_move() reports the progress of the latest move out of a
 * box.
 *
 * Returns    LBX_OK; LBX_NOT_FOUND; LBX_INVALID; and any failure of the store.
 * Ownership  a copy.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_store_describe_move(lbx_store *store,
                                                        const char *from,
                                                        lbx_move_progress *ret);

/*
 * lbx_store_cancel_move() stops it after the letter it is at.
 *
 * Returns    LBX_OK; LBX_NOT_FOUND when none runs; LBX_INVALID; and any failure
 *            of the store.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_store_cancel_move(lbx_store *store,
                                                      const char *from);

LBX_END

#endif
