/* SPDX-License-Identifier: Apache-2.0 */
/* Checking a store before it is opened; see <letterbox/post/file.h>. */
#ifndef LBX_STORES_FILE_CHECK_H
#define LBX_STORES_FILE_CHECK_H

#include <letterbox/post/file.h>

/* lbx_file_check(), and what the fault of an open would say; NULL: not asked. */
lbx_status
lbx__file_check(const char *dir,
                void (*damage)(void *context, const lbx_damage *part),
                void *context, lbx_file_report *ret, lbx_fault *fault);

#endif
