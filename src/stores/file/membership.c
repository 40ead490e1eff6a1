/* SPDX-License-Identifier: Apache-2.0 */
/* The shared words and the locks; what they mean is in membership.h. */
#include "stores/file/membership.h"

#include "base/park.h"
#include "stores/file/folder.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    WAKE_BYTES = 65536,
    SLOTS = 256,
    NEXT = 1 + SLOTS, /* bytes to lock */
    WRITER = 2 + SLOTS,
    MAKER = 3 + SLOTS,
    TRY_BATCHES = 32 /* in shared mode, between two tries of exclusive mode */
};

#define JOIN_RETRY_NS (5 * LBX_MS)
#define LOCK_RETRY_NS (10 * LBX_MS) /* of a process that was killed */
#define SLOW_NS       LBX_SECOND

struct wake_slot {
    _Alignas(LBX__LINE) _Atomic(uint32_t) notified;
    _Atomic(uint32_t) waiting;
};

/* A lock that processes wait for, with a limit: fcntl() has none. */
struct wake_lock {
    _Atomic(uint32_t) released; /* how often; a futex */
    _Atomic(uint32_t) waiting;  /* processes; one that was killed stays */
    _Atomic(uint32_t) holder;   /* its pid; 0: not known */
};

struct lbx__wake {
    char magic[8];
    uint8_t boot[16];
    _Atomic(uint32_t) requests; /* to join */
    _Atomic(uint32_t) refuses;  /* the owner does not share */
    _Atomic(uint32_t) poison;
    _Atomic(uint32_t) changes;  /* of the holders of byte 0 */
    _Atomic(uint32_t) departed; /* processes that have left */
    _Atomic(uint64_t) commit;
    _Atomic(uint64_t) generation;
    _Atomic(uint64_t) record;
    _Atomic(uint32_t) owner;   /* the pid of the last that was exclusive */
    struct wake_lock locks[2]; /* bytes 257 and 258 */
    struct wake_slot slots[SLOTS];
};

_Static_assert(sizeof(struct lbx__wake) <= WAKE_BYTES, "a format");

static int
wake_fcntl(const lbx__membership *membership, int how, off_t byte, short kind)
{
    struct flock lock = {
        .l_type = kind,
        .l_whence = SEEK_SET,
        .l_start = byte,
        .l_len = 1,
    };

    return fcntl(membership->fd, how, &lock);
}

static bool
wake_try_lock(const lbx__membership *membership, off_t byte, short kind)
{
    return wake_fcntl(membership, F_OFD_SETLK, byte, kind) == 0;
}

/* Exclusive; waits for as long as it takes. */
static bool
wake_lock(const lbx__membership *membership, off_t byte)
{
    int result;

    do {
        result = wake_fcntl(membership, F_OFD_SETLKW, byte, F_WRLCK);
    } while (result < 0 && errno == EINTR);
    return result == 0;
}

/* How long something has been waited for, and when that is over. */
struct wake_wait {
    int64_t start_ns;
    int64_t deadline_ns;
    bool reported;
};

static struct wake_wait
wake_start_wait(const lbx__membership *membership)
{
    const int64_t now = lbx_clock_now(NULL);

    return (struct wake_wait){
        .start_ns = now,
        .deadline_ns = membership->wait_ns < 0
                           ? LBX_FOREVER
                           : lbx_deadline_after(NULL, membership->wait_ns),
    };
}

/* How long to wait now, `most_ns` at the most; 0 or less: no longer. */
static int64_t
wake_wait_left(const lbx__membership *membership, struct wake_wait *wait,
               int64_t most_ns)
{
    const int64_t now = lbx_clock_now(NULL);

    if (!wait->reported && now - wait->start_ns >= SLOW_NS) {
        wait->reported = true;
        if (membership->slow)
            membership->slow(membership->context,
                             lbx__membership_blocker(membership));
    }
    return wait->deadline_ns - now < most_ns ? wait->deadline_ns - now
                                             : most_ns;
}

/* Exclusive, bytes 257 and 258. A process that was killed does not wake others:
 * they try again now and then. */
static lbx_status
wake_lock_in_time(lbx__membership *membership, off_t byte,
                  struct wake_wait *wait)
{
    struct wake_lock *lock = &membership->wake->locks[byte - NEXT];

