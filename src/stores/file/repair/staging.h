/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A staging folder: where a store is made that must be complete or not there.
 *
 * It lies beside the wanted folder, under another name, and is renamed when
 * everything in it is durable. A process that is killed before that leaves a
 * folder DIR.part-XXXXXX, which may be removed.
 *
 * Threads    one at a time.
 */
#ifndef LBX_STORES_FILE_REPAIR_STAGING_H
#define LBX_STORES_FILE_REPAIR_STAGING_H

#include "stores/file/io.h"

#include <limits.h>

typedef struct lbx__staging {
    const lbx__io *io;
    char wanted[PATH_MAX];
    char path[PATH_MAX]; /* where it is made */
} lbx__staging;

/* OK; EXISTS: there is something of that name; NOT_FOUND: no folder to make it
 * in; INVALID: it is too long; any I/O failure. The fault has the reason. */
lbx_status lbx__staging_open(lbx__staging *staging, const lbx__io *io,
                             const char *wanted, lbx_fault *fault);

/* With OK, renames it, durably; otherwise, or when that fails, removes it.
 * Returns `status`, or why that failed. The store in it is closed. */
lbx_status lbx__staging_close(lbx__staging *staging, lbx_status status);

#endif
