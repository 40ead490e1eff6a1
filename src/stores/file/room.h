/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the engine ask each other. */
#ifndef LBX_STORES_FILE_ROOM_H
#define LBX_STORES_FILE_ROOM_H

#include "stores/file/engine.h"

/* How large the store is now; a transaction has just begun, or none is open. */
void lbx__room_look(lbx__engine *engine);

/* census.c: counts the pages that can be used again, unless that has been done as
 * far as it matters. `look`: at how many records of LMDB's list for pages in a row;
 * `eaten`: how many pages are taken one by one. */
void lbx__census(lbx__engine *engine, uint64_t look, uint64_t eaten);

/* How many runs of so many pages there are at the least. */
uint64_t lbx__census_runs(const lbx__engine *engine, uint64_t run);

/* What an error of LMDB's means to our callers. */
lbx_status lbx__lmdb_status(int result);

#endif
