/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a store that is open; see <letterbox/post/file.h>. */
#ifndef LBX_STORES_FILE_COPY_H
#define LBX_STORES_FILE_COPY_H

#include "post/rules/storage.h"

struct lbx__file;

/* Makes a copy in the new folder `dir`. `sync` has the storage's own thread sync
 * it, and waits for that: the copy is of this moment. Any thread but that one,
 * unless `sync` is a plain call. */
lbx_status lbx__file_copy(lbx__storage *storage, const char *dir,
                          lbx_status (*sync)(void *context), void *context);

/* In sync: whether somebody waits for a hold; and serves them all, when
 * everything is in LMDB, or with why it is not. */
bool lbx__copy_is_wanted(struct lbx__file *file);
void lbx__copy_serve(struct lbx__file *file, lbx_status status);

#endif
