/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A staging: where a store is made that must be whole or not there.
 *
 * It is a folder beside the one that is wanted, under another name, which it gets
 * when everything in it is durable. Who is killed before that leaves a folder
 * DIR.part-XXXXXX, which may be removed.
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

/* OK; EXISTS: there is something of that name; NOT_FOUND: no folder to make it in;
 * INVALID: it is too long; any I/O failure. The fault says why. */
lbx_status lbx__staging_open(lbx__staging *staging, const lbx__io *io,
                             const char *wanted, lbx_fault *fault);

/* With OK, gives it its name, durably; otherwise, or when that fails, removes
 * it. Answers `status`, or why it failed. The store in it is closed. */
lbx_status lbx__staging_close(lbx__staging *staging, lbx_status status);

#endif
