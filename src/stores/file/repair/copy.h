/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a storage that is open; see <letterbox/post/file_store.h>. */
#ifndef LBX_STORES_FILE_REPAIR_COPY_H
#define LBX_STORES_FILE_REPAIR_COPY_H

#include "post/rules/storage.h"
#include "stores/file/repair/audit.h"

/* What a copy needs to know. */
typedef struct lbx__copy {
    const char *dir;                   /* the new folder */
    lbx_status (*sync)(void *context); /* has the storage's thread sync it, */
    void *context;                     /* and waits for that */
    lbx__audit_progress progress;
    lbx_fault fault; /* out: why it failed */
} lbx__copy;

/* Makes a copy, of the moment of the sync. Any thread but the storage's, unless
 * `sync` is a plain call. */
lbx_status lbx__copy_store(lbx__storage *storage, lbx__copy *copy);

#endif
