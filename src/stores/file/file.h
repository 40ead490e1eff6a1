/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Storage in files; see post/rules/storage.h. A store is a folder of four
 * files:
 *
 *     data.mdb   LMDB's: all rows as of the last checkpoint, or shared commit
 *     lock.mdb   LMDB's own locks
 *     journal    batches that are not in data.mdb yet (exclusive mode)
 *     wake       which processes have the store open (membership.h)
 */
#ifndef LBX_STORES_FILE_FILE_H
#define LBX_STORES_FILE_FILE_H

#include "post/rules/storage.h"
#include "stores/file/io.h"

/* Opens the storage in a folder, recovering what a killed owner has left. NULL
 * options are LBX_STORE_OPTIONS_INIT, a NULL `io` is the system's; `io`, and
 * what the options point to but for the fault, must outlive the storage. The
 * same thread uses it from here to close. Statuses: those of
 * lbx_store_open(). */
lbx_status lbx__file_open(const char *path, const lbx_store_options *options,
                          const lbx__io *io, lbx__storage **ret);

/*
 * The notification of this process: other processes raise it when they have
 * written something, or ask to join. One thread must wait for it, and begin a
 * batch when it is raised, if only an empty one: begin grants join requests.
 *
 *     seen = lbx__file_notified(storage);
 *     ... the service does its work ...
 *     lbx__file_wait(storage, seen, wait_ns);
 *
 * A process that was killed between its commit and its notifications sends
 * none: with waiting receives, poll once a second besides.
 *
 * Threads    any, until close; one waits. lbx__file_notify() wakes it.
 */
uint32_t lbx__file_notified(lbx__storage *storage);
void lbx__file_wait(lbx__storage *storage, uint32_t seen, int64_t wait_ns);
void lbx__file_notify(lbx__storage *storage);

/* Grows when acknowledged changes may have been lost: after a reboot at a level
 * below POWER_CUT. Receipts from before are not to be trusted. */
uint32_t lbx__file_era(const lbx__storage *storage);

/* Whether these options can be those of a storage in files. OK; UNSUPPORTED: a
 * level that it does not have; INVALID; the fault has what is allowed. */
lbx_status lbx__file_open_check(const lbx_store_options *options);

/* As they were given, but for the fault; the level is never DEFAULT. */
const lbx_store_options *lbx__file_options(const lbx__storage *storage);

/* The 16 bytes that no other store has. */
const uint8_t *lbx__file_uid(const lbx__storage *storage);

/* Whether it is in exclusive mode, on the journal. */
bool lbx__file_is_exclusive(const lbx__storage *storage);

#endif