    for (;;) {
        // seq_cst: either this thread sees the release before it sleeps, or the
        // process that releases sees that it waits. See wake_unlock().
        const uint32_t seen = lbx__load(&lock->released, seq_cst);
        int64_t left;

        if (wake_try_lock(membership, byte, F_WRLCK)) {
            lbx__store(&lock->holder, membership->pid, seq_cst);
            return LBX_OK;
        }
        if (errno != EAGAIN && errno != EACCES && errno != EINTR)
            return LBX_NO_MEMORY;
        left = wake_wait_left(membership, wait, LOCK_RETRY_NS);
        if (left <= 0)
            return LBX_BUSY;
        (void)lbx__add(&lock->waiting, 1u, seq_cst);
        lbx__futex_wait_shared(&lock->released, seen, left);
        (void)lbx__sub(&lock->waiting, 1u, seq_cst);
    }
}

static void
wake_unlock(lbx__membership *membership, off_t byte)
{
    struct lbx__wake *wake = membership->wake;
    struct wake_lock *lock;

    if (!wake) { // a visitor: others find out when they try again
        (void)wake_try_lock(membership, byte, F_UNLCK);
        return;
    }
    lock = &wake->locks[byte - NEXT];
    lbx__store(&lock->holder, 0u, seq_cst);
    (void)wake_try_lock(membership, byte, F_UNLCK);
    (void)lbx__add(&lock->released, 1u, seq_cst);
    if (lbx__load(&lock->waiting, seq_cst) > 0)
        lbx__futex_wake_shared(&lock->released, 1);
}

static bool
wake_take_slot(lbx__membership *membership)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        if (wake_try_lock(membership, 1 + (off_t)i, F_WRLCK)) {
            membership->slot = i;
            return true;
        }
    }
    return false;
}

/* Allocates blocks for all of it. Where that means writing zeros, one process
 * at a time; otherwise without a lock, which a stopped process could hold. */
static lbx_status
wake_allocate(const lbx__membership *membership)
{
    const int result =
        membership->io->fallocate(membership->io, membership->fd, WAKE_BYTES);
    lbx_status status;

    if (result != -EOPNOTSUPP)
        return lbx__io_status(result);
    if (!wake_lock(membership, MAKER))
        return LBX_NO_MEMORY;
    status = lbx__io_allocate(membership->io, membership->fd, WAKE_BYTES);
    (void)wake_try_lock(membership, MAKER, F_UNLCK);
    return status;
}

lbx_status
lbx__membership_open(lbx__membership *membership, const lbx__io *io, int folder,
                     bool refuses, int64_t wait_ns)
{
    lbx_status status;
    void *memory;

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
    status = wake_allocate(membership);
    if (status == LBX_OK) {
        memory = mmap(NULL, WAKE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                      membership->fd, 0);
        if (memory == MAP_FAILED)
            status = lbx__io_status(-errno);
        else
            membership->wake = memory;
    }
    if (status == LBX_OK && !wake_take_slot(membership))
        status = LBX_BUSY;
    if (status != LBX_OK)
        lbx__membership_close(membership);
    return status;
}

static void
wake_notify_slot(struct wake_slot *slot)
{
    // seq_cst on both sides: either the waiter sees the count before it sleeps,
    // or this thread sees that it waits. Pairs with lbx__membership_wait().
    (void)lbx__add(&slot->notified, 1u, seq_cst);
    if (lbx__load(&slot->waiting, seq_cst))
        lbx__futex_wake_shared(&slot->notified, INT32_MAX);
}

void
lbx__membership_notify_others(lbx__membership *membership)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        if (i != membership->slot)
            wake_notify_slot(&membership->wake->slots[i]);
    }
}

/* Wakes the processes that wait for byte 0. */
static void
wake_note_change(lbx__membership *membership)
{
    (void)lbx__add(&membership->wake->changes, 1u, seq_cst);
    lbx__futex_wake_shared(&membership->wake->changes, INT32_MAX);
    lbx__membership_notify_others(membership);
}

void
lbx__membership_leave(lbx__membership *membership)
{
    if (membership->mode == LBX__MODE_NONE)
        return;
    membership->mode = LBX__MODE_NONE;
    (void)lbx__add(&membership->wake->departed, 1u, seq_cst);
    (void)wake_try_lock(membership, 0, F_UNLCK);
    wake_note_change(membership);
}

