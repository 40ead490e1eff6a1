/* SPDX-License-Identifier: Apache-2.0 */
/* Which options a courier can be created with. */
#ifndef LBX_COURIER_COURIER_OPTIONS_H
#define LBX_COURIER_COURIER_OPTIONS_H

#include <letterbox/courier.h>

/* NULL when the options are valid; otherwise what is wrong with them. */
const char *lbx__courier_options_fault(const lbx_courier_options *options);

/* Checks the postboxes of valid options: OK; CLOSED; UNSUPPORTED when the
 * courier's postbox only sends; INVALID. The fault, which may be NULL, has the
 * reason. */
lbx_status
lbx__courier_options_check_postbox(const lbx_courier_options *options,
                                   lbx_fault *fault);

#endif
