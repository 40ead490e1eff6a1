/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk that can lose its power: what the file store and LMDB below it worker
 * to the system is recorded (through the linker's --wrap), and any state that
 * the disk may be in after a cut is built from that.
 *
 * A write is safe when its file was flushed after it, or was opened with
 * O_DSYNC; a name when its folder was. What is not safe may be there or not, or
 * in part, by sectors of 512 bytes, in any order; names in the order they were
 * made. `wake` and lock.mdb are not kept: they mean nothing after a boot.
 *
 *     disk_start(folder);   ... use the store ...   disk_stop();
 *     while (disk_next())
 *         disk_build(&how, image);   // what a cut could leave just now
 *
 * Threads    while it records, any, if no two use the store's files; else one.
 *            While it records, and while disk_quick is set, nothing is really
 *            flushed.
 */
#ifndef LBX_TEST_CRASH_DISK_H
#define LBX_TEST_CRASH_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern bool disk_quick;

/* Stores that are opened now find that the machine has been started again. */
extern bool disk_other_boot;

/* Calls that can be made to fail, LMDB's too. */
enum disk_call {
    DISK_WRITE, /* half of its sectors are written */
    DISK_FLUSH,
    DISK_ALLOCATE, /* room in a file */
    DISK_MEMORY,   /* malloc and its kin, in all threads but the first */
    DISK_CALLS
};

/* After so many more the next fails with this errno: once, or all from then on.
 * Negative: none. Folders and the files of a store only. */
void disk_fail(enum disk_call call, long after, int error, bool for_ever);

/* How many there were since disk_fail() was last called. */
long disk_calls(enum disk_call call);

/* What clocks show that are asked now: added to the wall, and to the time since
 * the machine was started. */
extern int64_t disk_wall_shift_ns;
extern int64_t disk_boot_shift_ns;

/* Records from now on; what is in the folder already, if it is there, is
 * safe. */
void disk_start(const char *folder);
void disk_stop(void);

/* Marks in the recording, so that a cut knows what had been promised. */
void disk_committed(uint64_t group);
void disk_answered(uint64_t group);

/* What the disk does not do, though it says so. */
struct disk_lies {
    bool data;    /* flush data.mdb */
    bool journal; /* flush the journal */
    bool names;   /* flush the folder */
};

/* From the beginning, with a disk that lies, or NULL. */
void disk_rewind(const struct disk_lies *lies);

/* Goes on to the next point where a cut makes a difference; false at the
 * end. */
bool disk_next(void);

/* How much was promised at this point. */
uint64_t disk_point_committed(void);
uint64_t disk_point_answered(void);

/* How much is at stake: writes and names that are not safe. */
size_t disk_at_stake(void);

enum disk_fate {
    DISK_NOTHING, /* nothing that is not safe has arrived */
    DISK_ALL,     /* everything has */
    DISK_SOME,    /* some writes, each whole */
    DISK_TORN,    /* some sectors of some writes */
    DISK_LAST,    /* the latest write only: the others came later */
};

/* Writes the state into a folder, which is made; `seed` decides. */
void disk_build(enum disk_fate fate, uint64_t seed, const char *to);

#endif
