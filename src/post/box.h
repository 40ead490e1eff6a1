/* SPDX-License-Identifier: Apache-2.0 */
/* What the rest of post asks about a box's name and options. */
#ifndef LBX_POST_BOX_H
#define LBX_POST_BOX_H

#include <letterbox/post/box.h>

/* 1 to 127 bytes of printable ASCII, without '/' and spaces. */
bool lbx__box_name_valid(const char *name);

/* The same for people: OK; INVALID, and the fault says what is allowed. `what` is
 * the option it stands in; NULL: none. Takes a name that is NULL. */
lbx_status lbx__box_name_check(const char *name, const char *what,
                               lbx_fault *fault);

#endif
