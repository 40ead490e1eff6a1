/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wake: the file `wake` as it is in memory, and the locks of its bytes.
 *
 * What the bytes and the words mean, and which process may change them, is in
 * membership.h. Only the files that it names include this one:
 *
 *     membership.c      requests, refuses, changes, departed, owner; byte 0
 *     boot_words.c      magic, boot, poison, commit, generation, record
 *     writer_lock.c     locks; bytes 257 and 258
 *     blocker.c         reads owner, and the holders of locks
 *     notification.c    slots
 *     wake.c            the file itself; bytes 1 to 256, and 259
 *
 * Several processes read and write these words: every access of them in shared
 * memory is seq_cst.
 */
#ifndef LBX_STORES_FILE_WAKE_H
#define LBX_STORES_FILE_WAKE_H

#include "stores/file/membership.h"

#include <fcntl.h>

enum {
    LBX__WAKE_BYTES = 65536,
    LBX__WAKE_SLOTS = 256,
};

/* The bytes that are locked; slot n has LBX__WAKE_SLOT + n. */
enum {
    LBX__WAKE_RIGHT = 0, /* to write */
    LBX__WAKE_SLOT = 1,
    LBX__WAKE_NEXT = LBX__WAKE_SLOT + LBX__WAKE_SLOTS,
    LBX__WAKE_WRITER,
    LBX__WAKE_MAKER,
};

struct lbx__wake_slot {
    _Alignas(LBX__LINE) _Atomic(uint32_t) notified;
    _Atomic(uint32_t) waiting;
};

/* A lock that processes wait for, with a limit: fcntl() has none. */
struct lbx__wake_lock {
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
    _Atomic(uint32_t) owner;        /* the pid of the last that was exclusive */
    struct lbx__wake_lock locks[2]; /* bytes 257 and 258 */
    struct lbx__wake_slot slots[LBX__WAKE_SLOTS];
};

_Static_assert(sizeof(struct lbx__wake) <= LBX__WAKE_BYTES, "a format");

/* Allocates blocks for all of the file that the membership has open, maps it,
 * and takes a slot. BUSY: none is free. What is done of it after a failure is
 * undone by closing the membership. */
lbx_status lbx__wake_map(lbx__membership *membership);

/* Takes the lock of a byte, F_WRLCK or F_RDLCK, or releases it, F_UNLCK; false:
 * another process has it, or errno says why not. */
bool lbx__wake_try_lock(const lbx__membership *membership, off_t byte,
                        short kind);

/* Exclusive; waits for as long as it takes. */
bool lbx__wake_await_lock(const lbx__membership *membership, off_t byte);

#endif
