/* SPDX-License-Identifier: Apache-2.0 */
/* The members of WINK's records, for tests and fuzzing. */
#ifndef LBX_COMPAT_WINK_H
#define LBX_COMPAT_WINK_H

#include <letterbox/record.h>

extern const lbx_record lbx__wink_request_table;
extern const lbx_record lbx__wink_result_table;

#endif
