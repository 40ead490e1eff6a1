/* SPDX-License-Identifier: Apache-2.0 */
/* Storage in files; see post/rules/storage.h. */
#ifndef LBX_STORES_FILE_FILE_H
#define LBX_STORES_FILE_FILE_H

#include "post/rules/storage.h"
#include "stores/file/io.h"

/* Opens the store in a folder, recovering what a killed owner has left. NULL
 * options are LBX_STORE_OPTIONS_INIT, a NULL `io` is the system's; `io`, and what
 * the options point to but for the fault, must outlive the storage. The same
 * thread uses it from here to close. Statuses: those of lbx_store_open(). */
lbx_status lbx__file_open(const char *path, const lbx_store_options *options,
                          const lbx__io *io, lbx__storage **ret);

/*
 * The bell of this process: others ring it when they have written something, or
 * want to be let in. Somebody must listen, and have a group begun when it rings,
 * if only an empty one: begin answers knocks.
 *
 *     seen = lbx__file_bell(storage);
 *     ... have the service look ...
 *     lbx__file_sleep(storage, seen, wait_ns);
 *
 * A process that was killed between its commit and its bells rings nobody's: with
 * waiting receives, look once a second besides.
 *
 * Threads    any, until close; one sleeps. lbx__file_ring() wakes it.
 */
uint32_t lbx__file_bell(lbx__storage *storage);
void lbx__file_sleep(lbx__storage *storage, uint32_t seen, int64_t wait_ns);
void lbx__file_ring(lbx__storage *storage);

/* Grows when changes that were answered may have been lost: after a reboot at a
 * level below POWER_CUT. Receipts from before are not to be trusted. */
uint32_t lbx__file_era(const lbx__storage *storage);

/* As they were given, but for the fault; the level is never DEFAULT. */
const lbx_store_options *lbx__file_options(const lbx__storage *storage);

/* The 16 bytes that no other store has. */
const uint8_t *lbx__file_uid(const lbx__storage *storage);

/* Whether we are alone, on the journal. */
bool lbx__file_is_alone(const lbx__storage *storage);

#endif
