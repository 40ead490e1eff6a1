/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `wake`: how the processes of a store find each other.
 *
 * 64 KiB of shared memory, backed by a file so that everybody can find it and
 * that locks can be taken on its bytes. Locks belong to the open file: the
 * kernel drops those of a process that was killed.
 *
 *     byte 0       the right to write. Exclusive: its holder is alone, on the
 *                  journal. Shared: its holders are in company, each group a
 *                  synced commit of LMDB's.
 *     byte 1 + n   exclusive, by the process that has slot n, of 256
 *     byte 257     who is next to write, in company
 *     byte 258     who writes
 *
 * A slot has a bell: a count that grows when something has happened that its
 * process may want to see. A process sleeps on the bell of its slot and nowhere
 * else.
 *
 * N1  Who writes the journal has byte 0 exclusive; who writes synced commits has
 *     it shared; nobody else writes.
 * N2  Before exclusive becomes shared the journal is checkpointed and marked
 *     idle; after shared has become exclusive, and before the journal is
 *     written, that mark is taken away. Who gets it shared and finds the mark
 *     missing lets go: an owner was killed, and the next to have it exclusive
 *     recovers.
 * N3  After each commit in company the bells of all others ring.
 * N4  The poison word is set before any group answers UNKNOWN, and cleared by
 *     the opener that has byte 0 exclusive and has recovered.
 * N5  In company LMDB's own locks are asked for by one process at a time, who has
 *     its turn. They are robust futexes: of two that wait, one may be woken and
 *     killed before it has the lock, while a third takes and frees it seeing
 *     nobody wait; then the other sleeps for ever. Who waits for a lock on a file
 *     is woken whoever dies. The two bytes make it fair: who has just written is
 *     behind the one that is next.
 *
 * What is in `wake` counts for one boot of the machine: the first to have it
 * exclusive in another one clears it.
 *
 * Threads    lbx__presence_bell(), _sleep() and _ring() any; the rest one.
 */
#ifndef LBX_STORES_FILE_PRESENCE_H
#define LBX_STORES_FILE_PRESENCE_H

#include "base/atomic.h"
#include "stores/file/io.h"

struct lbx__wake;

typedef enum lbx__right {
    LBX__NO_RIGHT,
    LBX__IN_COMPANY,
    LBX__ALONE,
} lbx__right;

typedef struct lbx__presence {
    const lbx__io *io;
    int fd;
    struct lbx__wake *wake;
    uint32_t slot;
    lbx__right right;
    bool refuses; /* company */
    bool has_turn;
    int64_t deadline;  /* of entering */
    uint32_t answered; /* knocks */
    uint32_t departed; /* when we last tried to be alone */
    uint32_t groups;   /* in company since then */
} lbx__presence;

/* Opens `wake`, makes it if need be, and takes a slot. BUSY: none is free. */
lbx_status lbx__presence_open(lbx__presence *presence, const lbx__io *io,
                              int folder, bool refuses);

/* Lets go of everything. Takes a zeroed one. */
void lbx__presence_close(lbx__presence *presence);

/* In a child after fork(): lets go of what it has inherited, which stays the
 * parent's. Neither descriptor nor memory may be left, or the locks are. */
void lbx__presence_forget(lbx__presence *presence);

/* Gets the right to write, knocking until the owner lets us in. `again`: we had
 * it shared, and there is something to recover; then it is asked for exclusive
 * until one knock has not been answered. (Not for ever: another one who waits may
 * be faster, and let us in.) BUSY: who has it refuses, or does not answer for 30
 * s in all; or we refuse company and there is some. */
lbx_status lbx__presence_enter(lbx__presence *presence, bool again);

/* After BUSY: whether who has it refuses company. */
bool lbx__presence_is_refused(const lbx__presence *presence);

/* Gives the right back; the slot stays. */
void lbx__presence_retreat(lbx__presence *presence);

/* Alone: whether someone has knocked, and whom we do not refuse. */
bool lbx__presence_knocked(const lbx__presence *presence);

/* Alone to company: lets everybody in. The journal is idle (N2). */
void lbx__presence_admit(lbx__presence *presence);

/* Company to alone, if there is nobody else: asked at every group, tries when
 * someone has left, and now and then. */
bool lbx__presence_try_alone(lbx__presence *presence);

/* Waits for our turn to use LMDB (N5), and ends it, if it is ours. False: the
 * system has no memory for locks. */
bool lbx__presence_take_turn(lbx__presence *presence);
void lbx__presence_end_turn(lbx__presence *presence);

void lbx__presence_poison(lbx__presence *presence);
bool lbx__presence_poisoned(const lbx__presence *presence);

/* N4; and sets what was known of the last owner's to nothing. Alone only. */
void lbx__presence_clear(lbx__presence *presence);

/* What has been made durable, for the next opener in this boot: LMDB's last
 * commit, and the last record of a generation. */
void lbx__presence_tell_commit(lbx__presence *presence, uint64_t last);
void lbx__presence_tell_record(lbx__presence *presence, uint64_t generation,
                               uint64_t number);
uint64_t lbx__presence_last_commit(const lbx__presence *presence);
uint64_t lbx__presence_last_record(const lbx__presence *presence,
                                   uint64_t generation);

/* What `wake` says to somebody who only looks; zeros when there is none. */
typedef struct lbx__presence_peek {
    bool in_use; /* somebody has the right to write */
    uint64_t last_commit;
    uint64_t generation;
    uint64_t last_record;
} lbx__presence_peek;

lbx_status lbx__presence_look(const lbx__io *io, int folder,
                              lbx__presence_peek *ret);

/* Opens `wake` without a slot or a right, only to take turns (N5). NOT_FOUND. */
lbx_status lbx__presence_visit(lbx__presence *presence, const lbx__io *io,
                               int folder);

/* Rings everybody else's bell (N3). */
void lbx__presence_ring_others(lbx__presence *presence);

/* Our bell: how often it has rung; sleeping until it has since; ringing it. */
uint32_t lbx__presence_bell(lbx__presence *presence);
void lbx__presence_sleep(lbx__presence *presence, uint32_t seen,
                         int64_t wait_ns);
void lbx__presence_ring(lbx__presence *presence);

#endif
