/* SPDX-License-Identifier: Apache-2.0 */
/* Checking a store; see <letterbox/post/file_store.h>. */
#ifndef LBX_STORES_FILE_REPAIR_CHECK_H
#define LBX_STORES_FILE_REPAIR_CHECK_H

#include <letterbox/post/file_store.h>

/* lbx_file_store_check_with(); `fault`, unless NULL, gets the sentence for a
 * failure. */
lbx_status lbx__check_store(const char *dir, const lbx_file_store_work *work,
                            lbx_file_store_report *ret, lbx_fault *fault);

/* options.check: OK when the store may be opened, also when there is none.
 * Otherwise the fault names the first damage, or why it cannot be read. */
lbx_status lbx__check_before_open(const char *path, bool group,
                                  lbx_fault *fault);

#endif
