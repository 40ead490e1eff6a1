/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a dead letter's record, for decoding with an allocator. */
#ifndef LBX_COURIER_DEAD_LETTER_RECORD_H
#define LBX_COURIER_DEAD_LETTER_RECORD_H

#include "courier/record.h"

extern const lbx__record_kind lbx__dead_letter_kind;

#endif
