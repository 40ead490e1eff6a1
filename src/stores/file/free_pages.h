/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free pages: pages inside of data.mdb that the open transaction may use again,
 * how many there are and how many in a row.
 *
 * Threads    the engine's.
 */
#ifndef LBX_STORES_FILE_FREE_PAGES_H
#define LBX_STORES_FILE_FREE_PAGES_H

#include "stores/file/engine.h"

/* Counts them, unless an earlier count is still good. `records`: so many
 * records of LMDB's list are searched for pages in a row; `singles`: so many
 * pages will be taken one by one. */
void lbx__free_pages_count(lbx__engine *engine, uint64_t records,
                           uint64_t singles);

/* At least how many runs of `run` pages there are. */
uint64_t lbx__free_pages_runs(const lbx__engine *engine, uint64_t run);

#endif
