/* SPDX-License-Identifier: Apache-2.0 */
/* The store in files: the service over storage in files, in a thread that owns
 * it. file: URLs are opened by repair/scheme.c. */
#ifndef LBX_STORES_FILE_FILE_STORE_H
#define LBX_STORES_FILE_FILE_STORE_H

#include "stores/file/io.h"
#include <letterbox/store.h>

/* Opens the store in a folder; NULL `io` is the system's. What the options
 * point to, but the fault, and `io` must outlive the store, which the caller
 * owns. options.check is not looked at. Returns the statuses of
 * lbx_store_open(). */
lbx_status lbx__file_store_open(const char *path,
                                const lbx_store_options *options,
                                const lbx__io *io, lbx_store **ret);

#endif
