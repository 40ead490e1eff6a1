/* SPDX-License-Identifier: Apache-2.0 */
/* The members of WINK's records, for tests and fuzzing. */
#ifndef LBX_COMPAT_WINK_H
#define LBX_COMPAT_WINK_H

#include "courier/record.h"

extern const lbx__record_kind lbx__wink_request_kind;
extern const lbx__record_kind lbx__wink_result_kind;

#endif
