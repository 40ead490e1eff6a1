/* SPDX-License-Identifier: Apache-2.0 */
/* Which options a courier can be created with. */
#ifndef LBX_COURIER_COURIER_OPTIONS_H
#define LBX_COURIER_COURIER_OPTIONS_H

#include <letterbox/courier.h>

/* Whether options can be kept; else what is wrong with them. */
const char *lbx__courier_options_fault(const lbx_courier_options *options);

/* Whether a courier can work on its postbox, and put letters aside into the other,
 * once the options are sound: OK; CLOSED; UNSUPPORTED when it only sends; INVALID.
 * The fault, which may be NULL, says why. */
lbx_status
lbx__courier_options_check_postbox(const lbx_courier_options *options,
                                   lbx_fault *fault);

#endif