void
lbx__membership_close(lbx__membership *membership)
{
    if (!membership->io)
        return;
    if (membership->wake) {
        lbx__membership_leave(membership);
        (void)munmap(membership->wake, WAKE_BYTES);
    }
    (void)close(membership->fd); // and with it the slot
    memset(membership, 0, sizeof(*membership));
}

void
lbx__membership_abandon(lbx__membership *membership)
{
    (void)munmap(membership->wake, WAKE_BYTES);
    (void)close(membership->fd);
    memset(membership, 0, sizeof(*membership));
}

/* Byte 0 is held exclusive. In a new boot, or a new file, nothing counts. */
static void
membership_take_exclusive(lbx__membership *membership)
{
    struct lbx__wake *wake = membership->wake;
    uint8_t boot[16];

    // First: processes that ask to join believe what the last owner left here.
    lbx__store(&wake->refuses, membership->refuses, seq_cst);
    membership->io->boot_id(membership->io, boot);
    if (memcmp(wake->magic, "LBXWAKE1", 8) != 0 ||
        memcmp(wake->boot, boot, 16) != 0) {
        lbx__store(&wake->poison, 0u, seq_cst);
        lbx__store(&wake->record, 0u, seq_cst);
        lbx__store(&wake->generation, 0u, seq_cst);
        lbx__store(&wake->commit, 0u, seq_cst);
        memcpy(wake->magic, "LBXWAKE1", 8);
        memcpy(wake->boot, boot, 16);
    }
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
    lbx__membership_notify_others(membership);
    lbx__futex_wait_shared(&wake->changes, seen, JOIN_RETRY_NS);
}

lbx_status
lbx__membership_enter(lbx__membership *membership, bool again)
{
    struct wake_wait wait = {.start_ns = lbx_clock_now(NULL),
                             .deadline_ns = membership->deadline};

    assert(membership->mode == LBX__MODE_NONE);
    for (bool requested = false;; requested = true) {
        if (wake_try_lock(membership, 0, F_WRLCK)) {
            membership_take_exclusive(membership);
            return LBX_OK;
        }
        if (membership->refuses)
            return LBX_BUSY;
        if ((!again || requested) && wake_try_lock(membership, 0, F_RDLCK)) {
            membership->mode = LBX__MODE_SHARED;
            membership->departed =
                lbx__load(&membership->wake->departed, seq_cst);
            return LBX_OK;
        }
        // Before the first request the word may be that of a previous owner.
        if ((requested && lbx__load(&membership->wake->refuses, seq_cst)) ||
            wake_wait_left(membership, &wait, JOIN_RETRY_NS) <= 0)
            return LBX_BUSY;
        membership_request(membership);
    }
}

bool
lbx__membership_is_refused(const lbx__membership *membership)
{
    return lbx__load(&membership->wake->refuses, seq_cst) != 0;
}

uint32_t
lbx__membership_blocker(const lbx__membership *membership)
{
    const struct lbx__wake *wake = membership->wake;
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = WRITER, .l_len = 1};
    uint32_t pid;

    if (membership->mode == LBX__MODE_NONE)
        return lbx__load(&wake->owner, seq_cst);
    // When no process writes, the next one is stopped before it does.
    if (fcntl(membership->fd, F_OFD_GETLK, &lock) == 0 &&
        lock.l_type == F_UNLCK)
        pid = lbx__load(&wake->locks[0].holder, seq_cst);
    else
        pid = lbx__load(&wake->locks[WRITER - NEXT].holder, seq_cst);
    return pid == membership->pid ? 0 : pid; // it was released just now
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
    (void)wake_try_lock(membership, 0, F_RDLCK); // a weaker lock: cannot fail
    wake_note_change(membership);
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
    if (!wake_try_lock(membership, 0, F_WRLCK)) // else the shared one stays
        return false;
    membership_take_exclusive(membership);
    return true;
}

/* Without the memory of `wake`, which may still be too short to be mapped: for
 * as long as it takes. */
static lbx_status
membership_lock_as_visitor(lbx__membership *membership)
{
    if (!wake_lock(membership, NEXT))
        return LBX_NO_MEMORY;
    membership->has_writer_lock = wake_lock(membership, WRITER);
    wake_unlock(membership, NEXT);
    return membership->has_writer_lock ? LBX_OK : LBX_NO_MEMORY;
}

