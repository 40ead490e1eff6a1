/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Foreign files: those of another program that have a name of the store's.
 *
 * A folder without a whole store may have files that an opener has left which
 * was killed, or a power cut. They are empty, or zeros, or begin as such files
 * do, and data.mdb has no table but those of a store. Any other file is
 * foreign, and is left as it is (FOLD-1).
 *
 * Threads    any.
 */
#ifndef LBX_STORES_FILE_FOREIGN_H
#define LBX_STORES_FILE_FOREIGN_H

#include "stores/file/folder.h"

/* Looks for foreign files, unless there is a whole store. OK; DENIED, and the
 * fault names one. */
lbx_status lbx__foreign_check(const lbx__folder *folder, const lbx__io *io,
                              lbx_fault *fault);

#endif
