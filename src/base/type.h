/* SPDX-License-Identifier: Apache-2.0 */
/* What the other rooms ask about a type. */
#ifndef LBX_BASE_TYPE_H
#define LBX_BASE_TYPE_H

#include <letterbox/type.h>

/* Its messages can be copied; they have to be ended. False for NULL. */
bool lbx__type_clones(const lbx_type *type);
bool lbx__type_ends(const lbx_type *type);

#endif