lbx_status
lbx__membership_lock_writer(lbx__membership *membership)
{
    struct wake_wait wait = wake_start_wait(membership);
    lbx_status status;

    assert(!membership->has_writer_lock);
    if (!membership->wake)
        return membership_lock_as_visitor(membership);
    status = wake_lock_in_time(membership, NEXT, &wait);
    if (status != LBX_OK)
        return status;
    status = wake_lock_in_time(membership, WRITER, &wait);
    wake_unlock(membership, NEXT);
    if (status != LBX_OK)
        return status;
    membership->has_writer_lock = true;
    return LBX_OK;
}

void
lbx__membership_unlock_writer(lbx__membership *membership)
{
    if (!membership->has_writer_lock)
        return;
    membership->has_writer_lock = false;
    wake_unlock(membership, WRITER);
}

void
lbx__membership_poison(lbx__membership *membership)
{
    lbx__store(&membership->wake->poison, 1u, seq_cst);
    lbx__membership_notify_others(membership);
}

bool
lbx__membership_is_poisoned(const lbx__membership *membership)
{
    return lbx__load(&membership->wake->poison, seq_cst) != 0;
}

void
lbx__membership_clear_poison(lbx__membership *membership)
{
    assert(membership->mode == LBX__MODE_EXCLUSIVE);
    lbx__store(&membership->wake->poison, 0u, seq_cst);
}

void
lbx__membership_note_commit(lbx__membership *membership, uint64_t last)
{
    struct lbx__wake *wake = membership->wake;
    uint64_t seen = lbx__load(&wake->commit, seq_cst);

    while (seen < last && !lbx__cas(&wake->commit, &seen, last, seq_cst))
        ;
}

void
lbx__membership_note_record(lbx__membership *membership, uint64_t generation,
                            uint64_t number)
{
    struct lbx__wake *wake = membership->wake;

    // In this order: a kill between the two leaves too low a record.
    if (lbx__load(&wake->generation, seq_cst) != generation) {
        lbx__store(&wake->record, 0u, seq_cst);
        lbx__store(&wake->generation, generation, seq_cst);
    }
    lbx__store(&wake->record, number, seq_cst);
}

uint64_t
lbx__membership_last_commit(const lbx__membership *membership)
{
    return lbx__load(&membership->wake->commit, seq_cst);
}

uint64_t
lbx__membership_last_record(const lbx__membership *membership,
                            uint64_t generation)
{
    const struct lbx__wake *wake = membership->wake;

    if (lbx__load(&wake->generation, seq_cst) != generation)
        return 0;
    return lbx__load(&wake->record, seq_cst);
}

lbx_status
lbx__membership_inspect(const lbx__io *io, int folder,
                        lbx__membership_state *ret)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    struct lbx__wake wake;
    uint8_t boot[16];
    lbx_status status;
    const int fd = io->open(io, folder, LBX__WAKE, O_RDONLY);

    memset(ret, 0, sizeof(*ret));
    if (fd < 0)
        return fd == -ENOENT ? LBX_OK : lbx__io_status(fd);
    ret->in_use = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    status = lbx__io_read_all(io, fd, &wake, sizeof(wake), 0);
    (void)close(fd);
    io->boot_id(io, boot);
    if (status != LBX_OK || memcmp(wake.magic, "LBXWAKE1", 8) != 0 ||
        memcmp(wake.boot, boot, sizeof(boot)) != 0)
        return LBX_OK; // of another boot
    // Relaxed: a private copy.
    ret->last_commit = lbx__load(&wake.commit, relaxed);
    ret->generation = lbx__load(&wake.generation, relaxed);
    ret->last_record = lbx__load(&wake.record, relaxed);
    return LBX_OK;
}

lbx_status
lbx__membership_open_lock(lbx__membership *membership, const lbx__io *io,
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

uint32_t
lbx__membership_notified(lbx__membership *membership)
{
    return lbx__load(&membership->wake->slots[membership->slot].notified,
                     seq_cst);
}

void
lbx__membership_wait(lbx__membership *membership, uint32_t seen,
                     int64_t wait_ns)
{
    struct wake_slot *slot = &membership->wake->slots[membership->slot];

    // seq_cst: see wake_notify_slot().
    lbx__store(&slot->waiting, 1u, seq_cst);
    if (lbx__load(&slot->notified, seq_cst) == seen)
        lbx__futex_wait_shared(&slot->notified, seen, wait_ns);
    lbx__store(&slot->waiting, 0u, seq_cst);
}

void
lbx__membership_notify(lbx__membership *membership)
{
    wake_notify_slot(&membership->wake->slots[membership->slot]);
}
