/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Membership: opening and closing `wake`, and the right to write, byte 0 of it:
 * join requests, exclusive and shared mode. It keeps MEMB-1, and of MEMB-2 and
 * MEMB-6 what is about byte 0; membership.h has them. Taking over from an owner
 * that was killed needs nothing more: the kernel has released its byte 0.
 */
#include "stores/file/membership.h"

#include "base/park.h"
#include "stores/file/blocker.h"
#include "stores/file/folder.h"
#include "stores/file/wake.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    TRY_BATCHES = 32 /* in shared mode, between two tries of exclusive mode */
};

#define JOIN_RETRY_NS (5 * LBX_MS)

lbx_status
lbx__membership_open(lbx__membership *membership, const lbx__io *io, int folder,
                     bool refuses, int64_t wait_ns)
{
    lbx_status status;

    *membership = (lbx__membership){
        .io = io,
        .pid = (uint32_t)getpid(),
        .refuses = refuses,
        .wait_ns = wait_ns,
        .deadline =
            wait_ns < 0 ? LBX_FOREVER : lbx_deadline_after(NULL, wait_ns),
    };
    membership->fd = io->open(io, folder, LBX__WAKE, O_RDWR | O_CREAT);
    if (membership->fd < 0) {
        status = lbx__io_status(membership->fd);
        membership->io = NULL;
        return status;
    }
    status = lbx__wake_map(membership);
    if (status != LBX_OK)
        lbx__membership_close(membership);
    return status;
}

/* Wakes the processes that wait for byte 0. */
static void
membership_note_change(lbx__membership *membership)
{
    (void)lbx__add(&membership->wake->changes, 1u, seq_cst);
    lbx__futex_wake_shared(&membership->wake->changes, INT32_MAX);
    lbx__notification_raise_others(membership);
}

void
lbx__membership_leave(lbx__membership *membership)
{
    if (membership->mode == LBX__MODE_NONE)
        return;
    membership->mode = LBX__MODE_NONE;
    (void)lbx__add(&membership->wake->departed, 1u, seq_cst);
    (void)lbx__wake_try_lock(membership, LBX__WAKE_RIGHT, F_UNLCK);
    membership_note_change(membership);
}

void
lbx__membership_close(lbx__membership *membership)
{
    if (!membership->io)
        return;
    if (membership->wake) {
        lbx__membership_leave(membership);
        (void)munmap(membership->wake, LBX__WAKE_BYTES);
    }
    (void)close(membership->fd); // and with it the slot
    memset(membership, 0, sizeof(*membership));
}

void
lbx__membership_abandon(lbx__membership *membership)
{
    (void)munmap(membership->wake, LBX__WAKE_BYTES);
    (void)close(membership->fd);
    memset(membership, 0, sizeof(*membership));
}

/* Byte 0 is held exclusive. */
static void
membership_take_exclusive(lbx__membership *membership)
{
    struct lbx__wake *wake = membership->wake;

    // First: processes that ask to join believe what the last owner left here.
    lbx__store(&wake->refuses, membership->refuses, seq_cst);
    lbx__boot_words_begin(membership);
    lbx__store(&wake->owner, membership->pid, seq_cst);
    // No process is in shared mode: those that are counted were killed.
    lbx__store(&wake->locks[0].waiting, 0u, seq_cst);
    lbx__store(&wake->locks[1].waiting, 0u, seq_cst);
    membership->mode = LBX__MODE_EXCLUSIVE;
    // Earlier requests count as answered: they are repeated until granted.
    membership->answered = lbx__load(&wake->requests, seq_cst);
}

static void
membership_request(lbx__membership *membership)
{
    struct lbx__wake *wake = membership->wake;
    const uint32_t seen = lbx__load(&wake->changes, seq_cst);

    (void)lbx__add(&wake->requests, 1u, seq_cst);
    lbx__notification_raise_others(membership);
    lbx__futex_wait_shared(&wake->changes, seen, JOIN_RETRY_NS);
}

lbx_status
lbx__membership_enter(lbx__membership *membership, bool again)
{
    lbx__blocker_wait wait = {.start_ns = lbx_clock_now(NULL),
                              .deadline_ns = membership->deadline};

    assert(membership->mode == LBX__MODE_NONE);
    for (bool requested = false;; requested = true) {
        if (lbx__wake_try_lock(membership, LBX__WAKE_RIGHT, F_WRLCK)) {
            membership_take_exclusive(membership);
            return LBX_OK;
        }
        if (membership->refuses)
            return LBX_BUSY;
        if ((!again || requested) &&
            lbx__wake_try_lock(membership, LBX__WAKE_RIGHT, F_RDLCK)) {
            membership->mode = LBX__MODE_SHARED;
            membership->departed =
                lbx__load(&membership->wake->departed, seq_cst);
            return LBX_OK;
        }
        // Before the first request the word may be that of a previous owner.
        if ((requested && lbx__load(&membership->wake->refuses, seq_cst)) ||
            lbx__blocker_wait_left(membership, &wait, JOIN_RETRY_NS) <= 0)
            return LBX_BUSY;
        membership_request(membership);
    }
}

bool
lbx__membership_is_refused(const lbx__membership *membership)
{
    return lbx__load(&membership->wake->refuses, seq_cst) != 0;
}

bool
lbx__membership_is_requested(const lbx__membership *membership)
{
    return !membership->refuses && lbx__load(&membership->wake->requests,
                                             seq_cst) != membership->answered;
}

void
lbx__membership_share(lbx__membership *membership)
{
    assert(membership->mode == LBX__MODE_EXCLUSIVE);
    membership->answered = lbx__load(&membership->wake->requests, seq_cst);
    membership->departed = lbx__load(&membership->wake->departed, seq_cst);
    membership->batches = 0;
    membership->mode = LBX__MODE_SHARED;
    // A weaker lock: cannot fail.
    (void)lbx__wake_try_lock(membership, LBX__WAKE_RIGHT, F_RDLCK);
    membership_note_change(membership);
}

bool
lbx__membership_try_exclusive(lbx__membership *membership, bool busy)
{
    const uint32_t departed = lbx__load(&membership->wake->departed, seq_cst);

    assert(membership->mode == LBX__MODE_SHARED);
    if (membership->is_idle ? !busy
                            : departed == membership->departed &&
                                  ++membership->batches < TRY_BATCHES)
        return false;
    membership->departed = departed;
    membership->batches = 0;
    membership->is_idle = false;
    if (!lbx__wake_try_lock(membership, LBX__WAKE_RIGHT, F_WRLCK))
        return false; // and the shared lock stays
    membership_take_exclusive(membership);
    return true;
}
