/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Membership: which processes have a store open, and which of them may write.
 *
 * `wake` is 64 KiB of shared memory, backed by a file, so that every process
 * finds it and can lock its bytes. Locks belong to the open file: the kernel
 * releases those of a process that was killed.
 *
 *     byte 0       the right to write. Exclusive mode: the holder writes the
 *                  journal. Shared mode: each batch of each holder is a synced
 *                  commit of LMDB's.
 *     byte 1 + n   exclusive, by the process that has slot n, of 256
 *     byte 257     shared mode: the process that writes next
 *     byte 258     shared mode: the process that writes
 *     byte 259     the process that makes the file larger
 *
 * Each slot has a notification: a count that grows when something has happened
 * that its process may have to react to. A process waits for the notification
 * of its slot and for nothing else.
 *
 * MEMB-1  A process that writes the journal holds byte 0 exclusive; one that
 *         writes synced commits holds it shared; no other process writes.
 * MEMB-2  Before exclusive becomes shared the journal is checkpointed and
 *         marked idle; after shared has become exclusive, and before the
 *         journal is written, the mark is removed. A process that gets byte 0
 *         shared and finds no mark releases it: an owner was killed, and the
 *         next exclusive holder recovers.
 * MEMB-3  After each commit in shared mode all other slots are notified.
 * MEMB-4  The poison word is set before any batch returns UNKNOWN, and cleared
 *         by the opener that holds byte 0 exclusive and has recovered.
 * MEMB-5  In shared mode LMDB's own locks are taken by one process at a time,
 *         the one that has the writer lock (bytes 257 and 258). LMDB's are
 *         robust futexes: of two waiters one may be woken and killed before it
 *         has the lock, while a third process takes and frees it and sees no
 *         waiter; then the other sleeps for ever. A file lock is released
 *         whichever process dies; its waiters look every 10 ms, or are woken by
 *         a word in `wake`. Two bytes make it fair: a process that has just
 *         written queues behind the one that is next.
 * MEMB-6  A process that is stopped holds what it held. So an owner in
 *         exclusive mode that has written nothing for a second shares before it
 *         sleeps, as for a join request, and is exclusive again when it writes
 *         twice within a second and is the only one. One that is stopped while
 *         it writes keeps others out: they wait for `wait_ns`, and then return
 *         BUSY; after a second they report its pid. A process that has no slot
 *         (a check) waits for as long as it takes.
 *
 * The content of `wake` counts for one boot of the machine: the first exclusive
 * holder of another boot clears it.
 *
 * One file each: the right to write and the modes membership.c, the writer lock
 * writer_lock.c, the process that is waited for blocker.c, poison and what is
 * durable boot_words.c, notifications notification.c; below them wake.c, the
 * file itself.
 *
 * Threads    lbx__notification_count(), _wait() and _raise() any; the rest one.
 */
#ifndef LBX_STORES_FILE_MEMBERSHIP_H
#define LBX_STORES_FILE_MEMBERSHIP_H

#include "base/atomic.h"
#include "stores/file/io.h"

struct lbx__wake;

typedef enum lbx__mode {
    LBX__MODE_NONE,
    LBX__MODE_SHARED,
    LBX__MODE_EXCLUSIVE,
} lbx__mode;

typedef struct lbx__membership {
    const lbx__io *io;
    int fd;
    struct lbx__wake *wake;
    uint32_t slot;
    uint32_t pid;
    lbx__mode mode;
    bool refuses; /* to share */
    bool has_writer_lock;
    bool is_idle;      /* shared mode, for no other reason than MEMB-6 */
    int64_t wait_ns;   /* for another process; -1: for ever */
    int64_t deadline;  /* of entering */
    uint32_t answered; /* join requests */
    uint32_t departed; /* when exclusive mode was last tried */
    uint32_t batches;  /* in shared mode since then */

    /* Called once when another process, `pid`, is waited for longer than a
     * second; may be NULL. */
    void (*slow)(void *context, uint32_t pid);
    void *context;
} lbx__membership;

/* ---- membership.c ---- */

/* Opens `wake`, makes it if need be, and takes a slot. BUSY: none is free.
 * `wait_ns` is for lbx__membership_enter() and lbx__writer_lock_take(). */
