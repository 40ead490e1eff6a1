/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a storage that is open; see <letterbox/post/file_store.h>. */
#ifndef LBX_STORES_FILE_REPAIR_COPY_H
#define LBX_STORES_FILE_REPAIR_COPY_H

#include "post/rules/storage.h"

/* Makes a copy in the new folder `dir`. `sync` has the storage's thread sync
 * it, and waits for that: the copy is of this moment. Any thread but that one,
 * unless `sync` is a plain call. */
lbx_status lbx__copy_store(lbx__storage *storage, const char *dir,
                           lbx_status (*sync)(void *context), void *context);

#endif
