/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writer lock: bytes 257 and 258 of `wake`. A process in shared mode holds the
 * second while it writes, and the first while it waits for the second. It keeps
 * MEMB-5 (membership.h): LMDB's own locks are taken by one process at a time.
 *
 * fcntl() waits without a limit. So a process tries, and between two tries it
 * sleeps on a word of `wake`, which the process that releases a byte counts up.
 */
#include "stores/file/blocker.h"
#include "stores/file/wake.h"

#include "base/park.h"
#include "stores/file/folder.h"

#include <assert.h>
#include <errno.h>

#define LOCK_RETRY_NS (10 * LBX_MS) /* of a process that was killed */

/* Exclusive, bytes 257 and 258. A process that was killed does not wake others:
 * they try again now and then. */
static lbx_status
writer_lock_byte(lbx__membership *membership, off_t byte,
                 lbx__blocker_wait *wait)
{
    struct lbx__wake_lock *lock =
        &membership->wake->locks[byte - LBX__WAKE_NEXT];

    for (;;) {
        // seq_cst: either this thread sees the release before it sleeps, or the
        // process that releases sees that it waits. See writer_unlock_byte().
        const uint32_t seen = lbx__load(&lock->released, seq_cst);
        int64_t left;

        if (lbx__wake_try_lock(membership, byte, F_WRLCK)) {
            lbx__store(&lock->holder, membership->pid, seq_cst);
            return LBX_OK;
        }
        if (errno != EAGAIN && errno != EACCES && errno != EINTR)
            return LBX_NO_MEMORY;
        left = lbx__blocker_wait_left(membership, wait, LOCK_RETRY_NS);
        if (left <= 0)
            return LBX_BUSY;
        (void)lbx__add(&lock->waiting, 1u, seq_cst);
        lbx__futex_wait_shared(&lock->released, seen, left);
        (void)lbx__sub(&lock->waiting, 1u, seq_cst);
    }
}

static void
writer_unlock_byte(lbx__membership *membership, off_t byte)
{
    struct lbx__wake *wake = membership->wake;
    struct lbx__wake_lock *lock;

    if (!wake) { // a visitor: others find out when they try again
        (void)lbx__wake_try_lock(membership, byte, F_UNLCK);
        return;
    }
    lock = &wake->locks[byte - LBX__WAKE_NEXT];
    lbx__store(&lock->holder, 0u, seq_cst);
    (void)lbx__wake_try_lock(membership, byte, F_UNLCK);
    (void)lbx__add(&lock->released, 1u, seq_cst);
    if (lbx__load(&lock->waiting, seq_cst) > 0)
        lbx__futex_wake_shared(&lock->released, 1);
}

/* Without the memory of `wake`, which may still be too short to be mapped: for
 * as long as it takes. */
static lbx_status
writer_lock_as_visitor(lbx__membership *membership)
{
    if (!lbx__wake_await_lock(membership, LBX__WAKE_NEXT))
        return LBX_NO_MEMORY;
    membership->has_writer_lock =
        lbx__wake_await_lock(membership, LBX__WAKE_WRITER);
    writer_unlock_byte(membership, LBX__WAKE_NEXT);
    return membership->has_writer_lock ? LBX_OK : LBX_NO_MEMORY;
}

lbx_status
lbx__writer_lock_take(lbx__membership *membership)
{
    lbx__blocker_wait wait = lbx__blocker_wait_start(membership);
    lbx_status status;

    assert(!membership->has_writer_lock);
    if (!membership->wake)
        return writer_lock_as_visitor(membership);
    status = writer_lock_byte(membership, LBX__WAKE_NEXT, &wait);
    if (status != LBX_OK)
        return status;
    status = writer_lock_byte(membership, LBX__WAKE_WRITER, &wait);
    writer_unlock_byte(membership, LBX__WAKE_NEXT);
    if (status != LBX_OK)
        return status;
    membership->has_writer_lock = true;
    return LBX_OK;
}

void
lbx__writer_lock_release(lbx__membership *membership)
{
    if (!membership->has_writer_lock)
        return;
    membership->has_writer_lock = false;
    writer_unlock_byte(membership, LBX__WAKE_WRITER);
}

lbx_status
lbx__writer_lock_open(lbx__membership *membership, const lbx__io *io,
                      int folder)
{
    *membership = (lbx__membership){
        .io = io,
        .fd = io->open(io, folder, LBX__WAKE, O_RDWR),
    };
    if (membership->fd >= 0)
        return LBX_OK;
    membership->io = NULL;
    return lbx__io_status(membership->fd);
}
