/* SPDX-License-Identifier: Apache-2.0 */
/* The courier's records, for those who decode with an allocator of their own. */
#ifndef LBX_COURIER_RECORDS_H
#define LBX_COURIER_RECORDS_H

#include "courier/record.h"

extern const lbx__record_kind lbx__request_kind;
extern const lbx__record_kind lbx__result_kind;
extern const lbx__record_kind lbx__dead_letter_kind;

#endif
