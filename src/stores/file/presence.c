/* SPDX-License-Identifier: Apache-2.0 */
/* The shared words and the lock; what they mean is in presence.h. */
#include "stores/file/presence.h"

#include "base/park.h"
#include "stores/file/folder.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    WAKE_BYTES = 65536,
    SLOTS = 256,
    NEXT = 1 + SLOTS, /* bytes to lock */
    TURN = 2 + SLOTS,
    TRY_GROUPS = 32 /* in company, between two tries to be alone */
};

#define KNOCK_EVERY (5 * LBX_MS)
#define KNOCK_MOST  (30 * LBX_SECOND)

struct slot {
    _Alignas(LBX__LINE) _Atomic(uint32_t) bell;
    _Atomic(uint32_t) sleeping;
};

struct lbx__wake {
    char magic[8];
    uint8_t boot[16];
    _Atomic(uint32_t) knocks;
    _Atomic(uint32_t) refuses; /* the owner wants to stay alone */
    _Atomic(uint32_t) poison;
    _Atomic(uint32_t) changes;  /* of the right's holders: who waits looks */
    _Atomic(uint32_t) departed; /* how many have left */
    _Atomic(uint64_t) commit;
    _Atomic(uint64_t) generation;
    _Atomic(uint64_t) record;
    struct slot slots[SLOTS];
};

_Static_assert(sizeof(struct lbx__wake) <= WAKE_BYTES, "a format");

static int
ask_for_byte(const lbx__presence *presence, int how, off_t byte, short kind)
{
    struct flock lock = {
        .l_type = kind,
        .l_whence = SEEK_SET,
        .l_start = byte,
        .l_len = 1,
    };

    return fcntl(presence->fd, how, &lock);
}

static bool
lock_byte(const lbx__presence *presence, off_t byte, short kind)
{
    return ask_for_byte(presence, F_OFD_SETLK, byte, kind) == 0;
}

/* Exclusive, however long that takes. */
static bool
await_byte(const lbx__presence *presence, off_t byte)
{
    int result;

    do {
        result = ask_for_byte(presence, F_OFD_SETLKW, byte, F_WRLCK);
    } while (result < 0 && errno == EINTR);
    return result == 0;
}

static bool
take_slot(lbx__presence *presence)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        if (lock_byte(presence, 1 + (off_t)i, F_WRLCK)) {
            presence->slot = i;
            return true;
        }
    }
    return false;
}

/* Blocks for all of it: a write to a page that has none would be a signal on a
 * full disk. A file system that cannot set room aside must be trusted to have
 * it (see room.c). Nothing that is there is touched: others may use it. */
static lbx_status
make_room(const lbx__presence *presence)
{
    const lbx__io *io = presence->io;
    int result = io->fallocate(io, presence->fd, WAKE_BYTES);
    struct stat found;

    if (result == -EOPNOTSUPP) {
        result = fstat(presence->fd, &found);
        if (result == 0 && found.st_size < WAKE_BYTES)
            result = ftruncate(presence->fd, WAKE_BYTES);
        result = result < 0 ? -errno : 0;
    }
    return lbx__io_status(result);
}

lbx_status
lbx__presence_open(lbx__presence *presence, const lbx__io *io, int folder,
                   bool refuses)
{
    lbx_status status;
    void *memory;

    *presence = (lbx__presence){
        .io = io,
        .refuses = refuses,
        .deadline = lbx_deadline_after(NULL, KNOCK_MOST),
    };
    presence->fd = io->open(io, folder, LBX__WAKE, O_RDWR | O_CREAT);
    if (presence->fd < 0) {
        status = lbx__io_status(presence->fd);
        presence->io = NULL;
        return status;
    }
    status = make_room(presence);
    if (status == LBX_OK) {
        memory = mmap(NULL, WAKE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                      presence->fd, 0);
        if (memory == MAP_FAILED)
            status = lbx__io_status(-errno);
        else
            presence->wake = memory;
    }
    if (status == LBX_OK && !take_slot(presence))
        status = LBX_BUSY;
    if (status != LBX_OK)
        lbx__presence_close(presence);
    return status;
}

static void
ring_slot(struct slot *slot)
{
    // seq_cst on both sides: either the sleeper sees the bell before it sleeps,
    // or we see that it sleeps. Pairs with lbx__presence_sleep().
    (void)lbx__add(&slot->bell, 1u, seq_cst);
    if (lbx__load(&slot->sleeping, seq_cst))
        lbx__futex_wake_shared(&slot->bell, INT32_MAX);
}