lbx_status lbx__membership_open(lbx__membership *membership, const lbx__io *io,
                                int folder, bool refuses, int64_t wait_ns);

/* Releases everything; accepts a zeroed one. */
void lbx__membership_close(lbx__membership *membership);

/* In a child after fork(): releases what it has inherited, which stays the
 * parent's. Neither descriptor nor memory may be left, or the locks are. */
void lbx__membership_abandon(lbx__membership *membership);

/* Takes the right to write, with join requests until the owner shares it.
 * `again`: it was held shared, and there is something to recover; then
 * exclusive mode is tried until one request has not been answered. (Not for
 * ever: another waiter may be faster, and share.) BUSY: the owner refuses, or
 * has not reacted for `wait_ns` in all; or this process refuses to share and is
 * not the only one. */
lbx_status lbx__membership_enter(lbx__membership *membership, bool again);

/* After BUSY: whether the owner refuses to share. */
bool lbx__membership_is_refused(const lbx__membership *membership);

/* Releases the right to write; the slot stays. */
void lbx__membership_leave(lbx__membership *membership);

/* Exclusive mode: whether there is a join request that is not refused. */
bool lbx__membership_is_requested(const lbx__membership *membership);

/* Exclusive to shared mode: all requests are granted. The journal is idle
 * (MEMB-2). */
void lbx__membership_share(lbx__membership *membership);

/* Shared to exclusive mode, if this process is the only one. Called for every
 * batch; tries when another process has left, and now and then; one that was
 * idle, when it is `busy` again and not before (MEMB-6). */
bool lbx__membership_try_exclusive(lbx__membership *membership, bool busy);

/* ---- writer_lock.c ---- */

/* Waits for the writer lock (MEMB-5); releases it, if it is held. OK; BUSY:
 * another process has had it for `wait_ns`; NO_MEMORY: for locks. */
lbx_status lbx__writer_lock_take(lbx__membership *membership);
void lbx__writer_lock_release(lbx__membership *membership);

/* Opens `wake` without a slot or a right, for the writer lock alone (MEMB-5).
 * NOT_FOUND. */
lbx_status lbx__writer_lock_open(lbx__membership *membership, const lbx__io *io,
                                 int folder);

/* ---- blocker.c ---- */

/* While waiting, and after BUSY: the process that is waited for, by the pid it
 * has for itself; 0: not known. */
uint32_t lbx__blocker_pid(const lbx__membership *membership);

/* ---- boot_words.c ---- */

/* In exclusive mode that has just begun: clears the words of another boot, or
 * of a new file. */
void lbx__boot_words_begin(lbx__membership *membership);

void lbx__boot_words_poison(lbx__membership *membership);
bool lbx__boot_words_are_poisoned(const lbx__membership *membership);

/* MEMB-4. Exclusive mode only. */
void lbx__boot_words_clear_poison(lbx__membership *membership);

/* What has been made durable, for the next opener in this boot: LMDB's last
 * commit, and the last record of a generation. */
void lbx__boot_words_note_commit(lbx__membership *membership, uint64_t last);
void lbx__boot_words_note_record(lbx__membership *membership,
                                 uint64_t generation, uint64_t number);
uint64_t lbx__boot_words_last_commit(const lbx__membership *membership);
uint64_t lbx__boot_words_last_record(const lbx__membership *membership,
                                     uint64_t generation);

/* The content of `wake`, for a process that is no member; zeros when there is
 * no such file. */
typedef struct lbx__membership_state {
    bool in_use; /* a process has the right to write */
    uint64_t last_commit;
    uint64_t generation;
    uint64_t last_record;
} lbx__membership_state;

lbx_status lbx__boot_words_inspect(const lbx__io *io, int folder,
                                   lbx__membership_state *ret);

/* ---- notification.c ---- */

/* Notifies all other slots (MEMB-3). */
void lbx__notification_raise_others(lbx__membership *membership);

/* The notification of this process's slot: its count; waiting until the count
 * is no longer `seen`, or wait_ns are over, -1: for ever; raising it. */
uint32_t lbx__notification_count(lbx__membership *membership);
void lbx__notification_wait(lbx__membership *membership, uint32_t seen,
                            int64_t wait_ns);
void lbx__notification_raise(lbx__membership *membership);

#endif
