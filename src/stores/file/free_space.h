/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free space: whether rows that are to be written find pages (ENG-2).
 *
 * Threads    the engine's.
 */
#ifndef LBX_STORES_FILE_FREE_SPACE_H
#define LBX_STORES_FILE_FREE_SPACE_H

#include "stores/file/engine.h"

/* Reads how large the store is: after a transaction has begun, or with none. */
void lbx__free_space_refresh(lbx__engine *engine);

/* Reserves pages for rows: OK; NO_SPACE. */
lbx_status lbx__free_space_reserve(lbx__engine *engine,
                                   const lbx__row_size *sizes, size_t count,
                                   lbx__growth growth);

/* A batch begins, in the open transaction. */
void lbx__free_space_start_batch(lbx__engine *engine);

/* Whether a batch like those before might be refused now, and not if the
 * transaction were committed and another begun. */
bool lbx__free_space_wants_commit(lbx__engine *engine);

#endif