void
lbx__presence_ring_others(lbx__presence *presence)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        if (i != presence->slot)
            ring_slot(&presence->wake->slots[i]);
    }
}

/* Tells who waits for the right that it may be had. */
static void
tell_change(lbx__presence *presence)
{
    (void)lbx__add(&presence->wake->changes, 1u, seq_cst);
    lbx__futex_wake_shared(&presence->wake->changes, INT32_MAX);
    lbx__presence_ring_others(presence);
}

void
lbx__presence_retreat(lbx__presence *presence)
{
    if (presence->right == LBX__NO_RIGHT)
        return;
    presence->right = LBX__NO_RIGHT;
    (void)lbx__add(&presence->wake->departed, 1u, seq_cst);
    (void)lock_byte(presence, 0, F_UNLCK);
    tell_change(presence);
}

void
lbx__presence_close(lbx__presence *presence)
{
    if (!presence->io)
        return;
    if (presence->wake) {
        lbx__presence_retreat(presence);
        (void)munmap(presence->wake, WAKE_BYTES);
    }
    (void)close(presence->fd); // and with it the slot
    memset(presence, 0, sizeof(*presence));
}

void
lbx__presence_forget(lbx__presence *presence)
{
    (void)munmap(presence->wake, WAKE_BYTES);
    (void)close(presence->fd);
    memset(presence, 0, sizeof(*presence));
}

/* We have the lock exclusive. In a new boot, or a new file, nothing counts. */
static void
become_alone(lbx__presence *presence)
{
    struct lbx__wake *wake = presence->wake;
    uint8_t boot[16];

    // At once: those who knock believe what the last owner has left here.
    lbx__store(&wake->refuses, presence->refuses, seq_cst);
    presence->io->boot_id(presence->io, boot);
    if (memcmp(wake->magic, "LBXWAKE1", 8) != 0 ||
        memcmp(wake->boot, boot, 16) != 0) {
        lbx__store(&wake->poison, 0u, seq_cst);
        lbx__store(&wake->record, 0u, seq_cst);
        lbx__store(&wake->generation, 0u, seq_cst);
        lbx__store(&wake->commit, 0u, seq_cst);
        memcpy(wake->magic, "LBXWAKE1", 8);
        memcpy(wake->boot, boot, 16);
    }
    presence->right = LBX__ALONE;
    // Knocks from before are answered: who knocked looks again by itself.
    presence->answered = lbx__load(&wake->knocks, seq_cst);
}

static void
knock(lbx__presence *presence)
{
    struct lbx__wake *wake = presence->wake;
    const uint32_t seen = lbx__load(&wake->changes, seq_cst);

    (void)lbx__add(&wake->knocks, 1u, seq_cst);
    lbx__presence_ring_others(presence);
    lbx__futex_wait_shared(&wake->changes, seen, KNOCK_EVERY);
}

lbx_status
lbx__presence_enter(lbx__presence *presence, bool again)
{
    assert(presence->right == LBX__NO_RIGHT);
    for (bool knocked = false;; knocked = true) {
        if (lock_byte(presence, 0, F_WRLCK)) {
            become_alone(presence);
            return LBX_OK;
        }
        if (presence->refuses)
            return LBX_BUSY;
        if ((!again || knocked) && lock_byte(presence, 0, F_RDLCK)) {
            presence->right = LBX__IN_COMPANY;
            presence->departed = lbx__load(&presence->wake->departed, seq_cst);
            return LBX_OK;
        }
        // At first the word may be that of an owner who is gone.
        if ((knocked && lbx__load(&presence->wake->refuses, seq_cst)) ||
            lbx_clock_now(NULL) >= presence->deadline)
            return LBX_BUSY;
        knock(presence);
    }
}

bool
lbx__presence_is_refused(const lbx__presence *presence)
{
    return lbx__load(&presence->wake->refuses, seq_cst) != 0;
}

bool
lbx__presence_knocked(const lbx__presence *presence)
{
    return !presence->refuses &&
           lbx__load(&presence->wake->knocks, seq_cst) != presence->answered;
}

void
lbx__presence_admit(lbx__presence *presence)
{
    assert(presence->right == LBX__ALONE);
    presence->answered = lbx__load(&presence->wake->knocks, seq_cst);
    presence->departed = lbx__load(&presence->wake->departed, seq_cst);
    presence->groups = 0;
    presence->right = LBX__IN_COMPANY;
    (void)lock_byte(presence, 0, F_RDLCK); // to less: cannot fail
    tell_change(presence);
}

