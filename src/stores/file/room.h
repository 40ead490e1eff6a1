/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the engine ask each other. */
#ifndef LBX_STORES_FILE_ROOM_H
#define LBX_STORES_FILE_ROOM_H

#include "stores/file/engine.h"

/* How large the store is now; a transaction has just begun, or none is open. */
void lbx__room_look(lbx__engine *engine);

/* What an error of LMDB's means to our callers. */
lbx_status lbx__lmdb_status(int result);

#endif