bool
lbx__presence_try_alone(lbx__presence *presence)
{
    const uint32_t departed = lbx__load(&presence->wake->departed, seq_cst);

    assert(presence->right == LBX__IN_COMPANY);
    if (departed == presence->departed && ++presence->groups < TRY_GROUPS)
        return false;
    presence->departed = departed;
    presence->groups = 0;
    if (!lock_byte(presence, 0, F_WRLCK)) // else the shared one stays
        return false;
    become_alone(presence);
    return true;
}

bool
lbx__presence_take_turn(lbx__presence *presence)
{
    assert(!presence->has_turn);
    if (!await_byte(presence, NEXT))
        return false;
    presence->has_turn = await_byte(presence, TURN);
    (void)lock_byte(presence, NEXT, F_UNLCK);
    return presence->has_turn;
}

void
lbx__presence_end_turn(lbx__presence *presence)
{
    if (!presence->has_turn)
        return;
    presence->has_turn = false;
    (void)lock_byte(presence, TURN, F_UNLCK);
}

void
lbx__presence_poison(lbx__presence *presence)
{
    lbx__store(&presence->wake->poison, 1u, seq_cst);
    lbx__presence_ring_others(presence);
}

bool
lbx__presence_poisoned(const lbx__presence *presence)
{
    return lbx__load(&presence->wake->poison, seq_cst) != 0;
}

void
lbx__presence_clear(lbx__presence *presence)
{
    assert(presence->right == LBX__ALONE);
    lbx__store(&presence->wake->poison, 0u, seq_cst);
}

void
lbx__presence_tell_commit(lbx__presence *presence, uint64_t last)
{
    struct lbx__wake *wake = presence->wake;
    uint64_t seen = lbx__load(&wake->commit, seq_cst);

    while (seen < last && !lbx__cas(&wake->commit, &seen, last, seq_cst))
        ;
}

void
lbx__presence_tell_record(lbx__presence *presence, uint64_t generation,
                          uint64_t number)
{
    struct lbx__wake *wake = presence->wake;

    // In this order: killed between the two, it says less than is true.
    if (lbx__load(&wake->generation, seq_cst) != generation) {
        lbx__store(&wake->record, 0u, seq_cst);
        lbx__store(&wake->generation, generation, seq_cst);
    }
    lbx__store(&wake->record, number, seq_cst);
}

uint64_t
lbx__presence_last_commit(const lbx__presence *presence)
{
    return lbx__load(&presence->wake->commit, seq_cst);
}

uint64_t
lbx__presence_last_record(const lbx__presence *presence, uint64_t generation)
{
    const struct lbx__wake *wake = presence->wake;

    if (lbx__load(&wake->generation, seq_cst) != generation)
        return 0;
    return lbx__load(&wake->record, seq_cst);
}

lbx_status
lbx__presence_look(const lbx__io *io, int folder, lbx__presence_peek *ret)
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
        return LBX_OK; // nothing that counts
    // Relaxed: a copy of our own.
    ret->last_commit = lbx__load(&wake.commit, relaxed);
    ret->generation = lbx__load(&wake.generation, relaxed);
    ret->last_record = lbx__load(&wake.record, relaxed);
    return LBX_OK;
}

lbx_status
lbx__presence_visit(lbx__presence *presence, const lbx__io *io, int folder)
{
    *presence = (lbx__presence){
        .io = io,
        .fd = io->open(io, folder, LBX__WAKE, O_RDWR),
    };
    if (presence->fd >= 0)
        return LBX_OK;
    presence->io = NULL;
    return lbx__io_status(presence->fd);
}

uint32_t
lbx__presence_bell(lbx__presence *presence)
{
    return lbx__load(&presence->wake->slots[presence->slot].bell, seq_cst);
}

void
lbx__presence_sleep(lbx__presence *presence, uint32_t seen, int64_t wait_ns)
{
    struct slot *slot = &presence->wake->slots[presence->slot];

    // seq_cst: see ring_slot().
    lbx__store(&slot->sleeping, 1u, seq_cst);
    if (lbx__load(&slot->bell, seq_cst) == seen)
        lbx__futex_wait_shared(&slot->bell, seen, wait_ns);
    lbx__store(&slot->sleeping, 0u, seq_cst);
}

void
lbx__presence_ring(lbx__presence *presence)
{
    ring_slot(&presence->wake->slots[presence->slot]);
}
